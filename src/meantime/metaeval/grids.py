"""Agreement of a metric with people over a grid of segments by systems.

A grid is an array (segments, systems), NaN where a cell was not rated or not scored; only cells
with both scores count. A correlation of the cells can be taken in four ways, which answer different
questions:

    segments    within each segment's systems, averaged over segments: which translation of this
                sentence is better? A segment's length and difficulty play no part.
    systems     within each system's segments, averaged over systems: which of a system's
                translations are worse?
    pooled      over all cells at once. On penalties that add up over a segment (MQM) this rewards
                knowing how long a segment is.
    means       over one value a system, its mean: which system is better?

Averages are over the groups where the correlation is defined, and say how many these are. WMT's
taus are no averages: they count pairs, which are summed over the groups, as WMT did.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

import numpy
from numpy.typing import ArrayLike, NDArray

from meantime.errors import UsageError
from meantime.matching import ranks
from meantime.metaeval.correlation import (
    FEWEST,
    REASONS,
    Ties,
    Undefined,
    checked_grids,
    chosen,
    common,
    kendalls,
    taus,
)
from meantime.protocols import Array

SHORT = 64
"""Rows up to this long have their pairs compared one by one; in longer ones they are sorted."""

MOST_PAIRS = 5_000_000
"""More pairs than this are sampled, or refused where there is no chance to do it with."""

FEWEST_SYSTEMS = 3
"""With fewer, a correlation over systems says next to nothing."""


class Statistic(StrEnum):
    """What is computed; see `meantime.metaeval.correlation` for the formulas."""

    PEARSON = "pearson"
    SPEARMAN = "spearman"
    KENDALL = "kendall"
    TAU_DISCORDANT = "tau-discordant"
    TAU_IGNORED = "tau-ignored"
    TAU_DENOMINATOR = "tau-denominator"
    ACCURACY = "accuracy"


class Grouping(StrEnum):
    """Which cells are correlated with each other."""

    SEGMENTS = "segments"
    SYSTEMS = "systems"
    POOLED = "pooled"
    MEANS = "means"


TIES = {
    Statistic.TAU_DISCORDANT: Ties.DISCORDANT,
    Statistic.TAU_IGNORED: Ties.IGNORED,
    Statistic.TAU_DENOMINATOR: Ties.DENOMINATOR,
}

_GROUP_NAMES = {
    Grouping.SEGMENTS: ("segment", "segments"),
    Grouping.SYSTEMS: ("system", "systems"),
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A correlation, and what it rests on.

    Attributes:
        value: The correlation, or None where it is defined in no group.
        defined: In how many groups it is defined (for WMT's taus: in how many a pair counts).
        groups: How many groups there are.
        reason: Why there is no value, in words.
        threshold: For accuracy, the largest difference of scores that counts as a tie.
    """

    value: float | None
    defined: int
    groups: int
    reason: str | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Pairwise accuracy at the tie threshold that makes it largest."""

    accuracy: float
    threshold: float
    pairs: int


def within_segments(statistic: Statistic | str, human: ArrayLike, metric: ArrayLike) -> Estimate:
    """A correlation of the systems within each segment, averaged over segments."""
    return estimate(statistic, human, metric, grouping=Grouping.SEGMENTS)


def within_systems(statistic: Statistic | str, human: ArrayLike, metric: ArrayLike) -> Estimate:
    """A correlation of the segments within each system, averaged over systems."""
    return estimate(statistic, human, metric, grouping=Grouping.SYSTEMS)


def pooled(statistic: Statistic | str, human: ArrayLike, metric: ArrayLike) -> Estimate:
    """A correlation of all cells. Mind the length trap: see the module's text."""
    return estimate(statistic, human, metric, grouping=Grouping.POOLED)


def estimate(
    statistic: Statistic | str,
    human: ArrayLike,
    metric: ArrayLike,
    *,
    grouping: Grouping | str = Grouping.SEGMENTS,
    rng: numpy.random.Generator | None = None,
) -> Estimate:
    """A correlation of the cells of two grids.

    Args:
        statistic: Which one.
        human: Human scores, segments by systems, higher is better, NaN where not rated.
        metric: Metric scores, likewise.
        grouping: Which cells are correlated with each other.
        rng: Draws pairs for accuracy where there are too many to take all.
    """
    which = chosen(Statistic, statistic, "statistic")
    how = chosen(Grouping, grouping, "grouping")
    people, scores = checked_grids(human, metric)
    if which is Statistic.ACCURACY and how is not Grouping.MEANS:
        return _accuracy_estimate(people, scores, how, rng)
    if how is Grouping.MEANS:
        people, scores = common_means(people, scores)
        there = int(common(people, scores).sum())
        if there < FEWEST_SYSTEMS:
            return Estimate(
                None,
                0,
                1,
                f"{FEWEST_SYSTEMS} systems are needed with both a human score and a metric score, "
                f"and there are {there}",
            )
        if which is Statistic.ACCURACY:
            counts = ranks.count_row_pairs(people[None], scores[None])
            values, reasons = accuracies(counts)
            return _average(values, reasons, how)
        people, scores = people[None], scores[None]
    else:
        people, scores = arranged(people, how), arranged(scores, how)
    if which in TIES:
        counts = group_counts(people, scores)
        values, reasons = taus(counts.sum(axis=0)[None], TIES[which])
        defined = int((taus(counts, TIES[which])[1] == ranks.DEFINED).sum())
        if reasons[0] == ranks.DEFINED:
            return Estimate(float(values[0]), defined, len(counts))
        return Estimate(None, 0, len(counts), _explain(reasons, how))
    values, reasons = group_values(which, people, scores)
    return _average(values, reasons, how)


def arranged(grid: Array, grouping: Grouping) -> Array:
    """The grid with a group a row."""
    if grouping is Grouping.SEGMENTS:
        return grid
    if grouping is Grouping.SYSTEMS:
        return grid.T
    return grid.reshape(1, -1)


def group_values(
    statistic: Statistic, human: Array, metric: Array
) -> tuple[Array, NDArray[numpy.int64]]:
    """Pearson's, Spearman's or Kendall's correlation in each row, and why there is none."""
    if statistic is Statistic.KENDALL:
        return kendalls(group_counts(human, metric))
    ranked = statistic is Statistic.SPEARMAN
    fewest = FEWEST[statistic]
    if not ranked or human.shape[1] <= SHORT:
        return ranks.correlate_rows(human, metric, ranked=ranked, fewest=fewest)
    found = [Vector.of(*row).value(statistic) for row in zip(human, metric, strict=True)]
    values = numpy.array([value for value, _ in found])
    return values, numpy.array([reason for _, reason in found])


def group_counts(human: Array, metric: Array) -> ranks.Whole:
    """Pair counts of each row."""
    if human.shape[1] <= SHORT:
        return ranks.count_row_pairs(human, metric)
    found = [Vector.of(*row).counts() for row in zip(human, metric, strict=True)]
    return numpy.array(found).reshape(-1, 5)


def accuracies(counts: ranks.Whole) -> tuple[Array, NDArray[numpy.int64]]:
    """The share of the pairs people order that the metric orders alike, and why there is none."""
    agreeing = counts[:, ranks.AGREEING]
    ordered = agreeing + counts[:, ranks.DISAGREEING] + counts[:, ranks.TIED_SECOND]
    reasons = numpy.where(ordered == 0, ranks.CONSTANT_FIRST, ranks.DEFINED)
    return agreeing / numpy.maximum(ordered, 1), reasons


def system_means(scores: ArrayLike) -> Array:
    """The mean of each system's scores over the segments where it has one; NaN where it has none.

    Means are rounded to about 12 digits of the largest, so that sums that differ by rounding
    errors alone are tied.
    """
    (grid,) = checked_grids(scores)
    there = ~numpy.isnan(grid)
    counts = there.sum(axis=0)
    means = numpy.where(there, grid, 0.0).sum(axis=0) / numpy.maximum(counts, 1)
    return numpy.where(counts > 0, snapped(means), numpy.nan)


def snapped(values: Array) -> Array:
    """Values rounded to 2 to the minus 40 (about 1e-12) of the largest, so rounding errors tie."""
    largest = float(numpy.max(numpy.abs(values), initial=0.0))
    if largest == 0:
        return values
    unit = 2.0 ** (numpy.frexp(largest)[1] - 40)
    return numpy.asarray(numpy.round(values / unit) * unit)


def common_means(human: Array, metric: Array) -> tuple[Array, Array]:
    """Both means of each system, over the segments where it has both scores."""
    there = common(human, metric)
    return (
        system_means(numpy.where(there, human, numpy.nan)),
        system_means(numpy.where(there, metric, numpy.nan)),
    )


@dataclass(frozen=True, slots=True)
class Vector:
    """One long group of cells, ranked once for any number of resamples and permutations.

    Attributes:
        human: Human scores.
        metric: Metric scores of the same cells.
        cells: Places of the cells in the group they were taken from.
        human_ranks: Dense ranks of the human scores.
        metric_ranks: Dense ranks of the metric scores.
        sizes: Numbers above all ranks.
        order: Cells by human rank.
    """

    human: Array
    metric: Array
    cells: ranks.Whole
    human_ranks: ranks.Whole
    metric_ranks: ranks.Whole
    sizes: tuple[int, int]
    order: ranks.Whole

    @classmethod
    def of(cls, human: Array, metric: Array) -> Vector:
        """The cells of a group that have both scores."""
        cells = numpy.flatnonzero(common(human, metric))
        people = human[cells]
        scores = metric[cells]
        human_ranks, human_size = ranks.dense_ranks(people)
        metric_ranks, metric_size = ranks.dense_ranks(scores)
        order = numpy.argsort(human_ranks, kind="stable")
        sizes = (human_size, metric_size)
        return cls(people, scores, cells, human_ranks, metric_ranks, sizes, order)

    def counts(self, weights: ranks.Whole | None = None) -> ranks.Whole:
        """Pair counts, each cell counted as often as its weight says."""
        return ranks.count_pairs(
            self.human_ranks, self.metric_ranks, self.sizes, order=self.order, weights=weights
        )

    def value(self, statistic: Statistic, weights: ranks.Whole | None = None) -> tuple[float, int]:
        """A correlation, and why there is none (then the value is 0)."""
        items = len(self.human) if weights is None else int(weights.sum())
        if statistic in TIES or statistic is Statistic.KENDALL:
            counts = self.counts(weights)[None]
            values, reasons = (
                taus(counts, TIES[statistic]) if statistic in TIES else kendalls(counts)
            )
            return float(values[0]), int(reasons[0])
        if items < FEWEST[statistic]:
            return 0.0, ranks.TOO_FEW
        if statistic is Statistic.PEARSON:
            return ranks.correlate(self.human, self.metric, weights)
        return ranks.correlate(
            ranks.middle_ranks(self.human_ranks, self.sizes[0], weights),
            ranks.middle_ranks(self.metric_ranks, self.sizes[1], weights),
            weights,
        )


# Pairwise accuracy with calibrated ties


def pairwise_accuracy(
    human: ArrayLike,
    metric: ArrayLike,
    *,
    grouping: Grouping | str = Grouping.SEGMENTS,
    threshold: float | None = None,
    most_pairs: int = MOST_PAIRS,
    rng: numpy.random.Generator | None = None,
) -> Accuracy:
    """Pairwise accuracy with tie calibration (Deutsch, Foster and Freitag 2023).

    The metric ties two translations whose scores differ by no more than a threshold. A pair is
    right where people and metric order it alike, or both tie it. The threshold is the one that
    makes the accuracy largest, of 0 and all differences that occur; of several, the smallest. It is
    fitted on the data it is then measured on, one number for all of them.

    Args:
        human: Human scores, segments by systems.
        metric: Metric scores, likewise.
        grouping: `segments`, pairs of systems within a segment, each segment weighing the same;
            `systems`, pairs of segments within a system, each system weighing the same; or
            `pooled`, all pairs of cells.
        threshold: Take this one, and fit none.
        most_pairs: Where there are more pairs, so many are drawn, with replacement.
        rng: Draws them.

    Raises:
        Undefined: There is no pair.
        UsageError: Pairs must be drawn, and there is no `rng`.
    """
    people, scores = checked_grids(human, metric)
    how = chosen(Grouping, grouping, "grouping")
    pairs = Pairs.of(people, scores, grouping=how, most_pairs=most_pairs, rng=rng)
    if not len(pairs.groups):
        raise Undefined(
            "pairwise accuracy is not defined: no two translations that are compared have both a "
            "human score and a metric score"
        )
    if threshold is not None:
        if not threshold >= 0:
            raise UsageError(f"a tie threshold is 0 or more, not {threshold:g}")
        return Accuracy(pairs.accuracy(threshold), float(threshold), len(pairs.groups))
    value, best = pairs.calibrate()
    return Accuracy(value, best, len(pairs.groups))


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of cells, sorted by how far apart the metric puts them.

    Attributes:
        groups: The group of each pair.
        differences: How far apart its scores are, ascending.
        tied: Whether people tie it.
        agreeing: Whether they do not, and the metric orders it alike.
        ends: Places of the last pair of each difference.
        shares: What each group's pairs weigh, one over their number.
    """

    groups: ranks.Whole
    differences: Array
    tied: NDArray[numpy.bool_]
    agreeing: NDArray[numpy.bool_]
    ends: ranks.Whole
    shares: Array

    @classmethod
    def of(
        cls,
        human: Array,
        metric: Array,
        *,
        grouping: Grouping,
        most_pairs: int = MOST_PAIRS,
        rng: numpy.random.Generator | None = None,
    ) -> Pairs:
        """All pairs within groups, or as many as may be."""
        if grouping is Grouping.MEANS:
            raise UsageError(
                "ties of system means are not calibrated; use system_accuracy, or another grouping"
            )
        people, scores = arranged(human, grouping), arranged(metric, grouping)
        found = common(people, scores).sum(axis=1)
        total = int((found * (found - 1) // 2).sum())
        if total <= most_pairs:
            groups, tied, turned = ranks.row_pairs(people, scores)
        elif rng is None:
            raise UsageError(
                f"{total:,} pairs are too many to compare; give rng, so that {most_pairs:,} of "
                "them can be drawn"
            )
        else:
            groups, tied, turned = _draw(people, scores, most_pairs, rng)
        differences = numpy.abs(turned)
        order = numpy.argsort(differences, kind="stable")
        differences = differences[order]
        ends = numpy.flatnonzero(numpy.append(differences[1:] != differences[:-1], True))
        if not len(differences):
            ends = ends[:0]
        numbers = numpy.bincount(groups, minlength=len(people))
        shares = numpy.where(numbers > 0, 1 / numpy.maximum(numbers, 1), 0.0)
        return cls(
            groups[order], differences, tied[order], (~tied & (turned > 0))[order], ends, shares
        )

    def accuracy(self, threshold: float) -> float:
        """The share of right pairs at this threshold, groups weighing the same."""
        close = self.differences <= threshold
        right = numpy.where(close, self.tied, self.agreeing)
        weights = self.shares[self.groups]
        return float(numpy.sum(weights * right) / numpy.sum(weights))

    def group_accuracies(self, threshold: float) -> tuple[Array, NDArray[numpy.bool_]]:
        """The share of right pairs of each group at this threshold, and which have pairs."""
        right = numpy.where(self.differences <= threshold, self.tied, self.agreeing)
        counted = numpy.bincount(self.groups, weights=right, minlength=len(self.shares))
        return counted * self.shares, self.shares > 0

    def calibrate(self, weights: ranks.Whole | None = None) -> tuple[float, float]:
        """The largest accuracy and its threshold, each group counted as often as its weight.

        Raises:
            Undefined: No pair counts.
        """
        counting = (self.shares > 0).astype(numpy.int64)
        if weights is not None:
            counting = counting * weights
        # The pairs of a group weigh 1 together, so the groups that have any make up the whole.
        total = int(counting.sum())
        if total == 0:
            raise Undefined("pairwise accuracy is not defined: there is no pair")
        pair_weights = (self.shares * counting)[self.groups]
        # Widening the threshold past a pair makes it tied: right if people tie it, and no longer
        # right if it was ordered rightly.
        gains = pair_weights * (self.tied.astype(numpy.int64) - self.agreeing)
        ordered = float(pair_weights @ self.agreeing)
        rights = ordered + numpy.cumsum(gains)[self.ends]
        thresholds = self.differences[self.ends]
        if thresholds[0] > 0:
            # 0 is always a candidate, also where no scores are equal.
            rights = numpy.insert(rights, 0, ordered)
            thresholds = numpy.insert(thresholds, 0, 0.0)
        # The first of equals, where equal means but for rounding errors.
        best = int(numpy.argmax(rights >= rights.max() - 1e-12 * total))
        return float(min(1.0, max(0.0, rights[best] / total))), float(thresholds[best])


def _draw(
    human: Array, metric: Array, count: int, rng: numpy.random.Generator
) -> tuple[ranks.Whole, NDArray[numpy.bool_], Array]:
    """Random pairs of two different cells of a group, in the layout of `ranks.row_pairs`."""
    there = common(human, metric)
    found = there.sum(axis=1)
    numbers = found * (found - 1) // 2
    groups = numpy.searchsorted(
        numpy.cumsum(numbers), rng.integers(0, numbers.sum(), count), side="right"
    )
    left = rng.integers(0, found[groups])
    right = rng.integers(0, found[groups] - 1)
    right += right >= left
    # Row-major, the cells of a group lie side by side.
    people, scores = human[there], metric[there]
    start = (numpy.cumsum(found) - found)[groups]
    ahead = numpy.sign(people[start + left] - people[start + right])
    turned = scores[start + left] - scores[start + right]
    return groups, ahead == 0, numpy.where(ahead == 0, numpy.abs(turned), turned * ahead)


def _accuracy_estimate(
    human: Array, metric: Array, grouping: Grouping, rng: numpy.random.Generator | None
) -> Estimate:
    pairs = Pairs.of(human, metric, grouping=grouping, rng=rng)
    groups = len(pairs.shares)
    if len(pairs.tied) and pairs.tied.all():
        # A metric that is told to tie everything would be always right, and say nothing.
        equal = numpy.full(groups, ranks.CONSTANT_FIRST)
        return Estimate(None, 0, groups, _explain(equal, grouping))
    try:
        value, threshold = pairs.calibrate()
    except Undefined:
        few = numpy.full(groups, ranks.TOO_FEW)
        return Estimate(None, 0, groups, _explain(few, grouping))
    return Estimate(value, int((pairs.shares > 0).sum()), groups, threshold=threshold)


def _average(values: Array, reasons: ranks.Whole, grouping: Grouping) -> Estimate:
    defined = reasons == ranks.DEFINED
    if not defined.any():
        return Estimate(None, 0, len(values), _explain(reasons, grouping))
    return Estimate(float(values[defined].mean()), int(defined.sum()), len(values))


def _explain(reasons: ranks.Whole, grouping: Grouping) -> str:
    """Why nothing is defined, in words."""
    if not len(reasons):
        return "there is nothing to correlate"
    found = Counter(reasons.tolist()).most_common()
    names = _GROUP_NAMES.get(grouping)
    if names is None or len(reasons) == 1:
        return REASONS[found[0][0]]
    if len(found) == 1:
        return f"in every {names[0]}, {REASONS[found[0][0]]}"
    told = "; ".join(
        f"in {count:,} {names[0] if count == 1 else names[1]}, {REASONS[reason]}"
        for reason, count in found
    )
    return f"it is defined in no {names[0]}: {told}"


# Rankings, as the papers on meaning counted them


def ranking_tau(ranking: ArrayLike, metric: ArrayLike) -> Estimate:
    """Kendall's correlation with human rankings as Tumuluru, Lo and Wu (2012) counted it.

    That is the procedure of MetricsMaTr (Callison-Burch and others 2010): of all pairs of systems
    of all segments that people did not tie, those ordered alike minus those ordered otherwise,
    divided by all. A pair the metric ties stays in the divisor alone.

    Args:
        ranking: The rank people gave, segments by systems, 1 the best, NaN where there is none.
        metric: Metric scores, higher is better.
    """
    return within_segments(Statistic.TAU_DENOMINATOR, -_grid(ranking), metric)


def ranking_spearman(ranking: ArrayLike, metric: ArrayLike) -> Estimate:
    """Spearman's correlation within each segment's systems, averaged (Lo and Wu 2010).

    Their short formula is replaced by the one that also holds for ties.

    Args:
        ranking: The rank people gave, segments by systems, 1 the best, NaN where there is none.
        metric: Metric scores, higher is better.
    """
    return within_segments(Statistic.SPEARMAN, -_grid(ranking), metric)


def _grid(values: ArrayLike) -> Array:
    return checked_grids(values)[0]
