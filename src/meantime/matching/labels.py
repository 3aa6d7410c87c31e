"""The best roles of a predicate: labelled spans that do not overlap.

The network gives every word a probability for each state: state 0 is "outside", role k begins in
state 1 + 2k and goes on in state 2 + 2k. A span of role k is one begin and then insides, so
the constraint that a role goes on only where it began is kept by construction. Each span may
also be worth something by itself: nearly every role of a treebank is one of its constituents,
so a span the tree makes likely gains, and one it makes unlikely loses.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

UNLIKELY = -14.0
"""Log-probability below which a role is not tried."""


@njit(cache=True, nogil=True)
def _segment(
    logs: Any,
    inside: Any,
    gains: Any,
    predicate: int,
    best: Any,
    back: Any,
    likely: Any,
    counts: Any,
) -> None:
    """Fill `best` (worth of the words up to each place) and `back` (last span's start, role)."""
    length = logs.shape[0]
    roles = (logs.shape[1] - 1) // 2
    for k in range(roles):
        inside[0, k] = 0.0
        for n in range(length):
            inside[n + 1, k] = inside[n, k] + logs[n, 2 + 2 * k]
    # A role that next to nothing says begins here need not be tried for every end.
    for n in range(length):
        counts[n] = 0
        for k in range(roles):
            if logs[n, 1 + 2 * k] > UNLIKELY:
                likely[n, counts[n]] = k
                counts[n] += 1
    best[0] = 0.0
    for end in range(1, length + 1):
        best[end] = best[end - 1] + logs[end - 1, 0]
        back[end, 0] = -1
        # No role holds its own predicate.
        low = predicate + 1 if end > predicate else 0
        for start in range(low, end):
            base = best[start] + gains[start, end]
            for place in range(counts[start]):
                k = likely[start, place]
                worth = base + logs[start, 1 + 2 * k] + inside[end, k] - inside[start + 1, k]
                if worth > best[end]:
                    best[end] = worth
                    back[end, 0] = start
                    back[end, 1] = k


@njit(cache=True, nogil=True)
def _best_roles(logs: Any, predicates: Any, gains: Any) -> Any:
    pairs, length, states = logs.shape
    inside = numpy.empty((length + 1, (states - 1) // 2), dtype=numpy.float64)
    best = numpy.empty(length + 1, dtype=numpy.float64)
    back = numpy.empty((length + 1, 2), dtype=numpy.int64)
    likely = numpy.empty((length, (states - 1) // 2), dtype=numpy.int64)
    counts = numpy.empty(length, dtype=numpy.int64)
    found = numpy.empty((pairs * length, 4), dtype=numpy.int64)
    filled = 0
    for pair in range(pairs):
        _segment(logs[pair], inside, gains, predicates[pair], best, back, likely, counts)
        first = filled
        end = length
        while end > 0:
            if back[end, 0] < 0:
                end -= 1
                continue
            found[filled, 0] = pair
            found[filled, 1] = back[end, 0]
            found[filled, 2] = end
            found[filled, 3] = back[end, 1]
            filled += 1
            end = back[end, 0]
        # Found from the end; told from the start.
        for n in range((filled - first) // 2):
            for column in range(4):
                kept = found[first + n, column]
                found[first + n, column] = found[filled - 1 - n, column]
                found[filled - 1 - n, column] = kept
    return found[:filled].copy()


@njit(cache=True, nogil=True)
def _span_gains(
    odds: Any, words: int, weight: float, low: float, high: float, single: float
) -> Any:
    gains = numpy.zeros((words + 1, words + 1), dtype=numpy.float64)
    row = 0
    for start in range(words):
        for end in range(start + 1, words + 1):
            if end - start == 1:
                gains[start, end] = single
            else:
                gains[start, end] = weight * min(high, max(low, odds[row]))
            row += 1
    return gains


def best_roles(
    logs: NDArray[numpy.float32],
    predicates: NDArray[numpy.int64],
    gains: NDArray[numpy.float64],
) -> list[list[tuple[int, int, int]]]:
    """The best set of role spans (start, end, role) of each predicate, from left to right.

    Args:
        logs: (predicates, words, states), log-probabilities.
        predicates: The word of each predicate.
        gains: (words + 1, words + 1), what each span [start, end) is worth by itself.
    """
    found: list[list[tuple[int, int, int]]] = [[] for _ in range(len(predicates))]
    for pair, start, end, role in _best_roles(logs, predicates, gains).tolist():
        found[pair].append((start, end, role))
    return found


def span_gains(
    odds: NDArray[numpy.float32],
    words: int,
    *,
    weight: float = 0.0,
    low: float = -6.0,
    high: float = 6.0,
    single: float = 0.0,
) -> NDArray[numpy.float64]:
    """What a span is worth as a role: the log-odds that it is a constituent, weighed and cut.

    Args:
        odds: The log-odds of each span, in the order of `meantime.matching.chart.span_ends`.
        words: How many words there are.
        weight: Factor of the log-odds.
        low: Least log-odds.
        high: Greatest log-odds.
        single: What a span of one word is worth, a constituent or not.
    """
    gains: NDArray[numpy.float64] = _span_gains(odds, words, weight, low, high, single)
    return gains
