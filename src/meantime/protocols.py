"""The seams of meantime.

`prepare` binds, `measure` maps, `score` reduces. Whatever depends on the whole reference
set is bound once by `prepare`; after that any batch gives the same rows, and rows add up.
One seam serves segment scores (one row), corpus scores (the sum of the rows), bootstrap
(sums of resampled rows), tuning, caching and distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self, runtime_checkable

import numpy
from numpy.typing import NDArray

from meantime.types import (
    Explanation,
    Layer,
    Level,
    Pair,
    Score,
    Segment,
    Sentence,
    Signature,
)

Array = NDArray[numpy.float64]


@runtime_checkable
class Metric(Protocol):
    """A measure of translation quality."""

    @property
    def name(self) -> str:
        """The name it is registered under."""

    @property
    def needs(self) -> frozenset[Layer]:
        """What must be known of each sentence beyond its text."""

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger score is a better translation."""

    @property
    def scale(self) -> tuple[float, float]:
        """Smallest and largest score possible; infinite where there is no bound."""

    @property
    def copy_is_best(self) -> bool:
        """Whether copies of (non-empty) references always get the best score, at both levels."""

    def prepare(self, segments: Sequence[Segment]) -> Self:
        """Bind what depends on the whole reference set; returns a new, frozen metric."""

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """Additive statistics, one row a pair."""

    def score(self, total: Array, level: Level) -> Score:
        """Reduce one row (segment) or the sum of rows (corpus) to a score."""

    def signature(self) -> Signature:
        """The full recipe, known before anything is scored."""


@runtime_checkable
class ManyScorer(Protocol):
    """A metric that can score many summed rows at once.

    Optional: where a metric has no `scores`, whoever needs many scores (bootstrap,
    randomisation) calls `score` for each. `meantime.scoring.score_many` does either.
    """

    def scores(self, totals: Array, level: Level) -> Array:
        """The value of `score` for each row of totals."""


@runtime_checkable
class Analyser(Protocol):
    """What turns text into tokens, parts of speech, constituents, frames and vectors."""

    @property
    def name(self) -> str:
        """What to call it in a signature."""

    @property
    def identity(self) -> str:
        """A hash of everything its answers depend on; the same text and identity give the
        same analysis.
        """

    @property
    def layers(self) -> frozenset[Layer]:
        """What it adds to a sentence."""

    @property
    def languages(self) -> frozenset[str]:
        """Languages it was made for, as codes like `en`."""

    def analyse(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Enriched copies, in order. A text gets the same analysis whatever it is with."""


@runtime_checkable
class Explainer(Protocol):
    """A metric that can say why."""

    def explain(self, pair: Pair) -> Explanation:
        """The score of one pair with the parts that rebuild it."""


@runtime_checkable
class Similarity(Protocol):
    """How alike the words of two sentences are: what phrase similarity is made from."""

    @property
    def name(self) -> str:
        """What to call it in a signature, with whatever its numbers depend on."""

    @property
    def needs(self) -> frozenset[Layer]:
        """What must be known of each sentence: its tokens at least."""

    def matrices(self, pairs: Sequence[tuple[Sentence, Sentence]]) -> list[Array]:
        """One matrix a pair: (tokens of the left, tokens of the right), each from 0 to 1.

        Symmetric: changing the sides transposes the matrix. The same word on both sides has 1,
        whatever its case; a source that compares words where they stand gives 1 to the same word
        in the same sentence. The matrix of a pair does not depend on the other pairs.
        """
