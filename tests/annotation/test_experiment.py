"""The worked example of Lo and Wu 2010 through the application, and tables that repeat."""

from __future__ import annotations

import importlib.util
import sys

import pytest


@pytest.fixture(scope="module")
def experiment():
    from tests.conftest import ROOT

    path = ROOT / "experiments" / "lo2010" / "run.py"
    spec = importlib.util.spec_from_file_location("lo2010", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["lo2010"] = module
    spec.loader.exec_module(module)
    return module


def test_the_worked_example_end_to_end(experiment, tmp_path) -> None:
    found = experiment.example(tmp_path)
    assert (found.precision, found.recall, found.f) == pytest.approx((0.5, 0.25, 1 / 3))


def test_its_results_are_those_written_down(experiment, root, tmp_path) -> None:
    store, campaign = experiment.campaign(tmp_path)
    written = (root / "experiments" / "lo2010" / "results.md").read_text()
    made = experiment.tables(store, campaign, ("bleu",))
    # What needs no analyser: its numbers may differ by a hair from processor to processor.
    assert made.partition("### Table 4")[0] in written
    rows = [line for line in made.splitlines() if line.startswith(("| hmeant", "| bleu"))]
    assert all(row in written for row in rows)
    store.close()
