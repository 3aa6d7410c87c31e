"""Trying weights: every vector once, scores and correlations as computed plainly."""

from __future__ import annotations

import itertools

import numpy
import pytest
from scipy.stats import kendalltau, pearsonr

from meantime.matching.weighing import (
    KENDALL,
    PEARSON,
    Rows,
    Task,
    count_vectors,
    integer_vectors,
    join_rows,
    scores_with,
    take_pairs,
    try_weights,
)


@pytest.mark.parametrize(("classes", "total"), [(1, 3), (3, 1), (4, 5), (5, 4)])
def test_every_vector_once(classes: int, total: int) -> None:
    found = [tuple(row) for block in integer_vectors(classes, total, block=7) for row in block]
    wanted = [v for v in itertools.product(range(total + 1), repeat=classes) if sum(v) == total]
    assert found == sorted(wanted, reverse=True)
    assert count_vectors(classes, total) == len(wanted)


def test_the_papers_number_of_vectors() -> None:
    assert count_vectors(12, 12) == 1_352_078


def some_rows(rng: numpy.random.Generator, pairs: int) -> Rows:
    rows = rng.integers(0, 4, pairs)
    entries = rng.integers(1, 4, rows.sum())
    counts = numpy.ones(entries.sum())
    first = numpy.concatenate([[0], numpy.cumsum(rows)])
    offsets = numpy.concatenate([[0], numpy.cumsum(entries)])
    return Rows(
        rng.integers(0, 3, len(counts)),
        counts,
        rng.random(len(counts)),
        offsets,
        rng.integers(1, 9, len(entries)).astype(float),
        first,
    )


def plain_rate(rows: Rows, pair: int, weights: numpy.ndarray) -> float | None:
    above = below = 0.0
    there = rows.first[pair] < rows.first[pair + 1]
    for row in range(rows.first[pair], rows.first[pair + 1]):
        places = range(rows.offsets[row], rows.offsets[row + 1])
        weight = sum(weights[rows.classes[k]] * rows.counts[k] for k in places)
        if weight > 0:
            alike = sum(weights[rows.classes[k]] * rows.similarities[k] for k in places)
            above += rows.sizes[row] * alike / weight
            below += rows.sizes[row]
    return (above / below if below else 0.0) if there else None


def plain_scores(task: Task, weights: numpy.ndarray) -> list[float]:
    scores = []
    for pair, other in enumerate(task.otherwise):
        p, r = (plain_rate(rows, pair, weights) for rows in (task.left, task.right))
        if p is None or r is None:
            scores.append(other)
        else:
            below = task.alpha * p + (1 - task.alpha) * r
            scores.append(p * r / below if below else 0.0)
    return scores


def some_task(seed: int) -> Task:
    rng = numpy.random.default_rng(seed)
    values = numpy.concatenate([numpy.sort(rng.integers(0, 9, n)) for n in (17, 30)]).astype(float)
    groups = numpy.array([0, 17, 47])
    return Task(some_rows(rng, 47), some_rows(rng, 47), rng.random(47), values, groups, 0.3)


@pytest.mark.parametrize("seed", range(5))
def test_scores_and_correlations(seed: int) -> None:
    task = some_task(seed)
    many = numpy.array([[1.0, 1, 1], [3, 0, 1], [0, 0, 2], [0, 1, 0.5]])
    pearson, kendall = (try_weights(task, many, objective) for objective in (PEARSON, KENDALL))
    for number, weights in enumerate(many):
        scores = plain_scores(task, weights)
        assert scores_with(task, weights) == pytest.approx(scores, abs=1e-12)
        for group, (start, stop) in enumerate(itertools.pairwise(task.groups)):
            human, metric = task.values[start:stop], scores[start:stop]
            assert pearson[number, group] == pytest.approx(pearsonr(human, metric).statistic)
            assert kendall[number, group] == pytest.approx(kendalltau(human, metric).statistic)


def test_equal_scores_correlate_with_nothing() -> None:
    task = some_task(1)
    same = Task(
        take_pairs(task.left, numpy.array([0, 0, 0])),
        take_pairs(task.right, numpy.array([0, 0, 0])),
        numpy.zeros(3),
        numpy.array([1.0, 2, 3]),
        numpy.array([0, 3]),
        0.5,
    )
    for objective in (PEARSON, KENDALL):
        assert try_weights(same, numpy.ones((1, 3)), objective)[0, 0] == 0.0


def test_taking_and_joining() -> None:
    rows = some_task(2).left
    order = numpy.array([5, 0, 5, 46])
    taken = take_pairs(rows, order)
    weights = numpy.array([1.0, 2, 0.5])
    assert [plain_rate(taken, n, weights) for n in range(4)] == [
        plain_rate(rows, int(pair), weights) for pair in order
    ]
    joined = join_rows([taken, taken])
    assert [plain_rate(joined, n, weights) for n in range(4, 8)] == [
        plain_rate(taken, n, weights) for n in range(4)
    ]
