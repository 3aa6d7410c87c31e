"""`meantime annotate`: the web application in which people judge, and what keeps its data."""

from __future__ import annotations

import json
import os
import secrets
import socket
import tempfile
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meantime.errors import InputError, MissingPart, UsageError

if TYPE_CHECKING:
    from meantime.annotation.app import Config
    from meantime.annotation.store import Store
    from meantime.protocols import Analyser

DATABASE = "MEANTIME_ANNOTATE_DATABASE"
SECRET = "MEANTIME_ANNOTATE_SECRET"

annotate_app = typer.Typer(
    name="annotate",
    help="Let people mark, judge, order and rate translations in a browser.",
    no_args_is_help=True,
)


class ExportFormat(StrEnum):
    """What is written of a campaign."""

    JUDGEMENTS = "judgements"
    CORPUS = "corpus"
    SCORES = "scores"
    HUMAN_HMEANT = "human-hmeant"
    HUMAN_ORDER = "human-order"
    HUMAN_RATING = "human-rating"
    RATINGS = "ratings"
    RESULTS = "results"
    CORRELATIONS = "correlations"
    JSONL = "jsonl"
    CSV = "csv"


Folder = Annotated[
    Path,
    typer.Option("--folder", metavar="FOLDER", help="Where campaigns and the secret are kept."),
]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="ADDRESS",
        help=f"postgresql://user@host/name instead of SQLite; better given in {DATABASE}, where "
        "no list of processes shows it.",
    ),
]
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Network address to bind.")]
Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0 for any free one.")
]
Campaign = Annotated[
    str, typer.Argument(metavar="CAMPAIGN", help="Its id, or its name if no other has it.")
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The file (csv: folder) to write.")
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "-m",
        metavar="NAME",
        help="An automatic metric to correlate with people; give -m again for several.",
    ),
]
_FOLDER = Path("campaigns")


def _require() -> None:
    try:
        import fastapi  # noqa: F401
        import itsdangerous  # noqa: F401
        import jinja2  # noqa: F401
        import python_multipart  # noqa: F401
        import sqlalchemy  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingPart(
            f"the web application needs {error.name}; install it with "
            "pip install 'meantime[annotate]'"
        ) from error


def _open(folder: Path, database: str | None) -> Store:
    _require()
    from meantime.annotation.store import open_store

    address = database or os.environ.get(DATABASE)
    return open_store(None if address else folder, address)


def _existing(folder: Path, database: str | None) -> Store:
    """A store that is there: reading from a misspelt folder should not make one."""
    _require()
    from meantime.annotation.store.opening import FILE

    if not (database or os.environ.get(DATABASE)) and not (folder / FILE).is_file():
        raise InputError(f"{folder}: holds no campaigns; name another with --folder")
    return _open(folder, database)


def _find(store: Store, campaign: str) -> str:
    found = store.campaigns()
    same = [one.id for one in found if campaign in (one.id, one.name)]
    if len(same) != 1:
        what = "no campaign" if not same else "more than one campaign"
        raise UsageError(f"{what} is called {campaign!r}; 'meantime annotate list' shows the ids")
    return same[0]


def _secret(folder: Path) -> str:
    """From the environment, else from a file that its owner alone may read."""
    given = os.environ.get(SECRET)
    if given is not None:
        if len(given) < 32:
            raise UsageError(f"{SECRET} has {len(given)} characters; give 32 or more")
        return given
    path = folder / "secret"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            text = path.read_text(encoding="ascii").strip()
            if path.stat().st_mode & 0o077:
                raise InputError(f"{path}: others may read it; chmod 600 it") from None
            if len(text) < 32:
                raise InputError(f"{path}: is no secret of ours; remove it") from None
            return text
        with os.fdopen(number, "w", encoding="ascii") as file:
            made = secrets.token_urlsafe(32)
            file.write(made + "\n")
        return made
    except OSError as error:
        raise InputError(f"{path}: cannot be made or read ({error.strerror})") from error


def bind(host: str, port: int) -> socket.socket:
    """An address of our own to listen on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except (OSError, OverflowError) as error:
        bound.close()
        raise UsageError(
            f"{host}:{port} cannot be bound ({error}); give another --port or --host"
        ) from error
    return bound


def _analyser() -> Callable[[], Analyser]:
    from functools import cache

    from meantime.analysis import open_analyser

    return cache(open_analyser)


def _administrator_link(store: Store, address: str) -> str:
    from meantime.annotation.campaign import Role

    people = store.people(None)
    me = people[0] if people else store.add_person(None, "administrator", Role.ADMINISTRATOR)
    # Good for an hour and for one use: it stands in a terminal.
    return f"{address}/enter/{store.make_link(me.id, days=1 / 24, single=True)}"


def _run(store: Store, config: Config, bound: socket.socket) -> None:
    import uvicorn

    from meantime.annotation.app import create_app

    settings = uvicorn.Config(
        create_app(store, config), log_level="warning", access_log=False, server_header=False
    )
    try:
        uvicorn.Server(settings).run(sockets=[bound])
    except KeyboardInterrupt:
        pass
    finally:
        store.close()
    typer.echo("stopped; everything that was saved is kept")


def _config(
    folder: Path, bound: socket.socket, host: str, names: list[str], address: str | None
) -> Config:
    from meantime.annotation.app import Config

    port = bound.getsockname()[1]
    shown = "localhost" if host in ("127.0.0.1", "::1", "0.0.0.0", "::") else host
    public = (address or f"http://{shown}:{port}").rstrip("/")
    if not public.startswith(("http://", "https://")):
        raise UsageError(f"--address {address}: write https://… or http://…")
    known = {"localhost", "127.0.0.1", "::1", *(name.lower() for name in names)}
    known |= {public.split("://", 1)[1].split("/")[0].rsplit(":", 1)[0].lower()}
    if host not in ("0.0.0.0", "::"):
        known.add(host)
    return Config(
        secret=_secret(folder),
        hosts=frozenset(known),
        secure=public.startswith("https://"),
        address=public,
        analyser=_analyser(),
    )


@annotate_app.command("serve")
def serve(
    folder: Folder = _FOLDER,
    database: Database = None,
    host: Host = "127.0.0.1",
    port: Port = 8710,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="URL",
            help="How people reach it, for the links; https:// makes cookies go no other way.",
        ),
    ] = None,
    host_name: Annotated[
        list[str] | None,
        typer.Option(
            "--host-name", metavar="NAME", help="A further name the server answers to; repeatable."
        ),
    ] = None,
) -> None:
    """Start the application; prints its address and a link for the administrator."""
    _require()
    bound = bind(host, port)
    try:
        store = _open(folder, database)
        config = _config(folder, bound, host, host_name or [], address)
        link = _administrator_link(store, config.address)
    except BaseException:
        bound.close()
        raise
    typer.echo(f"serving {config.address}, Ctrl-C stops it")
    typer.echo(f"administrator (one use, within an hour): {link}")
    _run(store, config, bound)


@annotate_app.command("demo")
def demo(
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="FOLDER", help="Keep the demo here.  [default: not kept]"),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8710,
    make_only: Annotated[
        bool, typer.Option("--make-only", help="Make the campaign in --folder and do not serve it.")
    ] = False,
) -> None:
    """Serve a campaign of our own sentences, worked on by simulated people."""
    _require()
    if make_only and folder is None:
        raise UsageError("--make-only makes something to keep; add --folder FOLDER")
    with tempfile.TemporaryDirectory(prefix="meantime-demo-") as name:
        target = folder if folder is not None else Path(name) / "campaigns"
        if folder is not None and folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder}: is not empty; name a new folder for the demo")
        bound = None if make_only else bind(host, port)
        links = _make_demo(target)
        if bound is None:
            typer.echo(f"made; 'meantime annotate serve --folder {target}' serves it")
            return
        store = _open(target, None)
        config = _config(target, bound, host, [], None)
        typer.echo(f"serving a demo at {config.address}, Ctrl-C stops it")
        typer.echo("all people in it are simulated; these links let you be one of them:")
        typer.echo(f"  {'administrator':14}{_administrator_link(store, config.address)}")
        for role, secret in links:
            typer.echo(f"  {role:14}{config.address}/enter/{secret}")
        _run(store, config, bound)


def _make_demo(folder: Path) -> list[tuple[str, str]]:
    from meantime.annotation.demo import make_demo
    from meantime.annotation.simulate import Clock
    from meantime.annotation.store import open_store
    from meantime.cli.progress import Bar

    clock = Clock(time.time() - 3 * 86400)
    # What is made here can be made again: no need to wait for the disk five thousand times.
    store = open_store(folder, clock=clock, durable=False)
    try:
        typer.echo("simulated people are at work; half a minute")
        with Bar("simulating") as bar:
            made = make_demo(store, clock, progress=bar)
        return [(str(one.role), store.make_link(one.id)) for one in made.visitors]
    finally:
        store.close()


@annotate_app.command("list")
def show_campaigns(
    folder: Folder = _FOLDER,
    database: Database = None,
) -> None:
    """List the campaigns: id, state, name, tasks done and in all."""
    store = _existing(folder, database)
    for one in store.campaigns():
        progress = store.progress(one.id).items()
        told = ", ".join(f"{kind} {p.done}/{p.total}" for kind, p in progress if kind != "training")
        typer.echo(f"{one.id}  {one.state:7}{one.name}: {told}")
    store.close()


@annotate_app.command("results")
def results(
    campaign: Campaign,
    folder: Folder = _FOLDER,
    database: Database = None,
    metric: Metrics = None,
) -> None:
    """Print HMEANT by system, agreement, and correlations with people."""
    from rich.table import Table

    from meantime.annotation.correlations import STATISTICS, arrange, correlate
    from meantime.annotation.results import compute
    from meantime.cli.output import colours, emit, render
    from meantime.registry import create

    for name in metric or []:
        create(name)
    store = _existing(folder, database)
    data = store.everything(_find(store, campaign))
    found = compute(data)

    def shown(value: float | None, decimals: int = 3) -> str:
        return "–" if value is None or value != value else f"{value:.{decimals}f}"  # noqa: PLR0124

    systems = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("system", "hmeant", "interval", "precision", "recall", "segments", "rank"):
        systems.add_column(head, justify="left" if head == "system" else "right")
    for one in found.systems:
        numbers = (one.f, one.precision, one.recall)
        f, precision, recall = map(shown, numbers)
        systems.add_row(
            one.system,
            f,
            f"[{shown(one.low)}, {shown(one.high)}]",
            precision,
            recall,
            str(one.segments),
            shown(one.rank, 2),
        )
    agreement = [
        f"agreement on {name}: role identification {shown(one.identification)}, "
        f"classification {shown(one.classification)} ({one.pairs} pairs of readings)"
        for name, one in found.agreement.items()
    ]
    lines: list[Table | str] = [systems, "", *agreement]
    for part in arrange(correlate(data, metric or [], _analyser(), found)):
        if not part.lines:
            lines += ["", f"correlation with {part.title}: {'; '.join(part.notes)}"]
            continue
        table = Table(box=None, pad_edge=False, header_style="bold")
        for head in ("metric", "translations", *STATISTICS, "segments"):
            table.add_column(
                head, justify="left" if head in ("metric", "translations") else "right"
            )
        for line in part.lines:
            figures = (shown(one.value) for one in line.correlations)
            table.add_row(line.metric, line.grouping, *figures, line.segments)
        lines += ["", f"correlation with {part.title}:", table, *part.notes]
    emit(render(lines, colour=colours(None)), None)
    store.close()


@annotate_app.command("export")
def export(
    campaign: Campaign,
    output: Output,
    folder: Folder = _FOLDER,
    database: Database = None,
    format: Annotated[
        ExportFormat, typer.Option("--format", "-f", help="What to write.")
    ] = ExportFormat.JSONL,
    metric: Metrics = None,
) -> None:
    """Write a campaign, its judgements or its scores into a file."""
    from meantime.annotation import results as computing
    from meantime.annotation import transfer
    from meantime.annotation.correlations import correlate, render_correlations
    from meantime.formats import write
    from meantime.formats.judgements import render_judgements
    from meantime.formats.opening import encode, save, save_folder
    from meantime.registry import create

    if metric and format not in (ExportFormat.RESULTS, ExportFormat.CORRELATIONS):
        raise UsageError(f"--metric is for -f results and -f correlations, not for {format}")
    for name in metric or []:
        create(name)
    store = _existing(folder, database)
    found = _find(store, campaign)
    if format is ExportFormat.CSV:
        save_folder(output, transfer.render_csv(store, found))
    elif format is ExportFormat.CORPUS:
        write(computing.make_corpus(store.everything(found)), output)
    else:
        if format is ExportFormat.JSONL:
            text = transfer.render_jsonl(store, found)
        else:
            data = store.everything(found)
            if format is ExportFormat.JUDGEMENTS:
                text = render_judgements(computing.collect_judgements(data))
                if not text:
                    raise InputError("nothing has all its judgements yet; let judges finish")
            elif format.value.startswith("human-"):
                which = format.value.removeprefix("human-")
                text = transfer.render_human_scores(data, computing.compute(data), which)
            elif format is ExportFormat.RATINGS:
                text = transfer.render_ratings(data)
            elif format is ExportFormat.SCORES:
                text = transfer.render_scores(computing.compute(data))
            else:
                computed = computing.compute(data)
                table = correlate(data, metric or [], _analyser(), computed)
                if format is ExportFormat.CORRELATIONS:
                    text = render_correlations(table)
                else:
                    made = computing.as_json(computed, table)
                    text = json.dumps(made, ensure_ascii=False, indent=1) + "\n"
        save(output, encode(text))
    store.close()
    typer.echo(f"wrote {output}")


@annotate_app.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="An export: a JSONL file or a folder of CSV.")
    ],
    folder: Folder = _FOLDER,
    database: Database = None,
) -> None:
    """Put an exported campaign into a database, as it was."""
    if not file.exists():
        raise InputError(f"{file}: no such file; check the name and the folder")
    store = _open(folder, database)
    from meantime.annotation.transfer import import_campaign

    campaign = import_campaign(store, file)
    store.close()
    typer.echo(f"imported campaign {campaign}; its people need new links")


@annotate_app.command("backup")
def backup(
    output: Output,
    folder: Folder = _FOLDER,
    database: Database = None,
) -> None:
    """Write everything into one file, while people work."""
    store = _existing(folder, database)
    from meantime.annotation.store import backup as write

    count = write(store, output)
    store.close()
    typer.echo(f"wrote {count} rows to {output}")


@annotate_app.command("restore")
def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What 'meantime annotate backup' wrote.")
    ],
    folder: Folder = _FOLDER,
    database: Database = None,
) -> None:
    """Put a backup into a new folder or an empty database, of either kind."""
    _require()
    if not file.is_file():
        raise InputError(f"{file}: no such file; check the name and the folder")
    from meantime.annotation.store import restore as read
    from meantime.annotation.store.opening import open_engine

    address = database or os.environ.get(DATABASE)
    engine = open_engine(None if address else folder, address)
    count = read(engine, file)
    engine.dispose()
    typer.echo(f"restored {count} rows")
