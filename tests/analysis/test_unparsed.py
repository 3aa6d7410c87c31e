"""Chinese without a parser: what is said, and what can be compared all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from meantime.analysis import open_analyser
from meantime.cli.app import run
from meantime.types import Sentence


def test_tokens_and_no_frames() -> None:
    [one, empty] = open_analyser("unparsed").analyse(
        [Sentence("两个人用iPhone。", "zh"), Sentence("", "zh")]
    )
    assert one.tokens == ("两", "个", "人", "用", "iPhone", "。")
    assert one.frames == ()
    assert one.vectors is None
    assert empty.tokens == ()
    given = Sentence("两个人", "zh", tokens=("两个", "人"))
    assert open_analyser("unparsed").analyse([given])[0].tokens == ("两个", "人")


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good").write_text("两个人在玩。\n一只狗\n", encoding="utf-8")
    (tmp_path / "bad").write_text("三匹马\n猫\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("texts")
def test_meant_says_that_there_is_no_chinese_parser(capsys) -> None:
    assert run(["score", "good", "-r", "good", "--lang", "zh", "-m", "meant"]) == 2
    said = capsys.readouterr().err
    assert "there is no Chinese parser yet ('zh')" in said
    assert "--analyser unparsed" in said


@pytest.mark.usefixtures("texts")
def test_whole_sentences_are_compared_by_characters(capsys) -> None:
    score = ["score", "good", "bad", "-r", "good", "--lang", "zh", "-q", "--analyser", "unparsed"]
    score += ["--no-cache", "-m"]
    assert run([*score, "meant-2014:similarity=exact"]) == 0
    assert [float(line) for line in capsys.readouterr().out.split()] == [1, 0]
    # The shipped vectors know a few characters from names in English text, 三 and 人 among them.
    assert run([*score, "meant-2014"]) == 0
    good, bad = (float(line) for line in capsys.readouterr().out.split())
    assert good == 1
    assert 0 < bad < 0.1


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize("metric", ["bleu", "bleu:tokeniser=char", "ter", "chrf", "wer", "cder"])
def test_string_metrics_know_chinese(metric: str, capsys) -> None:
    score = ["score", "good", "bad", "-r", "good", "--lang", "zh", "-q", "-m", metric]
    assert run(score) == 0
    good, bad = (float(line) for line in capsys.readouterr().out.split())
    assert good != bad
