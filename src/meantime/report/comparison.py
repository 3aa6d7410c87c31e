"""Many systems compared: scores, intervals, paired tests, ranks and clusters, as frozen data.

Nothing is measured here: everything follows from the rows of `meantime.scoring.measure`.

Ranks: system a is ahead of b where a has the better score and the corrected p-value of their
difference is at or below the level of significance. A system's rank lies between 1 + the number
of systems ahead of it and the number of systems it is not ahead of. A new cluster starts where
every system above is ahead of every system below (the horizontal lines of WMT's tables).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations
from typing import TypeVar

import numpy
from numpy.typing import NDArray

from meantime.errors import UsageError
from meantime.metaeval import gaps, multiple, paired
from meantime.metaeval.gaps import GapTable, Meaning
from meantime.protocols import Array, Metric
from meantime.scoring import Interval, Measured, percentiles, score_many
from meantime.types import Corpus, Level, Signature, primary

Progress = Callable[[int, int], None]
Kind = TypeVar("Kind", bound=StrEnum)

NO_DOCUMENT = "(no document)"


class Test(StrEnum):
    """Which p-value decides."""

    __test__ = False
    RANDOMISATION = "randomisation"
    BOOTSTRAP = "bootstrap"


class Correction(StrEnum):
    """How p-values are corrected for the number of comparisons."""

    HOLM = "holm"
    BH = "bh"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Settings:
    """How a comparison was made; a result is cited with it."""

    resamples: int
    trials: int
    seed: int
    confidence: float
    test: Test
    correction: Correction
    significance: float
    baseline: str | None
    comparisons: int
    """How many differences each metric tests, and its p-values are corrected for."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one system stands under one metric."""

    system: str
    score: float
    interval: Interval
    rank: int
    """By score alone; equal scores share the better rank."""
    best_rank: int | None
    """How far up it may stand; unknown where only differences to a baseline were tested."""
    worst_rank: int | None
    cluster: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """Two systems under one metric."""

    better: str
    worse: str
    """Of equal scores, the one that was named first is called better."""
    gap: float
    """By how much the first is better; never negative, whichever way the metric points."""
    interval: Interval
    """Of the gap, over resampled test sets."""
    wins: float
    """In which share of the resampled test sets the better one is better; ties count half."""
    bootstrap: float
    """P-value of the paired bootstrap."""
    randomisation: float
    """P-value of approximate randomisation."""
    corrected: float
    """The chosen one of the two, corrected."""
    significant: bool
    same_output: bool
    """Whether the two gave the same translation of every segment."""
    meaning: Meaning | None = None
    """How often people agreed on such a gap, where that is known."""


@dataclass(frozen=True, slots=True)
class DocumentScores:
    """Scores of one document: a corpus score over its segments for each system."""

    document: str
    segments: int
    scores: tuple[float, ...]
    """In the order of the systems."""


@dataclass(frozen=True, slots=True, eq=False)
class MetricComparison:
    """What one metric says of all systems."""

    metric: str
    specification: str
    signature: Signature
    higher_is_better: bool
    decimals: int
    standings: tuple[Standing, ...]
    """Best first."""
    differences: tuple[Difference, ...]
    """The largest rank of the better first, then that of the worse."""
    wins: Array
    """Share of resampled test sets in which a system (row) beats another (column); both in the
    order of the systems."""
    documents: tuple[DocumentScores, ...]
    """Empty where no segment names its document."""
    segment_scores: Array = field(repr=False)
    """Systems by segments."""
    statements: tuple[str, ...] = ()
    """What cannot be said, and why."""
    people_unknown: str | None = None
    """Why it is not known how often people agree, if so."""

    def difference(self, one: str, other: str) -> Difference | None:
        """The comparison of two systems, whichever is better; none where it was not made."""
        for found in self.differences:
            if {found.better, found.worse} == {one, other}:
                return found
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Systems compared on the same segments by any number of metrics."""

    systems: tuple[str, ...]
    """In the order they were given."""
    corpus: Corpus = field(repr=False)
    metrics: tuple[MetricComparison, ...]
    settings: Settings
    statements: tuple[str, ...] = ()
    """What holds for all metrics."""
    gap_source: str | None = None
    """Where it is known from how often people agree."""


def compare(
    measured: Measured,
    *,
    resamples: int = 1000,
    trials: int | None = None,
    seed: int = 12345,
    confidence: float = 0.95,
    test: Test | str = Test.RANDOMISATION,
    correction: Correction | str = Correction.HOLM,
    significance: float = 0.05,
    baseline: str | None = None,
    gap_table: GapTable | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare all systems with each other, or with one of them.

    Args:
        measured: The systems' rows.
        resamples: Bootstrap samples, for intervals, wins and the paired bootstrap.
        trials: Randomisation trials; by default 10,000, or as many as it takes that p-values
            corrected by Holm's method can be significant.
        seed: Seed of both.
        confidence: Share of the samples an interval holds.
        test: Which p-value decides what is significant.
        correction: How p-values are corrected for the number of comparisons of a metric.
        significance: The largest corrected p-value that is called significant.
        baseline: Compare with this system only. Fewer comparisons, so less correction; no
            clusters.
        gap_table: How often people agreed on a gap; by default the one that is shipped.
        progress: Told how far the resampling has come.

    Raises:
        UsageError: There are fewer than two systems, or a setting makes no sense.
    """
    systems = measured.systems
    test, correction = _chosen(Test, test, "test"), _chosen(Correction, correction, "correction")
    check_systems(systems, baseline)
    if not 0 < significance < 1:
        raise UsageError(f"significance {significance:g} does not lie between 0 and 1")
    if resamples < 100:
        raise UsageError(f"{resamples} resamples are too few for an interval; draw at least 100")
    numbers = list(range(len(systems)))
    if baseline is None:
        pairs = list(combinations(numbers, 2))
    else:
        place = systems.index(baseline)
        pairs = [(place, other) for other in numbers if other != place]
    if trials is None:
        trials = 10_000
        if correction is Correction.HOLM and test is Test.RANDOMISATION:
            trials = max(trials, _needed(len(pairs), significance))
    settings = Settings(
        resamples, trials, seed, confidence, test, correction, significance, baseline, len(pairs)
    )
    if gap_table is None:
        gap_table = gaps.shipped()
    work = len(measured.metrics) * (resamples + trials)

    def told(before: int) -> Progress | None:
        if progress is None:
            return None
        return lambda done, _total: progress(before + done, work)

    same = {pair for pair in pairs if _same_output(measured.corpus, systems, pair)}
    compared = []
    for number, metric in enumerate(measured.metrics):
        before = number * (resamples + trials)
        rows = [measured.rows[system, number] for system in systems]
        drawn = paired.bootstrap_scores(
            metric,
            rows,
            rng=numpy.random.default_rng(seed),
            resamples=resamples,
            progress=told(before),
        )
        randomised = paired.randomisation_p_values(
            metric,
            rows,
            pairs,
            rng=numpy.random.default_rng(seed),
            trials=trials,
            progress=told(before + resamples),
        )
        compared.append(
            _compared(measured, number, rows, drawn, pairs, randomised, same, settings, gap_table)
        )
    return Comparison(
        systems=systems,
        corpus=measured.corpus,
        metrics=tuple(compared),
        settings=settings,
        statements=tuple(_statements(measured, settings, pairs, same)),
        gap_source=gap_table.source
        if any(d.meaning for one in compared for d in one.differences)
        else None,
    )


def check_systems(systems: Sequence[str], baseline: str | None = None) -> None:
    """Refuse what cannot be compared, before anything is measured.

    Raises:
        UsageError: There are fewer than two systems, or none is called like the baseline.
    """
    if len(systems) < 2:
        raise UsageError(
            f"one system ({', '.join(systems)}), nothing to compare it with; give at least two, "
            "or use 'meantime score'"
        )
    if baseline is not None and baseline not in systems:
        raise UsageError(f"no system is called {baseline!r}; there are {', '.join(systems)}")


def _needed(comparisons: int, significance: float) -> int:
    """Trials with which a difference that chance never matches is well within the level."""
    return -(-round(2 * comparisons / significance) // 1000) * 1000


def _chosen(kind: type[Kind], value: str, what: str) -> Kind:
    try:
        return kind(value)
    except ValueError:
        raise UsageError(f"{what} {value!r}; use {', '.join(kind)}") from None


def _same_output(corpus: Corpus, systems: Sequence[str], pair: tuple[int, int]) -> bool:
    one, other = (corpus.outputs[systems[number]] for number in pair)
    return all(a.text == b.text for a, b in zip(one, other, strict=True))


def _compared(
    measured: Measured,
    number: int,
    rows: Sequence[Array],
    drawn: Array,
    pairs: Sequence[tuple[int, int]],
    randomised: Array,
    same: set[tuple[int, int]],
    settings: Settings,
    gap_table: GapTable,
) -> MetricComparison:
    systems = measured.systems
    metric = measured.metrics[number]
    sign = 1.0 if metric.higher_is_better else -1.0
    observed = paired.system_scores(metric, rows)
    matrix = paired.bootstrap_p_values(drawn, observed)
    bootstrapped = numpy.array([matrix[pair] for pair in pairs])
    wins = paired.win_shares(drawn, higher_is_better=metric.higher_is_better)
    decisive = randomised if settings.test is Test.RANDOMISATION else bootstrapped
    corrected = _CORRECT[settings.correction](decisive)
    # Best first; equal scores in the order the systems were given.
    order = numpy.argsort(-sign * observed, kind="stable")
    place = {int(system): rank for rank, system in enumerate(order)}
    signed = measured.signatures[number]
    unknown = _people_unknown(measured.corpus, signed, gap_table)
    differences = {}
    for index, pair in enumerate(pairs):
        one, other = sorted(pair, key=place.__getitem__)
        gap = sign * float(observed[one] - observed[other])
        differences[one, other] = Difference(
            better=systems[one],
            worse=systems[other],
            gap=gap + 0.0,
            # Adding 0 turns a negative zero into an ordinary one.
            interval=percentiles(
                sign * (drawn[:, one] - drawn[:, other]) + 0.0, settings.confidence
            ),
            wins=float(wins[one, other]),
            bootstrap=float(bootstrapped[index]),
            randomisation=float(randomised[index]),
            corrected=float(corrected[index]),
            significant=bool(corrected[index] <= settings.significance and gap > 0),
            same_output=pair in same,
            meaning=None if unknown else gap_table.meaning(signed, gap, len(rows[0])),
        )
    ahead = numpy.zeros((len(systems), len(systems)), dtype=bool)
    for (one, other), difference in differences.items():
        ahead[one, other] = difference.significant
    return MetricComparison(
        metric=metric.name,
        specification=measured.specifications[number],
        signature=signed,
        higher_is_better=metric.higher_is_better,
        decimals=getattr(metric, "decimals", 4),
        standings=tuple(_standings(systems, observed, drawn, order, ahead, sign, settings)),
        differences=tuple(
            differences[pair]
            for pair in sorted(differences, key=lambda pair: (place[pair[0]], place[pair[1]]))
        ),
        wins=wins,
        documents=tuple(_documents(measured.corpus, metric, rows)),
        segment_scores=numpy.array([score_many(metric, one, Level.SEGMENT) for one in rows]),
        statements=tuple(_tied(observed, measured.specifications[number], len(same) < len(pairs))),
        people_unknown=unknown,
    )


def _people_unknown(corpus: Corpus, signed: Signature, table: GapTable) -> str | None:
    """Why the table cannot say how often people agree with this metric here, if so."""
    lang = next(iter(corpus.outputs.values()))[0].lang
    if primary(lang) != table.lang:
        return f"what is known is of translation into {table.lang}, not {lang}"
    if not table.knows(signed):
        return "nothing is known of this metric with these options"
    if len(corpus.segments) < table.fewest:
        return f"it takes {table.fewest} segments, here are {len(corpus.segments)}"
    return None


_CORRECT: dict[Correction, Callable[[Array], Array]] = {
    Correction.HOLM: multiple.holm,
    Correction.BH: multiple.benjamini_hochberg,
    Correction.NONE: lambda p_values: p_values,
}


def _standings(
    systems: Sequence[str],
    observed: Array,
    drawn: Array,
    order: NDArray[numpy.int64],
    ahead: NDArray[numpy.bool_],
    sign: float,
    settings: Settings,
) -> list[Standing]:
    """The systems, best first."""
    ranked = ahead[numpy.ix_(order, order)]
    standings = []
    cluster = 1
    for place, system in enumerate(order):
        if place and ranked[:place, place:].all():
            cluster += 1
        above = int((sign * observed > sign * observed[system]).sum())
        known = settings.baseline is None
        standings.append(
            Standing(
                system=systems[system],
                score=float(observed[system]),
                interval=percentiles(drawn[:, system], settings.confidence),
                rank=1 + above,
                best_rank=1 + int(ranked[:, place].sum()) if known else None,
                worst_rank=len(systems) - int(ranked[place].sum()) if known else None,
                cluster=cluster if known else None,
            )
        )
    return standings


def _documents(corpus: Corpus, metric: Metric, rows: Sequence[Array]) -> list[DocumentScores]:
    """Scores by document, in order of appearance; none where no segment names one."""
    names = [segment.document for segment in corpus.segments]
    if not any(names):
        return []
    members: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        members.setdefault(name or NO_DOCUMENT, []).append(number)
    found = []
    for name, numbers in members.items():
        totals = numpy.array([one[numbers].sum(axis=0) for one in rows])
        scores = score_many(metric, totals, Level.CORPUS)
        found.append(DocumentScores(name, len(numbers), tuple(scores.tolist())))
    return found


def _tied(observed: Array, specification: str, outputs_differ: bool) -> list[str]:
    if not (observed == observed[0]).all():
        return []
    said = f"{specification}: every system has the same score, so there is nothing to rank"
    return [f"{said}; use another metric" if outputs_differ else said]


def _statements(
    measured: Measured,
    settings: Settings,
    pairs: Sequence[tuple[int, int]],
    same: set[tuple[int, int]],
) -> list[str]:
    """What cannot be said of these systems on these segments, and why."""
    said = []
    segments = len(measured.corpus.segments)
    for one, other in sorted(same):
        said.append(
            f"{measured.systems[one]} and {measured.systems[other]} gave the same translation of "
            "every segment; they cannot be told apart"
        )
    # Halves and their mirror images give the same difference.
    least = 2.0 ** (1 - segments) if segments < 60 else 0.0
    if segments == 1:
        said.append(
            "a single segment: nothing can be resampled, so intervals have no width and no "
            "difference can be significant"
        )
    elif least > settings.significance:
        said.append(
            f"{segments} segments are too few: even the clearest difference has a p-value of "
            f"{least:.2g} under randomisation"
        )
    tests = settings.trials if settings.test is Test.RANDOMISATION else settings.resamples
    floor = 1 / (tests + 1)
    if settings.correction is Correction.HOLM:
        floor *= len(pairs)
    if floor > settings.significance:
        what = "trials" if settings.test is Test.RANDOMISATION else "resamples"
        needed = _needed(len(pairs), settings.significance)
        said.append(
            f"{tests} {what} are too few for {len(pairs)} comparisons: no corrected p-value can "
            f"be below {min(1.0, floor):.2g}; use --{what} {needed}"
        )
    return said
