"""Agreement with people: our metrics, and others on the same translations, in one table.

    python benchmarks/accuracy.py [-m NAME …] [--sets NAME …] [--validation] [--format markdown]
                                  [--intervals] [--no-log]

The sets are the public judgements of WMT in ../shared/data/wmt that nothing may be trained, tuned
or chosen on, and those of 2015 and 2016, which learned metrics are trained on and which say little
of these. Columns:

    r          Pearson's, pooled within a language pair, mean over language pairs
    in segs    Kendall's tau-b within each segment's systems, mean over segments
    pooled     Kendall's tau-b over all translations; beside it belongs what the reference's length
               alone gets, the row "minus reference length"
    sys        share of the pairs of systems that the metric orders as people do

Without -m all registered metrics are measured; those that need analysis read some 60,000 sentences
the first time; after that analyses and statistics are on disk. `--validation` adds the sets meant
for choosing between models: choose by these, then look at the others once. Every run adds a line to
benchmarks/accuracy.jsonl: when, which code, which metrics, which data, which figures. It tells how
often the test sets were looked at.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from meantime import __version__, registry
from meantime.cli.analysis import open_cached
from meantime.cli.cache import statistics_path
from meantime.cli.progress import Bar
from meantime.errors import MeantimeError
from meantime.metaeval.collecting import LENGTH
from meantime.metaeval.evaluating import (
    Evaluation,
    Figure,
    GridBlock,
    PreferenceBlock,
    Scope,
    evaluate,
)
from meantime.metaeval.grids import Grouping
from meantime.metaeval.store import StatisticsStore
from meantime.metaeval.tasks import Outcome, Task, run
from meantime.registry import create
from meantime.scoring import ANALYSED

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data" / "wmt"
LOG = ROOT / "benchmarks" / "accuracy.jsonl"

R = Figure("pearson", Grouping.POOLED)
WITHIN = Figure("kendall", Grouping.SEGMENTS)
POOLED = Figure("kendall", Grouping.POOLED)
SYSTEMS = Figure("accuracy", Grouping.MEANS)
DARR = Figure("tau-discordant", Grouping.SEGMENTS)
HEADS = {R: "r", WITHIN: "in segs", POOLED: "pooled", SYSTEMS: "sys", DARR: "darr"}


@dataclass(frozen=True)
class Set:
    """A file, what is computed on it, and what stands beside it."""

    name: str
    file: str
    figures: tuple[Figure, ...]
    scores: tuple[str, ...] = ()
    status: str = "test"


SETS = (
    Set("wmt15", "wmt15-da-toen", (R,), status="training"),
    Set("wmt16", "wmt16-da-toen", (R,), status="training"),
    Set("wmt17", "wmt17-da-toen", (R,)),
    Set("wmt21 mqm", "wmt21-news-zhen-mqm", (WITHIN, POOLED, SYSTEMS)),
    Set(
        "wmt22 mqm",
        "wmt22-general-zhen-mqm",
        (WITHIN, POOLED, SYSTEMS),
        ("wmt22-general-zhen-peer-scores",),
    ),
    Set(
        "wmt22 da+sqm",
        "wmt22-general-zhen-dasqm",
        (WITHIN, SYSTEMS),
        ("wmt22-general-zhen-peer-scores",),
    ),
    Set(
        "wmt22 da",
        "wmt22-general-zhen-da",
        (WITHIN, SYSTEMS),
        ("wmt22-general-zhen-peer-scores",),
    ),
)
VALIDATION = (
    Set("wmt19", "wmt19-darr-toen", (DARR,), status="validation"),
    Set("wmt20 mqm", "wmt20-news-zhen-mqm-sample", (WITHIN, POOLED), status="validation"),
)


def path(name: str) -> Path:
    """A file of the shared data."""
    return SHARED / f"{name}.tsv.gz"


def measure(item: Set, metrics: Sequence[str], intervals: bool, jobs: int) -> Outcome:
    """Collect scores of one set; what was measured before comes from disk."""
    task = Task(
        data=str(path(item.file)),
        name=item.name,
        metrics=tuple(metrics),
        scores=tuple(str(path(name)) for name in item.scores),
        statistics=(item.figures[0].statistic,),
        resamples=1000 if intervals else 0,
    )
    needed = any(create(name).needs & set(ANALYSED) for name in metrics)
    with Bar(f"{item.name}: measuring") as bar, Bar(f"{item.name}: testing") as testing:
        return run(
            task,
            jobs=jobs,
            measuring=bar,
            evaluating=testing,
            analyser=open_cached(None, progress=bar) if needed else None,
            store=StatisticsStore(statistics_path()),
        )


def figures_of(item: Set, outcome: Outcome) -> dict[Figure, Evaluation]:
    """The table each figure of a set stands in."""
    [blocks] = outcome.blocks.values()
    [table] = outcome.evaluations
    found = {}
    for figure in item.figures:
        if figure in table.figures:
            found[figure] = table
            continue
        scope = Scope.SYSTEMS if figure.grouping is Grouping.MEANS else Scope.SEGMENTS
        taken = blocks
        if scope is Scope.SYSTEMS:
            taken = tuple(GridBlock(one, scope) for one in outcome.collected.values())
        assert not isinstance(taken[0], PreferenceBlock) or figure == DARR
        found[figure] = evaluate(
            taken, name=item.name, scope=scope, statistics=[figure.statistic], resamples=0
        )
    return found


def value(table: Evaluation, figure: Figure, name: str) -> tuple[float | None, str]:
    """A metric's figure, and how it is shown; nothing where it is not in the table."""
    if name not in table.names or (name == LENGTH and figure is SYSTEMS):
        return None, ""
    cell = table.row(name).cells[figure]
    if cell.value is None:
        return None, "–"
    text = f"{cell.value:.3f}"
    if cell.interval is not None:
        text += f" [{cell.interval.low:.3f}, {cell.interval.high:.3f}]"
    return cell.value, text


def commit() -> str:
    """The commit of the code, marked where files differ from it; empty where there is no git."""
    try:
        found = subprocess.run(
            ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


def write_log(
    sets: Sequence[Set],
    tables: Mapping[str, Mapping[Figure, Evaluation]],
    names: Sequence[str],
    seconds: float,
) -> None:
    """Add a line of JSON to the log."""
    signatures = {
        row.name: str(row.signature)
        for found in tables.values()
        for table in found.values()
        for row in table.rows
        if row.signature is not None
    }
    entry = {
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "meantime": __version__,
        "commit": commit(),
        "seconds": round(seconds),
        "data": {
            item.file: hashlib.sha256(path(item.file).read_bytes()).hexdigest()[:16]
            for item in sets
        },
        "signatures": signatures,
        "figures": {
            name: {
                f"{item.name} {HEADS[figure]}": round(found, 4)
                for item in sets
                for figure, table in tables[item.name].items()
                if (found := value(table, figure, name)[0]) is not None
            }
            for name in names
        },
    }
    with LOG.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-m", "--metric", action="append", help="a metric; by default all")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="names of sets, wmt17 say")
    parser.add_argument("--validation", action="store_true", help="the validation sets too")
    parser.add_argument("--intervals", action="store_true", help="bootstrap the first figures")
    parser.add_argument("--format", choices=("table", "markdown"), default="table")
    parser.add_argument("--jobs", "-j", type=int, default=1)
    parser.add_argument("--no-log", action="store_true", help="add nothing to the log")
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        sys.exit(f"{SHARED}: no such folder; the sets must lie beside the repository")
    known = (*SETS, *VALIDATION)
    chosen = [*SETS, *(VALIDATION if arguments.validation else ())]
    if arguments.sets:
        unknown = set(arguments.sets) - {item.name for item in known}
        if unknown:
            sys.exit(
                f"no set is called {min(unknown)!r}; there are "
                f"{', '.join(repr(item.name) for item in known)}"
            )
        chosen = [item for item in known if item.name in arguments.sets]
    metrics = arguments.metric or list(registry.names())
    start = time.monotonic()
    tables = {}
    try:
        for item in chosen:
            outcome = measure(item, metrics, arguments.intervals, arguments.jobs)
            tables[item.name] = figures_of(item, outcome)
    except MeantimeError as error:
        sys.exit(f"error: {error}")
    seconds = time.monotonic() - start
    every = [name for found in tables.values() for table in found.values() for name in table.names]
    names = [name for name in dict.fromkeys(every) if name != LENGTH]
    if LENGTH in every:
        names.append(LENGTH)
    # Ours first, as they were given; then others, best first on the set they came with.
    names.sort(key=lambda name: (name == LENGTH, name not in metrics))
    rows = [
        [
            name,
            *(
                value(tables[item.name][figure], figure, name)[1]
                for item in chosen
                for figure in item.figures
            ),
        ]
        for name in names
    ]
    heads = [f"{item.name}|{HEADS[figure]}" for item in chosen for figure in item.figures]
    show(heads, rows, arguments.format)
    if not arguments.no_log:
        write_log(chosen, tables, names, seconds)


def show(heads: Sequence[str], rows: Sequence[Sequence[str]], format: str) -> None:
    """Print the table."""
    if format == "markdown":
        print("| metric | " + " | ".join(head.replace("|", " ") for head in heads) + " |")
        print("|---|" + "---:|" * len(heads))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    for head in heads:
        name, _, figure = head.partition("|")
        table.add_column(f"{name}\n{figure}", justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 300, highlight=False, emoji=False).print(
        table, markup=False
    )


if __name__ == "__main__":
    main()
