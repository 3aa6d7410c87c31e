"""`meantime metaeval`, as others script against it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from meantime import __version__
from meantime.cli.app import run as run_command

SYSTEMS = ("one", "two", "three", "four")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEANTIME_CACHE", str(tmp_path / "cache" / "analyses.sqlite"))


def table(path: Path, *rows: tuple[object, ...]) -> str:
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def data(tmp_path: Path) -> str:
    rows = [
        (
            "xx-en", "news" if seg % 2 else "chat", seg, system,
            f"the cat number {seg} sat on the mat near my house",
            f"the cat number {seg} sat on "
            + ("the mat near my house" if number == 3 else "x " * number),
            number - (seg * number) % 3,
        )
        for seg in range(1, 31)
        for number, system in enumerate(SYSTEMS)
    ]  # fmt: skip
    header = ("lp", "domain", "seg", "system", "ref", "hyp", "score")
    return table(tmp_path / "judged.tsv", header, *rows)


@pytest.fixture
def peers(tmp_path: Path) -> str:
    rows = [
        (seg, system, number, "" if seg == 1 else -number)
        for seg in range(1, 31)
        for number, system in enumerate(SYSTEMS)
    ]
    return table(tmp_path / "peers.tsv", ("seg", "system", "Good_1", "Bad"), *rows)


def call(capsys, *arguments: str) -> str:
    assert run_command(["metaeval", *arguments]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def fail(capsys, *arguments: str) -> tuple[int, str]:
    code = run_command(["metaeval", *arguments])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    return code, captured.err


def test_table(capsys, data: str, peers: str) -> None:
    text = call(capsys, data, "-m", "chrf", "-m", "wer", "--scores", peers)
    lines = text.splitlines()
    assert lines[0] == "judged: xx-en, 120 rated translations of 30 segments by 4 systems"
    assert re.split(r"  +", lines[1]) == [
        "rank", "cluster", "metric", "tau-b in segments", "accuracy in segments",
        "tau-b in systems", "tau-b pooled", "r pooled",
    ]  # fmt: skip
    assert sorted(line.split()[2] for line in lines[2:6]) == ["Bad", "Good_1", "chrf", "wer"]
    assert lines[2].split()[:2] == ["1", "1"]
    assert re.search(r"\[-?\d\.\d{3}, -?\d\.\d{3}\]", lines[2])
    assert lines[6].startswith("               minus reference length")
    assert re.search(r"tau-b in segments: defined in \d+ of 30 segments with several rated", text)
    assert "note: Bad: no score for 4 of 120 rated translations" in text
    assert {line.partition("|")[0] for line in lines[-2:]} == {"chrf", "wer"}


def test_json_contract(capsys, data: str, peers: str) -> None:
    answer = json.loads(call(capsys, data, "-m", "chrf", "--scores", peers, "-f", "json"))
    assert list(answer) == ["meantime", "evaluations"]
    assert answer["meantime"] == __version__
    [one] = answer["evaluations"]
    assert list(one) == [
        "name", "group", "level", "leading", "sets", "metrics", "p_values", "resamples", "test",
        "notes",
    ]  # fmt: skip
    assert one["leading"] == "kendall-segments"
    facts = {"lp": "xx-en", "kind": "", "segments": 30, "systems": 4, "rated": 120, "whole": False}
    assert one["sets"] == [facts]
    metrics = {item["metric"]: item for item in one["metrics"]}
    assert list(metrics["chrf"]) == [
        "metric", "rank", "cluster", "signature", "missing", "roc_area", "figures",
    ]  # fmt: skip
    assert list(metrics["chrf"]["figures"]) == [
        "kendall-segments", "accuracy-segments", "kendall-systems", "kendall-pooled",
        "pearson-pooled",
    ]  # fmt: skip
    leading = metrics["Good_1"]["figures"]["kendall-segments"]
    assert list(leading) == ["value", "defined", "groups", "interval"]
    assert leading["interval"]["low"] <= leading["value"] <= leading["interval"]["high"]
    length = metrics["minus reference length"]
    assert length["rank"] is None
    assert length["figures"]["kendall-segments"]["value"] is None
    assert "all metric scores are equal" in length["figures"]["kendall-segments"]["reason"]
    assert len(one["p_values"]) == 3
    assert metrics["Bad"]["missing"] == 4


def test_all_outputs_hold_the_same_numbers(capsys, data: str, peers: str) -> None:
    arguments = [data, "-m", "chrf", "--scores", peers, "--level", "sys"]
    answer = json.loads(call(capsys, *arguments, "-f", "json"))
    figures = {
        item["metric"]: [figure["value"] for figure in item["figures"].values()]
        for item in answer["evaluations"][0]["metrics"]
    }
    header, *rows = [
        line.split("\t") for line in call(capsys, *arguments, "-f", "tsv").splitlines()
    ]
    assert header[:6] == ["name", "group", "level", "metric", "figure", "value"]
    for name, values in figures.items():
        assert [float(row[5]) for row in rows if row[3] == name] == values
    shown = [f"{value:.3f}" for values in figures.values() for value in values]
    for format in ("table", "markdown", "latex"):
        text = call(capsys, *arguments, "-f", format)
        found = re.findall(r"(?<![\d.\[ ])-?\d\.\d{3}|(?<= )-?\d\.\d{3}(?![\d\],])", text)
        for value in shown:
            assert value in found, format
    assert r"Good\_1" in call(capsys, *arguments, "-f", "latex")
    assert r"Good\_1" in call(capsys, *arguments, "-f", "markdown")


def test_by_domain(capsys, data: str) -> None:
    answer = json.loads(call(capsys, data, "-m", "chrf", "--by", "domain", "-f", "json"))
    assert [one["group"] for one in answer["evaluations"]] == ["news", "chat"]


def test_tasks_as_data_and_options_before_them(capsys, tmp_path: Path, data: str) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text(
        "[defaults]\nmetrics = ['chrf']\nresamples = 0\n"
        "[[task]]\nname = 'here'\ndata = 'judged.tsv'\nlevel = ['seg', 'sys']\n"
    )
    answer = json.loads(call(capsys, str(path), "-f", "json"))
    assert [(one["name"], one["level"]) for one in answer["evaluations"]] == [
        ("here", "seg"),
        ("here", "sys"),
    ]
    answer = json.loads(call(capsys, str(path), data, "-m", "wer", "-f", "json"))
    assert len(answer["evaluations"]) == 3
    assert {one["metrics"][0]["metric"] for one in answer["evaluations"]} == {"wer"}


def test_statistics_are_kept(capsys, tmp_path: Path, data: str) -> None:
    first = call(capsys, data, "-m", "chrf")
    kept = list((tmp_path / "cache" / "analyses-statistics").iterdir())
    assert len(kept) == 1
    assert call(capsys, data, "-m", "chrf") == first
    assert call(capsys, data, "-m", "chrf", "--no-cache") == first
    assert list((tmp_path / "cache" / "analyses-statistics").iterdir()) == kept


def test_no_cache_keeps_nothing(capsys, tmp_path: Path, data: str) -> None:
    call(capsys, data, "-m", "chrf", "--no-cache", "--resamples", "0")
    assert not (tmp_path / "cache").exists()


def test_cache_tells_and_drops_statistics(capsys, tmp_path: Path, data: str) -> None:
    call(capsys, data, "-m", "chrf", "--resamples", "0")
    assert run_command(["cache", "info"]) == 0
    assert re.search(r"statistics +1 piece", capsys.readouterr().out)
    assert run_command(["cache", "info", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["statistics"]["pieces"] == 1
    assert run_command(["cache", "clear"]) == 0
    assert "1 piece of statistics" in capsys.readouterr().out
    assert not list((tmp_path / "cache" / "analyses-statistics").iterdir())


def test_plots(capsys, tmp_path: Path, data: str, peers: str) -> None:
    svg, png = tmp_path / "s.svg", tmp_path / "a.png"
    call(
        capsys, data, "-m", "chrf", "--scores", peers, "--resamples", "0",
        "--plot", f"scatter={svg}", "--plot", f"accuracy={png}",
    )  # fmt: skip
    assert svg.read_bytes().startswith(b"<svg")
    assert png.read_bytes().startswith(b"\x89PNG")


def test_output_goes_to_a_file(capsys, tmp_path: Path, data: str) -> None:
    shown = call(capsys, data, "-m", "chrf", "--resamples", "0")
    assert call(capsys, data, "-m", "chrf", "--resamples", "0", "-o", str(tmp_path / "o")) == ""
    assert (tmp_path / "o").read_text(encoding="utf-8") == shown


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["DATA"], 2, "no metric was given; name one with -m"),
        (["DATA", "-m", "crhf"], 2, "did you mean chrf"),
        (["nowhere.tsv", "-m", "chrf"], 1, "nowhere.tsv: no such file"),
        (["nowhere.toml"], 1, "nowhere.toml: no such file"),
        (["DATA", "-m", "chrf", "--scores", "nowhere.tsv"], 1, "nowhere.tsv: no such file"),
        (["DATA", "-m", "chrf", "--statistic", "rho"], 2, "choose from pearson"),
        (["DATA", "-m", "chrf", "--weight", "critical"], 2, "is no weight"),
        (["DATA", "-m", "chrf", "--normalise", "z"], 2, "no judgements one by one"),
        (["DATA", "-m", "chrf", "--lp", "de-en"], 1, "no row of language pair 'de-en'"),
        (["DATA", "-m", "chrf", "--plot", "pie=x.svg"], 2, "write KIND=FILE"),
        (["DATA", "-m", "chrf", "--plot", "roc=x.gif"], 2, "must end in .svg or .png"),
        (["DATA", "-m", "chrf", "--plot", "roc=x.svg"], 1, "take the human ones in"),
        (["DATA", "DATA", "-m", "chrf", "--plot", "roc=x.svg"], 2, "draws one task"),
        (["DATA", "-m", "chrf", "-m", "chrf"], 1, "chrf is given twice"),
    ],
)
def test_errors(capsys, data: str, arguments: list[str], code: int, words: str) -> None:
    found, message = fail(capsys, *(data if text == "DATA" else text for text in arguments))
    assert re.search(words, message), message
    assert found == code


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"hyp\tscore\n", "no row of scores"),
        ("hyp\tscore\nh\xe9\t1\n".encode("latin-1"), "is not UTF-8"),
        (b"hyp\tscore\nx\t1\n", "no reference, so nothing can be measured"),
        (b"\x1f\x8b\x08broken", "gzip"),
    ],
)
def test_damaged_data(capsys, tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "d.tsv"
    path.write_bytes(content)
    assert words in fail(capsys, str(path), "-m", "chrf")[1]


def test_constant_scores_get_a_statement_and_no_nan(capsys, tmp_path: Path) -> None:
    rows = [("1", system, "the cat", "the cat", 1) for system in "abc"]
    path = table(tmp_path / "d.tsv", ("seg", "system", "ref", "hyp", "score"), *rows)
    for level in ("seg", "sys"):
        text = call(capsys, path, "-m", "chrf", "--level", level)
        assert "all human scores are equal" in text
        assert "nan" not in text.lower()
        answer = json.loads(call(capsys, path, "-m", "chrf", "--level", level, "-f", "json"))
        assert answer["evaluations"][0]["metrics"][0]["rank"] is None


def test_nothing_heavy_is_loaded_for_help() -> None:
    program = (
        "import sys\nfrom meantime.cli.app import run\n"
        "run(['metaeval', '--help'])\nprint(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "altair", "scipy"} & set(done.stderr.split())
