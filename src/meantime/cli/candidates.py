"""What the commands about candidates share: reading lists and references, and their tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meantime import __version__
from meantime.errors import InputError, UsageError

if TYPE_CHECKING:
    from meantime.protocols import Analyser, Metric
    from meantime.tuning.candidates import Candidates
    from meantime.tuning.rerank import Selection
    from meantime.types import Segment

    Row = tuple[str, Sequence[Selection]]


class ReportFormat(StrEnum):
    """How a report is printed."""

    TABLE = "table"
    JSON = "json"


class NbestFormat(StrEnum):
    """What lists of candidates are."""

    AUTO = "auto"
    MOSES = "moses"
    ZMERT = "zmert"
    JSONL = "jsonl"
    PLAIN = "plain"


NbestFormatOption = Annotated[
    NbestFormat, typer.Option("--nbest-format", help="What the lists are; by their first line.")
]
ReportFormatOption = Annotated[
    ReportFormat, typer.Option("--format", "-f", help="How to print the report.")
]
Sparse = Annotated[
    list[str] | None,
    typer.Option(
        "--sparse",
        metavar="PATTERN",
        help="Features a line may lack, where they are 0; give it again for more.  [default: *_*]",
    ),
]
CandidatesLang = Annotated[
    str | None,
    typer.Option("--lang", metavar="CODE", help="Language of the candidates.  [default: en]"),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of all chance.")]


def read_references(
    references: Sequence[str], source: str | None, lang: str | None
) -> tuple[Segment, ...]:
    """References and source as segments; without either, none."""
    from meantime.formats import read

    if not references and source is None:
        return ()
    return read(references=references, source=source, lang=lang or "en").segments


def read_lists(
    paths: Sequence[str],
    *,
    segments: Sequence[Segment] | None,
    format: str = "auto",
    names: Sequence[str] | None = None,
    size: int | None = None,
    sparse: Sequence[str] | None = None,
    repeats: bool = False,
) -> Candidates:
    """The candidates of lists, merged; every list may lack segments, all together may not."""
    from meantime.formats.nbest import read_nbest
    from meantime.formats.opening import display
    from meantime.tuning.candidates import SPARSE, Gathering

    gathering = Gathering(
        len(segments) if segments is not None else None, sparse=sparse or SPARSE, repeats=repeats
    )
    there: set[int] = set()
    for path in paths:
        added = gathering.add(
            display(path),
            read_nbest(path, format=format, names=names, size=size),
            complete=False,
        )
        there |= added.firsts.keys()
    gathering.check_complete(", ".join(map(display, paths)), there)
    return gathering.build()


def create_metrics(specifications: Sequence[str], lang: str | None) -> list[Metric]:
    """The metrics asked for, each once, before anything is read."""
    from meantime.registry import create
    from meantime.tuning.statistics import refuse_people

    metrics = [create(one, lang=lang) for one in dict.fromkeys(specifications)]
    for metric in metrics:
        refuse_people(metric)
    return metrics


def open_analyser_for(
    metrics: Sequence[Metric], analyser: str | None, *, no_cache: bool
) -> Analyser | None:
    """The analyser, where one of the metrics needs analysis."""
    from meantime.cli.analysis import open_cached
    from meantime.scoring import ANALYSED

    if any(metric.needs & set(ANALYSED) for metric in metrics):
        return open_cached(analyser, cached=not no_cache)
    if analyser:
        raise UsageError(
            "no metric here needs analysis; leave out --analyser, or take a metric that does "
            "('meantime metrics NAME' says what it needs)"
        )
    return None


def parse_bounds(given: Sequence[str], option: str) -> dict[str, float]:
    """NAME=NUMBER, several times."""
    import math

    bounds: dict[str, float] = {}
    for item in given:
        name, equals, text = item.rpartition("=")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not equals or not name or not math.isfinite(value):
            raise UsageError(f"{option} {item!r} is not NAME=NUMBER; write {option} LM0=0")
        bounds[name] = value
    return bounds


def report_text(
    metrics: Sequence[Metric],
    rows: Sequence[Row],
    facts: Mapping[str, Any],
    format: ReportFormat,
    output: Path | None = None,
) -> str:
    """Choices by metrics, as a table or as JSON; facts are numbers about the lists."""
    if format is ReportFormat.JSON:
        return _as_json(metrics, rows, facts)
    from rich.table import Table
    from rich.text import Text

    from meantime.cli.output import colours, plain, render
    from meantime.options import specify

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("choice", overflow="fold")
    for metric in metrics:
        arrow = "↑" if metric.higher_is_better else "↓"
        table.add_column(plain(f"{specify(metric)} {arrow}"), justify="right", overflow="fold")
    for name, selections in rows:
        cells = []
        for metric, selection in zip(metrics, selections, strict=True):
            decimals = getattr(metric, "decimals", 4)
            text = f"{selection.score:.{decimals}f}"
            if selection.deviation is not None:
                text += f" ± {selection.deviation:.{decimals}f}"
            cells.append(Text(text))
        table.add_row(plain(name), *cells)
    lines = [f"{name}: {value}" for name, value in facts.items()]
    signatures = [str(metric.signature()) for metric in metrics]
    return render([*lines, "", table, "", *signatures], colour=colours(output))


def _as_json(metrics: Sequence[Metric], rows: Sequence[Row], facts: Mapping[str, Any]) -> str:
    content = {
        "meantime": __version__,
        **{name.replace(" ", "_"): value for name, value in facts.items()},
        "choices": [
            {
                "choice": name,
                "metric": metric.name,
                "signature": str(metric.signature()),
                "score": selection.score,
                **({"deviation": selection.deviation} if selection.deviation is not None else {}),
            }
            for name, selections in rows
            for metric, selection in zip(metrics, selections, strict=True)
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def refuse_unwritable(path: Path | None) -> None:
    """Refuse a file that cannot be written, before the work is done."""
    if path is None or str(path) == "-":
        return
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; name a file in it")
    if not path.resolve().parent.is_dir():
        raise InputError(f"{path}: cannot be written, there is no folder {path.parent}; make it")


def note(text: str) -> None:
    """Say something on standard error that is no result."""
    typer.echo(f"note: {text}", err=True)
