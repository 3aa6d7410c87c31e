"""Oracle against all choices, baselines, folds; rows measured once and kept."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import pytest

from meantime import Level, Segment, Sentence, create
from meantime.errors import InputError, UsageError
from meantime.metrics.wer import Wer
from meantime.tuning.rerank import (
    baselines,
    cross_validate,
    score_random,
    score_selection,
    select_by,
    select_oracle,
    subset,
)
from meantime.tuning.statistics import Statistics, prepare_references


def _all_choices(candidates, rows, metric) -> list[float]:
    ranges = (range(s, e) for s, e in itertools.pairwise(candidates.first))
    return [
        metric.score(rows[candidates.text[list(choice)]].sum(axis=0), Level.CORPUS).value
        for choice in itertools.product(*ranges)
    ]


@pytest.mark.parametrize("name", ["per:pool=no", "chrf", "bleu", "ter", "nist"])
def test_oracle_against_all_choices(made, name: str) -> None:
    candidates, rows, metric = made(name, segments=5, size=4, references=2)
    chosen = select_oracle(candidates, rows, metric)
    value = metric.score(rows[candidates.text[chosen]].sum(axis=0), Level.CORPUS).value
    choices = _all_choices(candidates, rows, metric)
    best = max(choices) if metric.higher_is_better else min(choices)
    # No single exchange is better; here, with so few segments, no choice at all.
    assert value == pytest.approx(best)


def test_baselines_stand_in_order(made) -> None:
    candidates, rows, metric = made("bleu")
    first, random, oracle = baselines(candidates, rows, metric, 1)
    assert first.score < oracle.score
    assert random.score < oracle.score
    assert first.chosen is not None
    assert list(first.chosen) == list(candidates.first[:-1])
    choices = numpy.mean(_all_choices(*made("bleu", segments=3, size=4)))
    small = made("bleu", segments=3, size=4)
    drawn = score_random(*small, numpy.random.default_rng(1), draws=4000)
    assert drawn.score == pytest.approx(choices, rel=0.03)
    assert drawn.deviation is not None
    assert drawn.deviation > 0


def test_a_subset_keeps_its_texts(made) -> None:
    candidates, _, _ = made("bleu")
    part = subset(candidates, [2, 7])
    assert part.segments == 2
    chosen = part.chosen(range(len(part)))
    first = candidates.first
    assert chosen == candidates.chosen([*range(first[2], first[3]), *range(first[7], first[8])])


def test_folds_never_see_their_own_segments(made) -> None:
    candidates, rows, metric = made("bleu")
    seen: list[int] = []

    def learn(some) -> numpy.ndarray:
        seen.append(some.segments)
        texts = {candidates.texts[index] for index in some.text}
        learned.append({segment for segment, _ in texts})
        return numpy.array([1.0, 0, 0])

    learned: list[set[int]] = []
    chosen = cross_validate(candidates, 3, 1, learn)
    assert seen == [8, 8, 8]
    assert set.intersection(*learned) == set()
    assert (chosen == select_by(candidates, numpy.array([1.0, 0, 0]))).all()
    assert score_selection("x", candidates, rows, metric, chosen).score > 0


@dataclass(frozen=True, kw_only=True)
class _Counting(Wer):
    seen: list[int] = field(default_factory=list)

    def measure(self, pairs):
        self.seen.append(len(pairs))
        return super().measure(pairs)


def _segments() -> list[Segment]:
    return [Segment(str(n), (Sentence(f"a b c {n}"),)) for n in range(3)]


def test_a_text_is_measured_once(tmp_path: Path) -> None:
    metric = _Counting().prepare(_segments())
    statistics = Statistics(metric, _segments(), folder=tmp_path, block=2)
    texts = [(0, "a b"), (1, "a b"), (0, "a b"), (2, "a c")]
    rows = statistics.rows(texts)
    assert metric.seen == [2, 1]
    assert (rows[0] == rows[2]).all()
    assert (statistics.rows(texts) == rows).all()
    statistics.rows([(0, "x")])
    assert metric.seen == [2, 1, 1]
    # And not again by who opens the folder later.
    later = _Counting().prepare(_segments())
    again = Statistics(later, _segments(), folder=tmp_path)
    assert again.recalled == 4
    assert (again.rows(texts) == rows).all()
    assert later.seen == []


def test_rows_of_other_references_are_not_taken(tmp_path: Path) -> None:
    metric = create("wer").prepare(_segments())
    Statistics(metric, _segments(), folder=tmp_path).rows([(0, "a b")])
    others = [Segment("0", (Sentence("something else"),))]
    assert Statistics(metric, others, folder=tmp_path).recalled == 0
    other = create("wer:lowercase=yes").prepare(_segments())
    assert Statistics(other, _segments(), folder=tmp_path).recalled == 0
    assert Statistics(metric, _segments(), folder=tmp_path).recalled == 1


def test_damaged_rows_are_named(tmp_path: Path) -> None:
    metric = create("wer").prepare(_segments())
    Statistics(metric, _segments(), folder=tmp_path).rows([(0, "a b")])
    [path] = tmp_path.rglob("*.npz")
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match=r"00001.npz: no rows of ours, or damaged"):
        Statistics(metric, _segments(), folder=tmp_path)


def test_metrics_that_need_people_are_refused() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Asking(Wer):
        @property
        def needs(self):
            return frozenset({"judgements"})

    with pytest.raises(UsageError, match="wer needs judgements, which candidates"):
        prepare_references(_segments(), Asking())


def test_metrics_with_analysis_get_it() -> None:
    reference = Segment("0", (Sentence("The cat sat on the mat."),))
    segments, metric = prepare_references([reference], create("stm"))
    statistics = Statistics(metric, segments)
    rows = statistics.rows([(0, "The cat sat on the mat."), (0, "Mat the on.")])
    values = [metric.score(row, Level.SEGMENT).value for row in rows]
    assert values[0] == pytest.approx(1)
    assert values[1] < 1
