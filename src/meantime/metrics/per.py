r"""PER, the position-independent word error rate (Tillmann and others 1997).

    PER = max(words only in the hypothesis, words only in the reference) / reference words

Both sides are bags of words. This is Finch, Hwang and Sumita 2005, section 2.2; with
`unit=count` Kulesza 2004, section 1.2.2; and equal to Moses' `evaluator`, which prints one
minus the rate. A corpus rate is Moses' too: words in common and lengths are added up first,
so that a segment too long makes up for one too short (`pool=no` adds up edits instead).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy
from numpy.typing import NDArray

from meantime.metrics.rates import ErrorRate
from meantime.metrics.tokens import Batch
from meantime.options import option
from meantime.protocols import Array
from meantime.types import Level, Score


@dataclass(frozen=True, kw_only=True)
class Per(ErrorRate):
    """Word error rate that does not look at the order of words."""

    name: ClassVar[str] = "per"
    summary: ClassVar[str] = "word error rate without regard to word order"
    paper: ClassVar[str] = "Tillmann and others 1997; Finch, Hwang and Sumita 2005, section 2.2"

    pool: bool = option(
        True, "corpus rate from pooled lengths, as Moses (yes), or from summed edits (no)"
    )

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("edits", "reference_length", "hypothesis_length", "common")

    def edits(self, batch: Batch) -> NDArray[numpy.int64]:
        return _longer(batch) - batch.common_words()

    def rows(self, batch: Batch, edits: NDArray[numpy.int64]) -> NDArray[numpy.int64]:
        hypothesis = batch.hypothesis_lengths[batch.reference_owners]
        return numpy.column_stack(
            [edits, batch.reference_lengths, hypothesis, _longer(batch) - edits]
        )

    def score(self, total: Array, level: Level) -> Score:
        """Edits over reference words; or the edits, in a corpus their sum."""
        if self.unit == "rate" and self.pool:
            _, reference, hypothesis, common = total
            total = numpy.array([max(hypothesis, reference) - common, reference])
        return super().score(total, level)

    def scores(self, totals: Array, level: Level) -> Array:
        """What `score` gives, for all rows at once."""
        if self.unit == "rate" and self.pool:
            edits = numpy.maximum(totals[:, 2], totals[:, 1]) - totals[:, 3]
            totals = numpy.column_stack([edits, totals[:, 1]])
        return super().scores(totals, level)


def _longer(batch: Batch) -> NDArray[numpy.int64]:
    """The length of the longer side, for each reference."""
    return numpy.maximum(batch.hypothesis_lengths[batch.reference_owners], batch.reference_lengths)
