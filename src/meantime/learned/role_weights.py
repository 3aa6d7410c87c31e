"""Weights of role classes fitted to human scores, as the MEANT papers found theirs.

(Lo and Wu 2011; Tumuluru, Lo and Wu 2012, Tables 4 and 5.) Every vector of twelve whole numbers
from 0 that sum to 12 is tried, 1,352,078 of them, on statistics computed once; from the best one a
finer search goes on in steps of 1/2, 1/4 and 1/8. The objective is the mean, over groups of pairs
(language pairs, say), of Kendall's tau-b or of Pearson's correlation within the group.

Of vectors that are equally good (to 1e-7) the one nearest to equal weights is taken, that is the
one of least sum of squares; of those the first in falling lexicographic order of the papers'
class order. Ties do occur: a class that no frame has does not matter.

`climb` looks at a few thousand of these vectors only, for experiments that fit many times.

What was fitted on a group says little of it, so each group is also scored by weights fitted on
the others; the mean of those is what to expect elsewhere. The finer search is kept only if it
is better there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from meantime.alignment.roles import CLASSES
from meantime.alignment.weights import RoleWeights
from meantime.errors import InputError, LengthMismatch, UsageError
from meantime.learned.objectives import Objective
from meantime.matching import weighing
from meantime.matching.weighing import Rows, Task
from meantime.protocols import Array

TOTAL = 12
STEPS = (0.5, 0.25, 0.125)
TIED = 1e-7
FEWEST = 4
"""Pairs a group needs to be counted."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Fit:
    """Fitted weights, and how good they are."""

    weights: RoleWeights
    objective: float
    """Mean over groups, on the data they were fitted on."""
    held_out: float | None
    """Mean over groups, each by weights fitted on the others; None with a single group."""
    uniform: float
    """The same objective with equal weights."""
    integer: tuple[int, ...]
    """The best of the vectors that sum to 12."""
    integer_objective: float
    integer_held_out: float | None
    finer: bool
    """Whether the finer search was kept."""
    by_group: Mapping[str, tuple[float, float | None, float]]
    """Fitted, held out and uniform, for each group."""


def make_task(
    rows: tuple[Rows, Rows, Array], groups: Sequence[str], human: Sequence[float], alpha: float
) -> tuple[Task, tuple[str, ...]]:
    """The pairs of a metric's `weighing` with their groups and human scores, ready to be tried.

    Returns:
        The task, and the names of the groups in its order.
    """
    left, right, otherwise = rows
    if not len(groups) == len(human) == len(otherwise):
        raise LengthMismatch(
            f"{len(otherwise)} pairs, {len(groups)} groups and {len(human)} human scores; "
            "give one of each a pair"
        )
    names = tuple(dict.fromkeys(groups))
    values = numpy.asarray(human, dtype=numpy.float64)
    numbers = numpy.array([names.index(name) for name in groups], dtype=numpy.int64)
    order = numpy.lexsort((values, numbers))
    counts = numpy.bincount(numbers, minlength=len(names))
    for name, count, number in zip(names, counts, range(len(names)), strict=True):
        if count < FEWEST:
            raise InputError(
                f"group {name or '(unnamed)'} has {count} judged pairs; weights need {FEWEST} a "
                "group: leave it out or join groups"
            )
        found = values[numbers == number]
        if not numpy.isfinite(found).all() or found.min() == found.max():
            raise InputError(
                f"group {name or '(unnamed)'}: all human scores are equal or some are not known; "
                "nothing can be fitted to them"
            )
    offsets = numpy.zeros(len(names) + 1, dtype=numpy.int64)
    numpy.cumsum(counts, out=offsets[1:])
    task = Task(
        weighing.take_pairs(left, order),
        weighing.take_pairs(right, order),
        otherwise[order],
        values[order],
        offsets,
        alpha,
    )
    return task, names


def fit(
    task: Task,
    names: Sequence[str],
    *,
    objective: Objective = Objective.KENDALL,
    total: int = TOTAL,
    finer: bool = True,
    provenance: Mapping[str, object] | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Find the weights whose scores agree best with people.

    Args:
        task: From `make_task`.
        names: Of the groups.
        objective: What agreement means.
        total: What the whole numbers sum to; 12 in the papers.
        finer: Whether to search on from the best whole numbers.
        provenance: What the data were, to be kept with the weights.
        progress: Told how many vectors were tried, and of how many.
    """
    number = weighing.KENDALL if objective is Objective.KENDALL else weighing.PEARSON
    vectors, found = weighing.try_all(task, len(CLASSES), total, number, progress)
    every = numpy.arange(len(names))
    best = _choose(vectors, found.mean(axis=1))
    integer = vectors[best].astype(numpy.float64)
    refined = _refine(task, number, integer, every) if finer else integer
    held_integer: list[float] = []
    held_finer: list[float] = []
    if len(names) > 1:
        for group in every:
            others = every[every != group]
            start = vectors[_choose(vectors, found[:, others].mean(axis=1))].astype(numpy.float64)
            held_integer.append(float(weighing.try_weights(task, start[None], number)[0, group]))
            if finer:
                one = _refine(task, number, start, others)
                held_finer.append(float(weighing.try_weights(task, one[None], number)[0, group]))
    better = not numpy.array_equal(refined, integer)
    kept = better and (not held_finer or numpy.mean(held_finer) > numpy.mean(held_integer))
    chosen = refined if kept else integer
    equal = numpy.ones(len(CLASSES))
    at = weighing.try_weights(task, numpy.stack([chosen, integer, equal]), number)
    held = (held_finer if kept else held_integer) or None
    by_group = {
        name: (float(at[0, n]), None if held is None else held[n], float(at[2, n]))
        for n, name in enumerate(names)
    }
    means = at.mean(axis=1)
    made = {
        **(provenance or {}),
        "objective": f"{objective.value}, mean over groups, of which there are {len(names)}",
        "search": f"all whole numbers that sum to {total}"
        + (f", then steps of {', '.join(f'{step:g}' for step in STEPS)}" if kept else ""),
        "pairs": int(task.groups[-1]),
        "fitted": round(float(means[0]), 4),
        "held out": None if held is None else round(float(numpy.mean(held)), 4),
        "equal weights": round(float(means[2]), 4),
    }
    return Fit(
        weights=RoleWeights(tuple(chosen.tolist()), made),
        objective=float(means[0]),
        held_out=None if held is None else float(numpy.mean(held)),
        uniform=float(means[2]),
        integer=tuple(int(value) for value in integer),
        integer_objective=float(means[1]),
        integer_held_out=float(numpy.mean(held_integer)) if held_integer else None,
        finer=bool(kept),
        by_group=by_group,
    )


@dataclass(frozen=True, slots=True)
class Climbed:
    """The best whole numbers that climbing found."""

    integer: tuple[int, ...]
    objective: float
    uniform: float
    """The same objective with equal weights."""
    tried: int
    """Vectors looked at."""


def climb(
    task: Task,
    *,
    objective: Objective = Objective.KENDALL,
    total: int = TOTAL,
    coarse: int = 4,
    starts: int = 3,
) -> Climbed:
    """Good whole numbers that sum to `total`, without trying them all.

    Every vector that sums to `coarse` is tried. From the best `starts` of them, multiplied up to
    `total`, and from equal weights, one unit at a time is moved from a class to another, whichever
    move helps most, until none does. What is found need not be the best there is; of equals, the
    rule for ties holds among the ends.

    Args:
        task: From `make_task`.
        objective: What agreement means.
        total: What the whole numbers sum to; a multiple of `coarse`.
        coarse: What the vectors tried first sum to.
        starts: From how many of these to climb.

    Raises:
        UsageError: `total` is no multiple of `coarse`, or there is nowhere to start.
    """
    if coarse < 1 or total < coarse or total % coarse or starts < 1:
        raise UsageError(
            f"total={total}, coarse={coarse}, starts={starts}; total must be a multiple of coarse "
            "and starts 1 or more"
        )
    number = weighing.KENDALL if objective is Objective.KENDALL else weighing.PEARSON
    first, found = weighing.try_all(task, len(CLASSES), coarse, number)
    means = found.mean(axis=1)
    order = numpy.lexsort(((first.astype(numpy.int64) ** 2).sum(axis=1), -means))[:starts]
    begun = [tuple((first[place].astype(int) * (total // coarse)).tolist()) for place in order]
    if total % len(CLASSES) == 0:
        begun.append((total // len(CLASSES),) * len(CLASSES))
    known: dict[tuple[int, ...], float] = {}

    def values(vectors: list[tuple[int, ...]]) -> list[float]:
        new = [one for one in vectors if one not in known]
        if new:
            tried = weighing.try_weights(task, numpy.array(new, dtype=numpy.float64), number)
            known.update(zip(new, tried.mean(axis=1).tolist(), strict=True))
        return [known[one] for one in vectors]

    ends = []
    for start in begun:
        current = start
        [value] = values([current])
        while True:
            moves = _moves(current)
            reached = values(moves)
            place = int(numpy.argmax(reached))
            if reached[place] <= value + TIED:
                break
            current, value = moves[place], reached[place]
        ends.append(current)
    # Falling order, as `_choose` wants it.
    ends = sorted(set(ends), reverse=True)
    best = ends[_choose(numpy.array(ends), numpy.array(values(ends)))]
    every = numpy.arange(len(task.groups) - 1)
    uniform = _mean(task, number, numpy.ones(len(CLASSES)), every)
    return Climbed(best, known[best], uniform, len(first) + len(known))


def _moves(vector: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All vectors with one unit of a class moved to another."""
    moves = []
    for giver, amount in enumerate(vector):
        for taker in range(len(vector)):
            if amount > 0 and giver != taker:
                moved = list(vector)
                moved[giver] -= 1
                moved[taker] += 1
                moves.append(tuple(moved))
    return moves


def _choose(vectors: NDArray[Any], values: NDArray[Any]) -> int:
    """The best vector by the rule for ties."""
    near = numpy.flatnonzero(values >= values.max() - TIED)
    squares = (vectors[near].astype(numpy.int64) ** 2).sum(axis=1)
    # Vectors come in falling lexicographic order, so the first of equals is the one wanted.
    return int(near[numpy.argmin(squares)])


def _refine(task: Task, number: int, start: Array, groups: NDArray[numpy.int64]) -> Array:
    """Better weights near `start`: one class at a time up or down, while that helps."""
    current = start
    value = _mean(task, number, current, groups)
    for step in STEPS:
        while True:
            tries = [current + step * unit for unit in numpy.eye(len(CLASSES))]
            tries += [current - step * unit for unit in numpy.eye(len(CLASSES))]
            tries = [one for one in tries if one.min() >= 0 and one.max() > 0]
            values = weighing.try_weights(task, numpy.stack(tries), number)[:, groups]
            means = values.mean(axis=1)
            place = int(numpy.argmax(means))
            if means[place] <= value + TIED:
                break
            current, value = tries[place], float(means[place])
    return current


def _mean(task: Task, number: int, weights: Array, groups: NDArray[numpy.int64]) -> float:
    return float(weighing.try_weights(task, weights[None], number)[0, groups].mean())
