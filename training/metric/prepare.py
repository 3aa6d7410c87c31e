"""Material to learn from before any judgement: machine translations, and errors of meaning in them.

For each segment all systems' outputs, with a judge's score where there is one; and copies of the
reference and of one output with an error of meaning made by rule (`meantime.metaeval.damage`). One
JSON object a segment:

    {"source", "segment", "reference",
     "hypotheses": [{"text", "system", "score", "judges"}],
     "damaged": [{"of": -1 for the reference or the number of a hypothesis, "kind", "text"}]}

The judged translations of 2015 and 2016 get damaged copies too, `judged.jsonl`, one a line.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy

from training.metric.data import JUDGED, NOISY, UNJUDGED, Row, held_out, read_training

LONGEST = 600
"""Longer texts, in characters, are left out."""


def group(seed: int) -> list[list[Row]]:
    """Machine translations by segment, with judges' scores joined, segments in random order."""
    unseen = held_out()
    judged: dict[tuple[str, str, str], list[tuple[float, int]]] = {}
    for name in NOISY:
        for row in read_training(name, unseen):
            key = (row.source.replace("-da-toen", ""), row.segment, row.hypothesis)
            if row.score is not None:
                judged.setdefault(key, []).append((row.score, row.judges))
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in read_training(UNJUDGED[0], unseen):
        if max(len(row.hypothesis), len(row.reference)) > LONGEST:
            continue
        source = row.source.removeprefix(f"{UNJUDGED[0]}/")
        found = judged.get((source, row.segment, row.hypothesis), [])
        judges = sum(n for _, n in found)
        score = sum(score * n for score, n in found) / judges if judges else None
        groups.setdefault((source, row.segment, row.reference), []).append(
            Row(source, row.segment, row.system, row.reference, row.hypothesis, score, judges)
        )
    listed = list(groups.values())
    return [listed[n] for n in numpy.random.default_rng(seed).permutation(len(listed))]


def work(job: tuple[int, list[list[Row]], Path, int]) -> int:
    """Write one part of the material."""
    from meantime import Sentence
    from meantime.analysis import open_analyser

    number, groups, out, damages = job
    path = out / f"part-{number:04d}.jsonl"
    if path.exists():
        return number
    rng = numpy.random.default_rng([97, number])
    analyser = open_analyser(threads=1)
    places = [int(rng.integers(len(rows))) for rows in groups]
    texts = [rows[0].reference for rows in groups]
    texts += [rows[place].hypothesis for rows, place in zip(groups, places, strict=True)]
    known = dict(zip(texts, analyser.analyse([Sentence(text) for text in texts]), strict=True))
    lines = []
    for rows, place in zip(groups, places, strict=True):
        damaged = [
            {"of": of, **one}
            for of, text in ((-1, rows[0].reference), (place, rows[place].hypothesis))
            for one in spoil(known[text], rng, damages)
        ]
        hypotheses = [
            {
                "text": row.hypothesis,
                "system": row.system,
                "score": row.score,
                "judges": row.judges,
            }
            for row in rows
        ]
        line = {
            "source": rows[0].source,
            "segment": rows[0].segment,
            "reference": rows[0].reference,
            "hypotheses": hypotheses,
            "damaged": damaged,
        }
        lines.append(json.dumps(line) + "\n")
    hidden = path.with_suffix(".tmp")
    hidden.write_text("".join(lines), encoding="utf-8")
    os.replace(hidden, path)
    return number


def spoil(sentence: Any, rng: numpy.random.Generator, most: int) -> list[dict[str, str]]:
    """At most so many errors of meaning in an analysed sentence, of different kinds."""
    from meantime.metaeval.damage import KINDS, find_damages

    found: list[dict[str, str]] = []
    for kind in rng.permutation(KINDS):
        if len(found) == most:
            break
        made = find_damages(sentence, str(kind), rng)
        if made:
            one = made[int(rng.integers(len(made)))]
            found.append({"kind": one.kind, "text": one.text})
    return found


def prepare_judged(out: Path, seed: int = 23, damages: int = 3) -> None:
    """Write `judged.jsonl`: the judged translations, with damaged copies and damaged references."""
    from meantime import Sentence
    from meantime.analysis import open_analyser

    path = out / "judged.jsonl"
    analyser, unseen = open_analyser(), held_out()
    rng = numpy.random.default_rng(seed)
    lines = []
    for name in JUDGED:
        rows = read_training(name, unseen)
        texts = list(dict.fromkeys(t for row in rows for t in (row.reference, row.hypothesis)))
        known = dict(zip(texts, analyser.analyse([Sentence(t) for t in texts]), strict=True))
        for row in rows:
            damaged = [
                {"of": of, **one}
                for of, text in ((-1, row.reference), (0, row.hypothesis))
                for one in spoil(known[text], rng, damages)
            ]
            line = {
                "source": row.source,
                "reference": row.reference,
                "hypothesis": row.hypothesis,
                "score": row.score,
                "damaged": damaged,
            }
            lines.append(json.dumps(line) + "\n")
        print(f"{name}: {len(rows)} judged translations", flush=True)
    hidden = path.with_suffix(".tmp")
    hidden.write_text("".join(lines), encoding="utf-8")
    os.replace(hidden, path)


def prepare(out: Path, *, damages: int, jobs: int, seed: int = 11) -> None:
    """Write all parts; those that are there already stay."""
    out.mkdir(parents=True, exist_ok=True)
    groups = group(seed)
    size = 200
    todo: Iterable[tuple[int, list[list[Row]], Path, int]] = (
        (n, groups[at : at + size], out, damages)
        for n, at in enumerate(range(0, len(groups), size))
    )
    count = -(-len(groups) // size)
    begun = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for n, _ in enumerate(pool.imap_unordered(work, todo), 1):
            spent = time.perf_counter() - begun
            print(f"part {n} of {count}, {spent:.0f} s", flush=True)
