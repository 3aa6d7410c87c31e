"""`meantime weights`: weights of role classes, fitted or estimated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meantime.cli.arguments import ModelName, NoCache
from meantime.errors import InputError, UsageError
from meantime.learned.objectives import Objective

if TYPE_CHECKING:
    from meantime.learned.role_weights import Fit
    from meantime.types import Pair

weights_app = typer.Typer(
    name="weights", help="Weights of role classes: fit, estimate, show.", no_args_is_help=True
)

_OUT = typer.Option("--out", "-o", metavar="FILE", help="Write the weights to this file.")


@weights_app.command("fit")
def fit(
    data: Annotated[
        list[str],
        typer.Option("--data", metavar="FILE", help="Translations with human scores."),
    ],
    objective: Annotated[
        Objective, typer.Option("--objective", help="What the scores should agree by.")
    ] = Objective.KENDALL,
    metric: Annotated[
        str,
        typer.Option("--metric", "-m", metavar="NAME", help="A metric of the MEANT family."),
    ] = "meant-2014",
    total: Annotated[
        int, typer.Option("--total", min=1, max=12, help="What the whole numbers sum to.")
    ] = 12,
    finer: Annotated[
        bool, typer.Option("--finer/--whole", help="Search on in fractions, or keep whole numbers.")
    ] = True,
    out: Annotated[Path | None, _OUT] = None,
    analyser: ModelName = None,
    no_cache: NoCache = False,
) -> None:
    """Fit weights to human scores: every vector of whole numbers, then a finer search.

    Agreement is measured within each language pair of each file, and averaged. What to expect on
    other data is the figure "held out": each language pair with weights fitted on the others.
    """
    from meantime.cli.analysis import open_cached, tell_note
    from meantime.cli.output import emit
    from meantime.cli.progress import Bar
    from meantime.learned import role_weights
    from meantime.metaeval.reading import read_human_scores
    from meantime.metrics.frames import FrameMetric
    from meantime.registry import create
    from meantime.scoring import analyse_pairs

    made = create(metric)
    if not isinstance(made, FrameMetric):
        raise UsageError(f"{made.name} has no role weights; name a metric of the MEANT family")
    pairs: list[Pair] = []
    groups: list[str] = []
    scores: list[float] = []
    for path in data:
        judged = read_human_scores(path).without_human_translations()
        name = Path(path).name.partition(".")[0]
        for one, pair in zip(judged.pairs, judged.as_pairs(), strict=True):
            if one.score is not None:
                pairs.append(pair)
                groups.append(f"{name}/{one.lp}")
                scores.append(one.score)
    if not pairs:
        raise InputError(f"{', '.join(data)}: no translation has a human score")
    with Bar("analysing") as bar:
        opened = open_cached(analyser, cached=not no_cache, progress=bar)
        pairs, origin = analyse_pairs(pairs, made.needs, opened)
    tell_note(opened)
    prepared = made.prepare([pair.segment for pair in pairs])
    with Bar("trying weights") as bar:
        task, names = role_weights.make_task(
            prepared.weighing(pairs), groups, scores, prepared.alpha
        )
        found = role_weights.fit(
            task,
            names,
            objective=objective,
            total=total,
            finer=finer,
            provenance={
                "data": [Path(path).name for path in data],
                "metric": str(prepared.signature()),
                "analysis": origin,
            },
            progress=bar,
        )
    emit(_report(found, objective), None)
    if out is not None:
        from meantime.alignment.weights import write_weights

        write_weights(out, found.weights)
        typer.echo(f"wrote {out}; use it with -m '{made.name}:weights={out}'", err=True)


@weights_app.command("unsupervised")
def unsupervised(
    references: Annotated[
        list[str], typer.Argument(metavar="REF", help="Files of references, one sentence a line.")
    ],
    out: Annotated[Path | None, _OUT] = None,
    analyser: ModelName = None,
    no_cache: NoCache = False,
) -> None:
    """Estimate UMEANT's weights: how frequent each role class is in the references."""
    from dataclasses import replace

    from meantime.alignment import weights
    from meantime.cli.analysis import open_cached, tell_note
    from meantime.cli.output import emit
    from meantime.cli.progress import Bar
    from meantime.formats import read

    sentences = [
        segment.references[0]
        for path in references
        for segment in read([], references=[path]).segments
    ]
    with Bar("analysing") as bar:
        opened = open_cached(analyser, cached=not no_cache, progress=bar)
        analysed = opened.analyse(sentences)
    tell_note(opened)
    found = weights.estimate_unsupervised(analysed)
    found = replace(
        found, provenance={**found.provenance, "files": [Path(path).name for path in references]}
    )
    if out is None:
        emit(weights.as_json(found), None)
        return
    weights.write_weights(out, found)
    typer.echo(f"wrote {out}; use it with -m 'meant-2014:weights={out}'", err=True)


@weights_app.command("show")
def show(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Shipped weights, or a file.")
    ] = None,
) -> None:
    """List the weights there are; or print one set with where it came from."""
    from meantime.alignment import weights
    from meantime.cli.output import emit

    if name is None:
        emit("".join(f"{one}\n" for one in weights.names()), None)
        return
    if name == weights.UNSUPERVISED:
        raise UsageError("these come from references; see 'meantime weights unsupervised REF'")
    emit(weights.as_json(weights.load_weights(name)), None)


def _report(found: Fit, objective: Objective) -> str:
    from meantime.alignment.roles import CLASSES

    width = max(len(name) for name in found.by_group)
    lines = [f"{'group':<{width}}  fitted  held out  equal weights"]
    for name, (fitted, held, equal) in found.by_group.items():
        lines.append(f"{name:<{width}}  {fitted:6.4f}  {_figure(held):>8}  {equal:13.4f}")
    lines.append(
        f"{'mean':<{width}}  {found.objective:6.4f}  {_figure(found.held_out):>8}  "
        f"{found.uniform:13.4f}"
    )
    whole = " ".join(str(value) for value in found.integer)
    kept = "kept" if found.finer else "not kept: no better, or no better on other groups"
    lines += [
        "",
        f"objective: mean {objective.value} within groups",
        f"best whole numbers: {whole}  (fitted {found.integer_objective:.4f}, held out "
        f"{_figure(found.integer_held_out)})",
        f"finer search: {kept}",
        "",
    ]
    lines += [
        f"{name:<10} {value:g}" for name, value in zip(CLASSES, found.weights.values, strict=True)
    ]
    return "\n".join(lines) + "\n"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
