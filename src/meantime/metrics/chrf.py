r"""chrF (Popović 2015) and chrF++ (Popović 2017).

    chrF = (1 + beta^2) * P * R / (beta^2 * P + R)

P and R are the mean precision and recall of character n-grams, n = 1..6, and, for chrF++
(`word_order=2`), of word n-grams too. Equal to sacreBLEU at corpus and at segment level.
Several references: the one that gives the segment the highest score.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy
from numpy.typing import NDArray

from meantime.matching.ngrams import clipped_matches
from meantime.metrics import tokens
from meantime.metrics.base import BaseMetric, require_references
from meantime.metrics.tokens import Batch, Ids
from meantime.options import option
from meantime.protocols import Array
from meantime.types import Level, Pair, Score

_PUNCTUATION = frozenset(string.punctuation)
_TINY = 1e-16


@dataclass(frozen=True, kw_only=True)
class Chrf(BaseMetric):
    """F-score of character n-grams."""

    name: ClassVar[str] = "chrf"
    summary: ClassVar[str] = "F-score of character n-grams; chrF++ with word_order=2"
    paper: ClassVar[str] = "Popović 2015, 2017"
    empty: ClassVar[str] = "0"

    char_order: int = option(6, "longest character n-gram", minimum=1, maximum=20)
    word_order: int = option(0, "longest word n-gram; 2 is chrF++", minimum=0, maximum=20)
    beta: float = option(2.0, "how much recall weighs against precision", minimum=0, maximum=1000)
    lowercase: bool = option(False, "compare without regard to case")
    whitespace: bool = option(False, "whether white space counts as a character")
    smooth: str = option(
        "effective",
        "orders a text is too short for: left out (effective), or worth next to nothing "
        "as in chrF++.py, NLTK and Moses (epsilon)",
        choices=("effective", "epsilon"),
    )

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, 100.0)

    @property
    def copy_is_best(self) -> bool:
        return self.smooth == "effective"

    @property
    def symmetric(self) -> bool:
        return self.beta == 1

    @property
    def statistics(self) -> tuple[str, ...]:
        names = [f"character_{n}" for n in range(1, self.char_order + 1)]
        names += [f"word_{n}" for n in range(1, self.word_order + 1)]
        return tuple(
            f"{name}_{what}" for name in names for what in ("hypothesis", "reference", "matches")
        )

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """N-grams of the hypothesis, of the chosen reference, and matches, by order."""
        require_references(self.name, (pair.segment for pair in pairs))
        owners = [
            owner for owner, pair in enumerate(pairs) for _ in range(len(pair.segment.references))
        ]
        hypotheses = [self._folded(pair.hypothesis.text) for pair in pairs]
        references = [
            self._folded(reference.text) for pair in pairs for reference in pair.segment.references
        ]
        against = [hypotheses[owner] for owner in owners]
        rows = self._counts(_characters(against, references, self.whitespace), self.char_order)
        if self.word_order:
            words = tokens.batch(
                [_split(text) for text in against], [[_split(text)] for text in references]
            )
            rows = numpy.hstack([rows, self._counts(words, self.word_order)])
        if len(references) == len(pairs):
            return rows
        scores = self._scores(rows)
        chosen: list[int] = []
        for row, owner in enumerate(owners):
            if owner == len(chosen):
                chosen.append(row)
            elif scores[row] > scores[chosen[owner]]:
                chosen[owner] = row
        return rows[chosen]

    def _folded(self, text: str) -> str:
        return text.lower() if self.lowercase else text

    @staticmethod
    def _counts(batch: Batch, max_order: int) -> Array:
        """Columns (hypothesis, reference, matches) for each order."""
        rows = numpy.zeros((len(batch.hypothesis_offsets) - 1, max_order, 3))
        orders = numpy.arange(max_order)
        hypothesis = numpy.maximum(batch.hypothesis_lengths[:, None] - orders, 0)
        rows[:, :, 1] = numpy.maximum(batch.reference_lengths[:, None] - orders, 0)
        # As sacreBLEU: n-grams of an order the reference does not have are not counted.
        rows[:, :, 0] = numpy.where(rows[:, :, 1] > 0, hypothesis, 0)
        rows[:, :, 2] = clipped_matches(*batch, max_order)
        return rows.reshape(len(rows), 3 * max_order)

    def _scores(self, rows: Array) -> NDArray[numpy.float64]:
        """The score of each row."""
        if not len(rows):
            return numpy.zeros(0)
        counts = rows.reshape(len(rows), rows.shape[1] // 3, 3)
        hypothesis, reference, match = counts[:, :, 0], counts[:, :, 1], counts[:, :, 2]
        factor = float(self.beta) ** 2
        precision = _divide(match, hypothesis, _TINY)
        recall = _divide(match, reference, _TINY)
        if self.smooth == "epsilon":
            each = _divide((1 + factor) * precision * recall, factor * precision + recall, _TINY)
            return _summed(100 * each) / counts.shape[1]
        both = (hypothesis > 0) & (reference > 0)
        orders = both.sum(axis=1)
        precision = _divide(_summed(numpy.where(both, precision, 0.0)), orders, 0.0)
        recall = _divide(_summed(numpy.where(both, recall, 0.0)), orders, 0.0)
        return 100 * _divide((1 + factor) * precision * recall, factor * precision + recall, 0.0)

    def score(self, total: Array, level: Level) -> Score:
        """Mean precision and recall over the orders, and their F."""
        value = float(self._scores(numpy.asarray(total, dtype=numpy.float64)[None, :])[0])
        return Score(value)

    def scores(self, totals: Array, level: Level) -> Array:
        """What `score` gives, for all rows at once."""
        return self._scores(numpy.asarray(totals, dtype=numpy.float64))


def _summed(values: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    """Row sums, added from left to right whatever the number of rows."""
    total = numpy.zeros(len(values))
    for column in range(values.shape[1]):
        total += values[:, column]
    return total


def _divide(above: Array, below: NDArray[numpy.generic], otherwise: float) -> Array:
    """Quotients, `otherwise` where the divisor is 0."""
    out = numpy.full(numpy.shape(above), otherwise)
    numpy.divide(above, below, out=out, where=numpy.asarray(below) > 0)
    return out


@lru_cache(maxsize=1 << 14)
def _points(text: str, whitespace: bool) -> bytes:
    """The code points of a text, four bytes each."""
    kept = text if whitespace else "".join(text.split())
    return kept.encode("utf-32-le", "surrogatepass")


def _characters(hypotheses: Sequence[str], references: Sequence[str], whitespace: bool) -> Batch:
    """Characters as arrays, each hypothesis with one reference."""
    each = numpy.arange(len(references) + 1)
    return Batch(*_laid_out(hypotheses, whitespace), *_laid_out(references, whitespace), each)


def _laid_out(texts: Sequence[str], whitespace: bool) -> Ids:
    encoded = [_points(text, whitespace) for text in texts]
    offsets = numpy.zeros(len(encoded) + 1, dtype=numpy.int64)
    numpy.cumsum([len(item) // 4 for item in encoded], out=offsets[1:])
    return numpy.frombuffer(bytearray().join(encoded), dtype=numpy.int32), offsets


def _split(text: str) -> list[str]:
    """Words, a punctuation mark at the end or else at the start of one apart (as chrF++.py)."""
    words = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _PUNCTUATION:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in _PUNCTUATION:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words
