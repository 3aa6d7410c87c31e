"""`meantime smt`, and `meantime tune --decoder thot`, as somebody at a terminal meets them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from meantime.cli.app import run
from meantime.smt.model import FEATURES
from meantime.tuning.weights import read_weights
from tests.smt.conftest import sentences

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pairs = sentences()
    for name, side in (("de", 0), ("en", 1)):
        text = "".join(pair[side] + "\n" for pair in pairs)
        (tmp_path / f"train.{name}").write_text(text, encoding="utf-8")
        text = "".join(pair[side] + "\n" for pair in pairs[::5])
        (tmp_path / f"dev.{name}").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    # What the decoder's own process must find.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    return tmp_path


GERMAN = ("--src-lang", "de", "--tgt-lang", "en")
TRAIN = ("smt", "train", "--src", "train.de", "--tgt", "train.en", "--out", "m", *GERMAN)


def test_train_translate_tune(room: Path, capsys) -> None:
    assert run([*TRAIN, "--order", "3"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "m: de to en, 36 pairs" in said.err
    (room / "text").write_text("Die Frau hört Otto.\n\nEin Hund sieht der Mann.\n")
    assert run(["smt", "translate", "m", "text"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "Otto" in lines[0]
    assert lines[1] == ""
    assert run(["smt", "translate", "m", "dev.de", "-n", "5", "-o", "list"]) == 0
    written = (room / "list").read_text().splitlines()
    assert all(line.count("|||") == 3 for line in written)

    tune = ["tune", "--decoder", "thot", "m", "--dev", "dev.de", "-r", "dev.en", "--restarts", "2",
            "-m", "chrf", "--folder", "t", "--candidates", "10", "--no-plot"]  # fmt: skip
    assert run([*tune, "--iterations", "1"]) == 0
    assert "iteration 1: chrf" in capsys.readouterr().err
    assert list(read_weights(room / "t" / "weights.txt")) == list(FEATURES)
    assert run([*tune, "--iterations", "2", "--resume", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    scores = [record["score"] for record in answer["iterations"]]
    assert answer["score"] == max(scores) >= scores[0]
    assert all(record["agreement"] > 0.95 for record in answer["iterations"])
    weights = str(room / "t" / "weights.txt")
    assert run(["smt", "translate", "m", "dev.de", "-w", weights, "--reordering", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(sentences()[::5])

    # Weights that were tuned without reordering may reward jumps.
    (room / "jumps").write_text("".join(f"{n}= {-2 if n == 'Jump' else 1}\n" for n in FEATURES))
    for reordering, told in (("0", False), ("1", True)):
        arguments = ["-w", str(room / "jumps"), "--reordering", reordering]
        assert run(["smt", "translate", "m", "dev.de", *arguments]) == 0
        said = capsys.readouterr().err
        assert ("the weight of Jump is -2, which rewards words taken out of order" in said) is told

    assert run(["smt", "info", "m", "--check"]) == 0
    assert "files      as recorded" in capsys.readouterr().out
    assert run(["smt", "info", "m", "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["order"] == 3

    # The other way round.
    assert run([*tune[:4], "--dev", "dev.en", "-r", "dev.de", "--folder", "u"]) == 2
    assert "is the text in the wrong language?" in capsys.readouterr().err
    assert not (room / "u").exists()
    assert run(["smt", "translate", "m", "dev.en"]) == 0
    assert "is the text in the wrong language?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--decoder", "thot"], "--decoder thot takes one model"),
        (["--decoder", "thot", "a", "b"], "--decoder thot takes one model"),
        (["--decoder", "thot", "a"], "give them with --dev FILE"),
        (["--decoder", "thot", "a", "--dev", "-"], "put them into a file"),
        (["list", "--reordering", "2"], "are for the decoder thot"),
        (["list", "--candidates", "20"], "are for the decoder thot"),
    ],
    ids=["none", "two", "no-dev", "stdin", "reordering", "candidates"],
)
def test_tune_refuses(room: Path, capsys, arguments: list[str], what: str) -> None:
    assert run(["tune", *arguments, "-r", "dev.en"]) == 2
    assert what in capsys.readouterr().err


def test_no_model(room: Path, capsys) -> None:
    assert run(["tune", "--decoder", "thot", "x", "--dev", "dev.de", "-r", "dev.en"]) == 1
    assert "x: no such folder" in capsys.readouterr().err
    (room / "x").mkdir()
    assert run(["smt", "translate", "x", "dev.de"]) == 1
    assert "so it is no model" in capsys.readouterr().err


def test_empty_lines_are_told(room: Path, capsys) -> None:
    with (room / "train.de").open("a") as one, (room / "train.en").open("a") as other:
        one.write("\nja\n")
        other.write("no\n\n")
    assert run(list(TRAIN)) == 0
    said = capsys.readouterr().err
    assert "note: 2 pairs are left out, a side being empty (lines 37, 38)" in said


def test_chinese_texts(room: Path, capsys) -> None:
    (room / "zh").write_text("我们在2014年7月5日看三十名学生\n我们爱学生\n" * 3, encoding="utf-8")
    assert run(["smt", "numbers", "zh"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[:2] == ["1\t2014年7月5日\tJuly 5, 2014", "1\t三十\t30"]
    assert run(["smt", "segment", "zh"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "我们 爱 学生"
    assert run(["smt", "segmenter", "zh", "-o", "words.tsv", "--words", "9"]) == 0
    assert "words.tsv: " in capsys.readouterr().err
    assert run(["smt", "segment", "zh", "--segmenter", "statistical:words.tsv", "-o", "cut"]) == 0
    cut = (room / "cut").read_text(encoding="utf-8")
    assert cut.replace(" ", "") == (room / "zh").read_text(encoding="utf-8")
    (room / "links").write_text("北京\tBeijing\n雅典 (希腊)\tAthens\n", encoding="utf-8")
    assert run(["smt", "names", "--links", "links", "-o", "names.tsv"]) == 0
    assert (room / "names.tsv").read_text(encoding="utf-8") == "北京\tBeijing\n雅典\tAthens\n"
    assert run(["smt", "names", "-o", "names.tsv"]) == 2
    assert run(["smt", "names", "--links", "links", "--src", "zh", "-o", "names.tsv"]) == 2


def test_chinese_to_english_with_numbers_and_names(room: Path, capsys) -> None:
    zh = "两个学生爱北京。\n三个学生爱上海。\n学生爱老师。\n老师爱学生。\n" * 4
    en = "Two students love Beijing.\nThree students love Shanghai.\nStudents love teachers.\n"
    en = (en + "Teachers love students.\n") * 4
    (room / "zh").write_text(zh, encoding="utf-8")
    (room / "en").write_text(en, encoding="utf-8")
    assert run(["smt", "names", "--src", "zh", "--tgt", "en", "-o", "names"]) == 0
    assert "北京\tBeijing" in (room / "names").read_text(encoding="utf-8")
    (room / "names").write_text("北京\tBeijing\n联合国\tUnited Nations\n", encoding="utf-8")
    train = ["smt", "train", "--src", "zh", "--tgt", "en", "--out", "z"]
    assert run([*train, "--numbers", "--names", "names", "--order", "2"]) == 0
    capsys.readouterr()
    (room / "text").write_text("2014年7月5日学生爱联合国。\n", encoding="utf-8")
    assert run(["smt", "translate", "z", "text"]) == 0
    text = capsys.readouterr().out
    assert "July 5, 2014" in text
    assert "United Nations" in text
    # The other way round, at training.
    assert run(["smt", "train", "--src", "en", "--tgt", "zh", "--out", "y"]) == 2
    assert "are the two languages the wrong way round?" in capsys.readouterr().err
    assert run([*train[:-1], "y", *GERMAN, "--numbers"]) == 2
    assert "leave out --numbers" in capsys.readouterr().err
