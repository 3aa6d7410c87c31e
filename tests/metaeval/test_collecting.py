"""Measuring judged translations, and keeping what was measured."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from meantime import Level, Pair, Segment, Sentence, create
from meantime.errors import InputError
from meantime.metaeval import collecting
from meantime.metaeval.collecting import LENGTH, collect
from meantime.metaeval.human import HumanScores, JudgedPair
from meantime.metaeval.outside import MetricScores
from meantime.metaeval.store import StatisticsStore, digest
from meantime.types import Layer


def made(count: int = 6, lps: tuple[str, ...] = ("xx-en",)) -> HumanScores:
    pairs = [
        JudgedPair(
            lp, "", "", str(n), system, None, (("ref", f"the reference number {n}"),),
            f"{system} says number {n}", float(n),
        )
        for lp in lps
        for n in range(count)
        for system in ("one", "two")
    ]  # fmt: skip
    return HumanScores("made", "", tuple(pairs))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    counts: list[int] = []
    real = collecting.measure_pairs

    def counting(pairs, metrics, **options):
        counts.append(len(pairs) * len(metrics))
        return real(pairs, metrics, **options)

    monkeypatch.setattr(collecting, "measure_pairs", counting)
    return counts


def test_scores_are_those_of_the_metric_turned_so_that_higher_is_better() -> None:
    scores = made()
    [found] = collect(scores, ["chrf", "ter"]).values()
    for column in found.columns:
        segments = [Segment("", (Sentence(pair.references[0][1]),)) for pair in scores.pairs]
        metric = create(column.name).prepare(segments)
        rows = metric.measure(
            [Pair(Sentence(p.hypothesis), s) for p, s in zip(scores.pairs, segments, strict=True)]
        )
        sign = 1 if metric.higher_is_better else -1
        expected = [sign * metric.score(row, Level.SEGMENT).value for row in rows]
        assert column.scores.tolist() == pytest.approx(expected)
        assert column.signature == metric.signature()


def test_a_test_set_is_a_language_pair() -> None:
    """NIST's weights come from the references of the pair alone."""
    both = collect(made(lps=("xx-en", "yy-en")), ["nist"])
    alone = collect(made(), ["nist"])
    assert list(both) == ["xx-en", "yy-en"]
    assert both["xx-en"].columns[0].scores.tolist() == alone["xx-en"].columns[0].scores.tolist()


def test_length_is_counted_in_words_of_the_reference() -> None:
    [found] = collect(made(), [], length=True).values()
    [column] = found.columns
    assert column.name == LENGTH
    assert set(column.scores) == {-4.0}


def test_kept_statistics_are_not_measured_again(tmp_path: Path, measured, monkeypatch) -> None:
    monkeypatch.setattr(collecting, "PIECE", 5)
    store = StatisticsStore(tmp_path / "kept")
    first = collect(made(), ["chrf"], store=store)
    assert sum(measured) == 12
    again = collect(made(), ["chrf"], store=store)
    assert sum(measured) == 12
    assert again["xx-en"].columns[0].scores.tolist() == first["xx-en"].columns[0].scores.tolist()
    collect(made(), ["chrf", "wer"], store=store)
    assert sum(measured) == 24, "one metric more measures that metric alone"
    collect(made(), ["chrf:beta=1"], store=store)
    assert sum(measured) == 36, "other options are another metric"


def test_a_run_that_was_stopped_goes_on(tmp_path: Path, measured, monkeypatch) -> None:
    monkeypatch.setattr(collecting, "PIECE", 5)
    store = StatisticsStore(tmp_path / "kept")
    collect(made(), ["chrf"], store=store)
    removed = store.files()[0]
    removed.unlink()
    measured.clear()
    collect(made(), ["chrf"], store=store)
    assert sum(measured) in (2, 5)


def test_other_texts_are_measured_anew(tmp_path: Path, measured) -> None:
    store = StatisticsStore(tmp_path / "kept")
    collect(made(6), ["nist"], store=store)
    collect(made(5), ["nist"], store=store)
    assert sum(measured) == 22, "with other references NIST is another metric"


def test_damaged_statistics_are_measured_anew(tmp_path: Path, measured) -> None:
    store = StatisticsStore(tmp_path / "kept")
    first = collect(made(), ["chrf"], store=store)
    for path in store.files():
        path.write_bytes(path.read_bytes()[:-8])
    again = collect(made(), ["chrf"], store=store)
    assert sum(measured) == 24
    assert again["xx-en"].columns[0].scores.tolist() == first["xx-en"].columns[0].scores.tolist()


def test_where_nothing_can_be_kept_the_scores_are_there(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file in the way")
    found = collect(made(), ["chrf"], store=StatisticsStore(tmp_path / "kept"))
    assert "are not kept" in (found["xx-en"].note or "")
    assert len(found["xx-en"].columns[0].scores) == 12


def test_progress_counts_pairs(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    collect(
        made(lps=("xx-en", "yy-en")), ["chrf", "wer"],
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told[-1] == (48, 48)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_metric_given_twice_is_refused() -> None:
    scores = MetricScores("file", ("segment",), {"chrf": {("1",): 1.0}})
    with pytest.raises(InputError, match="chrf is given twice"):
        collect(made(), ["chrf"], outside=[scores])


def test_a_metric_that_needs_the_source_says_so(monkeypatch) -> None:
    metric = create("chrf")
    monkeypatch.setattr(type(metric), "needs", frozenset({Layer.SOURCE}))
    with pytest.raises(InputError, match=r"has no source .* add the column src"):
        collect(made(), ["chrf"])


def test_texts_must_be_there_to_be_measured() -> None:
    bare = HumanScores(
        "bare", "", (JudgedPair("", "", "", "1", "one", None, (), None, 1.0, line=7),)
    )
    with pytest.raises(InputError, match="bare:7: no hypothesis"):
        collect(bare, ["chrf"])
    assert collect(bare)[""].columns == ()


# The store


def test_keys_tell_texts_apart() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])
    assert digest(["a"]) == digest(["a"])


def test_rows_come_back(tmp_path: Path) -> None:
    store = StatisticsStore(tmp_path)
    rows = numpy.arange(6.0).reshape(3, 2)
    assert store.load("k", 3) is None
    assert store.keep("k", rows) is None
    numpy.testing.assert_array_equal(store.load("k", 3), rows)
    assert store.load("k", 2) is None, "another number of rows is something else"


def test_the_oldest_go_when_there_is_too_much(tmp_path: Path) -> None:
    store = StatisticsStore(tmp_path, limit=2000)
    for number in range(5):
        store.keep(str(number), numpy.zeros((100, 1)))
    assert store.size() <= 2000
    assert store.load("4", 100) is not None
    assert store.load("0", 100) is None
    assert store.clear() == 2
    assert store.files() == []
