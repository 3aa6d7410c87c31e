"""From the judgements of several judges to human scores, and how far judges agree.

Judges use a scale differently, so their scores are brought to one scale first:

    percentile    (lower + half of the equal) / all         of the judge's own scores, from 0 to 1
    z-score       (score - mean) / standard deviation       of the judge's own scores

A judge who gives all items the same score has percentile 0.5 and z-score 0 for each of them: it
says nothing of which is better. What a judge did not rate takes no part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy
from numpy.typing import ArrayLike

from meantime.errors import InputError
from meantime.metaeval.correlation import Undefined, checked_vectors, chosen
from meantime.metaeval.human import HumanScores, JudgedPair, Rating, Ratings, SegmentKey
from meantime.protocols import Array

Item = tuple[SegmentKey, str]


class Normalisation(StrEnum):
    """How the scores of different judges are brought to one scale."""

    NONE = "none"
    PERCENTILE = "percentile"
    Z = "z"


class Scale(StrEnum):
    """What the differences of two scores mean."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


def percentiles(scores: ArrayLike) -> Array:
    """Each score as the share of all that are lower, equal ones counting half.

    After Kulesza (2004): of ratings 1 to 5 given 6, 16, 26, 32 and 20 times, a 3 is worth 0.35; of
    18, 36, 30, 16 and 0 it is worth 0.69.
    """
    values = numpy.asarray(scores, dtype=numpy.float64)
    if not values.size:
        return values
    ordered = numpy.sort(values)
    lower = numpy.searchsorted(ordered, values, side="left")
    upto = numpy.searchsorted(ordered, values, side="right")
    return numpy.asarray((lower + upto) / (2 * len(ordered)), dtype=numpy.float64)


def z_scores(scores: ArrayLike) -> Array:
    """Each score as its distance from the mean in standard deviations (divisor n - 1)."""
    values = numpy.asarray(scores, dtype=numpy.float64)
    if len(values) < 2 or values.min() == values.max():
        return numpy.zeros(len(values))
    return numpy.asarray((values - values.mean()) / values.std(ddof=1), dtype=numpy.float64)


_BY: dict[Normalisation, Callable[[ArrayLike], Array]] = {
    Normalisation.PERCENTILE: percentiles,
    Normalisation.Z: z_scores,
}


def normalise(ratings: Ratings, how: Normalisation | str) -> Ratings:
    """The same judgements with each judge's scores brought to one scale.

    A judge's scores of different language pairs are taken together: the scale is the judge's.
    """
    which = chosen(Normalisation, how, "normalisation")
    if which is Normalisation.NONE:
        return ratings
    places: dict[str, list[int]] = {}
    for place, row in enumerate(ratings.rows):
        if row.score is not None:
            places.setdefault(row.judge, []).append(place)
    rows = list(ratings.rows)
    for mine in places.values():
        scores = [rows[place].score for place in mine]
        for place, value in zip(mine, _BY[which](scores).tolist(), strict=True):  # type: ignore[arg-type]
            rows[place] = replace(rows[place], score=value)
    return replace(ratings, rows=tuple(rows))


def average(ratings: Ratings) -> HumanScores:
    """One human score a translation, the mean over the judgements it got.

    A translation that nobody rated has no score. Texts are those of the first row that has them.
    """
    return _gathered(ratings, lambda _, rows: rows)


def split(
    ratings: Ratings, *, rng: numpy.random.Generator
) -> tuple[HumanScores, tuple[float | None, ...]]:
    """The judgements at random as "the truth" and "another judge" (Kulesza 2004).

    Of each translation that two or more judged, one judgement is "another judge" and one "the
    truth", both drawn at random. Correlated with the truth as a metric is, the other judge shows
    how well a person does. Translations with fewer judgements are left out.

    Returns:
        The truth, and the other judge's scores in its order.

    Raises:
        InputError: No translation has two judgements.
    """
    items = _by_item(row for row in ratings.rows if row.score is not None)
    kept: dict[Item, list[Rating]] = {}
    others: list[float | None] = []
    for item, rows in items.items():
        if len(rows) > 1:
            one, other = rng.choice(len(rows), 2, replace=False)
            kept[item] = [rows[one]]
            others.append(rows[other].score)
    if not kept:
        raise InputError(
            f"{ratings.name}: no translation was judged twice, so nobody can be another judge"
        )
    chosen_rows = tuple(rows[0] for rows in kept.values())
    return average(replace(ratings, rows=chosen_rows)), tuple(others)


def _by_item(rows: Iterable[Rating]) -> dict[Item, list[Rating]]:
    items: dict[Item, list[Rating]] = {}
    for row in rows:
        items.setdefault(row.item, []).append(row)
    return items


def _gathered(
    ratings: Ratings, pick: Callable[[Item, Sequence[Rating]], Sequence[Rating]]
) -> HumanScores:
    pairs = []
    for item, rows in _by_item(ratings.rows).items():
        scores = [row.score for row in pick(item, rows) if row.score is not None]
        texts = next((row for row in rows if row.hypothesis is not None), rows[0])
        pairs.append(
            JudgedPair(
                lp=texts.lp,
                domain=texts.domain,
                document=texts.document,
                segment=texts.segment,
                system=texts.system,
                source=texts.source,
                references=texts.references,
                hypothesis=texts.hypothesis,
                score=sum(scores) / len(scores) if scores else None,
                is_human=texts.is_human,
                judgements=len(scores),
                line=texts.line,
            )
        )
    return HumanScores(ratings.name, ratings.kind or "ratings", tuple(pairs))


# Agreement


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far judges agree.

    Attributes:
        judges: How many there are.
        items: How many translations two or more of them judged.
        same: The share of pairs of judgements of one item that are equal.
        alpha: Krippendorff's alpha.
        scale: What it takes differences to mean.
    """

    judges: int
    items: int
    same: float
    alpha: float
    scale: Scale


def agreement(ratings: Ratings, *, scale: Scale | str = Scale.INTERVAL) -> Agreement:
    """How far judges agree on the translations that two or more of them judged.

    Raises:
        Undefined: No translation was judged twice, or all judgements are the same.
    """
    how = chosen(Scale, scale, "scale")
    units = [
        [row.score for row in rows if row.score is not None]
        for rows in _by_item(ratings.rows).values()
    ]
    shared = [unit for unit in units if len(unit) > 1]
    pairs = sum(len(unit) * (len(unit) - 1) // 2 for unit in shared)
    same = sum(
        unit[left] == unit[right]
        for unit in shared
        for left in range(len(unit))
        for right in range(left + 1, len(unit))
    )
    alpha = krippendorff(units, scale=how)
    return Agreement(len(ratings.judges), len(shared), same / pairs, alpha, how)


def krippendorff(units: Iterable[Sequence[float]], *, scale: Scale | str = Scale.INTERVAL) -> float:
    """Krippendorff's alpha: 1 minus observed disagreement over that expected by chance.

    1 is perfect agreement, 0 what chance gives. Disagreement is 1 for unequal scores (nominal), the
    squared difference (interval), or the squared number of judgements between them (ordinal).

    Args:
        units: The judgements of each item; items with fewer than two are left out.
        scale: What the differences of scores mean.

    Raises:
        Undefined: No item was judged twice, or all judgements are the same.
    """
    how = chosen(Scale, scale, "scale")
    shared = [numpy.asarray(unit, dtype=numpy.float64) for unit in units if len(unit) > 1]
    if not shared:
        raise Undefined("agreement is not defined: no translation was judged by two judges")
    values = numpy.unique(numpy.concatenate(shared))
    if len(values) == 1:
        raise Undefined("agreement is not defined: all judgements are the same")
    coincidences = numpy.zeros((len(values), len(values)))
    for unit in shared:
        counts = numpy.bincount(numpy.searchsorted(values, unit), minlength=len(values))
        found = numpy.flatnonzero(counts)
        block = numpy.outer(counts[found], counts[found]) - numpy.diag(counts[found])
        coincidences[numpy.ix_(found, found)] += block / (len(unit) - 1)
    totals = coincidences.sum(axis=1)
    distances = _distances(values, totals, how)
    expected = (numpy.outer(totals, totals) - numpy.diag(totals)) / (totals.sum() - 1)
    return float(1 - (coincidences * distances).sum() / (expected * distances).sum())


def _distances(values: Array, totals: Array, scale: Scale) -> Array:
    if scale is Scale.NOMINAL:
        return 1 - numpy.eye(len(values))
    if scale is Scale.INTERVAL:
        return numpy.asarray((values[:, None] - values[None, :]) ** 2)
    # From the middle of one score's judgements to that of the other's.
    middles = numpy.cumsum(totals) - totals / 2
    return numpy.asarray((middles[:, None] - middles[None, :]) ** 2)


def kappa(one: ArrayLike, other: ArrayLike, *, scale: Scale | str = Scale.NOMINAL) -> float:
    """Cohen's kappa of two judges on the same items, weighted where differences have a size.

    Args:
        one: The first judge's scores; NaN where not rated.
        other: The second's, of the same items.
        scale: Nominal: unequal is unequal. Ordinal: weighted by the number of steps between two of
            the scores that occur. Interval: by the squared difference.

    Raises:
        Undefined: No item was judged by both, or all judgements are the same.
    """
    how = chosen(Scale, scale, "scale")
    first, second = checked_vectors(one, other)
    if not len(first):
        raise Undefined("kappa is not defined: no item was judged by both")
    values, places = numpy.unique(numpy.concatenate([first, second]), return_inverse=True)
    if len(values) == 1:
        raise Undefined("kappa is not defined: all judgements are the same")
    left, right = places[: len(first)], places[len(first) :]
    observed = numpy.zeros((len(values), len(values)))
    numpy.add.at(observed, (left, right), 1 / len(first))
    expected = numpy.outer(observed.sum(axis=1), observed.sum(axis=0))
    if how is Scale.ORDINAL:
        steps = numpy.arange(len(values))
        weights = numpy.abs(steps[:, None] - steps[None, :]).astype(numpy.float64)
    else:
        weights = _distances(values, observed.sum(axis=1), how)
    return float(1 - (observed * weights).sum() / (expected * weights).sum())
