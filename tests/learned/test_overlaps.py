"""Features of words in common: the papers' examples, and the metrics of the same names."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy
import pytest

from meantime import create
from meantime.conformance import analyse, sample
from meantime.errors import NotPrepared, UsageError
from meantime.learned.features import BothDirections, FeatureSet
from meantime.learned.groups import GROUPS, Settings, make_features, parse_groups
from meantime.learned.overlaps import OVERLAPS, BasicFeatures, OverlapFeatures
from meantime.types import Level, Pair, Segment, Sentence


def _pair(hypothesis: str, *references: str) -> Pair:
    return Pair(analyse(hypothesis), Segment("1", tuple(map(analyse, references))))


WALK = ("he walked the dog", "he took the dog for a walk")
STORE = ("he went to the store", "to the store he went")


# Kulesza 2004


def test_worked_examples_of_the_basic_set() -> None:
    walk = BasicFeatures().describe(_pair(*WALK))
    assert walk["basic:wer"] == 4
    assert walk["basic:per"] == 4
    assert walk["basic:precision1"] == 3 / 4
    assert walk["basic:precision2"] == 1 / 3
    assert walk["basic:precision3"] == walk["basic:precision5"] == 0
    assert walk["basic:length/min"] == walk["basic:length/max"] == 4 / 7
    store = BasicFeatures().describe(_pair(*STORE))
    assert (store["basic:wer"], store["basic:per"]) == (4, 0)


def test_several_references_give_the_least_edits_and_both_ratios() -> None:
    found = BasicFeatures().describe(_pair("a b c d", "a b", "a b c d e f g h"))
    assert (found["basic:length/min"], found["basic:length/max"]) == (0.5, 2)
    assert (found["basic:wer"], found["basic:per"]) == (2, 2)
    assert found["basic:precision4"] == 1


def test_division_by_zero_is_defined() -> None:
    for hypothesis, reference in (("", ""), ("a", ""), ("", "a")):
        values = BasicFeatures().values([_pair(hypothesis, reference)])
        assert numpy.isfinite(values).all()
    assert BasicFeatures().describe(_pair("a b", ""))["basic:length/max"] == 3


# Finch, Hwang and Sumita 2005


def test_each_is_the_metric_of_its_name() -> None:
    segments, pairs = sample()
    single = [pair for pair in pairs if len(pair.segment.references) == 1 and pair.hypothesis.text]
    features = OverlapFeatures(stem="none").prepare(segments)
    rows = dict(zip(features.names, features.values(single).T, strict=True))
    specifications = {
        "wer": ("wer:tokeniser=none", 1),
        "per": ("per:tokeniser=none", 1),
        "bleu2": ("bleu:tokeniser=none,max_order=2,smooth=none,brevity_penalty=no,"
                  "effective_order=never", 100),
        "bleu4": ("bleu:tokeniser=none,smooth=none,brevity_penalty=no,effective_order=never", 100),
        "nist1": ("nist:tokeniser=none,max_order=1", 1),
        "nist5": ("nist:tokeniser=none", 1),
    }  # fmt: skip
    for name, (specification, scale) in specifications.items():
        metric = create(specification).prepare(segments)
        expected = [
            metric.score(row, Level.SEGMENT).value / scale for row in metric.measure(single)
        ]
        assert rows[name] == pytest.approx(expected), name


def test_nist_by_hand() -> None:
    # Six words, "the" twice: log2(6/2) for it, log2(6/1) for another; four words of six.
    pair = _pair("the cat", "the cat sat on the mat")
    found = OverlapFeatures(stem="none").prepare([pair.segment]).describe(pair)
    penalty = math.exp(math.log(0.5) / math.log(1.5) ** 2 * math.log(2 / 6) ** 2)
    unigrams = (math.log2(6 / 2) + math.log2(6)) / 2
    assert found["nist1"] == pytest.approx(unigrams * penalty)
    # The bigram "the cat" follows one of two "the".
    assert found["nist2"] == pytest.approx((unigrams + 1) * penalty)


def test_both_directions_are_averaged() -> None:
    pair = _pair("a b c d", "a b")
    back = _pair("a b", "a b c d")
    features = OverlapFeatures(which=("wer", "per", "bleu1"), stem="none")
    there, again = features.values([pair, back])
    assert there.tolist() == [1, 1, 0.5]
    assert again.tolist() == [0.5, 0.5, 1]
    averaged = BothDirections(features=features).values([pair, back])
    assert averaged.tolist() == [[0.75, 0.75, 0.75]] * 2


def test_several_references_backwards_are_a_mean() -> None:
    features = BothDirections(features=BasicFeatures())
    row = features.describe(_pair("a b", "a b", "a b c d"))
    assert row["basic:wer"] == (0 + (0 + 2) / 2) / 2


def test_stemming() -> None:
    one = Sentence("", tokens=("quickly", "walked"), pos=("RB", "VBD"))
    other = Sentence("", tokens=("quick", "walks"), pos=("RB", "VBZ"))
    pair = Pair(one, Segment("1", (other,)))
    per = {
        stem: OverlapFeatures(which=("per",), stem=stem).describe(pair)["per"]
        for stem in ("none", "all", "nouns-verbs")
    }
    assert per == {"none": 1, "nouns-verbs": 0.5, "all": 0}
    with pytest.raises(UsageError, match="give one of none, all, nouns-verbs"):
        OverlapFeatures(stem="some")


def test_nist_must_be_prepared() -> None:
    with pytest.raises(NotPrepared, match="prepare"):
        OverlapFeatures(which=("nist1",)).values([_pair("a", "a")])


# By name


def test_the_page_says_how_many_features_a_group_has() -> None:
    page = (Path(__file__).parents[2] / "docs" / "features.md").read_text(encoding="utf-8")
    said = dict(
        re.findall(r"^\| `(basic|parse|extended|all|meant)` \| (\d+) \|", page, re.MULTILINE)
    )
    assert len(said) == 5
    assert said == {group: str(len(make_features([group]).names)) for group in said}


@pytest.mark.parametrize("both", [False, True])
def test_every_group_gives_finite_rows_whatever_the_batch(both: bool) -> None:
    segments, pairs = sample()
    empty = Segment("empty", (analyse(""),))
    several = [*pairs, Pair(analyse(""), segments[0]), Pair(analyse("a"), empty),
               Pair(analyse(""), empty)]  # fmt: skip
    for group in (*GROUPS, "metric:chrf", "metric:bleu:max_order=2"):
        if group == "meant":
            continue  # Needs vectors of the analyser's width; see the end to end tests.
        made = make_features([group], Settings(both_directions=both))
        prepared = made.prepare([*segments, empty])
        assert isinstance(prepared, FeatureSet)
        assert len(set(made.names)) == len(made.names)
        rows = prepared.values(several)
        assert rows.shape == (len(several), len(made.names))
        assert numpy.isfinite(rows).all(), group
        alone = numpy.concatenate([prepared.values([one]) for one in several])
        assert numpy.array_equal(rows, alone), group
        assert prepared.values([]).shape == (0, len(made.names))
        assert prepared.recipe == made.recipe


def test_groups_are_joined_and_refused() -> None:
    assert make_features(["all"]).names[: len(OVERLAPS)] == OVERLAPS
    assert make_features(["per", "basic", "wer"]).names[:2] == ("per", "wer")
    assert parse_groups(r"basic, metric:bleu:max_order=2\,smooth=none") == (
        "basic", "metric:bleu:max_order=2,smooth=none",
    )  # fmt: skip
    with pytest.raises(UsageError, match="asked for twice"):
        make_features(["all", "per"])
    with pytest.raises(UsageError, match="write metric:chrf for the score"):
        make_features(["chrf"])
    with pytest.raises(UsageError, match="no feature group is called 'basik'"):
        make_features(["basik"])
    with pytest.raises(UsageError, match="no feature group"):
        parse_groups(" , ")
