"""Machines: scikit-learn's own answers, least squares, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy
import pytest

from meantime.errors import InputError, MissingPart, UsageError
from meantime.learned import machines
from meantime.learned.choices import Scaling
from meantime.learned.machines import (
    Linear,
    fit_scaler,
    gamma_of,
    train_classifier,
    train_regressor,
    train_ridge,
)


@pytest.fixture
def examples() -> tuple[numpy.ndarray, numpy.ndarray]:
    rng = numpy.random.default_rng(5)
    rows = rng.normal(size=(120, 3))
    return rows, (rows[:, 0] + rows[:, 1] ** 2 + rng.normal(size=120) / 3 > 1).astype(int)


def test_a_classifier_decides_as_its_trainer(examples) -> None:
    from sklearn.svm import SVC

    rows, labels = examples
    ours = train_classifier(rows, labels, c=2.0, sigma=1.5)
    theirs = SVC(C=2.0, gamma=gamma_of(1.5), tol=machines.TOLERANCE).fit(rows, labels)
    assert ours(rows) == pytest.approx(theirs.decision_function(rows), abs=1e-9)
    assert ((ours(rows) > 0) == labels).mean() > 0.9


def test_a_regressor_answers_as_its_trainer(examples) -> None:
    from sklearn.svm import SVR

    rows, _ = examples
    targets = numpy.sin(rows[:, 0])
    ours = train_regressor(rows, targets, c=2.0, sigma=1.0)
    theirs = SVR(C=2.0, gamma=0.5, tol=machines.TOLERANCE).fit(rows, targets)
    assert ours(rows) == pytest.approx(theirs.predict(rows), abs=1e-9)


def test_ridge_without_penalty_is_least_squares(examples) -> None:
    rows, _ = examples
    targets = rows @ [1.0, -2.0, 0.5] + 3
    found = train_ridge(rows, targets, penalty=0)
    assert found.weights == pytest.approx([1, -2, 0.5])
    assert found.intercept == pytest.approx(3)
    assert abs(train_ridge(rows, targets, penalty=10).weights).sum() < 1


def test_the_same_training_gives_the_same_machine(examples) -> None:
    one, other = (train_classifier(*examples, c=5, sigma=1) for _ in range(2))
    assert numpy.array_equal(one.vectors, other.vectors)
    assert numpy.array_equal(one.weights, other.weights)
    assert one.intercept == other.intercept


def test_rows_do_not_depend_on_their_batch(examples) -> None:
    rows, labels = examples
    for machine in (train_classifier(rows, labels, c=1, sigma=1), Linear(numpy.ones(3) / 3, 0.1)):
        alone = numpy.concatenate([machine(row[None]) for row in rows])
        assert numpy.array_equal(machine(rows), alone)


@pytest.mark.parametrize("scaling", list(Scaling))
def test_scaling_leaves_constant_features_out(scaling: Scaling) -> None:
    rows = numpy.array([[1.0, 7.0, 0.0], [3.0, 7.0, 4.0], [2.0, 7.0, 8.0]])
    scaler = fit_scaler(rows, scaling)
    assert scaler.kept.tolist() == [0, 2]
    scaled = scaler(rows)
    if scaling is Scaling.STANDARD:
        assert scaled.mean(axis=0) == pytest.approx([0, 0])
        assert scaled.std(axis=0) == pytest.approx([1, 1])
    elif scaling is Scaling.UNIT:
        assert scaled.min(axis=0).tolist() == [0, 0]
        assert scaled.max(axis=0).tolist() == [1, 1]
    else:
        assert numpy.array_equal(scaled, rows[:, [0, 2]])
    with pytest.raises(InputError, match="the same in all 3 examples"):
        fit_scaler(numpy.ones((3, 2)), scaling)


def test_parameters_are_checked(examples) -> None:
    with pytest.raises(UsageError, match="C=0"):
        train_classifier(*examples, c=0, sigma=1)
    with pytest.raises(UsageError, match="sigma=-1"):
        train_classifier(*examples, c=1, sigma=-1)
    with pytest.raises(UsageError, match="above 0"):
        machines.check_numbers("--c", [1, -2])


def test_training_without_its_library_is_said(examples, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingPart, match=r"pip install 'meantime\[learn\]'"):
        train_classifier(*examples, c=1, sigma=1)


def test_reading_the_room_loads_nothing_heavy() -> None:
    program = "import sys, meantime.learned.metric, meantime.learned.fitting; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "sklearn" not in {name.split(".")[0] for name in done.stdout.split()}
