"""Several sources of similarity as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy
from numpy.typing import NDArray

from meantime.errors import UsageError
from meantime.protocols import Array, Similarity
from meantime.similarity.words import Pairs
from meantime.types import Layer, Sentence

_ONE = 1.0 - 2.0**-40
"""Weighted means from here on are those of ones, but for rounding."""


@runtime_checkable
class Selective(Similarity, Protocol):
    """A source that does not know all words."""

    def known(self, sentence: Sentence) -> NDArray[numpy.bool_]:
        """Of each token whether this source knows it."""


@dataclass(frozen=True, kw_only=True)
class Mix:
    """The weighted mean of several sources."""

    sources: tuple[Similarity, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.sources or len(self.sources) != len(self.weights):
            raise UsageError(
                f"a mix of {len(self.sources)} sources with {len(self.weights)} weights; give one "
                "weight for each, and one source at least"
            )
        for source, weight in zip(self.sources, self.weights, strict=True):
            if not 0.0 < weight < float("inf"):
                raise UsageError(f"{source.name} weighs {weight:g}; give a number above 0")

    @property
    def name(self) -> str:
        return "+".join(
            f"{source.name}*{weight / sum(self.weights):.6g}"
            for source, weight in zip(self.sources, self.weights, strict=True)
        )

    @property
    def needs(self) -> frozenset[Layer]:
        return frozenset().union(*(source.needs for source in self.sources))

    def matrices(self, pairs: Pairs) -> list[Array]:
        """One matrix a pair."""
        total = sum(self.weights)
        mixed: list[Array] = []
        for source, weight in zip(self.sources, self.weights, strict=True):
            found = [matrix * (weight / total) for matrix in source.matrices(pairs)]
            mixed = found if not mixed else [a + b for a, b in zip(mixed, found, strict=True)]
        for matrix in mixed:
            matrix[matrix >= _ONE] = 1.0
        return mixed


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """One source for the words it knows, another wherever either word is unknown to it."""

    first: Similarity
    second: Similarity

    def __post_init__(self) -> None:
        if not isinstance(self.first, Selective):
            raise UsageError(
                f"{self.first.name} knows every word, so nothing is left for {self.second.name}; "
                "mix them with + instead"
            )

    @property
    def name(self) -> str:
        return f"{self.first.name}?{self.second.name}"

    @property
    def needs(self) -> frozenset[Layer]:
        return self.first.needs | self.second.needs

    def matrices(self, pairs: Pairs) -> list[Array]:
        """One matrix a pair."""
        assert isinstance(self.first, Selective)
        found = []
        for (left, right), first, second in zip(
            pairs, self.first.matrices(pairs), self.second.matrices(pairs), strict=True
        ):
            known = self.first.known(left)[:, None] & self.first.known(right)[None, :]
            found.append(numpy.where(known, first, second))
        return found

    def known(self, sentence: Sentence) -> NDArray[numpy.bool_]:
        """What either source knows."""
        first = self.first
        assert isinstance(first, Selective)
        if isinstance(self.second, Selective):
            return first.known(sentence) | self.second.known(sentence)
        return numpy.ones(len(sentence.tokens or ()), dtype=numpy.bool_)
