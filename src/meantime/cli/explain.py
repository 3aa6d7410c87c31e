"""`meantime explain`: why a metric gave the score it gave."""

from __future__ import annotations

import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meantime.errors import UsageError

if TYPE_CHECKING:
    from meantime.protocols import Metric
    from meantime.types import Corpus, Pair

WITHOUT_TERMINAL = 110
"""Columns drawn for where there is no terminal to fit."""


class ExplanationFormat(StrEnum):
    """How explanations are printed."""

    TEXT = "text"
    JSON = "json"


def explain(
    hypotheses: Annotated[
        str, typer.Argument(metavar="HYP", help="A file of hypotheses; - is standard input.")
    ],
    reference: Annotated[
        list[str],
        typer.Option(
            "--reference", "-r", metavar="FILE", help="A reference; give -r again for several."
        ),
    ],
    metric: Annotated[
        str,
        typer.Option(
            "--metric", "-m", metavar="NAME", help="A metric that can explain, with its options."
        ),
    ] = "meant",
    segment: Annotated[
        list[str] | None,
        typer.Option(
            "--segment", metavar="ID", help="Only this segment; give it again for several."
        ),
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option("--worst", metavar="N", min=1, help="Only the N segments of worst score."),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", "-s", metavar="FILE", help="The source texts.")
    ] = None,
    format: Annotated[
        ExplanationFormat, typer.Option("--format", "-f", help="What to print.")
    ] = ExplanationFormat.TEXT,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to this file instead."),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            help="Draw the one segment that is shown, for slides and papers.",
        ),
    ] = None,
    svg_width: Annotated[
        int, typer.Option("--svg-width", metavar="N", min=320, help="Its width in pixels.")
    ] = 720,
    analyser: Annotated[
        str | None,
        typer.Option(
            "--analyser",
            metavar="NAME",
            help="A model's folder, or a registered analyser.  [default: the shipped one]",
        ),
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Analyse anew, and keep no analysis on disk.")
    ] = False,
) -> None:
    """Show what made the score of each segment: frames, roles, words, and what is missing.

    Segments are named by number from 1, or by their ids where the file has such.
    """
    from meantime.alignment.weights import UNSUPERVISED
    from meantime.cli import explaining
    from meantime.cli.analysis import open_cached, tell_note
    from meantime.cli.drawing import paint
    from meantime.cli.output import colours, emit
    from meantime.cli.progress import Bar
    from meantime.formats import read
    from meantime.protocols import Explainer
    from meantime.registry import create
    from meantime.scoring import ANALYSED, analyse, explaining_layers, sign
    from meantime.types import Corpus

    made = create(metric)
    if not isinstance(made, Explainer):
        raise UsageError(
            f"{made.name} cannot explain its scores; use meant, another of the MEANT family, "
            "meantime, ter, wer or meteor"
        )
    if segment and worst:
        raise UsageError("--segment and --worst both choose segments; give one of them")
    corpus = read([hypotheses], references=reference, source=source)
    whole, corpus = corpus, _choose(corpus, segment)
    drawn_count = min(worst or len(corpus.segments), len(corpus.segments))
    if svg is not None and drawn_count != 1:
        raise UsageError(
            f"--svg draws one segment, here are {drawn_count}; choose with --segment ID or "
            "--worst 1"
        )
    prepared: Metric = made
    with Bar("analysing") as bar:
        needs = explaining_layers(made)
        wanted = needs & set(ANALYSED)
        opened = open_cached(analyser, cached=not no_cache, progress=bar) if wanted else None
        corpus, origin = analyse(corpus, needs, opened)
        bound = corpus.segments
        if segment and getattr(made, "weights", None) == UNSUPERVISED:
            # Such weights are those of the whole set, whichever of its segments are shown.
            bound = analyse(Corpus(whole.segments), made.needs, opened)[0].segments
        prepared = made.prepare(bound)
    tell_note(opened)
    pairs = corpus.pairs(next(iter(corpus.outputs)))
    if worst:
        pairs = _worst(prepared, pairs, worst)
    assert isinstance(prepared, Explainer)
    found = [(pair.segment.id, prepared.explain(pair)) for pair in pairs]
    if svg is not None:
        from meantime.formats.opening import encode, save
        from meantime.report.figures import as_figure
        from meantime.report.svg import draw_svg

        (name, one), *_ = found
        figure = as_figure(
            one,
            decimals=getattr(prepared, "decimals", 4),
            higher_is_better=prepared.higher_is_better,
        )
        save(svg, encode(draw_svg(figure, segment=name, width=svg_width)))
    if format is ExplanationFormat.JSON:
        listed = [explaining.as_data(one, name) for name, one in found]
        emit(explaining.as_json(listed, str(sign(prepared, origin))), output)
        return
    terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else WITHOUT_TERMINAL
    colour = colours(output)
    drawn = [
        paint(
            explaining.draw(
                one,
                segment=name,
                width=width,
                higher_is_better=prepared.higher_is_better,
                decimals=getattr(prepared, "decimals", 4),
            ),
            colour=colour,
        )
        for name, one in found
    ]
    emit("\n".join(drawn) + f"\n{sign(prepared, origin)}\n", output)


def _choose(corpus: Corpus, wanted: list[str] | None) -> Corpus:
    """The corpus with the segments asked for."""
    from dataclasses import replace

    if not wanted:
        return corpus
    places = {segment.id: place for place, segment in enumerate(corpus.segments)}
    for name in wanted:
        if name not in places:
            near = ", ".join(list(places)[:3])
            raise UsageError(
                f"no segment {name!r} among {len(places)}; they are named {near}, …"
                if len(places) > 3
                else f"no segment {name!r}; there are {near}"
            )
    chosen = [places[name] for name in wanted]
    return replace(
        corpus,
        segments=tuple(corpus.segments[place] for place in chosen),
        outputs={
            system: tuple(output[place] for place in chosen)
            for system, output in corpus.outputs.items()
        },
    )


def _worst(metric: Metric, pairs: list[Pair], count: int) -> list[Pair]:
    """The pairs of worst score, worst first."""
    from meantime.types import Level

    rows = metric.measure(pairs)
    sign = 1 if metric.higher_is_better else -1
    scores = [sign * metric.score(row, Level.SEGMENT).value for row in rows]
    order = sorted(range(len(pairs)), key=lambda place: scores[place])
    return [pairs[place] for place in order[:count]]
