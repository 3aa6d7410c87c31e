"""Lists of candidates made by chance, for the tests of tuning."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest

from meantime import Segment, Sentence, conformance, create
from meantime.formats.nbest import Candidate
from meantime.tuning.candidates import Candidates, Gathering
from meantime.tuning.statistics import Statistics, prepare_references
from meantime.types import Layer

WORDS = "the a cat dog sat on mat rug ran to house red big".split()


class ByRule:
    """An analyser simple and fast enough for lists of any length."""

    name = "by-rule"
    identity = "0"
    layers = frozenset(Layer) - {Layer.SOURCE}
    languages = frozenset({"en"})

    def analyse(self, sentences) -> list[Sentence]:
        return [conformance.analyse(sentence.text) for sentence in sentences]


def _made(
    metric_name: str,
    *,
    segments: int = 12,
    size: int = 8,
    features: int = 3,
    references: int = 1,
    seed: int = 1,
) -> tuple[Candidates, numpy.ndarray, object]:
    """Lists of random sentences, some near the reference, whose features know a little of it."""
    rng = numpy.random.default_rng(seed)
    made_segments, candidates = [], []
    for number in range(segments):
        texts = [" ".join(rng.choice(WORDS, rng.integers(5, 9))) for _ in range(references)]
        references_ = tuple(Sentence(text) for text in texts)
        made_segments.append(Segment(str(number), references_, conformance.analyse(texts[0])))
        for _ in range(size):
            words = texts[rng.integers(references)].split()
            changes = int(rng.integers(0, len(words)))
            for place in rng.choice(len(words), changes, replace=False):
                words[place] = str(rng.choice(WORDS))
            values = [-changes + rng.normal() * 2, *rng.normal(size=features - 1)]
            names = tuple(f"f{n}" for n in range(features))
            candidates.append(Candidate(number, " ".join(words), names, tuple(values)))
    gathering = Gathering(segments)
    gathering.add("made", candidates)
    built = gathering.build()
    analyser = ByRule()
    prepared, metric = prepare_references(made_segments, create(metric_name), analyser)
    return built, Statistics(metric, prepared, analyser=analyser).rows(built.texts), metric


@pytest.fixture
def made() -> Callable[..., tuple[Candidates, numpy.ndarray, object]]:
    """Makes lists, their statistics and the metric that measured them."""
    return _made
