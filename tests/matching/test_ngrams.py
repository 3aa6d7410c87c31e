"""The kernels against what a few lines of Python say."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.matching.ngrams import NgramInformation, clipped_matches
from meantime.metrics.tokens import Overlay, Vocabulary, batch, number

WORDS = st.lists(st.sampled_from("abcd"), max_size=9)
PAIRS = st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3)), max_size=6)


def _ngrams(words, order: int) -> Counter:
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


def _expected(hypothesis, references, order: int) -> Counter:
    allowed: Counter = Counter()
    for reference in references:
        allowed |= _ngrams(reference, order)
    return _ngrams(hypothesis, order) & allowed


@settings(max_examples=200, deadline=None)
@given(PAIRS)
def test_clipped_matches(pairs) -> None:
    found = clipped_matches(*batch([h for h, _ in pairs], [r for _, r in pairs]), 5)
    assert found.shape == (len(pairs), 5)
    for row, (hypothesis, references) in zip(found, pairs, strict=True):
        for order in range(1, 6):
            assert row[order - 1] == _expected(hypothesis, references, order).total()


@settings(max_examples=200, deadline=None)
@given(PAIRS.filter(bool), WORDS)
def test_information(pairs, extra) -> None:
    """Against a direct count; `extra` is a hypothesis with words the text may not hold."""
    pairs = [*pairs, ([*extra, "unseen"], pairs[0][1])]
    texts = [reference for _, references in pairs for reference in references]
    vocabulary = Vocabulary()
    counted = NgramInformation(*number(texts, vocabulary), vocabulary, 4)
    overlay = Overlay(vocabulary)
    found = counted.gains(*batch([h for h, _ in pairs], [r for _, r in pairs], overlay))
    counts = {n: sum((_ngrams(text, n) for text in texts), Counter()) for n in range(1, 5)}
    words = sum(len(text) for text in texts)
    for row, (hypothesis, references) in zip(found, pairs, strict=True):
        for order in range(1, 5):
            gain = 0.0
            for ngram, times in _expected(hypothesis, references, order).items():
                before = words if order == 1 else counts[order - 1][ngram[:-1]]
                gain += times * math.log2(before / counts[order][ngram])
            assert row[order - 1] == pytest.approx(gain)


def test_many_words_do_not_collide() -> None:
    """Every bigram of 3,000 distinct numbers is told from every other."""
    words = [str(n) for n in range(3000)]
    shuffled = words[1::2] + words[::2]
    found = clipped_matches(*batch([shuffled], [[words]]), 2)
    assert found.tolist() == [[3000, 0]]
