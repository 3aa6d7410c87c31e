"""The application: its verbs, and what becomes of their errors."""

from __future__ import annotations

from typing import Annotated

import typer

from meantime import __version__
from meantime.cli import analyse, metrics, models, score
from meantime.cli.cache import cache_app
from meantime.errors import MeantimeError, UsageError

INTERRUPTED = 130

app = typer.Typer(
    name="meantime",
    help="Tell how good a translation is by what it means.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"meantime {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Tell how good a translation is by what it means."""


app.command("score")(score.score)
app.command("metrics")(metrics.metrics)
app.command("analyse")(analyse.analyse)
app.command("models")(models.models)
app.add_typer(cache_app, name="cache")


def run(arguments: list[str]) -> int:
    """Run one command line; returns the exit code."""
    try:
        app(arguments)
    except SystemExit as stop:
        # How typer ends, also where it has printed what was wrong with the usage.
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        return _interrupted() if code == INTERRUPTED else code
    except KeyboardInterrupt:
        return _interrupted()
    except MeantimeError as error:
        typer.echo(f"error: {error}", err=True)
        return 2 if isinstance(error, UsageError) else 1
    return 0


def _interrupted() -> int:
    typer.echo("interrupted", err=True)
    return INTERRUPTED
