"""`meantime vectors`: context vectors counted from text, and what they say of words."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from meantime.cli.metrics import ListFormat
from meantime.errors import UsageError


class Measure(StrEnum):
    """How two vectors are compared."""

    COSINE = "cosine"
    MUTUAL_INFORMATION = "mutual-information"
    JENSEN_SHANNON = "jensen-shannon"
    DICE = "dice"
    DICE_PRINTED = "dice-printed"
    JACCARD = "jaccard"


vectors_app = typer.Typer(
    name="vectors",
    help="Context vectors: count them, join them, ask them which words are alike.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Texts = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", help="Texts, a sentence a line, plain or gzipped; - is standard input."
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="The file to write.")]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", min=0, help="Processes; 0 is one a core.")
]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model", "-m", metavar="MODEL", help="A file of context vectors.  [default: the shipped]"
    ),
]
Format = Annotated[ListFormat, typer.Option("--format", "-f", help="How to print.")]


@vectors_app.command("train")
def train(
    files: Texts,
    out: Out,
    window: Annotated[
        list[int] | None,
        typer.Option(
            "--window",
            "-w",
            metavar="N",
            help="Tokens in a window, its word included; odd. Give -w again for several at "
            "once.  [default: 5]",
        ),
    ] = None,
    min_count: Annotated[
        int,
        typer.Option("--min-count", metavar="N", min=1, help="Cut words that are rarer."),
    ] = 5,
    max_words: Annotated[
        int | None,
        typer.Option("--max-words", metavar="N", min=1, help="Keep the N most frequent words."),
    ] = None,
    max_contexts: Annotated[
        int | None,
        typer.Option(
            "--max-contexts", metavar="N", min=1, help="Take the N most frequent words as contexts."
        ),
    ] = None,
    jobs: Jobs = 0,
) -> None:
    """Count which words stand near which, and write a model."""
    from meantime.similarity import context_counting

    _once(files)
    with _stages() as progress:
        context_counting.train(
            files,
            out,
            windows=window or [5],
            min_count=min_count,
            max_words=max_words,
            max_contexts=max_contexts,
            jobs=jobs,
            progress=progress,
        )
    _tell(out)


@vectors_app.command("merge")
def merge(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Models to add up.")],
    out: Out,
    min_count: Annotated[
        int, typer.Option("--min-count", metavar="N", min=1, help="Cut words that are rarer.")
    ] = 1,
) -> None:
    """Add up what was counted in pieces.

    Count the pieces with --min-count 1, so that nothing is missing from the sum.
    """
    from meantime.similarity import context_pieces
    from meantime.similarity.context_file import open_model

    with _stages() as progress:
        context_pieces.merge(models, out, min_count=min_count, progress=progress)
    cut = [str(path) for path in models if open_model(path).facts.get("cut")]
    if cut:
        typer.echo(
            f"note: words were cut from {', '.join(cut)} before; their counts are missing from the "
            "sum where they are in another piece",
            err=True,
        )
    _tell(out)


@vectors_app.command("prune")
def prune(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model to make smaller.")],
    out: Out,
    max_words: Annotated[
        int | None,
        typer.Option("--max-words", metavar="N", min=1, help="Keep the N most frequent words."),
    ] = None,
    max_contexts: Annotated[
        int | None,
        typer.Option(
            "--max-contexts", metavar="N", min=1, help="Keep the N most frequent contexts."
        ),
    ] = None,
    min_entry: Annotated[
        int, typer.Option("--min-entry", metavar="N", min=1, help="Leave lower counts out.")
    ] = 1,
    min_entries: Annotated[
        int,
        typer.Option(
            "--min-entries", metavar="N", min=0, help="But keep the N highest counts of each word."
        ),
    ] = 0,
    max_entries: Annotated[
        int | None,
        typer.Option("--max-entries", metavar="N", min=1, help="And no more than N of them."),
    ] = None,
    window: Annotated[
        list[int] | None,
        typer.Option(
            "--window",
            "-w",
            metavar="N",
            help="Keep this window; again for several.  [default: all]",
        ),
    ] = None,
) -> None:
    """Make a model smaller."""
    from meantime.similarity import context_pieces

    with _stages() as progress:
        context_pieces.prune(
            model,
            out,
            max_words=max_words,
            max_contexts=max_contexts,
            min_entry=min_entry,
            min_entries=min_entries,
            max_entries=max_entries,
            windows=window,
            progress=progress,
        )
    _tell(out)


@vectors_app.command("idf")
def idf(
    files: Texts,
    out: Out,
    min_sentences: Annotated[
        int,
        typer.Option(
            "--min-sentences", metavar="N", min=1, help="Leave words of fewer sentences out."
        ),
    ] = 2,
    jobs: Jobs = 0,
) -> None:
    """Count in how many sentences each word stands, and write an idf table."""
    from meantime.similarity.idf import count_idf

    _once(files)
    with _stages() as progress:
        found = count_idf(files, jobs=jobs, progress=progress)
    found.save(out, min_sentences=min_sentences, made={"from": [Path(name).name for name in files]})
    kept = sum(count >= min_sentences for count in found.counts.values())
    typer.echo(f"{out}: {kept:,} words of {found.sentences:,} sentences", err=True)


@vectors_app.command("similar")
def similar(
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words.")],
    model: Model = None,
    measure: Annotated[
        Measure, typer.Option("--measure", help="How vectors are compared.")
    ] = Measure.JACCARD,
    window: Annotated[
        int | None,
        typer.Option(
            "--window", "-w", metavar="N", help="One of the model's.  [default: 5, or the widest]"
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("--count", "-n", metavar="N", min=1, help="How many to list.")
    ] = 10,
    to: Annotated[
        list[str] | None,
        typer.Option("--to", metavar="WORD", help="Compare with this word; again for several."),
    ] = None,
    format: Format = ListFormat.TABLE,
) -> None:
    """List the words most similar to a word, or its similarity to given ones."""
    from meantime.cli.output import emit
    from meantime.similarity.context import ContextSimilarity

    source = ContextSimilarity(measure=measure.value, model=model, window=window)
    found: list[tuple[str, list[tuple[str, float]]]] = []
    for word in words:
        if to:
            values = source.matrix([word], to)[0]
            found.append((word, list(zip(to, map(float, values), strict=True))))
        else:
            found.append((word, [(other, value) for other, value in source.similar(word, count)]))
    if format is ListFormat.JSON:
        listed = [
            {
                "word": word,
                "similar": [{"word": other, "similarity": value} for other, value in row],
            }
            for word, row in found
        ]
        content = {"similarity": source.name, "words": listed}
        emit(json.dumps(content, ensure_ascii=False, indent=1) + "\n", None)
        return
    lines = []
    for word, row in found:
        lines += [f"{word}:"] if len(found) > 1 else []
        width = max((len(other) for other, _ in row), default=0)
        lines += [f"  {other:<{width}}  {value:.4f}" for other, value in row]
    lines += ["", source.name]
    emit("\n".join(lines) + "\n", None)


@vectors_app.command("info")
def info(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="MODEL", help="A file of vectors.  [default: the shipped]"),
    ] = None,
    word: Annotated[
        str | None,
        typer.Option("--word", metavar="WORD", help="Show the highest counts of a word too."),
    ] = None,
    window: Annotated[
        int | None, typer.Option("--window", "-w", metavar="N", help="The window for --word.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare the file with its recorded hash.")
    ] = False,
    format: Format = ListFormat.TABLE,
) -> None:
    """Tell what a model was counted from, and how much it holds."""
    from meantime.cli.output import emit
    from meantime.similarity.context_file import VECTORS, open_model
    from meantime.similarity.context_file import check as check_file

    opened = open_model(model)
    if check:
        check_file(opened.path, VECTORS)
    facts: dict[str, Any] = {
        "path": str(opened.path),
        "identity": opened.identity,
        "checked": check,
        "bytes": opened.path.stat().st_size,
        "windows": list(opened.windows),
        "words": len(opened.words),
        "contexts": opened.contexts,
        "entries": dict(zip(map(str, opened.windows), opened.entries, strict=True)),
        **{key: opened.facts.get(key) for key in ("sentences", "tokens", "types", "min_count")},
        "cut": bool(opened.facts.get("cut")),
        "pruned": opened.facts.get("pruned"),
        "made": opened.facts.get("made"),
    }
    if word is not None:
        row = opened.row(word, window)
        facts["word"] = {
            "word": word.lower(),
            "count": opened.frequency(word),
            "window": opened.window(window),
            "contexts": dict(list(row.items())[:20]),
        }
    if format is ListFormat.JSON:
        emit(json.dumps(facts, ensure_ascii=False, indent=1) + "\n", None)
        return
    emit(_described(facts), None)


def _described(facts: dict[str, Any]) -> str:
    held = ", ".join(f"{window} ({count:,} counts)" for window, count in facts["entries"].items())
    lines = [
        ("model", facts["path"]),
        ("hash", f"{facts['identity'][:12]}{', as recorded' if facts['checked'] else ''}"),
        ("size", f"{facts['bytes'] / 1e6:.1f} MB"),
        ("windows", held),
        ("words", f"{facts['words']:,} of {facts['types'] or 0:,}"),
        ("contexts", f"{facts['contexts']:,}"),
        ("counted", f"{facts['tokens'] or 0:,} tokens in {facts['sentences'] or 0:,} lines"),
    ]
    if facts["pruned"]:
        pruned = facts["pruned"]
        kept = f"counts of {pruned['min_entry']} or more"
        if pruned["min_entries"]:
            kept += f", at least {pruned['min_entries']:,} a word"
        if pruned["max_entries"] is not None:
            kept += f", at most {pruned['max_entries']:,} a word"
        lines.append(("pruned", f"{kept}; from {pruned['from'][:12]}"))
    made = facts["made"] or {}
    if made.get("from"):
        lines.append(("from", ", ".join(made["from"])))
    if made.get("merged"):
        named = ", ".join(f"{one['name']} ({one['hash'][:12]})" for one in made["merged"])
        lines.append(("merged", named))
    text = "".join(f"{name:<9} {value}\n" for name, value in lines)
    if "word" in facts:
        word = facts["word"]
        text += f"\n{word['word']}: {word['count']:,} times; window {word['window']}\n"
        width = max((len(context) for context in word["contexts"]), default=0)
        for context, count in word["contexts"].items():
            text += f"  {context:<{width}}  {count:,}\n"
    return text


def _tell(path: Path) -> None:
    """Say what was written, on standard error as progress is."""
    from meantime.similarity.context_file import open_model

    model = open_model(path)
    typer.echo(
        f"{path}: {len(model.words):,} words, {model.contexts:,} contexts, "
        f"{path.stat().st_size / 1e6:.1f} MB, hash {model.identity[:12]}",
        err=True,
    )


def _stages() -> AbstractContextManager[Callable[[str, int, int], None]]:
    from meantime.cli.progress import stages

    return stages()


def _once(files: list[str]) -> None:
    if files.count("-") > 1:
        raise UsageError("standard input (-) is given twice; it can be read once")
