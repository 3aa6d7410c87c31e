"""Role spans against brute force."""

from __future__ import annotations

from itertools import product

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.matching.chart import span_ends
from meantime.matching.labels import best_roles, span_gains


def _spans(states: tuple[int, ...]) -> list[tuple[int, int, int]] | None:
    """Spans of a state sequence; none if a role goes on that did not begin."""
    spans: list[tuple[int, int, int]] = []
    before = 0
    for n, state in enumerate(states):
        if state and state % 2 == 0:
            if before not in (state, state - 1):
                return None
            spans[-1] = (spans[-1][0], n + 1, spans[-1][2])
        elif state:
            spans.append((n, n + 1, (state - 1) // 2))
        before = state
    return spans


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_best_roles(seed: int, length: int, predicate: int, plain: bool) -> None:
    rng = numpy.random.default_rng(seed)
    predicate = min(predicate, length - 1)
    scores = rng.normal(size=(1, length, 5)).astype(numpy.float32) * 3
    gains = rng.normal(size=(length + 1, length + 1)) * (0 if plain else 2)
    logs = scores[0] - numpy.log(numpy.exp(scores[0]).sum(-1, keepdims=True))
    worth = {}
    for states in product(range(5), repeat=length):
        spans = _spans(states)
        if spans is not None and states[predicate] == 0:
            told = sum(logs[n, state] for n, state in enumerate(states))
            worth[tuple(spans)] = told + sum(gains[start, end] for start, end, _ in spans)
    found = tuple(best_roles(logs[None], numpy.array([predicate]), gains)[0])
    assert found in worth
    assert worth[found] == pytest.approx(max(worth.values()), abs=1e-4)


def test_span_gains() -> None:
    starts, ends = span_ends(2)
    odds = numpy.zeros(3, numpy.float32)
    odds[[(int(s), int(e)) for s, e in zip(starts, ends, strict=True)].index((0, 2))] = 2.4
    gains = span_gains(odds, 2, weight=0.5, low=-4, high=4, single=0.25)
    assert gains[0, 2] == pytest.approx(1.2)
    assert gains[0, 1] == gains[1, 2] == 0.25
    assert span_gains(odds, 2, weight=1, low=-1, high=1)[0, 2] == 1
    assert span_gains(-odds, 2, weight=1, low=-1, high=1)[0, 2] == -1


def test_no_words_but_the_predicate() -> None:
    scores = numpy.zeros((1, 1, 3), numpy.float32)
    assert best_roles(scores, numpy.array([0]), numpy.zeros((2, 2))) == [[]]
