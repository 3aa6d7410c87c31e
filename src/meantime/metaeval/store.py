"""Statistics kept on disk, so that an evaluation goes on where it stopped.

A piece of a task (some thousand pairs measured by one metric) is one file, named after a hash
of everything its numbers depend on: the metric's signature, the analyser, the references the
metric was prepared with, the texts. A file that is damaged, or made by something else, is
measured anew.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy

from meantime.errors import InputError
from meantime.formats.opening import save
from meantime.protocols import Array

SUFFIX = ".statistics.npy"
LIMIT = 1_000_000_000


def digest(texts: Iterable[str]) -> str:
    """A hash of texts in order; what stands in one never counts for another."""
    found = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.hexdigest()


@dataclass(frozen=True, slots=True)
class StatisticsStore:
    """A folder of statistics; the oldest go when it grows over `limit` bytes."""

    folder: Path
    limit: int = LIMIT

    def load(self, key: str, count: int) -> Array | None:
        """The rows kept under this key, if they are there, whole, and `count` of them."""
        path = self._path(key)
        try:
            rows = numpy.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        sound = (
            isinstance(rows, numpy.ndarray)
            and rows.dtype == numpy.float64
            and rows.ndim == 2
            and len(rows) == count
            and bool(numpy.isfinite(rows).all())
        )
        return rows if sound else None

    def keep(self, key: str, rows: Array) -> str | None:
        """Keep rows; returns why not, where they could not be kept."""
        buffer = io.BytesIO()
        numpy.save(buffer, numpy.ascontiguousarray(rows, dtype=numpy.float64), allow_pickle=False)
        path = self._path(key)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            save(path, buffer.getvalue())
            self._prune(path)
        except (OSError, InputError) as error:
            return f"statistics are not kept ({error}); a later run measures them again"
        return None

    def files(self) -> list[Path]:
        """Everything kept, oldest first."""
        found = [(path, _stat(path)) for path in self.folder.glob(f"*{SUFFIX}")]
        return [path for path, (when, _) in sorted(found, key=lambda item: item[1][0])]

    def size(self) -> int:
        """Bytes in use."""
        return sum(_stat(path)[1] for path in self.files())

    def clear(self) -> int:
        """Remove everything; returns how many files that were."""
        files = self.files()
        for path in files:
            path.unlink(missing_ok=True)
        return len(files)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"

    def _prune(self, newest: Path) -> None:
        total = self.size()
        for path in self.files():
            if total <= self.limit:
                return
            if path != newest:
                total -= _stat(path)[1]
                path.unlink(missing_ok=True)


def _stat(path: Path) -> tuple[float, int]:
    """When a file was changed, and its size; of one that is gone, nothing."""
    try:
        found = path.stat()
    except OSError:
        return 0.0, 0
    return found.st_mtime, found.st_size
