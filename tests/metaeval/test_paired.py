from __future__ import annotations

import gzip
import itertools
import math
from pathlib import Path

import numpy
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from meantime import Level, Pair, Segment, Sentence, create
from meantime.errors import InputError, LengthMismatch, UsageError
from meantime.metaeval.paired import (
    approximate_randomisation,
    bootstrap_p_values,
    bootstrap_scores,
    paired_bootstrap,
    randomisation_p_values,
    system_scores,
    win_shares,
)
from meantime.scoring import bootstrap
from meantime.types import Score

SEED = 7


class Mean:
    """The mean of segment scores, for rows `[score, 1]`; looped over, as by any outside metric."""

    def score(self, total, level):
        return Score(total[0] / total[1])


def rows(*scores: float):
    return numpy.column_stack([scores, numpy.ones(len(scores))])


def measured(specification: str, references: list[str], outputs: list[list[str]]):
    segments = [Segment(str(n), (Sentence(text),)) for n, text in enumerate(references)]
    metric = create(specification).prepare(segments)
    found = []
    for output in outputs:
        pairs = [Pair(Sentence(h), s) for h, s in zip(output, segments, strict=True)]
        found.append(metric.measure(pairs))
    return metric, found


def noisy(count: int, systems: int, rng: numpy.random.Generator) -> tuple[list[str], list]:
    words = "the a cat dog man sat ran on in mat park old new red house he she saw".split()
    references = [" ".join(rng.choice(words, rng.integers(4, 15))) for _ in range(count)]

    def spoilt(text: str, share: float) -> str:
        return " ".join(w if rng.random() > share else rng.choice(words) for w in text.split())

    shares = 0.3 + 0.02 * numpy.arange(systems)
    return references, [[spoilt(text, share) for text in references] for share in shares]


def test_randomisation_equals_all_permutations() -> None:
    # Six segments have 64 ways to change places; the p-value estimates their share.
    one, other = [0.9, 0.2, 0.8, 0.5, 0.7, 0.6], [0.1, 0.3, 0.4, 0.5, 0.2, 0.6]
    gaps = numpy.subtract(one, other)
    real = abs(gaps.sum())
    ways = [abs(numpy.dot(signs, gaps)) for signs in itertools.product([1, -1], repeat=6)]
    exact = numpy.mean([way >= real - 1e-9 for way in ways])
    rng = numpy.random.default_rng(SEED)
    found = approximate_randomisation(Mean(), rows(*one), rows(*other), rng=rng, trials=20_000)
    assert found.difference == pytest.approx(gaps.mean())
    assert abs(found.p_value - exact) < 4 * math.sqrt(exact * (1 - exact) / 20_000)


def test_bootstrap_by_definition() -> None:
    one, other = rows(0.9, 0.2, 0.8, 0.5), rows(0.1, 0.3, 0.4, 0.5)
    found = paired_bootstrap(Mean(), one, other, rng=numpy.random.default_rng(SEED), resamples=500)
    rng = numpy.random.default_rng(SEED)
    gaps = []
    for _ in range(500):
        drawn = rng.integers(0, 4, 4)
        gaps.append(one[drawn, 0].mean() - other[drawn, 0].mean())
    centred = numpy.abs(gaps) - numpy.abs(gaps).mean()
    assert found.p_value == (1 + (centred >= abs(found.difference) - 1e-9).sum()) / 501
    assert found.interval is not None
    assert_allclose([found.interval.low, found.interval.high], numpy.quantile(gaps, [0.025, 0.975]))


def test_samples_are_those_of_the_interval_of_a_score() -> None:
    references, outputs = noisy(60, 2, numpy.random.default_rng(1))
    metric, found = measured("bleu", references, outputs)
    alone = bootstrap(metric, found[1], numpy.random.default_rng(SEED), resamples=200)
    drawn = bootstrap_scores(metric, found, rng=numpy.random.default_rng(SEED), resamples=200)
    assert_allclose([alone.low, alone.high], numpy.quantile(drawn[:, 1], [0.025, 0.975]))


def test_many_systems_get_what_two_get() -> None:
    references, outputs = noisy(80, 4, numpy.random.default_rng(2))
    metric, found = measured("chrf", references, outputs)
    pairs = list(itertools.combinations(range(4), 2))
    many = randomisation_p_values(
        metric, found, pairs, rng=numpy.random.default_rng(SEED), trials=1500
    )
    drawn = bootstrap_scores(metric, found, rng=numpy.random.default_rng(SEED), resamples=300)
    matrix = bootstrap_p_values(drawn, system_scores(metric, found))
    assert_array_equal(matrix, matrix.T)
    for (one, other), p_value in zip(pairs, many, strict=True):
        two = [found[one], found[other]]
        assert (
            p_value
            == approximate_randomisation(
                metric, *two, rng=numpy.random.default_rng(SEED), trials=1500
            ).p_value
        )
        assert (
            matrix[one, other]
            == paired_bootstrap(
                metric, *two, rng=numpy.random.default_rng(SEED), resamples=300
            ).p_value
        )


def test_trials_go_on_for_small_p_values_alone() -> None:
    rng = numpy.random.default_rng(4)
    one = rng.normal(size=60)
    systems = [rows(*one), rows(*(one + rng.normal(size=60))), rows(*(one + 5))]
    done: list[tuple[int, int]] = []
    found = randomisation_p_values(
        Mean(), systems, [(0, 1), (0, 2)], rng=numpy.random.default_rng(SEED), trials=12_000,
        progress=lambda now, all_of_them: done.append((now, all_of_them)),
    )  # fmt: skip
    first = randomisation_p_values(
        Mean(), systems, [(0, 1)], rng=numpy.random.default_rng(SEED), trials=10_000
    )
    assert first[0] > 0.02
    assert found[0] == first[0]
    assert found[1] == 1 / 12_001
    assert done[-1] == (12_000, 12_000)


def test_resampled_scores_are_scores_of_resampled_corpora() -> None:
    """The product of weights and rows is what writing a segment down twice would give."""
    references, outputs = noisy(30, 1, numpy.random.default_rng(3))
    metric, [found] = measured("bleu", references, outputs)
    drawn = bootstrap_scores(metric, [found], rng=numpy.random.default_rng(SEED), resamples=20)
    rng = numpy.random.default_rng(SEED)
    for value in drawn[:, 0]:
        chosen = rng.integers(0, 30, 30)
        again = metric.score(found[chosen].sum(axis=0), Level.CORPUS).value
        assert value == pytest.approx(again, abs=1e-9)


def test_chance_holds_its_level() -> None:
    """Systems of equal quality look different at 0.05 in about one case of twenty."""
    rng = numpy.random.default_rng(11)
    low = 0
    for _ in range(300):
        scores = rng.normal(size=(2, 40))
        found = approximate_randomisation(
            Mean(), rows(*scores[0]), rows(*scores[1]), rng=rng, trials=199
        )
        low += found.p_value <= 0.05
    assert 3 <= low <= 30


def test_equal_outputs_and_single_segments_are_no_finding() -> None:
    rng = numpy.random.default_rng(SEED)
    same = rows(0.1, 0.7, 0.4)
    assert approximate_randomisation(Mean(), same, same, rng=rng, trials=100).p_value == 1
    assert paired_bootstrap(Mean(), same, same, rng=rng, resamples=100).p_value == 1
    one, other = rows(0.1), rows(0.9)
    assert approximate_randomisation(Mean(), one, other, rng=rng, trials=100).p_value == 1


def test_wins() -> None:
    scores = numpy.array([[3.0, 2.0, 2.0], [3.0, 4.0, 2.0]])
    expected = [[0.5, 0.5, 1], [0.5, 0.5, 0.75], [0, 0.25, 0.5]]
    assert_array_equal(win_shares(scores), expected)
    assert_array_equal(win_shares(scores, higher_is_better=False), numpy.transpose(expected))


def test_what_cannot_be_tested_is_refused() -> None:
    rng = numpy.random.default_rng(SEED)
    with pytest.raises(LengthMismatch, match="2 and 3 segments"):
        paired_bootstrap(Mean(), rows(1, 2), rows(1, 2, 3), rng=rng)
    with pytest.raises(InputError, match="no segment"):
        approximate_randomisation(Mean(), rows(), rows(), rng=rng)
    with pytest.raises(UsageError, match="trials"):
        approximate_randomisation(Mean(), rows(1, 2), rows(1, 3), rng=rng, trials=0)
    with pytest.raises(UsageError, match="resamples"):
        paired_bootstrap(Mean(), rows(1, 2), rows(1, 3), rng=rng, resamples=0)


def _judged(path: Path, systems: list[str]) -> tuple[list[str], list[list[str]]]:
    """References and outputs for the segments that all of these systems translated."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        header, *lines = (line.rstrip("\n").split("\t") for line in file)
    column = {name: number for number, name in enumerate(header)}
    texts: dict[str, dict[str, str]] = {}
    references: dict[str, str] = {}
    for line in lines:
        if line[column["lp"]] == "is-en":
            texts.setdefault(line[column["seg"]], {})[line[column["system"]]] = line[column["hyp"]]
            references[line[column["seg"]]] = line[column["ref"]]
    whole = [seg for seg, outputs in texts.items() if set(systems) <= set(outputs)]
    return [references[seg] for seg in whole], [[texts[s][one] for s in whole] for one in systems]


@pytest.mark.needs("shared")
@pytest.mark.parametrize("name", ["bleu", "chrf"])
@pytest.mark.parametrize("test", ["ar", "bs"])
def test_equals_sacrebleu_within_noise(shared: Path, name: str, test: str) -> None:
    from sacrebleu.metrics import BLEU, CHRF
    from sacrebleu.significance import PairedTest as TheirTest

    systems = ["Online-B", "Manifold", "Online-A", "NiuTrans", "HuaweiTSC"]
    references, outputs = _judged(shared / "wmt" / "wmt21-da-toen.tsv.gz", systems)
    assert len(references) > 200
    samples = 2000 if test == "ar" else 1000
    theirs = {"bleu": BLEU(references=[references]), "chrf": CHRF(references=[references])}
    named = list(zip(systems, outputs, strict=True))
    _, table = TheirTest(named, {name: theirs[name]}, None, test, n_samples=samples)()
    [column] = [key for key in table if key != "System"]
    metric, found = measured(name, references, outputs)
    compared = 0
    for ours, result in zip(found, table[column], strict=True):
        assert metric.score(ours.sum(axis=0), Level.CORPUS).value == pytest.approx(
            result.score, abs=1e-9
        )
        if result.p_value is None:
            continue
        rng = numpy.random.default_rng(SEED)
        if test == "ar":
            tested = approximate_randomisation(metric, ours, found[0], rng=rng, trials=samples)
        else:
            tested = paired_bootstrap(metric, ours, found[0], rng=rng, resamples=samples)
            drawn = bootstrap_scores(metric, [ours], rng=rng, resamples=samples)
            half = (numpy.quantile(drawn, 0.975) - numpy.quantile(drawn, 0.025)) / 2
            # Theirs is one half-width around the mean.
            assert half == pytest.approx(result.ci, rel=0.15)
        # Both estimate one probability from as many samples: the difference of two shares.
        share = (tested.p_value + result.p_value) / 2
        noise = math.sqrt(2 * share * (1 - share) / samples) + 1 / samples
        assert abs(tested.p_value - result.p_value) < 4 * noise
        compared += 1
    assert compared == len(systems) - 1
