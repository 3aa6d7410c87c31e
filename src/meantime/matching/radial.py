"""Weighted sums of Gaussian bells: what a support vector machine decides by."""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def _sums(rows: Any, centres: Any, weights: Any, gamma: float, found: Any) -> None:
    width = rows.shape[1]
    for r in range(rows.shape[0]):
        total = 0.0
        for c in range(centres.shape[0]):
            squares = 0.0
            for k in range(width):
                difference = rows[r, k] - centres[c, k]
                squares += difference * difference
            total += weights[c] * numpy.exp(-gamma * squares)
        found[r] = total


def radial_sums(
    rows: NDArray[numpy.float64],
    centres: NDArray[numpy.float64],
    weights: NDArray[numpy.float64],
    gamma: float,
) -> NDArray[numpy.float64]:
    """For each row x, the sum over centres c of weight * exp(-gamma |x - c|²).

    Always added up in the order of the centres, so that a row has the same sum in any batch.
    """
    found = numpy.zeros(len(rows))
    _sums(
        numpy.ascontiguousarray(rows, dtype=numpy.float64),
        numpy.ascontiguousarray(centres, dtype=numpy.float64),
        numpy.ascontiguousarray(weights, dtype=numpy.float64),
        gamma,
        found,
    )
    return found
