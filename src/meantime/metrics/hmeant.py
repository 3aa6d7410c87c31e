r"""HMEANT: how much of the events' structure people could read out of a translation.

Lo and Wu 2010, section 3.3, from people's frames and judgements; the formula stands in
`meantime.metrics.hmeant_arithmetic`. A segment has the mean over its annotators of the mean over
their judges, a corpus the mean of its segments: of F, of precision and of recall alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy

from meantime.errors import InputError
from meantime.metrics.base import BaseMetric, ratio, require_references
from meantime.metrics.hmeant_arithmetic import Weights, measure_judgements
from meantime.options import option
from meantime.protocols import Array
from meantime.types import Layer, Level, Pair, Score


@dataclass(frozen=True, kw_only=True)
class Hmeant(BaseMetric):
    """F-score of people's frames, as people judged them."""

    name: ClassVar[str] = "hmeant"
    summary: ClassVar[str] = "frames people read in the translation, as judges compared them"
    paper: ClassVar[str] = "Lo and Wu 2010, section 3.3"
    empty: ClassVar[str] = "0; no frame on either side: frameless"

    w0: float = option(1.0, "weight of a matched predicate", minimum=0, maximum=1000)
    w1: float = option(1.0, "weight of a core argument", minimum=0, maximum=1000)
    w2: float = option(1.0, "weight of an adjunct argument", minimum=0, maximum=1000)
    partial: float = option(0.5, "what a partial verdict is worth", minimum=0, maximum=1)
    frameless: float = option(1.0, "score where neither side has a frame", minimum=0, maximum=1)

    @property
    def needs(self) -> frozenset[Layer]:
        return frozenset({Layer.JUDGEMENTS})

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def copy_is_best(self) -> bool:
        # Where copies of the reference were read and judged faithfully; a segment without a
        # frame gets what the option says.
        return self.frameless == 1.0

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("f", "precision", "recall", "segments")

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """F, precision and recall of each pair, and 1."""
        require_references(self.name, (pair.segment for pair in pairs))
        weights = Weights(self.w0, self.w1, self.w2, self.partial)
        rows = numpy.ones((len(pairs), 4))
        for row, pair in zip(rows, pairs, strict=True):
            if pair.judgements is None:
                raise InputError(
                    f"segment {pair.segment.id}: nobody judged the hypothesis "
                    f"{_short(pair.hypothesis.text)!r}, and {self.name} is made of judgements; "
                    "give them with --judgements FILE, or leave the segment out"
                )
            try:
                found = measure_judgements(
                    pair.judgements, weights=weights, frameless=self.frameless
                )
            except InputError as error:
                raise InputError(f"segment {pair.segment.id}: {error}") from error
            row[:3] = found.f, found.precision, found.recall
        return rows

    def score(self, total: Array, level: Level) -> Score:
        """The means over the segments."""
        f, precision, recall = (ratio(one, total[3], on_empty=0.0) for one in total[:3])
        return Score(f, {"precision": precision, "recall": recall})


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
