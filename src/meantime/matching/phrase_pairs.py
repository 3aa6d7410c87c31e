"""Which phrases of two sentences translate each other, from which words do.

Sentences lie end to end, sentence n at `[offsets[n], offsets[n + 1])`. Links say of every word
which word of the other sentence it goes with, counted from 1, or 0 for none, as an aligner gives
them in one direction.

`symmetrise` joins two directions (Koehn, Och and Marcu 2003: the intersection, grown by
neighbours from the union, then by links between two words that have none yet). `extract` finds
the phrase pairs that are consistent with the links: no word inside goes with one outside.
`number_spans` gives equal phrases equal numbers, exactly. A sentence pair of n and m words costs
n·m steps to join, and n·L·m to extract, for phrases of up to L words.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

Numbers = NDArray[numpy.int64]

_NEIGHBOURS = numpy.array(
    [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)], dtype=numpy.int64
)


@njit(cache=True)
def symmetrise(
    forward: Any, backward: Any, source_offsets: Any, target_offsets: Any
) -> tuple[Any, Any, Any]:
    """Join links of both directions.

    `forward` has a source word for every target word, `backward` a target word for every source
    word. Returns source places, target places, counted from 0 within their sentences, and where
    each sentence pair's links begin.
    """
    pairs = source_offsets.size - 1
    room = forward.size + backward.size
    left = numpy.empty(room, dtype=numpy.int32)
    right = numpy.empty(room, dtype=numpy.int32)
    starts = numpy.zeros(pairs + 1, dtype=numpy.int64)
    count = 0
    for pair in range(pairs):
        rows = source_offsets[pair + 1] - source_offsets[pair]
        columns = target_offsets[pair + 1] - target_offsets[pair]
        both = numpy.zeros((rows, columns), dtype=numpy.uint8)
        for column in range(columns):
            row = forward[target_offsets[pair] + column]
            if row > 0:
                both[row - 1, column] += 1
        for row in range(rows):
            column = backward[source_offsets[pair] + row]
            if column > 0:
                both[row, column - 1] += 2
        joined = _grow(both)
        for row in range(rows):
            for column in range(columns):
                if joined[row, column]:
                    left[count] = row
                    right[count] = column
                    count += 1
        starts[pair + 1] = count
    return left[:count], right[:count], starts


@njit(cache=True)
def _grow(both: Any) -> Any:
    rows, columns = both.shape
    joined = both == 3
    row_has = numpy.zeros(rows, dtype=numpy.bool_)
    column_has = numpy.zeros(columns, dtype=numpy.bool_)
    for row in range(rows):
        for column in range(columns):
            if joined[row, column]:
                row_has[row] = True
                column_has[column] = True
    added = True
    while added:
        added = False
        for row in range(rows):
            for column in range(columns):
                if not joined[row, column]:
                    continue
                for step in range(_NEIGHBOURS.shape[0]):
                    near = row + _NEIGHBOURS[step, 0]
                    beside = column + _NEIGHBOURS[step, 1]
                    if (
                        0 <= near < rows
                        and 0 <= beside < columns
                        and both[near, beside]
                        and not joined[near, beside]
                        and not (row_has[near] and column_has[beside])
                    ):
                        joined[near, beside] = True
                        row_has[near] = True
                        column_has[beside] = True
                        added = True
    for direction in (1, 2):
        for row in range(rows):
            for column in range(columns):
                if both[row, column] & direction and not row_has[row] and not column_has[column]:
                    joined[row, column] = True
                    row_has[row] = True
                    column_has[column] = True
    return joined


@njit(cache=True)
def _fitting(
    left: Any, right: Any, first: int, last: int, rows: int, columns: int, longest: int, out: Any
) -> int:
    """The consistent pairs of one sentence pair into `out`; with no room in it, their number."""
    lowest = numpy.full(rows, columns, dtype=numpy.int64)
    highest = numpy.full(rows, -1, dtype=numpy.int64)
    top = numpy.full(columns, rows, dtype=numpy.int64)
    bottom = numpy.full(columns, -1, dtype=numpy.int64)
    for link in range(first, last):
        row, column = left[link], right[link]
        lowest[row] = min(lowest[row], column)
        highest[row] = max(highest[row], column)
        top[column] = min(top[column], row)
        bottom[column] = max(bottom[column], row)
    count = 0
    for begin in range(rows):
        low, high = columns, -1
        for end in range(begin, min(begin + longest, rows)):
            low = min(low, lowest[end])
            high = max(high, highest[end])
            if high < 0 or high - low >= longest:
                continue
            fits = True
            for column in range(low, high + 1):
                if bottom[column] >= 0 and (top[column] < begin or bottom[column] > end):
                    fits = False
                    break
            if not fits:
                continue
            # Words without a link may go with either side of the phrase.
            start = low
            while True:
                stop = high
                while stop - start < longest:
                    if out.shape[0]:
                        out[count, 0] = begin
                        out[count, 1] = end + 1 - begin
                        out[count, 2] = start
                        out[count, 3] = stop + 1 - start
                    count += 1
                    stop += 1
                    if stop >= columns or bottom[stop] >= 0:
                        break
                start -= 1
                if start < 0 or bottom[start] >= 0 or high - start >= longest:
                    break
    return count


@njit(cache=True)
def extract(
    left: Any, right: Any, starts: Any, source_offsets: Any, target_offsets: Any, longest: int
) -> Any:
    """Every consistent phrase pair, once for each time it occurs.

    Rows of source place, source length, target place, target length; places in the flat texts.
    """
    pairs = starts.size - 1
    nothing = numpy.empty((0, 4), dtype=numpy.int32)
    ends = numpy.zeros(pairs + 1, dtype=numpy.int64)
    for pair in range(pairs):
        rows = source_offsets[pair + 1] - source_offsets[pair]
        columns = target_offsets[pair + 1] - target_offsets[pair]
        ends[pair + 1] = ends[pair] + _fitting(
            left, right, starts[pair], starts[pair + 1], rows, columns, longest, nothing
        )
    found = numpy.empty((ends[pairs], 4), dtype=numpy.int32)
    for pair in range(pairs):
        if ends[pair + 1] == ends[pair]:
            continue
        rows = source_offsets[pair + 1] - source_offsets[pair]
        columns = target_offsets[pair + 1] - target_offsets[pair]
        out = found[ends[pair] : ends[pair + 1]]
        _fitting(left, right, starts[pair], starts[pair + 1], rows, columns, longest, out)
        for row in range(out.shape[0]):
            out[row, 0] += source_offsets[pair]
            out[row, 2] += target_offsets[pair]
    return found


def number_spans(words: Any, offsets: Any, longest: int) -> Numbers:
    """Numbers of all phrases: row p, column k - 1 is the phrase of k words that begins at p.

    Equal phrases have equal numbers, phrases of different lengths different ones; what would
    cross the end of a sentence is -1. Numbers count from 0 within the whole.
    """
    size = len(words)
    numbers = numpy.full((size, longest), -1, dtype=numpy.int64)
    if not size:
        return numbers
    ends = numpy.repeat(offsets[1:], numpy.diff(offsets))
    last = numpy.asarray(words, dtype=numpy.int64)
    several = int(last.max()) + 1
    places = numpy.arange(size)
    _, known = numpy.unique(last, return_inverse=True)
    numbers[:, 0] = known
    begin = int(known.max()) + 1
    for length in range(2, longest + 1):
        places = places[places + length <= ends[places]]
        if not len(places):
            break
        # A phrase is its beginning, which has a number, and its last word.
        keys = numbers[places, length - 2] * several + last[places + length - 1]
        unique, known = numpy.unique(keys, return_inverse=True)
        numbers[places, length - 1] = begin + known
        begin += len(unique)
    return numbers
