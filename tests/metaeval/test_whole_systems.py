"""Human scores of systems as a whole, from `.sys.score` files of a folder."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
from scipy import stats

from meantime.errors import FormatError, InputError, UsageError
from meantime.metaeval.reading import read
from meantime.metaeval.tasks import Task, run

WORDS = "the old mayor of our town did not sign that long contract on Monday".split()
SYSTEMS = ("a", "b", "c", "d")
WHOLE = {"a": 0.9, "b": 0.2, "c": 0.5, "d": -0.3}


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve segments by four systems, of which the k-th leaves out k words and one more."""
    rng = numpy.random.default_rng(5)
    root = tmp_path / "set"
    references = [" ".join(rng.permutation(WORDS)[:10]) for _ in range(12)]
    _write(root / "sources" / "de-en.txt", [f"s{n}" for n in range(12)])
    _write(root / "references" / "de-en.refA.txt", references)
    _write(root / "documents" / "de-en.docs", [f"news d{n // 6}" for n in range(12)])
    for place, system in enumerate(SYSTEMS):
        outputs = [" ".join(one.split()[: 10 - place - n % 2]) for n, one in enumerate(references)]
        _write(root / "system-outputs" / "de-en" / f"{system}.txt", outputs)
    _write(
        root / "human-scores" / "de-en.mqm.sys.score",
        [*(f"{system} {score}" for system, score in WHOLE.items()), "unpublished None"],
    )
    return root


def _rate(folder: Path, scores: dict[str, list[float | None]]) -> None:
    lines = [f"{system} {score}" for system, own in scores.items() for score in own]
    _write(folder / "human-scores" / "de-en.mqm.seg.score", lines)


def _run(folder: Path, **changes):
    task = Task(data=str(folder), metrics=("chrf", "wer"), level="sys", resamples=100, **changes)
    return run(task)


def _value(outcome, name: str, statistic: str) -> float | None:
    [table] = outcome.evaluations
    return next(
        cell.value
        for figure, cell in table.row(name).cells.items()
        if figure.statistic == statistic
    )


def test_systems_alone(folder: Path) -> None:
    outcome = _run(folder)
    collected = outcome.collected["de-en"]
    column = next(one for one in collected.columns if one.name == "wer")
    rows = column.statistics[collected.grid.index]
    metric = [column.corpus_score(rows[:, place].sum(axis=0)) for place in range(4)]
    expected = stats.pearsonr([WHOLE[one] for one in collected.grid.systems], metric).statistic
    assert _value(outcome, "wer", "pearson") == pytest.approx(expected, abs=1e-12)
    assert _value(outcome, "wer", "accuracy") == 5 / 6
    assert _value(outcome, "wer", "soft-accuracy") is None
    [table] = outcome.evaluations
    assert any("rated systems as a whole, not segments" in note for note in table.notes)
    assert outcome.notes == ("human scores are of systems as a whole (.sys.score)",)
    [facts] = table.sets
    assert (facts.segments, facts.systems, facts.rated, facts.whole) == (12, 4, 48, True)
    leading = table.row("chrf").cells[table.leading]
    assert leading.interval is not None
    assert table.p_values


def test_means_of_segments_and_the_same_of_systems_agree(folder: Path) -> None:
    rng = numpy.random.default_rng(1)
    rated = {
        system: [
            float(score + noise) if n % 3 else None for n, noise in enumerate(rng.normal(size=12))
        ]
        for system, score in WHOLE.items()
    }
    _rate(folder, rated)
    means = {
        system: numpy.mean([score for score in own if score is not None])
        for system, own in rated.items()
    }
    _write(
        folder / "human-scores" / "de-en.mqm.sys.score",
        [f"{system} {float(mean)!r}" for system, mean in means.items()],
    )
    whole = _run(folder)
    (folder / "human-scores" / "de-en.mqm.sys.score").unlink()
    parts = _run(folder)
    assert whole.notes
    assert not parts.notes
    for name in ("chrf", "wer"):
        for statistic in ("accuracy", "soft-accuracy", "pearson", "kendall"):
            expected = _value(parts, name, statistic)
            assert _value(whole, name, statistic) == pytest.approx(expected, abs=1e-12)


def test_what_people_said_of_systems_goes_before_the_means(folder: Path) -> None:
    _rate(folder, {system: [-score] * 12 for system, score in WHOLE.items()})
    assert _value(_run(folder), "wer", "pearson") > 0
    # Of a part of the segments nobody said anything as a whole.
    split = run(Task(data=str(folder), metrics=("wer",), level="sys", by="document", resamples=0))
    assert [table.sets[0].whole for table in split.evaluations] == [False, False]
    assert split.notes == ()
    segments = run(Task(data=str(folder), metrics=("wer",), resamples=0))
    assert segments.evaluations[0].sets[0].rated == 48


def test_what_cannot_be_is_said(folder: Path) -> None:
    with pytest.raises(InputError, match=r"no human scores of segments in .*--level sys"):
        run(Task(data=str(folder), metrics=("wer",)))
    with pytest.raises(InputError, match="those of systems as a whole are for --level sys"):
        read(folder, lps=["de-en"])
    with pytest.raises(UsageError, match="so no document has scores"):
        _run(folder, by="document")
    path = folder / "human-scores" / "de-en.mqm.sys.score"
    path.write_text("a 1\na 2\n")
    with pytest.raises(FormatError, match="2 scores of system 'a'"):
        _run(folder)
    path.write_text("a 1\nb 2\n")
    outcome = _run(folder)
    assert _value(outcome, "wer", "pearson") is None
    assert any("3 systems are needed" in note for note in outcome.evaluations[0].notes)
    path.write_text("a 1\nb 2\nc 3\nnobody 4\n")
    with pytest.raises(InputError, match="system 'nobody' has scores, but"):
        _run(folder)
