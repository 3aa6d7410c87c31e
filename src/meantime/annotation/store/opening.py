"""Opening a database, and keeping a copy of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Engine, create_engine, event, insert, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, CompileError, DatabaseError, OperationalError

from meantime.annotation.store.migrations import LATEST, migrate, version_of
from meantime.annotation.store.schema import ALL, OF_A_CAMPAIGN
from meantime.annotation.store.store import Store
from meantime.errors import FormatError, InputError, UsageError
from meantime.formats.opening import load, replace

FILE = "campaigns.sqlite"
_HEAD = "meantime annotate backup"


def open_store(
    folder: Path | None = None,
    database: str | None = None,
    *,
    clock: Callable[[], float] | None = None,
    durable: bool = True,
    ids: Callable[[], str] | None = None,
) -> Store:
    """Open the database in a folder, or the one an address names, brought to today's tables.

    Args:
        folder: Where SQLite keeps its file; made, for its owner alone, if it is not there.
        database: `postgresql://user@host/name`, instead.
        clock: What tells the time; for tests.
        ids: What makes names of rows; by default chance. The same names give the same chances.
        durable: Whether a commit waits for the disk. Only what can be made again goes without.

    Raises:
        InputError: The database cannot be opened or was made by a later version.
        UsageError: Neither or both were given, or another kind of database.
    """
    engine = open_engine(folder, database, durable=durable)
    try:
        migrate(engine)
    except OperationalError as error:
        place = database_name(database) if database else str(folder)
        raise InputError(
            f"{place}: the database cannot be used ({_first_line(error)}); check that it is "
            "there, runs and lets you write"
        ) from error
    except DatabaseError as error:
        raise InputError(f"{folder or 'database'}: no database of ours ({_first_line(error)}); "
                         "give another folder") from error  # fmt: skip
    return Store(engine, clock, ids)


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", error)).strip().splitlines()[0]


def database_name(address: str) -> str:
    """An address without its password, for messages."""
    try:
        return make_url(address).render_as_string(hide_password=True)
    except ArgumentError:
        return "the database"


def open_engine(folder: Path | None, database: str | None, *, durable: bool = True) -> Engine:
    """A connection pool; the tables are not looked at."""
    if (folder is None) == (database is None):
        raise UsageError("give a folder, or a database with --database, and not both")
    if database is not None:
        try:
            url = make_url(database)
        except ArgumentError as error:
            raise UsageError(
                "--database is no address; write postgresql://user@host/name"
            ) from error
        if url.get_backend_name() != "postgresql":
            raise UsageError(
                f"--database names {url.get_backend_name()}; only postgresql:// is known, and "
                "SQLite is used in a folder without it"
            )
        return create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_size=10,
            max_overflow=20,
            pool_pre_ping=True,
        )
    assert folder is not None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # People's work is nobody else's business: the file is made before SQLite makes it.
        (folder / FILE).touch(mode=0o600)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be made or written ({error.strerror}); name another folder"
        ) from error
    engine = create_engine(f"sqlite:///{folder / FILE}", pool_size=10, max_overflow=30)

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: object) -> None:
        # Transactions are begun below, not guessed by the driver.
        connection.isolation_level = None
        for pragma in (
            "busy_timeout = 30000",
            "journal_mode = WAL",
            # A commit is on the disk when it returns: "saved" is said after that.
            f"synchronous = {'FULL' if durable else 'OFF'}",
            "foreign_keys = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        reading = connection.get_execution_options().get("reading", False)
        # Whoever will write says so at once; a lock taken later could fail in between.
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def backup(store: Store, path: Path) -> int:
    """Write everything into one file, as it is at one moment; returns how many rows.

    The file is gzipped JSON lines, the same for SQLite and PostgreSQL. Links and sessions are in
    it by their hashes alone.
    """
    count = 0

    def write(target: Path) -> None:
        nonlocal count
        with gzip.open(target, "wt", encoding="utf-8") as file:
            target.chmod(0o600)
            file.write(json.dumps({"what": _HEAD, "version": LATEST}) + "\n")
            for table, row in store.dump():
                file.write(json.dumps([table, row], ensure_ascii=False) + "\n")
                count += 1
            file.write(json.dumps({"rows": count}) + "\n")

    replace(path, write)
    return count


def upgrade(
    rows: Sequence[tuple[str, Mapping[str, Any]]], version: int, name: str
) -> list[tuple[str, dict[str, Any]]]:
    """Rows of a campaign as an earlier version had them, as they would be today.

    They go through a database of their own, by the steps that any other takes.

    Raises:
        FormatError: They do not fit the tables of that version; `name` is what to call them.
    """
    known = {table.name: {column.name for column in table.columns} for table in OF_A_CAMPAIGN}
    for table, row in rows:
        odd = sorted(set(row) - known[table])
        if odd:
            raise FormatError(
                f"{name}: its rows do not fit the tables of version {version} ({table} has no "
                f"column {odd[0]}); export the campaign again"
            )
    with TemporaryDirectory() as folder:
        engine = open_engine(Path(folder), None, durable=False)
        try:
            migrate(engine, version)
            with engine.begin() as connection:
                for kept in OF_A_CAMPAIGN:
                    own = [dict(row) for table, row in rows if table == kept.name]
                    if own:
                        connection.execute(insert(kept), own)
            migrate(engine)
            campaign = next((row.get("id") for table, row in rows if table == "campaigns"), None)
            return list(Store(engine).dump(str(campaign)))
        except (DatabaseError, CompileError) as error:
            raise FormatError(
                f"{name}: its rows do not fit the tables of version {version} "
                f"({_first_line(error)}); export the campaign again"
            ) from error
        finally:
            engine.dispose()


def restore(engine: Engine, path: Path) -> int:
    """Put a backup into an empty database; returns how many rows.

    Raises:
        InputError: The file is no backup, is cut short, or the database is not empty.
    """
    # By line feeds alone: to Unicode some characters of texts end a line, too.
    lines = load(path).decode("utf-8", "replace").removesuffix("\n").split("\n")
    try:
        head = json.loads(lines[0])
        foot = json.loads(lines[-1])
        rows = [json.loads(line) for line in lines[1:-1]]
        version = int(head["version"])
        if head["what"] != _HEAD or foot["rows"] != len(rows) or version < 1:
            raise ValueError("its first or last line is wrong")
        waiting: dict[str, list[dict[str, Any]]] = {table.name: [] for table in ALL}
        for name, row in rows:
            waiting[name].append(dict(row))
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise FormatError(
            f"{path}: no whole backup ({error}); give a file that 'meantime annotate backup' wrote"
        ) from error
    if version > LATEST:
        raise InputError(
            f"{path}: written by a later version ({version}, known is {LATEST}); use that one"
        )
    with engine.connect() as connection:
        there = version_of(connection)
        # Asked by name: the tables of an earlier version lack columns, or are not all there.
        filled = any(
            connection.execute(text(f"SELECT 1 FROM {table.name} LIMIT 1")).first()
            for table in ALL
            if connection.dialect.has_table(connection, table.name)
        )
        if filled or there not in (0, version):
            raise InputError(
                "the database to restore into is not empty; name a new folder or an empty database"
            )
    # First to the version of the backup, then its rows, then the steps that followed.
    migrate(engine, version)
    try:
        with engine.begin() as connection:
            for table in ALL:
                for start in range(0, len(waiting[table.name]), 1000):
                    connection.execute(insert(table), waiting[table.name][start : start + 1000])
    except (DatabaseError, CompileError) as error:
        raise FormatError(
            f"{path}: its rows do not fit together ({_first_line(error)}); nothing was restored"
        ) from error
    migrate(engine)
    return len(rows)
