"""What the experiment is made of: examples to learn from, and judged translations to test on.

Nothing is trained, selected or chosen on the judged translations. All choices by chance depend on
the seed alone.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy

from meantime.types import Pair, Segment, Sentence

WMT = Path(__file__).resolve().parents[3] / "shared" / "data" / "wmt"
SEED = 2004
SEGMENTS = 1500
"""Source segments to learn from; a third of them only to select."""
JUDGED = 1500
"""Judged translations of each test."""

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Examples:
    """Translations by people and machines, four of a segment, each with the other reference."""

    pairs: list[Pair]
    human: numpy.ndarray
    held_out: numpy.ndarray


@dataclass(frozen=True)
class Judged:
    """Translations with scores of people, against one reference and against both."""

    name: str
    one: list[Pair]
    both: list[Pair]
    score: numpy.ndarray
    other: numpy.ndarray | None
    """A second, independent human score of the same translations."""
    human: numpy.ndarray
    """Whether a translation is a person's."""


def read(name: str) -> Iterator[dict[str, str]]:
    """The rows of a file of judgements."""
    with gzip.open(WMT / f"{name}.tsv.gz", "rt", encoding="utf-8", newline="\n") as file:
        header = file.readline().rstrip("\n").split("\t")
        for line in file:
            yield dict(zip(header, line.rstrip("\n").split("\t"), strict=True))


def references() -> dict[Key, tuple[str, str]]:
    """Both references of each segment that has two different ones."""
    return {
        (row["set"], row["lp"], row["seg"]): (row["ref1"], row["ref2"])
        for row in read("wmt21-22-multiref")
        if row["ref1"] != row["ref2"]
    }


def pair(hypothesis: str, *several: str) -> Pair:
    return Pair(Sentence(hypothesis, "en"), Segment("", tuple(Sentence(r, "en") for r in several)))


def examples(known: dict[Key, tuple[str, str]]) -> Examples:
    """Four examples of a segment: each reference, and two machines', each against one reference."""
    rng = numpy.random.default_rng(SEED)
    outputs: dict[Key, list[str]] = {}
    for row in read("mt-outputs-toen"):
        key = (row["set"], row["lp"], row["seg"])
        if key in known and row["hyp"] and row["hyp"] not in known[key]:
            outputs.setdefault(key, []).append(row["hyp"])
    keys = sorted(key for key in known if len(outputs.get(key, ())) >= 2)
    chosen = [keys[place] for place in sorted(rng.permutation(len(keys))[:SEGMENTS])]
    later = set(rng.permutation(len(chosen))[: len(chosen) // 3].tolist())
    pairs, human, held_out = [], [], []
    for number, key in enumerate(chosen):
        first, second = known[key]
        machines = rng.choice(outputs[key], 2, replace=False)
        pairs += [pair(first, second), pair(second, first)]
        pairs += [pair(str(machines[0]), first), pair(str(machines[1]), second)]
        human += [True, True, False, False]
        held_out += [number in later] * 4
    return Examples(pairs, numpy.array(human), numpy.array(held_out))


def training_keys(known: dict[Key, tuple[str, str]]) -> set[str]:
    """The references of the segments that are learned from."""
    return {one.text for made in examples(known).pairs for one in made.segment.references}


def direct(known: dict[Key, tuple[str, str]], used: set[str]) -> Judged:
    """Direct assessments: Russian 2021 and German 2022, segments not learned from."""
    rows = []
    for year, lp in (("21", "ru-en"), ("22", "de-en")):
        for row in read(f"wmt{year}-da-toen"):
            key = (f"wmt{year}", row["lp"], row["seg"])
            if row["lp"] == lp and key in known and row["hyp"] and known[key][0] not in used:
                rows.append((row, known[key]))
    return _judged("DA, Russian 2021 and German 2022", rows, None)


def chinese(known: dict[Key, tuple[str, str]]) -> Judged:
    """Chinese 2022: DA+SQM, and MQM of the same translations by other people."""
    errors = {
        (row["seg"], row["system"]): float(row["score"])
        for row in read("wmt22-general-zhen-mqm")
        if row["score"]
    }
    rows = []
    for row in read("wmt22-general-zhen-dasqm"):
        key = ("wmt22", row["lp"], row["seg"])
        if key in known and row["hyp"] and row["score"] and (row["seg"], row["system"]) in errors:
            rows.append((row, known[key]))
    return _judged("DA+SQM, Chinese 2022", rows, errors)


def _judged(
    name: str,
    rows: list[tuple[dict[str, str], tuple[str, str]]],
    errors: dict[tuple[str, str], float] | None,
) -> Judged:
    """Machines' translations by chance, and all people's that are not their own reference."""
    rng = numpy.random.default_rng(SEED)
    rows = [item for item in rows if item[0]["hyp"] != item[1][0]]
    machines = [item for item in rows if item[0]["is_human"] == "0"]
    people = [item for item in rows if item[0]["is_human"] == "1"]
    machines = [machines[place] for place in sorted(rng.permutation(len(machines))[:JUDGED])]
    people = [people[place] for place in sorted(rng.permutation(len(people))[: JUDGED // 5])]
    taken = machines + people
    return Judged(
        name,
        [pair(row["hyp"], first) for row, (first, _) in taken],
        [pair(row["hyp"], *both) for row, both in taken],
        numpy.array([float(row["score"]) for row, _ in taken]),
        None
        if errors is None
        else numpy.array([errors[row["seg"], row["system"]] for row, _ in taken]),
        numpy.array([row["is_human"] == "1" for row, _ in taken]),
    )
