"""Who gets which task: the paper's rules, balance, and what is repeated.

Pure: the store asks with what it knows, inside the transaction that claims the task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Candidate:
    """An open task: what it is of, and where in the campaign it stands."""

    task: str
    segment: str
    target: str
    system: str
    position: int


@dataclass(frozen=True, slots=True)
class Worker:
    """What somebody has had so far: tasks by system, targets, and what they saw of segments."""

    id: str
    systems: Mapping[str, int]
    segments: Mapping[str, str]
    """Segments of which they saw a version, and which."""
    targets: Set[str]

    @property
    def count(self) -> int:
        return sum(self.systems.values())


def may_take(worker: Worker, candidate: Candidate, *, whole_segments: bool) -> bool:
    """Whether a task breaks no rule.

    Args:
        worker: Who asks.
        candidate: The task.
        whole_segments: Whether having seen another version of the segment forbids it (marking),
            or only having had the same target (judging, ordering, rating). A version they saw and
            gave back they may take again.
    """
    if candidate.target in worker.targets:
        return False
    if not whole_segments:
        return True
    return worker.segments.get(candidate.segment, candidate.target) == candidate.target


def choose(
    worker: Worker,
    others: Sequence[Worker],
    candidates: Sequence[Candidate],
    total: int,
    *,
    whole_segments: bool,
) -> Candidate | None:
    """The task somebody should get next; none if there is none for them now.

    Segments are worked through in order, so that judges soon have work; within one, people get
    the systems they have had least. Somebody with a fair share (the tasks there are, by the
    people there are) only gets what too few of the others can still take.

    Args:
        worker: Who asks.
        others: The other active people of the same role.
        candidates: Open tasks.
        total: How many tasks of this kind there are, open or not.
        whole_segments: As in `may_take`.
    """
    allowed = [c for c in candidates if may_take(worker, c, whole_segments=whole_segments)]
    share = -(-total // (len(others) + 1))
    if worker.count >= share:
        free = [other for other in others if other.count < share]
        kept = []
        waiting = Counter(c.segment if whole_segments else c.target for c in candidates)
        able: dict[str, int] = {}
        for candidate in allowed:
            place = candidate.segment if whole_segments else candidate.target
            if place not in able:
                able[place] = sum(
                    may_take(other, candidate, whole_segments=whole_segments) for other in free
                )
            if able[place] < waiting[place]:
                kept.append(candidate)
        allowed = kept
    if not allowed:
        return None

    def order(candidate: Candidate) -> tuple[int, bool, int, str]:
        chance = sha256(f"{worker.id} {candidate.task}".encode()).hexdigest()
        had = worker.systems.get(candidate.system, 0)
        # The key, which is no system's, first: without it nothing of the segment can be judged.
        return (candidate.position, candidate.system != "", had, chance)

    return min(allowed, key=order)


def wants_repeat(done: int, repeated: int, every: int) -> bool:
    """Whether the next task should be one the person has done already: one in `every`."""
    return every > 0 and done // every > repeated
