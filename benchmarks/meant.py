"""Speed and memory of the MEANT family on WMT 2021 outputs.

    python benchmarks/meant.py [--pairs N] [-m NAME …]

Prints, in one run: pairs a second with the analyses in memory, by metric, on one core; the same
for the bare alignment of frames; from raw text beside the bare analyser; peak memory by number of
segments. Seconds are of the processor, which on a machine that others use are what seconds of the
clock would be on an idle core. Metrics that need no analysis may be named too. Uses ../shared/data
where it is there, and the example repeated otherwise, and says which.
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from meantime import Level, Pair, Segment, Sentence, create
from meantime.analysis import open_analyser
from meantime.protocols import Metric
from meantime.scoring import BATCH, score_many
from strings import forget

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "wmt" / "wmt21-news-zhen-mqm.tsv.gz"
METRICS = (
    "sr", "meant", "meant-2012", "meant-jaccard", "meant-2013", "meant-2014", "umeant", "imeant",
)  # fmt: skip
FRAMES = "meant-2014:similarity=exact,weights=uniform"
"""Frames and roles aligned and scored, words compared by being the same: the bare engine."""


def texts(count: int) -> tuple[list[tuple[str, str]], str]:
    """Hypotheses with references, and what they are."""
    if DATA.is_file():
        with gzip.open(DATA, "rt", encoding="utf-8", newline="\n") as file:
            head = file.readline().rstrip("\n").split("\t")
            rows = [dict(zip(head, line.rstrip("\n").split("\t"), strict=True)) for line in file]
        found = [(row["hyp"], row["ref"]) for row in rows if row["hyp"] and row["is_human"] == "0"]
        return found[:count], "outputs of WMT 2021, Chinese to English"
    example = ROOT / "examples"
    pairs = list(
        zip(
            (example / "fluent.txt").read_text(encoding="utf-8").splitlines(),
            (example / "reference.txt").read_text(encoding="utf-8").splitlines(),
            strict=True,
        )
    )
    return (pairs * (count // len(pairs) + 1))[:count], "the example, repeated"


def analysed(pairs: list[tuple[str, str]], threads: int) -> list[Pair]:
    """The pairs with analyses in memory; equal references are one."""
    analyser = open_analyser(threads=threads)
    distinct = list(dict.fromkeys(text for pair in pairs for text in pair))
    known = dict(
        zip(distinct, analyser.analyse([Sentence(text) for text in distinct]), strict=True)
    )
    segments = {ref: Segment(str(n), (known[ref],)) for n, (_, ref) in enumerate(pairs)}
    return [Pair(known[hypothesis], segments[reference]) for hypothesis, reference in pairs]


def measure(metric: Metric, pairs: list[Pair]) -> None:
    """The scores of all segments, in the batches the command uses."""
    for start in range(0, len(pairs), BATCH):
        score_many(metric, metric.measure(pairs[start : start + BATCH]), Level.SEGMENT)


def seconds(work: Callable[[], object]) -> float:
    """Processor time of something."""
    start = time.process_time()
    work()
    return time.process_time() - start


def rate(specification: str, pairs: list[Pair]) -> tuple[float, float]:
    """Pairs a second at first and again: word similarities and tokens are then remembered."""
    metric = create(specification).prepare([pair.segment for pair in pairs])
    metric.measure(pairs[:2])
    forget()
    first = len(pairs) / seconds(lambda: measure(metric, pairs))
    return first, len(pairs) / seconds(lambda: measure(metric, pairs))


def from_text(pairs: list[tuple[str, str]], specification: str) -> tuple[float, float]:
    """Seconds of the bare analyser, and of analysing and scoring, on one thread."""
    analysed(pairs[:20], 1)
    alone = seconds(lambda: analysed(pairs, 1))

    def both() -> None:
        found = analysed(pairs, 1)
        measure(create(specification).prepare([pair.segment for pair in found]), found)

    return alone, seconds(both)


def peak(count: int, specification: str) -> float:
    """Peak memory, in MB, of scoring so many pairs of analysed sentences, in a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak, (count, specification))


def _peak(count: int, specification: str) -> float:
    pairs, _ = texts(400)
    some = analysed(pairs, 1)
    metric = create(specification).prepare([pair.segment for pair in some])
    many = (some * (count // len(some) + 1))[:count]
    measure(metric, many)
    status = Path("/proc/self/status")
    if status.is_file():
        # What getrusage says begins with the peak of the process that started this one.
        [line] = [one for one in status.read_text().splitlines() if one.startswith("VmHWM")]
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("-m", "--metric", action="append", default=None)
    options = parser.parse_args()
    pairs, what = texts(options.pairs)
    print(f"{len(pairs)} pairs: {what}; one core, processor time; analyses in memory")
    known = analysed(pairs, 0)
    print(f"{'metric':<16} {'pairs/s':>9} {'again':>9}")
    first, again = rate(FRAMES, known)
    print(f"{'frames alone':<16} {first:9.0f} {again:9.0f}")
    for specification in options.metric or METRICS:
        first, again = rate(specification, known)
        print(f"{specification:<16} {first:9.0f} {again:9.0f}")
    some = pairs[: min(len(pairs), 400)]
    alone, both = from_text(some, "meant")
    print(
        f"\nfrom raw text, one thread, {len(some)} pairs: analyser {alone:.2f} s, "
        f"analyser and meant {both:.2f} s, ratio {both / alone:.2f}"
    )
    print("\npeak memory of meant (analyser and 400 analysed pairs included)")
    for count in (400, 4000, 16000):
        print(f"{count:>7} pairs: {peak(count, 'meant'):.0f} MB")


if __name__ == "__main__":
    main()
