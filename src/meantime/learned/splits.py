"""Which examples train and which test: always by group, so that no segment is on both sides."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError, UsageError

Indices = NDArray[numpy.int64]


def number_groups(groups: Sequence[Hashable]) -> Indices:
    """Groups as numbers, in order of appearance."""
    known: dict[Hashable, int] = {}
    return numpy.array([known.setdefault(group, len(known)) for group in groups], dtype=numpy.int64)


def hold_out(groups: Sequence[Hashable], share: float, *, seed: int) -> NDArray[numpy.bool_]:
    """Which examples are held out: those of a share of the groups, drawn by chance.

    Raises:
        InputError: There are too few groups to have some on either side.
    """
    if not 0 < share < 1:
        raise UsageError(f"held_out={share:g}; give a share between 0 and 1")
    numbers = number_groups(groups)
    count = int(numbers.max()) + 1 if len(numbers) else 0
    held = round(count * share)
    if not 0 < held < count:
        raise InputError(
            f"{count} segments, of which {share:.0%} are to be held out; give more segments"
        )
    chosen = numpy.random.default_rng(seed).permutation(count)[:held]
    return numpy.isin(numbers, chosen)


def make_folds(groups: Sequence[Hashable], folds: int, *, seed: int) -> Indices:
    """A fold for each example; the examples of a group have the same.

    Raises:
        InputError: There are fewer groups than folds.
    """
    if folds < 2:
        raise UsageError(f"folds={folds}; give 2 or more")
    numbers = number_groups(groups)
    count = int(numbers.max()) + 1 if len(numbers) else 0
    if count < folds:
        raise InputError(
            f"{count} segments for {folds} folds; give at least one a fold, or fewer folds"
        )
    order = numpy.random.default_rng(seed).permutation(count)
    places = numpy.empty(count, dtype=numpy.int64)
    places[order] = numpy.arange(count) % folds
    return places[numbers]
