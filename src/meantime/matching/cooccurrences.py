"""Counting what stands near what, by sorting.

A text is a row of word numbers with `BOUNDARY` after each line; numbers below zero are words
that are not counted but keep their place. Two words d apart are one event, kept as a key
(smaller number, larger number). Keys are sorted and counted piece by piece, and the sorted
pieces merged, so that memory is bounded by the piece and not by the text. A count speaks of
positions: c(x, y) is how often y stands in the window of an x, so that a word beside itself
counts twice, once from each side.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit

BOUNDARY = -1
UNCOUNTED = -2


@njit(cache=True)
def expand(numbers: Any, flat: Any, starts: Any, out: Any) -> Any:
    """Replace each number below `BOUNDARY` by the run of numbers it stands for.

    Number -2 - n stands for `flat[starts[n] : starts[n + 1]]`. Returns how many came out;
    where that is more than `out` holds, nothing past its end is written.
    """
    length = 0
    room = out.shape[0]
    for number in numbers:
        if number >= BOUNDARY:
            if length < room:
                out[length] = number
            length += 1
        else:
            place = -2 - number
            for inner in range(starts[place], starts[place + 1]):
                if length < room:
                    out[length] = flat[inner]
                length += 1
    return length


@njit(cache=True)
def tally(words: Any, counts: Any, sentences: Any, last: Any, line: int) -> int:
    """Count words, and lines with each word; returns the number of the next line.

    `last` remembers the last line each word was seen in.
    """
    for word in words:
        if word == BOUNDARY:
            line += 1
        elif word >= 0:
            counts[word] += 1
            if last[word] != line:
                last[word] = line
                sentences[word] += 1
    return line


@njit(cache=True)
def events(words: Any, nearest: int, farthest: int, contexts: int, keys: Any) -> int:
    """Write a key for each two words `nearest` to `farthest` apart; returns how many."""
    made = 0
    length = words.shape[0]
    for place in range(length):
        word = words[place]
        if word < 0:
            continue
        for other_place in range(place + 1, min(place + farthest + 1, length)):
            other = words[other_place]
            if other == BOUNDARY:
                break
            if other < 0 or other_place - place < nearest:
                continue
            low = min(word, other)
            # Neither could be the other's context.
            if low >= contexts:
                continue
            keys[made] = (numpy.int64(low) << 32) | numpy.int64(max(word, other))
            made += 1
    return made


@njit(cache=True)
def count_sorted(keys: Any, counts: Any) -> int:
    """Count equal neighbours: afterwards each key stands once, with its count; returns how many."""
    kept = 0
    place = 0
    while place < keys.shape[0]:
        key = keys[place]
        begin = place
        while place < keys.shape[0] and keys[place] == key:
            place += 1
        keys[kept] = key
        counts[kept] = place - begin
        kept += 1
    return kept


@njit(cache=True)
def merge(
    left: Any, left_counts: Any, right: Any, right_counts: Any, keys: Any, counts: Any
) -> int:
    """Merge two rising lists of keys, adding the counts of equal ones; returns how many."""
    windows = left_counts.shape[1]
    one = 0
    two = 0
    made = 0
    while one < left.shape[0] or two < right.shape[0]:
        take_left = two >= right.shape[0] or (one < left.shape[0] and left[one] <= right[two])
        take_right = one >= left.shape[0] or (two < right.shape[0] and right[two] <= left[one])
        keys[made] = left[one] if take_left else right[two]
        for window in range(windows):
            count = numpy.int64(0)
            if take_left:
                count += left_counts[one, window]
            if take_right:
                count += right_counts[two, window]
            counts[made, window] = count
        one += take_left
        two += take_right
        made += 1
    return made


@njit(cache=True)
def mirror(
    keys: Any, counts: Any, words: int, contexts: int, out_keys: Any, out_counts: Any
) -> Any:
    """Both directions of keys (low, high), rising, for columns below `contexts`.

    The diagonal counts twice. Returns how many entries came out, and how many each row has.
    """
    windows = counts.shape[1]
    lengths = numpy.zeros(words + 1, dtype=numpy.int64)
    for key in keys:
        low = key >> 32
        high = key & 0xFFFFFFFF
        if high < contexts:
            lengths[low] += 1
        if low != high:
            lengths[high] += 1
    places = numpy.zeros(words + 1, dtype=numpy.int64)
    for word in range(words):
        places[word + 1] = places[word] + lengths[word]
    # Rows fill from the left: for row r first come the keys (low, r) by rising low, then the
    # keys (r, high) by rising high, which is the order of the keys themselves.
    for entry in range(keys.shape[0]):
        low = keys[entry] >> 32
        high = keys[entry] & 0xFFFFFFFF
        if high < contexts:
            out_keys[places[low]] = keys[entry]
            for window in range(windows):
                out_counts[places[low], window] = counts[entry, window] * (2 if low == high else 1)
            places[low] += 1
        if low != high:
            out_keys[places[high]] = (high << 32) | low
            for window in range(windows):
                out_counts[places[high], window] = counts[entry, window]
            places[high] += 1
    return lengths[:words].sum(), lengths[:words]


@njit(cache=True)
def add_margins(keys: Any, counts: Any, first: int, sums: Any, contexts: Any) -> None:
    """Add counts up by row (from row `first` on) and by column."""
    for entry in range(keys.shape[0]):
        row = (keys[entry] >> 32) - first
        column = keys[entry] & 0xFFFFFFFF
        for window in range(counts.shape[1]):
            sums[row, window] += counts[entry, window]
            contexts[column, window] += counts[entry, window]
