"""Word similarity inside MEANT: a cell on hand-made data, kept and taken up again; the tables."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from types import SimpleNamespace

import pytest

from meantime.metaeval.grids import Grouping, Statistic
from meantime.metaeval.human import HumanScores, JudgedPair
from meantime.similarity import context_counting
from meantime.types import Frame, Pair, Role, Segment, Sentence, Span

ANIMALS = ("cat", "dog", "bird", "horse", "fish", "mouse")
VERBS = ("chased", "saw", "fed")


@pytest.fixture(scope="module")
def experiment():
    from tests.conftest import ROOT

    path = ROOT / "experiments" / "tumuluru2012" / "run.py"
    spec = importlib.util.spec_from_file_location("tumuluru2012", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["tumuluru2012"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    text = folder / "text.txt"
    lines = [f"the {one} {verb} the {two}" for one in ANIMALS for verb in VERBS for two in ANIMALS]
    text.write_text("\n".join(lines * 3) + "\n")
    path = folder / "tiny.vectors"
    context_counting.train([text], path, windows=(3, 5), min_count=1, jobs=1)
    return path


def sentence(one: str, verb: str, two: str) -> Sentence:
    frame = Frame(Span(1, 2), (Role("ARG0", (Span(0, 1),)), Role("ARG1", (Span(2, 3),))))
    return Sentence(f"{one} {verb} {two}", tokens=(one, verb, two), frames=(frame,))


def judged(experiment, name: str, grouping: Grouping):
    """Six segments, four systems: people look at the agent alone."""
    rows, pairs, groups = [], [], []
    for number, animal in enumerate(ANIMALS):
        other = ANIMALS[number - 1]
        verb = VERBS[number % 3]
        reference = sentence(animal, verb, other)
        segment = Segment(str(number), (reference,))
        outputs = {
            "copy": (reference, 1.0),
            "agent": (sentence(animal, VERBS[(number + 1) % 3], "unread"), 0.8),
            "patient": (sentence("unseen", verb, other), 0.1),
            "nothing": (sentence("unheard", "of", "things"), 0.0),
        }
        for system, (output, score) in outputs.items():
            rows.append(
                JudgedPair(
                    lp="zh-en",
                    domain="",
                    document="",
                    segment=str(number),
                    system=system,
                    source=None,
                    references=(("ref", reference.text),),
                    hypothesis=output.text,
                    score=score,
                    line=len(rows) + 2,
                )
            )
            pairs.append(Pair(output, segment))
            groups.append("odd" if number % 2 else "even")
    human = HumanScores(name, "da", tuple(rows))
    return experiment.Judged(name, human, pairs, groups, grouping)


@pytest.fixture(scope="module")
def sets(experiment):
    training = judged(experiment, "training", Grouping.POOLED)
    tests = [
        judged(experiment, "wmt17 zh-en", Grouping.POOLED),
        judged(experiment, "wmt21 zh-en", Grouping.SEGMENTS),
    ]
    return training, tests


def test_one_cell_is_fitted_scored_and_kept(experiment, vectors, sets, tmp_path) -> None:
    training, tests = sets
    cell = experiment.Cell("jaccard", 3, "linking")
    done = experiment.run_cells(tmp_path, vectors, training, tests, {"pairs": 24}, cells=[cell])
    found = done[cell]
    assert sum(found["weights"]) == 12
    # People look at the agent, so its class must weigh most.
    assert max(found["weights"]) == found["weights"][1]
    assert found["training"] > found["uniform"]
    assert json.loads((tmp_path / cell.file).read_text()) == found
    measured = experiment.measure_cells(done, tests, 50)
    for test in tests:
        one = measured[cell][test.name, Statistic.KENDALL]
        assert 0.7 < one.value <= 1.0
        assert len(one.samples) == 50


def test_what_was_done_is_taken_up_and_other_settings_are_not(
    experiment, vectors, sets, tmp_path, monkeypatch
) -> None:
    training, tests = sets
    cells = [experiment.Cell("dice-printed", 3, "geometric")]
    experiment.run_cells(tmp_path, vectors, training, tests, {"pairs": 1}, cells=cells)
    asked = []

    def window(measure, width, phrases, *_):
        asked.append((measure, width, tuple(phrases)))
        return {}

    monkeypatch.setattr(experiment, "run_window", window)
    experiment.run_cells(tmp_path, vectors, training, tests, {"pairs": 1}, cells=cells)
    assert not asked
    with pytest.raises(KeyError):
        experiment.run_cells(tmp_path, vectors, training, tests, {"pairs": 2}, cells=cells)
    assert asked == [("dice-printed", 3, ("geometric",))]


def test_the_search_may_be_exhaustive(experiment, vectors, sets, monkeypatch) -> None:
    training, tests = sets
    calls = []
    real = experiment.role_weights.fit

    def fit(task, names, **options):
        calls.append(options)
        return real(task, names, total=2, **options)

    monkeypatch.setattr(experiment.role_weights, "fit", fit)
    found = experiment.run_window("jaccard", 5, ["linking"], vectors, training, tests, True)
    assert calls == [{"finer": False}]
    assert sum(found["linking"]["weights"]) == 2


def test_tables_have_every_cell_and_verdicts_their_signs(experiment, sets) -> None:
    training, tests = sets
    cells = {}
    for cell in experiment.cells_of():
        scores = training.human.scores
        # Jaccard agrees with people, all others disagree.
        values = (scores if cell.measure == "jaccard" else -scores).tolist()
        cells[cell] = {
            "weights": [1] * 12,
            "training": 0.5 + 0.001 * cell.window,
            "uniform": 0.4,
            "tried": 10,
            "scores": {test.name: values for test in tests},
        }
    measured = experiment.measure_cells(cells, tests, 20)
    arguments = argparse.Namespace(pairs=24, segments=None, exhaustive=False)
    model = SimpleNamespace(words=("a", "b"), contexts=2)
    about = experiment.describe(training, tests, arguments, 10, model)
    text = experiment.report(cells, measured, training, tests, about)
    assert text.count("| window size ") == 42 + 12
    [line] = [row for row in text.splitlines() if row.startswith("| Jaccard beats Cosine")]
    assert line.endswith("| holds |")
    [line] = [row for row in text.splitlines() if row.startswith("| geometric mean beats linking")]
    assert line.endswith("| not shown |")


def test_samples_repeat_and_keep_all_systems(experiment, sets) -> None:
    human = sets[0].human
    some = experiment.sample_segments(human, 2)
    assert len(some) == 8
    assert some == experiment.sample_segments(human, 2)
    assert len(experiment.sample_pairs(human, 5)) == 5
    assert experiment.sample_pairs(human, None) is human


@pytest.mark.parametrize(
    ("signs", "verdict"),
    [
        ((1, 1), "holds"),
        ((1, 0), "holds on one set, not shown on the other"),
        ((-1, 1), "holds on one set, the opposite on the other"),
        ((0, 0), "not shown"),
        ((0, -1), "the opposite holds on one set, nothing shown on the other"),
        ((-1, -1), "the opposite holds"),
    ],
)
def test_verdicts_say_what_the_intervals_show(experiment, signs, verdict) -> None:
    assert experiment.verdict_of(signs) == verdict


def test_windows_must_hold_the_papers_choice(experiment, capsys) -> None:
    assert experiment.arguments_of(["--windows", "9", "5"]).windows == [5, 9]
    for wrong in (["3", "7"], ["5"], ["5", "6"]):
        with pytest.raises(SystemExit):
            experiment.arguments_of(["--windows", *wrong])
    assert "the paper's choice" in capsys.readouterr().err
