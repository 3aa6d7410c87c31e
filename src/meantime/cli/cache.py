"""`meantime cache`: what is kept of past work, and where."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meantime.cli.metrics import ListFormat

if TYPE_CHECKING:
    from meantime.analysis.cache import CacheInfo
    from meantime.metaeval.store import StatisticsStore

FILE = "analyses.sqlite"

cache_app = typer.Typer(
    name="cache",
    help="What is kept on disk: analyses of texts, and statistics of metaeval.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def cache_path(environment: Mapping[str, str] | None = None, platform: str | None = None) -> Path:
    """Where analyses are kept.

    `MEANTIME_CACHE` names the file, or a folder for it; else it lies in `XDG_CACHE_HOME`
    or where the system keeps such things.
    """
    environment = os.environ if environment is None else environment
    platform = sys.platform if platform is None else platform
    named = environment.get("MEANTIME_CACHE")
    if named:
        path = _expanded(Path(named))
        return path / FILE if named.endswith(("/", os.sep)) or path.is_dir() else path
    return _folder(environment, platform) / FILE


def statistics_path() -> Path:
    """The folder of statistics that `metaeval` keeps, beside the analyses."""
    path = cache_path()
    return path.with_name(f"{path.stem}-statistics")


def _folder(environment: Mapping[str, str], platform: str) -> Path:
    shared = environment.get("XDG_CACHE_HOME")
    # By its specification, a relative path there is to be ignored.
    if shared and os.path.isabs(shared):
        return Path(shared) / "meantime"
    local = environment.get("LOCALAPPDATA")
    if platform == "win32" and local:
        return Path(local) / "meantime" / "Cache"
    home = _home()
    if home is None:
        # An account without a home, as in some containers.
        owner = os.getuid() if hasattr(os, "getuid") else "cache"
        return Path(tempfile.gettempdir()) / f"meantime-{owner}"
    if platform == "win32":
        return home / "AppData" / "Local" / "meantime" / "Cache"
    if platform == "darwin":
        return home / "Library" / "Caches" / "meantime"
    return home / ".cache" / "meantime"


def _expanded(path: Path) -> Path:
    """The path with `~` as somebody's home, or as it is where there is no such person."""
    try:
        return path if _home() is None else path.expanduser()
    except RuntimeError:
        return path


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None


@cache_app.command("info")
def info(
    format: Annotated[
        ListFormat, typer.Option("--format", "-f", help="How to print.")
    ] = ListFormat.TABLE,
) -> None:
    """Tell where analyses are kept, how many there are, and which analysers made them."""
    from meantime.analysis.cache import AnalysisCache
    from meantime.cli.output import emit

    with AnalysisCache(cache_path()) as cache:
        facts = cache.info()
        note = cache.note
        limit = cache.limit_bytes
    statistics = _statistics()
    if format is ListFormat.JSON:
        emit(_as_json(facts, limit, note, statistics), None)
        return
    emit(_as_table(facts, limit, statistics), None)
    if note:
        typer.echo(f"note: {note}", err=True)


@cache_app.command("clear")
def clear() -> None:
    """Drop all analyses that are kept; also while other commands run."""
    from meantime.analysis.cache import AnalysisCache
    from meantime.cli.output import emit

    path = cache_path()
    with AnalysisCache(path) as cache:
        count = cache.clear()
        note = cache.note
    statistics = _statistics()
    pieces = statistics.clear()
    text = f"{count} {'analysis' if count == 1 else 'analyses'} dropped from {path}\n"
    if pieces:
        text += f"{_pieces(pieces)} of statistics dropped from {statistics.folder}\n"
    emit(text, None)
    if note:
        typer.echo(f"note: {note}", err=True)


def _statistics() -> StatisticsStore:
    from meantime.metaeval.store import StatisticsStore

    return StatisticsStore(statistics_path())


def _pieces(count: int) -> str:
    return f"{count} {'piece' if count == 1 else 'pieces'}"


def _as_json(facts: CacheInfo, limit: int, note: str | None, statistics: StatisticsStore) -> str:
    content = {
        "path": str(facts.path),
        "entries": facts.entries,
        "bytes": facts.bytes,
        "limit_bytes": limit,
        "analysers": [
            {
                "name": share.name,
                "identity": share.identity,
                "entries": share.entries,
                "bytes": share.bytes,
            }
            for share in facts.analysers
        ],
        "statistics": {
            "path": str(statistics.folder),
            "pieces": len(statistics.files()),
            "bytes": statistics.size(),
            "limit_bytes": statistics.limit,
        },
        "note": note,
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _as_table(facts: CacheInfo, limit: int, statistics: StatisticsStore) -> str:
    from rich.table import Table

    from meantime.cli.output import colours, plain, render

    # The path outside any table, which would fold it.
    lines: list[Table | str] = [
        f"path     {facts.path}",
        f"entries  {facts.entries}",
        f"size     {_size(facts.bytes)} of {_size(limit)}",
    ]
    if facts.analysers:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("analyser", overflow="fold")
        table.add_column("identity", overflow="fold")
        table.add_column("entries", justify="right")
        table.add_column("about", justify="right")
        for share in facts.analysers:
            table.add_row(
                plain(share.name),
                plain(share.identity[:12]),
                str(share.entries),
                _size(share.bytes),
            )
        lines += ["", table]
    if statistics.files():
        count, used = _pieces(len(statistics.files())), _size(statistics.size())
        lines += [
            "",
            f"statistics  {count}, {used} of {_size(statistics.limit)}, in {statistics.folder}",
        ]
    return render(lines, colour=colours(None))


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    size = float(count)
    units = ["kB", "MB", "GB"]
    while size >= 999.95 and units:
        size /= 1000
        unit = units.pop(0)
    return f"{size:.1f} {unit}"
