"""`meantime check`: a gate for continuous integration."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meantime.cli.arguments import ModelName, NoCache, Output
from meantime.errors import UsageError

if TYPE_CHECKING:
    from meantime.alignment.checking import Finding, Rule, Thresholds
    from meantime.protocols import Similarity
    from meantime.types import Corpus, Pair, Sentence

FOUND = 3
"""Exit code where more was found than is allowed."""


class CheckFormat(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"


def check(
    hypotheses: Annotated[
        str, typer.Argument(metavar="HYP", help="A file of hypotheses; - is standard input.")
    ],
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference",
            "-r",
            metavar="FILE",
            help="A reference; with several, what all of them find counts.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            "-s",
            metavar="FILE",
            help="The source texts: numbers and names are looked for in them.",
        ),
    ] = None,
    source_lang: Annotated[
        str | None, typer.Option("--source-lang", metavar="CODE", help="Language of the source.")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="RULES",
            help="What to look for, with commas: negation, number, modal, name, actor, patient, "
            "swapped, empty, event.  [default: all but event]",
        ),
    ] = None,
    allow: Annotated[
        int, typer.Option("--allow", metavar="N", min=0, help="Segments with findings to let pass.")
    ] = 0,
    allow_share: Annotated[
        float,
        typer.Option(
            "--allow-share", metavar="SHARE", min=0, max=1, help="The same, as a share of all."
        ),
    ] = 0.0,
    filler: Annotated[
        float,
        typer.Option(
            "--filler", min=0, max=1, help="Actors and patients less alike than this are different."
        ),
    ] = 0.2,
    frame: Annotated[
        float,
        typer.Option("--frame", min=0, max=1, help="Events less alike than this are different."),
    ] = 0.25,
    name_spelling: Annotated[
        float,
        typer.Option(
            "--name-spelling", min=0, max=1, help="Names that share less spelling are different."
        ),
    ] = 0.5,
    format: Annotated[
        CheckFormat, typer.Option("--format", "-f", help="What to print.")
    ] = CheckFormat.TEXT,
    output: Output = None,
    analyser: ModelName = None,
    no_cache: NoCache = False,
) -> None:
    """List segments in which meaning was lost or changed, and fail if there are too many.

    Looks for negations, numbers, dates, modals, names, actors and patients that were lost or
    changed. The exit code is 0 if no more segments than allowed have findings, else 3.
    """
    from meantime.alignment.checking import WORDS, Thresholds
    from meantime.cli.analysis import open_cached, tell_note
    from meantime.cli.output import emit
    from meantime.cli.progress import Bar
    from meantime.formats import read
    from meantime.scoring import analyse
    from meantime.similarity import open_similarity
    from meantime.types import Layer

    if not reference and source is None:
        raise UsageError("nothing to check against; give a reference with -r or the source with -s")
    rules = _rules(only, bool(reference))
    if reference:
        corpus = read([hypotheses], references=reference, source=source, source_lang=source_lang)
    else:
        corpus = _without_reference(hypotheses, str(source), source_lang)
    needed = {Layer.TOKENS, Layer.POS, Layer.FRAMES}
    needed |= {Layer.VECTORS} if reference else set()
    with Bar("analysing") as bar:
        opened = open_cached(analyser, cached=not no_cache, progress=bar)
        corpus, _ = analyse(corpus, frozenset(needed), opened)
    tell_note(opened)
    thresholds = Thresholds(frame=frame, filler=filler, name=name_spelling)
    words, spelling = open_similarity(WORDS), open_similarity("characters")
    pairs = corpus.pairs(next(iter(corpus.outputs)))
    found = [(pair, _findings(pair, rules, thresholds, words, spelling)) for pair in pairs]
    guilty = [(pair, some) for pair, some in found if some]
    allowed = max(allow, int(allow_share * len(pairs)))
    passed = len(guilty) <= allowed
    emit(_write(guilty, len(pairs), allowed, passed, format), output)
    if not passed:
        raise typer.Exit(FOUND)


def _rules(only: str | None, referenced: bool) -> tuple[Rule, ...]:
    from meantime.alignment.checking import DEFAULT_RULES, Rule

    if only is None:
        return DEFAULT_RULES if referenced else (Rule.EMPTY, Rule.NUMBER, Rule.NAME)
    names = [name.strip() for name in only.split(",") if name.strip()]
    known = [rule.value for rule in Rule]
    for name in names:
        if name not in known:
            raise UsageError(f"--only: no rule is called {name!r}; there are {', '.join(known)}")
        if not referenced and name not in ("number", "name", "empty"):
            raise UsageError(f"--only: {name} needs a reference; give one with -r")
    if not names:
        raise UsageError(f"--only names no rule; there are {', '.join(known)}")
    return tuple(Rule(name) for name in names)


def _without_reference(hypotheses: str, source: str, source_lang: str | None) -> Corpus:
    """Hypotheses with their sources alone."""
    from dataclasses import replace

    from meantime.formats import read

    corpus = read([hypotheses], references=[source], lang="en")
    segments = tuple(
        replace(
            segment,
            references=(),
            source=replace(segment.references[0], lang=source_lang or "und"),
        )
        for segment in corpus.segments
    )
    return replace(corpus, segments=segments)


def _findings(
    pair: Pair,
    rules: tuple[Rule, ...],
    thresholds: Thresholds,
    words: Similarity,
    spelling: Similarity,
) -> list[Finding]:
    from meantime.alignment.checking import check as check_pair
    from meantime.alignment.checking import check_source

    found: list[Finding] = []
    several = [
        check_pair(pair.hypothesis, one, words, spelling, rules=rules, thresholds=thresholds)
        for one in pair.segment.references
    ]
    if several:
        # What one reference excuses is excused: the one that finds least speaks.
        found += sorted(several, key=len)[0]
    source: Sentence | None = pair.segment.source
    if source is not None:
        known = {finding.rule for finding in found}
        found += [
            finding
            for finding in check_source(
                pair.hypothesis, source, spelling, rules=rules, thresholds=thresholds
            )
            if finding.rule not in known
        ]
    return found


def _write(
    guilty: list[tuple[Pair, list[Finding]]],
    count: int,
    allowed: int,
    passed: bool,
    format: CheckFormat,
) -> str:
    from meantime import __version__
    from meantime.cli.drawing import show

    if format is CheckFormat.JSON:
        listed: list[dict[str, Any]] = [
            {
                "segment": pair.segment.id,
                "hypothesis": pair.hypothesis.text,
                "references": [one.text for one in pair.segment.references],
                "findings": [
                    {
                        "rule": finding.rule.value,
                        "message": finding.message,
                        "hypothesis": _spans(finding.hypothesis),
                        "reference": _spans(finding.reference),
                    }
                    for finding in some
                ],
            }
            for pair, some in guilty
        ]
        made = {
            "meantime": __version__,
            "segments": count,
            "with_findings": len(guilty),
            "allowed": allowed,
            "passed": passed,
            "found": listed,
        }
        return json.dumps(made, ensure_ascii=False, indent=1) + "\n"
    lines = []
    for pair, some in guilty:
        lines.append(f"segment {show(pair.segment.id)}: {show(pair.hypothesis.text)}")
        lines += [f"  reference: {show(one.text)}" for one in pair.segment.references]
        lines += [f"  {finding.rule:<9} {show(finding.message)}" for finding in some]
        lines.append("")
    verdict = "passed" if passed else "failed"
    of = f"{count} segment{'' if count == 1 else 's'}"
    lines.append(f"{verdict}: {len(guilty)} of {of} with findings, {allowed} allowed")
    return "\n".join(lines) + "\n"


def _spans(spans: Any) -> list[list[int]] | None:
    return None if spans is None else [[span.start, span.end] for span in spans]
