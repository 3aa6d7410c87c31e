"""Scores of metrics beside the scores of people, for the same translations.

What is judged need not be a full grid of systems and segments, so metrics measure a list of
pairs. A metric is prepared with the references of one test set, which is what one language pair
of a file is. Statistics are measured in pieces, each kept as soon as it is done: a run that was
stopped, or one that asks for one metric more, measures only what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy

from meantime.analysis import open_analyser
from meantime.errors import InputError
from meantime.metaeval.human import Grid, HumanScores, JudgedPair
from meantime.metaeval.outside import MetricScores
from meantime.metaeval.store import StatisticsStore, digest
from meantime.protocols import Analyser, Array, Metric
from meantime.registry import create
from meantime.scoring import ANALYSED, analyse, measure_pairs
from meantime.types import Corpus, Layer, Level, Pair, Segment, Signature

PIECE = 4096
LENGTH = "minus reference length"
"""The row that shows how far merely knowing a segment's length gets."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """What one metric says, oriented so that higher is better.

    Attributes:
        name: The metric as it was asked for.
        scores: One score a judged pair, in the order of the human scores; NaN where there is none.
        higher_is_better: Whether it was so before it was turned round.
        signature: For our metrics.
        metric: Our metric, prepared; None for scores from elsewhere.
        statistics: Its rows, one a pair.
    """

    name: str
    scores: Array
    higher_is_better: bool = True
    signature: Signature | None = None
    metric: Metric | None = None
    statistics: Array | None = None

    def corpus_score(self, total: Array) -> float:
        """Our metric's score of summed statistics, oriented; for ours alone."""
        assert self.metric is not None
        value = self.metric.score(total, Level.CORPUS).value
        return value if self.higher_is_better else -value

    def part(self, rows: Array) -> Column:
        """The same for some of the pairs, by their numbers."""
        statistics = None if self.statistics is None else self.statistics[rows]
        return replace(self, scores=self.scores[rows], statistics=statistics)


@dataclass(frozen=True, slots=True, eq=False)
class Collected:
    """Human scores of one test set, and columns of metrics over the same pairs."""

    scores: HumanScores
    grid: Grid
    columns: tuple[Column, ...]
    note: str | None = None
    """Why statistics could not be kept, if so."""

    def split_by(self, column: str) -> dict[str, Collected]:
        """The same by domain, document or system, in order of appearance.

        What people said of systems as a whole they did not say of a part.
        """
        members: dict[str, list[int]] = {}
        for number, pair in enumerate(self.scores.pairs):
            members.setdefault(getattr(pair, column), []).append(number)
        return {name: self._part(rows) for name, rows in members.items()}

    def _part(self, rows: Sequence[int]) -> Collected:
        own = tuple(self.scores.pairs[row] for row in rows)
        scores = replace(self.scores, pairs=own, by_system={})
        places = numpy.asarray(rows)
        return replace(
            self,
            scores=scores,
            grid=scores.grid(),
            columns=tuple(column.part(places) for column in self.columns),
        )


def collect(
    human_scores: HumanScores,
    metrics: Sequence[str] = (),
    *,
    outside: Sequence[MetricScores] = (),
    length: bool = False,
    lang: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    analyser: Analyser | None = None,
    store: StatisticsStore | None = None,
) -> dict[str, Collected]:
    """Score judged translations with metrics, and line up scores from elsewhere.

    Args:
        human_scores: Translations with human scores.
        metrics: Names of our metrics, with or without options.
        outside: Scores of other metrics on the same pairs.
        length: Whether to add minus the number of the reference's words as a column.
        lang: Language of the translations; by default the second of the language pair, else
            English.
        jobs: Number of processes; 0 for one a core.
        progress: Told how far the measuring has come.
        analyser: For metrics that need analysis; by default the one that is shipped.
        store: Where statistics are kept.

    Returns:
        The test sets by language pair.
    """
    if not human_scores.pairs:
        raise InputError(f"{human_scores.name}: holds no judged translation")
    names = [*metrics, *(name for scores in outside for name in scores.metrics)]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InputError(
            f"metric {min(twice)} is given twice, by name and from a file or in two files; "
            "rename the column in the file, or leave one out"
        )
    total = len(human_scores) * len(metrics)
    sets = human_scores.split_by("lp")
    lined = _line_up(human_scores, outside)
    found = {}
    before = 0
    for lp, scores in sets.items():
        grid = scores.grid()
        # English unless the data say otherwise: metrics refuse what they cannot treat.
        target = lang or lp.partition("-")[2] or "en"

        def tell(done: int, before: int = before) -> None:
            if progress:
                progress(before + done, total)

        measuring = Measuring(scores, target, jobs, tell, analyser, store)
        columns = measuring.columns(metrics)
        places = numpy.array(
            [place for place, pair in enumerate(human_scores.pairs) if pair.lp == lp]
        )
        columns += [Column(name, values[places]) for name, values in lined.items()]
        if length and all(pair.references for pair in scores.pairs):
            columns.append(Column(LENGTH, reference_lengths(scores.pairs)))
        found[lp] = Collected(scores, grid, tuple(columns), measuring.note)
        before += len(scores) * len(metrics)
    return found


def _line_up(human_scores: HumanScores, outside: Iterable[MetricScores]) -> dict[str, Array]:
    lined: dict[str, Array] = {}
    for scores in outside:
        lined.update(scores.line_up(human_scores))
    return lined


def reference_lengths(pairs: Iterable[JudgedPair]) -> Array:
    """Minus the number of words of the first reference, for each pair."""
    return numpy.array([-float(len(pair.references[0][1].split())) for pair in pairs])


class Measuring:
    """The pairs of a test set, and what is measured of them piece by piece."""

    def __init__(
        self,
        scores: HumanScores,
        lang: str,
        jobs: int,
        tell: Callable[[int], None],
        analyser: Analyser | None,
        store: StatisticsStore | None,
    ) -> None:
        self.note: str | None = None
        self._scores, self._lang, self._jobs = scores, lang, jobs
        self._tell, self._analyser, self._store = tell, analyser, store
        self._pairs: tuple[Pair, ...] = ()
        self._numbers: list[int] = []
        self._segments: tuple[Segment, ...] = ()
        self._bare = ""

    def columns(self, specifications: Sequence[str]) -> list[Column]:
        """One column a metric."""
        if not specifications:
            return []
        metrics = [create(specification, lang=self._lang) for specification in specifications]
        self._arrange(metrics)
        needed = frozenset[Layer]().union(*(metric.needs for metric in metrics))
        if needed & set(ANALYSED) and self._analyser is None:
            self._analyser = open_analyser()
        references, _ = analyse(Corpus(self._segments), needed, self._analyser)
        prepared = [metric.prepare(references.segments) for metric in metrics]
        recipes = [self._recipe(metric) for metric in metrics]
        pieces: list[list[Array]] = [[] for _ in metrics]
        done = 0
        for start in range(0, len(self._pairs), PIECE):
            numbers = range(start, min(start + PIECE, len(self._pairs)))
            keys = [self._key(recipe, numbers) for recipe in recipes]
            rows: list[Array | None] = [
                None if self._store is None else self._store.load(key, len(numbers)) for key in keys
            ]
            kept = sum(row is not None for row in rows)
            done += kept * len(numbers)
            self._tell(done)
            missing = [place for place, row in enumerate(rows) if row is None]
            for place, measured in self._measure(
                [(place, prepared[place]) for place in missing],
                references.segments,
                numbers,
                done,
            ):
                rows[place] = measured
                done += len(numbers)
                if self._store is not None:
                    self.note = self._store.keep(keys[place], measured) or self.note
            for place, row in enumerate(rows):
                assert row is not None
                pieces[place].append(row)
        return [
            self._column(name, metric, numpy.concatenate(piece))
            for name, metric, piece in zip(specifications, prepared, pieces, strict=True)
        ]

    def _column(self, name: str, metric: Metric, statistics: Array) -> Column:
        sign = 1.0 if metric.higher_is_better else -1.0
        values = [sign * metric.score(row, Level.SEGMENT).value for row in statistics]
        signature = metric.signature()
        if self._analysed(metric):
            assert self._analyser is not None
            origin = f"{self._analyser.name}-{self._analyser.identity[:8]}"
            signature = replace(signature, options=(*signature.options, ("analysis", origin)))
        return Column(
            name, numpy.array(values), metric.higher_is_better, signature, metric, statistics
        )

    def _arrange(self, metrics: Sequence[Metric]) -> None:
        """Pairs, the segments they are of, and a hash of these; once there is need."""
        self._pairs = tuple(
            replace(pair, hypothesis=replace(pair.hypothesis, lang=self._lang))
            for pair in self._scores.as_pairs()
        )
        places: dict[int, int] = {}
        segments: list[Segment] = []
        for pair in self._pairs:
            if id(pair.segment) not in places:
                places[id(pair.segment)] = len(segments)
                segments.append(pair.segment)
            self._numbers.append(places[id(pair.segment)])
        self._segments = tuple(
            replace(
                segment,
                references=tuple(replace(one, lang=self._lang) for one in segment.references),
            )
            for segment in segments
        )
        for metric in metrics:
            bare = [segment.id for segment in segments if segment.source is None]
            if Layer.SOURCE in metric.needs and bare:
                raise InputError(
                    f"{self._scores.name}: segment {bare[0]} has no source ({len(bare)} of "
                    f"{len(segments)}), which {metric.name} needs; add the column src"
                )
        self._bare = digest(
            text
            for segment in self._segments
            for text in (
                "" if segment.source is None else segment.source.text,
                str(len(segment.references)),
                *(reference.text for reference in segment.references),
            )
        )

    def _analysed(self, metric: Metric) -> bool:
        return bool(metric.needs & set(ANALYSED))

    def _recipe(self, metric: Metric) -> str:
        origin = ""
        if self._analysed(metric):
            assert self._analyser is not None
            origin = f"{self._analyser.name}-{self._analyser.identity}"
        return digest([str(metric.signature()), origin, self._lang, self._bare])

    def _key(self, recipe: str, numbers: range) -> str:
        texts = (f"{self._numbers[n]} {self._pairs[n].hypothesis.text}" for n in numbers)
        return digest([recipe, *texts])

    def _measure(
        self,
        metrics: Sequence[tuple[int, Metric]],
        segments: Sequence[Segment],
        numbers: range,
        before: int,
    ) -> Iterable[tuple[int, Array]]:
        if not metrics:
            return
        needed = frozenset[Layer]().union(*(metric.needs for _, metric in metrics))
        corpus = Corpus(
            tuple(segments[self._numbers[number]] for number in numbers),
            {"": tuple(self._pairs[number].hypothesis for number in numbers)},
        )
        # Analysed once for all metrics, and dropped with the piece: vectors are large.
        corpus, _ = analyse(corpus, needed, self._analyser)
        pairs = corpus.pairs("")
        for place, metric in metrics:

            def inner(done: int, _: int, before: int = before) -> None:
                self._tell(before + done)

            yield place, measure_pairs(pairs, [metric], jobs=self._jobs, progress=inner)[0]
            before += len(numbers)
