"""TER against sacreBLEU, TERCOM, and by hand."""

from __future__ import annotations

import csv
import gzip
import itertools
import math
import random
import re
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import TER

from meantime.errors import InputError, OptionError, UnsupportedLanguage
from meantime.metrics.ter import Ter
from meantime.options import describe
from meantime.protocols import Explainer, Metric
from meantime.registry import create
from meantime.types import Explanation, Level, Pair, Segment, Sentence, Span

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT.parent / "shared" / "data" / "golden" / "newstest2021-zhen-NiuTrans.tsv.gz"
COMBINATIONS = list(itertools.product((False, True), repeat=4))

# Where sacreBLEU leaves TERCOM: line of the golden file -> (TERCOM's edits, sacreBLEU's).
DEVIATIONS = {36: (68, 64), 211: (94, 93), 225: (43, 48), 299: (50, 49)}


def _pair(hypothesis: str, *references: str, lang: str = "en") -> Pair:
    sentences = tuple(Sentence(reference, lang) for reference in references)
    return Pair(Sentence(hypothesis, lang), Segment("1", sentences))


def _score(metric: Ter, pair: Pair) -> float:
    return metric.score(metric.measure([pair])[0], Level.SEGMENT).value


def _both(normalise: bool, punctuation: bool, asian_support: bool, lowercase: bool):
    ours = Ter(
        normalise=normalise,
        punctuation=punctuation,
        asian_support=asian_support,
        lowercase=lowercase,
    )
    theirs = TER(
        normalized=normalise,
        no_punct=not punctuation,
        asian_support=asian_support,
        case_sensitive=not lowercase,
    )
    return ours, theirs


def _golden() -> list[dict[str, str]]:
    with gzip.open(GOLDEN, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_is_a_metric_that_explains() -> None:
    metric = create("ter")
    assert isinstance(metric, Metric)
    assert isinstance(metric, Explainer)
    assert metric.scale == (0, math.inf)
    assert not metric.higher_is_better
    assert metric.copy_is_best
    assert metric.statistics == ("edits", "reference_length")


def test_worked_example_of_the_page() -> None:
    pair = _pair("This morning she read a report", "She read the report this morning")
    metric = Ter()
    assert metric.measure([pair]).tolist() == [[2, 6]]
    assert _score(metric, pair) == pytest.approx(100 * 2 / 6)
    found = metric.explain(pair)
    assert [(part.label, part.hypothesis, part.reference, part.value) for part in found.parts] == [
        ("shift", Span(0, 2), Span(4, 6), 1),
        ("match", Span(2, 3), Span(0, 1), 0),
        ("match", Span(3, 4), Span(1, 2), 0),
        ("substitution", Span(4, 5), Span(2, 3), 1),
        ("match", Span(5, 6), Span(3, 4), 0),
        ("match", Span(0, 1), Span(4, 5), 0),
        ("match", Span(1, 2), Span(5, 6), 0),
    ]


def test_worked_example_with_two_references() -> None:
    pair = _pair(
        "This morning she read a report",
        "She read the report this morning",
        "This morning she has read a long report",
    )
    metric = Ter()
    assert metric.measure([pair]).tolist() == [[2, 7]]
    assert _score(metric, pair) == pytest.approx(100 * 2 / 7)
    # Both ask for two edits; the first of equals is explained.
    assert metric.explain(pair).reference == 0


@pytest.mark.parametrize(
    ("hypothesis", "references", "expected"),
    [
        ("", [""], 0),
        ("", ["a b"], 100),
        ("a b", [""], 100),
        ("a b c", ["", "a b"], 100),
        (" ", ["\t"], 0),
        ("a a a a", ["a"], 300),
    ],
)
def test_empty_input_gets_what_sacrebleu_gives(
    hypothesis: str, references: list[str], expected: float
) -> None:
    metric, theirs = Ter(), TER()
    assert _score(metric, _pair(hypothesis, *references)) == expected
    assert theirs.sentence_score(hypothesis, references).score == expected
    assert metric.explain(_pair(hypothesis, *references)).score.value == expected


def test_no_pairs_no_rows() -> None:
    rows = Ter().measure([])
    assert rows.shape == (0, 2)
    assert Ter().score(rows.sum(axis=0), Level.CORPUS).value == 0


def test_needs_a_reference() -> None:
    with pytest.raises(InputError, match="segment 1 has no reference"):
        Ter().measure([Pair(Sentence("a"), Segment("1", ()))])


word = st.sampled_from(["a", "b", "B", "c,", "d.", "don't", "John's", "(e)", "..5", "3.5-4"])
text = st.lists(word, max_size=10).map(" ".join)


@given(text, st.lists(text, min_size=1, max_size=3), st.sampled_from(COMBINATIONS))
@settings(max_examples=200, deadline=None)
def test_equals_sacrebleu(
    hypothesis: str, references: list[str], options: tuple[bool, bool, bool, bool]
) -> None:
    ours, theirs = _both(*options)
    pair = _pair(hypothesis, *references)
    assert _score(ours, pair) == theirs.sentence_score(hypothesis, references).score


ODD = [
    "...",
    "a,,b ..5",
    "&amp;quot;hi&amp;quot;",
    "It's John's 's",
    "U.S. is,it 4,,5",
    "İstanbul ΑΣ ΑΣ.",
    "你好，世界。今天天气很好",
    "今天，天气很好！你好世界",
    "カタカナひらがな漢字",
    "a\u00a0b  c",
    "x\ty\n-z ",
]


@pytest.mark.parametrize("options", COMBINATIONS)
def test_odd_strings_equal_sacrebleu(options: tuple[bool, bool, bool, bool]) -> None:
    ours, theirs = _both(*options)
    for hypothesis, reference in itertools.product(ODD, ODD):
        expected = theirs.sentence_score(hypothesis, [reference]).score
        assert _score(ours, _pair(hypothesis, reference)) == expected


def test_corpus_equals_sacrebleu() -> None:
    rng = random.Random(2)
    words = "the a of to and in report committee said today , .".split()

    def line() -> str:
        return " ".join(rng.choice(words) for _ in range(rng.randrange(0, 20)))

    hypotheses = [line() for _ in range(40)]
    streams = [[line() for _ in hypotheses] for _ in range(3)]
    pairs = [
        _pair(hypothesis, *references)
        for hypothesis, *references in zip(hypotheses, *streams, strict=True)
    ]
    metric = Ter()
    found = metric.score(metric.measure(pairs).sum(axis=0), Level.CORPUS)
    expected = TER().corpus_score(hypotheses, streams)
    assert found.value == pytest.approx(expected.score, abs=1e-9)
    assert found.parts["edits"] == expected.num_edits
    assert found.parts["reference_length"] == pytest.approx(expected.ref_length)


@given(text, st.lists(text, min_size=1, max_size=3), st.sampled_from(COMBINATIONS))
@settings(max_examples=200, deadline=None)
def test_explanation_rebuilds_the_score(
    hypothesis: str, references: list[str], options: tuple[bool, bool, bool, bool]
) -> None:
    metric, _ = _both(*options)
    pair = _pair(hypothesis, *references)
    found = metric.explain(pair)
    row = metric.measure([pair])[0]
    assert found.score == metric.score(row, Level.SEGMENT)
    edits = sum(part.value for part in found.parts)
    assert edits == row[0] == found.score.parts["edits"]
    lengths = [len(metric.reference_words(reference)) for reference in pair.segment.references]
    average = sum(lengths) / len(lengths)
    assert average == found.score.parts["reference_length"]
    if average:
        assert found.score.value == pytest.approx(100 * edits / average)
    _check_spans(found)


def _check_spans(found: Explanation) -> None:
    """Every word is accounted for once; what is shifted or matched is the same word."""
    steps = [part for part in found.parts if part.label != "shift"]
    hypothesis = [part.hypothesis.start for part in steps if part.hypothesis is not None]
    reference = [part.reference.start for part in steps if part.reference is not None]
    assert sorted(hypothesis) == list(range(len(found.hypothesis_tokens)))
    assert reference == list(range(len(found.reference_tokens)))
    for part in found.parts:
        if part.label in ("shift", "match"):
            taken = found.hypothesis_tokens[part.hypothesis.start : part.hypothesis.end]
            asked = found.reference_tokens[part.reference.start : part.reference.end]
            assert taken == asked
        assert part.value == 1 or part.label in ("shift", "match")
        assert (part.hypothesis is None) == (part.label == "insertion")
        assert (part.reference is None) == (part.label == "deletion")


def test_a_shifted_block_split_by_an_earlier_shift_costs_one() -> None:
    rng = random.Random(0)
    metric = Ter()
    split = 0
    for _ in range(300):
        reference = [rng.choice("abcdefgh") for _ in range(14)]
        hypothesis = rng.sample(reference, len(reference))
        found = metric.explain(_pair(" ".join(hypothesis), " ".join(reference)))
        split += any(part.label == "shift" and part.value == 0 for part in found.parts)
        assert sum(part.value for part in found.parts) == found.score.parts["edits"]
        _check_spans(found)
    assert split


def test_copy_is_best_unless_references_are_normalised_again() -> None:
    assert _score(Ter(), _pair("a,,b", "a,,b")) == 0
    twice = Ter(normalise=True)
    assert not twice.copy_is_best
    assert _score(twice, _pair("..5", "..5")) > 0
    assert TER(normalized=True).sentence_score("..5", ["..5"]).score > 0


def test_languages() -> None:
    chinese = create("ter", lang="zh-CN")
    assert chinese == Ter(normalise=True, asian_support=True)
    assert create("ter", lang="ja").asian_support
    pair = _pair("今天天气很好", "天气今天很好", lang="zh")
    prepared = chinese.prepare([pair.segment])
    assert prepared.measure([pair]).tolist() == [[1, 6]]
    with pytest.raises(UnsupportedLanguage, match="asian_support=yes"):
        Ter().prepare([pair.segment])
    with pytest.raises(UnsupportedLanguage, match="'th'"):
        create("ter", lang="th")
    assert create("ter", lang="de") == Ter()


def test_signature_and_options() -> None:
    metric = Ter(lowercase=False).prepare([_pair("a", "a").segment])
    assert str(metric.signature()) == (
        "ter|references:1|normalise:no|punctuation:yes|asian_support:no|lowercase:no"
        "|empty:100; two empty sides 0|version:1"
    )
    with pytest.raises(OptionError):
        Ter(lowercase="no")
    assert create("ter:punctuation=no") == Ter(punctuation=False)


def test_page_names_every_option() -> None:
    page = (ROOT / "docs" / "metrics" / "ter.md").read_text(encoding="utf-8")
    for item in describe(Ter):
        assert re.search(rf"^\| `{item.name}` \|", page, re.MULTILINE), item.name


@pytest.mark.needs("shared")
def test_golden_edits_are_tercoms_but_for_four_known_segments() -> None:
    # TERCOM 0.10.0 -s; sacreBLEU's edits on all 400 are these, so both are checked at once.
    rows = _golden()
    pairs = [_pair(row["hyp_tok"], row["ref_tok"]) for row in rows]
    found = Ter(lowercase=False).measure(pairs)
    assert found[:, 1].tolist() == [float(row["tercom_reflen"]) for row in rows]
    differing = {
        int(row["line"]): (float(row["tercom_edits"]), float(edits))
        for row, edits in zip(rows, found[:, 0], strict=True)
        if float(row["tercom_edits"]) != edits
    }
    assert differing == DEVIATIONS
    total = found.sum(axis=0)
    assert total.tolist() == [7905, 13935]
    assert numpy.isclose(Ter().score(total, Level.CORPUS).value, 100 * 7905 / 13935)


@pytest.mark.needs("shared")
@pytest.mark.parametrize("options", COMBINATIONS)
def test_golden_segments_equal_sacrebleu(options: tuple[bool, bool, bool, bool]) -> None:
    # The short ones: sacreBLEU takes a minute for all.
    ours, theirs = _both(*options)
    rows = [row for row in _golden() if len(row["ref_tok"].split()) <= 22]
    assert len(rows) > 100
    for hypothesis, reference in (("hyp", "ref"), ("hyp_tok", "ref_tok")):
        scores = ours.measure([_pair(row[hypothesis], row[reference]) for row in rows])
        for row, found in zip(rows, scores, strict=True):
            expected = theirs.sentence_score(row[hypothesis], [row[reference]]).score
            assert ours.score(found, Level.SEGMENT).value == expected


@pytest.mark.needs("shared")
def test_every_golden_segment_equals_sacrebleu() -> None:
    """All 400, of any length, raw and with the default options; sacreBLEU needs a while."""
    rows = _golden()
    assert len(rows) == 400
    pairs = [_pair(row["hyp"], row["ref"]) for row in rows]
    measured = Ter().measure(pairs)
    theirs = TER()
    for row, found in zip(rows, measured, strict=True):
        expected = theirs.sentence_score(row["hyp"], [row["ref"]])
        assert found.tolist() == [expected.num_edits, expected.ref_length], row["line"]
    whole = theirs.corpus_score([row["hyp"] for row in rows], [[row["ref"] for row in rows]])
    assert Ter().score(measured.sum(axis=0), Level.CORPUS).value == pytest.approx(whole.score)
