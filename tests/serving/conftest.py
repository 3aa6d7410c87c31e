"""The application the tests of this folder ask, made once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from meantime.analysis import open_analyser
from meantime.serving import Limits, create_app

LIMITS = Limits(segments=50, bytes=200_000, comparison_seconds=300, seconds=120)


def make_app(limits: Limits = LIMITS, hosts: tuple[str, ...] = ("localhost", "testserver")):
    """An application with the shipped analyser and no cache."""
    return create_app(
        try_analyser=lambda progress: open_analyser(progress=progress),
        file_analyser=lambda progress: open_analyser(progress=progress),
        hosts=frozenset(hosts),
        limits=limits,
    )


@pytest.fixture(scope="session")
def client() -> Iterator:
    from starlette.testclient import TestClient

    with TestClient(make_app()) as opened:
        yield opened
