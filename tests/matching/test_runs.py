"""Greedy runs: disjoint, maximal, never better than the best, and often equal to it."""

from __future__ import annotations

import math
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.matching.runs import greedy_runs, run_sizes
from meantime.metrics.tokens import batch

WORDS = st.lists(st.sampled_from("abc"), max_size=5).map(tuple)


def _best(hypothesis: tuple, reference: tuple) -> int:
    """Largest sum of squared run lengths over all sets of disjoint runs, by brute force."""

    @cache
    def best(free_rows: frozenset, free_columns: frozenset) -> int:
        top = 0
        for i in free_rows:
            for j in free_columns:
                length = 0
                while (
                    i + length in free_rows
                    and j + length in free_columns
                    and hypothesis[i + length] == reference[j + length]
                ):
                    length += 1
                    rows = free_rows - set(range(i, i + length))
                    columns = free_columns - set(range(j, j + length))
                    top = max(top, length * length + best(rows, columns))
        return top

    return best(frozenset(range(len(hypothesis))), frozenset(range(len(reference))))


@settings(max_examples=100, deadline=None)
@given(WORDS, WORDS)
def test_greedy(hypothesis, reference) -> None:
    laid_out = batch([hypothesis], [[reference]])
    runs = greedy_runs(laid_out.hypotheses, laid_out.references)
    rows = [i + k for i, _, length in runs for k in range(length)]
    columns = [j + k for _, j, length in runs for k in range(length)]
    assert len(set(rows)) == len(rows)
    assert len(set(columns)) == len(columns)
    assert all(hypothesis[i] == reference[j] for i, j in zip(rows, columns, strict=True))
    lengths = [length for _, _, length in runs]
    assert lengths == sorted(lengths, reverse=True)
    size = run_sizes(*laid_out, exponent=2.0)[0]
    assert size == pytest.approx(math.sqrt(sum(length * length for length in lengths)))
    assert size <= math.sqrt(_best(hypothesis, reference)) + 1e-9


def test_equal_where_the_best_is_known() -> None:
    laid_out = batch(["he walked the dog".split()], [["he took the dog for a walk".split()]])
    assert run_sizes(*laid_out, exponent=2.0)[0] == pytest.approx(math.sqrt(5))
    laid_out = batch(["abcabc"], [["abcabc"]])
    assert run_sizes(*laid_out, exponent=2.0)[0] == pytest.approx(6)


def test_ties_go_to_the_left() -> None:
    laid_out = batch(["ab"], [["abxab"]])
    assert greedy_runs(laid_out.hypotheses, laid_out.references) == [(0, 0, 2)]
