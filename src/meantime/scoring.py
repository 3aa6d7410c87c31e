"""From a corpus and metrics to results: measure in batches, add up, reduce.

Any number of processes gives the same numbers: rows do not depend on their batch, and are
put back in order before they are added.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from multiprocessing.pool import Pool

import numpy

from meantime.analysis import open_analyser
from meantime.errors import InputError, UnsupportedLanguage, UsageError
from meantime.options import specify
from meantime.protocols import Analyser, Array, ManyScorer, Metric
from meantime.registry import DEFAULTS, create
from meantime.types import (
    Corpus,
    Layer,
    Level,
    Pair,
    Score,
    Segment,
    Sentence,
    Signature,
    primary,
)

Progress = Callable[[int, int], None]
"""Called with how many pairs are measured, and of how many."""

BATCH = 256


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the score lies in this share of resampled test sets."""

    low: float
    high: float
    confidence: float
    resamples: int


@dataclass(frozen=True, slots=True)
class Result:
    """What one metric says of one system."""

    system: str
    metric: str
    specification: str
    signature: Signature
    higher_is_better: bool
    decimals: int
    score: Score
    segments: tuple[float, ...] | None = None
    interval: Interval | None = None


def score(
    corpus: Corpus,
    metrics: Sequence[str | Metric] = DEFAULTS,
    *,
    lang: str | None = None,
    segments: bool = False,
    resamples: int = 0,
    confidence: float = 0.95,
    seed: int = 12345,
    jobs: int = 1,
    progress: Progress | None = None,
    analyser: Analyser | None = None,
) -> list[Result]:
    """Score every system of a corpus with every metric.

    Args:
        corpus: References and systems.
        metrics: Names with or without options (`bleu:max_order=2`), or metrics.
        lang: Language of the hypotheses, for metrics given by name; by default that of the
            first one.
        segments: Whether to give segment scores too.
        resamples: How many bootstrap samples to draw for an interval; 0 for none.
        confidence: Share of the samples the interval holds.
        seed: Seed of the samples. The same for all systems, so they are drawn alike.
        jobs: Number of processes; 0 for one a core.
        progress: Told how far the work has come.
        analyser: Adds what metrics need to know of the sentences beyond their text; by
            default the one that is shipped, and only where a metric needs it.

    Returns:
        One result for each system and metric: systems in order, metrics within.
    """
    measured = measure(corpus, metrics, lang=lang, jobs=jobs, progress=progress, analyser=analyser)
    results = []
    for system in measured.systems:
        for index, metric in enumerate(measured.metrics):
            rows = measured.rows[system, index]
            interval = None
            if resamples:
                rng = numpy.random.default_rng(seed)
                interval = bootstrap(metric, rows, rng, resamples=resamples, confidence=confidence)
            results.append(
                Result(
                    system=system,
                    metric=metric.name,
                    specification=measured.specifications[index],
                    signature=measured.signatures[index],
                    higher_is_better=metric.higher_is_better,
                    decimals=getattr(metric, "decimals", 4),
                    score=metric.score(rows.sum(axis=0), Level.CORPUS),
                    segments=tuple(metric.score(row, Level.SEGMENT).value for row in rows)
                    if segments
                    else None,
                    interval=interval,
                )
            )
    return results


@dataclass(frozen=True, slots=True)
class Measured:
    """A corpus, metrics prepared for it, and the statistics they measured."""

    corpus: Corpus
    """With whatever analysis the metrics needed."""
    specifications: tuple[str, ...]
    """The metrics as they were asked for."""
    metrics: tuple[Metric, ...]
    signatures: tuple[Signature, ...]
    rows: Mapping[tuple[str, int], Array]
    """By system and number of the metric: one row a segment."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems' names, in the order they were given."""
        return tuple(self.corpus.outputs)


def measure(
    corpus: Corpus,
    metrics: Sequence[str | Metric] = DEFAULTS,
    *,
    lang: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    analyser: Analyser | None = None,
) -> Measured:
    """Measure every system of a corpus with every metric: the rows all scores come from.

    Args:
        corpus: References and systems.
        metrics: Names with or without options (`bleu:max_order=2`), or metrics.
        lang: Language of the hypotheses, for metrics given by name; by default that of the
            first one.
        jobs: Number of processes; 0 for one a core.
        progress: Told how far the work has come.
        analyser: Adds what metrics need to know of the sentences beyond their text; by
            default the one that is shipped, and only where a metric needs it.
    """
    if not corpus.segments:
        raise InputError("the corpus holds no segment; there is nothing to score")
    if not corpus.outputs:
        raise InputError("the corpus holds no system output; give at least one hypothesis file")
    if not metrics:
        raise UsageError("no metric was given; name at least one")
    if lang is None:
        lang = next(iter(corpus.outputs.values()))[0].lang
    made = [create(item, lang=lang) if isinstance(item, str) else item for item in metrics]
    needed = frozenset[Layer]().union(*(metric.needs for metric in made))
    bare = [s.id for s in corpus.segments if s.source is None] if Layer.SOURCE in needed else []
    if bare:
        raise InputError(
            f"segment {bare[0]} has no source ({len(bare)} of {len(corpus.segments)}), which a "
            "metric needs; give the source with -s"
        )
    corpus, origin = analyse(corpus, needed, analyser)
    prepared = [metric.prepare(corpus.segments) for metric in made]
    pairs = [pair for system in corpus.outputs for pair in corpus.pairs(system)]
    count = len(corpus.segments)
    rows = {
        (system, index): measured[place * count : (place + 1) * count]
        for index, measured in enumerate(
            measure_pairs(pairs, prepared, jobs=jobs, progress=progress)
        )
        for place, system in enumerate(corpus.outputs)
    }
    return Measured(
        corpus=corpus,
        specifications=tuple(item if isinstance(item, str) else specify(item) for item in metrics),
        metrics=tuple(prepared),
        signatures=tuple(sign(metric, origin) for metric in prepared),
        rows=rows,
    )


def sign(metric: Metric, origin: str) -> Signature:
    """The metric's signature, and where the analysis it needs came from."""
    signed = metric.signature()
    if not metric.needs & set(ANALYSED):
        return signed
    return replace(signed, options=(*signed.options, ("analysis", origin)))


def analyse(
    corpus: Corpus, needed: frozenset[Layer], analyser: Analyser | None
) -> tuple[Corpus, str]:
    """The corpus with the layers metrics need, and where they came from, for signatures.

    What sentences have already is kept. The origin is the analyser's name and the start of
    its hash, `given` where nothing had to be analysed, or both.

    Raises:
        UnsupportedLanguage: The analyser was not made for the language of the corpus.
    """
    wanted = [layer for layer in needed if layer in ANALYSED]
    if not wanted:
        return corpus, "none"

    def lacks(sentence: Sentence) -> bool:
        return sentence.tokens != () and any(
            getattr(sentence, ANALYSED[layer]) is None for layer in wanted
        )

    known = [sentence for segment in corpus.segments for sentence in segment.references]
    known += [sentence for output in corpus.outputs.values() for sentence in output]
    missing = [sentence for sentence in known if lacks(sentence)]
    if not missing:
        return corpus, "given"
    if analyser is None:
        analyser = open_analyser()
    for lang in sorted({sentence.lang for sentence in missing}):
        if primary(lang) not in analyser.languages:
            raise UnsupportedLanguage(_refusal(analyser, lang, wanted))
    answers = analyser.analyse(missing)
    if len(answers) != len(missing):
        raise UsageError(
            f"analyser {analyser.name} gave {len(answers)} sentences for {len(missing)}; "
            "use another with --analyser"
        )
    found = {id(sentence): answer for sentence, answer in zip(missing, answers, strict=True)}

    def enriched(sentence: Sentence) -> Sentence:
        answer = found.get(id(sentence))
        if answer is None:
            return sentence
        # What was given stays: the analyser fills in what is not known, and no more.
        names = [item.name for item in fields(Sentence)]
        lacking = {n: getattr(answer, n) for n in names if getattr(sentence, n) is None}
        return replace(sentence, **lacking)

    origin = f"{analyser.name}-{analyser.identity[:8]}"
    if any(sentence.tokens for sentence in known):
        origin += "+given"
    enriched_corpus = replace(
        corpus,
        segments=tuple(
            replace(segment, references=tuple(map(enriched, segment.references)))
            for segment in corpus.segments
        ),
        outputs={system: tuple(map(enriched, output)) for system, output in corpus.outputs.items()},
    )
    return enriched_corpus, origin


def _refusal(analyser: Analyser, lang: str, wanted: Sequence[Layer]) -> str:
    """Why the language is refused, and what helps: `unparsed` does only where it is enough."""
    chinese = primary(lang) in ("zh", "yue")
    start = f"analyser {analyser.name} cannot treat the language {lang!r}"
    why = (
        f"there is no Chinese parser yet ({lang!r})"
        if chinese
        else f"it was made for {', '.join(sorted(analyser.languages))}"
    )
    unparsed = (
        "take the analyser unparsed, with which whole sentences are compared by characters "
        "(--analyser unparsed), "
        if chinese and Layer.TREE not in wanted
        else ""
    )
    return f"{start}; {why}: give parses of your own, {unparsed}or use a metric without analysis"


def explaining_layers(metric: Metric) -> frozenset[Layer]:
    """What explanations of a metric use: it may score without analysis and say more with it."""
    further: frozenset[Layer] = getattr(metric, "explains_with", frozenset())
    return metric.needs | further


def ready_to_explain(measured: Measured, analyser: Callable[[], Analyser]) -> Measured:
    """With all in the corpus that explanations use, analysed once and not for each of them.

    Where the analyser was not made for the language, metrics explain what they can without.

    Args:
        measured: What was measured.
        analyser: Opens the analyser; asked only where a metric uses more than scoring needed.
    """
    wanted = frozenset[Layer]().union(*map(explaining_layers, measured.metrics))
    if not wanted - frozenset[Layer]().union(*(one.needs for one in measured.metrics)):
        return measured
    with suppress(UnsupportedLanguage):
        return replace(measured, corpus=analyse(measured.corpus, wanted, analyser())[0])
    return measured


def analyse_pairs(
    pairs: Sequence[Pair], needed: frozenset[Layer], analyser: Analyser | None
) -> tuple[list[Pair], str]:
    """Any pairs with the layers metrics need, and where they came from; see `analyse`.

    Pairs of one segment still share it.
    """
    segments = {id(pair.segment): pair.segment for pair in pairs}
    kept = tuple(segments.values())
    order = {name: place for place, name in enumerate(segments)}
    known, origin = analyse(Corpus(kept), needed, analyser)
    alone = Corpus(
        tuple(Segment(str(place), ()) for place in range(len(pairs))),
        {"": tuple(pair.hypothesis for pair in pairs)},
    )
    outputs, other = analyse(alone, needed, analyser)
    made = [
        replace(pair, hypothesis=hypothesis, segment=known.segments[order[id(pair.segment)]])
        for hypothesis, pair in zip(outputs.outputs[""], pairs, strict=True)
    ]
    return made, origin if origin == other or other in ("none", "given") else other


ANALYSED = {
    Layer.TOKENS: "tokens",
    Layer.POS: "pos",
    Layer.TREE: "tree",
    Layer.FRAMES: "frames",
    Layer.VECTORS: "vectors",
}
"""Layers an analyser adds, and where they stand in a sentence."""


def bootstrap(
    metric: Metric,
    rows: Array,
    rng: numpy.random.Generator,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> Interval:
    """The percentile interval of the corpus score over resampled test sets."""
    scores = numpy.concatenate(
        [
            score_many(metric, weights @ rows, Level.CORPUS)
            for weights in resample(len(rows), rng, resamples)
        ]
    )
    return percentiles(scores, confidence)


def resample(count: int, rng: numpy.random.Generator, resamples: int) -> Iterator[Array]:
    """Resampled test sets as weights: how often each segment (column) is drawn.

    They come in blocks of rows, so that a large test set does not fill the memory.
    """
    block = max(1, _CELLS // count)
    for start in range(0, resamples, block):
        weights = numpy.empty((min(block, resamples - start), count))
        for row in weights:
            row[:] = numpy.bincount(rng.integers(0, count, count), minlength=count)
        yield weights


def percentiles(scores: Array, confidence: float) -> Interval:
    """The interval that holds this share of resampled scores, as much below as above."""
    tail = (1 - confidence) / 2
    low, high = numpy.quantile(scores, [tail, 1 - tail])
    return Interval(float(low), float(high), confidence, len(scores))


def score_many(metric: Metric, totals: Array, level: Level) -> Array:
    """The scores of many summed rows: at once where the metric can, else one by one."""
    if isinstance(metric, ManyScorer):
        return metric.scores(totals, level)
    return numpy.array([metric.score(total, level).value for total in totals], numpy.float64)


_CELLS = 4_000_000
"""Weights held at a time."""


_Task = tuple[int, int, int]
"""Number of the metric, first pair, pair behind the last."""


def measure_pairs(
    pairs: Sequence[Pair],
    metrics: Sequence[Metric],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Array]:
    """The statistics of any pairs, whichever systems and segments they are of.

    Args:
        pairs: What to measure; they may hold whatever the metrics need already.
        metrics: Metrics that are prepared.
        jobs: Number of processes; 0 for one a core.
        progress: Told how far the work has come, counting a pair once for each metric.

    Returns:
        For each metric one row a pair, in order.
    """
    count = len(pairs)
    if not count:
        return [metric.measure([]) for metric in metrics]
    tasks: list[_Task] = [
        (metric, start, min(start + BATCH, count))
        for metric in range(len(metrics))
        for start in range(0, count, BATCH)
    ]
    worker = _Worker(pairs, metrics)
    jobs = min(jobs or os.cpu_count() or 1, len(tasks))
    total = count * len(metrics)
    done = 0
    collected: list[list[Array]] = [[] for _ in metrics]
    for task, rows in zip(tasks, _run(worker, tasks, jobs, progress, total), strict=True):
        done += len(rows)
        if progress:
            progress(done, total)
        collected[task[0]].append(rows)
    return [numpy.concatenate(rows) for rows in collected]


def _run(
    worker: _Worker, tasks: Sequence[_Task], jobs: int, progress: Progress | None, total: int
) -> Iterator[Array]:
    if jobs <= 1:
        if progress:
            progress(0, total)
        yield from map(worker, tasks)
        return
    # One pair by each metric first: kernels are compiled and files loaded once, and what
    # is loaded is inherited by the processes.
    for metric in range(len(worker.metrics)):
        worker((metric, 0, 1))
    with _pool(worker, jobs) as pool:
        if progress:
            progress(0, total)
        yield from pool.imap(_work, tasks)


@dataclass(frozen=True, slots=True)
class _Worker:
    pairs: Sequence[Pair]
    metrics: Sequence[Metric]

    def __call__(self, task: _Task) -> Array:
        metric, start, stop = task
        return self.metrics[metric].measure(self.pairs[start:stop])


_here: list[_Worker] = []


def _pool(worker: _Worker, jobs: int) -> Pool:
    """Processes that hold the pairs; forked where that is the custom, so nothing is copied."""
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    return context.Pool(jobs, _start, (worker,))


def _start(worker: _Worker) -> None:
    # The parent hears Ctrl-C and ends the pool; a child that also hears it prints a trace.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _here[:] = [worker]


def _work(task: _Task) -> Array:
    return _here[0](task)
