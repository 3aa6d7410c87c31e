"""The heaviest matching of rows and columns.

Each row goes with one column at most and each column with one row at most; of all such sets
of pairs, one of greatest total weight is wanted. The assignment is solved exactly by shortest
augmenting paths with potentials (Kuhn 1955, Munkres 1957): n rows and m columns cost
min(n, m)² · max(n, m) steps, and choosing among equals n · max(n, m)² at most.

Which of several best matchings is found does not depend on the algorithm: row 0 gets the
first column that any best matching gives it, then row 1, and so on; a row stays alone only
where every best matching that is left would have it so.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

TIED = 1e-12
"""Matchings whose weights differ by less, relative to the heaviest pair, are equals."""


@njit(cache=True)
def _assign(gains: Any, u: Any, v: Any, owner: Any) -> None:
    """Assign every row of `gains` (no more rows than columns) at the greatest total gain.

    `u` and `v` get the potentials of rows and columns, `owner` the row of each column or -1.
    """
    rows, columns = gains.shape
    # One column more stands for the start of a search: the row to be placed owns it.
    start = columns
    way = numpy.empty(columns, dtype=numpy.int64)
    least = numpy.empty(columns, dtype=numpy.float64)
    used = numpy.empty(columns + 1, dtype=numpy.bool_)
    u[:] = 0.0
    v[:] = 0.0
    owner[:] = -1
    for row in range(rows):
        owner[start] = row
        column = start
        least[:] = numpy.inf
        used[:] = False
        while owner[column] >= 0:
            used[column] = True
            current = owner[column]
            step = numpy.inf
            following = -1
            for j in range(columns):
                if used[j]:
                    continue
                reduced = -gains[current, j] - u[current] - v[j]
                if reduced < least[j]:
                    least[j] = reduced
                    way[j] = column
                if least[j] < step:
                    step = least[j]
                    following = j
            for j in range(columns):
                if used[j]:
                    u[owner[j]] += step
                    v[j] -= step
                else:
                    least[j] -= step
            u[row] += step
            column = following
        while column != start:
            before = way[column]
            owner[column] = owner[before]
            column = before
        owner[start] = -1


@njit(cache=True)
def _match(weights: Any, threshold: float, found: Any) -> None:
    """Fill `found` with the column of each row, or -1."""
    rows, columns = weights.shape
    if rows == 0 or columns == 0:
        found[:] = -1
        return
    if rows == 1 and columns == 1:
        found[0] = 0 if weights[0, 0] > threshold and weights[0, 0] >= 0.0 else -1
        return
    size = max(rows, columns)
    heaviest = 0.0
    # A pair that may not be made gains nothing, as does staying alone.
    flipped = rows > columns
    few = min(rows, columns)
    gains = numpy.zeros((few, size))
    for i in range(rows):
        for j in range(columns):
            weight = weights[i, j]
            if weight > threshold and weight > 0.0:
                heaviest = max(heaviest, weight)
                if flipped:
                    gains[j, i] = weight
                else:
                    gains[i, j] = weight
    u = numpy.zeros(size)
    v = numpy.zeros(size)
    owner = numpy.empty(size + 1, dtype=numpy.int64)
    _assign(gains, u[:few], v, owner)
    # Seen as a square: rows and columns that were added gain nothing and have potential 0.
    # Their pairs are tight, as are those of the matching, so the potentials are those of the
    # square, and its best matchings are just those made of tight pairs.
    column_of = numpy.empty(size, dtype=numpy.int64)
    row_of = numpy.empty(size, dtype=numpy.int64)
    added = few
    for j in range(size):
        i = owner[j]
        if i < 0:
            i = added
            added += 1
        if flipped:
            row_of[i] = j
            column_of[j] = i
        else:
            row_of[j] = i
            column_of[i] = j
    row_potential = v if flipped else u
    column_potential = u if flipped else v
    slack = TIED * heaviest
    fixed = numpy.zeros(size, dtype=numpy.bool_)
    queue = numpy.empty(size, dtype=numpy.int64)
    # The column a row takes when it gives up its own, on the way to the free column.
    takes = numpy.empty(size, dtype=numpy.int64)
    for row in range(rows):
        free = column_of[row]
        # Backwards from the column this row has: which rows could be moved so that another
        # column becomes free and this one is taken?
        takes[:] = -1
        takes[row] = free
        queue[0] = free
        head = 0
        tail = 1
        while head < tail:
            column = queue[head]
            head += 1
            for i in range(size):
                if takes[i] >= 0 or fixed[i]:
                    continue
                gain = 0.0
                if i < rows and column < columns:
                    gain = gains[column, i] if flipped else gains[i, column]
                if -gain - row_potential[i] - column_potential[column] <= slack:
                    takes[i] = column
                    queue[tail] = column_of[i]
                    tail += 1
        wanted = -1
        for j in range(columns):
            weight = weights[row, j]
            if not (weight > threshold and weight >= 0.0) or takes[row_of[j]] < 0:
                continue
            if -weight - row_potential[row] - column_potential[j] <= slack:
                wanted = j
                break
        if wanted >= 0 and wanted != free:
            i = row_of[wanted]
            while True:
                column = takes[i]
                following = row_of[column]
                column_of[i] = column
                row_of[column] = i
                if following == row:
                    break
                i = following
            column_of[row] = wanted
            row_of[wanted] = row
        # A row that stays alone holds a column of the square for form's sake, and may give it up.
        fixed[row] = wanted >= 0
        found[row] = wanted


@njit(cache=True)
def _match_blocks(
    weights: Any, row_offsets: Any, column_offsets: Any, blocks: Any, threshold: float
) -> Any:
    total = 0
    for n in range(blocks.shape[0]):
        total += row_offsets[blocks[n, 0] + 1] - row_offsets[blocks[n, 0]]
    found = numpy.empty(total, dtype=numpy.int64)
    filled = 0
    for n in range(blocks.shape[0]):
        top = row_offsets[blocks[n, 0]]
        bottom = row_offsets[blocks[n, 0] + 1]
        left = column_offsets[blocks[n, 1]]
        right = column_offsets[blocks[n, 1] + 1]
        part = found[filled : filled + bottom - top]
        _match(weights[top:bottom, left:right], threshold, part)
        for k in range(bottom - top):
            if part[k] >= 0:
                part[k] += left
        filled += bottom - top
    return found


def best_matching(
    weights: NDArray[numpy.float64], *, threshold: float = 0.0
) -> NDArray[numpy.int64]:
    """The column of each row in the heaviest matching, -1 for a row that stays alone.

    Args:
        weights: (rows, columns), finite.
        threshold: Only pairs that weigh more than this are made. Pairs of negative weight never
            are; those of weight 0 are only if the threshold is negative.
    """
    found = numpy.empty(weights.shape[0], dtype=numpy.int64)
    _match(numpy.ascontiguousarray(weights, dtype=numpy.float64), threshold, found)
    return found


def best_matchings(
    weights: NDArray[numpy.float64],
    row_offsets: NDArray[numpy.int64],
    column_offsets: NDArray[numpy.int64],
    blocks: NDArray[numpy.int64],
    *,
    threshold: float = 0.0,
) -> NDArray[numpy.int64]:
    """`best_matching` of many blocks of one matrix, in one call.

    Args:
        weights: (rows, columns), finite.
        row_offsets: Group g of rows is `row_offsets[g]` to `row_offsets[g + 1]`.
        column_offsets: Likewise for columns.
        blocks: (blocks, 2), the group of rows and the group of columns of each block.
        threshold: As for `best_matching`.

    Returns:
        For every row of every block, end to end, its column in the whole matrix or -1.
    """
    found: NDArray[numpy.int64] = _match_blocks(
        numpy.ascontiguousarray(weights, dtype=numpy.float64),
        row_offsets,
        column_offsets,
        blocks,
        threshold,
    )
    return found
