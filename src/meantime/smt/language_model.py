"""An n-gram language model, interpolated (Jelinek and Mercer 1980), as the decoder reads it.

    p(w | h) = l(h) count(h w) / count(h) + (1 - l(h)) p(w | h without its first word)
    p(w)     = l count(w) / N + (1 - l) / V

The weights l depend on the order and on how often the history was seen: 1, 2, …, 19, 20 times
or more. They are learned by expectation and maximisation with each n-gram of the text left out
of the counts it is predicted from, so that no text has to be kept back. A word that was never
seen is `<unk>`, which has as many occurrences as there are words seen once (Good 1953).
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy

from meantime.smt.alignment import Tokens

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
ORDER = 5
MOST_ORDER = 6
BUCKETS = 21
"""Histories never seen, seen once, … , seen 20 times or more."""
_ROUNDS = 30


@dataclass(frozen=True)
class LanguageModel:
    """Counts of n-grams and the weights that join them."""

    order: int
    counts: dict[tuple[str, ...], tuple[int, int]]
    """Of an n-gram: how often its history was seen, and how often it was."""
    weights: Sequence[Sequence[float]]
    """By order and by how often the history was seen."""

    def render(self) -> tuple[bytes, bytes]:
        """The two files: counts, and weights."""
        out = io.StringIO()
        for words, (before, count) in self.counts.items():
            out.write(f"{' '.join(words)} {before} {count}\n")
        flat = " ".join(f"{value:.6f}" for row in self.weights for value in row)
        return out.getvalue().encode("utf-8"), f"{self.order} {BUCKETS} 1 {flat}\n".encode()

    def log_probability(self, words: Sequence[str]) -> float:
        """Of a sentence with its end, base 10; slow, to check what the decoder computes."""
        known = [BEGIN, *(w if (w,) in self.counts else UNKNOWN for w in words), END]
        places = range(1, len(known))
        return sum(self.word_log_probability(known[:place], known[place]) for place in places)

    def word_log_probability(self, before: Sequence[str], word: str) -> float:
        """Of a word behind others that are known, base 10."""
        value = 1 / self.vocabulary
        for size in range(1, min(self.order, len(before) + 1) + 1):
            history = tuple(before[len(before) - size + 1 :])
            seen = self._seen(history)
            weight = self.weights[size - 1][min(seen, BUCKETS - 1)]
            _, count = self.counts.get((*history, word), (0, 0))
            value = weight * (count / seen if seen else 0) + (1 - weight) * value
        return math.log10(value)

    @cached_property
    def _histories(self) -> dict[tuple[str, ...], int]:
        return {words[:-1]: before for words, (before, _) in self.counts.items()}

    def _seen(self, history: tuple[str, ...]) -> int:
        """How often something followed."""
        return self._histories.get(history, 0)

    @property
    def vocabulary(self) -> int:
        """Words, the marks of a sentence and of unknown words, and one of the decoder's own."""
        return sum(len(words) == 1 for words in self.counts) + 1


def train_model(sentences: Tokens, *, order: int = ORDER) -> LanguageModel:
    """Count the n-grams of sentences and learn how to weigh their orders."""
    from meantime.matching.phrase_pairs import number_spans

    framed = [[BEGIN, *one, END] for one in sentences]
    words = [word for one in framed for word in one]
    known: dict[str, int] = {BEGIN: 0, END: 1}
    numbers = numpy.fromiter((known.setdefault(w, len(known)) for w in words), numpy.int64)
    offsets = numpy.zeros(len(framed) + 1, dtype=numpy.int64)
    numpy.cumsum([len(one) for one in framed], out=offsets[1:])
    spans = number_spans(numbers, offsets, order)
    frequency = numpy.bincount(spans[spans >= 0])
    unseen = max(1, int((numpy.bincount(numbers, minlength=2) == 1).sum()))
    total = len(words) - len(framed) + unseen
    """A sentence's beginning is never predicted."""
    counts: dict[tuple[str, ...], tuple[int, int]] = {}
    for size in range(1, order + 1):
        present = numpy.flatnonzero(spans[:, size - 1] >= 0)
        unique, firsts = numpy.unique(spans[present, size - 1], return_index=True)
        for number, first in zip(unique, present[firsts], strict=True):
            before = total if size == 1 else int(frequency[spans[first, size - 2]])
            counts[tuple(words[first : first + size])] = (before, int(frequency[number]))
        if size == 1:
            counts[(UNKNOWN,)] = (total, unseen)
    weights = _weigh(numbers, spans, frequency, total, unseen, len(known) + 2, order)
    return LanguageModel(order, counts, weights)


def _weigh(
    numbers: Any, spans: Any, frequency: Any, total: int, unseen: int, vocabulary: int, order: int
) -> list[list[float]]:
    """Weights under which the text is likeliest, each n-gram left out of its own counts."""
    places = numpy.flatnonzero(numbers != 0)
    ratios = numpy.zeros((order, len(places)))
    buckets = numpy.zeros((order, len(places)), dtype=numpy.int64)
    there = numpy.zeros((order, len(places)), dtype=bool)
    alone = frequency[spans[places, 0]]
    ratios[0] = numpy.where(alone > 1, alone - 1, unseen) / (total - 1)
    buckets[0] = BUCKETS - 1
    there[0] = True
    for size in range(2, order + 1):
        begins = places - size + 1
        inside = begins >= 0
        inside[inside] = spans[begins[inside], size - 1] >= 0
        row = numpy.flatnonzero(inside)
        before = frequency[spans[begins[row], size - 2]] - 1
        together = frequency[spans[begins[row], size - 1]] - 1
        ratios[size - 1, row] = numpy.where(before > 0, together / numpy.maximum(before, 1), 0.0)
        buckets[size - 1, row] = numpy.minimum(before, BUCKETS - 1)
        there[size - 1, row] = True
    weights = numpy.full((order, BUCKETS), 0.5)
    for _ in range(_ROUNDS):
        weights = _improve(weights, ratios, buckets, there, vocabulary)
    # The decoder may meet a history it has counts of no more than zero for: nothing to take.
    weights[:, 0] = 0.0
    return [[min(max(float(value), 0.0), 0.999) for value in row] for row in weights]


def _improve(weights: Any, ratios: Any, buckets: Any, there: Any, vocabulary: int) -> Any:
    order, size = ratios.shape
    own = numpy.zeros((order, size))
    upto = numpy.full(size, 1 / vocabulary)
    sums = numpy.empty((order + 1, size))
    sums[0] = upto
    chosen = numpy.empty((order, size))
    for n in range(order):
        chosen[n] = numpy.where(there[n], weights[n, buckets[n]], 0.0)
        own[n] = chosen[n] * ratios[n]
        sums[n + 1] = own[n] + (1 - chosen[n]) * sums[n]
    better = weights.copy()
    reached = numpy.ones(size)
    """The chance that the word came from this order or one below it, given the word."""
    for n in range(order - 1, -1, -1):
        share = own[n] / sums[n + 1]
        used = there[n]
        taken = numpy.bincount(buckets[n][used], (reached * share)[used], BUCKETS)
        met = numpy.bincount(buckets[n][used], reached[used], BUCKETS)
        better[n] = numpy.where(met > 0, taken / numpy.maximum(met, 1e-12), weights[n])
        reached = reached * (1 - share)
    return better
