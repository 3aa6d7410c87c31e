"""How far a metric agrees with people: one number from two vectors.

Every function takes the human scores first and the metric's second; in both, higher is better.
NaN stands for an item that was not rated or not scored, which is left out: not rated is never zero.
Where a correlation is not defined, `Undefined` says why; no NaN is ever returned.

With C pairs of items ordered alike by people and metric, D ordered otherwise, H tied by people
alone, M tied by the metric alone and B tied by both:

    pearson           sum (h - mean h)(m - mean m) / (n * sd h * sd m)
    spearman          pearson of middle ranks
    kendall           (C - D) / sqrt((C + D + H) * (C + D + M))                tau-b
    tau-discordant    (C - D - M) / (C + D + M)
    tau-ignored       (C - D) / (C + D)
    tau-denominator   (C - D) / (C + D + M)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import numpy
from numpy.typing import ArrayLike, NDArray

from meantime.errors import InputError, LengthMismatch, UsageError
from meantime.matching import ranks
from meantime.protocols import Array

Choice = TypeVar("Choice", bound=StrEnum)


class Undefined(InputError):
    """A correlation does not exist for these scores; the message says why."""


class Ties(StrEnum):
    """What becomes of a pair that people order and the metric ties."""

    DISCORDANT = "discordant"
    IGNORED = "ignored"
    DENOMINATOR = "denominator"


FEWEST = {"pearson": 3, "spearman": 3, "kendall": 2, "tau": 2}
"""Items needed. With two, Pearson's and Spearman's are 1 or -1 whatever the scores; Kendall's
counts pairs, and two items are one pair."""

ALL_TIED = 4
"""Besides the reasons of `meantime.matching.ranks`: the metric ties every pair people order."""

REASONS = {
    ranks.TOO_FEW: "too few items have both a human score and a metric score",
    ranks.CONSTANT_FIRST: "all human scores are equal",
    ranks.CONSTANT_SECOND: "all metric scores are equal",
    ALL_TIED: "the metric ties every pair that people order",
}
"""Why a correlation is not defined, in words."""


def pearson(human: ArrayLike, metric: ArrayLike) -> float:
    """Pearson's product-moment correlation.

    Raises:
        Undefined: Fewer than three items, or all human or all metric scores are equal.
    """
    one, other = checked_vectors(human, metric)
    _require("pearson", one)
    return _defined("Pearson's correlation", *ranks.correlate(one, other))


def spearman(human: ArrayLike, metric: ArrayLike) -> float:
    """Spearman's rank correlation: Pearson's of the ranks, equal scores sharing their mean rank.

    The short formula, 1 - 6 * sum of squared differences / (n * (n * n - 1)), is the same where no
    scores are equal, and wrong where some are.

    Raises:
        Undefined: Fewer than three items, or all human or all metric scores are equal.
    """
    one, other = checked_vectors(human, metric)
    _require("spearman", one)
    found = ranks.correlate(
        ranks.middle_ranks(*ranks.dense_ranks(one)), ranks.middle_ranks(*ranks.dense_ranks(other))
    )
    return _defined("Spearman's correlation", *found)


def kendall(human: ArrayLike, metric: ArrayLike) -> float:
    """Kendall's tau-b, in O(n log n).

    Raises:
        Undefined: Fewer than two items, or all human or all metric scores are equal.
    """
    counts = count_pairs(human, metric)
    values, reasons = kendalls(counts[None])
    return _defined("Kendall's tau-b", float(values[0]), int(reasons[0]))


def wmt_tau(human: ArrayLike, metric: ArrayLike, *, ties: Ties | str = Ties.DENOMINATOR) -> float:
    """Kendall's tau as WMT's metrics tasks counted it: pairs that people tie do not count.

    On vectors, all pairs of items count. On grids, pairs within rows (the systems of a segment)
    count, summed over all rows.

    Args:
        human: Human scores, a vector or a grid of segments by systems.
        metric: Metric scores, in the same shape.
        ties: Pairs the metric ties count as disagreeing (`discordant`), do not count (`ignored`),
            or count neither for nor against (`denominator`: in the denominator alone).

    Raises:
        Undefined: No pair counts.
    """
    kind = chosen(Ties, ties, "way to treat ties")
    if numpy.ndim(human) == 2:
        counts = ranks.count_row_pairs(*checked_grids(human, metric)).sum(axis=0)
    else:
        counts = count_pairs(human, metric)
    values, reasons = taus(counts[None], kind)
    return _defined(f"tau ({kind})", float(values[0]), int(reasons[0]))


def preference_tau(
    better: ArrayLike, worse: ArrayLike, *, ties: Ties | str = Ties.DISCORDANT
) -> float:
    """The same tau from preferences: one pair a judgement (WMT's DARR and earlier rankings).

    Args:
        better: The metric's score of the translation people preferred, one a preference.
        worse: Its score of the other.
        ties: As for `wmt_tau`. By default as DARR was counted: a tie disagrees.

    Raises:
        Undefined: No preference counts.
    """
    kind = chosen(Ties, ties, "way to treat ties")
    one, other = checked_vectors(better, worse)
    counts = numpy.zeros((1, 5), dtype=numpy.int64)
    counts[0, ranks.AGREEING] = numpy.count_nonzero(one > other)
    counts[0, ranks.DISAGREEING] = numpy.count_nonzero(one < other)
    counts[0, ranks.TIED_SECOND] = numpy.count_nonzero(one == other)
    if not len(one):
        raise Undefined("tau is not defined: no preference has both translations scored")
    values, reasons = taus(counts, kind)
    return _defined(f"tau ({kind})", float(values[0]), int(reasons[0]))


@dataclass(frozen=True, slots=True)
class Roc:
    """How well scores tell human from machine translations, over all thresholds.

    At `thresholds[i]`, whoever calls a translation human whose score is at least that is right
    about the share `hits[i]` of the human ones and wrong about the share `false_alarms[i]` of the
    machine's. The first threshold is infinite: nothing is called human.
    """

    thresholds: tuple[float, ...]
    false_alarms: tuple[float, ...]
    hits: tuple[float, ...]
    area: float


def roc(human_made: ArrayLike, machine_made: ArrayLike) -> Roc:
    """The receiver operating characteristic of scores that should be higher for people's work.

    The area is the share of (human, machine) pairs in which the human one has the higher score;
    equal scores count half.

    Args:
        human_made: Scores of human translations.
        machine_made: Scores of machine translations.

    Raises:
        Undefined: Either is empty.
    """
    people = checked_vector(human_made)
    machines = checked_vector(machine_made)
    if not len(people) or not len(machines):
        which = "human" if not len(people) else "machine"
        raise Undefined(f"the ROC is not defined: no {which} translation has a score")
    thresholds = numpy.unique(numpy.concatenate([people, machines]))[::-1]
    hits = 1 - numpy.searchsorted(numpy.sort(people), thresholds) / len(people)
    alarms = 1 - numpy.searchsorted(numpy.sort(machines), thresholds) / len(machines)
    hits = numpy.concatenate([[0.0], hits])
    alarms = numpy.concatenate([[0.0], alarms])
    area = numpy.sum(numpy.diff(alarms) * (hits[1:] + hits[:-1])) / 2
    return Roc(
        (numpy.inf, *thresholds.tolist()),
        tuple(alarms.tolist()),
        tuple(hits.tolist()),
        float(min(1.0, max(0.0, area))),
    )


def count_pairs(human: ArrayLike, metric: ArrayLike) -> ranks.Whole:
    """Pairs of items by how people and metric order them: C, D, H, M, B of the module's text."""
    one, other = checked_vectors(human, metric)
    first, first_size = ranks.dense_ranks(one)
    second, second_size = ranks.dense_ranks(other)
    return ranks.count_pairs(first, second, (first_size, second_size))


def kendalls(counts: ranks.Whole) -> tuple[Array, ranks.Whole]:
    """Tau-b from rows of pair counts, and why it is not defined (the value is then 0)."""
    # As floats: the product of two counts of pairs may leave the whole numbers.
    c, d, h, m, b = counts.T.astype(numpy.float64)
    reasons = numpy.where(
        c + d + h + m + b == 0,
        ranks.TOO_FEW,
        numpy.where(
            c + d + m == 0,
            ranks.CONSTANT_FIRST,
            numpy.where(c + d + h == 0, ranks.CONSTANT_SECOND, ranks.DEFINED),
        ),
    )
    product = numpy.sqrt(c + d + h) * numpy.sqrt(c + d + m)
    values = (c - d) / numpy.where(reasons == ranks.DEFINED, product, 1.0)
    values = numpy.where(reasons == ranks.DEFINED, numpy.clip(values, -1.0, 1.0), 0.0)
    return values, reasons


def taus(counts: ranks.Whole, ties: Ties) -> tuple[Array, ranks.Whole]:
    """WMT's tau from rows of pair counts, and why it is not defined (the value is then 0)."""
    c, d, _, m, _ = counts.T.astype(numpy.float64)
    numerator = c - d - m if ties is Ties.DISCORDANT else c - d
    denominator = c + d if ties is Ties.IGNORED else c + d + m
    reasons = numpy.where(
        counts.sum(axis=1) == 0,
        ranks.TOO_FEW,
        numpy.where(
            c + d + m == 0,
            ranks.CONSTANT_FIRST,
            numpy.where(denominator == 0, ALL_TIED, ranks.DEFINED),
        ),
    )
    values = numerator / numpy.where(denominator == 0, 1.0, denominator)
    return numpy.where(reasons == ranks.DEFINED, values, 0.0), reasons


def checked_vector(values: ArrayLike) -> Array:
    """The numbers of a vector that are there.

    Raises:
        InputError: It is no vector, or holds an infinite number.
    """
    array = _vector(values)
    return array[~numpy.isnan(array)]


def checked_vectors(human: ArrayLike, metric: ArrayLike) -> tuple[Array, Array]:
    """Two vectors of the same items, those left out that lack either.

    Raises:
        LengthMismatch: They differ in length.
        InputError: One is no vector, or holds an infinite number.
    """
    one, other = _vector(human), _vector(metric)
    if len(one) != len(other):
        raise LengthMismatch(
            f"{len(one)} scores against {len(other)}; give both for the same items in the same "
            "order, with NaN for what is missing"
        )
    there = common(one, other)
    return one[there], other[there]


def checked_grids(human: ArrayLike, *metrics: ArrayLike) -> tuple[Array, ...]:
    """Grids of the same segments and systems.

    Raises:
        LengthMismatch: They differ in shape.
        InputError: One is no grid, or holds an infinite number.
    """
    arrays = tuple(numpy.asarray(grid, dtype=numpy.float64) for grid in (human, *metrics))
    for array in arrays:
        if array.ndim != 2:
            raise InputError(
                f"a grid has two axes, segments and systems; this array has {array.ndim}"
            )
        _refuse_infinite(array)
        if array.shape != arrays[0].shape:
            segments, systems = arrays[0].shape
            raise LengthMismatch(
                f"human scores are given for {segments} segments by {systems} systems, metric "
                f"scores for {array.shape[0]} by {array.shape[1]}; line them up, with NaN for what "
                "is missing"
            )
    return arrays


def common(*arrays: Array) -> NDArray[numpy.bool_]:
    """Where all have a number."""
    there = ~numpy.isnan(arrays[0])
    for array in arrays[1:]:
        there &= ~numpy.isnan(array)
    return there


def chosen(kind: type[Choice], value: str, what: str) -> Choice:
    """The member of an enumeration that has this value.

    Raises:
        UsageError: None has.
    """
    try:
        return kind(value)
    except ValueError as error:
        raise UsageError(f"{value!r} is no {what}; choose from {', '.join(kind)}") from error


def _vector(values: ArrayLike) -> Array:
    array = numpy.asarray(values, dtype=numpy.float64)
    if array.ndim != 1:
        raise InputError(f"scores come as a vector here, not as an array of {array.ndim} axes")
    _refuse_infinite(array)
    return array


def _refuse_infinite(array: Array) -> None:
    if numpy.isinf(array).any():
        raise InputError("a score is infinite; give NaN where there is none")


def _require(statistic: str, items: Array) -> None:
    if len(items) < FEWEST[statistic]:
        raise Undefined(
            f"{statistic.capitalize()}'s correlation is not defined: {len(items)} items have both "
            f"a human score and a metric score, {FEWEST[statistic]} are needed"
        )


def _defined(what: str, value: float, reason: int) -> float:
    if reason != ranks.DEFINED:
        raise Undefined(f"{what} is not defined: {REASONS[reason]}")
    return value
