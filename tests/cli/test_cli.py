"""The command line, as others script against it."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from meantime import __version__

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
REFERENCE = str(EXAMPLES / "reference.txt")
FLUENT = str(EXAMPLES / "fluent.txt")
LITERAL = str(EXAMPLES / "literal.txt")


def run(*arguments: str, stdin: bytes = b"", **options) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [sys.executable, "-m", "meantime", *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
        **options,
    )
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


def scores(*arguments: str, stdin: bytes = b"") -> list[dict]:
    done = run("score", *arguments, "--format", "json", stdin=stdin)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["results"]


def test_json_contract() -> None:
    done = run(
        "score", LITERAL, FLUENT, "-r", REFERENCE, "-m", "wer", "-m", "bleu:max_order=2",
        "--segments", "--format", "json",
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == ""
    answer = json.loads(done.stdout)
    assert list(answer) == ["meantime", "results"]
    assert answer["meantime"] == __version__
    results = answer["results"]
    assert [(r["system"], r["metric"]) for r in results] == [
        ("literal", "wer"),
        ("literal", "bleu"),
        ("fluent", "wer"),
        ("fluent", "bleu"),
    ]
    for result in results:
        assert list(result) == [
            "system", "metric", "signature", "score", "higher_is_better", "segments",
        ]  # fmt: skip
        assert len(result["segments"]) == 20
        assert result["signature"].startswith(result["metric"] + "|")
    assert not results[0]["higher_is_better"]
    assert results[1]["higher_is_better"]
    assert "max_order:2" in results[1]["signature"]


def test_all_outputs_hold_the_same_numbers() -> None:
    arguments = ["score", FLUENT, LITERAL, "-r", REFERENCE, "-m", "bleu", "-m", "ter", "-m", "wer"]
    results = json.loads(run(*arguments, "--format", "json").stdout)["results"]
    quiet = [float(line) for line in run(*arguments, "--quiet").stdout.split()]
    assert quiet == [result["score"] for result in results]
    table = run(*arguments).stdout
    latex = run(*arguments, "--format", "latex").stdout
    for result in results:
        digits = 4 if result["metric"] == "wer" else 2
        assert f"{result['score']:.{digits}f}" in table
        assert f"{result['score']:.{digits}f}" in latex
        assert result["signature"] in table
        assert result["signature"] in latex
    lines = run(*arguments, "--format", "tsv").stdout.split("\n")
    assert lines[0] == "system\tmetric\tscore\tsignature"
    assert [float(line.split("\t")[2]) for line in lines[1:-1]] == quiet


def test_table() -> None:
    done = run("score", FLUENT, LITERAL, "-r", REFERENCE)
    lines = done.stdout.split("\n")
    assert lines[0].split() == ["system", "bleu", "↑", "chrf", "↑", "ter", "↓"]
    assert lines[1].split()[0] == "fluent"
    assert lines[2].split()[0] == "literal"
    assert "\x1b" not in done.stdout


def test_segments_in_table_and_tsv() -> None:
    table = run("score", FLUENT, "-r", REFERENCE, "-m", "wer", "--segments").stdout
    assert re.search(r"^20\s+fluent\s+0\.\d{4}$", table, re.MULTILINE)
    tsv = run("score", FLUENT, "-r", REFERENCE, "-m", "wer", "--segments", "--format", "tsv").stdout
    rows = [line.split("\t") for line in tsv.split("\n")[:-1]]
    assert rows[0] == ["system", "segment", "metric", "score", "signature"]
    assert [row[1] for row in rows[1:]] == ["", *(str(n) for n in range(1, 21))]


def test_interval() -> None:
    first = scores(FLUENT, "-r", REFERENCE, "-m", "bleu", "--ci", "--resamples", "200")[0]
    again = scores(FLUENT, "-r", REFERENCE, "-m", "bleu", "--ci", "--resamples", "200")[0]
    other = scores(
        FLUENT, "-r", REFERENCE, "-m", "bleu", "--ci", "--resamples", "200", "--seed", "1"
    )[0]
    assert first == again != other
    interval = first["interval"]
    assert interval["low"] < first["score"] < interval["high"]
    assert interval["confidence"] == 0.95
    table = run("score", FLUENT, "-r", REFERENCE, "-m", "bleu", "--ci").stdout
    assert re.search(r"67\.\d\d \[\d\d\.\d\d, \d\d\.\d\d\]", table)


def test_standard_input_and_gzip(tmp_path: Path) -> None:
    plain = scores(FLUENT, "-r", REFERENCE, "-m", "chrf")[0]
    text = Path(FLUENT).read_bytes()
    piped = scores("-", "-r", REFERENCE, "-m", "chrf", stdin=text)[0]
    zipped = scores("-", "-r", REFERENCE, "-m", "chrf", stdin=gzip.compress(text))[0]
    packed = tmp_path / "fluent.txt.gz"
    packed.write_bytes(gzip.compress(text))
    from_file = scores(str(packed), "-r", REFERENCE, "-m", "chrf")[0]
    assert piped["system"] == zipped["system"] == "stdin"
    assert from_file["system"] == "fluent"
    assert piped["score"] == zipped["score"] == from_file["score"] == plain["score"]


def test_several_references_and_one_file(tmp_path: Path) -> None:
    faithful = str(EXAMPLES / "faithful.txt")
    separate = scores(FLUENT, "-r", REFERENCE, "-r", faithful, "-m", "bleu")[0]
    assert "references:2" in separate["signature"]
    lines = []
    texts = [Path(p).read_text().split("\n")[:-1] for p in (FLUENT, REFERENCE, faithful)]
    for hypothesis, one, two in zip(*texts, strict=True):
        row = {"system": "x", "mt": hypothesis, "references": [one, two]}
        lines.append(json.dumps(row))
    path = tmp_path / "all.jsonl"
    path.write_text("\n".join(lines) + "\n")
    together = scores("--input", str(path), "-m", "bleu")[0]
    assert together["system"] == "x"
    assert together["score"] == separate["score"]


def test_the_language_a_file_states_is_used(tmp_path: Path) -> None:
    row = {"lang": "zh", "system": "x", "hypothesis": "狗咬了人", "reference": "狗咬人"}
    path = tmp_path / "zh.jsonl"
    path.write_text(json.dumps(row) + "\n")
    assert "tokeniser:zh" in scores("--input", str(path), "-m", "bleu")[0]["signature"]


def test_the_same_metric_twice_is_one_column() -> None:
    assert len(scores(FLUENT, "-r", REFERENCE, "-m", "wer", "-m", "wer")) == 1


def test_jobs_give_the_same_numbers(tmp_path: Path) -> None:
    for name in ("fluent", "reference"):
        (tmp_path / f"{name}.txt").write_text((EXAMPLES / f"{name}.txt").read_text() * 40)
    arguments = [str(tmp_path / "fluent.txt"), "-r", str(tmp_path / "reference.txt"), "--segments"]
    arguments += ["-m", "bleu", "-m", "ter", "-m", "nist"]
    assert scores(*arguments, "--jobs", "2") == scores(*arguments) == scores(*arguments, "-j", "0")


def test_output_file(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    done = run("score", FLUENT, "-r", REFERENCE, "--format", "json", "-o", str(path))
    assert done.stdout == ""
    assert json.loads(path.read_text())["results"]
    assert os.listdir(tmp_path) == ["out.json"]
    done = run("score", FLUENT, "-r", REFERENCE, "-o", str(tmp_path / "no" / "out.json"))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "nothing to score"),
        ([FLUENT], 2, "no reference"),
        ([FLUENT, "-r", REFERENCE, "-m", "blue"], 2, "did you mean bleu"),
        ([FLUENT, "-r", REFERENCE, "-m", "bleu:order=2"], 2, "did you mean"),
        ([FLUENT, "-r", REFERENCE, "--format", "xml"], 2, "--format"),
        ([FLUENT, "-r", REFERENCE, "--jobs", "-3"], 2, "--jobs"),
        ([FLUENT, "-r", REFERENCE, "--nonsense"], 2, "--nonsense"),
        ([FLUENT, "-r", REFERENCE, "--quiet", "--ci"], 2, "--quiet"),
        ([FLUENT, "-r", REFERENCE, "--quiet", "--format", "json"], 2, "--quiet"),
        ([FLUENT, "-r", REFERENCE, "--segments", "--format", "latex"], 2, "--segments"),
        ([FLUENT, "-r", REFERENCE, "-m", "bleu:smooth=floor,smooth_value=5"], 2, "at most 1"),
        ([FLUENT, "-r", REFERENCE, "-m", "bleu:smooth_value=5"], 2, "leave it out"),
        ([FLUENT, "-r", REFERENCE, "-m", "chrf:beta=inf"], 2, "a number from 0 to 1000"),
        ([FLUENT, "-r", REFERENCE, "--analyser", "english"], 2, "needs analysis"),
        ([FLUENT, "-r", REFERENCE, "--seed", "3"], 2, "add --ci"),
        ([FLUENT, "-r", REFERENCE, "-m", "stm", "--analyser", "nope"], 2, "there are english"),
        (["-", "-r", "-"], 2, "given twice"),
        ([FLUENT, "-r", REFERENCE, "-m", "meteor", "--lang", "de"], 2, "'de'"),
        ([FLUENT, "-r", REFERENCE, "-m", "bleu", "--lang", "th"], 2, "'th'"),
        (["nowhere.txt", "-r", REFERENCE], 1, "nowhere.txt"),
        (["-", "-r", REFERENCE], 1, "20"),
    ],
)
def test_exit_codes_and_messages(arguments: list[str], code: int, message: str) -> None:
    done = run("score", *arguments, stdin=b"one\ntwo\n")
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no segment"),
        (b"caf\xe9\n", "UTF-8"),
        (b"one\n" * 19, "19"),
        ("\ufefftext\n".encode("utf-16"), "UTF-16"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    done = run("score", str(path), "-r", REFERENCE)
    assert done.returncode == 1
    assert "bad.txt" in done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [("system\thyp\nx\ty\n", "no reference"), ("src\tref\nx\ty\n", "no hypothesis")],
)
def test_a_missing_column_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "half.tsv"
    path.write_text(content)
    done = run("score", "--input", str(path))
    assert done.returncode == 1
    assert "half.tsv" in done.stderr
    assert message in done.stderr
    assert "column" in done.stderr


def test_parses_of_ones_own(tmp_path: Path) -> None:
    for name in ("fluent", "reference"):
        run("analyse", str(EXAMPLES / f"{name}.txt"), "-f", "conll", "-o", str(tmp_path / name))
    files = ["--hypothesis-parses", str(tmp_path / "fluent")]
    files += ["--reference-parses", str(tmp_path / "reference")]
    given = scores(FLUENT, "-r", REFERENCE, "-m", "stm", *files)[0]
    analysed = scores(FLUENT, "-r", REFERENCE, "-m", "stm", "--no-cache")[0]
    assert "analysis:given" in given["signature"]
    assert "analysis:english-" in analysed["signature"]
    assert given["score"] == analysed["score"]
    swapped = [files[0], files[3], files[2], files[1]]
    done = run("score", FLUENT, "-r", REFERENCE, "-m", "stm", *swapped)
    assert done.returncode == 1
    assert "reference:" in done.stderr
    done = run("score", FLUENT, LITERAL, "-r", REFERENCE, "-m", "stm", *files)
    assert done.returncode == 2
    assert "for 2 systems" in done.stderr


def test_models_and_cache(tmp_path: Path) -> None:
    environment = {**os.environ, "MEANTIME_CACHE": str(tmp_path / "cache.sqlite")}
    run("score", FLUENT, "-r", REFERENCE, "-m", "stm", env=environment)
    facts = json.loads(run("cache", "info", "--format", "json", env=environment).stdout)
    assert facts["entries"] == 40
    assert run("cache", "clear", env=environment).stdout.startswith("40 analyses dropped")
    listed = json.loads(run("models", "--check", "--format", "json").stdout)
    assert listed[0]["name"] == "english"
    assert listed[0]["figures"]
    assert "CC BY-SA" in run("models").stdout
    assert "PropBank" in run("models", "--card", "english").stdout
    assert run("models", "--card", "nope").returncode == 2


def test_output_to_links_pipes_and_files_that_are_there(tmp_path: Path) -> None:
    arguments = ["score", FLUENT, "-r", REFERENCE, "-m", "wer", "--quiet"]
    old = tmp_path / "old"
    old.write_text("old")
    old.chmod(0o600)
    (tmp_path / "link").symlink_to(old)
    run(*arguments, "-o", str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert float(old.read_text()) > 0
    assert old.stat().st_mode & 0o777 == 0o600
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    run(*arguments, "-o", str(pipe))
    assert float(reader.communicate(timeout=30)[0]) > 0
    assert pipe.is_fifo()
    run(*arguments, "-o", str(tmp_path / "out.gz"))
    assert float(gzip.decompress((tmp_path / "out.gz").read_bytes())) > 0
    done = run(*arguments, "-o", str(tmp_path))
    assert done.returncode == 1
    assert "folder" in done.stderr


def test_names_are_never_style(tmp_path: Path) -> None:
    for name in ("a:100:b", "[bold]x[red]", ":smile:"):
        path = tmp_path / f"{name}.txt"
        path.write_text(Path(FLUENT).read_text())
        assert f"\n{name} " in run("score", str(path), "-r", REFERENCE, "-m", "wer").stdout


def test_output_is_utf8_whatever_the_locale() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = run("score", FLUENT, "-r", REFERENCE, env=environment)
    assert done.returncode == 0
    assert "↑" in done.stdout


def test_a_full_disk_is_said() -> None:
    line = f"{sys.executable} -u -m meantime score {FLUENT} -r {REFERENCE} > /dev/full"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"error: standard output" in done.stderr
    assert b"Traceback" not in done.stderr


def test_metrics_lists_all() -> None:
    from meantime.registry import names

    done = run("metrics")
    assert done.returncode == 0
    for name in names():
        assert re.search(rf"^{name} ", done.stdout, re.MULTILINE)
    one = run("metrics", "ter").stdout
    assert "lower is better" in one
    assert "Snover" in one
    assert "needs      tree" in run("metrics", "stm").stdout
    facts = json.loads(run("metrics", "bleu", "--format", "json").stdout)
    assert facts["range"] == [0.0, 100.0]
    assert "max_order" in [option["name"] for option in facts["options"]]
    assert run("metrics", "blue").returncode == 2


def test_version_and_help() -> None:
    assert run("--version").stdout == f"meantime {__version__}\n"
    assert "score" in run("--help").stdout
    command = shutil.which("meantime", path=str(Path(sys.executable).parent))
    assert command is not None
    installed = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert installed.stdout == f"meantime {__version__}\n"


def test_a_reader_that_leaves_is_no_error() -> None:
    line = f"{sys.executable} -m meantime score {FLUENT} -r {REFERENCE} --segments | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stderr == b""


SLOW = """
import sys, time
import numpy
import meantime.metrics.wer as module
real = module.Wer.measure
def slow(self, pairs):
    time.sleep(0.4)
    return real(self, pairs)
module.Wer.measure = slow
from meantime.cli import main
main(sys.argv[1:])
"""


@pytest.fixture
def long_files(tmp_path: Path) -> list[str]:
    for name in ("fluent", "reference"):
        (tmp_path / f"{name}.txt").write_text((EXAMPLES / f"{name}.txt").read_text() * 130)
    return [str(tmp_path / "fluent.txt"), "-r", str(tmp_path / "reference.txt"), "-m", "wer"]


def test_progress_only_on_a_terminal(long_files: list[str]) -> None:
    command = [sys.executable, "-c", SLOW, "score", *long_files]
    quiet = subprocess.run(command, capture_output=True, check=True)
    assert quiet.stderr == b""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, env=environment)
    os.close(slave)
    drawn = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        drawn += chunk
    assert process.wait() == 0
    assert b"scoring" in drawn
    assert b"/2600" in drawn
    os.close(master)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupt_ends_cleanly(long_files: list[str], jobs: str, tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    command = [sys.executable, "-u", "-c", SLOW.replace("0.4", "5"), "score", *long_files]
    command += ["--jobs", jobs, "-o", str(output)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    time.sleep(4)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"Traceback" not in errors
    assert b"interrupted" in errors
    assert not output.exists()
    time.sleep(0.2)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
