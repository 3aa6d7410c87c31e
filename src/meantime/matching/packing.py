"""Rows of counts packed into bytes, and unpacked without trusting them.

A row is what one word occurred with: first the word's own count, then the sum of its counts
in each window, then its entries by rising column. Every number takes as many bytes as it
needs, seven bits a byte, the lowest first. An entry is the gap from the column before and its
counts. Windows are nested, so the count in a wider one is no smaller; the two widest counts
c >= d are folded into c (c + 1) / 2 + d, which leaves most entries at two bytes, and the
narrower ones follow as they are, from wide to narrow.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit

DAMAGED = -1
"""Returned in place of a number of entries when the bytes are no row."""

LARGEST = 3_000_000_000
"""Larger counts are written as this one: folded, it still fits 62 bits."""

_SMALL = 1 << 10
# What small numbers unfold to: most of them are small, and a table beats a square root.
_FOLDED_WIDE = numpy.repeat(numpy.arange(46), numpy.arange(1, 47))[:_SMALL].astype(numpy.int64)


@njit(cache=True)
def write_number(value: Any, data: Any, at: int) -> int:
    """Write a number at a place; returns the place after it."""
    while value >= 128:
        data[at] = (value & 127) | 128
        value >>= 7
        at += 1
    data[at] = value
    return at + 1


@njit(cache=True)
def read_number(data: Any, at: int, end: int) -> Any:
    """A number and the place after it; a place beyond `end` where the bytes run out."""
    value = numpy.int64(0)
    shift = 0
    while at < end and shift < 63:
        byte = numpy.int64(data[at])
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    return numpy.int64(0), end + 1


@njit(cache=True)
def read_numbers(data: Any, numbers: Any) -> Any:
    """Fill an array with the numbers of some bytes; whether they are exactly that many."""
    at = 0
    for place in range(numbers.shape[0]):
        numbers[place], at = read_number(data, at, data.shape[0])
    return at == data.shape[0]


@njit(cache=True)
def unfold(number: int) -> Any:
    """The counts (wider, narrower) that were folded into a number."""
    if number < _SMALL:
        wide = _FOLDED_WIDE[number]
        return wide, number - wide * (wide + 1) // 2
    if number >= 1 << 62:
        # Nothing we wrote, and the products below would overflow.
        return numpy.int64(0), numpy.int64(0)
    wide = numpy.int64((numpy.sqrt(8.0 * number + 1.0) - 1.0) / 2.0)
    while wide * (wide + 1) // 2 > number:
        wide -= 1
    while (wide + 1) * (wide + 2) // 2 <= number:
        wide += 1
    return wide, number - wide * (wide + 1) // 2


@njit(cache=True)
def pack_rows(
    keys: Any, counts: Any, first: int, last: int, own: Any, sums: Any, columns: int, data: Any
) -> Any:
    """Pack the rows `first` to `last` of entries sorted by key; returns the rows' lengths.

    Args:
        keys: `row << 32 | column`, rising.
        counts: One row an entry, one column a window, narrowest first.
        first: The first row.
        last: The row after the last.
        own: The words' own counts, from word `first` on.
        sums: The sums of each row, one column a window.
        columns: How many columns there are.
        data: Where to write; 10 bytes a number are enough.
    """
    windows = counts.shape[1]
    lengths = numpy.zeros(last - first, dtype=numpy.int64)
    at = 0
    entry = 0
    for row in range(first, last):
        begin = at
        at = write_number(own[row - first], data, at)
        for window in range(windows):
            at = write_number(sums[row - first, window], data, at)
        previous = -1
        while entry < keys.shape[0] and keys[entry] >> 32 == row:
            column = keys[entry] & 0xFFFFFFFF
            if column < columns:
                at = write_number(column - previous - 1, data, at)
                previous = column
                if windows == 1:
                    at = write_number(counts[entry, 0], data, at)
                else:
                    wide: Any = min(numpy.int64(counts[entry, windows - 1]), LARGEST)
                    narrow: Any = min(numpy.int64(counts[entry, windows - 2]), LARGEST)
                    at = write_number(wide * (wide + 1) // 2 + narrow, data, at)
                    for window in range(windows - 3, -1, -1):
                        at = write_number(counts[entry, window], data, at)
            entry += 1
        lengths[row - first] = at - begin
    return lengths


@njit(cache=True)
def unpack_head(data: Any, begin: int, end: int, windows: int, sums: Any) -> Any:
    """The word's own count and the place of its first entry; its sums go to `sums`."""
    own, at = read_number(data, begin, end)
    for window in range(windows):
        sums[window], at = read_number(data, at, end)
    return own, at


@njit(cache=True)
def own_counts(data: Any, offsets: Any, windows: int) -> Any:
    """How often the word of each row stands in the text."""
    found = numpy.empty(offsets.shape[0] - 1, dtype=numpy.int64)
    sums = numpy.zeros(windows, dtype=numpy.int64)
    for row in range(found.shape[0]):
        found[row], _ = unpack_head(data, offsets[row], offsets[row + 1], windows, sums)
    return found


@njit(cache=True)
def unpack_row(
    data: Any,
    begin: int,
    end: int,
    windows: int,
    window: int,
    limit: int,
    columns: Any,
    counts: Any,
) -> Any:
    """Unpack one row for one window; returns (entries, sum of the row).

    Entries that the window does not have are left out. `columns` and `counts` need room for
    one entry per two bytes. The number of entries is `DAMAGED` where the bytes are no row of
    columns below `limit`.
    """
    total = numpy.int64(0)
    _, at = read_number(data, begin, end)
    for place in range(windows):
        found, at = read_number(data, at, end)
        if place == window:
            total = found
    entries = 0
    column = numpy.int64(-1)
    while at < end:
        gap, at = read_number(data, at, end)
        column += gap + 1
        number, at = read_number(data, at, end)
        if windows == 1:
            count = number
        else:
            wide, narrow = unfold(number)
            count = wide if window == windows - 1 else narrow
            for place in range(windows - 3, -1, -1):
                number, at = read_number(data, at, end)
                if place == window:
                    count = number
        if at > end or column >= limit or column < 0:
            return DAMAGED, total
        if count > 0:
            columns[entries] = column
            counts[entries] = count
            entries += 1
    if at != end:
        return DAMAGED, total
    return entries, total


@njit(cache=True)
def unpack_entries(
    data: Any, begin: int, end: int, windows: int, limit: int, columns: Any, counts: Any
) -> Any:
    """Unpack one row for all windows; returns the number of entries, or `DAMAGED`."""
    _, at = read_number(data, begin, end)
    for _ in range(windows):
        _, at = read_number(data, at, end)
    entries = 0
    column = numpy.int64(-1)
    while at < end:
        gap, at = read_number(data, at, end)
        column += gap + 1
        number, at = read_number(data, at, end)
        if windows > 1:
            wide, narrow = unfold(number)
            counts[entries, windows - 1] = wide
            counts[entries, windows - 2] = narrow
            for place in range(windows - 3, -1, -1):
                counts[entries, place], at = read_number(data, at, end)
        else:
            counts[entries, 0] = number
        if at > end or column >= limit or column < 0:
            return DAMAGED
        columns[entries] = column
        entries += 1
    return entries if at == end else DAMAGED


@njit(cache=True)
def select(
    data: Any,
    offsets: Any,
    first: int,
    last: int,
    windows: int,
    limit: int,
    columns: int,
    least: int,
    fewest: int,
    longest: int,
    keys: Any,
    counts: Any,
    own: Any,
    sums: Any,
) -> Any:
    """Unpack some rows with their heads, leaving entries out; returns how many are left.

    What is left has a column below `columns`. Of those, a row keeps as many as have a count
    of `least` in the widest window, though no fewer than `fewest` and no more than `longest`:
    those of the highest counts, and of equal counts the first columns. `DAMAGED` where a row
    cannot be unpacked.
    """
    made = 0
    for row in range(first, last):
        begin = offsets[row]
        end = offsets[row + 1]
        own[row - first], _ = unpack_head(data, begin, end, windows, sums[row - first])
        room = (end - begin) // 2 + 1
        found = numpy.empty(room, dtype=numpy.int64)
        many = numpy.empty((room, windows), dtype=numpy.int64)
        entries = unpack_entries(data, begin, end, windows, limit, found, many)
        if entries < 0:
            return DAMAGED
        # Columns rise, so those that may stay come first.
        allowed: Any = numpy.searchsorted(found[:entries], columns)
        frequent = 0
        for entry in range(allowed):
            frequent += many[entry, windows - 1] >= least
        kept: Any = min(allowed, max(fewest, min(frequent, longest)))
        if kept == 0:
            continue
        bar = numpy.sort(many[:allowed, windows - 1])[allowed - kept]
        spare = kept
        for entry in range(allowed):
            spare -= many[entry, windows - 1] > bar
        for entry in range(allowed):
            count = many[entry, windows - 1]
            if count < bar:
                continue
            if count == bar:
                if spare == 0:
                    continue
                spare -= 1
            keys[made] = (numpy.int64(row) << 32) | found[entry]
            counts[made] = many[entry]
            made += 1
    return made


@njit(cache=True)
def gather(
    data: Any,
    offsets: Any,
    rows: Any,
    first: int,
    windows: int,
    limit: int,
    renumbered: Any,
    keys: Any,
    counts: Any,
    own: Any,
    sums: Any,
) -> Any:
    """Unpack chosen rows with other numbers; returns how many entries, or `DAMAGED`.

    `rows[n]` is what row `first + n` is called here, or -1; column c is called
    `renumbered[c]` there. The heads are added to `own` and `sums`. The entries of a row come
    in no order.
    """
    made = 0
    head = numpy.zeros(windows, dtype=numpy.int64)
    for place in range(rows.shape[0]):
        row = rows[place]
        if row < 0:
            continue
        begin = offsets[row]
        end = offsets[row + 1]
        count, _ = unpack_head(data, begin, end, windows, head)
        own[place] += count
        sums[place] += head
        room = (end - begin) // 2 + 1
        found = numpy.empty(room, dtype=numpy.int64)
        entries = unpack_entries(data, begin, end, windows, limit, found, counts[made:])
        if entries < 0:
            return DAMAGED
        for entry in range(entries):
            keys[made + entry] = (numpy.int64(first + place) << 32) | renumbered[found[entry]]
        made += entries
    return made


@njit(cache=True)
def count_entries(data: Any, offsets: Any, windows: int, limit: int) -> Any:
    """How many entries there are for each window; -1 - row in the first where one is damaged."""
    found = numpy.zeros(windows, dtype=numpy.int64)
    for row in range(offsets.shape[0] - 1):
        room = (offsets[row + 1] - offsets[row]) // 2 + 1
        columns = numpy.empty(room, dtype=numpy.int64)
        counts = numpy.empty((room, windows), dtype=numpy.int64)
        begin, end = offsets[row], offsets[row + 1]
        entries = unpack_entries(data, begin, end, windows, limit, columns, counts)
        if entries < 0:
            found[0] = -1 - row
            return found
        for entry in range(entries):
            for window in range(windows):
                found[window] += counts[entry, window] > 0
    return found
