"""What the trained metric may be trained on."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from training.metric import data
from training.metric.data import (
    CHOOSING,
    JUDGED,
    NOISY,
    TEST,
    UNJUDGED,
    fold,
    held_out,
    read_rows,
    read_training,
)


def test_folding_hides_space_case_and_marks() -> None:
    assert fold(" “Don’t”,  she\u00a0said. ") == fold('"don\'t" she said') == "don t she said"
    assert fold("—") == ""
    assert fold("不是") == "不是"


def write(folder: Path, name: str, *rows: dict[str, str]) -> None:
    lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
    with gzip.open(folder / f"{name}.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def row(ref: str, hyp: str, **more: str) -> dict[str, str]:
    return {"lp": "de-en", "seg": "1", "ref": ref, "hyp": hyp, "score": "0.5", **more}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in TEST:
        write(tmp_path, name, row("Tested reference.", f"Tested by {name}."))
    write(
        tmp_path, CHOOSING[0],
        {"lp": "a-b", "ref": "R", "better": "A better one", "worse": "A worse one"},
    )  # fmt: skip
    write(tmp_path, CHOOSING[1], row("Sample reference", "Sample"))
    write(
        tmp_path, data.REFERENCES,
        {"lp": "zh-en", "ref1": "First reference", "ref2": "Second reference"},
        {"lp": "cs-en", "ref1": "Free", "ref2": "Free too"},
    )  # fmt: skip
    return tmp_path


def test_what_stands_in_a_test_file_is_dropped_on_either_side(folder: Path) -> None:
    write(
        folder,
        JUDGED[0],
        row("Kept", "Kept too"),
        row("tested  REFERENCE", "x"),
        row("x", "tested by wmt17-da-toen"),
        # A hypothesis there as a reference here.
        row("“Tested by” wmt22-general-zhen-mqm", "x"),
        row("x", "a better one!"),
        row("second reference", "x"),
        row("Free", "Free too"),
        row("", "empty"),
    )
    kept = read_training(JUDGED[0], held_out(folder), folder)
    assert [(one.reference, one.hypothesis) for one in kept] == [
        ("Kept", "Kept too"),
        ("Free", "Free too"),
    ]


def test_people_are_no_systems(folder: Path) -> None:
    write(folder, NOISY[0], row("a", "b", is_human="1"), row("a", "c", is_human="0"))
    assert [one.hypothesis for one in read_training(NOISY[0], frozenset(), folder)] == ["c"]


@pytest.mark.parametrize("name", [*TEST, *CHOOSING])
def test_other_files_are_refused(name: str, folder: Path) -> None:
    with pytest.raises(SystemExit, match="not a training file"):
        read_training(name, frozenset(), folder)


@pytest.mark.needs("shared")
def test_no_training_row_stands_in_a_test_file() -> None:
    unseen = held_out()
    # Found again by another way than `held_out` reads: every text of every test file.
    tested = set()
    for name in TEST:
        for one in read_rows(name):
            tested |= {fold(one["ref"]), fold(one["hyp"])}
    tested.discard("")
    for name in (*JUDGED, *NOISY, *UNJUDGED):
        for one in read_training(name, unseen):
            assert fold(one.reference) not in tested
            assert fold(one.hypothesis) not in tested


@pytest.mark.needs("shared")
def test_chinese_is_not_trained_on() -> None:
    for name in (*JUDGED, *NOISY, *UNJUDGED):
        assert not any("zh-en" in one.source for one in read_training(name, frozenset()))
