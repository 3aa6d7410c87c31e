"""Lines and their upper envelopes: what a list of candidates chooses as a weight grows.

Along a direction the score of candidate c at position x is the line intercept + slope * x.
The greatest line at each x, the upper envelope, says which candidate wins where, so that all
that can happen along a direction is known exactly (Och 2003). Of n lines it costs n log n to
sort them by slope and n to walk them.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[numpy.float64]
Ints = NDArray[numpy.int64]


@njit(cache=True, nogil=True)
def _order(slopes: Any, first: Any) -> Any:
    order = numpy.empty(slopes.shape[0], dtype=numpy.int64)
    for group in range(first.shape[0] - 1):
        start, end = first[group], first[group + 1]
        # Stable: of equal lines the first one counts, as in a search for the greatest.
        order[start:end] = start + numpy.argsort(slopes[start:end], kind="mergesort")
    return order


@njit(cache=True, nogil=True)
def _envelopes(intercepts: Any, slopes: Any, order: Any, first: Any, labels: Any) -> Any:
    count = slopes.shape[0]
    groups = first.shape[0] - 1
    initial = numpy.empty(groups, dtype=numpy.int64)
    positions = numpy.empty(count, dtype=numpy.float64)
    before = numpy.empty(count, dtype=numpy.int64)
    after = numpy.empty(count, dtype=numpy.int64)
    longest = 0
    for group in range(groups):
        longest = max(longest, first[group + 1] - first[group])
    stack = numpy.empty(longest, dtype=numpy.int64)
    starts = numpy.empty(longest, dtype=numpy.float64)
    events = 0
    for group in range(groups):
        height = 0
        for place in range(first[group], first[group + 1]):
            line = order[place]
            slope = slopes[line]
            intercept = intercepts[line]
            start = -numpy.inf
            hidden = False
            while height > 0:
                top = stack[height - 1]
                rise = slope - slopes[top]
                if rise == 0.0:
                    if intercept <= intercepts[top]:
                        hidden = True
                        break
                    height -= 1
                    start = -numpy.inf
                    continue
                start = (intercepts[top] - intercept) / rise
                if start <= starts[height - 1]:
                    height -= 1
                    start = -numpy.inf
                    continue
                break
            if hidden or start == numpy.inf:
                continue
            stack[height] = line
            starts[height] = start
            height += 1
        label = labels[stack[0]]
        initial[group] = label
        for place in range(1, height):
            other = labels[stack[place]]
            if other != label:
                positions[events] = starts[place]
                before[events] = label
                after[events] = other
                events += 1
                label = other
    return initial, positions[:events].copy(), before[:events].copy(), after[:events].copy()


@njit(cache=True, nogil=True)
def _sums(rows: Any, initial: Any, before: Any, after: Any, order: Any) -> Any:
    width = rows.shape[1]
    sums = numpy.zeros((order.shape[0] + 1, width), dtype=numpy.float64)
    for group in range(initial.shape[0]):
        for column in range(width):
            sums[0, column] += rows[initial[group], column]
    for place in range(order.shape[0]):
        event = order[place]
        for column in range(width):
            sums[place + 1, column] = (
                sums[place, column] + rows[after[event], column] - rows[before[event], column]
            )
    return sums


@njit(cache=True, nogil=True)
def _winners(values: Any, first: Any) -> Any:
    found = numpy.empty(first.shape[0] - 1, dtype=numpy.int64)
    for group in range(first.shape[0] - 1):
        best = first[group]
        for place in range(first[group] + 1, first[group + 1]):
            if values[place] > values[best]:
                best = place
        found[group] = best
    return found


@njit(cache=True, nogil=True)
def _combine(weights: Any, columns: Any) -> Any:
    total = numpy.zeros(columns.shape[1], dtype=numpy.float64)
    for row in range(weights.shape[0]):
        weight = weights[row]
        if weight != 0.0:
            for place in range(columns.shape[1]):
                total[place] += weight * columns[row, place]
    return total


def combine(weights: Floats, columns: Floats) -> Floats:
    """The weighted sum of rows; threads that call it at once do not wait for each other."""
    found: Floats = _combine(weights, columns)
    return found


def order_by_slope(slopes: Floats, first: Ints) -> Ints:
    """Lines of each group in order of their slopes; equal ones as they stand."""
    found: Ints = _order(slopes, first)
    return found


def winners(values: Floats, first: Ints) -> Ints:
    """In each group the place of the greatest value, the first of equals."""
    found: Ints = _winners(values, first)
    return found


def sweep(
    intercepts: Floats, slopes: Floats, order: Ints, first: Ints, labels: Ints, rows: Floats
) -> tuple[Floats, Floats]:
    """What the winners of all groups sum to, everywhere along the direction.

    Args:
        intercepts: Of each line.
        slopes: Of each line.
        order: Lines of each group by slope, as `order_by_slope` gives them.
        first: Where each group begins, and the end. No group is empty.
        labels: Which row each line has; a change between lines of one row is none.
        rows: What is summed.

    Returns:
        Positions where the sum changes, in ascending order, and the sums: one before the
        first position, then one behind each.
    """
    initial, positions, before, after = _envelopes(intercepts, slopes, order, first, labels)
    by_position = numpy.argsort(positions, kind="stable")
    sums = _sums(rows, initial, before, after, by_position)
    positions = positions[by_position]
    # Several changes at one place: only the sum behind the last of them is ever seen.
    last = numpy.ones(len(positions), dtype=bool)
    last[:-1] = positions[1:] != positions[:-1]
    return positions[last], numpy.concatenate([sums[:1], sums[1:][last]])
