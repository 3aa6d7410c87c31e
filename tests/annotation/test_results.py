"""Agreement and results: by hand, from the paper, and on a campaign without errors."""

from __future__ import annotations

import csv
import io
import math
import random
from dataclasses import replace

import pytest

from meantime.annotation.agreement import compare, compare_judges
from meantime.annotation.campaign import Kind, Settings, Training
from meantime.annotation.correlations import (
    arrange,
    correlate,
    render_correlations,
    score_segments,
)
from meantime.annotation.demo import make_demo
from meantime.annotation.results import (
    as_json,
    collect_judgements,
    compute,
    make_corpus,
    seconds,
)
from meantime.annotation.simulate import Simulation
from meantime.errors import InputError
from meantime.formats.judgements import attach_judgements, parse_judgements, render_judgements
from meantime.scoring import score
from meantime.types import Frame, FrameMatch, Judgement, Role, RoleVerdict, Span, Verdict


def _frame(start, *roles):
    return Frame(
        Span(start, start + 1), tuple(Role(label, (Span(*span),)) for label, span in roles)
    )


def test_agreement_by_hand() -> None:
    ours = (_frame(2, ("agent", (0, 2)), ("patient", (3, 6)), ("temporal", (7, 9))),)
    theirs = (_frame(2, ("agent", (1, 2)), ("experiencer", (3, 7)), ("temporal", (5, 9))),)
    found = compare(ours, theirs)
    # Two spans are off by one word at most, one by two; of the two, one label differs.
    assert (found.identified, found.classified, found.ours, found.theirs) == (2, 1, 3, 3)
    assert found.identification == pytest.approx(2 / 3)
    assert found.classification == pytest.approx(1 / 3)
    assert found.predicate == 1
    both = found + compare(ours, ours)
    assert both.identification == pytest.approx(5 / 6)
    assert compare((), ()).identification is None


def test_roles_are_paired_once_and_for_the_labels_good() -> None:
    ours = (_frame(9, ("agent", (0, 1)), ("patient", (0, 2))),)
    theirs = (_frame(9, ("patient", (0, 1)), ("agent", (0, 2))),)
    assert (compare(ours, theirs).identified, compare(ours, theirs).classified) == (2, 2)
    split = (Frame(Span(9, 10), (Role("agent", (Span(0, 1), Span(4, 5))),)),)
    assert compare(split, (_frame(9, ("agent", (0, 5))),)).identified == 0


def test_judges_agreement_by_hand() -> None:
    reference = (_frame(2, ("agent", (0, 2)), ("patient", (3, 6))), _frame(8))
    one = Judgement(
        "a",
        (
            FrameMatch(
                0, 0, (RoleVerdict(0, 0, Verdict.CORRECT), RoleVerdict(1, 1, Verdict.PARTIAL))
            ),
        ),
    )
    other = Judgement(
        "b", (FrameMatch(0, 0, (RoleVerdict(0, 0, Verdict.CORRECT),)), FrameMatch(1, 1))
    )
    found = compare_judges(one, other, reference)
    assert (found.same_frames, found.frames) == (1, 2)
    assert (found.same_verdicts, found.verdicts) == (1, 2)
    # Chance: correct 1/2 · 1/2, partial 1/2 · 0, incorrect 0 · 1/2.
    assert found.kappa == pytest.approx((0.5 - 0.25) / 0.75)


@pytest.fixture(scope="module")
def faultless(tmp_path_factory, truth):
    """A campaign whose people never err."""
    from meantime.annotation.simulate import Clock
    from meantime.annotation.store import open_store

    clock = Clock(1e9)
    store = open_store(tmp_path_factory.mktemp("faultless"), clock=clock, durable=False)
    settings = Settings(raters=1, judges=2, repeat_every=4)
    segments = tuple(truth[name] for name in ("1", "3", "6", "10"))
    made = make_demo(store, clock, error=0.0, finished=None, settings=settings, segments=segments)
    yield store, made.campaign
    store.close()


def test_people_who_never_err_agree_with_each_other_and_the_truth(faultless) -> None:
    store, campaign = faultless
    results = compute(store.everything(campaign))
    by_name = {one.system: one for one in results.systems}
    assert by_name["reference"].f == 1
    assert min(by_name["faithful"].f, by_name["literal"].f) > by_name["fluent"].f
    assert (by_name["faithful"].rank, by_name["fluent"].rank) == (1, 3)
    assert all(one.low <= one.f <= one.high for one in results.systems)
    for agreement in results.agreement.values():
        assert agreement.classification == 1
    assert results.judges.verdict == 1
    assert all(one.own_consistency in (None, 1) for one in results.people)
    assert sum(one.repeats for one in results.people) > 3
    # By hand, segment 10, "fluent": 1 + 2 of 4 roles right, of one frame on either side.
    [ten] = [s for s in results.segments if (s.segment, s.system) == ("10", "fluent")]
    assert ten.f == pytest.approx(3 / 5)
    assert set(ten.annotators.values()) == {ten.f}
    assert as_json(results)["systems"][0]["system"] == "reference"


def test_exported_judgements_score_as_the_results_say(faultless) -> None:
    store, campaign = faultless
    data = store.everything(campaign)
    judged = parse_judgements(render_judgements(collect_judgements(data)), "export")
    corpus = attach_judgements(replace(make_corpus(data), judgements={}), judged, "export")
    expected = {one.system: one.f for one in compute(data).systems}
    for result in score(corpus, ["hmeant"]):
        assert result.score.value == pytest.approx(expected[result.system])


def _said(store, campaign, rows) -> tuple:
    """Data and results whose segments have these HMEANTs, ranks and percentiles."""
    data = store.everything(campaign)
    results = compute(data)
    segments = tuple(
        replace(
            one,
            **dict(zip(("f", "rank", "percentile"), rows[one.segment, one.system], strict=True)),
        )
        if (one.segment, one.system) in rows
        else replace(one, f=None, rank=None, percentile=None)
        for one in results.segments
    )
    return data, replace(results, segments=segments)


def _find(rows, *key: str):
    [found] = [r for r in rows if (r.people, r.metric, r.grouping, r.statistic) == key]
    return found


SYSTEMS = ("faithful", "literal", "fluent")


def test_within_sentence_spearman_of_the_paper(faultless) -> None:
    """Lo and Wu 2010, Table 4: 1, -0.5 and -0.5."""
    for scores, expected in [
        ((0.167, 0.317, 0.000), 1.0),
        ((0.012, 0.013, 0.124), -0.5),
        ((0.364, 0.303, 0.344), -0.5),
    ]:
        table = zip(SYSTEMS, scores, (2, 1, 3), strict=True)
        rows = {("1", system): (f, rank, None) for system, f, rank in table}
        data, results = _said(*faultless, rows)
        found = correlate(data, [], None, results)
        one = _find(found, "order", "hmeant", "segments", "spearman")
        assert one.value == pytest.approx(expected)
        assert (one.defined, one.groups, one.segments) == (1, 1, 1)


def test_correlations_are_those_of_scipy(faultless) -> None:
    from scipy import stats

    rng = random.Random(5)
    rows = {
        (segment, system): (rng.random(), rng.randint(1, 3), rng.random())
        for segment in ("1", "3", "6", "10")
        for system in SYSTEMS
    }
    # Nobody tells the outputs of segment 6 apart.
    rows |= {("6", system): (0.0, 2.0, 0.5) for system in SYSTEMS}
    rows |= {
        ("1", s): (f, rank, 0.1 * rank)
        for s, f, rank in zip(SYSTEMS, (0.1, 0.5, 0.3), (1, 2, 3), strict=True)
    }
    data, results = _said(*faultless, rows)
    found = correlate(data, ["bleu", "ter"], None, results)
    scores = score_segments(data, ["bleu", "ter"])
    functions = {
        "spearman": stats.spearmanr,
        "kendall": stats.kendalltau,
        "pearson": stats.pearsonr,
    }
    people = {"hmeant": 0, "order": 1, "rating": 2}
    for said, metric in [("order", "bleu"), ("rating", "ter"), ("hmeant", "bleu")]:
        sign = -1 if said == "order" else 1
        human = {key: sign * row[people[said]] for key, row in rows.items()}
        for name, function in functions.items():
            groups = [[(s, t) for t in SYSTEMS] for s in ("1", "3", "6", "10")]
            across = [[(s, t) for s in ("1", "3", "6", "10")] for t in SYSTEMS]
            for grouping, some in [
                ("segments", groups), ("systems", across), ("pooled", [list(rows)]),
            ]:  # fmt: skip
                values = [
                    float(function([human[k] for k in keys], [scores[metric][k] for k in keys])[0])
                    for keys in some
                    if len({human[k] for k in keys}) > 1
                    and len({scores[metric][k] for k in keys}) > 1
                ]
                one = _find(found, said, metric, grouping, name)
                assert one.value == pytest.approx(sum(values) / len(values))
                assert (one.defined, one.groups) == (len(values), len(some))
                assert one.segments == (one.defined if grouping == "segments" else 4)
            # Over systems a metric of ours has its corpus score.
            corpus = make_corpus(data)
            totals = {one.system: one.score.value for one in score(corpus, [metric])}
            turn = -1 if metric == "ter" else 1
            means = [sum(human[s, t] for s in ("1", "3", "6", "10")) / 4 for t in SYSTEMS]
            expected = function(means, [turn * totals[t] for t in SYSTEMS])[0]
            one = _find(found, said, metric, "means", name)
            assert one.value == pytest.approx(float(expected))
    assert results.rank_correlation is not None


def test_what_is_not_defined_is_said_and_never_a_nan(faultless) -> None:
    store, campaign = faultless
    rows = {("3", system): (0.0, rank, None) for rank, system in enumerate(SYSTEMS, 1)}
    data, results = _said(store, campaign, rows)
    found = correlate(data, ["bleu"], None, results)
    assert all((one.value is None) == (one.reason is not None) for one in found)
    assert all(one.value is None or math.isfinite(one.value) for one in found)
    flat = _find(found, "order", "hmeant", "segments", "spearman")
    assert (flat.value, flat.defined, flat.groups, flat.segments) == (None, 0, 1, 0)
    assert "equal" in flat.reason
    assert _find(found, "order", "bleu", "segments", "spearman").segments == 1
    assert {one.reason for one in found if one.people == "rating"} == {
        "nobody has rated outputs yet"
    }
    order, hmeant, rating = arrange(found)
    assert len(order.lines) == 8
    assert len(hmeant.lines) == 4
    assert any(note.startswith("hmeant") and "within segments" in note for note in order.notes)
    assert (rating.lines, rating.notes) == ((), ("nobody has rated outputs yet",))
    text = render_correlations(found)
    assert "nan" not in text
    table = list(csv.DictReader(io.StringIO(text)))
    assert len(table) == len(found) == 3 * 24 - 12
    for row, one in zip(table, found, strict=True):
        assert row["value"] == ("" if one.value is None else repr(one.value))
        assert row["reason"] == (one.reason or "")


def test_correlations_with_metrics(faultless) -> None:
    store, campaign = faultless
    data = store.everything(campaign)
    results = compute(data)
    found = correlate(data, ["bleu", "ter", "bleu"], None, results)
    within = {
        one.metric: one
        for one in found
        if (one.people, one.grouping, one.statistic) == ("order", "segments", "spearman")
    }
    assert list(within) == ["hmeant", "bleu", "ter"]
    assert within["hmeant"].value > within["bleu"].value
    assert within["ter"].groups == 4
    assert results.rank_correlation == pytest.approx(within["hmeant"].value)
    assert results.rank_segments == within["hmeant"].segments
    assert not [one for one in found if one.people == one.metric]
    assert len(as_json(results, found)["correlations"]) == len(found)
    with pytest.raises(InputError, match="in the table already"):
        correlate(data, ["hmeant"])


def test_times(small, make, settings, clock) -> None:
    campaign, [ann] = make(small, settings, annotator=1)
    task, _ = small.claim(ann)
    clock.pass_seconds(20)
    from meantime.annotation import marks

    change = lambda answer: marks.label_words(answer, "action", [2], 8, settings)  # noqa: E731
    task = small.save(task.id, ann, "key-one-", 0, change)
    clock.pass_seconds(3600)
    small.finish(task.id, ann, "key-two-", task.revision, lambda _: None)
    data = small.everything(campaign)
    [done] = data.tasks
    # A pause of an hour counts as five minutes.
    assert seconds(done, data.saved[done.id]) == pytest.approx(320)
    # That was a key: what is read as a system or control tells the pace.
    assert compute(data).seconds_for_25_words is None


def test_prefilling_is_reported(small, truth, clock) -> None:
    settings = Settings(training=Training.OFF, repeat_every=0, prefill=0.5, judges=1)
    segments = []
    for one in list(truth.values())[:2]:
        suggested = {
            name: tuple(f.frame for f in frames) for name, (_, frames) in one.outputs.items()
        }
        segments.append(replace(one.new(), suggested={**suggested, "reference": one.frames}))
    from meantime.annotation.campaign import Role as PersonRole
    from meantime.annotation.simulate import add_people
    from meantime.annotation.store import NewCampaign

    campaign = small.create_campaign(NewCampaign("filled", settings, tuple(segments)))
    people = add_people(small, campaign, {PersonRole.ANNOTATOR: 9, PersonRole.JUDGE: 1})
    simulation = Simulation(small, truth, settings, random.Random(2), clock, 0.0)
    simulation.work(people)
    found = compute(small.everything(campaign)).prefilled
    assert [one.prefilled for one in found] == [False, True]
    assert sum(one.readings for one in found) == 2 * 8
    assert all(one.like_the_analyser == 1 for one in found)
    data = small.everything(campaign)
    begun = [t for t in data.tasks if t.kind is Kind.MARK and t.prefilled]
    assert len(begun) == found[1].readings


def test_an_empty_campaign_has_empty_results(small, make, settings) -> None:
    campaign, _ = make(small, settings, annotator=1)
    results = compute(small.everything(campaign))
    assert results.systems == ()
    assert results.seconds_for_25_words is None
    assert results.rank_correlation is None
    assert collect_judgements(small.everything(campaign)) == []
    tables = arrange(correlate(small.everything(campaign), ["bleu"]))
    assert [table.lines for table in tables] == [(), (), ()]
