from __future__ import annotations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from meantime import create
from meantime.errors import InputError, LengthMismatch
from meantime.metaeval import gaps
from meantime.metaeval.gaps import Bucket, GapTable, fit, key
from meantime.types import Signature


def test_by_hand() -> None:
    # Fewer pairs than a bucket needs: one bucket, the weighted share.
    [bucket] = fit(numpy.array([[1.0, 2.0], [3.0, 3.0]]), numpy.array([[1.0, 0.0], [1.0, 1.0]]))
    assert bucket == Bucket(0.0, 3.0, 0.75, 2.0)


def test_a_pair_has_weight_one_however_often_it_is_drawn() -> None:
    sizes = numpy.array([[1.0, 0.0, numpy.nan], [2.0, 2.0, 2.0]])
    [bucket] = fit(sizes, numpy.array([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]))
    assert bucket.share == pytest.approx(0.5)
    assert bucket.pairs == pytest.approx(2.0)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_shares_never_fall_and_are_the_isotonic_regression(seed: int) -> None:
    rng = numpy.random.default_rng(seed)
    sizes = rng.permutation(200).astype(float)[:, None] + 1
    agree = (rng.random((200, 1)) < 0.5 + sizes / 500).astype(float)
    found = fit(sizes, agree)
    shares = [one.share for one in found]
    assert shares == sorted(shares)
    assert sum(one.pairs for one in found) == pytest.approx(200)
    assert [one.low for one in found] == [0.0, *(one.high for one in found[:-1])]
    order = numpy.argsort(sizes[:, 0])
    fine = agree[order, 0].reshape(10, 20).mean(axis=1)
    expected = IsotonicRegression().fit_transform(numpy.arange(10), fine)
    ours = [next(one.share for one in found if (n + 1) * 20 <= one.high) for n in range(10)]
    assert ours == pytest.approx(list(expected))


def test_what_cannot_be_fitted() -> None:
    assert fit(numpy.zeros((0, 5)), numpy.zeros((0, 5))) == ()
    assert fit(numpy.zeros((3, 5)), numpy.ones((3, 5))) == ()
    with pytest.raises(LengthMismatch):
        fit(numpy.zeros((3, 5)), numpy.ones((3, 4)))


SIGNED = Signature("bleu", "1", (("references", "2"), ("lowercase", "no")))
TABLE = GapTable(
    "somewhere",
    "en",
    {
        key(SIGNED): {
            100: (Bucket(0, 1, 0.5, 10), Bucket(1, 3, 0.8, 12.4)),
            500: (Bucket(0, 2, 0.9, 7),),
        }
    },
)


@pytest.mark.parametrize(
    ("gap", "segments", "expected"),
    [
        (0.5, 100, (0.5, 10, 100, False)),
        (1.0, 499, (0.5, 10, 100, False)),
        (1.1, 499, (0.8, 12, 100, False)),
        (3.5, 300, (0.8, 12, 100, True)),
        (1.1, 500, (0.9, 7, 500, False)),
        (2.1, 10_000, (0.9, 7, 500, True)),
    ],
)
def test_looking_up(gap: float, segments: int, expected: tuple) -> None:
    found = TABLE.meaning(SIGNED, gap, segments)
    assert found is not None
    assert (found.share, found.pairs, found.segments, found.beyond) == expected


def test_nothing_is_guessed() -> None:
    assert TABLE.meaning(SIGNED, 1.0, 99) is None
    assert TABLE.meaning(SIGNED, 0.0, 100) is None
    assert TABLE.meaning(Signature("bleu", "2", SIGNED.options), 1.0, 100) is None
    assert TABLE.meaning(Signature("chrf", "1"), 1.0, 100) is None


def test_references_and_analysis_do_not_change_the_metric() -> None:
    other = Signature(
        "bleu", "1", (("references", "1"), ("lowercase", "no"), ("analysis", "given"))
    )
    assert key(other) == key(SIGNED)
    assert key(Signature("bleu", "1", (("lowercase", "yes"),))) != key(SIGNED)


def test_written_and_read_again() -> None:
    content = {
        "source": "somewhere",
        "lang": "en",
        "metrics": [{"key": key(SIGNED), "segments": gaps.as_json(TABLE.buckets[key(SIGNED)])}],
    }
    again = gaps.parse(content)
    assert again.buckets[key(SIGNED)][500] == TABLE.buckets[key(SIGNED)][500]
    assert again.buckets[key(SIGNED)][100] == TABLE.buckets[key(SIGNED)][100]
    with pytest.raises(InputError, match="no table of gaps"):
        gaps.parse({"metrics": []})


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "chrf:word_order=2", "wer", "gtm", "stm"])
def test_the_shipped_table_knows_our_metrics(name: str) -> None:
    table = gaps.shipped()
    signature = create(name, lang="en").signature()
    assert table.knows(signature)
    for size, buckets in table.buckets[key(signature)].items():
        shares = [one.share for one in buckets]
        assert shares == sorted(shares)
        assert 0.4 < shares[0] < 0.65
        assert shares[-1] > 0.9
        assert all(one.low < one.high for one in buckets)
        # Every pair of systems with enough segments is somewhere.
        assert sum(one.pairs for one in buckets) == pytest.approx(
            {1000: 208, 500: 418}.get(size, 428), abs=3
        )
