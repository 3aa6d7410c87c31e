"""Whether one metric is closer to people than another, or chance would do as much.

Both metrics are judged on the same translations by the same people, so their correlations depend on
each other. Three answers:

    permutation    were the two metrics as good as each other, their scores could change places.
                   They do so at random, whole segments, whole systems or single translations at a
                   time, on one scale (z-scores); how often is the difference then as large?
    Williams       for Pearson correlations of two metrics with the same human scores
    Fisher         for correlations on independent data; too lenient to tell metrics apart that were
                   measured on the same items, since it does not know how alike they are

All p-values are two-sided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

import numpy
from numpy.typing import ArrayLike, NDArray

from meantime.errors import InputError, UsageError
from meantime.matching import ranks
from meantime.metaeval.correlation import (
    FEWEST,
    Undefined,
    checked_grids,
    checked_vectors,
    chosen,
    common,
    kendalls,
    taus,
)
from meantime.metaeval.grids import (
    FEWEST_SYSTEMS,
    TIES,
    Grouping,
    Pairs,
    Statistic,
    arranged,
    group_counts,
    group_values,
    snapped,
    system_means,
)
from meantime.metaeval.systems import system_values
from meantime.protocols import Array

Flags = NDArray[numpy.bool_]

BLOCK = 100
"""Permutations whose cells are held in memory at a time."""


class Over(StrEnum):
    """What changes places between two metrics at a time."""

    SEGMENTS = "segments"
    SYSTEMS = "systems"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one metric agrees with people than another.

    Attributes:
        value: Its correlation minus the other's.
        p_value: How likely so large a difference (either way) were if both were as good.
        permutations: How many were drawn; 0 where the value is computed by formula.
    """

    value: float
    p_value: float
    permutations: int = 0


def permute(
    statistic: Statistic | str,
    human: ArrayLike,
    one: ArrayLike,
    other: ArrayLike,
    *,
    grouping: Grouping | str = Grouping.SEGMENTS,
    over: Over | str = Over.SEGMENTS,
    rng: numpy.random.Generator,
    permutations: int = 1000,
) -> Difference:
    """Test the difference of two metrics by permutation (Deutsch, Dror and Roth 2021).

    Args:
        statistic: Which correlation.
        human: Human scores, segments by systems, NaN where not rated.
        one: The first metric's scores, likewise.
        other: The second's. Only cells with all three scores count.
        grouping: Which cells are correlated with each other.
        over: What changes places: whole segments, whole systems, or single cells (`both`).
        rng: Draws the permutations.
        permutations: How many.

    Raises:
        Undefined: One of the two correlations is not defined.
    """
    observed, null = exchanged(
        statistic,
        human,
        one,
        other,
        grouping=grouping,
        over=over,
        rng=rng,
        permutations=permutations,
    )
    return Difference(observed, p_value(observed, null), permutations)


def p_value(observed: float, null: Array) -> float:
    """The share of the permutations, and of the data as they are, with so large a difference.

    A permutation in which the difference is not defined (NaN) counts as large.
    """
    # Rounding errors must not make an equal difference a smaller one.
    slack = 1e-12 * (1 + abs(observed))
    large = numpy.count_nonzero(~(numpy.abs(null) < abs(observed) - slack))
    return (1 + large) / (1 + len(null))


def exchanged(
    statistic: Statistic | str,
    human: ArrayLike,
    one: ArrayLike,
    other: ArrayLike,
    *,
    grouping: Grouping | str = Grouping.SEGMENTS,
    over: Over | str = Over.SEGMENTS,
    rng: numpy.random.Generator,
    permutations: int = 1000,
) -> tuple[float, Array]:
    """The difference of two metrics, and what it is in each permutation; see `permute`.

    Raises:
        Undefined: One of the two correlations is not defined.
    """
    which = chosen(Statistic, statistic, "statistic")
    how = chosen(Grouping, grouping, "grouping")
    what = chosen(Over, over, "thing to permute")
    if permutations < 1:
        raise UsageError(f"at least one permutation is needed, not {permutations}")
    people, first, second = checked_grids(human, one, other)
    there = common(people, first, second)
    people = numpy.where(there, people, numpy.nan)
    first, second = (_standardised(grid, there) for grid in (first, second))
    comparing = _comparing(which, how, what, people, first, second)
    observed = comparing.observed()
    if math.isnan(observed):
        raise Undefined(
            "the difference of the two metrics is not defined: over the translations both scored, "
            "one of them has no correlation with people"
        )
    drawn = [
        comparing.differences(flips) for flips in _flips(what, people.shape, rng, permutations)
    ]
    return observed, numpy.concatenate(drawn)


def _flips(
    over: Over, shape: tuple[int, ...], rng: numpy.random.Generator, count: int
) -> Iterator[Flags]:
    """Random exchanges, one row a permutation, one column a segment, system or cell."""
    width = {Over.SEGMENTS: shape[0], Over.SYSTEMS: shape[1], Over.BOTH: shape[0] * shape[1]}[over]
    for start in range(0, count, BLOCK):
        rows = min(BLOCK, count - start)
        yield rng.integers(0, 2, (rows, width), dtype=numpy.int8).astype(numpy.bool_)


def _standardised(grid: Array, there: Flags) -> Array:
    """Scores with mean 0 and standard deviation 1, so that those of two metrics compare."""
    values = grid[there]
    deviation = float(values.std()) if values.size else 0.0
    if deviation == 0:
        return numpy.where(there, grid, numpy.nan)
    return numpy.where(there, (grid - values.mean()) / deviation, numpy.nan)


@dataclass(frozen=True)
class _Comparing:
    """Two metrics on the same grid; subclasses know a fast way for what they were made for."""

    statistic: Statistic
    grouping: Grouping
    over: Over
    human: Array
    one: Array
    other: Array

    def observed(self) -> float:
        none = numpy.zeros((1, self._width()), dtype=numpy.bool_)
        return float(self.differences(none)[0])

    def _width(self) -> int:
        rows, columns = self.human.shape
        widths = {Over.SEGMENTS: rows, Over.SYSTEMS: columns, Over.BOTH: rows * columns}
        return int(widths[self.over])

    def cells(self, flips: Flags) -> Flags:
        """The cells that change places in one permutation."""
        if self.over is Over.SEGMENTS:
            return numpy.broadcast_to(flips[:, None], self.human.shape)
        if self.over is Over.SYSTEMS:
            return numpy.broadcast_to(flips[None, :], self.human.shape)
        return flips.reshape(self.human.shape)

    def differences(self, flips: Flags) -> Array:
        """The difference in each permutation."""
        found = numpy.empty(len(flips))
        for number, row in enumerate(flips):
            swapped = self.cells(row)
            found[number] = self.value(numpy.where(swapped, self.other, self.one)) - self.value(
                numpy.where(swapped, self.one, self.other)
            )
        return found

    def value(self, metric: Array) -> float:
        """The correlation of one metric, NaN where there is none."""
        if self.grouping is Grouping.MEANS:
            means = system_means(self.human)[None], system_means(metric)[None]
            values, reasons = system_values(self.statistic, *means)
            return float(values[0]) if reasons[0] == ranks.DEFINED else math.nan
        if self.statistic is Statistic.ACCURACY:
            try:
                return Pairs.of(self.human, metric, grouping=self.grouping).calibrate()[0]
            except Undefined:
                return math.nan
        people, scores = arranged(self.human, self.grouping), arranged(metric, self.grouping)
        if self.statistic in TIES:
            counts = group_counts(people, scores).sum(axis=0)[None]
            values, reasons = taus(counts, TIES[self.statistic])
        else:
            values, reasons = group_values(self.statistic, people, scores)
        defined = reasons == ranks.DEFINED
        return float(values[defined].mean()) if defined.any() else math.nan


class _WithinSegments(_Comparing):
    """Whole segments change places: a segment's own correlations stay what they are."""

    def differences(self, flips: Flags) -> Array:
        keep, swap = (~flips).astype(numpy.float64), flips.astype(numpy.float64)
        if self.statistic in TIES:
            first, second = (
                group_counts(self.human, grid).astype(numpy.float64)
                for grid in (self.one, self.other)
            )
            sides = (keep @ first + swap @ second, keep @ second + swap @ first)
            found = []
            for counts in sides:
                values, reasons = taus(counts.astype(numpy.int64), TIES[self.statistic])
                found.append(numpy.where(reasons == ranks.DEFINED, values, numpy.nan))
            return numpy.asarray(found[0] - found[1])
        (first, one_defined), (second, other_defined) = (
            self._rows(grid) for grid in (self.one, self.other)
        )
        return _quotient(
            keep @ first + swap @ second, keep @ one_defined + swap @ other_defined
        ) - _quotient(keep @ second + swap @ first, keep @ other_defined + swap @ one_defined)

    def _rows(self, grid: Array) -> tuple[Array, Array]:
        if self.statistic is Statistic.ACCURACY:
            # The tie threshold stays the one each metric has on the data as they are: to fit it
            # anew in each permutation takes a thousand times as long.
            pairs = Pairs.of(self.human, grid, grouping=self.grouping)
            if not pairs.shares.any():
                return numpy.zeros(len(grid)), numpy.zeros(len(grid))
            accuracies, there = pairs.group_accuracies(pairs.calibrate()[1])
            return accuracies, there.astype(numpy.float64)
        values, reasons = group_values(self.statistic, self.human, grid)
        defined = reasons == ranks.DEFINED
        return numpy.where(defined, values, 0.0), defined.astype(numpy.float64)


class _Means(_Comparing):
    """Means of systems are sums over segments, so permutations are a product of matrices."""

    def differences(self, flips: Flags) -> Array:
        there = ~numpy.isnan(self.human)
        counts = numpy.maximum(there.sum(axis=0), 1)
        keep, swap = (~flips).astype(numpy.float64), flips.astype(numpy.float64)
        one, other = (numpy.where(there, grid, 0.0) for grid in (self.one, self.other))
        people = numpy.broadcast_to(system_means(self.human), (len(flips), there.shape[1]))
        found = []
        for left, right in ((one, other), (other, one)):
            if self.over is Over.SEGMENTS:
                sums = keep @ left + swap @ right
            else:
                sums = keep * left.sum(axis=0) + swap * right.sum(axis=0)
            means = numpy.where(there.any(axis=0), snapped(sums / counts), numpy.nan)
            values, reasons = system_values(self.statistic, people, means)
            found.append(numpy.where(reasons == ranks.DEFINED, values, numpy.nan))
        return numpy.asarray(found[0] - found[1])


class _PooledPearson(_Comparing):
    """What Pearson's correlation is made of are sums over cells."""

    def differences(self, flips: Flags) -> Array:
        there = ~numpy.isnan(self.human)
        count = int(there.sum())
        if count < FEWEST["pearson"]:
            return numpy.full(len(flips), numpy.nan)
        people = numpy.where(there, self.human - self.human[there].mean(), 0.0)
        one, other = (numpy.where(there, grid, 0.0) for grid in (self.one, self.other))
        sides = [
            [self._summed(term) for term in (grid, grid * grid, people * grid)]
            for grid in (one, other)
        ]
        keep, swap = (~flips).astype(numpy.float64), flips.astype(numpy.float64)
        spread = float((people * people).sum())
        found = []
        for left, right in (sides, sides[::-1]):
            total, square, product = (
                keep @ mine + swap @ yours for mine, yours in zip(left, right, strict=True)
            )
            variance = square - total * total / count
            # The scores have variance 1, so what is left of rounding is known.
            known = (variance > 1e-9 * count) & (spread > 0)
            scale = numpy.sqrt(numpy.where(known, variance * spread, 1.0))
            found.append(numpy.where(known, product / scale, numpy.nan))
        return numpy.asarray(found[0] - found[1])

    def _summed(self, cells: Array) -> Array:
        if self.over is Over.BOTH:
            return cells.ravel()
        return numpy.asarray(cells.sum(axis=1 if self.over is Over.SEGMENTS else 0))


class _Ranked(_Comparing):
    """All cells at once by rank: ranked together once, so that no permutation sorts again."""

    def differences(self, flips: Flags) -> Array:
        there = ~numpy.isnan(self.human)
        people, human_size = ranks.dense_ranks(self.human[there])
        both, size = ranks.dense_ranks(numpy.concatenate([self.one[there], self.other[there]]))
        one, other = both[: len(people)], both[len(people) :]
        order = numpy.argsort(people, kind="stable")
        middles = ranks.middle_ranks(people, human_size)
        found = numpy.empty(len(flips))
        for number, row in enumerate(flips):
            swapped = self.cells(row)[there]
            values = []
            for left, right in ((one, other), (other, one)):
                mixed = numpy.where(swapped, right, left)
                if self.statistic is Statistic.SPEARMAN:
                    found_value, reason = ranks.correlate(middles, ranks.middle_ranks(mixed, size))
                    enough = len(people) >= FEWEST["spearman"] and reason == ranks.DEFINED
                    values.append(found_value if enough else math.nan)
                    continue
                counts = ranks.count_pairs(people, mixed, (human_size, size), order=order)[None]
                taken, reasons = (
                    taus(counts, TIES[self.statistic])
                    if self.statistic in TIES
                    else kendalls(counts)
                )
                values.append(float(taken[0]) if reasons[0] == ranks.DEFINED else math.nan)
            found[number] = values[0] - values[1]
        return found


def _comparing(
    statistic: Statistic, grouping: Grouping, over: Over, human: Array, one: Array, other: Array
) -> _Comparing:
    kind = _Comparing
    if grouping is Grouping.MEANS and over is not Over.BOTH:
        kind = _Means
    elif grouping is Grouping.SEGMENTS and over is Over.SEGMENTS:
        kind = _WithinSegments
    elif statistic is Statistic.ACCURACY:
        kind = _Comparing
    elif grouping is Grouping.POOLED:
        kind = _PooledPearson if statistic is Statistic.PEARSON else _Ranked
    return kind(statistic, grouping, over, human, one, other)


def _quotient(sums: Array, counts: Array) -> Array:
    return numpy.where(counts > 0, sums / numpy.maximum(counts, 1), numpy.nan)


def permute_systems(
    statistic: Statistic | str,
    human: ArrayLike,
    one: ArrayLike,
    other: ArrayLike,
    *,
    rng: numpy.random.Generator,
    permutations: int = 1000,
) -> Difference:
    """The same over systems, for metrics whose system scores are no means of segments.

    Args:
        statistic: Which correlation over systems.
        human: One human score a system, NaN where there is none.
        one: One score of the first metric a system.
        other: Of the second.
        rng: Draws which systems change places.
        permutations: How many times.

    Raises:
        Undefined: One of the two correlations is not defined.
    """
    observed, null = exchanged_systems(
        statistic, human, one, other, rng=rng, permutations=permutations
    )
    return Difference(observed, p_value(observed, null), permutations)


def exchanged_systems(
    statistic: Statistic | str,
    human: ArrayLike,
    one: ArrayLike,
    other: ArrayLike,
    *,
    rng: numpy.random.Generator,
    permutations: int = 1000,
) -> tuple[float, Array]:
    """The difference over systems, and what it is in each permutation.

    Raises:
        Undefined: One of the two correlations is not defined.
    """
    which = chosen(Statistic, statistic, "statistic")
    if permutations < 1:
        raise UsageError(f"at least one permutation is needed, not {permutations}")
    people, first, second = (
        numpy.asarray(scores, dtype=numpy.float64) for scores in (human, one, other)
    )
    checked_vectors(people, first)
    checked_vectors(people, second)
    there = common(people, first, second)
    if there.sum() < FEWEST_SYSTEMS:
        raise Undefined(
            f"the difference over systems is not defined: {FEWEST_SYSTEMS} are needed with a human "
            f"score and the scores of both metrics, and there are {there.sum()}"
        )
    people = people[there]
    all_there = numpy.ones((1, int(there.sum())), dtype=numpy.bool_)
    first, second = (_standardised(grid[there][None], all_there)[0] for grid in (first, second))

    def differences(flips: Flags) -> Array:
        found = []
        for left, right in ((first, second), (second, first)):
            mixed = numpy.where(flips, right, left)
            values, reasons = system_values(
                which, numpy.broadcast_to(people, mixed.shape), numpy.ascontiguousarray(mixed)
            )
            found.append(numpy.where(reasons == ranks.DEFINED, values, numpy.nan))
        return numpy.asarray(found[0] - found[1])

    observed = float(differences(numpy.zeros((1, len(people)), dtype=numpy.bool_))[0])
    if math.isnan(observed):
        raise Undefined(
            "the difference of the two metrics over systems is not defined: all scores of people "
            "or of a metric are equal"
        )
    flips = rng.integers(0, 2, (permutations, len(people)), dtype=numpy.int8).astype(numpy.bool_)
    return observed, differences(flips)


def williams(human_one: float, human_other: float, one_other: float, items: int) -> Difference:
    """Williams' test of two Pearson correlations that share the human scores (Williams 1959).

        t = (r1 - r2) sqrt((n - 1)(1 + r12) / (2 K (n - 1)/(n - 3) + ((r1 + r2)/2)^2 (1 - r12)^3))
        K = 1 - r1^2 - r2^2 - r12^2 + 2 r1 r2 r12

    Student's t with n - 3 degrees of freedom. Items are taken to be independent.

    Args:
        human_one: Correlation of people with the first metric, r1.
        human_other: Of people with the second, r2.
        one_other: Of the two metrics with each other, r12.
        items: How many items all three were computed from.

    Raises:
        Undefined: Fewer than four items, or the two metrics are the same up to scale.
        InputError: One is no correlation.
    """
    for value in (human_one, human_other, one_other):
        if not -1 <= value <= 1:
            raise InputError(f"{value:g} is no correlation, which lies between -1 and 1")
    if items < 4:
        raise Undefined(f"Williams' test needs four items, not {items}")
    difference = human_one - human_other
    determinant = (
        1 - human_one**2 - human_other**2 - one_other**2 + 2 * human_one * human_other * one_other
    )
    mean = (human_one + human_other) / 2
    below = 2 * max(determinant, 0.0) * (items - 1) / (items - 3) + mean**2 * (1 - one_other) ** 3
    if one_other >= 1 or below <= 0:
        raise Undefined(
            "Williams' test is not defined: the correlations leave nothing to chance, the two "
            "metrics are the same up to scale or one is that of people"
        )
    from scipy.stats import t as student

    t = difference * math.sqrt((items - 1) * (1 + one_other) / below)
    return Difference(difference, float(2 * student.sf(abs(t), items - 3)))


def williams_test(human: ArrayLike, one: ArrayLike, other: ArrayLike) -> Difference:
    """Williams' test from scores; items that lack any of the three are left out.

    Raises:
        Undefined: See `williams`; or one of the scores is the same for all items.
    """
    people, first, second = (
        numpy.asarray(scores, dtype=numpy.float64) for scores in (human, one, other)
    )
    checked_vectors(people, first)
    checked_vectors(people, second)
    there = common(people, first, second)
    found = []
    for left, right in ((people, first), (people, second), (first, second)):
        value, reason = ranks.correlate(left[there], right[there])
        if reason != ranks.DEFINED:
            raise Undefined(
                "Williams' test is not defined: too few items, or all scores of people or of a "
                "metric are equal"
            )
        found.append(value)
    return williams(found[0], found[1], found[2], int(there.sum()))


def fisher_test(one: float, items_of_one: int, other: float, items_of_other: int) -> Difference:
    """Fisher's z-test of two Pearson correlations measured on independent items.

        z = (artanh r1 - artanh r2) / sqrt(1 / (n1 - 3) + 1 / (n2 - 3))

    Raises:
        Undefined: Fewer than four items of one of them, or a correlation of 1 or -1.
        InputError: One is no correlation.
    """
    for value, items in ((one, items_of_one), (other, items_of_other)):
        if not -1 <= value <= 1:
            raise InputError(f"{value:g} is no correlation, which lies between -1 and 1")
        if items < 4:
            raise Undefined(f"Fisher's z needs four items, not {items}")
        if abs(value) == 1:
            raise Undefined("Fisher's z is infinite for a correlation of 1 or -1")
    error = math.sqrt(1 / (items_of_one - 3) + 1 / (items_of_other - 3))
    z = (math.atanh(one) - math.atanh(other)) / error
    return Difference(one - other, 2 * NormalDist().cdf(-abs(z)))
