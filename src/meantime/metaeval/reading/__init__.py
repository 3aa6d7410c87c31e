"""Reading what people, and other metrics, said of translations; files are known by their columns.

score hyp                        human scores, one row a translation                  wmt
better worse                     preferences, one row a pair of translations          wmt
judge category severity          errors that judges marked (MQM)                      mqm
judge score                      judgements, one row a judgement                      ratings
a folder with human-scores       the layout of mt-metrics-eval                        folder
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

from meantime.errors import FormatError, InputError
from meantime.metaeval.human import HumanScores, Preferences, Ratings
from meantime.metaeval.outside import MetricScores
from meantime.metaeval.reading.folder import (
    is_folder,
    read_folder,
    read_score_folder,
)
from meantime.metaeval.reading.metrics import parse_metric_scores
from meantime.metaeval.reading.mqm import WEIGHTS, Weight, parse_errors, parse_weight
from meantime.metaeval.reading.ratings import parse_ratings
from meantime.metaeval.reading.table import open_table
from meantime.metaeval.reading.wmt import parse_preferences, parse_scores

__all__ = [
    "WEIGHTS",
    "Judged",
    "Weight",
    "parse_weight",
    "read",
    "read_human_scores",
    "read_metric_scores",
    "read_preferences",
    "read_ratings",
]

Judged: TypeAlias = HumanScores | Preferences | Ratings
Kind = TypeVar("Kind", HumanScores, Preferences, Ratings)


def read(
    path: str | Path,
    *,
    weights: Sequence[Weight] = WEIGHTS,
    worst: float | None = None,
    lps: Sequence[str] = (),
    kind: str | None = None,
    reference: str | None = None,
    systems: bool = False,
) -> Judged:
    """Read what people said, whatever the file's layout.

    Args:
        path: A table, or a folder in the layout of mt-metrics-eval.
        weights: What MQM errors cost.
        worst: Largest penalty of MQM errors a judge and translation.
        lps: Language pairs to keep; by default all.
        kind: Which human scores of a folder.
        reference: Which reference of a folder.
        systems: Whether a folder's scores of systems as a whole are read too.

    Raises:
        FormatError: The columns are those of no layout.
    """
    if Path(path).is_dir():
        if not is_folder(Path(path)):
            raise InputError(
                f"{path}: this folder is no test set of mt-metrics-eval, which has folders "
                "human-scores and system-outputs; name a file in it"
            )
        return read_folder(path, lps=lps, kind=kind, reference=reference, systems=systems)
    table = open_table(path)
    found: Judged
    if table.has("better", "worse"):
        found = parse_preferences(table)
    elif table.has("category", "severity"):
        found = parse_errors(table, weights=weights, worst=worst)
    elif table.has("judge", "score"):
        found = parse_ratings(table)
    elif table.has("hyp", "score"):
        found = parse_scores(table)
    else:
        raise FormatError(
            f"{table.name}:1: these columns are no human scores: {', '.join(table.header)}; "
            "needed are hyp and score (one row a translation), judge and score (one row a "
            "judgement), judge, category and severity (one row an error), or better and worse "
            "(one row a preference)"
        )
    return _only(found, lps) if lps else found


def _only(found: Judged, lps: Sequence[str]) -> Judged:
    """The rows of these language pairs."""
    from dataclasses import replace

    if isinstance(found, HumanScores):
        kept: Judged = replace(found, pairs=tuple(p for p in found.pairs if p.lp in lps))
        there = {pair.lp for pair in found.pairs}
    else:
        there = {row.lp for row in found.rows}
        if isinstance(found, Preferences):
            kept = replace(found, rows=tuple(row for row in found.rows if row.lp in lps))
        else:
            kept = replace(found, rows=tuple(row for row in found.rows if row.lp in lps))
    for lp in lps:
        if lp not in there:
            raise InputError(
                f"{found.name}: no row of language pair {lp!r}; there are "
                f"{', '.join(sorted(filter(None, there))) or 'none named'}"
            )
    return kept


def read_human_scores(path: str | Path) -> HumanScores:
    """Read human scores in the layout of the WMT collections, or of mt-metrics-eval.

    Raises:
        InputError: The file holds something else.
    """
    return _of_kind(path, read(path), HumanScores, "human scores, one row a translation")


def read_preferences(path: str | Path) -> Preferences:
    """Read preferences, one row a pair of translations.

    Raises:
        InputError: The file holds something else.
    """
    return _of_kind(path, read(path), Preferences, "preferences, one row a pair of translations")


def read_ratings(
    path: str | Path, *, weights: Sequence[Weight] = WEIGHTS, worst: float | None = None
) -> Ratings:
    """Read judgements one by one, or MQM errors as each judge's scores.

    Raises:
        InputError: The file holds something else.
    """
    found = read(path, weights=weights, worst=worst)
    return _of_kind(path, found, Ratings, "judgements, one row a judgement or an error")


def _of_kind(path: str | Path, found: Judged, kind: type[Kind], what: str) -> Kind:
    if not isinstance(found, kind):
        raise InputError(f"{path}: holds {_KINDS[type(found)]}; expected {what}")
    return found


_KINDS = {
    HumanScores: "human scores",
    Preferences: "preferences",
    Ratings: "judgements one by one",
}


def read_metric_scores(path: str | Path, *, lower: Sequence[str] = ()) -> MetricScores:
    """Read scores of other metrics: a table, or files in the layout of mt-metrics-eval.

    Args:
        path: A table with columns that name the translation (lp, domain, doc, seg, system) and one
            column a metric; or a folder or file `LP/METRIC-REFERENCE.seg.score`.
        lower: Names of metrics for which lower is better; they are turned round.
    """
    where = Path(path)
    if where.is_dir() or where.name.endswith(".seg.score"):
        return read_score_folder(where).turned(lower)
    return parse_metric_scores(open_table(path)).turned(lower)
