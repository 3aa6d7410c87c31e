"""One-to-one alignment of two sequences in few chunks, by beam search.

A pair of positions may match at one of three levels: same number (0), same key (1), or a
set in common (2). A *chunk* is a longest run of matches that is contiguous and in the same
order on both sides. The search is that of METEOR 1.5 (Denkowski and Lavie 2014): it walks
over the reference from left to right with a beam of partial alignments, each ordered by

1. more matches of level 0 (the others weigh half there, and the half is rounded away),
2. fewer closed chunks,
3. a smaller sum of distances,
4. the order in which they were made.

A match whose two positions match nothing else is taken beforehand. The sum of distances is
METEOR's own: a choice is charged with the distances of the choices *before* it in the
list, not with its own. It only breaks ties, but the scores depend on it.

Time is of order `beam * candidates` after an `n * m` scan for the candidates, memory of
order `beam * m + candidates`, for n and m positions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy
from numba import njit
from numpy.typing import NDArray

Numbers = NDArray[numpy.int32]
Offsets = NDArray[numpy.int64]


class ChunkAlignment(NamedTuple):
    """Where each position of the references went, all references end to end.

    `positions` are positions in the hypothesis, counted from its start, or -1 where there
    is no match; `levels` are 0 to 2, or -1; `chunks` is one number a reference.
    """

    positions: Numbers
    levels: NDArray[numpy.int8]
    chunks: Offsets


@njit(cache=True)
def _share(first: int, second: int, set_offsets: Any, sets: Any) -> bool:
    """Whether two words have a set in common; each word's sets are in ascending order."""
    i, j = set_offsets[first], set_offsets[second]
    i_end, j_end = set_offsets[first + 1], set_offsets[second + 1]
    while i < i_end and j < j_end:
        if sets[i] == sets[j]:
            return True
        if sets[i] < sets[j]:
            i += 1
        else:
            j += 1
    return False


@njit(cache=True)
def _candidates(
    hypothesis: Any, reference: Any, keys: Any, set_offsets: Any, sets: Any, highest: int
) -> Any:
    """All matches by position of the reference, then level, then position of the hypothesis."""
    n, m = hypothesis.shape[0], reference.shape[0]
    use_keys = highest >= 1 and keys.shape[0] > 0
    use_sets = highest >= 1 and set_offsets.shape[0] > 0
    starts = numpy.zeros(m + 1, dtype=numpy.int64)
    places = numpy.empty(4 * (n + m) + 2 * n, dtype=numpy.int32)
    levels = numpy.empty(places.shape[0], dtype=numpy.int8)
    found = 0
    for j in range(m):
        word = reference[j]
        if found + 2 * n > places.shape[0]:
            size = 2 * places.shape[0] + 2 * n
            more_places = numpy.empty(size, dtype=numpy.int32)
            more_places[:found] = places[:found]
            places = more_places
            more_levels = numpy.empty(size, dtype=numpy.int8)
            more_levels[:found] = levels[:found]
            levels = more_levels
        for i in range(n):
            if hypothesis[i] == word:
                places[found] = i
                levels[found] = 0
                found += 1
        if use_keys:
            key = keys[word]
            for i in range(n):
                if keys[hypothesis[i]] == key and hypothesis[i] != word:
                    places[found] = i
                    levels[found] = 1
                    found += 1
        if use_sets and set_offsets[word] < set_offsets[word + 1]:
            for i in range(n):
                if hypothesis[i] != word and _share(hypothesis[i], word, set_offsets, sets):
                    places[found] = i
                    levels[found] = 2
                    found += 1
        starts[j + 1] = found
    return starts, places[:found], levels[:found]


@njit(cache=True)
def _search(n: int, starts: Any, places: Any, levels: Any, beam: int, chosen: Any) -> int:
    """Fill `chosen` with a candidate's number a position, or -1; return the chunks."""
    m = starts.shape[0] - 1
    cover = numpy.zeros(n, dtype=numpy.int64)
    for c in range(places.shape[0]):
        cover[places[c]] += 1
    certain = numpy.full(m, -1, dtype=numpy.int64)
    for j in range(m):
        if starts[j + 1] == starts[j] + 1 and cover[places[starts[j]]] == 1:
            certain[j] = starts[j]

    blocks = (n + 63) // 64
    # The beam as it is, best first. A path's cost is chunks - exact matches * BIG.
    big = numpy.int64(1) << 32
    paths = 1
    cost = numpy.zeros(beam, dtype=numpy.int64)
    distance = numpy.zeros(beam, dtype=numpy.int64)
    end = numpy.full(beam, -1, dtype=numpy.int64)
    used = numpy.zeros((beam, blocks), dtype=numpy.uint64)
    # The beam to be: `order` has the slots of the best continuations so far, best first.
    order = numpy.zeros(beam, dtype=numpy.int64)
    slot_cost = numpy.zeros(beam, dtype=numpy.int64)
    slot_distance = numpy.zeros(beam, dtype=numpy.int64)
    slot_parent = numpy.zeros(beam, dtype=numpy.int64)
    slot_choice = numpy.zeros(beam, dtype=numpy.int64)
    next_used = numpy.zeros((beam, blocks), dtype=numpy.uint64)
    parents = numpy.zeros((m, beam), dtype=numpy.int32)
    choices = numpy.zeros((m, beam), dtype=numpy.int32)

    for j in range(m):
        kept = 0
        for rank in range(paths):
            if certain[j] >= 0:
                first, last = certain[j], certain[j] + 1
            else:
                first, last = starts[j], starts[j + 1]
            walked = distance[rank]
            # The choice `last` is to leave the position without a match.
            for choice in range(first, last + 1):
                new_cost = cost[rank]
                step = 0
                if choice == last:
                    if certain[j] >= 0:
                        break
                    if end[rank] != -1:
                        new_cost += 1
                else:
                    i = places[choice]
                    if (used[rank, i >> 6] >> numpy.uint64(i & 63)) & numpy.uint64(1):
                        continue
                    if end[rank] != -1 and i != end[rank]:
                        new_cost += 1
                    if levels[choice] == 0:
                        new_cost -= big
                    step = abs(i - j)
                new_distance = walked
                if certain[j] >= 0:
                    new_distance += step
                walked += step
                if kept == beam:
                    worst = order[kept - 1]
                    if new_cost > slot_cost[worst] or (
                        new_cost == slot_cost[worst] and new_distance >= slot_distance[worst]
                    ):
                        continue
                    slot = worst
                    position = kept - 1
                else:
                    slot = kept
                    position = kept
                    kept += 1
                while position > 0:
                    before = order[position - 1]
                    if slot_cost[before] < new_cost or (
                        slot_cost[before] == new_cost and slot_distance[before] <= new_distance
                    ):
                        break
                    order[position] = before
                    position -= 1
                order[position] = slot
                slot_cost[slot] = new_cost
                slot_distance[slot] = new_distance
                slot_parent[slot] = rank
                slot_choice[slot] = -1 if choice == last else choice
        for rank in range(kept):
            slot = order[rank]
            parent, choice = slot_parent[slot], slot_choice[slot]
            parents[j, rank] = parent
            choices[j, rank] = choice
            for block in range(blocks):
                next_used[rank, block] = used[parent, block]
            if choice >= 0:
                i = places[choice]
                next_used[rank, i >> 6] |= numpy.uint64(1) << numpy.uint64(i & 63)
        for rank in range(kept):
            slot = order[rank]
            cost[rank] = slot_cost[slot]
            distance[rank] = slot_distance[slot]
            choice = slot_choice[slot]
            end[rank] = places[choice] + 1 if choice >= 0 else -1
        paths = kept
        used, next_used = next_used, used

    best = 0
    for rank in range(paths):
        if end[rank] != -1:
            cost[rank] += 1
        if cost[rank] < cost[best] or (
            cost[rank] == cost[best] and distance[rank] < distance[best]
        ):
            best = rank
    matches = 0
    rank = best
    for j in range(m - 1, -1, -1):
        choice = choices[j, rank]
        chosen[j] = choice
        if choice >= 0 and levels[choice] == 0:
            matches += 1
        rank = parents[j, rank]
    return int(cost[best] + matches * big)


@njit(cache=True)
def _align_batch(
    hypotheses: Any,
    hypothesis_offsets: Any,
    references: Any,
    reference_offsets: Any,
    first_reference: Any,
    keys: Any,
    set_offsets: Any,
    sets: Any,
    beam: int,
) -> Any:
    positions = numpy.full(references.shape[0], -1, dtype=numpy.int32)
    levels = numpy.full(references.shape[0], -1, dtype=numpy.int8)
    chunks = numpy.zeros(reference_offsets.shape[0] - 1, dtype=numpy.int64)
    for pair in range(hypothesis_offsets.shape[0] - 1):
        hypothesis = hypotheses[hypothesis_offsets[pair] : hypothesis_offsets[pair + 1]]
        for number in range(first_reference[pair], first_reference[pair + 1]):
            start, stop = reference_offsets[number], reference_offsets[number + 1]
            reference = references[start:stop]
            if hypothesis.shape[0] == 0 or reference.shape[0] == 0:
                continue
            # Equal sequences need no other level; looking there could only mislead the beam.
            highest = 2
            if hypothesis.shape[0] == reference.shape[0] and (hypothesis == reference).all():
                highest = 0
            starts, places, found = _candidates(
                hypothesis, reference, keys, set_offsets, sets, highest
            )
            if places.shape[0] == 0:
                continue
            chosen = numpy.empty(reference.shape[0], dtype=numpy.int64)
            chunks[number] = _search(hypothesis.shape[0], starts, places, found, beam, chosen)
            for j in range(reference.shape[0]):
                if chosen[j] >= 0:
                    positions[start + j] = places[chosen[j]]
                    levels[start + j] = found[chosen[j]]
    return positions, levels, chunks


def align_chunks(
    hypotheses: Numbers,
    hypothesis_offsets: Offsets,
    references: Numbers,
    reference_offsets: Offsets,
    first_reference: Offsets,
    *,
    keys: Numbers | None = None,
    set_offsets: Offsets | None = None,
    sets: Numbers | None = None,
    beam: int = 40,
) -> ChunkAlignment:
    """Align each hypothesis with each of its references.

    Args:
        hypotheses: Words as numbers from 0, all hypotheses end to end.
        hypothesis_offsets: Hypothesis i is `hypotheses[offsets[i]:offsets[i + 1]]`.
        references: Words as numbers, all references end to end, grouped by hypothesis.
        reference_offsets: As `hypothesis_offsets`, for the references.
        first_reference: Hypothesis i has the references `first_reference[i]` up to, not
            including, `first_reference[i + 1]`.
        keys: A key for each word; different words with the same key match at level 1.
            None: no such level.
        set_offsets: Word w is in the sets `sets[set_offsets[w]:set_offsets[w + 1]]`;
            different words with a set in common match at level 2. None: no such level.
        sets: Numbers of sets, ascending within a word.
        beam: How many partial alignments are kept.
    """
    positions, levels, chunks = _align_batch(
        hypotheses,
        hypothesis_offsets,
        references,
        reference_offsets,
        first_reference,
        numpy.empty(0, dtype=numpy.int32) if keys is None else keys,
        numpy.empty(0, dtype=numpy.int64) if set_offsets is None else set_offsets,
        numpy.empty(0, dtype=numpy.int32) if sets is None else sets,
        beam,
    )
    return ChunkAlignment(positions, levels, chunks)
