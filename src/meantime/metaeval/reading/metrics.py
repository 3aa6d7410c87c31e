"""Scores of other metrics as a table: columns that name a translation, and one column a metric.

    lp seg system BLEU COMET-22 ...          and, where they are needed, domain and doc

An empty field means that this metric gave no score.
"""

from __future__ import annotations

from meantime.errors import FormatError
from meantime.metaeval.outside import MetricScores, ScoreKey
from meantime.metaeval.reading.table import Table, as_number

_KEYS = {
    "lp": "lp",
    "domain": "domain",
    "doc": "document",
    "seg": "segment",
    "system": "system",
}
"""Columns that say which translation a row speaks of, and what a `JudgedPair` calls them."""

_TEXTS = ("src", "ref", "hyp", "ref_id", "is_human")


def parse_metric_scores(table: Table) -> MetricScores:
    """Read a table with columns that name a translation, and one column a metric.

    Raises:
        FormatError: There is no column of a segment or no metric, a score is no number, or a
            translation stands twice.
    """
    table.require("seg")
    used = [column for column in _KEYS if table.has(column)]
    known = {table.places[column] for column in (*used, *_TEXTS) if table.has(column)}
    names = {place: name for place, name in enumerate(table.header) if place not in known}
    if not names:
        raise FormatError(
            f"{table.name}:1: no column of a metric's scores besides {', '.join(table.header)}"
        )
    scores: dict[str, dict[ScoreKey, float]] = {name: {} for name in names.values()}
    lines: dict[ScoreKey, int] = {}
    for row in table:
        key = tuple(row.text(column) for column in used)
        if key in lines:
            raise FormatError(
                f"{table.name}:{row.line}: {'/'.join(key)} stands in line {lines[key]} too; "
                "remove one"
            )
        lines[key] = row.line
        for place, name in names.items():
            value = as_number(row.fields[place], f"{table.name}:{row.line}: {name}")
            if value is not None:
                scores[name][key] = value
    return MetricScores(table.name, tuple(_KEYS[column] for column in used), scores)
