"""How much two words share of their spelling.

A word is the bag of its runs of two and of three characters, with a mark before its first and
one after its last. Two words have the Dice coefficient of their bags: 2 · common / (all of one
+ all of the other), a run counting as often as it stands in both. Steps grow with the sum of
the two lengths.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

_BITS = 21
"""Bits of a code point, and of the two marks above them."""
_BEFORE = 0x110000
_AFTER = 0x110001


@njit(cache=True)
def _character(codes: Any, begin: int, end: int, place: int) -> int:
    if place < begin:
        return _BEFORE
    if place >= end:
        return _AFTER
    return int(codes[place])


@njit(cache=True)
def _bags(codes: Any, offsets: Any) -> tuple[Any, Any]:
    words = offsets.size - 1
    ends = numpy.zeros(words + 1, dtype=numpy.int64)
    for n in range(words):
        # Between two marks, k characters make k + 1 runs of two and k of three.
        ends[n + 1] = ends[n] + 2 * (offsets[n + 1] - offsets[n]) + 1
    bags = numpy.empty(ends[words], dtype=numpy.int64)
    for n in range(words):
        begin = offsets[n]
        end = offsets[n + 1]
        place = ends[n]
        for k in range(begin - 1, end):
            first = _character(codes, begin, end, k)
            second = _character(codes, begin, end, k + 1)
            pair = (first << _BITS) | second
            bags[place] = pair
            place += 1
            if k + 1 < end:
                bags[place] = (pair << _BITS) | _character(codes, begin, end, k + 2)
                place += 1
        bags[ends[n] : ends[n + 1]].sort()
    return bags, ends


@njit(cache=True)
def _dice(bags: Any, ends: Any, rows: Any, columns: Any) -> Any:
    found = numpy.empty((rows.size, columns.size))
    for i in range(rows.size):
        for j in range(columns.size):
            if rows[i] == columns[j]:
                found[i, j] = 1.0
                continue
            x, x_end = ends[rows[i]], ends[rows[i] + 1]
            y, y_end = ends[columns[j]], ends[columns[j] + 1]
            size = x_end - x + y_end - y
            common = 0
            while x < x_end and y < y_end:
                if bags[x] == bags[y]:
                    common += 1
                    x += 1
                    y += 1
                elif bags[x] < bags[y]:
                    x += 1
                else:
                    y += 1
            found[i, j] = 2.0 * common / size
    return found


def spelling_bags(
    codes: NDArray[numpy.uint32], offsets: NDArray[numpy.int64]
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    """The bag of each word, as numbers in ascending order, end to end.

    Args:
        codes: Code points of all words, end to end.
        offsets: Word n is `codes[offsets[n] : offsets[n + 1]]`.

    Returns:
        The bags, and where each begins (one place more than there are words).
    """
    bags, ends = _bags(codes, offsets)
    return bags, ends


def spelling_overlaps(
    bags: NDArray[numpy.int64],
    ends: NDArray[numpy.int64],
    rows: NDArray[numpy.int64],
    columns: NDArray[numpy.int64],
) -> NDArray[numpy.float64]:
    """How much words share, (rows, columns).

    Args:
        bags: From `spelling_bags`.
        ends: Likewise.
        rows: Numbers of the words on the left.
        columns: Numbers of the words on the right.
    """
    found: NDArray[numpy.float64] = _dice(bags, ends, rows, columns)
    return found
