"""Minimum Bayes risk: the candidate that is closest to what else might have been said.

    choose the candidate c that maximises  sum over r of p(r) * utility(c, r)

The pseudo-references r are the candidates themselves or other samples, p(r) how often a text
was drawn, or what the model's score makes of it (Kumar and Byrne 2004; Eikema and Aziz 2020).
Any metric is a utility. A text that was drawn several times is measured once, and where a
metric declares itself symmetric, half of a square matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError, LengthMismatch
from meantime.protocols import Analyser, Array, Metric
from meantime.scoring import measure_pairs, score_many
from meantime.tuning.candidates import Candidates
from meantime.tuning.statistics import analyse_texts, gain, refuse_people
from meantime.types import Layer, Level, Pair, Segment, Sentence

Floats = NDArray[numpy.float64]
BLOCK = 262144
"""Pairs measured at a time."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The distinct candidates of a segment, best first."""

    texts: tuple[str, ...]
    utilities: tuple[float, ...]
    """The expected utility of each."""
    places: tuple[int, ...]
    """Of each, its first place in the list, from 0."""


@dataclass(frozen=True, eq=False)
class Decision:
    """Rankings of all segments, and what they cost."""

    rankings: tuple[Ranking, ...]
    pairs: int
    """Pairs measured."""
    saved: int
    """Pairs that need not be measured: repeated texts, and symmetry."""


def is_symmetric(metric: Metric) -> bool:
    """Whether the metric declares that hypothesis and reference may change places."""
    return bool(getattr(metric, "symmetric", False))


def decide(
    candidates: Candidates,
    metric: Metric,
    *,
    references: Candidates | None = None,
    temperature: float | None = None,
    sources: Sequence[Sentence] | None = None,
    lang: str = "en",
    analyser: Analyser | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Decision:
    """Rank the candidates of every segment by their expected utility.

    Args:
        candidates: What can be chosen.
        metric: The utility; it is prepared here, for the pseudo-references.
        references: The pseudo-references, for as many segments; by default the candidates.
        temperature: Weighs a pseudo-reference by the exponential of its model score divided
            by this; without it, each counts as often as it stands in the list.
        sources: For metrics that need the source.
        lang: The language of the candidates.
        analyser: For metrics that need analysis.
        jobs: Number of processes; 0 for one a core.
        progress: Told how many texts are analysed, then how many pairs are measured, and of
            how many.

    Raises:
        LengthMismatch: Candidates and pseudo-references have not as many segments.
        InputError: The metric needs a source, or model scores are lacking.
    """
    others = candidates if references is None else references
    if others.segments != candidates.segments:
        raise LengthMismatch(
            f"candidates of {candidates.segments} segments, pseudo-references of "
            f"{others.segments}; give both for the same text"
        )
    refuse_people(metric)
    if Layer.SOURCE in metric.needs and sources is None:
        raise InputError(f"{metric.name} needs the source; give it with -s")
    lists = [
        _distinct(candidates, others, segment, temperature)
        for segment in range(candidates.segments)
    ]
    texts = dict.fromkeys(t for one in lists for t in (*one.candidates, *one.references))
    analysed = analyse_texts([Sentence(t, lang) for t in texts], metric.needs, analyser, progress)
    sentences = dict(zip(texts, analysed, strict=True))
    targets = [
        [
            Segment(
                f"{number}.{place}",
                (sentences[text],),
                source=sources[number] if sources is not None else None,
            )
            for place, text in enumerate(one.references)
        ]
        for number, one in enumerate(lists)
    ]
    metric = metric.prepare([segment for some in targets for segment in some])
    symmetric = is_symmetric(metric)
    plans = [_plan(one, symmetric) for one in lists]
    total = sum(len(plan[0]) for plan in plans)
    values = numpy.empty(total)
    done = 0
    waiting: list[Pair] = []

    def flush() -> None:
        nonlocal done
        [rows] = measure_pairs(waiting, [metric], jobs=jobs)
        values[done : done + len(rows)] = score_many(metric, rows, Level.SEGMENT)
        done += len(rows)
        waiting.clear()
        if progress:
            progress(done, total)

    for one, segments, (rows_of, columns_of) in zip(lists, targets, plans, strict=True):
        for row, column in zip(rows_of, columns_of, strict=True):
            waiting.append(Pair(sentences[one.candidates[row]], segments[column]))
            if len(waiting) >= BLOCK:
                flush()
    if waiting:
        flush()
    sign = gain(metric)
    rankings = []
    begin = 0
    for one, plan in zip(lists, plans, strict=True):
        end = begin + len(plan[0])
        matrix = _matrix(one, plan, values[begin:end], symmetric)
        rankings.append(_rank(one, matrix, sign))
        begin = end
    whole = sum(
        int(a * b)
        for a, b in zip(numpy.diff(candidates.first), numpy.diff(others.first), strict=True)
    )
    return Decision(tuple(rankings), total, whole - total)


@dataclass(frozen=True, eq=False)
class _List:
    """The distinct texts of one segment."""

    candidates: tuple[str, ...]
    places: tuple[int, ...]
    references: tuple[str, ...]
    chances: Floats
    """Of the references; they sum to 1."""
    square: bool
    """Whether the references are the candidates, in the same order."""


def _distinct(
    candidates: Candidates, references: Candidates, segment: int, temperature: float | None
) -> _List:
    own = _texts(candidates, segment)
    places: dict[str, int] = {}
    for place, text in enumerate(own):
        places.setdefault(text, place)
    others = own if references is candidates else _texts(references, segment)
    numbers: dict[str, int] = {}
    index = numpy.array([numbers.setdefault(text, len(numbers)) for text in others])
    if temperature is None:
        each = numpy.ones(len(others))
    else:
        scores = references.scores[references.first[segment] : references.first[segment + 1]]
        if numpy.isnan(scores).any():
            raise InputError(
                f"segment {segment} has a pseudo-reference without a model score, which a "
                "temperature needs; give the scores, or leave the temperature out"
            )
        each = numpy.exp((scores - scores.max()) / temperature)
    chances = numpy.bincount(index, weights=each, minlength=len(numbers))
    return _List(
        candidates=tuple(places),
        places=tuple(places.values()),
        references=tuple(numbers),
        chances=chances / chances.sum(),
        square=tuple(places) == tuple(numbers),
    )


def _texts(candidates: Candidates, segment: int) -> list[str]:
    places = range(int(candidates.first[segment]), int(candidates.first[segment + 1]))
    return candidates.chosen(places)


_Plan = tuple[NDArray[numpy.int64], NDArray[numpy.int64]]


def _plan(one: _List, symmetric: bool) -> _Plan:
    """Which candidate is measured with which reference."""
    rows, columns = len(one.candidates), len(one.references)
    if one.square and symmetric:
        left, right = numpy.triu_indices(rows)
        return left, right
    every = numpy.indices((rows, columns)).reshape(2, -1)
    return every[0], every[1]


def _matrix(one: _List, plan: _Plan, values: Array, symmetric: bool) -> Floats:
    matrix = numpy.empty((len(one.candidates), len(one.references)))
    matrix[plan] = values
    if one.square and symmetric:
        matrix[plan[1], plan[0]] = values
    return matrix


def _rank(one: _List, matrix: Floats, sign: float) -> Ranking:
    expected = matrix @ one.chances
    # Of equals the one that stands first in its list.
    order = numpy.argsort(-sign * expected, kind="stable")
    return Ranking(
        texts=tuple(one.candidates[n] for n in order),
        utilities=tuple(float(expected[n]) for n in order),
        places=tuple(one.places[n] for n in order),
    )
