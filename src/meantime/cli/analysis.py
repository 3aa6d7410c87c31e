"""An analyser as the commands use one: by name, in front of the cache on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from meantime.protocols import Analyser


def open_cached(
    name: str | None,
    *,
    cached: bool = True,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Analyser:
    """The analyser of this name (by default ours), remembering what it has read."""
    from meantime.analysis import open_analyser
    from meantime.analysis.cache import CachedAnalyser
    from meantime.cli.cache import cache_path

    analyser = open_analyser(name, threads=threads, progress=progress)
    return CachedAnalyser(analyser, cache_path()) if cached else analyser


def tell_note(analyser: Analyser | None) -> None:
    """Say on standard error what kept the cache from its work, if anything did."""
    import typer

    note = getattr(analyser, "note", None)
    if note:
        typer.echo(f"note: {note}", err=True)
