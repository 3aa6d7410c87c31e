"""What a long search has found so far, kept so that it can be gone on with.

One JSON object a line. The first names what is searched, by a fingerprint of everything the
answers depend on; each other holds one answer. A file of another search is begun anew, and a last
line that a kill cut short is left out.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError


class Journal:
    """Answers by key, in memory and, where a path is given, on disk."""

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        """Read what there is of this search.

        Raises:
            InputError: The file cannot be read or written.
        """
        self.path = path
        self.fingerprint = fingerprint
        self._known: dict[str, Any] = {}
        self.resumed = 0
        """Answers that were there already."""
        if path is None:
            return
        try:
            lines = path.read_bytes().split(b"\n") if path.exists() else []
            if lines and _parsed(lines[0]) == {"fingerprint": fingerprint}:
                whole = lines[:1]
                # What follows the last line break was cut short.
                for line in lines[1:-1]:
                    item = _parsed(line)
                    if not isinstance(item, dict) or set(item) != {"key", "value"}:
                        break
                    self._known[item["key"]] = item["value"]
                    whole.append(line)
                path.write_bytes(b"\n".join(whole) + b"\n")
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(json.dumps({"fingerprint": fingerprint}).encode() + b"\n")
        except OSError as error:
            raise InputError(
                f"{path}: cannot be kept ({error.strerror}); check that the folder can be written"
            ) from error
        self.resumed = len(self._known)

    def get(self, key: str) -> Any:
        """The answer, or None."""
        return self._known.get(key)

    def put(self, key: str, value: Any) -> None:
        """Keep an answer; numbers, texts, lists and dictionaries of them."""
        self._known[key] = value
        if self.path is None:
            return
        with self.path.open("ab") as file:
            file.write(json.dumps({"key": key, "value": value}).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def remove(self) -> None:
        """The search is over: nothing is left on disk."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def fingerprint(facts: Mapping[str, object], *arrays: NDArray[Any]) -> str:
    """A hash of facts and numbers: the same for the same, whatever the order of the facts."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=True).encode())
    for array in arrays:
        content = numpy.ascontiguousarray(array)
        digest.update(f"{content.dtype.str}{content.shape}".encode())
        digest.update(content.tobytes())
    return digest.hexdigest()
