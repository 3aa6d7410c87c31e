"""Scores of a few texts by many metrics at once, each with its explanation where it has one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from meantime import registry
from meantime.errors import MeantimeError, UsageError
from meantime.protocols import Analyser, Explainer, Metric
from meantime.report.explained import figure_of
from meantime.report.figures import Figure
from meantime.scoring import ANALYSED, analyse, explaining_layers, sign
from meantime.serving.limits import Deadline, Limits, check_text
from meantime.types import Corpus, Layer, Level, Segment, Sentence
from meantime.web import refuse_files

FIRST = ("meantime", "meant", "bleu", "chrf", "ter")
"""Metrics shown before all others, where they are there."""


@dataclass(frozen=True, slots=True)
class Texts:
    """One segment and some translations of it."""

    references: tuple[str, ...]
    translations: tuple[str, ...]
    source: str | None = None
    lang: str = "en"
    source_lang: str = "und"


@dataclass(frozen=True, slots=True)
class Told:
    """What one metric says of each translation, or why it says nothing."""

    specification: str
    name: str
    higher_is_better: bool
    decimals: int
    signature: str | None
    values: tuple[float | None, ...]
    figures: tuple[Figure | None, ...]
    problem: str | None = None


@cache
def metric_names() -> tuple[str, ...]:
    """Metrics one can try on texts: all but those that need what people judged."""
    names = [name for name in registry.names() if _usable(name)]
    first = [name for name in FIRST if name in names]
    return (*first, *(name for name in names if name not in first))


@lru_cache(maxsize=128)
def open_metric(specification: str, lang: str) -> Metric:
    """A metric by name, kept: what it loads is loaded once.

    Raises:
        MeantimeError: There is none, or it would read a file that is named in its options: over
            the network nobody says which files are read here.
    """
    refuse_files(specification)
    return registry.create(specification, lang=lang)


def _usable(name: str) -> bool:
    try:
        return Layer.JUDGEMENTS not in registry.create(name).needs
    except MeantimeError:
        # It cannot be made on this machine, and says why when it is asked for.
        return True


def check_texts(texts: Texts, metrics: Sequence[str], limits: Limits) -> None:
    """Refuse what is too much, before any work.

    Raises:
        InputError: A text is too long.
        UsageError: There are too many of something.
    """
    for count, most, what in (
        (len(texts.references), limits.references, "references"),
        (len(texts.translations), limits.translations, "translations"),
        (len(metrics), limits.metrics, "metrics"),
    ):
        if not 0 < count <= most:
            raise UsageError(f"{count} {what}; give between 1 and {most}")
    for text in texts.references:
        check_text(text, limits, "reference")
    for text in texts.translations:
        check_text(text, limits, "translation")
    if texts.source is not None:
        check_text(texts.source, limits, "source")


def try_texts(
    texts: Texts,
    metrics: Sequence[str],
    *,
    analyser: Callable[[], Analyser],
    deadline: Deadline,
    explain: bool = True,
) -> list[Told]:
    """Every metric's scores of every translation; a metric that cannot says why.

    Raises:
        TooSlow: The deadline passed.
    """
    source = None if texts.source is None else Sentence(texts.source, texts.source_lang)
    references = tuple(Sentence(text, texts.lang) for text in texts.references)
    corpus = Corpus(
        (Segment("1", references, source),),
        {str(n): (Sentence(text, texts.lang),) for n, text in enumerate(texts.translations)},
    )
    made: dict[str, Metric | MeantimeError] = {}
    for name in metrics:
        try:
            metric = open_metric(name, texts.lang)
            _check(metric, texts)
            made[name] = metric
        except MeantimeError as error:
            made[name] = error
    needed = frozenset[Layer]().union(
        *(
            explaining_layers(metric) if explain else metric.needs
            for metric in made.values()
            if not isinstance(metric, MeantimeError)
        )
    )
    origin, trouble = "none", None
    if needed & set(ANALYSED):
        try:
            corpus, origin = analyse(corpus, needed, analyser())
        except MeantimeError as error:
            trouble = error
    told = []
    for name, found in made.items():
        deadline.check()
        analysed = not isinstance(found, MeantimeError) and bool(found.needs & set(ANALYSED))
        asked = trouble if trouble and analysed else found
        told.append(_ask(name, asked, corpus, origin, deadline, explain=explain))
    return told


def _check(metric: Metric, texts: Texts) -> None:
    if Layer.JUDGEMENTS in metric.needs:
        raise UsageError(f"{metric.name} needs what people judged; use 'meantime score'")
    if Layer.SOURCE in metric.needs and texts.source is None:
        raise UsageError(f"{metric.name} needs the source; give it")


def _ask(
    name: str,
    metric: Metric | MeantimeError,
    corpus: Corpus,
    origin: str,
    deadline: Deadline,
    *,
    explain: bool,
) -> Told:
    count = len(corpus.outputs)
    try:
        if isinstance(metric, MeantimeError):
            raise metric
        prepared = metric.prepare(corpus.segments)
        values: list[float | None] = []
        figures: list[Figure | None] = []
        for system in corpus.outputs:
            deadline.check()
            pairs = corpus.pairs(system)
            value = prepared.score(prepared.measure(pairs)[0], Level.SEGMENT).value
            values.append(value if math.isfinite(value) else None)
            shows = explain and isinstance(prepared, Explainer)
            figures.append(figure_of(prepared, pairs[0]) if shows else None)
    except (MeantimeError, ArithmeticError) as error:
        deadline.check()
        nothing = (None,) * count
        return Told(name, name.partition(":")[0], True, 4, None, nothing, nothing, str(error))
    return Told(
        name,
        prepared.name,
        prepared.higher_is_better,
        getattr(prepared, "decimals", 4),
        str(sign(prepared, origin)),
        tuple(values),
        tuple(figures),
    )
