"""What is kept of best matches where neighbours must stay neighbours."""

from __future__ import annotations

import numpy
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from meantime.matching.neighbours import kept_means, kept_places

Matrix = NDArray[numpy.float64]

matrices = some.tuples(some.integers(1, 6), some.integers(1, 6)).flatmap(
    lambda shape: arrays(numpy.float64, shape, elements=some.sampled_from([0, 0.1, 0.4, 0.5, 1]))
)


def plain(matrix: Matrix) -> list[float]:
    """The definition, written out for the places of the rows."""
    n, m = matrix.shape

    def similar(i: int, j: int) -> float:
        if i in (-1, n) or j in (-1, m):
            return float((i, j) in ((-1, -1), (n, m)))
        return float(matrix[i, j])

    found = []
    for place in range(n + 1):
        first, second = place - 1, place
        alone = sum(max(similar(word, j) for j in range(-1, m + 1)) for word in (first, second))
        both = max(similar(first, j) + similar(second, j + 1) for j in range(-1, m))
        found.append(both / alone if alone else 0.0)
    return found


@settings(deadline=None)
@given(matrices)
def test_as_defined(matrix: Matrix) -> None:
    rows, columns = kept_places(matrix)
    numpy.testing.assert_allclose(rows, plain(matrix), atol=1e-12)
    numpy.testing.assert_allclose(columns, plain(matrix.T), atol=1e-12)
    assert rows.min() >= 0
    assert max(rows.max(), columns.max()) <= 1


@settings(deadline=None)
@given(some.lists(matrices, min_size=1, max_size=4))
def test_a_batch_is_what_its_pairs_are(several: list[Matrix]) -> None:
    flat = numpy.concatenate([one.ravel() for one in several])
    offsets = numpy.cumsum([0, *(one.size for one in several)])
    heights, widths = (numpy.array([one.shape[side] for one in several]) for side in (0, 1))
    found = kept_means(flat, offsets, heights, widths)
    for value, one in zip(found, several, strict=True):
        numpy.testing.assert_allclose(value, numpy.concatenate(kept_places(one)).mean())


def test_by_hand() -> None:
    # "a b c" against "c a b": a and b stay together; the edges and b-c are torn apart.
    rows, columns = kept_places(numpy.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], numpy.float64))
    assert rows.tolist() == [0.5, 1, 0.5, 0.5]
    assert columns.tolist() == [0.5, 0.5, 1, 0.5]


def test_synonyms_in_their_places_keep_all() -> None:
    rows, columns = kept_places(numpy.diag([0.2, 0.9, 0.3]))
    assert rows.tolist() == [1, 1, 1, 1]
    assert columns.tolist() == [1, 1, 1, 1]


def test_words_that_are_like_nothing_keep_nothing() -> None:
    rows, _ = kept_places(numpy.zeros((3, 2)))
    assert rows.tolist() == [1, 0, 0, 1]
