"""Tables of agreement with people: for reading, for scripts, for papers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from meantime import __version__
from meantime.cli.output import plain, render
from meantime.report.escaping import escape_tex, one_line

if TYPE_CHECKING:
    from meantime.metaeval.evaluating import Cell, Evaluation, Figure, Row
    from meantime.metaeval.tasks import Outcome

PREFERENCES = "preferences"
UNITS = {"segments": "segments", "systems": "systems"}
ABSENT = "–"


def _title(evaluation: Evaluation) -> str:
    """The task, and what it rests on."""
    sets = evaluation.sets
    rated, segments = sum(one.rated for one in sets), sum(one.segments for one in sets)
    name = ", ".join(part for part in (evaluation.name, evaluation.group) if part)
    what = PREFERENCES if _preferences(evaluation) else "rated translations"
    if all(one.whole for one in sets):
        what = "translations"
    if len(sets) == 1:
        lp = "" if sets[0].lp in ("", evaluation.group) else f"{sets[0].lp}, "
        systems = f" by {sets[0].systems} systems" if sets[0].systems > 1 else ""
        return f"{name}: {lp}{rated:,} {what} of {segments:,} segments{systems}"
    pairs = ", ".join(one.lp or "(unnamed)" for one in sets)
    return (
        f"{name}: mean over {len(sets)} language pairs ({pairs}), {rated:,} {what} of "
        f"{segments:,} segments"
    )


def _cells(evaluation: Evaluation, row: Row) -> list[str]:
    """The figures of a metric as they are shown, its area last where there is one."""
    shown = []
    for figure in evaluation.figures:
        cell = row.cells[figure]
        text = ABSENT if cell.value is None else f"{cell.value:.3f}"
        if cell.interval is not None:
            text += f" [{cell.interval.low:.3f}, {cell.interval.high:.3f}]"
        shown.append(text)
    if _with_area(evaluation):
        shown.append(ABSENT if row.area is None else f"{row.area:.3f}")
    return shown


def _heading(evaluation: Evaluation, figure: Figure) -> str:
    """What a column is called; of preferences, which are pairs already, the statistic alone."""
    return figure.statistic if _preferences(evaluation) else str(figure)


def _preferences(evaluation: Evaluation) -> bool:
    return evaluation.sets[0].kind == PREFERENCES


def _with_area(evaluation: Evaluation) -> bool:
    return any(row.area is not None for row in evaluation.rows)


def _headings(evaluation: Evaluation) -> list[str]:
    heads = [_heading(evaluation, figure) for figure in evaluation.figures]
    return [*heads, "ROC area"] if _with_area(evaluation) else heads


def _ranks(evaluation: Evaluation, row: Row) -> list[str]:
    """Rank, and cluster where there are any."""
    shown = ["" if row.rank is None else str(row.rank)]
    if evaluation.p_values:
        shown.append("" if row.cluster is None else str(row.cluster))
    return shown


def _rank_headings(evaluation: Evaluation) -> list[str]:
    return ["rank", "cluster"] if evaluation.p_values else ["rank"]


def _foot(evaluation: Evaluation) -> Iterator[str]:
    """What the columns rest on, what the reader must know, and the signatures."""
    for figure in evaluation.figures:
        if figure.grouping not in UNITS or _preferences(evaluation):
            continue
        line = _defined(evaluation, figure)
        if line:
            yield line
    first = next((row.cells[evaluation.leading].interval for row in evaluation.rows), None)
    if first is not None:
        samples = f"{first.resamples} bootstrap samples of segments"
        yield f"[low, high]: {first.confidence:.0%} of {samples}"
    if evaluation.p_values:
        yield (
            "cluster: metrics not significantly different from the cluster's first by "
            f"{_heading(evaluation, evaluation.leading)} (p < 0.05, {_test(evaluation)}, corrected "
            "after Benjamini and Hochberg)"
        )
    if _with_area(evaluation):
        yield "ROC area: chance that a human translation scores above a machine's"
    for note in evaluation.notes:
        yield f"note: {note}"


def _test(evaluation: Evaluation) -> str:
    """How differences were tested."""
    if evaluation.test == "williams":
        return "Williams' test"
    over = "translations" if evaluation.test == "both" else str(evaluation.test)
    means = evaluation.leading.grouping == "means" and evaluation.test != "systems"
    of = f" of {over}" + (", mean segment scores" if means else "")
    return f"{evaluation.resamples} permutations{of}"


def _defined(evaluation: Evaluation, figure: Figure) -> str:
    """Over how many groups a figure is defined: that of most metrics, and the exceptions."""
    cells = {row.name: row.cells[figure] for row in evaluation.rows if row.rank is not None}
    if not cells:
        return ""
    counts = [cell.defined for cell in cells.values()]
    usual = max(set(counts), key=counts.count)
    groups = max(cell.groups for cell in cells.values())
    others = [
        f"{name} in {cell.defined:,}" for name, cell in cells.items() if cell.defined != usual
    ]
    unit = UNITS[figure.grouping]
    if unit == "segments":
        unit = "segments with several rated translations"
    text = f"{figure}: defined in {usual:,} of {groups:,} {unit}"
    return f"{text}; {', '.join(others)}" if others else text


def _signatures(outcomes: Sequence[Outcome]) -> list[str]:
    found = [
        str(row.signature)
        for outcome in outcomes
        for evaluation in outcome.evaluations
        for row in evaluation.rows
        if row.signature is not None
    ]
    return list(dict.fromkeys(found))


def as_table(outcomes: Sequence[Outcome], *, colour: bool) -> str:
    """One table for each part of each task's data; signatures last."""
    drawn: list[Table | str] = []
    for outcome in outcomes:
        for evaluation in outcome.evaluations:
            if drawn:
                drawn.append("")
            drawn += [plain(_title(evaluation)).plain, _table(evaluation), ""]
            drawn += [plain(line).plain for line in _foot(evaluation)]
        drawn += [f"note: {plain(note).plain}" for note in outcome.notes]
    signatures = _signatures(outcomes)
    if signatures:
        drawn += ["", *signatures]
    return render(drawn, colour=colour)


def _table(evaluation: Evaluation) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in _rank_headings(evaluation):
        table.add_column(name, justify="right")
    table.add_column("metric", overflow="fold")
    for name in _headings(evaluation):
        table.add_column(name, justify="right")
    for row in evaluation.rows:
        style = "bold green" if row.cluster == 1 else ("" if row.rank else "dim")
        cells = [Text(text, style=style) for text in _cells(evaluation, row)]
        table.add_row(*_ranks(evaluation, row), plain(row.name), *cells)
    return table


def as_json(outcomes: Sequence[Outcome]) -> str:
    """The contract others script against."""
    listed = [
        {
            "name": evaluation.name,
            "group": evaluation.group,
            "level": str(evaluation.scope),
            "leading": key(evaluation.leading),
            "sets": [
                {
                    "lp": one.lp,
                    "kind": one.kind,
                    "segments": one.segments,
                    "systems": one.systems,
                    "rated": one.rated,
                    "whole": one.whole,
                }
                for one in evaluation.sets
            ],
            "metrics": [_metric(evaluation, row) for row in evaluation.rows],
            "p_values": [
                {"metric": one, "other": other, "p": p}
                for (one, other), p in evaluation.p_values.items()
            ],
            "resamples": evaluation.resamples,
            "test": str(evaluation.test),
            "notes": [*outcome.notes, *evaluation.notes],
        }
        for outcome in outcomes
        for evaluation in outcome.evaluations
    ]
    content = {"meantime": __version__, "evaluations": listed}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def key(figure: Figure) -> str:
    """What a figure is called in JSON and TSV."""
    return f"{figure.statistic}-{figure.grouping}"


def _metric(evaluation: Evaluation, row: Row) -> Mapping[str, object]:
    return {
        "metric": row.name,
        "rank": row.rank,
        "cluster": row.cluster,
        "signature": None if row.signature is None else str(row.signature),
        "missing": row.missing,
        "roc_area": row.area,
        "figures": {key(figure): _figure(row.cells[figure]) for figure in evaluation.figures},
    }


def _figure(cell: Cell) -> Mapping[str, object]:
    found: dict[str, object] = {
        "value": cell.value,
        "defined": cell.defined,
        "groups": cell.groups,
    }
    if cell.reason is not None:
        found["reason"] = cell.reason
    if cell.interval is not None:
        found["interval"] = {
            "low": cell.interval.low,
            "high": cell.interval.high,
            "confidence": cell.interval.confidence,
            "resamples": cell.interval.resamples,
        }
    return found


def as_tsv(outcomes: Sequence[Outcome]) -> str:
    """One row a figure of a metric, numbers in full; an empty value is not defined."""
    lines = [
        "name\tgroup\tlevel\tmetric\tfigure\tvalue\tlow\thigh\tdefined\tgroups\trank\tcluster"
        "\tsignature"
    ]
    for outcome in outcomes:
        for evaluation in outcome.evaluations:
            for row in evaluation.rows:
                for figure in evaluation.figures:
                    cell = row.cells[figure]
                    ends = cell.interval
                    values = [
                        evaluation.name,
                        evaluation.group,
                        str(evaluation.scope),
                        row.name,
                        key(figure),
                        "" if cell.value is None else repr(cell.value),
                        "" if ends is None else repr(ends.low),
                        "" if ends is None else repr(ends.high),
                        str(cell.defined),
                        str(cell.groups),
                        "" if row.rank is None else str(row.rank),
                        "" if row.cluster is None else str(row.cluster),
                        "" if row.signature is None else str(row.signature),
                    ]
                    lines.append("\t".join(one_line(value) for value in values))
    return "".join(f"{line}\n" for line in lines)


def _rows(evaluation: Evaluation) -> Iterator[list[str]]:
    yield [*_rank_headings(evaluation), "metric", *_headings(evaluation)]
    for row in evaluation.rows:
        yield [*_ranks(evaluation, row), row.name, *_cells(evaluation, row)]


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """Tables for a page; what they rest on below."""
    lines: list[str] = []
    for outcome in outcomes:
        for evaluation in outcome.evaluations:
            numbers = len(_rank_headings(evaluation))
            rule = ["---:"] * numbers + ["---"] + ["---:"] * len(_headings(evaluation))
            header, *rows = [[_cell(text) for text in row] for row in _rows(evaluation)]
            lines += [f"**{_cell(_title(evaluation))}**", ""]
            lines += [f"| {' | '.join(row)} |" for row in (header, rule, *rows)]
            lines += ["", *(f"- {_cell(line)}" for line in _foot(evaluation))]
            lines += [f"- {_cell(note)}" for note in outcome.notes]
            lines.append("")
    lines += [f"- `{signature}`" for signature in _signatures(outcomes)]
    return "\n".join(lines).rstrip() + "\n"


def _cell(text: str) -> str:
    """Text that cannot end a cell of a Markdown table, nor begin markup."""
    safe = one_line(text)
    for mark in "\\|*_`<>[]":
        safe = safe.replace(mark, f"\\{mark}")
    return safe


def as_latex(outcomes: Sequence[Outcome]) -> str:
    """Booktabs tables, the first cluster bold, what they rest on as comments."""
    lines = [f"% meantime {__version__}"]
    lines += [f"% {signature}" for signature in _signatures(outcomes)]
    for outcome in outcomes:
        for evaluation in outcome.evaluations:
            lines += [f"% {one_line(_title(evaluation))}"]
            lines += [f"% {one_line(line)}" for line in _foot(evaluation)]
            numbers = len(_rank_headings(evaluation))
            layout = "r" * numbers + "l" + "r" * len(_headings(evaluation))
            header, *rows = [[escape_tex(text) for text in row] for row in _rows(evaluation)]
            lines += [rf"\begin{{tabular}}{{{layout}}}", r"\toprule"]
            lines += [" & ".join(header) + r" \\", r"\midrule"]
            for row, cells in zip(evaluation.rows, rows, strict=True):
                if row.cluster == 1:
                    cells[numbers + 1] = rf"\textbf{{{cells[numbers + 1]}}}"
                lines.append(" & ".join(cells) + r" \\")
            lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"
