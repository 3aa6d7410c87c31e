"""Error rate training against grids and brute force, its constraints, and its repeatability."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy
import pytest

from meantime import Level, registry
from meantime.errors import UsageError
from meantime.learned.network import installed
from meantime.learned.trained import SHIPPED
from meantime.matching.envelopes import order_by_slope
from meantime.scoring import ANALYSED, score_many
from meantime.tuning.constraints import Constraints
from meantime.tuning.mert import Problem, Settings, best_position, optimise
from meantime.types import Layer

VARIANTS = ["per:pool=no", "gtm:exponent=2", "meteor:modules=exact", "wer:unit=count"]


def _metrics() -> list[object]:
    """Every registered metric, by name: one that cannot be opened is its own test's affair."""
    return [
        pytest.param(name, marks=[pytest.mark.needs("wordnet")] if name == "meteor" else [])
        for name in [*registry.names(), *VARIANTS]
    ]


def _skip_what_is_not_for_lists(name: str) -> None:
    """Skip a metric that needs what only people can give, or whose model is not there."""
    if name == "meantime" and SHIPPED not in {one.name for one in installed()}:
        pytest.skip("the metric's model is not shipped")
    missing = registry.create(name).needs - {*ANALYSED, Layer.SOURCE}
    if missing:
        pytest.skip(f"needs {', '.join(sorted(missing))}, which lists of candidates do not have")


@pytest.mark.parametrize("name", _metrics())
def test_a_line_is_known_exactly(made, name: str) -> None:
    """Against a fine grid: the same scores between the changes, and none better."""
    _skip_what_is_not_for_lists(name)
    candidates, rows, metric = made(name, references=2)
    problem = Problem(candidates, rows, metric)
    rng = numpy.random.default_rng(3)
    for _ in range(3):
        weights, direction = rng.normal(size=(2, 3))
        scores, slopes = problem.model(weights), problem.model(direction)
        positions, values = problem.line(scores, slopes, order_by_slope(slopes, problem.first))
        position, value = best_position(positions, values, -numpy.inf, numpy.inf)
        assert value == pytest.approx(problem.value(scores + position * slopes))
        seen = -numpy.inf
        for at in numpy.linspace(-8, 8, 1601):
            if len(positions) and numpy.abs(positions - at).min() < 1e-9:
                continue
            chosen = candidates.text[candidates.best(scores + at * slopes)]
            exact = metric.score(rows[chosen].sum(axis=0), Level.CORPUS).value
            exact = exact if metric.higher_is_better else -exact
            assert values[numpy.searchsorted(positions, at)] == pytest.approx(exact)
            seen = max(seen, exact)
        assert value >= seen - 1e-9


@pytest.mark.parametrize("name", ["bleu", "ter", "chrf", "wer"])
def test_nothing_reachable_is_better(made, name: str) -> None:
    """Brute force: two features, all directions there are, in steps of a third of a degree."""
    candidates, rows, metric = made(name, segments=4, size=5, features=2)
    problem = Problem(candidates, rows, metric)
    found = optimise(problem, candidates.names, numpy.array([0.1, 1.0]), seed=2)
    angles = numpy.linspace(0, 2 * numpy.pi, 1081)
    values = [
        problem.value(problem.model(numpy.array([numpy.cos(a), numpy.sin(a)]))) for a in angles
    ]
    assert problem.sign * found.value >= max(values) - 1e-9
    # And no choice whatever may be better than the best there is.
    choices = itertools.product(*(range(s, e) for s, e in itertools.pairwise(candidates.first)))
    totals = numpy.array([rows[candidates.text[list(c)]].sum(axis=0) for c in choices])
    best = (problem.sign * score_many(metric, totals, Level.CORPUS)).max()
    assert problem.sign * found.value <= best + 1e-9


def test_the_value_is_that_of_the_chosen_texts(made) -> None:
    """From the text of what is chosen to the score, by another way."""
    candidates, rows, metric = made("bleu", references=2)
    found = optimise(Problem(candidates, rows, metric), candidates.names, numpy.full(3, 1 / 3))
    chosen = candidates.best(candidates.model(found.weights))
    assert found.value > found.initial
    direct = metric.score(rows[candidates.text[chosen]].sum(axis=0), Level.CORPUS).value
    assert found.value == pytest.approx(direct, abs=1e-12)
    assert numpy.abs(found.weights).sum() == pytest.approx(1)
    assert all(start.converged for start in found.starts)
    assert found.agreeing >= 1
    assert found.starts[found.best].value == pytest.approx(found.value)


def test_the_seed_decides_and_threads_do_not(made) -> None:
    candidates, rows, metric = made("chrf")
    problem = Problem(candidates, rows, metric)
    answers = [
        optimise(problem, candidates.names, numpy.full(3, 0.3), seed=seed, threads=threads)
        for seed, threads in ((7, 1), (7, 4), (8, 4))
    ]
    assert (answers[0].weights == answers[1].weights).all()
    assert answers[0].starts == answers[1].starts
    assert answers[0].starts != answers[2].starts


def test_fixed_weights_stay_and_bounds_hold(made) -> None:
    candidates, rows, metric = made("bleu", features=4)
    problem = Problem(candidates, rows, metric)
    initial = numpy.array([0.2, 0.2, 0.7, 0.1])
    constraints = Constraints(
        fixed=("f2",), minimum={"f1": 0.1, "f3": -0.2}, maximum={"f0": 0.25, "f3": 0.4}
    )
    found = optimise(problem, candidates.names, initial, constraints=constraints, seed=4)
    assert found.weights[2] == 0.7
    assert found.weights[1] >= 0.1
    assert found.weights[0] <= 0.25
    assert -0.2 <= found.weights[3] <= 0.4
    free = optimise(problem, candidates.names, initial, seed=4)
    assert free.value >= found.value
    assert found.value >= found.initial


def test_bounds_of_sign_allow_scaling(made) -> None:
    candidates, rows, metric = made("bleu")
    constraints = Constraints(minimum={"f*": 0.0})
    found = optimise(
        Problem(candidates, rows, metric),
        candidates.names,
        numpy.array([1.0, 2.0, 3.0]),
        constraints=constraints,
    )
    assert (found.weights >= 0).all()
    assert found.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (Constraints(fixed=("g*",)), "no feature is called g"),
        (Constraints(minimum={"f0": 1.0}), "outside its bounds"),
        (Constraints(minimum={"f0": 1.0}, maximum={"f0": -1.0}), "minimum below the maximum"),
    ],
)
def test_constraints_that_cannot_be_kept(constraints: Constraints, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        constraints.apply(("f0", "f1"), numpy.array([0.5, 0.5]))


def test_a_feature_that_is_the_same_everywhere_keeps_its_weight(made) -> None:
    candidates, rows, metric = made("bleu")
    same = numpy.repeat(numpy.arange(12.0), 8)[:, None]
    candidates = replace(
        candidates,
        names=(*candidates.names, "same"),
        features=numpy.hstack([candidates.features, same]),
    )
    constraints = Constraints(maximum={"f0": 9.0})
    found = optimise(
        Problem(candidates, rows, metric),
        candidates.names,
        numpy.array([0.3, 0.3, 0.3, 0.25]),
        constraints=constraints,
    )
    assert found.idle == (3,)
    assert found.weights[3] == 0.25
    assert found.ranges[3] == (-numpy.inf, numpy.inf)


def test_ranges_are_where_the_score_stays(made) -> None:
    candidates, rows, metric = made("bleu")
    problem = Problem(candidates, rows, metric)
    found = optimise(problem, candidates.names, numpy.full(3, 0.3))
    for index, (low, high) in enumerate(found.ranges):
        assert low < found.weights[index] < high
        width = min(high - low, 1.0)
        for place in (low + 1e-6 * width, high - 1e-6 * width):
            if numpy.isfinite(place):
                weights = found.weights.copy()
                weights[index] = place
                assert problem.value(problem.model(weights)) == pytest.approx(found.value)
        for place in (low - 1e-6 * width, high + 1e-6 * width):
            if numpy.isfinite(place):
                weights = found.weights.copy()
                weights[index] = place
                assert problem.value(problem.model(weights)) != found.value


def test_every_interval_that_is_best_counts_as_one() -> None:
    positions = numpy.array([-2.0, 0.0, 1.0, 5.0])
    assert best_position(positions, numpy.array([1, 3, 3, 2, 3.0]), -9, 9) == (7.0, 3.0)
    assert best_position(positions, numpy.array([1, 3, 3, 2, 1.0]), -9, 9) == (-0.5, 3.0)
    assert best_position(positions, numpy.array([1, 1, 1, 2, 9.0]), -9, 4) == (2.5, 2.0)
    assert best_position(numpy.zeros(0), numpy.array([4.0]), -numpy.inf, numpy.inf) == (0.0, 4.0)


def test_one_candidate_a_segment_leaves_nothing_to_do(made) -> None:
    candidates, rows, metric = made("bleu", size=1)
    initial = numpy.array([0.5, 0.25, 0.25])
    found = optimise(
        Problem(candidates, rows, metric), candidates.names, initial, settings=Settings(restarts=2)
    )
    assert (found.weights == initial).all()
    assert found.value == found.initial
