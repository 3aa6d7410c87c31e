"""`meantime annotate`: demo, export, import, backup, restore, and what goes wrong."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from meantime.cli import annotate
from meantime.cli.app import run
from meantime.formats import read
from meantime.formats.judgements import read_judgements


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "campaigns"
    assert run(["annotate", "demo", "--folder", str(folder), "--make-only"]) == 0
    return folder


NAME = "Demo (simulated people)"


def test_from_demo_to_score(demo, tmp_path, capsys) -> None:
    at = ["--folder", str(demo)]
    assert run(["annotate", "list", *at]) == 0
    assert NAME in capsys.readouterr().out
    judged = tmp_path / "judgements.jsonl"
    assert run(["annotate", "export", NAME, *at, "-f", "judgements", "-o", str(judged)]) == 0
    corpus = tmp_path / "corpus.jsonl"
    assert run(["annotate", "export", NAME, *at, "-f", "corpus", "-o", str(corpus)]) == 0
    assert {one.system for one in read_judgements(judged)} == {
        "reference", "faithful", "fluent", "literal",
    }  # fmt: skip
    assert len(read(input=corpus).segments) == 12
    capsys.readouterr()
    command = ["score", "--input", str(corpus), "-m", "hmeant", "--judgements", str(judged)]
    # Its last segments are for visitors and not judged: said by name.
    assert run(command) == 1
    assert "nobody judged" in capsys.readouterr().err
    for format in ("scores", "results", "jsonl", "csv", "ratings"):
        target = tmp_path / f"x.{format}"
        assert run(["annotate", "export", NAME, *at, "-f", format, "-o", str(target)]) == 0
        assert target.exists()
    for which in ("hmeant", "order", "rating"):
        target = tmp_path / f"{which}.tsv"
        assert (
            run(["annotate", "export", NAME, *at, "-f", f"human-{which}", "-o", str(target)]) == 0
        )
        head, *rows = target.read_text().splitlines()
        assert head.split("\t") == ["lp", "seg", "system", "src", "ref", "hyp", "score"]
        assert len(rows) == 12 * 3
        assert rows[0].startswith("de-en\t1\tfaithful\tDer Ausschuss")
        # Nine segments are judged, ordered and rated; what is not there is empty, not zero.
        assert sum(not row.endswith("\t") for row in rows) == 27
    head, *rows = (tmp_path / "x.ratings").read_text().splitlines()
    assert len(rows) == 9 * 3 * 2
    assert {row.split("\t")[0] for row in rows} == {"rater 1", "rater 2"}
    assert run(["annotate", "results", NAME, *at, "-m", "bleu"]) == 0
    out = capsys.readouterr().out
    assert "role identification" in out
    for title in ("people's order", "HMEANT", "people's ratings"):
        assert f"correlation with {title}:" in out
    for grouping in ("within segments", "within systems", "pooled", "over systems"):
        # HMEANT twice, for it is not compared with itself; bleu with all three.
        assert (
            sum(
                grouping in line and line.startswith(("hmeant ", "bleu "))
                for line in out.splitlines()
            )
            == 5
        )
    assert "nan" not in out
    target = tmp_path / "correlations.csv"
    command = ["annotate", "export", NAME, *at, "-o", str(target), "-m", "bleu"]
    assert run([*command, "-f", "correlations"]) == 0
    table = list(csv.DictReader(target.open()))
    assert len(table) == 5 * 12
    assert run([*command, "-f", "results"]) == 0
    listed = json.loads(target.read_text())["correlations"]
    assert [str(one["value"]) for one in listed] == [one["value"] or "None" for one in table]
    assert run([*command, "-f", "scores"]) == 2


def test_import_backup_restore(demo, tmp_path, capsys) -> None:
    at = ["--folder", str(demo)]
    whole = tmp_path / "whole.jsonl"
    run(["annotate", "export", NAME, *at, "-o", str(whole)])
    other = ["--folder", str(tmp_path / "other")]
    assert run(["annotate", "import", str(whole), *other]) == 0
    again = tmp_path / "again.jsonl"
    assert run(["annotate", "export", NAME, *other, "-o", str(again)]) == 0
    assert again.read_bytes() == whole.read_bytes()
    assert run(["annotate", "import", str(whole), *other]) == 1
    backup = tmp_path / "backup.gz"
    assert run(["annotate", "backup", *at, "-o", str(backup)]) == 0
    third = ["--folder", str(tmp_path / "third")]
    assert run(["annotate", "restore", str(backup), *third]) == 0
    assert run(["annotate", "restore", str(backup), *third]) == 1
    assert "not empty" in capsys.readouterr().err


def test_what_goes_wrong_is_said(demo, tmp_path, capsys, monkeypatch) -> None:
    def fails(code: int, message: str, *arguments: str) -> None:
        assert run(["annotate", *arguments]) == code
        assert message in capsys.readouterr().err

    nowhere = str(tmp_path / "nowhere")
    fails(1, "holds no campaigns", "list", "--folder", nowhere)
    assert not Path(nowhere).exists()
    fails(2, "no campaign is called", "results", "x", "--folder", str(demo))
    fails(2, "no metric is called", "results", NAME, "--folder", str(demo), "-m", "blue")
    fails(1, "no such file", "import", nowhere, "--folder", str(demo))
    fails(1, "no such file", "restore", nowhere, "--folder", nowhere)
    fails(2, "--make-only", "demo", "--make-only")
    fails(1, "not empty", "demo", "--folder", str(demo), "--make-only")
    fails(2, "cannot be bound", "serve", "--folder", nowhere, "--host", "203.0.113.7")
    fails(2, "only postgresql", "serve", "--port", "0", "--database", "mysql://x")
    monkeypatch.setenv("MEANTIME_ANNOTATE_SECRET", "short")
    fails(2, "give 32 or more", "serve", "--folder", nowhere, "--port", "0")


def test_the_secret_is_its_owners_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("MEANTIME_ANNOTATE_SECRET", raising=False)
    made = annotate._secret(tmp_path)
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    assert annotate._secret(tmp_path) == made
    assert len(made) >= 32
    (tmp_path / "secret").chmod(0o644)
    with pytest.raises(annotate.InputError, match="chmod 600"):
        annotate._secret(tmp_path)
    monkeypatch.setenv("MEANTIME_ANNOTATE_SECRET", "x" * 32)
    assert annotate._secret(tmp_path) == "x" * 32


def test_without_the_extra_the_remedy_is_named(tmp_path) -> None:
    program = (
        "import sys\n"
        "for name in ('fastapi', 'sqlalchemy', 'uvicorn'): sys.modules[name] = None\n"
        "from meantime.cli.app import run\n"
        f"sys.exit(run(['annotate', 'list', '--folder', {str(tmp_path)!r}])\n"
        f" or run(['annotate', 'serve', '--folder', {str(tmp_path)!r}]))\n"
    )
    (tmp_path / "campaigns.sqlite").touch()
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.returncode == 2 or "meantime[annotate]" in done.stderr
    assert "pip install 'meantime[annotate]'" in done.stderr
