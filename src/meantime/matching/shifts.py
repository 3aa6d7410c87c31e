"""Edit distance with block shifts, as TER counts it.

The search is TERCOM's, in the form sacreBLEU gave it: as long as it helps, move the one
block of hypothesis words that lowers the edit distance most, then count the moves and
what distance remains. Finding the fewest edits exactly is NP-hard; this greedy search
defines the metric, so every limit and every tie of it is kept:

- a block has at most `MAX_SHIFT_SIZE` words, equals a run of reference words, and starts
  at most `MAX_SHIFT_DISTANCE` positions away from that run;
- the edit distance sees only cells near the diagonal (`BEAM_WIDTH` to each side);
- a pair is given at most `MAX_CANDIDATES` shifts to try, over all rounds; the round that
  would reach this number makes no shift and ends the search;
- of shifts that gain the same, the longest wins, then the earliest start, then the
  earliest target.

What makes it fast changes none of the results:

- candidates are collected before any is tried, so a round that would reach the limit
  costs nothing;
- they are tried from the best rank down, so a later one must be strictly better;
- swapping neighbouring blocks of m and n words changes an edit distance by at most
  2 min(m, n), which rules out many untried;
- the distance without a beam is a lower bound of the one with it, and 64 of its cells fit
  into a machine word (Myers 1999, Hyyrö 2003): most candidates are ruled out by it;
- both distances start from the rows of the unshifted hypothesis, up to where they differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

MAX_SHIFT_SIZE = 10
MAX_SHIFT_DISTANCE = 50
MAX_CANDIDATES = 1000
BEAM_WIDTH = 25

# References of more blocks than this, each of 64 words, skip the lower bound: it needs memory
# as the product of both lengths, the beam as their sum.
_MAX_BLOCKS = 64
_BITS = 64
_INFINITE = 1 << 29

_ONE = numpy.uint64(1)
_ZERO = numpy.uint64(0)
_TOP = numpy.uint64(63)
_ALL = numpy.uint64(0xFFFFFFFFFFFFFFFF)

# Plain numbers for the kernel, which would compile enumerations slowly.
_MATCH, _SUBSTITUTION, _INSERTION, _DELETION = range(4)

Words = NDArray[numpy.int32]
Offsets = NDArray[numpy.int64]


class Kind(IntEnum):
    """What is done to a word of the (shifted) hypothesis to make it the reference's."""

    MATCH = _MATCH
    SUBSTITUTION = _SUBSTITUTION
    INSERTION = _INSERTION
    DELETION = _DELETION

    @property
    def cost(self) -> int:
        """A match is free, anything else one edit."""
        return int(self is not Kind.MATCH)


@dataclass(frozen=True, slots=True)
class Shift:
    """A block moved inside the hypothesis.

    Attributes:
        start: Where the block started, in the hypothesis as it was before this shift.
        length: How many words moved.
        target: Where the block starts after this shift.
        reference: Where the run of reference words starts that the block equals.
        positions: The words that moved, by their positions in the original hypothesis.
    """

    start: int
    length: int
    target: int
    reference: int
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of the edit distance after all shifts.

    `hypothesis` is a position in the original hypothesis, None where a word is inserted;
    `reference` is None where one is deleted.
    """

    kind: Kind
    hypothesis: int | None
    reference: int | None


@dataclass(frozen=True, slots=True)
class Trace:
    """How the edits of one pair were counted: every shift, and every step, in order."""

    edits: int
    shifts: tuple[Shift, ...]
    operations: tuple[Operation, ...]


@njit(cache=True)
def _lay_beam(rows: int, columns: int, beam: Any) -> None:
    """Set what the beam sees of each row, and where its cells are stored.

    Row i has the columns `beam[i, 0]` up to, not including, `beam[i, 1]`; column j is
    stored at `beam[i, 2] + j`. In front of each row one cell is a guard.
    """
    ratio = columns / rows
    width = BEAM_WIDTH
    if ratio / 2 > BEAM_WIDTH:
        # Neighbouring rows would not overlap.
        width = math.ceil(ratio / 2 + BEAM_WIDTH)
    for row in range(1, rows + 1):
        diagonal = math.floor(row * ratio)
        beam[row, 0] = max(0, diagonal - width)
        beam[row, 1] = min(columns + 1, diagonal + width)
    beam[rows, 1] = columns + 1
    # Of the row above the first word only what the next row looks at.
    beam[0, 0] = max(0, beam[1, 0] - 1)
    beam[0, 1] = beam[1, 1]
    end = 0
    for row in range(rows + 1):
        beam[row, 2] = end + 1 - beam[row, 0]
        end = beam[row, 2] + beam[row, 1]


def _beam_cells(rows: Offsets, columns: Offsets) -> Offsets:
    """Room enough for the rows of the beam and their guards, for each pair."""
    widest: Offsets = columns // numpy.maximum(rows, 1) + 2 * BEAM_WIDTH + 6
    return (rows + 1) * numpy.minimum(widest, columns + 4)


@njit(cache=True)
def _beam_distance(
    hypothesis: Any, rows: int, reference: Any, columns: int, known: int, beam: Any, costs: Any
) -> int:
    """Edit distance inside the beam; rows up to `known` are taken as they are."""
    for row in range(known + 1, rows + 1):
        word = hypothesis[row - 1]
        start, end, here = beam[row]
        _, above_end, above = beam[row - 1]
        costs[here + start - 1] = _INFINITE
        left = _INFINITE
        # The beam never moves left, so this is a cell of the row above, or its guard.
        corner = costs[above + start - 1] if start <= above_end else _INFINITE
        for column in range(start, min(end, above_end)):
            up = costs[above + column]
            value = corner if reference[column] == word else corner + 1
            value = min(value, up + 1, left + 1)
            costs[here + column] = value
            corner = up
            left = value
        for column in range(max(start, above_end), end):
            value = corner if reference[column] == word else corner + 1
            value = min(value, left + 1)
            costs[here + column] = value
            corner = _INFINITE
            left = value
    return int(costs[beam[rows, 2] + columns])


@njit(cache=True)
def _trace_back(
    hypothesis: Any, rows: int, reference: Any, columns: int, beam: Any, costs: Any, kinds: Any
) -> int:
    """Write the steps of the cheapest path, last first; return how many there are.

    Of equal paths the one that prefers, from the end, to match or substitute, then to
    delete, then to insert.
    """
    row, column, steps = rows, columns, 0
    while row > 0 or column > 0:
        if row == 0:
            kind = _INSERTION
        elif column == 0:
            kind = _DELETION
        else:
            value = costs[beam[row, 2] + column]
            end = beam[row - 1, 1]
            above = beam[row - 1, 2]
            same = hypothesis[row - 1] == reference[column]
            if column <= end and value == costs[above + column - 1] + (0 if same else 1):
                kind = _MATCH if same else _SUBSTITUTION
            elif column < end and value == costs[above + column] + 1:
                kind = _DELETION
            else:
                kind = _INSERTION
        kinds[steps] = kind
        steps += 1
        row -= kind != _INSERTION
        column -= kind != _DELETION
    return steps


@njit(cache=True)
def _align(
    kinds: Any, steps: int, aligned: Any, hypothesis_wrong: Any, reference_wrong: Any
) -> None:
    """Read a path: which hypothesis word each reference word follows, and what is wrong."""
    row, column = -1, -1
    for step in range(steps - 1, -1, -1):
        kind = kinds[step]
        wrong = kind != _MATCH
        if kind != _INSERTION:
            row += 1
            hypothesis_wrong[row] = wrong
        if kind != _DELETION:
            column += 1
            reference_wrong[column] = wrong
            aligned[column] = row


@njit(cache=True)
def _collect(
    hypothesis: Any,
    rows: int,
    reference: Any,
    columns: int,
    first: Any,
    following: Any,
    aligned: Any,
    hypothesis_wrong: Any,
    reference_wrong: Any,
    limit: int,
    candidates: Any,
) -> int:
    """List the shifts of one round: start, length, target index, reference start.

    Stops once there are `limit` of them, as the round then makes no shift. Positions of
    a word in the reference are chained: `first[word]`, then `following[position]`.
    """
    count = 0
    for start in range(rows):
        word = hypothesis[start]
        place = first[word]
        while place >= 0 and place - start <= MAX_SHIFT_DISTANCE:
            if start - place <= MAX_SHIFT_DISTANCE:
                longest = min(MAX_SHIFT_SIZE, rows - start, columns - place)
                any_hypothesis = False
                any_reference = False
                for length in range(1, longest + 1):
                    if hypothesis[start + length - 1] != reference[place + length]:
                        break
                    any_hypothesis |= hypothesis_wrong[start + length - 1]
                    any_reference |= reference_wrong[place + length - 1]
                    if not any_hypothesis or not any_reference:
                        continue
                    if start <= aligned[place] < start + length:
                        continue
                    previous = -1
                    for offset in range(-1, length):
                        target = 0 if place + offset < 0 else aligned[place + offset] + 1
                        if target == previous:
                            continue
                        previous = target
                        if count < limit:
                            candidates[count, 0] = start
                            candidates[count, 1] = length
                            candidates[count, 2] = target
                            candidates[count, 3] = place
                        count += 1
                    if count >= limit:
                        return count
            place = following[place]
    return count


@njit(cache=True)
def _blocks(rows: int, start: int, length: int, target: int) -> tuple[int, int, int]:
    """A shift as a swap of neighbours: [first, middle) and [middle, last) change places.

    A target inside the block or at its ends moves the block right by the difference;
    one behind it means: in front of the word that stands there.
    """
    if target < start:
        return target, start, start + length
    if target > start + length:
        return start, start + length, target
    return start, start + length, min(target + length, rows)


@njit(cache=True)
def _swap(words: Any, rows: int, first: int, middle: int, last: int, result: Any) -> None:
    """Write `words` with two neighbouring blocks swapped, from `first` on."""
    place = first
    for index in range(middle, last):
        result[place] = words[index]
        place += 1
    for index in range(first, middle):
        result[place] = words[index]
        place += 1
    for index in range(last, rows):
        result[index] = words[index]


@njit(cache=True)
def _advance(
    plus: Any, minus: Any, source: int, sink: int, masks: Any, word: int, columns: int
) -> int:
    """One row of the edit distance without a beam; return how its last cell differs.

    Bit j of `plus` (of `minus`) is set where a row rises (falls) from column j to j + 1,
    bit j of a word's mask where reference word j equals it. Reads the row at `source`,
    writes the one at `sink`, which may be the same.
    """
    blocks = (columns + _BITS - 1) // _BITS
    mask = word * blocks
    # The cell before the first reference word rises by one from row to row.
    carry_up = _ONE
    carry_down = _ZERO
    up = _ZERO
    down = _ZERO
    for block in range(blocks):
        rise = plus[source + block]
        fall = minus[source + block]
        equal = masks[mask + block]
        vertical = equal | fall
        equal |= carry_down
        horizontal = (((equal & rise) + rise) ^ rise) | equal
        up = fall | ~(horizontal | rise)
        down = rise & horizontal
        shifted_up = (up << _ONE) | carry_up
        shifted_down = (down << _ONE) | carry_down
        carry_up = up >> _TOP
        carry_down = down >> _TOP
        plus[sink + block] = shifted_down | ~(vertical | shifted_up)
        minus[sink + block] = shifted_up & vertical
    last = _ONE << numpy.uint64((columns - 1) % _BITS)
    if up & last:
        return 1
    return -1 if down & last else 0


@njit(cache=True)
def _search(
    hypothesis: Any,
    trial: Any,
    rows: int,
    reference: Any,
    columns: int,
    first: Any,
    following: Any,
    masks: Any,
    beam: Any,
    costs: Any,
    trial_costs: Any,
    plus: Any,
    minus: Any,
    distances: Any,
    aligned: Any,
    hypothesis_wrong: Any,
    reference_wrong: Any,
    candidates: Any,
    shifts: Any,
    kinds: Any,
) -> tuple[int, int, int]:
    """Shift until nothing gains: the edits, the number of shifts and of path steps.

    `hypothesis` is left as shifted; `shifts` gets start, length, target and reference
    start of each shift, and `kinds` the path of the final edit distance, last step first.
    """
    blocks = (columns + _BITS - 1) // _BITS
    bounded = blocks <= _MAX_BLOCKS
    # Where the beam sees every cell, the lower bound is the distance.
    whole = bounded and columns < BEAM_WIDTH
    _lay_beam(rows, columns, beam)
    for place in range(beam[0, 1] - beam[0, 0]):
        costs[1 + place] = trial_costs[1 + place] = beam[0, 0] + place
    costs[0] = trial_costs[0] = _INFINITE
    if bounded:
        for block in range(blocks):
            plus[block] = _ALL
            minus[block] = _ZERO
        distances[0] = columns
    tried, made, steps = 0, 0, 0
    # Written so that it is not taken for a constant, which would compile twice.
    known = min(0, rows)
    while True:
        before = _beam_distance(hypothesis, rows, reference, columns, known, beam, costs)
        steps = _trace_back(hypothesis, rows, reference, columns, beam, costs, kinds)
        if before == 0:
            break
        _align(kinds, steps, aligned, hypothesis_wrong, reference_wrong)
        count = _collect(
            hypothesis,
            rows,
            reference,
            columns,
            first,
            following,
            aligned,
            hypothesis_wrong,
            reference_wrong,
            MAX_CANDIDATES - tried,
            candidates,
        )
        tried += count
        if count == 0 or tried >= MAX_CANDIDATES:
            break
        if bounded:
            for row in range(known, rows):
                distances[row + 1] = distances[row] + _advance(
                    plus, minus, row * blocks, (row + 1) * blocks, masks, hypothesis[row], columns
                )
        longest = 0
        for index in range(count):
            longest = max(longest, candidates[index, 1])
        best = before
        chosen = -1
        for length in range(longest, 0, -1):
            for index in range(count):
                if candidates[index, 1] != length:
                    continue
                start = candidates[index, 0]
                target = candidates[index, 2]
                wanted = best - 1
                if (
                    chosen >= 0
                    and candidates[chosen, 1] == length
                    and candidates[chosen, 0] == start
                    and target < candidates[chosen, 2]
                ):
                    # Shifts of one block come in the order of the reference, not of the
                    # target: here alone a later one of the same distance ranks higher.
                    wanted = best
                left, middle, right = _blocks(rows, start, length, target)
                shorter = min(middle - left, right - middle)
                if shorter == 0:
                    continue
                distance = 0
                if bounded:
                    if distances[rows] - 2 * shorter > wanted:
                        continue
                    _swap(hypothesis, rows, left, middle, right, trial)
                    distance = distances[left]
                    work = (rows + 1) * blocks
                    for block in range(blocks):
                        plus[work + block] = plus[left * blocks + block]
                        minus[work + block] = minus[left * blocks + block]
                    for row in range(left, rows):
                        distance += _advance(plus, minus, work, work, masks, trial[row], columns)
                    if distance > wanted:
                        continue
                else:
                    _swap(hypothesis, rows, left, middle, right, trial)
                if not whole:
                    for place in range(beam[left, 0] - 1, beam[left, 1]):
                        trial_costs[beam[left, 2] + place] = costs[beam[left, 2] + place]
                    distance = _beam_distance(
                        trial, rows, reference, columns, left, beam, trial_costs
                    )
                    if distance > wanted:
                        continue
                best = distance
                chosen = index
        if chosen < 0:
            break
        start, length, target, place = candidates[chosen]
        left, middle, right = _blocks(rows, start, length, target)
        _swap(hypothesis, rows, left, middle, right, trial)
        for row in range(left, rows):
            hypothesis[row] = trial[row]
        shifts[made, 0] = start
        shifts[made, 1] = length
        shifts[made, 2] = left if target < start else left + right - middle
        shifts[made, 3] = place
        made += 1
        known = left
    return before + made, made, steps


@njit(cache=True)
def _search_all(
    hypotheses: Any,
    hypothesis_offsets: Any,
    references: Any,
    reference_offsets: Any,
    owners: Any,
    local: Any,
    hypothesis: Any,
    trial: Any,
    reference: Any,
    first: Any,
    following: Any,
    masks: Any,
    beam: Any,
    costs: Any,
    trial_costs: Any,
    plus: Any,
    minus: Any,
    distances: Any,
    aligned: Any,
    hypothesis_wrong: Any,
    reference_wrong: Any,
    candidates: Any,
    shifts: Any,
    kinds: Any,
    edits: Any,
) -> tuple[int, int]:
    """Count the edits of many pairs; shifts and path are left from the last one."""
    made, steps = 0, 0
    for pair in range(len(owners)):
        begin = hypothesis_offsets[owners[pair]]
        rows = hypothesis_offsets[owners[pair] + 1] - begin
        reference_begin = reference_offsets[pair]
        columns = reference_offsets[pair + 1] - reference_begin
        if rows == 0 or columns == 0:
            edits[pair] = rows + columns
            continue
        blocks = (columns + _BITS - 1) // _BITS
        # Words of the reference are numbered anew from 1; 0 are those it does not have.
        distinct = 0
        for index in range(columns - 1, -1, -1):
            word = references[reference_begin + index]
            number = local[word]
            if number == 0:
                distinct += 1
                number = distinct
                local[word] = number
                first[number] = -1
            reference[index + 1] = number
            following[index] = first[number]
            first[number] = index
        if blocks <= _MAX_BLOCKS:
            for place in range((distinct + 1) * blocks):
                masks[place] = _ZERO
            for index in range(columns):
                place = reference[index + 1] * blocks + index // _BITS
                masks[place] |= _ONE << numpy.uint64(index % _BITS)
        for index in range(rows):
            hypothesis[index] = local[hypotheses[begin + index]]
        edits[pair], made, steps = _search(
            hypothesis,
            trial,
            rows,
            reference,
            columns,
            first,
            following,
            masks,
            beam,
            costs,
            trial_costs,
            plus,
            minus,
            distances,
            aligned,
            hypothesis_wrong,
            reference_wrong,
            candidates,
            shifts,
            kinds,
        )
        for index in range(columns):
            local[references[reference_begin + index]] = 0
    return made, steps


def count_edits(
    hypotheses: Words,
    hypothesis_offsets: Offsets,
    references: Words,
    reference_offsets: Offsets,
    first_reference: Offsets,
) -> NDArray[numpy.int64]:
    """Edits from each hypothesis to each of its references, shifts included.

    The layout of the arrays is that of `meantime.matching.ngrams.clipped_matches`.

    Args:
        hypotheses: Words of all hypotheses, end to end, as numbers from 0.
        hypothesis_offsets: Where each hypothesis starts.
        references: Words of all references, end to end; equal words, equal numbers.
        reference_offsets: Where each reference starts.
        first_reference: Which references belong to each hypothesis.

    Returns:
        One number for each reference.
    """
    counts = numpy.diff(first_reference)
    owners = numpy.repeat(numpy.arange(len(counts), dtype=numpy.int64), counts)
    edits, _, _, _, _ = _count(
        hypotheses, hypothesis_offsets, references, reference_offsets, owners
    )
    return edits


def trace(hypothesis: Words, reference: Words) -> Trace:
    """The edits of one pair with every shift and every step that they count."""
    rows, columns = len(hypothesis), len(reference)
    edits, shifts, kinds, made, steps = _count(
        hypothesis,
        numpy.array([0, rows], dtype=numpy.int64),
        reference,
        numpy.array([0, columns], dtype=numpy.int64),
        numpy.zeros(1, dtype=numpy.int64),
    )
    path = [Kind(kind) for kind in kinds[:steps][::-1].tolist()]
    if rows == 0 or columns == 0:
        path = [Kind.DELETION] * rows + [Kind.INSERTION] * columns
    order = list(range(rows))
    moves = []
    for start, length, target, place in shifts[:made].tolist():
        block = order[start : start + length]
        del order[start : start + length]
        order[target:target] = block
        moves.append(Shift(start, length, target, place, tuple(block)))
    operations = []
    row, column = 0, 0
    for kind in path:
        operations.append(
            Operation(
                kind,
                None if kind is Kind.INSERTION else order[row],
                None if kind is Kind.DELETION else column,
            )
        )
        row += kind is not Kind.INSERTION
        column += kind is not Kind.DELETION
    return Trace(int(edits[0]), tuple(moves), tuple(operations))


def _count(
    hypotheses: Words,
    hypothesis_offsets: Offsets,
    references: Words,
    reference_offsets: Offsets,
    owners: Offsets,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64], int, int]:
    """Make room for the longest pair, then call the kernel."""
    lengths = numpy.diff(hypothesis_offsets)[owners]
    reference_lengths = numpy.diff(reference_offsets)
    rows = int(lengths.max(initial=0))
    columns = int(reference_lengths.max(initial=0))
    blocks = -(-reference_lengths // _BITS)
    blocks = numpy.where(blocks <= _MAX_BLOCKS, blocks, 0)
    cells = int(_beam_cells(lengths, reference_lengths).max(initial=0))
    states = int(((lengths + 2) * blocks).max(initial=0))
    first = numpy.empty(columns + 1, dtype=numpy.int64)
    first[0] = -1
    # Every shift lowers the distance, which is at most the longer length.
    shifts = numpy.empty((max(rows, columns) + 1, 4), dtype=numpy.int64)
    kinds = numpy.empty(rows + columns, dtype=numpy.int64)
    edits = numpy.zeros(len(owners), dtype=numpy.int64)
    made, steps = _search_all(
        hypotheses,
        hypothesis_offsets,
        references,
        reference_offsets,
        owners,
        numpy.zeros(
            1 + max(hypotheses.max(initial=-1), references.max(initial=-1)), dtype=numpy.int64
        ),  # local
        numpy.empty(rows, dtype=numpy.int64),  # hypothesis
        numpy.empty(rows, dtype=numpy.int64),  # trial
        # Reference word j stands at j + 1, as in the rows of the edit distance.
        numpy.full(columns + 1, -1, dtype=numpy.int64),  # reference
        first,
        numpy.empty(columns, dtype=numpy.int64),  # following
        numpy.empty(
            int(((reference_lengths + 1) * blocks).max(initial=0)), dtype=numpy.uint64
        ),  # masks
        numpy.empty((rows + 1, 3), dtype=numpy.int64),  # beam
        numpy.empty(cells, dtype=numpy.int32),  # costs
        numpy.empty(cells, dtype=numpy.int32),  # trial_costs
        numpy.empty(states, dtype=numpy.uint64),  # plus
        numpy.empty(states, dtype=numpy.uint64),  # minus
        numpy.empty(rows + 1, dtype=numpy.int64),  # distances
        numpy.empty(columns, dtype=numpy.int64),  # aligned
        numpy.empty(rows, dtype=numpy.bool_),  # hypothesis_wrong
        numpy.empty(columns, dtype=numpy.bool_),  # reference_wrong
        numpy.empty((MAX_CANDIDATES, 4), dtype=numpy.int64),  # candidates
        shifts,
        kinds,
        edits,
    )
    return edits, shifts, kinds, int(made), int(steps)
