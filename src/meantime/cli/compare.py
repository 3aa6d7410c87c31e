"""`meantime compare`: which of several systems is better, and how sure that is."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
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
from meantime.cli.score import attach, check_whole
from meantime.errors import InputError, UsageError

if TYPE_CHECKING:
    from meantime.protocols import Analyser
    from meantime.report.tables import Page
    from meantime.types import Corpus


REPORTED = ("meant", "bleu", "chrf", "ter")
"""What a report shows of translations into English when nobody says which metric."""


class ComparisonFormat(StrEnum):
    """How a comparison is printed."""

    TABLE = "table"
    JSON = "json"
    LATEX = "latex"
    MARKDOWN = "markdown"


class DecisiveTest(StrEnum):
    """Which p-value decides."""

    RANDOMISATION = "randomisation"
    BOOTSTRAP = "bootstrap"


class CorrectionChoice(StrEnum):
    """How p-values are corrected for many comparisons."""

    HOLM = "holm"
    BH = "bh"
    NONE = "none"


class BucketFeature(StrEnum):
    """What segments are sorted by."""

    LENGTH = "length"
    NUMBERS = "numbers"
    NEGATION = "negation"
    FRAMES = "frames"
    ROLE = "role"
    UNSEEN = "unseen"
    DOMAIN = "domain"
    DOCUMENT = "document"


def compare(
    hypotheses: Annotated[
        list[str] | None,
        typer.Argument(metavar="SYS", help="Files of hypotheses, one a system."),
    ] = None,
    reference: References = None,
    source: Source = None,
    input: Whole = None,
    metric: Metrics = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="SYS",
            help="Compare with this system only, named as in the tables.",
        ),
    ] = None,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Show the difference of every pair of systems.")
    ] = False,
    documents: Annotated[
        bool, typer.Option("--documents", help="Show the scores of each document.")
    ] = False,
    by: Annotated[
        list[BucketFeature] | None,
        typer.Option(
            "--by",
            help="Also score kinds of segments; give --by again for several.",
        ),
    ] = None,
    seen: Annotated[
        Path | None,
        typer.Option(
            "--seen",
            metavar="FILE",
            help="Text whose words count as seen, for --by unseen.",
        ),
    ] = None,
    domains: Annotated[
        Path | None,
        typer.Option(
            "--domains", metavar="FILE", help="One domain a segment, a line each, for --by domain."
        ),
    ] = None,
    disagreements: Annotated[
        int,
        typer.Option(
            "--disagreements",
            metavar="N",
            min=0,
            help="Show N segments on which two systems, and two metrics, disagree most.",
        ),
    ] = 0,
    roles: Annotated[
        bool,
        typer.Option("--roles", help="Show which roles (who, what, when, …) each system loses."),
    ] = False,
    roles_plot: Annotated[
        Path | None,
        typer.Option("--roles-plot", metavar="FILE", help="Draw that into an SVG file."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Also write a report as one page that opens offline, with explained segments.",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Title of that page.")
    ] = None,
    explanations: Annotated[
        int | None,
        typer.Option(
            "--explanations",
            metavar="N",
            min=0,
            help="Explain at most N outputs in it, by each metric that can, where systems differ "
            "most.  [default: 25000]",
        ),
    ] = None,
    test: Annotated[
        DecisiveTest, typer.Option("--test", help="The p-value that decides what is significant.")
    ] = DecisiveTest.RANDOMISATION,
    correction: Annotated[
        CorrectionChoice,
        typer.Option("--correction", help="How p-values are corrected for many comparisons."),
    ] = CorrectionChoice.HOLM,
    significance: Annotated[
        float,
        typer.Option("--significance", metavar="P", help="The largest p-value called significant."),
    ] = 0.05,
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="N", min=100, help="Bootstrap samples.")
    ] = 1000,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            metavar="N",
            min=100,
            help="Randomisation trials.  [default: 10000, more for over 22 systems]",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Seed of samples and trials.")
    ] = 12345,
    format: Annotated[
        ComparisonFormat, typer.Option("--format", "-f", help="How to print.")
    ] = ComparisonFormat.TABLE,
    output: Output = None,
    input_format: InputFormatOption = InputFormat.AUTO,
    lang: Lang = None,
    source_lang: SourceLang = None,
    analyser: AnalyserName = None,
    hypothesis_parses: HypothesisParses = None,
    reference_parses: ReferenceParses = None,
    no_cache: NoCache = False,
    jobs: Jobs = 1,
) -> None:
    """Compare systems: scores with intervals, paired tests, ranks and clusters.

    Systems are named after their files. Without -m: bleu, chrf and ter.
    """
    if not hypotheses and input is None:
        raise UsageError(
            "nothing to compare; give files of at least two systems with -r REFERENCE, or "
            "--input FILE"
        )
    if hypotheses and not reference and input is None:
        raise UsageError("no reference; give one with -r FILE")
    if not 0 < significance < 1:
        raise UsageError(f"--significance {significance:g}; give a number between 0 and 1")
    files = [*(hypotheses or ()), *(reference or ()), source, input]
    files += [*(hypothesis_parses or ()), *(reference_parses or ())]
    check_standard_input(files)
    features = list(dict.fromkeys(by or ()))
    if (BucketFeature.UNSEEN in features) != (seen is not None):
        raise UsageError("--by unseen goes with --seen FILE, a text whose words count as seen")
    if (BucketFeature.DOMAIN in features) != (domains is not None):
        raise UsageError("--by domain goes with --domains FILE, one domain a segment")
    if input is None and len(hypotheses or ()) < 2:
        raise UsageError(
            "one system, nothing to compare it with; give at least two, or use 'meantime score'"
        )
    if html is None and (title is not None or explanations is not None):
        raise UsageError("--title and --explanations go with --html FILE")

    from dataclasses import replace

    from meantime.cli import output as writing
    from meantime.cli.analysis import open_cached, tell_note
    from meantime.cli.progress import Bar
    from meantime.formats import read
    from meantime.formats.opening import encode, save
    from meantime.registry import DEFAULTS, create
    from meantime.report.buckets import NEEDS, score_buckets, sort_segments, words
    from meantime.report.cautions import find_cautions
    from meantime.report.charts import draw_roles
    from meantime.report.comparison import check_systems
    from meantime.report.comparison import compare as compare_systems
    from meantime.report.disagreements import metrics_disagree, systems_disagree
    from meantime.report.explained import MOST
    from meantime.report.findings import Findings, findings_legend, lay_out_findings
    from meantime.report.roles import find_role_losses
    from meantime.report.tables import lay_out
    from meantime.report.writing import as_json, as_latex, as_markdown
    from meantime.scoring import ANALYSED, analyse, measure, ready_to_explain
    from meantime.types import Layer, primary

    # A report is there to show why: where that can be told, the default does.
    defaults = DEFAULTS if html is None or primary(lang or "en") != "en" else REPORTED
    chosen = list(dict.fromkeys(metric or defaults))
    # Before reading anything: a typing error should not cost a minute.
    made = [create(specification, lang=lang) for specification in chosen]
    roles = roles or roles_plot is not None
    framed = roles or {BucketFeature.FRAMES, BucketFeature.ROLE} & set(features)
    analysed = framed or any(one.needs & set(ANALYSED) for one in made)
    if not analysed and (analyser or hypothesis_parses or reference_parses):
        raise UsageError(
            "nothing here needs analysis; leave out --analyser and the parses, or add --roles or "
            "a metric that needs it ('meantime metrics NAME' says what it needs)"
        )
    # Read before the long work, for the same reason.
    known = set(words(read_text(seen))) if seen is not None else None
    named = read_lines(domains) if domains is not None else None
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
    check_systems(list(corpus.outputs), baseline)
    for feature in features:
        if feature.value not in NEEDS:
            sort_segments(corpus, feature.value, seen=known, domains=named)
    with Bar("scoring") as bar:
        opened = open_cached(analyser, cached=not no_cache, progress=bar) if analysed else None
        if framed and opened is not None:
            _check_languages(corpus, opened)
        measured = measure(corpus, chosen, lang=lang, jobs=jobs, progress=bar, analyser=opened)
        if framed:
            # After measuring, so that signatures say where the metrics' analysis is from.
            needed = frozenset({Layer.TOKENS, Layer.FRAMES})
            measured = replace(measured, corpus=analyse(measured.corpus, needed, opened)[0])
        buckets = [
            table
            for feature in features
            for table in score_buckets(measured, feature.value, seen=known, domains=named)
        ]
    tell_note(opened)
    with Bar("comparing") as bar:
        comparison = compare_systems(
            measured,
            resamples=resamples,
            trials=trials,
            seed=seed,
            test=test.value,
            correction=correction.value,
            significance=significance,
            baseline=baseline,
            progress=bar,
        )
    findings = Findings(
        cautions=find_cautions(comparison),
        buckets=tuple(buckets),
        systems_disagree=systems_disagree(comparison, disagreements),
        metrics_disagree=metrics_disagree(comparison, disagreements),
        roles=find_role_losses(measured.corpus) if roles else None,
    )
    if roles_plot is not None and findings.roles is not None:
        save(roles_plot, encode(draw_roles(findings.roles)))
    if html is not None:
        from meantime.report.gathering import gather
        from meantime.report.html import render_html

        with Bar("explaining") as bar:
            report = gather(
                ready_to_explain(
                    measured,
                    lambda: opened or open_cached(analyser, cached=not no_cache, progress=bar),
                )
                if explanations != 0
                else measured,
                comparison,
                findings,
                seen=known,
                domains=named,
                explanations=MOST if explanations is None else explanations,
                jobs=jobs,
                progress=bar,
            )
        save(html, encode(render_html(report, title=title)))
    if format is ComparisonFormat.JSON:
        text = as_json(comparison, findings)
    else:
        page = lay_out(comparison, all_pairs=all_pairs, documents=documents)
        page = replace(
            page,
            tables=(*page.tables, *lay_out_findings(findings, measured.corpus)),
            statements=(*page.statements, *(one.text for one in findings.cautions)),
            legend=(*page.legend, *findings_legend(findings)),
        )
        if format is ComparisonFormat.MARKDOWN:
            text = as_markdown(page)
        elif format is ComparisonFormat.LATEX:
            text = as_latex(page)
        else:
            text = _as_text(page, colour=writing.colours(output))
    writing.emit(text, output)


def _check_languages(corpus: Corpus, analyser: Analyser) -> None:
    """Refuse to look for roles in a language the analyser cannot read, before the long work."""
    from meantime.errors import UnsupportedLanguage
    from meantime.types import primary

    sentences = [one for segment in corpus.segments for one in segment.references]
    sentences += [one for output in corpus.outputs.values() for one in output]
    for sentence in sentences:
        if sentence.frames is None and primary(sentence.lang) not in analyser.languages:
            raise UnsupportedLanguage(
                f"analyser {analyser.name} cannot read {sentence.lang!r}; it was made for "
                f"{', '.join(sorted(analyser.languages))}: leave out --roles, --by role and "
                "--by frames, or give parses of your own"
            )


def read_text(path: Path) -> str:
    """The text of a file, whichever way it is compressed."""
    from meantime.formats.opening import decode, display, load

    return decode(display(path), load(path))


def read_lines(path: Path) -> list[str]:
    """The lines of a file, none of them empty."""
    from meantime.formats.opening import lines

    found = [line.strip() for line in lines(read_text(path))]
    empty = next((number for number, line in enumerate(found, 1) if not line), None)
    if empty is not None:
        raise InputError(f"{path}:{empty}: an empty line; write one name a line")
    return found


def _as_text(page: Page, *, colour: bool) -> str:
    """The page for a terminal or a pipe."""
    from rich.table import Table
    from rich.text import Text

    from meantime.cli.output import plain, render

    drawn: list[Table | str] = []
    for table in page.tables:
        shown = Table(box=None, pad_edge=False, header_style="bold")
        for number, head in enumerate(table.head):
            justify = "right" if table.is_number(number) else "left"
            shown.add_column(plain(head), justify=justify, overflow="fold")  # type: ignore[arg-type]
        for number, row in enumerate(table.rows):
            if number in table.breaks:
                # As in WMT's tables: a line between clusters.
                shown.add_row(*[Text("─" * len(cell.text)) for cell in row])
            cells = [plain(cell.text) for cell in row]
            for text, cell in zip(cells, row, strict=True):
                text.stylize("bold green" if cell.strong else "")
            shown.add_row(*cells)
        drawn += [table.title, shown, ""]
    drawn += [f"! {line}" for line in page.statements]
    drawn += [*([""] if page.statements else []), *page.legend, "", *page.signatures]
    return render(drawn, colour=colour)
