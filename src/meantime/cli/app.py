"""The application: its verbs, and what becomes of their errors."""

from __future__ import annotations

from typing import Annotated

import typer

from meantime import __version__
from meantime.cli import (
    analyse,
    check,
    compare,
    explain,
    mbr,
    meaning,
    metaeval,
    metrics,
    models,
    rerank,
    score,
    serve,
    tune,
)
from meantime.cli.annotate import annotate_app
from meantime.cli.arguments import refuse_repeats
from meantime.cli.cache import cache_app
from meantime.cli.learn import learn_app
from meantime.cli.smt import smt_app
from meantime.cli.vectors import vectors_app
from meantime.cli.weights import weights_app
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
app.command("compare")(compare.compare)
app.command("metrics")(metrics.metrics)
app.command("explain")(explain.explain)
app.command("check")(check.check)
app.command("analyse")(analyse.analyse)
app.command("metaeval")(metaeval.metaeval)
app.command("models")(models.models)
app.add_typer(weights_app, name="weights")
app.command("meaning-test")(meaning.meaning_test)
app.command("tune")(tune.tune)
app.command("rerank")(rerank.rerank)
app.command("mbr")(mbr.mbr)
app.add_typer(cache_app, name="cache")
app.add_typer(vectors_app, name="vectors")
app.add_typer(learn_app, name="learn")
app.add_typer(smt_app, name="smt")
app.add_typer(annotate_app, name="annotate")
app.command("serve")(serve.serve)
refuse_repeats(app)


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
