r"""How much of two sentences' best matches is kept where neighbours must stay neighbours.

A sentence of n words has n + 1 places: before its first word, between any two neighbours, after
its last word. Its edges count as words that are alike (1) across the sentences, and like no other
word. With s the similarities and w, v the words at either side of a place,

    kept(w, v) = max_j (s(w, j) + s(v, j + 1)) / (max_j s(w, j) + max_j s(v, j))

j over the words of the other sentence and its edge. It is 1 where the best matches of w and v may
stand one after the other too, and, unlike a match itself, says nothing of how good they are: a
synonym in its place costs nothing, the right word in another place does. A place between words
that are like nothing keeps nothing: 0.

n · m steps for each side.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

Whole = NDArray[numpy.int64]
Floats = NDArray[numpy.float64]


@njit(cache=True)
def _framed(matrix: Any) -> Any:
    """The matrix with an edge before and after each side."""
    n, m = matrix.shape
    framed = numpy.zeros((n + 2, m + 2))
    framed[0, 0] = 1.0
    framed[n + 1, m + 1] = 1.0
    for i in range(n):
        for j in range(m):
            framed[i + 1, j + 1] = matrix[i, j]
    return framed


@njit(cache=True)
def _kept(framed: Any, rows: Any, columns: Any) -> None:
    """Fill in what each place of the rows and each of the columns keeps."""
    height, width = framed.shape
    best_row = numpy.zeros(height)
    best_column = numpy.zeros(width)
    rows[:] = 0.0
    columns[:] = 0.0
    for i in range(height):
        for j in range(width):
            value = framed[i, j]
            best_row[i] = max(best_row[i], value)
            best_column[j] = max(best_column[j], value)
    for i in range(height - 1):
        for j in range(width - 1):
            value = framed[i, j] + framed[i + 1, j + 1]
            rows[i] = max(rows[i], value)
            columns[j] = max(columns[j], value)
    for i in range(height - 1):
        both = best_row[i] + best_row[i + 1]
        rows[i] = rows[i] / both if both > 0.0 else 0.0
    for j in range(width - 1):
        both = best_column[j] + best_column[j + 1]
        columns[j] = columns[j] / both if both > 0.0 else 0.0


@njit(cache=True)
def _means(matrices: Any, offsets: Any, heights: Any, widths: Any, found: Any) -> None:
    for pair in range(heights.size):
        height, width = heights[pair], widths[pair]
        matrix = matrices[offsets[pair] : offsets[pair + 1]].reshape((height, width))
        rows = numpy.empty(height + 1)
        columns = numpy.empty(width + 1)
        _kept(_framed(matrix), rows, columns)
        found[pair] = (rows.sum() + columns.sum()) / (rows.size + columns.size)


def kept_places(matrix: Floats) -> tuple[Floats, Floats]:
    """What every place of either side keeps: of n words n + 1 numbers from 0 to 1.

    Args:
        matrix: Similarities from 0 to 1 of the words of the left with those of the right.
    """
    n, m = matrix.shape
    rows, columns = numpy.empty(n + 1), numpy.empty(m + 1)
    _kept(_framed(matrix), rows, columns)
    return rows, columns


def kept_means(matrices: Floats, offsets: Whole, heights: Whole, widths: Whole) -> Floats:
    """The mean of what all places of both sides keep, for every pair of a batch.

    Args:
        matrices: Matrices of similarities, each row by row, end to end.
        offsets: Where the matrix of each pair begins, and where the last ends.
        heights: Words of each left side.
        widths: Words of each right side.
    """
    found = numpy.zeros(len(heights))
    _means(matrices, offsets, heights, widths, found)
    return found
