"""Minimum Bayes risk against the sum it is defined by."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy
import pytest

from meantime import Level, Pair, Segment, Sentence, create
from meantime.errors import InputError, LengthMismatch
from meantime.formats.nbest import Candidate
from meantime.metrics.chrf import Chrf
from meantime.tuning.candidates import Candidates, Gathering
from meantime.tuning.mbr import decide

TEXTS = [
    ["the cat sat", "a cat sat", "the cat sat", "cats sit", ""],
    ["he went home", "she went home", "home"],
]


def lists(texts: list[list[str]], scores: list[list[float]] | None = None) -> Candidates:
    gathering = Gathering(len(texts), repeats=True)
    candidates = [
        Candidate(segment, text, score=scores[segment][place] if scores else None)
        for segment, several in enumerate(texts)
        for place, text in enumerate(several)
    ]
    gathering.add("lists", candidates)
    return gathering.build()


def expected(utility: str, texts: list[str], references: list[str], chances=None) -> list[float]:
    """By the definition, one pair after the other."""
    chances = numpy.full(len(references), 1 / len(references)) if chances is None else chances
    found = []
    for text in texts:
        total = 0.0
        for reference, chance in zip(references, chances, strict=True):
            segment = Segment("x", (Sentence(reference),))
            metric = create(utility).prepare([segment])
            [row] = metric.measure([Pair(Sentence(text), segment)])
            total += chance * metric.score(row, Level.SEGMENT).value
        found.append(total)
    return found


@pytest.mark.parametrize("utility", ["chrf", "chrf:beta=1", "bleu", "ter", "gtm", "wer"])
def test_by_the_definition(utility: str) -> None:
    metric = create(utility)
    decision = decide(lists(TEXTS), metric)
    for ranking, texts in zip(decision.rankings, TEXTS, strict=True):
        values = dict(zip(texts, expected(utility, texts, texts), strict=True))
        assert dict(zip(ranking.texts, ranking.utilities, strict=True)) == pytest.approx(values)
        assert set(ranking.texts) == set(texts)
        best = max(values.values()) if metric.higher_is_better else min(values.values())
        assert values[ranking.texts[0]] == pytest.approx(best)
        assert texts[ranking.places[0]] == ranking.texts[0]


def test_pseudo_references_of_their_own() -> None:
    others = [["the cat sat down", "the cat"], ["they went home"]]
    decision = decide(lists(TEXTS), create("chrf"), references=lists(others))
    for ranking, texts, references in zip(decision.rankings, TEXTS, others, strict=True):
        values = dict(zip(texts, expected("chrf", texts, references), strict=True))
        assert dict(zip(ranking.texts, ranking.utilities, strict=True)) == pytest.approx(values)


def test_model_scores_weigh() -> None:
    scores = [[-1.0, -2.0, -1.5, -9.0, -3.0], [0.0, 0.0, 0.0]]
    decision = decide(lists(TEXTS, scores), create("chrf"), temperature=0.5)
    each = numpy.exp(numpy.array(scores[0]) / 0.5)
    values = dict(
        zip(TEXTS[0], expected("chrf", TEXTS[0], TEXTS[0], each / each.sum()), strict=True)
    )
    ranking = decision.rankings[0]
    assert dict(zip(ranking.texts, ranking.utilities, strict=True)) == pytest.approx(values)
    with pytest.raises(InputError, match="without a model score"):
        decide(lists(TEXTS), create("chrf"), temperature=1.0)


@dataclass(frozen=True, kw_only=True)
class _Counting(Chrf):
    seen: list[tuple[str, str]] = field(default_factory=list)

    def measure(self, pairs):
        self.seen.extend((p.hypothesis.text, p.segment.references[0].text) for p in pairs)
        return super().measure(pairs)


def test_what_is_saved() -> None:
    texts = [["a b", "b c", "a b", "c d"]]
    square = _Counting()
    decision = decide(lists(texts), square)
    # Three distinct texts: nine pairs of the sixteen.
    assert len(square.seen) == len(set(square.seen)) == decision.pairs == 9
    assert decision.saved == 7
    half = _Counting(beta=1.0)
    symmetric = decide(lists(texts), half)
    assert len(half.seen) == symmetric.pairs == 6
    whole = decide(lists(texts), create("chrf:beta=1"), references=lists(texts))
    assert symmetric.rankings[0].utilities == pytest.approx(whole.rankings[0].utilities)
    assert symmetric.rankings[0].texts == whole.rankings[0].texts


def test_more_pairs_than_a_block(monkeypatch) -> None:
    monkeypatch.setattr("meantime.tuning.mbr.BLOCK", 4)
    small = decide(lists(TEXTS), create("bleu"))
    monkeypatch.undo()
    whole = decide(lists(TEXTS), create("bleu"))
    for one, other in zip(small.rankings, whole.rankings, strict=True):
        assert one.texts == other.texts
        assert one.utilities == other.utilities


def test_different_numbers_of_segments() -> None:
    with pytest.raises(LengthMismatch, match="2 segments, pseudo-references of 1"):
        decide(lists(TEXTS), create("chrf"), references=lists(TEXTS[:1]))
