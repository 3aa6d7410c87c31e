r"""SR, semantic role overlap (Giménez and Màrquez 2007, 2008; as Lo and Wu 2010, section 2.3).

    SR = mean over role types t of  overlap(t)
    overlap(t) = \sum_w min(h_t(w), r_t(w)) / \sum_w max(h_t(w), r_t(w))

h_t(w) is how often word w stands in fillers of type t in the hypothesis, r_t(w) in the reference;
words are compared without regard to case. Types are those that either side has. Which frame a
role belongs to plays no part: that is what MEANT went on to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy

from meantime.alignment.roles import CLASSES, NUMBER, PREDICATE
from meantime.alignment.structures import structure
from meantime.errors import UsageError
from meantime.metrics.base import BaseMetric, ratio, require_references
from meantime.options import option
from meantime.protocols import Array
from meantime.types import Layer, Level, Pair, Score, Sentence


@dataclass(frozen=True, kw_only=True)
class SemanticRoleOverlap(BaseMetric):
    """Words that fillers of the same role type have in common."""

    name: ClassVar[str] = "sr"
    summary: ClassVar[str] = "words that roles of the same type have in common"
    paper: ClassVar[str] = "Giménez and Màrquez 2007; Lo and Wu 2010, section 2.3"
    empty: ClassVar[str] = "0; neither side with a role 1"

    predicates: bool = option(False, "count predicates as a role type of their own")
    pool: bool = option(
        False, "overlap of all roles taken together, whatever their type, instead of the mean"
    )

    @property
    def needs(self) -> frozenset[Layer]:
        return frozenset({Layer.TOKENS, Layer.FRAMES})

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def statistics(self) -> tuple[str, ...]:
        return ("overlap", "segments")

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """The overlap with the best reference, and 1."""
        require_references(self.name, (pair.segment for pair in pairs))
        rows = numpy.ones((len(pairs), 2))
        for row, pair in zip(rows, pairs, strict=True):
            hypothesis = self._words(pair.hypothesis, pair.segment.id, "hypothesis")
            row[0] = max(
                _overlap(hypothesis, self._words(one, pair.segment.id, "reference"))
                for one in pair.segment.references
            )
        return rows

    def score(self, total: Array, level: Level) -> Score:
        """The mean over the segments."""
        return Score(ratio(total[0], total[1], on_empty=0.0))

    def _words(self, sentence: Sentence, segment: str, side: str) -> dict[int, Counter[str]]:
        """How often each word stands in fillers of each type."""
        if sentence.tokens == ():
            return {}
        if sentence.tokens is None or sentence.frames is None:
            raise UsageError(
                f"{self.name} compares semantic roles, and the {side} of segment {segment} has "
                "none known; analyse the sentences first, or give parses of your own"
            )
        found: dict[int, Counter[str]] = {}
        known = structure(sentence)
        place = 0
        for length, number in zip(known.lengths, known.classes, strict=True):
            words = known.tokens[place : place + length]
            place += length
            if CLASSES[number] == PREDICATE and not self.predicates:
                continue
            counts = found.setdefault(NUMBER[PREDICATE] if self.pool else number, Counter())
            counts.update(sentence.tokens[word].lower() for word in words)
        return found


def _overlap(one: dict[int, Counter[str]], other: dict[int, Counter[str]]) -> float:
    kinds = one.keys() | other.keys()
    if not kinds:
        return 1.0
    none: Counter[str] = Counter()
    shares = []
    # In order, so that sums of the same numbers are the same sums.
    for kind in sorted(kinds):
        left, right = one.get(kind, none), other.get(kind, none)
        shares.append(ratio((left & right).total(), (left | right).total(), on_empty=0.0))
    return sum(shares) / len(shares)
