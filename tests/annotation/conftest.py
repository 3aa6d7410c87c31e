"""Stores of both kinds, a server of our own for PostgreSQL, and campaigns to work on."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from meantime.annotation.campaign import Role, Settings, Training
from meantime.annotation.simulate import Clock, demo_segments
from meantime.annotation.store import NewCampaign, Store, open_store

_numbers = count()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL server started for these tests."""
    [programs, *_] = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    folder = Path(tempfile.mkdtemp(prefix="meantime-postgresql-"))
    user = []
    if os.geteuid() == 0:
        # The server refuses to run as root.
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        user = ["runuser", "-u", "postgres", "--"]
    data = folder / "data"

    def run(*command: str) -> None:
        subprocess.run(
            [*user, *command], check=True, cwd=folder, stdout=subprocess.DEVNULL, timeout=60
        )

    run(
        f"{programs}/initdb",
        "-D",
        str(data),
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--no-sync",
    )
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
    options += " -c max_connections=200 -c fsync=off"
    log = str(folder / "log")
    run(f"{programs}/pg_ctl", "-D", str(data), "-w", "-l", log, "-o", options, "start")
    try:
        yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        run(f"{programs}/pg_ctl", "-D", str(data), "-m", "immediate", "-W", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def new_database(request: pytest.FixtureRequest):
    """Makes an empty PostgreSQL database; gives its address."""
    import psycopg

    def make() -> str:
        address = request.getfixturevalue("postgresql")
        name = f"test_{os.getpid()}_{next(_numbers)}"
        # A schema of its own is as empty as a database, and made in no time.
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{address}&options=-csearch_path%3D{name}"

    return make


BOTH = [
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgresql", id="postgresql", marks=pytest.mark.needs("postgresql")),
]


@pytest.fixture(params=BOTH)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(kind: str, tmp_path: Path, request: pytest.FixtureRequest):
    """Where a store is: (folder, None) or (None, address)."""
    if kind == "sqlite":
        return (tmp_path / "campaigns", None)
    return (None, request.getfixturevalue("new_database")())


@pytest.fixture
def clock() -> Clock:
    return Clock(1_700_000_000.0)


@pytest.fixture
def store(place, clock: Clock) -> Iterator[Store]:
    opened = open_store(*place, clock=clock, durable=False)
    yield opened
    opened.close()


@pytest.fixture
def small(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    """A store where the kind does not matter."""
    opened = open_store(tmp_path / "small", clock=clock, durable=False)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def truth():
    return {one.name: one for one in demo_segments()}


@pytest.fixture
def settings() -> Settings:
    return Settings(training=Training.OFF, repeat_every=0)


@pytest.fixture
def make(truth):
    """Makes a campaign of the first segments of the demo, with people."""

    def do(store: Store, settings: Settings, segments: int = 2, **people: int):
        new = NewCampaign(
            "test", settings, tuple(one.new() for one in list(truth.values())[:segments])
        )
        campaign = store.create_campaign(new)
        found = [
            store.add_person(campaign, f"{role} {number}", Role(role))
            for role, many in people.items()
            for number in range(many)
        ]
        return campaign, found

    return do
