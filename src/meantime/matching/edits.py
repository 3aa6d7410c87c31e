"""Edit distances between sequences of numbers: Levenshtein, with jumps, and the path."""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

from meantime.matching.ngrams import Numbers, Offsets


@njit(cache=True)
def _levenshtein(hypothesis: Any, reference: Any, row: Any) -> Any:
    length = hypothesis.shape[0]
    for i in range(length + 1):
        row[i] = i
    for j in range(reference.shape[0]):
        diagonal = row[0]
        row[0] = j + 1
        word = reference[j]
        left = j + 1
        for i in range(1, length + 1):
            above = row[i]
            cost = diagonal
            if hypothesis[i - 1] != word:
                cost = min(diagonal, above, left) + 1
            row[i] = cost
            left = cost
            diagonal = above
    return row[length]


@njit(cache=True)
def _cover(hypothesis: Any, reference: Any, row: Any) -> Any:
    """Edit distance in which a jump to any place of the hypothesis costs 1.

    `row[i]` is the least cost of having covered the reference so far and standing before
    word i of the hypothesis. Insertions, deletions, substitutions and jumps cost 1.
    """
    length = hypothesis.shape[0]
    row[0] = 0
    for i in range(1, length + 1):
        row[i] = 1
    for j in range(reference.shape[0]):
        diagonal = row[0]
        word = reference[j]
        row[0] += 1
        least = row[0]
        for i in range(1, length + 1):
            above = row[i]
            cost = diagonal
            if hypothesis[i - 1] != word:
                cost = min(diagonal, above, row[i - 1]) + 1
            row[i] = cost
            least = min(least, cost)
            diagonal = above
        for i in range(length + 1):
            row[i] = min(row[i], least + 1)
    return row[length]


@njit(cache=True)
def _distances(
    hypotheses: Any,
    hypothesis_offsets: Any,
    references: Any,
    reference_offsets: Any,
    first_reference: Any,
    jumps: bool,
) -> Any:
    distances = numpy.empty(reference_offsets.shape[0] - 1, dtype=numpy.int64)
    longest = 0
    for pair in range(hypothesis_offsets.shape[0] - 1):
        longest = max(longest, hypothesis_offsets[pair + 1] - hypothesis_offsets[pair])
    row = numpy.empty(longest + 1, dtype=numpy.int64)
    for pair in range(hypothesis_offsets.shape[0] - 1):
        hypothesis = hypotheses[hypothesis_offsets[pair] : hypothesis_offsets[pair + 1]]
        for number in range(first_reference[pair], first_reference[pair + 1]):
            reference = references[reference_offsets[number] : reference_offsets[number + 1]]
            if jumps:
                distances[number] = _cover(hypothesis, reference, row)
            else:
                distances[number] = _levenshtein(hypothesis, reference, row)
    return distances


@njit(cache=True)
def _path(hypothesis: Any, reference: Any) -> Any:
    """Operations of one cheapest path, from the start: 0 match, 1 substitution,
    2 deletion (a word of the hypothesis too many), 3 insertion (one of the reference missing).
    """
    rows = hypothesis.shape[0] + 1
    columns = reference.shape[0] + 1
    table = numpy.empty((rows, columns), dtype=numpy.int64)
    for i in range(rows):
        table[i, 0] = i
    for j in range(columns):
        table[0, j] = j
    for i in range(1, rows):
        for j in range(1, columns):
            same = hypothesis[i - 1] == reference[j - 1]
            cost = table[i - 1, j - 1] + (0 if same else 1)
            table[i, j] = min(cost, table[i - 1, j] + 1, table[i, j - 1] + 1)
    operations = numpy.empty(rows + columns, dtype=numpy.int64)
    filled = 0
    i, j = rows - 1, columns - 1
    while i > 0 or j > 0:
        if i > 0 and j > 0 and hypothesis[i - 1] == reference[j - 1]:
            # Equal words on a cheapest path can always be matched.
            operation = 0
        elif i > 0 and j > 0 and table[i, j] == table[i - 1, j - 1] + 1:
            operation = 1
        elif i > 0 and table[i, j] == table[i - 1, j] + 1:
            operation = 2
        else:
            operation = 3
        operations[filled] = operation
        filled += 1
        if operation != 3:
            i -= 1
        if operation != 2:
            j -= 1
    return operations[:filled][::-1].copy()


def edit_distances(
    hypotheses: Numbers,
    hypothesis_offsets: Offsets,
    references: Numbers,
    reference_offsets: Offsets,
    first_reference: Offsets,
    *,
    jumps: bool = False,
) -> NDArray[numpy.int64]:
    """Fewest edits from each hypothesis to each of its references, one number a reference.

    The layout of the arrays is that of `meantime.matching.ngrams.clipped_matches`.

    Args:
        hypotheses: Words of all hypotheses, end to end.
        hypothesis_offsets: Where each hypothesis starts.
        references: Words of all references, end to end.
        reference_offsets: Where each reference starts.
        first_reference: Which references belong to each hypothesis.
        jumps: Whether the hypothesis may be read with jumps, each at a cost of 1 (CDER);
            otherwise this is the Levenshtein distance (WER).
    """
    found: NDArray[numpy.int64] = _distances(
        hypotheses, hypothesis_offsets, references, reference_offsets, first_reference, jumps
    )
    return found


def edit_path(hypothesis: Numbers, reference: Numbers) -> NDArray[numpy.int64]:
    """One cheapest sequence of edits: 0 match, 1 substitution, 2 deletion, 3 insertion."""
    found: NDArray[numpy.int64] = _path(hypothesis, reference)
    return found
