"""Scores from an outside command: `hypothesis<TAB>reference` in, one number a line out.

The command is run once, by the shell, for all lines: a program that loads a large model loads it
once. What it writes to standard error goes where ours goes.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Sequence

from meantime.errors import InputError, LengthMismatch, UsageError
from meantime.formats.opening import lines


def run_command(command: str, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """One score for each hypothesis with its reference.

    Raises:
        UsageError: The command is empty.
        InputError: A text holds a tab or a line break; the command cannot be run, fails, or
            prints what is not a finite number.
        LengthMismatch: It prints more or fewer lines than it read.
    """
    if not command.strip():
        raise UsageError("the command is empty; give a program that reads lines and prints scores")
    for hypothesis, reference in pairs:
        if any(mark in text for text in (hypothesis, reference) for mark in "\t\n\r"):
            raise InputError(
                f"a text holds a tab or line break, which no line can hold for {command!r}; "
                "put a space there"
            )
    asked = "".join(f"{hypothesis}\t{reference}\n" for hypothesis, reference in pairs)
    try:
        done = subprocess.run(
            command, shell=True, input=asked.encode("utf-8"), stdout=subprocess.PIPE, check=False
        )
    except (OSError, ValueError) as error:
        raise InputError(
            f"command {command!r} cannot be run ({error}); check its name and path"
        ) from error
    if done.returncode:
        raise InputError(f"command {command!r} {_ending(done.returncode)}")
    try:
        printed = lines(done.stdout.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"command {command!r} prints what is not UTF-8 (byte {error.start}); "
            "print one number a line"
        ) from error
    if len(printed) != len(pairs):
        raise LengthMismatch(
            f"command {command!r} printed {len(printed)} lines for {len(pairs)}; print exactly "
            "one score for each line read, and anything else to standard error"
        )
    return [_number(command, line, text) for line, text in enumerate(printed, start=1)]


def _number(command: str, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(
            f"command {command!r}, line {line} of its output: {text[:60]!r} is not a finite "
            "number; print the score alone"
        )
    return value


def _ending(code: int) -> str:
    if code < 0:
        return f"was ended by signal {-code}; run it by hand on a line to see why"
    if code == 127:
        return "was not found (exit code 127); check its name and path"
    return f"failed with exit code {code}; run it by hand on a line to see why"
