"""Reading treebanks for training; needs no torch."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from meantime.analysis.model import shipped
from meantime.analysis.subwords import Subwords
from training.analyser import data

PROPBANK = """\
doc\t0\t0\tThe\tDT\t(TOP(S(NP*\t-\t-\t(ARG0*
doc\t0\t1\tdog\tNN\t*)\t-\t-\t*)
doc\t0\t2\tbit\tVBD\t(VP*\tbite\tbite.01\t(V*)
doc\t0\t3\thim\tPRP\t(NP*))\t-\t-\t(ARG1*)
doc\t0\t4\t.\t.\t*))\t-\t-\t*

doc\t1\t0\tHi\tUH\t(TOP(INTJ*))\t-\t-

"""

ONTONOTES = """\
#begin document (nw/a); part 000
nw/a 0 0 The DT (TOP(S(NP* - - - - * (ARG0* -
nw/a 0 1 dog NN *) - - - - * *) (1)
nw/a 0 2 bit VBD (VP* bite 01 1 - * (V*) -
nw/a 0 3 him PRP (NP*)) - - - - * (ARG1*) -
nw/a 0 4 . . *)) - - - - * * -

#end document
"""


@pytest.mark.parametrize(("content", "count"), [(PROPBANK, 2), (ONTONOTES, 1)])
def test_both_layouts(tmp_path: Path, content: str, count: int) -> None:
    path = tmp_path / "bank"
    path.write_text(content)
    examples = list(data.read([path]))
    assert len(examples) == count
    first = examples[0]
    assert first.words == ["The", "dog", "bit", "him", "."]
    assert first.tags == ["DT", "NN", "VBD", "PRP", "."]
    assert first.predicates == [2]
    assert first.roles == [[(0, 2, "ARG0"), (3, 4, "ARG1")]]
    assert first.spans == [(0, 5, "S"), (0, 2, "NP"), (2, 4, "VP"), (3, 4, "NP")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(VP*\t", "*)))\t", "never opened"),
        ("*))\t-\t-\t*\n", "*\t-\t-\t*\n", "never closed"),
        ("bite.01", "-", "0 predicates but 1"),
        ("\t(V*)", "", "different widths"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "bank"
    path.write_text(PROPBANK.replace(old, new, 1))
    with pytest.raises(ValueError, match=f"bank:.*{message}"):
        list(data.read([path]))


def test_unary_chains_are_one_label() -> None:
    spans = [(0, 3, "S"), (0, 3, "VP"), (1, 3, "NP")]
    assert data.chains(spans) == {(0, 3): "S+VP", (1, 3): "NP"}


def test_numbers_and_back(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    path.write_text(PROPBANK)
    examples = list(data.read([path]))
    labels = data.collect(examples, least=1)
    subwords = Subwords(shipped() / "english" / "tokenizer.json")
    arrays = data.number(examples, labels, subwords)
    assert labels.constituents[0] == ""
    begin, inside = labels.states.index("B-ARG0"), labels.states.index("I-ARG0")
    assert arrays.roles[0].tolist() == [[begin, inside, 0, labels.states.index("B-ARG1"), 0]]
    again = data.unpack(data.pack(arrays))
    for name in ("pieces", "shapes", "firsts", "tags", "spans", "predicates", "roles"):
        for one, other in zip(getattr(arrays, name), getattr(again, name), strict=True):
            assert numpy.array_equal(one, other), name


def test_spoilt_sentences_keep_a_true_analysis(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    path.write_text(PROPBANK)
    example = next(data.read([path]))
    rng = numpy.random.default_rng(3)
    seen = set()
    for _ in range(60):
        spoilt = data.add_noise(example, rng)
        seen.add(tuple(spoilt.words))
        assert len(spoilt.words) == len(spoilt.tags)
        assert [spoilt.words[p] for p in spoilt.predicates] == ["bit"]
        for start, end, label in spoilt.roles[0]:
            filler = spoilt.words[start:end]
            assert set(filler) <= ({"The", "dog"} if label == "ARG0" else {"him"})
        for start, end, _ in spoilt.spans:
            assert 0 <= start < end <= len(spoilt.words)
    assert len(seen) > 3
