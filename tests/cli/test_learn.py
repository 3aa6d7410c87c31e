"""`meantime learn` as people call it: trained, used by every verb, killed, and refused."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from meantime.cli.app import run as run_here

WORDS = "the cat dog sat on mat ran to house and saw big red bird by river".split()


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess:
    """In another process, as people do."""
    return subprocess.run(
        [sys.executable, "-m", "meantime", *arguments],
        cwd=folder, env=_environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "MEANTIME_CACHE": str(folder / "cache.sqlite")}


@pytest.fixture
def call(tmp_path: Path, monkeypatch, capsys):
    """In this process, in the folder of the test: the code, and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEANTIME_CACHE", str(tmp_path / "cache.sqlite"))

    def called(*arguments: str) -> subprocess.CompletedProcess:
        code = run_here(list(arguments))
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, printed.out, printed.err)

    return called


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Two references that say the same in other words, and two systems that drop some."""
    rng = random.Random(7)
    lines = [[rng.choice(WORDS) for _ in range(rng.randint(6, 12))] for _ in range(60)]
    files: dict[str, list[str]] = {name: [] for name in ("a", "b", "one", "two")}
    for words in lines:
        files["a"].append(" ".join(words))
        files["b"].append(" ".join(rng.choice(WORDS) if rng.random() < 0.2 else w for w in words))
        for name in ("one", "two"):
            kept = [word for word in words if rng.random() < 0.6] or words
            rng.shuffle(kept)
            files[name].append(" ".join(kept))
    for name, content in files.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(content) + "\n")
    return tmp_path


TRAIN = ("learn", "human-or-machine", "--refs", "a.txt", "--refs", "b.txt", "--hyps", "one.txt",
         "--hyps", "two.txt")  # fmt: skip
SMALL = ("--c", "1,5", "--sigma", "1,2.5")


def test_human_or_machine_becomes_a_metric(texts: Path, call) -> None:
    done = call(*TRAIN, *SMALL, "--out", "mine")
    assert done.returncode == 0, done.stderr
    assert "wrote mine; use it with -m ./mine" in done.stderr
    found = re.search(r"chosen: C=\d, sigma=[\d.]+: ([\d.]+)% of \d+ held-out", done.stdout)
    assert found, done.stdout
    assert float(found[1]) > 80
    assert done.stdout.count("*") == 1
    assert not (texts / "mine.unfinished").exists()
    card = json.loads((texts / "mine" / "card.json").read_text())
    assert card["training"]["data"] == ["a.txt", "b.txt", "one.txt", "two.txt"]
    assert len(card["results"]["grid"]) == 4
    assert card["results"]["held-out accuracy"] * 100 == pytest.approx(float(found[1]), abs=0.05)
    listed = ("score", "b.txt", "one.txt", "-r", "a.txt", "-m", "./mine", "-f", "json")
    scored = call(*listed)
    assert scored.returncode == 0, scored.stderr
    people, machine = json.loads(scored.stdout)["results"]
    assert people["score"] > machine["score"]
    assert people["signature"].startswith("learned|references:1|trained_references:1|model:human")
    again = call(*TRAIN, *SMALL, "--out", "again")
    assert again.returncode == 0
    for name in ("card.json", "model.npz"):
        assert (texts / "mine" / name).read_bytes() == (texts / "again" / name).read_bytes()


def test_a_trained_metric_serves_other_verbs_without_its_trainer(texts: Path, call) -> None:
    assert call(*TRAIN, *SMALL, "--out", "mine").returncode == 0
    (texts / "sklearn.py").write_text("raise ImportError('not here')\n")
    compared = run("compare", "one.txt", "two.txt", "-r", "a.txt", "-m", "mine", folder=texts)
    assert compared.returncode == 0, compared.stderr
    assert "mine" in compared.stdout
    assert call("metrics", "./mine").stdout.startswith("./mine: a metric trained")
    jobs = call("score", "one.txt", "-r", "a.txt", "-m", "mine", "-q", "-j", "2")
    alone = call("score", "one.txt", "-r", "a.txt", "-m", "mine", "-q")
    assert jobs.stdout == alone.stdout != ""
    refused = run(*TRAIN, *SMALL, "--out", "new", folder=texts)
    assert refused.returncode == 2
    assert "pip install 'meantime[learn]'" in refused.stderr
    assert not (texts / "new").exists()


def test_killed_it_goes_on_to_the_same_end(texts: Path, call) -> None:
    grid = ("--c", "1,2,5,10,50,100", "--sigma", "0.5,1,2.5,5,7,10,25,50")
    whole = call(*TRAIN, *grid, "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    process = subprocess.Popen(
        [sys.executable, "-m", "meantime", *TRAIN, *grid, "--out", "killed"],
        cwd=texts, env=_environment(texts), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    journal = texts / "killed.unfinished" / "tried.jsonl"
    while process.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\n") > 10:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.002)
    process.wait()
    assert not (texts / "killed").exists(), "it ended before it could be killed"
    done = call(*TRAIN, *grid, "--out", "killed")
    assert done.returncode == 0, done.stderr
    assert re.search(r"note: going on with \d+ trainings done before", done.stderr)
    assert done.stdout == whole.stdout
    for name in ("card.json", "model.npz"):
        assert (texts / "killed" / name).read_bytes() == (texts / "whole" / name).read_bytes()
    assert not journal.parent.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--refs", "a.txt", "--hyps", "one.txt"), 1, "needs two or more"),
        (("--refs", "a.txt", "--refs", "short.txt", "--hyps", "one.txt"), 1, "short.txt"),
        (("--refs", "a.txt", "--refs", "a.txt", "--hyps", "one.txt"), 1, "gives an example"),
        (("--refs", "a.txt", "--refs", "b.txt", "--hyps", "one.txt", "--features", "odd"), 2,
         "no feature group is called 'odd'"),
        (("--refs", "a.txt", "--refs", "b.txt", "--hyps", "one.txt", "--c", "1,x"), 2,
         "--c '1,x': give numbers"),
        (("--refs", "a.txt", "--refs", "b.txt", "--hyps", "one.txt", "--sigma", "0"), 2, "above 0"),
        (("--refs", "a.txt", "--refs", "b.txt", "--hyps", "one.txt", "--held-out", "1"), 2,
         "between 0 and 1"),
        (("--refs", "a.txt", "--refs", "b.txt", "--hyps", "one.txt", "--out", "full"), 1,
         "something is there already"),
    ],
    ids=["one reference", "lengths", "equal", "group", "c", "sigma", "share", "there"],
)  # fmt: skip
def test_what_is_refused(texts: Path, arguments: tuple, code: int, message: str, call) -> None:
    (texts / "short.txt").write_text("only one\n")
    (texts / "full").mkdir()
    (texts / "full" / "file").write_text("")
    out = () if "--out" in arguments else ("--out", "mine")
    done = call("learn", "human-or-machine", *arguments, *out)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert not (texts / "mine").exists()
    assert not (texts / "mine.unfinished").exists(), "said before any training"


def _pairs(path: Path, count: int = 60, tasks: bool = False) -> None:
    rng = random.Random(3)
    lines = ["label\tsentence1\tsentence2" + ("\ttask" if tasks else "")]
    for n in range(count):
        words = [rng.choice(WORDS) for _ in range(8)]
        same = n % 2
        share = 0.15 if same else 0.6
        other = [rng.choice(WORDS) if rng.random() < share else word for word in words]
        task = f"\t{'XY'[n % 3 == 0]}" if tasks else ""
        lines.append(f"{same}\t{' '.join(words)}\t{' '.join(other)}{task}")
    path.write_text("\n".join(lines) + "\n")


def test_pairs(tmp_path: Path, call) -> None:
    _pairs(tmp_path / "train.tsv")
    _pairs(tmp_path / "test.tsv", 30, tasks=True)
    done = call(
        "learn", "pairs", "--train", "train.tsv", "--test", "test.tsv", "--jackknife", "5",
        "--features", "per,bleu1,nist1,pos", "--c", "1,4", "--sigma", "1", "--scaling", "standard",
        "--scaling", "unit", "--out", "same")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "features are the same in all 60 pairs and are left out" in done.stderr
    assert "jackknife of 5 folds" in done.stdout
    rows = dict(re.findall(r"^(X|Y|all) +([\d.]+)%", done.stdout, re.MULTILINE))
    assert set(rows) == {"X", "Y", "all"}
    assert float(rows["all"]) > 75
    _files(tmp_path, h="the cat sat\nthe cat sat\n", r="the cat sat\nbig red river by a dog\n")
    scored = call("score", "h.txt", "-r", "r.txt", "-m", "./same", "--segments", "-f", "json")
    assert scored.returncode == 0, scored.stderr
    one, other = json.loads(scored.stdout)["results"][0]["segments"]
    one, other = (v["score"] if isinstance(v, dict) else v for v in (one, other))
    assert one > other


def _files(folder: Path, **contents: str) -> None:
    for name, content in contents.items():
        (folder / f"{name}.txt").write_text(content)


@pytest.mark.needs("wordnet")
def test_pairs_with_synonyms(tmp_path: Path, call) -> None:
    _pairs(tmp_path / "train.tsv", 30)
    _files(tmp_path, text="The dog saw a cat.\nThe cat ran to the house.\n")
    done = call(
        "learn", "pairs", "--train", "train.tsv", "--features", "wer,per,pos-", "--c", "1",
        "--sigma", "1", "--synonyms", "text.txt", "--threshold", "3", "--out", "same")  # fmt: skip
    assert done.returncode == 0, done.stderr
    card = json.loads((tmp_path / "same" / "card.json").read_text())
    assert card["features"]["synonyms"]["text"] == "text.txt, 2 sentences"
    scored = call("score", "text.txt", "-r", "text.txt", "-m", "./same")
    assert scored.returncode == 0, scored.stderr


def test_pairs_that_are_refused(tmp_path: Path, call) -> None:
    _pairs(tmp_path / "train.tsv", 20)
    one = (tmp_path / "train.tsv").read_text().replace("\n0\t", "\n1\t")
    (tmp_path / "one.tsv").write_text(one)
    (tmp_path / "bare.tsv").write_text("sentence1\tsentence2\na\tb\n")
    for arguments, code, message in (
        (("--train", "train.tsv"), 2, "nothing would come of it"),
        (("--train", "bare.tsv", "--out", "x"), 1, "no column 'label'"),
        (("--train", "one.tsv", "--out", "x"), 1, "all 20 pairs are of class 1"),
        (("--train", "train.tsv", "--jackknife", "12"), 1, "10 pairs of class 0 for 12 folds"),
        (("--train", "train.tsv", "--out", "x", "--threshold", "2"), 2, "add --synonyms FILE"),
        (("--train", "no.tsv", "--out", "x"), 1, "no such file"),
    ):
        done = call("learn", "pairs", *arguments, "--features", "per")
        assert done.returncode == code, (arguments, done.stderr)
        assert message in done.stderr, (arguments, done.stderr)


def _judged(path: Path, columns: str = "lp\tseg\tsystem\tref\thyp\tscore") -> None:
    rng = random.Random(5)
    lines = [columns]
    for n in range(30):
        words = [rng.choice(WORDS) for _ in range(8)]
        for system in "xy":
            kept = [word if rng.random() < 0.7 else rng.choice(WORDS) for word in words]
            score = sum(a == b for a, b in zip(words, kept, strict=True)) + rng.random()
            fields = ["de-en", str(n), system, " ".join(words), " ".join(kept), f"{score:.3f}"]
            lines.append("\t".join(fields))
    path.write_text("\n".join(lines) + "\n")


def test_a_metric_of_own_judgements(tmp_path: Path, call) -> None:
    _judged(tmp_path / "judged.tsv")
    done = call(
        "learn", "metric", "--data", "judged.tsv", "--features", "basic,metric:chrf",
        "--learner", "ridge", "--folds", "3", "--out", "ours")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "60 translations of 30 segments, 3 folds by segment" in done.stdout
    assert float(re.search(r"^pearson +([\d.]+)", done.stdout, re.MULTILINE)[1]) > 0.7
    assert re.search(r"judgements would help", done.stdout)
    assert re.search(r"^ +20 +0\.\d+", done.stdout, re.MULTILINE), "the whole of the curve"
    evaluated = call("metaeval", "judged.tsv", "-m", "./ours", "-m", "chrf")
    assert evaluated.returncode == 0, evaluated.stderr
    assert "./ours" in evaluated.stdout


def test_judgements_that_are_refused(tmp_path: Path, call) -> None:
    _judged(tmp_path / "judged.tsv")
    _judged(tmp_path / "lacking.tsv", "lp\tseg\tsystem\tref\ttext\tscore")
    flat = re.sub(r"[\d.]+$", "1", (tmp_path / "judged.tsv").read_text(), flags=re.MULTILINE)
    (tmp_path / "flat.tsv").write_text(flat)
    for arguments, message in (
        (("lacking.tsv",), "hyp"),
        (("flat.tsv",), "all 60 human scores are 1"),
        (("judged.tsv", "--folds", "20"), "30 judged segments for 20 folds"),
    ):
        done = call("learn", "metric", "--data", *arguments, "--features", "basic", "--learner",
                   "ridge", "--out", "ours")  # fmt: skip
        assert done.returncode == 1, done.stderr
        assert message in done.stderr


def test_groups_are_listed(tmp_path: Path, call) -> None:
    listed = call("learn", "features")
    assert "pos-" in listed.stdout
    assert "metric:NAME" in listed.stdout
    named = call("learn", "features", "basic,wer")
    assert len(named.stdout.splitlines()) == 10
    assert "10 features; they need pos, tokens" in named.stderr
