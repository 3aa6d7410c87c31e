"""Inverse document frequency by hand, saved and opened."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import pytest

from meantime.similarity.idf import Idf, count_idf, open_idf

SENTENCES = [["The", "cat", "the"], ["the", "dog"], ["the", "end"]]


def test_by_hand() -> None:
    idf = Idf.of(SENTENCES)
    assert idf("the") == idf("THE") == 0
    assert idf("cat") == math.log(4 / 2)
    assert idf("unseen") == idf.maximum == math.log(4)
    assert idf.weights(["The", "dog", "unseen"]).tolist() == [0, math.log(2), math.log(4)]
    assert idf.weights([]).tolist() == []
    assert idf.name == "idf(given)"


def test_of_nothing() -> None:
    assert Idf.of([])("word") == 0


def test_counted_from_text_saved_and_opened(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("The cat, the\nthe dog\nthe end\nThe dog don't\n", encoding="utf-8")
    idf = count_idf([text], jobs=1)
    assert idf.sentences == 4
    assert idf.counts == {"the": 4, "dog": 2, "cat": 1, ",": 1, "end": 1, "do": 1, "n't": 1}
    idf.save(tmp_path / "table.idf")
    opened = open_idf(tmp_path / "table.idf")
    assert dict(opened.counts) == idf.counts
    assert opened.name.startswith("idf(table-")
    assert (opened("dog"), opened("unseen")) == (idf("dog"), idf("unseen"))
    idf.save(tmp_path / "small.idf", min_sentences=2)
    small = open_idf(tmp_path / "small.idf")
    assert dict(small.counts) == {"the": 4, "dog": 2}
    assert small("cat") == small.maximum == math.log(5)
    again = pickle.loads(pickle.dumps(small))
    assert again == small
    assert hash(again) == hash(small)


def test_an_empty_table(tmp_path: Path) -> None:
    Idf(0, {}).save(tmp_path / "empty.idf")
    opened = open_idf(tmp_path / "empty.idf")
    assert dict(opened.counts) == {}
    assert opened("word") == pytest.approx(0)
