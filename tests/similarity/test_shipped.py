"""The vectors and the idf table that come with the package."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from meantime.errors import InputError
from meantime.similarity import shipped
from meantime.similarity.context import MEASURES, ContextSimilarity
from meantime.similarity.context_file import open_model
from meantime.similarity.idf import open_idf

LARGEST = 15_000_000


def test_files_are_what_the_card_speaks_of() -> None:
    [vectors] = shipped.installed()
    vectors.check()
    assert vectors.name == "english-vectors"
    assert vectors.size <= LARGEST
    assert vectors.identity == vectors.facts["files"]["context.vectors"]
    for identity in vectors.facts["files"].values():
        assert f"hash `{identity[:12]}`" in vectors.card
    model, idf = open_model(), open_idf()
    assert vectors.facts["figures"]["words with vectors"] == len(model.words)
    assert vectors.facts["figures"]["counts in window 5"] == model.entries[1]
    assert vectors.facts["figures"]["words in the idf table"] == len(idf.counts)
    assert f"{len(model.words):,} words" in vectors.card
    assert f"{len(idf.counts):,} words in {idf.sentences:,} sentences" in vectors.card
    assert vectors.facts["licence"] in vectors.card


def test_only_free_texts_went_in() -> None:
    free = ("en-masc", "en-wikinews", "en-wikipedia-")
    assert all(name.startswith(free) for name in open_model().facts["made"]["from"])


def test_changed_files_are_noticed(tmp_path: Path) -> None:
    [vectors] = shipped.installed()
    copy = tmp_path / "english"
    shutil.copytree(vectors.folder, copy)
    facts = json.loads((copy / "card.json").read_text())
    facts["files"]["sentences.idf"] = "0" * 64
    (copy / "card.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match=r"sentences.idf: not what the card says"):
        shipped.ShippedVectors(copy).check()
    data = bytearray((copy / "context.vectors").read_bytes())
    data[5_000_000] ^= 1
    (copy / "context.vectors").write_bytes(data)
    with pytest.raises(InputError, match=r"context.vectors: damaged \(section rows"):
        shipped.ShippedVectors(copy).check()


@pytest.mark.parametrize("window", [3, 5])
@pytest.mark.parametrize("measure", MEASURES)
def test_it_knows_related_words_from_others(measure: str, window: int) -> None:
    source = ContextSimilarity(measure=measure, window=window)
    assert source.name == f"context({measure},window={window},english-eb92ebc94c77)"
    for word, related, other in (
        ("Tuesday", "Wednesday", "although"),
        ("king", "queen", "seventeen"),
        ("rejected", "approved", "water"),
    ):
        assert source.similarity(word, related) > source.similarity(word, other)
        assert source.similarity(word, word.upper()) == 1


def test_the_default_is_jaccard_of_window_5() -> None:
    assert ContextSimilarity().name == ContextSimilarity(measure="jaccard", window=5).name


def test_idf_knows_what_says_little() -> None:
    idf = open_idf()
    assert idf("the") < idf("committee") < idf("resumption") < idf("qqzzx") == idf.maximum
    assert idf.name.startswith("idf(english-")
