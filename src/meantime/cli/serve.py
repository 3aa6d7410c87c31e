"""`meantime serve`: a small local page to try metrics on, with a JSON API behind it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from meantime.errors import MissingPart

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from fastapi import FastAPI

    from meantime.protocols import Analyser

LOCAL = ("127.0.0.1", "localhost", "::1")


def _require() -> None:
    try:
        import fastapi  # noqa: F401
        import python_multipart  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingPart(
            f"the page needs {error.name}; install it with pip install 'meantime[serve]'"
        ) from error


def serve(
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Network address to bind.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0 for any free one.")
    ] = 8720,
    host_name: Annotated[
        list[str] | None,
        typer.Option(
            "--host-name", metavar="NAME", help="A further name the server answers to; repeatable."
        ),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit", metavar="SECONDS", min=1, help="What scoring texts may take at most."
        ),
    ] = 30.0,
    comparison_limit: Annotated[
        float,
        typer.Option(
            "--comparison-limit",
            metavar="SECONDS",
            min=1,
            help="What a comparison of files may take at most.",
        ),
    ] = 900.0,
    analyser: Annotated[
        str | None,
        typer.Option(
            "--analyser",
            metavar="NAME",
            help="A model's folder, or a registered analyser.  [default: the shipped one]",
        ),
    ] = None,
    no_cache: Annotated[
        bool,
        typer.Option(
            "--no-cache", help="Keep no analysis of compared files on disk; of typed texts none is."
        ),
    ] = False,
) -> None:
    """Serve a page to type texts into and see scores and why; Ctrl-C stops it."""
    _require()
    from meantime.analysis import open_analyser
    from meantime.cli.analysis import open_cached
    from meantime.cli.annotate import bind
    from meantime.serving import Limits, create_app

    def typed(progress: Callable[[int, int], None]) -> Analyser:
        return open_analyser(analyser, progress=progress)

    def compared(progress: Callable[[int, int], None]) -> Analyser:
        return open_cached(analyser, cached=not no_cache, progress=progress)

    if analyser is not None:
        # A name that is wrong should be heard of now, not when somebody types.
        open_analyser(analyser)
    bound = bind(host, port)
    names = {*LOCAL, *(name.lower() for name in host_name or ())}
    if host not in ("0.0.0.0", "::"):
        names.add(host.lower())
    app = create_app(
        try_analyser=typed,
        file_analyser=compared,
        hosts=frozenset(names),
        limits=Limits(seconds=time_limit, comparison_seconds=comparison_limit),
        warm=True,
    )
    shown = "localhost" if host in (*LOCAL, "0.0.0.0", "::") else host
    address = f"http://{shown}:{bound.getsockname()[1]}"
    typer.echo(f"serving {address}, Ctrl-C stops it")
    if host not in LOCAL:
        typer.echo(
            "note: whoever reaches this address can use it; there are no passwords", err=True
        )
    if open_page:
        typer.launch(address)
    _run(app, bound)
    typer.echo("stopped")


def _run(app: FastAPI, bound: socket.socket) -> None:
    import uvicorn

    settings = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(settings).run(sockets=[bound])
