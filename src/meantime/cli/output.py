"""Results as a table, JSON, TSV or LaTeX; and where they go."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from meantime import __version__
from meantime.errors import InputError
from meantime.formats.opening import encode, save
from meantime.report.escaping import escape_tex, one_line
from meantime.scoring import Result

WIDE = 4000


def emit(text: str, path: Path | None) -> None:
    """Print a text, or write it to a file: wholly or not at all."""
    if path is not None and str(path) != "-":
        save(Path(path), encode(text))
        return
    if sys.stdout is None:
        raise InputError("standard output is closed; give a file with -o")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, say) has what it wanted. Nothing more can be written, not even
        # what the interpreter flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise InputError(f"standard output: cannot be written ({error.strerror})") from error


def colours(path: Path | None) -> bool:
    """Whether the output goes to a terminal that shows colours."""
    terminal = path is None and sys.stdout is not None and sys.stdout.isatty()
    return terminal and Console().color_system is not None


def render(tables: Sequence[Table | str], *, colour: bool) -> str:
    """Draw tables and lines of text, as wide as they need to be in a pipe."""
    width = shutil.get_terminal_size().columns if colour else WIDE
    console = Console(
        width=width,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
        emoji=False,
        file=io.StringIO(),
    )
    with console.capture() as capture:
        for table in tables:
            console.print(table, soft_wrap=isinstance(table, str), markup=False)
    text = capture.get()
    return text if colour else "\n".join(line.rstrip() for line in text.split("\n"))


def shown(result: Result) -> str:
    """A score as the table shows it, with its interval if it has one."""
    text = f"{result.score.value:.{result.decimals}f}"
    if result.interval is not None:
        low, high = result.interval.low, result.interval.high
        text += f" [{low:.{result.decimals}f}, {high:.{result.decimals}f}]"
    return text


def arrow(result: Result) -> str:
    return "↑" if result.higher_is_better else "↓"


def _grid(
    results: Sequence[Result],
) -> tuple[list[str], list[Result], Mapping[tuple[str, str], Result]]:
    """Systems, one result for each column, and all results by system and column."""
    systems = list(dict.fromkeys(result.system for result in results))
    columns = list({result.specification: result for result in reversed(results)}.values())[::-1]
    return systems, columns, {(r.system, r.specification): r for r in results}


def _best(column: Result, results: Sequence[Result]) -> float:
    values = [r.score.value for r in results if r.specification == column.specification]
    return max(values) if column.higher_is_better else min(values)


def as_table(results: Sequence[Result], ids: Sequence[str], *, colour: bool) -> str:
    """Systems by metrics; segments below; signatures last."""
    systems, columns, cells = _grid(results)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("system", overflow="fold")
    for column in columns:
        table.add_column(
            plain(f"{column.specification} {arrow(column)}"), justify="right", overflow="fold"
        )
    for system in systems:
        row = []
        for column in columns:
            result = cells[system, column.specification]
            best = len(systems) > 1 and result.score.value == _best(column, results)
            row.append(Text(shown(result), style="bold green" if best else ""))
        table.add_row(plain(system), *row)
    drawn: list[Table | str] = [table]
    if results[0].segments is not None:
        drawn += ["", _segment_table(systems, columns, cells, ids)]
    drawn += ["", *dict.fromkeys(str(result.signature) for result in results)]
    if results[0].interval is not None:
        interval = results[0].interval
        drawn.append(
            f"[low, high]: {interval.confidence:.0%} of {interval.resamples} bootstrap samples"
        )
    return render(drawn, colour=colour)


def _segment_table(
    systems: Sequence[str],
    columns: Sequence[Result],
    cells: Mapping[tuple[str, str], Result],
    ids: Sequence[str],
) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("segment", overflow="fold")
    table.add_column("system", overflow="fold")
    for column in columns:
        table.add_column(
            plain(f"{column.specification} {arrow(column)}"), justify="right", overflow="fold"
        )
    for index, name in enumerate(ids):
        for system in systems:
            values = []
            for column in columns:
                scores = cells[system, column.specification].segments or ()
                values.append(f"{scores[index]:.{column.decimals}f}")
            table.add_row(plain(name), plain(system), *values)
    return table


def plain(text: str) -> Text:
    """A name from the data: never read as style, and without characters that act."""
    return Text("".join(mark if mark.isprintable() else "�" for mark in text))


def as_json(results: Sequence[Result]) -> str:
    """The contract others script against."""
    listed = []
    for result in results:
        item: dict[str, object] = {
            "system": result.system,
            "metric": result.metric,
            "signature": str(result.signature),
            "score": result.score.value,
            "higher_is_better": result.higher_is_better,
        }
        if result.interval is not None:
            item["interval"] = {
                "low": result.interval.low,
                "high": result.interval.high,
                "confidence": result.interval.confidence,
                "resamples": result.interval.resamples,
            }
        if result.segments is not None:
            item["segments"] = list(result.segments)
        listed.append(item)
    return (
        json.dumps({"meantime": __version__, "results": listed}, ensure_ascii=False, indent=1)
        + "\n"
    )


def as_tsv(results: Sequence[Result], ids: Sequence[str]) -> str:
    """One row a score; with segments, those too, and the corpus has an empty segment."""
    segments = results[0].segments is not None
    interval = results[0].interval is not None
    header = ["system", *(["segment"] if segments else []), "metric", "score"]
    header += [*(["low", "high"] if interval else []), "signature"]
    lines = [header]
    for result in results:
        bounds = []
        if result.interval is not None:
            bounds = [repr(result.interval.low), repr(result.interval.high)]
        value = repr(result.score.value)
        tail = [*bounds, str(result.signature)]
        first = [result.system, *([""] if segments else [])]
        lines.append([*first, result.specification, value, *tail])
        for name, one in zip(ids, result.segments or (), strict=segments):
            blank = [""] * len(bounds)
            lines.append(
                [
                    result.system,
                    name,
                    result.specification,
                    repr(one),
                    *blank,
                    str(result.signature),
                ]
            )
    return "".join("\t".join(one_line(one) for one in line) + "\n" for line in lines)


def as_latex(results: Sequence[Result]) -> str:
    """A booktabs table, best scores bold, signatures as comments."""
    systems, columns, cells = _grid(results)
    lines = [f"% meantime {__version__}"]
    lines += [f"% {line}" for line in dict.fromkeys(str(r.signature) for r in results)]
    lines += [rf"\begin{{tabular}}{{l{'r' * len(columns)}}}", r"\toprule"]
    arrows = {True: r"$\uparrow$", False: r"$\downarrow$"}
    heads = [f"{escape_tex(c.specification)} {arrows[c.higher_is_better]}" for c in columns]
    lines += [" & ".join(["system", *heads]) + r" \\", r"\midrule"]
    for system in systems:
        row = [escape_tex(system)]
        for column in columns:
            result = cells[system, column.specification]
            best = len(systems) > 1 and result.score.value == _best(column, results)
            row.append(rf"\textbf{{{shown(result)}}}" if best else shown(result))
        lines.append(" & ".join(row) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"
