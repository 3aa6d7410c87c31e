"""`meantime models`: what is installed, with licence and figures."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from meantime.cli.metrics import ListFormat


def models(
    card: Annotated[
        str | None, typer.Option("--card", metavar="NAME", help="Print the whole card of a model.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare every file with the recorded hash.")
    ] = False,
    format: Annotated[
        ListFormat, typer.Option("--format", "-f", help="How to print.")
    ] = ListFormat.TABLE,
) -> None:
    """List the models that are installed: what for, size, licence, figures."""
    from meantime.analysis.model import installed
    from meantime.cli.output import colours, emit, render
    from meantime.errors import UsageError
    from meantime.learned import network
    from meantime.similarity import shipped

    listed: list[Any] = [*installed(), *shipped.installed(), *network.installed()]
    found = {model.name: model for model in listed}
    if card is not None:
        if card not in found:
            raise UsageError(f"no model is called {card!r}; there are {', '.join(found) or 'none'}")
        emit(found[card].card, None)
        return
    if check:
        for model in found.values():
            model.check()
    facts = [
        {
            "name": model.name,
            "identity": model.identity,
            "bytes": model.size,
            "checked": check,
            **{key: model.facts.get(key) for key in ("for", "licence", "figures", "data")},
        }
        for model in found.values()
    ]
    if format is ListFormat.JSON:
        emit(json.dumps(facts, ensure_ascii=False, indent=1) + "\n", None)
        return
    told = ["every file matches its recorded hash"] if check else []
    emit(render([*_drawn(facts), *told], colour=colours(None)), None)


def _drawn(facts: list[dict[str, Any]]) -> list[Any]:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("model", "for", "MB", "licence", "hash"):
        table.add_column(head, overflow="fold", justify="right" if head == "MB" else "left")
    lines: list[Any] = [table]
    for fact in facts:
        table.add_row(
            fact["name"],
            fact["for"],
            f"{fact['bytes'] / 1e6:.1f}",
            fact["licence"],
            str(fact["identity"])[:12],
        )
        figures = fact["figures"] or {}
        lines += ["", f"{fact['name']}:"]
        lines += [f"  {name}: {value}" for name, value in figures.items()]
        lines += [f"  from {source}" for source in fact["data"] or []]
    if not facts:
        return ["no model is installed"]
    return [*lines, "", "'meantime models --card NAME' prints the whole card."]
