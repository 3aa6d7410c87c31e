"""What a judge's, a ranker's and a rater's answers are, and when they are complete.

A judge's answer holds a decision for every frame of the key: the number of the translation's
frame it matches, or None for no match; and for matched frames what became of every role.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from meantime.errors import InputError
from meantime.types import Frame, FrameMatch, Judgement, RoleVerdict, Verdict

Answer = Mapping[str, Any]

NOT_SAID = "unsaid"
RATINGS = (
    (1, "Useless", "captures absolutely none of the reference’s meaning", "franklin is a doctor."),
    (2, "Poor", "contains a few key words, but little or no meaning", "dog banana walk."),
    (3, "Mediocre", "contains some meaning, but with serious errors", "the dog walked bob."),
    (4, "Acceptable", "captures most of the meaning with only small errors", "bob walk the dog."),
    (5, "Human quality", "captures all of the reference’s meaning",
     "bob took the dog for a walk."),
)  # fmt: skip
"""The scale of Kulesza 2004, Figure 3.1, with its examples for "bob walked the dog."."""


def empty() -> dict[str, Any]:
    """A judgement nobody has worked on."""
    return {"matches": {}}


def match_frame(
    answer: Answer,
    reference: int,
    hypothesis: int | None,
    ours: Sequence[Frame],
    theirs: Sequence[Frame],
) -> dict[str, Any]:
    """Say which frame of the translation a frame of the reference is; `None` for none.

    Roles of the same label are put beside each other, for the judge to change and to judge.
    """
    if not 0 <= reference < len(theirs) or not (hypothesis is None or 0 <= hypothesis < len(ours)):
        raise InputError("This frame is not there. Load the page again.")
    matches = dict(answer["matches"])
    if hypothesis is not None:
        # A frame matches one other: the former match is open again.
        matches = {key: one for key, one in matches.items() if one["hypothesis"] != hypothesis}
    roles: list[dict[str, Any]] = []
    if hypothesis is not None:
        free = list(range(len(ours[hypothesis].roles)))
        for role in theirs[reference].roles:
            alike = [n for n in free if ours[hypothesis].roles[n].label == role.label]
            if alike:
                free.remove(alike[0])
            # What has nothing of its label beside it still has to be looked for.
            roles.append({"hypothesis": alike[0] if alike else NOT_SAID, "verdict": None})
    matches[str(reference)] = {"hypothesis": hypothesis, "roles": roles}
    return {"matches": matches}


def open_frame(answer: Answer, reference: int) -> dict[str, Any]:
    """Take a match back."""
    return {"matches": {k: one for k, one in answer["matches"].items() if k != str(reference)}}


def judge_role(
    answer: Answer,
    reference: int,
    role: int,
    hypothesis: int | str | None,
    verdict: str | None,
    ours: Sequence[Frame],
) -> dict[str, Any]:
    """Say which role of the translation's frame a role of the reference is, and how well."""
    match = answer["matches"].get(str(reference))
    if match is None or match["hypothesis"] is None or not 0 <= role < len(match["roles"]):
        raise InputError("This role is not there. Load the page again.")
    count = len(ours[match["hypothesis"]].roles)
    if isinstance(hypothesis, int) and not 0 <= hypothesis < count:
        raise InputError("This role is not there. Load the page again.")
    if isinstance(hypothesis, str) and hypothesis != NOT_SAID:
        raise InputError("This role is not there. Load the page again.")
    if verdict is not None and verdict not in list(Verdict):
        raise InputError("Choose Correct, Partial or Incorrect.")
    roles = [dict(one) for one in match["roles"]]
    for number, one in enumerate(roles):
        # A role stands for one other.
        if number != role and isinstance(hypothesis, int) and one["hypothesis"] == hypothesis:
            roles[number] = {"hypothesis": NOT_SAID, "verdict": None}
    spoken = isinstance(hypothesis, int)
    roles[role] = {"hypothesis": hypothesis, "verdict": verdict if spoken else None}
    matches = {**answer["matches"], str(reference): {**match, "roles": roles}}
    return {"matches": matches}


def extra_roles(answer: Answer, reference: int, ours: Sequence[Frame]) -> list[int]:
    """Roles of the matched frame that no role of the reference's is."""
    match = answer["matches"].get(str(reference))
    if match is None or match["hypothesis"] is None:
        return []
    used = {one["hypothesis"] for one in match["roles"]}
    return [n for n in range(len(ours[match["hypothesis"]].roles)) if n not in used]


def missing_decisions(answer: Answer, theirs: Sequence[Frame]) -> list[str]:
    """What a judge has still to decide, in words; empty when the answer is complete."""
    left = []
    for number, frame in enumerate(theirs):
        match = answer["matches"].get(str(number))
        if match is None:
            left.append(f"Event {number + 1}: which action of the translation is it, or none?")
            continue
        for role, one in zip(frame.roles, match["roles"], strict=False):
            if one["hypothesis"] == NOT_SAID:
                left.append(
                    f"Event {number + 1}, {role.label}: which words say it, or is it missing?"
                )
            elif one["hypothesis"] is not None and one["verdict"] is None:
                left.append(f"Event {number + 1}, {role.label}: Correct, Partial or Incorrect?")
    return left


def as_judgement(answer: Answer, judge: str) -> Judgement:
    """The decisions as the arithmetic takes them; missing and extra roles need none."""
    matches = []
    for key, match in sorted(answer["matches"].items(), key=lambda item: int(item[0])):
        if match["hypothesis"] is None:
            continue
        verdicts = []
        for number, one in enumerate(match["roles"]):
            if isinstance(one["hypothesis"], int):
                verdict = Verdict(one["verdict"] or Verdict.INCORRECT)
                verdicts.append(RoleVerdict(one["hypothesis"], number, verdict))
            else:
                verdicts.append(RoleVerdict(None, number, Verdict.INCORRECT))
        matches.append(FrameMatch(match["hypothesis"], int(key), tuple(verdicts)))
    return Judgement(judge, tuple(matches))


def from_judgement(judgement: Judgement, theirs: Sequence[Frame]) -> dict[str, Any]:
    """The answer that says what decisions say: what they do not speak of is no match."""
    matches: dict[str, Any] = {
        str(number): {"hypothesis": None, "roles": []} for number in range(len(theirs))
    }
    for match in judgement.matches:
        roles: list[dict[str, Any]] = [
            {"hypothesis": None, "verdict": None} for _ in theirs[match.reference].roles
        ]
        for verdict in match.verdicts:
            if verdict.reference is not None and verdict.hypothesis is not None:
                roles[verdict.reference] = {
                    "hypothesis": verdict.hypothesis,
                    "verdict": str(verdict.verdict),
                }
        matches[str(match.reference)] = {"hypothesis": match.hypothesis, "roles": roles}
    return {"matches": matches}


# Ordering


def shuffled(versions: Sequence[str], seed: str) -> list[str]:
    """Outputs in an order that tells nothing about their systems and stays the same."""
    return random.Random(seed).sample(sorted(versions), len(versions))


def empty_order(versions: Sequence[str], seed: str) -> dict[str, Any]:
    """An order nobody has worked on: `tied` says who is as good as the one above."""
    return {"order": shuffled(versions, seed), "tied": [False] * len(versions), "touched": False}


def move(answer: Answer, place: int, by: int) -> dict[str, Any]:
    """Move an output up (-1) or down (+1); it is tied to nothing then."""
    order, tied = list(answer["order"]), list(answer["tied"])
    other = place + by
    if not (0 <= place < len(order) and 0 <= other < len(order)):
        raise InputError("It cannot go any further.")
    order[place], order[other] = order[other], order[place]
    for one in (min(place, other), max(place, other), max(place, other) + 1):
        if one < len(tied):
            tied[one] = False
    return {"order": order, "tied": tied, "touched": True}


def tie(answer: Answer, place: int, tied: bool) -> dict[str, Any]:
    """Say whether an output is as good as the one above it."""
    if not 0 < place < len(answer["order"]):
        raise InputError("Nothing stands above it.")
    marks = list(answer["tied"])
    marks[place] = tied
    return {**answer, "tied": marks, "touched": True}


def ranks(answer: Answer) -> dict[str, float]:
    """The rank of each output, 1 the best; equals share the mean of their places."""
    groups: list[list[str]] = []
    for version, tied in zip(answer["order"], answer["tied"], strict=True):
        if tied and groups:
            groups[-1].append(version)
        else:
            groups.append([version])
    found = {}
    place = 1
    for group in groups:
        for version in group:
            found[version] = place + (len(group) - 1) / 2
        place += len(group)
    return found
