"""Ranking of pairs: finds what decides, keeps its constraints, takes many features."""

from __future__ import annotations

from dataclasses import replace

import numpy
import pytest
from scipy.sparse import csr_array

from meantime import create
from meantime.errors import InputError
from meantime.tuning.candidates import Candidates
from meantime.tuning.constraints import Constraints
from meantime.tuning.ranking import RankingSettings, learn


def planted(
    seed: int = 3, features: int = 4, segments: int = 40, size: int = 20
) -> tuple[Candidates, numpy.ndarray, numpy.ndarray]:
    """Candidates whose error rate is a linear function of their features, and the weights of it."""
    rng = numpy.random.default_rng(seed)
    values = rng.normal(size=(segments * size, features))
    truth = rng.normal(size=features)
    quality = values @ truth
    errors = 0.5 - 0.1 * quality
    rows = numpy.column_stack([numpy.clip(errors, 0, 1) * 20, numpy.full(len(errors), 20.0)])
    candidates = Candidates(
        names=tuple(f"f{n}" for n in range(features)),
        features=values,
        sparse_names=(),
        sparse=None,
        first=numpy.arange(segments + 1) * size,
        texts=tuple((n // size, str(n)) for n in range(len(values))),
        text=numpy.arange(len(values)),
        scores=numpy.full(len(values), numpy.nan),
        origin=numpy.zeros(len(values), dtype=int),
    )
    return candidates, rows, truth


def test_what_decides_is_found() -> None:
    candidates, rows, truth = planted()
    found = learn(candidates, rows, create("wer"), numpy.full(4, 0.25))
    assert found.value < found.initial
    assert found.accuracy > 0.99
    assert found.converged
    cosine = found.weights @ truth / numpy.linalg.norm(found.weights) / numpy.linalg.norm(truth)
    assert cosine > 0.98
    assert numpy.abs(found.weights).sum() == pytest.approx(1)


def test_sparse_features_are_learned_as_dense_ones() -> None:
    candidates, rows, _ = planted()
    split = replace(
        candidates,
        names=candidates.names[:2],
        features=candidates.features[:, :2],
        sparse_names=candidates.names[2:],
        sparse=csr_array(candidates.features[:, 2:]),
    )
    one = learn(candidates, rows, create("wer"), numpy.full(4, 0.25))
    other = learn(split, rows, create("wer"), numpy.full(4, 0.25))
    assert other.weights == pytest.approx(one.weights, abs=1e-5)
    assert other.value == pytest.approx(one.value)


def test_thousands_of_features() -> None:
    candidates, rows, truth = planted()
    rng = numpy.random.default_rng(1)
    noise = csr_array((rng.random((len(candidates), 3000)) < 0.002).astype(float))
    names = tuple(f"w_{n}" for n in range(3000))
    many = replace(candidates, sparse_names=names, sparse=noise)
    found = learn(many, rows, create("wer"), numpy.concatenate([numpy.full(4, 0.25), [0] * 3000]))
    assert found.value < found.initial
    learned = found.weights[:4]
    assert learned @ truth / numpy.linalg.norm(learned) / numpy.linalg.norm(truth) > 0.95
    # Features that stand on few lines say little, and are held small.
    assert numpy.abs(found.weights[4:]).max() < numpy.abs(learned).max() / 3


def test_constraints_are_kept() -> None:
    candidates, rows, truth = planted()
    initial = numpy.full(4, 0.25)
    worst = int(numpy.argmin(truth))
    constraints = Constraints(
        fixed=(f"f{(worst + 1) % 4}",), minimum={f"f{worst}": 0.1}, maximum={"f*": 3.0}
    )
    found = learn(candidates, rows, create("wer"), initial, constraints=constraints)
    assert found.weights[(worst + 1) % 4] == 0.25
    assert found.weights[worst] == pytest.approx(0.1)


def test_interpolation_goes_part_of_the_way() -> None:
    candidates, rows, _ = planted()
    initial = numpy.full(4, 0.25)
    whole = learn(candidates, rows, create("wer"), initial)
    part = learn(
        candidates, rows, create("wer"), initial, settings=RankingSettings(interpolation=0.1)
    )
    expected = 0.1 * whole.weights + 0.9 * initial
    assert part.weights == pytest.approx(expected / numpy.abs(expected).sum())


def test_the_seed_decides() -> None:
    candidates, rows, _ = planted(size=150, segments=5)
    metric = create("wer")
    one, same, other = (
        learn(candidates, rows, metric, numpy.full(4, 0.25), seed=seed) for seed in (1, 1, 2)
    )
    assert (one.weights == same.weights).all()
    assert (one.weights != other.weights).any()


def test_nothing_to_learn_from() -> None:
    candidates, rows, _ = planted()
    with pytest.raises(InputError, match="nothing to learn from"):
        learn(candidates, numpy.ones_like(rows), create("wer"), numpy.full(4, 0.25))
