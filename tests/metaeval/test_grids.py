from __future__ import annotations

import math
from itertools import combinations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from meantime.errors import LengthMismatch, UsageError
from meantime.metaeval import grids, systems
from meantime.metaeval.correlation import Undefined
from meantime.metaeval.grids import (
    Grouping,
    Statistic,
    estimate,
    pairwise_accuracy,
    pooled,
    ranking_spearman,
    ranking_tau,
    within_segments,
    within_systems,
)
from meantime.metaeval.systems import (
    correlate_systems,
    p_values,
    random_flips,
    soft_pairwise_accuracy,
    system_accuracy,
    system_means,
)

CELL = st.one_of(st.integers(-2, 2).map(float), st.just(math.nan))
GRIDS = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(
        *[
            st.lists(
                st.lists(CELL, min_size=shape[1], max_size=shape[1]),
                min_size=shape[0],
                max_size=shape[0],
            ).map(numpy.array)
        ]
        * 2
    )
)
ORACLES = {
    Statistic.PEARSON: stats.pearsonr,
    Statistic.SPEARMAN: stats.spearmanr,
    Statistic.KENDALL: stats.kendalltau,
}


def brute(statistic: Statistic, groups) -> tuple[float | None, int]:
    """The mean over the groups where scipy defines the correlation."""
    found = []
    for human, metric in groups:
        there = ~(numpy.isnan(human) | numpy.isnan(metric))
        one, other = human[there], metric[there]
        fewest = 2 if statistic is Statistic.KENDALL else 3
        if len(one) < fewest or len(set(one)) == 1 or len(set(other)) == 1:
            continue
        found.append(ORACLES[statistic](one, other)[0])
    return (float(numpy.mean(found)) if found else None), len(found)


@settings(max_examples=120, deadline=None)
@given(GRIDS, st.sampled_from(list(ORACLES)))
def test_groupings_by_scipy(pair, statistic) -> None:
    human, metric = pair
    for ours, groups in (
        (within_segments, list(zip(human, metric, strict=True))),
        (within_systems, list(zip(human.T, metric.T, strict=True))),
        (pooled, [(human.ravel(), metric.ravel())]),
    ):
        value, defined = brute(statistic, groups)
        found = ours(statistic, human, metric)
        assert found.groups == len(groups)
        assert found.defined == defined
        if value is None:
            assert found.value is None
            assert found.reason
        else:
            assert_allclose(found.value, value, atol=1e-12)


@pytest.mark.parametrize("statistic", ORACLES)
def test_long_rows_have_the_same_numbers(statistic) -> None:
    rng = numpy.random.default_rng(2)
    human = rng.integers(0, 9, (3, grids.SHORT + 9)).astype(float)
    metric = human + rng.integers(0, 9, human.shape)
    value, _ = brute(statistic, zip(human, metric, strict=True))
    assert_allclose(within_segments(statistic, human, metric).value, value)


def test_how_many_segments_define_it() -> None:
    human = numpy.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [1.0, math.nan, math.nan]])
    metric = numpy.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    found = within_segments("kendall", human, metric)
    assert (found.value, found.defined, found.groups) == (1.0, 1, 3)
    nothing = within_segments("kendall", human[1:], metric[1:])
    assert nothing.value is None
    assert nothing.reason == (
        "it is defined in no segment: in 1 segment, all human scores are equal; in 1 segment, too "
        "few items have both a human score and a metric score"
    )


def test_taus_sum_pairs() -> None:
    human = numpy.array([[3.0, 2.0, 1.0], [1.0, 2.0, 2.0]])
    metric = numpy.array([[3.0, 2.0, 2.0], [2.0, 1.0, 3.0]])
    # 2 agree, 1 tied; 1 disagrees, 1 agrees, and one pair people tie.
    assert within_segments("tau-denominator", human, metric).value == (3 - 1) / 5
    assert within_segments("tau-ignored", human, metric).value == (3 - 1) / 4
    assert within_segments("tau-discordant", human, metric).value == (3 - 1 - 1) / 5


def test_grids_of_other_shapes() -> None:
    with pytest.raises(LengthMismatch, match="2 segments by 3 systems"):
        within_segments("kendall", numpy.zeros((2, 3)), numpy.zeros((3, 2)))
    with pytest.raises(UsageError, match="choose from pearson"):
        within_segments("rho", numpy.zeros((2, 3)), numpy.zeros((2, 3)))


# Pairwise accuracy with calibrated ties


def brute_accuracy(human, metric, threshold: float) -> float:
    """Each segment's share of right pairs, averaged."""
    shares = []
    for people, scores in zip(human, metric, strict=True):
        there = numpy.flatnonzero(~(numpy.isnan(people) | numpy.isnan(scores)))
        right = []
        for one, other in combinations(there, 2):
            tied = abs(scores[one] - scores[other]) <= threshold
            if people[one] == people[other]:
                right.append(tied)
            else:
                ordered = (scores[one] - scores[other]) * (people[one] - people[other]) > 0
                right.append(ordered and not tied)
        if right:
            shares.append(sum(right) / len(right))
    return float(numpy.mean(shares))


@settings(max_examples=100, deadline=None)
@given(GRIDS)
def test_accuracy_tries_every_threshold(pair) -> None:
    human, metric = pair
    candidates = [0.0] + [
        abs(one - other)
        for people, scores in zip(human, metric, strict=True)
        for one, other in combinations(scores[~(numpy.isnan(people) | numpy.isnan(scores))], 2)
    ]
    if len(candidates) == 1:
        with pytest.raises(Undefined, match="no two translations"):
            pairwise_accuracy(human, metric)
        return
    found = pairwise_accuracy(human, metric)
    scores = {threshold: brute_accuracy(human, metric, threshold) for threshold in candidates}
    best = max(scores.values())
    assert_allclose(found.accuracy, best)
    assert found.threshold == min(t for t, value in scores.items() if value > best - 1e-9)
    assert_allclose(pairwise_accuracy(human, metric, threshold=1.0).accuracy,
                    brute_accuracy(human, metric, 1.0))  # fmt: skip


def test_accuracy_of_drawn_pairs_is_close() -> None:
    rng = numpy.random.default_rng(5)
    human = rng.normal(size=(200, 8)).round()
    metric = human + rng.normal(size=human.shape)
    exact = pairwise_accuracy(human, metric, grouping="pooled")
    with pytest.raises(UsageError, match="give rng"):
        pairwise_accuracy(human, metric, grouping="pooled", most_pairs=100_000)
    drawn = pairwise_accuracy(human, metric, grouping="pooled", most_pairs=100_000, rng=rng)
    assert drawn.accuracy == pytest.approx(exact.accuracy, abs=0.01)


# The papers' own


def test_spearman_of_paper_002() -> None:
    # Table 4: the human rank of three systems, and their scores by frames, BLEU and STM.
    people = numpy.array([[2.0, 1.0, 3.0]])
    frames, bleu, stm = ([0.167, 0.317, 0.0], [0.012, 0.013, 0.124], [0.364, 0.303, 0.344])
    for scores, expected in ((frames, 1), (bleu, -0.5), (stm, -0.5)):
        found = ranking_spearman(people, numpy.array([scores]))
        assert found.value == pytest.approx(expected)
    both = ranking_spearman(numpy.vstack([people, people]), numpy.array([frames, bleu]))
    assert both.value == pytest.approx(0.25)


def test_ranking_tau_of_paper_000() -> None:
    # Ranks, the best first; pairs people tie are left out, the metric's ties stay below.
    ranking = numpy.array([[1.0, 2.0, 2.0], [1.0, 2.0, 3.0]])
    metric = numpy.array([[0.9, 0.9, 0.1], [0.3, 0.2, 0.4]])
    # First: one tied, one right. Second: one right, two wrong.
    assert ranking_tau(ranking, metric).value == (2 - 2) / 5
    assert ranking_tau(ranking, -ranking).value == 1


# Systems


def test_system_means_leave_out_what_is_not_rated() -> None:
    assert system_means([[1.0, 2.0], [math.nan, 4.0], [3.0, 6.0]]).tolist() == [2.0, 4.0]
    assert math.isnan(system_means([[math.nan, 1.0]])[0])


def test_system_accuracy_by_hand() -> None:
    human = [4.0, 3.0, 2.0, 2.0]
    # Pairs: right, right, right; wrong (tied), right; and one that people tie.
    assert system_accuracy(human, [9.0, 5.0, 5.0, 1.0]) == 4 / 5


def test_two_systems_are_too_few() -> None:
    with pytest.raises(Undefined, match=r"3 systems are needed .* and there are 2"):
        correlate_systems("pearson", [1, 2, math.nan], [1, 2, 3])
    found = estimate("pearson", [[1.0, 2.0]], [[1.0, 2.0]], grouping=Grouping.MEANS)
    assert found.value is None
    assert found.reason == (
        "3 systems are needed with both a human score and a metric score, and there are 2"
    )


def test_systems_that_are_all_equal() -> None:
    with pytest.raises(Undefined, match="all human scores are equal"):
        system_accuracy([1, 1, 1], [1, 2, 3])
    with pytest.raises(Undefined, match="all metric scores are equal"):
        correlate_systems("spearman", [1, 2, 3], [1, 1, 1])


def exact_p(one, other) -> float:
    """One-sided, over all exchanges; equal sums count half."""
    differences = one - other
    signs = numpy.array(numpy.meshgrid(*[[1, -1]] * len(one))).reshape(len(one), -1).T
    sums = signs @ differences
    observed = differences.sum()
    return float((sums > observed + 1e-9).mean() + (sums >= observed - 1e-9).mean()) / 2


def test_p_values_by_all_permutations() -> None:
    rng = numpy.random.default_rng(4)
    scores = rng.normal(size=(9, 3))
    found = p_values(scores, random_flips(9, rng=rng, permutations=20_000))
    for one, other in combinations(range(3), 2):
        expected = exact_p(scores[:, one], scores[:, other])
        assert found[one, other] == pytest.approx(expected, abs=0.015)
        assert found[one, other] + found[other, one] == 1


def test_soft_accuracy_by_its_definition() -> None:
    rng = numpy.random.default_rng(6)
    human = rng.normal(size=(9, 3))
    metric = human + rng.normal(size=(9, 3))
    gaps = [
        abs(exact_p(human[:, a], human[:, b]) - exact_p(metric[:, a], metric[:, b]))
        for a, b in combinations(range(3), 2)
    ]
    found = soft_pairwise_accuracy(human, metric, rng=rng, permutations=20_000)
    assert found == pytest.approx(1 - numpy.mean(gaps), abs=0.015)
    assert soft_pairwise_accuracy(human, human, rng=rng) == 1
    assert soft_pairwise_accuracy(human, -human, rng=rng) < 0.9


def test_soft_accuracy_needs_systems() -> None:
    rng = numpy.random.default_rng(0)
    with pytest.raises(Undefined, match="there are 2"):
        soft_pairwise_accuracy([[1.0, 2.0]], [[1.0, 2.0]], rng=rng)
    diagonal = numpy.where(numpy.eye(3) > 0, 1.0, math.nan)
    with pytest.raises(Undefined, match="no two systems have scores of the same segment"):
        soft_pairwise_accuracy(diagonal, diagonal, rng=rng)


def test_means_agree_with_scipy() -> None:
    rng = numpy.random.default_rng(7)
    human, metric = rng.normal(size=(2, 20, 5))
    for statistic, oracle in ORACLES.items():
        found = estimate(statistic, human, metric, grouping="means")
        assert_allclose(found.value, oracle(human.mean(axis=0), metric.mean(axis=0))[0])
    assert systems.system_means(human) == pytest.approx(human.mean(axis=0))


def test_people_who_tie_everything_leave_no_accuracy() -> None:
    """Calibrated ties would make every metric perfect there."""
    human = numpy.ones((3, 3))
    metric = numpy.arange(9.0).reshape(3, 3)
    estimate = grids.within_segments("accuracy", human, metric)
    assert estimate.value is None
    assert estimate.reason is not None
    assert "all human scores are equal" in estimate.reason
