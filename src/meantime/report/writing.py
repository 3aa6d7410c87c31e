"""Comparisons as JSON, and their tables as Markdown and LaTeX."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from meantime import __version__
from meantime.report.comparison import Comparison, Difference, MetricComparison, Standing
from meantime.report.escaping import escape_tex, one_line
from meantime.report.findings import Findings, as_content
from meantime.report.tables import Cell, Page, Table
from meantime.scoring import Interval


def as_json(comparison: Comparison, findings: Findings | None = None) -> str:
    """Everything a comparison holds; the contract others script against."""
    settings = comparison.settings
    content: dict[str, Any] = {
        "meantime": __version__,
        "systems": list(comparison.systems),
        "segments": len(comparison.corpus.segments),
        "settings": {
            "resamples": settings.resamples,
            "trials": settings.trials,
            "seed": settings.seed,
            "confidence": settings.confidence,
            "test": settings.test.value,
            "correction": settings.correction.value,
            "significance": settings.significance,
            "baseline": settings.baseline,
            "comparisons": settings.comparisons,
        },
        "metrics": [_metric(one, comparison.systems) for one in comparison.metrics],
        "people": comparison.gap_source,
        "statements": [
            *comparison.statements,
            *(line for one in comparison.metrics for line in one.statements),
        ],
        **as_content(findings or Findings(), comparison.corpus),
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _metric(one: MetricComparison, systems: Sequence[str]) -> dict[str, Any]:
    return {
        "metric": one.metric,
        "specification": one.specification,
        "signature": str(one.signature),
        "higher_is_better": one.higher_is_better,
        "standings": [_standing(standing) for standing in one.standings],
        "differences": [_difference(difference) for difference in one.differences],
        "wins": {"systems": list(systems), "shares": one.wins.tolist()},
        "documents": [
            {
                "document": item.document,
                "segments": item.segments,
                "scores": dict(zip(systems, item.scores, strict=True)),
            }
            for item in one.documents
        ],
    }


def _standing(one: Standing) -> dict[str, Any]:
    return {
        "system": one.system,
        "score": one.score,
        "interval": _interval(one.interval),
        "rank": one.rank,
        "best_rank": one.best_rank,
        "worst_rank": one.worst_rank,
        "cluster": one.cluster,
    }


def _difference(one: Difference) -> dict[str, Any]:
    meaning = one.meaning
    return {
        "better": one.better,
        "worse": one.worse,
        "gap": one.gap,
        "interval": _interval(one.interval),
        "wins": one.wins,
        "p_bootstrap": one.bootstrap,
        "p_randomisation": one.randomisation,
        "p_corrected": one.corrected,
        "significant": one.significant,
        "same_output": one.same_output,
        "people": None
        if meaning is None
        else {
            "agree": meaning.share,
            "pairs": meaning.pairs,
            "segments": meaning.segments,
            "beyond": meaning.beyond,
        },
    }


def _interval(one: Interval) -> dict[str, float]:
    return {"low": one.low, "high": one.high}


def as_markdown(page: Page) -> str:
    """Tables with pipes; what stands in them is never read as markup."""
    lines: list[str] = []
    for table in page.tables:
        lines += [f"**{_markdown(table.title)}**", ""]
        lines.append(_piped([_markdown(head) for head in table.head]))
        lines.append(
            _piped(["--:" if table.is_number(n) else ":--" for n in range(len(table.head))])
        )
        for row in table.rows:
            lines.append(_piped([_bold(cell) for cell in row]))
        lines.append("")
    for group in (page.statements, page.legend):
        lines += [*(f"- {_markdown(line)}" for line in group), *([""] if group else [])]
    lines += [f"- `{line}`" for line in page.signatures]
    return "\n".join(lines) + "\n"


def _piped(fields: Sequence[str]) -> str:
    return f"| {' | '.join(fields)} |"


def _bold(cell: Cell) -> str:
    text = _markdown(cell.text)
    return f"**{text}**" if cell.strong and text else text


def _markdown(text: str) -> str:
    special = "\\`*_{}[]<>#|~"
    clean = " ".join(text.split())
    return "".join(
        f"\\{mark}" if mark in special else mark if mark.isprintable() else "�" for mark in clean
    )


def as_latex(page: Page) -> str:
    """Booktabs tables, one after the other; statements, legend and signatures as comments."""
    lines = [f"% meantime {__version__}"]
    for group in (page.signatures, page.legend, page.statements):
        lines += [f"% {one_line(line)}" for line in group]
    for table in page.tables:
        lines += ["", f"% {one_line(table.title)}", *_tabular(table)]
    return "\n".join(lines) + "\n"


def _tabular(table: Table) -> list[str]:
    columns = "".join("r" if table.is_number(n) else "l" for n in range(len(table.head)))
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(_symbols(escape_tex(head)) for head in table.head) + r" \\", r"\midrule"]
    for number, row in enumerate(table.rows):
        if number in table.breaks:
            lines.append(r"\midrule")
        texts = [_symbols(escape_tex(cell.text)) for cell in row]
        bold = [rf"\textbf{{{t}}}" if c.strong else t for t, c in zip(texts, row, strict=True)]
        lines.append(" & ".join(bold) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _symbols(text: str) -> str:
    for mark, written in (("↑", r"$\uparrow$"), ("↓", r"$\downarrow$"), ("–", "--")):
        text = text.replace(mark, written)
    return text
