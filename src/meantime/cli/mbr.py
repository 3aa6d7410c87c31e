"""`meantime mbr`: samples in, the candidate of least risk out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meantime.cli.arguments import AnalyserName, Jobs, NoCache, Source, check_standard_input
from meantime.cli.candidates import (
    CandidatesLang,
    NbestFormat,
    NbestFormatOption,
    ReportFormat,
)
from meantime.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from meantime.protocols import Analyser, Metric
    from meantime.tuning.candidates import Candidates
    from meantime.tuning.mbr import Decision
    from meantime.tuning.rerank import Selection
    from meantime.types import Segment


def mbr(
    candidates: Annotated[
        list[str],
        typer.Argument(
            metavar="CANDIDATES",
            help="Lists of candidates; several are merged. - is standard input.",
        ),
    ],
    utility: Annotated[
        str,
        typer.Option(
            "--utility", "-u", metavar="NAME", help="A metric, with its options: what is gained."
        ),
    ] = "chrf",
    pseudo_references: Annotated[
        list[str] | None,
        typer.Option(
            "--pseudo-references",
            metavar="FILE",
            help="Lists to compare with, in place of the candidates themselves.",
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            "--size",
            metavar="N",
            min=1,
            help="For plain text: lines a segment. Without it each file has one line a segment.",
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature",
            metavar="T",
            help="Weigh by exp(model score / T); without it, by how often a text is there.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", metavar="N", min=1, help="Write the N best of each segment as n-best lists."
        ),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference",
            "-r",
            metavar="FILE",
            help="A real reference, to tell how good the choice is; give -r again for several.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            help="With -r: what tells it; give -m again for several.  [default: the utility]",
        ),
    ] = None,
    source: Source = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the chosen texts here."),
    ] = None,
    format: Annotated[
        ReportFormat, typer.Option("--format", "-f", help="With -r: how to print the report.")
    ] = ReportFormat.TABLE,
    nbest_format: NbestFormatOption = NbestFormat.AUTO,
    lang: CandidatesLang = None,
    analyser: AnalyserName = None,
    no_cache: NoCache = False,
    jobs: Jobs = 1,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Seed of the random choices.")
    ] = 1,
) -> None:
    """Choose of each list the candidate with the greatest expected utility.

    The chosen texts are printed, one a line; with references, what they score instead.
    """
    if metric and not reference:
        raise UsageError("--metric tells how good the choice is; give references with -r FILE")
    if temperature is not None and not temperature > 0:
        raise UsageError(f"--temperature {temperature:g}; give a number above 0")

    from meantime.cli import candidates as shared
    from meantime.cli.analysis import tell_note
    from meantime.cli.output import emit
    from meantime.cli.progress import Bar
    from meantime.tuning.mbr import decide

    others = pseudo_references or []
    check_standard_input([*candidates, *others, *(reference or []), source])
    shared.refuse_unwritable(output)
    [gained] = shared.create_metrics([utility], lang)
    tellers = shared.create_metrics(metric or [utility], lang) if reference else []
    segments = shared.read_references(reference or [], source, lang) or None
    own = shared.read_lists(
        candidates, segments=segments, format=nbest_format.value, size=size, repeats=True
    )
    pseudo = (
        shared.read_lists(
            others, segments=segments, format=nbest_format.value, size=size, repeats=True
        )
        if others
        else None
    )
    opened = shared.open_analyser_for([gained, *tellers], analyser, no_cache=no_cache)
    sources = [segment.source for segment in segments] if source and segments else None
    with Bar("comparing") as bar:
        decision = decide(
            own,
            gained,
            references=pseudo,
            temperature=temperature,
            sources=[one for one in sources if one is not None] if sources else None,
            lang=lang or "en",
            analyser=opened,
            jobs=jobs,
            progress=bar,
        )
    tell_note(opened)
    jsonl = output is not None and output.name.removesuffix(".gz").endswith(".jsonl")
    if not reference:
        emit(_texts(decision, top, jsonl=jsonl), output)
        return
    report = _report(own, decision, segments or (), tellers, opened, lang, jobs, seed, format)
    if output is not None:
        emit(_texts(decision, top, jsonl=jsonl), output)
    if output is None or str(output) != "-":
        emit(report, None)


def _texts(decision: Decision, top: int | None, *, jsonl: bool) -> str:
    """The best text of each segment, or the best few with their utilities."""
    from meantime.formats.nbest import Candidate, render_candidate

    if top is None and not jsonl:
        return "".join(f"{ranking.texts[0]}\n" for ranking in decision.rankings)
    return "".join(
        render_candidate(
            Candidate(segment, text, score=expected), format="jsonl" if jsonl else "moses"
        )
        for segment, ranking in enumerate(decision.rankings)
        for text, expected in list(zip(ranking.texts, ranking.utilities, strict=True))[: top or 1]
    )


def _report(
    own: Candidates,
    decision: Decision,
    segments: Sequence[Segment],
    metrics: Sequence[Metric],
    analyser: Analyser | None,
    lang: str | None,
    jobs: int,
    seed: int,
    format: ReportFormat,
) -> str:
    import numpy

    from meantime.cli import candidates as shared
    from meantime.cli.progress import Bar
    from meantime.tuning.rerank import (
        score_random,
        score_selection,
        select_first,
        select_oracle,
    )
    from meantime.tuning.statistics import Statistics, prepare_references

    chosen = numpy.array(
        [
            start + ranking.places[0]
            for start, ranking in zip(own.first[:-1], decision.rankings, strict=True)
        ]
    )
    prepared = []
    columns: list[list[Selection]] = []
    best = None
    with Bar("measuring") as bar:
        for one in metrics:
            enriched, bound = prepare_references(segments, one, analyser)
            statistics = Statistics(
                bound, enriched, lang=lang or "en", analyser=analyser, jobs=jobs
            )
            rows = statistics.rows(own.texts, bar)
            if best is None:
                best = select_oracle(own, rows, bound)
            prepared.append(bound)
            columns.append(
                [
                    score_selection("first", own, rows, bound, select_first(own)),
                    score_random(own, rows, bound, numpy.random.default_rng(seed)),
                    score_selection("mbr", own, rows, bound, chosen),
                    score_selection("oracle", own, rows, bound, best),
                ]
            )
    names = ("first", "random", "mbr", "oracle")
    table = [(name, selections) for name, *selections in zip(names, *columns, strict=True)]
    facts = {
        "segments": own.segments,
        "candidates": len(own),
        "texts": len(own.texts),
        "pairs measured": decision.pairs,
        "pairs saved": decision.saved,
    }
    return shared.report_text(prepared, table, facts, format)
