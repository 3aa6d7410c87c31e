"""Tasks: what to evaluate, as data; one file can hold many.

    [defaults]                              what holds for every task of the file
    metrics = ["bleu", "chrf"]

    [[task]]
    name = "wmt22"
    data = "wmt22-general-zhen-mqm.tsv.gz"  beside the task file
    scores = ["peer-scores.tsv.gz"]
    level = ["seg", "sys"]                  a list of data, level or by makes a task of each

TOML, or JSON with the same names. Everything a task may state is a field of `Task`.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy

from meantime.errors import FormatError, InputError, UsageError
from meantime.formats.opening import decode, load, stem
from meantime.metaeval.collecting import Collected, Progress, collect
from meantime.metaeval.correlation import Undefined, chosen
from meantime.metaeval.evaluating import (
    SEED,
    Block,
    Evaluation,
    GridBlock,
    PreferenceBlock,
    Scope,
    Test,
    compared,
    evaluate,
)
from meantime.metaeval.human import HumanScores, Preferences, Ratings
from meantime.metaeval.judging import Normalisation, agreement, average, normalise, split
from meantime.metaeval.outside import MetricScores
from meantime.metaeval.reading import WEIGHTS, Judged, parse_weight, read, read_metric_scores
from meantime.metaeval.store import StatisticsStore
from meantime.protocols import Analyser

BY = ("lp", "domain", "document")
ANOTHER = "another judge"
"""The row that shows how well a person does."""

_EXPANDED = ("data", "level", "by")
_ENDINGS = (".toml", ".json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What to evaluate.

    Attributes:
        data: Human scores: a table, or a folder in the layout of mt-metrics-eval.
        name: What to call it; by default after the data.
        metrics: Our metrics, with options or without.
        scores: Files with scores of other metrics.
        lower: Names of those for which lower is better.
        by: A table for each `lp`, `domain` or `document`; without, one for all.
        level: `seg` or `sys`.
        statistics: Which; the first ranks the metrics. By default those that fit the data.
        test: How differences are tested: `segments`, `systems`, `both` or `williams`.
        lps: Language pairs to keep; by default all.
        kind: Which human scores of a folder: `mqm`, `wmt-z` and so on.
        reference: Which reference of a folder.
        human_translations: Whether human translations take part, as systems.
        normalise: `percentile` or `z`, for judgements one by one; by default neither.
        another_judge: Whether one judgement of each translation is drawn as "another judge", to
            stand among the metrics, and one as the truth.
        weights: Weights of MQM errors that go before the usual ones: `critical=10`.
        worst: Largest penalty of a judge for a translation.
        lang: Language of the translations, where the data do not state it.
        resamples: Bootstrap samples and permutations; 0 for neither intervals nor clusters.
        seed: Of both, and of another judge.
    """

    data: str
    name: str = ""
    metrics: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    by: str | None = None
    level: Scope = Scope.SEGMENTS
    statistics: tuple[str, ...] = ()
    test: Test | None = None
    lps: tuple[str, ...] = ()
    kind: str | None = None
    reference: str | None = None
    human_translations: bool = False
    normalise: Normalisation = Normalisation.NONE
    another_judge: bool = False
    weights: tuple[str, ...] = ()
    worst: float | None = None
    lang: str | None = None
    resamples: int = 1000
    seed: int = SEED
    place: str = field(default="", compare=False)
    """Where the task was read, for messages."""


_NAMES = tuple(item.name for item in fields(Task) if item.name != "place")
_LISTS = ("metrics", "scores", "lower", "statistics", "lps", "weights")
_KINDS: Mapping[str, tuple[type, ...]] = {
    "human_translations": (bool,),
    "another_judge": (bool,),
    "worst": (int, float),
    "resamples": (int,),
    "seed": (int,),
}


def is_task_file(path: str | Path) -> bool:
    """Whether a path names a file of tasks rather than data."""
    return Path(path).suffix.lower() in _ENDINGS


def read_tasks(path: str | Path) -> tuple[Task, ...]:
    """The tasks of a file, lists of `data`, `level` and `by` made a task each.

    Raises:
        FormatError: It is no TOML or JSON, or a task states what there is not.
    """
    content = decode(str(path), load(path))
    try:
        if Path(path).suffix.lower() == ".json":
            found = json.loads(content)
        else:
            found = tomllib.loads(content)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise FormatError(f"{path}: neither TOML nor JSON as its name says: {error}") from error
    if not isinstance(found, dict) or set(found) - {"defaults", "task"} or not found.get("task"):
        raise FormatError(f"{path}: a file of tasks holds [[task]] tables, and perhaps [defaults]")
    listed = found["task"]
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise FormatError(f"{path}: task is no list of tables; write [[task]] above each")
    defaults = found.get("defaults", {})
    tasks: list[Task] = []
    for number, item in enumerate(listed, start=1):
        tasks += _expand({**defaults, **item}, Path(path), f"{path}: task {number}")
    return tuple(tasks)


def _expand(item: Mapping[str, Any], path: Path, place: str) -> list[Task]:
    for name in item:
        if name not in _NAMES:
            near = difflib.get_close_matches(name, _NAMES, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_NAMES)}"
            raise FormatError(f"{place}: a task has no {name!r}; {hint}")
    if "data" not in item:
        raise FormatError(f"{place}: no data; name the file of human scores")
    axes = [
        item[name] if isinstance(item.get(name), list) else [item.get(name)] for name in _EXPANDED
    ]
    return [
        _made({**item, **dict(zip(_EXPANDED, values, strict=True))}, path, place)
        for values in product(*axes)
    ]


def _made(item: Mapping[str, Any], path: Path, place: str) -> Task:
    values: dict[str, Any] = {}
    for name, value in item.items():
        if value is None:
            continue
        if name in _LISTS:
            listed = [value] if isinstance(value, str) else value
            if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
                raise FormatError(f"{place}: {name} is {value!r}; give a list of texts")
            values[name] = tuple(listed)
            continue
        kinds = _KINDS.get(name, (str,))
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise FormatError(f"{place}: {name} is {value!r}; give {_WORDS[kinds[0]]}")
        values[name] = value
    # Paths in a file of tasks are beside that file.
    values["data"] = str(path.parent / values["data"])
    values["scores"] = tuple(str(path.parent / one) for one in values.get("scores", ()))
    try:
        return checked(Task(**values, place=place))
    except UsageError as error:
        raise FormatError(f"{place}: {error}") from error


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def checked(task: Task) -> Task:
    """The task with its choices as such, and named.

    Raises:
        UsageError: It states a choice there is not.
    """
    if task.by is not None and task.by not in BY:
        raise UsageError(f"{task.by!r} is nothing to split by; choose from {', '.join(BY)}")
    if task.resamples < 0:
        raise UsageError(f"resamples is {task.resamples}; give 0 (none) or more")
    for weight in task.weights:
        parse_weight(weight)
    return replace(
        task,
        level=chosen(Scope, task.level, "level"),
        test=None if task.test is None else chosen(Test, task.test, "test"),
        normalise=chosen(Normalisation, task.normalise, "normalisation"),
        # The folder one stands in has no name as it is written.
        name=task.name or stem(task.data) or stem(Path(task.data).resolve()),
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a task came to.

    Attributes:
        task: What was asked.
        evaluations: A table for each part of the data.
        collected: The scores they were made from, by language pair.
        blocks: The test sets of each table.
        notes: What a reader must know of the data.
    """

    task: Task
    evaluations: tuple[Evaluation, ...]
    collected: Mapping[str, Collected]
    blocks: Mapping[str, tuple[Block, ...]]
    notes: tuple[str, ...] = ()


def run(
    task: Task,
    *,
    jobs: int = 1,
    measuring: Progress | None = None,
    evaluating: Progress | None = None,
    analyser: Analyser | None = None,
    store: StatisticsStore | None = None,
) -> Outcome:
    """Carry a task out.

    Args:
        task: What to evaluate.
        jobs: Number of processes; 0 for one a core.
        measuring: Told how far the measuring has come.
        evaluating: Told how far intervals and tests have come.
        analyser: For metrics that need analysis; by default the one that is shipped.
        store: Where statistics are kept.

    Raises:
        InputError: The data cannot be evaluated.
        UsageError: The task asks for what cannot be.
    """
    task = checked(task)
    if not task.metrics and not task.scores and not task.another_judge:
        raise UsageError(
            f"{task.name}: no metric was given; name one with -m, or a file of scores with --scores"
        )
    judged = read(
        task.data,
        weights=(*map(parse_weight, task.weights), *WEIGHTS),
        worst=task.worst,
        lps=task.lps,
        kind=task.kind,
        reference=task.reference,
        systems=task.level is Scope.SYSTEMS,
    )
    _refuse_misfits(task, judged)
    notes: list[str] = []
    scores, others = _as_scores(task, judged, notes)
    outside = _outside(task)
    if others is not None:
        outside.append(others)
    collected = collect(
        scores,
        task.metrics,
        outside=outside,
        length=task.level is Scope.SEGMENTS and not isinstance(judged, Preferences),
        lang=task.lang,
        jobs=jobs,
        progress=measuring,
        analyser=analyser,
        store=store,
    )
    notes += [found.note for found in collected.values() if found.note]
    blocks = _blocks(task, judged, collected)
    evaluations = tuple(
        evaluate(
            found,
            name=task.name,
            group=group,
            scope=task.level,
            statistics=task.statistics,
            test=task.test,
            resamples=task.resamples,
            seed=task.seed,
            progress=evaluating,
        )
        for group, found in blocks.items()
    )
    return Outcome(task, evaluations, collected, blocks, tuple(dict.fromkeys(notes)))


def _refuse_misfits(task: Task, judged: Judged) -> None:
    if isinstance(judged, Preferences) and task.level is Scope.SYSTEMS:
        raise UsageError(f"{judged.name}: preferences have no system level; use --level seg")
    if not isinstance(judged, Ratings):
        what = None
        if task.normalise is not Normalisation.NONE:
            what = "normalised by judge"
        if task.another_judge:
            what = "split into the truth and another judge"
        if what:
            raise UsageError(
                f"{judged.name}: holds no judgements one by one, so nothing can be {what}"
            )


def _as_scores(
    task: Task, judged: Judged, notes: list[str]
) -> tuple[HumanScores, MetricScores | None]:
    """Human scores, and another judge's as those of a metric."""
    if isinstance(judged, Preferences):
        return compared(judged), None
    others = None
    if isinstance(judged, Ratings):
        normalised = normalise(judged, task.normalise)
        try:
            found = agreement(normalised)
            notes.append(
                f"{found.judges} judges agree with Krippendorff's alpha {found.alpha:.3f} "
                f"(interval) on the {found.items:,} translations that two or more judged"
            )
        except Undefined:
            pass
        if task.another_judge:
            judged, values = split(normalised, rng=numpy.random.default_rng(task.seed))
            keys = ("lp", "domain", "document", "segment", "system")
            rows = {
                tuple(str(getattr(pair, key)) for key in keys): value
                for pair, value in zip(judged.pairs, values, strict=True)
                if value is not None
            }
            others = MetricScores(judged.name, keys, {ANOTHER: rows})
        else:
            judged = average(normalised)
    scores = judged
    if task.human_translations:
        kept = tuple(
            pair
            for pair in scores.pairs
            if not (pair.is_human and any(pair.hypothesis == text for _, text in pair.references))
        )
        if len(kept) < len(scores):
            notes.append(
                f"{len(scores) - len(kept):,} human translations are the reference itself and left "
                "out"
            )
        scores = replace(scores, pairs=kept)
    else:
        scores = scores.without_human_translations()
        if len(scores) < len(judged):
            notes.append(f"{len(judged) - len(scores):,} human translations are left out")
    if scores.by_system:
        rated = any(pair.score is not None for pair in scores.pairs)
        if task.by in ("domain", "document") and not rated:
            raise UsageError(
                f"{judged.name}: people rated systems as a whole, so no {task.by} has scores; "
                "leave out --by"
            )
        if task.by not in ("domain", "document"):
            notes.append("human scores are of systems as a whole (.sys.score)")
    elif all(pair.score is None for pair in scores.pairs):
        raise InputError(
            f"{judged.name}: no translation is rated; the column score is empty in every row"
        )
    return scores, others


def _outside(task: Task) -> list[MetricScores]:
    found = [read_metric_scores(path) for path in task.scores]
    known = {name for scores in found for name in scores.metrics}
    for name in task.lower:
        if name not in known:
            raise UsageError(
                f"no metric {name!r} to turn round in the files of scores; there are "
                f"{', '.join(sorted(known)) or 'none'}"
            )
    return [
        scores.turned([name for name in task.lower if name in scores.metrics]) for scores in found
    ]


def _blocks(
    task: Task, judged: Judged, collected: Mapping[str, Collected]
) -> dict[str, tuple[Block, ...]]:
    """The test sets of each table."""
    groups: dict[str, list[Block]] = {}
    if isinstance(judged, Preferences):
        parts = judged.split_by(task.by) if task.by else {"": judged}
        for group, part in parts.items():
            for lp, rows in part.split_by("lp").items():
                groups.setdefault(group, []).append(PreferenceBlock(rows, collected[lp]))
    else:
        for lp, found in collected.items():
            parted = {"": found}
            if task.by == "lp":
                parted = {lp: found}
            elif task.by:
                parted = found.split_by(task.by)
            for group, one in parted.items():
                if one.scores.by_system or not numpy.isnan(one.grid.human).all():
                    groups.setdefault(group, []).append(GridBlock(one, task.level))
    return {group: tuple(blocks) for group, blocks in groups.items()}
