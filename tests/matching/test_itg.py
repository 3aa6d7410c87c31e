"""The bracketing grammar, against every derivation written out."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, inf

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays
from numba import njit
from numpy.typing import NDArray

from meantime.matching.itg import BEAM, BEST, INSIDE, LIMIT, itg_matrix, itg_similarity

Matrix = NDArray[numpy.float64]


def derivations(matrix: Matrix, null: float, i: int, j: int, k: int, m: int) -> Iterator[float]:
    """The weight of every derivation of left span [i, j) and right span [k, m)."""
    if (j - i, m - k) == (1, 1):
        yield float(matrix[i, k])
    if (j - i) + (m - k) == 1:
        yield null
    # Without null tokens a part needs tokens on both sides.
    least = 0 if null else 1
    for a in range(i + least, j + 1 - least):
        for b in range(k + least, m + 1 - least):
            for first, second in (((k, b), (b, m)), ((b, m), (k, b))):
                if (a, *first) == (i, first[0], first[0]) or (a, *second) == (j, *second[:1] * 2):
                    continue
                for left in derivations(matrix, null, i, a, *first):
                    if left:
                        for right in derivations(matrix, null, a, j, *second):
                            yield left * right


def brute(matrix: Matrix, null: float) -> tuple[float, float]:
    """Best and inside, normalised."""
    n, m = matrix.shape
    weights = list(derivations(matrix, null, 0, n, 0, m)) or [0.0]
    return max(weights) ** (1 / max(n, m)), sum(weights) ** (1 / max(n, m))


def value(
    matrix: Matrix, method: int, null: float = 0.0, limit: float = inf, beam: int = BEAM
) -> float:
    n, m = matrix.shape
    found: float = itg_similarity(
        matrix, numpy.arange(n), numpy.arange(m), method, null, limit, beam
    )
    return found


def matrices(rows: int, columns: int) -> some.SearchStrategy[Matrix]:
    few = some.sampled_from([0.0, 0.25, 1.0])
    return arrays(numpy.float64, (rows, columns), elements=few | some.floats(0, 1, width=16))


def sized(*shapes: tuple[int, int]) -> some.SearchStrategy[Matrix]:
    return some.sampled_from(shapes).flatmap(lambda shape: matrices(*shape))


@settings(max_examples=60, deadline=None)
@given(sized((1, 1), (2, 2), (3, 3), (2, 3), (4, 1)))
def test_every_derivation(matrix: Matrix) -> None:
    best, inside = brute(matrix, 0.0)
    assert value(matrix, BEST) == pytest.approx(best)
    assert value(matrix, INSIDE) == pytest.approx(inside)


@settings(max_examples=80, deadline=None)
@given(sized((1, 1), (1, 2), (3, 1), (2, 2)), some.sampled_from([0.1, 0.5, 1.0]))
def test_every_derivation_with_null_tokens(matrix: Matrix, null: float) -> None:
    best, inside = brute(matrix, null)
    assert value(matrix, BEST, null) == pytest.approx(best)
    assert value(matrix, INSIDE, null) == pytest.approx(inside)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (1, 4), (4, 1), (3, 3)])
def test_every_derivation_of_more_tokens(shape: tuple[int, int]) -> None:
    matrix = numpy.random.default_rng(3).random(shape)
    best, inside = brute(matrix, 0.3)
    assert value(matrix, BEST, 0.3) == pytest.approx(best)
    assert value(matrix, INSIDE, 0.3) == pytest.approx(inside)


@pytest.mark.parametrize(("words", "printed"), [(3, 1.26), (10, 2.34)])
def test_inside_sum_of_a_copy(words: int, printed: float) -> None:
    # Every binary bracketing of n words counts once: Catalan number n - 1.
    catalan = comb(2 * words - 2, words - 1) / words
    assert value(numpy.eye(words), INSIDE) == pytest.approx(catalan ** (1 / words))
    assert value(numpy.eye(words), INSIDE) == pytest.approx(printed, abs=0.005)
    assert value(numpy.eye(words), BEST) == 1


def test_inside_sum_of_a_lone_word() -> None:
    # Both words without partner: one before the other or after, straight or inverted.
    assert value(numpy.ones((1, 1)), INSIDE, 0.5) == pytest.approx(1 + 4 * 0.25)


def test_unequal_lengths_need_null_tokens() -> None:
    matrix = numpy.ones((2, 3))
    assert value(matrix, BEST) == value(matrix, INSIDE) == 0
    assert value(matrix, BEST, 0.125) == pytest.approx(0.5)


def test_one_permutation_cannot_be_derived() -> None:
    # 2 4 1 3, the smallest that no bracketing gives (Wu 1997).
    matrix = numpy.full((4, 4), 0.5)
    matrix[[0, 1, 2, 3], [1, 3, 0, 2]] = 1.0
    assert value(matrix, BEST) < 1
    for permutation in ([3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1]):
        matrix = numpy.full((4, 4), 0.5)
        matrix[[0, 1, 2, 3], permutation] = 1.0
        assert value(matrix, BEST) == 1


@pytest.mark.parametrize(("left", "right", "expected"), [(0, 0, 1.0), (0, 2, 0.0), (3, 0, 0.0)])
def test_empty_phrases(left: int, right: int, expected: float) -> None:
    assert value(numpy.ones((left, right)), BEST, 0.5) == expected
    assert value(numpy.ones((left, right)), INSIDE, 0.5) == expected


@settings(max_examples=150, deadline=None)
@given(
    sized((2, 2), (3, 3), (2, 5), (5, 3), (5, 5), (6, 4)),
    some.sampled_from([0.0, 0.1, 0.5, 1.0]),
    some.integers(1, 4),
)
def test_bounded_is_never_above_exact(matrix: Matrix, null: float, beam: int) -> None:
    for method in (BEST, INSIDE):
        exact = value(matrix, method, null)
        bounded = value(matrix, method, null, limit=0, beam=beam)
        assert bounded <= exact * (1 + 1e-12)
        assert bounded == pytest.approx(
            value(numpy.ascontiguousarray(matrix.T), method, null, limit=0, beam=beam)
        )


@settings(max_examples=60, deadline=None)
@given(sized((3, 3), (2, 4), (4, 4), (3, 5)), some.sampled_from([0.1, 0.5]))
def test_bounded_best_is_exact_where_all_spans_fit(matrix: Matrix, null: float) -> None:
    assert value(matrix, BEST, null, limit=0, beam=40) == pytest.approx(value(matrix, BEST, null))


@settings(max_examples=40, deadline=None)
@given(sized((3, 3), (4, 4), (5, 5)))
def test_bounded_sum_is_exact_where_all_spans_fit(matrix: Matrix) -> None:
    # Without null tokens all derivations are made of spans that can be kept.
    assert value(matrix, INSIDE, limit=0, beam=40) == pytest.approx(value(matrix, INSIDE))


@pytest.mark.parametrize("null", [0.1, 0.3])
@pytest.mark.parametrize("shape", [(14, 14), (9, 20), (18, 13)])
def test_bounded_is_near_exact(shape: tuple[int, int], null: float) -> None:
    n, m = shape
    rng = numpy.random.default_rng(5)
    for _ in range(3):
        # As similarities of words are: low for most, high for some, most of those in order.
        matrix = rng.random(shape) * 0.4
        for i in range(n):
            if rng.random() < 0.7:
                matrix[i, min(m - 1, max(0, i * m // n + rng.integers(-2, 3)))] = rng.random()
        for method, least in ((BEST, 0.9), (INSIDE, 0.15)):
            exact = value(matrix, method, null)
            bounded = value(matrix, method, null, limit=0)
            assert least * exact <= bounded <= exact * (1 + 1e-12)


def test_a_long_copy() -> None:
    for words in (30, 120):
        copy = numpy.eye(words)
        assert value(copy, BEST, 0.1, limit=LIMIT) == pytest.approx(1)
        assert value(copy, BEST, limit=LIMIT) == pytest.approx(1)
        inside = value(copy, INSIDE, 0.1, limit=LIMIT)
        assert 1 < inside < 16
        assert numpy.isfinite(inside)


def test_very_unlike_long_phrases() -> None:
    matrix = numpy.full((90, 80), 1e-9)
    for method in (BEST, INSIDE):
        assert 0 < value(matrix, method, 1e-9, limit=LIMIT) < 1e-7


def test_many_phrases_at_once() -> None:
    rng = numpy.random.default_rng(2)
    matrix = rng.random((9, 8))
    left = [[0, 1, 2], [4], [0, 1, 2], [], [8, 2, 3, 4]]
    right = [[0, 1], [2, 3, 4], [7], [0, 1]]
    offsets = [numpy.cumsum([0, *map(len, side)]) for side in (left, right)]
    indices = [
        numpy.array([x for p in side for x in p], dtype=numpy.int64) for side in (left, right)
    ]
    layout = (offsets[0], indices[0], offsets[1], indices[1])
    for method in (BEST, INSIDE):
        found = itg_matrix(matrix, *layout, method=method, null_weight=0.2)
        for a, rows in enumerate(left):
            for b, columns in enumerate(right):
                part = numpy.ascontiguousarray(matrix[numpy.ix_(rows, columns)])
                assert found[a, b] == pytest.approx(value(part, method, 0.2))
        wanted = rng.random((5, 4)) < 0.5
        some_found = itg_matrix(matrix, *layout, method=method, null_weight=0.2, wanted=wanted)
        assert (some_found == numpy.where(wanted, found, 0)).all()


def test_from_another_kernel() -> None:
    @njit
    def twice(matrix: Matrix, rows: NDArray[numpy.int64]) -> float:
        return 2.0 * itg_similarity(matrix, rows, rows, BEST, 0.1, LIMIT, BEAM)

    assert twice(numpy.eye(4), numpy.array([1, 3])) == 2
