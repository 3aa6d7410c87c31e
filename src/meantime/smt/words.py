"""Words for translation, and the way back to text.

Marks stand alone, hyphens and apostrophes inside a word stay in it, an English or French
clitic is cut off (`man 's`, `l' eau`), numbers keep their marks (`1,000.5`). `join_words` undoes
that: for ordinary text `join_words(split_words(text))` is the text.

Chinese is cut by a segmenter, what is no Chinese in it by the rules here; it is joined without
spaces, except between words of letters and digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from meantime.types import primary

SPACE = "␣"
"""Stands for a space inside a word, where a rule or a dictionary made one word of several."""

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
HAN = re.compile(f"[{_HAN}]+")
_WORD = re.compile(
    rf"(?:https?://|www\.)[^\s<>\"|]+[\w/]"
    rf"|[^\W\d_{_HAN}](?:\.[^\W\d_{_HAN}])+\.?"
    rf"|\d+(?:[.,:/]\d+)*(?:[^\W\d_{_HAN}]+)?%?"
    rf"|[^\W_{_HAN}]+(?:[-'’]+[^\W_{_HAN}]+)*(?:['’](?=[^\W_])|(?<=s)['’](?=\s)|-(?=\s))?"
    rf"|[{_HAN}]"
    rf"|\.\.+|--+|…+|—+"
    rf"|\S"
)
_FULL_WIDTH: dict[int, int | str] = {
    code: code - 0xFEE0
    for span in ((0xFF10, 0xFF1A), (0xFF21, 0xFF3B), (0xFF41, 0xFF5B))
    for code in range(*span)
}
_FULL_WIDTH |= {ord("％"): "%", 0x3000: " "}
_ENGLISH_CLITIC = re.compile(r"(?i)^(.+?)(n['’]t|['’](?:s|m|d|re|ve|ll))$")
_FRENCH_CLITIC = re.compile(r"(?i)^((?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)['’])(.+)$")
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st vs etc inc ltd co corp jr sr no vol fig bzw usw ca z.b d.h".split()
)

_CLOSING = frozenset(
    ", . ; : ! ? ) ] } % … ... .. ” ’ » 。 ， 、 ； ： ！ ？ ） 】 》 」 』".split()
)
_OPENING = frozenset("( [ { “ « ‘ $ £ # ¿ ¡ （ 【 《 「 『".split())
_TIGHT = frozenset("/ ' ’".split())
_QUOTES = frozenset(('"', "'"))
_CLITICS = frozenset(
    f"{mark}{tail}" for mark in "'’" for tail in ("s", "m", "d", "re", "ve", "ll")
) | {"n't", "n’t"}
_WIDE = re.compile(rf"[{_HAN}\u3000-\u303f\uff00-\uffef“”‘’…—·]")


def unspaced(lang: str) -> bool:
    """Whether the rules of Chinese hold."""
    return primary(lang) in ("zh", "yue")


def split_words(
    text: str, lang: str = "en", segment: Callable[[str], Sequence[str]] | None = None
) -> list[str]:
    """The words of a text.

    Args:
        text: Any text.
        lang: Its language.
        segment: Cuts a run of Chinese characters; without it every character is a word.
    """
    if not unspaced(lang):
        return [part for word in _WORD.findall(text) for part in _clitics(word, lang)]
    text = text.translate(_FULL_WIDTH)
    words: list[str] = []
    last = 0
    for run in HAN.finditer(text):
        words += _WORD.findall(text[last : run.start()])
        words += segment(run[0]) if segment else run[0]
        last = run.end()
    return words + _WORD.findall(text[last:])


def _clitics(word: str, lang: str) -> tuple[str, ...]:
    """A word, and what clings to it."""
    if "'" not in word and "’" not in word:
        return (word,)
    language = primary(lang)
    if language == "en":
        found = _ENGLISH_CLITIC.match(word)
    elif language in ("fr", "it"):
        found = _FRENCH_CLITIC.match(word)
    else:
        return (word,)
    return (found[1], found[2]) if found else (word,)


def join_words(words: Sequence[str], lang: str = "en") -> str:
    """The text of words, with spaces where the language has them."""
    spread = [part for word in words for part in word.split(SPACE) if part]
    return _join_wide(spread) if unspaced(lang) else _join_spaced(spread, primary(lang))


def _join_wide(words: Sequence[str]) -> str:
    text = ""
    for word in words:
        if (
            text
            and (text[-1].isalnum() or (text[-1] in ",.;:!?%)" and text[-2:-1].isascii()))
            and not _WIDE.match(text[-1])
            and word[0].isalnum()
            and not _WIDE.match(word[0])
        ):
            text += " "
        text += word
    return text


def _join_spaced(words: Sequence[str], language: str) -> str:
    text = ""
    tight = True
    """Whether the next word follows without a space."""
    inside: set[str] = set()
    """Quotation marks that are open."""
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in _QUOTES and not (word == "'" and not inside and not following):
            if word in inside:
                inside.discard(word)
                text += word
                tight = False
            else:
                inside.add(word)
                text += word if tight else " " + word
                tight = True
            continue
        german = language == "de" and word in ("„", "“")
        closing = (word in _CLOSING or (german and word == "“")) and not (
            language == "fr" and word in ("»", "!", "?", ";", ":")
        )
        clitic = language == "en" and word.lower() in _CLITICS
        if tight or closing or clitic or word in _TIGHT:
            text += word
        else:
            text += " " + word
        tight = (
            (word in _OPENING and not german)
            or (german and word == "„")
            or word in _TIGHT
            or (language in ("fr", "it") and bool(_FRENCH_CLITIC.match(word + "x")))
        )
    return text
