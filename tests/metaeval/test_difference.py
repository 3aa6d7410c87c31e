from __future__ import annotations

import math
from itertools import product

import numpy
import pytest
from numpy.testing import assert_allclose

from meantime.errors import InputError, UsageError
from meantime.metaeval import difference
from meantime.metaeval.correlation import Undefined
from meantime.metaeval.difference import (
    Over,
    exchanged,
    fisher_test,
    p_value,
    permute,
    permute_systems,
    williams,
    williams_test,
)
from meantime.metaeval.grids import Grouping, Statistic, estimate, pairwise_accuracy

COMBINATIONS = list(product(Statistic, Grouping, Over))


def grids(segments: int = 7, systems: int = 4) -> tuple[numpy.ndarray, ...]:
    rng = numpy.random.default_rng(5)
    human = rng.integers(-4, 1, (segments, systems)).astype(float)
    one = human + rng.normal(size=human.shape).round(1)
    other = rng.normal(size=human.shape).round(1)
    human[0, 0] = one[2, 1] = math.nan
    return human, one, other


def standard(grid: numpy.ndarray, there: numpy.ndarray) -> numpy.ndarray:
    values = grid[there]
    return numpy.where(there, (grid - values.mean()) / values.std(), math.nan)


@pytest.mark.parametrize(("statistic", "grouping", "over"), COMBINATIONS)
def test_permutations_exchange_scores(statistic, grouping, over) -> None:
    """Fast ways and the plain one give what exchanging the scores by hand does."""
    human, one, other = grids()
    observed, null = exchanged(
        statistic, human, one, other,
        grouping=grouping, over=over, rng=numpy.random.default_rng(9), permutations=6,
    )  # fmt: skip
    there = ~(numpy.isnan(human) | numpy.isnan(one) | numpy.isnan(other))
    people = numpy.where(there, human, math.nan)
    first, second = standard(one, there), standard(other, there)

    thresholds = None
    if (statistic, grouping, over) == (Statistic.ACCURACY, Grouping.SEGMENTS, Over.SEGMENTS):
        thresholds = [pairwise_accuracy(people, side).threshold for side in (first, second)]

    def subtract(swapped: numpy.ndarray) -> float:
        if thresholds:
            # Segments keep the threshold of the metric that scored them.
            found = []
            for sides in (swapped, ~swapped):
                rows = [
                    pairwise_accuracy(
                        people[[n]], (second if side else first)[[n]], threshold=thresholds[side]
                    ).accuracy
                    for n, side in enumerate(sides[:, 0].astype(int))
                ]
                found.append(numpy.mean(rows))
            return found[0] - found[1]
        sides = numpy.where(swapped, second, first), numpy.where(swapped, first, second)
        found = [estimate(statistic, people, side, grouping=grouping).value for side in sides]
        return math.nan if None in found else found[0] - found[1]

    assert_allclose(observed, subtract(numpy.zeros(human.shape, bool)), atol=1e-9)
    [flips] = difference._flips(over, human.shape, numpy.random.default_rng(9), 6)
    for value, row in zip(null, flips, strict=True):
        shaped = {
            Over.SEGMENTS: lambda row: numpy.repeat(row[:, None], 4, axis=1),
            Over.SYSTEMS: lambda row: numpy.repeat(row[None, :], 7, axis=0),
            Over.BOTH: lambda row: row.reshape(7, 4),
        }[over](row)
        assert_allclose(value, subtract(shaped), atol=1e-9)


@pytest.mark.parametrize("over", list(Over))
def test_a_metric_does_not_differ_from_itself(over) -> None:
    human, one, _ = grids()
    found = permute("kendall", human, one, one, over=over, rng=numpy.random.default_rng(1))
    assert (found.value, found.p_value) == (0, 1)


def test_a_good_metric_differs_from_noise() -> None:
    rng = numpy.random.default_rng(2)
    human = rng.normal(size=(150, 6))
    good, noise = human + rng.normal(size=human.shape), rng.normal(size=human.shape)
    found = permute("kendall", human, good, noise, rng=rng)
    assert found.value > 0.2
    assert found.p_value == 1 / 1001
    assert permute("kendall", human, noise, good, rng=rng).value == -found.value


def test_equal_metrics_are_found_different_as_often_as_the_level_says() -> None:
    rng = numpy.random.default_rng(3)
    below = 0
    for _ in range(200):
        human = rng.normal(size=(30, 5))
        one, other = (human + rng.normal(size=human.shape) for _ in range(2))
        found = permute("kendall", human, one, other, rng=rng, permutations=99)
        below += found.p_value <= 0.1
    assert 8 <= below <= 34, "about 20 of 200 at 0.1"


def test_p_values_count_the_data_themselves() -> None:
    assert p_value(0.5, numpy.zeros(99)) == 0.01
    assert p_value(0.5, numpy.full(99, -0.5)) == 1, "two-sided"
    assert p_value(0.5, numpy.full(99, math.nan)) == 1, "not defined counts as large"


def test_differences_that_are_not_defined() -> None:
    human, one, _ = grids()
    rng = numpy.random.default_rng(1)
    with pytest.raises(Undefined, match="no correlation with people"):
        permute("kendall", human, one, numpy.zeros(human.shape), rng=rng)
    with pytest.raises(UsageError, match="choose from segments, systems, both"):
        permute("kendall", human, one, one, over="words", rng=rng)
    with pytest.raises(UsageError, match="at least one permutation"):
        permute("kendall", human, one, one, rng=rng, permutations=0)


def test_over_systems_alone() -> None:
    rng = numpy.random.default_rng(4)
    human = rng.normal(size=12)
    good, noise = human + rng.normal(size=12) / 5, rng.normal(size=12)
    found = permute_systems("pearson", human, good, noise, rng=rng)
    assert found.value > 0.3
    assert found.p_value < 0.05
    assert permute_systems("accuracy", human, good, 7 * good - 3, rng=rng).p_value == 1
    with pytest.raises(Undefined, match="and there are 2"):
        permute_systems("pearson", [1, 2], [1, 2], [2, 1], rng=rng)


# By formula


def test_williams_by_the_published_example() -> None:
    # The case of dependent correlations worked in the manual of R's psych: n 103, r 0.4, 0.5 and
    # 0.1 between the two: t -0.89, p 0.37.
    found = williams(0.4, 0.5, 0.1, 103)
    assert found.value == pytest.approx(-0.1)
    assert round(found.p_value, 2) == 0.37


def test_williams_is_right_as_often_as_it_says() -> None:
    rng = numpy.random.default_rng(6)
    below = 0
    for _ in range(1000):
        human = rng.normal(size=40)
        shared = rng.normal(size=40)
        one, other = (human + shared + rng.normal(size=40) for _ in range(2))
        below += williams_test(human, one, other).p_value <= 0.1
    assert 70 <= below <= 130


def test_williams_is_stricter_with_unrelated_metrics() -> None:
    alike, unlike = williams(0.6, 0.5, 0.9, 100), williams(0.6, 0.5, 0.3, 100)
    assert alike.p_value < unlike.p_value
    # Fisher's test does not know how alike they are.
    assert fisher_test(0.6, 100, 0.5, 100).p_value > alike.p_value


def test_williams_where_there_is_nothing_to_test() -> None:
    with pytest.raises(Undefined, match="four items"):
        williams(0.5, 0.4, 0.3, 3)
    with pytest.raises(Undefined, match="same up to scale"):
        williams_test([1, 2, 3, 5], [1, 2, 4, 4], [2, 4, 8, 8])
    with pytest.raises(InputError, match="no correlation"):
        williams(1.5, 0.4, 0.3, 30)


def test_fisher_by_hand() -> None:
    # artanh 0.5 = 0.549306, artanh 0.3 = 0.309520; their difference times sqrt(100 / 2).
    found = fisher_test(0.5, 103, 0.3, 103)
    z = (math.atanh(0.5) - math.atanh(0.3)) * math.sqrt(50)
    assert found.p_value == pytest.approx(math.erfc(z / math.sqrt(2)))
    with pytest.raises(Undefined, match="infinite"):
        fisher_test(1, 10, 0.5, 10)
