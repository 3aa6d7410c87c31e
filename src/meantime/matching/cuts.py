"""How often each word is used in the cuts of a text, over all cuts by their probabilities.

The forward and backward sums of a unigram model, in logarithms. A run of n characters with words
of up to L of them costs n·L steps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy
from numba import njit


@njit(cache=True)
def _add(one: float, other: float) -> float:
    if one == -math.inf:
        return other
    if other == -math.inf:
        return one
    high, low = max(one, other), min(one, other)
    return high + math.log1p(math.exp(low - high))


@njit(cache=True)
def expected_uses(places: Any, offsets: Any, often: Any, weights: Any, totals: Any) -> None:
    """Add the expected uses of every word to `totals`.

    `places[p, k]` is the word of k + 1 characters that ends with character p, or -1; characters
    of run r stand at `[offsets[r], offsets[r + 1])`, and the run occurs `often[r]` times. Runs
    that cannot be cut into words add nothing.
    """
    longest = places.shape[1]
    for run in range(offsets.size - 1):
        first = offsets[run]
        size = offsets[run + 1] - first
        forward = numpy.full(size + 1, -math.inf)
        backward = numpy.full(size + 1, -math.inf)
        forward[0] = 0.0
        backward[size] = 0.0
        for end in range(1, size + 1):
            for length in range(1, min(end, longest) + 1):
                word = places[first + end - 1, length - 1]
                if word >= 0:
                    forward[end] = _add(forward[end], forward[end - length] + weights[word])
        if forward[size] == -math.inf:
            continue
        for end in range(size, 0, -1):
            for length in range(1, min(end, longest) + 1):
                word = places[first + end - 1, length - 1]
                if word >= 0:
                    before = end - length
                    backward[before] = _add(backward[before], backward[end] + weights[word])
        for end in range(1, size + 1):
            for length in range(1, min(end, longest) + 1):
                word = places[first + end - 1, length - 1]
                if word >= 0:
                    value = forward[end - length] + weights[word] + backward[end]
                    totals[word] += often[run] * math.exp(value - forward[size])
