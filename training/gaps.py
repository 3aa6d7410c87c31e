"""Make src/meantime/metaeval/data/gaps.json: how often people agreed on a gap between systems.

    python -m training.gaps                    every metric of METRICS
    python -m training.gaps --metric meant     one (again, or more); the others stay as they are
    python -m training.gaps --check            fit on all sets but one, try on that one; no file

Judgements are those of the training files alone (FILES). For every pair of systems of a language
pair and year: people's order is that of their mean scores over all segments that both systems have
judgements of. The metric's gap is a corpus score on as many of these segments as SIZES says, drawn
at random DRAWS times. A pair with fewer segments than asked for is left out there. Human
translations are left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy

from meantime import __version__
from meantime.metaeval import gaps
from meantime.metaeval.reading import read_human_scores
from meantime.protocols import Array, Metric
from meantime.registry import create
from meantime.scoring import ANALYSED, analyse, measure_pairs, score_many
from meantime.types import Corpus, Level, Pair, Segment

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "src" / "meantime" / "metaeval" / "data" / gaps.SHIPPED
FILES = ("wmt21-da-toen.tsv.gz", "wmt22-da-toen.tsv.gz")
METRICS = (
    "bleu",
    "chrf",
    "chrf:word_order=2",
    "ter",
    "nist",
    "meteor",
    "wer",
    "per",
    "cder",
    "gtm",
    "stm",
    "meant",
)
SIZES = (50, 100, 200, 500, 1000)
DRAWS = 200
SEED = 5
LANG = "en"


@dataclass(frozen=True)
class Task:
    """The judged translations of one language pair and year."""

    name: str
    pairs: tuple[Pair, ...]
    human: Array
    """Segments by systems, NaN where not judged."""
    index: numpy.ndarray
    """For each cell the number of its pair, or -1."""


def load(folder: Path, names: Sequence[str] = FILES) -> list[Task]:
    """All tasks of the training files."""
    tasks = []
    for name in names:
        scores = read_human_scores(folder / name).without_human_translations()
        for lp, part in scores.split_by("lp").items():
            grid = part.grid(duplicates="average")
            tasks.append(
                Task(f"{name.partition('-')[0]} {lp}", part.as_pairs(), grid.human, grid.index)
            )
    return tasks


def measure(metric: Metric, task: Task) -> tuple[Metric, Array]:
    """The metric prepared for a task, and its rows."""
    segments = tuple({id(pair.segment): pair.segment for pair in task.pairs}.values())
    pairs: Sequence[Pair] = task.pairs
    if metric.needs & set(ANALYSED):
        # Each reference once, and hypotheses as if they were references.
        place = {id(segment): n for n, segment in enumerate(segments)}
        segments = analyse(Corpus(segments), metric.needs, None)[0].segments
        alone = tuple(Segment(str(n), (pair.hypothesis,)) for n, pair in enumerate(pairs))
        hypotheses = analyse(Corpus(alone), metric.needs, None)[0].segments
        pairs = [
            Pair(one.references[0], segments[place[id(pair.segment)]])
            for one, pair in zip(hypotheses, pairs, strict=True)
        ]
    prepared = metric.prepare(segments)
    [rows] = measure_pairs(pairs, [prepared])
    return prepared, rows


def pair_gaps(
    metric: Metric, rows: Array, task: Task, size: int, rng: numpy.random.Generator
) -> tuple[Array, Array]:
    """Gaps and agreement: one row a pair of systems with enough segments, one column a draw."""
    sign = 1 if metric.higher_is_better else -1
    found, agreed = [], []
    for one, other in combinations(range(task.human.shape[1]), 2):
        judged = ~numpy.isnan(task.human[:, [one, other]]).any(axis=1)
        if judged.sum() < size:
            continue
        people = float((task.human[judged, one] - task.human[judged, other]).mean())
        drawn = numpy.argsort(rng.random((DRAWS, int(judged.sum()))), axis=1)[:, :size]
        weights = numpy.zeros((DRAWS, int(judged.sum())))
        numpy.put_along_axis(weights, drawn, 1.0, axis=1)
        scores = [
            score_many(metric, weights @ rows[task.index[judged, system]], Level.CORPUS)
            for system in (one, other)
        ]
        gap = sign * (scores[0] - scores[1])
        found.append(numpy.abs(gap))
        agreed.append(numpy.where(people == 0, 0.5, (gap > 0) == (people > 0)))
    if not found:
        return numpy.zeros((0, DRAWS)), numpy.zeros((0, DRAWS))
    return numpy.array(found), numpy.array(agreed, numpy.float64)


def check(specification: str, tasks: Sequence[Task], size: int = 500) -> None:
    """Print how often people agreed where the other sets foretell so, for sets left out in turn."""
    metric = create(specification, lang=LANG)
    rng = numpy.random.default_rng([SEED, size])
    parts = [pair_gaps(*measure(metric, task), task, size, rng) for task in tasks]
    foretold, happened, weight = [], [], []
    for left_out, (found, agreed) in enumerate(parts):
        others = [part for n, part in enumerate(parts) if n != left_out and len(part[0])]
        buckets = gaps.fit(*(numpy.concatenate(side) for side in zip(*others, strict=True)))
        ends = numpy.array([one.high for one in buckets[:-1]])
        shares = numpy.array([one.share for one in buckets])
        there = found > 0
        foretold.append(shares[numpy.searchsorted(ends, found[there])])
        happened.append(agreed[there])
        weight.append(numpy.full(int(there.sum()), 1 / DRAWS))
    said, done, pairs = map(numpy.concatenate, (foretold, happened, weight))
    print(f"{specification}, {size} segments: foretold, happened, pairs of systems")
    for low in numpy.arange(0.4, 1.0, 0.1):
        here = (said >= low) & (said < low + 0.1 + (low > 0.85))
        if here.any():
            mean = numpy.average(said[here], weights=pairs[here])
            real = numpy.average(done[here], weights=pairs[here])
            print(f"  {mean:.2f}  {real:.2f}  {pairs[here].sum():.0f}")


def make(specification: str, tasks: Sequence[Task]) -> dict[str, object]:
    """One metric's entry of the table."""
    metric = create(specification, lang=LANG)
    measured = [measure(metric, task) for task in tasks]
    buckets, counts = {}, {}
    for size in SIZES:
        # The same segments for every metric.
        rng = numpy.random.default_rng([SEED, size])
        parts = [
            pair_gaps(prepared, rows, task, size, rng)
            for (prepared, rows), task in zip(measured, tasks, strict=True)
        ]
        found = numpy.concatenate([part[0] for part in parts])
        agreed = numpy.concatenate([part[1] for part in parts])
        buckets[size], counts[str(size)] = gaps.fit(found, agreed), len(found)
    return {
        "metric": specification,
        "key": gaps.key(measured[0][0].signature()),
        "made_with": __version__,
        "pairs_of_systems": counts,
        "segments": gaps.as_json(buckets),
    }


def provenance(folder: Path, tasks: Sequence[Task]) -> dict[str, object]:
    """What the table says of itself."""
    systems = {task.name: int(task.human.shape[1]) for task in tasks}
    judged = sum(int((~numpy.isnan(task.human)).sum()) for task in tasks)
    pairs = sum(count * (count - 1) // 2 for count in systems.values())
    return {
        "source": f"{pairs} pairs of systems of WMT 2021 and 2022 into English, direct assessment",
        "lang": LANG,
        "made_by": "python -m training.gaps",
        "files": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES},
        "licence": "computed from the human evaluation of the WMT news and general translation "
        "tasks 2021 and 2022, provided for research purposes; cite their findings papers",
        "judged_translations": judged,
        "systems": systems,
        "draws": DRAWS,
        "seed": SEED,
        "columns": ["gap up to", "share of agreement", "pairs of systems"],
    }


def main() -> None:
    """Measure, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    data = ROOT.parent / "shared" / "data" / "wmt"
    parser.add_argument("--data", type=Path, default=data, help="folder of the judgements")
    parser.add_argument("--metric", action="append", help="only this one; may be repeated")
    parser.add_argument("--output", type=Path, default=TABLE)
    parser.add_argument("--check", action="store_true", help="try it on sets left out; no file")
    asked = parser.parse_args()
    tasks = load(asked.data)
    if asked.check:
        for specification in asked.metric or METRICS:
            check(specification, tasks)
        return
    entries: dict[str, object] = {}
    if asked.metric and asked.output.exists():
        entries = {one["metric"]: one for one in json.loads(asked.output.read_text())["metrics"]}
    for specification in asked.metric or METRICS:
        start = time.perf_counter()
        entries[specification] = make(specification, tasks)
        print(f"{specification}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    content = {**provenance(asked.data, tasks), "metrics": list(entries.values())}
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
