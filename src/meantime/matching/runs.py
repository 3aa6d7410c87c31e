"""Common runs of two sequences (for the F-measure of Turian, Shen and Melamed 2003)."""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

from meantime.matching.ngrams import Numbers, Offsets


@njit(cache=True)
def _greedy(hypothesis: Any, reference: Any, runs: Any, lengths: Any) -> int:
    """Take the longest common run of untaken words, again and again.

    Ties: the run furthest left in the hypothesis, then furthest left in the reference. One
    sweep takes all runs of one length, and learns the greatest length that is left; the
    lengths taken sum to at most the shorter sequence, so n words need at most about
    sqrt(2 n) sweeps of n squared steps.
    """
    rows = hypothesis.shape[0]
    columns = reference.shape[0]
    taken_row = numpy.zeros(rows, dtype=numpy.bool_)
    taken_column = numpy.zeros(columns, dtype=numpy.bool_)
    lengths[rows, : columns + 1] = 0
    for i in range(rows + 1):
        lengths[i, columns] = 0
    target = _fill(hypothesis, reference, taken_row, taken_column, lengths)
    found = 0
    while target > 0:
        for i in range(rows):
            for j in range(columns):
                if lengths[i, j] < target:
                    continue
                free = True
                for k in range(target):
                    if taken_row[i + k] or taken_column[j + k]:
                        free = False
                        break
                if free:
                    taken_row[i : i + target] = True
                    taken_column[j : j + target] = True
                    runs[found, 0] = i
                    runs[found, 1] = j
                    runs[found, 2] = target
                    found += 1
        target = _fill(hypothesis, reference, taken_row, taken_column, lengths)
    return found


@njit(cache=True)
def _fill(hypothesis: Any, reference: Any, taken_row: Any, taken_column: Any, lengths: Any) -> int:
    """Length of the free common run that starts at each pair of words; the greatest."""
    longest = 0
    for i in range(hypothesis.shape[0] - 1, -1, -1):
        for j in range(reference.shape[0] - 1, -1, -1):
            if taken_row[i] or taken_column[j] or hypothesis[i] != reference[j]:
                lengths[i, j] = 0
            else:
                lengths[i, j] = lengths[i + 1, j + 1] + 1
                longest = max(longest, lengths[i, j])
    return longest


@njit(cache=True)
def _sizes(
    hypotheses: Any,
    hypothesis_offsets: Any,
    references: Any,
    reference_offsets: Any,
    first_reference: Any,
    exponent: float,
) -> Any:
    sizes = numpy.zeros(reference_offsets.shape[0] - 1, dtype=numpy.float64)
    rows = 0
    columns = 0
    for pair in range(hypothesis_offsets.shape[0] - 1):
        rows = max(rows, hypothesis_offsets[pair + 1] - hypothesis_offsets[pair])
    for number in range(reference_offsets.shape[0] - 1):
        columns = max(columns, reference_offsets[number + 1] - reference_offsets[number])
    lengths = numpy.zeros((rows + 1, columns + 1), dtype=numpy.int64)
    runs = numpy.empty((min(rows, columns), 3), dtype=numpy.int64)
    for pair in range(hypothesis_offsets.shape[0] - 1):
        hypothesis = hypotheses[hypothesis_offsets[pair] : hypothesis_offsets[pair + 1]]
        for number in range(first_reference[pair], first_reference[pair + 1]):
            reference = references[reference_offsets[number] : reference_offsets[number + 1]]
            found = _greedy(hypothesis, reference, runs, lengths)
            total = 0.0
            for run in range(found):
                total += float(runs[run, 2]) ** exponent
            sizes[number] = total ** (1.0 / exponent)
    return sizes


def run_sizes(
    hypotheses: Numbers,
    hypothesis_offsets: Offsets,
    references: Numbers,
    reference_offsets: Offsets,
    first_reference: Offsets,
    *,
    exponent: float,
) -> NDArray[numpy.float64]:
    """(sum of run length ** exponent) ** (1 / exponent) of greedy runs, one a reference.

    The layout of the arrays is that of `meantime.matching.ngrams.clipped_matches`.
    """
    found: NDArray[numpy.float64] = _sizes(
        hypotheses,
        hypothesis_offsets,
        references,
        reference_offsets,
        first_reference,
        exponent,
    )
    return found


def greedy_runs(hypothesis: Numbers, reference: Numbers) -> list[tuple[int, int, int]]:
    """The runs taken, as (start in hypothesis, start in reference, length)."""
    shape = (len(hypothesis) + 1, len(reference) + 1)
    runs = numpy.empty((min(len(hypothesis), len(reference)), 3), dtype=numpy.int64)
    found = _greedy(hypothesis, reference, runs, numpy.zeros(shape, dtype=numpy.int64))
    return [(int(i), int(j), int(length)) for i, j, length in runs[:found]]
