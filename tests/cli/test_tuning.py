"""`tune` from lists, `rerank` and `mbr`, as somebody at a terminal meets them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from meantime.cli.app import run
from meantime.tuning.weights import read_weights

REFERENCE = "the cat sat on the mat\nhe went home\nprices rose in march\n"
LISTS = """\
0 ||| the mat sat on a cat ||| LM0= -1 TM0= 3 0 ||| -1
0 ||| the cat sat on the mat ||| LM0= -3 TM0= 1 0 ||| -2
0 ||| cat mat ||| LM0= -2 TM0= 2 1 ||| -3
1 ||| she went home ||| LM0= -1 TM0= 2 0 ||| -1
1 ||| he went home ||| LM0= -2 TM0= 1 1 ||| -2
2 ||| march rose ||| LM0= -1 TM0= 2 1 ||| -1
2 ||| prices rose in march ||| LM0= -4 TM0= 1 0 ||| -2
2 ||| prices in march rose ||| LM0= -3 TM0= 2 0 ||| -2
"""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ref").write_text(REFERENCE)
    (tmp_path / "list").write_text(LISTS)
    (tmp_path / "good").write_text("LM0= -1\nTM0= -1 0\n")
    (tmp_path / "bad").write_text("LM0= 1\nTM0= 1 0\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(capsys, *arguments: str) -> dict[str, float]:
    """What each choice scores by the first metric; the rest under its own key."""
    assert run([*arguments, "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    name = answer["choices"][0]["metric"]
    return {c["choice"]: c["score"] for c in answer["choices"] if c["metric"] == name}


def test_rerank_scores_every_choice(room: Path, capsys) -> None:
    scores = report(capsys, "rerank", "list", "-r", "ref", "-m", "bleu", "-w", "good", "--tune")
    assert list(scores) == ["first", "random", "weights", "tuned", "oracle"]
    assert scores["oracle"] == scores["weights"] == scores["tuned"] == pytest.approx(100)
    assert scores["first"] < scores["random"] < 100


def test_rerank_by_weights_alone(room: Path, capsys) -> None:
    assert run(["rerank", "list", "-w", "good"]) == 0
    assert capsys.readouterr().out == REFERENCE
    assert run(["rerank", "list", "-w", "bad"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "the mat sat on a cat"
    assert run(["rerank", "list", "--select", "first"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "she went home"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--select", "oracle"], REFERENCE),
        (["-w", "bad", "--select", "oracle"], REFERENCE),
        (["-w", "bad", "--tune"], REFERENCE),
        (["-w", "good", "-m", "ter"], REFERENCE),
        (["--select", "first"], "the mat sat on a cat\nshe went home\nmarch rose\n"),
    ],
)
def test_rerank_writes_what_is_selected(room: Path, capsys, more, expected: str) -> None:
    assert run(["rerank", "list", "-r", "ref", "-o", "out", *more]) == 0
    assert (room / "out").read_text() == expected
    assert "oracle" in capsys.readouterr().out


def test_rerank_prints_texts_alone_where_output_is_a_dash(room: Path, capsys) -> None:
    assert run(["rerank", "list", "-r", "ref", "-o", "-"]) == 0
    assert capsys.readouterr().out == REFERENCE


def test_rerank_folds_and_weights(room: Path, capsys) -> None:
    scores = report(
        capsys, "rerank", "list", "-r", "ref", "--tune", "--folds", "3", "--save-weights", "w"
    )
    assert "tuned, 3 folds" in scores
    assert scores["tuned, 3 folds"] <= scores["tuned"]
    assert set(read_weights(room / "w")) == {"LM0", "TM0[0]", "TM0[1]"}


def test_several_metrics_and_references(room: Path, capsys) -> None:
    (room / "other").write_text("a cat was on the mat\nshe went home\nmarch rose\n")
    assert run(["rerank", "list", "-r", "ref", "-r", "other", "-m", "ter", "-m", "chrf"]) == 0
    printed = capsys.readouterr().out
    assert "ter ↓" in printed
    assert "chrf ↑" in printed
    assert "references:2" in printed


def test_tune_from_lists(room: Path, capsys) -> None:
    assert run(["tune", "list", "-r", "ref", "-m", "chrf", "-o", "w"]) == 0
    printed = capsys.readouterr().out
    assert "converged: 21 of 21 starts" in printed
    assert run(["rerank", "list", "-w", "w"]) == 0
    assert capsys.readouterr().out == REFERENCE
    # The same seed, the same weights.
    first = (room / "w").read_text()
    assert run(["tune", "list", "-r", "ref", "-m", "chrf", "-o", "w"]) == 0
    assert (room / "w").read_text() == first


def test_tune_keeps_constraints(room: Path, capsys) -> None:
    arguments = ["tune", "list", "-r", "ref", "-w", "bad", "--format", "json"]
    assert run([*arguments, "--fix", "LM0", "--maximum", "TM0=2", "--minimum", "TM0[1]=0"]) == 0
    weights = json.loads(capsys.readouterr().out)["weights"]
    assert weights["LM0"] == 1
    assert weights["TM0[0]"] <= 2
    assert 0 <= weights["TM0[1]"] <= 2


def test_tune_by_ranking(room: Path, capsys) -> None:
    scores = report(capsys, "tune", "list", "-r", "ref", "--learner", "ranking", "-w", "bad")
    assert scores["tuned"] > scores["initial"]


def test_lists_are_merged_and_may_be_gzipped(room: Path, capsys) -> None:
    lines = LISTS.splitlines(keepends=True)
    (room / "one").write_text("".join(lines[:5]))
    (room / "two.gz").write_bytes(gzip.compress("".join(lines[3:]).encode()))
    merged = report(capsys, "rerank", "one", "two.gz", "-r", "ref")
    assert merged == report(capsys, "rerank", "list", "-r", "ref")
    assert run(["rerank", "one", "-r", "ref"]) == 1
    assert "one: no candidate for segment 2" in capsys.readouterr().err


def test_mbr_prints_the_choice(room: Path, capsys) -> None:
    assert run(["mbr", "list", "-u", "chrf"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert run(["mbr", "list", "--pseudo-references", "list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_mbr_takes_plain_text(room: Path, capsys) -> None:
    (room / "samples").write_text("a b c\na b d\nx\nhome\nhome\naway\n")
    assert run(["mbr", "samples", "--size", "3", "-u", "chrf"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "home"
    for name, text in (("s1", "a b c\n"), ("s2", "a b d\n"), ("s3", "a b c\n")):
        (room / name).write_text(text)
    assert run(["mbr", "s1", "s2", "s3"]) == 0
    assert capsys.readouterr().out == "a b c\n"


def test_mbr_counts_what_was_drawn_twice(room: Path, capsys) -> None:
    (room / "s").write_text("aa\nzz\nzz\n")
    assert run(["mbr", "s", "--size", "3"]) == 0
    assert capsys.readouterr().out == "zz\n"
    (room / "l").write_text("0 ||| aa\n0 ||| zz\n0 ||| zz\n")
    assert run(["mbr", "l"]) == 0
    assert capsys.readouterr().out == "zz\n"


def test_mbr_tops_can_be_read_again(room: Path, capsys) -> None:
    assert run(["mbr", "list", "--top", "2", "-o", "top"]) == 0
    assert run(["mbr", "list", "--top", "2", "-o", "top.jsonl"]) == 0
    lines = (room / "top").read_text().splitlines()
    objects = [json.loads(line) for line in (room / "top.jsonl").read_text().splitlines()]
    assert len(lines) == len(objects) == 6
    assert [item["segment"] for item in objects] == [0, 0, 1, 1, 2, 2]
    assert objects[0]["score"] >= objects[1]["score"]
    assert lines[0].split(" ||| ")[1] == objects[0]["hypothesis"]
    assert run(["mbr", "top", "-r", "ref"]) == 0
    assert "oracle" in capsys.readouterr().out


def test_mbr_reports_beside_the_baselines(room: Path, capsys) -> None:
    scores = report(capsys, "mbr", "list", "-u", "chrf", "-r", "ref", "-m", "bleu", "-o", "out")
    assert list(scores) == ["first", "random", "mbr", "oracle"]
    assert scores["mbr"] <= scores["oracle"]
    assert len((room / "out").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["rerank", "list"], 2, "nothing to choose by"),
        (["rerank", "list", "--tune"], 2, "need references"),
        (["rerank", "list", "-r", "ref", "--select", "weights"], 2, "needs weights"),
        (["rerank", "list", "-r", "ref", "--folds", "2"], 2, "add --tune"),
        (["rerank", "list", "-r", "ref", "--tune", "--folds", "4"], 2, "at most as many"),
        (["rerank", "list", "-w", "ref"], 1, "ref:1: the has 'cat'"),
        (["rerank", "list", "-w", "good", "-m", "chrf"], 2, "nothing is scored"),
        (["rerank", "list", "-r", "ref", "-m", "blue"], 2, "did you mean bleu"),
        (["rerank", "ref", "-r", "ref", "--tune"], 2, "have no features"),
        (["rerank", "-", "-r", "-"], 2, "given twice"),
        (["rerank", "list", "-r", "ref", "-o", "no/out"], 1, "no folder no"),
        (["rerank", "list", "-r", "ref", "--analyser", "x"], 2, "needs analysis"),
        (["mbr", "list", "-m", "bleu"], 2, "give references"),
        (["mbr", "list", "--temperature", "0"], 2, "above 0"),
        (["mbr", "nolist"], 1, "no such file"),
        (["mbr", "list", "--pseudo-references", "short"], 1, "pseudo-references of 1"),
        (["tune", "list"], 2, "no reference"),
        (["tune", "-r", "ref"], 2, "one of the two"),
        (["tune", "list", "-r", "ref", "--timeout", "3"], 2, "--timeout is for a decoder"),
        (["tune", "list", "-r", "ref", "--minimum", "LM0"], 2, "is not NAME=NUMBER"),
        (["tune", "list", "-r", "ref", "--fix", "LM1"], 2, "no feature is called LM1"),
        (["tune", "--decoder", "x {weights}", "-r", "ref"], 2, "needs weights to begin with"),
        (["tune", "--decoder", "x", "-r", "ref", "-w", "good"], 2, "where the weights go"),
        (["tune", "list", "-r", "ref", "-w", "short"], 1, "short:1:"),
        (["tune", "list", "-r", "short"], 1, "list:4: segment 1, but the references have 1"),
    ],
)
def test_what_cannot_be_done(room: Path, capsys, arguments, code: int, message: str) -> None:
    (room / "short").write_text("one\n")
    assert run(arguments) == code
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert message in told
