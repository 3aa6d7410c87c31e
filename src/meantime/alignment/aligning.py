"""Frames of a hypothesis aligned with those of a reference, and roles inside them.

(Lo, Tumuluru and Wu 2012; Beloucif, Lo and Wu 2014, 3.1.) Frames are aligned by maximum weighted
bipartite matching of how similar their predicates are, roles inside aligned frames by that of
their fillers. What is compared with what is decided here, once for a batch of pairs; what it is
worth is decided by the metric's weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from meantime.alignment.structures import Structure, sides, structure
from meantime.matching.structures import (
    HEADS,
    WHOLE,
    Matched,
    Method,
    Shares,
    Sides,
    match_sides,
    share,
)
from meantime.matching.weighing import Rows
from meantime.protocols import Array
from meantime.types import Frame, Role, Sentence

BY = {"predicate": HEADS, "frame": WHOLE}
"""What frames are aligned by."""


@dataclass(frozen=True, slots=True)
class RolePair:
    """A role and what it is aligned with; one side is missing where it stands alone."""

    hypothesis: Role | None
    reference: Role | None
    similarity: float


@dataclass(frozen=True, slots=True)
class FramePair:
    """A frame and what it is aligned with; one side is missing where it stands alone."""

    hypothesis: Frame | None
    reference: Frame | None
    similarity: float
    """Of the predicates."""
    roles: tuple[RolePair, ...]
    """Aligned ones and those of the hypothesis in its order, then those only the reference has."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The frames of two sentences: aligned ones and those of the hypothesis in its order, then
    those only the reference has.
    """

    frames: tuple[FramePair, ...]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A batch of pairs of sentences, aligned."""

    left: tuple[Structure, ...]
    right: tuple[Structure, ...]
    left_sides: Sides
    right_sides: Sides
    matched: Matched

    def shares(
        self, weights: Array, *, by_length: bool = True, count_unaligned: bool = True
    ) -> Shares:
        """Precision and recall by the weights of the role classes."""
        return share(
            self.left_sides,
            self.right_sides,
            self.matched,
            weights,
            by_length=by_length,
            count_unmatched=count_unaligned,
        )

    def __len__(self) -> int:
        return len(self.left)

    def alignment(self, number: int) -> Alignment:
        """What was aligned in one of the pairs, as frames and roles."""
        left, right = self.left[number], self.right[number]
        first = int(self.left_sides.first_group[number])
        second = int(self.right_sides.first_group[number])
        found = []
        met = set()
        for place, frame in enumerate(left.frames):
            start = int(self.left_sides.group_offsets[first + place])
            partner = int(self.matched.groups[first + place])
            if partner < 0:
                alone = tuple(RolePair(role, None, 0.0) for role in frame.roles)
                found.append(FramePair(frame, None, 0.0, alone))
                continue
            met.add(partner - second)
            other = right.frames[partner - second]
            other_start = int(self.right_sides.group_offsets[partner])
            pairs = []
            taken = set()
            for number_of, role in enumerate(frame.roles, 1):
                phrase = int(self.matched.phrases[start + number_of])
                if phrase < 0:
                    pairs.append(RolePair(role, None, 0.0))
                    continue
                taken.add(phrase - other_start - 1)
                pairs.append(
                    RolePair(
                        role,
                        other.roles[phrase - other_start - 1],
                        float(self.matched.similarities[start + number_of]),
                    )
                )
            pairs += [
                RolePair(None, role, 0.0)
                for place_of, role in enumerate(other.roles)
                if place_of not in taken
            ]
            likeness = float(self.matched.similarities[start])
            found.append(FramePair(frame, other, likeness, tuple(pairs)))
        for place, frame in enumerate(right.frames):
            if place not in met:
                alone = tuple(RolePair(None, role, 0.0) for role in frame.roles)
                found.append(FramePair(None, frame, 0.0, alone))
        return Alignment(tuple(found))


def align(
    pairs: Sequence[tuple[Sentence, Sentence]],
    matrices: Sequence[Array],
    method: Method,
    *,
    by: str = "predicate",
    same_class: bool = True,
    threshold: float = 0.0,
    weights: tuple[Array, Array] | None = None,
    enough: float = 1.0,
) -> Aligned:
    """Align the frames and roles of pairs of analysed sentences.

    Args:
        pairs: Hypothesis and reference.
        matrices: Similarities of their tokens, one matrix a pair.
        method: How fillers are compared.
        by: What frames are aligned by: their `predicate` or the whole `frame`.
        same_class: Whether roles are aligned only with roles of their class.
        threshold: Frames are aligned only if they are more similar.
        weights: Of the tokens of all hypotheses and of all references, end to end.
        enough: Once aligned, phrases this similar count as wholly similar, and others in
            proportion.
    """
    known: dict[int, Structure] = {}
    left = tuple(_known(hypothesis, known) for hypothesis, _ in pairs)
    right = tuple(_known(reference, known) for _, reference in pairs)
    left_sides = sides(left, None if weights is None else weights[0])
    right_sides = sides(right, None if weights is None else weights[1])
    flat, offsets = flatten(matrices)
    matched = match_sides(
        flat,
        offsets,
        left_sides,
        right_sides,
        method,
        by=BY[by],
        same_class=same_class,
        threshold=threshold,
    )
    if enough < 1.0:
        similarities = numpy.minimum(1.0, matched.similarities / enough)
        matched = Matched(matched.groups, matched.phrases, similarities)
    return Aligned(left, right, left_sides, right_sides, matched)


def _known(sentence: Sentence, known: dict[int, Structure]) -> Structure:
    """The structure of a sentence; a reference stands in many pairs of a batch."""
    found = known.get(id(sentence))
    if found is None:
        found = known[id(sentence)] = structure(sentence)
    return found


def flatten(matrices: Sequence[Array]) -> tuple[Array, NDArray[numpy.int64]]:
    """Matrices row by row, end to end, and where each begins."""
    offsets = numpy.zeros(len(matrices) + 1, dtype=numpy.int64)
    numpy.cumsum([matrix.size for matrix in matrices], out=offsets[1:])
    if not matrices:
        return numpy.empty(0), offsets
    return numpy.concatenate([matrix.ravel() for matrix in matrices]), offsets


def weighing_rows(aligned: Aligned, *, by_length: bool, count_unaligned: bool) -> tuple[Rows, Rows]:
    """The frames of both sides as what weights are tried on: each phrase an entry."""
    left, right, matched = aligned.left_sides, aligned.right_sides, aligned.matched
    others = numpy.zeros(len(right.classes))
    there = matched.phrases >= 0
    others[matched.phrases[there]] = matched.similarities[there]
    met = numpy.zeros(len(right.group_offsets) - 1, dtype=bool)
    met[matched.groups[matched.groups >= 0]] = True
    made = []
    for side, similarities, partnered in (
        (left, matched.similarities, matched.groups >= 0),
        (right, others, met),
    ):
        places = side.phrase_offsets[side.group_offsets]
        sizes = numpy.diff(places).astype(numpy.float64)
        if not by_length:
            sizes = numpy.ones(len(sizes))
        if not count_unaligned:
            sizes[~partnered] = 0.0
        made.append(
            Rows(
                side.classes,
                numpy.ones(len(side.classes)),
                similarities,
                side.group_offsets,
                sizes,
                side.first_group,
            )
        )
    return made[0], made[1]
