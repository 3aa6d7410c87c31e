"""Material to learn from before any judgement: machine translations and what can be said of them.

For each segment some systems' outputs, with the components of `meant` against the reference, how
much the other systems agree, and a judge's score where there is one; and copies of references and
outputs with one error of meaning made by rule (`meantime.metaeval.damage`). One JSON object a
segment:

    {"source", "segment", "reference",
     "hypotheses": [{"text", "score", "judges", "parts": […], "consensus": […]}],
     "damaged": [{"of": -1 for the reference or the number of a hypothesis, "kind", "text"}]}

The judged translations of 2015 and 2016 get damaged copies too, `judged.jsonl`, one a line.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy

from training.metric.data import JUDGED, NOISY, UNJUDGED, Row, held_out, read_training

LONGEST = 600
"""Longer texts, in characters, are left out."""


def group(most: int, seed: int) -> list[list[Row]]:
    """Machine translations by segment, at most so many of each, with judges' scores joined."""
    unseen = held_out()
    judged: dict[tuple[str, str, str], tuple[float, int]] = {}
    for name in NOISY:
        for row in read_training(name, unseen):
            key = (row.source.replace("-da-toen", ""), row.segment, row.hypothesis)
            if row.score is not None:
                judged[key] = (row.score, row.judges)
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in read_training(UNJUDGED[0], unseen):
        if max(len(row.hypothesis), len(row.reference)) > LONGEST:
            continue
        source = row.source.removeprefix(f"{UNJUDGED[0]}/")
        score, judges = judged.get((source, row.segment, row.hypothesis), (None, 1))
        groups.setdefault((source, row.segment, row.reference), []).append(
            Row(source, row.segment, row.system, row.reference, row.hypothesis, score, judges)
        )
    rng = numpy.random.default_rng(seed)
    found = []
    for rows in groups.values():
        chosen = rng.permutation(len(rows))[:most]
        found.append([rows[n] for n in chosen])
    order = rng.permutation(len(found))
    return [found[n] for n in order]


def work(job: tuple[int, list[list[Row]], Path, int]) -> int:
    """Write one part of the material."""
    from meantime import Sentence, create
    from meantime.analysis import open_analyser
    from meantime.metrics.frames import PARTS

    number, groups, out, damages = job
    path = out / f"part-{number:04d}.jsonl"
    if path.exists():
        return number
    rng = numpy.random.default_rng([97, number])
    analyser = open_analyser(threads=1)
    metric: Any = create("meant")
    texts = [rows[0].reference for rows in groups]
    texts += [row.hypothesis for rows in groups for row in rows]
    known = dict(zip(texts, analyser.analyse([Sentence(text) for text in texts]), strict=True))
    lines = []
    for rows in groups:
        reference = known[rows[0].reference]
        hypotheses = [known[row.hypothesis] for row in rows]
        parts = metric.compare([(one, reference) for one in hypotheses])
        values = numpy.column_stack([parts[:, :4], parts[:, len(PARTS) :]])
        among = _consensus(metric, hypotheses)
        damaged = []
        for _ in range(damages):
            of = int(rng.integers(-1, len(rows)))
            made = spoil(reference if of < 0 else hypotheses[of], rng)
            if made is not None:
                damaged.append({"of": of, **made})
        lines.append(
            {
                "source": rows[0].source,
                "segment": rows[0].segment,
                "reference": rows[0].reference,
                "hypotheses": [
                    {
                        "text": row.hypothesis,
                        "score": row.score,
                        "judges": row.judges,
                        "parts": [round(float(x), 4) for x in value],
                        "consensus": [round(float(x), 4) for x in common],
                    }
                    for row, value, common in zip(rows, values, among, strict=True)
                ],
                "damaged": damaged,
            }
        )
    hidden = path.with_suffix(".tmp")
    hidden.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    os.replace(hidden, path)
    return number


def spoil(sentence: Any, rng: numpy.random.Generator) -> dict[str, str] | None:
    """One error of meaning in an analysed sentence, of a kind drawn at random."""
    from meantime.metaeval.damage import KINDS, find_damages

    for kind in rng.permutation(KINDS):
        made = find_damages(sentence, str(kind), rng)
        if made:
            one = made[int(rng.integers(len(made)))]
            return {"kind": one.kind, "text": one.text}
    return None


def prepare_judged(out: Path, seed: int = 23) -> None:
    """Write `judged.jsonl`: the judged translations, with two damaged references and themselves."""
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
            drawn = ((of, spoil(known[t], rng)) for of, t in _copies(row))
            damaged = [{"of": of, **made} for of, made in drawn if made is not None]
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


def _copies(row: Row) -> tuple[tuple[int, str], ...]:
    return ((-1, row.reference), (-1, row.reference), (0, row.hypothesis))


def _consensus(metric: Any, hypotheses: Sequence[Any]) -> numpy.ndarray:
    """Mean score, and mean of the words, of each output against the other systems' outputs."""
    from meantime.metrics.frames import PARTS

    n = len(hypotheses)
    if n < 2:
        return numpy.full((n, 2), numpy.nan)
    places = [(i, j) for i in range(n) for j in range(n) if i != j]
    rows = metric.compare([(hypotheses[i], hypotheses[j]) for i, j in places])
    found = numpy.zeros((n, 2))
    for (i, _), row in zip(places, rows, strict=True):
        found[i] += (row[0], row[len(PARTS) + 1])
    return found / (n - 1)


def prepare(out: Path, *, most: int, damages: int, jobs: int, seed: int = 11) -> None:
    """Write all parts; those that are there already stay."""
    out.mkdir(parents=True, exist_ok=True)
    groups = group(most, seed)
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
