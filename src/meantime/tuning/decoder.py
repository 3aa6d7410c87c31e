"""A decoder that is a command: weights in, an n-best list out.

    moses -f moses.ini -i dev.zh -weight-overwrite {overwrite} -n-best-list {nbest} 100 distinct

The command is run by the shell, with these words replaced in it: `{weights}`, a file of
weights; `{overwrite}`, the same in one line; `{nbest}`, the file to write; `{iteration}`.
Without `{nbest}` the list is what the command prints.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from meantime.errors import InputError, UsageError
from meantime.tuning.weights import render_weights, write_weights

TAIL = 15
"""Lines of a decoder's output that are shown where it fails."""
_PATIENCE = 5.0
"""Seconds a decoder has to end when told to, before it is made to."""
_WORD = re.compile(r"\{(weights|overwrite|nbest|iteration)\}")


class DecoderFailed(InputError):
    """The decoder did not do its work."""


@dataclass(frozen=True)
class Decoder:
    """A command, and how long it may take."""

    command: str
    timeout: float | None = None
    """Seconds; without it, as long as it takes."""

    def __post_init__(self) -> None:
        words = set(_WORD.findall(self.command))
        if not words & {"weights", "overwrite"}:
            raise UsageError(
                "the decoder's command does not say where the weights go; put {weights} (a file) "
                "or {overwrite} (one line) into it"
            )

    def run(
        self,
        weights: Mapping[str, float],
        *,
        weights_path: Path,
        nbest_path: Path,
        log_path: Path,
        iteration: int,
    ) -> None:
        """Decode once.

        Args:
            weights: By feature.
            weights_path: Where they are written for the decoder.
            nbest_path: Where the list must be afterwards.
            log_path: Takes what the decoder says.
            iteration: Its number.

        Raises:
            DecoderFailed: It ended with an error, took too long, or wrote nothing; the message
                has the end of what it said.
        """
        write_weights(weights_path, weights)
        values = {
            "weights": shlex.quote(str(weights_path.resolve())),
            "overwrite": shlex.quote(" ".join(render_weights(weights).split())),
            "nbest": shlex.quote(str(nbest_path.resolve())),
            "iteration": str(iteration),
        }
        command = _WORD.sub(lambda found: values[found[1]], self.command)
        printed = "{nbest}" not in self.command
        with log_path.open("wb") as log:
            if printed:
                with nbest_path.open("wb") as output:
                    code = self._wait(command, output, log, log_path)
            else:
                code = self._wait(command, log, log, log_path)
        if code:
            how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            raise DecoderFailed(f"the decoder {how}; {tell_end(log_path)}")
        if not nbest_path.is_file():
            raise DecoderFailed(
                f"the decoder wrote no n-best list; it must write {nbest_path.name}, which "
                f"{{nbest}} stands for, or print it; {tell_end(log_path)}"
            )
        if not nbest_path.stat().st_size:
            raise DecoderFailed(f"the decoder's n-best list is empty; {tell_end(log_path)}")

    def _wait(self, command: str, output: object, log: object, log_path: Path) -> int:
        # In a session of its own, so that what the shell starts can be ended with it.
        process = subprocess.Popen(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=output,  # type: ignore[call-overload]
            stderr=log,
            start_new_session=True,
        )
        try:
            code: int = process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            raise DecoderFailed(
                f"the decoder did not end within {self.timeout:g} s and was stopped; give it "
                f"longer with --timeout, or see why it hangs; {tell_end(log_path)}"
            ) from None
        except BaseException:
            _end(process)
            raise
        return code


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and what it started: asked first, then made to."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):
            break
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            continue
        if not _alive(process.pid):
            break
    process.wait()


def _alive(group: int) -> bool:
    """Whether anything of a group is left."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def tell_end(path: Path) -> str:
    """The end of what a decoder said, and where all of it is."""
    # Without a log the list is one that an interrupted run has left.
    data = path.read_bytes() if path.is_file() else b""
    lines = data.decode("utf-8", "replace").splitlines()
    if not lines:
        return "it said nothing"
    shown = ["".join(c if c.isprintable() else " " for c in line)[:300] for line in lines[-TAIL:]]
    what = "it said" if len(lines) <= TAIL else f"the last {TAIL} lines of what it said"
    return f"{what} (all in {path}):\n  " + "\n  ".join(shown)
