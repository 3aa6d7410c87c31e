r"""Features of words in common: those of Kulesza 2004 (basic set) and of Finch and others 2005.

`BasicFeatures` (Kulesza 2004, section 3.2), over all references of a pair:

    basic:length/min, /max   words of the hypothesis / words of a reference
    basic:precision1 … 5     matching n-grams / n-grams of the hypothesis, clipped as in BLEU
    basic:wer, basic:per     least number of edits to a reference, in words

`OverlapFeatures` (Finch, Hwang and Sumita 2005, section 2), with one reference s to each r:

    wer     (insertions + deletions + substitutions) / |r|
    per     (longer of |s|, |r|, less the words in common) / |r|
    bleuN   geometric mean of the n-gram precisions up to N, without a brevity penalty
    nistN   sum over n up to N of information of matching n-grams / n-grams of s, times the
            penalty exp(beta ln² min(|s|/|r|, 1)); beta = ln 0.5 / ln² 1.5

A precision without n-grams, or without matches, is 0, and BLEU with it. Of a rate whose reference
is empty, the edits count against one word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy

from meantime.errors import NotPrepared, UsageError
from meantime.learned.features import (
    FeatureSet,
    bounded_ratios,
    match_words,
    stemming,
    tagged_words,
)
from meantime.learned.synonyms import Synonyms
from meantime.matching.edits import edit_distances
from meantime.matching.ngrams import NgramInformation, clipped_matches
from meantime.matching.related import related_edits
from meantime.metrics import tokens
from meantime.metrics.base import ratios, require_references
from meantime.metrics.tokens import Overlay, Vocabulary, number
from meantime.protocols import Array
from meantime.types import Layer, Pair, Segment, Sentence

ORDERS = 5
_BETA = math.log(0.5) / math.log(1.5) ** 2


@dataclass(frozen=True, kw_only=True)
class BasicFeatures(FeatureSet):
    """Lengths, n-gram precisions, WER and PER, as Kulesza's basic set has them.

    Args:
        tokeniser: How text becomes words, as for `bleu`.
        lowercase: Compare without regard to case.
    """

    tokeniser: str = "13a"
    lowercase: bool = False

    def __post_init__(self) -> None:
        if self.tokeniser not in tokens.NAMES:
            raise UsageError(f"tokeniser={self.tokeniser!r}; give one of {', '.join(tokens.NAMES)}")

    @property
    def names(self) -> tuple[str, ...]:
        precisions = [f"basic:precision{n}" for n in range(1, ORDERS + 1)]
        return ("basic:length/min", "basic:length/max", *precisions, "basic:wer", "basic:per")

    @property
    def needs(self) -> frozenset[Layer]:
        return frozenset()

    def values(self, pairs: Sequence[Pair]) -> Array:
        require_references("a feature set", (pair.segment for pair in pairs))
        if not pairs:
            return numpy.zeros((0, len(self.names)))
        batch = tokens.batch(
            [self._words(pair.hypothesis) for pair in pairs],
            [[self._words(one) for one in pair.segment.references] for pair in pairs],
        )
        starts = batch.first_reference[:-1]
        lengths = batch.hypothesis_lengths
        repeated = lengths[batch.reference_owners]
        shares = bounded_ratios(repeated.astype(float), batch.reference_lengths.astype(float))
        matches = clipped_matches(*batch, max_order=ORDERS)
        grams = numpy.maximum(lengths[:, None] - numpy.arange(ORDERS), 0)
        longer = numpy.maximum(repeated, batch.reference_lengths)
        return numpy.column_stack(
            [
                numpy.minimum.reduceat(shares, starts),
                numpy.maximum.reduceat(shares, starts),
                ratios(matches.astype(float), grams, on_empty=0.0),
                numpy.minimum.reduceat(edit_distances(*batch), starts),
                numpy.minimum.reduceat(longer - batch.common_words(), starts),
            ]
        )

    def _words(self, sentence: Sentence) -> tuple[str, ...]:
        return tokens.tokenise(sentence.text, self.tokeniser, self.lowercase)


OVERLAPS = (
    "wer",
    "per",
    *(f"bleu{n}" for n in range(1, 5)),
    *(f"nist{n}" for n in range(1, ORDERS + 1)),
)
"""All that `OverlapFeatures` can have."""


@dataclass(frozen=True, kw_only=True)
class OverlapFeatures(FeatureSet):
    """WER, PER, BLEU and NIST of single pairs over the analyser's words.

    Of several references, the mean over them. NIST's information is counted from the references
    of the set, as for the metric `nist`: call `prepare` first where there is any.

    Args:
        which: Some of `OVERLAPS`.
        lowercase: Compare words without regard to case.
        stem: Which words are compared by their stem: one of `STEMMING`.
        synonyms: Words that match besides equal ones, in WER and PER alone.
    """

    which: tuple[str, ...] = OVERLAPS
    lowercase: bool = False
    stem: str = "nouns-verbs"
    synonyms: Synonyms | None = None

    _information: ClassVar[NgramInformation | None] = None

    def __post_init__(self) -> None:
        unknown = [name for name in self.which if name not in OVERLAPS]
        if unknown or not self.which:
            raise UsageError(
                f"which={', '.join(unknown) or 'nothing'}; give some of {', '.join(OVERLAPS)}"
            )
        stemming(self.stem)

    @property
    def names(self) -> tuple[str, ...]:
        return self.which

    @property
    def needs(self) -> frozenset[Layer]:
        return frozenset({Layer.TOKENS, Layer.POS})

    def prepare(self, segments: Sequence[Segment]) -> Self:
        """Count the n-grams of all references, if NIST is asked for."""
        if not any(name.startswith("nist") for name in self.which):
            return self
        words = [self._words(one) for segment in segments for one in segment.references]
        vocabulary = Vocabulary()
        ids, offsets = number(words, vocabulary)
        prepared = type(self)(
            which=self.which, lowercase=self.lowercase, stem=self.stem, synonyms=self.synonyms
        )
        information = NgramInformation(ids, offsets, vocabulary, ORDERS)
        object.__setattr__(prepared, "_information", information)
        return prepared

    def values(self, pairs: Sequence[Pair]) -> Array:
        require_references("a feature set", (pair.segment for pair in pairs))
        if not pairs:
            return numpy.zeros((0, len(self.which)))
        counts = [len(pair.segment.references) for pair in pairs]
        ours = [self._words(pair.hypothesis) for pair in pairs]
        hypotheses = [
            words for words, count in zip(ours, counts, strict=True) for _ in range(count)
        ]
        references = [self._words(one) for pair in pairs for one in pair.segment.references]
        known = self._information
        vocabulary = Vocabulary() if known is None else Overlay(known.vocabulary)
        batch = tokens.batch(hypotheses, [[words] for words in references], vocabulary)
        columns = {}
        ours_long = batch.hypothesis_lengths.astype(float)
        theirs_long = batch.reference_lengths.astype(float)
        if "wer" in self.which or "per" in self.which:
            edits, common = self._edits(pairs, batch)
            below = numpy.maximum(theirs_long, 1)
            columns["wer"] = edits / below
            columns["per"] = (numpy.maximum(ours_long, theirs_long) - common) / below
        grams = numpy.maximum(ours_long[:, None] - numpy.arange(ORDERS), 0)
        matches = clipped_matches(*batch, max_order=ORDERS).astype(float)
        precisions = ratios(matches, grams, on_empty=0.0)
        with numpy.errstate(divide="ignore"):
            logs = numpy.log(precisions)
        if any(name.startswith("nist") for name in self.which):
            if known is None:
                raise NotPrepared(
                    "nist weighs n-grams by the whole reference set; call prepare(segments) on "
                    "the features first and use what it returns"
                )
            gains = numpy.cumsum(ratios(known.gains(*batch), grams, on_empty=0.0), axis=1)
            share = numpy.minimum(ratios(ours_long, theirs_long, on_empty=1.0), 1.0)
            with numpy.errstate(divide="ignore"):
                penalty = numpy.exp(_BETA * numpy.log(share) ** 2)
        for name in self.which:
            order = int(name[4:]) if name[:4] in ("bleu", "nist") else 0
            if name.startswith("bleu"):
                columns[name] = numpy.exp(logs[:, :order].mean(axis=1))
            elif name.startswith("nist"):
                columns[name] = gains[:, order - 1] * penalty
        found = numpy.column_stack([columns[name] for name in self.which])
        starts = numpy.cumsum([0, *counts[:-1]])
        averaged: Array = numpy.add.reduceat(found, starts, axis=0) / numpy.array(counts)[:, None]
        return averaged

    def _words(self, sentence: Sentence) -> list[str]:
        return [word for word, _ in self._tagged(sentence)]

    def _tagged(self, sentence: Sentence) -> list[tuple[str, str]]:
        return tagged_words(sentence, self.lowercase, self.stem)

    def _edits(self, pairs: Sequence[Pair], batch: tokens.Batch) -> tuple[Array, Array]:
        """Edits, and words in common, of each hypothesis with each of its references."""
        if self.synonyms is None:
            return edit_distances(*batch).astype(float), batch.common_words().astype(float)
        edits, common = [], []
        for pair in pairs:
            ours = self._tagged(pair.hypothesis)
            for reference in pair.segment.references:
                theirs = self._tagged(reference)
                common.append(sum(match_words(ours, theirs, self.synonyms)))
                alike = numpy.array(
                    [
                        [one[0] == other[0] or self.synonyms.near(one, other) for other in theirs]
                        for one in ours
                    ],
                    dtype=numpy.bool_,
                ).reshape(len(ours), len(theirs))
                edits.append(related_edits(alike))
        return numpy.array(edits, dtype=float), numpy.array(common, dtype=float)
