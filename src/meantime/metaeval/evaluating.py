"""From collected scores to a table: which metric agrees best with people, and how surely.

A test set is one language pair of a file. Correlations are taken within a test set, never across
language pairs; where a table speaks of several, its figures are means over them.

Figures, in a table's order; the first one ranks the metrics:

    segment level    within each segment's systems, within each system, pooled over all
    system level     over one score a system: our metrics' corpus score, else the mean

Clusters: from the best metric down, those that are not significantly different from the best are a
cluster; the first that is different begins the next. Differences are tested by permutation (of
segments, or at system level of systems), and their p-values corrected after Benjamini and Hochberg.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy

from meantime.errors import InputError, UsageError
from meantime.matching import ranks
from meantime.metaeval import grids, intervals
from meantime.metaeval.collecting import LENGTH, Collected, Column
from meantime.metaeval.correlation import REASONS, Undefined, chosen, roc, taus
from meantime.metaeval.difference import (
    Difference,
    Flags,
    Over,
    exchanged,
    exchanged_systems,
    p_value,
    williams_test,
)
from meantime.metaeval.grids import TIES, Estimate, Grouping, Statistic
from meantime.metaeval.human import HumanScores, JudgedPair, Preferences
from meantime.metaeval.intervals import Interval
from meantime.metaeval.multiple import benjamini_hochberg
from meantime.metaeval.systems import correlate_systems, soft_pairwise_accuracy, system_means
from meantime.protocols import Array
from meantime.types import Signature

SOFT = "soft-accuracy"
SIGNIFICANT = 0.05
SEED = 12345
NOTABLE = 0.1
"""A correlation of mere length that a reader should hear of."""

Progress = Callable[[int, int], None]


class Scope(StrEnum):
    """What a table speaks of."""

    SEGMENTS = "seg"
    SYSTEMS = "sys"


class Test(StrEnum):
    """How differences of metrics are tested: what changes places at random, or by formula."""

    # It is no test, whatever pytest makes of its name.
    __test__ = False

    SEGMENTS = "segments"
    SYSTEMS = "systems"
    BOTH = "both"
    WILLIAMS = "williams"


class Figure(NamedTuple):
    """What is computed, and between which cells."""

    statistic: str
    grouping: Grouping

    def __str__(self) -> str:
        """What a column is called."""
        name = _SHORT.get(self.statistic, self.statistic)
        return f"{name} {_GROUPINGS[self.grouping]}".strip()


_SHORT = {
    Statistic.PEARSON: "r",
    Statistic.SPEARMAN: "rho",
    Statistic.KENDALL: "tau-b",
    SOFT: "soft accuracy",
}
_GROUPINGS = {
    Grouping.SEGMENTS: "in segments",
    Grouping.SYSTEMS: "in systems",
    Grouping.POOLED: "pooled",
    Grouping.MEANS: "",
}

SEGMENT_FIGURES = (
    Figure(Statistic.KENDALL, Grouping.SEGMENTS),
    Figure(Statistic.ACCURACY, Grouping.SEGMENTS),
    Figure(Statistic.KENDALL, Grouping.SYSTEMS),
    Figure(Statistic.KENDALL, Grouping.POOLED),
    Figure(Statistic.PEARSON, Grouping.POOLED),
)
SINGLE_FIGURES = (
    Figure(Statistic.PEARSON, Grouping.POOLED),
    Figure(Statistic.SPEARMAN, Grouping.POOLED),
    Figure(Statistic.KENDALL, Grouping.POOLED),
)
"""Where segments have one judged translation each."""
SYSTEM_FIGURES = (
    Figure(Statistic.ACCURACY, Grouping.MEANS),
    Figure(SOFT, Grouping.MEANS),
    Figure(Statistic.PEARSON, Grouping.MEANS),
    Figure(Statistic.KENDALL, Grouping.MEANS),
)
PREFERENCE_FIGURES = (
    Figure(Statistic.TAU_DISCORDANT, Grouping.SEGMENTS),
    Figure(Statistic.TAU_DENOMINATOR, Grouping.SEGMENTS),
    Figure(Statistic.TAU_IGNORED, Grouping.SEGMENTS),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of one metric.

    Attributes:
        value: The figure, or None where it is not defined.
        defined: In how many groups (segments, say) it is defined.
        groups: How many groups there are.
        reason: Why there is no value.
        interval: Where it lies in 95 % of the bootstrap samples, for the leading figure.
    """

    value: float | None
    defined: int
    groups: int
    reason: str | None = None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One metric.

    Attributes:
        name: The metric as it was asked for.
        cells: Its figures.
        signature: For our metrics.
        rank: Its place by the leading figure, from 1; None where that is not defined.
        cluster: The cluster it belongs to, from 1.
        area: Area under the ROC of telling human from machine translations, where there are both.
        missing: How many rated translations it has no score for.
    """

    name: str
    cells: Mapping[Figure, Cell]
    signature: Signature | None = None
    rank: int | None = None
    cluster: int | None = None
    area: float | None = None
    missing: int = 0


@dataclass(frozen=True, slots=True)
class TestSet:
    """What a language pair of a file holds."""

    # It is no test, whatever pytest makes of its name.
    __test__ = False

    lp: str
    kind: str
    segments: int
    systems: int
    rated: int
    whole: bool = False
    """Whether people rated systems as a whole; rated translations are those of these systems."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A table.

    Attributes:
        name: Of the task.
        group: Which part of the data: a language pair, a domain; empty for all.
        scope: Segment or system level.
        figures: The columns; the first ranks the metrics.
        sets: The test sets the figures are means over.
        rows: Metrics, best first; `LENGTH` last.
        p_values: For each pair of metrics whose difference was tested, corrected.
        resamples: Bootstrap samples drawn for intervals, and permutations for p-values.
        test: How the differences were tested.
        notes: What a reader must know.
    """

    name: str
    group: str
    scope: Scope
    figures: tuple[Figure, ...]
    sets: tuple[TestSet, ...]
    rows: tuple[Row, ...]
    p_values: Mapping[tuple[str, str], float]
    resamples: int
    test: Test
    notes: tuple[str, ...] = ()

    @property
    def leading(self) -> Figure:
        """The figure that ranks the metrics."""
        return self.figures[0]

    def row(self, name: str) -> Row:
        """The row of a metric.

        Raises:
            UsageError: There is none.
        """
        for row in self.rows:
            if row.name == name:
                return row
        raise UsageError(f"no metric {name!r} in this table; there are {', '.join(self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics, best first."""
        return tuple(row.name for row in self.rows)


class Block(Protocol):
    """One test set: what a figure is computed from."""

    @property
    def facts(self) -> TestSet:
        """What it holds."""

    @property
    def units(self) -> int:
        """How many segments can be drawn."""

    @property
    def columns(self) -> Mapping[str, Column]:
        """The metrics by name."""

    def estimate(self, figure: Figure, name: str) -> Estimate:
        """A figure of a metric."""

    def resampled(self, figure: Figure, name: str, weights: ranks.Whole) -> Array:
        """The same in each bootstrap sample; NaN where it is not defined."""

    def exchanged(
        self,
        figure: Figure,
        one: str,
        other: str,
        *,
        test: Test,
        rng: numpy.random.Generator,
        count: int,
    ) -> tuple[float, Array]:
        """The difference of two metrics, and what it is in each permutation."""

    def missing(self, name: str) -> int:
        """Rated translations a metric has no score for."""


class GridBlock:
    """A test set of human scores."""

    def __init__(self, collected: Collected, scope: Scope) -> None:
        self._collected, self._scope = collected, scope
        self._grid = collected.grid
        self.columns = {column.name: column for column in collected.columns}
        self._spread = {
            name: self._grid.spread(column.scores) for name, column in self.columns.items()
        }
        self.units = len(self._grid.segments)
        # At system level the mean of a column is what people said of the system.
        self._human, self._whole = self._grid.human, False
        if scope is Scope.SYSTEMS:
            self._human, self._whole = _whole(collected)

    @property
    def facts(self) -> TestSet:
        first = self._collected.scores.pairs[0]
        rated = ~numpy.isnan(self._human)
        return TestSet(
            first.lp,
            self._collected.scores.kind,
            int(rated.any(axis=1).sum()),
            int(rated.any(axis=0).sum()),
            int(rated.sum()),
            self._whole,
        )

    @property
    def single(self) -> bool:
        """Whether most rated translations are the only one of their segment."""
        rated = (~numpy.isnan(self._grid.human)).sum(axis=1)
        return bool(2 * rated[rated > 1].sum() < rated.sum())

    def missing(self, name: str) -> int:
        rated = ~numpy.isnan(self._human)
        return int((rated & numpy.isnan(self._spread[name])).sum())

    def estimate(self, figure: Figure, name: str) -> Estimate:
        human, metric = self._grid.human, self._spread[name]
        rng = numpy.random.default_rng(SEED)
        if figure.statistic == SOFT:
            if self._whole and numpy.isnan(human).all():
                return Estimate(None, 0, 1, "people rated systems as a whole, not segments")
            try:
                value = soft_pairwise_accuracy(human, metric, rng=rng)
            except Undefined as error:
                return Estimate(None, 0, 1, _reason(error))
            return Estimate(value, 1, 1)
        if figure.grouping is Grouping.MEANS:
            try:
                value = correlate_systems(figure.statistic, *self._systems(name))
            except Undefined as error:
                return Estimate(None, 0, 1, _reason(error))
            return Estimate(value, 1, 1)
        found = grids.estimate(figure.statistic, human, metric, grouping=figure.grouping, rng=rng)
        if figure.grouping is Grouping.SEGMENTS:
            # Segments nobody rated twice are no groups anything could be defined in.
            several = int(((~numpy.isnan(human)).sum(axis=1) > 1).sum())
            return replace(found, groups=several)
        return found

    def _systems(self, name: str) -> tuple[Array, Array]:
        """One human score and one metric score a system, over the cells with both."""
        human, metric = self._human, self._spread[name]
        there = ~(numpy.isnan(human) | numpy.isnan(metric))
        people = system_means(numpy.where(there, human, numpy.nan))
        column = self.columns[name]
        if column.metric is None:
            return people, system_means(numpy.where(there, metric, numpy.nan))
        ones = numpy.ones((1, len(human)), dtype=numpy.int64)
        return people, self._corpus_scores(column, there, ones)[0]

    def _corpus_scores(self, column: Column, there: Flags, weights: ranks.Whole) -> Array:
        """Our metric's corpus score of each system (column) in each sample (row)."""
        assert column.statistics is not None
        scores = numpy.full((len(weights), there.shape[1]), numpy.nan)
        for system in range(there.shape[1]):
            segments = numpy.flatnonzero(there[:, system])
            if not len(segments):
                continue
            rows = column.statistics[self._grid.index[segments, system]]
            mine = weights[:, segments]
            totals = mine @ rows
            drawn = mine.sum(axis=1)
            for sample in numpy.flatnonzero(drawn):
                scores[sample, system] = column.corpus_score(totals[sample])
        return scores

    def resampled(self, figure: Figure, name: str, weights: ranks.Whole) -> Array:
        human, metric = self._human, self._spread[name]
        column = self.columns[name]
        if figure.grouping is Grouping.MEANS and column.metric is not None:
            there = ~(numpy.isnan(human) | numpy.isnan(metric))
            people = numpy.where(there, human, numpy.nan)
            drawn = self._corpus_scores(column, there, weights)
            return intervals.resampled_systems(figure.statistic, people, drawn, weights)
        return intervals.resampled(
            figure.statistic, human, metric, weights, grouping=figure.grouping
        )

    def exchanged(
        self,
        figure: Figure,
        one: str,
        other: str,
        *,
        test: Test,
        rng: numpy.random.Generator,
        count: int,
    ) -> tuple[float, Array]:
        if figure.grouping is Grouping.MEANS and test is Test.SYSTEMS:
            people, first = self._systems(one)
            second = self._systems(other)[1]
            return exchanged_systems(
                figure.statistic, people, first, second, rng=rng, permutations=count
            )
        return exchanged(
            figure.statistic,
            self._human,
            self._spread[one],
            self._spread[other],
            grouping=figure.grouping,
            over=Over(test),
            rng=rng,
            permutations=count,
        )

    def williams(self, figure: Figure, one: str, other: str) -> Difference:
        """Williams' test of two metrics, over the translations or systems all have scores of."""
        if figure.grouping is Grouping.MEANS:
            people, first = self._systems(one)
            return williams_test(people, first, self._systems(other)[1])
        grids_of = (self._human, self._spread[one], self._spread[other])
        return williams_test(*(grid.ravel() for grid in grids_of))

    def areas(self) -> dict[str, float]:
        """Area under the ROC of human against machine, for each metric, where there are both."""
        human = numpy.array([pair.is_human for pair in self._collected.scores.pairs])
        found = {}
        for name, column in self.columns.items():
            try:
                found[name] = roc(column.scores[human], column.scores[~human]).area
            except Undefined:
                continue
        return found


def _whole(collected: Collected) -> tuple[Array, bool]:
    """The grid with what people said of systems as a whole in the place of their segments' scores.

    Each rated segment of a system has the system's score, or each segment where none was rated:
    then the mean over any of them is that score, and metrics are averaged over what was rated.
    """
    grid, known = collected.grid, collected.scores.by_system
    lp = collected.scores.pairs[0].lp
    if not any((lp, system) in known for system in grid.systems):
        return grid.human, False
    human = numpy.full(grid.human.shape, numpy.nan)
    for place, system in enumerate(grid.systems):
        rated = ~numpy.isnan(grid.human[:, place])
        there = rated if rated.any() else grid.index[:, place] >= 0
        human[there, place] = known.get((lp, system), numpy.nan)
    return human, True


class PreferenceBlock:
    """A test set of preferences: pairs of translations, counted by segment."""

    def __init__(self, preferences: Preferences, collected: Collected) -> None:
        self._preferences = preferences
        self.columns = {column.name: column for column in collected.columns}
        places = {_translation(pair): n for n, pair in enumerate(collected.scores.pairs)}
        sides = [_sides(row) for row in preferences.rows]
        self._better = numpy.array([places[_translation(better)] for better, _ in sides])
        self._worse = numpy.array([places[_translation(worse)] for _, worse in sides])
        keys = {row.key: None for row in preferences.rows}
        numbers = {key: number for number, key in enumerate(keys)}
        self._segment = numpy.array([numbers[row.key] for row in preferences.rows])
        self.units = len(numbers)

    @property
    def facts(self) -> TestSet:
        rows = self._preferences.rows
        systems = {name for row in rows for name in (row.better_system, row.worse_system)}
        return TestSet(rows[0].lp, "preferences", self.units, len(systems), len(rows))

    def missing(self, name: str) -> int:
        scores = self.columns[name].scores
        return int((numpy.isnan(scores[self._better]) | numpy.isnan(scores[self._worse])).sum())

    def counts(self, name: str) -> ranks.Whole:
        """Pair counts of each segment."""
        scores = self.columns[name].scores
        better, worse = scores[self._better], scores[self._worse]
        counts = numpy.zeros((self.units, 5), dtype=numpy.int64)
        for place, holds in (
            (ranks.AGREEING, better > worse),
            (ranks.DISAGREEING, better < worse),
            (ranks.TIED_SECOND, better == worse),
        ):
            counts[:, place] = numpy.bincount(self._segment[holds], minlength=self.units)
        return counts

    def estimate(self, figure: Figure, name: str) -> Estimate:
        counts = self.counts(name)
        values, reasons = taus(counts.sum(axis=0)[None], TIES[Statistic(figure.statistic)])
        defined = int((counts.sum(axis=1) > 0).sum())
        if reasons[0] != ranks.DEFINED:
            return Estimate(None, 0, self.units, REASONS[int(reasons[0])])
        return Estimate(float(values[0]), defined, self.units)

    def resampled(self, figure: Figure, name: str, weights: ranks.Whole) -> Array:
        counts = weights @ self.counts(name)
        values, reasons = taus(counts, TIES[Statistic(figure.statistic)])
        return numpy.where(reasons == ranks.DEFINED, values, numpy.nan)

    def exchanged(
        self,
        figure: Figure,
        one: str,
        other: str,
        *,
        test: Test,
        rng: numpy.random.Generator,
        count: int,
    ) -> tuple[float, Array]:
        if test is not Test.SEGMENTS:
            raise UsageError(f"of preferences segments change places, not {test}; leave out --test")
        first, second = self.counts(one), self.counts(other)
        flips = rng.integers(0, 2, (count + 1, self.units), dtype=numpy.int64)
        flips[0] = 0
        found = []
        for left, right in ((first, second), (second, first)):
            mixed = (1 - flips) @ left + flips @ right
            values, reasons = taus(mixed, TIES[Statistic(figure.statistic)])
            found.append(numpy.where(reasons == ranks.DEFINED, values, numpy.nan))
        differences = found[0] - found[1]
        if math.isnan(differences[0]):
            raise Undefined("the difference of two taus is not defined: one of them is not")
        return float(differences[0]), differences[1:]


def _reason(error: Undefined) -> str:
    """Why a figure is not defined, without the words that it is not."""
    text = str(error)
    return text.partition(" is not defined: ")[2] or text


Translation = tuple[object, ...]


def _translation(pair: JudgedPair) -> Translation:
    return (*pair.key, pair.system, pair.hypothesis)


def _sides(row: object) -> tuple[JudgedPair, JudgedPair]:
    """The two translations of a preference as pairs without a score."""
    from meantime.metaeval.human import Preference

    assert isinstance(row, Preference)

    def made(system: str, text: str) -> JudgedPair:
        references = () if row.reference is None else (("ref", row.reference),)
        return JudgedPair(
            row.lp,
            row.domain,
            row.document,
            row.segment,
            system,
            row.source,
            references,
            text,
            None,
            line=row.line,
        )

    return made(row.better_system, row.better), made(row.worse_system, row.worse)


def compared(preferences: Preferences) -> HumanScores:
    """The translations that preferences speak of, each once, without a score."""
    found: dict[Translation, JudgedPair] = {}
    for row in preferences.rows:
        for pair in _sides(row):
            found.setdefault(_translation(pair), pair)
    return HumanScores(preferences.name, "preferences", tuple(found.values()))


def default_figures(blocks: Sequence[Block], scope: Scope) -> tuple[Figure, ...]:
    """What a table shows where nobody says."""
    if any(isinstance(block, PreferenceBlock) for block in blocks):
        return PREFERENCE_FIGURES
    if scope is Scope.SYSTEMS:
        return SYSTEM_FIGURES
    if all(isinstance(block, GridBlock) and block.single for block in blocks):
        return SINGLE_FIGURES
    return SEGMENT_FIGURES


def figures_of(
    statistics: Sequence[str], blocks: Sequence[Block], scope: Scope
) -> tuple[Figure, ...]:
    """The figures of some statistics, in the order of this table's groupings.

    Raises:
        UsageError: There is no such statistic, or not here.
    """
    default = default_figures(blocks, scope)
    if not statistics:
        return default
    if default == PREFERENCE_FIGURES:
        for name in statistics:
            if name not in TIES:
                raise UsageError(
                    f"preferences are pairs, of which {name!r} cannot be computed; choose from "
                    f"{', '.join(TIES)}"
                )
        return tuple(Figure(name, Grouping.SEGMENTS) for name in statistics)
    if scope is Scope.SYSTEMS:
        known = [*Statistic, SOFT]
        for name in statistics:
            if name not in known:
                raise UsageError(f"{name!r} is no statistic; choose from {', '.join(known)}")
        return tuple(Figure(str(name), Grouping.MEANS) for name in statistics)
    names = [chosen(Statistic, name, "statistic at segment level") for name in statistics]
    groupings = [Grouping.SEGMENTS, Grouping.SYSTEMS, Grouping.POOLED]
    if default == SINGLE_FIGURES:
        groupings = [Grouping.POOLED]
    return tuple(Figure(name, grouping) for grouping in groupings for name in names)


def evaluate(
    blocks: Sequence[Block],
    *,
    name: str = "",
    group: str = "",
    scope: Scope = Scope.SEGMENTS,
    statistics: Sequence[str] = (),
    figures: Sequence[Figure] = (),
    test: Test | None = None,
    resamples: int = 1000,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Evaluation:
    """Make a table: figures, ranks, intervals, clusters.

    Args:
        blocks: Test sets whose figures are averaged.
        name: Of the task.
        group: Which part of the data they are.
        scope: Segment or system level.
        statistics: Which; by default those of `default_figures`.
        figures: Exactly these, of whatever groupings, and no others.
        test: How differences are tested; by default segments change places, at system level
            systems.
        resamples: Bootstrap samples and permutations; 0 for neither intervals nor clusters.
        seed: Of both.
        progress: Told how far the work has come.

    Raises:
        UsageError: A statistic or a test does not fit the data.
    """
    if not blocks:
        raise InputError(f"{name}: no test set is left to evaluate on")
    figures = tuple(figures) or figures_of(statistics, blocks, scope)
    leading = figures[0]
    test = test or (Test.SYSTEMS if scope is Scope.SYSTEMS else Test.SEGMENTS)
    _refuse_test(test, leading, blocks)
    names = list(dict.fromkeys(name for block in blocks for name in block.columns))
    ours = [one for one in names if one != LENGTH]
    steps = len(names) * len(figures) + (len(ours) + math.comb(len(ours), 2)) * bool(resamples)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress:
            progress(done, steps)

    cells: dict[str, dict[Figure, Cell]] = {}
    for one in names:
        cells[one] = {}
        for figure in figures:
            cells[one][figure] = _mean([block.estimate(figure, one) for block in blocks])
            step()
    ranked = sorted(
        (one for one in ours if cells[one][leading].value is not None),
        key=lambda one: -_known(cells[one][leading].value),
    )
    p_values: dict[tuple[str, str], float] = {}
    if resamples and leading.statistic != SOFT:
        weights = [
            intervals.resample(
                block.units, rng=numpy.random.default_rng([seed, number]), resamples=resamples
            )
            for number, block in enumerate(blocks)
        ]
        for one in ranked:
            found = _interval(blocks, leading, one, weights)
            cells[one][leading] = replace(cells[one][leading], interval=found)
            step()
        p_values = _p_values(blocks, leading, ranked, test, seed, resamples, step)
    clusters = _clusters(ranked, p_values)
    areas = _areas(blocks)
    rows = []
    for one in [*ranked, *(n for n in ours if n not in ranked), *(n for n in names if n == LENGTH)]:
        columns = [block.columns[one] for block in blocks if one in block.columns]
        rows.append(
            Row(
                one,
                cells[one],
                columns[0].signature,
                # Equal figures share a rank.
                1
                + sum(
                    _known(cells[other][leading].value) > _known(cells[one][leading].value)
                    for other in ranked
                )
                if one in ranked
                else None,
                clusters.get(one),
                areas.get(one),
                sum(block.missing(one) for block in blocks),
            )
        )
    facts = tuple(block.facts for block in blocks)
    table = Evaluation(
        name=name,
        group=group,
        scope=scope,
        figures=figures,
        sets=facts,
        rows=tuple(rows),
        p_values=p_values,
        resamples=resamples if p_values else 0,
        test=test,
    )
    return replace(table, notes=tuple(_notes(table)))


def _refuse_test(test: Test, figure: Figure, blocks: Sequence[Block]) -> None:
    if test is not Test.WILLIAMS:
        return
    if len(blocks) > 1:
        raise UsageError(
            f"Williams' test is of one language pair, and these are {len(blocks)}; split them with "
            "--by lp, or test by permutation"
        )
    if figure.statistic != Statistic.PEARSON or figure.grouping not in (
        Grouping.POOLED,
        Grouping.MEANS,
    ):
        raise UsageError(
            f"Williams' test is of Pearson's correlation, pooled or over systems, and the table "
            f"leads with {figure}; ask for --statistic pearson with --level sys, or for another "
            "--test"
        )


def _known(value: float | None) -> float:
    return -math.inf if value is None else value


def _mean(found: Sequence[Estimate]) -> Cell:
    """The mean over the test sets where a figure is defined."""
    values = [one.value for one in found if one.value is not None]
    defined = sum(one.defined for one in found)
    groups = sum(one.groups for one in found)
    if not values:
        return Cell(None, 0, groups, found[0].reason)
    return Cell(sum(values) / len(values), defined, groups)


def _interval(
    blocks: Sequence[Block], figure: Figure, name: str, weights: Sequence[ranks.Whole]
) -> Interval | None:
    if all(block.units < 2 for block in blocks):
        # Drawn from one segment, every sample is that segment: no interval, not one of width 0.
        return None
    drawn = [
        block.resampled(figure, name, sample) for block, sample in zip(blocks, weights, strict=True)
    ]
    there = [sample for sample in drawn if not numpy.isnan(sample).all()]
    if not there:
        return None
    try:
        return intervals.percentiles(_nanmean(there))
    except Undefined:
        return None


def _nanmean(samples: Sequence[Array]) -> Array:
    stacked = numpy.array(samples)
    known = ~numpy.isnan(stacked)
    counts = known.sum(axis=0)
    sums = numpy.where(known, stacked, 0.0).sum(axis=0)
    return numpy.where(counts > 0, sums / numpy.maximum(counts, 1), numpy.nan)


def _p_values(
    blocks: Sequence[Block],
    figure: Figure,
    names: Sequence[str],
    test: Test,
    seed: int,
    count: int,
    step: Callable[[], None],
) -> dict[tuple[str, str], float]:
    found = {}
    for one, other in combinations(names, 2):
        if test is Test.WILLIAMS:
            assert isinstance(blocks[0], GridBlock)
            with suppress(Undefined):
                found[one, other] = blocks[0].williams(figure, one, other).p_value
            step()
            continue
        observed, null = [], []
        for number, block in enumerate(blocks):
            # The same permutations for all pairs of metrics.
            rng = numpy.random.default_rng([seed, 1, number])
            try:
                value, values = block.exchanged(figure, one, other, test=test, rng=rng, count=count)
            except Undefined:
                continue
            observed.append(value)
            null.append(values)
        step()
        if observed:
            found[one, other] = p_value(sum(observed) / len(observed), _nanmean(null))
    corrected = benjamini_hochberg(list(found.values()))
    return dict(zip(found, corrected.tolist(), strict=True))


def _clusters(ranked: Sequence[str], p_values: Mapping[tuple[str, str], float]) -> dict[str, int]:
    if not p_values:
        return {}
    clusters = {}
    number = 0
    best = None
    for one in ranked:
        if best is None or p_values.get((best, one), 1.0) < SIGNIFICANT:
            best = one
            number += 1
        clusters[one] = number
    return clusters


def _areas(blocks: Sequence[Block]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for block in blocks:
        if isinstance(block, GridBlock):
            for name, area in block.areas().items():
                found.setdefault(name, []).append(area)
    return {name: sum(values) / len(values) for name, values in found.items()}


def _notes(table: Evaluation) -> list[str]:
    """What a reader must know: undefined figures, missing scores, the length trap."""
    notes = []
    # Together what has the same reason: without it, one fault makes a note for every cell.
    undefined: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for row in table.rows:
        for figure, cell in row.cells.items():
            if cell.value is None and row.name != LENGTH:
                metrics, figures = undefined.setdefault(str(cell.reason), ({}, {}))
                metrics[row.name] = figures[str(figure)] = None
    for reason, (metrics, figures) in undefined.items():
        notes.append(f"{', '.join(metrics)}: no {', '.join(figures)}: {reason}")
    if all(one.segments < 2 and not one.whole for one in table.sets):
        notes.append("one segment: nothing can be resampled, so no figure has an interval")
    rated = sum(one.rated for one in table.sets)
    for count in dict.fromkeys(row.missing for row in table.rows if row.missing):
        names = [row.name for row in table.rows if row.missing == count]
        notes.append(
            f"{', '.join(names)}: no score for {count:,} of {rated:,} rated translations, which "
            f"are left out for {'it' if len(names) == 1 else 'these metrics'}"
        )
    lengths = [row for row in table.rows if row.name == LENGTH]
    for figure in table.figures:
        if figure.grouping is not Grouping.POOLED or not lengths:
            continue
        base = lengths[0].cells[figure].value
        if base is None or base < NOTABLE:
            continue
        below = [
            row.name
            for row in table.rows
            if row.name != LENGTH and _known(row.cells[figure].value) < base
        ]
        if below:
            notes.append(
                f"{figure}: knowing the reference's length alone gets {base:.3f}, more than "
                f"{', '.join(below)}"
            )
    return notes
