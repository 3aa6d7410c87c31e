"""Tuning as ranking of pairs (Hopkins and May 2011), for any number of features.

Of each segment's candidates many pairs are drawn, those whose scores differ clearly are kept,
of them the clearest, and a regularised logistic regression learns weights that put the better
one of each pair first. Unlike a search along lines it is convex, so there is one answer; its
price is that it sees segment scores only.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError
from meantime.protocols import Array, Metric
from meantime.scoring import score_many
from meantime.tuning.candidates import Candidates
from meantime.tuning.constraints import Bounds, Constraints
from meantime.tuning.statistics import gain, span
from meantime.types import Level

Floats = NDArray[numpy.float64]
Ints = NDArray[numpy.int64]


@dataclass(frozen=True)
class RankingSettings:
    """How pairs are drawn and learned from."""

    samples: int = 5000
    """Pairs drawn of each segment."""
    kept: int = 50
    """Of those that differ enough, so many that differ most."""
    difference: float = 0.05
    """How much the scores of a pair must differ, as a share of the metric's scale."""
    regularisation: float = 1e-3
    """Half of this times the squares of the weights, of features scaled to their spread, is
    added to the mean loss."""
    interpolation: float = 1.0
    """Share of the learned weights in the answer; the rest are those it started from."""
    iterations: int = 1000


@dataclass(frozen=True)
class Ranked:
    """The weights learned, and how well they rank."""

    weights: Floats
    initial: float
    """Corpus score of what the given weights choose."""
    value: float
    """Corpus score of what the learned weights choose, on the same candidates."""
    pairs: int
    accuracy: float
    """Share of the pairs the learned weights put in the right order."""
    loss: float
    iterations: int
    converged: bool


def learn(
    candidates: Candidates,
    rows: Array,
    metric: Metric,
    initial: Floats,
    *,
    constraints: Constraints | None = None,
    settings: RankingSettings | None = None,
    seed: int | Sequence[int] = 1,
) -> Ranked:
    """Learn weights that put better candidates before worse ones.

    Args:
        candidates: What can be chosen.
        rows: Statistics of `candidates.texts`.
        metric: The metric that measured them.
        initial: Weights, in the order of `candidates.all_names`.
        constraints: Weights that stay, and bounds.
        settings: How pairs are drawn and learned from.
        seed: Of the drawing.

    Raises:
        InputError: No two candidates of a segment differ enough to learn from.
    """
    settings = settings or RankingSettings()
    bounds = (constraints or Constraints()).apply(candidates.all_names, initial)
    of_texts = gain(metric) * score_many(metric, rows, Level.SEGMENT)
    scores = of_texts[candidates.text]
    least = settings.difference * span(metric, of_texts)
    rng = numpy.random.default_rng(seed)
    better, worse = _draw(candidates.first, scores, least, settings, rng)
    if not len(better):
        raise InputError(
            f"no two candidates of a segment differ by {least:g} in {metric.name}, so there is "
            "nothing to learn from; ask for less (--difference), or give larger lists"
        )
    differences = _differences(candidates, better, worse)
    learned, loss, steps, converged = _fit(differences, initial, bounds, settings)
    if bounds.scalable(initial):
        # The size of the learned weights says how sure they are, nothing else.
        size = float(numpy.abs(initial).sum()) or 1.0
        learned = learned * (size / (float(numpy.abs(learned).sum()) or 1.0))
    share = settings.interpolation
    weights = bounds.clip(share * learned + (1 - share) * initial)
    weights = numpy.where(bounds.free, bounds.scale(weights), initial)
    return Ranked(
        weights=weights,
        initial=_value(candidates, rows, metric, initial),
        value=_value(candidates, rows, metric, weights),
        pairs=len(better),
        accuracy=float((differences @ weights > 0).mean()),
        loss=loss,
        iterations=steps,
        converged=converged,
    )


def _value(candidates: Candidates, rows: Array, metric: Metric, weights: Floats) -> float:
    chosen = candidates.text[candidates.best(candidates.model(weights))]
    return metric.score(rows[chosen].sum(axis=0), Level.CORPUS).value


def _draw(
    first: Ints,
    scores: Floats,
    least: float,
    settings: RankingSettings,
    rng: numpy.random.Generator,
) -> tuple[Ints, Ints]:
    """The better and the worse candidate of each pair that is kept."""
    better, worse = [], []
    for start, end in itertools.pairwise(first):
        size = int(end - start)
        if size < 2:
            continue
        if size * (size - 1) // 2 <= settings.samples:
            # So few that all of them are drawn.
            left, right = numpy.triu_indices(size, 1)
        else:
            left = rng.integers(0, size, settings.samples)
            right = (left + rng.integers(1, size, settings.samples)) % size
        left, right = left + start, right + start
        differ = scores[left] - scores[right]
        clear = numpy.flatnonzero(numpy.abs(differ) >= max(least, 1e-12))
        order = numpy.argsort(-numpy.abs(differ[clear]), kind="stable")[: settings.kept]
        taken = clear[order]
        ahead = differ[taken] > 0
        better.append(numpy.where(ahead, left[taken], right[taken]))
        worse.append(numpy.where(ahead, right[taken], left[taken]))
    if not better:
        return numpy.zeros(0, dtype=numpy.int64), numpy.zeros(0, dtype=numpy.int64)
    return numpy.concatenate(better), numpy.concatenate(worse)


def _differences(candidates: Candidates, better: Ints, worse: Ints) -> Any:
    dense = candidates.features[better] - candidates.features[worse]
    if candidates.sparse is None:
        return dense
    from scipy.sparse import csr_array, hstack

    sparse = candidates.sparse[better] - candidates.sparse[worse]
    return csr_array(hstack([csr_array(dense), sparse]))


def _fit(
    differences: Any, initial: Floats, bounds: Bounds, settings: RankingSettings
) -> tuple[Floats, float, int, bool]:
    """Logistic regression without intercept: a pair turned round is the same pair."""
    from scipy.optimize import minimize
    from scipy.special import expit

    count = differences.shape[0]
    sparse = hasattr(differences, "multiply")
    squares = differences.multiply(differences) if sparse else differences * differences
    sums = numpy.asarray(squares.sum(axis=0)).ravel()
    filled = numpy.asarray((differences != 0).sum(axis=0)).ravel()
    # Where it is not 0: a rare feature must not look like one of small values, or a few chance
    # pairs would give it a great weight.
    spread = numpy.sqrt(sums / numpy.maximum(filled, 1))
    free = bounds.free & (spread > 0)
    if not free.any():
        return initial.copy(), float(numpy.log(2)), 0, True
    scale = numpy.where(spread > 0, spread, 1.0)[free]
    fixed = differences @ numpy.where(free, 0.0, initial)
    places = numpy.flatnonzero(free)
    columns = differences[:, places]

    def loss(scaled: Floats) -> tuple[float, Floats]:
        margin = fixed + columns @ (scaled / scale)
        # log(1 + exp(-m)) without overflow.
        value = float(numpy.logaddexp(0.0, -margin).mean())
        slope = -(columns.T @ expit(-margin)) / count / scale
        penalty = settings.regularisation / 2 * float(scaled @ scaled)
        return value + penalty, slope + settings.regularisation * scaled

    # A bound on a weight is one on the scaled weight; an infinite one stays infinite.
    low, high = bounds.low[free] * scale, bounds.high[free] * scale
    begin = numpy.clip(numpy.zeros(len(scale)), low, high)
    found = minimize(
        loss,
        begin,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low, high, strict=True)),
        options={"maxiter": settings.iterations, "ftol": 1e-12, "gtol": 1e-8},
    )
    weights = initial.copy()
    weights[free] = found.x / scale
    return weights, float(found.fun), int(found.nit), bool(found.success)
