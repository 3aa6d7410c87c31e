"""Members of matched groups that have changed places."""

from __future__ import annotations

from itertools import product

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from meantime.alignment.roles import NUMBER
from meantime.alignment.structures import sides, structure
from meantime.matching import phrases
from meantime.matching.exchanges import Exchanges, find_exchanges
from meantime.matching.structures import Matched, Method, match_sides
from meantime.types import Frame, Role, Sentence, Span

ASKED = numpy.array([NUMBER[name] for name in ("arg0", "arg1", "arg2")])
METHOD = Method(phrases.BEST_MATCH)


def sentence(words: str, *labels: str) -> Sentence:
    """One frame: the first word its predicate, a role of one word for each label after it."""
    tokens = tuple(words.split())
    roles = tuple(Role(label, (Span(n, n + 1),)) for n, label in enumerate(labels, 1))
    return Sentence(words, tokens=tokens, frames=(Frame(Span(0, 1), roles),))


def found(
    left: Sentence, right: Sentence, matrix: numpy.ndarray | None = None
) -> tuple[Exchanges, Matched]:
    if matrix is None:
        matrix = numpy.array(
            [[float(a == b) for b in right.tokens or ()] for a in left.tokens or ()]
        )
    one, other = sides([structure(left)]), sides([structure(right)])
    offsets = numpy.array([0, matrix.size])
    matched = match_sides(matrix.ravel(), offsets, one, other, METHOD)
    return find_exchanges(matrix.ravel(), offsets, one, other, matched, METHOD, ASKED), matched


def value(left: Sentence, right: Sentence) -> float:
    return float(found(left, right)[0].values[0])


BITES = sentence("bites dog man", "ARG0", "ARG1")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (sentence("bites man dog", "ARG0", "ARG1"), 1),
        (BITES, 0),
        # Another order of the same roles, as in the passive.
        (sentence("bites man dog", "ARG1", "ARG0"), 0),
        # One of them is in the other's place, and what was there is gone.
        (sentence("bites man cat", "ARG0", "ARG1"), 0.5),
        # Other actors are not exchanged ones.
        (sentence("bites cat boy", "ARG0", "ARG1"), 0),
        # Where a role is missing there is nothing to change places with.
        (sentence("bites man", "ARG0"), 0),
        # Only actors count.
        (sentence("bites man dog", "ARGM-TMP", "ARGM-LOC"), 0),
        # Another event.
        (sentence("sees man dog", "ARG0", "ARG1"), 0),
    ],
)
def test_by_hand(other: Sentence, expected: float) -> None:
    assert value(other, BITES) == expected
    assert value(BITES, other) == expected


def test_the_phrases_are_named() -> None:
    exchanges, _ = found(sentence("bites man dog", "ARG0", "ARG1"), BITES)
    assert exchanges.phrases.tolist() == [[1, 2, 1, 2]]
    exchanges, _ = found(BITES, BITES)
    assert exchanges.phrases.tolist() == [[-1, -1, -1, -1]]


labels = some.lists(some.sampled_from(["ARG0", "ARG1", "ARG2", "ARGM-TMP"]), max_size=4)


@settings(deadline=None)
@given(labels, labels, some.integers(0, 10_000))
def test_as_defined(one: list[str], other: list[str], seed: int) -> None:
    left = sentence(" ".join("abcde"[: 1 + len(one)]), *one)
    right = sentence(" ".join("abcde"[: 1 + len(other)]), *other)
    matrix = numpy.random.default_rng(seed).integers(
        0, 5, (len(left.tokens or ()), len(right.tokens or ()))
    ) / 4  # fmt: skip
    exchanges, matched = found(left, right, matrix)
    greatest = 0.0
    asked = ("ARG0", "ARG1", "ARG2")
    if len(matched.groups) and matched.groups[0] >= 0:
        for (a, k), (b, n), (c, p), (d, q) in product(
            enumerate(one, 1), enumerate(one, 1), enumerate(other, 1), enumerate(other, 1)
        ):
            if k != n and p == k and q == n and k in asked and n in asked:
                across = matrix[a, d] + matrix[b, c] - matrix[a, c] - matrix[b, d]
                greatest = max(greatest, across / 2 * matrix[0, 0])
    assert exchanges.values[0] == pytest.approx(greatest, abs=1e-12)
