"""What a learner may not do with the weights: features held fast, and bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy
from numpy.typing import NDArray

from meantime.errors import UsageError

Floats = NDArray[numpy.float64]


@dataclass(frozen=True)
class Constraints:
    """By names of features, which may be patterns: `TM0*` are all whose name begins so."""

    fixed: tuple[str, ...] = ()
    """Features whose weight stays as it is."""
    minimum: Mapping[str, float] = field(default_factory=dict)
    maximum: Mapping[str, float] = field(default_factory=dict)

    def apply(self, names: Sequence[str], initial: Floats) -> Bounds:
        """The constraints as arrays in the order of `names`.

        Raises:
            UsageError: A name is of no feature, a minimum is above a maximum, or a weight is
                outside its bounds already.
        """
        low = numpy.full(len(names), -math.inf)
        high = numpy.full(len(names), math.inf)
        for bounds, given in ((low, self.minimum), (high, self.maximum)):
            for pattern, value in given.items():
                bounds[list(_matching(pattern, names))] = value
        free = numpy.ones(len(names), dtype=bool)
        for pattern in self.fixed:
            free[list(_matching(pattern, names))] = False
        for name, least, most, value in zip(names, low, high, initial, strict=True):
            if least > most:
                raise UsageError(
                    f"the weight of {name} has the minimum {least:g} and the maximum {most:g}; "
                    "give a minimum below the maximum"
                )
            if not least <= value <= most:
                raise UsageError(
                    f"the weight of {name} is {value:g} at the start, outside its bounds "
                    f"[{least:g}, {most:g}]; start inside them"
                )
        return Bounds(low, high, free)


def _matching(pattern: str, names: Sequence[str]) -> Iterable[int]:
    # The name itself first: brackets are part of names and mean something in patterns.
    found = [n for n, name in enumerate(names) if name == pattern]
    found = found or [n for n, name in enumerate(names) if name.startswith(f"{pattern}[")]
    found = found or [n for n, name in enumerate(names) if fnmatchcase(name, pattern)]
    if not found:
        raise UsageError(
            f"no feature is called {pattern}, to be fixed or bounded; there are {', '.join(names)}"
        )
    return found


@dataclass(frozen=True, eq=False)
class Bounds:
    """Constraints as arrays, one entry a feature."""

    low: Floats
    high: Floats
    free: NDArray[numpy.bool_]

    def range(self, weights: Floats, direction: Floats) -> tuple[float, float]:
        """How far one may go from weights along a direction, back and forth."""
        low, high = -math.inf, math.inf
        for index in numpy.flatnonzero(direction):
            step = direction[index]
            ends = (
                (self.low[index] - weights[index]) / step,
                (self.high[index] - weights[index]) / step,
            )
            low = max(low, min(ends))
            high = min(high, max(ends))
        return min(low, 0.0), max(high, 0.0)

    def clip(self, weights: Floats) -> Floats:
        """Weights inside the bounds, if only rounding took them out."""
        return numpy.clip(weights, self.low, self.high)

    def scalable(self, weights: Floats) -> bool:
        """Whether all weights may be multiplied by one positive number.

        It changes no choice of a candidate, but a fixed weight must stay, and a bound other
        than 0 would not be kept.
        """
        ends = numpy.concatenate([self.low, self.high])
        return not weights[~self.free].any() and not ends[numpy.isfinite(ends)].any()

    def scale(self, weights: Floats) -> Floats:
        """Weights whose absolute values sum to 1, where they may be scaled."""
        total = float(numpy.abs(weights).sum())
        return weights / total if total and self.scalable(weights) else weights
