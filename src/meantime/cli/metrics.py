"""`meantime metrics`: what there is."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from typing import Annotated, Any

import typer


class ListFormat(StrEnum):
    """How the list is printed."""

    TABLE = "table"
    JSON = "json"


def metrics(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One metric, with all its options.")
    ] = None,
    format: Annotated[
        ListFormat, typer.Option("--format", "-f", help="How to print.")
    ] = ListFormat.TABLE,
) -> None:
    """List the metrics; or tell all about one: paper, options, range, direction."""
    from meantime import registry
    from meantime.cli.output import colours, emit, render
    from meantime.errors import MissingPart

    facts = []
    for item in [name] if name else registry.names():
        try:
            facts.append(_facts(item))
        except MissingPart as error:
            if name:
                raise
            # One broken package does not hide the rest.
            typer.echo(f"note: {error}", err=True)
    if format is ListFormat.JSON:
        emit(json.dumps(facts[0] if name else facts, ensure_ascii=False, indent=1) + "\n", None)
        return
    colour = colours(None)
    drawn = _one(facts[0]) if name else _all(facts)
    emit(render(drawn, colour=colour), None)


def _facts(name: str) -> dict[str, Any]:
    """What is known of a metric without scoring anything."""
    from meantime import registry
    from meantime.options import as_text, describe

    cls = registry.find(registry.parse(name)[0])
    metric = registry.create(name)
    return {
        "name": name,
        "summary": getattr(cls, "summary", (cls.__doc__ or "").strip().partition("\n")[0]),
        "paper": getattr(cls, "paper", ""),
        "range": [None if math.isinf(bound) else bound for bound in metric.scale],
        "higher_is_better": metric.higher_is_better,
        "copy_is_best": metric.copy_is_best,
        "needs": sorted(metric.needs),
        "signature": str(metric.signature()),
        "options": [
            {
                "name": item.name,
                "default": as_text(item.default),
                "values": item.values(),
                "help": item.help,
            }
            for item in describe(cls)
        ],
    }


def _range(fact: dict[str, Any]) -> str:
    low, high = (("∞" if bound is None else f"{bound:g}") for bound in fact["range"])
    return f"{low} to {high}"


def _all(facts: list[dict[str, Any]]) -> list[Any]:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("metric", "range", "better", "what it is", "paper"):
        table.add_column(head, overflow="fold")
    for fact in facts:
        better = "higher" if fact["higher_is_better"] else "lower"
        table.add_row(fact["name"], _range(fact), better, fact["summary"], fact["paper"])
    return [table, "", "'meantime metrics NAME' shows a metric's options."]


def _one(fact: dict[str, Any]) -> list[Any]:
    from rich.table import Table

    better = "higher" if fact["higher_is_better"] else "lower"
    best = "gets" if fact["copy_is_best"] else "does not always get"
    lines: list[Any] = [
        f"{fact['name']}: {fact['summary']}",
        f"paper      {fact['paper']}",
        f"range      {_range(fact)}, {better} is better",
        f"copy       a copy of the reference {best} the best score",
        f"signature  {fact['signature']}",
        *([f"needs      {', '.join(fact['needs'])}"] if fact["needs"] else []),
        "",
    ]
    if not fact["options"]:
        return [*lines, "It has no options."]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("option", "default", "values", "what it does"):
        table.add_column(head, overflow="fold")
    for item in fact["options"]:
        table.add_row(item["name"], item["default"], item["values"], item["help"])
    example = fact["options"][0]
    return [
        *lines,
        table,
        "",
        f"Give options as -m '{fact['name']}:{example['name']}={example['default']}'.",
    ]
