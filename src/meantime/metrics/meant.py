r"""MEANT as it is today: frames, words where they stand, their order, and what one word can change.

    score = \sum_k share_k * value_k / \sum_k share_k

    frames     the frame score of `metrics.frames`, frames aligned as wholes
    words      F-score of every word's best match, by the analyser's vectors of words with some of
               their neighbours', so that order counts
    order      how much of the words' best matches is kept where neighbours must stay neighbours
    actors     whether two of agent, patient and recipient of one event have changed places
    names      share of the words of names, on both sides, that the other side has, by spelling
    negation   share of the negations of both sides that the other side has
    numbers    likewise of numbers and dates
    modality   likewise of modal words

A part neither side has anything of agrees (1). Where a side has no frame, the words stand in for
the frames. The shares were chosen on WMT 2015 and 2016 (`training/shares.py`) and are part of the
signature; besides them only the weights of the role classes were learned from judgements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy
from numpy.typing import NDArray

from meantime.alignment import facts as fact_rules
from meantime.alignment.aligning import flatten
from meantime.alignment.facts import Fact, differing
from meantime.alignment.roles import CLASSES, NUMBER
from meantime.alignment.structures import bare_sides
from meantime.errors import UsageError
from meantime.matching import phrases as phrase_methods
from meantime.matching.exchanges import Exchanges, find_exchanges
from meantime.matching.neighbours import kept_means, kept_places
from meantime.matching.structures import Method, whole_similarities
from meantime.metrics.base import ratio
from meantime.metrics.frames import (
    PARTS,
    Compared,
    Component,
    FrameExplanation,
    FrameMetric,
    changed,
    frame_parts,
)
from meantime.options import option
from meantime.protocols import Array, Similarity
from meantime.similarity import open_similarity
from meantime.types import Layer, Part, Score, Sentence, Span

COMPONENTS = (
    "frames", "words", "order", "actors", "names", "negation", "numbers", "modality",
)  # fmt: skip

ALIKE = 0.5
"""Names that share less of their spelling have nothing to do with each other."""

_ACTORS = numpy.array([NUMBER[name] for name in ("arg0", "arg1", "arg2")])
"""The role classes whose fillers may change places."""

_RULES = {
    "negation": fact_rules.negations,
    "numbers": fact_rules.numbers,
    "modality": fact_rules.modals,
}


@dataclass(frozen=True, slots=True)
class ExplainedFact:
    """Something small that differs, and what it costs.

    A number, negation, modal word or name that only one side has; neighbours that the other side
    tears apart (`order`); fillers that have changed places (`actors`).
    """

    kind: str
    value: str
    side: str
    """`hypothesis` or `reference`: the side that has it."""
    span: Span
    loss: float
    other: Span | None = None
    """Of `actors`, what has changed places with it, on the same side."""


@dataclass(frozen=True, slots=True)
class MeantExplanation(FrameExplanation):
    """Why `meant` gave its score: components, frames, words, and the small things that differ."""

    facts: tuple[ExplainedFact, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Meant(FrameMetric):
    """The default metric: frames, words, their order, actors, names and facts."""

    name: ClassVar[str] = "meant"
    version: ClassVar[str] = "2"
    summary: ClassVar[str] = "frames, words in context, order, names, negation, numbers, modality"
    paper: ClassVar[str] = "after Beloucif, Lo and Wu 2014; Lo 2017 and 2019"

    similarity: str = changed("similarity", "occurrences:6:0")
    align_by: str = changed("align_by", "frame")
    weights: str = changed("weights", "meant")
    enough: float = changed("enough", 0.5)
    words: str = option(
        "occurrences:3:0.5", "where the similarity of words in sentences comes from"
    )
    words_alpha: float = option(
        0.7, "weight of recall against precision among words", minimum=0, maximum=1
    )
    order_enough: float = option(
        0.955, "what must be kept of best matches for words to be in order", minimum=0.01, maximum=1
    )
    order_least: float = option(
        0.72, "what is kept of best matches where words are in no order", minimum=0, maximum=1
    )
    frames_share: float = option(0.08, "share of the frames", minimum=0, maximum=1)
    words_share: float = option(0.22, "share of the words", minimum=0, maximum=1)
    order_share: float = option(0.32, "share of the order of words", minimum=0, maximum=1)
    actors_share: float = option(0.22, "share of actors in their places", minimum=0, maximum=1)
    names_share: float = option(0.05, "share of the names", minimum=0, maximum=1)
    negation_share: float = option(0.05, "share of negation", minimum=0, maximum=1)
    numbers_share: float = option(0.04, "share of numbers and dates", minimum=0, maximum=1)
    modality_share: float = option(0.02, "share of modal words", minimum=0, maximum=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_words_source", open_similarity(self.words))
        object.__setattr__(self, "_characters", open_similarity("characters"))
        if not sum(self.shares.values()):
            raise UsageError(f"{self.name}: all shares are 0; give at least one some weight")
        if self.order_least >= self.order_enough:
            raise UsageError(
                f"{self.name}: order_least={self.order_least:g} is not below "
                f"order_enough={self.order_enough:g}; give a lower order_least"
            )

    @property
    def shares(self) -> dict[str, float]:
        """What each component counts, summing to 1 if they do."""
        return {name: float(getattr(self, f"{name}_share")) for name in COMPONENTS}

    @property
    def words_source(self) -> Similarity:
        """Where the similarity of words in whole sentences comes from."""
        found: Similarity = self.__dict__["_words_source"]
        return found

    @property
    def needs(self) -> frozenset[Layer]:
        return super().needs | self.words_source.needs | {Layer.POS}

    @property
    def statistics(self) -> tuple[str, ...]:
        return (*PARTS, *COMPONENTS, "segments")

    def compare(self, pairs: Sequence[tuple[Sentence, Sentence]]) -> Array:
        """Score, precision and recall of the frames, whether there were any, and all components."""
        found = numpy.zeros((len(pairs), len(PARTS) + len(COMPONENTS)))
        there = [n for n, (one, other) in enumerate(pairs) if one.tokens and other.tokens]
        for number, (hypothesis, reference) in enumerate(pairs):
            if not hypothesis.tokens:
                value = 1.0 if not reference.tokens else self.empty_hypothesis
                found[number, [0, 1, 2]] = value
                found[number, len(PARTS) :] = value
        if not there:
            return found
        part = [pairs[n] for n in there]
        result = self.compare_words(part)
        values = self._components(part, result)
        shares = list(self.shares.values())
        # Added up in order: a product of matrices may round otherwise in another batch.
        total = numpy.zeros(len(part))
        for column, one in enumerate(shares):
            total += one * values[:, column]
        found[there, 0] = numpy.minimum(1.0, total / sum(shares))
        found[there, 1] = result.precision
        found[there, 2] = result.recall
        found[there, 3] = result.framed
        found[there, len(PARTS) :] = values
        return found

    # The components

    def _components(
        self,
        pairs: Sequence[tuple[Sentence, Sentence]],
        result: Compared,
    ) -> Array:
        """The value of every component, one row a pair of sentences that are not empty."""
        values = numpy.empty((len(pairs), len(COMPONENTS)))
        flat, offsets = flatten(self._matrices(pairs))
        words = self._compare_sentences(pairs, flat, offsets)
        stand_in = words if self.no_frames == "sentence" else numpy.zeros(len(pairs))
        values[:, 0] = numpy.where(result.framed, result.score, stand_in)
        values[:, 1] = words
        values[:, 2] = self._in_order(
            kept_means(
                flat,
                offsets,
                numpy.array([len(one.tokens or ()) for one, _ in pairs]),
                numpy.array([len(other.tokens or ()) for _, other in pairs]),
            )
        )
        values[:, 3] = 1.0 - self._exchanges(result).values
        values[:, 4] = [names.value for names in self._names(pairs)]
        for column, rule in enumerate(_RULES.values(), 5):
            stated = _each(rule, pairs)
            values[:, column] = [agreement(left, right) for left, right in stated]
        return values

    def _matrices(self, pairs: Sequence[tuple[Sentence, Sentence]]) -> list[Array]:
        return self.words_source.matrices(pairs)

    def _compare_sentences(
        self,
        pairs: Sequence[tuple[Sentence, Sentence]],
        flat: Array,
        offsets: NDArray[numpy.int64],
    ) -> Array:
        """F-score of the best matches of all words."""
        return whole_similarities(
            flat,
            offsets,
            bare_sides([len(one.tokens or ()) for one, _ in pairs]),
            bare_sides([len(other.tokens or ()) for _, other in pairs]),
            Method(phrase_methods.BEST_MATCH, self.words_alpha),
            numpy.arange(len(pairs)),
        )

    def _in_order(self, kept: Array) -> Array:
        """From what places between words keep to how far the words are in order."""
        span = self.order_enough - self.order_least
        return numpy.clip((kept - self.order_least) / span, 0.0, 1.0)

    def _exchanges(self, result: Compared) -> Exchanges:
        """Which actors have changed places in aligned frames."""
        aligned = result.aligned
        return find_exchanges(
            result.flat,
            result.offsets,
            aligned.left_sides,
            aligned.right_sides,
            aligned.matched,
            self.method,
            _ACTORS,
        )

    def _names(self, pairs: Sequence[tuple[Sentence, Sentence]]) -> list[_Names]:
        """How far the names of each side are spelt on the other."""
        named = _each(name_places, pairs)
        asked: list[tuple[Sentence, Sentence]] = []
        for (one, other), (left, right) in zip(pairs, named, strict=True):
            asked += [(_only(one, left), other)] if left else []
            asked += [(_only(other, right), one)] if right else []
        matrices = iter(self._spelling.matrices(asked))
        return [
            _Names(left, right, _spelt(left, matrices), _spelt(right, matrices))
            for left, right in named
        ]

    @property
    def _spelling(self) -> Similarity:
        found: Similarity = self.__dict__["_characters"]
        return found

    # Explaining

    def explain_pair(
        self, hypothesis: Sentence, reference: Sentence, chosen: int, score: Score
    ) -> MeantExplanation:
        """Components, frames, words and differing facts of a hypothesis against one reference."""
        common: dict[str, Any] = {
            "metric": self.name,
            "score": score,
            "hypothesis_tokens": hypothesis.tokens or (),
            "reference_tokens": reference.tokens or (),
            "reference": chosen,
            "weights": self.role_weights.values,
            "alpha": self.alpha,
        }
        if not hypothesis.tokens or not reference.tokens:
            return MeantExplanation(parts=(), **common)
        pair = (hypothesis, reference)
        result = self.compare_words([pair])
        values = self._components([pair], result)[0]
        total = sum(self.shares.values())
        weights = {name: share / total for name, share in self.shares.items()}
        framed = bool(result.framed[0])
        frames = self.explain_frames(result, weights["frames"]) if framed else ()
        matrix = self._matrices([pair])[0]
        # Where words stand in for frames, they make the frames' share too.
        stands_in = not framed and self.no_frames == "sentence"
        words_weight = weights["words"] + (weights["frames"] if stands_in else 0.0)
        words = _explain_words(matrix, self.words_alpha, words_weight)
        components = tuple(
            Component(name, float(value), weights[name], *self._rates(name, result, matrix))
            for name, value in zip(COMPONENTS, values, strict=True)
        )
        by_name = dict(zip(COMPONENTS, values.tolist(), strict=True))
        facts = (
            *self._explain_facts(pair, weights),
            *_explain_order(pair, matrix, weights["order"] * (1.0 - by_name["order"])),
            *self._explain_actors(pair, result, weights["actors"]),
        )
        others = tuple(
            Part(one.name, None, None, one.share) for one in components[2:] if one.weight
        )
        return MeantExplanation(
            parts=(*frame_parts(frames), *words, *others),
            frames=frames,
            components=components,
            words=words,
            facts=facts,
            **common,
        )

    def _rates(self, name: str, result: Compared, matrix: Array) -> tuple[float, float]:
        """Precision and recall of a component that has them."""
        if name == "frames" and result.framed[0]:
            return float(result.precision[0]), float(result.recall[0])
        if name in ("frames", "words"):
            return float(matrix.max(axis=1).mean()), float(matrix.max(axis=0).mean())
        return float("nan"), float("nan")

    def _explain_facts(
        self, pair: tuple[Sentence, Sentence], weights: dict[str, float]
    ) -> tuple[ExplainedFact, ...]:
        found = []
        for kind, rule in _RULES.items():
            left, right = rule(pair[0]), rule(pair[1])
            # One that stands alone costs its part of the disagreement.
            cost = weights[kind] / max(1, len(left) + len(right))
            extra, missing = differing(left, right)
            for side, alone in (("hypothesis", extra), ("reference", missing)):
                found += [ExplainedFact(kind, fact.value, side, fact.span, cost) for fact in alone]
        (names,) = self._names([pair])
        count = max(1, len(names.left) + len(names.right))
        for side, sentence, places, spelt in (
            ("hypothesis", pair[0], names.left, names.left_spelt),
            ("reference", pair[1], names.right, names.right_spelt),
        ):
            for place, value in zip(places, spelt.tolist(), strict=True):
                if value < 1.0:
                    loss = weights["names"] * (1.0 - value) / count
                    word = (sentence.tokens or ())[place]
                    found.append(ExplainedFact("names", word, side, Span(place, place + 1), loss))
        return tuple(found)

    def _explain_actors(
        self, pair: tuple[Sentence, Sentence], result: Compared, weight: float
    ) -> tuple[ExplainedFact, ...]:
        """The two fillers of the hypothesis that have changed places, if two have."""
        found = self._exchanges(result)
        first, second = found.phrases[0, :2].tolist()
        if first < 0:
            return ()
        side = result.aligned.left_sides
        one, other = (
            Span(int(tokens.min()), int(tokens.max()) + 1)
            for tokens in (
                side.tokens[side.phrase_offsets[place] : side.phrase_offsets[place + 1]]
                for place in (first, second)
            )
        )
        names = " and ".join(CLASSES[int(side.classes[place])] for place in (first, second))
        loss = weight * float(found.values[0])
        return (ExplainedFact("actors", names, "hypothesis", one, loss, other),)


@dataclass(frozen=True, slots=True)
class _Names:
    """Words of names on both sides, and how well the other side spells each."""

    left: list[int]
    right: list[int]
    left_spelt: Array
    right_spelt: Array

    @property
    def value(self) -> float:
        """The mean over the words of names of both sides; 1 if there are none."""
        count = len(self.left) + len(self.right)
        return ratio(self.left_spelt.sum() + self.right_spelt.sum(), count, on_empty=1.0)


def name_places(sentence: Sentence) -> list[int]:
    """The tokens that are words of names."""
    return [
        place
        for name in fact_rules.names(sentence)
        for place in range(name.span.start, name.span.end)
    ]


def _only(sentence: Sentence, places: Sequence[int]) -> Sentence:
    """A sentence of some of the tokens alone."""
    tokens = sentence.tokens or ()
    return Sentence("", sentence.lang, tokens=tuple(tokens[place] for place in places))


def _spelt(places: Sequence[int], matrices: Iterator[Array]) -> Array:
    """How well each word is spelt at best; words too unlike have nothing in common."""
    if not places:
        return numpy.empty(0)
    best = next(matrices).max(axis=1)
    return numpy.where(best >= ALIKE, best, 0.0)


def agreement(left: Sequence[Fact], right: Sequence[Fact]) -> float:
    """Share of the facts of both sides that the other side states too; 1 if there are none."""
    extra, missing = differing(left, right)
    count = len(left) + len(right)
    return 1.0 - ratio(len(extra) + len(missing), count, on_empty=0.0)


def _each(
    rule: Callable[[Sentence], list[Any]], pairs: Sequence[tuple[Sentence, Sentence]]
) -> list[tuple[list[Any], list[Any]]]:
    """A rule applied to both sides of every pair, once to a sentence that occurs again."""
    known: dict[int, list[Any]] = {}

    def ask(sentence: Sentence) -> list[Any]:
        found = known.get(id(sentence))
        if found is None:
            found = known[id(sentence)] = rule(sentence)
        return found

    return [(ask(one), ask(other)) for one, other in pairs]


def _explain_words(matrix: Array, alpha: float, weight: float) -> tuple[Part, ...]:
    """Every word with its best match, and its share of the score."""
    n, m = matrix.shape
    precision, recall = float(matrix.max(axis=1).mean()), float(matrix.max(axis=0).mean())
    value = ratio(precision * recall, alpha * precision + (1 - alpha) * recall, on_empty=0.0)
    parts = []
    for i in range(n):
        j = int(matrix[i].argmax())
        share = ratio(float(matrix[i, j]) / n, precision, on_empty=0.0)
        parts.append(
            Part("word", Span(i, i + 1), Span(j, j + 1), weight * value * (1 - alpha) * share)
        )
    for j in range(m):
        i = int(matrix[:, j].argmax())
        share = ratio(float(matrix[i, j]) / m, recall, on_empty=0.0)
        parts.append(Part("word", Span(i, i + 1), Span(j, j + 1), weight * value * alpha * share))
    return tuple(parts)


def _explain_order(
    pair: tuple[Sentence, Sentence], matrix: Array, cost: float
) -> tuple[ExplainedFact, ...]:
    """The neighbours the other side tears apart, each with its part of what order cost."""
    found = []
    sides = list(zip(("hypothesis", "reference"), pair, kept_places(matrix), strict=True))
    total = sum(float((1.0 - kept).sum()) for _, _, kept in sides)
    for side, sentence, kept in sides:
        tokens = sentence.tokens or ()
        for place, value in enumerate(kept.tolist()):
            loss = cost * ratio(1.0 - value, total, on_empty=0.0)
            if loss > 0.0:
                span = Span(max(0, place - 1), min(len(tokens), place + 1))
                words = " ".join(tokens[span.start : span.end])
                found.append(ExplainedFact("order", words, side, span, loss))
    return tuple(found)
