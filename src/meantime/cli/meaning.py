"""`meantime meaning-test`: whether a metric prefers the translation that means the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from meantime.cli.arguments import AnalyserName, Jobs, NoCache, Output
from meantime.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from meantime.metaeval.meaning import MeaningResult, Outcome, Share, Suite


class MeaningFormat(StrEnum):
    """How the shares are printed."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


def meaning_test(
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            help="A metric, with its options as 'bleu:max_order=2'; give -m again for several.  "
            "[default: bleu, chrf, ter; none with --command]",
        ),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            "--command",
            metavar="CMD",
            help="A program of your own: reads lines of hypothesis, tab, reference; prints one "
            "score a line. The shell runs it, once.",
        ),
    ] = None,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Of the command's scores, lower is better.")
    ] = False,
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite",
            metavar="FILE",
            help="Items of your own, as JSONL or TSV.  [default: the shipped English suite]",
        ),
    ] = None,
    items: Annotated[
        bool, typer.Option("--items", help="Give the two scores of each item too.")
    ] = False,
    format: Annotated[
        MeaningFormat, typer.Option("--format", "-f", help="How to print.")
    ] = MeaningFormat.TABLE,
    output: Output = None,
    lang: Annotated[
        str | None,
        typer.Option("--lang", metavar="CODE", help="Language of your own suite.  [default: en]"),
    ] = None,
    analyser: AnalyserName = None,
    no_cache: NoCache = False,
    jobs: Jobs = 1,
) -> None:
    """Test metrics on minimal pairs: one rendering means the same, one looks the same.

    The share is of items in which the faithful rendering gets the better score; ties count half.
    """
    if lower_is_better and command is None:
        raise UsageError(
            "--lower-is-better is for --command; metrics know which direction is theirs"
        )
    if lang is not None and suite is None:
        raise UsageError("--lang is for a suite of your own; give it with --suite FILE")

    from meantime.cli.analysis import open_cached, tell_note
    from meantime.cli.output import colours, emit
    from meantime.cli.progress import Bar
    from meantime.metaeval.command import run_command
    from meantime.metaeval.meaning import ask, judge, lines_for_command, read_suite, shipped
    from meantime.registry import DEFAULTS, create
    from meantime.scoring import ANALYSED

    chosen = list(dict.fromkeys(metric or (() if command is not None else DEFAULTS)))
    made = [create(specification, lang=lang) for specification in chosen]
    analysed = any(one.needs & set(ANALYSED) for one in made)
    if analyser is not None and not analysed:
        raise UsageError(
            "no metric here needs analysis; leave out --analyser, or add a metric that does "
            "('meantime metrics NAME' says what it needs)"
        )
    opened_suite = shipped() if suite is None else read_suite(suite, lang=lang or "en")
    results: list[MeaningResult] = []
    opened = None
    if chosen:
        with Bar("testing") as bar:
            opened = open_cached(analyser, cached=not no_cache, progress=bar) if analysed else None
            results = ask(opened_suite, chosen, jobs=jobs, progress=bar, analyser=opened)
    if command is not None:
        scores = run_command(command, lines_for_command(opened_suite))
        results.append(
            judge(
                opened_suite,
                command,
                scores[::2],
                scores[1::2],
                higher_is_better=not lower_is_better,
            )
        )
    tell_note(opened)
    if format is MeaningFormat.JSON:
        text = as_json(opened_suite, results, items=items)
    elif format is MeaningFormat.MARKDOWN:
        text = as_markdown(opened_suite, results, items=items)
    else:
        text = as_table(opened_suite, results, items=items, colour=colours(output))
    emit(text, output)


NOTE = (
    "Percent of items in which the faithful rendering scores better than the damaged one; ties "
    "count half, 50 is chance. [low, high]: Wilson's 95 % interval."
)


def title(suite: Suite) -> str:
    """The suite in words, so that a table can be cited."""
    version = f"version {suite.version}, " if suite.version is not None else ""
    return f"suite {suite.name}, {version}{len(suite.items)} items, sha256 {suite.digest[:12]}"


def heads(results: Sequence[MeaningResult]) -> list[str]:
    """A column's head for each metric, with the direction that is better."""
    return [f"{one.metric} {'↑' if one.higher_is_better else '↓'}" for one in results]


def grid(results: Sequence[MeaningResult]) -> Iterator[tuple[str, list[Share] | None]]:
    """Rows: all items, then a headline (no shares) and its groups, twice."""
    yield "all", [one.overall() for one in results]
    for headline, groups in (
        ("by phenomenon", [one.by_phenomenon() for one in results]),
        ("by faithful change", [one.by_kind() for one in results]),
    ):
        yield headline, None
        for name in groups[0]:
            yield name, [group[name] for group in groups]


def percent(share: Share) -> str:
    """A share with its interval."""
    return f"{100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}]"


_VERDICTS = {1.0: "win", 0.5: "tie", 0.0: "loss"}


def _values(outcome: Outcome) -> list[str]:
    return [f"{outcome.faithful:.4f}", f"{outcome.damaged:.4f}", _VERDICTS[outcome.win]]


def _signatures(results: Sequence[MeaningResult]) -> list[str]:
    return list(dict.fromkeys(str(one.signature) for one in results if one.signature is not None))


def as_table(suite: Suite, results: Sequence[MeaningResult], *, items: bool, colour: bool) -> str:
    """For a terminal: groups by metrics; the items, if asked; signatures last."""
    from rich.table import Table
    from rich.text import Text

    from meantime.cli.output import plain, render

    def column(table: Table, head: str, right: bool) -> None:
        table.add_column(plain(head), justify="right" if right else "left", overflow="fold")

    table = Table(box=None, pad_edge=False, header_style="bold")
    column(table, "", False)
    column(table, "items", True)
    for head in heads(results):
        column(table, head, True)
    for name, shares in grid(results):
        if shares is None:
            table.add_row()
            table.add_row(Text(name, style="bold"))
        else:
            table.add_row(plain(name), str(shares[0].items), *map(percent, shares))
    drawn: list[Table | str] = [title(suite), "", table, ""]
    if items:
        listed = Table(box=None, pad_edge=False, header_style="bold")
        for head, right in (
            ("item", False),
            ("metric", False),
            ("faithful", True),
            ("damaged", True),
            ("", False),
        ):
            column(listed, head, right)
        for index, item in enumerate(suite.items):
            for one in results:
                listed.add_row(plain(item.id), plain(one.metric), *_values(one.outcomes[index]))
        drawn += [listed, ""]
    drawn += [NOTE, *_signatures(results)]
    return render(drawn, colour=colour)


def _cell(text: str) -> str:
    """A text that stays inside its cell of a Markdown table."""
    shown = "".join(mark if mark.isprintable() else "�" for mark in text)
    return shown.replace("\\", "\\\\").replace("|", "\\|")


def as_markdown(suite: Suite, results: Sequence[MeaningResult], *, items: bool) -> str:
    """The same as a table for a page; groups are told apart by a column."""
    rows = [["", "items", *heads(results)], ["---", "---:", *["---:"] * len(results)]]
    for name, shares in grid(results):
        if shares is None:
            rows.append([f"*{name}*", *[""] * (len(results) + 1)])
        else:
            rows.append([_cell(name), str(shares[0].items), *map(percent, shares)])
    rows[0][2:] = map(_cell, rows[0][2:])
    lines = [f"{_cell(title(suite))}", "", *_markdown(rows)]
    if items:
        listed = [
            ["item", "metric", "faithful", "damaged", ""],
            ["---", "---", "---:", "---:", "---"],
        ]
        for index, item in enumerate(suite.items):
            listed += [
                [_cell(item.id), _cell(one.metric), *_values(one.outcomes[index])]
                for one in results
            ]
        lines += ["", *_markdown(listed)]
    lines += ["", NOTE]
    lines += [line for one in _signatures(results) for line in ("", f"`{one}`")]
    return "\n".join(lines) + "\n"


def _markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in rows]


def as_json(suite: Suite, results: Sequence[MeaningResult], *, items: bool) -> str:
    """The contract others script against."""
    from meantime import __version__

    listed = []
    for one in results:
        entry: dict[str, object] = {
            "metric": one.metric,
            "signature": None if one.signature is None else str(one.signature),
            "higher_is_better": one.higher_is_better,
            "all": _facts(one.overall()),
            "phenomena": {name: _facts(share) for name, share in one.by_phenomenon().items()},
            "kinds": {name: _facts(share) for name, share in one.by_kind().items()},
        }
        if items:
            entry["items"] = [
                {
                    "id": outcome.item.id,
                    "phenomenon": outcome.item.phenomenon,
                    "kind": outcome.item.kind,
                    "faithful": outcome.faithful,
                    "damaged": outcome.damaged,
                    "win": outcome.win,
                }
                for outcome in one.outcomes
            ]
        listed.append(entry)
    whole = {
        "meantime": __version__,
        "suite": {
            "name": suite.name,
            "version": suite.version,
            "sha256": suite.digest,
            "lang": suite.lang,
            "items": len(suite.items),
        },
        "results": listed,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _facts(share: Share) -> dict[str, object]:
    return {
        "items": share.items,
        "wins": share.wins,
        "ties": share.ties,
        "share": share.value,
        "low": share.low,
        "high": share.high,
        "confidence": share.confidence,
    }
