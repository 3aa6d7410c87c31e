"""Pairs of sentences with a label: whether they mean the same, or one follows from the other.

A table with tabs, one header row, no quoting. The label is 1 or 0 (also yes, no, true, false).
The sentences stand in two columns of the names in `SIDES`; of entailment, the text is the
hypothesis of the pair and what is to follow from it the reference. A column `task` is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy
from numpy.typing import NDArray

from meantime.errors import FormatError, InputError
from meantime.formats.opening import decode, display, lines, load
from meantime.types import Pair, Segment, Sentence

SIDES = (("sentence1", "sentence2"), ("text", "hypothesis"), ("hypothesis", "reference"))
"""Names of the columns of the two sentences; the first that are there count."""

LABEL = "label"
LABELS = {"1": 1, "yes": 1, "true": 1, "0": 0, "no": 0, "false": 0}


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPairs:
    """Pairs, their labels, and what task each belongs to."""

    name: str
    pairs: tuple[Pair, ...]
    labels: NDArray[numpy.int64]
    tasks: tuple[str, ...] | None

    def __len__(self) -> int:
        return len(self.pairs)


def read_labelled(path: str | Path, *, lang: str = "en") -> LabelledPairs:
    """Read a file of pairs.

    Raises:
        FormatError: A column is missing, a row has too few fields, or a label is neither 0 nor 1.
        InputError: There is no such file, or no pair in it.
    """
    name = display(path)
    listed = lines(decode(name, load(path)))
    header = [column.strip().lower() for column in listed[0].split("\t")] if listed else []
    label = _column(name, header, LABEL)
    sides = next((pair for pair in SIDES if set(pair) <= set(header)), None)
    if sides is None:
        wanted = " or ".join(" and ".join(pair) for pair in SIDES)
        raise FormatError(
            f"{name}:1: no two columns of sentences; name them {wanted}, with tabs between"
        )
    left, right = (header.index(side) for side in sides)
    task = header.index("task") if "task" in header else None
    pairs, labels, tasks = [], [], []
    for number, line in enumerate(listed[1:], 2):
        if not line:
            continue
        fields = line.split("\t")
        if len(fields) != len(header):
            raise FormatError(
                f"{name}:{number}: {len(fields)} columns, expected {len(header)}; put tabs between"
            )
        value = LABELS.get(fields[label].strip().lower())
        if value is None:
            raise FormatError(
                f"{name}:{number}: the label {fields[label]!r} is neither 1 nor 0; write 1 where "
                "the two mean the same and 0 where not"
            )
        segment = Segment(str(number - 1), (Sentence(fields[right], lang),))
        pairs.append(Pair(Sentence(fields[left], lang), segment))
        labels.append(value)
        tasks.append(fields[task] if task is not None else "")
    if not pairs:
        raise InputError(f"{name}: holds no pair; give one a line below the header")
    return LabelledPairs(
        name,
        tuple(pairs),
        numpy.array(labels, dtype=numpy.int64),
        tuple(tasks) if task is not None else None,
    )


def _column(name: str, header: list[str], wanted: str) -> int:
    if wanted in header:
        return header.index(wanted)
    near = get_close_matches(wanted, header, n=1)
    hint = f"is {near[0]!r} meant? " if near else ""
    raise FormatError(
        f"{name}:1: no column {wanted!r}; {hint}the columns are {', '.join(header) or 'none'}"
    )
