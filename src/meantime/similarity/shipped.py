"""What this room ships: context vectors and an idf table, as one unit with a card."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from meantime.errors import InputError
from meantime.similarity.context_file import VECTORS, check, models_folder, open_file
from meantime.similarity.idf import KIND

FILES = {"context.vectors": VECTORS, "sentences.idf": KIND}
CARD = "card.md"
FACTS = "card.json"


@dataclass(frozen=True)
class ShippedVectors:
    """A folder of context vectors and an idf table."""

    folder: Path

    @property
    def name(self) -> str:
        """What the listing of models calls it, beside the analyser of the same language."""
        return f"{self.folder.name}-vectors"

    @cached_property
    def identity(self) -> str:
        """The recorded hash of the context vectors."""
        [name, *_] = FILES
        return open_file(self.folder / name, FILES[name]).identity

    def check(self) -> None:
        """Refuse files that are not the ones the card speaks of."""
        recorded = self.facts.get("files", {})
        for name, kind in FILES.items():
            if check(self.folder / name, kind) != recorded.get(name):
                raise InputError(f"{self.folder / name}: not what the card says; install it again")

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What the card says, as data."""
        found: dict[str, Any] = json.loads((self.folder / FACTS).read_text(encoding="utf-8"))
        return found

    @property
    def card(self) -> str:
        """The card."""
        return (self.folder / CARD).read_text(encoding="utf-8")


def installed() -> list[ShippedVectors]:
    """The vectors that come with the package."""
    if not models_folder().is_dir():
        return []
    return [
        ShippedVectors(folder) for folder in sorted(models_folder().iterdir()) if folder.is_dir()
    ]
