"""From a corpus and metrics to results: measure in batches, add up, reduce.

Any number of processes gives the same numbers: rows do not depend on their batch, and are
put back in order before they are added.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from multiprocessing.pool import Pool

import numpy

from meantime.analysis import open_analyser
from meantime.errors import InputError, UnsupportedLanguage, UsageError
from meantime.options import specify
from meantime.protocols import Analyser, Array, Metric
from meantime.registry import DEFAULTS, create
from meantime.types import Corpus, Layer, Level, Pair, Score, Sentence, Signature, primary

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
    if not corpus.segments:
        raise InputError("the corpus holds no segment; there is nothing to score")
    if not corpus.outputs:
        raise InputError("the corpus holds no system output; give at least one hypothesis file")
    if not metrics:
        raise UsageError("no metric was given; name at least one")
    if lang is None:
        lang = next(iter(corpus.outputs.values()))[0].lang
    made = [create(item, lang=lang) if isinstance(item, str) else item for item in metrics]
    labels = [item if isinstance(item, str) else specify(item) for item in metrics]
    needed = frozenset[Layer]().union(*(metric.needs for metric in made))
    bare = [s.id for s in corpus.segments if s.source is None] if Layer.SOURCE in needed else []
    if bare:
        raise InputError(
            f"segment {bare[0]} has no source ({len(bare)} of {len(corpus.segments)}), which a "
            "metric needs; give the source with -s"
        )
    corpus, origin = analyse(corpus, needed, analyser)
    prepared = [metric.prepare(corpus.segments) for metric in made]
    results = []
    for (system, index), rows in _measure_all(corpus, prepared, jobs, progress):
        metric = prepared[index]
        interval = None
        if resamples:
            rng = numpy.random.default_rng(seed)
            interval = bootstrap(metric, rows, rng, resamples=resamples, confidence=confidence)
        results.append(
            Result(
                system=system,
                metric=metric.name,
                specification=labels[index],
                signature=_sign(metric, origin),
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


def _sign(metric: Metric, origin: str) -> Signature:
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
    for lang in {sentence.lang for sentence in missing}:
        if primary(lang) not in analyser.languages:
            raise UnsupportedLanguage(
                f"analyser {analyser.name} cannot treat the language {lang!r}; it was made for "
                f"{', '.join(sorted(analyser.languages))}: use a metric without analysis, or "
                "give parses of your own"
            )
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
    enriched_corpus = Corpus(
        tuple(
            replace(segment, references=tuple(map(enriched, segment.references)))
            for segment in corpus.segments
        ),
        {system: tuple(map(enriched, output)) for system, output in corpus.outputs.items()},
    )
    return enriched_corpus, origin


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
    count = len(rows)
    scores = numpy.empty(resamples)
    for index in range(resamples):
        weights = numpy.bincount(rng.integers(0, count, count), minlength=count)
        scores[index] = metric.score(weights @ rows, Level.CORPUS).value
    tail = (1 - confidence) / 2
    low, high = numpy.quantile(scores, [tail, 1 - tail])
    return Interval(float(low), float(high), confidence, resamples)


_Task = tuple[int, int, int, int]


def _measure_all(
    corpus: Corpus, metrics: Sequence[Metric], jobs: int, progress: Progress | None
) -> Iterator[tuple[tuple[str, int], Array]]:
    """The rows of each (system, metric), in order."""
    systems = list(corpus.outputs)
    count = len(corpus.segments)
    tasks: list[_Task] = [
        (system, metric, start, min(start + BATCH, count))
        for system in range(len(systems))
        for metric in range(len(metrics))
        for start in range(0, count, BATCH)
    ]
    worker = _Worker(corpus, metrics)
    jobs = min(jobs or os.cpu_count() or 1, len(tasks))
    total = count * len(systems) * len(metrics)
    done = 0
    collected: list[Array] = []
    for task, rows in zip(tasks, _run(worker, tasks, jobs, progress, total), strict=True):
        done += len(rows)
        if progress:
            progress(done, total)
        collected.append(rows)
        if task[3] == count:
            yield (systems[task[0]], task[1]), numpy.concatenate(collected)
            collected = []


def _run(
    worker: _Worker, tasks: Sequence[_Task], jobs: int, progress: Progress | None, total: int
) -> Iterator[Array]:
    if jobs == 1:
        if progress:
            progress(0, total)
        yield from map(worker, tasks)
        return
    # One pair by each metric first: kernels are compiled and files loaded once, and what
    # is loaded is inherited by the processes.
    for metric in range(len(worker.metrics)):
        worker((0, metric, 0, 1))
    with _pool(worker, jobs) as pool:
        if progress:
            progress(0, total)
        yield from pool.imap(_work, tasks)


@dataclass(frozen=True, slots=True)
class _Worker:
    corpus: Corpus
    metrics: Sequence[Metric]

    def __call__(self, task: _Task) -> Array:
        system, metric, start, stop = task
        output = list(self.corpus.outputs.values())[system]
        pairs = [
            Pair(hypothesis, segment)
            for hypothesis, segment in zip(
                output[start:stop], self.corpus.segments[start:stop], strict=True
            )
        ]
        return self.metrics[metric].measure(pairs)


_here: list[_Worker] = []


def _pool(worker: _Worker, jobs: int) -> Pool:
    """Processes that hold the corpus; forked where that is the custom, so nothing is copied."""
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    return context.Pool(jobs, _start, (worker,))


def _start(worker: _Worker) -> None:
    # The parent hears Ctrl-C and ends the pool; a child that also hears it prints a trace.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _here[:] = [worker]


def _work(task: _Task) -> Array:
    return _here[0](task)
