r"""The arithmetic of HMEANT (Lo and Wu 2010, section 3.3), on counts and on judgements.

    precision = sum over matched i of  (w0 + w1 C_core + w2 C_argm + wp (w1 P_core + w2 P_argm))
                                       / (w0 + w1 MT_core + w2 MT_argm)    / predicates in MT
    recall    = the same with the reference's totals and number of predicates
    F         = 2 precision recall / (precision + recall)

C and P count the arguments judged correct and partial. Whether an argument is core is asked of
the hypothesis' label for precision and of the reference's for recall, so that no share exceeds 1
where the two sides call an argument differently.

The paper prints C_recall with w1 and w2 exchanged; here w1 weighs core arguments and w2 adjuncts
on both sides, as its text says. With its weights, all 1, this changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from meantime.errors import InputError
from meantime.types import Frame, FrameMatch, Judgement, Judgements, Verdict

CORE = frozenset({"actor", "agent", "experiencer", "patient"})
"""Labels of core arguments besides the numbered ones of PropBank (ARG0 to ARG5, A0 to A5)."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a matched predicate, a core argument, an adjunct and a partial verdict are worth."""

    predicate: float = 1.0
    core: float = 1.0
    adjunct: float = 1.0
    partial: float = 0.5


PAPER = Weights()
"""The weights of Lo and Wu 2010."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f: float


def is_core(label: str, core: frozenset[str] | None = None) -> bool:
    """Whether a label names a core argument; `core` lists them, by default the usual ones."""
    if core is not None:
        return label in core
    bare = label.casefold()
    while bare.startswith(("c-", "r-")):
        bare = bare[2:]
    digits = bare.removeprefix("arg") if bare.startswith("arg") else bare.removeprefix("a")
    return bare in CORE or (digits != bare and digits[:1].isdigit())


def measure_judgement(
    hypothesis: Sequence[Frame],
    reference: Sequence[Frame],
    judgement: Judgement,
    *,
    weights: Weights = PAPER,
    core: frozenset[str] | None = None,
    frameless: float = 1.0,
) -> Accuracy:
    """What one judge's decisions on one annotator's frames are worth.

    Args:
        hypothesis: The frames an annotator found in the hypothesis.
        reference: The frames of the reference.
        judgement: A judge's decisions on them.
        weights: What each kind of decision is worth.
        core: Labels of core arguments; by default the usual ones.
        frameless: What a hypothesis gets where neither side has a frame.

    Raises:
        InputError: The judgement speaks of a frame or role that is not there, or of one twice.
    """
    check_judgement(hypothesis, reference, judgement)
    if not hypothesis and not reference:
        return Accuracy(frameless, frameless, frameless)
    precision = recall = 0.0
    for match in judgement.matches:
        precision += _share(hypothesis[match.hypothesis], match, True, weights, core)
        recall += _share(reference[match.reference], match, False, weights, core)
    # A side without frames has nothing right where the other has some.
    precision = precision / len(hypothesis) if hypothesis else 0.0
    recall = recall / len(reference) if reference else 0.0
    total = precision + recall
    return Accuracy(precision, recall, 2 * precision * recall / total if total else 0.0)


def _share(
    frame: Frame, match: FrameMatch, left: bool, weights: Weights, core: frozenset[str] | None
) -> float:
    """How much of a matched frame of one side is right, from 0 to 1."""
    worth = [weights.core if is_core(role.label, core) else weights.adjunct for role in frame.roles]
    right = weights.predicate
    for verdict in match.verdicts:
        own = verdict.hypothesis if left else verdict.reference
        if own is None or verdict.verdict is Verdict.INCORRECT:
            continue
        right += worth[own] * (1.0 if verdict.verdict is Verdict.CORRECT else weights.partial)
    whole = weights.predicate + sum(worth)
    # All weights may be 0 for a frame: then there is nothing in it to get wrong.
    return right / whole if whole else 1.0


def measure_judgements(
    judgements: Judgements,
    *,
    weights: Weights = PAPER,
    frameless: float = 1.0,
) -> Accuracy:
    """The mean over annotators of the mean over their judges.

    Readings that no judge has seen are left out.

    Raises:
        InputError: No reading was judged, or a judgement is not of these frames.
    """
    readings = []
    for reading in judgements.readings:
        judged = [
            measure_judgement(
                reading.frames,
                judgements.reference_frames,
                judgement,
                weights=weights,
                core=judgements.core,
                frameless=frameless,
            )
            for judgement in reading.judgements
        ]
        if judged:
            readings.append(mean(judged))
    if not readings:
        raise InputError("no annotator's reading was judged; have judges compare one")
    return mean(readings)


def mean(items: Sequence[Accuracy]) -> Accuracy:
    """Each figure's mean; F is the mean of F, as in the paper, and not made of the other two."""
    return Accuracy(
        fmean(item.precision for item in items),
        fmean(item.recall for item in items),
        fmean(item.f for item in items),
    )


def check_judgement(
    hypothesis: Sequence[Frame], reference: Sequence[Frame], judgement: Judgement
) -> None:
    """Refuse decisions on what is not there, and two decisions on one thing.

    Raises:
        InputError: With the judge, the number and the remedy.
    """
    frames = [("hypothesis", m.hypothesis, len(hypothesis)) for m in judgement.matches]
    frames += [("reference", m.reference, len(reference)) for m in judgement.matches]
    _check("frame", frames, judgement.judge)
    for match in judgement.matches:
        ours, theirs = hypothesis[match.hypothesis].roles, reference[match.reference].roles
        roles = []
        for verdict in match.verdicts:
            if verdict.hypothesis is None and verdict.reference is None:
                raise InputError(
                    f"judge {judgement.judge}: a verdict on no role of either side; name a role"
                )
            one_sided = verdict.hypothesis is None or verdict.reference is None
            if one_sided and verdict.verdict is not Verdict.INCORRECT:
                raise InputError(
                    f"judge {judgement.judge}: a role that is missing or extra is called "
                    f"{verdict.verdict}; it can only be incorrect, or name the role it stands for"
                )
            if verdict.hypothesis is not None:
                roles.append(("hypothesis", verdict.hypothesis, len(ours)))
            if verdict.reference is not None:
                roles.append(("reference", verdict.reference, len(theirs)))
        _check("role", roles, judgement.judge)


def _check(what: str, named: Sequence[tuple[str, int, int]], judge: str) -> None:
    for side, number, count in named:
        if not 0 <= number < count:
            raise InputError(
                f"judge {judge}: {what} {number} of the {side}, which has {count}; "
                "count from 0, in the order in which they are listed"
            )
    seen = set()
    for side, number, _ in named:
        if (side, number) in seen:
            raise InputError(f"judge {judge}: {what} {number} of the {side} twice; keep one")
        seen.add((side, number))
