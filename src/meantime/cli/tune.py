"""`meantime tune`: weights for a decoder, by driving it or from lists it has written."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meantime.cli.arguments import (
    AnalyserName,
    Jobs,
    NoCache,
    References,
    check_standard_input,
)
from meantime.cli.candidates import (
    CandidatesLang,
    NbestFormat,
    NbestFormatOption,
    ReportFormat,
    ReportFormatOption,
    Seed,
    Sparse,
)
from meantime.cli.rerank import LearnerName
from meantime.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from meantime.smt.model import Model
    from meantime.tuning.learning import Learner
    from meantime.tuning.loop import Tuned
    from meantime.tuning.statistics import Statistics
    from meantime.types import Segment

FOLDER = Path("tuning")
MOST_SHOWN = 30
"""Weights printed after a decoder's tuning; all of them are in a file."""
_DRIVING = (
    "folder",
    "iterations",
    "patience",
    "timeout",
    "retries",
    "on_failure",
    "resume",
    "plot",
)


_THOT = ("candidates", "reordering")


class OnFailure(StrEnum):
    """What a decoder that fails means."""

    STOP = "stop"
    CONTINUE = "continue"


def tune(
    context: typer.Context,
    lists: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NBEST",
            help="N-best lists to learn from, without a decoder; after --decoder thot, a model.",
        ),
    ] = None,
    decoder: Annotated[
        str | None,
        typer.Option(
            "--decoder",
            "-d",
            metavar="COMMAND",
            help="A command that decodes: {weights} stands for a file of weights, {overwrite} for "
            "the same in one line, {nbest} for the list it writes (without it, what it prints). Or "
            "thot, and the folder of a model that meantime smt has trained.",
        ),
    ] = None,
    reference: References = None,
    source: Annotated[
        str | None,
        typer.Option("--source", "-s", "--dev", metavar="FILE", help="The source texts."),
    ] = None,
    metric: Annotated[
        str, typer.Option("--metric", "-m", metavar="NAME", help="What to tune for.")
    ] = "bleu",
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            "-w",
            metavar="FILE",
            help="Weights to begin with.  [default: thot: those of the model]",
        ),
    ] = None,
    candidates: Annotated[
        int,
        typer.Option("--candidates", metavar="N", min=2, help="thot: longest list of a segment."),
    ] = 100,
    reordering: Annotated[
        int,
        typer.Option(
            "--reordering",
            metavar="N",
            min=0,
            max=10,
            help="thot: words a phrase may be taken ahead of its turn.",
        ),
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the best weights here."),
    ] = None,
    folder: Annotated[
        Path,
        typer.Option(
            "--folder", metavar="FOLDER", help="Where everything of a decoder's tuning is kept."
        ),
    ] = FOLDER,
    iterations: Annotated[
        int, typer.Option("--iterations", metavar="N", min=1, help="Times the decoder runs.")
    ] = 10,
    patience: Annotated[
        int | None,
        typer.Option(
            "--patience",
            metavar="N",
            min=1,
            help="End after N iterations without a better score.  [default: never]",
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=0.1,
            help="Stop a decoder that takes longer.  [default: never]",
        ),
    ] = None,
    retries: Annotated[
        int,
        typer.Option("--retries", metavar="N", min=0, help="Run a failed decoder again, N times."),
    ] = 0,
    on_failure: Annotated[
        OnFailure,
        typer.Option(
            "--on-failure",
            help="A decoder that still fails: stop, or continue from the last good iteration.",
        ),
    ] = OnFailure.STOP,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what the folder holds.")
    ] = False,
    plot: Annotated[
        bool,
        typer.Option("--plot/--no-plot", help="Draw the curve, if the extra plots is installed."),
    ] = True,
    learner: Annotated[
        LearnerName, typer.Option("--learner", help="Search along lines, or rank pairs.")
    ] = LearnerName.MERT,
    restarts: Annotated[
        int, typer.Option("--restarts", metavar="N", min=0, help="mert: random starts.")
    ] = 20,
    directions: Annotated[
        int,
        typer.Option("--directions", metavar="N", min=0, help="mert: random directions a round."),
    ] = 5,
    regularisation: Annotated[
        float,
        typer.Option(
            "--regularisation", metavar="L", min=0, help="ranking: weight of the squares."
        ),
    ] = 1e-3,
    difference: Annotated[
        float,
        typer.Option(
            "--difference",
            metavar="D",
            min=0,
            max=1,
            help="ranking: how much a pair must differ, as a share of the metric's scale.",
        ),
    ] = 0.05,
    interpolation: Annotated[
        float,
        typer.Option(
            "--interpolation",
            metavar="P",
            min=0.01,
            max=1,
            help="ranking: share of the learned weights; the rest are the ones before.",
        ),
    ] = 1.0,
    fix: Annotated[
        list[str] | None,
        typer.Option("--fix", metavar="NAME", help="Leave this weight as it is; patterns too."),
    ] = None,
    minimum: Annotated[
        list[str] | None,
        typer.Option("--minimum", metavar="NAME=N", help="A weight's least value; patterns too."),
    ] = None,
    maximum: Annotated[
        list[str] | None,
        typer.Option("--maximum", metavar="NAME=N", help="A weight's greatest value."),
    ] = None,
    sparse: Sparse = None,
    nbest_format: NbestFormatOption = NbestFormat.AUTO,
    format: ReportFormatOption = ReportFormat.TABLE,
    lang: CandidatesLang = None,
    analyser: AnalyserName = None,
    no_cache: NoCache = False,
    jobs: Jobs = 1,
    seed: Seed = 1,
) -> None:
    """Find the weights with which a decoder's choices score best.

    With --decoder: decode, merge the lists, learn, and again. With lists: learn from these.
    """
    thot = None
    if decoder == "thot":
        thot, lists = _model_of(lists, source), None
        weights = weights if weights is not None else str(thot.weights_path)
        decoder = _thot_command(thot, str(source), candidates, reordering)
        lang = lang if lang is not None else thot.facts["target"]
    elif any(_was_given(context, name) for name in _THOT):
        raise UsageError("--candidates and --reordering are for the decoder thot; leave them out")
    if bool(lists) == (decoder is not None):
        raise UsageError("give n-best lists, or a --decoder that writes them: one of the two")
    if not reference:
        raise UsageError("no reference; give one with -r FILE")
    if decoder is not None and weights is None:
        raise UsageError("a decoder needs weights to begin with; give them with -w FILE")
    if decoder is None:
        given = [name for name in _DRIVING if _was_given(context, name)]
        if given:
            raise UsageError(f"--{given[0].replace('_', '-')} is for a decoder; give --decoder")

    from meantime.cli import candidates as shared
    from meantime.cli.analysis import tell_note
    from meantime.cli.output import emit
    from meantime.tuning.constraints import Constraints
    from meantime.tuning.learning import Learner
    from meantime.tuning.mert import Settings
    from meantime.tuning.ranking import RankingSettings
    from meantime.tuning.statistics import Statistics, prepare_references
    from meantime.tuning.weights import read_weights

    check_standard_input([*(lists or []), *reference, source, weights])
    shared.refuse_unwritable(output)
    [created] = shared.create_metrics([metric], lang)
    learning = Learner(
        learner.value,
        constraints=Constraints(
            fixed=tuple(fix or ()),
            minimum=shared.parse_bounds(minimum or [], "--minimum"),
            maximum=shared.parse_bounds(maximum or [], "--maximum"),
        ),
        search=Settings(restarts=restarts, directions=directions),
        ranking=RankingSettings(
            regularisation=regularisation, difference=difference, interpolation=interpolation
        ),
        seed=seed,
    )
    initial = read_weights(weights) if weights is not None else None
    opened = shared.open_analyser_for([created], analyser, no_cache=no_cache)
    segments = shared.read_references(reference, source, lang)
    if thot is not None:
        _refuse_reversed(thot, segments, str(source), reference[0])
    enriched, prepared = prepare_references(segments, created, opened)
    statistics = Statistics(
        prepared,
        enriched,
        lang=lang or "en",
        folder=folder / "statistics" if decoder is not None else None,
        analyser=opened,
        jobs=jobs,
    )
    if decoder is None:
        found = shared.read_lists(
            lists or [],
            segments=segments,
            format=nbest_format.value,
            names=tuple(initial) if initial else None,
            sparse=sparse,
        )
        _learn_once(found, statistics, learning, initial, weights, output, format, seed)
        tell_note(opened)
        return

    from meantime.tuning.candidates import SPARSE
    from meantime.tuning.decoder import Decoder
    from meantime.tuning.loop import Plan, read_log
    from meantime.tuning.loop import tune as run
    from meantime.tuning.weights import write_weights

    assert initial is not None
    plan = Plan(
        Decoder(decoder, timeout),
        learning,
        iterations=iterations,
        patience=patience,
        retries=retries,
        go_on=on_failure is OnFailure.CONTINUE,
        format=nbest_format.value,
        sparse=tuple(sparse) if sparse else SPARSE,
    )
    try:
        with _Bars() as bars:
            tuned = run(
                folder,
                plan,
                statistics,
                initial,
                segments=len(segments),
                resume=resume,
                tell=_teller(prepared),
                progress=bars.begin,
            )
    except InputError:
        # A decoder that failed: how far it came is worth seeing.
        if plot:
            _draw(read_log(folder), folder, metric)
        raise
    tell_note(opened)
    if output is not None:
        write_weights(output, tuned.weights)
    if plot:
        _draw(tuned.records, folder, metric)
    emit(_loop_text(tuned, folder, statistics, format), None)


def _model_of(lists: Sequence[str] | None, source: str | None) -> Model:
    """The model that stands where lists do otherwise."""
    from meantime.smt.model import open_model
    from meantime.smt.thot import load_part

    if not lists or len(lists) > 1:
        raise UsageError(
            "--decoder thot takes one model; write --decoder thot MODEL, a folder that 'meantime "
            "smt train' made"
        )
    if source is None:
        raise UsageError("the decoder thot needs texts to translate; give them with --dev FILE")
    if source == "-":
        raise UsageError("the texts to translate are read again and again; put them into a file")
    load_part("translation")
    return open_model(lists[0])


def _thot_command(model: Model, source: str, candidates: int, reordering: int) -> str:
    from meantime.cli.smt import decoder_command

    return decoder_command(model.folder, source, candidates, reordering)


def _refuse_reversed(
    model: Model, segments: Sequence[Segment], source: str, reference: str
) -> None:
    """Refuse texts of the other language before anything is translated."""
    from meantime.smt.decoding import foreign
    from meantime.smt.training import refuse_wrong_script

    texts = [segment.source.text for segment in segments if segment.source is not None]
    references = [segment.references[0].text for segment in segments]
    refuse_wrong_script(texts, model.facts["source"], source, "source")
    refuse_wrong_script(references, model.facts["target"], reference, "reference")
    wrong = foreign(model, texts)
    if wrong:
        raise UsageError(f"{source}: {wrong}")


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


class _Bars:
    """One progress bar after the other."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __enter__(self) -> _Bars:
        return self

    def begin(self, what: str) -> Callable[[int, int], None]:
        from meantime.cli.progress import Bar

        self._end()
        self._bar = Bar(what)

        def advance(done: int, total: int) -> None:
            if self._bar is not None:
                self._bar(done, total)
                if done >= total:
                    self._end()

        return advance

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None

    def __exit__(self, *_: object) -> None:
        self._end()


def _teller(metric: Any) -> Callable[[Mapping[str, Any]], None]:
    """Says on standard error how each iteration went."""
    decimals = getattr(metric, "decimals", 4)
    warned = False

    def tell(record: Mapping[str, Any]) -> None:
        nonlocal warned
        number = record["iteration"]
        if "failed" in record:
            typer.echo(f"iteration {number}: failed: {record['failed']}", err=True)
            return
        foretold = (
            f", {record['pool_after']:.{decimals}f} foretold" if "pool_after" in record else ""
        )
        typer.echo(
            f"iteration {number}: {metric.name} {record['score']:.{decimals}f}{foretold}; "
            f"{record['candidates']} candidates, {record['new']} new, {record['merged']} merged",
            err=True,
        )
        if record["agreement"] < 0.9 and not warned:
            warned = True
            typer.echo(
                f"note: the first of a list has the greatest weighted sum in only "
                f"{record['agreement']:.0%} of the segments; does the decoder read the weights, "
                "and are all its features in the lists?",
                err=True,
            )

    return tell


def _draw(records: Sequence[Mapping[str, Any]], folder: Path, metric: str) -> None:
    """Put the curve into the folder, once there is one."""
    from meantime.cli.candidates import note
    from meantime.errors import MissingPart
    from meantime.formats.opening import encode, save
    from meantime.tuning.curve import draw_curve

    if not any("score" in record for record in records):
        return
    try:
        save(folder / "curve.svg", encode(draw_curve(records, metric)))
    except MissingPart as error:
        note(str(error))


def _loop_text(tuned: Tuned, folder: Path, statistics: Statistics, format: ReportFormat) -> str:
    if format is ReportFormat.JSON:
        from meantime import __version__

        content = {
            "meantime": __version__,
            "signature": str(statistics.metric.signature()),
            "score": tuned.score,
            "iteration": tuned.iteration,
            "reason": tuned.reason,
            "weights": dict(tuned.weights),
            "iterations": list(tuned.records),
        }
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    from rich.table import Table

    from meantime.cli.output import colours, render

    decimals = getattr(statistics.metric, "decimals", 4)
    table = Table(box=None, pad_edge=False, header_style="bold")
    columns = ("iteration", "score", "foretold", "candidates", "new", "merged", "starts at best")
    for name in columns:
        table.add_column(name, justify="right")
    for record in tuned.records:
        if "failed" in record:
            table.add_row(str(record["iteration"]), "failed", *[""] * (len(columns) - 2))
            continue
        mark = " *" if record["iteration"] == tuned.iteration else ""
        report = record.get("learning", {})
        table.add_row(
            f"{record['iteration']}{mark}",
            f"{record['score']:.{decimals}f}",
            f"{record['pool_after']:.{decimals}f}" if "pool_after" in record else "",
            str(record["candidates"]),
            str(record["new"]),
            str(record["merged"]),
            f"{report['starts_at_best']} of {len(report['starts'])}" if "starts" in report else "",
        )
    lines: list[Table | str] = [
        table,
        "",
        f"ended: {tuned.reason}",
        f"best: iteration {tuned.iteration}, in {folder / 'weights.txt'}",
        "",
        *_shown(tuned.weights),
        "",
        str(statistics.metric.signature()),
    ]
    return render(lines, colour=colours(None))


def _shown(weights: Mapping[str, float]) -> list[str]:
    """The lines of a file of weights, or of many the greatest."""
    from meantime.tuning.weights import render_weights

    if len(weights) <= MOST_SHOWN:
        return render_weights(weights).splitlines()
    greatest = sorted(weights, key=lambda name: -abs(weights[name]))[:MOST_SHOWN]
    lines = [f"{name}= {weights[name]!r}" for name in greatest]
    return [*lines, f"and {len(weights) - MOST_SHOWN} smaller ones"]


def _learn_once(
    found: Any,
    statistics: Statistics,
    learner: Learner,
    initial: dict[str, float] | None,
    place: str | None,
    output: Path | None,
    format: ReportFormat,
    seed: int,
) -> None:
    """Weights from lists that are there, and how they compare."""
    import numpy

    from meantime.cli import candidates as shared
    from meantime.cli.output import emit
    from meantime.cli.progress import Bar
    from meantime.formats.opening import display
    from meantime.tuning.candidates import arrange, refuse_bare
    from meantime.tuning.rerank import baselines, score_selection, select_by
    from meantime.tuning.weights import render_weights, write_weights

    refuse_bare(found, "the lists")
    names = found.all_names
    begin = (
        numpy.full(len(names), 1 / len(names))
        if initial is None
        else arrange(initial, found, display(place or ""))
    )
    with Bar("measuring") as bar:
        rows = statistics.rows(found.texts, bar)
    metric = statistics.metric
    with Bar("tuning") as bar:
        learned = learner.learn(found, rows, metric, begin, progress=bar)
    weights = dict(zip(names, map(float, learned.weights), strict=True))
    first, random, oracle = baselines(found, rows, metric, seed)
    table = [
        ("first", [first]),
        ("random", [random]),
        ("initial", [score_selection("initial", found, rows, metric, select_by(found, begin))]),
        (
            "tuned",
            [score_selection("tuned", found, rows, metric, select_by(found, learned.weights))],
        ),
        ("oracle", [oracle]),
    ]
    facts: dict[str, Any] = {
        "segments": found.segments,
        "candidates": len(found),
        "texts": len(found.texts),
        "features": len(names),
    }
    if format is ReportFormat.JSON:
        facts |= {"weights": weights, "learning": learned.report}
    elif "starts" in learned.report:
        starts = learned.report["starts"]
        facts["converged"] = f"{sum(s['converged'] for s in starts)} of {len(starts)} starts"
        facts["at the best score"] = f"{learned.report['starts_at_best']} of {len(starts)} starts"
        if learned.report["idle"]:
            facts["features that do not vary"] = ", ".join(learned.report["idle"])
    else:
        facts["pairs"] = learned.report["pairs"]
        facts["pairs in the right order"] = f"{learned.report['accuracy']:.1%}"
    if output is not None:
        write_weights(output, weights)
    text = shared.report_text([metric], table, facts, format)
    if format is ReportFormat.TABLE and output is None:
        text += "\n" + render_weights(weights)
    emit(text, None)
