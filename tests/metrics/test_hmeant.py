"""HMEANT's arithmetic: the paper's example, hand-made cases, properties."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meantime import Level, Pair, Segment, Sentence, create
from meantime.errors import InputError, OptionError
from meantime.formats.judgements import read_judgements
from meantime.metrics.hmeant_arithmetic import (
    PAPER,
    Weights,
    is_core,
    measure_judgement,
    measure_judgements,
)
from meantime.types import (
    Frame,
    FrameMatch,
    Judgement,
    Judgements,
    Reading,
    Role,
    RoleVerdict,
    Span,
    Verdict,
)

CORRECT, PARTIAL, INCORRECT = Verdict


def _frame(start: int, *labels: str) -> Frame:
    roles = tuple(
        Role(label, (Span(start + n + 1, start + n + 2),)) for n, label in enumerate(labels)
    )
    return Frame(Span(start, start + 1), roles)


def _example(root):
    [judged] = read_judgements(root / "experiments" / "lo2010" / "example.jsonl")
    return judged


def test_worked_example_of_the_paper(root) -> None:
    """Lo and Wu 2010, Table 2: precision 0.5, recall 0.25, F 0.333."""
    found = measure_judgements(_example(root).judgements)
    assert found.precision == pytest.approx(0.5)
    assert found.recall == pytest.approx(0.25)
    assert found.f == pytest.approx(1 / 3)


def test_the_metric_scores_the_worked_example(root) -> None:
    judged = _example(root)
    segment = Segment("1", (judged.reference,))
    metric = create("hmeant").prepare([segment])
    rows = metric.measure([Pair(judged.hypothesis, segment, judged.judgements)])
    score = metric.score(rows[0], Level.SEGMENT)
    assert (score.value, score.parts["precision"], score.parts["recall"]) == pytest.approx(
        (1 / 3, 0.5, 0.25)
    )


@pytest.mark.parametrize(
    ("weights", "precision", "recall"),
    [
        # By hand: 1 core and 1 adjunct partial; MT has 2 core and 1 adjunct, the reference 1 and 2.
        (Weights(2, 1, 1, 0.5), 3 / 5, 3 / 5 / 2),
        (Weights(1, 3, 1, 0.5), 3 / 8, 3 / 6 / 2),
        (Weights(1, 1, 3, 0.5), 3 / 6, 3 / 8 / 2),
        (Weights(1, 1, 1, 1), 3 / 4, 3 / 4 / 2),
        (Weights(1, 1, 1, 0), 1 / 4, 1 / 4 / 2),
        (Weights(0, 1, 1, 0.5), 1 / 3, 1 / 3 / 2),
    ],
)
def test_weights_weigh_what_they_say(root, weights, precision, recall) -> None:
    found = measure_judgements(_example(root).judgements, weights=weights)
    assert (found.precision, found.recall) == pytest.approx((precision, recall))


def test_judges_within_annotators_then_annotators() -> None:
    frames = (_frame(0, "agent"),)
    right = Judgement("a", (FrameMatch(0, 0, (RoleVerdict(0, 0, CORRECT),)),))
    wrong = Judgement("b")
    judgements = Judgements(
        frames,
        (
            Reading("one", frames, (right, replace(wrong, judge="c"), wrong)),
            Reading("two", frames, (right,)),
            Reading("three", frames),
        ),
    )
    # One annotator has the mean of 1, 0, 0, the other 1; the third was judged by nobody.
    assert measure_judgements(judgements).f == pytest.approx((1 / 3 + 1) / 2)


def test_frames_on_one_side_or_on_none() -> None:
    some = (_frame(0, "agent"),)
    assert measure_judgement(some, (), Judgement("a")).f == 0
    assert measure_judgement((), some, Judgement("a")).f == 0
    assert measure_judgement((), (), Judgement("a")).f == 1
    assert measure_judgement((), (), Judgement("a"), frameless=0).f == 0


def test_labels_of_core_arguments() -> None:
    for label in ("agent", "Actor", "EXPERIENCER", "patient", "ARG0", "A1", "R-ARG2", "C-A0"):
        assert is_core(label), label
    for label in ("temporal", "ARGM-TMP", "AM-LOC", "other", "location", "TMP", "also"):
        assert not is_core(label), label
    assert is_core("wer", frozenset({"wer"}))
    assert not is_core("agent", frozenset({"wer"}))


@pytest.mark.parametrize(
    ("matches", "message"),
    [
        ((FrameMatch(1, 0),), "frame 1 of the hypothesis, which has 1"),
        ((FrameMatch(0, 0), FrameMatch(0, 1)), "frame 0 of the hypothesis twice"),
        ((FrameMatch(0, 0, (RoleVerdict(0, 4, CORRECT),)),), "role 4 of the reference"),
        (
            (FrameMatch(0, 0, (RoleVerdict(0, 0, CORRECT), RoleVerdict(0, 1, CORRECT))),),
            "role 0 of the hypothesis twice",
        ),
        ((FrameMatch(0, 0, (RoleVerdict(None, 0, CORRECT),)),), "can only be incorrect"),
        ((FrameMatch(0, 0, (RoleVerdict(None, None, INCORRECT),)),), "no role of either side"),
    ],
)
def test_impossible_judgements_are_refused(matches, message) -> None:
    ours = (_frame(0, "agent", "patient"),)
    theirs = (_frame(0, "agent", "patient"), _frame(5))
    with pytest.raises(InputError, match=message):
        measure_judgement(ours, theirs, Judgement("ann", matches))


def test_a_pair_without_judgements_is_refused() -> None:
    segment = Segment("7", (Sentence("a"),))
    with pytest.raises(InputError, match=r"segment 7.*--judgements"):
        create("hmeant").measure([Pair(Sentence("b"), segment)])


def test_unjudged_readings_are_refused_by_segment() -> None:
    segment = Segment("7", (Sentence("a"),))
    unjudged = Judgements((), (Reading("one", ()),))
    with pytest.raises(InputError, match=r"segment 7: no annotator's reading was judged"):
        create("hmeant").measure([Pair(Sentence("b"), segment, unjudged)])


def test_options_are_checked() -> None:
    with pytest.raises(OptionError, match="partial"):
        create("hmeant:partial=2")


_LABELS = st.sampled_from(["agent", "patient", "temporal", "other"])
_FRAMES = st.lists(st.lists(_LABELS, max_size=4), max_size=4).map(
    lambda found: tuple(_frame(10 * n, *labels) for n, labels in enumerate(found))
)


@st.composite
def _cases(draw):
    ours, theirs = draw(_FRAMES), draw(_FRAMES)
    left = draw(st.permutations(range(len(ours))))
    right = draw(st.permutations(range(len(theirs))))
    matches = []
    for a, b in zip(left, right, strict=False):
        pairs = zip(
            draw(st.permutations(range(len(ours[a].roles)))),
            draw(st.permutations(range(len(theirs[b].roles)))),
            strict=False,
        )
        verdicts = tuple(RoleVerdict(x, y, draw(st.sampled_from(Verdict))) for x, y in pairs)
        matches.append(FrameMatch(a, b, verdicts))
    return ours, theirs, Judgement("judge", tuple(matches))


_WEIGHTS = st.builds(
    Weights, *[st.floats(0, 12, allow_subnormal=False)] * 3, partial=st.floats(0, 1)
)


@given(_cases(), _WEIGHTS)
def test_bounds(case, weights) -> None:
    found = measure_judgement(*case, weights=weights)
    assert min(found.precision, found.recall) >= 0
    assert max(found.precision, found.recall, found.f) <= 1 + 1e-12
    assert min(found.precision, found.recall) - 1e-9 <= found.f
    assert found.f <= max(found.precision, found.recall) + 1e-9


@given(_cases(), _WEIGHTS)
def test_changing_sides_exchanges_precision_and_recall(case, weights) -> None:
    ours, theirs, judgement = case
    mirrored = Judgement(
        "judge",
        tuple(
            FrameMatch(
                match.reference,
                match.hypothesis,
                tuple(RoleVerdict(v.reference, v.hypothesis, v.verdict) for v in match.verdicts),
            )
            for match in judgement.matches
        ),
    )
    found = measure_judgement(ours, theirs, judgement, weights=weights)
    other = measure_judgement(theirs, ours, mirrored, weights=weights)
    assert (found.precision, found.recall) == pytest.approx((other.recall, other.precision))


@given(_cases())
def test_against_the_printed_formula(case) -> None:
    """C, P, MT and Ref counted as the paper counts them, where labels of both sides agree."""
    ours, theirs, judgement = case
    core = frozenset({"agent", "patient", "temporal", "other"})
    precision = recall = 0.0
    for match in judgement.matches:
        correct = sum(v.verdict is CORRECT for v in match.verdicts)
        partial = sum(v.verdict is PARTIAL for v in match.verdicts)
        right = 1 + correct + 0.5 * partial
        precision += right / (1 + len(ours[match.hypothesis].roles))
        recall += right / (1 + len(theirs[match.reference].roles))
    found = measure_judgement(ours, theirs, judgement, weights=PAPER, core=core)
    if ours and theirs:
        assert found.precision == pytest.approx(precision / len(ours))
        assert found.recall == pytest.approx(recall / len(theirs))
