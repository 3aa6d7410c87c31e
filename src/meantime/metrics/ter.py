r"""TER, the translation edit rate.

Snover, Dorr, Schwartz, Micciulla and Makhoul 2006, "A Study of Translation Edit Rate with
Targeted Human Annotation", AMTA.

    TER = 100 · (insertions + deletions + substitutions + shifts) / reference words

A shift moves a block of words inside the hypothesis at the cost of one edit. Which shifts
are made is found by TERCOM's greedy search (`meantime.matching.shifts`). Several
references: the fewest edits to any one of them, over the average length of them all.
Equal to sacreBLEU's TER, option by option.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy
from numpy.typing import NDArray

from meantime.errors import UnsupportedLanguage
from meantime.matching.shifts import Shift, count_edits, trace
from meantime.metrics import tokens
from meantime.metrics.base import BaseMetric, ratio, ratios, require_references
from meantime.metrics.tokens import Batch
from meantime.options import option
from meantime.protocols import Array
from meantime.types import Explanation, Level, Pair, Part, Score, Sentence, Span, primary

_ASIAN = frozenset({"zh", "yue", "ja"})


@cache
def _tokeniser(normalise: bool, punctuation: bool, asian_support: bool, lowercase: bool) -> Any:
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    return TercomTokenizer(
        normalized=normalise,
        no_punct=not punctuation,
        asian_support=asian_support,
        case_sensitive=not lowercase,
    )


@dataclass(frozen=True, kw_only=True)
class Ter(BaseMetric):
    """Edits, with moves of whole blocks, per hundred reference words."""

    name: ClassVar[str] = "ter"
    summary: ClassVar[str] = "edits and block shifts per hundred reference words"
    paper: ClassVar[str] = "Snover, Dorr, Schwartz, Micciulla and Makhoul 2006"
    empty: ClassVar[str] = "100; two empty sides 0"

    normalise: bool = option(
        False, "split punctuation off words and resolve XML entities, as TERCOM's -N does"
    )
    punctuation: bool = option(True, 'keep punctuation; no removes . , ? : ; ! " ( )')
    asian_support: bool = option(
        False,
        "with normalise, split Chinese characters and kanji apart; "
        "without punctuation, remove full-width punctuation too",
    )
    lowercase: bool = option(True, "compare without regard to case")

    @property
    def higher_is_better(self) -> bool:
        return False

    @property
    def decimals(self) -> int:
        return 2

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, math.inf)

    @property
    def copy_is_best(self) -> bool:
        # sacreBLEU normalises references twice and hypotheses once, which is not always
        # the same; see `reference_words`.
        return not self.normalise

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("edits", "reference_length")

    @classmethod
    def language_defaults(cls, lang: str) -> dict[str, Any]:
        if primary(lang) in _ASIAN:
            return {"normalise": True, "asian_support": True}
        return {}

    def check_language(self, lang: str) -> None:
        if not tokens.unspaced(lang):
            return
        treatable = primary(lang) in _ASIAN
        if treatable and self.normalise and self.asian_support:
            return
        remedy = f"use {self.name}:normalise=yes,asian_support=yes, or " if treatable else ""
        raise UnsupportedLanguage(
            f"{self.name} cannot treat the language {lang!r} as configured: it is written "
            f"without spaces; {remedy}split the text into words yourself and leave the "
            "language out"
        )

    def words(self, sentence: Sentence) -> tuple[str, ...]:
        """The words of a hypothesis, as this metric sees them."""
        return tuple(self._tokenise(sentence.text).split())

    def reference_words(self, sentence: Sentence) -> tuple[str, ...]:
        """The words of a reference, as this metric sees them.

        sacreBLEU treats references twice. Only with `normalise` can it make a difference,
        in a few strings ("..5"; without punctuation "John's,"), and is then done here as well.
        """
        text = self._tokenise(sentence.text)
        return tuple((self._tokenise(text) if self.normalise else text).split())

    def batch(self, pairs: Sequence[Pair]) -> Batch:
        """The words of pairs as arrays for the kernel."""
        require_references(self.name, (pair.segment for pair in pairs))
        return tokens.batch(
            [self.words(pair.hypothesis) for pair in pairs],
            [
                [self.reference_words(reference) for reference in pair.segment.references]
                for pair in pairs
            ],
        )

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """Fewest edits to any reference, and the average reference length."""
        batch = self.batch(pairs)
        return _rows(batch, count_edits(*batch))

    def score(self, total: Array, level: Level) -> Score:
        """A hundred times edits over reference length."""
        edits, length = float(total[0]), float(total[1])
        rate = ratio(edits, length, on_empty=float(edits > 0))
        return Score(100 * rate, {"edits": edits, "reference_length": length})

    def scores(self, totals: Array, level: Level) -> Array:
        """What `score` gives, for all rows at once."""
        edits, lengths = totals[:, 0], totals[:, 1]
        return 100 * ratios(edits, lengths, on_empty=(edits > 0).astype(float))

    def explain(self, pair: Pair) -> Explanation:
        """The shifts in the order they are made, then the edits in the order of reading.

        The reference is the one of fewest edits, the first of equals. Parts are labelled
        `shift`, `match`, `substitution`, `insertion` (of a reference word) and `deletion`
        (of a hypothesis word). Spans over the hypothesis count its words where they
        originally stand, also after shifts; those of a shift over the reference are the
        words which the moved block equals. A block of words that do not originally stand
        together, because of an earlier shift, makes several parts: the first has the
        cost, the others cost 0.

        The values sum to the edits; over the average length of all references (part
        `reference_length` of the score), times a hundred, they are the score.
        """
        batch = self.batch([pair])
        edits = count_edits(*batch)
        best = int(batch.best(edits)[0])
        start, end = batch.reference_offsets[best : best + 2]
        found = trace(batch.hypotheses, batch.references[start:end])
        parts = [part for shift in found.shifts for part in _shift_parts(shift)]
        parts += [
            Part(
                step.kind.name.lower(),
                None if step.hypothesis is None else Span(step.hypothesis, step.hypothesis + 1),
                None if step.reference is None else Span(step.reference, step.reference + 1),
                float(step.kind.cost),
            )
            for step in found.operations
        ]
        return Explanation(
            self.name,
            self.score(_rows(batch, edits)[0], Level.SEGMENT),
            self.words(pair.hypothesis),
            self.reference_words(pair.segment.references[best]),
            best,
            tuple(parts),
        )

    def _tokenise(self, text: str) -> str:
        treat = _tokeniser(self.normalise, self.punctuation, self.asian_support, self.lowercase)
        treated: str = treat(text.rstrip())
        return treated


def _rows(batch: Batch, edits: NDArray[numpy.int64]) -> Array:
    """Statistics of each pair from the edits to each reference."""
    rows = numpy.empty((len(batch.first_reference) - 1, 2), dtype=numpy.float64)
    if len(rows):
        starts = batch.first_reference[:-1]
        rows[:, 0] = numpy.minimum.reduceat(edits, starts)
        rows[:, 1] = numpy.add.reduceat(batch.reference_lengths, starts)
        rows[:, 1] /= numpy.diff(batch.first_reference)
    return rows


def _shift_parts(shift: Shift) -> Iterator[Part]:
    """One part for each run of words that originally stand together."""
    begin = 0
    for index in range(1, shift.length + 1):
        if index < shift.length and shift.positions[index] == shift.positions[index - 1] + 1:
            continue
        start = shift.positions[begin]
        yield Part(
            "shift",
            Span(start, start + index - begin),
            Span(shift.reference + begin, shift.reference + index),
            float(begin == 0),
        )
        begin = index
