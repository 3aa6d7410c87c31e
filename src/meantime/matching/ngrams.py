"""Clipped n-gram matches, exact and without building a single n-gram.

An n-gram is known by the pair (slot of its first n-1 items, last item) in an open hash
table, so equal n-grams and only those share a slot: no collision can change a count. A
table is never cleared; each use stamps the slots it takes with a new number.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

_EMPTY = -1


@njit(cache=True)
def _start(key: Any, mask: Any) -> Any:
    """Where the search for a key begins (a multiplicative hash, high bits folded in)."""
    mixed = key * numpy.int64(-7046029254386353131)
    mixed ^= (mixed >> 29) & 0x7FFFFFFFF
    return mixed & mask


@njit(cache=True)
def _capacity(items: int) -> int:
    """A power of two with room to spare."""
    size = 16
    while size < 2 * items:
        size *= 2
    return size


@njit(cache=True)
def _find(key: int, mask: int, stamp: int, keys: Any, stamps: Any) -> Any:
    """The slot of a key, or `_EMPTY`."""
    slot = _start(key, mask)
    while stamps[slot] == stamp:
        if keys[slot] == key:
            return slot
        slot = (slot + 1) & mask
    return _EMPTY


@njit(cache=True)
def _clipped(
    hypotheses: Any,
    hypothesis_offsets: Any,
    references: Any,
    reference_offsets: Any,
    first_reference: Any,
    max_order: int,
    text_keys: Any,
    text_counts: Any,
    text_words: int,
) -> Any:
    """Matches, and the information of the matches in a text of which all n-grams are counted.

    The information is left out where `text_keys` is empty.
    """
    pairs = hypothesis_offsets.shape[0] - 1
    matches = numpy.zeros((pairs, max_order), dtype=numpy.int64)
    gains = numpy.zeros((pairs, max_order), dtype=numpy.float64)
    text_capacity = text_keys.shape[0]
    longest_hypothesis = 0
    longest_references = 0
    for pair in range(pairs):
        length = hypothesis_offsets[pair + 1] - hypothesis_offsets[pair]
        longest_hypothesis = max(longest_hypothesis, length)
        begin = reference_offsets[first_reference[pair]]
        length = reference_offsets[first_reference[pair + 1]] - begin
        longest_references = max(longest_references, length)
    capacity = _capacity(longest_references)
    keys = numpy.empty(capacity, dtype=numpy.int64)
    stamps = numpy.zeros(capacity, dtype=numpy.int64)
    best = numpy.empty(capacity, dtype=numpy.int64)
    current = numpy.empty(capacity, dtype=numpy.int64)
    owner = numpy.empty(capacity, dtype=numpy.int64)
    used = numpy.empty(capacity, dtype=numpy.int64)
    reference_slots = numpy.empty(longest_references, dtype=numpy.int64)
    hypothesis_slots = numpy.empty(longest_hypothesis, dtype=numpy.int64)
    text_slots = numpy.empty(longest_hypothesis, dtype=numpy.int64)
    stamp = 0
    for pair in range(pairs):
        begin = hypothesis_offsets[pair]
        length = hypothesis_offsets[pair + 1] - begin
        base = reference_offsets[first_reference[pair]]
        total = reference_offsets[first_reference[pair + 1]] - base
        mask = _capacity(total) - 1
        for i in range(length):
            hypothesis_slots[i] = 0
            text_slots[i] = text_capacity
        for i in range(total):
            reference_slots[i] = 0
        for order in range(1, max_order + 1):
            if order > length:
                break
            stamp += 1
            for reference in range(first_reference[pair], first_reference[pair + 1]):
                low = reference_offsets[reference]
                high = reference_offsets[reference + 1]
                for i in range(low, high - order + 1):
                    key = (reference_slots[i - base] << 32) | references[i + order - 1]
                    slot = _start(key, mask)
                    while stamps[slot] == stamp and keys[slot] != key:
                        slot = (slot + 1) & mask
                    if stamps[slot] != stamp:
                        stamps[slot] = stamp
                        keys[slot] = key
                        best[slot] = 0
                        current[slot] = 0
                        used[slot] = 0
                        owner[slot] = reference
                    if owner[slot] != reference:
                        owner[slot] = reference
                        current[slot] = 0
                    current[slot] += 1
                    best[slot] = max(best[slot], current[slot])
                    reference_slots[i - base] = slot
            found = 0
            for i in range(length - order + 1):
                parent = hypothesis_slots[i]
                if parent == _EMPTY:
                    continue
                key = (parent << 32) | hypotheses[begin + i + order - 1]
                slot = _find(key, mask, stamp, keys, stamps)
                hypothesis_slots[i] = slot
                if slot == _EMPTY:
                    continue
                if text_capacity > 0:
                    parent = text_slots[i]
                    place = _EMPTY
                    if parent != _EMPTY:
                        word = hypotheses[begin + i + order - 1]
                        place = _look_up((parent << 32) | word, text_capacity - 1, text_keys)
                    text_slots[i] = place
                    if place != _EMPTY and used[slot] < best[slot]:
                        before = text_words if order == 1 else text_counts[parent]
                        gains[pair, order - 1] += numpy.log2(before / text_counts[place])
                if used[slot] < best[slot]:
                    found += 1
                used[slot] += 1
            matches[pair, order - 1] = found
            if found == 0:
                break
    return matches, gains


@njit(cache=True)
def _count_all(sequences: Any, offsets: Any, max_order: int, capacity: int) -> Any:
    """Count every n-gram of many sequences; keys of different orders cannot meet.

    The parent of a unigram is slot `capacity`, which no n-gram has.
    """
    mask = capacity - 1
    keys = numpy.full(capacity, _EMPTY, dtype=numpy.int64)
    counts = numpy.zeros(capacity, dtype=numpy.int64)
    for sequence in range(offsets.shape[0] - 1):
        low = offsets[sequence]
        high = offsets[sequence + 1]
        for i in range(low, high):
            parent = capacity
            for j in range(i, min(high, i + max_order)):
                key = (parent << 32) | sequences[j]
                slot = _start(key, mask)
                while keys[slot] != _EMPTY and keys[slot] != key:
                    slot = (slot + 1) & mask
                keys[slot] = key
                counts[slot] += 1
                parent = slot
    return keys, counts


@njit(cache=True)
def _count_distinct_upper(offsets: Any, max_order: int) -> int:
    total = 0
    for sequence in range(offsets.shape[0] - 1):
        length = offsets[sequence + 1] - offsets[sequence]
        for order in range(1, max_order + 1):
            total += max(0, length - order + 1)
    return total


@njit(cache=True)
def _look_up(key: int, mask: int, keys: Any) -> Any:
    slot = _start(key, mask)
    while keys[slot] != _EMPTY:
        if keys[slot] == key:
            return slot
        slot = (slot + 1) & mask
    return _EMPTY


Numbers = NDArray[numpy.int32]
Offsets = NDArray[numpy.int64]

_NO_TEXT = numpy.empty(0, dtype=numpy.int64)


def clipped_matches(
    hypotheses: Numbers,
    hypothesis_offsets: Offsets,
    references: Numbers,
    reference_offsets: Offsets,
    first_reference: Offsets,
    max_order: int,
) -> NDArray[numpy.int64]:
    """Matching n-grams of each hypothesis with its references, for orders 1 to `max_order`.

    An n-gram of the hypothesis matches as often as it occurs in the reference that has it
    most often. Hypothesis p is `hypotheses[hypothesis_offsets[p]:hypothesis_offsets[p + 1]]`;
    its references are numbers `first_reference[p]` to `first_reference[p + 1]`, laid out
    likewise.
    """
    found: NDArray[numpy.int64]
    found, _ = _clipped(
        hypotheses,
        hypothesis_offsets,
        references,
        reference_offsets,
        first_reference,
        max_order,
        _NO_TEXT,
        _NO_TEXT,
        0,
    )
    return found


class NgramInformation:
    """Counts of all n-grams of a text, and from them the information of each.

    That is log2 of how often the first n-1 words occur, over how often the n-gram does
    (Doddington 2002). An n-gram the text does not hold has none.
    """

    __slots__ = ("_counts", "_keys", "_words", "max_order", "vocabulary")

    def __init__(
        self, sequences: Numbers, offsets: Offsets, vocabulary: dict[str, int], max_order: int
    ) -> None:
        capacity = int(_capacity(_count_distinct_upper(offsets, max_order)))
        self._keys, self._counts = _count_all(sequences, offsets, max_order, capacity)
        self._words = len(sequences)
        self.vocabulary = vocabulary
        self.max_order = max_order

    def gains(
        self,
        hypotheses: Numbers,
        hypothesis_offsets: Offsets,
        references: Numbers,
        reference_offsets: Offsets,
        first_reference: Offsets,
    ) -> NDArray[numpy.float64]:
        """Information of the matching n-grams, for orders 1 to `max_order`.

        The layout is that of `clipped_matches`. Words have the numbers they have in this
        object's vocabulary; those it does not hold have higher ones.
        """
        found: NDArray[numpy.float64]
        _, found = _clipped(
            hypotheses,
            hypothesis_offsets,
            references,
            reference_offsets,
            first_reference,
            self.max_order,
            self._keys,
            self._counts,
            self._words,
        )
        return found
