"""How automatic metrics go with what people said: Lo and Wu 2010, section 5 and Table 5.

What people said of the outputs, HMEANT, their order or their ratings, becomes human scores, and
`meantime.metaeval` does the rest: what is between which translations, and when it is not defined,
stands there.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy

from meantime.annotation.campaign import VersionKind
from meantime.annotation.results import Results, SegmentScore, compute
from meantime.annotation.store.store import Everything
from meantime.errors import InputError
from meantime.formats.opening import disarm
from meantime.metaeval.collecting import Collected, Column, collect
from meantime.metaeval.evaluating import Cell, Figure, GridBlock, Scope, evaluate
from meantime.metaeval.grids import Grouping, Statistic
from meantime.metaeval.human import HumanScores, JudgedPair
from meantime.protocols import Analyser, Array
from meantime.registry import create
from meantime.scoring import ANALYSED

HMEANT = "hmeant"
SAID: Mapping[str, Callable[[SegmentScore], float | None]] = {
    "order": lambda one: None if one.rank is None else -one.rank,
    "hmeant": lambda one: one.f,
    "rating": lambda one: one.percentile,
}
"""What can stand as a human score: the mean rank with a minus, HMEANT, the mean percentile."""

TITLES = {"order": "people's order", "hmeant": "HMEANT", "rating": "people's ratings"}
_NOTHING = {
    "order": "nobody has ordered outputs yet",
    "hmeant": "no output has all its judgements yet",
    "rating": "nobody has rated outputs yet",
}
STATISTICS = (Statistic.SPEARMAN, Statistic.KENDALL, Statistic.PEARSON)
GROUPINGS: Mapping[Grouping, str] = {
    Grouping.SEGMENTS: "within segments",
    Grouping.SYSTEMS: "within systems",
    Grouping.POOLED: "pooled",
    Grouping.MEANS: "over systems",
}
_FIGURES = tuple(Figure(one, grouping) for grouping in GROUPINGS for one in STATISTICS)


@dataclass(frozen=True, slots=True)
class Correlation:
    """One correlation of a metric with one of the things people said.

    Attributes:
        people: With what: "order", "hmeant" or "rating".
        metric: Of what: "hmeant", or a metric as it was asked for.
        grouping: Between which translations: "segments", "systems", "pooled" or "means".
        statistic: "spearman", "kendall" (tau-b) or "pearson".
        value: The correlation, a mean over groups; None where it is defined in none.
        defined: In how many groups (segments, systems) it is defined.
        groups: How many groups there are.
        segments: How many segments it rests on.
        reason: Why there is no value.
    """

    people: str
    metric: str
    grouping: str
    statistic: str
    value: float | None
    defined: int
    groups: int
    segments: int
    reason: str | None = None


def make_human_scores(data: Everything, results: Results, said: str) -> HumanScores:
    """A human score of every output of every system; None where people have not got that far."""
    scores = {(one.segment, one.system): SAID[said](one) for one in results.segments}
    outputs: dict[str, list[tuple[str, str]]] = {}
    for version in data.versions.values():
        if version.kind is VersionKind.SYSTEM:
            outputs.setdefault(version.segment, []).append((version.system, version.sentence.text))
    pairs = [
        JudgedPair(
            lp=f"{one.source.lang if one.source else 'und'}-{one.reference.lang}",
            domain="",
            document="",
            segment=one.name,
            system=system,
            source=one.source.text if one.source else None,
            references=(("reference", one.reference.text),),
            hypothesis=text,
            score=scores.get((one.name, system)),
        )
        for one in data.segments
        for system, text in sorted(outputs.get(one.id, ()))
    ]
    return HumanScores(data.campaign.name, said, tuple(pairs))


def _measure(
    data: Everything,
    human: HumanScores,
    metrics: Sequence[str],
    opened: Callable[[], Analyser] | None,
) -> list[Collected]:
    """The outputs with what the metrics say of them, a test set a language pair."""
    names = list(dict.fromkeys(metrics))
    for name in names:
        if name.partition(":")[0] == HMEANT:
            raise InputError(f"{HMEANT} is in the table already; name automatic metrics")
    if not human.pairs:
        return []
    languages = {one.reference.lang for one in data.segments}
    lang = languages.pop() if len(languages) == 1 else None
    needed = any(create(name, lang=lang or "en").needs & set(ANALYSED) for name in names)
    found = collect(human, names, lang=lang, analyser=opened() if needed and opened else None)
    return list(found.values())


def score_segments(
    data: Everything, metrics: Sequence[str], opened: Callable[[], Analyser] | None = None
) -> dict[str, dict[tuple[str, str], float]]:
    """Each metric's score of every segment and system, so that higher is better.

    Raises:
        UsageError: A metric has no such name or option.
        InputError: HMEANT is among them.
    """
    found: dict[str, dict[tuple[str, str], float]] = {name: {} for name in metrics}
    human = make_human_scores(data, compute(data), "order")
    for collected in _measure(data, human, metrics, opened):
        for column in collected.columns:
            for pair, value in zip(collected.scores.pairs, column.scores.tolist(), strict=True):
                found[column.name][pair.segment, pair.system] = value
    return found


def correlate(
    data: Everything,
    metrics: Sequence[str],
    opened: Callable[[], Analyser] | None = None,
    results: Results | None = None,
) -> tuple[Correlation, ...]:
    """HMEANT's and each metric's correlations with people's order, HMEANT and ratings.

    Args:
        data: A campaign.
        metrics: Names of automatic metrics, with or without options.
        opened: Gives the analyser, if a metric needs one.
        results: What `compute` made of the campaign, if that is at hand.

    Raises:
        UsageError: A metric has no such name or option.
        InputError: HMEANT is among them.
    """
    results = results or compute(data)
    people = {said: make_human_scores(data, results, said) for said in SAID}
    measured = _measure(data, people["order"], metrics, opened)
    hmeant = {(one.segment, one.system): one.f for one in results.segments}
    found = []
    for said, human in people.items():
        by_pair = human.split_by("lp")
        sets = []
        for one in measured:
            scores = by_pair[one.scores.pairs[0].lp]
            values = [hmeant.get((pair.segment, pair.system)) for pair in scores.pairs]
            own = Column(HMEANT, numpy.array(values, dtype=numpy.float64))
            columns = one.columns if said == HMEANT else (own, *one.columns)
            sets.append(Collected(scores, scores.grid(), columns))
        names = [name for name in (HMEANT, *dict.fromkeys(metrics)) if name != said]
        found += _rows(said, names, sets)
    return tuple(found)


def _rows(said: str, names: Sequence[str], sets: Sequence[Collected]) -> list[Correlation]:
    cells: dict[tuple[str, Figure], Cell] = {}
    segments = dict.fromkeys(names, 0)
    if any(not numpy.isnan(one.grid.human).all() for one in sets) and names:
        blocks = [GridBlock(one, Scope.SEGMENTS) for one in sets]
        table = evaluate(blocks, figures=_FIGURES, resamples=0)
        cells = {(row.name, figure): row.cells[figure] for row in table.rows for figure in _FIGURES}
        for one in sets:
            for column in one.columns:
                segments[column.name] += _scored(one, column.scores)
    nothing = Cell(None, 0, 0, _NOTHING[said])
    rows = []
    for name in names:
        for figure in _FIGURES:
            cell = cells.get((name, figure), nothing)
            rested = cell.defined if figure.grouping is Grouping.SEGMENTS else segments[name]
            rows.append(
                Correlation(
                    said,
                    name,
                    str(figure.grouping),
                    str(figure.statistic),
                    cell.value,
                    cell.defined,
                    cell.groups,
                    0 if cell.value is None else rested,
                    cell.reason,
                )
            )
    return rows


def _scored(collected: Collected, scores: Array) -> int:
    """In how many segments a translation has both a human score and one of the metric."""
    both = ~(numpy.isnan(collected.grid.human) | numpy.isnan(collected.grid.spread(scores)))
    return int(both.any(axis=1).sum())


# To be read


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table: one metric, one grouping, a correlation for each of `STATISTICS`."""

    metric: str
    grouping: str
    correlations: tuple[Correlation, ...]

    @property
    def segments(self) -> str:
        """How many segments they rest on; of different numbers, from the least to the most."""
        counts = {one.segments for one in self.correlations if one.value is not None}
        if not counts:
            return "0"
        low, high = min(counts), max(counts)
        return str(low) if low == high else f"{low}–{high}"


@dataclass(frozen=True, slots=True)
class Table:
    """All correlations with one of the things people said; no lines where they have not yet."""

    title: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def arrange(correlations: Sequence[Correlation]) -> tuple[Table, ...]:
    """Tables of correlations as pages and commands show them, with notes on what is undefined."""
    tables = []
    for said in SAID:
        rows = [one for one in correlations if one.people == said]
        if not rows:
            continue
        if all(one.reason == _NOTHING[said] for one in rows):
            tables.append(Table(TITLES[said], (), (_NOTHING[said],)))
            continue
        lines: dict[tuple[str, str], list[Correlation]] = {}
        for one in rows:
            lines.setdefault((one.metric, one.grouping), []).append(one)
        tables.append(
            Table(
                TITLES[said],
                tuple(
                    Line(metric, GROUPINGS[Grouping(grouping)], tuple(some))
                    for (metric, grouping), some in lines.items()
                ),
                _notes(rows),
            )
        )
    return tuple(tables)


def _notes(rows: Sequence[Correlation]) -> tuple[str, ...]:
    """Why figures are missing, those with the same reason together."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for one in rows:
        if one.reason is not None:
            found.setdefault((one.grouping, one.reason, one.metric), []).append(one.statistic)
    metrics: dict[tuple[str, str, str], list[str]] = {}
    for (grouping, reason, metric), statistics in found.items():
        what = "" if len(statistics) == len(STATISTICS) else " " + ", ".join(statistics)
        metrics.setdefault((grouping, reason, what), []).append(metric)
    return tuple(
        f"{', '.join(names)}: no{what or ' correlation'} {GROUPINGS[Grouping(grouping)]}: {reason}"
        for (grouping, reason, what), names in metrics.items()
    )


_HEAD = (
    "people", "metric", "grouping", "statistic", "value", "defined", "groups", "segments", "reason",
)  # fmt: skip


def render_correlations(correlations: Sequence[Correlation]) -> str:
    """Correlations as CSV, one a row; where there is no value the field is empty, with a reason."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_HEAD)
    for one in correlations:
        values = (getattr(one, name) for name in _HEAD)
        writer.writerow(
            [
                disarm(value) if isinstance(value, str) else "" if value is None else value
                for value in values
            ]
        )
    return out.getvalue()
