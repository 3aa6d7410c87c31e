"""What several verbs ask for in the same words: declared once, and how often it may be given."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from meantime.errors import UsageError


class InputFormat(StrEnum):
    """What files of texts are."""

    AUTO = "auto"
    PLAIN = "plain"
    TSV = "tsv"
    CSV = "csv"
    JSONL = "jsonl"
    SGML = "sgml"
    WMTXML = "wmtxml"
    XLIFF = "xliff"
    TMX = "tmx"


References = Annotated[
    list[str] | None,
    typer.Option(
        "--reference", "-r", metavar="FILE", help="A reference; give -r again for several."
    ),
]
Source = Annotated[
    str | None, typer.Option("--source", "-s", metavar="FILE", help="The source texts.")
]
Whole = Annotated[
    str | None,
    typer.Option(
        "--input",
        "-i",
        metavar="FILE",
        help="A file that holds references and systems together.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "-m",
        metavar="NAME",
        help="A metric, with its options as 'bleu:max_order=2,smooth=add-k'; "
        "give -m again for several.  [default: bleu, chrf, ter]",
    ),
]
InputFormatOption = Annotated[
    InputFormat, typer.Option("--input-format", help="What the files are; by name and content.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to this file instead."),
]
Lang = Annotated[
    str | None,
    typer.Option(
        "--lang",
        metavar="CODE",
        help="Language of hypotheses and references, where a file does not state it.  "
        "[default: en]",
    ),
]
SourceLang = Annotated[
    str | None,
    typer.Option("--source-lang", metavar="CODE", help="Language of the source, likewise."),
]
AnalyserName = Annotated[
    str | None,
    typer.Option(
        "--analyser",
        metavar="NAME",
        help="For metrics that need analysis: a model's folder, or a registered analyser.  "
        "[default: the shipped one]",
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--analyser",
        metavar="NAME",
        help="A model's folder, or a registered analyser.  [default: the shipped one]",
    ),
]
HypothesisParses = Annotated[
    list[str] | None,
    typer.Option(
        "--hypothesis-parses",
        metavar="FILE",
        help="Parses of the hypotheses, a file for each system in order, instead of analysis.",
    ),
]
ReferenceParses = Annotated[
    list[str] | None,
    typer.Option(
        "--reference-parses",
        metavar="FILE",
        help="Parses of the references, a file for each in order, instead of analysis.",
    ),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Analyse anew, and keep no analysis on disk.")
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", min=0, help="Processes; 0 is one a core.")
]


def check_standard_input(paths: Sequence[str | None]) -> None:
    """Refuse to read standard input twice."""
    if [path for path in paths if path is not None].count("-") > 1:
        raise UsageError(
            "standard input (-) is given twice; it can be read once: put the other in a file"
        )


class Verb(TyperCommand):
    """A command that refuses an option given twice where it takes one value.

    Silently the last would count, and `-s one.txt -s two.txt` would read one file of two.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, read as ever once none is there too often."""
        seen: set[str] = set()
        for parameter in self.make_parser(ctx).parse_args(args=list(args))[2]:
            if parameter.param_type_name != "option" or parameter.multiple:
                continue
            if getattr(parameter, "is_flag", False):
                continue
            if parameter.name in seen:
                names = "/".join(parameter.opts)
                raise UsageError(
                    f"{names} is given twice and takes one value; leave one of them out"
                )
            seen.add(parameter.name)
        return super().parse_args(ctx, args)


def refuse_repeats(application: typer.Typer) -> None:
    """Let every command of an application, and of those inside it, be a `Verb`."""
    for command in application.registered_commands:
        command.cls = Verb
    for group in application.registered_groups:
        if group.typer_instance is not None:
            refuse_repeats(group.typer_instance)
