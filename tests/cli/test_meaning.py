"""`meantime meaning-test`, as others script against it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from meantime.metaeval.meaning import FIELDS, VERSION


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "meantime", "meaning-test", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=cwd,
    )


LENGTH = "import sys\nfor line in sys.stdin: print(len(line.split('\\t')[0]))"
COMMAND = f"{shlex.quote(sys.executable)} -c {shlex.quote(LENGTH)}"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "mine.tsv"
    rows = [
        FIELDS,
        ("1", "roles", "passive", "the dog bit a man", "a man was bitten", "a man bit the dog"),
        ("2", "my|own", "split", "he came and left", "he came . he left", "she came and left"),
    ]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_json_contract(suite: Path) -> None:
    done = run("--suite", str(suite), "-m", "wer", "--command", COMMAND, "-f", "json", "--items")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert list(answer) == ["meantime", "suite", "results"]
    assert list(answer["suite"]) == ["name", "version", "sha256", "lang", "items"]
    assert answer["suite"]["name"] == "mine"
    wer, own = answer["results"]
    assert list(wer) == [
        "metric", "signature", "higher_is_better", "all", "phenomena", "kinds", "items",
    ]  # fmt: skip
    assert wer["signature"].startswith("wer|")
    assert own["signature"] is None
    assert own["metric"] == COMMAND
    assert list(wer["phenomena"]) == ["roles", "my|own"]
    assert list(wer["all"]) == ["items", "wins", "ties", "share", "low", "high", "confidence"]
    assert [item["faithful"] for item in own["items"]] == [16, 17]
    assert [item["damaged"] for item in own["items"]] == [17, 17]
    assert [item["win"] for item in own["items"]] == [0, 0.5]
    assert own["all"]["share"] == 0.25


def test_the_shipped_suite_and_its_version_are_named() -> None:
    done = run("-m", "wer", "-m", "per")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"suite meaning.en, version {VERSION}, 264 items, sha256 ")
    assert lines[2].split() == ["items", "wer", "↓", "per", "↓"]
    for name, items in (("all", 264), ("negation", 44), ("split", 66)):
        assert any(line.split()[:2] == [name, str(items)] for line in lines)
    assert any(line.startswith("wer|") for line in lines)


def test_markdown_is_one_table_a_page_can_hold(suite: Path) -> None:
    done = run("--suite", str(suite), "-m", "wer", "-f", "markdown", "--items")
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert "my\\|own" in done.stdout
    widths = {line.replace("\\|", "").count("|") for line in rows}
    # Three columns of shares, five of items.
    assert widths == {4, 6}


def test_lower_is_better_turns_the_command_round(suite: Path) -> None:
    answers = [
        json.loads(run("--suite", str(suite), "--command", COMMAND, "-f", "json", *more).stdout)
        for more in ((), ("--lower-is-better",))
    ]
    shares = [answer["results"][0]["all"]["share"] for answer in answers]
    assert shares == [0.25, 0.75]
    # With a command alone, no metric of ours is run.
    assert len(answers[0]["results"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--lower-is-better"], 2, "--lower-is-better is for --command"),
        (["--lang", "de"], 2, "--lang is for a suite of your own"),
        (["-m", "blue"], 2, "did you mean bleu"),
        (["-m", "wer", "--analyser", "x"], 2, "no metric here needs analysis"),
        (["--suite", "nowhere.tsv"], 1, "nowhere.tsv: no such file"),
        (["--command", "exit 4"], 1, "failed with exit code 4"),
        (["--command", "echo 1"], 1, "printed 1 lines for 528"),
    ],
)
def test_errors_name_the_remedy(arguments: list[str], code: int, message: str) -> None:
    done = run(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stdout == ""


def test_nothing_is_written_on_failure(tmp_path: Path) -> None:
    done = run("--command", "echo 1", "-o", str(tmp_path / "out.txt"))
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_names_of_a_suite_do_not_act_on_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    item = {name: name for name in FIELDS} | {"phenomenon": "\x1b[31m[red]x", "id": "\x1b]0;x"}
    path.write_text(json.dumps(item), encoding="utf-8")
    for format in ("table", "markdown"):
        done = run("--suite", str(path), "-m", "wer", "--items", "-f", format)
        assert done.returncode == 0
        assert "\x1b" not in done.stdout
        assert "[red]x" in done.stdout
