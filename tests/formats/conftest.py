"""Helpers of the format tests: files made on the spot, and refusals that say enough."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from meantime import formats
from meantime.errors import MeantimeError

Make = Callable[[str, str | bytes], Path]
Refused = Callable[..., None]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a file below a folder of this test's own."""

    def make_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make_file


@pytest.fixture
def refused() -> Refused:
    """Check that reading is refused, with just this class and these words in the message."""

    def check(kind: type[MeantimeError], words: list[str], *args: Any, **options: Any) -> None:
        with pytest.raises(MeantimeError) as caught:
            formats.read(*args, **options)
        assert type(caught.value) is kind, caught.value
        for word in words:
            assert word in str(caught.value)
        assert ";" in str(caught.value), "the remedy comes after a semicolon"

    return check
