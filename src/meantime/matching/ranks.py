"""Ranks, pairs in and out of order, and products of moments: what correlation is counted from.

Two layouts. A *grid* is a pair of float arrays (rows, columns) in which NaN marks a cell without a
value; only cells finite in both count, and every row is a group of its own. Rows are short (the
systems of a segment), so pairs are compared one by one: quadratic in the columns.

A *vector* is long (the segments of a system, or all cells), so it comes as dense ranks, whole
numbers from 0 in the order of the values, equal where these are equal; they are found once and
serve any number of resamples, which are weights, and permutations. Pairs of n items are then
counted in O(n log n) with a binary indexed tree (after Knight 1966, without his sorting).
"""

from __future__ import annotations

import math
from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[numpy.float64]
Whole = NDArray[numpy.int64]

DEFINED = 0
TOO_FEW = 1
CONSTANT_FIRST = 2
CONSTANT_SECOND = 3
"""Why a row or vector has no correlation; what is said first is what is true first."""

AGREEING = 0
DISAGREEING = 1
TIED_FIRST = 2
TIED_SECOND = 3
TIED_BOTH = 4
"""Places in an array of pair counts: ordered alike, ordered otherwise, tied in the first alone, in
the second alone, in both. They add up to all pairs."""


def dense_ranks(values: Floats) -> tuple[Whole, int]:
    """Ranks from 0, equal for equal values and without gaps, and how many there are."""
    distinct, ranks = numpy.unique(values, return_inverse=True)
    return ranks.astype(numpy.int64), len(distinct)


def count_pairs(
    first: Whole,
    second: Whole,
    sizes: tuple[int, int],
    *,
    order: Whole | None = None,
    weights: Whole | None = None,
) -> Whole:
    """Pairs of items by how two rankings order them, in O(n log n).

    Args:
        first: Dense ranks.
        second: Dense ranks, of the same items.
        sizes: A number above all ranks of the first, and of the second.
        order: Items sorted by the first ranks, where that is known.
        weights: How many times each item counts; once by default. Two copies of one item are a
            pair tied in both.

    Returns:
        Five counts, see `AGREEING` and those after it.
    """
    if order is None:
        order = numpy.argsort(first, kind="stable")
    if weights is None:
        weights = numpy.ones(len(first), dtype=numpy.int64)
    counts: Whole = _count_pairs(first, second, sizes[0], sizes[1], order, weights)
    return counts


@njit(cache=True)
def _count_pairs(
    first: Any, second: Any, first_size: int, second_size: int, order: Any, weights: Any
) -> Any:
    counts = numpy.zeros(5, dtype=numpy.int64)
    tree = numpy.zeros(second_size + 1, dtype=numpy.int64)
    first_weights = numpy.zeros(first_size, dtype=numpy.int64)
    second_weights = numpy.zeros(second_size, dtype=numpy.int64)
    below = 0
    start = 0
    items = len(order)
    while start < items:
        rank = first[order[start]]
        stop = start
        # Ask for the whole tied group before any of it is entered: its own pairs are no pairs.
        while stop < items and first[order[stop]] == rank:
            item = order[stop]
            stop += 1
            weight = weights[item]
            if weight == 0:
                continue
            place = second[item]
            less = 0
            index = place
            while index > 0:
                less += tree[index]
                index -= index & -index
            upto = 0
            index = place + 1
            while index > 0:
                upto += tree[index]
                index -= index & -index
            counts[0] += weight * less
            counts[1] += weight * (below - upto)
            counts[3] += weight * (upto - less)
        for position in range(start, stop):
            item = order[position]
            weight = weights[item]
            if weight == 0:
                continue
            below += weight
            first_weights[rank] += weight
            second_weights[second[item]] += weight
            index = second[item] + 1
            while index <= second_size:
                tree[index] += weight
                index += index & -index
        start = stop
    tied_first = 0
    for rank in range(first_size):
        tied_first += first_weights[rank] * (first_weights[rank] - 1) // 2
    tied_second = 0
    for rank in range(second_size):
        tied_second += second_weights[rank] * (second_weights[rank] - 1) // 2
    counts[4] = tied_second - counts[3]
    counts[2] = tied_first - counts[4]
    return counts


def middle_ranks(ranks: Whole, size: int, weights: Whole | None = None) -> Floats:
    """The mean place, from 1, of each item among all; items with equal ranks share theirs."""
    counts = numpy.bincount(ranks, weights=weights, minlength=size)
    places = numpy.cumsum(counts) - (counts - 1) / 2
    return numpy.asarray(places[ranks], dtype=numpy.float64)


def correlate(first: Floats, second: Floats, weights: Whole | None = None) -> tuple[float, int]:
    """Pearson's correlation of finite vectors, and why there is none (then the value is 0)."""
    if weights is None:
        weights = numpy.ones(len(first), dtype=numpy.int64)
    value, reason = _correlate(first, second, weights)
    return float(value), int(reason)


@njit(cache=True)
def _scale(values: Any, weights: Any) -> Any:
    """The power of two, exact to divide by, that brings values near 1; -1 where all are equal."""
    low = math.inf
    high = -math.inf
    for item in range(len(values)):
        if weights[item] > 0:
            low = min(low, values[item])
            high = max(high, values[item])
    if low == high:
        return -1.0
    # Halved, since the power above the largest numbers is none.
    exponent = math.frexp(max(abs(low), abs(high)))[1] - 1
    return math.ldexp(1.0, max(exponent, -1022))


@njit(cache=True)
def _correlate(first: Any, second: Any, weights: Any) -> Any:
    total = 0
    for item in range(len(first)):
        total += weights[item]
    if total < 2:
        return 0.0, TOO_FEW
    # Scaled, so that squares of very large or small values neither overflow nor vanish.
    first_scale = _scale(first, weights)
    if first_scale < 0:
        return 0.0, CONSTANT_FIRST
    second_scale = _scale(second, weights)
    if second_scale < 0:
        return 0.0, CONSTANT_SECOND
    first_mean = 0.0
    second_mean = 0.0
    for item in range(len(first)):
        if weights[item] > 0:
            first_mean += weights[item] * (first[item] / first_scale)
            second_mean += weights[item] * (second[item] / second_scale)
    first_mean /= total
    second_mean /= total
    both = 0.0
    first_square = 0.0
    second_square = 0.0
    for item in range(len(first)):
        if weights[item] > 0:
            one = first[item] / first_scale - first_mean
            other = second[item] / second_scale - second_mean
            both += weights[item] * one * other
            first_square += weights[item] * one * one
            second_square += weights[item] * other * other
    value = both / (math.sqrt(first_square) * math.sqrt(second_square))
    return max(-1.0, min(1.0, value)), DEFINED


@njit(cache=True)
def _gather(first: Any, second: Any, one: Any, other: Any) -> Any:
    """Fill in the cells of a row that are finite in both; how many there are."""
    found = 0
    for column in range(len(first)):
        if math.isfinite(first[column]) and math.isfinite(second[column]):
            one[found] = first[column]
            other[found] = second[column]
            found += 1
    return found


@njit(cache=True)
def _rank(values: Any, ranks: Any) -> None:
    for item in range(len(values)):
        less = 0
        same = 0
        for another in range(len(values)):
            if values[another] < values[item]:
                less += 1
            elif values[another] == values[item]:
                same += 1
        ranks[item] = less + (same + 1) / 2


@njit(cache=True)
def _correlate_rows(first: Any, second: Any, ranked: bool, fewest: int) -> Any:
    rows, columns = first.shape
    values = numpy.zeros(rows, dtype=numpy.float64)
    reasons = numpy.zeros(rows, dtype=numpy.int64)
    one = numpy.empty(columns, dtype=numpy.float64)
    other = numpy.empty(columns, dtype=numpy.float64)
    one_ranks = numpy.empty(columns, dtype=numpy.float64)
    other_ranks = numpy.empty(columns, dtype=numpy.float64)
    weights = numpy.ones(columns, dtype=numpy.int64)
    for row in range(rows):
        found = _gather(first[row], second[row], one, other)
        if found < fewest:
            reasons[row] = TOO_FEW
        elif ranked:
            _rank(one[:found], one_ranks[:found])
            _rank(other[:found], other_ranks[:found])
            values[row], reasons[row] = _correlate(
                one_ranks[:found], other_ranks[:found], weights[:found]
            )
        else:
            values[row], reasons[row] = _correlate(one[:found], other[:found], weights[:found])
    return values, reasons


def correlate_rows(
    first: Floats, second: Floats, *, ranked: bool, fewest: int
) -> tuple[Floats, Whole]:
    """Pearson's correlation within each row of a grid, of values or of their middle ranks.

    Args:
        first: Grid.
        second: Grid of the same shape.
        ranked: Whether to take ranks within the row first, which makes it Spearman's.
        fewest: With fewer cells than this a row has no correlation.

    Returns:
        The correlation of each row, and why there is none (then the value is 0).
    """
    values, reasons = _correlate_rows(
        numpy.ascontiguousarray(first), numpy.ascontiguousarray(second), ranked, fewest
    )
    return values, reasons


def count_row_pairs(first: Floats, second: Floats) -> Whole:
    """Pairs of cells within each row of a grid by how the two order them.

    Returns:
        Five counts a row, see `AGREEING` and those after it.
    """
    counts: Whole = _count_row_pairs(
        numpy.ascontiguousarray(first), numpy.ascontiguousarray(second)
    )
    return counts


@njit(cache=True)
def _count_row_pairs(first: Any, second: Any) -> Any:
    rows, columns = first.shape
    counts = numpy.zeros((rows, 5), dtype=numpy.int64)
    one = numpy.empty(columns, dtype=numpy.float64)
    other = numpy.empty(columns, dtype=numpy.float64)
    for row in range(rows):
        found = _gather(first[row], second[row], one, other)
        for left in range(found):
            for right in range(left + 1, found):
                # Compared, not subtracted: tiny differences would vanish.
                ordered = (one[left] > one[right]) - (one[left] < one[right])
                matched = (other[left] > other[right]) - (other[left] < other[right])
                if ordered == 0 and matched == 0:
                    counts[row, 4] += 1
                elif ordered == 0:
                    counts[row, 2] += 1
                elif matched == 0:
                    counts[row, 3] += 1
                elif ordered == matched:
                    counts[row, 0] += 1
                else:
                    counts[row, 1] += 1
    return counts


def row_pairs(first: Floats, second: Floats) -> tuple[Whole, NDArray[numpy.bool_], Floats]:
    """All pairs of cells within rows of a grid.

    Returns:
        The row of each pair; whether the first ties it; and the difference of the second, turned so
        that it is positive where the second orders a pair as the first does (where the first
        ties, simply not negative).
    """
    rows, tied, differences = _row_pairs(
        numpy.ascontiguousarray(first), numpy.ascontiguousarray(second)
    )
    return rows, tied, differences


@njit(cache=True)
def _row_pairs(first: Any, second: Any) -> Any:
    rows, columns = first.shape
    one = numpy.empty(columns, dtype=numpy.float64)
    other = numpy.empty(columns, dtype=numpy.float64)
    total = 0
    for row in range(rows):
        found = _gather(first[row], second[row], one, other)
        total += found * (found - 1) // 2
    pair_rows = numpy.empty(total, dtype=numpy.int64)
    tied = numpy.empty(total, dtype=numpy.bool_)
    differences = numpy.empty(total, dtype=numpy.float64)
    pair = 0
    for row in range(rows):
        found = _gather(first[row], second[row], one, other)
        for left in range(found):
            for right in range(left + 1, found):
                difference = other[left] - other[right]
                if one[left] == one[right]:
                    difference = abs(difference)
                elif one[left] < one[right]:
                    difference = -difference
                pair_rows[pair] = row
                tied[pair] = one[left] == one[right]
                differences[pair] = difference
                pair += 1
    return pair_rows, tied, differences
