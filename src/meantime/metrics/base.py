"""What the metrics of this package have in common.

`BaseMetric` gives a metric its signature, its option checks and an ordinary `prepare`.
`WordMetric` adds a tokeniser, for metrics over words. Neither is required of an outside
metric: `meantime.protocols.Metric` is.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy

from meantime.errors import InputError, UnsupportedLanguage
from meantime.metrics import tokens
from meantime.metrics.tokens import Batch, Vocabulary
from meantime.options import as_text, describe, option, validate
from meantime.protocols import Array
from meantime.types import Layer, Level, Pair, Score, Segment, Sentence, Signature


@dataclass(frozen=True, kw_only=True)
class BaseMetric:
    """Options, signature and preparation. Frozen: configure once, then stay still."""

    name: ClassVar[str]
    version: ClassVar[str] = "1"
    summary: ClassVar[str]
    paper: ClassVar[str]
    empty: ClassVar[str]
    """What an empty hypothesis, and an empty reference, get; part of the signature."""

    _references: ClassVar[str] = "any"

    def __post_init__(self) -> None:
        validate(self)

    @property
    def needs(self) -> frozenset[Layer]:
        return frozenset()

    @property
    def higher_is_better(self) -> bool:
        return True

    @property
    def decimals(self) -> int:
        """How many decimals a table shows."""
        return 2 if self.scale[1] == 100 else 4

    @property
    def scale(self) -> tuple[float, float]:
        raise NotImplementedError

    @property
    def copy_is_best(self) -> bool:
        return True

    @property
    def symmetric(self) -> bool:
        """Whether a text scores against another as that one against it; conformance tests it."""
        return False

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of the columns `measure` returns."""
        raise NotImplementedError

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """Additive statistics, one row a pair."""
        raise NotImplementedError

    def score(self, total: Array, level: Level) -> Score:
        """Reduce one row, or the sum of rows, to a score."""
        raise NotImplementedError

    def scores(self, totals: Array, level: Level) -> Array:
        """The value of `score` for each row of totals; a metric that can do better, does."""
        return numpy.array([self.score(total, level).value for total in totals], numpy.float64)

    @classmethod
    def language_defaults(cls, lang: str) -> dict[str, Any]:
        """Options that differ from the defaults for a language."""
        return {}

    def check_language(self, lang: str) -> None:
        """Refuse a language this metric, as configured, cannot treat."""

    def prepare(self, segments: Sequence[Segment]) -> Self:
        """Check the references; bind how many there are to a segment."""
        require_references(self.name, segments)
        counts = {len(segment.references) for segment in segments}
        for lang in {sentence.lang for segment in segments for sentence in segment.references}:
            self.check_language(lang)
        shown = str(counts.pop()) if len(counts) == 1 else ("varied" if counts else "any")
        return self._bind(references=shown)

    def _bind(self, **facts: Any) -> Self:
        """A copy with facts of the reference set bound to it, outside its options."""
        clone = copy.copy(self)
        for name, fact in facts.items():
            object.__setattr__(clone, f"_{name}", fact)
        return clone

    def signature(self) -> Signature:
        """Every option, how many references, and what empty input gets."""
        options = [("references", self._references)]
        options += [(item.name, as_text(getattr(self, item.name))) for item in describe(self)]
        options.append(("empty", self.empty))
        return Signature(self.name, self.version, tuple(options))


@dataclass(frozen=True, kw_only=True)
class WordMetric(BaseMetric):
    """A metric over words: adds the tokeniser and the case."""

    tokeniser: str = option(
        "13a",
        "how text becomes words, by sacreBLEU's tokenisers; 'none' splits at white space",
        choices=tokens.NAMES,
    )
    lowercase: bool = option(False, "compare without regard to case")

    @classmethod
    def language_defaults(cls, lang: str) -> dict[str, Any]:
        return tokens.language_defaults(lang)

    def check_language(self, lang: str) -> None:
        if tokens.unspaced(lang) and self.tokeniser in ("13a", "intl"):
            raise UnsupportedLanguage(
                f"{self.name} cannot treat the language {lang!r} with tokeniser "
                f"{self.tokeniser}: it is written without spaces; use {self.name}:tokeniser=char, "
                f"or segment the text yourself and use {self.name}:tokeniser=none"
            )

    def words(self, sentence: Sentence) -> tuple[str, ...]:
        """The words of a sentence, as this metric sees them."""
        return tokens.tokenise(sentence.text, self.tokeniser, self.lowercase)

    def batch(self, pairs: Sequence[Pair], vocabulary: Vocabulary | None = None) -> Batch:
        """The words of pairs as arrays for the kernels."""
        require_references(self.name, (pair.segment for pair in pairs))
        return tokens.batch(
            [self.words(pair.hypothesis) for pair in pairs],
            [[self.words(reference) for reference in pair.segment.references] for pair in pairs],
            vocabulary,
        )


def ratio(numerator: float, denominator: float, *, on_empty: float) -> float:
    """A quotient whose zero case is stated."""
    if denominator == 0:
        return on_empty
    return float(numerator) / float(denominator)


def ratios(above: Array, below: Array, *, on_empty: float | Array) -> Array:
    """Quotients whose zero case is stated: `ratio` for arrays."""
    out = numpy.array(numpy.broadcast_to(on_empty, numpy.shape(above)), numpy.float64)
    numpy.divide(above, below, out=out, where=numpy.asarray(below) != 0)
    return out


def require_references(name: str, segments: Iterable[Segment]) -> None:
    """Refuse segments without a reference before a kernel meets them."""
    for segment in segments:
        if not segment.references:
            raise InputError(
                f"segment {segment.id} has no reference, which {name} needs; "
                "give one with -r, or leave the segment out"
            )
