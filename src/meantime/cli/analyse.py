"""`meantime analyse`: text in, frames, trees or parses out."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from meantime.cli.arguments import ModelName, NoCache, Output
from meantime.errors import InputError

if TYPE_CHECKING:
    from meantime.protocols import Analyser
    from meantime.types import Sentence

FIRST_BATCH = 64
"""Sentences analysed before the first ones are printed."""
BATCH = 512
WITHOUT_TERMINAL = 100
"""Columns drawn for where there is no terminal to fit."""


class AnalysisFormat(StrEnum):
    """How an analysis is printed."""

    FRAMES = "frames"
    TREE = "tree"
    CONLL = "conll"
    JSONL = "jsonl"


def analyse(
    file: Annotated[
        str,
        typer.Argument(
            metavar="[FILE]",
            help="Text, one sentence a line; - is standard input.",
            show_default=False,
        ),
    ] = "-",
    format: Annotated[
        AnalysisFormat, typer.Option("--format", "-f", help="What to print.")
    ] = AnalysisFormat.FRAMES,
    lang: Annotated[str, typer.Option("--lang", metavar="CODE", help="Language.")] = "en",
    analyser: ModelName = None,
    no_cache: NoCache = False,
    threads: Annotated[
        int, typer.Option("--threads", metavar="N", min=0, help="Threads; 0 is one a core.")
    ] = 0,
    output: Output = None,
) -> None:
    """Show who did what to whom in each sentence of a text.

    An empty line is a sentence without words and keeps its place.
    """
    from meantime.cli.analysis import open_cached, tell_note
    from meantime.cli.output import colours
    from meantime.cli.progress import Bar
    from meantime.formats.opening import decode, display, encode, lines, load, save
    from meantime.types import Sentence, primary

    # Before reading anything: a typing error should not cost what was typed in.
    opened = open_cached(analyser, cached=not no_cache, threads=threads)
    sentences = [Sentence(text, lang) for text in lines(decode(display(file), load(file)))]
    if primary(lang) not in opened.languages:
        made_for = ", ".join(sorted(opened.languages))
        typer.echo(
            f"note: the analyser {opened.name} is made for {made_for}; do not expect much of it "
            f"for {lang}",
            err=True,
        )
    if str(output) == "-":
        output = None
    # Taken before there is a bar: a bar on the terminal puts itself between.
    stream = sys.stdout
    render = _renderer(format, colour=colours(output))
    # On a terminal what is printed shows the progress.
    bar = nullcontext(_no_bar) if output is None and stream.isatty() else Bar("analysing")
    kept = []
    with bar as advance:
        for done, analysed in _batches(sentences, opened):
            text = render(analysed, done - len(analysed))
            if output is not None:
                kept.append(text)
            elif not _write(text, stream):
                return
            advance(done, len(sentences))
    tell_note(opened)
    if output is not None:
        save(output, encode("".join(kept)))


def _no_bar(done: int, total: int) -> None:
    """Where no bar is wanted."""


def _batches(
    sentences: Sequence[Sentence], analyser: Analyser
) -> Iterator[tuple[int, list[Sentence]]]:
    """Analysed sentences in order, and how many are done with them."""
    done = 0
    while done < len(sentences):
        batch = sentences[done : done + (BATCH if done else FIRST_BATCH)]
        analysed = analyser.analyse(batch)
        if len(analysed) != len(batch):
            raise InputError(
                f"the analyser {analyser.name} gave {len(analysed)} sentences for {len(batch)}; "
                "use another with --analyser"
            )
        done += len(batch)
        yield done, analysed


def _renderer(format: AnalysisFormat, *, colour: bool) -> Callable[[Sequence[Sentence], int], str]:
    """What turns sentences, and how many came before them, into text."""
    from meantime.cli import drawing
    from meantime.formats.parses import render_parses

    if format in (AnalysisFormat.CONLL, AnalysisFormat.JSONL):
        written = "conll2012" if format is AnalysisFormat.CONLL else "jsonl"
        return lambda sentences, first: render_parses(sentences, format=written, first=first)
    draw = drawing.draw_frames if format is AnalysisFormat.FRAMES else drawing.draw_tree
    width = shutil.get_terminal_size((WITHOUT_TERMINAL, 24)).columns

    def render(sentences: Sequence[Sentence], first: int) -> str:
        drawn = [
            drawing.paint(draw(sentence, number=number, width=width), colour=colour)
            for number, sentence in enumerate(sentences, start=first + 1)
        ]
        # An empty line between sentences, also between those of two batches.
        return ("\n" if first else "") + "\n".join(drawn)

    return render


def _write(text: str, stream: TextIO) -> bool:
    """Print at once; false where the reader (head, say) has gone."""
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # Nothing more can be written, not even what the interpreter flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return False
    return True
