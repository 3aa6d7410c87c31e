"""A progress bar on a terminal, for work of over a second; nothing in a pipe."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

DELAY = 1.0


class Bar:
    """Called with how much is done and of how much; drawn after a second, then removed."""

    def __init__(self, what: str, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._what = what
        self._bar: Progress | None = None
        self._timer: threading.Timer | None = None
        self._state = (0, 0)
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int) -> None:
        with self._lock:
            self._state = (done, total)
            if not self._console.file.isatty():
                return
            if self._timer is None:
                # Only now: processes are forked before the first call, threads come after.
                self._timer = threading.Timer(DELAY, self._show)
                self._timer.daemon = True
                self._timer.start()
            elif self._bar is not None:
                self._bar.update(self._bar.task_ids[0], completed=done, total=total)

    def _show(self) -> None:
        with self._lock:
            if self._timer is None:
                return
            bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            bar.add_task(self._what, completed=self._state[0], total=self._state[1])
            bar.start()
            self._bar = bar

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take the bar off the terminal; once is enough."""
        with self._lock:
            timer, self._timer = self._timer, None
            if timer is not None:
                timer.cancel()
            bar, self._bar = self._bar, None
            if bar is not None:
                bar.stop()


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each stage of some work, one after the other."""
    bars: dict[str, Bar] = {}

    def close() -> None:
        for bar in bars.values():
            bar.__exit__(None, None, None)
        bars.clear()

    def progress(stage: str, done: int, total: int) -> None:
        if stage not in bars:
            close()
            bars[stage] = Bar(stage)
        bars[stage](done, total)
        if done >= total:
            # The next stage forks processes; a drawing thread must not be alive then.
            close()

    try:
        yield progress
    finally:
        close()
