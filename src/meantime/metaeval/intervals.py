"""Where a correlation would lie on other segments of the same kind.

The bootstrap resamples segments, whole rows of the grid, with replacement: systems stay, and what
the cells of a segment have in common stays together. Fisher's z is for a single Pearson correlation
of independent items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy
from numpy.typing import ArrayLike

from meantime.errors import InputError, LengthMismatch, UsageError
from meantime.matching import ranks
from meantime.metaeval.correlation import (
    Undefined,
    checked_grids,
    chosen,
    common,
    taus,
)
from meantime.metaeval.grids import (
    TIES,
    Grouping,
    Pairs,
    Statistic,
    Vector,
    arranged,
    group_counts,
    group_values,
    snapped,
)
from meantime.metaeval.systems import system_values
from meantime.protocols import Array


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the correlation lies in this share of the resamples.

    Attributes:
        low: Lower end.
        high: Upper end.
        confidence: The share.
        resamples: How many were drawn; 0 where the interval is computed by formula.
        undefined: In how many of them the correlation is not defined; the ends rest on the others.
    """

    low: float
    high: float
    confidence: float
    resamples: int
    undefined: int = 0


def resample(segments: int, *, rng: numpy.random.Generator, resamples: int = 1000) -> ranks.Whole:
    """Bootstrap samples as weights: how often each segment (column) is in each sample (row)."""
    if segments < 1:
        raise InputError("there is no segment to draw from")
    if resamples < 1:
        raise UsageError(f"at least one resample is needed, not {resamples}")
    weights = numpy.empty((resamples, segments), dtype=numpy.int64)
    for row in weights:
        row[:] = numpy.bincount(rng.integers(0, segments, segments), minlength=segments)
    return weights


def bootstrap(
    statistic: Statistic | str,
    human: ArrayLike,
    metric: ArrayLike,
    *,
    grouping: Grouping | str = Grouping.SEGMENTS,
    rng: numpy.random.Generator,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> Interval:
    """The percentile interval of `meantime.metaeval.grids.estimate` over resampled segments.

    Args:
        statistic: Which correlation. For accuracy the tie threshold is fitted anew in each
            resample; it has an interval within segments and over means alone.
        human: Human scores, segments by systems, NaN where not rated.
        metric: Metric scores, likewise.
        grouping: Which cells are correlated with each other.
        rng: Draws the resamples.
        resamples: How many.
        confidence: Share of the resamples the interval holds.

    Raises:
        Undefined: The correlation is not defined in most resamples.
    """
    people, scores = checked_grids(human, metric)
    weights = resample(len(people), rng=rng, resamples=resamples)
    values = resampled(statistic, people, scores, weights, grouping=grouping)
    return percentiles(values, confidence=confidence)


def bootstrap_systems(
    statistic: Statistic | str,
    human: ArrayLike,
    scores: ArrayLike,
    weights: ranks.Whole,
    *,
    confidence: float = 0.95,
) -> Interval:
    """The same at system level, for a metric whose system scores are no means.

    Args:
        statistic: Which correlation over systems.
        human: Human scores, segments by systems, NaN where not rated.
        scores: The metric's system scores in each resample, resamples by systems.
        weights: The resamples, from `resample`.
        confidence: Share of the resamples the interval holds.

    Raises:
        Undefined: The correlation is not defined in most resamples.
        LengthMismatch: The arguments do not belong together.
    """
    (people,) = checked_grids(human)
    (drawn,) = checked_grids(scores)
    if weights.shape[1] != len(people) or drawn.shape != (len(weights), people.shape[1]):
        raise LengthMismatch(
            f"{len(people)} segments by {people.shape[1]} systems, resamples of "
            f"{weights.shape[1]} segments, scores of {drawn.shape[0]} resamples by "
            f"{drawn.shape[1]} systems: these do not belong together"
        )
    return percentiles(resampled_systems(statistic, people, drawn, weights), confidence=confidence)


def resampled_systems(
    statistic: Statistic | str, human: Array, scores: Array, weights: ranks.Whole
) -> Array:
    """A correlation over systems in each resample; see `bootstrap_systems` for the arguments."""
    which = chosen(Statistic, statistic, "statistic")
    values, reasons = system_values(which, _weighted_means(human, weights), scores)
    return numpy.where(reasons == ranks.DEFINED, values, numpy.nan)


def resampled(
    statistic: Statistic | str,
    human: ArrayLike,
    metric: ArrayLike,
    weights: ranks.Whole,
    *,
    grouping: Grouping | str = Grouping.SEGMENTS,
) -> Array:
    """A correlation in each resample; NaN where it is not defined, so for `percentiles` alone."""
    which = chosen(Statistic, statistic, "statistic")
    how = chosen(Grouping, grouping, "grouping")
    people, scores = checked_grids(human, metric)
    if how is Grouping.MEANS:
        there = common(people, scores)
        values, reasons = system_values(
            which,
            _weighted_means(numpy.where(there, people, numpy.nan), weights),
            _weighted_means(numpy.where(there, scores, numpy.nan), weights),
        )
        return numpy.where(reasons == ranks.DEFINED, values, numpy.nan)
    if which is Statistic.ACCURACY:
        return _resampled_accuracy(people, scores, weights, how)
    if how is Grouping.SEGMENTS and which in TIES:
        counts = weights @ group_counts(people, scores)
        values, reasons = taus(counts, TIES[which])
        return numpy.where(reasons == ranks.DEFINED, values, numpy.nan)
    if how is Grouping.SEGMENTS:
        # A segment's own correlation does not change: only how often it counts does.
        values, reasons = group_values(which, people, scores)
        defined = reasons == ranks.DEFINED
        return _divide(weights @ numpy.where(defined, values, 0.0), weights @ defined)
    return _resampled_vectors(which, people, scores, weights, how)


def _resampled_vectors(
    statistic: Statistic, human: Array, metric: Array, weights: ranks.Whole, grouping: Grouping
) -> Array:
    """Where a group spans segments, it is correlated anew in each resample."""
    rows = numpy.broadcast_to(numpy.arange(len(human))[:, None], human.shape)
    groups = [
        (Vector.of(people, scores), segments)
        for people, scores, segments in zip(
            arranged(human, grouping),
            arranged(metric, grouping),
            arranged(rows, grouping),  # type: ignore[arg-type]
            strict=True,
        )
    ]
    places = [segments[vector.cells] for vector, segments in groups]
    answers = numpy.full(len(weights), numpy.nan)
    for index, row in enumerate(weights):
        drawn = [row[place] for place in places]
        if statistic in TIES:
            counts = sum(
                vector.counts(weight) for (vector, _), weight in zip(groups, drawn, strict=True)
            )
            values, reasons = taus(numpy.asarray(counts)[None], TIES[statistic])
            if reasons[0] == ranks.DEFINED:
                answers[index] = values[0]
            continue
        found = [
            vector.value(statistic, weight)
            for (vector, _), weight in zip(groups, drawn, strict=True)
        ]
        defined = [value for value, reason in found if reason == ranks.DEFINED]
        if defined:
            answers[index] = sum(defined) / len(defined)
    return answers


def _resampled_accuracy(
    human: Array, metric: Array, weights: ranks.Whole, grouping: Grouping
) -> Array:
    if grouping is not Grouping.SEGMENTS:
        raise UsageError(
            f"accuracy has no bootstrap interval with grouping {grouping}; use segments or means"
        )
    pairs = Pairs.of(human, metric, grouping=grouping)
    answers = numpy.full(len(weights), numpy.nan)
    counting = pairs.shares > 0
    for index, row in enumerate(weights):
        if row[counting].any():
            answers[index] = pairs.calibrate(row)[0]
    return answers


def _weighted_means(grid: Array, weights: ranks.Whole) -> Array:
    """The mean of each system (column) in each resample (row); NaN where nothing was drawn."""
    there = ~numpy.isnan(grid)
    sums = weights @ numpy.where(there, grid, 0.0)
    return snapped(_divide(sums, weights @ there))


def _divide(sums: Any, counts: Any) -> Array:
    return numpy.where(counts > 0, sums / numpy.maximum(counts, 1), numpy.nan)


def percentiles(values: Array, *, confidence: float = 0.95) -> Interval:
    """The interval that holds this share of the resampled values; NaN is "not defined".

    Raises:
        Undefined: Most values are not defined.
        UsageError: The confidence does not lie between 0 and 1.
    """
    _check_confidence(confidence)
    defined = values[~numpy.isnan(values)]
    undefined = len(values) - len(defined)
    if 2 * undefined >= len(values):
        raise Undefined(
            f"the correlation is not defined in {undefined:,} of {len(values):,} resamples, so it "
            "has no interval; it rests on too few segments"
        )
    tail = (1 - confidence) / 2
    low, high = numpy.quantile(defined, [tail, 1 - tail])
    return Interval(float(low), float(high), confidence, len(values), undefined)


def fisher_interval(correlation: float, items: int, *, confidence: float = 0.95) -> Interval:
    """The interval of a Pearson correlation by Fisher's z.

        z = artanh r,   z - q / sqrt(n - 3) to z + q / sqrt(n - 3),   back through tanh

    It supposes that the items are independent and normally distributed. Cells of one segment are
    not independent: prefer the bootstrap for pooled correlations.

    Args:
        correlation: Pearson's correlation.
        items: How many items it was computed from.
        confidence: Probability that such an interval holds the true value.

    Raises:
        Undefined: Fewer than four items.
    """
    _check_confidence(confidence)
    _check_correlation(correlation)
    if items < 4:
        raise Undefined(f"Fisher's z needs four items, not {items}")
    if abs(correlation) == 1:
        return Interval(correlation, correlation, confidence, 0)
    middle = math.atanh(correlation)
    reach = NormalDist().inv_cdf((1 + confidence) / 2) / math.sqrt(items - 3)
    return Interval(math.tanh(middle - reach), math.tanh(middle + reach), confidence, 0)


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise UsageError(f"a confidence lies between 0 and 1, such as 0.95; not {confidence:g}")


def _check_correlation(correlation: float) -> None:
    if not -1 <= correlation <= 1:
        raise InputError(f"{correlation:g} is no correlation, which lies between -1 and 1")
