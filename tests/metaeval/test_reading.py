from __future__ import annotations

import gzip
from pathlib import Path

import numpy
import pytest

from meantime.errors import FormatError, InputError, LengthMismatch, OptionError, UsageError
from meantime.metaeval.human import HumanScores, Preferences, Ratings
from meantime.metaeval.reading import (
    Weight,
    parse_weight,
    read,
    read_human_scores,
    read_metric_scores,
    read_preferences,
    read_ratings,
)
from meantime.metaeval.reading.mqm import WEIGHTS

HEADER = "lp\tdomain\tdoc\tseg\tsystem\tsrc\tref\thyp\tscore\tref_id\tis_human\traw\tn"
ROWS = [
    'zh-en\tnews\td1\t1\tone\tsource\treference\tsaid "so\t-1.5\trefA\t0\t\t',
    "zh-en\tnews\td1\t1\ttwo\tsource\treference\t\t\trefA\t0\t77.5\t2",
    "zh-en\tnews\td1\t1\tref-B\tsource\treference\thuman\t0\trefA\t1\t\t",
]


def write(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


# The layout of the WMT collections


def test_wmt_layout(tmp_path: Path) -> None:
    scores = read_human_scores(write(tmp_path / "wmt-mqm.tsv", HEADER, *ROWS))
    assert scores.kind == "mqm"
    one, two, human = scores.pairs
    assert (one.key, one.system) == (("zh-en", "news", "d1", "1"), "one")
    assert one.hypothesis == 'said "so', "a quotation mark is an ordinary character"
    assert one.references == (("refA", "reference"),)
    assert (one.score, one.raw, one.judgements) == (-1.5, None, None)
    assert (two.hypothesis, two.score, two.raw, two.judgements) == ("", None, 77.5, 2)
    assert human.is_human
    assert human.score == 0.0
    assert scores.without_human_translations().systems == ("one", "two")
    grid = scores.grid()
    assert numpy.isnan(grid.human[0, 1]), "not rated is not zero"
    assert grid.human[0, 2] == 0


def test_wmt_layout_gzipped(tmp_path: Path) -> None:
    path = tmp_path / "da.tsv.gz"
    path.write_bytes(gzip.compress("\n".join([HEADER, *ROWS]).encode()))
    assert len(read_human_scores(path)) == 3


def test_fewest_columns_are_hypothesis_and_score(tmp_path: Path) -> None:
    scores = read_human_scores(write(tmp_path / "f.tsv", "hyp\tscore", "a\t1", "b\t2"))
    assert [pair.segment for pair in scores.pairs] == ["1", "2"]
    assert scores.grid().human.shape == (2, 1)


def test_without_segment_numbers_rows_of_systems_are_counted(tmp_path: Path) -> None:
    rows = ["a\tx\t1", "a\ty\t2", "b\tx\t3", "b\ty\t4"]
    grid = read_human_scores(write(tmp_path / "f.tsv", "system\thyp\tscore", *rows)).grid()
    assert grid.human.tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize("name", ["ref-A", "refB", "Human-A.0", "human"])
def test_human_translations_are_known_by_their_names(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "f.tsv", "system\thyp\tscore", f"{name}\tx\t1", "reformer\tx\t2")
    assert [pair.is_human for pair in read_human_scores(path).pairs] == [True, False]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ((), "empty"),
        (("hyp\tscore",), "no row"),
        (("hyp\tscore", "a"), ":2: 1 columns, the header has 2"),
        (("hyp\tscore", "a\tgood"), ":2: score is 'good'; give a number"),
        (("hyp\tscore", "a\tnan"), "not rated is never a number"),
        (("hyp\tscore\tn", "a\t1\t1.5"), "whole number"),
        (("hyp\tscore\tis_human", "a\t1\tyes"), "give 0 or 1"),
        (("hyp\tscore\tHyp", "a\t1\tb"), "two columns are called 'hyp'"),
        (("hypo\tscores", "a\t1"), "these columns are no human scores"),
        (("seg\thyp", "1\tb"), "needed are hyp and score"),
    ],
)
def test_damaged_tables_are_refused(tmp_path: Path, rows: tuple[str, ...], words: str) -> None:
    with pytest.raises(FormatError, match=r"f\.tsv") as caught:
        read(write(tmp_path / "f.tsv", *rows))
    assert words in str(caught.value)


def test_the_same_translation_twice_is_refused(tmp_path: Path) -> None:
    scores = read_human_scores(write(tmp_path / "f.tsv", HEADER, ROWS[0], ROWS[0]))
    with pytest.raises(InputError, match="lines 2 and 3"):
        scores.grid()
    assert scores.grid(duplicates="average").human[0, 0] == -1.5


def test_other_kinds_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds human scores; expected preferences"):
        read_preferences(write(tmp_path / "f.tsv", HEADER, *ROWS))


def test_preferences(tmp_path: Path) -> None:
    header = "lp\tdomain\tdoc\tseg\tsrc\tref\tref_id\tbetter_system\tbetter\tworse_system\tworse"
    row = "gu-en\tnews\t\t1\ts\tr\tref\tA\tgood\tB\tbad"
    [preference] = read_preferences(write(tmp_path / "f.tsv", header, row)).rows
    assert (preference.better_system, preference.better) == ("A", "good")
    assert (preference.worse_system, preference.worse) == ("B", "bad")


def test_language_pairs_can_be_picked(tmp_path: Path) -> None:
    path = write(tmp_path / "f.tsv", HEADER, *ROWS, ROWS[0].replace("zh-en", "de-en"))
    found = read(path, lps=["de-en"])
    assert isinstance(found, HumanScores)
    assert [pair.lp for pair in found.pairs] == ["de-en"]
    with pytest.raises(InputError, match="there are de-en, zh-en"):
        read(path, lps=["fr-en"])


# Judgements one by one


def test_ratings(tmp_path: Path) -> None:
    header = "judge\tseg\tsystem\tscore"
    ratings = read_ratings(write(tmp_path / "f.tsv", header, "Ann\t1\tA\t4", "Bob\t1\tA\t"))
    assert ratings.judges == ("Ann", "Bob")
    assert [row.score for row in ratings.rows] == [4, None]
    assert ratings.rows[0].item == ratings.rows[1].item


# MQM

MQM = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


def errors(*rows: tuple[str, str], judge: str = "r1", seg: str = "1") -> list[str]:
    return [
        f"sys\td\t{seg}\t{judge}\tsource\ta <v>wrong</v> word\t{category}\t{severity}"
        for category, severity in rows
    ]


def test_mqm_weights_add_up(tmp_path: Path) -> None:
    path = write(
        tmp_path / "f.tsv",
        MQM,
        *errors(("Accuracy/Mistranslation", "Major"), ("Fluency/Punctuation", "Minor")),
        *errors(("Accuracy/Omission", "minor"), ("Style/Awkward", "Neutral")),
        *errors(("No-error", "No-error"), judge="r2"),
        *errors(("Non-translation!", "Major"), seg="2"),
    )
    ratings = read_ratings(path)
    assert ratings.kind == "mqm"
    assert {(row.judge, row.segment): row.score for row in ratings.rows} == {
        ("r1", "1"): pytest.approx(-6.1),
        ("r2", "1"): 0.0,
        ("r1", "2"): -25.0,
    }
    assert ratings.rows[0].hypothesis == "a wrong word"


def test_mqm_weights_are_options(tmp_path: Path) -> None:
    path = write(tmp_path / "f.tsv", MQM, *errors(("Style", "Critical"), ("Style", "Major")))
    with pytest.raises(FormatError, match=r":2: no weight for severity 'Critical'.*Critical=5"):
        read_ratings(path)
    weights = (parse_weight("critical=10"), *WEIGHTS)
    assert read_ratings(path, weights=weights).rows[0].score == -15
    assert read_ratings(path, weights=weights, worst=12).rows[0].score == -12


def test_the_first_weight_that_fits_counts(tmp_path: Path) -> None:
    path = write(tmp_path / "f.tsv", MQM, *errors(("Style/Awkward", "Major")))
    style = Weight("", "style", 2)
    assert read_ratings(path, weights=(style, *WEIGHTS)).rows[0].score == -2
    assert read_ratings(path, weights=(*WEIGHTS, style)).rows[0].score == -5


def test_weights_as_text() -> None:
    assert parse_weight("minor/Fluency/Punctuation=0.1") == Weight(
        "minor", "Fluency/Punctuation", 0.1
    )
    assert parse_weight("*/Non-translation=25") == Weight("", "Non-translation", 25)


@pytest.mark.parametrize("wrong", ["major", "major=", "=5", "major=-1", "major=x", "major=inf"])
def test_what_is_no_weight_is_refused(wrong: str) -> None:
    with pytest.raises(OptionError, match="is no weight"):
        parse_weight(wrong)


# Scores of other metrics


def test_metric_scores_line_up(tmp_path: Path) -> None:
    scores = read_human_scores(write(tmp_path / "h.tsv", HEADER, *ROWS))
    path = write(
        tmp_path / "s.tsv", "lp\tseg\tsystem\tOne\tTwo", "zh-en\t1\ttwo\t3\t", "x\t1\ttwo\t9\t9"
    )
    lined = read_metric_scores(path).line_up(scores)
    assert list(lined) == ["One", "Two"]
    numpy.testing.assert_array_equal(lined["One"], [numpy.nan, 3, numpy.nan])
    assert numpy.isnan(lined["Two"]).all(), "absent, not zero"
    turned = read_metric_scores(path, lower=["One"]).line_up(scores)
    assert turned["One"][1] == -3


def test_metric_scores_of_something_else_are_refused(tmp_path: Path) -> None:
    scores = read_human_scores(write(tmp_path / "h.tsv", HEADER, *ROWS))
    path = write(tmp_path / "s.tsv", "lp\tseg\tsystem\tOne", "zh-en\t7\ttwo\t3")
    with pytest.raises(InputError, match="matched by lp, segment, system, such as zh-en/1/one"):
        read_metric_scores(path).line_up(scores)


def test_metric_scores_that_cannot_tell_translations_apart(tmp_path: Path) -> None:
    scores = read_human_scores(
        write(tmp_path / "h.tsv", HEADER, ROWS[0], ROWS[0].replace("d1", "d2"))
    )
    path = write(tmp_path / "s.tsv", "lp\tseg\tsystem\tOne", "zh-en\t1\tone\t3")
    with pytest.raises(InputError, match="add the columns domain and doc"):
        read_metric_scores(path).line_up(scores)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (("seg\tsystem", "1\ta"), "no column of a metric's scores"),
        (("system\tOne", "a\t1"), "no column seg"),
        (("seg\tOne", "1\tx"), "One is 'x'"),
        (("seg\tOne", "1\t2", "1\t3"), ":3: 1 stands in line 2 too"),
    ],
)
def test_damaged_metric_scores(tmp_path: Path, rows: tuple[str, ...], words: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_metric_scores(write(tmp_path / "s.tsv", *rows))
    assert words in str(caught.value)


def test_turning_round_what_is_not_there(tmp_path: Path) -> None:
    path = write(tmp_path / "s.tsv", "seg\tOne", "1\t2")
    with pytest.raises(UsageError, match="there are One"):
        read_metric_scores(path, lower=["Two"])


# The folder layout of mt-metrics-eval


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "wmt00"
    for name in ("documents", "sources", "references", "human-scores"):
        (root / name).mkdir(parents=True)
    (root / "system-outputs" / "zh-en").mkdir(parents=True)
    (root / "metric-scores" / "zh-en").mkdir(parents=True)
    write(root / "documents" / "zh-en.docs", "news\td1", "social\td2")
    write(root / "sources" / "zh-en.txt", "s1", "s2")
    write(root / "references" / "zh-en.refA.txt", "r1", "r2")
    write(root / "references" / "zh-en.refB.txt", "b1", "b2")
    for system in ("one", "refB"):
        write(root / "system-outputs" / "zh-en" / f"{system}.txt", f"{system} 1", f"{system} 2")
    rows = ("one\t-1.5", "one\tNone", "refB\t0", "refB\t-3")
    write(root / "human-scores" / "zh-en.mqm.seg.score", *rows)
    write(root / "human-scores" / "zh-en.wmt-z.seg.score", *("one\t0.5", "one\t0.25"))
    write(root / "metric-scores" / "zh-en" / "Best-refA.seg.score", "one\t0.1", "one\t0.2")
    return root


def test_folder(folder: Path) -> None:
    scores = read_human_scores(folder)
    assert scores.kind == "mqm"
    first, second, *others = scores.pairs
    assert (first.domain, first.document, first.segment) == ("news", "d1", "1")
    assert (first.source, first.hypothesis) == ("s1", "one 1")
    assert first.references == (("refA", "r1"),)
    assert (first.score, second.score) == (-1.5, None)
    assert all(pair.is_human for pair in others)
    assert not first.is_human


def test_folder_with_choices(folder: Path) -> None:
    scores = read(folder, kind="wmt-z", reference="refB", lps=["zh-en"])
    assert isinstance(scores, HumanScores)
    assert [pair.score for pair in scores.pairs] == [0.5, 0.25]
    assert scores.pairs[0].references == (("refB", "b1"),)
    with pytest.raises(InputError, match="there are refA, refB"):
        read(folder, reference="refC")
    with pytest.raises(InputError, match="there are mqm, wmt-z"):
        read(folder, kind="esa")
    with pytest.raises(InputError, match="there are zh-en"):
        read(folder, lps=["de-en"])


def test_folder_with_metric_scores(folder: Path) -> None:
    scores = read_metric_scores(folder / "metric-scores" / "zh-en")
    lined = scores.line_up(read_human_scores(folder))
    numpy.testing.assert_array_equal(lined["Best-refA"], [0.1, 0.2, numpy.nan, numpy.nan])
    [file] = (folder / "metric-scores" / "zh-en").iterdir()
    assert read_metric_scores(file).metrics == ("Best-refA",)


def test_folder_with_files_of_other_lengths(folder: Path) -> None:
    write(folder / "references" / "zh-en.refA.txt", "r1")
    with pytest.raises(LengthMismatch, match=r"refA\.txt: 1 segments, sources/zh-en.txt has 2"):
        read(folder)


def test_folder_with_an_output_missing(folder: Path) -> None:
    (folder / "system-outputs" / "zh-en" / "one.txt").unlink()
    with pytest.raises(InputError, match="system 'one' has scores, but"):
        read(folder)


def test_any_other_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no test set of mt-metrics-eval"):
        read(tmp_path)


# What is beside the repository

SETS = {
    "wmt15-da-toen": 2000,
    "wmt17-da-toen": 3920,
    "wmt20-news-zhen-mqm-sample": 320,
    "wmt21-news-zhen-mqm": 5850,
    "wmt22-general-zhen-dasqm": 15652,
}


@pytest.mark.needs("shared")
@pytest.mark.parametrize(("name", "rows"), SETS.items())
def test_shared_sets(shared: Path, name: str, rows: int) -> None:
    scores = read_human_scores(shared / "wmt" / f"{name}.tsv.gz")
    assert len(scores) == rows
    scores.without_human_translations().grid()


@pytest.mark.needs("shared")
def test_shared_preferences(shared: Path) -> None:
    found = read(shared / "wmt" / "wmt19-darr-toen.tsv.gz")
    assert isinstance(found, Preferences)
    assert len(found) == 51697


def test_kinds_are_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "f.tsv", "judge\tseg\tsystem\tscore\thyp", "Ann\t1\tA\t4\tx")
    assert isinstance(read(path), Ratings)
