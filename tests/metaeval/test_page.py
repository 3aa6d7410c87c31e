"""docs/metaeval.md names what there is, and its code runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from meantime.cli.metaeval import (
    PLOTS,
    By,
    DifferenceTest,
    EvaluationFormat,
    EvaluationLevel,
    JudgeScale,
)
from meantime.metaeval import grids, tasks
from meantime.metaeval.evaluating import SOFT, Scope, Test
from meantime.metaeval.judging import Normalisation
from meantime.metaeval.reading.mqm import WEIGHTS
from meantime.registry import create

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "metaeval.md").read_text(encoding="utf-8")
SECTION = (
    (ROOT / "docs" / "cli.md")
    .read_text(encoding="utf-8")
    .partition("\n## meantime metaeval\n")[2]
    .partition("\n## ")[0]
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("program", blocks("python"), ids=["files", "arrays"])
def test_code_runs(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_file_of_tasks_can_be_read(tmp_path: Path) -> None:
    [example] = blocks("toml")
    assert tomllib.loads(example)
    path = tmp_path / "tasks.toml"
    path.write_text(example, encoding="utf-8")
    assert len(tasks.read_tasks(path)) == 4


def test_every_statistic_is_defined() -> None:
    for name in [*grids.Statistic, SOFT]:
        assert re.search(rf"^\| `{name}` (\(.*?\) )?\| ", PAGE, re.MULTILINE), name
        assert f"`{name}`" in SECTION


def test_every_field_of_a_task_is_named() -> None:
    line = PAGE.partition("A task may state")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", line))
    assert named == {item.name for item in fields(tasks.Task)} - {"place"}


def test_every_choice_is_named() -> None:
    for choices in (By, DifferenceTest, EvaluationFormat, EvaluationLevel, JudgeScale):
        for choice in choices:
            assert f"`{choice.value}`" in SECTION, choice
    for kind in PLOTS:
        assert f"`{kind}`" in SECTION
        assert f"| `{kind}` |" in PAGE


def test_choices_are_those_of_the_library() -> None:
    assert [choice.value for choice in By] == list(tasks.BY)
    assert [choice.value for choice in EvaluationLevel] == list(Scope)
    assert [choice.value for choice in DifferenceTest] == list(Test)
    assert [choice.value for choice in JudgeScale] == list(Normalisation)


def test_every_weight_is_in_the_table() -> None:
    table = PAGE.partition("| Severity | Category | Weight |")[2].partition("\n\n")[0]
    for weight in WEIGHTS:
        severity, category = weight.severity or "any", weight.category or "any"
        assert re.search(
            rf"\|.*{severity}.* \| {re.escape(category)} \| {weight.penalty:g} \|", table
        ), weight


def _logged() -> list[dict[str, dict[str, float]]]:
    """Figures of all runs of the benchmark, of our metrics those of the version they have now."""
    lines = (ROOT / "benchmarks" / "accuracy.jsonl").read_text(encoding="utf-8").splitlines()
    runs = []
    for run in map(json.loads, lines):
        present = {
            name: figures
            for name, figures in run["figures"].items()
            if name not in run["signatures"]
            or run["signatures"][name].endswith(f"|version:{_version(name)}")
        }
        runs.append(present)
    return runs


@cache
def _version(name: str) -> str:
    signature = str(create(name, lang="en").signature())
    return signature.rpartition("|version:")[2]


def _rows(table: str) -> dict[str, dict[str, float]]:
    """The figures of a table by metric and column, without their intervals."""
    header, _, *lines = [
        [cell.strip(" `") for cell in line.strip("| ").split(" | ")]
        for line in table.strip().splitlines()
    ]
    return {
        name: {
            column: float(cell.partition(" [")[0])
            for column, cell in zip(header[1:], cells, strict=False)
            if cell.strip(" |") not in ("", "–")
        }
        for name, *cells in lines
    }


def _table(page: str) -> str:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text.partition("<!-- accuracy -->")[2].partition("<!-- /accuracy -->")[0]


@pytest.mark.parametrize("page", ["metaeval.md", "which-metric.md"])
def test_the_figures_are_those_of_a_logged_run(page: str) -> None:
    """Each row of a table of figures is what some run of the benchmark logged."""
    rows, runs = _rows(_table(page)), _logged()
    assert len(rows) > 10
    for name, shown in rows.items():
        assert any(
            all(
                abs(run.get(name, {}).get(column, 9) - value) < 0.00056
                for column, value in shown.items()
            )
            for run in runs
        ), name
