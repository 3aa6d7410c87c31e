r"""A metric that was learned: features of a pair, and what a machine makes of them.

    score = f(features of hypothesis and references)

f is the signed distance of Kulesza (2004) and of Finch, Hwang and Sumita (2005), in the units of
the margin, or a predicted human score. A corpus has the mean of its segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar, Self

import numpy

from meantime.errors import UsageError
from meantime.learned.features import FeatureSet
from meantime.learned.models import Model, load_model
from meantime.metrics.base import BaseMetric, ratio, ratios, require_references
from meantime.options import option
from meantime.protocols import Array
from meantime.types import Layer, Level, Pair, Score, Segment, Signature


@dataclass(frozen=True, kw_only=True)
class Learned(BaseMetric):
    """What `meantime learn` trained, from the folder it wrote."""

    name: ClassVar[str] = "learned"
    summary: ClassVar[str] = "a metric trained with 'meantime learn', from its folder"
    paper: ClassVar[str] = "Kulesza 2004; Finch, Hwang and Sumita 2005"
    empty: ClassVar[str] = "what the model makes of its features"

    model: str | None = option(None, "the folder 'meantime learn' wrote; -m FOLDER is the same")
    wordnet: str | None = option(
        None, "for models with synonyms: WordNet's dictionary folder; none looks in usual places"
    )

    _features: ClassVar[FeatureSet | None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model is None:
            raise UsageError(
                "learned: no model is named; give the folder that 'meantime learn' wrote as "
                "-m FOLDER, or as learned:model=FOLDER"
            )
        object.__setattr__(self, "_model", load_model(self.model, wordnet=self.wordnet))

    @property
    def _loaded(self) -> Model:
        found: Model = self.__dict__["_model"]
        return found

    @property
    def needs(self) -> frozenset[Layer]:
        return self._loaded.features.needs

    @property
    def scale(self) -> tuple[float, float]:
        return (-inf, inf)

    @property
    def copy_is_best(self) -> bool:
        return False

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("score", "segments")

    def prepare(self, segments: Sequence[Segment]) -> Self:
        """Prepare the features with the reference set."""
        prepared = super().prepare(segments)
        return prepared._bind(features=self._loaded.features.prepare(segments))

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """The score, and 1."""
        require_references(self.name, (pair.segment for pair in pairs))
        model = self._loaded
        rows = numpy.ones((len(pairs), 2))
        if pairs:
            rows[:, 0] = model.scores((self._features or model.features).values(pairs))
        return rows

    def score(self, total: Array, level: Level) -> Score:
        """The mean over the segments."""
        return Score(ratio(total[0], total[1], on_empty=0.0))

    def scores(self, totals: Array, level: Level) -> Array:
        """What `score` gives, for all rows at once."""
        return ratios(totals[:, 0], totals[:, 1], on_empty=0.0)

    def signature(self) -> Signature:
        """As for every metric; the model by its kind and training, not by where it lies."""
        signed = super().signature()
        found = self._loaded
        if found.card is None:
            return signed
        shown = f"{found.kind}-{found.card['training']['signature'][:12]}"
        options = [
            (name, shown if name == "model" else "usual" if name == "wordnet" else value)
            for name, value in signed.options
        ]
        options.insert(1, ("trained_references", str(found.references)))
        options.append(("features", "+".join(found.groups)))
        options.append(("arrays", next(iter(found.card["arrays"].values()))[:8]))
        return replace(signed, options=tuple(options))
