from __future__ import annotations

import math

import numpy
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from meantime.errors import LengthMismatch, UsageError
from meantime.metaeval.correlation import Undefined
from meantime.metaeval.grids import Grouping, Statistic, estimate
from meantime.metaeval.intervals import (
    bootstrap,
    bootstrap_systems,
    fisher_interval,
    percentiles,
    resample,
    resampled,
)
from meantime.metaeval.systems import system_means


def grids(segments: int = 12, systems: int = 5) -> tuple[numpy.ndarray, numpy.ndarray]:
    rng = numpy.random.default_rng(11)
    human = rng.integers(-3, 1, (segments, systems)).astype(float)
    metric = human + rng.normal(size=human.shape).round(1)
    human[0, 0] = metric[3, 2] = math.nan
    return human, metric


@pytest.mark.parametrize("grouping", list(Grouping))
@pytest.mark.parametrize("statistic", list(Statistic))
def test_a_resample_is_a_set_with_repeated_segments(statistic, grouping) -> None:
    human, metric = grids()
    if statistic is Statistic.ACCURACY and grouping in (Grouping.POOLED, Grouping.SYSTEMS):
        with pytest.raises(UsageError, match="no bootstrap interval"):
            resampled(statistic, human, metric, numpy.ones((1, 12), dtype=int), grouping=grouping)
        return
    weights = resample(len(human), rng=numpy.random.default_rng(2), resamples=8)
    found = resampled(statistic, human, metric, weights, grouping=grouping)
    for value, row in zip(found, weights, strict=True):
        rows = numpy.repeat(numpy.arange(len(human)), row)
        expected = estimate(statistic, human[rows], metric[rows], grouping=grouping).value
        assert_allclose(value, expected, atol=1e-9)


def test_every_segment_is_drawn_as_often() -> None:
    weights = resample(10, rng=numpy.random.default_rng(1), resamples=2000)
    assert (weights.sum(axis=1) == 10).all()
    assert_allclose(weights.mean(axis=0), 1, atol=0.1)


def test_the_interval_holds_the_value_and_narrows() -> None:
    rng = numpy.random.default_rng(3)
    human = rng.normal(size=(400, 4))
    metric = human + rng.normal(size=human.shape)
    wide = bootstrap("kendall", human[:40], metric[:40], rng=rng)
    narrow = bootstrap("kendall", human, metric, rng=rng)
    value = estimate("kendall", human, metric).value
    assert value is not None
    assert narrow.low < value < narrow.high
    assert narrow.high - narrow.low < wide.high - wide.low
    assert (narrow.confidence, narrow.resamples) == (0.95, 1000)


def test_what_is_mostly_undefined_has_no_interval() -> None:
    human = numpy.array([[1.0, 2.0, 3.0]] + [[1.0, 1.0, 1.0]] * 9)
    with pytest.raises(Undefined, match="too few segments"):
        bootstrap("kendall", human[1:], human[1:], rng=numpy.random.default_rng(1))
    found = bootstrap("kendall", human, human, rng=numpy.random.default_rng(1))
    # A segment of ten is missing from about (1 - 1/10)^10 of the resamples.
    assert 250 < found.undefined < 450
    assert found.low == found.high == 1


def test_systems_with_scores_of_their_own() -> None:
    human, metric = grids()
    weights = resample(len(human), rng=numpy.random.default_rng(2), resamples=200)
    there = ~numpy.isnan(metric)
    drawn = (weights @ numpy.where(there, metric, 0.0)) / (weights @ there)
    found = bootstrap_systems("pearson", human, drawn, weights)
    assert found.low < found.high
    with pytest.raises(LengthMismatch, match="do not belong together"):
        bootstrap_systems("pearson", human, drawn[:, 1:], weights)
    assert system_means(human).shape == (5,)


def test_fisher_equals_scipy() -> None:
    rng = numpy.random.default_rng(8)
    one = rng.normal(size=50)
    other = one + rng.normal(size=50)
    result = stats.pearsonr(one, other)
    expected = result.confidence_interval(0.9)
    found = fisher_interval(float(result.statistic), 50, confidence=0.9)
    assert_allclose([found.low, found.high], [expected.low, expected.high])


def test_fisher_at_its_ends() -> None:
    assert fisher_interval(1.0, 10).low == 1
    with pytest.raises(Undefined, match="four items"):
        fisher_interval(0.5, 3)
    with pytest.raises(UsageError, match="between 0 and 1"):
        fisher_interval(0.5, 10, confidence=95)


def test_percentiles_are_of_what_is_defined() -> None:
    found = percentiles(numpy.array([math.nan, *numpy.linspace(0, 1, 101)]), confidence=0.9)
    assert_allclose([found.low, found.high], [0.05, 0.95])
    assert found.undefined == 1
