"""The search for few chunks, against all alignments there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.matching.chunks import ChunkAlignment, align_chunks

# Six words: 0 and 1 have the same key, 2 and 3 share a set, 4 shares one with 0 and with 2.
KEYS = [0, 0, 2, 3, 4, 5]
SETS = [[7], [], [8, 9], [8], [7, 9], []]

words = st.lists(st.integers(0, 5), max_size=5)
few_words = st.lists(st.integers(0, 1), max_size=6)


def align(
    pairs: Sequence[tuple[list[int], list[list[int]]]], *, levels: int = 3, beam: int = 40
) -> ChunkAlignment:
    def flat(sequences: Sequence[Sequence[int]]) -> tuple[numpy.ndarray, numpy.ndarray]:
        offsets = numpy.cumsum([0, *map(len, sequences)], dtype=numpy.int64)
        return numpy.array([x for one in sequences for x in one], dtype=numpy.int32), offsets

    sets, set_offsets = flat(SETS)
    return align_chunks(
        *flat([hypothesis for hypothesis, _ in pairs]),
        *flat([reference for _, references in pairs for reference in references]),
        numpy.cumsum([0, *(len(references) for _, references in pairs)], dtype=numpy.int64),
        keys=numpy.array(KEYS, dtype=numpy.int32) if levels > 1 else None,
        sets=sets if levels > 2 else None,
        set_offsets=set_offsets if levels > 2 else None,
        beam=beam,
    )


def candidates(hypothesis: list[int], reference: list[int], levels: int) -> list[list[tuple]]:
    """For each position of the reference, its matches as (position, level)."""
    found: list[list[tuple]] = [[] for _ in reference]
    for j, word in enumerate(reference):
        for i, other in enumerate(hypothesis):
            if word == other:
                found[j].append((i, 0))
            elif hypothesis != reference:
                if levels > 1 and KEYS[word] == KEYS[other]:
                    found[j].append((i, 1))
                if levels > 2 and set(SETS[word]) & set(SETS[other]):
                    found[j].append((i, 2))
    return found


def all_alignments(found: list[list[tuple]]) -> Iterator[list[tuple | None]]:
    """Every one-to-one alignment that has the matches that exclude nothing else."""
    covers: dict[int, int] = {}
    for matches in found:
        for i, _ in matches:
            covers[i] = covers.get(i, 0) + 1

    def extend(j: int, taken: frozenset[int]) -> Iterator[list[tuple | None]]:
        if j == len(found):
            yield []
            return
        certain = len(found[j]) == 1 and covers[found[j][0][0]] == 1
        for match in [*found[j], *([] if certain else [None])]:
            if match is None:
                for rest in extend(j + 1, taken):
                    yield [None, *rest]
            elif match[0] not in taken:
                for rest in extend(j + 1, taken | {match[0]}):
                    yield [match, *rest]

    return extend(0, frozenset())


def count_chunks(positions: Sequence[int]) -> int:
    """Runs of matches adjacent on both sides, from the definition."""
    return sum(
        i >= 0 and not (j > 0 and positions[j - 1] >= 0 and positions[j - 1] + 1 == i)
        for j, i in enumerate(positions)
    )


def value(alignment: list[tuple | None]) -> tuple[int, int]:
    """What the search wants small: exact matches, negated, then chunks."""
    positions = [match[0] if match else -1 for match in alignment]
    return -sum(match is not None and match[1] == 0 for match in alignment), count_chunks(positions)


def outcome(result: ChunkAlignment) -> tuple[int, int]:
    return -int((result.levels == 0).sum()), int(result.chunks[0])


def check_valid(result: ChunkAlignment, hypothesis: list[int], reference: list[int]) -> None:
    found = candidates(hypothesis, reference, 3)
    matched = [
        (int(i), int(level)) for i, level in zip(result.positions, result.levels, strict=True)
    ]
    for match, allowed in zip(matched, found, strict=True):
        assert match == (-1, -1) or match in allowed
    taken = [i for i, _ in matched if i >= 0]
    assert len(taken) == len(set(taken))
    assert result.chunks[0] == count_chunks([i for i, _ in matched])


@settings(deadline=None, max_examples=200)
@given(words, words)
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_wide_beam_finds_the_best_of_all(
    levels: int, hypothesis: list[int], reference: list[int]
) -> None:
    best = min(map(value, all_alignments(candidates(hypothesis, reference, levels))))
    wide = align([(hypothesis, [reference])], levels=levels, beam=20_000)
    assert outcome(wide) == best


@settings(deadline=None, max_examples=100)
@given(few_words, few_words)
def test_exact_matches_are_as_many_as_can_be(hypothesis: list[int], reference: list[int]) -> None:
    result = align([(hypothesis, [reference])], levels=1)
    most = sum(min(hypothesis.count(word), reference.count(word)) for word in (0, 1))
    assert (result.positions >= 0).sum() == most
    # Chunks may be more than the fewest there could be: the beam is METEOR's, not exhaustive.
    assert outcome(result) >= min(map(value, all_alignments(candidates(hypothesis, reference, 1))))


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.integers(0, 5), max_size=30),
    st.lists(st.integers(0, 5), max_size=30),
    st.sampled_from([1, 3, 40]),
)
def test_any_beam_gives_a_valid_alignment(
    hypothesis: list[int], reference: list[int], beam: int
) -> None:
    check_valid(align([(hypothesis, [reference])], beam=beam), hypothesis, reference)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3)), max_size=4))
def test_a_batch_is_its_pairs_one_by_one(pairs: list[tuple[list[int], list[list[int]]]]) -> None:
    together = align(pairs)
    again = align(pairs)
    single = [align([(hypothesis, [one])]) for hypothesis, several in pairs for one in several]
    for name in ("positions", "levels", "chunks"):
        whole = getattr(together, name)
        assert whole.tolist() == getattr(again, name).tolist()
        assert whole.tolist() == [x for one in single for x in getattr(one, name).tolist()]


@pytest.mark.parametrize("beam", [1, 40])
def test_equal_sequences_are_one_chunk_whatever_the_beam(beam: int) -> None:
    sequence = [0, 1, 4, 0, 2, 0, 4, 1, 0] * 20
    result = align([(sequence, [sequence])], beam=beam)
    assert result.positions.tolist() == list(range(len(sequence)))
    assert result.chunks.tolist() == [1]


def test_fewer_chunks_win_among_equal_matches() -> None:
    # The second 0 of the hypothesis continues the chunk 0 5; the first would open one more.
    result = align([([0, 2, 0, 5], [[0, 5]])], levels=1)
    assert result.positions.tolist() == [2, 3]
    assert result.chunks.tolist() == [1]


def test_more_than_sixty_four_words() -> None:
    hypothesis = [5, *([0] * 70)]
    result = align([(hypothesis, [[*([0] * 70), 5]])], levels=1)
    assert (result.positions >= 0).all()
    assert result.chunks.tolist() == [2]


def test_nothing_on_a_side() -> None:
    result = align([([], [[0], []]), ([0], [[]])])
    assert result.positions.tolist() == [-1]
    assert result.chunks.tolist() == [0, 0, 0]
