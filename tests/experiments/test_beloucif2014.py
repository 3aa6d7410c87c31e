"""What the page says of a claim, and what the experiment refuses."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("thot")


@pytest.fixture(scope="module")
def experiment() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "experiments" / "beloucif2014" / "run.py"
    spec = importlib.util.spec_from_file_location("beloucif2014", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("better", "worse", "verdict"),
    [
        ("BLEU TER", "", "holds"),
        ("BLEU", "", "holds by BLEU alone"),
        ("", "", "not shown"),
        ("", "TER", "not shown; the opposite by TER"),
        ("BLEU", "TER", "metrics disagree: better by BLEU, worse by TER"),
    ],
)
def test_a_claim_is_judged_by_what_is_sure(
    experiment: ModuleType, better: str, worse: str, verdict: str
) -> None:
    assert experiment.judge(["BLEU", "TER"], better.split(), worse.split()) == verdict


def test_that_two_are_alike_is_never_said_to_hold(experiment: ModuleType) -> None:
    assert experiment.judge(["BLEU"], [], [], same=True) == "no difference is shown"
    said = experiment.judge(["BLEU", "TER"], ["TER"], [], same=True)
    assert said == "does not hold: told apart by TER"


def test_whole_seeds_come_first_and_german_once(experiment: ModuleType) -> None:
    names = [run.name for run in experiment.runs(3)]
    assert len(set(names)) == len(names) == 28
    assert [name for name in names if name.startswith("de-en")] == [
        f"de-en.plain.{metric}.1" for metric in ("BLEU", "TER", "MEANT", "IMEANT")
    ]
    assert [int(name[-1]) for name in names] == sorted(int(name[-1]) for name in names)


def test_other_sizes_need_another_folder(experiment: ModuleType, tmp_path: Path) -> None:
    experiment.Room(tmp_path, experiment.Sizes(test=20))
    experiment.Room(tmp_path, experiment.Sizes(test=20))
    with pytest.raises(SystemExit, match="has runs of other sizes"):
        experiment.Room(tmp_path, experiment.Sizes(test=30))
    (tmp_path / "old" / "models").mkdir(parents=True)
    with pytest.raises(SystemExit, match="name another with --work"):
        experiment.Room(tmp_path / "old", experiment.Sizes(test=30))
