"""The best tree over span scores (Cocke, Kasami, Younger).

Every span has its best label and the log-odds of that label against "no constituent". A tree
is worth the sum, over all spans, of the log-probability of what it says of each, label or
none. The tree is binary inside; spans that are likelier none vanish from it. The whole is
always a constituent.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def _parse(kinds: Any, worth: Any, words: int) -> Any:
    gains = numpy.zeros((words + 1, words + 1), dtype=numpy.float64)
    labels = numpy.zeros((words + 1, words + 1), dtype=numpy.int64)
    base = 0.0
    row = 0
    for start in range(words):
        for end in range(start + 1, words + 1):
            base -= numpy.log1p(numpy.exp(min(worth[row], 60.0)))
            whole = start == 0 and end == words
            if worth[row] > 0 or whole:
                gains[start, end] = worth[row]
                labels[start, end] = kinds[row]
            row += 1
    best_of = gains.copy()
    split = numpy.zeros((words + 1, words + 1), dtype=numpy.int64)
    for length in range(2, words + 1):
        for start in range(words - length + 1):
            end = start + length
            top = -numpy.inf
            place = start + 1
            for middle in range(start + 1, end):
                value = best_of[start, middle] + best_of[middle, end]
                if value > top:
                    top = value
                    place = middle
            best_of[start, end] += top
            split[start, end] = place
    spans = numpy.empty((2 * words, 3), dtype=numpy.int64)
    stack = numpy.empty((2 * words + 2, 2), dtype=numpy.int64)
    depth = 1
    stack[0, 0], stack[0, 1] = 0, words
    found = 0
    while depth > 0:
        depth -= 1
        start, end = stack[depth, 0], stack[depth, 1]
        if labels[start, end] > 0:
            spans[found, 0], spans[found, 1], spans[found, 2] = start, end, labels[start, end]
            found += 1
        if end - start > 1:
            middle = split[start, end]
            # The right part below the left one: spans come out left to right, outer first.
            stack[depth, 0], stack[depth, 1] = middle, end
            stack[depth + 1, 0], stack[depth + 1, 1] = start, middle
            depth += 2
    return spans[:found].copy(), base + best_of[0, words]


def best_tree(
    labels: NDArray[numpy.int64],
    gains: NDArray[numpy.float32],
    words: int,
) -> tuple[NDArray[numpy.int64], float]:
    """The best tree's constituents (start, end, label), outer first, and its log-probability.

    Args:
        labels: The best label of each span, the spans in the order of `span_ends(words)`.
        gains: The log-odds of that label against none.
        words: How many words there are, at least one.
    """
    spans, score = _parse(labels, gains, words)
    return spans, float(score)


def span_ends(words: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    """Starts and ends of all spans, by start and then by end."""
    starts, ends = numpy.triu_indices(words + 1, 1)
    return starts.astype(numpy.int64), ends.astype(numpy.int64)
