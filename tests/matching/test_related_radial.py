"""Edits by a matrix of what matches, and sums of bells: against plain counting."""

from __future__ import annotations

from functools import cache

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.matching.radial import radial_sums
from meantime.matching.related import related_edits


def _edits(alike: numpy.ndarray) -> int:
    @cache
    def cost(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        return min(
            cost(i - 1, j - 1) + (not alike[i - 1, j - 1]), cost(i - 1, j) + 1, cost(i, j - 1) + 1
        )

    return cost(*alike.shape)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 6), st.integers(0, 6), st.randoms(use_true_random=False))
def test_related_edits_by_recursion(rows: int, columns: int, random) -> None:
    alike = numpy.array(
        [[random.random() < 0.4 for _ in range(columns)] for _ in range(rows)], dtype=bool
    ).reshape(rows, columns)
    assert related_edits(alike) == _edits(alike)


def test_radial_sums_by_hand_and_whatever_the_batch() -> None:
    rng = numpy.random.default_rng(1)
    rows, centres, weights = rng.normal(size=(9, 4)), rng.normal(size=(30, 4)), rng.normal(size=30)
    found = radial_sums(rows, centres, weights, 0.3)
    for row, value in zip(rows, found, strict=True):
        plain = sum(
            w * numpy.exp(-0.3 * ((row - c) ** 2).sum())
            for c, w in zip(centres, weights, strict=True)
        )
        assert value == pytest.approx(plain, rel=1e-12)
        assert radial_sums(row[None], centres, weights, 0.3)[0] == value
    assert radial_sums(rows[:0], centres, weights, 0.3).shape == (0,)
