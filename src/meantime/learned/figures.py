"""How well a classifier does, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy
from numpy.typing import ArrayLike

from meantime.metrics.base import ratio

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Figures:
    """Accuracy, and precision, recall and F of class 1; each from 0 to 1."""

    accuracy: float
    precision: float
    recall: float
    f: float
    examples: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over folds with half the width of its 95 % interval."""

    mean: float
    margin: float


def measure(decided: ArrayLike, labels: ArrayLike) -> Figures:
    """Compare decisions with what is right; without any positive, precision or recall is 0."""
    said = numpy.asarray(decided, dtype=bool)
    right = numpy.asarray(labels, dtype=bool)
    hits = int((said & right).sum())
    precision = ratio(hits, int(said.sum()), on_empty=0.0)
    recall = ratio(hits, int(right.sum()), on_empty=0.0)
    f = ratio(2 * precision * recall, precision + recall, on_empty=0.0)
    return Figures(ratio(int((said == right).sum()), len(right), on_empty=0.0), precision, recall,
                   f, len(right))  # fmt: skip


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of folds, and how far from it the true mean may be (Student's t)."""
    from scipy.stats import t

    array = numpy.asarray(values, dtype=numpy.float64)
    if len(array) < 2:
        return Estimate(float(array.mean()) if len(array) else 0.0, 0.0)
    quantile = float(t.ppf((1 + CONFIDENCE) / 2, len(array) - 1))
    return Estimate(float(array.mean()), quantile * float(array.std(ddof=1)) / sqrt(len(array)))


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share of so many (Wilson 1927)."""
    from scipy.stats import norm

    if not count:
        return (0.0, 1.0)
    z = float(norm.ppf((1 + CONFIDENCE) / 2))
    middle = share + z * z / (2 * count)
    reach = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    below = 1 + z * z / count
    return ((middle - reach) / below, (middle + reach) / below)
