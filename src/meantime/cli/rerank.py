"""`meantime rerank`: n-best lists in, one hypothesis a segment out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meantime.cli.arguments import (
    AnalyserName,
    Jobs,
    NoCache,
    References,
    Source,
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
from meantime.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy
    from numpy.typing import NDArray

    from meantime.tuning.candidates import Candidates
    from meantime.tuning.learning import Learner
    from meantime.tuning.rerank import Selection
    from meantime.tuning.statistics import Statistics

    Floats = NDArray[numpy.float64]
    Ints = NDArray[numpy.int64]


class Choice(StrEnum):
    """Which candidates are written."""

    WEIGHTS = "weights"
    TUNED = "tuned"
    ORACLE = "oracle"
    FIRST = "first"


class LearnerName(StrEnum):
    """How weights are learned."""

    MERT = "mert"
    RANKING = "ranking"


def rerank(
    lists: Annotated[
        list[str],
        typer.Argument(
            metavar="NBEST", help="N-best lists; several are merged. - is standard input."
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            help="A metric, with its options; the first of several is the one the oracle and "
            "tuning look at.  [default: bleu]",
        ),
    ] = None,
    reference: References = None,
    source: Source = None,
    weights: Annotated[
        str | None,
        typer.Option("--weights", "-w", metavar="FILE", help="Weights of the features."),
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Learn weights on these lists and references.")
    ] = False,
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds",
            metavar="N",
            min=2,
            help="With --tune: also score each N-th of the segments with weights learned on the "
            "others.",
        ),
    ] = None,
    learner: Annotated[
        LearnerName, typer.Option("--learner", help="How --tune learns.")
    ] = LearnerName.MERT,
    select: Annotated[
        Choice | None,
        typer.Option(
            "--select",
            help="What is written.  [default: tuned, else weights, else oracle]",
        ),
    ] = None,
    save_weights: Annotated[
        Path | None,
        typer.Option("--save-weights", metavar="FILE", help="With --tune: write the weights."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the chosen texts, one a line."),
    ] = None,
    format: ReportFormatOption = ReportFormat.TABLE,
    nbest_format: NbestFormatOption = NbestFormat.AUTO,
    size: Annotated[
        int | None,
        typer.Option("--size", metavar="N", min=1, help="For plain text: lines a segment."),
    ] = None,
    sparse: Sparse = None,
    lang: CandidatesLang = None,
    analyser: AnalyserName = None,
    no_cache: NoCache = False,
    jobs: Jobs = 1,
    seed: Seed = 1,
) -> None:
    """Choose a candidate of each list: by weights, or the best there is.

    With references it prints what each choice scores: the first candidates, any, those by
    weights, the best. Without, it prints the texts that the weights choose.
    """
    references = reference or []
    _check(references, weights, tune, folds, select, save_weights, source, metric)

    from meantime.cli import candidates as shared
    from meantime.cli.analysis import tell_note
    from meantime.cli.output import emit
    from meantime.cli.progress import Bar
    from meantime.formats.opening import display
    from meantime.tuning.candidates import arrange, refuse_bare
    from meantime.tuning.learning import Learner
    from meantime.tuning.rerank import select_by, select_first
    from meantime.tuning.statistics import Statistics, prepare_references
    from meantime.tuning.weights import read_weights, write_weights

    check_standard_input([*lists, *references, source, weights])
    shared.refuse_unwritable(output)
    shared.refuse_unwritable(save_weights)
    metrics = shared.create_metrics(metric or ["bleu"], lang)
    given = read_weights(weights) if weights is not None else None
    segments = shared.read_references(references, source, lang) or None
    found = shared.read_lists(
        lists,
        segments=segments,
        format=nbest_format.value,
        names=tuple(given) if given else None,
        size=size,
        sparse=sparse,
    )
    if given is not None or tune:
        refuse_bare(found, display(lists[0]))
    vector = arrange(given, found, display(weights or "")) if given is not None else None
    chosen: dict[str, Ints] = {"first": select_first(found)}
    if vector is not None:
        chosen["weights"] = select_by(found, vector)
    if not references or segments is None:
        pick = chosen[select.value if select else "weights"]
        emit("".join(f"{text}\n" for text in found.chosen(pick)), output)
        return

    opened = shared.open_analyser_for(metrics, analyser, no_cache=no_cache)
    measured: list[Statistics] = []
    with Bar("measuring") as bar:
        for one in metrics:
            enriched, prepared = prepare_references(segments, one, opened)
            statistics = Statistics(
                prepared, enriched, lang=lang or "en", analyser=opened, jobs=jobs
            )
            statistics.rows(found.texts, bar)
            measured.append(statistics)
    tell_note(opened)
    if tune:
        chosen |= _tune(
            found,
            measured[0],
            vector,
            Learner(learner.value, seed=seed),
            folds,
            lambda weighed: write_weights(save_weights, weighed) if save_weights else None,
        )
    rows = _rows(found, measured, chosen, seed)
    facts = {
        "segments": found.segments,
        "candidates": len(found),
        "texts": len(found.texts),
        "features": len(found.all_names),
    }
    if output is not None:
        name = select.value if select else _default(tune, vector is not None)
        # The oracle is found on the way to the table.
        picked = dict(rows)[name][0].chosen
        assert picked is not None
        emit("".join(f"{text}\n" for text in found.chosen(picked)), output)
    text = shared.report_text([s.metric for s in measured], rows, facts, format)
    if output is None or str(output) != "-":
        emit(text, None)


def _default(tuned: bool, weighed: bool) -> str:
    return "tuned" if tuned else "weights" if weighed else "oracle"


def _check(
    references: list[str],
    weights: str | None,
    tune: bool,
    folds: int | None,
    select: Choice | None,
    save_weights: Path | None,
    source: str | None,
    metric: list[str] | None,
) -> None:
    """Refuse what does not go together, before anything is read."""
    if not references:
        if tune or select in (Choice.ORACLE, Choice.TUNED):
            raise UsageError("tuning and the oracle need references; give them with -r FILE")
        if weights is None and select is not Choice.FIRST:
            raise UsageError(
                "nothing to choose by; give weights with -w FILE, or references with -r FILE"
            )
        if source is not None or metric is not None:
            raise UsageError("without references nothing is scored; give them with -r FILE")
    if select is Choice.WEIGHTS and weights is None:
        raise UsageError("--select weights needs weights; give them with -w FILE")
    if not tune and (folds is not None or save_weights is not None or select is Choice.TUNED):
        raise UsageError("--folds, --save-weights and --select tuned are for tuning; add --tune")


def _tune(
    candidates: Candidates,
    statistics: Statistics,
    initial: Floats | None,
    learner: Learner,
    folds: int | None,
    keep: Callable[[dict[str, float]], None],
) -> dict[str, Ints]:
    """Choices by weights learned here: on everything, and fold by fold."""
    import numpy

    from meantime.cli.progress import Bar
    from meantime.tuning.rerank import cross_validate, select_by

    names = candidates.all_names
    begin = numpy.full(len(names), 1 / len(names)) if initial is None else initial
    rows = statistics.rows(candidates.texts)
    with Bar("tuning") as bar:
        learned = learner.learn(candidates, rows, statistics.metric, begin, progress=bar)
    keep(dict(zip(names, map(float, learned.weights), strict=True)))
    chosen = {"tuned": select_by(candidates, learned.weights)}
    if folds is not None:
        if folds > candidates.segments:
            raise UsageError(
                f"--folds {folds} for {candidates.segments} segments; give at most as many"
            )
        chosen[f"tuned, {folds} folds"] = cross_validate(
            candidates,
            folds,
            learner.seed,
            lambda some: learner.learn(some, rows, statistics.metric, begin).weights,
        )
    return chosen


def _rows(
    candidates: Candidates, measured: list[Statistics], chosen: dict[str, Ints], seed: int
) -> list[tuple[str, list[Selection]]]:
    """First, random, the choices made, oracle: each by every metric."""
    import numpy

    from meantime.tuning.rerank import score_random, score_selection, select_oracle

    each = [statistics.rows(candidates.texts) for statistics in measured]
    best = select_oracle(candidates, each[0], measured[0].metric)
    named = {**chosen, "oracle": best}
    rows = [
        (
            name,
            [
                score_selection(name, candidates, rows, statistics.metric, pick)
                for rows, statistics in zip(each, measured, strict=True)
            ],
        )
        for name, pick in named.items()
    ]
    random = [
        score_random(candidates, rows, statistics.metric, numpy.random.default_rng(seed))
        for rows, statistics in zip(each, measured, strict=True)
    ]
    return [rows[0], ("random", random), *rows[1:]]
