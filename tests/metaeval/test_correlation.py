"""Each correlation against scipy, scikit-learn's definition, or a count by hand."""

from __future__ import annotations

import math
from itertools import combinations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from meantime.errors import InputError, LengthMismatch, UsageError
from meantime.matching import ranks
from meantime.metaeval.correlation import (
    Ties,
    Undefined,
    kendall,
    pearson,
    preference_tau,
    roc,
    spearman,
    wmt_tau,
)

# Few different values, so that there are ties.
VALUES = st.integers(-3, 3).map(float)
VECTORS = st.integers(3, 25).flatmap(
    lambda n: st.tuples(*[st.lists(VALUES, min_size=n, max_size=n)] * 2)
)
CORRELATIONS = {
    pearson: stats.pearsonr,
    spearman: stats.spearmanr,
    kendall: stats.kendalltau,
}


@settings(max_examples=150, deadline=None)
@given(VECTORS)
@pytest.mark.parametrize("ours", CORRELATIONS, ids=lambda ours: ours.__name__)
def test_equal_to_scipy(ours, vectors) -> None:
    one, other = vectors
    if len(set(one)) == 1 or len(set(other)) == 1:
        with pytest.raises(Undefined, match=r"all (human|metric) scores are equal"):
            ours(one, other)
        return
    assert_allclose(ours(one, other), CORRELATIONS[ours](one, other)[0], atol=1e-12)


@pytest.mark.parametrize("ours", CORRELATIONS, ids=lambda ours: ours.__name__)
def test_equal_to_scipy_on_long_vectors(ours) -> None:
    rng = numpy.random.default_rng(1)
    one = rng.normal(size=3000).round(1)
    other = (one + rng.normal(size=3000)).round(1)
    assert_allclose(ours(one, other), CORRELATIONS[ours](one, other)[0], atol=1e-12)


def brute_tau(human, metric, ties: str) -> float | None:
    """The table of the WMT metrics tasks: pairs that people tie are left out."""
    agreeing = disagreeing = tied = 0
    for one, other in combinations(range(len(human)), 2):
        if human[one] == human[other]:
            continue
        sign = (metric[one] - metric[other]) * (human[one] - human[other])
        agreeing += sign > 0
        disagreeing += sign < 0
        tied += sign == 0
    above = agreeing - disagreeing - (tied if ties == "discordant" else 0)
    below = agreeing + disagreeing + (tied if ties != "ignored" else 0)
    return above / below if below else None


@settings(max_examples=150, deadline=None)
@given(VECTORS, st.sampled_from(list(Ties)))
def test_wmt_taus_by_counting_pairs(vectors, ties) -> None:
    expected = brute_tau(*vectors, ties)
    if expected is None:
        with pytest.raises(Undefined, match="tau"):
            wmt_tau(*vectors, ties=ties)
    else:
        assert_allclose(wmt_tau(*vectors, ties=ties), expected)


def test_wmt_taus_by_hand() -> None:
    # People: a > b > c = d. Of their five ordered pairs the metric has ab right, ac tied, ad
    # wrong, bc wrong and bd wrong.
    human, metric = [3, 2, 1, 1], [2, 1, 2, 4]
    assert wmt_tau(human, metric, ties="ignored") == (1 - 3) / 4
    assert wmt_tau(human, metric, ties="denominator") == (1 - 3) / 5
    assert wmt_tau(human, metric, ties="discordant") == (1 - 3 - 1) / 5


def test_wmt_tau_of_a_grid_sums_pairs_over_segments() -> None:
    human = numpy.array([[3.0, 2.0, 1.0], [1.0, 2.0, math.nan]])
    metric = numpy.array([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    assert wmt_tau(human, metric) == (3 - 1) / 4


def test_preferences_are_pairs() -> None:
    better, worse = [2, 2, 1, 1], [1, 1, 2, 1]
    assert preference_tau(better, worse) == (2 - 1 - 1) / 4
    assert preference_tau(better, worse, ties="denominator") == (2 - 1) / 4
    assert preference_tau(better, worse, ties="ignored") == (2 - 1) / 3


def test_not_rated_is_left_out_and_not_zero() -> None:
    human = [1.0, math.nan, 3.0, 2.0, 5.0]
    metric = [1.0, 9.0, 2.0, math.nan, 5.0]
    for ours in CORRELATIONS:
        assert ours(human, metric) == pytest.approx(ours([1, 3, 5], [1, 2, 5]))


@pytest.mark.parametrize("ours", [pearson, spearman])
def test_two_items_are_too_few(ours) -> None:
    with pytest.raises(Undefined, match=r"2 items .* 3 are needed"):
        ours([1, 2], [2, 1])


def test_two_items_are_one_pair() -> None:
    assert kendall([1, 2], [2, 1]) == -1
    with pytest.raises(Undefined, match="too few"):
        kendall([1], [1])


def test_what_is_no_pair_of_vectors_is_refused() -> None:
    with pytest.raises(LengthMismatch, match="3 scores against 2"):
        pearson([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="infinite"):
        pearson([1, 2, math.inf], [1, 2, 3])
    with pytest.raises(InputError, match="2 axes"):
        kendall([[1, 2]], [[1, 2]])
    with pytest.raises(UsageError, match="choose from discordant, ignored, denominator"):
        wmt_tau([1, 2], [1, 2], ties="half")


@settings(deadline=None)
@given(st.floats(1e-300, 1e300), st.sampled_from([pearson, spearman, kendall]))
def test_scale_plays_no_part(scale: float, ours) -> None:
    human, metric = [1, 2, 3, 4, 2], [0.5, 0.25, 1, 0.75, 0.25]
    assert_allclose(ours(human, numpy.array(metric) * scale), ours(human, metric), rtol=1e-9)


def test_the_short_formula_of_spearman_is_wrong_with_ties() -> None:
    human, metric = [1, 2, 2, 4], [1, 2, 3, 4]
    squares = sum((a - b) ** 2 for a, b in zip([1, 2.5, 2.5, 4], metric, strict=True))
    short = 1 - 6 * squares / (4 * (16 - 1))
    assert spearman(human, metric) == pytest.approx(stats.spearmanr(human, metric)[0])
    assert spearman(human, metric) != pytest.approx(short)


# ROC


@settings(deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=12), st.lists(VALUES, min_size=1, max_size=12))
def test_area_is_the_share_of_pairs_in_order(people, machines) -> None:
    won = sum((p > m) + 0.5 * (p == m) for p in people for m in machines)
    assert_allclose(roc(people, machines).area, won / (len(people) * len(machines)), atol=1e-12)


def test_roc_equals_scikit_learn() -> None:
    from sklearn.metrics import roc_auc_score, roc_curve

    rng = numpy.random.default_rng(3)
    people, machines = rng.normal(0.5, 1, 80).round(1), rng.normal(size=120).round(1)
    truth = [1] * 80 + [0] * 120
    scores = numpy.concatenate([people, machines])
    found = roc(people, machines)
    assert_allclose(found.area, roc_auc_score(truth, scores))
    alarms, hits, thresholds = roc_curve(truth, scores, drop_intermediate=False)
    assert_allclose(found.false_alarms, alarms, atol=1e-12)
    assert_allclose(found.hits, hits, atol=1e-12)
    assert_allclose(found.thresholds, thresholds)


def test_roc_needs_both() -> None:
    with pytest.raises(Undefined, match="no human translation"):
        roc([], [1])
    with pytest.raises(Undefined, match="no machine translation"):
        roc([1], [math.nan])


# The kernels


@settings(deadline=None)
@given(VECTORS, st.data())
def test_weighted_pairs_are_pairs_of_repeated_items(vectors, data) -> None:
    one, other = map(numpy.array, vectors)
    weights = numpy.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(one), max_size=len(one)))
    )
    first, first_size = ranks.dense_ranks(one)
    second, second_size = ranks.dense_ranks(other)
    counted = ranks.count_pairs(first, second, (first_size, second_size), weights=weights)
    repeated = ranks.count_row_pairs(
        numpy.repeat(one, weights)[None], numpy.repeat(other, weights)[None]
    )[0]
    assert counted.tolist() == repeated.tolist()
    assert counted.sum() == math.comb(int(weights.sum()), 2)
