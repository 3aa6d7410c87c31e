"""Segments worth reading: where two systems, or two metrics, disagree most.

Two systems disagree on a segment by the difference of their segment scores. Two metrics disagree on
a segment and two systems where each prefers another one; by how much is the smaller of their two
preferences, each divided by that metric's standard deviation over all segments and pairs of
systems, so that points of BLEU and of TER can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy

from meantime.protocols import Array
from meantime.report.comparison import Comparison, MetricComparison


@dataclass(frozen=True, slots=True)
class SystemsDisagree:
    """A segment that one metric gives two systems very different scores on."""

    specification: str
    segment: int
    """Its place in the corpus."""
    better: str
    worse: str
    scores: tuple[float, float]
    """Of the better one, of the worse one."""


@dataclass(frozen=True, slots=True)
class MetricsDisagree:
    """A segment on which one metric prefers one system, another metric another."""

    first: str
    """Prefers `preferred`."""
    second: str
    """Prefers `other`."""
    segment: int
    preferred: str
    other: str
    first_scores: tuple[float, float]
    """Of `preferred`, of `other`."""
    second_scores: tuple[float, float]
    strength: float
    """The smaller preference, in standard deviations of its metric."""


def systems_disagree(comparison: Comparison, most: int = 5) -> tuple[SystemsDisagree, ...]:
    """For each metric, the segments of the largest difference between two systems.

    Of a segment the pair of systems that differs most counts. Segments without a difference are
    left out.
    """
    found = []
    for metric in comparison.metrics:
        scores = _oriented(metric)
        spread = scores.max(axis=0) - scores.min(axis=0)
        for place in numpy.argsort(-spread, kind="stable")[:most]:
            if spread[place] <= 0:
                break
            best, worst = int(scores[:, place].argmax()), int(scores[:, place].argmin())
            found.append(
                SystemsDisagree(
                    metric.specification,
                    int(place),
                    comparison.systems[best],
                    comparison.systems[worst],
                    _pair(metric, (best, worst), int(place)),
                )
            )
    return tuple(found)


def metrics_disagree(comparison: Comparison, most: int = 5) -> tuple[MetricsDisagree, ...]:
    """For each pair of metrics, where they contradict each other most; a segment stands once."""
    found = []
    pairs = list(combinations(range(len(comparison.systems)), 2))
    preferences = [_preferences(_oriented(metric), pairs) for metric in comparison.metrics]
    for one, other in combinations(range(len(comparison.metrics)), 2):
        first, second = comparison.metrics[one], comparison.metrics[other]
        ours, theirs = preferences[one], preferences[other]
        strength = numpy.where(
            ours * theirs < 0, numpy.minimum(numpy.abs(ours), numpy.abs(theirs)), 0.0
        )
        strongest = strength.argmax(axis=0)
        values = strength.max(axis=0)
        for place in numpy.argsort(-values, kind="stable")[:most]:
            if values[place] <= 0:
                break
            pair = pairs[int(strongest[place])]
            if ours[strongest[place], place] < 0:
                pair = pair[::-1]
            found.append(
                MetricsDisagree(
                    first.specification,
                    second.specification,
                    int(place),
                    comparison.systems[pair[0]],
                    comparison.systems[pair[1]],
                    _pair(first, pair, int(place)),
                    _pair(second, pair, int(place)),
                    float(values[place]),
                )
            )
    return tuple(found)


def _oriented(metric: MetricComparison) -> Array:
    """Segment scores, systems by segments, higher is better."""
    return metric.segment_scores if metric.higher_is_better else -metric.segment_scores


def _pair(metric: MetricComparison, systems: Sequence[int], place: int) -> tuple[float, float]:
    one, other = (float(metric.segment_scores[system, place]) for system in systems)
    return one, other


def _preferences(scores: Array, pairs: Sequence[tuple[int, int]]) -> Array:
    """How much each pair's first system is preferred on each segment, in standard deviations."""
    gaps = numpy.array([scores[one] - scores[other] for one, other in pairs])
    deviation = float(gaps.std())
    return gaps / deviation if deviation > 0 else gaps
