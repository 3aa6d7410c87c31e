"""Human scores and preferences as tab-separated tables, in the layout of the WMT collections.

Scores: one row a translation,

    lp domain doc seg system src ref hyp score ref_id is_human raw n

of which `hyp` and `score` must be there. Without `seg`, the k-th row of a system is segment k. An
empty `score` means "not rated". Where `is_human` says nothing, the system's name does: `ref-A` is a
human translation.

Preferences (DARR): one row a pair of translations, the better one named,

    lp domain doc seg src ref ref_id better_system better worse_system worse
"""

from __future__ import annotations

from collections import Counter

from meantime.metaeval.human import (
    HumanScores,
    JudgedPair,
    Preference,
    Preferences,
    is_human_name,
)
from meantime.metaeval.reading.table import Row, Table


def parse_scores(table: Table) -> HumanScores:
    """Translations with their human scores.

    Raises:
        FormatError: A column is missing, or a field is not what its column says.
    """
    table.require("hyp", "score")
    numbers: Counter[tuple[str, str]] = Counter()
    pairs = []
    for row in table:
        lp, system = row.text("lp"), row.text("system")
        numbers[lp, system] += 1
        said = row.flag("is_human")
        pairs.append(
            JudgedPair(
                lp=lp,
                domain=row.text("domain"),
                document=row.text("doc"),
                segment=row.text("seg") if table.has("seg") else str(numbers[lp, system]),
                system=system,
                source=row.given("src"),
                references=references(row),
                hypothesis=row.text("hyp"),
                score=row.number("score"),
                is_human=is_human_name(system) if said is None else said,
                judgements=row.count("n"),
                raw=row.number("raw"),
                line=row.line,
            )
        )
    return HumanScores(table.name, kind_of(table.name), tuple(pairs))


def references(row: Row) -> tuple[tuple[str, str], ...]:
    """The reference of a row with its id, if there is one."""
    reference = row.given("ref")
    return () if reference is None else ((row.text("ref_id") or "ref", reference),)


def parse_preferences(table: Table) -> Preferences:
    """Pairs of translations, the better one named.

    Raises:
        FormatError: A column is missing.
    """
    table.require("seg", "better", "worse")
    rows = tuple(
        Preference(
            lp=row.text("lp"),
            domain=row.text("domain"),
            document=row.text("doc"),
            segment=row.text("seg"),
            source=row.given("src"),
            reference=row.given("ref"),
            better_system=row.text("better_system"),
            better=row.text("better"),
            worse_system=row.text("worse_system"),
            worse=row.text("worse"),
            line=row.line,
        )
        for row in table
    )
    return Preferences(table.name, rows)


def kind_of(name: str) -> str:
    """What the scores are, from the file's name, or "" where it does not say."""
    plain = name.casefold()
    for sign, kind in (("mqm", "mqm"), ("da+sqm", "da+sqm"), ("dasqm", "da+sqm"), ("-da", "da")):
        if sign in plain.rpartition("/")[2]:
            return kind
    return ""
