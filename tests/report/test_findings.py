from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from meantime import Corpus, Segment, Sentence
from meantime.cli.compare import BucketFeature
from meantime.errors import LengthMismatch, UsageError
from meantime.report.buckets import Feature, score_buckets, sort_segments
from meantime.report.charts import draw_roles
from meantime.report.comparison import compare
from meantime.report.disagreements import metrics_disagree, systems_disagree
from meantime.report.findings import Findings, findings_legend, lay_out_findings
from meantime.report.roles import RoleCounts, find_role_losses
from meantime.report.writing import as_json
from meantime.scoring import measure, score
from meantime.types import Frame, Role, Span

TEXTS = {
    "one": "He didn't come.",
    "two": "We sold 12 cats, and the rest of them we kept for ourselves at home",
    "three": "No.",
    "four": "They met.",
}


SEEN = {"he", "come", "no", "they"}


def corpus(outputs: dict[str, list[str]] | None = None, lang: str = "en") -> Corpus:
    segments = tuple(
        Segment(name, (Sentence(text, lang),), document=f"d{n // 2}")
        for n, (name, text) in enumerate(TEXTS.items())
    )
    made = outputs or {"same": list(TEXTS.values()), "none": ["he came"] * 4}
    return Corpus(segments, {name: tuple(map(Sentence, texts)) for name, texts in made.items()})


@pytest.mark.parametrize(
    ("feature", "extra", "expected"),
    [
        ("length", {}, {"0-10": (0, 2, 3), "11-20": (1,)}),
        ("numbers", {}, {"number": (1,), "no number": (0, 2, 3)}),
        ("negation", {}, {"negation": (0, 2), "no negation": (1, 3)}),
        ("document", {}, {"d0": (0, 1), "d1": (2, 3)}),
        ("domain", {"domains": ["x", "y", "x", "x"]}, {"x": (0, 2, 3), "y": (1,)}),
        ("unseen", {"seen": SEEN}, {"0": (2,), "1": (0, 3), "3 and more": (1,)}),
    ],
)
def test_sorting(feature: str, extra: dict, expected: dict) -> None:
    found = sort_segments(corpus(), feature, **extra)
    assert found == expected
    assert list(found) == list(expected)


def test_length_counts_characters_where_there_are_no_spaces() -> None:
    segments = (Segment("1", (Sentence("今天我们去了城里买东西", "zh"),)),)
    assert list(sort_segments(Corpus(segments), "length")) == ["11-20"]


def test_a_bucket_is_a_test_set_of_its_own() -> None:
    measured = measure(corpus(), ["bleu", "wer"])
    found = score_buckets(measured, "length", resamples=100)
    assert [one.specification for one in found] == ["bleu", "wer"]
    whole = corpus()
    alone = Corpus(
        tuple(whole.segments[n] for n in (0, 2, 3)),
        {name: tuple(output[n] for n in (0, 2, 3)) for name, output in whole.outputs.items()},
    )
    for table in found:
        bucket = table.buckets[0]
        assert bucket.name == "0-10"
        expected = [one.score.value for one in score(alone, [table.specification])]
        assert list(bucket.scores) == pytest.approx(expected)
        assert all(
            one.low - 1e-9 <= value <= one.high + 1e-9
            for one, value in zip(bucket.intervals, bucket.scores, strict=True)
        )


@pytest.mark.parametrize(
    ("feature", "extra", "error", "message"),
    [
        ("size", {}, UsageError, "no feature is called 'size'; use length"),
        ("frames", {}, UsageError, "needs the frames"),
        ("unseen", {}, UsageError, "needs a text"),
        ("domain", {}, UsageError, "needs the domain"),
        ("domain", {"domains": ["x"]}, LengthMismatch, "1 domains for 4 segments"),
    ],
)
def test_what_cannot_be_sorted(feature: str, extra: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        sort_segments(corpus(), feature, **extra)
    with pytest.raises(UsageError, match="known for English"):
        sort_segments(corpus(lang="de"), "negation")


def test_features_of_the_command_are_those_of_the_library() -> None:
    assert list(map(str, BucketFeature)) == list(map(str, Feature))


# Roles


def framed(words: str, *frames: Frame) -> Sentence:
    return Sentence(words, tokens=tuple(words.split()), frames=frames)


GAVE = framed(
    "she gave him the old book yesterday",
    Frame(
        Span(1, 2),
        (
            Role("ARG0", (Span(0, 1),)),
            Role("ARG2", (Span(2, 3),)),
            Role("ARG1", (Span(3, 6),)),
            Role("ARGM-TMP", (Span(6, 7),)),
        ),
    ),
)
HE_GAVE = framed(
    "him gave She the book",
    Frame(
        Span(1, 2),
        (Role("ARG0", (Span(0, 1),)), Role("ARG1", (Span(3, 5),)), Role("A2", (Span(2, 3),))),
    ),
)


def test_roles_by_hand() -> None:
    roles = Corpus(
        (Segment("1", (GAVE,)),), {"x": (HE_GAVE,), "copy": (GAVE,), "none": (framed(""),)}
    )
    found = find_role_losses(roles)
    assert found.classes == ("predicate", "arg0", "arg1", "arg2", "temporal")
    assert found.counts["x"] == {
        "predicate": RoleCounts(1, 1, 0),
        "arg0": RoleCounts(1, 0, 1),
        "arg1": RoleCounts(3, 2, 0),
        "arg2": RoleCounts(1, 0, 1),
        "temporal": RoleCounts(1, 0, 0),
    }
    assert all(one.lost == 0 and one.moved == 0 for one in found.counts["copy"].values())
    assert all(one.lost == one.words for one in found.counts["none"].values())


def test_the_reference_of_which_most_is_kept_counts() -> None:
    far = framed("they sang", Frame(Span(1, 2), (Role("ARG0", (Span(0, 1),)),)))
    two = Corpus((Segment("1", (far, GAVE)),), {"x": (HE_GAVE,), "far": (far,)})
    found = find_role_losses(two)
    assert found.counts["x"]["arg1"].words == 3
    assert found.counts["far"]["arg1"].words == 0
    [kept, lost] = lay_out_findings(Findings(roles=found), two)
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in kept.rows}
    assert rows["arg1"] == ["0-3", "66.7", "–"]
    assert rows["predicate"] == ["1", "100.0", "100.0"]
    assert {row[0].text: row[2].text for row in lost.rows}["arg1"] == "33.3"


def test_frames_are_asked_for() -> None:
    with pytest.raises(UsageError, match="no frames"):
        find_role_losses(corpus())


def test_buckets_by_frames_and_roles() -> None:
    none = framed("hello there")
    found = Corpus((Segment("1", (GAVE,)), Segment("2", (none,))), {"x": (GAVE, none)})
    assert sort_segments(found, "frames") == {"0": (1,), "1": (0,)}
    by_role = sort_segments(found, "role")
    assert by_role == {
        "arg0": (0,), "arg1": (0,), "arg2": (0,), "temporal": (0,), "no role": (1,),
    }  # fmt: skip


def test_the_drawing_is_sound_and_escaped() -> None:
    hostile = "<script>alert(1)</script>&"
    roles = Corpus((Segment("1", (GAVE,)),), {hostile: (HE_GAVE,), "b" * 50: (GAVE,)})
    drawn = draw_roles(find_role_losses(roles))
    assert "<script>" not in drawn
    tree = ElementTree.fromstring(drawn)
    names = [one.text for one in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert "arg1" in names
    assert any(name and name.endswith("…") for name in names)
    bars = [
        float(one.get("width", 0))
        for one in tree.iter("{http://www.w3.org/2000/svg}rect")
        if one.get("height") == "12" and one.get("width") != "14"
    ]
    # Two systems, five classes: every bar is filled by its three parts.
    assert sum(bars) == pytest.approx(2 * 5 * 420, abs=0.5)


# Disagreements


def _compared(metrics: list[str]):
    outputs = {
        "words": ["He didn't come", "12 cats, and we kept the rest at home", "No.", "They met"],
        "letters": ["He didnt came.", "We sold 12 cats", "No.", "Theymet."],
        "bad": ["x", "y", "No.", "zz"],
    }  # fmt: skip
    return compare(measure(corpus(outputs), metrics), resamples=100, trials=100)


def test_where_systems_differ_most() -> None:
    comparison = _compared(["chrf", "wer"])
    found = systems_disagree(comparison, 2)
    assert [one.specification for one in found] == ["chrf", "chrf", "wer", "wer"]
    for metric in comparison.metrics:
        ours = [one for one in found if one.specification == metric.specification]
        spreads = metric.segment_scores.max(axis=0) - metric.segment_scores.min(axis=0)
        assert [abs(one.scores[0] - one.scores[1]) for one in ours] == pytest.approx(
            sorted(spreads, reverse=True)[:2]
        )
        for one in ours:
            better = one.scores[0] > one.scores[1]
            assert better == metric.higher_is_better
    # All agree on the third segment.
    everything = systems_disagree(comparison, 10)
    assert 2 not in [one.segment for one in everything]


def test_where_metrics_contradict_each_other() -> None:
    comparison = _compared(["chrf", "wer"])
    chrf, wer = comparison.metrics
    found = metrics_disagree(comparison, 10)
    assert found
    strengths = [one.strength for one in found]
    assert strengths == sorted(strengths, reverse=True)
    for one in found:
        assert one.first_scores[0] > one.first_scores[1]
        assert one.second_scores[0] > one.second_scores[1], "of wer less is better"
        preferred = comparison.systems.index(one.preferred)
        assert one.first_scores[0] == chrf.segment_scores[preferred, one.segment]
        assert one.second_scores[0] == wer.segment_scores[preferred, one.segment]
    # Brute force: a segment is listed if and only if the metrics order some pair differently.
    expected = set()
    for place in range(4):
        for one in range(3):
            for other in range(3):
                a = chrf.segment_scores[one, place] - chrf.segment_scores[other, place]
                b = wer.segment_scores[other, place] - wer.segment_scores[one, place]
                if a * b < 0:
                    expected.add(place)
    assert {one.segment for one in found} == expected
    assert metrics_disagree(_compared(["chrf"]), 10) == ()


def test_everything_is_laid_out_and_written() -> None:
    comparison = _compared(["chrf", "wer"])
    measured = measure(comparison.corpus, ["chrf", "wer"])
    findings = Findings(
        buckets=score_buckets(measured, "numbers", resamples=100),
        systems_disagree=systems_disagree(comparison, 2),
        metrics_disagree=metrics_disagree(comparison, 2),
    )
    tables = lay_out_findings(findings, comparison.corpus)
    assert [table.title.split(" (")[0] for table in tables] == [
        "chrf ↑ by numbers",
        "wer ↓ by numbers",
        "segments on which two systems differ most",
        "segments on which two metrics disagree most",
    ]
    assert all(len(row) == len(table.head) for table in tables for row in table.rows)
    assert len(findings_legend(findings)) == 1
    content = json.loads(as_json(comparison, findings))
    assert content["buckets"][0]["buckets"][0]["segments"] == ["two"]
    assert set(content["buckets"][0]["buckets"][0]["scores"]) == {"words", "letters", "bad"}
    assert len(content["systems_disagree"]) == 4
    assert content["roles"] is None
    assert content["warnings"] == []
