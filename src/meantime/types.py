"""The things meantime talks about.

All types are frozen: analysis returns enriched copies (`dataclasses.replace`). `None`
means "not known"; an empty tuple means "looked for, none found".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from meantime.errors import InputError, LengthMismatch

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


_THREE_LETTERS = {
    "eng": "en", "zho": "zh", "chi": "zh", "cmn": "zh", "jpn": "ja", "kor": "ko", "tha": "th",
    "deu": "de", "ger": "de", "fra": "fr", "fre": "fr",
}  # fmt: skip


def primary(lang: str) -> str:
    """The language of a tag: `zh` of `zh-Hans-CN`, of `zh_CN` and of `zho`."""
    code = lang.replace("_", "-").partition("-")[0].lower()
    return _THREE_LETTERS.get(code, code)


class Level(StrEnum):
    """What a score speaks of."""

    SEGMENT = "segment"
    CORPUS = "corpus"


class Layer(StrEnum):
    """What a metric needs to know of a sentence beyond its text."""

    TOKENS = "tokens"
    POS = "pos"
    TREE = "tree"
    FRAMES = "frames"
    VECTORS = "vectors"
    SOURCE = "source"
    JUDGEMENTS = "judgements"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of tokens."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise InputError(
                f"span [{self.start}, {self.end}) is empty or negative; "
                "spans are half-open token ranges with 0 <= start < end"
            )

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Role:
    """A labelled filler of a frame; several spans where the filler is split."""

    label: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """An event: its predicate and the roles around it."""

    predicate: Span
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """A constituent: its label, the tokens it covers, and what it is made of.

    A node without children is a part of speech over one token. The root is `TOP`.
    """

    label: str
    span: Span
    children: tuple[Tree, ...] = ()

    def __iter__(self) -> Iterator[Tree]:
        """The node itself and everything below it, top down and left to right."""
        # No recursion, here and below: trees of bad output are as deep as they like.
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def bottom_up(self) -> list[Tree]:
        """The node itself and everything below it, children before parents, left before right."""
        nodes = []
        waiting = [self]
        while waiting:
            node = waiting.pop()
            nodes.append(node)
            waiting.extend(node.children)
        nodes.reverse()
        return nodes


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text in a language, with whatever analysis has added to it.

    Everything an analysis adds counts tokens: a span [2, 4) is the third and fourth token.
    """

    text: str
    lang: str = "en"
    tokens: tuple[str, ...] | None = None
    offsets: tuple[tuple[int, int], ...] | None = None
    """Where each token stands in the text: `text[start:end]`."""
    pos: tuple[str, ...] | None = None
    tree: Tree | None = None
    tree_score: float | None = None
    """Log-probability of the tree, as the analyser that made it defines it."""
    frames: tuple[Frame, ...] | None = None
    vectors: NDArray[numpy.float16] | None = field(default=None, compare=False, repr=False)
    """One row a token, for similarity; not part of equality."""


@dataclass(frozen=True, slots=True)
class Segment:
    """What one hypothesis is compared with: references and, if known, the source."""

    id: str
    references: tuple[Sentence, ...]
    source: Sentence | None = None
    document: str | None = None


class Verdict(StrEnum):
    """What a judge says of a role's filler."""

    CORRECT = "correct"
    PARTIAL = "partial"
    INCORRECT = "incorrect"


@dataclass(frozen=True, slots=True)
class RoleVerdict:
    """A role of a matched frame, judged: which role of the other side says it, and how well.

    Numbers count the roles of the two frames from 0; `None` where a side has no such role: it
    is missing from the hypothesis, or extra in it.
    """

    hypothesis: int | None
    reference: int | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class FrameMatch:
    """A frame of the hypothesis whose predicate a judge matched with one of the reference.

    A role that no verdict speaks of is missing or extra, and so incorrect.
    """

    hypothesis: int
    reference: int
    verdicts: tuple[RoleVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's decisions on one reading."""

    judge: str
    matches: tuple[FrameMatch, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """The frames one annotator found in a hypothesis, and what judges said of them."""

    annotator: str
    frames: tuple[Frame, ...]
    judgements: tuple[Judgement, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgements:
    """What people say of a hypothesis: its frames as read, compared with the reference's."""

    reference_frames: tuple[Frame, ...]
    readings: tuple[Reading, ...]
    core: frozenset[str] | None = None
    """Labels of core arguments; `None`: the usual ones, see `metrics.hmeant_arithmetic`."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A hypothesis with its segment."""

    hypothesis: Sentence
    segment: Segment
    judgements: Judgements | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """Segments, and the outputs of any number of systems for them."""

    segments: tuple[Segment, ...]
    outputs: Mapping[str, tuple[Sentence, ...]] = field(default_factory=dict)
    judgements: Mapping[str, tuple[Judgements | None, ...]] = field(default_factory=dict)
    """By system, for those that people judged; `None` where they did not judge a segment."""

    def __post_init__(self) -> None:
        for system, judged in self.judgements.items():
            if len(judged) != len(self.outputs.get(system, ())):
                raise LengthMismatch(
                    f"{len(judged)} judgements of system {system!r}, which has "
                    f"{len(self.outputs.get(system, ()))} segments; give one for each segment"
                )
        for system, sentences in self.outputs.items():
            if len(sentences) != len(self.segments):
                raise LengthMismatch(
                    f"system {system!r} has {len(sentences)} segments, "
                    f"the references have {len(self.segments)}; every system must "
                    "translate every segment, in the same order"
                )

    def pairs(self, system: str) -> list[Pair]:
        """One system's hypotheses, each with its segment."""
        if system not in self.outputs:
            raise InputError(
                f"no system {system!r} in this corpus; it has {', '.join(self.outputs) or 'none'}"
            )
        judged = self.judgements.get(system) or (None,) * len(self.segments)
        return [
            Pair(hypothesis, segment, judgements)
            for hypothesis, segment, judgements in zip(
                self.outputs[system], self.segments, judged, strict=True
            )
        ]


@dataclass(frozen=True, slots=True)
class Score:
    """A metric's result and the named numbers it was made from."""

    value: float
    parts: Mapping[str, float] = field(default_factory=dict)

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, slots=True)
class Signature:
    """The full recipe of a score; its text is meant to be cited."""

    name: str
    version: str
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        middle = [f"{key}:{value}" for key, value in self.options]
        return "|".join([self.name, *middle, f"version:{self.version}"])


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of an explanation: what was compared, and what it was worth."""

    label: str
    hypothesis: Span | None
    reference: Span | None
    value: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """A score with the parts that rebuild it.

    `tokens` are the metric's own tokens of the hypothesis and of the reference it chose
    (number `reference`, from 0): the spans of the parts count them.
    """

    metric: str
    score: Score
    hypothesis_tokens: tuple[str, ...]
    reference_tokens: tuple[str, ...]
    reference: int
    parts: tuple[Part, ...]
