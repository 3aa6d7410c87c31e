r"""GTM, the F-measure over runs (Turian, Shen and Melamed 2003; Kulesza 2004, section 1.2.5).

    F = 2 * s / (|hypothesis| + |reference|),   s = (sum over runs of length^e)^(1/e)

A run is a stretch of words that stands in both. With e = 1, s is the number of words in
common, which is exact; for larger e the best set of runs is probably hard to find, and the
longest run of untaken words is taken first, again and again (ties: furthest left in the
hypothesis, then in the reference). Several references: the one of greatest F.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy

from meantime.matching.runs import run_sizes
from meantime.metrics.base import WordMetric, ratio, ratios
from meantime.options import option
from meantime.protocols import Array
from meantime.types import Level, Pair, Score


@dataclass(frozen=True, kw_only=True)
class Gtm(WordMetric):
    """F-measure that rewards common runs of words."""

    name: ClassVar[str] = "gtm"
    summary: ClassVar[str] = "F-measure over common runs of words"
    paper: ClassVar[str] = "Turian, Shen and Melamed 2003; Kulesza 2004, section 1.2.5"
    empty: ClassVar[str] = "0; two empty sides 1"

    exponent: float = option(1.0, "how much longer runs are worth", minimum=1, maximum=10)

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def symmetric(self) -> bool:
        # Which of several equal runs is taken depends on the side; how many words match does not.
        return self.exponent == 1

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("size", "hypothesis_length", "reference_length", "both_empty")

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """Size of the matching and both lengths, for the best reference of each pair."""
        batch = self.batch(pairs)
        if self.exponent == 1:
            sizes = batch.common_words().astype(numpy.float64)
        else:
            sizes = run_sizes(*batch, exponent=float(self.exponent))
        hypothesis = batch.hypothesis_lengths[batch.reference_owners]
        lengths = hypothesis + batch.reference_lengths
        measures = numpy.divide(2 * sizes, lengths, out=numpy.ones(len(sizes)), where=lengths > 0)
        best = batch.best(-measures)
        return numpy.column_stack(
            [sizes[best], hypothesis[best], batch.reference_lengths[best], lengths[best] == 0]
        ).astype(numpy.float64)

    def score(self, total: Array, level: Level) -> Score:
        """Precision, recall and their harmonic mean."""
        size, hypothesis, reference = (float(value) for value in total[:3])
        parts = {
            "precision": ratio(size, hypothesis, on_empty=0.0),
            "recall": ratio(size, reference, on_empty=0.0),
        }
        on_empty = float(total[3] > 0)
        return Score(ratio(2 * size, hypothesis + reference, on_empty=on_empty), parts)

    def scores(self, totals: Array, level: Level) -> Array:
        """What `score` gives, for all rows at once."""
        lengths = totals[:, 1] + totals[:, 2]
        return ratios(2 * totals[:, 0], lengths, on_empty=(totals[:, 3] > 0).astype(float))
