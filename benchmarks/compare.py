"""Speed of comparing ten systems on two thousand segments, with sacreBLEU's paired tests beside it.

    python benchmarks/compare.py [--metric NAME …] [--systems N] [--segments N] [--json FILE]

`compare` is everything after measuring: intervals, 1,000 bootstrap samples and 1,000 randomisation
trials of every pair of systems (45 of ten), correction, ranks, clusters, wins. Best of three turns.
sacreBLEU compares with a baseline only (9 pairs of ten systems); its figure is one run of both
tests with as many samples, less the time it takes to measure. The texts are WMT22 zh-en where
../shared is there, words drawn at random otherwise.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy
from rich.console import Console
from rich.table import Table
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

from meantime import __version__
from meantime.report.comparison import compare
from meantime.scoring import Measured, measure
from meantime.types import Corpus, Segment, Sentence

ROOT = Path(__file__).resolve().parents[1]
WMT22 = ROOT.parent / "shared" / "data" / "wmt" / "wmt22-general-zhen-mqm.tsv.gz"
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
)
THEIRS = {"bleu": BLEU, "chrf": CHRF}
SAMPLES = 1000
TURNS = 3


def load(systems: int, segments: int) -> tuple[str, list[str], dict[str, list[str]]]:
    """Where the texts are from, references, and outputs by system."""
    if WMT22.is_file():
        with gzip.open(WMT22, "rt", encoding="utf-8", newline="\n") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        texts: dict[str, dict[int, str]] = {}
        references = {}
        for row in rows:
            if row["is_human"] == "0":
                texts.setdefault(row["system"], {})[int(row["seg"])] = row["hyp"]
                references[int(row["seg"])] = row["ref"]
        names = list(texts)
        order = [sorted(references)[n % len(references)] for n in range(segments)]
        # More systems than there are: the same again, under other names.
        outputs = {
            f"{names[n % len(names)]}-{n}": [texts[names[n % len(names)]][one] for one in order]
            for n in range(systems)
        }
        return "WMT22 zh-en", [references[one] for one in order], outputs
    rng = numpy.random.default_rng(1)
    words = [f"word{n}" for n in range(500)]
    drawn = [" ".join(rng.choice(words, rng.integers(5, 45))) for _ in range(segments)]
    made = {
        f"system{n}": [
            " ".join(w for w in text.split() if rng.random() > 0.02 * (n + 1)) for text in drawn
        ]
        for n in range(systems)
    }
    return "words drawn at random (no ../shared/data here)", drawn, made


def seconds(work: Callable[[], object], turns: int = 1) -> float:
    """The best of some turns."""
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def theirs(name: str, references: list[str], outputs: dict[str, list[str]]) -> float:
    """SacreBLEU's two tests, without what they take to measure."""
    made = THEIRS[name](references=[references])
    named = list(outputs.items())

    def measured() -> None:
        for _, texts in named:
            made.corpus_score(texts, None)

    once = seconds(measured)
    both = 0.0
    for test in ("bs", "ar"):
        both += seconds(lambda test=test: PairedTest(named, {name: made}, None, test, SAMPLES)())
    return max(0.0, both - 2 * once)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--metric", action="append")
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--segments", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    where, references, outputs = load(asked.systems, asked.segments)
    corpus = Corpus(
        tuple(Segment(str(n), (Sentence(text),)) for n, text in enumerate(references)),
        {name: tuple(map(Sentence, texts)) for name, texts in outputs.items()},
    )
    pairs = asked.systems * (asked.systems - 1) // 2
    console = Console(width=100)
    table = Table(
        title=f"seconds; {where}, {asked.systems} systems, {asked.segments} segments, "
        f"{SAMPLES} samples; meantime {__version__}",
        title_justify="left",
        box=None,
    )
    table.add_column("metric")
    for head in ("measure", f"compare ({pairs} pairs)", f"sacreBLEU ({asked.systems - 1} pairs)"):
        table.add_column(head, justify="right")
    figures = {}
    for name in asked.metric or METRICS:
        measured: list[Measured] = []
        first = seconds(lambda name=name, kept=measured: kept.append(measure(corpus, [name])))

        def work(rows: Measured = measured[0]) -> object:
            return compare(rows, resamples=SAMPLES, trials=SAMPLES)

        ours = seconds(work, TURNS)
        other = theirs(name, references, outputs) if name in THEIRS else None
        table.add_row(name, f"{first:.2f}", f"{ours:.3f}", "" if other is None else f"{other:.1f}")
        figures[name] = {"measure": first, "compare": ours, "sacrebleu": other}
    console.print(table)
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
