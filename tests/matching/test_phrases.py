"""Five ways from words to phrases, against their definitions written out."""

from __future__ import annotations

from itertools import product

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays
from numba import njit
from numpy.typing import NDArray

from meantime.matching.phrases import (
    ARITHMETIC,
    BEST_MATCH,
    GEOMETRIC,
    LINKING,
    MIHALCEA,
    phrase_matrix,
    phrase_similarity,
)

Matrix = NDArray[numpy.float64]
ALL = (ARITHMETIC, GEOMETRIC, LINKING, MIHALCEA, BEST_MATCH)


def value(
    matrix: Matrix,
    method: int,
    *,
    row_weights: Matrix | None = None,
    column_weights: Matrix | None = None,
    alpha: float = 0.5,
    floor: float = 0.0,
) -> float:
    n, m = matrix.shape
    found: float = phrase_similarity(
        matrix,
        numpy.arange(n),
        numpy.arange(m),
        numpy.ones(n) if row_weights is None else row_weights,
        numpy.ones(m) if column_weights is None else column_weights,
        method,
        alpha,
        floor,
    )
    return found


def linked(matrix: Matrix) -> float:
    """Competitive linking: pairs best first, taken where the rules allow it."""
    n, m = matrix.shape
    pairs = sorted(product(range(n), range(m)), key=lambda pair: -matrix[pair])
    links: list[tuple[int, int]] = []
    again = abs(n - m)
    while len(links) < max(n, m):
        for i, j in pairs:
            rows = sum(i == a for a, _ in links)
            columns = sum(j == b for _, b in links)
            one_to_one = rows == columns == 0
            one_to_many = again > 0 and ((n < m and columns == 0) or (m < n and rows == 0))
            if (i, j) not in links and (one_to_one or one_to_many):
                again -= not one_to_one
                links.append((i, j))
                break
        else:
            raise AssertionError("no link is allowed")
    assert {i for i, _ in links} == set(range(n))
    assert {j for _, j in links} == set(range(m))
    return sum(float(matrix[pair]) for pair in links) / len(links)


def matrices(least: int = 1) -> some.SearchStrategy[Matrix]:
    few = some.sampled_from([0.0, 0.25, 0.5, 1.0])
    return some.tuples(some.integers(least, 5), some.integers(least, 5)).flatmap(
        lambda shape: arrays(numpy.float64, shape, elements=few | some.floats(0, 1, width=16))
    )


@settings(max_examples=200, deadline=None)
@given(matrices())
def test_competitive_linking(matrix: Matrix) -> None:
    assert value(matrix, LINKING) == pytest.approx(linked(matrix))


@settings(max_examples=100, deadline=None)
@given(matrices(), some.sampled_from([0.0, 0.001, 0.1]))
def test_means(matrix: Matrix, floor: float) -> None:
    assert value(matrix, ARITHMETIC) == pytest.approx(matrix.mean())
    product_of_all = float(numpy.prod(numpy.maximum(matrix, floor) ** (1 / matrix.size)))
    assert value(matrix, GEOMETRIC, floor=floor) == pytest.approx(product_of_all)


@settings(max_examples=100, deadline=None)
@given(matrices(), some.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
def test_best_match(matrix: Matrix, alpha: float) -> None:
    rng = numpy.random.default_rng(matrix.size)
    weights = [rng.random(size) + 0.1 for size in matrix.shape]
    precision = float((weights[0] * matrix.max(axis=1)).sum() / weights[0].sum())
    recall = float((weights[1] * matrix.max(axis=0)).sum() / weights[1].sum())
    found = [
        value(matrix, method, row_weights=weights[0], column_weights=weights[1], alpha=alpha)
        for method in (MIHALCEA, BEST_MATCH)
    ]
    assert found[0] == pytest.approx((precision + recall) / 2)
    # Weighted harmonic mean.
    expected = 0.0
    if precision > 0 and recall > 0:
        expected = 1 / ((1 - alpha) / precision + alpha / recall)
    assert found[1] == pytest.approx(expected)


def test_by_hand() -> None:
    matrix = numpy.array([[1.0, 0.2, 0.0], [0.4, 0.1, 0.5]])
    assert value(matrix, ARITHMETIC) == pytest.approx(2.2 / 6)
    assert value(matrix, GEOMETRIC) == 0
    assert value(matrix, GEOMETRIC, floor=0.1) == pytest.approx(
        (0.2 * 0.1 * 0.4 * 0.1 * 0.5) ** (1 / 6)
    )
    # 1.0 first, then 0.5; the column left goes to its better row, the one link of a row twice.
    assert value(matrix, LINKING) == pytest.approx((1.0 + 0.5 + 0.2) / 3)
    precision, recall = (1.0 + 0.5) / 2, (1.0 + 0.2 + 0.5) / 3
    assert value(matrix, MIHALCEA) == pytest.approx((precision + recall) / 2)
    assert value(matrix, BEST_MATCH) == pytest.approx(2 * precision * recall / (precision + recall))


def test_linking_may_spend_its_spare_link_early() -> None:
    # Row 0 takes both good columns; what is left for row 1 is poor.
    matrix = numpy.array([[1.0, 0.9, 0.8], [0.7, 0.6, 0.1]])
    assert value(matrix, LINKING) == pytest.approx((1.0 + 0.9 + 0.1) / 3)


def test_weights_of_zero() -> None:
    matrix = numpy.array([[1.0, 0.0], [0.0, 0.0]])
    none = numpy.zeros(2)
    for method in (MIHALCEA, BEST_MATCH):
        assert value(matrix, method, row_weights=none, column_weights=none) == value(matrix, method)
    only = numpy.array([1.0, 0.0])
    assert value(matrix, BEST_MATCH, row_weights=only, column_weights=only) == 1


def test_one_sided_best_match() -> None:
    matrix = numpy.array([[1.0], [0.0]])
    assert value(matrix, BEST_MATCH, alpha=0.0) == 0.5
    assert value(matrix, BEST_MATCH, alpha=1.0) == 1
    # No precision at all, yet recall alone is asked for.
    weights = numpy.array([0.0, 1.0])
    assert value(matrix, BEST_MATCH, row_weights=weights, alpha=1.0) == 1
    assert value(matrix, BEST_MATCH, row_weights=weights, alpha=0.5) == 0


@pytest.mark.parametrize("method", ALL)
def test_empty_phrases(method: int) -> None:
    assert value(numpy.ones((0, 0)), method) == 1
    assert value(numpy.ones((2, 0)), method) == value(numpy.ones((0, 1)), method) == 0


@settings(max_examples=100, deadline=None)
@given(matrices(), some.sampled_from(ALL))
def test_bounds_and_symmetry(matrix: Matrix, method: int) -> None:
    found = value(matrix, method)
    assert 0 <= found <= 1
    assert value(numpy.ascontiguousarray(matrix.T), method) == pytest.approx(found)


def test_a_copy() -> None:
    matrix = numpy.full((7, 7), 0.3)
    numpy.fill_diagonal(matrix, 1.0)
    for method in (LINKING, MIHALCEA, BEST_MATCH):
        assert value(matrix, method) == 1
    for method in (ARITHMETIC, GEOMETRIC):
        assert value(matrix, method) < 1


@pytest.mark.parametrize("method", ALL)
def test_many_phrases_at_once(method: int) -> None:
    rng = numpy.random.default_rng(2)
    matrix, row_weights, column_weights = rng.random((9, 8)), rng.random(9), rng.random(8)
    left = [[0, 1, 2], [4], [], [8, 2, 3, 4]]
    right = [[0, 1], [2, 3, 4], [7]]
    offsets = [numpy.cumsum([0, *map(len, side)]) for side in (left, right)]
    indices = [
        numpy.array([x for p in side for x in p], dtype=numpy.int64) for side in (left, right)
    ]
    wanted = rng.random((4, 3)) < 0.5
    for mask in (numpy.ones((4, 3), dtype=bool), wanted):
        found = phrase_matrix(
            matrix,
            offsets[0],
            indices[0],
            offsets[1],
            indices[1],
            row_weights=row_weights,
            column_weights=column_weights,
            method=method,
            alpha=0.7,
            floor=0.01,
            wanted=mask,
        )
        for a, rows in enumerate(left):
            for b, columns in enumerate(right):
                part = numpy.ascontiguousarray(matrix[numpy.ix_(rows, columns)])
                expected = value(
                    part,
                    method,
                    row_weights=row_weights[rows],
                    column_weights=column_weights[columns],
                    alpha=0.7,
                    floor=0.01,
                )
                assert found[a, b] == pytest.approx(expected if mask[a, b] else 0)


def test_from_another_kernel() -> None:
    @njit
    def twice(matrix: Matrix, rows: NDArray[numpy.int64], weights: Matrix) -> float:
        return 2.0 * phrase_similarity(matrix, rows, rows, weights, weights, BEST_MATCH, 0.5, 0.0)

    assert twice(numpy.eye(4), numpy.array([1, 3]), numpy.ones(4)) == 2
