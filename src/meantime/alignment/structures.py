"""Sentences with frames as arrays, for the kernels that match them.

Only frames with at least one role are taken: PropBank marks auxiliaries as predicates without
roles, and they say nothing of who did what. Roles are counted by instance, so a frame with two
temporal roles has two. The spans of a role that is split are one filler; so are roles that go on
with another (`C-ARG1` after `ARG1`), where a parse from elsewhere lists them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from meantime.alignment.roles import NUMBER, PREDICATE, role_class
from meantime.matching.structures import Sides
from meantime.types import Frame, Role, Sentence, Span


@dataclass(frozen=True, slots=True)
class Structure:
    """The scored frames of one sentence, and their phrases as numbers."""

    frames: tuple[Frame, ...]
    """Those that have roles; roles that go on with another are joined to it."""
    tokens: tuple[int, ...]
    """Token numbers of all phrases, end to end: of each frame its predicate, then its roles."""
    lengths: tuple[int, ...]
    """Tokens of each phrase."""
    classes: tuple[int, ...]
    """Role class of each phrase."""
    sizes: tuple[int, ...]
    """Phrases of each frame."""
    length: int
    """Tokens of the sentence."""


_HEAD = NUMBER[PREDICATE]
_classes: dict[str, int] = {}


def _class_number(label: str) -> int:
    # Looked up, not worked out: it is asked for every role of every sentence.
    number = _classes.get(label)
    if number is None:
        number = _classes[label] = NUMBER[role_class(label)]
    return number


def structure(sentence: Sentence) -> Structure:
    """The frames of an analysed sentence that can be scored."""
    frames = []
    tokens: list[int] = []
    lengths = []
    classes = []
    sizes = []
    for given in sentence.frames or ():
        if not given.roles:
            continue
        frame = given
        if any(role.label.startswith("C-") for role in given.roles):
            frame = Frame(given.predicate, joined(given.roles))
        frames.append(frame)
        tokens.extend(range(frame.predicate.start, frame.predicate.end))
        lengths.append(frame.predicate.end - frame.predicate.start)
        classes.append(_HEAD)
        for role in frame.roles:
            size = 0
            for span in role.spans:
                tokens.extend(range(span.start, span.end))
                size += span.end - span.start
            lengths.append(size)
            classes.append(_class_number(role.label))
        sizes.append(1 + len(frame.roles))
    return Structure(
        tuple(frames),
        tuple(tokens),
        tuple(lengths),
        tuple(classes),
        tuple(sizes),
        len(sentence.tokens or ()),
    )


def joined(roles: Sequence[Role]) -> tuple[Role, ...]:
    """Roles with each `C-X` made one filler with the `X` before it, or after it if none is."""
    waiting: list[Role] = []
    found: list[Role] = []
    for role in roles:
        if not role.label.startswith("C-"):
            found.append(role)
            continue
        place = _last(found, role.label[2:])
        if place is None:
            waiting.append(role)
        else:
            found[place] = _join(found[place], role)
    for role in waiting:
        place = _last(found, role.label[2:])
        if place is None:
            found.append(Role(role.label[2:], role.spans))
        else:
            found[place] = _join(found[place], role)
    return tuple(found)


def _last(roles: Sequence[Role], label: str) -> int | None:
    for place in range(len(roles) - 1, -1, -1):
        if roles[place].label == label:
            return place
    return None


def _join(role: Role, more: Role) -> Role:
    spans: list[Span] = sorted({*role.spans, *more.spans})
    return Role(role.label, tuple(spans))


def sides(structures: Sequence[Structure], weights: NDArray[numpy.float64] | None = None) -> Sides:
    """The structures of one side of a batch as arrays.

    Args:
        structures: One a pair.
        weights: Of the tokens of all sentences, end to end; 1 each by default.
    """
    tokens: list[int] = []
    lengths: list[int] = []
    classes: list[int] = []
    sizes: list[int] = []
    for one in structures:
        tokens += one.tokens
        lengths += one.lengths
        classes += one.classes
        sizes += one.sizes
    first_token = _offsets([one.length for one in structures])
    if weights is None:
        weights = numpy.ones(int(first_token[-1]))
    return Sides(
        tokens=numpy.array(tokens, dtype=numpy.int64),
        phrase_offsets=_offsets(lengths),
        classes=numpy.array(classes, dtype=numpy.int64),
        group_offsets=_offsets(sizes),
        first_group=_offsets([len(one.sizes) for one in structures]),
        weights=weights,
        first_token=first_token,
    )


def bare_sides(lengths: Sequence[int]) -> Sides:
    """Sentences of so many tokens, each of weight 1, without frames."""
    nothing = numpy.empty(0, dtype=numpy.int64)
    one = numpy.zeros(1, dtype=numpy.int64)
    first_token = _offsets(lengths)
    return Sides(
        tokens=nothing,
        phrase_offsets=one,
        classes=nothing,
        group_offsets=one,
        first_group=numpy.zeros(len(lengths) + 1, dtype=numpy.int64),
        weights=numpy.ones(int(first_token[-1])),
        first_token=first_token,
    )


def _offsets(lengths: Sequence[int]) -> NDArray[numpy.int64]:
    found = numpy.zeros(len(lengths) + 1, dtype=numpy.int64)
    numpy.cumsum(lengths, out=found[1:])
    return found
