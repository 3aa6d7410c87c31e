"""The page about tuning: its lists can be read, its programs run."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from meantime.formats.nbest import read_nbest
from meantime.tuning.weights import read_weights

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tuning.md"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks(language: str) -> list[str]:
    return [text for name, text in _FENCE.findall(PAGE.read_text("utf-8")) if name == language]


@pytest.mark.parametrize("format", ["moses", "zmert", "jsonl"])
def test_lists_of_the_page(format: str) -> None:
    [block] = _blocks(format)
    candidates = list(read_nbest("-", stdin=io.BytesIO(block.encode())))
    assert candidates[0].text == "the cat sat"
    assert candidates[0].values == (-12.3, -1, -2.5)
    assert candidates == list(read_nbest("-", stdin=io.BytesIO(block.encode()), format=format))


def test_the_decoder_of_the_page(tmp_path: Path) -> None:
    decoder = _blocks("python")[0]
    [commands] = _blocks("sh")
    (tmp_path / "decoder.py").write_text(decoder, encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e", "-c", commands],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(PAGE.parents[1] / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "ended: " in done.stdout
    assert set(read_weights(tmp_path / "tuning" / "weights.txt")) == {"TM0", "WordPenalty0"}
    scores = [float(found) for found in re.findall(r"chrf (\d+\.\d+)", done.stderr)]
    assert max(scores) > scores[0]


def test_the_program_of_the_page() -> None:
    exec(compile(_blocks("python")[1], str(PAGE), "exec"), {})
