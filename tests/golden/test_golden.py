"""Scores of reference implementations, on 400 segments of WMT21 zh-en (system NiuTrans).

Provenance: the columns of newstest2021-zhen-NiuTrans.tsv.gz were made by Moses' `evaluator`
(one minus the rate) and by mteval-v13a (`-c -d 2`, information weights from these 400
references); corpus.json holds the same tools' figures for the whole.
"""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy
import pytest

from meantime.registry import create
from meantime.types import Level, Pair, Segment, Sentence

pytestmark = pytest.mark.needs("shared")


def _rows(shared: Path) -> list[dict[str, str]]:
    path = shared / "golden" / "newstest2021-zhen-NiuTrans.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _score(rows: list[dict[str, str]], specification: str, suffix: str = ""):
    segments = [Segment(row["line"], (Sentence(row["ref" + suffix]),)) for row in rows]
    pairs = [
        Pair(Sentence(row["hyp" + suffix]), segment)
        for row, segment in zip(rows, segments, strict=True)
    ]
    metric = create(specification).prepare(segments)
    measured = metric.measure(pairs)
    each = numpy.array([metric.score(row, Level.SEGMENT).value for row in measured])
    return each, metric.score(measured.sum(axis=0), Level.CORPUS).value


def _corpus(shared: Path) -> dict:
    return json.loads((shared / "golden" / "corpus.json").read_text())["NiuTrans"]


@pytest.mark.parametrize("name", ["wer", "per", "cder"])
@pytest.mark.parametrize(("options", "suffix"), [("", ""), (":tokeniser=none", "_tok")])
def test_moses(shared: Path, name: str, options: str, suffix: str) -> None:
    rows = _rows(shared)
    assert len(rows) == 400
    each, whole = _score(rows, name + options, suffix)
    golden = numpy.array([float(row[f"moses_{name}"]) for row in rows])
    assert numpy.abs((1 - each) - golden).max() < 1e-4
    assert 1 - whole == pytest.approx(
        float(_corpus(shared)["moses_one_minus"][name.upper()]), abs=1e-4
    )


def test_mteval_nist(shared: Path) -> None:
    rows = _rows(shared)
    each, whole = _score(rows, "nist")
    golden = numpy.array([float(row["mteval13a_nist"]) for row in rows])
    assert numpy.abs(each - golden).max() < 1e-4
    assert whole == pytest.approx(float(_corpus(shared)["mteval13a_nist"]), abs=1e-4)
    mean, _ = _score(rows, "nist:average=yes")
    assert numpy.allclose(mean * 5, each)


def test_mteval_bleu(shared: Path) -> None:
    _, whole = _score(_rows(shared), "bleu")
    assert whole / 100 == pytest.approx(float(_corpus(shared)["mteval13a_bleu"]), abs=1e-4)
