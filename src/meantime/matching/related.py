"""Edits between words of which a matrix says what matches what."""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def _edits(alike: Any) -> Any:
    rows, columns = alike.shape
    row = numpy.arange(rows + 1)
    for j in range(columns):
        diagonal = row[0]
        row[0] = j + 1
        for i in range(1, rows + 1):
            above = row[i]
            # Unlike equality, being alike need not be transitive, so an edit may be cheaper
            # than a match.
            cost = min(above, row[i - 1]) + 1
            cost = min(cost, diagonal + (0 if alike[i - 1, j] else 1))
            row[i] = cost
            diagonal = above
    return row[rows]


def related_edits(alike: NDArray[numpy.bool_]) -> int:
    """Fewest insertions, deletions and substitutions between the words of rows and of columns.

    Args:
        alike: Which word of a row matches which of a column. With equality this is Levenshtein's
            distance; words times words are its cost.
    """
    return int(_edits(alike))
