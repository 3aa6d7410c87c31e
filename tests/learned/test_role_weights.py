"""Fitting role weights: planted weights are found, ties follow the rule, bad data are refused."""

from __future__ import annotations

import numpy
import pytest

from meantime.alignment.roles import CLASSES
from meantime.errors import InputError, LengthMismatch, UsageError
from meantime.learned.objectives import Objective
from meantime.learned.role_weights import Fit, climb, fit, make_task
from meantime.matching.weighing import Rows, Task, scores_with

ARG0, ARG1, NEGATION = (CLASSES.index(name) for name in ("arg0", "arg1", "negation"))


def planted(pairs: int = 120, noise: float = 0.0) -> tuple[Rows, Rows, numpy.ndarray]:
    """One frame a pair: a predicate, ARG0, ARG1 and a negation, alike by chance."""
    rng = numpy.random.default_rng(4)
    classes = numpy.tile([0, ARG0, ARG1, NEGATION], pairs)
    side = Rows(
        classes,
        numpy.ones(4 * pairs),
        rng.random(4 * pairs),
        numpy.arange(0, 4 * pairs + 1, 4),
        numpy.ones(pairs),
        numpy.arange(pairs + 1),
    )
    return side, side, numpy.zeros(pairs)


def judged(rows: tuple[Rows, Rows, numpy.ndarray], weights: dict[int, float]) -> list[float]:
    """What judges would say who weigh classes so."""
    vector = numpy.zeros(len(CLASSES))
    for number, value in weights.items():
        vector[number] = value
    count = len(rows[2])
    task = Task(*rows, numpy.zeros(count), numpy.array([0, count]), 0.5)
    return scores_with(task, vector).tolist()


@pytest.mark.parametrize("objective", list(Objective))
def test_planted_weights_are_found(objective: Objective) -> None:
    rows = planted()
    human = judged(rows, {ARG0: 1, NEGATION: 3})
    task, names = make_task(rows, ["a"] * 60 + ["b"] * 60, human, 0.5)
    found = fit(task, names, objective=objective, total=4)
    assert found.integer[ARG0] == 1
    assert found.integer[NEGATION] == 3
    assert found.objective == pytest.approx(1.0)
    assert found.held_out == pytest.approx(1.0)
    assert found.uniform < 0.9
    assert set(found.by_group) == {"a", "b"}
    assert found.weights.provenance["pairs"] == 120


def test_the_finer_search_goes_on_between_whole_numbers() -> None:
    rows = planted(400)
    human = judged(rows, {0: 1, ARG0: 2.5, NEGATION: 4.5})
    task, names = make_task(rows, ["a", "b"] * 200, human, 0.5)
    found = fit(task, names, objective=Objective.PEARSON, total=4)
    assert found.finer
    assert found.objective > found.integer_objective
    assert found.held_out is not None
    assert found.integer_held_out is not None
    assert found.held_out > found.integer_held_out


def test_ties_go_to_the_most_even_weights() -> None:
    """Nothing but the predicate is there: all that weigh it are equally good."""
    pairs = 30
    rng = numpy.random.default_rng(1)
    side = Rows(
        numpy.zeros(pairs, dtype=numpy.int64),
        numpy.ones(pairs),
        rng.random(pairs),
        numpy.arange(pairs + 1),
        numpy.ones(pairs),
        numpy.arange(pairs + 1),
    )
    human = side.similarities.tolist()
    task, names = make_task((side, side, numpy.zeros(pairs)), ["a"] * pairs, human, 0.5)
    found = fit(task, names, total=4)
    # Four classes with 1 each, the predicate among them, first in falling lexicographic order.
    assert found.integer == (1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0)
    assert found.held_out is None


def test_progress_and_repetition() -> None:
    rows = planted()
    task, names = make_task(rows, ["a"] * 120, judged(rows, {0: 1, ARG1: 1}), 0.5)
    told: list[tuple[int, int]] = []

    def once() -> Fit:
        return fit(task, names, total=3, progress=lambda done, of: told.append((done, of)))

    assert once() == once()
    assert told[-1] == (364, 364)


def test_bad_data_are_refused() -> None:
    rows = planted(8)
    with pytest.raises(LengthMismatch, match="8 pairs"):
        make_task(rows, ["a"] * 7, [0.0] * 8, 0.5)
    with pytest.raises(InputError, match="group b has 3 judged pairs"):
        make_task(rows, ["a"] * 5 + ["b"] * 3, list(range(8)), 0.5)
    with pytest.raises(InputError, match="all human scores are equal"):
        make_task(rows, ["a"] * 8, [1.0] * 8, 0.5)


@pytest.mark.parametrize("objective", list(Objective))
def test_climbing_finds_planted_weights(objective: Objective) -> None:
    rows = planted()
    human = judged(rows, {ARG0: 3, ARG1: 2, NEGATION: 7})
    task, _ = make_task(rows, ["a"] * 60 + ["b"] * 60, human, 0.5)
    found = climb(task, objective=objective)
    assert found.integer[ARG0] == 3
    assert found.integer[ARG1] == 2
    assert found.integer[NEGATION] == 7
    assert found.objective == pytest.approx(1.0)
    assert found.uniform < 0.9
    assert found.tried < 5000


def test_climbing_is_never_better_than_trying_all() -> None:
    rows = planted()
    human = numpy.random.default_rng(7).normal(size=120).tolist()
    task, names = make_task(rows, ["a"] * 60 + ["b"] * 60, human, 0.5)
    whole = fit(task, names, total=4, finer=False)
    found = climb(task, total=4, coarse=2)
    assert sum(found.integer) == 4
    assert found.uniform < found.objective <= whole.integer_objective + 1e-6


def test_climbing_needs_a_total_that_can_be_reached() -> None:
    rows = planted()
    task, _ = make_task(rows, ["a"] * 120, judged(rows, {ARG0: 1}), 0.5)
    with pytest.raises(UsageError, match="multiple of coarse"):
        climb(task, total=12, coarse=5)
