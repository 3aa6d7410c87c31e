"""Metrics of one's own judgements: found where there is something, honest where there is not."""

from __future__ import annotations

import numpy
import pytest

from meantime.errors import InputError, UsageError
from meantime.learned import fitting
from meantime.learned.choices import Learner
from meantime.learned.figures import Estimate
from meantime.learned.fitting import fit
from meantime.learned.journal import Journal

NAMES = ["one", "two", "three", "noise"]


def _judged(count: int = 60, systems: int = 2, noise: float = 0.5, seed: int = 1):
    rng = numpy.random.default_rng(seed)
    rows = rng.normal(size=(count * systems, 4))
    human = 50 + 10 * (rows @ [1, 0.6, -0.8, 0] + noise * rng.normal(size=len(rows)))
    return rows, human, [n // systems for n in range(len(rows))]


def test_weights_are_found() -> None:
    rows, human, segments = _judged()
    found = fit(rows, human, segments, NAMES, learner="ridge")
    assert found.pearson.mean > 0.85
    assert found.pearson.mean > found.alone.mean + 0.1
    assert found.best_feature == "one"
    assert found.within_segments is not None
    assert found.within_segments > 0.5
    predicted = found.machine(found.scaler(rows)) * found.deviation + found.mean
    assert numpy.corrcoef(predicted, human)[0, 1] > 0.85
    assert abs(predicted.mean() - human.mean()) < 1
    assert [point.segments for point in found.curve] == [6, 12, 24, 48]


def test_a_bend_is_found_by_a_machine_alone() -> None:
    rng = numpy.random.default_rng(2)
    rows = rng.normal(size=(200, 4))
    human = rows[:, 0] ** 2 + 0.1 * rng.normal(size=200)
    ridge, svm = (
        fit(rows, human, range(200), NAMES, learner=learner, folds=3)
        for learner in (Learner.RIDGE, Learner.BOTH)
    )
    assert ridge.pearson.mean < 0.4
    assert svm.pearson.mean > 0.7
    assert svm.trial.learner is Learner.SVM


def test_noise_is_not_learned() -> None:
    rng = numpy.random.default_rng(3)
    found = fit(rng.normal(size=(150, 4)), rng.normal(size=150), range(150), NAMES, learner="ridge")
    assert abs(found.pearson.mean) < 0.25


def test_segments_never_stand_on_both_sides(monkeypatch) -> None:
    """A feature that knows the segment is worth nothing on other segments."""
    rng = numpy.random.default_rng(4)
    segments = [n // 5 for n in range(200)]
    human = numpy.repeat(rng.normal(size=40), 5)
    rows = numpy.column_stack([numpy.repeat(rng.normal(size=40), 5), rng.normal(size=200)])
    found = fit(rows, human, segments, NAMES[:2], learner="svm", folds=4)
    assert found.pearson.mean < 0.5
    assert found.within_segments is None, "people order nothing inside a segment"


def test_the_same_seed_gives_the_same_metric(tmp_path) -> None:
    rows, human, segments = _judged(20)
    one, other = (fit(rows, human, segments, NAMES, learner="both", folds=3, seed=7) for _ in "ab")
    assert one.pearson == other.pearson
    assert numpy.array_equal(one.machine.weights, other.machine.weights)
    moved = fit(rows, human, segments, NAMES, learner="both", folds=3, seed=8)
    assert moved.pearson != one.pearson


def test_it_goes_on_where_it_was(tmp_path, monkeypatch) -> None:
    rows, human, segments = _judged(20)
    whole = fit(rows, human, segments, NAMES, learner="ridge", folds=3)
    real = fitting._predict
    count = 0

    def dying(*arguments):
        nonlocal count
        count += 1
        if count == 20:
            raise RuntimeError
        return real(*arguments)

    monkeypatch.setattr(fitting, "_predict", dying)
    path = tmp_path / "tried.jsonl"
    with pytest.raises(RuntimeError):
        fit(rows, human, segments, NAMES, learner="ridge", folds=3, journal=Journal(path, "x"))
    steps: list[tuple[int, int]] = []
    found = fit(
        rows, human, segments, NAMES, learner="ridge", folds=3, journal=Journal(path, "x"),
        progress=lambda *step: steps.append(step),
    )  # fmt: skip
    assert found.pearson == whole.pearson
    assert found.curve == whole.curve
    assert steps[-1][0] == steps[-1][1]
    assert [done for done, _ in steps] == list(range(1, steps[-1][1] + 1))


@pytest.mark.parametrize(
    ("gain", "margin", "words"),
    [
        (0.05, 0.01, "more judgements would help:"),
        (0.002, 0.01, "more judgements would help little:"),
        (0.02, 0.05, "whether more judgements would help is not clear:"),
    ],
)
def test_the_verdict(gain: float, margin: float, words: str) -> None:
    rows, human, segments = _judged(15)
    found = fit(rows, human, segments, NAMES, learner="ridge", folds=3)
    object.__setattr__(found, "gain", Estimate(gain, margin))
    assert found.verdict.startswith(words)


def test_what_cannot_be_fitted_is_said() -> None:
    rows, human, segments = _judged(20)
    with pytest.raises(InputError, match="all 40 human scores are 3"):
        fit(rows, numpy.full(40, 3.0), segments, NAMES)
    with pytest.raises(InputError, match="20 judged segments for 10 folds; give at least 30"):
        fit(rows, human, segments, NAMES, folds=10)
    with pytest.raises(InputError, match="not a number"):
        fit(rows, numpy.where(human > 50, human, numpy.nan), segments, NAMES)
    with pytest.raises(InputError, match="40 pairs, 3 scores"):
        fit(rows, human[:3], segments, NAMES)
    with pytest.raises(InputError, match="are the same in all 40 translations"):
        fit(numpy.ones((40, 4)), human, segments, NAMES)
    with pytest.raises(UsageError, match="2 or more"):
        fit(rows, human, segments, NAMES, folds=1)
    found = fit(numpy.hstack([rows[:, :3], numpy.ones((40, 1))]), human, segments, NAMES,
                learner="ridge", folds=3)  # fmt: skip
    assert found.notes == (
        "1 of 4 features are the same in all 40 translations and are left out: noise",
    )
