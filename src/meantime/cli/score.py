"""`meantime score`: files in, scores out."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from meantime.cli.arguments import (
    AnalyserName,
    HypothesisParses,
    InputFormat,
    InputFormatOption,
    Jobs,
    Lang,
    Metrics,
    NoCache,
    Output,
    ReferenceParses,
    References,
    Source,
    SourceLang,
    Whole,
    check_standard_input,
)
from meantime.errors import InputError, UsageError

if TYPE_CHECKING:
    from meantime.types import Corpus


class OutputFormat(StrEnum):
    """How scores are printed."""

    TABLE = "table"
    JSON = "json"
    TSV = "tsv"
    LATEX = "latex"


def score(
    hypotheses: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="HYP", help="Files of hypotheses, one a system; - is standard input."
        ),
    ] = None,
    reference: References = None,
    source: Source = None,
    input: Whole = None,
    metric: Metrics = None,
    segments: Annotated[
        bool, typer.Option("--segments", help="Give the score of each segment too.")
    ] = False,
    format: Annotated[
        OutputFormat, typer.Option("--format", "-f", help="How to print.")
    ] = OutputFormat.TABLE,
    output: Output = None,
    input_format: InputFormatOption = InputFormat.AUTO,
    lang: Lang = None,
    source_lang: SourceLang = None,
    analyser: AnalyserName = None,
    hypothesis_parses: HypothesisParses = None,
    reference_parses: ReferenceParses = None,
    judgements: Annotated[
        str | None,
        typer.Option(
            "--judgements",
            metavar="FILE",
            help="People's frames and judgements of the hypotheses, for hmeant.",
        ),
    ] = None,
    no_cache: NoCache = False,
    jobs: Jobs = 1,
    ci: Annotated[bool, typer.Option("--ci", help="Add a 95 % bootstrap interval.")] = False,
    resamples: Annotated[
        int | None,
        typer.Option(
            "--resamples", metavar="N", min=100, help="Bootstrap samples for --ci.  [default: 1000]"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="N", min=0, help="Seed of the samples for --ci.  [default: 12345]"
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the bare scores, one a line.")
    ] = False,
) -> None:
    """Score system outputs against references.

    Systems are named after their files. Without -m: bleu, chrf and ter.
    """
    if not hypotheses and input is None:
        raise UsageError(
            "nothing to score; give hypothesis files with -r REFERENCE, or --input FILE"
        )
    if hypotheses and not reference and input is None:
        raise UsageError("no reference; give one with -r FILE")

    if quiet and (segments or ci or format is not OutputFormat.TABLE):
        raise UsageError(
            "--quiet prints bare scores only; leave it out, or leave out --segments, --ci and "
            "--format"
        )
    if not ci and (resamples is not None or seed is not None):
        raise UsageError("--resamples and --seed are for the interval; add --ci")
    if segments and format is OutputFormat.LATEX:
        raise UsageError("--segments goes with the formats table, json and tsv, not latex")

    from meantime.cli import output as writing
    from meantime.cli.analysis import open_cached, tell_note
    from meantime.cli.progress import Bar
    from meantime.formats import read
    from meantime.registry import DEFAULTS, create
    from meantime.scoring import ANALYSED
    from meantime.scoring import score as score_corpus
    from meantime.types import Layer

    chosen = list(dict.fromkeys(metric or DEFAULTS))
    for specification in chosen:
        # Before reading anything: a typing error should not cost a minute.
        create(specification, lang=lang)
    analysed = any(create(one).needs & set(ANALYSED) for one in chosen)
    if not analysed and (analyser or hypothesis_parses or reference_parses):
        raise UsageError(
            "no metric here needs analysis; leave out --analyser and the parses, or add a metric "
            "that does ('meantime metrics NAME' says what it needs)"
        )
    judged = any(Layer.JUDGEMENTS in create(one).needs for one in chosen)
    if judged and judgements is None:
        raise UsageError("hmeant is made of people's judgements; give them with --judgements FILE")
    if judgements is not None and not judged:
        raise UsageError(
            "no metric here is made of judgements; leave out --judgements, or add -m hmeant"
        )
    files = [*(hypotheses or ()), *(reference or ()), source, input, judgements]
    files += [*(hypothesis_parses or ()), *(reference_parses or ())]
    check_standard_input(files)
    corpus = read(
        hypotheses or (),
        references=reference or (),
        source=source,
        input=input,
        format=input_format.value,
        lang=lang or "en",
        source_lang=source_lang,
    )
    if input is not None:
        check_whole(corpus, input)
    corpus = attach(corpus, hypothesis_parses or [], reference_parses or [])
    if judgements is not None:
        from meantime.formats.judgements import attach_judgements, read_judgements

        name = "standard input" if judgements == "-" else judgements
        corpus = attach_judgements(corpus, read_judgements(judgements), name)
    with Bar("scoring") as bar:
        opened = open_cached(analyser, cached=not no_cache, progress=bar) if analysed else None
        results = score_corpus(
            corpus,
            chosen,
            lang=lang,
            segments=segments,
            resamples=(resamples or 1000) if ci else 0,
            seed=12345 if seed is None else seed,
            jobs=jobs,
            progress=bar,
            analyser=opened,
        )
    tell_note(opened)
    ids = [segment.id for segment in corpus.segments]
    if quiet:
        text = "".join(f"{result.score.value!r}\n" for result in results)
    elif format is OutputFormat.JSON:
        text = writing.as_json(results)
    elif format is OutputFormat.TSV:
        text = writing.as_tsv(results, ids)
    elif format is OutputFormat.LATEX:
        text = writing.as_latex(results)
    else:
        text = writing.as_table(results, ids, colour=writing.colours(output))
    writing.emit(text, output)


def check_whole(corpus: Corpus, path: str) -> None:
    """Refuse a file of everything that lacks references or hypotheses, by its name."""
    name = "standard input" if path == "-" else path
    if not corpus.outputs:
        raise InputError(
            f"{name}: holds no hypothesis; add them (in a table the column 'hypothesis', hyp or "
            "mt), or give files of hypotheses beside it"
        )
    bare = [segment.id for segment in corpus.segments if not segment.references]
    if bare:
        raise InputError(
            f"{name}: segment {bare[0]} has no reference ({len(bare)} of "
            f"{len(corpus.segments)}); add it (in a table the column 'reference' or ref), or "
            "give one with -r"
        )


def attach(corpus: Corpus, hypothesis_parses: list[str], reference_parses: list[str]) -> Corpus:
    """The corpus with parses read from files; several for each side, in order."""
    from dataclasses import replace

    from meantime.formats.parses import attach_file

    if hypothesis_parses:
        if len(hypothesis_parses) != len(corpus.outputs):
            raise UsageError(
                f"{len(hypothesis_parses)} files of --hypothesis-parses for {len(corpus.outputs)} "
                "systems; give one for each system, in order"
            )
        outputs = {
            system: tuple(attach_file(output, path))
            for (system, output), path in zip(
                corpus.outputs.items(), hypothesis_parses, strict=True
            )
        }
        corpus = replace(corpus, outputs=outputs)
    if reference_parses:
        counts = {len(segment.references) for segment in corpus.segments}
        if counts != {len(reference_parses)}:
            raise UsageError(
                f"{len(reference_parses)} files of --reference-parses for "
                f"{' or '.join(map(str, sorted(counts)))} references a segment; give one for each"
            )
        columns = [
            attach_file([segment.references[n] for segment in corpus.segments], path)
            for n, path in enumerate(reference_parses)
        ]
        segments = tuple(
            replace(segment, references=tuple(references))
            for segment, references in zip(corpus.segments, zip(*columns, strict=True), strict=True)
        )
        corpus = replace(corpus, segments=segments)
    return corpus
