"""Semantic role overlap, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from meantime import Level, Pair, Segment, Sentence, create
from meantime.errors import UsageError
from meantime.types import Frame, Role, Span


def sentence(text: str, *roles: tuple[str, int, int]) -> Sentence:
    made = tuple(Role(label, (Span(start, end),)) for label, start, end in roles)
    frames = (Frame(Span(2, 3), made),) if made else ()
    return Sentence(text, tokens=tuple(text.split()), frames=frames)


def value(specification: str, hypothesis: Sentence, *references: Sentence) -> float:
    segment = Segment("1", references)
    metric = create(specification).prepare([segment])
    return metric.score(metric.measure([Pair(hypothesis, segment)])[0], Level.SEGMENT).value


DOG = sentence("The dog bit the man", ("ARG0", 0, 2), ("ARG1", 3, 5))
CAT = sentence("the cat bit a man today", ("ARG0", 0, 2), ("ARG1", 3, 5), ("ARGM-TMP", 5, 6))


def test_by_hand() -> None:
    # ARG0: the / the dog cat = 1/3. ARG1: man / a the man = 1/3. TMP: 0/1.
    assert value("sr", CAT, DOG) == pytest.approx((1 / 3 + 1 / 3 + 0) / 3)
    # Predicates as a type of their own: bit / bit.
    assert value("sr:predicates=yes", CAT, DOG) == pytest.approx((1 / 3 + 1 / 3 + 0 + 1) / 4)
    # Together: the man / the(2, as often as in the other) dog cat a man today.
    assert value("sr:pool=yes", CAT, DOG) == pytest.approx(2 / 7)
    assert value("sr", DOG, DOG) == 1.0


def test_the_best_reference_counts() -> None:
    assert value("sr", CAT, DOG, CAT) == 1.0


def test_no_roles_on_a_side() -> None:
    bare = replace(DOG, frames=())
    assert value("sr", bare, DOG) == 0.0
    assert value("sr", DOG, bare) == 0.0
    assert value("sr", bare, bare) == 1.0


def test_what_is_missing_is_said() -> None:
    with pytest.raises(UsageError, match="hypothesis of segment 1"):
        value("sr", Sentence("the dog"), DOG)
