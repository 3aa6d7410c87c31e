"""Envelopes and sums against brute force."""

from __future__ import annotations

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.matching.envelopes import combine, order_by_slope, sweep, winners


def _sum_at(position, intercepts, slopes, first, labels, rows):
    chosen = winners(intercepts + position * slopes, first)
    return rows[labels[chosen]].sum(axis=0)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_interval_sums_what_is_chosen_in_it(data) -> None:
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    first = numpy.concatenate([[0], numpy.cumsum(sizes)]).astype(numpy.int64)
    count = int(first[-1])
    # Whole numbers, few of them: ties of slopes, of lines and of places come up all the time.
    number = st.integers(-3, 3)
    lines = st.lists(number, min_size=count, max_size=count)
    intercepts = numpy.array(data.draw(lines), dtype=numpy.float64)
    slopes = numpy.array(data.draw(lines), dtype=numpy.float64)
    labels = numpy.array(
        data.draw(st.lists(st.integers(0, count - 1), min_size=count, max_size=count)),
        dtype=numpy.int64,
    )
    rows = numpy.random.default_rng(count).integers(0, 100, (count, 2)).astype(numpy.float64)
    positions, sums = sweep(intercepts, slopes, order_by_slope(slopes, first), first, labels, rows)
    assert len(sums) == len(positions) + 1
    assert (numpy.diff(positions) > 0).all()
    edges = numpy.concatenate([[-1e3], positions, [1e3]])
    for place in range(len(sums)):
        # No crossing of whole numbers is where the golden section is: no tie decides.
        inside = edges[place] + 0.6180339887498949 * (edges[place + 1] - edges[place])
        expected = _sum_at(inside, intercepts, slopes, first, labels, rows)
        assert (sums[place] == expected).all()


def test_all_crossings_of_pairs_bound_the_changes() -> None:
    rng = numpy.random.default_rng(5)
    first = numpy.arange(0, 31, 10)
    intercepts, slopes = rng.normal(size=(2, 30))
    rows = numpy.eye(30)
    positions, sums = sweep(
        intercepts, slopes, order_by_slope(slopes, first), first, numpy.arange(30), rows
    )
    # Between any two neighbouring crossings of any lines nothing can change.
    crossings = sorted(
        -(intercepts[i] - intercepts[j]) / (slopes[i] - slopes[j])
        for group in range(3)
        for i in range(10 * group, 10 * group + 10)
        for j in range(i + 1, 10 * group + 10)
    )
    edges = numpy.array([crossings[0] - 1, *crossings, crossings[-1] + 1])
    for middle in (edges[1:] + edges[:-1]) / 2:
        found = sums[numpy.searchsorted(positions, middle)]
        expected = _sum_at(middle, intercepts, slopes, first, numpy.arange(30), rows)
        assert (found == expected).all()
    assert {round(p, 9) for p in positions} <= {round(c, 9) for c in crossings}


def test_combining_rows() -> None:
    columns = numpy.random.default_rng(1).normal(size=(4, 50))
    weights = numpy.array([0.5, 0.0, -2.0, 1.0])
    assert numpy.allclose(combine(weights, columns), weights @ columns)


def test_winners_are_the_first_of_equals() -> None:
    first = numpy.array([0, 3, 5])
    assert list(winners(numpy.array([1.0, 2.0, 2.0, 0.0, -1.0]), first)) == [1, 3]
