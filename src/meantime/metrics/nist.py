r"""NIST (Doddington 2002).

    NIST = BP * sum over n = 1..N of (information of matching n-grams / n-grams of the hypothesis)
    information(w1..wn) = log2( count(w1..wn-1) / count(w1..wn) )
    BP = exp( beta * ln^2( min(1, hypothesis length / mean reference length) ) ),
    beta = ln 0.5 / ln^2 1.5, so that BP = 0.5 where the hypothesis has 2/3 of the length

Counts are over all references of the set, so the metric must be prepared with it; an
n-gram that the set does not hold has no information. `average=yes` divides by N (Kulesza
2004, section 1.2.4); the sum is mteval's and Finch, Hwang and Sumita's (2005, section 2.4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Self

import numpy

from meantime.errors import NotPrepared
from meantime.matching.ngrams import NgramInformation
from meantime.metrics.base import WordMetric, ratios
from meantime.metrics.tokens import Overlay, Vocabulary, number
from meantime.options import option
from meantime.protocols import Array
from meantime.types import Level, Pair, Score, Segment

_BETA = math.log(0.5) / math.log(1.5) ** 2


@dataclass(frozen=True, kw_only=True)
class Nist(WordMetric):
    """N-gram matches weighed by how much they tell."""

    name: ClassVar[str] = "nist"
    summary: ClassVar[str] = "n-gram matches weighed by their information"
    paper: ClassVar[str] = "Doddington 2002; Finch, Hwang and Sumita 2005, section 2.4"
    empty: ClassVar[str] = "0"

    _information: ClassVar[NgramInformation | None] = None

    max_order: int = option(5, "longest n-gram counted", minimum=1, maximum=9)
    average: bool = option(False, "divide by max_order (Kulesza 2004) instead of summing")
    brevity_penalty: bool = option(True, "whether short output is punished")

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, math.inf)

    @property
    def copy_is_best(self) -> bool:
        # Leaving out words of little information raises the mean.
        return False

    @property
    def statistics(self) -> tuple[str, ...]:
        orders = range(1, self.max_order + 1)
        return (
            "hypothesis_length",
            "mean_reference_length",
            *(f"information_{n}" for n in orders),
            *(f"total_{n}" for n in orders),
        )

    def prepare(self, segments: Sequence[Segment]) -> Self:
        """Count the n-grams of all references."""
        prepared = super().prepare(segments)
        words = [self.words(reference) for segment in segments for reference in segment.references]
        vocabulary = Vocabulary()
        ids, offsets = number(words, vocabulary)
        counted = NgramInformation(ids, offsets, vocabulary, self.max_order)
        return prepared._bind(information=counted)

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """Lengths, then information and number of n-grams of each order."""
        information = self._information
        if information is None:
            raise NotPrepared(
                "nist weighs n-grams by the whole reference set; call prepare(segments) first "
                "and measure with the metric it returns"
            )
        batch = self.batch(pairs, Overlay(information.vocabulary))
        rows = numpy.zeros((len(pairs), 2 + 2 * self.max_order))
        lengths = batch.hypothesis_lengths
        rows[:, 0] = lengths
        if len(pairs):
            starts = batch.first_reference
            words = numpy.add.reduceat(batch.reference_lengths, starts[:-1])
            rows[:, 1] = words / numpy.diff(starts)
        rows[:, 2 : 2 + self.max_order] = information.gains(*batch)
        orders = numpy.arange(self.max_order)
        rows[:, 2 + self.max_order :] = numpy.maximum(lengths[:, None] - orders, 0)
        return rows

    def score(self, total: Array, level: Level) -> Score:
        """Information per n-gram, summed over the orders, and the penalty."""
        values = total.tolist()
        hypothesis, reference = values[0], values[1]
        gains = values[2 : 2 + self.max_order]
        totals = values[2 + self.max_order :]
        each = [g / t if t else 0.0 for g, t in zip(gains, totals, strict=True)]
        penalty = 1.0
        if self.brevity_penalty and hypothesis < reference:
            penalty = math.exp(_BETA * math.log(hypothesis / reference) ** 2) if hypothesis else 0.0
        value = penalty * sum(each) / (self.max_order if self.average else 1)
        parts = dict(zip(self._part_names(self.max_order), each, strict=True))
        parts["brevity_penalty"] = penalty
        return Score(value, parts)

    def scores(self, totals: Array, level: Level) -> Array:
        """What `score` gives, for all rows at once."""
        hypothesis, reference = totals[:, 0], totals[:, 1]
        gains = totals[:, 2 : 2 + self.max_order]
        values: Array = ratios(gains, totals[:, 2 + self.max_order :], on_empty=0.0).sum(axis=1)
        if self.brevity_penalty:
            short = (hypothesis < reference) & (hypothesis > 0)
            shares = ratios(hypothesis, reference, on_empty=1.0)
            logs = numpy.log(shares, out=numpy.zeros(len(shares)), where=short)
            values = values * numpy.exp(_BETA * logs**2)
            values[(hypothesis == 0) & (reference > 0)] = 0.0
        return values / (self.max_order if self.average else 1)

    @staticmethod
    @cache
    def _part_names(max_order: int) -> tuple[str, ...]:
        return tuple(f"information_{n}" for n in range(1, max_order + 1))
