"""How far annotators agree, and judges: Lo and Wu 2010, section 4.

The F-score of Brants 2000: of two markings of one sentence, either may be called the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy

from meantime.types import Frame, Judgement, Role, Span

TOLERANCE = 1
"""Words by which either end of a span may be off: articles and punctuation differ."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of what two markings have, and of what they have in common; they add up."""

    identified: int = 0
    classified: int = 0
    ours: int = 0
    theirs: int = 0
    predicates: int = 0
    our_predicates: int = 0
    their_predicates: int = 0
    pairs: int = 0

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(
            *(getattr(self, name) + getattr(other, name) for name in Agreement.__dataclass_fields__)
        )

    @property
    def identification(self) -> float | None:
        """F of spans that are the same but for a word at either end; none without any."""
        return _f(self.identified, self.ours + self.theirs)

    @property
    def classification(self) -> float | None:
        """F of spans that are the same and have the same label."""
        return _f(self.classified, self.ours + self.theirs)

    @property
    def predicate(self) -> float | None:
        """F of predicates, with the same tolerance."""
        return _f(self.predicates, self.our_predicates + self.their_predicates)


def _f(common: int, total: int) -> float | None:
    return 2 * common / total if total else None


def compare(ours: Sequence[Frame], theirs: Sequence[Frame]) -> Agreement:
    """What two markings of one sentence have in common.

    Roles are paired one to one so that as many as possible are the same, and of those ways one
    in which most labels are; which frame a role stands in is not asked, as in the paper.
    """
    left = [role for frame in ours for role in frame.roles]
    right = [role for frame in theirs for role in frame.roles]
    identified, classified = _pair(left, right)
    predicates, _ = _pair(
        [Role("", (frame.predicate,)) for frame in ours],
        [Role("", (frame.predicate,)) for frame in theirs],
    )
    return Agreement(
        identified,
        classified,
        len(left),
        len(right),
        predicates,
        len(ours),
        len(theirs),
        1,
    )


def is_same(ours: Sequence[Span], theirs: Sequence[Span]) -> bool:
    """Whether two fillers are the same but for `TOLERANCE` words at the ends of each part.

    Each part has a word in common with the other's: a single word is not its neighbour.
    """
    return len(ours) == len(theirs) and all(
        abs(one.start - other.start) <= TOLERANCE
        and abs(one.end - other.end) <= TOLERANCE
        and one.start < other.end
        and other.start < one.end
        for one, other in zip(ours, theirs, strict=True)
    )


def _pair(ours: Sequence[Role], theirs: Sequence[Role]) -> tuple[int, int]:
    if not ours or not theirs:
        return 0, 0
    from scipy.optimize import linear_sum_assignment

    gain = numpy.zeros((len(ours), len(theirs)))
    for row, one in enumerate(ours):
        for column, other in enumerate(theirs):
            if is_same(one.spans, other.spans):
                # A label is worth less than a span, however many labels there are.
                gain[row, column] = 1 + (one.label == other.label) / (len(ours) + 1)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    chosen = [(r, c) for r, c in zip(rows, columns, strict=True) if gain[r, c] > 0]
    same = sum(ours[r].label == theirs[c].label for r, c in chosen)
    return len(chosen), same


@dataclass(frozen=True, slots=True)
class JudgesAgreement:
    """How two judges of one reading agree: which frames match, and the verdicts on roles."""

    frames: int = 0
    same_frames: int = 0
    verdicts: int = 0
    same_verdicts: int = 0
    ours: tuple[tuple[str, int], ...] = ()
    theirs: tuple[tuple[str, int], ...] = ()

    def __add__(self, other: JudgesAgreement) -> JudgesAgreement:
        return JudgesAgreement(
            self.frames + other.frames,
            self.same_frames + other.same_frames,
            self.verdicts + other.verdicts,
            self.same_verdicts + other.same_verdicts,
            tuple(sorted((Counter(dict(self.ours)) + Counter(dict(other.ours))).items())),
            tuple(sorted((Counter(dict(self.theirs)) + Counter(dict(other.theirs))).items())),
        )

    @property
    def matching(self) -> float | None:
        """Share of the reference's frames for which both chose the same."""
        return self.same_frames / self.frames if self.frames else None

    @property
    def verdict(self) -> float | None:
        """Share of the roles of frames both matched alike that have the same verdict."""
        return self.same_verdicts / self.verdicts if self.verdicts else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa of the verdicts; none without any, or where chance leaves no room."""
        if not self.verdicts:
            return None
        ours, theirs = Counter(dict(self.ours)), Counter(dict(self.theirs))
        chance = sum(ours[one] * theirs[one] for one in ours) / self.verdicts**2
        share = self.same_verdicts / self.verdicts
        return (share - chance) / (1 - chance) if chance < 1 else None


def compare_judges(
    ours: Judgement, theirs: Judgement, reference: Sequence[Frame]
) -> JudgesAgreement:
    """What two judgements of one reading have in common."""
    left = {match.reference: match for match in ours.matches}
    right = {match.reference: match for match in theirs.matches}
    same = verdicts = alike = 0
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for number, frame in enumerate(reference):
        one, other = left.get(number), right.get(number)
        chosen = [None if match is None else match.hypothesis for match in (one, other)]
        same += chosen[0] == chosen[1]
        if one is None or other is None or chosen[0] != chosen[1]:
            continue
        said = [
            {verdict.reference: str(verdict.verdict) for verdict in match.verdicts}
            for match in (one, other)
        ]
        for role in range(len(frame.roles)):
            pair = [side.get(role, "incorrect") for side in said]
            verdicts += 1
            alike += pair[0] == pair[1]
            for count, verdict in zip(counts, pair, strict=True):
                count[verdict] += 1
    tables: Sequence[Mapping[str, int]] = counts
    return JudgesAgreement(
        len(reference),
        same,
        verdicts,
        alike,
        tuple(sorted(tables[0].items())),
        tuple(sorted(tables[1].items())),
    )
