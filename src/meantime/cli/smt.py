"""`meantime smt`: a phrase-based translation system, to be tuned by `meantime tune`."""

from __future__ import annotations

import json
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from meantime.cli.metrics import ListFormat
from meantime.errors import InputError, UsageError

CANDIDATES = 100


class Case(StrEnum):
    """What becomes of capital letters."""

    TRUE = "true"
    LOWER = "lower"
    KEEP = "keep"


smt_app = typer.Typer(
    name="smt",
    help="Phrase-based translation: train a system, translate with it, prepare Chinese for it.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SourceText = Annotated[
    str, typer.Option("--src", metavar="FILE", help="Texts to learn from, a sentence a line.")
]
TargetText = Annotated[
    str, typer.Option("--tgt", metavar="FILE", help="Their translations, line by line.")
]
SourceLanguage = Annotated[
    str, typer.Option("--src-lang", metavar="CODE", help="Language of the source.")
]
TargetLanguage = Annotated[
    str, typer.Option("--tgt-lang", metavar="CODE", help="Language of the target.")
]
SegmenterOption = Annotated[
    str,
    typer.Option(
        "--segmenter",
        metavar="NAME",
        help="How Chinese is cut: jieba, characters, dictionary or statistical, a file of words "
        "behind a colon.",
    ),
]
Folder = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a trained system.")]
Text = Annotated[
    str, typer.Argument(metavar="FILE", help="A text, a sentence a line; - is standard input.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write here.  [default: print]"),
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")]


@smt_app.command("train")
def train(
    src: SourceText,
    tgt: TargetText,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="The folder to make.")],
    src_lang: SourceLanguage = "zh",
    tgt_lang: TargetLanguage = "en",
    order: Annotated[
        int, typer.Option("--order", metavar="N", min=1, max=6, help="Of the language model.")
    ] = 5,
    longest_phrase: Annotated[
        int, typer.Option("--longest-phrase", metavar="N", min=1, max=12, help="Words in a phrase.")
    ] = 7,
    longest_sentence: Annotated[
        int,
        typer.Option(
            "--longest-sentence", metavar="N", min=1, help="Leave out pairs with more words."
        ),
    ] = 80,
    case: Annotated[
        Case,
        typer.Option(
            "--case", help="Give the first word its usual case, take all in lower case, or neither."
        ),
    ] = Case.TRUE,
    segmenter: SegmenterOption = "jieba",
    numbers: Annotated[
        bool,
        typer.Option("--numbers", help="Render Chinese numbers, dates and percentages by rule."),
    ] = False,
    names: Annotated[
        str | None,
        typer.Option("--names", metavar="FILE", help="Translate names by this dictionary."),
    ] = None,
) -> None:
    """Train a system: links between words, phrase table, language model.

    A training that was interrupted goes on behind the last stage that was done, if it is asked
    for with the same texts and settings.
    """
    from meantime.cli.candidates import note
    from meantime.cli.progress import stages
    from meantime.smt.names import read_names
    from meantime.smt.preparation import Preparation
    from meantime.smt.training import Settings
    from meantime.smt.training import train as run

    preparation = Preparation(
        src_lang,
        tgt_lang,
        case=case.value,
        segmenter=segmenter,
        numbers=numbers,
        names=read_names(names) if names is not None else None,
    )
    settings = Settings(
        order=order, longest_phrase=longest_phrase, longest_sentence=longest_sentence
    )
    with stages() as progress:
        trained = run(src, tgt, out, preparation, settings, progress=progress)
    for text in trained.notes:
        note(text)
    facts = trained.facts
    typer.echo(
        f"{out}: {facts['source']} to {facts['target']}, {facts['pairs']:,} pairs, "
        f"{facts['phrase_pairs']:,} phrase pairs, {facts['ngrams']:,} n-grams",
        err=True,
    )


@smt_app.command("translate")
def translate(
    model: Folder,
    file: Text,
    output: Output = None,
    weights: Annotated[
        str | None,
        typer.Option("--weights", "-w", metavar="FILE", help="Weights.  [default: the model's]"),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(
            "--nbest", "-n", metavar="N", min=1, help="Write a list of up to N candidates each."
        ),
    ] = None,
    reordering: Annotated[
        int,
        typer.Option(
            "--reordering",
            metavar="N",
            min=0,
            max=10,
            help="Words a phrase may be taken ahead of its turn.",
        ),
    ] = 0,
    stack: Annotated[
        int,
        typer.Option("--stack", metavar="N", min=1, help="Hypotheses kept in each stack."),
    ] = 10,
) -> None:
    """Translate a text, or write n-best lists with features as Moses does."""
    from meantime.cli.candidates import note, refuse_unwritable
    from meantime.cli.output import emit
    from meantime.cli.progress import Bar
    from meantime.formats.opening import decode, display, lines, load
    from meantime.smt.decoding import Search, Translator, foreign, render_list
    from meantime.smt.model import open_model
    from meantime.tuning.weights import read_weights

    refuse_unwritable(output)
    opened = open_model(model)
    given = read_weights(weights) if weights is not None else None
    texts = lines(decode(display(file), load(file)))
    translator = Translator(opened, given, Search(stack=stack, reordering=reordering))
    warning = foreign(opened, texts)
    if warning:
        note(warning)
    if reordering and translator.weights["Jump"] < 0:
        note(
            f"the weight of Jump is {translator.weights['Jump']:.3g}, which rewards words taken "
            f"out of order; tune with the same --reordering ({reordering}), or leave it out"
        )
    written = []
    with Bar("translating") as bar:
        found = translator.translate(texts, candidates=candidates or 1, progress=bar)
        try:
            for number, several in enumerate(found):
                written.append(
                    render_list(number, several)
                    if candidates is not None
                    else several[0].text.replace("\n", " ") + "\n"
                )
        except InputError as error:
            raise InputError(f"{display(file)}: {error}") from error
    emit("".join(written), output)


@smt_app.command("info")
def info(
    model: Folder,
    check: Annotated[
        bool, typer.Option("--check", help="Compare every file with its recorded hash.")
    ] = False,
    format: Annotated[ListFormat, typer.Option("--format", "-f", help="How to print.")] = (
        ListFormat.TABLE
    ),
) -> None:
    """Tell what a system was trained from, and its weights."""
    from meantime.cli.output import emit
    from meantime.smt.model import open_model

    opened = open_model(model, check=check)
    facts: dict[str, Any] = {k: v for k, v in opened.facts.items() if k != "files"}
    facts |= {"checked": check, "weights": opened.weights}
    if format is ListFormat.JSON:
        emit(json.dumps(facts, ensure_ascii=False, indent=1) + "\n", None)
        return
    left_out = facts["left_out"]
    rows = [
        ("languages", f"{facts['source']} to {facts['target']}"),
        (
            "pairs",
            f"{facts['pairs']:,}; left out: {left_out['empty']:,} empty, {left_out['long']:,} long",
        ),
        ("words", f"{facts['words']['source']:,} and {facts['words']['target']:,}"),
        ("table", f"{facts['phrase_pairs']:,} phrase pairs"),
        ("n-grams", f"{facts['ngrams']:,}, up to {facts['settings']['order']} words"),
        ("case", facts["case"]),
        *([("segmenter", facts["segmenter"])] if facts["segmenter"] else []),
        *([("numbers", "rendered by rule")] if facts["numbers"] else []),
        *([("names", f"{facts['names']:,} in the dictionary")] if facts["names"] else []),
        ("made by", f"meantime {facts['meantime']}, format {facts['format']}"),
        *([("files", "as recorded")] if check else []),
        ("weights", ", ".join(f"{name} {value:.4g}" for name, value in opened.weights.items())),
    ]
    emit("".join(f"{name:<10} {value}\n" for name, value in rows), None)


@smt_app.command("segment")
def segment(file: Text, segmenter: SegmenterOption = "jieba", output: Output = None) -> None:
    """Cut Chinese text into words, separated by spaces."""
    from meantime.cli.candidates import refuse_unwritable
    from meantime.cli.output import emit
    from meantime.formats.opening import decode, display, lines, load
    from meantime.smt.segmenters import open_segmenter
    from meantime.smt.words import split_words

    refuse_unwritable(output)
    cut = open_segmenter(segmenter)
    texts = lines(decode(display(file), load(file)))
    emit("".join(" ".join(split_words(text, "zh", cut)) + "\n" for text in texts), output)


@smt_app.command("segmenter")
def segmenter_(
    file: Text,
    out: Out,
    words: Annotated[
        int,
        typer.Option(
            "--words", metavar="N", min=1, help="Words to keep, besides single characters."
        ),
    ] = 8000,
    longest: Annotated[
        int, typer.Option("--longest", metavar="N", min=2, max=8, help="Characters in a word.")
    ] = 4,
    least: Annotated[
        int, typer.Option("--least", metavar="N", min=2, help="Occurrences a word must have.")
    ] = 3,
    segmented: Annotated[
        bool, typer.Option("--segmented", help="The text has spaces between its words: count them.")
    ] = False,
) -> None:
    """Train a statistical segmenter from Chinese text; use it as statistical:FILE."""
    from meantime.cli.candidates import refuse_unwritable
    from meantime.cli.progress import Bar
    from meantime.formats.opening import decode, display, lines, load
    from meantime.smt.segmenters import count_segmented, train_statistical

    refuse_unwritable(out)
    texts = lines(decode(display(file), load(file)))
    if segmented:
        model = count_segmented(texts)
    else:
        with Bar("learning words") as bar:
            model = train_statistical(
                texts, words=words, longest=longest, least=least, progress=bar
            )
    model.save(out)
    several = sum(len(word) > 1 for word in model.words)
    typer.echo(f"{out}: {several:,} words, {len(model.words) - several:,} characters", err=True)


@smt_app.command("numbers")
def numbers(file: Text, output: Output = None) -> None:
    """Show the Chinese numbers, dates and percentages of a text, and how they are rendered."""
    from meantime.cli.candidates import refuse_unwritable
    from meantime.cli.output import emit
    from meantime.formats.opening import decode, display, lines, load
    from meantime.smt.numbers import find

    refuse_unwritable(output)
    texts = lines(decode(display(file), load(file)))
    rows = (
        f"{number}\t{text[one.start : one.end]}\t{one.english}\n"
        for number, text in enumerate(texts, start=1)
        for one in find(text)
    )
    emit("".join(rows), output)


@smt_app.command("names")
def names(
    out: Out,
    links: Annotated[
        str | None,
        typer.Option(
            "--links",
            metavar="FILE",
            help="Interlanguage links: a title, a tab and the title it links to, a line each.",
        ),
    ] = None,
    src: Annotated[
        str | None,
        typer.Option("--src", metavar="FILE", help="Or texts to align, with --tgt."),
    ] = None,
    tgt: Annotated[
        str | None, typer.Option("--tgt", metavar="FILE", help="Their translations, line by line.")
    ] = None,
    segmenter: SegmenterOption = "jieba",
    least: Annotated[
        int,
        typer.Option(
            "--least", metavar="N", min=1, help="Times a name of the text must be seen translated."
        ),
    ] = 2,
) -> None:
    """Make a dictionary of Chinese names, from interlanguage links or from parallel text."""
    from meantime.cli.candidates import refuse_unwritable
    from meantime.cli.progress import stages
    from meantime.formats.opening import decode, display, lines, load
    from meantime.smt.names import from_links
    from meantime.smt.training import names_of_text

    refuse_unwritable(out)
    if (links is None) == (src is None) or (src is None) != (tgt is None):
        raise UsageError(
            "give interlanguage links with --links, or parallel text with --src and --tgt"
        )
    if links is not None:
        found = from_links(lines(decode(display(links), load(links))), place=display(links))
    else:
        assert src is not None
        assert tgt is not None
        with stages() as progress:
            found = names_of_text(src, tgt, segmenter=segmenter, least=least, progress=progress)
    found.save(out)
    typer.echo(f"{out}: {len(found):,} names", err=True)


def decoder_command(model: Path, source: str, candidates: int, reordering: int) -> str:
    """The command with which `meantime tune` drives a trained system."""
    words = [
        sys.executable,
        "-m",
        "meantime",
        "smt",
        "translate",
        str(model.resolve()),
        str(Path(source).resolve()),
        f"--nbest={candidates}",
        f"--reordering={reordering}",
    ]
    # Braces would be taken for the words that are replaced.
    quoted = " ".join(shlex.quote(word) for word in words)
    return f"{quoted} --weights {{weights}} --output {{nbest}}"
