"""A sentence as it was read, and where; so that a refusal names file, line and token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from meantime.errors import FormatError
from meantime.types import Frame, Sentence, Tree


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sentence stands: the file, and the line of each token or of all of them."""

    name: str
    lines: Sequence[int]

    def at(self, token: int) -> str:
        """File and line of a token, as a message begins with them."""
        return f"{self.name}:{self.lines[min(token, len(self.lines) - 1)]}"

    def refuse(self, token: int, what: str) -> NoReturn:
        """Refuse the file because of what stands at a token.

        Raises:
            FormatError: Always.
        """
        raise FormatError(f"{self.at(token)}: {what}")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A sentence and its place; no place where it did not come from a file."""

    sentence: Sentence
    place: Place | None = None


def of_tokens(
    tokens: Sequence[str],
    *,
    lang: str,
    pos: tuple[str, ...] | None,
    tree: Tree | None,
    frames: tuple[Frame, ...] | None,
) -> Sentence:
    """A sentence whose text nobody told: the tokens with a space between them."""
    offsets = []
    start = 0
    for token in tokens:
        offsets.append((start, start + len(token)))
        start += len(token) + 1
    return Sentence(
        " ".join(tokens),
        lang,
        tokens=tuple(tokens),
        offsets=tuple(offsets),
        pos=pos,
        tree=tree,
        frames=frames,
    )
