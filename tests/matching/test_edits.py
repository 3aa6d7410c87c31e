"""Edit distances against oracles."""

from __future__ import annotations

from functools import cache

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.matching.edits import edit_distances, edit_path
from meantime.metrics.tokens import batch

WORDS = st.lists(st.sampled_from("abc"), max_size=6).map(tuple)


def _levenshtein(hypothesis: tuple, reference: tuple) -> int:
    @cache
    def cost(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        same = hypothesis[i - 1] == reference[j - 1]
        return min(cost(i - 1, j - 1) + (not same), cost(i - 1, j) + 1, cost(i, j - 1) + 1)

    return cost(len(hypothesis), len(reference))


def _cover(hypothesis: tuple, reference: tuple) -> int:
    """Cheapest path over states (place in hypothesis, place in reference), by relaxation.

    From any state: to any place of the hypothesis for 1 (a jump); a word of either side, or
    one of both that differ, for 1; one of both that agree for 0. From the start, where
    nothing is covered, to the end of both.
    """
    rows, columns = len(hypothesis) + 1, len(reference) + 1
    costs = {(0, 0): 0}
    changed = True
    while changed:
        changed = False
        for (i, j), cost in list(costs.items()):
            steps = [((k, j), 1) for k in range(rows)]
            if j + 1 < columns:
                steps.append(((i, j + 1), 1))
                if i + 1 < rows:
                    same = hypothesis[i] == reference[j]
                    steps.append(((i + 1, j + 1), 0 if same else 1))
            for state, price in steps:
                if cost + price < costs.get(state, 10**6):
                    costs[state] = cost + price
                    changed = True
    return costs[rows - 1, columns - 1]


PAIRS = st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=4)


@settings(max_examples=200, deadline=None)
@given(PAIRS)
def test_distances(pairs) -> None:
    laid_out = batch([h for h, _ in pairs], [r for _, r in pairs])
    flat = [(h, r) for h, references in pairs for r in references]
    plain = edit_distances(*laid_out)
    jumping = edit_distances(*laid_out, jumps=True)
    assert plain.tolist() == [_levenshtein(h, r) for h, r in flat]
    assert jumping.tolist() == [_cover(h, r) for h, r in flat]
    assert (jumping <= plain).all()


@settings(max_examples=200, deadline=None)
@given(WORDS, WORDS)
def test_path(hypothesis, reference) -> None:
    laid_out = batch([hypothesis], [[reference]])
    path = edit_path(laid_out.hypotheses, laid_out.references)
    assert numpy.count_nonzero(path) == _levenshtein(hypothesis, reference)
    i = j = 0
    for operation in path:
        if operation == 0:
            assert hypothesis[i] == reference[j]
        elif operation == 1:
            assert hypothesis[i] != reference[j]
        i += operation != 3
        j += operation != 2
    assert (i, j) == (len(hypothesis), len(reference))


def test_a_moved_block_costs_a_jump() -> None:
    laid_out = batch(["abcdef"], [["defabc"]])
    assert edit_distances(*laid_out, jumps=True).tolist() == [3]
    assert edit_distances(*laid_out).tolist() == [6]
