"""Similarity of packed rows of counts: sparse, by pairs, remembered by pair.

Only columns that both rows have add anything, so one row lies open (a dense array, zero where
it has no entry) while the entries of the other look their columns up. The longer row lies
open: a pair costs the entries of the shorter. Which is which, and the order of adding, depends
on the pair alone, so neither the sides nor the company of a pair change its value.

`MINIMUM` (with any weights), `PRODUCT` and `ENTROPY` are the three sums the five measures of
context vectors need; what is made of the sum is `finish`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy
from numba import njit

from meantime.matching.packing import unpack_row

JACCARD = 0
DICE = 1
DICE_AS_PRINTED = 2
COSINE = 3
MUTUAL_INFORMATION = 4
JENSEN_SHANNON = 5

_NEVER = -1
CHUNK = 1 << 16
"""Cells filled at a time; a cache must have room for twice as many."""


@njit(cache=True)
def _weigh(
    measure: int,
    columns: Any,
    values: Any,
    logs: Any,
    total: float,
    context_sums: Any,
    whole: float,
) -> float:
    """Turn the counts of a row into what the measure adds up; returns the row's own figure."""
    if measure in (JACCARD, DICE, DICE_AS_PRINTED):
        return total
    figure = 0.0
    for entry in range(values.shape[0]):
        count = values[entry]
        if measure == COSINE:
            figure += count * count
        elif measure == MUTUAL_INFORMATION:
            context = context_sums[columns[entry]]
            value = 0.0
            if context > 0.0 and total > 0.0:
                value = max(0.0, math.log(count / total * (whole / context)))
            values[entry] = value
            figure += value
        else:
            share = count / total if total > 0.0 else 0.0
            values[entry] = share
            logs[entry] = share * math.log2(share) if share > 0.0 else 0.0
    return math.sqrt(figure) if measure == COSINE else figure


@njit(cache=True, fastmath={"reassoc", "nsz"})
def _minimum(opened: Any, columns: Any, values: Any) -> float:
    found = 0.0
    for entry in range(columns.shape[0]):
        found += min(opened[columns[entry]], values[entry])
    return found


@njit(cache=True, fastmath={"reassoc", "nsz"})
def _product(opened: Any, columns: Any, values: Any) -> float:
    found = 0.0
    for entry in range(columns.shape[0]):
        found += opened[columns[entry]] * values[entry]
    return found


@njit(cache=True)
def _entropy(opened: Any, opened_logs: Any, columns: Any, values: Any, logs: Any) -> float:
    """Twice 1 minus half the base-2 divergence, of columns that both rows have."""
    found = 0.0
    for entry in range(columns.shape[0]):
        one = opened[columns[entry]]
        if one > 0.0:
            both = one + values[entry]
            found += both * math.log2(both) - opened_logs[columns[entry]] - logs[entry]
    return found


@njit(cache=True)
def _finish(measure: int, found: float, one: float, two: float) -> float:
    """The similarity, from the sum over common columns and the two rows' own figures."""
    if measure in (JACCARD, MUTUAL_INFORMATION):
        below = one + two - found
        value = found / below if below > 0.0 else 0.0
    elif measure == DICE:
        value = 2.0 * found / (one + two) if one + two > 0.0 else 0.0
    elif measure == DICE_AS_PRINTED:
        value = found / (one + two) if one + two > 0.0 else 0.0
    elif measure == COSINE:
        value = found / (one * two) if one > 0.0 and two > 0.0 else 0.0
    else:
        value = found / 2.0
    # Rounding may carry a sum of shares past its end.
    return min(1.0, max(0.0, value))


@njit(cache=True)
def _slot(key: Any, keys: Any) -> Any:
    """Where a key is in an open table, or where it would go."""
    mask = keys.shape[0] - 1
    mixed = key * numpy.int64(-7046029254386353131)
    mixed ^= (mixed >> 29) & 0x7FFFFFFFF
    slot = mixed & mask
    while keys[slot] != key and keys[slot] != _NEVER:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True)
def _load(
    word: int,
    data: Any,
    offsets: Any,
    windows: int,
    window: int,
    measure: int,
    context_sums: Any,
    whole: float,
    columns: Any,
    values: Any,
    logs: Any,
    begins: Any,
    ends: Any,
    figures: Any,
    used: Any,
) -> bool:
    """See that a word's row is unpacked; false where it is damaged.

    Unpacked rows lie end to end; when the room is used up, all are forgotten.
    """
    if begins[word] >= 0:
        return True
    room = (offsets[word + 1] - offsets[word]) // 2 + 1
    if used[1] + room > columns.shape[0]:
        begins[:] = -1
        used[1] = 0
    begin = used[1]
    entries, total = unpack_row(
        data,
        offsets[word],
        offsets[word + 1],
        windows,
        window,
        context_sums.shape[0],
        columns[begin : begin + room],
        values[begin : begin + room],
    )
    if entries < 0:
        return False
    end = begin + entries
    own_logs = logs[begin:end] if measure == JENSEN_SHANNON else logs[:0]
    figures[word] = _weigh(
        measure,
        columns[begin:end],
        values[begin:end],
        own_logs,
        numpy.float64(total),
        context_sums,
        whole,
    )
    begins[word] = begin
    ends[word] = end
    used[1] = end
    return True


@njit(cache=True)
def fill(
    left: Any,
    left_offsets: Any,
    right: Any,
    right_offsets: Any,
    data: Any,
    offsets: Any,
    windows: int,
    window: int,
    measure: int,
    context_sums: Any,
    whole: float,
    keys: Any,
    known: Any,
    columns: Any,
    values: Any,
    logs: Any,
    begins: Any,
    ends: Any,
    figures: Any,
    opened: Any,
    opened_logs: Any,
    used: Any,
    out: Any,
) -> Any:
    """Fill the matrices of many pairs of word lists, end to end; -1, or the damaged word.

    Equal numbers have 1. Numbers below 0 are words without a row: with any other they have 0.

    Args:
        left: Words of the left sides; pair p has `left[left_offsets[p] : left_offsets[p + 1]]`.
        left_offsets: Where they begin.
        right: Words of the right sides.
        right_offsets: Likewise.
        data: The packed rows.
        offsets: Where each row begins.
        windows: How many windows the rows hold.
        window: Which of them is asked for.
        measure: One of the measures above.
        context_sums: How often each column was counted.
        whole: Their sum.
        keys: The cache: pairs as `lower << 32 | higher`, or -1; a power of two of them.
        known: Their values.
        columns: Room for unpacked rows, at least the longest; with `values` and (for
            Jensen-Shannon) `logs`.
        values: Likewise.
        logs: Likewise.
        begins: Where each word's unpacked row begins, or -1.
        ends: Where it ends.
        figures: What `_weigh` said of each row.
        opened: Zeros, one a column.
        opened_logs: Likewise, for Jensen-Shannon.
        used: How many keys, and how many unpacked entries, there are.
        out: Where the cells go.
    """
    missing = numpy.empty(CHUNK, dtype=numpy.int64)
    places = numpy.empty(CHUNK, dtype=numpy.int64)
    waiting = numpy.empty(CHUNK, dtype=numpy.int64)
    pair = 0
    row = 0
    column = 0
    cell = 0
    cells = out.shape[0]
    while cell < cells:
        if used[0] + CHUNK > keys.shape[0] // 2:
            keys[:] = _NEVER
            used[0] = 0
        lacking = 0
        unsettled = 0
        until = min(cells, cell + CHUNK)
        while cell < until:
            height = left_offsets[pair + 1] - left_offsets[pair]
            width = right_offsets[pair + 1] - right_offsets[pair]
            if row == height or width == 0:
                pair += 1
                row = 0
                column = 0
                continue
            one = left[left_offsets[pair] + row]
            stop = min(width, column + until - cell)
            base = right_offsets[pair]
            while column < stop:
                two = right[base + column]
                if one == two:
                    out[cell] = 1.0
                elif one < 0 or two < 0:
                    out[cell] = 0.0
                else:
                    key = (numpy.int64(min(one, two)) << 32) | numpy.int64(max(one, two))
                    slot = _slot(key, keys)
                    if keys[slot] == key:
                        value = known[slot]
                        out[cell] = value
                        if value < 0.0:
                            places[unsettled] = slot
                            waiting[unsettled] = cell
                            unsettled += 1
                    else:
                        keys[slot] = key
                        known[slot] = -1.0
                        used[0] += 1
                        # The row of more bytes lies open; of equals, the rarer word's.
                        low = numpy.int64(min(one, two))
                        high = numpy.int64(max(one, two))
                        longer = high
                        if offsets[low + 1] - offsets[low] > offsets[high + 1] - offsets[high]:
                            longer = low
                        missing[lacking] = (longer << 32) | (low + high - longer)
                        lacking += 1
                        places[unsettled] = slot
                        waiting[unsettled] = cell
                        unsettled += 1
                cell += 1
                column += 1
            if column == width:
                row += 1
                column = 0
        todo = missing[:lacking]
        todo.sort()
        place = 0
        while place < lacking:
            longer = todo[place] >> 32
            if not _load(
                longer, data, offsets, windows, window, measure, context_sums, whole,
                columns, values, logs, begins, ends, figures, used,
            ):  # fmt: skip
                return longer
            figure = figures[longer]
            length = ends[longer] - begins[longer]
            # A copy of where it lies: its place may be forgotten while others are unpacked.
            lying = columns[begins[longer] : ends[longer]].copy()
            for entry in range(length):
                opened[lying[entry]] = values[begins[longer] + entry]
            if measure == JENSEN_SHANNON:
                for entry in range(length):
                    opened_logs[lying[entry]] = logs[begins[longer] + entry]
            while place < lacking and todo[place] >> 32 == longer:
                shorter = todo[place] & 0xFFFFFFFF
                if not _load(
                    shorter, data, offsets, windows, window, measure, context_sums, whole,
                    columns, values, logs, begins, ends, figures, used,
                ):  # fmt: skip
                    opened[lying] = 0.0
                    return shorter
                begin = begins[shorter]
                end = ends[shorter]
                if measure == COSINE:
                    found = _product(opened, columns[begin:end], values[begin:end])
                elif measure == JENSEN_SHANNON:
                    found = _entropy(
                        opened, opened_logs, columns[begin:end], values[begin:end], logs[begin:end]
                    )
                else:
                    found = _minimum(opened, columns[begin:end], values[begin:end])
                low = min(longer, shorter)
                high = max(longer, shorter)
                slot = _slot((low << 32) | high, keys)
                known[slot] = _finish(measure, found, figure, figures[shorter])
                place += 1
            for entry in range(length):
                opened[lying[entry]] = 0.0
        for entry in range(unsettled):
            out[waiting[entry]] = known[places[entry]]
    return -1
