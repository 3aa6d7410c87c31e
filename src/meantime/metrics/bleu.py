r"""BLEU (Papineni, Roukos, Ward and Zhu 2002).

    BLEU = BP * exp( (1/N) * sum over n = 1..N of log p_n ),   BP = exp(min(0, 1 - r / c))

p_n is the share of the hypothesis' n-grams that occur in a reference (each as often as in
the reference that has it most often), c the length of the hypotheses, r that of the
references closest in length. Equal to sacreBLEU at corpus and at segment level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy

from meantime.errors import OptionError
from meantime.matching.ngrams import clipped_matches
from meantime.metrics.base import WordMetric
from meantime.options import as_text, option
from meantime.protocols import Array
from meantime.types import Level, Pair, Score

_SMOOTHING_DEFAULTS = {"exp": None, "floor": 0.1, "add-k": 1.0, "none": None}


@dataclass(frozen=True, kw_only=True)
class Bleu(WordMetric):
    """Geometric mean of n-gram precisions with a penalty for brevity."""

    name: ClassVar[str] = "bleu"
    summary: ClassVar[str] = "geometric mean of n-gram precisions with a brevity penalty"
    paper: ClassVar[str] = "Papineni, Roukos, Ward and Zhu 2002"
    empty: ClassVar[str] = "0"

    max_order: int = option(4, "longest n-gram counted", minimum=1, maximum=12)
    smooth: str = option(
        "exp",
        "what an n-gram order without a match gets, as in sacreBLEU",
        choices=tuple(_SMOOTHING_DEFAULTS),
    )
    smooth_value: float | None = option(
        None,
        "value for smooth=floor (0.1 if none) and smooth=add-k (1 if none)",
        minimum=0,
        maximum=1000,
    )
    effective_order: str = option(
        "segment",
        "where orders longer than the hypothesis are left out: in segment scores, always, never",
        choices=("segment", "always", "never"),
    )
    brevity_penalty: bool = option(True, "whether short output is punished")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smooth_value is not None and _SMOOTHING_DEFAULTS[self.smooth] is None:
            raise OptionError(
                f"bleu: smooth_value goes with smooth=floor and smooth=add-k, not with "
                f"smooth={self.smooth}; leave it out"
            )
        if self.smooth == "floor" and self.smooth_value is not None and self.smooth_value > 1:
            raise OptionError(
                f"bleu: smooth_value={as_text(self.smooth_value)} with smooth=floor; give at "
                "most 1, an order without a match is worth no more than one match"
            )

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, 100.0)

    @property
    def copy_is_best(self) -> bool:
        # Without the effective order, a corpus whose segments are all shorter than
        # max_order has no n-gram of that order, and scores 0.
        return self.effective_order == "always" or self.max_order == 1

    @property
    def statistics(self) -> tuple[str, ...]:
        orders = range(1, self.max_order + 1)
        return (
            "hypothesis_length",
            "reference_length",
            *(f"matches_{n}" for n in orders),
            *(f"total_{n}" for n in orders),
        )

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """Lengths, then matches and totals of each n-gram order."""
        batch = self.batch(pairs)
        lengths = batch.hypothesis_lengths
        rows = numpy.zeros((len(pairs), 2 + 2 * self.max_order))
        owners = batch.reference_owners
        # The closest length; of two equally close ones the shorter.
        distance = numpy.abs(batch.reference_lengths - lengths[owners])
        scale = int(batch.reference_lengths.max(initial=0)) + 1
        rows[:, 0] = lengths
        rows[:, 1] = batch.reference_lengths[batch.best(distance * scale + batch.reference_lengths)]
        rows[:, 2 : 2 + self.max_order] = clipped_matches(*batch, self.max_order)
        orders = numpy.arange(self.max_order)
        rows[:, 2 + self.max_order :] = numpy.maximum(lengths[:, None] - orders, 0)
        return rows

    def score(self, total: Array, level: Level) -> Score:
        """Precisions, smoothed as asked, their geometric mean, and the penalty."""
        values = total.tolist()
        hypothesis_length, reference_length = values[0], values[1]
        matches = values[2 : 2 + self.max_order]
        totals = values[2 + self.max_order :]
        penalty = 1.0
        if self.brevity_penalty and hypothesis_length < reference_length:
            penalty = (
                math.exp(1 - reference_length / hypothesis_length) if hypothesis_length else 0.0
            )
        precisions = [0.0] * self.max_order
        value = 0.0
        if any(matches):
            counted = self._smooth(matches, totals, precisions, self._effective(level))
            if all(precisions[:counted]):
                mean = sum(math.log(precision) for precision in precisions[:counted]) / counted
                value = penalty * math.exp(mean)
        parts = {f"precision_{n + 1}": precision for n, precision in enumerate(precisions)}
        parts["brevity_penalty"] = penalty
        parts["hypothesis_length"] = hypothesis_length
        parts["reference_length"] = reference_length
        return Score(value, parts)

    def scores(self, totals: Array, level: Level) -> Array:
        """What `score` gives, for all rows in a few array operations."""
        hypothesis, reference = totals[:, 0], totals[:, 1]
        penalty = numpy.ones(len(totals))
        if self.brevity_penalty:
            short = hypothesis < reference
            numpy.divide(reference, hypothesis, out=penalty, where=short & (hypothesis > 0))
            penalty = numpy.where(hypothesis > 0, numpy.exp(1 - penalty), 0.0)
            penalty[~short] = 1.0
        logs, counted = self._log_precisions(totals, self._effective(level))
        matched = (totals[:, 2 : 2 + self.max_order] > 0).any(axis=1)
        values: Array = penalty * numpy.exp(logs / numpy.maximum(counted, 1))
        return numpy.where(matched, values, 0.0)

    def _log_precisions(self, totals: Array, effective: bool) -> tuple[Array, Array]:
        """Sums of the logarithms of what `_smooth` gives, and how many orders count."""
        default = _SMOOTHING_DEFAULTS[self.smooth]
        value = default if self.smooth_value is None else self.smooth_value
        logs = numpy.zeros(len(totals))
        counted = numpy.zeros(len(totals)) if effective else numpy.full(len(totals), self.max_order)
        there = numpy.ones(len(totals), dtype=bool)
        halved = numpy.ones(len(totals))
        for n in range(self.max_order):
            added = value if self.smooth == "add-k" and n > 0 and value is not None else 0.0
            match, total = totals[:, 2 + n] + added, totals[:, 2 + self.max_order + n] + added
            there &= total != 0
            if effective:
                counted[there] = n + 1
            else:
                # An order that is not there counts as a precision of 0, and with it the score.
                logs[~there] = -numpy.inf
            none = there & (match <= 0)
            above = match
            if none.any():
                if self.smooth == "exp":
                    halved[none] *= 2
                    above = numpy.where(none, 1 / halved, match)
                elif self.smooth == "floor" and value is not None:
                    above = numpy.where(none, value, match)
            with numpy.errstate(divide="ignore"):
                precision = numpy.log(100.0 * above[there] / total[there])
            logs[there] += precision
        return logs, counted

    def _effective(self, level: Level) -> bool:
        return self.effective_order == "always" or (
            self.effective_order == "segment" and level is Level.SEGMENT
        )

    def _smooth(
        self, matches: list[float], totals: list[float], precisions: list[float], effective: bool
    ) -> int:
        """Fill in the precisions, in percent; returns how many orders count."""
        default = _SMOOTHING_DEFAULTS[self.smooth]
        value = default if self.smooth_value is None else self.smooth_value
        halved = 1.0
        counted = self.max_order
        for n in range(self.max_order):
            added = value if self.smooth == "add-k" and n > 0 and value is not None else 0.0
            match, total = matches[n] + added, totals[n] + added
            if total == 0:
                break
            if effective:
                counted = n + 1
            if match > 0:
                precisions[n] = 100.0 * match / total
            elif self.smooth == "exp":
                halved *= 2
                precisions[n] = 100.0 / (halved * total)
            elif self.smooth == "floor" and value is not None:
                precisions[n] = 100.0 * value / total
        return counted
