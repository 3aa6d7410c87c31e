"""One candidate of each list: by weights, by the best there is, the first, any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from meantime.protocols import Array, Metric
from meantime.scoring import score_many
from meantime.tuning.candidates import Candidates
from meantime.tuning.statistics import gain
from meantime.types import Level

Floats = NDArray[numpy.float64]
Ints = NDArray[numpy.int64]
PASSES = 50
"""An oracle that still improves after so many passes is left there."""


@dataclass(frozen=True, eq=False)
class Selection:
    """One candidate a segment, and what it scores."""

    name: str
    score: float
    deviation: float | None = None
    """Of the score, where it is a mean over many choices."""
    chosen: Ints | None = None
    """The candidates; none where it is such a mean."""


def select_first(candidates: Candidates) -> Ints:
    """The candidate that stands first in its list: what the decoder thought best."""
    return candidates.first[:-1].copy()


def select_by(candidates: Candidates, weights: Floats) -> Ints:
    """The candidate of the greatest weighted sum of features."""
    return candidates.best(candidates.model(weights))


def select_oracle(candidates: Candidates, rows: Array, metric: Metric) -> Ints:
    """The candidates that score best together, as far as exchanging them one by one leads.

    Where a score is the mean over segments, that is the best there is. For other metrics
    (BLEU, say) the best choice is too hard to find: the search begins with the best segment
    scores, and with the first candidates, and ends where no single exchange helps.
    """
    sign = gain(metric)
    of_texts = sign * score_many(metric, rows, Level.SEGMENT)
    starts = (candidates.best(of_texts[candidates.text]), select_first(candidates))
    climbed = [_exchange(candidates, rows, metric, sign, start) for start in starts]
    return max(climbed, key=lambda found: found[1])[0]


def _exchange(
    candidates: Candidates, rows: Array, metric: Metric, sign: float, start: Ints
) -> tuple[Ints, float]:
    chosen = start.copy()
    first, text = candidates.first, candidates.text
    total = rows[text[chosen]].sum(axis=0)
    value = sign * metric.score(total, Level.CORPUS).value
    for _ in range(PASSES):
        before = value
        for segment in range(len(chosen)):
            begin, end = first[segment], first[segment + 1]
            totals = total - rows[text[chosen[segment]]] + rows[text[begin:end]]
            values = sign * score_many(metric, totals, Level.CORPUS)
            best = int(numpy.argmax(values))
            if values[best] > value:
                chosen[segment] = begin + best
                total = totals[best]
                value = float(values[best])
        # Sums anew: differences taken again and again do not stay exact.
        total = rows[text[chosen]].sum(axis=0)
        value = sign * metric.score(total, Level.CORPUS).value
        if value <= before:
            break
    return chosen, value


def score_selection(
    name: str, candidates: Candidates, rows: Array, metric: Metric, chosen: Ints
) -> Selection:
    """What a choice of candidates scores."""
    total = rows[candidates.text[chosen]].sum(axis=0)
    return Selection(name, metric.score(total, Level.CORPUS).value, chosen=chosen)


def score_random(
    candidates: Candidates,
    rows: Array,
    metric: Metric,
    rng: numpy.random.Generator,
    *,
    draws: int = 100,
) -> Selection:
    """The mean score, and its deviation, of choices at random."""
    sizes = numpy.diff(candidates.first)
    totals = numpy.empty((draws, rows.shape[1]))
    for draw in range(draws):
        chosen = candidates.first[:-1] + rng.integers(0, sizes)
        totals[draw] = rows[candidates.text[chosen]].sum(axis=0)
    scores = score_many(metric, totals, Level.CORPUS)
    return Selection("random", float(scores.mean()), float(scores.std()))


def baselines(
    candidates: Candidates, rows: Array, metric: Metric, seed: int
) -> tuple[Selection, Selection, Selection]:
    """First, random and oracle: between them a choice should stand."""
    first = score_selection("first", candidates, rows, metric, select_first(candidates))
    random = score_random(candidates, rows, metric, numpy.random.default_rng(seed))
    best = select_oracle(candidates, rows, metric)
    return first, random, score_selection("oracle", candidates, rows, metric, best)


def subset(candidates: Candidates, segments: Sequence[int]) -> Candidates:
    """The lists of some segments, renumbered; texts keep their numbers, and so their rows."""
    first = candidates.first
    places = numpy.concatenate([numpy.arange(first[s], first[s + 1]) for s in segments])
    sizes = numpy.diff(first)[list(segments)]
    return Candidates(
        names=candidates.names,
        features=candidates.features[places],
        sparse_names=candidates.sparse_names,
        sparse=None if candidates.sparse is None else candidates.sparse[places],
        first=numpy.concatenate([[0], numpy.cumsum(sizes)]).astype(numpy.int64),
        texts=candidates.texts,
        text=candidates.text[places],
        scores=candidates.scores[places],
        origin=candidates.origin[places],
    )


def cross_validate(
    candidates: Candidates,
    folds: int,
    seed: int,
    learn: Callable[[Candidates], Floats],
) -> Ints:
    """Choices with weights learned on the other segments, fold by fold.

    What weights score on the candidates they were learned from says little of other text;
    this says more.

    Args:
        candidates: All lists.
        folds: Into how many parts the segments are dealt.
        seed: Of the dealing.
        learn: From lists to weights.
    """
    order = numpy.random.default_rng(seed).permutation(candidates.segments)
    chosen = numpy.zeros(candidates.segments, dtype=numpy.int64)
    for fold in range(folds):
        inside = numpy.sort(order[fold::folds])
        outside = numpy.setdiff1d(numpy.arange(candidates.segments), inside)
        weights = learn(subset(candidates, list(map(int, outside))))
        chosen[inside] = select_by(candidates, weights)[inside]
    return chosen
