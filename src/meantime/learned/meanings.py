"""Features made by metrics: the parts of MEANT, and the segment score of any metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy

from meantime.errors import NotPrepared, UsageError
from meantime.learned.features import FeatureSet
from meantime.metrics.base import require_references
from meantime.metrics.frames import FrameMetric
from meantime.protocols import Array, Metric
from meantime.registry import create
from meantime.scoring import score_many
from meantime.types import Layer, Level, Pair, Segment


@dataclass(frozen=True, kw_only=True)
class MetricFeatures(FeatureSet):
    """The segment score of a metric.

    Args:
        metric: Its name, with options as everywhere.
        prefix: What stands before the name in that of the feature.
    """

    metric: str
    prefix: str = "metric:"

    _prepared: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "_metric", create(self.metric))

    @property
    def _made(self) -> Any:
        found: Metric = self.__dict__["_metric"]
        return found

    @property
    def names(self) -> tuple[str, ...]:
        return (f"{self.prefix}{self.metric}",)

    @property
    def needs(self) -> frozenset[Layer]:
        needed: frozenset[Layer] = self._made.needs
        return needed

    @property
    def recipe(self) -> str:
        # Without how many references the set has, which is said apart.
        return f"{type(self).__name__}({create(self.metric).signature()})"

    def prepare(self, segments: Sequence[Segment]) -> Self:
        """Prepare the metric with the reference set."""
        made = type(self)(metric=self.metric, prefix=self.prefix)
        object.__setattr__(made, "_metric", self._made.prepare(segments))
        object.__setattr__(made, "_prepared", True)
        return made

    def values(self, pairs: Sequence[Pair]) -> Array:
        rows = self._rows(pairs)
        return score_many(self._made, rows, Level.SEGMENT)[:, None]

    def _rows(self, pairs: Sequence[Pair]) -> Array:
        require_references("a feature set", (pair.segment for pair in pairs))
        if not self._prepared:
            raise NotPrepared(
                f"{self.metric} may depend on the whole reference set; call prepare(segments) on "
                "the features first and use what it returns"
            )
        found: Array = self._made.measure(pairs)
        return found


@dataclass(frozen=True, kw_only=True)
class MeaningFeatures(MetricFeatures):
    """All parts of a metric of the MEANT family: score, precision, recall, components."""

    metric: str = "meant"
    prefix: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self._made, FrameMetric):
            raise UsageError(f"{self._made.name} has no parts; name a metric of the MEANT family")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self._made.name}:{part}" for part in self._made.statistics[:-1])

    def values(self, pairs: Sequence[Pair]) -> Array:
        # The last column counts segments.
        return numpy.array(self._rows(pairs)[:, :-1])
