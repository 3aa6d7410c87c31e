"""The heaviest matching, against all matchings there are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from meantime.matching.bipartite import best_matching, best_matchings

Weights = NDArray[numpy.float64]


def matchings(rows: int, columns: int, begun: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """All matchings, by the column of each row; earlier columns first, -1 last."""
    if len(begun) == rows:
        yield begun
        return
    for column in [*(c for c in range(columns) if c not in begun), -1]:
        yield from matchings(rows, columns, (*begun, column))


def brute(weights: Weights, threshold: float) -> list[int]:
    """The first of the heaviest matchings in the order in which `matchings` lists them."""
    rows, columns = weights.shape
    best, found = -1.0, [-1] * rows
    for matching in matchings(rows, columns):
        made = [(i, j) for i, j in enumerate(matching) if j >= 0]
        if any(weights[i, j] <= threshold or weights[i, j] < 0 for i, j in made):
            continue
        total = sum(weights[i, j] for i, j in made)
        if total > best + 1e-9:
            best, found = total, list(matching)
    return found


def matrices(largest: int = 4) -> some.SearchStrategy[Weights]:
    # Few different values, so that ties are common.
    ties = some.sampled_from([-0.5, 0.0, 0.25, 0.5, 0.75, 1.0])
    shapes = some.tuples(some.integers(0, largest), some.integers(0, largest))
    return shapes.flatmap(
        lambda shape: arrays(numpy.float64, shape, elements=ties | some.floats(0, 1, width=16))
    )


@settings(max_examples=300, deadline=None)
@given(matrices(), some.sampled_from([0.0, -1.0, 0.25, 0.6]))
def test_all_matchings(weights: Weights, threshold: float) -> None:
    assert best_matching(weights, threshold=threshold).tolist() == brute(weights, threshold)


@settings(max_examples=30, deadline=None)
@given(matrices(5))
def test_all_matchings_of_five(weights: Weights) -> None:
    assert best_matching(weights).tolist() == brute(weights, 0.0)


@pytest.mark.parametrize("shape", [(30, 30), (12, 40), (40, 12), (1, 50), (50, 1)])
def test_as_heavy_as_another_solver_finds(shape: tuple[int, int]) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    for seed in range(5):
        weights = numpy.random.default_rng(seed).random(shape)
        found = best_matching(weights)
        made = [(i, j) for i, j in enumerate(found.tolist()) if j >= 0]
        assert len({j for _, j in made}) == len(made) == min(shape)
        total = weights[optimize.linear_sum_assignment(weights, maximize=True)].sum()
        assert sum(weights[i, j] for i, j in made) == pytest.approx(total, abs=1e-9)


def test_greedy_is_not_enough() -> None:
    # Taking 0.9 first leaves 0.1: 1.0 in all. The other way is worth 1.6.
    assert best_matching(numpy.array([[0.9, 0.8], [0.8, 0.1]])).tolist() == [1, 0]


def test_equals_go_to_the_first() -> None:
    assert best_matching(numpy.ones((3, 3))).tolist() == [0, 1, 2]
    assert best_matching(numpy.ones((2, 4))).tolist() == [0, 1]
    assert best_matching(numpy.ones((4, 2))).tolist() == [0, 1, -1, -1]


def test_equals_by_rounding_are_equals() -> None:
    # 0.1 + 0.2 is a little more than 0.3 + 0.0 in binary.
    weights = numpy.array([[0.3, 0.1], [0.2, 0.0]])
    assert best_matching(weights, threshold=-1).tolist() == [0, 1]


def test_pairs_of_no_weight_stay_alone() -> None:
    assert best_matching(numpy.zeros((2, 3))).tolist() == [-1, -1]
    assert best_matching(numpy.zeros((2, 3)), threshold=-1).tolist() == [0, 1]


def test_many_blocks() -> None:
    generator = numpy.random.default_rng(3)
    weights = generator.random((9, 8))
    rows, columns = numpy.array([0, 2, 2, 9]), numpy.array([0, 5, 8])
    blocks = numpy.array([(g, h) for g in range(3) for h in range(2)])
    expected = []
    for g, h in blocks.tolist():
        part = weights[rows[g] : rows[g + 1], columns[h] : columns[h + 1]]
        expected += [j + columns[h] if j >= 0 else -1 for j in best_matching(part).tolist()]
    assert best_matchings(weights, rows, columns, blocks).tolist() == expected
