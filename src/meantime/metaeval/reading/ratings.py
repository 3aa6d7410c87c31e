"""Judgements one by one: which judge gave which score to which translation.

    judge seg system score          and, if known, lp domain doc src ref hyp is_human

An empty `score` means that this judge left the item out.
"""

from __future__ import annotations

from meantime.metaeval.human import Rating, Ratings, is_human_name
from meantime.metaeval.reading.table import Table
from meantime.metaeval.reading.wmt import kind_of, references


def parse_ratings(table: Table) -> Ratings:
    """The judgements of several judges, one row a judgement.

    Raises:
        FormatError: A column is missing, or a score is no number.
    """
    table.require("judge", "seg", "score")
    rows = []
    for row in table:
        system = row.text("system")
        said = row.flag("is_human")
        rows.append(
            Rating(
                judge=row.text("judge"),
                system=system,
                segment=row.text("seg"),
                score=row.number("score"),
                lp=row.text("lp"),
                domain=row.text("domain"),
                document=row.text("doc"),
                source=row.given("src"),
                references=references(row),
                hypothesis=row.given("hyp"),
                is_human=is_human_name(system) if said is None else said,
                line=row.line,
            )
        )
    return Ratings(table.name, tuple(rows), kind_of(table.name))
