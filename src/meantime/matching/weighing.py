"""Which weights of classes make scores agree best with given values: all of them tried.

A *pair* is scored by the weighted F-score of `matching.structures.share`, from statistics that do
not depend on the weights. Here a great many weights are tried on the same statistics, each by how
well the scores correlate with given values inside groups of pairs (language pairs, say).

Statistics are sparse: an *entry* is a class with a number of phrases and their summed
similarity; a *row* is a frame on one side, with its entries and its size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numba import njit, prange
from numpy.typing import NDArray

PEARSON, KENDALL = range(2)

Floats = NDArray[numpy.float64]
Whole = NDArray[numpy.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """The frames of one side of all pairs."""

    classes: Whole
    """Class of each entry."""
    counts: Floats
    """Phrases of each entry."""
    similarities: Floats
    """Their summed similarity."""
    offsets: Whole
    """Row r has entries `offsets[r]` to `offsets[r + 1]`."""
    sizes: Floats
    """What each row counts by; 0 for rows that do not count."""
    first: Whole
    """Pair p has rows `first[p]` to `first[p + 1]`."""


@dataclass(frozen=True, slots=True)
class Task:
    """Pairs to be scored with many weights, and what their scores should agree with."""

    left: Rows
    right: Rows
    otherwise: Floats
    """The score of a pair where a side has no row."""
    values: Floats
    """What the scores should agree with, in the order of the groups."""
    groups: Whole
    """Group g is pairs `groups[g]` to `groups[g + 1]`, sorted by value within."""
    alpha: float


LANES = 64
"""Vectors of weights tried together, so that the processor can work on several at once."""


@njit(cache=True)
def _rate(rows: Any, pair: int, weights: Any, rate: Any) -> None:
    """Precision or recall of a pair for every lane."""
    classes, counts, similarities, offsets, sizes, first = rows
    below = numpy.zeros(LANES)
    weight = numpy.empty(LANES)
    alike = numpy.empty(LANES)
    rate[:] = 0.0
    for row in range(first[pair], first[pair + 1]):
        weight[:] = 0.0
        alike[:] = 0.0
        for k in range(offsets[row], offsets[row + 1]):
            one = weights[classes[k]]
            count = counts[k]
            similarity = similarities[k]
            for lane in range(LANES):
                weight[lane] += one[lane] * count
                alike[lane] += one[lane] * similarity
        size = sizes[row]
        for lane in range(LANES):
            # Without a branch: where nothing weighs, nothing is alike, and 0 / 1 is added.
            heavy = 1.0 if weight[lane] > 0.0 else 0.0
            rate[lane] += size * alike[lane] / (weight[lane] + (1.0 - heavy))
            below[lane] += size * heavy
    for lane in range(LANES):
        empty = 1.0 if below[lane] == 0.0 else 0.0
        rate[lane] /= below[lane] + empty


@njit(cache=True)
def _score_all(
    left: Any, right: Any, otherwise: Any, weights: Any, alpha: float, scores: Any
) -> None:
    """Scores of all pairs (columns) for the weights in every lane (rows)."""
    precision = numpy.empty(LANES)
    recall = numpy.empty(LANES)
    first = left[5]
    second = right[5]
    for pair in range(otherwise.size):
        if first[pair + 1] == first[pair] or second[pair + 1] == second[pair]:
            for lane in range(LANES):
                scores[lane, pair] = otherwise[pair]
            continue
        _rate(left, pair, weights, precision)
        _rate(right, pair, weights, recall)
        for lane in range(LANES):
            below = alpha * precision[lane] + (1.0 - alpha) * recall[lane]
            scores[lane, pair] = precision[lane] * recall[lane] / below if below > 0.0 else 0.0


@njit(cache=True)
def _pearson(values: Any, scores: Any) -> float:
    n = values.size
    mean_value = 0.0
    mean_score = 0.0
    for k in range(n):
        mean_value += values[k]
        mean_score += scores[k]
    mean_value /= n
    mean_score /= n
    both = 0.0
    one = 0.0
    other = 0.0
    for k in range(n):
        a = values[k] - mean_value
        b = scores[k] - mean_score
        both += a * b
        one += a * a
        other += b * b
    if one <= 0.0 or other <= 1e-24 * n:
        return 0.0
    return float(both / math.sqrt(one * other))


@njit(cache=True)
def _sort(scores: Any, spare: Any, start: int, stop: int) -> int:
    """Sort a stretch; how many pairs were in falling order."""
    inversions = 0
    width = 1
    # Short runs by insertion, then merged from the bottom up.
    run = 8
    for low in range(start, stop, run):
        high = min(low + run, stop)
        for i in range(low + 1, high):
            value = scores[i]
            j = i - 1
            while j >= low and scores[j] > value:
                scores[j + 1] = scores[j]
                j -= 1
                inversions += 1
            scores[j + 1] = value
    width = run
    while width < stop - start:
        low = start
        while low + width < stop:
            middle = low + width
            high = min(middle + width, stop)
            i = low
            j = middle
            k = low
            while i < middle and j < high:
                # Without a branch, which could not be foreseen.
                one = scores[i]
                other = scores[j]
                falling = int(other < one)
                spare[k] = min(one, other)
                inversions += falling * (middle - i)
                j += falling
                i += 1 - falling
                k += 1
            while i < middle:
                spare[k] = scores[i]
                i += 1
                k += 1
            while j < high:
                spare[k] = scores[j]
                j += 1
                k += 1
            for k in range(low, high):
                scores[k] = spare[k]
            low = high
        width *= 2
    return inversions


@njit(cache=True)
def _kendall(values: Any, scores: Any, spare: Any) -> float:
    """Tau-b; `values` are sorted, `scores` are destroyed."""
    n = values.size
    total = n * (n - 1) // 2
    tied_values = 0
    tied_both = 0
    k = 0
    while k < n:
        stop = k + 1
        while stop < n and values[stop] == values[k]:
            stop += 1
        if stop - k > 1:
            tied_values += (stop - k) * (stop - k - 1) // 2
            # Sorted among themselves, so that no pair of theirs counts as out of order.
            _sort(scores, spare, k, stop)
            i = k
            while i < stop:
                j = i + 1
                while j < stop and scores[j] == scores[i]:
                    j += 1
                tied_both += (j - i) * (j - i - 1) // 2
                i = j
        k = stop
    inversions = _sort(scores, spare, 0, n)
    tied_scores = 0
    i = 0
    while i < n:
        j = i + 1
        while j < n and scores[j] == scores[i]:
            j += 1
        tied_scores += (j - i) * (j - i - 1) // 2
        i = j
    ordered = total - tied_values - tied_scores + tied_both
    below = math.sqrt(float(total - tied_values)) * math.sqrt(float(total - tied_scores))
    if below <= 0.0:
        return 0.0
    return float((ordered - 2 * inversions) / below)


@njit(cache=True, parallel=True)
def _try(
    left: Any,
    right: Any,
    otherwise: Any,
    values: Any,
    groups: Any,
    alpha: float,
    objective: int,
    many: Any,
    found: Any,
) -> None:
    blocks = (many.shape[0] + LANES - 1) // LANES
    for block in prange(blocks):
        low = block * LANES
        high = min(low + LANES, many.shape[0])
        weights = numpy.zeros((many.shape[1], LANES))
        for k in range(low, high):
            weights[:, k - low] = many[k]
        scores = numpy.empty((LANES, otherwise.size))
        spare = numpy.empty(otherwise.size)
        _score_all(left, right, otherwise, weights, alpha, scores)
        for k in range(low, high):
            for g in range(groups.size - 1):
                start = groups[g]
                stop = groups[g + 1]
                part = scores[k - low, start:stop]
                if objective == PEARSON:
                    found[k, g] = _pearson(values[start:stop], part)
                else:
                    found[k, g] = _kendall(values[start:stop], part, spare[start:stop])


def join_rows(many: Sequence[Rows]) -> Rows:
    """The rows of several batches of pairs as those of one."""
    return Rows(
        numpy.concatenate([rows.classes for rows in many]),
        numpy.concatenate([rows.counts for rows in many]),
        numpy.concatenate([rows.similarities for rows in many]),
        _join_offsets([rows.offsets for rows in many]),
        numpy.concatenate([rows.sizes for rows in many]),
        _join_offsets([rows.first for rows in many]),
    )


def _join_offsets(many: Sequence[Whole]) -> Whole:
    return _offsets(numpy.concatenate([numpy.diff(offsets) for offsets in many]))


def take_pairs(rows: Rows, pairs: Whole) -> Rows:
    """The rows of some pairs, in their order."""
    chosen = _ranges(rows.first, pairs)
    entries = _ranges(rows.offsets, chosen)
    return Rows(
        rows.classes[entries],
        rows.counts[entries],
        rows.similarities[entries],
        _offsets(numpy.diff(rows.offsets)[chosen]),
        rows.sizes[chosen],
        _offsets(numpy.diff(rows.first)[pairs]),
    )


def _ranges(offsets: Whole, chosen: Whole) -> Whole:
    """The numbers from `offsets[c]` to `offsets[c + 1]` of every chosen c, end to end."""
    lengths = numpy.diff(offsets)[chosen]
    starts = offsets[:-1][chosen]
    within = numpy.arange(lengths.sum()) - numpy.repeat(numpy.cumsum(lengths) - lengths, lengths)
    return numpy.asarray(numpy.repeat(starts, lengths) + within, dtype=numpy.int64)


def _offsets(lengths: Whole) -> Whole:
    found = numpy.zeros(len(lengths) + 1, dtype=numpy.int64)
    numpy.cumsum(lengths, out=found[1:])
    return found


def _tuple(rows: Rows) -> tuple[Any, ...]:
    return (rows.classes, rows.counts, rows.similarities, rows.offsets, rows.sizes, rows.first)


def try_weights(task: Task, many: Floats, objective: int) -> Floats:
    """The correlation in every group for each vector of weights (row of `many`).

    Where all scores or all values of a group are equal, it is 0.
    """
    found = numpy.empty((len(many), len(task.groups) - 1))
    _try(
        _tuple(task.left),
        _tuple(task.right),
        task.otherwise,
        task.values,
        task.groups,
        task.alpha,
        objective,
        numpy.ascontiguousarray(many, dtype=numpy.float64),
        found,
    )
    return found


def scores_with(task: Task, weights: Floats) -> Floats:
    """The score of every pair with these weights."""
    scores = numpy.empty((LANES, len(task.otherwise)))
    lanes = numpy.repeat(numpy.asarray(weights, dtype=numpy.float64)[:, None], LANES, axis=1)
    _score_all(_tuple(task.left), _tuple(task.right), task.otherwise, lanes, task.alpha, scores)
    return numpy.array(scores[0])


@njit(cache=True)
def _next(vector: Any) -> bool:
    """The next composition in falling lexicographic order; whether there was one."""
    last = vector.size - 1
    tail = vector[last]
    vector[last] = 0
    for place in range(last - 1, -1, -1):
        if vector[place] > 0:
            vector[place] -= 1
            vector[place + 1] = tail + 1
            return True
    vector[last] = tail
    return False


@njit(cache=True)
def _fill(vector: Any, block: Any) -> int:
    filled = 0
    while filled < block.shape[0]:
        block[filled] = vector
        filled += 1
        if not _next(vector):
            return -filled
    return filled


def count_vectors(classes: int, total: int) -> int:
    """How many vectors of whole numbers from 0 have this sum."""
    return math.comb(total + classes - 1, classes - 1)


def integer_vectors(classes: int, total: int, block: int = 4096) -> Iterator[Floats]:
    """All vectors of whole numbers from 0 with this sum, block by block.

    In falling lexicographic order: (total, 0, …, 0) first, (0, …, 0, total) last.
    """
    vector = numpy.zeros(classes)
    vector[0] = total
    while True:
        found = numpy.empty((block, classes))
        filled = _fill(vector, found)
        yield found[: abs(filled)].copy() if abs(filled) < block else found
        if filled < 0:
            return


def try_all(
    task: Task,
    classes: int,
    total: int,
    objective: int,
    tell: Callable[[int, int], None] | None = None,
) -> tuple[NDArray[numpy.int8], NDArray[numpy.float32]]:
    """Every vector of whole numbers with this sum, and its correlation in every group."""
    count = count_vectors(classes, total)
    vectors = numpy.empty((count, classes), dtype=numpy.int8)
    found = numpy.empty((count, len(task.groups) - 1), dtype=numpy.float32)
    done = 0
    for block in integer_vectors(classes, total):
        vectors[done : done + len(block)] = block
        found[done : done + len(block)] = try_weights(task, block, objective)
        done += len(block)
        if tell:
            tell(done, count)
    return vectors, found
