"""`meantime vectors`: from text to answers, and what it says when it cannot."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from meantime.cli.app import run
from meantime.cli.vectors import Measure
from meantime.similarity.context import MEASURES
from meantime.similarity.context_file import open_model
from meantime.similarity.idf import open_idf

LINES = ["The cat sleeps .", "The dog sleeps .", "A dog barks .", "The fish swims ."]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    (folder / "text.txt").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    arguments = ["-w", "3", "-w", "5", "--min-count", "1", "--jobs", "1"]
    out = str(folder / "words.vectors")
    assert run(["vectors", "train", str(folder / "text.txt"), "--out", out, *arguments]) == 0
    return folder / "words.vectors"


@pytest.fixture
def model(trained: Path, text: Path) -> Path:
    return Path(shutil.copy(trained, text.parent))


def test_train_says_what_it_wrote(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = text.with_name("model")
    arguments = ["--min-count", "2", "--max-words", "3", "--max-contexts", "2", "--jobs", "2"]
    assert run(["vectors", "train", str(text), "--out", str(path), *arguments]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    identity = open_model(path).identity[:12]
    assert said.err == f"{path}: 3 words, 2 contexts, 0.0 MB, hash {identity}\n"


def test_train_and_info(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["vectors", "info", str(model), "--check", "--word", "DOG", "-w", "3"]) == 0
    identity = open_model(model).identity
    assert capsys.readouterr().out == (
        f"model     {model}\n"
        f"hash      {identity[:12]}, as recorded\n"
        f"size      {model.stat().st_size / 1e6:.1f} MB\n"
        "windows   3 (22 counts), 5 (34 counts)\n"
        "words     9 of 9\n"
        "contexts  9\n"
        "counted   16 tokens in 4 lines\n"
        "from      text.txt\n"
        "\n"
        "dog: 2 times; window 3\n"
        "  the     1\n"
        "  sleeps  1\n"
        "  a       1\n"
        "  barks   1\n"
    )


def test_info_as_json(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["vectors", "info", str(model), "-f", "json", "--word", "unseen"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["identity"] == open_model(model).identity
    assert facts["entries"] == {"3": 22, "5": 34}
    assert (facts["tokens"], facts["cut"], facts["pruned"]) == (16, False, None)
    assert facts["word"] == {"word": "unseen", "count": 0, "window": 5, "contexts": {}}


def test_similar(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["vectors", "similar", "cat", "-m", str(model), "-n", "2", "-w", "3"]) == 0
    identity = open_model(model).identity[:12]
    assert capsys.readouterr().out == (
        f"  dog   0.5000\n  fish  0.3333\n\ncontext(jaccard,window=3,words-{identity})\n"
    )
    arguments = ["--to", "Dog", "--to", "unseen", "--measure", "dice", "-w", "3", "-f", "json"]
    assert run(["vectors", "similar", "cat", "unseen", "-m", str(model), *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["similarity"] == f"context(dice,window=3,words-{identity})"
    assert found["words"] == [
        {
            "word": "cat",
            "similar": [
                {"word": "Dog", "similarity": 2 / 3},
                {"word": "unseen", "similarity": 0.0},
            ],
        },
        {
            "word": "unseen",
            "similar": [
                {"word": "Dog", "similarity": 0.0},
                {"word": "unseen", "similarity": 1.0},
            ],
        },
    ]


def test_every_measure_can_be_named() -> None:
    assert {measure.value for measure in Measure} == set(MEASURES)


def test_pieces(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = text.parent
    for name, least in (("one", "1"), ("two", "2")):
        arguments = ["--min-count", least, "-j", "1", "-o", str(folder / name)]
        assert run(["vectors", "train", str(text), *arguments]) == 0
    capsys.readouterr()
    paths = [str(folder / name) for name in ("one", "two")]
    assert run(["vectors", "merge", *paths, "--out", str(folder / "both")]) == 0
    said = capsys.readouterr().err
    assert said.startswith(f"note: words were cut from {folder / 'two'} before; their counts")
    assert open_model(folder / "both").frequency("the") == 6
    arguments = ["--max-words", "4", "--min-entry", "2", "--min-entries", "1", "-w", "5"]
    assert (
        run(["vectors", "prune", str(folder / "both"), "-o", str(folder / "small"), *arguments])
        == 0
    )
    assert open_model(folder / "small").words == (".", "the", "dog", "sleeps")
    capsys.readouterr()
    assert run(["vectors", "info", str(folder / "small")]) == 0
    told = capsys.readouterr().out
    assert "\npruned    counts of 2 or more, at least 1 a word; from " in told
    assert "\nmerged    one (" in told


def test_idf(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = text.with_name("table.idf")
    assert run(["vectors", "idf", str(text), "-o", str(out), "-j", "1"]) == 0
    assert capsys.readouterr().err == f"{out}: 4 words of 4 sentences\n"
    assert dict(open_idf(out).counts) == {".": 4, "dog": 2, "sleeps": 2, "the": 3}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["train", "{text}", "-w", "4", "-o", "{out}"], 2, "window 4: give an odd number"),
        (["train", "{folder}/none", "-o", "{out}"], 1, "none: no such file"),
        (["train", "-", "-", "-o", "{out}"], 2, "standard input (-) is given twice"),
        (["train", "{text}", "-o", "{out}"], 1, "no word stands there 5 times"),
        (["train", "{text}", "-o", "{folder}"], 1, "this is a folder; name a file in it"),
        (["train", "{text}", "-o", "{folder}/none/x"], 1, "make the folder first"),
        (["idf", "{folder}/none", "-o", "{out}"], 1, "none: no such file"),
        (["merge", "{model}", "-o", "{out}"], 2, "one model is nothing to merge"),
        (["merge", "{model}", "{text}", "-o", "{out}"], 1, "text.txt: no file of context vectors"),
        (["prune", "{model}", "-o", "{out}", "-w", "7"], 2, "no window 7; it holds 3, 5"),
        (["similar", "unseen", "-m", "{model}"], 1, "'unseen' is not among the 9 words"),
        (["similar", "cat", "-m", "{model}", "-w", "9"], 2, "no window 9; it holds 3, 5"),
        (["info", "{text}"], 1, "text.txt: no file of context vectors"),
    ],
)
def test_what_goes_wrong(
    arguments: list[str],
    code: int,
    message: str,
    model: Path,
    text: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = model.with_name("out")
    places = {"text": text, "model": model, "folder": model.parent, "out": out}
    assert run(["vectors", *(argument.format(**places) for argument in arguments)]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert message in said.err
    assert sorted(path.name for path in model.parent.iterdir()) == ["text.txt", "words.vectors"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    pipe = subprocess.Popen(
        [sys.executable, "-m", "meantime", "vectors", "train", "-", "-o", str(tmp_path / "model")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert pipe.stdin is not None
    pipe.stdin.write(b"some words\n" * 1000)
    pipe.stdin.flush()
    begin = time.monotonic()
    while not list(tmp_path.glob(".meantime-*/numbers-*")) and time.monotonic() < begin + 60:
        time.sleep(0.05)
    pipe.send_signal(signal.SIGINT)
    _, said = pipe.communicate(timeout=60)
    assert pipe.returncode == 130
    assert said.decode() == "interrupted\n"
    assert list(tmp_path.iterdir()) == []
