from __future__ import annotations

import json
from pathlib import Path

import pytest

from meantime.errors import FormatError, InputError, UsageError
from meantime.metaeval.evaluating import Scope
from meantime.metaeval.judging import Normalisation
from meantime.metaeval.tasks import ANOTHER, Task, read_tasks, run


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def table(path: Path, *rows: tuple[object, ...]) -> Path:
    return write(path, "".join("\t".join(map(str, row)) + "\n" for row in rows))


WMT = ("lp", "domain", "seg", "system", "ref", "hyp", "score", "is_human")


def grid(path: Path, *, rated: bool = True) -> Path:
    rows = [
        (
            lp, "news" if seg < 3 else "chat", seg, system, f"a reference number {seg} {lp}",
            f"a {'reference' if system == 'one' else system} number {seg}",
            (seg % 3 + number if rated else ""), 0,
        )
        for lp in ("xx-en", "yy-en")
        for seg in range(1, 6)
        for number, system in enumerate(("one", "two", "three"))
    ]  # fmt: skip
    return table(path, WMT, *rows)


# Files of tasks


def test_a_file_holds_many_tasks(tmp_path: Path) -> None:
    path = write(
        tmp_path / "tasks.toml",
        """
        [defaults]
        metrics = ["bleu", "chrf"]
        resamples = 100

        [[task]]
        name = "first"
        data = "a.tsv"
        level = ["seg", "sys"]

        [[task]]
        data = ["a.tsv", "b.tsv.gz"]
        metrics = ["ter"]
        scores = ["peers.tsv"]
        by = "domain"
        normalise = "z"
        """,
    )
    first, second, third, fourth = read_tasks(path)
    assert [first.level, second.level] == [Scope.SEGMENTS, Scope.SYSTEMS]
    assert (first.name, first.metrics, first.resamples) == ("first", ("bleu", "chrf"), 100)
    assert first.data == str(tmp_path / "a.tsv"), "beside the file of tasks"
    assert [third.name, fourth.name] == ["a", "b"]
    assert third.scores == (str(tmp_path / "peers.tsv"),)
    assert third.normalise is Normalisation.Z
    assert third.metrics == ("ter",)


def test_json_says_the_same(tmp_path: Path) -> None:
    content = {"task": [{"data": "a.tsv", "metrics": ["bleu"], "level": "sys"}]}
    [task] = read_tasks(write(tmp_path / "tasks.json", json.dumps(content)))
    assert task == Task(
        data=str(tmp_path / "a.tsv"), name="a", metrics=("bleu",), level=Scope.SYSTEMS
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[task]", "neither TOML nor JSON"),
        ("x = 1", "holds [[task]] tables"),
        ("", "holds [[task]] tables"),
        ("task = 1", "is no list of tables"),
        ("[[task]]\nmetrics = ['bleu']", "task 1: no data"),
        ("[[task]]\ndata = 'a'\nmetric = ['bleu']", "no 'metric'; did you mean metrics?"),
        ("[[task]]\ndata = 'a'\nmetrics = 1", "give a list of texts"),
        ("[[task]]\ndata = 'a'\nresamples = 'many'", "give a whole number"),
        ("[[task]]\ndata = 'a'\nhuman_translations = 1", "give true or false"),
        ("[[task]]\ndata = 'a'\nseed = true", "give a whole number"),
        ("[[task]]\ndata = 'a'\nlevel = 'word'", "choose from seg, sys"),
        ("[[task]]\ndata = 'a'\nby = 'year'", "choose from lp, domain, document"),
        ("[[task]]\ndata = 'a'\nresamples = -1", "give 0 (none) or more"),
        ("[[task]]\ndata = 'a'\nweights = ['x']", "is no weight"),
    ],
)
def test_wrong_tasks(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path / "tasks.toml", text)
    with pytest.raises((FormatError, UsageError), match=r"tasks\.toml|weight") as caught:
        read_tasks(path)
    assert words in str(caught.value)


# Running


def test_one_table_for_all_or_for_each(tmp_path: Path) -> None:
    data = str(grid(tmp_path / "a.tsv"))
    [whole] = run(Task(data=data, metrics=("chrf",), resamples=0)).evaluations
    assert [one.lp for one in whole.sets] == ["xx-en", "yy-en"]
    pairs = run(Task(data=data, metrics=("chrf",), resamples=0, by="lp")).evaluations
    assert [table.group for table in pairs] == ["xx-en", "yy-en"]
    domains = run(Task(data=data, metrics=("chrf",), resamples=0, by="domain")).evaluations
    assert [(table.group, len(table.sets)) for table in domains] == [("news", 2), ("chat", 2)]
    mean = sum(table.row("chrf").cells[table.leading].value for table in pairs) / 2
    assert whole.row("chrf").cells[whole.leading].value == pytest.approx(mean)


def test_one_language_pair(tmp_path: Path) -> None:
    data = str(grid(tmp_path / "a.tsv"))
    [only] = run(Task(data=data, metrics=("chrf",), resamples=0, lps=("yy-en",))).evaluations
    assert [one.lp for one in only.sets] == ["yy-en"]


def test_human_translations_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    rows = [
        ("xx-en", "", seg, system, f"reference {seg}", text, score, human)
        for seg in range(4)
        for system, text, score, human in (
            ("a", f"some {seg}", seg, 0),
            ("b", f"other {seg}", 4 - seg, 0),
            ("ref-A", f"reference {seg}", 9, 1),
            ("ref-B", f"another reference {seg}", 8, 1),
        )
    ]
    data = str(table(tmp_path / "a.tsv", WMT, *rows))
    without = run(Task(data=data, metrics=("chrf",), resamples=0))
    assert without.evaluations[0].sets[0].systems == 2
    assert without.notes == ("8 human translations are left out",)
    asked = run(Task(data=data, metrics=("chrf",), resamples=0, human_translations=True))
    assert asked.evaluations[0].sets[0].systems == 3
    assert asked.notes == ("4 human translations are the reference itself and left out",)
    assert asked.evaluations[0].row("chrf").area == 1


JUDGED = ("judge", "seg", "system", "hyp", "ref", "score")


def judged(path: Path) -> Path:
    """Two judges of whom one is stricter; item 7 is rated by one."""
    rows = [
        (judge, seg, "one", f"text {'x ' * seg}", "text x x x", score)
        for seg in range(8)
        for judge, score in (("kind", seg // 2 + 2), ("strict", seg // 2))
        if seg < 7 or judge == "kind"
    ]
    return table(path, JUDGED, *rows)


def test_judgements_are_normalised_and_averaged(tmp_path: Path) -> None:
    data = str(judged(tmp_path / "a.tsv"))
    raw = run(Task(data=data, metrics=("chrf",), resamples=0))
    scores = {pair.segment: pair.score for pair in raw.collected[""].scores.pairs}
    assert scores["0"] == 1
    assert scores["7"] == 5, "the kind judge's alone"
    assert "2 judges agree with Krippendorff's alpha" in raw.notes[0]
    normal = run(Task(data=data, metrics=("chrf",), resamples=0, normalise="percentile"))  # type: ignore[arg-type]
    scores = {pair.segment: pair.score for pair in normal.collected[""].scores.pairs}
    # The two lowest of 8 and of 7: 2 / 16 and 2 / 14.
    assert scores["0"] == pytest.approx((1 / 8 + 1 / 7) / 2)


def test_another_judge_stands_among_the_metrics(tmp_path: Path) -> None:
    data = str(judged(tmp_path / "a.tsv"))
    outcome = run(
        Task(data=data, metrics=("chrf",), resamples=0, normalise="z", another_judge=True)  # type: ignore[arg-type]
    )
    [found] = outcome.evaluations
    assert set(found.names) == {"chrf", ANOTHER, "minus reference length"}
    assert found.sets[0].rated == 7, "what two judged"
    assert found.row(ANOTHER).rank == 1
    again = run(Task(data=data, metrics=("chrf",), resamples=0, normalise="z", another_judge=True))  # type: ignore[arg-type]
    assert again.evaluations == outcome.evaluations


def test_scores_of_other_metrics_are_turned(tmp_path: Path) -> None:
    data = str(grid(tmp_path / "a.tsv"))
    rows = [
        (lp, seg, system, number, 3 - number)
        for lp in ("xx-en", "yy-en")
        for seg in range(1, 6)
        for number, system in enumerate(("one", "two", "three"))
    ]
    peers = str(table(tmp_path / "p.tsv", ("lp", "seg", "system", "Good", "Error"), *rows))
    [found] = run(Task(data=data, scores=(peers,), lower=("Error",), resamples=0)).evaluations
    assert found.row("Good").cells[found.leading].value == pytest.approx(1)
    assert found.row("Error").cells[found.leading].value == pytest.approx(1)
    with pytest.raises(UsageError, match="there are Error, Good"):
        run(Task(data=data, scores=(peers,), lower=("TER",), resamples=0))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "no metric was given"),
        ({"metrics": ("chrf",), "normalise": "z"}, "holds no judgements one by one"),
        ({"metrics": ("chrf",), "another_judge": True}, "split into the truth"),
        ({"metrics": ("chrf",), "statistics": ("rho",)}, "choose from pearson"),
        ({"metrics": ("chrf",), "lps": ("zz-en",)}, "no row of language pair 'zz-en'"),
    ],
)
def test_what_cannot_be_done(tmp_path: Path, change: dict, words: str) -> None:
    with pytest.raises((InputError, UsageError)) as caught:
        run(Task(data=str(grid(tmp_path / "a.tsv")), resamples=0, **change))
    assert words in str(caught.value)


def test_nothing_rated(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no translation is rated"):
        run(Task(data=str(grid(tmp_path / "a.tsv", rated=False)), metrics=("chrf",)))


def test_preferences_have_no_systems(tmp_path: Path) -> None:
    header = ("lp", "seg", "ref", "better_system", "better", "worse_system", "worse")
    rows = [("xx-en", n, "the text", "A", "the text", "B", f"x {n}") for n in range(4)]
    data = str(table(tmp_path / "a.tsv", header, *rows))
    [found] = run(Task(data=data, metrics=("chrf",), resamples=50)).evaluations
    assert found.row("chrf").cells[found.leading].value == 1
    with pytest.raises(UsageError, match="no system level"):
        run(Task(data=data, metrics=("chrf",), level=Scope.SYSTEMS))


def test_one_segment_has_no_interval_of_width_nothing(tmp_path: Path) -> None:
    rows = [
        ("xx-en", "", 1, system, "a small reference", f"a {system} reference", score, 0)
        for system, score in (("small", 3), ("big", 2), ("tall", 1))
    ]
    path = table(tmp_path / "data.tsv", WMT, *rows)
    found = run(Task(data=path, metrics=("chrf",), resamples=100)).evaluations[0]
    assert found.rows[0].cells[found.leading].value is not None
    assert found.rows[0].cells[found.leading].interval is None
    assert any("one segment: nothing can be resampled" in note for note in found.notes)


def test_a_folder_called_by_a_dot_has_a_name(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "campaign"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with pytest.raises(UsageError, match=r"^campaign: no metric"):
        run(Task(data=Path()))
