"""What stands beside the numbers of a comparison, gathered, laid out and written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from meantime.report.buckets import Buckets
from meantime.report.cautions import Caution
from meantime.report.disagreements import MetricsDisagree, SystemsDisagree
from meantime.report.roles import RoleLosses
from meantime.report.tables import Cell, Table
from meantime.types import Corpus


@dataclass(frozen=True, slots=True)
class Findings:
    """Warnings, and where systems differ, as far as it was asked for."""

    cautions: tuple[Caution, ...] = ()
    buckets: tuple[Buckets, ...] = ()
    systems_disagree: tuple[SystemsDisagree, ...] = ()
    metrics_disagree: tuple[MetricsDisagree, ...] = ()
    roles: RoleLosses | None = None


def lay_out_findings(findings: Findings, corpus: Corpus) -> tuple[Table, ...]:
    """Tables of everything but the warnings, which are lines of text."""
    tables = [_buckets(one) for one in findings.buckets]
    if findings.roles is not None:
        tables += [_kept(findings.roles), _lost(findings.roles)]
    if findings.systems_disagree:
        tables.append(_systems(findings.systems_disagree, corpus))
    if findings.metrics_disagree:
        tables.append(_metrics(findings.metrics_disagree, corpus))
    return tuple(tables)


def findings_legend(findings: Findings) -> tuple[str, ...]:
    """How to read these tables."""
    lines = []
    if any(one.overlapping for one in findings.buckets):
        lines.append("by role: a segment counts in the bucket of each role its reference has")
    if findings.roles is not None:
        lines.append(
            "roles: words of the reference's roles found again, as they are, in the same role "
            "(kept), elsewhere (moved), or not at all (lost)"
        )
    if findings.metrics_disagree:
        lines.append(
            "metrics disagree: by the smaller of the two preferences, in standard deviations"
        )
    return tuple(lines)


def _buckets(found: Buckets) -> Table:
    sign = 1 if found.higher_is_better else -1
    rows = []
    for one in found.buckets:
        best = max(sign * score for score in one.scores)
        cells = [Cell(one.name), Cell(str(len(one.segments)))]
        for score in one.scores:
            strong = sign * score == best and len(set(one.scores)) > 1
            cells.append(Cell(f"{score:.{found.decimals}f}", strong))
        rows.append(tuple(cells))
    arrow = "↑" if found.higher_is_better else "↓"
    title = f"{found.specification} {arrow} by {found.feature}"
    return Table(title, (found.feature.value, "segments", *found.systems), tuple(rows))


def _kept(roles: RoleLosses) -> Table:
    """The share of each class's words kept in the same class."""
    return _shares(roles, "roles: words kept in the same role, %", "kept")


def _lost(roles: RoleLosses) -> Table:
    return _shares(roles, "roles: words lost, %", "lost")


def _shares(roles: RoleLosses, title: str, what: str) -> Table:
    rows = []
    for name in roles.classes:
        counts = [roles.counts[system][name] for system in roles.systems]
        shares = [getattr(one, what) / one.words if one.words else None for one in counts]
        known = [share for share in shares if share is not None]
        best = max(known) if what == "kept" else min(known)
        words = sorted({one.words for one in counts})
        # With several references systems may be compared with different ones.
        shown = str(words[0]) if len(words) == 1 else f"{words[0]}-{words[-1]}"
        cells = [Cell(name), Cell(shown)]
        for share in shares:
            if share is None:
                cells.append(Cell("–"))
            else:
                strong = share == best and len(set(shares)) > 1
                cells.append(Cell(f"{100 * share:.1f}", strong))
        rows.append(tuple(cells))
    return Table(title, ("role", "words", *roles.systems), tuple(rows))


def _systems(found: tuple[SystemsDisagree, ...], corpus: Corpus) -> Table:
    rows: list[tuple[Cell, ...]] = []
    breaks = set()
    for one in found:
        if rows:
            breaks.add(len(rows))
        segment = corpus.segments[one.segment]
        name = (Cell(one.specification), Cell(segment.id))
        for reference in segment.references:
            rows.append((*name, Cell("(reference)"), Cell(""), Cell(_line(reference.text))))
        for system, score in zip((one.better, one.worse), one.scores, strict=True):
            text = corpus.outputs[system][one.segment].text
            cells = (Cell(system), Cell(f"{score:.4g}"), Cell(_line(text)))
            rows.append((*name, *cells))
    head = ("metric", "segment", "system", "score", "text")
    title = "segments on which two systems differ most"
    return Table(title, head, tuple(rows), left=3, breaks=frozenset(breaks), texts=1)


def _metrics(found: tuple[MetricsDisagree, ...], corpus: Corpus) -> Table:
    rows: list[tuple[Cell, ...]] = []
    breaks = set()
    for one in found:
        if rows:
            breaks.add(len(rows))
        segment = corpus.segments[one.segment]
        name = (Cell(f"{one.first} / {one.second}"), Cell(segment.id))
        for reference in segment.references:
            rows.append((*name, Cell("(reference)"), Cell(""), Cell(_line(reference.text))))
        for place, system in enumerate((one.preferred, one.other)):
            scores = f"{one.first_scores[place]:.4g} / {one.second_scores[place]:.4g}"
            text = corpus.outputs[system][one.segment].text
            rows.append((*name, Cell(system), Cell(scores), Cell(_line(text))))
    head = ("metrics", "segment", "system", "scores", "text")
    title = "segments on which two metrics disagree most (the first prefers the upper system)"
    return Table(title, head, tuple(rows), left=3, breaks=frozenset(breaks), texts=1)


def _line(text: str) -> str:
    return " ".join(text.split())


def as_content(findings: Findings, corpus: Corpus) -> dict[str, Any]:
    """Findings as they stand in the JSON of a comparison."""
    return {
        "warnings": [
            {
                "kind": one.kind.value,
                "text": one.text,
                "system": one.system,
                "metric": one.metric,
                "segments": [corpus.segments[place].id for place in one.segments],
            }
            for one in findings.cautions
        ],
        "buckets": [_bucket_content(one, corpus) for one in findings.buckets],
        "roles": None if findings.roles is None else _role_content(findings.roles),
        "systems_disagree": [
            {
                "metric": one.specification,
                "segment": corpus.segments[one.segment].id,
                "better": one.better,
                "worse": one.worse,
                "scores": list(one.scores),
            }
            for one in findings.systems_disagree
        ],
        "metrics_disagree": [
            {
                "metrics": [one.first, one.second],
                "segment": corpus.segments[one.segment].id,
                "preferred": [one.preferred, one.other],
                "scores": [list(one.first_scores), list(one.second_scores)],
                "strength": one.strength,
            }
            for one in findings.metrics_disagree
        ],
    }


def _bucket_content(found: Buckets, corpus: Corpus) -> dict[str, Any]:
    return {
        "feature": found.feature.value,
        "metric": found.specification,
        "overlapping": found.overlapping,
        "buckets": [
            {
                "name": one.name,
                "segments": [corpus.segments[place].id for place in one.segments],
                "scores": dict(zip(found.systems, one.scores, strict=True)),
                "intervals": {
                    system: {"low": interval.low, "high": interval.high}
                    for system, interval in zip(found.systems, one.intervals, strict=True)
                },
            }
            for one in found.buckets
        ],
    }


def _role_content(roles: RoleLosses) -> dict[str, Any]:
    return {
        system: {
            name: {"words": one.words, "kept": one.kept, "moved": one.moved, "lost": one.lost}
            for name, one in counts.items()
        }
        for system, counts in roles.counts.items()
    }
