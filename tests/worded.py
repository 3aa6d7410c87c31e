"""A metric that explains itself as `meantime` does, with made numbers: for whatever draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy

from meantime.learned.trained import ExplainedWord, TrainedExplanation
from meantime.metrics.base import BaseMetric
from meantime.metrics.frames import ExplainedFrame, ExplainedRole
from meantime.protocols import Array
from meantime.types import Layer, Level, Pair, Part, Score, Span

OURS = ("The", "mayor", "did", "<b>sign</b>", "it", ".")
THEIRS = ("The", "mayor", "did", "not", "<b>sign</b>", "the", "contract", ".")
FOUND = ((0.95, 1.0, 0.25, 0.75, 0.125, 1.0), (0.9, 1.0, 0.25, 0.0, 0.75, 0.2, 0.375, 1.0))


def explained(*, framed: bool = True) -> TrainedExplanation:
    """What every word of both sides is worth, and an event without its negation."""
    words = tuple(
        ExplainedWord(side, word, Span(place, place + 1), value, (place + 1) / 64, (1 - value) / 16)
        for side, tokens, values in zip(
            ("hypothesis", "reference"), (OURS, THEIRS), FOUND, strict=True
        )
        for place, (word, value) in enumerate(zip(tokens, values, strict=True))
    )
    predicate = ExplainedRole(
        "predicate", "V", (Span(3, 4),), (Span(4, 5),), 1.0, 1.0, 1.0, 0.141, 0.031
    )
    negation = ExplainedRole("negation", "NEG", None, (Span(3, 4),), 0.0, None, 1.0, 0.0625, 0.0625)
    frame = ExplainedFrame(1, 2, (predicate, negation), 0.2035, 0.0935)
    return TrainedExplanation(
        metric="meantime",
        score=Score(sum(one.share for one in words)),
        hypothesis_tokens=OURS,
        reference_tokens=THEIRS,
        reference=0,
        parts=tuple(
            Part(
                "word",
                one.span if one.side == "hypothesis" else None,
                None if one.side == "hypothesis" else one.span,
                one.share,
            )
            for one in words
        ),
        words=words,
        frames=(frame,) if framed else (),
    )


@dataclass(frozen=True, kw_only=True)
class Worded(BaseMetric):
    """Longer is better; the explanation is always the same."""

    name: ClassVar[str] = "worded"
    summary: ClassVar[str] = "length"
    paper: ClassVar[str] = "none"
    empty: ClassVar[str] = "0"
    explains_with: ClassVar[frozenset[Layer]] = frozenset({Layer.TOKENS, Layer.FRAMES})

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, 1000.0)

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("letters", "segments")

    def measure(self, pairs: Sequence[Pair]) -> Array:
        return numpy.array([[len(pair.hypothesis.text), 1.0] for pair in pairs])

    def score(self, total: Array, level: Level) -> Score:
        return Score(float(total[0] / total[1]))

    def explain(self, pair: Pair) -> TrainedExplanation:
        # Whoever explains much analyses before, once.
        return explained(framed=pair.hypothesis.frames is not None)
