r"""The metric that learned from people: one small network reads both texts.

    raw   = network(hypothesis, reference)
    score = share of the machine translations in the training data with a lower raw value

so 0.5 is the middle of them. The network reads hypothesis and reference apart, then together, and
looks for every piece of each text on the other side; a few counts of the surface are given besides
(`meantime.learned.encoding`). It learned from WMT's machine translations how near they are to their
references and what single judges said of them, that a rendering with an error of meaning is worse
than the same without, and from the judgements of WMT 2015 and 2016 what people say.
`training/metric` makes it.

The score of a pair depends on nothing but the two texts and the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy
from numpy.typing import NDArray

from meantime.errors import UsageError
from meantime.learned.network import Judged, Network, installed, open_network
from meantime.metrics.base import BaseMetric, ratio, require_references
from meantime.metrics.frames import ExplainedFrame, ExplainedRole, FrameMetric
from meantime.options import option
from meantime.protocols import Array
from meantime.types import (
    Explanation,
    Layer,
    Level,
    Pair,
    Part,
    Score,
    Sentence,
    Signature,
    Span,
)

SHIPPED = "meantime"


@dataclass(frozen=True, slots=True)
class ExplainedWord:
    """A word of one side: how well the other side has it, and what that is worth.

    `share` is how much of the score it makes, `loss` how much of what is missing to 1.
    """

    side: str
    """`hypothesis` or `reference`."""
    word: str
    span: Span
    found: float
    """From 0, nowhere on the other side, to 1."""
    share: float
    loss: float


@dataclass(frozen=True, slots=True)
class TrainedExplanation(Explanation):
    """Why the trained metric gave its score: every word of both sides, and frames and roles.

    The shares of the words sum to the score, their losses to what is missing to 1. Frames, where
    the texts have been analysed, gather the words of their predicates and roles.
    """

    words: tuple[ExplainedWord, ...] = ()
    frames: tuple[ExplainedFrame, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Meantime(BaseMetric):
    """A small network trained on human judgements."""

    name: ClassVar[str] = "meantime"
    summary: ClassVar[str] = "trained on people's judgements: a small network reads both texts"
    paper: ClassVar[str] = "after Kulesza 2004; Sellam, Das and Parikh 2020"
    empty: ClassVar[str] = "0; two empty sides 1"

    model: str = option(SHIPPED, "the trained model: a shipped one's name, or its folder")
    several: str = option(
        "best", "of several references the best score, or the mean", choices=["best", "mean"]
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_folder", _find(self.model))

    @property
    def _network(self) -> Network:
        folder: Path = self.__dict__["_folder"]
        return open_network(folder)

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def copy_is_best(self) -> bool:
        """A copy of the reference is near the top; a network promises no more."""
        return False

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("score", "segments")

    @property
    def explains_with(self) -> frozenset[Layer]:
        """What explanations use where it is there; scores need none of it."""
        return _explaining_metric().needs

    def signature(self) -> Signature:
        """The options, and the model by its hash."""
        made = super().signature()
        options = [
            (key, f"{self._network.model.name}-{self._network.model.identity[:8]}")
            if key == "model"
            else (key, value)
            for key, value in made.options
        ]
        return replace(made, options=tuple(options))

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """The score of each pair, and 1."""
        require_references(self.name, (pair.segment for pair in pairs))
        rows = numpy.ones((len(pairs), 2))
        for row, pair in zip(rows, pairs, strict=True):
            values = [
                self._value(pair.hypothesis.text, reference.text)
                for reference in pair.segment.references
            ]
            row[0] = max(values) if self.several == "best" else float(numpy.mean(values))
        return rows

    def score(self, total: Array, level: Level) -> Score:
        """The mean over the segments."""
        return Score(ratio(total[0], total[1], on_empty=0.0))

    def _value(self, hypothesis: str, reference: str) -> float:
        if not hypothesis.strip() or not reference.strip():
            return 0.0 if hypothesis.strip() or reference.strip() else 1.0
        (judged,) = self._network.judge([(hypothesis, reference)])
        return self.rank(raw_score(judged))

    def rank(self, raw: float) -> float:
        """The share of the machine translations in training whose raw value is lower."""
        knots = self._network.model.configuration["knots"]
        return float(numpy.interp(raw, knots, numpy.linspace(0.0, 1.0, len(knots))))

    # Explaining

    def explain(self, pair: Pair) -> TrainedExplanation:
        """The score of one pair with what every word is worth.

        Sentences that are not analysed are, by the shipped analyser, if they are English.
        """
        require_references(self.name, [pair.segment])
        references = pair.segment.references
        values = [self._value(pair.hypothesis.text, one.text) for one in references]
        # With the mean of several references, the best one is explained.
        chosen = int(numpy.argmax(values))
        hypothesis, reference = _analysed(pair.hypothesis), _analysed(references[chosen])
        score = Score(values[chosen], {"segments": 1.0})
        ours, theirs = _Words.of(hypothesis), _Words.of(reference)
        words: tuple[ExplainedWord, ...] = ()
        if hypothesis.text.strip() and reference.text.strip():
            (judged,) = self._network.judge([(hypothesis.text, reference.text)])
            words = self._explain_words(judged, ours, theirs, values[chosen])
        return TrainedExplanation(
            metric=self.name,
            score=score,
            hypothesis_tokens=ours.words,
            reference_tokens=theirs.words,
            reference=chosen,
            parts=tuple(_as_part(one) for one in words),
            words=words,
            frames=_explain_frames(hypothesis, reference, words),
        )

    def _explain_words(
        self, judged: Sequence[Judged], ours: _Words, theirs: _Words, value: float
    ) -> tuple[ExplainedWord, ...]:
        sides = []
        for side, words in (("hypothesis", ours), ("reference", theirs)):
            found = numpy.concatenate([getattr(one, f"{side}_found") for one in judged])
            weight = numpy.concatenate([getattr(one, f"{side}_weight") for one in judged])
            sides.append(words.gather(self._pieces(words), found, weight))
        # Each side counts half, whatever its length.
        stakes = [weight / max(float(weight.sum()), 1e-12) / 2 for _, weight in sides]
        kept = numpy.concatenate([s * f for s, (f, _) in zip(stakes, sides, strict=True)])
        lost = numpy.concatenate([s * (1 - f) for s, (f, _) in zip(stakes, sides, strict=True)])
        shares = _distribute(value, kept)
        losses = _distribute(1.0 - value, lost)
        made = []
        place = 0
        for side, words, (found, _) in zip(
            ("hypothesis", "reference"), (ours, theirs), sides, strict=True
        ):
            for n, word in enumerate(words.words):
                made.append(
                    ExplainedWord(
                        side, word, Span(n, n + 1), float(found[n]),
                        float(shares[place]), float(losses[place]),
                    )
                )  # fmt: skip
                place += 1
        return tuple(made)

    def _pieces(self, words: _Words) -> list[tuple[int, int]]:
        """Where the pieces of a text stand in it."""
        return [
            offset for part in self._network.read([words.text])[0] for offset in part.text.offsets
        ]


def raw_score(judged: Sequence[Judged]) -> float:
    """The network's value of a pair; of one read in parts the mean, by their length."""
    lengths = [1.0 + len(one.reference_found) for one in judged]
    return float(numpy.average([one.raw for one in judged], weights=lengths))


def _find(model: str) -> Path:
    """The folder of a model by name or path."""
    names = {one.name: one.folder for one in installed()}
    if model in names:
        return names[model]
    folder = Path(model)
    if not folder.is_dir():
        raise UsageError(
            f"meantime: no model {model!r}; shipped are {', '.join(names) or 'none'}, or give the "
            "folder of one of your own"
        )
    return folder


@dataclass(frozen=True)
class _Words:
    """The words of a text, and where they stand in it."""

    text: str
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, sentence: Sentence) -> _Words:
        """The analyser's tokens where they are known, else what spaces part."""
        if sentence.tokens is not None and sentence.offsets is not None:
            return cls(sentence.text, sentence.tokens, sentence.offsets)
        places = []
        at = 0
        for word in sentence.text.split():
            at = sentence.text.index(word, at)
            places.append((at, at + len(word)))
            at += len(word)
        return cls(sentence.text, tuple(sentence.text.split()), tuple(places))

    def gather(
        self, pieces: Sequence[tuple[int, int]], found: Array, weight: Array
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """How well each word is found, the mean of its pieces, and what they weigh together."""
        weights = numpy.zeros(len(self.words))
        values = numpy.zeros(len(self.words))
        word = 0
        for (start, end), one, heavy in zip(pieces, found, weight, strict=True):
            # Pieces and words stand in the same order; a piece belongs to where its middle is.
            middle = (start + end) / 2
            while word + 1 < len(self.places) and self.places[word][1] <= middle:
                word += 1
            if word < len(self.places):
                weights[word] += heavy
                values[word] += heavy * min(1.0, max(0.0, float(one)))
        return numpy.divide(
            values, weights, out=numpy.ones_like(values), where=weights > 0
        ), weights


def _distribute(points: float, over: Array) -> NDArray[numpy.float64]:
    """Points shared out in proportion; alike where there is no proportion."""
    total = float(over.sum())
    if total > 0:
        return numpy.asarray(points * over / total, numpy.float64)
    return numpy.full(len(over), points / max(1, len(over)))


def _as_part(word: ExplainedWord) -> Part:
    ours = word.side == "hypothesis"
    return Part("word", word.span if ours else None, None if ours else word.span, word.share)


# Frames


@lru_cache(maxsize=1)
def _explaining_metric() -> FrameMetric:
    """The metric whose alignment of frames explanations show."""
    from meantime.metrics.meant import Meant

    return Meant()


@lru_cache(maxsize=1)
def _analyser() -> Any:
    from meantime.analysis import open_analyser

    return open_analyser(threads=1)


def _analysed(sentence: Sentence) -> Sentence:
    """The sentence with frames and vectors, if the shipped analyser has them for its language."""
    known = sentence.frames is not None and sentence.vectors is not None
    if known or sentence.tokens is not None:
        return sentence
    from meantime.types import primary

    if primary(sentence.lang) not in {primary(one) for one in _analyser().languages}:
        return sentence
    found: Sentence = _analyser().analyse([sentence])[0]
    return found


def _explain_frames(
    hypothesis: Sentence, reference: Sentence, words: Iterable[ExplainedWord]
) -> tuple[ExplainedFrame, ...]:
    """Frames aligned as `meant` aligns them, with what their words are worth here."""
    metric = _explaining_metric()
    for one in (hypothesis, reference):
        if not one.frames or one.vectors is None or not one.tokens:
            return ()
    result = metric.compare_words([(hypothesis, reference)])
    if not result.framed[0]:
        return ()
    worth = {(one.side, one.span.start): one for one in words}

    def phrase(role: ExplainedRole) -> ExplainedRole:
        inside = [
            worth[side, place]
            for side in ("hypothesis", "reference")
            for span in getattr(role, side) or ()
            for place in range(span.start, span.end)
            if (side, place) in worth
        ]
        return replace(
            role,
            share=sum(one.share for one in inside),
            loss=sum(one.loss for one in inside),
        )

    found = []
    for frame in metric.explain_frames(result, 1.0):
        phrases = tuple(phrase(one) for one in frame.phrases)
        found.append(
            replace(
                frame,
                phrases=phrases,
                share=sum(one.share for one in phrases),
                loss=sum(one.loss for one in phrases),
            )
        )
    return tuple(found)
