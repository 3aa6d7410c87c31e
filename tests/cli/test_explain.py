"""`meantime explain`, `check` and `weights` as a user meets them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from meantime.cli import explaining
from meantime.cli.app import run
from tests.worded import explained

ROOT = Path(__file__).resolve().parents[2]
FLUENT = str(ROOT / "examples" / "fluent.txt")
FAITHFUL = str(ROOT / "examples" / "faithful.txt")
REFERENCE = str(ROOT / "examples" / "reference.txt")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def call(capsys, *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


# explain


def test_explain_names_what_was_lost(capsys) -> None:
    code, out, _ = call(capsys, "explain", FLUENT, "-r", REFERENCE, "--segment", "2")
    assert code == 0
    assert "missing: negation 'not'" in out
    assert out.startswith("segment 2  meant 0.")
    assert out.rstrip().splitlines()[-1].startswith("meant|references:1|")


def test_explain_as_json_rebuilds_the_score(capsys) -> None:
    code, out, _ = call(capsys, "explain", FLUENT, "-r", REFERENCE, "-f", "json", "--worst", "3")
    assert code == 0
    found = json.loads(out)["explanations"]
    assert len(found) == 3
    scores = [one["score"] for one in found]
    assert scores == sorted(scores)
    for one in found:
        shares = sum(component["share"] for component in one["components"])
        assert shares == pytest.approx(one["score"], abs=1e-9)
        assert sum(part["value"] for part in one["parts"]) == pytest.approx(one["score"], abs=1e-9)


@pytest.mark.parametrize("metric", ["ter", "wer", "umeant", "meant-2014"])
def test_other_metrics_explain_too(capsys, metric: str) -> None:
    code, out, err = call(
        capsys, "explain", FLUENT, "-r", REFERENCE, "--segment", "1", "-m", metric
    )
    assert code == 0, err
    assert out.startswith(f"segment 1  {metric} ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "bleu"], "bleu cannot explain its scores"),
        (["-m", "nonsense"], "no metric is called 'nonsense'"),
        (["--segment", "99"], "no segment '99' among 20"),
        (["--segment", "1", "--worst", "2"], "both choose segments"),
    ],
)
def test_explain_refuses_clearly(capsys, arguments: list[str], message: str) -> None:
    code, out, err = call(capsys, "explain", FLUENT, "-r", REFERENCE, *arguments)
    assert code == 2
    assert message in err
    assert not out


def test_explain_never_acts_on_the_terminal(capsys, tmp_path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("The \x1b[31mmayor signed [bold]it.\n", encoding="utf-8")
    good = tmp_path / "good.txt"
    good.write_text("The mayor signed it.\n", encoding="utf-8")
    code, out, _ = call(capsys, "explain", str(bad), "-r", str(good))
    assert code == 0
    assert "\x1b" not in out
    assert "[bold]" in out.replace("[ bold ]", "[bold]")


def test_explain_cites_what_score_cites(capsys) -> None:
    _, out, _ = call(capsys, "score", FLUENT, "-r", REFERENCE, "-m", "meant")
    signature = out.rstrip().splitlines()[-1]
    assert "|analysis:" in signature
    asked = ("explain", FLUENT, "-r", REFERENCE, "--segment", "2")
    assert call(capsys, *asked)[1].rstrip().splitlines()[-1] == signature
    _, out, _ = call(capsys, *asked, "--format", "json")
    assert json.loads(out)["signature"] == signature


def test_weights_of_the_whole_set_do_not_change_with_what_is_shown(capsys) -> None:
    asked = ("explain", FLUENT, "-r", REFERENCE, "-m", "umeant", "--format", "json")
    found = {
        name: json.loads(call(capsys, *asked, *more)[1])
        for name, more in (("all", ()), ("one", ("--segment", "10")))
    }
    assert found["one"]["explanations"] == found["all"]["explanations"][9:10]
    assert found["one"]["signature"] == found["all"]["signature"]


def test_what_words_are_worth_is_drawn_and_told_as_json() -> None:
    """As the trained metric explains itself: the shares of all words are the score."""
    one = explained()
    drawn = explaining.draw(one, segment="7", width=100, higher_is_better=True, decimals=4).plain
    assert "words that cost most" in drawn
    assert re.search(r"reference +not +found 0\.00 +share 0\.062 +lost 0\.062", drawn)
    assert re.search(r"and 6 others +share 0\.[0-9]{3} +lost 0\.[0-9]{3}", drawn)
    assert "frame 1: <b>sign</b>" in drawn
    told = json.loads(json.dumps(explaining.as_data(one, "7")))
    assert sum(word["share"] for word in told["words"]) == pytest.approx(told["score"])
    assert told["words"][0].keys() == {"side", "word", "span", "found", "share", "loss"}
    assert told["frames"][0]["phrases"][1]["loss"] == 0.0625


# check


def test_check_finds_and_fails(capsys) -> None:
    code, out, _ = call(capsys, "check", FLUENT, "-r", REFERENCE)
    assert code == 3
    assert "negation lost: 'sign'" in out
    assert "'5.4' for '4.5'" in out
    assert out.rstrip().splitlines()[-1].startswith("failed: ")


def test_check_lets_pass_what_is_allowed(capsys) -> None:
    code, out, _ = call(capsys, "check", FLUENT, "-r", REFERENCE, "--allow-share", "0.9")
    assert code == 0
    assert out.rstrip().splitlines()[-1].startswith("passed: ")
    code, out, _ = call(capsys, "check", FAITHFUL, "-r", REFERENCE, "--only", "negation,number")
    assert code == 0, out


def test_check_as_json(capsys) -> None:
    code, out, _ = call(capsys, "check", FLUENT, "-r", REFERENCE, "--only", "number", "-f", "json")
    assert code == 3
    found = json.loads(out)
    assert found["segments"] == 20
    assert found["with_findings"] == len(found["found"])
    assert not found["passed"]
    assert found["found"][0]["findings"][0]["rule"] == "number"


@pytest.mark.parametrize("option", ["-r", "-s"])
def test_check_finds_what_is_not_translated(capsys, tmp_path, option: str) -> None:
    empty, other = tmp_path / "empty.txt", tmp_path / "other.txt"
    empty.write_text("\n", encoding="utf-8")
    other.write_text("Birds fly south.\n", encoding="utf-8")
    code, out, _ = call(capsys, "check", str(empty), option, str(other))
    assert code == 3
    assert out.count("nothing is translated") == 1


def test_check_against_the_source(capsys, tmp_path) -> None:
    source = tmp_path / "source.txt"
    source.write_text("Er zahlte 1.000 Euro.\nEs kostet 30 Euro.\n", encoding="utf-8")
    hypothesis = tmp_path / "hypothesis.txt"
    hypothesis.write_text("He paid one thousand euros.\nIt costs 13 euros.\n", encoding="utf-8")
    code, out, _ = call(capsys, "check", str(hypothesis), "-s", str(source), "--source-lang", "de")
    assert code == 3
    assert "number of the source lost: '30'" in out
    assert "1.000" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to check against"),
        (["-r", REFERENCE, "--only", "nonsense"], "no rule is called 'nonsense'"),
        (["-s", REFERENCE, "--only", "negation"], "negation needs a reference"),
        (["-r", REFERENCE, "--only", ","], "names no rule"),
    ],
)
def test_check_refuses_clearly(capsys, arguments: list[str], message: str) -> None:
    code, _, err = call(capsys, "check", FLUENT, *arguments)
    assert code == 2
    assert message in err


# weights


def judged(path: Path, count: int = 12) -> Path:
    """A table of judged translations: the example, better judged where it is the reference."""
    references = (ROOT / "examples" / "reference.txt").read_text(encoding="utf-8").splitlines()
    fluent = (ROOT / "examples" / "fluent.txt").read_text(encoding="utf-8").splitlines()
    lines = ["lp\tseg\tsystem\tsrc\tref\thyp\tscore"]
    for number in range(count):
        text = fluent[number] if number % 2 else references[number]
        score = -1 - number / 100 if number % 2 else 1 - number / 100
        lines.append(f"de-en\t{number + 1}\t\tx\t{references[number]}\t{text}\t{score}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_weights_are_fitted_written_and_used(capsys, tmp_path) -> None:
    data, out = judged(tmp_path / "judged.tsv"), tmp_path / "weights.json"
    code, printed, err = call(
        capsys, "weights", "fit", "--data", str(data), "-m", "meant-2014:weights=uniform",
        "--total", "2", "--objective", "pearson", "-o", str(out),
    )  # fmt: skip
    assert code == 0, err
    assert "best whole numbers:" in printed
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["provenance"]["data"] == ["judged.tsv"]
    code, shown, _ = call(capsys, "weights", "show", str(out))
    assert json.loads(shown)["weights"] == found["weights"]
    code, scored, err = call(
        capsys, "score", FLUENT, "-r", REFERENCE, "-m", f"meant-2014:weights={out}", "-q"
    )
    assert code == 0, err
    assert 0 < float(scored) <= 1


def test_unsupervised_weights(capsys, tmp_path) -> None:
    code, printed, _ = call(capsys, "weights", "unsupervised", REFERENCE)
    assert code == 0
    assert sum(json.loads(printed)["weights"].values()) == pytest.approx(1)
    out = tmp_path / "w.json"
    assert call(capsys, "weights", "unsupervised", REFERENCE, "-o", str(out))[0] == 0
    assert json.loads(out.read_text())["provenance"]["files"] == ["reference.txt"]


def test_shipped_weights_are_listed(capsys) -> None:
    code, printed, _ = call(capsys, "weights", "show")
    assert code == 0
    names = printed.split()
    assert {"uniform", "unsupervised", "meant", "meant-2014", "imeant"} <= set(names)
    for name in names:
        if name not in ("uniform", "unsupervised"):
            shown = json.loads(call(capsys, "weights", "show", name)[1])
            data = shown["provenance"]["data"]
            assert data == ["wmt15-da-toen.tsv.gz", "wmt16-da-toen.tsv.gz"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fit", "--data", "nowhere.tsv"], 1, "nowhere.tsv"),
        (["fit", "--data", REFERENCE, "-m", "bleu"], 2, "bleu has no role weights"),
        (["show", "nowhere"], 2, "no weights are called 'nowhere'"),
        (["show", "unsupervised"], 2, "come from references"),
    ],
)
def test_weights_refuse_clearly(capsys, arguments: list[str], code: int, message: str) -> None:
    found, _, err = call(capsys, "weights", *arguments)
    assert found == code
    assert message in err
