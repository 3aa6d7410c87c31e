from __future__ import annotations

import numpy
import pytest
from numpy.testing import assert_allclose

from meantime.errors import InputError, UsageError
from meantime.metaeval.correlation import Undefined
from meantime.metaeval.human import Rating, Ratings
from meantime.metaeval.judging import (
    agreement,
    average,
    kappa,
    krippendorff,
    normalise,
    percentiles,
    split,
    z_scores,
)


def ratings(*rows: tuple[str, str, float | None]) -> Ratings:
    """Judge, item and score."""
    return Ratings("test", tuple(Rating(judge, "sys", item, score) for judge, item, score in rows))


def test_percentiles_of_paper_003() -> None:
    kind = numpy.repeat([1, 2, 3, 4, 5], [6, 16, 26, 32, 20])
    strict = numpy.repeat([1, 2, 3, 4, 5], [18, 36, 30, 16, 0])
    assert set(percentiles(kind)[kind == 3]) == {0.35}
    assert set(percentiles(strict)[strict == 3]) == {0.69}


def test_normalising_is_by_judge_and_leaves_out_what_is_not_rated() -> None:
    found = normalise(
        ratings(("a", "1", 1), ("b", "1", 10), ("a", "2", 3), ("b", "2", None), ("b", "3", 30)),
        "percentile",
    )
    assert [row.score for row in found.rows] == [0.25, 0.25, 0.75, None, 0.75]
    assert normalise(found, "none") is found
    with pytest.raises(UsageError, match="choose from none, percentile, z"):
        normalise(found, "rank")


def test_z_scores() -> None:
    assert_allclose(z_scores([1, 2, 3]), [-1, 0, 1])
    assert z_scores([4, 4, 4]).tolist() == [0, 0, 0]
    assert z_scores([4]).tolist() == [0]


def test_average() -> None:
    found = average(ratings(("a", "1", 1), ("b", "1", 2), ("a", "2", None), ("b", "3", 5)))
    assert [pair.score for pair in found.pairs] == [1.5, None, 5]
    assert [pair.judgements for pair in found.pairs] == [2, 0, 1]


def test_split_gives_each_item_two_different_judgements() -> None:
    rows = [(judge, str(item), 10 * item + n) for item in range(20) for n, judge in enumerate("ab")]
    truth, other = split(ratings(*rows, ("a", "alone", 1.0)), rng=numpy.random.default_rng(1))
    assert len(truth) == len(other) == 20
    for pair, score in zip(truth.pairs, other, strict=True):
        assert score is not None
        assert pair.score is not None
        assert pair.score != score
        assert pair.score // 10 == score // 10 == int(pair.segment)
    with pytest.raises(InputError, match="judged twice"):
        split(ratings(("a", "1", 1)), rng=numpy.random.default_rng(1))


# Agreement

# The reliability data of Krippendorff (2011), "Computing Krippendorff's alpha-reliability", section
# E: four observers, twelve units. Nominal 0.743, ordinal 0.815, interval 0.849.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)


@pytest.mark.parametrize(
    ("scale", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_published_example(scale: str, expected: float) -> None:
    rows = [
        (str(judge), str(item), score)
        for judge, scores in enumerate(OBSERVERS)
        for item, score in enumerate(scores)
    ]
    found = agreement(ratings(*rows), scale=scale)
    assert round(found.alpha, 3) == expected
    assert (found.judges, found.items) == (4, 11)


def test_agreement_where_nothing_can_be_said() -> None:
    with pytest.raises(Undefined, match="judged by two"):
        agreement(ratings(("a", "1", 1), ("b", "2", 1)))
    with pytest.raises(Undefined, match="all judgements are the same"):
        krippendorff([[1, 1], [1, 1]])


@pytest.mark.parametrize(
    ("scale", "weights"), [("nominal", None), ("ordinal", "linear"), ("interval", "quadratic")]
)
def test_kappa_equals_scikit_learn(scale: str, weights: str | None) -> None:
    from sklearn.metrics import cohen_kappa_score

    rng = numpy.random.default_rng(2)
    one = rng.integers(1, 6, 200)
    other = numpy.clip(one + rng.integers(-1, 2, 200), 1, 5)
    assert_allclose(kappa(one, other, scale=scale), cohen_kappa_score(one, other, weights=weights))


def test_kappa_leaves_out_what_one_did_not_rate() -> None:
    one, other = [1, 2, 1, numpy.nan], [1, 2, 2, 1]
    assert kappa(one, other) == kappa(one[:3], other[:3])
    with pytest.raises(Undefined, match="judged by both"):
        kappa([numpy.nan], [1])
