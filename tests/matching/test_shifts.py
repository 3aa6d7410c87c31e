"""The kernel of TER against sacreBLEU's search and against plain edit distance."""

from __future__ import annotations

import random

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import translation_edit_rate

from meantime.matching.shifts import (
    BEAM_WIDTH,
    MAX_CANDIDATES,
    MAX_SHIFT_DISTANCE,
    MAX_SHIFT_SIZE,
    Kind,
    Shift,
    count_edits,
    trace,
)

Sequences = list[tuple[list[int], list[int]]]


def _flat(sequences: list[list[int]]) -> tuple[numpy.ndarray, numpy.ndarray]:
    offsets = numpy.cumsum([0, *map(len, sequences)], dtype=numpy.int64)
    return numpy.array([n for one in sequences for n in one], dtype=numpy.int32), offsets


def _count(pairs: Sequences) -> list[int]:
    hypotheses = _flat([hypothesis for hypothesis, _ in pairs])
    references = _flat([reference for _, reference in pairs])
    first = numpy.arange(len(pairs) + 1, dtype=numpy.int64)
    return count_edits(*hypotheses, *references, first).tolist()


def _trace(hypothesis: list[int], reference: list[int]):
    return trace(
        numpy.array(hypothesis, dtype=numpy.int32), numpy.array(reference, dtype=numpy.int32)
    )


def _sacrebleu(hypothesis: list[int], reference: list[int]) -> int:
    edits, _ = translation_edit_rate([str(n) for n in hypothesis], [str(n) for n in reference])
    return edits


def _levenshtein(hypothesis: list[int], reference: list[int]) -> int:
    row = list(range(len(reference) + 1))
    for i, word in enumerate(hypothesis, 1):
        above, row = row, [i]
        for j, other in enumerate(reference, 1):
            row.append(min(above[j - 1] + (word != other), above[j] + 1, row[j - 1] + 1))
    return row[-1]


def _noisy(length: int, words: int, rng: random.Random) -> tuple[list[int], list[int]]:
    """A reference, and a hypothesis made of it by moves, substitutions and deletions."""
    reference = [rng.randrange(words) for _ in range(length)]
    hypothesis = list(reference)
    for _ in range(rng.randrange(5)):
        start, size = rng.randrange(length), rng.randrange(1, 14)
        block = hypothesis[start : start + size]
        del hypothesis[start : start + size]
        target = rng.randrange(len(hypothesis) + 1)
        hypothesis[target:target] = block
    hypothesis = [n if rng.random() > 0.15 else rng.randrange(words) for n in hypothesis]
    return [n for n in hypothesis if rng.random() > 0.1], reference


small = st.lists(st.integers(0, 4), max_size=12)


@given(st.lists(st.tuples(small, small), max_size=8))
@settings(max_examples=200, deadline=None)
def test_equals_sacrebleu_on_few_distinct_words(pairs: Sequences) -> None:
    assert _count(pairs) == [_sacrebleu(*pair) for pair in pairs]


@pytest.mark.parametrize("words", [2, 6, 30, 1000])
def test_equals_sacrebleu_on_shuffled_blocks(words: int) -> None:
    rng = random.Random(words)
    pairs = [_noisy(rng.randrange(1, 40), words, rng) for _ in range(60)]
    assert _count(pairs) == [_sacrebleu(*pair) for pair in pairs]


@pytest.mark.parametrize(("words", "length"), [(10, 70), (60, 75), (400, 160)])
def test_equals_sacrebleu_beyond_one_machine_word_and_the_beam(words: int, length: int) -> None:
    rng = random.Random(length)
    pairs = [_noisy(length, words, rng) for _ in range(3)]
    assert _count(pairs) == [_sacrebleu(*pair) for pair in pairs]


@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 60), (2, 150), (3, 149), (150, 2), (60, 1), (7, 200), (200, 7)]
)
def test_equals_sacrebleu_where_lengths_differ_much(rows: int, columns: int) -> None:
    rng = random.Random(rows)
    for _ in range(5):
        pair = ([rng.randrange(5) for _ in range(rows)], [rng.randrange(5) for _ in range(columns)])
        assert _count([pair]) == [_sacrebleu(*pair)]


def test_reference_longer_than_the_lower_bound_reaches() -> None:
    # One shift and twenty insertions; sacreBLEU agrees, in ten seconds.
    reference = list(range(4200))
    hypothesis = [*reference[3:8], *reference[:3], *reference[8:700], *reference[720:]]
    assert _count([(hypothesis, reference)]) == [21]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "edits"),
    [
        ([], [], 0),
        ([], [1, 2, 3], 3),
        ([1, 2, 3], [], 3),
        ([1], [1], 0),
        ([1], [2], 1),
        ([1, 1, 1, 1], [1], 3),
        ([2, 3, 1], [1, 2, 3], 1),
        ([3, 4, 1, 2], [1, 2, 3, 4], 1),
    ],
)
def test_by_hand(hypothesis: list[int], reference: list[int], edits: int) -> None:
    assert _count([(hypothesis, reference)]) == [edits]
    assert _trace(hypothesis, reference).edits == edits


def test_limits_are_those_of_sacrebleu() -> None:
    from sacrebleu.metrics import lib_ter

    assert MAX_SHIFT_SIZE == lib_ter._MAX_SHIFT_SIZE
    assert MAX_SHIFT_DISTANCE == lib_ter._MAX_SHIFT_DIST
    assert MAX_CANDIDATES == lib_ter._MAX_SHIFT_CANDIDATES
    assert BEAM_WIDTH == lib_ter._BEAM_WIDTH


def test_a_block_farther_than_the_limit_is_not_moved() -> None:
    near = list(range(100))
    block = [*near[40:45], *near[:40], *near[45:]]
    assert _count([(block, near)]) == [1]
    far = [*near[60:65], *near[:60], *near[65:]]
    assert _count([(far, near)]) == [10] == [_sacrebleu(far, near)]


def test_no_shift_once_there_are_too_many_candidates() -> None:
    rng = random.Random(1)
    reference = [rng.randrange(3) for _ in range(80)]
    hypothesis = reference[::-1]
    found = _trace(hypothesis, reference)
    assert found.shifts == ()
    assert found.edits == _sacrebleu(hypothesis, reference)


def test_batch_makes_no_difference() -> None:
    rng = random.Random(3)
    pairs = [_noisy(rng.randrange(1, 90), 20, rng) for _ in range(40)]
    pairs[7] = ([], [1, 2])
    pairs[8] = ([1, 2], [])
    assert _count(pairs) == [_count([pair])[0] for pair in pairs]
    assert _count(pairs[::-1]) == _count(pairs)[::-1]
    assert _count([]) == []


def test_several_references() -> None:
    hypotheses = _flat([[1, 2, 3], [4, 5]])
    references = _flat([[1, 2, 3], [3, 1, 2], [9], [5, 4], [4, 5, 6]])
    first = numpy.array([0, 3, 5], dtype=numpy.int64)
    assert count_edits(*hypotheses, *references, first).tolist() == [0, 1, 3, 1, 1]


@given(small, small)
@settings(max_examples=200, deadline=None)
def test_trace_rebuilds_the_edits_and_the_reference(
    hypothesis: list[int], reference: list[int]
) -> None:
    found = _trace(hypothesis, reference)
    assert found.edits == _sacrebleu(hypothesis, reference)
    assert found.edits == len(found.shifts) + sum(step.kind.cost for step in found.operations)

    words = list(range(len(hypothesis)))
    for shift in found.shifts:
        block = words[shift.start : shift.start + shift.length]
        assert tuple(block) == shift.positions
        run = reference[shift.reference : shift.reference + shift.length]
        assert [hypothesis[position] for position in block] == run
        rest = words[: shift.start] + words[shift.start + shift.length :]
        words = rest[: shift.target] + block + rest[shift.target :]

    used = [step.hypothesis for step in found.operations if step.hypothesis is not None]
    assert used == words
    asked = [step.reference for step in found.operations if step.reference is not None]
    assert asked == list(range(len(reference)))
    for step in found.operations:
        if step.kind is Kind.INSERTION:
            assert step.hypothesis is None
        elif step.kind is Kind.DELETION:
            assert step.reference is None
        else:
            same = hypothesis[step.hypothesis] == reference[step.reference]
            assert same == (step.kind is Kind.MATCH)


@given(small, small)
@settings(max_examples=200, deadline=None)
def test_steps_after_the_shifts_are_the_fewest(hypothesis: list[int], reference: list[int]) -> None:
    # Inside the beam, which short sequences never leave.
    found = _trace(hypothesis, reference)
    words = [
        hypothesis[step.hypothesis] for step in found.operations if step.hypothesis is not None
    ]
    steps = sum(step.kind.cost for step in found.operations)
    assert steps == _levenshtein(words, reference)
    assert found.edits <= _levenshtein(hypothesis, reference)


def test_results_are_frozen() -> None:
    found = _trace([2, 3, 1], [1, 2, 3])
    assert found.shifts == (Shift(start=2, length=1, target=0, reference=0, positions=(2,)),)
    with pytest.raises(AttributeError):
        found.shifts[0].start = 1
