r"""What the metrics of the MEANT family share: frames aligned, roles compared, a weighted F-score.

(Lo, Tumuluru and Wu 2012; Lo and Wu 2012 and 2013; Beloucif, Lo and Wu 2014.)

    precision = \sum_i u_i * r_i(hypothesis) / \sum_i u_i          i: frames of the hypothesis
    recall    = \sum_i v_i * r_i(reference)  / \sum_i v_i          i: frames of the reference
    r_i       = \sum_k w_class(k) * s_k / \sum_k w_class(k)        k: phrases of frame i
    score     = precision * recall / (alpha * precision + (1 - alpha) * recall)

A frame's phrases are its predicate and the fillers of its roles, each instance counted; s_k is the
similarity of phrase k with the one it is aligned with, 0 without one. u_i and v_i are the tokens
frame i fills. Frames are aligned by their predicates, roles inside aligned frames by their fillers.

The papers sum over aligned frames only (`unaligned=ignore`); then the tokens of the sentence cancel
out, and one perfect frame of three scores 1. Counting all frames is the default.

Where a side has no frame with a role, the whole sentences are compared as if they were one filler
each. Where frames are there but none has a phrase of any weight, nothing that counts is found: 0.
A corpus has the mean of its segments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy
from numpy.typing import NDArray

from meantime.alignment.aligning import (
    Aligned,
    Alignment,
    FramePair,
    RolePair,
    align,
    flatten,
    weighing_rows,
)
from meantime.alignment.roles import CLASSES, NUMBER, PREDICATE, role_class
from meantime.alignment.weights import (
    UNSUPERVISED,
    RoleWeights,
    estimate_unsupervised,
    load_weights,
)
from meantime.errors import NotPrepared, UsageError
from meantime.matching import phrases as phrase_methods
from meantime.matching.itg import BEAM, LIMIT
from meantime.matching.structures import ITG_BEST, ITG_INSIDE, Method, whole_similarities
from meantime.matching.weighing import Rows, join_rows
from meantime.metrics.base import BaseMetric, ratio, require_references
from meantime.options import as_text, describe, option
from meantime.protocols import Array, Similarity
from meantime.similarity import open_similarity
from meantime.types import (
    Explanation,
    Layer,
    Level,
    Pair,
    Part,
    Score,
    Segment,
    Sentence,
    Signature,
    Span,
)

METHODS = {
    "arithmetic": phrase_methods.ARITHMETIC,
    "geometric": phrase_methods.GEOMETRIC,
    "linking": phrase_methods.LINKING,
    "mihalcea": phrase_methods.MIHALCEA,
    "best-match": phrase_methods.BEST_MATCH,
    "itg": ITG_BEST,
    "itg-inside": ITG_INSIDE,
}
"""Ways from words to fillers, by name."""

CELLS = 4_000_000
"""Token pairs compared at a time, so that memory does not grow with the segments."""

PARTS = ("score", "precision", "recall", "framed")

_NOTHING = Sentence("", tokens=(), frames=())


@dataclass(frozen=True, slots=True)
class ExplainedRole:
    """A phrase, what it is aligned with, and what that is worth.

    `share` is how much of the score it makes, `loss` how much the score would rise if it were as
    it should be: wholly similar, or, where it stands alone, not missing or not there.
    """

    role: str
    """The role class."""
    label: str
    hypothesis: tuple[Span, ...] | None
    reference: tuple[Span, ...] | None
    similarity: float
    hypothesis_weight: float | None
    reference_weight: float | None
    share: float
    loss: float


@dataclass(frozen=True, slots=True)
class ExplainedFrame:
    """A frame, what it is aligned with, and what its phrases are worth; the predicate is first."""

    hypothesis_tokens: int | None
    """Tokens the hypothesis' frame fills, its weight; None if only the reference has it."""
    reference_tokens: int | None
    phrases: tuple[ExplainedRole, ...]
    share: float
    loss: float


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a mixed score: its value and weight; their product is its share."""

    name: str
    value: float
    weight: float
    precision: float
    recall: float

    @property
    def share(self) -> float:
        return self.value * self.weight


@dataclass(frozen=True, slots=True)
class FrameExplanation(Explanation):
    """Why a metric of the family gave its score: frames, roles, components."""

    frames: tuple[ExplainedFrame, ...] = ()
    components: tuple[Component, ...] = ()
    weights: tuple[float, ...] = ()
    alpha: float = 0.5
    words: tuple[Part, ...] = ()
    """Of a comparison of whole sentences: each side's words with their best matches."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Sentences of a batch, compared: what scores and explanations are made from."""

    aligned: Aligned
    flat: Array
    offsets: NDArray[numpy.int64]
    precision: Array
    recall: Array
    score: Array
    framed: NDArray[numpy.bool_]
    """Whether both sides have frames."""


@dataclass(frozen=True, kw_only=True)
class FrameMetric(BaseMetric):
    """Semantic frames of hypothesis and reference, aligned and compared."""

    similarity: str = option("exact", "where the similarity of words comes from")
    phrase: str = option(
        "best-match",
        "how the similarity of fillers comes from that of words",
        choices=list(METHODS),
    )
    floor: float = option(
        0.0, "least similarity of words in the geometric mean", minimum=0, maximum=1
    )
    null_weight: float = option(
        0.0, "what a word without partner weighs in an ITG", minimum=0, maximum=1
    )
    weights: str = option(
        "uniform", "weights of the role classes: uniform, unsupervised, a name, or a file"
    )
    alpha: float = option(0.5, "weight of recall against precision", minimum=0, maximum=1)
    align_by: str = option(
        "predicate", "what frames are aligned by", choices=["predicate", "frame"]
    )
    same_class: bool = option(True, "align roles only with roles of their class")
    unaligned: str = option(
        "count",
        "whether frames without partner count in what could be reached",
        choices=["count", "ignore"],
    )
    frame_weight: str = option(
        "tokens", "what a frame counts by: the tokens it fills, or each alike",
        choices=["tokens", "even"],
    )  # fmt: skip
    no_frames: str = option(
        "sentence",
        "where a side has no frame: compare whole sentences as fillers, or give 0",
        choices=["sentence", "zero"],
    )
    empty_hypothesis: float = option(
        0.0, "what an empty hypothesis gets where the reference is not empty", minimum=0, maximum=1
    )
    enough: float = option(
        1.0,
        "similarity from which a predicate or filler counts as right; less counts in proportion",
        minimum=0.01,
        maximum=1,
    )
    several: str = option(
        "best", "of several references, the best score or the mean", choices=["best", "mean"]
    )

    empty: ClassVar[str] = "as empty_hypothesis; empty reference 0; two empty sides 1"
    _role_weights: ClassVar[RoleWeights | None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights != UNSUPERVISED:
            object.__setattr__(self, "_role_weights", load_weights(self.weights))
        object.__setattr__(self, "_source", open_similarity(self.similarity))

    # What it is

    @property
    def source(self) -> Similarity:
        """Where the similarity of words comes from."""
        found: Similarity = self.__dict__["_source"]
        return found

    @property
    def needs(self) -> frozenset[Layer]:
        return frozenset({Layer.TOKENS, Layer.FRAMES}) | self.source.needs

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, float("inf") if self.phrase == "itg-inside" else 1.0)

    @property
    def copy_is_best(self) -> bool:
        whole = self.phrase in ("linking", "mihalcea", "best-match", "itg")
        # A predicate is in every frame; where it weighs nothing, a frame may weigh nothing.
        known = self._role_weights
        return whole and self.no_frames == "sentence" and (known is None or known.values[0] > 0)

    @property
    def statistics(self) -> tuple[str, ...]:
        return (*PARTS, "segments")

    @property
    def role_weights(self) -> RoleWeights:
        """The weights of the role classes; those of UMEANT are known once it is prepared."""
        if self._role_weights is None:
            raise NotPrepared(
                f"{self.name}: weights={UNSUPERVISED} come from the references; call prepare first"
            )
        return self._role_weights

    def signature(self) -> Signature:
        """Also what the similarity depends on, and the weight of every class."""
        options = [("references", self._references)]
        for item in describe(self):
            options.append((item.name, as_text(getattr(self, item.name))))
            if item.name == "similarity":
                options.append(("source", self.source.name))
            if item.name == "weights":
                known = self._role_weights
                options.append(("classes", "from the references" if known is None else str(known)))
        options.append(("empty", self.empty))
        return Signature(self.name, self.version, tuple(options))

    def prepare(self, segments: Sequence[Segment]) -> Self:
        """Check the references; estimate the weights from them where that is asked for."""
        prepared = super().prepare(segments)
        if self.weights != UNSUPERVISED:
            return prepared
        references = [one for segment in segments for one in segment.references]
        for segment in segments:
            for one in segment.references:
                self._check(one, segment.id, "reference")
        return prepared._bind(role_weights=estimate_unsupervised(references))

    # From pairs to rows

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """Score, precision, recall, whether frames were compared; and 1."""
        require_references(self.name, (pair.segment for pair in pairs))
        rows = numpy.ones((len(pairs), len(self.statistics)))
        for pair in pairs:
            self._check(pair.hypothesis, pair.segment.id, "hypothesis")
            for reference in pair.segment.references:
                self._check(reference, pair.segment.id, "reference")
        for start, stop in self._pieces(pairs):
            part = pairs[start:stop]
            values = self.compare(
                [(pair.hypothesis, one) for pair in part for one in pair.segment.references]
            )
            first = 0
            for number, pair in enumerate(part, start):
                last = first + len(pair.segment.references)
                found = values[first:last]
                mean = self.several == "mean"
                rows[number, :-1] = found.mean(axis=0) if mean else found[_best(found)]
                first = last
        return rows

    def score(self, total: Array, level: Level) -> Score:
        """The mean over the segments."""
        count = float(total[-1])
        parts = {
            name: ratio(value, count, on_empty=0.0)
            for name, value in zip(self.statistics[:-1], total.tolist(), strict=False)
        }
        return Score(parts.pop("score"), parts)

    def scores(self, totals: Array, level: Level) -> Array:
        """`score` of many rows at once."""
        counts = totals[:, -1]
        return numpy.divide(totals[:, 0], counts, out=numpy.zeros(len(totals)), where=counts > 0)

    def compare(self, pairs: Sequence[tuple[Sentence, Sentence]]) -> Array:
        """Score, precision, recall and whether frames were compared, of each pair."""
        found = numpy.zeros((len(pairs), len(PARTS)))
        there = [n for n, (one, other) in enumerate(pairs) if one.tokens and other.tokens]
        for number, (hypothesis, reference) in enumerate(pairs):
            if not hypothesis.tokens:
                found[number, :3] = 1.0 if not reference.tokens else self.empty_hypothesis
        if there:
            result = self.compare_words([pairs[n] for n in there])
            found[there, 0] = result.score
            found[there, 1] = result.precision
            found[there, 2] = result.recall
            found[there, 3] = result.framed
        return found

    @property
    def method(self) -> Method:
        """How fillers are compared, as the kernels take it."""
        return Method(METHODS[self.phrase], 0.5, self.floor, self.null_weight, LIMIT, BEAM)

    def token_weights(self, sentences: Sequence[Sentence]) -> Array | None:
        """What each token weighs in its filler; None for 1 each."""
        return None

    def compare_words(self, pairs: Sequence[tuple[Sentence, Sentence]]) -> Compared:
        """Compare sentences of which none is empty."""
        matrices = self.source.matrices(pairs)
        left = self.token_weights([one for one, _ in pairs])
        right = self.token_weights([other for _, other in pairs])
        aligned = align(
            pairs,
            matrices,
            self.method,
            by=self.align_by,
            same_class=self.same_class,
            weights=None if left is None or right is None else (left, right),
            enough=self.enough,
        )
        flat, offsets = flatten(matrices)
        shares = aligned.shares(
            self.role_weights.array,
            by_length=self.frame_weight == "tokens",
            count_unaligned=self.unaligned == "count",
        )
        left_frames, right_frames = aligned.left_sides.first_group, aligned.right_sides.first_group
        framed = (numpy.diff(left_frames) > 0) & (numpy.diff(right_frames) > 0)
        precision = _divide(shares.precision, shares.precision_of)
        recall = _divide(shares.recall, shares.recall_of)
        score = f_score(precision, recall, self.alpha)
        if self.no_frames == "sentence" and not framed.all():
            wanted = numpy.flatnonzero(~framed)
            whole = whole_similarities(
                flat, offsets, aligned.left_sides, aligned.right_sides, self.method, wanted
            )
            for values in (precision, recall, score):
                values[wanted] = whole[wanted]
        return Compared(aligned, flat, offsets, precision, recall, score, framed)

    def weighing(self, pairs: Sequence[Pair]) -> tuple[Rows, Rows, Array]:
        """What fitting weights needs of each pair with its first reference, for any weights.

        Returns:
            The frames of the hypotheses, those of the references, and the score of each pair
            where a side has no frame.
        """
        require_references(self.name, (pair.segment for pair in pairs))
        left, right = [], []
        otherwise = numpy.zeros(len(pairs))
        for start, stop in self._pieces(pairs):
            part = [(pair.hypothesis, pair.segment.references[0]) for pair in pairs[start:stop]]
            for pair, (hypothesis, reference) in zip(pairs[start:stop], part, strict=True):
                self._check(hypothesis, pair.segment.id, "hypothesis")
                self._check(reference, pair.segment.id, "reference")
            bare = [n for n, (one, other) in enumerate(part) if not (one.tokens and other.tokens)]
            for number in bare:
                hypothesis, reference = part[number]
                if not hypothesis.tokens:
                    value = self.empty_hypothesis if reference.tokens else 1.0
                    otherwise[start + number] = value
                part[number] = (_NOTHING, _NOTHING)
            result = self.compare_words(part)
            rows = weighing_rows(
                result.aligned,
                by_length=self.frame_weight == "tokens",
                count_unaligned=self.unaligned == "count",
            )
            left.append(rows[0])
            right.append(rows[1])
            if self.no_frames == "sentence":
                there = numpy.setdiff1d(numpy.arange(len(part)), bare)
                aligned = result.aligned
                whole = whole_similarities(
                    result.flat,
                    result.offsets,
                    aligned.left_sides,
                    aligned.right_sides,
                    self.method,
                    there,
                )
                otherwise[start + there] = whole[there]
        return join_rows(left), join_rows(right), otherwise

    def _pieces(self, pairs: Sequence[Pair]) -> Iterator[tuple[int, int]]:
        """Stretches of pairs that are compared at a time."""
        start = cells = 0
        for number, pair in enumerate(pairs):
            size = sum(len(one.tokens or ()) for one in pair.segment.references)
            size *= len(pair.hypothesis.tokens or ())
            if number > start and cells + size > CELLS:
                yield start, number
                start, cells = number, 0
            cells += size
        if start < len(pairs):
            yield start, len(pairs)

    def _check(self, sentence: Sentence, segment: str, side: str) -> None:
        """Refuse a sentence without what is needed."""
        if sentence.tokens == ():
            return
        lacking = (
            "tokens" if sentence.tokens is None
            else "frames" if sentence.frames is None
            else "vectors" if sentence.vectors is None and Layer.VECTORS in self.needs
            else None
        )  # fmt: skip
        if lacking is None:
            return
        text = sentence.text if len(sentence.text) <= 60 else f"{sentence.text[:59]}…"
        remedy = {
            "tokens": "analyse the sentences first, or give parses of your own",
            "frames": "use an analyser that finds frames, or give parses of your own",
            "vectors": "use an analyser that gives vectors, or compare words without: "
            f"{self.name}:similarity=characters{self._vectors_elsewhere()}",
        }[lacking]
        raise UsageError(
            f"{self.name} compares semantic frames, and the {side} of segment {segment} "
            f"({text!r}) has no {lacking}; {remedy}"
        )

    def _vectors_elsewhere(self) -> str:
        """What else must be named for the metric to do without vectors."""
        return ",words=characters" if hasattr(self, "words") else ""

    # Explaining

    def explain(self, pair: Pair) -> FrameExplanation:
        """The score of one pair with the frames, roles and words that made it."""
        require_references(self.name, [pair.segment])
        self._check(pair.hypothesis, pair.segment.id, "hypothesis")
        for reference in pair.segment.references:
            self._check(reference, pair.segment.id, "reference")
        values = numpy.concatenate(
            [self.compare([(pair.hypothesis, reference)]) for reference in pair.segment.references]
        )
        # With the mean of several references, the best one is explained.
        chosen = int(_best(values))
        reference = pair.segment.references[chosen]
        row = numpy.append(values[chosen], 1.0)
        return self.explain_pair(pair.hypothesis, reference, chosen, self.score(row, Level.SEGMENT))

    def explain_pair(
        self, hypothesis: Sentence, reference: Sentence, chosen: int, score: Score
    ) -> FrameExplanation:
        """The explanation of a hypothesis against one reference."""
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
            return FrameExplanation(parts=(), **common)
        result = self.compare_words([(hypothesis, reference)])
        if not result.framed[0]:
            return self._explain_whole(result, common)
        frames = self.explain_frames(result, 1.0)
        return FrameExplanation(
            parts=frame_parts(frames),
            frames=frames,
            components=(
                Component(
                    "frames",
                    float(result.score[0]),
                    1.0,
                    float(result.precision[0]),
                    float(result.recall[0]),
                ),
            ),
            **common,
        )

    def _explain_whole(self, result: Compared, common: dict[str, Any]) -> FrameExplanation:
        value = float(result.score[0])
        whole = Component("sentence", value, 1.0, value, value)
        n, m = len(common["hypothesis_tokens"]), len(common["reference_tokens"])
        part = Part("sentence", Span(0, n), Span(0, m), value)
        return FrameExplanation(parts=(part,), components=(whole,), **common)

    def explain_frames(self, result: Compared, weight: float) -> tuple[ExplainedFrame, ...]:
        """The aligned frames of the only pair, with their shares of the score times `weight`."""
        alignment = result.aligned.alignment(0)
        return _Explaining(self, alignment, weight).frames()


def changed(name: str, value: Any) -> Any:
    """An option of `FrameMetric` with another default."""
    (declared,) = (item for item in dataclasses.fields(FrameMetric) if item.name == name)
    return dataclasses.field(default=value, metadata=declared.metadata)


def frame_parts(frames: Sequence[ExplainedFrame]) -> tuple[Part, ...]:
    """Explained frames as the parts of any explanation: their values are shares of the score."""
    return tuple(
        Part(
            phrase.role,
            phrase.hypothesis[0] if phrase.hypothesis else None,
            phrase.reference[0] if phrase.reference else None,
            phrase.share,
        )
        for frame in frames
        for phrase in frame.phrases
    )


def f_score(precision: Array, recall: Array, alpha: float) -> Array:
    """Weighted harmonic mean; alpha is the weight of recall. Two zeros give 0."""
    below = alpha * precision + (1 - alpha) * recall
    return _divide(precision * recall, below)


def _divide(above: Array, below: Array) -> Array:
    return numpy.divide(above, below, out=numpy.zeros_like(above), where=below > 0)


def _best(values: Array) -> int:
    """The first of the rows of greatest score."""
    return int(numpy.argmax(values[:, 0]))


@dataclass(slots=True)
class _Explaining:
    """Shares and losses of the phrases of one alignment."""

    metric: FrameMetric
    alignment: Alignment
    scale: float
    """What the score of the frames is multiplied with."""
    weights: tuple[float, ...] = ()
    lines: list[_Line] = field(default_factory=list)

    def frames(self) -> tuple[ExplainedFrame, ...]:
        self.weights = self.metric.role_weights.values
        self.lines = [
            _Line(pair, self._phrases(pair), self.weights) for pair in self.alignment.frames
        ]
        precision, recall = self._rates()
        score = self._f(precision, recall)
        alpha = self.metric.alpha
        made = []
        for line in self.lines:
            phrases = []
            for phrase in line.phrases:
                gained, recalled = self._contributions(line, phrase)
                share = 0.0
                if score > 0:
                    share = score * (
                        (1 - alpha) * ratio(gained, precision, on_empty=0.0)
                        + alpha * ratio(recalled, recall, on_empty=0.0)
                    )
                loss = max(0.0, self._f(*self._rates(line, phrase)) - score)
                phrases.append(self._explained(phrase, share, loss))
            loss = max(0.0, self._f(*self._rates(line)) - score)
            made.append(
                ExplainedFrame(
                    line.hypothesis_size,
                    line.reference_size,
                    tuple(phrases),
                    sum(phrase.share for phrase in phrases),
                    loss * self.scale,
                )
            )
        return tuple(made)

    def _explained(self, phrase: _Phrase, share: float, loss: float) -> ExplainedRole:
        return ExplainedRole(
            CLASSES[phrase.left if phrase.left is not None else phrase.right or 0],
            phrase.label,
            phrase.hypothesis,
            phrase.reference,
            phrase.similarity,
            None if phrase.left is None else self.weights[phrase.left],
            None if phrase.right is None else self.weights[phrase.right],
            share * self.scale,
            loss * self.scale,
        )

    def _phrases(self, pair: FramePair) -> list[_Phrase]:
        head = NUMBER[PREDICATE]
        found = [
            _Phrase(
                "V",
                None if pair.hypothesis is None else head,
                None if pair.reference is None else head,
                None if pair.hypothesis is None else (pair.hypothesis.predicate,),
                None if pair.reference is None else (pair.reference.predicate,),
                pair.similarity,
            )
        ]
        return found + [self._role(role) for role in pair.roles]

    def _role(self, pair: RolePair) -> _Phrase:
        one, other = pair.hypothesis, pair.reference
        labels = [role.label for role in (one, other) if role is not None]
        return _Phrase(
            labels[0] if len(set(labels)) == 1 else " / ".join(labels),
            None if one is None else NUMBER[role_class(one.label)],
            None if other is None else NUMBER[role_class(other.label)],
            None if one is None else one.spans,
            None if other is None else other.spans,
            pair.similarity,
        )

    def _rates(
        self, righted: _Line | None = None, phrase: _Phrase | None = None
    ) -> tuple[float, float]:
        """Precision and recall; as if a phrase, or all of a frame, were as it should be.

        A phrase only one side has is then not there, nor is a frame only one side has: what is
        missing would be found and what is too much would be gone.
        """
        sums = [0.0, 0.0, 0.0, 0.0]
        for line in self.lines:
            right_all = line is righted and phrase is None
            if right_all and not line.aligned:
                continue
            left, left_of, right, right_of = 0.0, 0.0, 0.0, 0.0
            for one in line.phrases:
                right_one = right_all or (line is righted and one is phrase)
                if right_one and (one.left is None or one.right is None):
                    continue
                similarity = max(one.similarity, 1.0) if right_one else one.similarity
                if one.left is not None:
                    left_of += self.weights[one.left]
                    left += self.weights[one.left] * similarity
                if one.right is not None:
                    right_of += self.weights[one.right]
                    right += self.weights[one.right] * similarity
            if line.hypothesis_size is not None and left_of > 0 and self._counts(line):
                sums[0] += self._size(line.hypothesis_size) * left / left_of
                sums[1] += self._size(line.hypothesis_size)
            if line.reference_size is not None and right_of > 0 and self._counts(line):
                sums[2] += self._size(line.reference_size) * right / right_of
                sums[3] += self._size(line.reference_size)
        return ratio(sums[0], sums[1], on_empty=0.0), ratio(sums[2], sums[3], on_empty=0.0)

    def _contributions(self, line: _Line, phrase: _Phrase) -> tuple[float, float]:
        """What a phrase adds to precision and to recall."""
        gained = recalled = 0.0
        if phrase.left is not None and phrase.right is not None:
            if line.left_of > 0:
                gained = self.weights[phrase.left] * phrase.similarity / line.left_of
                gained *= self._size(line.hypothesis_size or 0)
            if line.right_of > 0:
                recalled = self.weights[phrase.right] * phrase.similarity / line.right_of
                recalled *= self._size(line.reference_size or 0)
        left_of = sum(
            self._size(one.hypothesis_size)
            for one in self.lines
            if one.hypothesis_size is not None and one.left_of > 0 and self._counts(one)
        )
        right_of = sum(
            self._size(one.reference_size)
            for one in self.lines
            if one.reference_size is not None and one.right_of > 0 and self._counts(one)
        )
        return ratio(gained, left_of, on_empty=0.0), ratio(recalled, right_of, on_empty=0.0)

    def _counts(self, line: _Line) -> bool:
        return line.aligned or self.metric.unaligned == "count"

    def _size(self, tokens: int) -> float:
        return float(tokens) if self.metric.frame_weight == "tokens" else 1.0

    def _f(self, precision: float, recall: float) -> float:
        alpha = self.metric.alpha
        return ratio(precision * recall, alpha * precision + (1 - alpha) * recall, on_empty=0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Phrase:
    label: str
    left: int | None
    """Role class in the hypothesis."""
    right: int | None
    hypothesis: tuple[Span, ...] | None
    reference: tuple[Span, ...] | None
    similarity: float


class _Line:
    """A frame pair with its phrases and what they weigh together."""

    def __init__(self, pair: FramePair, phrases: list[_Phrase], weights: tuple[float, ...]) -> None:
        self.phrases = phrases
        self.aligned = pair.hypothesis is not None and pair.reference is not None
        self.hypothesis_size = _filled(phrases, "hypothesis")
        self.reference_size = _filled(phrases, "reference")
        self.left_of = sum(weights[one.left] for one in phrases if one.left is not None)
        self.right_of = sum(weights[one.right] for one in phrases if one.right is not None)


def _filled(phrases: Sequence[_Phrase], side: str) -> int | None:
    """Tokens that the phrases of a side fill, each phrase's counted; None if it has none."""
    spans = [span for phrase in phrases for span in getattr(phrase, side) or ()]
    return sum(len(span) for span in spans) if spans else None
