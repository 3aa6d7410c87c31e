"""`meantime metaeval`: which metric agrees with people, and how surely."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meantime.cli.arguments import AnalyserName, Jobs, Output
from meantime.errors import UsageError

if TYPE_CHECKING:
    from meantime.metaeval.tasks import Outcome, Task


class EvaluationFormat(StrEnum):
    """How tables are printed."""

    TABLE = "table"
    JSON = "json"
    TSV = "tsv"
    LATEX = "latex"
    MARKDOWN = "markdown"


class By(StrEnum):
    """What tables may be split by."""

    LP = "lp"
    DOMAIN = "domain"
    DOCUMENT = "document"


class EvaluationLevel(StrEnum):
    """What tables speak of."""

    SEG = "seg"
    SYS = "sys"


class DifferenceTest(StrEnum):
    """How differences of metrics are tested."""

    SEGMENTS = "segments"
    SYSTEMS = "systems"
    BOTH = "both"
    WILLIAMS = "williams"


class JudgeScale(StrEnum):
    """How the scores of judges are brought to one scale."""

    NONE = "none"
    PERCENTILE = "percentile"
    Z = "z"


def metaeval(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="Human scores: tables, folders of mt-metrics-eval, or files of tasks (.toml, "
            ".json).",
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            help="A metric, with its options as 'bleu:max_order=2'; give -m again for several.",
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            "--scores", metavar="FILE", help="Scores of other metrics on the same translations."
        ),
    ] = None,
    lower: Annotated[
        list[str] | None,
        typer.Option(
            "--lower", metavar="NAME", help="A metric of --scores for which lower is better."
        ),
    ] = None,
    by: Annotated[By | None, typer.Option("--by", help="A table for each of these.")] = None,
    level: Annotated[
        EvaluationLevel | None,
        typer.Option("--level", help="Segments or systems.  [default: seg]"),
    ] = None,
    statistic: Annotated[
        list[str] | None,
        typer.Option(
            "--statistic",
            metavar="NAME",
            help="What to compute; the first ranks the metrics.  [default: what fits the data]",
        ),
    ] = None,
    test: Annotated[
        DifferenceTest | None,
        typer.Option(
            "--test",
            help="What changes places at random to test differences, or Williams' test.  "
            "[default: segments; with --level sys, systems]",
        ),
    ] = None,
    lp: Annotated[
        list[str] | None,
        typer.Option("--lp", metavar="PAIR", help="Keep this language pair, such as zh-en."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="NAME", help="Which human scores of a folder: mqm, wmt-z."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option("--reference", metavar="NAME", help="Which reference of a folder: refA."),
    ] = None,
    human_translations: Annotated[
        bool,
        typer.Option("--human-translations", help="Let human translations take part as systems."),
    ] = False,
    normalise: Annotated[
        JudgeScale | None,
        typer.Option(
            "--normalise", help="Bring the scores of judges to one scale.  [default: none]"
        ),
    ] = None,
    another_judge: Annotated[
        bool,
        typer.Option(
            "--another-judge", help="Draw one judgement of each translation to stand as a metric."
        ),
    ] = False,
    weight: Annotated[
        list[str] | None,
        typer.Option(
            "--weight",
            metavar="ERROR=NUMBER",
            help="What an MQM error costs: 'critical=10', 'minor/Fluency/Punctuation=0.1'.",
        ),
    ] = None,
    worst: Annotated[
        float | None,
        typer.Option(
            "--worst", metavar="N", min=0, help="Largest MQM penalty of a judge and translation."
        ),
    ] = None,
    resamples: Annotated[
        int | None,
        typer.Option(
            "--resamples",
            metavar="N",
            min=0,
            help="Bootstrap samples and permutations; 0 for neither.  [default: 1000]",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", min=0, help="Seed of the samples.  [default: 12345]"),
    ] = None,
    plot: Annotated[
        list[str] | None,
        typer.Option(
            "--plot",
            metavar="KIND=FILE",
            help="Draw into an .svg or .png: scatter, metrics, accuracy or roc.",
        ),
    ] = None,
    format: Annotated[
        EvaluationFormat, typer.Option("--format", "-f", help="How to print.")
    ] = EvaluationFormat.TABLE,
    output: Output = None,
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang",
            metavar="CODE",
            help="Language of the translations.  [default: that of the language pair, else en]",
        ),
    ] = None,
    analyser: AnalyserName = None,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Measure anew, and keep nothing on disk."),
    ] = False,
    jobs: Jobs = 1,
) -> None:
    """Tell how well metrics agree with people, and which differ significantly."""
    from meantime.cli import evaluations
    from meantime.cli.output import colours, emit

    given: dict[str, Any] = {
        "metrics": metric,
        "scores": scores,
        "lower": lower,
        "by": by and by.value,
        "level": level and level.value,
        "statistics": statistic,
        "test": test and test.value,
        "lps": lp,
        "kind": kind,
        "reference": reference,
        "human_translations": human_translations or None,
        "normalise": normalise and normalise.value,
        "another_judge": another_judge or None,
        "weights": weight,
        "worst": worst,
        "lang": lang,
        "resamples": resamples,
        "seed": seed,
    }
    tasks = _tasks(data, given)
    plots = [_plot(text) for text in plot or []]
    if plots and len(tasks) > 1:
        raise UsageError(
            f"--plot draws one task, and these are {len(tasks)}; give one file of data"
        )
    outcomes = [_run(task, analyser, no_cache, jobs) for task in tasks]
    if format is EvaluationFormat.TABLE:
        text = evaluations.as_table(outcomes, colour=colours(output))
    else:
        render = {
            EvaluationFormat.JSON: evaluations.as_json,
            EvaluationFormat.TSV: evaluations.as_tsv,
            EvaluationFormat.LATEX: evaluations.as_latex,
            EvaluationFormat.MARKDOWN: evaluations.as_markdown,
        }[format]
        text = render(outcomes)
    drawn = [(path, _draw(outcomes[0], kind, path)) for kind, path in plots]
    for path, image in drawn:
        from meantime.formats.opening import save

        save(path, image)
    emit(text, output)


def _tasks(data: list[str], given: dict[str, Any]) -> list[Task]:
    """The tasks of all files; options of the command line go before those of a file of tasks."""
    from meantime.metaeval.tasks import Task, checked, is_task_file, read_tasks

    stated: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
        if value is not None
    }
    tasks: list[Task] = []
    for path in data:
        if is_task_file(path):
            tasks += [checked(replace(task, **stated)) for task in read_tasks(path)]
        else:
            tasks.append(checked(Task(data=path, **stated)))
    return tasks


def _run(task: Task, analyser: str | None, no_cache: bool, jobs: int) -> Outcome:
    from meantime.cli.analysis import open_cached, tell_note
    from meantime.cli.cache import statistics_path
    from meantime.cli.progress import Bar
    from meantime.metaeval.store import StatisticsStore
    from meantime.metaeval.tasks import run
    from meantime.registry import create
    from meantime.scoring import ANALYSED

    made = [create(name, lang=task.lang) for name in task.metrics]
    analysed = any(metric.needs & set(ANALYSED) for metric in made)
    with Bar(f"{task.name}: measuring") as measuring, Bar(f"{task.name}: testing") as testing:

        def evaluating(done: int, total: int) -> None:
            # One bar at a time: what is measured is done when testing begins.
            measuring.close()
            testing(done, total)

        opened = None
        if analysed:
            opened = open_cached(analyser, cached=not no_cache, progress=measuring)
        outcome = run(
            task,
            jobs=jobs,
            measuring=measuring,
            evaluating=evaluating,
            analyser=opened,
            store=None if no_cache else StatisticsStore(statistics_path()),
        )
    tell_note(opened)
    return outcome


PLOTS = ("scatter", "metrics", "accuracy", "roc")


def _plot(text: str) -> tuple[str, Path]:
    kind, equals, path = text.partition("=")
    if not equals or kind not in PLOTS or not path:
        raise UsageError(
            f"--plot {text!r}: write KIND=FILE, with one of {', '.join(PLOTS)} for KIND"
        )
    if Path(path).suffix.lower() not in (".svg", ".png"):
        raise UsageError(f"--plot {text!r}: the file must end in .svg or .png")
    return kind, Path(path)


def _draw(outcome: Outcome, kind: str, path: Path) -> bytes:
    from meantime.metaeval import plots

    chart = plots.draw(outcome, kind)
    return plots.render(chart, path.suffix.lower().removeprefix("."))
