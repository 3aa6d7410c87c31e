"""Penn-Treebank-style tokens with their places in the original text.

The conventions are those of the newer treebanks (OntoNotes, English Web Treebank): hyphens
and slashes between words stand alone, contractions are split, quotes and brackets stay as
they are. The rules are meant for machine output too: missing spaces, repeated marks, emoji,
mixed scripts, HTML entities and control characters all give sensible tokens.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple


class Token(NamedTuple):
    """A token and where it stands: `text[start:end]` of the original, as written there.

    `text` differs from that only where an HTML entity was resolved.
    """

    text: str
    start: int
    end: int


_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos|nbsp);")

_ABBREVIATIONS = frozenset(
    """
    adm apr assn assoc aug ave blvd brig bros capt cmdr co col corp dec dept dr drs est etc
    feb fig fr gen gov hon inc jan jr lt ltd maj mar messrs mr mrs ms mt nov oct ph.d pres
    prof rep reps rev sen sens sep sept sgt sr st supt vs vol
    """.split()
)

# Prefixes and suffixes that stay with their word (the treebanks' list, shortened to what
# occurs); every other hyphen stands alone.
_PREFIXES = frozenset(
    """
    anti co de e ex extra hyper inter intra mega micro mid mini multi neo non over pan para
    post pre pro pseudo quasi re semi sub super supra trans ultra un uni vice
    """.split()
)
_SUFFIXES = frozenset("esque ette fest fold gate itis less most rama wise".split())

_LETTER = r"[^\W\d_]"
_WIDE = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]"
)
_LONG = 200
"""Characters between spaces from which on the rules are tried with care: see `_walk`."""
_MAIL_NAME, _MAIL_HOST = r"[\w.+-]+", r"@[\w-]+(?:\.[\w-]+)+"
_SITE_NAME = r"[\w-]+"
_SITE_REST = r"\.(?:com|org|net|edu|gov|info|co\.uk)\b(?:/[^\s<>\"“”]*[\w/])?"
_EMOJI = (
    r"(?:[\U0001f1e6-\U0001f1ff]{2}"
    r"|[\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]*"
    r"(?:\u200d[\u2190-\u2bff\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]*)*)"
)


def _compile(*addresses: str) -> re.Pattern[str]:
    """The rules, the first that fits wins; with so many kinds of addresses."""
    return re.compile("|".join((f"(?P<url>{'|'.join(addresses)})", *_RULES)))


_LINK = r"(?:https?://|ftp://|www\.)[^\s<>\"“”]+[^\s<>\"“”.,;:!?')\]}’]"
_RULES = (
    r"(?P<emoticon>[:;=8][-o*']?[)\](\[dDpP/\\|](?!\w)|<3)",
    rf"(?P<wide>{_WIDE})",
    rf"(?P<emoji>{_EMOJI})",
    r"(?P<tag>[#@](?=[^\W\d])\w+)",
    r"(?P<phone>\+?[0-9]{1,3}(?:[-.][0-9]{3,4}){2,3}\b)",
    r"(?P<date>[0-9]{1,4}/[0-9]{1,2}(?:/[0-9]{1,4})?(?![\w/]))",
    r"(?P<number>[0-9]+(?:[.,:][0-9]+)*(?:st|nd|rd|th|s|'s|’s)?(?![^\W_])|\.[0-9]+)",
    rf"(?P<acronym>(?:{_LETTER}\.){{2,}}(?:{_LETTER}(?![^\W_]))?)",
    r"(?P<money>[A-Z]{0,3}\$)",
    r"(?P<year>['’][0-9]{2}s?(?!\w))",
    r"(?P<clitic>['’](?i:s|m|d|re|ve|ll)(?!\w))",
    rf"(?P<affixed>(?i:{'|'.join(sorted(_PREFIXES))})-{_LETTER}+(?!['’\w.])"
    rf"|{_LETTER}+-(?i:{'|'.join(sorted(_SUFFIXES))})(?![\w.]))",
    rf"(?P<word>(?!{_WIDE})[^\W_](?:(?!{_WIDE})(?:\w|[\u0300-\u036f\u00ad])"
    rf"|[&](?={_LETTER})|['’](?={_LETTER})|[.](?=[0-9]))*(?:\.(?![.\w]))?)",
    r"(?P<dots>\.{2,}|…)",
    r"(?P<marks>(?P<mark>[!?])[!?]*|--+|==+|__+|\*\*+|~~+|##+|''|``|<<|>>)",
    r"(?P<other>[^\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060\ufeff])",
)
_TOKEN = _compile(_LINK, _MAIL_NAME + _MAIL_HOST, _SITE_NAME + _SITE_REST)
_NO_ADDRESS = _compile(_LINK)
_ADDRESSES = tuple(
    (re.compile(name), re.compile(rest))
    for name, rest in ((_MAIL_NAME, _MAIL_HOST), (_SITE_NAME, _SITE_REST))
)

_CHUNK = re.compile(r"\S+")
_CONTRACTION = re.compile(r"(?i)^(?P<head>.+?)(?P<tail>n['’]t|['’](?:s|m|d|re|ve|ll))$")
_JOINED = {
    "cannot": 3,
    "gonna": 3,
    "gotta": 3,
    "wanna": 3,
    "gimme": 3,
    "lemme": 3,
    "dunno": 2,
}
_UNIT = re.compile(rf"^([0-9][0-9.,]*)((?!st$|nd$|rd$|th$|s$){_LETTER}{{2,}}|%)$")


def tokenise(text: str) -> list[Token]:
    """Split a text into tokens.

    Every character but white space, control and zero-width characters belongs to one token.
    """
    if "&" not in text:
        return _split(text, None)
    decoded: list[str] = []
    places: list[int] = []
    start = 0
    for entity in _ENTITY.finditer(text):
        decoded.append(text[start : entity.start()])
        places.extend(range(start, entity.start()))
        character = html.unescape(entity[0])
        decoded.append(character)
        places.extend([entity.start()] * len(character))
        start = entity.end()
    decoded.append(text[start:])
    places.extend(range(start, len(text) + 1))
    return _split("".join(decoded), places)


def _split(text: str, places: list[int] | None) -> list[Token]:
    tokens: list[Token] = []
    last = len(text.rstrip())
    for chunk in _CHUNK.finditer(text):
        whole = chunk[0]
        if whole.isascii() and whole.isalpha() and whole.lower() not in _JOINED:
            # Most words by far; no rule below would split them.
            tokens.append(Token(whole, chunk.start(), chunk.end()))
        else:
            _split_chunk(text, chunk.start(), chunk.end(), last, tokens)
    if places is None:
        return tokens
    # The end of an entity is where the next character begins.
    return [Token(token.text, places[token.start], places[token.end]) for token in tokens]


def _split_chunk(text: str, begin: int, until: int, last: int, tokens: list[Token]) -> None:
    """What stands between two spaces, by the rules."""
    few = until - begin < _LONG
    for match in _TOKEN.finditer(text, begin, until) if few else _walk(text, begin, until):
        kind = match.lastgroup
        start, end = match.span()
        unfinished = kind == "acronym" and len(match[0]) < 4 and not match[0].endswith(".")
        if kind == "word" or unfinished:
            _split_word(text, start, end, last, tokens)
        else:
            tokens.append(Token(match[0], start, end))


def _walk(text: str, begin: int, until: int) -> Iterator[re.Match[str]]:
    """The same matches, in time that grows with the length alone.

    Whether an address begins somewhere is seen at the end of its name, which may be far. All places
    within a name have the same end, so it is looked at once for all of them.
    """
    ends = [begin, begin]
    found = [False, False]
    place = begin
    while place < until:
        for number, (name, rest) in enumerate(_ADDRESSES):
            if place >= ends[number]:
                run = name.match(text, place, until)
                ends[number] = run.end() if run else place + 1
                found[number] = run is not None and bool(rest.match(text, run.end(), until))
        match = (_TOKEN if any(found) else _NO_ADDRESS).match(text, place, until)
        if match is None:
            place += 1
            continue
        yield match
        place = match.end()


def _split_word(text: str, start: int, end: int, last: int, tokens: list[Token]) -> None:
    """A word with what clings to it: a full stop, a contraction, a unit."""
    word = text[start:end]
    stop = 0
    if word.endswith(".") and len(word) > 1:
        stem = word[:-1].lower()
        initial = len(stem) == 1 and word[0].isupper() and end < last
        if stem not in _ABBREVIATIONS and not initial:
            stop = 1
    body = end - stop
    word = text[start:body]
    contraction = _CONTRACTION.match(word) if "'" in word or "’" in word else None
    cut = _JOINED.get(word.lower())
    unit = _UNIT.match(word) if word[0].isdigit() else None
    if contraction and contraction.start("tail") > 0:
        middle = start + contraction.start("tail")
        tokens.append(Token(text[start:middle], start, middle))
        tokens.append(Token(text[middle:body], middle, body))
    elif cut:
        tokens.append(Token(text[start : start + cut], start, start + cut))
        tokens.append(Token(text[start + cut : body], start + cut, body))
    elif unit:
        middle = start + len(unit[1])
        tokens.append(Token(text[start:middle], start, middle))
        tokens.append(Token(text[middle:body], middle, body))
    else:
        tokens.append(Token(word, start, body))
    if stop:
        tokens.append(Token(".", body, end))
