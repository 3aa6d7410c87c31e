"""Labelled spans around a predicate, joined into roles and taken apart again.

A span `C-X` continues the role X before it: together they are one role of several spans. So
that no filler gets lost, a `C-X` without an X before it is a role X. Two things keep their
labels: `R-X`, which refers to a role and is one, and `C-V`, because a frame's predicate is one
span and has no further parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from meantime.errors import InputError
from meantime.types import Frame, Role, Span

PREDICATE = "V"
CONTINUES = "C-"
_KEPT = "C-V"


def join(parts: Sequence[tuple[str, Span]]) -> tuple[Role, ...]:
    """Roles of labelled spans, in the order of their first spans."""
    labels: list[str] = []
    spans: list[list[Span]] = []
    latest: dict[str, int] = {}
    for label, span in sorted(parts, key=lambda part: part[1]):
        continued = label != _KEPT and label.startswith(CONTINUES)
        name = label.removeprefix(CONTINUES) if continued else label
        if continued and name in latest:
            spans[latest[name]].append(span)
        else:
            latest[name] = len(labels)
            labels.append(name)
            spans.append([span])
    return tuple(Role(label, tuple(parts)) for label, parts in zip(labels, spans, strict=True))


def split(roles: Sequence[Role]) -> list[tuple[str, Span]]:
    """Labelled spans of roles, from left to right."""
    parts = [
        (f"{CONTINUES}{role.label}" if number else role.label, span)
        for role in roles
        for number, span in enumerate(role.spans)
    ]
    return sorted(parts, key=lambda part: part[1])


def overlap(parts: Sequence[tuple[str, Span]]) -> tuple[tuple[str, Span], tuple[str, Span]] | None:
    """The first two spans that share a token, if any."""
    ordered = sorted(parts, key=lambda part: part[1])
    for first, second in pairwise(ordered):
        if second[1].start < first[1].end:
            return first, second
    return None


def find_fault(frame: Frame, length: int) -> str | None:
    """What is wrong with a frame over so many tokens, with its remedy; none if nothing is."""
    parts = [(PREDICATE, frame.predicate), *split(frame.roles)]
    for label, span in parts:
        if span.end > length:
            return (
                f"{label} ends at token {span.end} of {length}; spans are half-open ranges of "
                "the sentence's tokens"
            )
    for role in frame.roles:
        if not role.spans:
            return f"the role {role.label} has no span; leave it out"
    both = overlap(parts)
    if both is not None:
        (first, _), (second, span) = both
        return (
            f"{first} and {second} overlap at token {span.start + 1}; the roles of a frame "
            "share no token: keep one of them"
        )
    return None


def check(frame: Frame, length: int, where: str) -> None:
    """Refuse a frame that no format can hold.

    Raises:
        InputError: Spans overlap or end behind the sentence.
    """
    fault = find_fault(frame, length)
    if fault is not None:
        raise InputError(f"{where}: {fault}")


def check_parts(frame: Frame, where: str) -> None:
    """Refuse a frame whose roles are not found again once they are taken apart.

    Raises:
        InputError: Another role of the same label stands between the spans of a split one, or
            roles or spans are not in the order of the sentence.
    """
    if join(split(frame.roles)) != frame.roles:
        raise InputError(
            f"{where}: the roles of the predicate at token {frame.predicate.start + 1} are out "
            "of order, or one is split around another of its label; write jsonl, which keeps "
            "them as they are"
        )
