"""Parses put onto the sentences they are of.

A parser may have changed characters on its way: treebanks write brackets as `-LRB-` and quotes
as two apostrophes, tools straighten quotes and resolve HTML entities. So a token stands in the
text where its characters do, white space and invisible characters aside, in one of the forms
such tools write. Everything else is another text, and is refused.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from meantime.errors import FormatError, LengthMismatch
from meantime.formats.parses.parsed import Parsed
from meantime.types import Sentence

_BRACKETS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
_BRACKET = re.compile("|".join(_BRACKETS))
_PLAIN = {"``": '"', "''": '"', "`": "'", "/.": ".", "/?": "?", "/-": "-"}
_OTHER_FORMS = {
    '"': ("''", "``"),
    "'": ("`",),
    "--": ("—", "–"),
    "...": ("…",),
}
# One character each, so that places stay places.
_FOLDED = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'"})
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_SHOWN = 40


def plain_token(token: str) -> str:
    """A treebank's token in the characters of running text: `(` for `-LRB-`."""
    if token in _PLAIN:
        return _PLAIN[token]
    return (
        _BRACKET.sub(lambda found: _BRACKETS[found[0]], token)
        .replace("\\/", "/")
        .replace("\\*", "*")
    )


@lru_cache(maxsize=65536)
def _is_visible(character: str) -> bool:
    return not character.isspace() and unicodedata.category(character) not in _INVISIBLE


def _visible(text: str) -> str:
    return "".join(filter(_is_visible, text))


@lru_cache(maxsize=65536)
def _forms(token: str) -> tuple[str, ...]:
    """How a token may stand in a text, as it is first."""
    literal = _visible(token).translate(_FOLDED)
    plain = _visible(plain_token(token)).translate(_FOLDED)
    forms = dict.fromkeys((literal, plain, *_OTHER_FORMS.get(plain, ())))
    return tuple(form for form in forms if form)


class _Stream(NamedTuple):
    """The visible characters of a text and where each begins and ends in it."""

    characters: str
    starts: list[int]
    ends: list[int]

    def as_folded(self) -> str:
        return self.characters.translate(_FOLDED)


def _stream(text: str, *, resolve: bool) -> _Stream:
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def add(content: str, start: int, end: int) -> None:
        for character in content:
            if _is_visible(character):
                characters.append(character)
                starts.append(start)
                ends.append(end)

    place = 0
    for entity in _ENTITY.finditer(text) if resolve else ():
        for here in range(place, entity.start()):
            add(text[here], here, here + 1)
        add(html.unescape(entity[0]), entity.start(), entity.end())
        place = entity.end()
    for here in range(place, len(text)):
        add(text[here], here, here + 1)
    return _Stream("".join(characters), starts, ends)


class _Located(NamedTuple):
    """Tokens as the text has them and where they stand, as far as they were found."""

    tokens: list[str]
    offsets: list[tuple[int, int]]
    end: int


def _locate(tokens: Sequence[str], text: str) -> tuple[_Located, bool]:
    """Where tokens stand in a text, and whether that is all of both."""
    found = _locate_exactly(tokens, text)
    if found is not None:
        return found, True
    # An entity is resolved or it is not: the tool that made the tokens did not change its mind.
    best = _Located([], [], 0)
    for resolve in (False, True) if "&" in text else (False,):
        located, complete = _locate_loosely(tokens, text, _stream(text, resolve=resolve))
        if complete:
            return located, True
        if len(located.tokens) >= len(best.tokens):
            best = located
    return best, False


def _locate_exactly(tokens: Sequence[str], text: str) -> _Located | None:
    """The usual case, done fast: tokens as they are, with or without space between them."""
    offsets = []
    place = 0
    for token in tokens:
        while place < len(text) and text[place].isspace():
            place += 1
        if not token or not text.startswith(token, place):
            return None
        offsets.append((place, place + len(token)))
        place += len(token)
    if any(map(_is_visible, text[place:])):
        return None
    return _Located(list(tokens), offsets, len(text))


def _locate_loosely(tokens: Sequence[str], text: str, stream: _Stream) -> tuple[_Located, bool]:
    folded = stream.as_folded()
    written: list[str] = []
    offsets: list[tuple[int, int]] = []
    place = 0
    for token in tokens:
        form = next((form for form in _forms(token) if folded.startswith(form, place)), None)
        if form is None:
            break
        end = place + len(form)
        characters = stream.characters[place:end]
        written.append(token if _visible(token) == characters else characters)
        offsets.append((stream.starts[place], stream.ends[end - 1]))
        place = end
    complete = len(written) == len(tokens) and place == len(folded)
    rest = stream.starts[place] if place < len(folded) else len(text)
    return _Located(written, offsets, rest), complete


def attach_parsed(
    sentences: Sequence[Sentence], parses: Sequence[Parsed], name: str
) -> list[Sentence]:
    """Put parses onto sentences; see `meantime.formats.parses.attach`."""
    empty = [not any(map(_is_visible, sentence.text)) for sentence in sentences]
    # Parsers leave out lines without a word. Then their places tell themselves.
    skip = len(parses) != len(sentences) and len(parses) == len(sentences) - sum(empty)
    if skip:
        waiting = iter(parses)
        return [
            _without_tokens(sentence, parses)
            if blank
            else _attach(sentence, next(waiting), name, number)
            for number, (sentence, blank) in enumerate(zip(sentences, empty, strict=True), start=1)
        ]
    # Unequal numbers are an error, but the first token that is not in its text shows where.
    attached = [
        _attach(sentence, parsed, name, number)
        for number, (sentence, parsed) in enumerate(zip(sentences, parses, strict=False), start=1)
    ]
    if len(parses) != len(sentences):
        raise LengthMismatch(
            f"{name}: {len(parses)} sentences, the text has {len(sentences)}"
            + (f" ({sum(empty)} of them empty)" if any(empty) else "")
            + "; give one parse a sentence, in the same order"
        )
    return attached


def _without_tokens(sentence: Sentence, parses: Sequence[Parsed]) -> Sentence:
    """A sentence of no tokens, with the layers that its neighbours have."""
    first = parses[0].sentence if parses else Sentence("", pos=(), frames=())
    return replace(
        sentence,
        tokens=(),
        offsets=(),
        pos=None if first.pos is None else (),
        tree=None,
        tree_score=None,
        frames=None if first.frames is None else (),
        vectors=None,
    )


def _fits(tokens: Sequence[str], offsets: Sequence[tuple[int, int]], text: str) -> bool:
    """Whether the tokens stand where the offsets say, with nothing visible between them."""
    place = 0
    for token, (start, end) in zip(tokens, offsets, strict=True):
        there = text[start:end].casefold()
        if start < place or token.casefold() not in (there, html.unescape(there)):
            return False
        if _visible(text[place:start]):
            return False
        place = end
    return not _visible(text[place:])


def _attach(sentence: Sentence, parsed: Parsed, name: str, number: int) -> Sentence:
    parse = parsed.sentence
    tokens, offsets = parse.tokens, parse.offsets
    if tokens is None:
        # Nothing is counted in tokens that are not there; only the text can be compared.
        tokens, known = (parse.text,) if _visible(parse.text) else (), False
    else:
        known = offsets is not None and _fits(tokens, offsets, sentence.text)
    if not known:
        located, complete = _locate(tokens, sentence.text)
        if not complete:
            _refuse(sentence.text, tokens, located, parsed, name, number)
        if parse.tokens is not None:
            tokens, offsets = tuple(located.tokens), tuple(located.offsets)
    return replace(
        sentence,
        tokens=None if parse.tokens is None else tokens,
        offsets=None if parse.tokens is None else offsets,
        pos=parse.pos,
        tree=parse.tree,
        tree_score=parse.tree_score,
        frames=parse.frames,
        vectors=parse.vectors,
    )


def _refuse(
    text: str, tokens: Sequence[str], located: _Located, parsed: Parsed, name: str, number: int
) -> None:
    token = len(located.tokens)
    if parsed.place is not None:
        where = f"{parsed.place.at(token)}: sentence {number}"
    else:
        where = f"{name}: sentence {number}"
    there = text[located.end :].strip()
    shown = repr(there[:_SHOWN] + ("…" if len(there) > _SHOWN else "")) if there else "its end"
    if token == len(tokens):
        what = f"the tokens end where the text goes on with {shown}"
    else:
        what = f"token {token + 1} {tokens[token]!r} does not stand in the text, which has {shown}"
    raise FormatError(f"{where}: {what}; give the parses of this very text")
