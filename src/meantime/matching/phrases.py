"""From similarities of tokens to the similarity of two phrases.

A phrase is a list of rows (left) or of columns (right) of a matrix of token similarities, all
in [0, 1]. With n tokens on the left and m on the right:

- arithmetic: the mean over all n · m token pairs (paper 000, 4.1).
- geometric: the geometric mean over all token pairs (paper 000, 4.2), where a similarity below
  `floor` counts as `floor`; with a floor of 0, one pair of no similarity makes the whole 0.
- linking: competitive linking (Melamed 1996, as modified in paper 000, 4.3): pairs are linked
  best first; a token of the longer phrase is linked once, one of the shorter phrase may be
  linked again, |n - m| times in all. There are max(n, m) links; the value is their mean. Of
  equal pairs the first in the order of rows, then columns, is linked.
- Mihalcea (Mihalcea, Corley and Strapparava 2006): (precision + recall) / 2.
- best match (paper 004): precision · recall / (alpha · precision + (1 - alpha) · recall).

Precision is the weighted mean, over the left tokens, of the similarity with the most similar
right token; recall is that of the right tokens. A phrase whose weights are all 0 is weighed
evenly. An alpha of 0 is precision alone, of 1 recall alone. One phrase empty: 0. Both empty: 1,
since nothing differs.

All take n · m steps but linking, which takes n · m · max(n, m).

`phrase_similarity` compares two phrases and can be called from other kernels; `phrase_matrix`
compares all phrases of one sentence with all of another in one call.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

ARITHMETIC, GEOMETRIC, LINKING, MIHALCEA, BEST_MATCH = range(5)


@njit(cache=True)
def _arithmetic(matrix: Any, rows: Any, columns: Any) -> float:
    total = 0.0
    for i in rows:
        for j in columns:
            total += matrix[i, j]
    return float(total / (rows.size * columns.size))


@njit(cache=True)
def _geometric(matrix: Any, rows: Any, columns: Any, floor: float) -> float:
    total = 0.0
    for i in rows:
        for j in columns:
            similarity = max(matrix[i, j], floor)
            if similarity <= 0.0:
                return 0.0
            total += numpy.log(similarity)
    return float(numpy.exp(total / (rows.size * columns.size)))


@njit(cache=True)
def _linking(matrix: Any, rows: Any, columns: Any) -> float:
    n = rows.size
    m = columns.size
    row_linked = numpy.zeros(n, dtype=numpy.bool_)
    column_linked = numpy.zeros(m, dtype=numpy.bool_)
    links = max(n, m)
    spare = abs(n - m)
    total = 0.0
    for _ in range(links):
        best = -1.0
        best_row = -1
        best_column = -1
        for a in range(n):
            if row_linked[a] and (n >= m or spare == 0):
                continue
            for b in range(m):
                if column_linked[b] and (m >= n or spare == 0):
                    continue
                if matrix[rows[a], columns[b]] > best:
                    best = matrix[rows[a], columns[b]]
                    best_row = a
                    best_column = b
        if row_linked[best_row] or column_linked[best_column]:
            spare -= 1
        row_linked[best_row] = True
        column_linked[best_column] = True
        total += best
    return float(total / links)


@njit(cache=True)
def _precision(matrix: Any, rows: Any, columns: Any, weights: Any) -> float:
    """Weighted mean over rows of the greatest similarity in each."""
    total = 0.0
    evenly = 0.0
    weighed = 0.0
    for i in rows:
        best = 0.0
        for j in columns:
            best = max(best, matrix[i, j])
        total += weights[i] * best
        weighed += weights[i]
        evenly += best
    # Rounding may take a mean of ones above one.
    return min(1.0, total / weighed if weighed > 0.0 else evenly / rows.size)


@njit(cache=True)
def _recall(matrix: Any, rows: Any, columns: Any, weights: Any) -> float:
    total = 0.0
    evenly = 0.0
    weighed = 0.0
    for j in columns:
        best = 0.0
        for i in rows:
            best = max(best, matrix[i, j])
        total += weights[j] * best
        weighed += weights[j]
        evenly += best
    return min(1.0, total / weighed if weighed > 0.0 else evenly / columns.size)


@njit(cache=True)
def phrase_similarity(
    matrix: Any,
    rows: Any,
    columns: Any,
    row_weights: Any,
    column_weights: Any,
    method: int,
    alpha: float,
    floor: float,
) -> float:
    """The similarity of two phrases; compiled, so that kernels may call it.

    Args:
        matrix: Token similarities in [0, 1].
        rows: Rows of the left phrase.
        columns: Columns of the right phrase.
        row_weights: What each row of the matrix weighs in precision.
        column_weights: What each column of the matrix weighs in recall.
        method: One of the five constants of this module.
        alpha: Weight of recall in the best match, 0 to 1.
        floor: Least token similarity in the geometric mean.
    """
    if rows.size == 0 or columns.size == 0:
        return 1.0 if rows.size == columns.size else 0.0
    if method == ARITHMETIC:
        return min(1.0, _arithmetic(matrix, rows, columns))
    if method == GEOMETRIC:
        return min(1.0, _geometric(matrix, rows, columns, floor))
    if method == LINKING:
        return min(1.0, _linking(matrix, rows, columns))
    precision = _precision(matrix, rows, columns, row_weights)
    recall = _recall(matrix, rows, columns, column_weights)
    if method == MIHALCEA:
        return (precision + recall) / 2.0
    if alpha == 0.0:
        return precision
    if alpha == 1.0:
        return recall
    below = alpha * precision + (1.0 - alpha) * recall
    if below == 0.0:
        return 0.0
    return min(1.0, precision * recall / below)


@njit(cache=True)
def _all(
    matrix: Any,
    row_offsets: Any,
    row_indices: Any,
    column_offsets: Any,
    column_indices: Any,
    row_weights: Any,
    column_weights: Any,
    wanted: Any,
    method: int,
    alpha: float,
    floor: float,
) -> Any:
    lefts = row_offsets.size - 1
    rights = column_offsets.size - 1
    found = numpy.zeros((lefts, rights))
    every = wanted.size == 0
    for a in range(lefts):
        rows = row_indices[row_offsets[a] : row_offsets[a + 1]]
        for b in range(rights):
            if every or wanted[a, b]:
                columns = column_indices[column_offsets[b] : column_offsets[b + 1]]
                found[a, b] = phrase_similarity(
                    matrix, rows, columns, row_weights, column_weights, method, alpha, floor
                )
    return found


EVERY = numpy.empty((0, 0), dtype=numpy.bool_)
"""As `wanted`: all pairs of phrases."""


def phrase_matrix(
    matrix: NDArray[numpy.float64],
    row_offsets: NDArray[numpy.int64],
    row_indices: NDArray[numpy.int64],
    column_offsets: NDArray[numpy.int64],
    column_indices: NDArray[numpy.int64],
    *,
    row_weights: NDArray[numpy.float64],
    column_weights: NDArray[numpy.float64],
    method: int = BEST_MATCH,
    alpha: float = 0.5,
    floor: float = 0.0,
    wanted: NDArray[numpy.bool_] = EVERY,
) -> NDArray[numpy.float64]:
    """The similarity of every left phrase with every right phrase, in one call.

    Args:
        matrix: Token similarities in [0, 1], C-contiguous.
        row_offsets: Left phrase p is `row_indices[row_offsets[p] : row_offsets[p + 1]]`.
        row_indices: Rows of the matrix, phrase after phrase.
        column_offsets: Likewise for the right phrases.
        column_indices: Columns of the matrix, phrase after phrase.
        row_weights: What each row weighs in precision.
        column_weights: What each column weighs in recall.
        method: One of the five constants of this module.
        alpha: Weight of recall in the best match, 0 (precision alone) to 1 (recall alone).
        floor: Least token similarity in the geometric mean.
        wanted: (left phrases, right phrases), which to compute; the others get 0.
    """
    found: NDArray[numpy.float64] = _all(
        matrix,
        row_offsets,
        row_indices,
        column_offsets,
        column_indices,
        row_weights,
        column_weights,
        wanted,
        method,
        alpha,
        floor,
    )
    return found
