"""The README is a transcript: what it shows is what is printed.

Run this file as a program to renew the outputs after a change that was meant:

    python tests/test_readme.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.*?)^```$\n+^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _steps(block: str) -> list[tuple[str, str]]:
    """(command, output) of a block; what follows a `$ ` line, up to the next, is its output."""
    steps: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            steps.append((line[2:].strip(), ""))
        else:
            command, output = steps[-1]
            steps[-1] = (command, output + line)
    return steps


def _commands() -> list[tuple[str, str]]:
    blocks = _BLOCK.findall(README.read_text(encoding="utf-8"))
    return [step for block in blocks for step in _steps(block) if _ours(step[0])]


def _ours(command: str) -> bool:
    return command.startswith("meantime ")


def _run(command: str | list[str]) -> str:
    """What a command prints in the repository, errors included."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=120,
    )
    return _trimmed(done.stdout.decode("utf-8"))


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


@pytest.mark.parametrize(("command", "output"), _commands(), ids=[c for c, _ in _commands()])
def test_transcript(command: str, output: str) -> None:
    assert _run(command) == _trimmed(output)


def test_python() -> None:
    programs = _PYTHON.findall(README.read_text(encoding="utf-8"))
    assert programs
    for program, output in programs:
        assert _run([sys.executable, "-c", program]) == _trimmed(output)


def test_the_demo_is_the_one_shown() -> None:
    """`make demo` runs the command that the README shows below it."""
    blocks = [_steps(block) for block in _BLOCK.findall(README.read_text(encoding="utf-8"))]
    demo = next(steps for steps in blocks if steps[0][0] == "make demo")
    assert _ours(demo[1][0])
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndemo:")[2]
    assert demo[1][0] in recipe.partition("\n\n")[0]


def test_every_kind_of_output_is_shown() -> None:
    shown = " ".join(command for command, _ in _commands())
    for needed in ("--ci", "--segments", "--format json", "--quiet", "meantime metrics", "-m blue"):
        assert needed in shown


def _renew() -> None:
    """Write what is printed now into the README."""

    def block(match: re.Match[str]) -> str:
        lines = []
        for command, output in _steps(match[1]):
            shown = _run(command) if _ours(command) else _trimmed(output)
            lines += [f"$ {command}", *([shown] if shown else [])]
        return "\n".join(["```console", *lines, "```"])

    def program(match: re.Match[str]) -> str:
        shown = _run([sys.executable, "-c", match[1]])
        return f"```python\n{match[1]}```\n\n```text\n{shown}\n```"

    text = _BLOCK.sub(block, README.read_text(encoding="utf-8"))
    README.write_text(_PYTHON.sub(program, text), encoding="utf-8")


if __name__ == "__main__":
    _renew()
