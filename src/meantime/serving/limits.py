"""How much is taken, and how long it may take."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from meantime.errors import InputError, MeantimeError


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may ask for. Sizes are told to whoever asks (`/api/limits`)."""

    characters: int = 1_500
    """Of one text."""
    words: int = 250
    """Of one text: some metrics compare all stretches of words with all others."""
    translations: int = 8
    references: int = 4
    metrics: int = 30
    seconds: float = 30.0
    """For scores of texts."""
    systems: int = 20
    segments: int = 5_000
    bytes: int = 20_000_000
    """Of all files of a comparison, unpacked."""
    comparison_seconds: float = 900.0
    explanations: int = 10_000
    waiting: int = 3
    """Comparisons that wait for their turn."""
    kept: int = 8
    """Comparisons whose reports are kept; the oldest goes first."""


class TooSlow(MeantimeError):
    """It took longer than is given to one request."""


class Busy(MeantimeError):
    """Too much is being worked on already."""


class Cancelled(MeantimeError):
    """Nobody wants it any more."""


@dataclass(slots=True)
class Deadline:
    """Asked again and again while work is done; ends it where time is up or nobody waits.

    It can be called as progress, so that whatever reports progress can be ended.
    """

    seconds: float
    cancelled: threading.Event = field(default_factory=threading.Event)
    _start: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Go on, or not.

        Raises:
            TooSlow: Time is up.
            Cancelled: It was called off.
        """
        if self.cancelled.is_set():
            raise Cancelled("called off")
        if time.monotonic() - self._start > self.seconds:
            raise TooSlow(
                f"this took longer than {self.seconds:g} seconds; give less text or fewer metrics, "
                "or start the server with a larger --time-limit"
            )

    def __call__(self, _done: int, _total: int) -> None:
        """As progress."""
        self.check()

    @property
    def passed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start


def check_text(text: str, limits: Limits, what: str) -> None:
    """Refuse a text that is too long.

    Raises:
        InputError: It is.
    """
    if len(text) > limits.characters:
        raise InputError(
            f"the {what} has {len(text)} characters; at most {limits.characters} are taken"
        )
    count = len(text.split())
    if count > limits.words:
        raise InputError(f"the {what} has {count} words; at most {limits.words} are taken")
