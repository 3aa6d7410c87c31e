"""The judgements' JSONL: read, written, refused, attached, scored."""

from __future__ import annotations

import json

import pytest

from meantime.cli.app import run
from meantime.errors import FormatError, InputError
from meantime.formats.judgements import (
    attach_judgements,
    parse_judgements,
    read_judgements,
    render_judgements,
    write_judgements,
)
from meantime.types import Corpus, Segment, Sentence


@pytest.fixture
def example(root):
    return root / "experiments" / "lo2010" / "example.jsonl"


def test_written_is_read_again(example, tmp_path) -> None:
    judged = read_judgements(example)
    write_judgements(judged, tmp_path / "again.jsonl.gz")
    assert read_judgements(tmp_path / "again.jsonl.gz") == judged
    assert render_judgements(judged).count("\n") == 1


def _changed(example, change) -> str:
    row = json.loads(example.read_text())
    change(row)
    return json.dumps(row)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row.pop("segment"), "segment is missing"),
        (lambda row: row.update(readings=None), "readings is missing"),
        (lambda row: row["hypothesis"].pop("tokens"), "hypothesis.tokens is missing"),
        (lambda row: row["reference"].pop("frames"), "reference.frames is missing"),
        (lambda row: row["readings"].append(row["readings"][0]), "two readings"),
        (lambda row: row["readings"][0]["frames"][0].update(predicate=[3, 99]), "outside the 22"),
        (lambda row: row["readings"][0]["frames"][0].update(predicate=[3]), "two whole numbers"),
        (lambda row: row["readings"][0]["frames"].clear(), "matches frame 0"),
        (
            lambda row: row["readings"][0]["judgements"][0]["matches"][0]["verdicts"][0].update(
                verdict="good"
            ),
            "write correct, partial, incorrect",
        ),
        (
            lambda row: row["readings"][0]["judgements"][0]["matches"][0]["verdicts"][1].update(
                hypothesis=9
            ),
            "role 9 of a frame that has 3",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(example, change, message) -> None:
    content = "\n" + _changed(example, change)
    with pytest.raises(FormatError, match="file:2: ") as caught:
        parse_judgements(content, "file")
    assert message in str(caught.value)


def test_no_json_nothing_and_twice(example) -> None:
    with pytest.raises(FormatError, match="file:1: not JSON"):
        parse_judgements("{", "file")
    with pytest.raises(FormatError, match="holds no judgement"):
        parse_judgements("\n", "file")
    with pytest.raises(FormatError, match=r"file:2: .* stands in line 1"):
        parse_judgements(example.read_text() * 2, "file")


def test_judgements_find_their_systems_and_segments(example) -> None:
    judged = read_judgements(example)
    [one] = judged
    corpus = Corpus(
        (Segment("1", (Sentence(one.reference.text),)), Segment("2", (Sentence("b"),))),
        {"MT1": (Sentence(one.hypothesis.text), Sentence("a"))},
    )
    attached = attach_judgements(corpus, judged, "file")
    assert [pair.judgements for pair in attached.pairs("MT1")] == [one.judgements, None]
    renamed = Corpus(corpus.segments, {"MT2": corpus.outputs["MT1"]})
    with pytest.raises(InputError, match="no judgement of system 'MT2'; it has MT1"):
        attach_judgements(renamed, judged, "file")
    other = Corpus(corpus.segments, {"MT1": (Sentence("another"), Sentence("a"))})
    with pytest.raises(InputError, match="the hypothesis judged is"):
        attach_judgements(other, judged, "file")


def test_the_command_scores_judgements(root, example, tmp_path, capsys) -> None:
    folder = root / "experiments" / "lo2010"
    command = [
        "score",
        str(folder / "MT1.txt"),
        "-r",
        str(folder / "reference.txt"),
        "-m",
        "hmeant",
    ]
    assert run([*command, "--judgements", str(example), "--quiet"]) == 0
    assert float(capsys.readouterr().out) == pytest.approx(1 / 3)
    assert run(command) == 2
    assert "--judgements FILE" in capsys.readouterr().err
    assert run([*command[:-2], "--judgements", str(example)]) == 2
    assert "add -m hmeant" in capsys.readouterr().err
    assert run([*command, "--judgements", str(tmp_path / "no.jsonl")]) == 1
    assert "no such file" in capsys.readouterr().err
