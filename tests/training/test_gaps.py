from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy
import pytest

from meantime import Level, Pair, Segment, Sentence, create
from meantime.metaeval import gaps
from meantime.metaeval.human import HumanScores, JudgedPair
from training.gaps import DRAWS, FILES, METRICS, SIZES, TABLE, Task, load, measure, pair_gaps

TEST_ONLY = ("wmt17", "wmt21-news", "wmt22-general")


def task(shares: list[float], human: list[float], segments: int = 60) -> Task:
    """Systems that keep this share of the words, and what people think of them on average."""
    rng = numpy.random.default_rng(3)
    words = [f"w{n}" for n in range(50)]
    pairs = []
    for number in range(segments):
        reference = [str(rng.choice(words)) for _ in range(12)]
        segment = Segment(str(number), (Sentence(" ".join(reference)),))
        for share in shares:
            kept = " ".join(w if rng.random() < share else "x" for w in reference)
            pairs.append(Pair(Sentence(kept), segment))
    index = numpy.arange(len(pairs)).reshape(segments, len(shares))
    return Task("made", tuple(pairs), numpy.tile(human, (segments, 1)), index)


@pytest.mark.parametrize("name", ["wer", "chrf"])
def test_agreement_is_by_direction_whichever_way_the_metric_points(name: str) -> None:
    made = task([0.9, 0.2], [1.0, -1.0])
    metric, rows = measure(create(name), made)
    rng = numpy.random.default_rng(1)
    found, agreed = pair_gaps(metric, rows, made, 50, rng)
    assert found.shape == agreed.shape == (1, DRAWS)
    assert (found > 0).all()
    assert (agreed == 1).all()
    other = Task("made", made.pairs, -made.human, made.index)
    assert (pair_gaps(metric, rows, other, 50, rng)[1] == 0).all()
    equal = Task("made", made.pairs, 0 * made.human, made.index)
    assert (pair_gaps(metric, rows, equal, 50, rng)[1] == 0.5).all()


def test_a_gap_is_a_corpus_score_on_segments_that_both_have() -> None:
    made = task([0.9, 0.2, 0.5], [1.0, -1.0, 0.0])
    human = made.human.copy()
    human[50:, 1] = numpy.nan
    part = Task("made", made.pairs, human, made.index)
    metric, rows = measure(create("wer"), part)
    found, _ = pair_gaps(metric, rows, part, 50, numpy.random.default_rng(1))
    # All fifty that both have are drawn each time: one value.
    scores = [rows[part.index[:50, n]].sum(axis=0) for n in (0, 1)]
    expected = abs(scores[0][0] / scores[0][1] - scores[1][0] / scores[1][1])
    numpy.testing.assert_allclose(found[0], expected)
    # A pair with fewer segments than asked for is left out.
    assert len(pair_gaps(metric, rows, part, 55, numpy.random.default_rng(1))[0]) == 1


def test_metrics_that_need_analysis_get_it() -> None:
    made = task([0.9, 0.2], [1.0, -1.0], 3)
    _, rows = measure(create("stm"), made)
    assert rows.shape == (6, 8)
    copies = Task("made", made.pairs[:1], made.human, made.index)
    segment = made.pairs[0].segment
    same = Task("made", (Pair(segment.references[0], segment),), copies.human, copies.index)
    metric, rows = measure(create("stm"), same)
    assert metric.score(rows[0], Level.SEGMENT).value == 1


def test_no_test_file_is_read() -> None:
    assert not [name for name in FILES if name.startswith(TEST_ONLY)]
    content = json.loads(TABLE.read_text(encoding="utf-8"))
    assert set(content["files"]) == set(FILES)
    assert "zh-en" not in " ".join(content["systems"])


def test_the_shipped_table_has_every_metric_and_its_provenance() -> None:
    content = json.loads(TABLE.read_text(encoding="utf-8"))
    made = {one["metric"]: one for one in content["metrics"]}
    assert set(METRICS) <= set(made)
    for name in METRICS:
        if name != "meteor":
            assert made[name]["key"] == gaps.key(create(name, lang="en").signature())
        assert set(made[name]["segments"]) == set(map(str, SIZES))
    assert TABLE.name == gaps.SHIPPED
    assert content["draws"] == DRAWS


@pytest.mark.needs("shared")
def test_the_shipped_table_is_of_these_data(shared: Path) -> None:
    content = json.loads(TABLE.read_text(encoding="utf-8"))
    for name, digest in content["files"].items():
        assert hashlib.sha256((shared / "wmt" / name).read_bytes()).hexdigest() == digest
    tasks = load(shared / "wmt", FILES[1:])
    there = {name: count for name, count in content["systems"].items() if name.startswith("wmt22")}
    assert {one.name: one.human.shape[1] for one in tasks} == there
    liv = next(one for one in tasks if one.name == "wmt22 liv-en")
    metric, rows = measure(create("chrf", lang="en"), liv)
    found, agreed = pair_gaps(metric, rows, liv, 200, numpy.random.default_rng([5, 200]))
    # Far apart, so people and metric agree on most of the ten pairs.
    assert found.shape == (10, DRAWS)
    assert agreed.mean() > 0.8


def test_human_translations_are_left_out() -> None:
    rows = tuple(
        JudgedPair("is-en", "", "", "1", system, "s", (("ref", "r"),), "h", 0.1, is_human=human)
        for system, human in (("a", False), ("ref-B", True))
    )
    kept = HumanScores("made", "da", rows).without_human_translations()
    assert kept.systems == ("a",)
