"""Dictionaries of names: reading them, making them, using them."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from meantime.errors import FormatError
from meantime.smt.alignment import Links
from meantime.smt.names import NameDictionary, from_links, from_text, read_names
from meantime.smt.words import SPACE

NAMES = NameDictionary({"联合国": "United Nations", "联合": "Union", "北京": "Beijing"})


def test_the_longest_name_is_found() -> None:
    text = "他在北京的联合国工作"
    assert NAMES.find(text) == [(2, 4, "Beijing"), (5, 8, "United Nations")]
    assert NAMES.find("") == []


def test_names_of_several_words() -> None:
    names = NameDictionary({"Vereinte Nationen": "United Nations", "Wien": "Vienna"})
    words = "die Vereinte Nationen in Wien".split()
    assert names.replace_words(words) == ["die", f"United{SPACE}Nations", "in", "Vienna"]


def test_written_and_read(tmp_path: Path) -> None:
    NAMES.save(tmp_path / "names.tsv")
    assert read_names(tmp_path / "names.tsv") == NAMES


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("北京 Beijing\n", "names:1: not two columns"),
        ("北京\tBeijing\n\n北京\tPeking\n", "names:3: 北京 is there twice"),
        ("# nothing\n", "holds no name"),
    ],
)
def test_files_that_are_no_dictionary(tmp_path: Path, content: str, what: str) -> None:
    (tmp_path / "names").write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=what):
        read_names(tmp_path / "names")


def test_from_interlanguage_links() -> None:
    found = from_links(
        [
            "北京\tBeijing",
            "雅典 (希腊)\tAthens",
            "水星_(神话)\tMercury_(mythology)",
            "水星 (行星)\tMercury (planet)",
            "华盛顿 (城市)\tWashington, D.C.",
            "华盛顿 (总统)\tGeorge Washington",
            "Category:城市\tCategory:Cities",
            "1998年\t1998",
            "城市列表\tList of cities",
            "苹果\tapple",
            "狗\tDog",
            "IBM\tIBM",
        ]
    )
    # One of several Washingtons cannot be chosen; both Mercuries are the same in English.
    assert found.names == {"北京": "Beijing", "雅典": "Athens", "水星": "Mercury"}


def test_links_that_are_none() -> None:
    with pytest.raises(FormatError, match="links:2: not two columns"):
        from_links(["北京\tBeijing", "上海"])
    with pytest.raises(FormatError, match="no name is left"):
        from_links(["apple\tApfel"])


def _links(pairs: list[list[tuple[int, int]]]) -> Links:
    flat = [link for pair in pairs for link in sorted(pair)]
    starts = numpy.cumsum([0, *map(len, pairs)])
    left = numpy.array([one for one, _ in flat], dtype=numpy.int32)
    return Links(left, numpy.array([two for _, two in flat], dtype=numpy.int32), starts)


def test_from_aligned_text() -> None:
    source = [["我", "爱", "纽约", "。"], ["纽约", "很", "大", "。"], ["他", "在", "纽约", "。"]]
    target = [
        ["I", "love", "New", "York", "."],
        ["New", "York", "is", "big", "."],
        ["He", "is", "in", "New", "York", "."],
    ]
    links = _links(
        [
            [(0, 0), (1, 1), (2, 2), (2, 3), (3, 4)],
            [(0, 0), (0, 1), (1, 2), (2, 3), (3, 4)],
            [(0, 0), (1, 2), (2, 3), (2, 4), (3, 5)],
        ]
    )
    assert from_text(source, target, links).names == {"纽约": "New York"}
    # Where it begins the sentence it is no evidence: two of three are too few for 0.7.
    assert from_text(source, target, links, share=0.7).names == {}
    assert from_text(source, target, links, least=3).names == {}
