from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations, pairwise

import numpy
import pytest

from meantime import Corpus, Segment, Sentence
from meantime.errors import UsageError
from meantime.metaeval.gaps import Bucket, GapTable, key
from meantime.metaeval.multiple import benjamini_hochberg, holm
from meantime.report.comparison import Comparison, compare
from meantime.report.tables import lay_out
from meantime.report.writing import as_json, as_latex, as_markdown
from meantime.scoring import measure, score

WORDS = "the a cat dog man sat ran on in mat park old new red house he she saw".split()


def corpus(shares: dict[str, float], segments: int = 40, *, documents: bool = False) -> Corpus:
    """Systems that replace this share of the reference's words."""
    rng = numpy.random.default_rng(5)
    references = [" ".join(rng.choice(WORDS, rng.integers(4, 15))) for _ in range(segments)]
    names = [f"d{n // 7}" if documents else None for n in range(segments)]

    def spoilt(text: str, share: float) -> Sentence:
        return Sentence(
            " ".join(w if rng.random() > share else rng.choice(WORDS) for w in text.split())
        )

    return Corpus(
        tuple(
            Segment(str(n), (Sentence(text),), document=name)
            for n, (text, name) in enumerate(zip(references, names, strict=True), 1)
        ),
        {name: tuple(spoilt(text, share) for text in references) for name, share in shares.items()},
    )


FIVE = {"worst": 0.9, "good": 0.2, "also good": 0.21, "middling": 0.5, "near": 0.52}


@pytest.fixture(scope="module")
def five() -> Comparison:
    measured = measure(corpus(FIVE, documents=True), ["bleu", "wer"])
    return compare(measured, resamples=300, trials=999)


def test_scores_and_intervals_are_those_of_score(five: Comparison) -> None:
    results = score(corpus(FIVE, documents=True), ["bleu", "wer"], resamples=300)
    expected = {(result.system, result.metric): result for result in results}
    for metric in five.metrics:
        assert {one.system for one in metric.standings} == set(FIVE)
        for standing in metric.standings:
            result = expected[standing.system, metric.metric]
            assert standing.score == pytest.approx(result.score.value, rel=1e-12)
            assert result.interval is not None
            assert standing.interval.low == pytest.approx(result.interval.low)
            assert standing.interval.high == pytest.approx(result.interval.high)
            assert metric.signature == result.signature


def test_best_comes_first_whichever_way_the_metric_points(five: Comparison) -> None:
    for metric in five.metrics:
        sign = 1 if metric.higher_is_better else -1
        scores = [sign * standing.score for standing in metric.standings]
        assert scores == sorted(scores, reverse=True)
        assert metric.standings[-1].system == "worst"
        assert [standing.rank for standing in metric.standings] == [1, 2, 3, 4, 5]
        assert all(one.gap >= 0 for one in metric.differences)
        assert len(metric.differences) == 10


def test_ranks_and_clusters_follow_from_what_is_significant(five: Comparison) -> None:
    found = set()
    for metric in five.metrics:
        order = [standing.system for standing in metric.standings]
        ahead = {(one.better, one.worse) for one in metric.differences if one.significant}
        assert ahead
        cluster = 1
        for place, standing in enumerate(metric.standings):
            name = standing.system
            assert standing.best_rank == 1 + sum((other, name) in ahead for other in order)
            assert standing.worst_rank == 5 - sum((name, other) in ahead for other in order)
            if place and all((a, b) in ahead for a in order[:place] for b in order[place:]):
                cluster += 1
            assert standing.cluster == cluster
        found.add(cluster)
    assert max(found) > 1


def test_p_values_are_corrected_for_all_comparisons() -> None:
    measured = measure(corpus(FIVE), ["wer"])
    raw = compare(measured, resamples=200, trials=499, correction="none").metrics[0]
    for name, correct in (("holm", holm), ("bh", benjamini_hochberg)):
        [metric] = compare(measured, resamples=200, trials=499, correction=name).metrics
        expected = correct([one.randomisation for one in raw.differences])
        assert [one.corrected for one in metric.differences] == pytest.approx(list(expected))
        assert all(one.significant == (one.corrected <= 0.05) for one in metric.differences)
    assert all(one.corrected == one.randomisation for one in raw.differences)
    [other] = compare(
        measured, resamples=200, trials=499, correction="none", test="bootstrap"
    ).metrics
    assert all(one.corrected == one.bootstrap for one in other.differences)


def test_wins_add_up_and_agree_with_the_differences(five: Comparison) -> None:
    for metric in five.metrics:
        numpy.testing.assert_allclose(metric.wins + metric.wins.T, 1)
        for one in metric.differences:
            row, column = five.systems.index(one.better), five.systems.index(one.worse)
            assert one.wins == metric.wins[row, column]
        sure = metric.difference("good", "worst")
        assert sure is not None
        assert sure.wins == 1


def test_a_baseline_has_fewer_comparisons() -> None:
    comparison = compare(
        measure(corpus(FIVE), ["wer"]), resamples=200, trials=499, baseline="middling"
    )
    [metric] = comparison.metrics
    assert len(metric.differences) == comparison.settings.comparisons == 4
    assert all("middling" in (one.better, one.worse) for one in metric.differences)
    assert {one.cluster for one in metric.standings} == {None}
    titles = [table.title for table in lay_out(comparison).tables]
    assert not any("samples" in title for title in titles)


def test_documents_have_the_scores_of_their_own_corpus(five: Comparison) -> None:
    whole = corpus(FIVE, documents=True)
    metric = five.metrics[0]
    assert [one.document for one in metric.documents] == [f"d{n}" for n in range(6)]
    part = [n for n, segment in enumerate(whole.segments) if segment.document == "d2"]
    alone = Corpus(
        tuple(whole.segments[n] for n in part),
        {name: tuple(output[n] for n in part) for name, output in whole.outputs.items()},
    )
    assert metric.documents[2].segments == len(part) == 7
    expected = [result.score.value for result in score(alone, ["bleu"])]
    assert list(metric.documents[2].scores) == pytest.approx(expected)


def test_segments_without_a_document_have_one_of_their_own() -> None:
    found = corpus({"a": 0.1, "b": 0.5}, 10, documents=True)
    bare = replace(
        found,
        segments=(*found.segments[:7], *(replace(s, document=None) for s in found.segments[7:])),
    )
    [metric] = compare(measure(bare, ["wer"]), resamples=100, trials=100).metrics
    assert [(one.document, one.segments) for one in metric.documents] == [
        ("d0", 7),
        ("(no document)", 3),
    ]
    assert not compare(measure(corpus({"a": 0.1, "b": 0.5}, 10), ["wer"])).metrics[0].documents


# What cannot be compared


def test_one_system() -> None:
    with pytest.raises(UsageError, match="one system"):
        compare(measure(corpus({"alone": 0.1}), ["wer"]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"baseline": "nobody"}, "no system is called 'nobody'; there are a, b"),
        ({"significance": 1.5}, "between 0 and 1"),
        ({"resamples": 5}, "at least 100"),
        ({"test": "t"}, "use randomisation, bootstrap"),
        ({"correction": "sidak"}, "use holm, bh, none"),
    ],
)
def test_settings_that_make_no_sense(settings: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compare(measure(corpus({"a": 0.1, "b": 0.5}, 10), ["wer"]), **settings)


def test_same_output_is_said_and_not_significant() -> None:
    found = corpus({"one": 0.3, "two": 0.5}, 10)
    twin = Corpus(found.segments, {**found.outputs, "twin": found.outputs["one"]})
    comparison = compare(measure(twin, ["bleu"]), resamples=100, trials=100)
    assert any("one and twin gave the same translation" in line for line in comparison.statements)
    [metric] = comparison.metrics
    same = metric.difference("one", "twin")
    assert same is not None
    assert same.same_output
    assert not same.significant
    assert (same.gap, same.randomisation, same.bootstrap, same.wins) == (0, 1, 1, 0.5)
    assert same.meaning is None
    assert [one.rank for one in metric.standings[:2]] == [1, 1]
    assert not as_json(comparison).count("NaN")


def test_all_ties_are_said() -> None:
    segments = tuple(Segment(str(n), (Sentence("a b c"),)) for n in range(12))
    outputs = {name: (Sentence(text),) * 12 for name, text in (("one", "x y z"), ("two", "u v w"))}
    comparison = compare(measure(Corpus(segments, outputs), ["bleu", "wer"]))
    for metric in comparison.metrics:
        assert any("same score" in line for line in metric.statements)
        assert not metric.differences[0].significant
        assert metric.differences[0].randomisation == 1


@pytest.mark.parametrize(("segments", "message"), [(1, "a single segment"), (4, "too few")])
def test_too_few_segments_are_said(segments: int, message: str) -> None:
    comparison = compare(measure(corpus({"a": 0.1, "b": 0.9}, segments), ["wer"]))
    assert any(message in line for line in comparison.statements)
    assert not any(one.significant for one in comparison.metrics[0].differences)


def test_too_few_trials_are_said_and_the_default_suffices() -> None:
    many = {f"s{n}": 0.1 + 0.05 * n for n in range(8)}
    measured = measure(corpus(many, 20), ["wer"])
    few = compare(measured, resamples=100, trials=100)
    assert any("100 trials are too few for 28 comparisons" in line for line in few.statements)
    assert not compare(measured, resamples=100, trials=2000).statements
    assert compare(measured, resamples=100).settings.trials == 10_000


# What a difference means


def _table(specification: str, segments: int) -> GapTable:
    [metric] = measure(corpus(FIVE, 5), [specification]).metrics
    buckets = (Bucket(0, 0.05, 0.55, 30), Bucket(0.05, 0.2, 0.8, 25))
    return GapTable("20 pairs", "en", {key(metric.signature()): {segments: buckets}})


def test_people_are_asked() -> None:
    comparison = compare(
        measure(corpus(FIVE), ["wer"]), resamples=100, trials=100, gap_table=_table("wer", 30)
    )
    [metric] = comparison.metrics
    assert metric.people_unknown is None
    for one in metric.differences:
        assert one.meaning is not None
        assert one.meaning.share == (0.55 if one.gap <= 0.05 else 0.8)
        assert one.meaning.beyond == (one.gap > 0.2)
        assert one.meaning.segments == 30
    page = lay_out(comparison, all_pairs=True)
    texts = [cell.text for table in page.tables for row in table.rows for cell in row]
    assert "55 % (30 pairs)" in texts
    assert "80 % (25 pairs, gap beyond all seen)" in texts
    assert any("20 pairs; gaps on 30 segments, here 40" in line for line in page.legend)


@pytest.mark.parametrize(
    ("specification", "size", "lang", "why"),
    [
        ("wer", 100, "en", "it takes 100 segments, here are 40"),
        ("wer:lowercase=yes", 30, "en", "nothing is known of this metric"),
        ("wer", 30, "de", "translation into en, not de"),
    ],
)
def test_what_people_would_say_is_not_guessed(
    specification: str, size: int, lang: str, why: str
) -> None:
    found = corpus(FIVE)
    outputs = {
        name: tuple(replace(one, lang=lang) for one in output)
        for name, output in found.outputs.items()
    }
    measured = measure(Corpus(found.segments, outputs), [specification])
    comparison = compare(measured, resamples=100, trials=100, gap_table=_table("wer", size))
    assert all(one.meaning is None for one in comparison.metrics[0].differences)
    assert comparison.gap_source is None
    assert any(why in line for line in lay_out(comparison).legend)


# Drawing


def test_json_holds_everything(five: Comparison) -> None:
    content = json.loads(as_json(five))
    assert list(content) == [
        "meantime", "systems", "segments", "settings", "metrics", "people", "statements",
        "warnings", "buckets", "roles", "systems_disagree", "metrics_disagree",
    ]  # fmt: skip
    assert content["systems"] == list(FIVE)
    assert content["settings"]["comparisons"] == 10
    for item, metric in zip(content["metrics"], five.metrics, strict=True):
        assert item["signature"] == str(metric.signature)
        assert [one["system"] for one in item["standings"]] == [
            one.system for one in metric.standings
        ]
        assert {(one["better"], one["worse"]) for one in item["differences"]} == {
            (one.better, one.worse) for one in metric.differences
        }
        assert item["wins"]["systems"] == list(FIVE)
        assert item["wins"]["shares"] == metric.wins.tolist()
        assert set(item["documents"][0]["scores"]) == set(FIVE)


def test_neighbours_are_shown_and_all_pairs_if_asked(five: Comparison) -> None:
    short, full = lay_out(five), lay_out(five, all_pairs=True, documents=True)
    [differences] = [table for table in short.tables if table.title == "bleu: differences"]
    order = [standing.system for standing in five.metrics[0].standings]
    assert [(row[0].text, row[1].text) for row in differences.rows] == list(pairwise(order))
    assert any("6 more differences" in line for line in short.legend)
    assert any("scores of 6 documents" in line for line in short.legend)
    [differences] = [table for table in full.tables if table.title == "bleu: differences"]
    assert [(row[0].text, row[1].text) for row in differences.rows] == list(combinations(order, 2))
    assert not any("more differences" in line for line in full.legend)
    assert any(table.title == "bleu: documents" for table in full.tables)


def test_every_row_fits_its_head(five: Comparison) -> None:
    for table in lay_out(five, all_pairs=True, documents=True).tables:
        assert all(len(row) == len(table.head) for row in table.rows)


def test_names_are_never_markup() -> None:
    hostile = {"a|b<script>": 0.1, "c_d & $x$ 100%\\": 0.5, "[e]": 0.9}
    page = lay_out(compare(measure(corpus(hostile, 10), ["wer"]), resamples=100, trials=100))
    markdown = as_markdown(page)
    assert "<script>" not in markdown
    for line in markdown.splitlines():
        if line.startswith("| "):
            # Only our own pipes separate.
            assert line.replace("\\|", "").count("|") in (6, 7, 8)
    latex = as_latex(page)
    assert r"c\_d \& \$x\$ 100\%\textbackslash{}" in latex
    rows = [line for line in latex.splitlines() if not line.startswith("%")]
    assert not any(line.startswith("[") for line in rows)
    assert sum(line.startswith(r"\begin{tabular}") for line in rows) == len(page.tables)
