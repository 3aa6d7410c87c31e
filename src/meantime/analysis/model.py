"""A model as one unit: networks, label lists, tokeniser, card, and a hash over them.

Nothing in it is unpickled: ONNX, JSON and text only.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from meantime.errors import InputError

FILES = ("first.onnx", "second.onnx", "tokenizer.json", "configuration.json")
CARD = "card.md"
FACTS = "card.json"
FORMAT = 1


@dataclass(frozen=True)
class Model:
    """A folder that holds an analyser's model."""

    folder: Path

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise InputError(f"{self.folder}: no such folder; give one that holds a model")
        for name in FILES:
            if not (self.folder / name).is_file():
                raise InputError(
                    f"{self.folder}: {name} is missing; a model has {', '.join(FILES)}"
                )
        if not isinstance(self.configuration, dict):
            raise InputError(f"{self.folder}: configuration.json is no object; export it again")
        if self.configuration.get("format") != FORMAT:
            raise InputError(
                f"{self.folder}: model format {self.configuration.get('format')}, this version "
                f"reads {FORMAT}; export the model again with this version's training code"
            )
        labels = self.configuration.get("labels")
        whole = isinstance(labels, dict) and {"tags", "constituents", "roles"} <= set(labels)
        if not whole or not isinstance(self.configuration.get("width"), int):
            raise InputError(
                f"{self.folder}: configuration.json lacks labels or width; export the model again"
            )

    @cached_property
    def configuration(self) -> dict[str, Any]:
        path = self.folder / "configuration.json"
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{path}: not JSON ({error}); export the model again") from error
        return found

    @property
    def name(self) -> str:
        return str(self.configuration.get("name", self.folder.name))

    @cached_property
    def identity(self) -> str:
        """A hash of the files. That of a shipped model is the recorded one, which `check`
        compares with the files; any other folder may have been changed by hand.
        """
        recorded = self.configuration.get("hash")
        ours = self.folder.parent == shipped()
        return str(recorded) if recorded and ours else self.compute_hash()

    def compute_hash(self) -> str:
        """The hash of everything an answer depends on."""
        digest = hashlib.sha256()
        for name in FILES:
            data = (self.folder / name).read_bytes()
            if name == "configuration.json":
                settings = {k: v for k, v in json.loads(data).items() if k != "hash"}
                data = json.dumps(settings, sort_keys=True).encode()
            digest.update(hashlib.sha256(data).digest())
        return digest.hexdigest()

    def check(self) -> None:
        """Refuse a model whose files are not the ones its hash was made of."""
        if self.configuration.get("hash") != self.compute_hash():
            raise InputError(f"{self.folder}: the files are damaged or changed; install it again")

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What the card says, as data: licence, figures, data it was made from."""
        path = self.folder / FACTS
        found: dict[str, Any] = {}
        if path.is_file():
            found = json.loads(path.read_text(encoding="utf-8"))
        return found

    @property
    def card(self) -> str:
        path = self.folder / CARD
        return path.read_text(encoding="utf-8") if path.is_file() else ""


def shipped() -> Path:
    """Where the models that come with the package are."""
    return Path(__file__).parent / "models"


def installed() -> list[Model]:
    """The models that come with the package."""
    if not shipped().is_dir():
        return []
    return [Model(folder) for folder in sorted(shipped().iterdir()) if folder.is_dir()]
