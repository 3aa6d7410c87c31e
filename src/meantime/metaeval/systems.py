"""Agreement of a metric with people on which system is better.

Human scores of a system are the mean over its rated segments; those of the metric may be means or
corpus scores. With fewer than three systems a correlation says next to nothing and is refused.

Pairwise accuracy (Kocmi and others 2021) is the share of the pairs of systems that people order
that the metric orders alike. Soft pairwise accuracy (Thompson, Mathur, Deutsch and Khayrallah
2024) also asks how sure either is:

    SPA = 1 - mean over pairs of systems of |p(human) - p(metric)|

where p is the one-sided p-value, by paired permutation, of the first being no better than the
second.
"""

from __future__ import annotations

import numpy
from numpy.typing import ArrayLike, NDArray

from meantime.errors import UsageError
from meantime.matching import ranks
from meantime.metaeval.correlation import (
    REASONS,
    Undefined,
    checked_grids,
    checked_vectors,
    chosen,
    common,
    taus,
)
from meantime.metaeval.grids import (
    FEWEST_SYSTEMS,
    TIES,
    Statistic,
    accuracies,
    group_values,
    system_means,
)
from meantime.protocols import Array

__all__ = [
    "correlate_systems",
    "p_values",
    "random_flips",
    "soft_pairwise_accuracy",
    "system_accuracy",
    "system_means",
    "system_values",
]


def correlate_systems(statistic: Statistic | str, human: ArrayLike, metric: ArrayLike) -> float:
    """A correlation over systems.

    Args:
        statistic: Which one; `accuracy` is `system_accuracy`.
        human: One human score a system, NaN where there is none.
        metric: One metric score a system.

    Raises:
        Undefined: Fewer than three systems have both, or all scores of one side are equal.
    """
    which = chosen(Statistic, statistic, "statistic")
    people, scores = checked_vectors(human, metric)
    if len(people) < FEWEST_SYSTEMS:
        raise Undefined(
            f"the correlation over systems is not defined: {FEWEST_SYSTEMS} systems are needed "
            f"with both a human score and a metric score, and there are {len(people)}"
        )
    values, reasons = system_values(which, people[None], scores[None])
    if reasons[0] != ranks.DEFINED:
        raise Undefined(f"the correlation over systems is not defined: {REASONS[int(reasons[0])]}")
    return float(values[0])


def system_accuracy(human: ArrayLike, metric: ArrayLike) -> float:
    """The share of the pairs of systems that people order that the metric orders alike.

    Pairs with equal human scores do not count; a pair to which the metric gives equal scores is
    wrong.

    Raises:
        Undefined: Fewer than three systems have both scores, or people order no pair.
    """
    return correlate_systems(Statistic.ACCURACY, human, metric)


def system_values(
    statistic: Statistic, human: Array, metric: Array
) -> tuple[Array, NDArray[numpy.int64]]:
    """A correlation over systems for each row of scores, and why there is none.

    Args:
        statistic: Which one.
        human: One row a resample, one column a system.
        metric: Likewise.
    """
    if statistic is Statistic.ACCURACY or statistic in TIES:
        counts = ranks.count_row_pairs(human, metric)
        if statistic in TIES:
            values, reasons = taus(counts, TIES[statistic])
        else:
            values, reasons = accuracies(counts)
    else:
        values, reasons = group_values(statistic, human, metric)
    few = common(human, metric).sum(axis=1) < FEWEST_SYSTEMS
    return values, numpy.where(few, ranks.TOO_FEW, reasons)


def soft_pairwise_accuracy(
    human: ArrayLike,
    metric: ArrayLike,
    *,
    rng: numpy.random.Generator,
    permutations: int = 1000,
) -> float:
    """Soft pairwise accuracy of a metric whose system score is the mean of its segments'.

    Only cells with both scores count. The same random flips serve both sides and all pairs, so the
    order of the systems plays no part.

    Args:
        human: Human scores, segments by systems.
        metric: Metric scores, likewise.
        rng: Draws the flips.
        permutations: How many.

    Raises:
        Undefined: Fewer than three systems have both scores, or no two have a segment in common.
    """
    people, scores = checked_grids(human, metric)
    there = common(people, scores)
    systems = there.any(axis=0)
    if systems.sum() < FEWEST_SYSTEMS:
        raise Undefined(
            f"soft pairwise accuracy is not defined: {FEWEST_SYSTEMS} systems are needed with both "
            f"a human score and a metric score, and there are {systems.sum()}"
        )
    flips = random_flips(len(people), rng=rng, permutations=permutations)
    one = p_values(numpy.where(there, people, numpy.nan), flips)
    other = p_values(numpy.where(there, scores, numpy.nan), flips)
    upper = numpy.triu_indices(len(one), k=1)
    gaps = numpy.abs(one[upper] - other[upper])
    gaps = gaps[~numpy.isnan(gaps)]
    if not len(gaps):
        raise Undefined(
            "soft pairwise accuracy is not defined: no two systems have scores of the same segment"
        )
    return float(1 - gaps.mean())


def random_flips(segments: int, *, rng: numpy.random.Generator, permutations: int = 1000) -> Array:
    """Random signs, one row a permutation: -1 where a segment's two systems change places."""
    if permutations < 1:
        raise UsageError(f"at least one permutation is needed, not {permutations}")
    signs = rng.integers(0, 2, (permutations, segments), dtype=numpy.int8)
    return signs.astype(numpy.float64) * 2 - 1


def p_values(scores: ArrayLike, flips: Array) -> Array:
    """One-sided p-values of each system (row) being no better than each other (column).

    The share of permutations in which the summed difference over the segments both have is
    larger than the one observed; equal ones count half, so that the p-values of (a, b) and (b, a)
    add up to 1, and two equal systems have 0.5.

    Args:
        scores: Segments by systems, NaN where there is none.
        flips: From `random_flips`.

    Returns:
        Systems by systems; NaN where two have no segment in common.
    """
    (grid,) = checked_grids(scores)
    systems = grid.shape[1]
    left, right = numpy.triu_indices(systems, k=1)
    # Scaled to at most 1, so that what counts as a rounding error is known.
    largest = float(numpy.nanmax(numpy.abs(grid), initial=0.0))
    differences = (grid[:, left] - grid[:, right]) / (largest or 1.0)
    shared = ~numpy.isnan(differences)
    differences = numpy.where(shared, differences, 0.0)
    observed = differences.sum(axis=0)
    sums = flips @ differences
    slack = 1e-12 * numpy.abs(differences).sum(axis=0)
    above = (sums > observed + slack).mean(axis=0)
    at_least = (sums >= observed - slack).mean(axis=0)
    p = (above + at_least) / 2
    p = numpy.where(shared.any(axis=0), p, numpy.nan)
    matrix = numpy.full((systems, systems), 0.5)
    matrix[left, right] = p
    matrix[right, left] = 1 - p
    return matrix
