"""`meantime compare`, as others script against it."""

from __future__ import annotations

import io
import json
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from meantime.cli.app import run as run_command
from meantime.cli.compare import CorrectionChoice, DecisiveTest
from meantime.report.comparison import Correction, Test

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
REFERENCE = str(EXAMPLES / "reference.txt")
SYSTEMS = [str(EXAMPLES / f"{name}.txt") for name in ("faithful", "fluent", "literal")]
QUICK = ("--trials", "200", "--resamples", "100")


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str) -> Done:
    """The command in this process, which saves loading everything for each line."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run_command(["compare", *arguments])
    return Done(code, out.getvalue(), err.getvalue())


def test_table() -> None:
    done = run(*SYSTEMS, "-r", REFERENCE, "-m", "wer", *QUICK)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == "wer ↓"
    assert lines[1].split()[:2] == ["system", "score"]
    assert lines[2].split()[0] == "fluent"
    assert set(lines[3].replace(" ", "")) == {"─"}
    assert "wer|references:1|" in done.stdout
    assert "3 systems, 20 segments; 100 bootstrap samples, 200 randomisation trials" in done.stdout


def test_all_formats_hold_the_same_numbers() -> None:
    arguments = (*SYSTEMS, "-r", REFERENCE, "-m", "bleu", "-m", "ter", *QUICK)
    content = json.loads(run(*arguments, "-f", "json").stdout)
    texts = [run(*arguments, "-f", name).stdout for name in ("table", "markdown", "latex")]
    for metric in content["metrics"]:
        for standing in metric["standings"]:
            for text in texts:
                assert f"{standing['score']:.2f}" in text
        for difference in metric["differences"]:
            for text in texts:
                assert f"{difference['p_corrected']:.4f}" in text
        assert all(metric["signature"] in text for text in texts)


def test_the_same_again_and_otherwise_with_another_seed(tmp_path: Path) -> None:
    arguments = (*SYSTEMS, "-r", REFERENCE, "-m", "wer", *QUICK, "-f", "json")
    first = run(*arguments).stdout
    assert run(*arguments, "-j", "2").stdout == first
    assert run(*arguments, "--seed", "1").stdout != first
    target = tmp_path / "comparison.json"
    assert run(*arguments, "-o", str(target)).stdout == ""
    assert target.read_text(encoding="utf-8") == first


def test_baseline_and_choices() -> None:
    done = run(
        *SYSTEMS, "-r", REFERENCE, "-m", "wer", *QUICK, "-f", "json", "--baseline", "literal",
        "--test", "bootstrap", "--correction", "bh", "--significance", "0.01",
    )  # fmt: skip
    content = json.loads(done.stdout)
    assert content["settings"] == {
        "resamples": 100,
        "trials": 200,
        "seed": 12345,
        "confidence": 0.95,
        "test": "bootstrap",
        "correction": "bh",
        "significance": 0.01,
        "baseline": "literal",
        "comparisons": 2,
    }
    assert len(content["metrics"][0]["differences"]) == 2


def test_documents(tmp_path: Path) -> None:
    rows = ["id\tdocument\treference\tsystem\thypothesis"]
    for system in ("one", "two"):
        for number in range(12):
            text = "the cat sat on the mat" if system == "one" or number % 3 else "a dog"
            rows.append(f"{number}\tdoc{number // 6}\tthe cat sat on the mat\t{system}\t{text}")
    table = tmp_path / "all.tsv"
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    short = run("-i", str(table), "-m", "wer", *QUICK)
    assert short.returncode == 0, short.stderr
    assert "scores of 2 documents: add --documents" in short.stdout
    full = run("-i", str(table), "-m", "wer", *QUICK, "--documents")
    assert re.search(r"^doc1\s+6\s+0\.0000\s+0\.\d{4}$", full.stdout, re.MULTILINE), full.stdout


def test_documents_nobody_named() -> None:
    done = run(*SYSTEMS, "-r", REFERENCE, "-m", "wer", *QUICK, "--documents")
    assert done.returncode == 0
    assert "documents: no segment names one" in done.stdout
    assert (
        "documents: no segment names one"
        not in run(*SYSTEMS, "-r", REFERENCE, "-m", "wer", *QUICK).stdout
    )


def test_buckets_and_disagreements(tmp_path: Path) -> None:
    seen, domains = tmp_path / "seen.txt", tmp_path / "domains.txt"
    seen.write_text("the a an of in on to was is and committee\n", encoding="utf-8")
    domains.write_text("news\n" * 12 + "talk\n" * 8, encoding="utf-8")
    arguments = (
        *SYSTEMS, "-r", REFERENCE, "-m", "wer", "-m", "chrf", *QUICK, "--disagreements", "2",
        "--by", "length", "--by", "numbers", "--by", "negation", "--by", "unseen", "--by", "domain",
        "--seen", str(seen), "--domains", str(domains),
    )  # fmt: skip
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^wer ↓ by domain\ndomain +segments +faithful", done.stdout, re.MULTILINE)
    assert re.search(r"^talk +8 +0\.", done.stdout, re.MULTILINE)
    assert "segments on which two metrics disagree most" in done.stdout
    content = json.loads(run(*arguments, "-f", "json").stdout)
    assert [(one["feature"], one["metric"]) for one in content["buckets"]] == [
        (feature, metric)
        for feature in ("length", "numbers", "negation", "unseen", "domain")
        for metric in ("wer", "chrf")
    ]
    for one in content["buckets"]:
        assert sum(len(bucket["segments"]) for bucket in one["buckets"]) == 20
    assert len(content["systems_disagree"]) == 4
    for name in ("markdown", "latex"):
        assert "domain" in run(*arguments, "-f", name).stdout


def test_roles(tmp_path: Path) -> None:
    target = tmp_path / "roles.svg"
    arguments = (*SYSTEMS, "-r", REFERENCE, "-m", "wer", *QUICK, "--no-cache")
    done = run(*arguments, "--by", "role", "--by", "frames", "--roles-plot", str(target))
    assert done.returncode == 0, done.stderr
    assert "roles: words kept in the same role, %" in done.stdout
    assert re.search(r"^wer ↓ by frames$", done.stdout, re.MULTILINE)
    assert target.read_text(encoding="utf-8").startswith("<svg ")


def test_warnings(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    lines = (EXAMPLES / "source.txt").read_text(encoding="utf-8").splitlines()
    bad.write_text("\n".join(["", *lines[1:]]) + "\n", encoding="utf-8")
    source = str(EXAMPLES / "source.txt")
    arguments = (SYSTEMS[0], str(bad), "-r", REFERENCE, "-s", source, "-m", "wer", *QUICK)
    done = run(*arguments)
    assert "! bad is empty where the reference has text in 1 of 20 segments (1)" in done.stdout
    assert "! bad repeats the source in 19 of 20 segments (2, 3, 4, 5, 6, …)" in done.stdout
    found = json.loads(run(*arguments, "-f", "json").stdout)["warnings"]
    assert [one["kind"] for one in found if one["system"] == "bad"][:2] == ["empty", "source"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "nothing to compare"),
        ([SYSTEMS[0], "-r", REFERENCE], 2, "one system, nothing to compare it with"),
        (SYSTEMS, 2, "no reference"),
        ([*SYSTEMS, "-r", REFERENCE, "-m", "blue"], 2, "did you mean bleu"),
        ([*SYSTEMS, "-r", REFERENCE, "--baseline", "x"], 2, "no system is called 'x'"),
        ([*SYSTEMS, "-r", REFERENCE, "--significance", "2"], 2, "between 0 and 1"),
        ([*SYSTEMS, "-r", REFERENCE, "-m", "wer", "--analyser", "x"], 2, "needs analysis"),
        (["-", "-", "-r", REFERENCE], 2, "given twice"),
        ([*SYSTEMS, "-r", REFERENCE, "--by", "unseen"], 2, "--seen FILE"),
        ([*SYSTEMS, "-r", REFERENCE, "--domains", "x"], 2, "--by domain goes with"),
        ([*SYSTEMS, "-r", REFERENCE, "--by", "domain", "--domains", "x"], 1, "x: no such file"),
        ([*SYSTEMS, "-r", REFERENCE, "--by", "document"], 2, "no segment names its document"),
        ([*SYSTEMS, "-r", REFERENCE, "--lang", "de", "--roles"], 2, "leave out --roles"),
        ([*SYSTEMS, "-r", REFERENCE, "--lang", "de", "--by", "negation"], 2, "not for 'de'"),
        ([SYSTEMS[0], "missing.txt", "-r", REFERENCE], 1, "missing.txt"),
    ],
)
def test_errors(arguments: list[str], code: int, message: str) -> None:
    done = run(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert done.stdout == ""


def test_different_segments_are_refused(tmp_path: Path) -> None:
    short = tmp_path / "short.txt"
    short.write_text("one line\n", encoding="utf-8")
    done = run(SYSTEMS[0], str(short), "-r", REFERENCE)
    assert done.returncode == 1
    assert "short" in done.stderr
    assert "Traceback" not in done.stderr


def test_choices_are_those_of_the_library() -> None:
    assert list(map(str, DecisiveTest)) == list(map(str, Test))
    assert list(map(str, CorrectionChoice)) == list(map(str, Correction))


def test_the_page_shows_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    root = EXAMPLES.parent
    page = (root / "docs" / "compare.md").read_text(encoding="utf-8")
    monkeypatch.chdir(root)
    blocks = re.findall(
        r"^```console\n\$ meantime compare (.*)\n((?:.*\n)*?)```", page, re.MULTILINE
    )
    assert blocks
    for command, shown in blocks:
        lines = [line.rstrip() for line in run(*shlex.split(command)).stdout.splitlines()]
        assert "\n".join(lines).startswith(shown.rstrip("\n"))
