"""The best tree against all trees."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.matching.chart import best_tree, span_ends


def _all(start: int, end: int) -> list[list[tuple[int, int]]]:
    """Every binary tree over [start, end), as its spans."""
    if end - start == 1:
        return [[(start, end)]]
    return [
        [(start, end), *left, *right]
        for middle in range(start + 1, end)
        for left in _all(start, middle)
        for right in _all(middle, end)
    ]


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_best_tree(seed: int, words: int) -> None:
    rng = numpy.random.default_rng(seed)
    starts, ends = span_ends(words)
    scores = rng.normal(size=(len(starts), 4)).astype(numpy.float32) * 2
    # Label against none: the best label and label 0 are all that counts.
    gains = scores[:, 1:].max(-1) - scores[:, 0]
    logs = numpy.stack([-numpy.log1p(numpy.exp(gains)), gains - numpy.log1p(numpy.exp(gains))], -1)
    row = {(int(s), int(e)): n for n, (s, e) in enumerate(zip(starts, ends, strict=True))}
    base = logs[:, 0].sum()
    best = -numpy.inf
    for spans in _all(0, words):
        worth = base
        for span in spans:
            gain = logs[row[span], 1:].max() - logs[row[span], 0]
            worth += gain if span == (0, words) else max(0.0, gain)
        best = max(best, worth)
    found, score = best_tree(scores[:, 1:].argmax(-1) + 1, gains, words)
    assert score == pytest.approx(best, abs=1e-4)
    told = base + sum(logs[row[s, e], 1] - logs[row[s, e], 0] for s, e, _ in found.tolist())
    assert score == pytest.approx(told, abs=1e-4)
    assert found[0, 0] == 0
    assert found[0, 1] == words
    pairs = [tuple(span) for span in found[:, :2].tolist()]
    for a, b in pairs:
        for c, d in pairs:
            assert not a < c < b < d
