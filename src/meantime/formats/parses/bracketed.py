"""ASSERT's bracketed lines, one a frame.

    0: [ARG0 I] [TARGET see ] [ARG1 you] .

The number before the colon is the sentence's; a sentence has one line a frame, and a line
without brackets where it has none. Tokens are separated by spaces. Square brackets of the text
are written `-LSB-` and `-RSB-`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from meantime.errors import InputError
from meantime.formats.opening import Text, lines
from meantime.formats.parses import roles
from meantime.formats.parses.parsed import Parsed, Place, of_tokens
from meantime.types import Frame, Sentence, Span

LINE = re.compile(r"([0-9]+):(?:[ \t]+(.*))?")
_TARGET = "TARGET"
_LABEL = re.compile(r"[A-Z][A-Z0-9-]*")
_OPENING = re.compile(r"\[([A-Z][A-Z0-9-]*)")
_ESCAPES = (("[", "-LSB-"), ("]", "-RSB-"))
_UNHOLDABLE = re.compile(r"[ \t\r\n]|-[LR]SB-|^$")


@dataclass(slots=True)
class _Group:
    """The lines of one sentence."""

    number: int
    place: Place
    tokens: list[str]
    frames: list[Frame]


def parse(text: Text, format: str, lang: str) -> list[Parsed]:
    """Read ASSERT's lines.

    Raises:
        FormatError: A line has no number, numbers do not follow each other, brackets do not
            match, or lines of one sentence have different words.
    """
    groups: list[_Group] = []
    for number, line in enumerate(lines(text.content), start=1):
        if not line.strip():
            continue
        place = Place(text.name, [number])
        found = LINE.fullmatch(line)
        if found is None:
            place.refuse(0, "no sentence number; begin the line with one and a colon, as in 0:")
        if len(found[1]) > 18:
            place.refuse(0, "a sentence number of more than 18 digits; number them from 0")
        sentence = int(found[1])
        tokens, frame = _read(found[2] or "", place)
        if groups and groups[-1].number == sentence:
            _check_same(groups[-1].tokens, tokens, sentence, place)
        elif sentence == groups[-1].number + 1 if groups else sentence in (0, 1):
            groups.append(_Group(sentence, place, tokens, []))
        else:
            after = f"{groups[-1].number} comes before it" if groups else "it is the first"
            place.refuse(
                0,
                f"sentence {sentence}, and {after}; number sentences in order without gaps, from "
                "0 or 1, those without frames too",
            )
        if frame is not None:
            groups[-1].frames.append(frame)
    return [
        Parsed(
            of_tokens(group.tokens, lang=lang, pos=None, tree=None, frames=tuple(group.frames)),
            group.place,
        )
        for group in groups
    ]


def _check_same(known: Sequence[str], tokens: Sequence[str], sentence: int, place: Place) -> None:
    if list(known) == list(tokens):
        return
    pairs = enumerate(zip(known, tokens, strict=False))
    token = next((n for n, (one, other) in pairs if one != other), min(len(known), len(tokens)))
    there = repr(tokens[token]) if token < len(tokens) else "the end"
    expected = repr(known[token]) if token < len(known) else "the end"
    place.refuse(
        0,
        f"token {token + 1} of sentence {sentence} is {there}, in the line before {expected}; "
        "lines of one sentence have the same words",
    )


def _read(content: str, place: Place) -> tuple[list[str], Frame | None]:
    tokens: list[str] = []
    parts: list[tuple[str, Span]] = []
    label: str | None = None
    start = 0
    for piece in re.split(r"[ \t]+", content.strip(" \t")):
        opening = _OPENING.fullmatch(piece)
        if opening is not None:
            if label is not None:
                place.refuse(
                    0, f"[{opening[1]} opens inside [{label}; close that one before it with ]"
                )
            label, start = opening[1], len(tokens)
            continue
        closes = label is not None and piece.endswith("]")
        word = piece[:-1] if closes else piece
        if ("[" in word or "]" in word) and (label is not None or len(word) > 1):
            place.refuse(
                0,
                f"a bracket out of place at {piece!r}; write roles as [ARG0 some words], and "
                "square brackets of the text as -LSB- and -RSB-",
            )
        if word:
            for character, name in _ESCAPES:
                word = word.replace(name, character)
            tokens.append(word)
        if closes and label is not None:
            if start == len(tokens):
                place.refuse(0, f"[{label} ] holds no word; remove it or fill it")
            parts.append((label, Span(start, len(tokens))))
            label = None
    if label is not None:
        place.refuse(0, f"the bracket [{label} is never closed; close it with ]")
    return tokens, _frame(parts, place)


def _frame(parts: Sequence[tuple[str, Span]], place: Place) -> Frame | None:
    if not parts:
        return None
    targets = [span for label, span in parts if label == _TARGET]
    if len(targets) != 1:
        place.refuse(0, f"{len(targets)} predicates; a line has one, as [TARGET word ]")
    return Frame(targets[0], roles.join([part for part in parts if part[0] != _TARGET]))


def render(sentences: Sequence[Sentence], format: str, first: int = 0) -> str:
    """Write ASSERT's lines: tokens and frames, no parts of speech and no trees.

    Raises:
        InputError: A sentence has no frames known, or a token or label these lines cannot hold.
    """
    written = []
    for number, sentence in enumerate(sentences, start=first):
        where = f"sentence {number + 1}"
        tokens = sentence.tokens
        if tokens is None or sentence.frames is None:
            raise InputError(f"{where} has no frames known; analyse it first, or write jsonl")
        for token in tokens:
            if _UNHOLDABLE.search(token):
                raise InputError(
                    f"{where}: these lines cannot hold the token {token!r}; write jsonl"
                )
        for frame in sentence.frames or (None,):
            written.append(f"{number}: {' '.join(_write(tokens, frame, where))}".rstrip(" "))
    return "".join(f"{line}\n" for line in written)


def _write(tokens: Sequence[str], frame: Frame | None, where: str) -> list[str]:
    pieces = list(tokens)
    for character, name in _ESCAPES:
        pieces = [piece.replace(character, name) for piece in pieces]
    if frame is None:
        return pieces
    roles.check(frame, len(tokens), where)
    roles.check_parts(frame, where)
    for label, span in [(_TARGET, frame.predicate), *roles.split(frame.roles)]:
        if _LABEL.fullmatch(label) is None or (label == _TARGET and span != frame.predicate):
            raise InputError(
                f"{where}: these lines cannot hold the role label {label!r}; rename it, or "
                "write jsonl"
            )
        pieces[span.start] = f"[{label} {pieces[span.start]}"
        pieces[span.end - 1] += " ]" if label == _TARGET else "]"
    return pieces
