"""Tables as data: what a comparison shows, before it is known how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from meantime.metaeval.gaps import Meaning
from meantime.report.comparison import Comparison, Correction, MetricComparison, Settings, Test
from meantime.scoring import Interval

SHORT = 6
"""So many differences are all shown; of more, those of neighbours in rank."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of a table."""

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings; the first `left` columns hold names, the others numbers."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left: int = 1
    breaks: frozenset[int] = frozenset()
    """Numbers of rows before which a line is drawn."""
    texts: int = 0
    """So many columns at the end hold texts."""

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers, which stand flush right."""
        return self.left <= column < len(self.head) - self.texts


@dataclass(frozen=True, slots=True)
class Page:
    """Tables, and the lines that belong below them."""

    tables: tuple[Table, ...]
    statements: tuple[str, ...]
    """What the reader must know before trusting the tables."""
    legend: tuple[str, ...]
    signatures: tuple[str, ...]


def lay_out(comparison: Comparison, *, all_pairs: bool = False, documents: bool = False) -> Page:
    """The tables of a comparison.

    Args:
        comparison: What to show.
        all_pairs: Show every difference, not only those of neighbours in rank.
        documents: Show the scores of each document.
    """
    tables = []
    if len(comparison.metrics) > 1:
        tables.append(_overview(comparison))
    hidden = 0
    for metric in comparison.metrics:
        tables.append(_ranking(metric, comparison.settings))
        differences, left_out = _differences(metric, comparison, all_pairs)
        hidden = max(hidden, left_out)
        tables.append(differences)
        if len(comparison.systems) > 2 and comparison.settings.baseline is None:
            tables.append(_wins(metric, comparison.systems))
        if documents and metric.documents:
            tables.append(_documents(metric, comparison.systems))
    return Page(
        tuple(tables),
        (*comparison.statements, *(line for one in comparison.metrics for line in one.statements)),
        tuple(_legend(comparison, hidden, documents)),
        tuple(dict.fromkeys(str(metric.signature) for metric in comparison.metrics)),
    )


def heading(metric: MetricComparison) -> str:
    """A metric's name with the direction that is better."""
    return f"{metric.specification} {'↑' if metric.higher_is_better else '↓'}"


def spread(interval: Interval, decimals: int) -> str:
    """An interval as it is printed."""
    return f"[{interval.low:.{decimals}f}, {interval.high:.{decimals}f}]"


def _overview(comparison: Comparison) -> Table:
    """Systems by metrics, in the order of the first metric; the first cluster is strong."""
    order = [standing.system for standing in comparison.metrics[0].standings]
    rows = []
    for system in order:
        row = [Cell(system)]
        for metric in comparison.metrics:
            standing = next(one for one in metric.standings if one.system == system)
            text = f"{standing.score:.{metric.decimals}f}"
            row.append(Cell(f"{text} ({standing.rank})", standing.best_rank == 1))
        rows.append(tuple(row))
    head = ("system", *(heading(metric) for metric in comparison.metrics))
    return Table("scores (and ranks)", head, tuple(rows))


def _ranking(metric: MetricComparison, settings: Settings) -> Table:
    rows, breaks = [], set()
    for place, one in enumerate(metric.standings):
        row = [
            Cell(one.system, one.rank == 1),
            Cell(f"{one.score:.{metric.decimals}f}", one.rank == 1),
            Cell(spread(one.interval, metric.decimals)),
        ]
        if one.best_rank is not None and one.worst_rank is not None:
            same = one.best_rank == one.worst_rank
            ranks = str(one.best_rank) if same else f"{one.best_rank}-{one.worst_rank}"
            row += [Cell(ranks), Cell(str(one.cluster))]
            if place and metric.standings[place - 1].cluster != one.cluster:
                breaks.add(place)
        rows.append(tuple(row))
    head = ["system", "score", f"{settings.confidence:.0%} interval"]
    if settings.baseline is None:
        head += ["ranks", "cluster"]
    return Table(heading(metric), tuple(head), tuple(rows), breaks=frozenset(breaks))


def _differences(
    metric: MetricComparison, comparison: Comparison, all_pairs: bool
) -> tuple[Table, int]:
    """Differences of systems, and how many are not shown."""
    chosen = list(metric.differences)
    if comparison.settings.baseline is None and not all_pairs and len(chosen) > SHORT:
        order = [standing.system for standing in metric.standings]
        neighbours = set(pairwise(order))
        chosen = [one for one in chosen if (one.better, one.worse) in neighbours]
    people = any(one.meaning for one in metric.differences)
    rows = []
    for one in chosen:
        row = [
            Cell(one.better),
            Cell(one.worse),
            Cell(f"{one.gap:+.{metric.decimals}f} {spread(one.interval, metric.decimals)}"),
            Cell(f"{floor_percent(one.wins)} %"),
            Cell(_p(one.bootstrap)),
            Cell(_p(one.randomisation)),
            Cell(_p(one.corrected) + ("*" if one.significant else ""), one.significant),
        ]
        if people:
            row.append(Cell(agreement(one.meaning)))
        rows.append(tuple(row))
    head = ["better", "worse", "better by", "wins", "p bootstrap", "p randomisation", "corrected"]
    if people:
        head.append("people agree")
    title = f"{metric.specification}: differences"
    return Table(title, tuple(head), tuple(rows), left=2), len(metric.differences) - len(chosen)


def agreement(meaning: Meaning | None) -> str:
    """`58 % (31 pairs)`: on how many pairs of systems with such a gap people agreed."""
    if meaning is None:
        return "not known"
    more = ", gap beyond all seen" if meaning.beyond else ""
    return f"{_percent(meaning.share)} ({meaning.pairs} pairs{more})"


def _wins(metric: MetricComparison, systems: Sequence[str]) -> Table:
    """The win matrix, best system first, columns by rank."""
    order = [systems.index(standing.system) for standing in metric.standings]
    significant = {(one.better, one.worse) for one in metric.differences if one.significant}
    rows = []
    for place, row in enumerate(order):
        cells = [Cell(f"{place + 1}"), Cell(systems[row])]
        for column in order:
            if row == column:
                cells.append(Cell("–"))
                continue
            sure = (systems[row], systems[column]) in significant
            share = floor_percent(float(metric.wins[row, column]))
            cells.append(Cell(share + ("*" if sure else ""), sure))
        rows.append(tuple(cells))
    head = ("", "system", *(str(number + 1) for number in range(len(order))))
    title = f"{metric.specification}: in how many of 100 samples the row beats the column"
    return Table(title, head, tuple(rows), left=2)


def _documents(metric: MetricComparison, systems: Sequence[str]) -> Table:
    order = [systems.index(standing.system) for standing in metric.standings]
    sign = 1 if metric.higher_is_better else -1
    rows = []
    for one in metric.documents:
        best = max(sign * score for score in one.scores)
        cells = [Cell(one.document), Cell(str(one.segments))]
        for system in order:
            score = one.scores[system]
            strong = sign * score == best and len(systems) > 1
            cells.append(Cell(f"{score:.{metric.decimals}f}", strong))
        rows.append(tuple(cells))
    head = ("document", "segments", *(systems[system] for system in order))
    return Table(f"{metric.specification}: documents", head, tuple(rows))


def _legend(comparison: Comparison, hidden: int, documents: bool) -> list[str]:
    """How to read the tables, and how they were made."""
    settings = comparison.settings
    count = len(comparison.corpus.segments)
    used = "randomisation" if settings.test is Test.RANDOMISATION else "bootstrap"
    corrections = {
        Correction.HOLM: f"p {used} by Holm's method",
        Correction.BH: f"p {used} by Benjamini and Hochberg's method",
        Correction.NONE: f"p {used} as it is",
    }
    lines = [
        f"{len(comparison.systems)} systems, {count} segment{'' if count == 1 else 's'}; "
        f"{settings.resamples} bootstrap samples, {settings.trials} randomisation trials, "
        f"seed {settings.seed}",
        f"corrected: {corrections[settings.correction]}, for {settings.comparisons} "
        f"{'comparison' if settings.comparisons == 1 else 'comparisons'} a metric; "
        f"*: at most {settings.significance:g}",
    ]
    if settings.baseline is None:
        lines.append(
            "ranks: as far as differences are significant; cluster: every system above is "
            "significantly better than every system below"
        )
    if hidden:
        lines.append(f"{hidden} more differences a metric: add --all-pairs")
    count = len(comparison.metrics[0].documents)
    if count and not documents:
        lines.append(f"scores of {count} documents: add --documents")
    elif documents and not count:
        lines.append("documents: no segment names one, so there are no scores of them")
    if comparison.gap_source is not None:
        lines.append(
            "people agree: share of pairs of systems with such a gap that people order as the "
            f"metric does ({comparison.gap_source}{_sizes(comparison)})"
        )
    reasons: dict[str, list[str]] = {}
    for metric in comparison.metrics:
        if metric.people_unknown:
            reasons.setdefault(metric.people_unknown, []).append(metric.specification)
    lines += [f"people agree: not known for {', '.join(n)}: {why}" for why, n in reasons.items()]
    return lines


def _sizes(comparison: Comparison) -> str:
    known = {
        one.meaning.segments
        for metric in comparison.metrics
        for one in metric.differences
        if one.meaning is not None
    }
    segments = len(comparison.corpus.segments)
    if known == {segments}:
        return ""
    return f"; gaps on {' and '.join(map(str, sorted(known)))} segments, here {segments}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def floor_percent(share: float) -> str:
    """Whole percent that say 100 and 0 only where it is so."""
    if 0 < share < 1:
        return str(min(99, max(1, round(100 * share))))
    return str(round(100 * share))


def _p(value: float) -> str:
    return f"{value:.4f}"
