"""What the error rates WER, PER and CDER have in common.

Each counts edits between a hypothesis and a reference. `unit=rate` divides by the length
of the reference, `unit=count` does not (Kulesza 2004). Several references: the one of
least rate, or count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy
from numpy.typing import NDArray

from meantime.metrics.base import WordMetric, ratio, ratios
from meantime.metrics.tokens import Batch
from meantime.options import option
from meantime.protocols import Array
from meantime.types import Level, Pair, Score, Signature


@dataclass(frozen=True, kw_only=True)
class ErrorRate(WordMetric):
    """Edits per reference word, or edits as they are."""

    empty: ClassVar[str] = "1; two empty sides 0"
    empty_count: ClassVar[str] = "every word of the other side"

    unit: str = option(
        "rate", "edits per reference word (rate), or edits (count)", choices=("rate", "count")
    )

    @property
    def higher_is_better(self) -> bool:
        return False

    @property
    def decimals(self) -> int:
        return 0 if self.unit == "count" else 4

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, math.inf)

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("edits", "reference_length")

    def signature(self) -> Signature:
        """As for every metric; what empty input gets depends on the unit."""
        signed = super().signature()
        if self.unit == "rate":
            return signed
        options = tuple(
            (name, self.empty_count if name == "empty" else value) for name, value in signed.options
        )
        return replace(signed, options=options)

    def edits(self, batch: Batch) -> NDArray[numpy.int64]:
        """Fewest edits for each reference of each pair."""
        raise NotImplementedError

    def rows(self, batch: Batch, edits: NDArray[numpy.int64]) -> NDArray[numpy.int64]:
        """Statistics for each reference of each pair."""
        return numpy.column_stack([edits, batch.reference_lengths])

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """Edits and reference length, for the best reference of each pair."""
        batch = self.batch(pairs)
        edits = self.edits(batch)
        return self.rows(batch, edits)[self.chosen(batch, edits)].astype(numpy.float64)

    def chosen(self, batch: Batch, edits: NDArray[numpy.int64]) -> NDArray[numpy.int64]:
        """The reference of least rate, or count, for each pair."""
        if self.unit == "count":
            return batch.best(edits)
        return batch.best(_rates(edits, batch.reference_lengths))

    def score(self, total: Array, level: Level) -> Score:
        """Edits over reference words; or the edits, in a corpus their sum."""
        edits, length = float(total[0]), float(total[1])
        parts = {"edits": edits, "reference_length": length}
        if self.unit == "count":
            return Score(edits, parts)
        return Score(ratio(edits, length, on_empty=float(edits > 0)), parts)

    def scores(self, totals: Array, level: Level) -> Array:
        """What `score` gives, for all rows at once."""
        if self.unit == "count":
            return numpy.array(totals[:, 0])
        return ratios(totals[:, 0], totals[:, 1], on_empty=(totals[:, 0] > 0).astype(float))


def _rates(edits: NDArray[numpy.int64], lengths: NDArray[numpy.int64]) -> Array:
    out = (edits > 0).astype(numpy.float64)
    return numpy.divide(edits, lengths, out=out, where=lengths > 0)
