"""Chinese without a parser: what is said, and what can be compared all the same."""

from __future__ import annotations

import json
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
def test_meant_says_how_to_do_without_vectors(capsys) -> None:
    score = ["score", "good", "bad", "-r", "good", "--lang", "zh", "-q", "--analyser", "unparsed"]
    assert run([*score, "-m", "meant"]) == 2
    remedy = "meant:similarity=characters,words=characters"
    assert f"compare words without: {remedy}" in capsys.readouterr().err
    assert run([*score, "-m", remedy, "--no-cache"]) == 0
    good, bad = (float(line) for line in capsys.readouterr().out.split())
    assert (good, bad) == (1, pytest.approx(0, abs=0.5))


@pytest.mark.usefixtures("texts")
def test_meant_reads_chinese_parses(tmp_path: Path, capsys) -> None:
    """Who did what to whom in frames of one's own: a swap of actors costs."""
    for name, words in (("right", "狗咬人"), ("wrong", "人咬狗")):
        frame = {
            "predicate": {"start": 1, "end": 2},
            "roles": [
                {"label": "ARG0", "start": 0, "end": 1},
                {"label": "ARG1", "start": 2, "end": 3},
            ],
        }
        item = {"text": words, "lang": "zh", "tokens": list(words), "pos": ["NN", "VV", "NN"],
                "offsets": [[0, 1], [1, 2], [2, 3]], "frames": [frame]}  # fmt: skip
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(item) + "\n", encoding="utf-8")
        (tmp_path / name).write_text(f"{words}\n", encoding="utf-8")
    given = ["--reference-parses", "right.jsonl"]
    for name in ("right", "wrong"):
        given += ["--hypothesis-parses", f"{name}.jsonl"]
    score = ["score", "right", "wrong", "-r", "right", "--lang", "zh", "-q"]
    metric = "meant:similarity=characters,words=characters"
    assert run([*score, "-m", metric, *given]) == 0
    right, wrong = (float(line) for line in capsys.readouterr().out.split())
    assert right == 1
    assert wrong < 0.8


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize("metric", ["bleu", "bleu:tokeniser=char", "ter", "chrf", "wer", "cder"])
def test_string_metrics_know_chinese(metric: str, capsys) -> None:
    score = ["score", "good", "bad", "-r", "good", "--lang", "zh", "-q", "-m", metric]
    assert run(score) == 0
    good, bad = (float(line) for line in capsys.readouterr().out.split())
    assert good != bad
