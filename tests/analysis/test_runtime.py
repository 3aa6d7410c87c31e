"""The library that runs the networks leaves nothing behind and tells nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from meantime.analysis.model import shipped

ANALYSE = """
from meantime import Sentence
from meantime.analysis import open_analyser
print(len(open_analyser(threads=1).analyse([Sentence("Prices rose.")])[0].tokens))
"""
LEARNED = f"""
import meantime.learned
import onnxruntime
onnxruntime.InferenceSession({str(shipped() / "english" / "second.onnx")!r})
print(3)
"""


@pytest.mark.parametrize("program", [ANALYSE, LEARNED], ids=["analyser", "learned"])
def test_no_telemetry(program: str, tmp_path: Path) -> None:
    kept = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        capture_output=True,
        text=True,
        env={**kept, **home},
    )
    assert done.stdout == "3\n", done.stderr
    assert [path for path in tmp_path.rglob("*") if "onnxruntime" in str(path).lower()] == []
