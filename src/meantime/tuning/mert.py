"""Minimum error rate training (Och 2003): the weights whose choices a metric likes best.

The score of the chosen candidates is piecewise constant in the weights, so nothing can be
derived. Along a line through the space of weights, though, it is known exactly: the upper
envelope of a segment's candidates says which is chosen where, and since rows add up, walking
the changes of all segments from left to right gives the sum of rows, and so the score,
everywhere on the line. The best interval is found, its middle taken, and the next line
searched from there, until a whole round brings nothing. That ends in a local optimum: other
starts, drawn at random, look for better ones.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy
from numpy.typing import NDArray

from meantime.errors import UsageError
from meantime.matching.envelopes import combine, order_by_slope, sweep, winners
from meantime.protocols import Array, Metric
from meantime.scoring import score_many
from meantime.tuning.candidates import Candidates
from meantime.tuning.constraints import Bounds, Constraints
from meantime.tuning.statistics import gain, span
from meantime.types import Level

Floats = NDArray[numpy.float64]
Ints = NDArray[numpy.int64]
MOST_FEATURES = 500
"""More are learned by ranking: a line a feature would take too long, and overfit."""


@dataclass(frozen=True)
class Settings:
    """How hard to search."""

    restarts: int = 20
    """Starts drawn at random, besides the weights given."""
    directions: int = 5
    """Random directions in each round, besides one a feature."""
    rounds: int = 100
    """After so many the search from one start ends unconverged."""
    tolerance: float = 1e-6
    """A round that brings less, as a share of the metric's scale, is the last."""


@dataclass(frozen=True)
class Start:
    """What became of one start."""

    initial: float
    value: float
    rounds: int
    searches: int
    """Lines searched."""
    converged: bool


@dataclass(frozen=True)
class Optimised:
    """The best weights found, and how they were."""

    weights: Floats
    initial: float
    """Score of the weights that were given."""
    value: float
    """Score of the best weights, on the same candidates."""
    starts: tuple[Start, ...]
    best: int
    """Which start led there; 0 is the weights given."""
    ranges: tuple[tuple[float, float], ...]
    """For each feature, between which weights nothing changes while the others stay."""
    idle: tuple[int, ...]
    """Features that are the same for all candidates of every segment, so that no weight matters."""

    @property
    def agreeing(self) -> int:
        """How many starts came to the best score."""
        return sum(
            abs(start.value - self.value) <= 1e-9 * (1 + abs(self.value)) for start in self.starts
        )


class Problem:
    """Candidates and their rows, as lines are searched in them."""

    def __init__(self, candidates: Candidates, rows: Array, metric: Metric) -> None:
        """Lay out the candidates.

        Args:
            candidates: What can be chosen.
            rows: Statistics of `candidates.texts`.
            metric: The metric that measured them.
        """
        if len(candidates.all_names) > MOST_FEATURES:
            raise UsageError(
                f"{len(candidates.all_names)} features are too many for a search along lines; "
                "learn them by ranking (--learner ranking)"
            )
        self.metric = metric
        self.rows = numpy.ascontiguousarray(rows, dtype=numpy.float64)
        self.labels = candidates.text
        self.first = candidates.first
        # A feature's values stand together: lines are searched by feature.
        self.features = numpy.ascontiguousarray(candidates.matrix().T)
        self.sign = gain(metric)

    @cached_property
    def orders(self) -> list[Ints]:
        """Candidates by each feature; the same for every line along it."""
        return [order_by_slope(feature, self.first) for feature in self.features]

    @cached_property
    def spreads(self) -> Floats:
        """How much each feature varies among the candidates of a segment, on average."""
        sizes = numpy.diff(self.first)
        found = numpy.zeros(len(self.features))
        for index, feature in enumerate(self.features):
            sums = numpy.add.reduceat(feature, self.first[:-1])
            off = feature - numpy.repeat(sums / sizes, sizes)
            # Values of one segment that are all equal may not look different by rounding.
            least = numpy.minimum.reduceat(feature, self.first[:-1])
            most = numpy.maximum.reduceat(feature, self.first[:-1])
            squares = numpy.add.reduceat(off * off, self.first[:-1])
            found[index] = float(numpy.where(most > least, numpy.sqrt(squares / sizes), 0).mean())
        return found

    def model(self, weights: Floats) -> Floats:
        """What every candidate scores."""
        return combine(weights, self.features)

    def value(self, scores: Floats) -> float:
        """How good the choices are, larger is better, when candidates score so."""
        chosen = self.labels[winners(scores, self.first)]
        total = self.rows[chosen].sum(axis=0)
        return self.sign * float(score_many(self.metric, total[None, :], Level.CORPUS)[0])

    def line(self, scores: Floats, slopes: Floats, order: Ints) -> tuple[Floats, Floats]:
        """Where along a line the choices change, and how good they are in between."""
        positions, sums = sweep(scores, slopes, order, self.first, self.labels, self.rows)
        return positions, self.sign * score_many(self.metric, sums, Level.CORPUS)


def best_position(
    positions: Floats, values: Floats, low: float, high: float
) -> tuple[float, float]:
    """The middle of the best interval between two ends, and its value.

    Of intervals that are equally good the widest is taken, since it will also be the safest;
    adjacent ones count as one.
    """
    begin = int(numpy.searchsorted(positions, low, side="right"))
    end = int(numpy.searchsorted(positions, high, side="left"))
    inner = positions[begin:end]
    within = values[begin : end + 1]
    if not len(within):
        return 0.0, float(values[begin])
    # Beyond the outermost change there is nothing to find: go a little way, not far.
    reach = float(inner[-1] - inner[0]) if len(inner) > 1 else 0.0
    margin = 0.1 * reach or 0.1 * float(numpy.abs(inner).max(initial=0.0)) or 1.0
    left = low if numpy.isfinite(low) else (inner[0] - margin if len(inner) else high - margin)
    right = high if numpy.isfinite(high) else (inner[-1] + margin if len(inner) else low + margin)
    if not (numpy.isfinite(left) and numpy.isfinite(right)):
        return 0.0, float(within[0])
    edges = numpy.concatenate([[left], inner, [right]])
    top = float(within.max())
    is_best = numpy.concatenate([[False], within == top, [False]])
    starts = numpy.flatnonzero(is_best[1:] & ~is_best[:-1])
    ends = numpy.flatnonzero(~is_best[1:] & is_best[:-1])
    widest = int(numpy.argmax(edges[ends] - edges[starts]))
    return float((edges[starts[widest]] + edges[ends[widest]]) / 2), top


def optimise(
    problem: Problem,
    names: Sequence[str],
    initial: Floats,
    *,
    others: Sequence[Floats] = (),
    constraints: Constraints | None = None,
    settings: Settings | None = None,
    seed: int | Sequence[int] = 1,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Optimised:
    """Search the weights whose choices score best.

    Args:
        problem: The candidates and their statistics.
        names: Of the features, for constraints.
        initial: Where the first search starts.
        others: Where others start, before those drawn at random.
        constraints: Weights that stay, and bounds.
        settings: How hard to search.
        seed: Of the random starts and directions; the same seed gives the same weights,
            whatever the number of threads.
        threads: Starts searched at a time; 0 for one a core.
        progress: Told how many starts are done, and of how many.
    """
    settings = settings or Settings()
    initial = numpy.asarray(initial, dtype=numpy.float64)
    bounds = (constraints or Constraints()).apply(names, initial)
    # Before threads are started, which all want it.
    _ = problem.orders, problem.spreads
    idle = tuple(int(i) for i in numpy.flatnonzero((problem.spreads == 0) & bounds.free))
    movable = bounds.free & (problem.spreads > 0)
    given = [initial, *(other for other in others if _inside(other, initial, bounds))]
    seeds = numpy.random.SeedSequence(seed).spawn(settings.restarts + len(given))
    stop = threading.Event()

    def search(number: int) -> tuple[Floats, Start]:
        rng = numpy.random.default_rng(seeds[number])
        if number < len(given):
            weights = given[number]
        else:
            weights = _draw(problem, initial, bounds, movable, rng)
        return _climb(problem, weights, bounds, movable, settings, rng, stop)

    found: list[tuple[Floats, Start]] = []
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        try:
            for result in pool.map(search, range(len(seeds))):
                found.append(result)
                if progress:
                    progress(len(found), len(seeds))
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    best = max(range(len(found)), key=lambda number: (found[number][1].value, -number))
    weights = bounds.scale(found[best][0])
    sign = problem.sign
    return Optimised(
        weights=weights,
        initial=sign * found[0][1].initial,
        value=sign * problem.value(problem.model(weights)),
        starts=tuple(
            Start(sign * s.initial, sign * s.value, s.rounds, s.searches, s.converged)
            for _, s in found
        ),
        best=best,
        ranges=_ranges(problem, weights, movable),
        idle=idle,
    )


def _climb(
    problem: Problem,
    weights: Floats,
    bounds: Bounds,
    movable: NDArray[numpy.bool_],
    settings: Settings,
    rng: numpy.random.Generator,
    stop: threading.Event,
) -> tuple[Floats, Start]:
    """From one start to the top of its hill."""
    axes = numpy.flatnonzero(movable)
    weights = weights.copy()
    scores = problem.model(weights)
    value = first = problem.value(scores)
    least = settings.tolerance * span(problem.metric, numpy.array([value]))
    rounds = searches = 0
    converged = not len(axes)
    while rounds < settings.rounds and not converged and not stop.is_set():
        rounds += 1
        before = value
        origin = weights.copy()
        # Anew each round, so that rounding does not add up.
        scores = problem.model(weights)
        # Which lines are looked at first decides which hill is climbed: no fixed order.
        lines: list[int | Floats] = list(rng.permutation(axes))
        for _ in range(settings.directions if len(axes) > 1 else 0):
            lines.append(_direction(problem, movable, rng))
        lines = [lines[n] for n in rng.permutation(len(lines))]
        for line in (*lines, None):
            if stop.is_set():
                break
            if line is None:
                # Where the whole round has led, once more: the valley may go on.
                direction = weights - origin
                if numpy.count_nonzero(direction) < 2:
                    break
            elif isinstance(line, numpy.ndarray):
                direction = line
            else:
                direction = numpy.zeros(len(weights))
                direction[line] = 1.0
            axis = int(line) if line is not None and not isinstance(line, numpy.ndarray) else None
            slopes = problem.features[axis] if axis is not None else problem.model(direction)
            order = (
                problem.orders[axis] if axis is not None else order_by_slope(slopes, problem.first)
            )
            searches += 1
            low, high = bounds.range(weights, direction)
            positions, values = problem.line(scores, slopes, order)
            position, promised = best_position(positions, values, low, high)
            if promised <= value:
                continue
            moved = bounds.clip(weights + position * direction)
            new_scores = scores + position * slopes
            # In an interval of next to no width rounding may choose otherwise: ask again.
            reached = problem.value(new_scores)
            if reached > value:
                weights, scores, value = moved, new_scores, reached
        converged = value - before <= least
    return weights, Start(first, problem.value(problem.model(weights)), rounds, searches, converged)


def _inside(weights: Floats, initial: Floats, bounds: Bounds) -> bool:
    """Whether one may start from these weights: within the bounds, and fixed ones as they are."""
    kept = numpy.array_equal(weights[~bounds.free], initial[~bounds.free])
    return kept and bool(((bounds.low <= weights) & (weights <= bounds.high)).all())


def _direction(
    problem: Problem, movable: NDArray[numpy.bool_], rng: numpy.random.Generator
) -> Floats:
    """A random direction in which every feature has the same say."""
    spreads = numpy.where(movable, problem.spreads, 1.0)
    direction: Floats = numpy.where(movable, rng.normal(size=len(spreads)) / spreads, 0.0)
    return direction


def _draw(
    problem: Problem,
    initial: Floats,
    bounds: Bounds,
    movable: NDArray[numpy.bool_],
    rng: numpy.random.Generator,
) -> Floats:
    """Random weights, of the initial weights' size, within the bounds."""
    direction = _direction(problem, movable, rng)
    spreads = problem.spreads
    size = float((numpy.abs(initial) * spreads)[movable].sum()) or 1.0
    drawn = direction * size / (float((numpy.abs(direction) * spreads).sum()) or 1.0)
    low, high = bounds.low, bounds.high
    both = numpy.isfinite(low) & numpy.isfinite(high)
    uniform = rng.uniform(numpy.where(both, low, 0.0), numpy.where(both, high, 1.0))
    drawn = numpy.where(both, uniform, drawn)
    drawn = numpy.where(~both & numpy.isfinite(low), low + numpy.abs(drawn), drawn)
    drawn = numpy.where(~both & numpy.isfinite(high), high - numpy.abs(drawn), drawn)
    return numpy.where(movable, drawn, initial)


def _ranges(
    problem: Problem, weights: Floats, movable: NDArray[numpy.bool_]
) -> tuple[tuple[float, float], ...]:
    scores = problem.model(weights)
    found = []
    for index, feature in enumerate(problem.features):
        if not movable[index]:
            found.append(
                (-numpy.inf, numpy.inf)
                if problem.spreads[index] == 0
                else (float(weights[index]), float(weights[index]))
            )
            continue
        positions, values = problem.line(scores, feature, problem.orders[index])
        here = int(numpy.searchsorted(positions, 0.0, side="right"))
        # Sums that were carried along may differ by rounding where nothing has changed.
        same = numpy.isclose(values, values[here], rtol=1e-12, atol=1e-12)
        left, right = here, here
        while left > 0 and same[left - 1]:
            left -= 1
        while right < len(positions) and same[right + 1]:
            right += 1
        found.append(
            (
                float(weights[index] + positions[left - 1]) if left > 0 else -numpy.inf,
                float(weights[index] + positions[right]) if right < len(positions) else numpy.inf,
            )
        )
    return tuple(found)
