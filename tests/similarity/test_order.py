"""What sources tell apart, with the shipped analyser; and the page that says so."""

from __future__ import annotations

import csv
import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy
import pytest

from meantime.analysis import open_analyser
from meantime.matching.phrases import BEST_MATCH, phrase_similarity
from meantime.similarity import SOURCES, open_similarity
from meantime.types import Sentence

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "similarity.md"


@cache
def pairs() -> tuple[list[dict[str, str]], list[tuple[Sentence, Sentence]]]:
    lines = (ROOT / "benchmarks" / "similarity.tsv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines[1:], delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = [Sentence(row[side]) for row in rows for side in ("left", "right")]
    found = open_analyser().analyse(texts)
    return rows, list(zip(found[::2], found[1::2], strict=True))


@cache
def values(specification: str) -> dict[tuple[str, str], list[float]]:
    """The best match of each pair, by unit and kind."""
    rows, analysed = pairs()
    found: dict[tuple[str, str], list[float]] = {}
    matrices = open_similarity(specification).matrices(analysed)
    for row, matrix in zip(rows, matrices, strict=True):
        n, m = matrix.shape
        value = phrase_similarity(
            matrix,
            numpy.arange(n),
            numpy.arange(m),
            numpy.ones(n),
            numpy.ones(m),
            BEST_MATCH,
            0.5,
            0.0,
        )
        found.setdefault((row["unit"], row["kind"]), []).append(value)
    return found


def share(specification: str, unit: str, higher: str, lower: str) -> float:
    found = values(specification)
    above = [a > b for a in found[unit, higher] for b in found[unit, lower]]
    return sum(above) / len(above)


def test_the_list_is_long_and_even() -> None:
    rows, _ = pairs()
    assert len(rows) >= 60
    counts = Counter((row["unit"], row["kind"]) for row in rows)
    assert len(counts) == 8
    assert min(counts.values()) >= 10
    assert len({(row["left"], row["right"]) for row in rows}) == len(rows)


@pytest.mark.parametrize("unit", ["word", "phrase"])
@pytest.mark.parametrize("specification", ["vectors", "occurrences"])
def test_vectors_know_what_is_alike(specification: str, unit: str) -> None:
    assert share(specification, unit, "synonym", "unrelated") > 0.97
    assert share(specification, unit, "related", "unrelated") > 0.9
    assert share(specification, unit, "synonym", "related") > 0.85


def test_spelling_knows_little_of_words() -> None:
    assert share("characters", "word", "synonym", "related") < 0.6


def test_words_in_other_places_are_told_apart() -> None:
    reference, shuffled = open_analyser().analyse(
        [
            Sentence("The old man gave the young dog a big bone."),
            Sentence("The big dog gave the old bone a young man."),
        ]
    )
    words, places = (
        float(open_similarity(one).matrices([(shuffled, reference)])[0].max(axis=1).mean())
        for one in ("vectors", "occurrences")
    )
    assert words == 1
    assert places < 0.9


def test_the_page_names_every_source() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, source in SOURCES.items():
        takes = ":".join([name, *(parameter.name.upper() for parameter in source.parameters)])
        assert f"| `{takes}` |" in text


def test_the_page_runs() -> None:
    for program in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S):
        exec(program, {})
