"""Parts a test may need beyond Python, and what happens where one is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# Continuous integration judges a change, so it tries the same examples each time; every other run
# goes on searching.
settings.register_profile("ci", derandomize=True)
REQUIRE = "MEANTIME_REQUIRE_ALL"
if os.environ.get("CI") or os.environ.get(REQUIRE):
    settings.load_profile("ci")

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"

PARTS: dict[str, tuple[Callable[[], bool], str]] = {
    "shared": (SHARED.is_dir, "the evaluation data are not beside the repository (../shared/data)"),
    "wordnet": (
        lambda: Path("/usr/share/wordnet/index.noun").is_file(),
        "WordNet is not installed (Debian: apt-get install wordnet-base)",
    ),
    "chromium": (
        lambda: shutil.which("chromium") is not None,
        "Chromium is not installed (Debian: apt-get install chromium)",
    ),
    "postgresql": (
        lambda: any(Path("/usr/lib/postgresql").glob("*/bin/initdb")),
        "PostgreSQL is not installed (Debian: apt-get install postgresql)",
    ),
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip with the reason where a part is missing; fail where all must be there."""
    for marker in item.iter_markers("needs"):
        for part in marker.args:
            there, reason = PARTS[part]
            if there():
                continue
            if os.environ.get(REQUIRE):
                pytest.fail(f"{reason}; {REQUIRE} is set, so this is no reason to skip")
            pytest.skip(reason)


@pytest.fixture
def shared() -> Path:
    """The folder of evaluation data."""
    return SHARED


@pytest.fixture
def root() -> Path:
    """The repository."""
    return ROOT
