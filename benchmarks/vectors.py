"""Speed and memory of context vectors: counting by tokens and windows, comparing by measure.

    python benchmarks/vectors.py [--text FILE…] [--jobs 2] [--model FILE] [--full]

Counting is timed on the first share of the texts, then on twice as much and so on; with
`--full` on all of them at once. Memory is what the largest process held at its peak, and what
all held together. Comparing is timed on one core, by the seconds the processor worked (so that
other work on the machine counts little): word pairs a second, from nothing (the cache empty,
every row packed), 256 sentence pairs at a time and one by one; again on the same; and for a word
against the whole vocabulary. The pairs are WMT21 zh-en outputs with their references
where ../shared is there, the shipped example otherwise.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import itertools
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from meantime.similarity.context import MEASURES, ContextSimilarity
from meantime.similarity.context_file import open_model
from meantime.similarity.context_tokens import split
from meantime.types import Sentence

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
WMT21 = SHARED / "wmt" / "wmt21-news-zhen-mqm.tsv.gz"
SHARES = (25_000, 50_000, 100_000, 200_000)
BATCH = 256
WIDTH = 140

Pairs = list[tuple[Sentence, Sentence]]


def load_pairs(limit: int) -> tuple[str, Pairs]:
    """Hypotheses with references, as tokens, and where they are from."""
    if WMT21.is_file():
        with gzip.open(WMT21, "rt", encoding="utf-8", newline="\n") as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            texts = [(row["hyp"], row["ref"]) for row in rows if row["is_human"] == "0"]
        name = "WMT21 zh-en"
    else:
        lines = {
            stem: (ROOT / "examples" / f"{stem}.txt").read_text(encoding="utf-8").splitlines()
            for stem in ("faithful", "fluent", "literal", "reference")
        }
        references = lines.pop("reference")
        texts = [pair for own in lines.values() for pair in zip(own, references, strict=True)]
        name = "the shipped example"
    random.Random(7).shuffle(texts)
    pairs = [(_sentence(one), _sentence(other)) for one, other in texts[:limit]]
    return name, pairs


def _sentence(text: str) -> Sentence:
    return Sentence(text, tokens=tuple(split(text)))


def measure_speed(model: str | None, limit: int) -> None:
    """Word pairs a second, by measure."""
    name, pairs = load_pairs(limit)
    cells = sum(len(one.tokens or ()) * len(two.tokens or ()) for one, two in pairs)
    table = Table(title=f"comparing: 1,000 word pairs a second, {len(pairs)} pairs of {name}")
    for head in ("measure", "256 at a time", "one by one", "again", "pairs of sentences a second",
                 "word and vocabulary, ms"):  # fmt: skip
        table.add_column(head, justify="left" if head == "measure" else "right")
    for measure in MEASURES:
        # Compiled and mapped before anything is timed.
        ContextSimilarity(measure=measure, model=model).matrices(pairs[:1])
        batches = ContextSimilarity(measure=measure, model=model)
        cold = _timed(batches, [pairs[at : at + BATCH] for at in range(0, len(pairs), BATCH)])
        again = _timed(batches, [pairs[at : at + BATCH] for at in range(0, len(pairs), BATCH)])
        single = _timed(ContextSimilarity(measure=measure, model=model), [[p] for p in pairs])
        begin = time.process_time()
        batches.similar("minister")
        whole = time.process_time() - begin
        table.add_row(
            measure,
            *(f"{cells / seconds / 1e3:,.0f}" for seconds in (cold, single, again)),
            f"{len(pairs) / cold:,.0f}",
            f"{1000 * whole:.0f}",
        )
    Console(width=WIDTH).print(table)


def _timed(source: ContextSimilarity, batches: Sequence[Pairs]) -> float:
    begin = time.process_time()
    for batch in batches:
        source.matrices(batch)
    return time.process_time() - begin


_COUNT = """
import json, resource, sys, time
from pathlib import Path
from meantime.similarity.context_counting import train
texts, out, windows, jobs = json.loads(sys.argv[1])
stages = {}
begin = time.perf_counter()
train(texts, Path(out), windows=windows, jobs=jobs,
      progress=lambda stage, done, total: stages.__setitem__(stage, time.perf_counter() - begin))
spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
worked = sum(one.ru_utime + one.ru_stime for one in spent)
print(json.dumps([time.perf_counter() - begin, stages, worked]))
"""


def count(texts: Sequence[Path], windows: Sequence[int], jobs: int) -> list[str]:
    """Count in a process of its own; a row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model"
        told = json.dumps([[str(text) for text in texts], str(out), list(windows), jobs])
        process = subprocess.Popen(
            [sys.executable, "-c", _COUNT, told], stdout=subprocess.PIPE, text=True
        )
        peak = [0, 0]
        watcher = threading.Thread(target=_watch, args=(process, peak), daemon=True)
        watcher.start()
        answer, _ = process.communicate()
        watcher.join()
        seconds, stages, worked = json.loads(answer)
        model = open_model(out)
        tokens = int(model.facts["tokens"])
        ends = [0.0, *stages.values()]
        spent = " + ".join(f"{b - a:.1f}" for a, b in itertools.pairwise(ends))
        return [
            f"{tokens / 1e6:.1f}",
            ", ".join(map(str, windows)),
            f"{seconds:.1f}",
            spent,
            f"{worked:.1f}",
            f"{tokens / seconds / 1e6:.2f}",
            f"{sum(model.entries[-1:]) / 1e6:.1f}",
            f"{out.stat().st_size / 1e6:.1f}",
            f"{peak[0] / 1e3:.0f} / {peak[1] / 1e3:.0f}",
        ]


def _watch(process: subprocess.Popen[str], peak: list[int]) -> None:
    """The most kilobytes the largest process, and all together, did not share with others."""
    while process.poll() is None:
        held = []
        for number in [process.pid, *_children(process.pid)]:
            try:
                text = Path(f"/proc/{number}/smaps_rollup").read_text(encoding="ascii")
            except OSError:
                continue
            lines = (line.split() for line in text.splitlines())
            held.append(next((int(line[1]) for line in lines if line[0] == "Pss:"), 0))
        if held:
            peak[:] = [max(peak[0], *held), max(peak[1], sum(held))]
        time.sleep(0.2)


def _children(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(number) for number in text.split()]


def measure_counting(texts: Sequence[Path], jobs: int, full: bool) -> None:
    """Seconds and memory, by tokens and by window."""
    table = Table(title=f"counting, {jobs} processes")
    heads = ("M tokens", "windows", "seconds", "read + count + pack", "processor s",
             "M tokens a second", "M counts", "MB of model", "MB held: largest / all")  # fmt: skip
    for head in heads:
        table.add_column(head, justify="right")
    with tempfile.TemporaryDirectory() as name:
        part = Path(name) / "part.txt"
        for share in () if full else SHARES:
            lines = itertools.islice(_lines(texts), share)
            part.write_bytes(b"".join(lines))
            table.add_row(*count([part], (5,), jobs))
        for windows in () if full else ((3,), (9,), (13,), (3, 5, 7, 9, 11, 13)):
            table.add_row(*count([part], windows, jobs))
        if full:
            table.add_row(*count(texts, (5,), jobs))
    Console(width=WIDTH).print(table)


def _lines(texts: Sequence[Path]):
    for text in texts:
        with (gzip.open if text.suffix == ".gz" else open)(text, "rb") as file:
            yield from file


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--text", type=Path, nargs="+", default=sorted((SHARED / "text").glob("en-*"))
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--model", help="file of context vectors; default the shipped one")
    parser.add_argument("--pairs", type=int, default=2048)
    parser.add_argument("--full", action="store_true", help="count all of the texts, once")
    arguments = parser.parse_args()
    measure_speed(arguments.model, arguments.pairs)
    if arguments.text:
        measure_counting(arguments.text, arguments.jobs, arguments.full)
    else:
        print("no text to count: give --text")


if __name__ == "__main__":
    main()
