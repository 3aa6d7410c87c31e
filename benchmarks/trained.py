"""Speed, start and memory of the trained metric.

    python benchmarks/trained.py [--pairs N] [--model FOLDER]

Prints, in one run on one thread: seconds from the start of Python to the first score, pairs a
second with a reference for each pair and with one reference for five systems, peak memory. Both are
given by the clock and by the processor, which on a machine that others use are apart. Reads
../shared/data/wmt, training files alone.
"""

from __future__ import annotations

import argparse
import gzip
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

from meantime import Pair, Segment, Sentence, create
from meantime.learned.network import open_network

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt" / "wmt16-da-toen.tsv.gz"
FIRST = """
from meantime import Pair, Segment, Sentence, create
segment = Segment("1", (Sentence("The mayor did not sign the contract."),))
create({metric!r}).prepare([segment]).measure([Pair(Sentence("The mayor signed it."), segment)])
"""


def read(count: int) -> list[tuple[str, str]]:
    """Translations and their references."""
    if not DATA.is_file():
        raise SystemExit(f"{DATA}: no such file; the judgements must lie beside the repository")
    with gzip.open(DATA, "rt", encoding="utf-8", newline="\n") as file:
        head = file.readline().rstrip("\n").split("\t")
        rows = [dict(zip(head, line.rstrip("\n").split("\t"), strict=True)) for line in file]
    return [(row["hyp"], row["ref"]) for row in rows[:count]]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and by the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=2400)
    parser.add_argument("--model", help="a model's folder; by default the shipped one")
    options = parser.parse_args()
    name = "meantime" if options.model is None else f"meantime:model={options.model}"
    code = FIRST.format(metric=name)
    clock, _ = timed(lambda: subprocess.run([sys.executable, "-c", code], check=True))
    print(f"from nothing to the first score: {clock:.2f} s")

    texts = read(options.pairs)
    metric = create(name)
    words = sum(len(ours.split()) for ours, _ in texts) / len(texts)
    print(f"{len(texts)} translations of {words:.0f} words on one thread")
    for systems in (1, 5):
        pairs = []
        for number, (ours, theirs) in enumerate(texts):
            segment = Segment(str(number), (Sentence(theirs),))
            pairs.append(Pair(Sentence(ours), segment))
            # The same translation of other systems but for a word: nothing is known of it yet.
            pairs += [Pair(Sentence(f"{ours} {n}"), segment) for n in range(1, systems)]
        pairs = pairs[: len(texts)]
        open_network.cache_clear()
        bound = metric.prepare([pair.segment for pair in pairs])
        bound.measure(pairs[:1])
        clock, processor = timed(lambda bound=bound, pairs=pairs: bound.measure(pairs[1:]))
        count = len(pairs) - 1
        print(
            f"{systems} to a reference: {count / clock:.0f} pairs a second by the clock, "
            f"{count / processor:.0f} by the processor"
        )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
