"""The types that all rooms share."""

from __future__ import annotations

import dataclasses

import pytest

from meantime.errors import InputError, LengthMismatch
from meantime.types import (
    Corpus,
    Level,
    Pair,
    Score,
    Segment,
    Sentence,
    Signature,
    Span,
    Tree,
)

NP = Tree("NP", Span(0, 2), (Tree("DT", Span(0, 1)), Tree("NN", Span(1, 2))))
TREE = Tree("TOP", Span(0, 3), (NP, Tree("VP", Span(2, 3), (Tree("VB", Span(2, 3)),))))


def test_spans() -> None:
    assert len(Span(2, 5)) == 3
    assert Span(1, 2) < Span(1, 3) < Span(2, 3)
    for start, end in ((1, 1), (2, 1), (-1, 2)):
        with pytest.raises(InputError, match="half-open"):
            Span(start, end)


def test_trees_are_walked_both_ways() -> None:
    assert [node.label for node in TREE] == ["TOP", "NP", "DT", "NN", "VP", "VB"]
    assert [node.label for node in TREE.bottom_up()] == ["DT", "NN", "NP", "VB", "VP", "TOP"]


def test_deep_trees() -> None:
    tree = Tree("NN", Span(0, 1))
    for _ in range(5000):
        tree = Tree("NP", Span(0, 1), (tree,))
    assert sum(1 for _ in tree) == len(tree.bottom_up()) == 5001


@pytest.mark.parametrize("value", [Span(0, 1), Sentence("x"), Segment("1", ()), Score(1.0), NP])
def test_everything_is_frozen(value) -> None:
    name = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, name, None)


def test_absent_is_not_empty() -> None:
    assert Sentence("x").frames is None
    assert Sentence("x") != Sentence("x", frames=())


def test_a_corpus_gives_its_pairs() -> None:
    segments = (Segment("1", (Sentence("a"),)), Segment("2", (Sentence("b"),)))
    corpus = Corpus(segments, {"s": (Sentence("x"), Sentence("y"))})
    assert corpus.pairs("s") == [Pair(Sentence("x"), segments[0]), Pair(Sentence("y"), segments[1])]
    with pytest.raises(InputError, match="no system 't' in this corpus; it has s"):
        corpus.pairs("t")
    with pytest.raises(LengthMismatch, match="every system must translate every segment"):
        Corpus(segments, {"s": ()})


def test_signatures_and_scores() -> None:
    signature = Signature("bleu", "1", (("references", "2"), ("lowercase", "no")))
    assert str(signature) == "bleu|references:2|lowercase:no|version:1"
    assert float(Score(0.5)) == 0.5
    assert Level("segment") is Level.SEGMENT
