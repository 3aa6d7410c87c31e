"""Cutting Chinese: four ways, and learning one of them from text."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy
import pytest

from meantime.errors import FormatError, OptionError
from meantime.matching.cuts import expected_uses
from meantime.smt.segmenters import (
    LongestMatch,
    Statistical,
    count_segmented,
    open_segmenter,
    read_statistical,
    train_statistical,
)


def test_characters() -> None:
    assert list(open_segmenter("characters")("两个人")) == ["两", "个", "人"]


def test_longest_match(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("研究\n研究生\n生命 5 n\n", encoding="utf-8")
    segment = open_segmenter(f"dictionary:{tmp_path}/words", words=["命起源"])
    # The longest from the left, which is the famous mistake of the method.
    assert segment("研究生命起源") == ["研究生", "命起源"]
    assert LongestMatch(frozenset()).segment("生命") == ["生", "命"]


def test_jieba_keeps_given_words() -> None:
    plain = open_segmenter("jieba")
    assert "".join(plain("工人们正在铺设铁路")) == "工人们正在铺设铁路"
    assert "大象公园里" in open_segmenter("jieba", words=["大象公园里"])("我在大象公园里")


def _cuts(text: str):
    for marks in itertools.product((False, True), repeat=len(text) - 1):
        places = [0, *(n for n, mark in enumerate(marks, 1) if mark), len(text)]
        yield [text[a:b] for a, b in itertools.pairwise(places)]


def test_the_likeliest_cut_is_found() -> None:
    rng = numpy.random.default_rng(3)
    letters = "甲乙丙丁"
    for _ in range(30):
        words = {c: -5 - rng.random() for c in letters}
        for _ in range(8):
            words["".join(rng.choice(list(letters), rng.integers(2, 4)))] = -4 - rng.random()
        model = Statistical(words)
        text = "".join(rng.choice(list(letters), 7))
        best = max(
            (sum(words[w] for w in cut) for cut in _cuts(text) if all(w in words for w in cut)),
        )
        assert sum(words[w] for w in model.segment(text)) == pytest.approx(best)


def test_expected_uses_are_those_of_all_cuts() -> None:
    words = {"甲": -2.0, "乙": -1.5, "甲乙": -2.2, "乙甲": -3.0, "甲乙甲": -4.0}
    names = list(words)
    text, often = "甲乙甲乙", 3.0
    places = numpy.full((len(text), 3), -1, dtype=numpy.int32)
    for end in range(1, len(text) + 1):
        for size in range(1, min(3, end) + 1):
            piece = text[end - size : end]
            if piece in words:
                places[end - 1, size - 1] = names.index(piece)
    totals = numpy.zeros(len(words))
    expected_uses(
        places, numpy.array([0, len(text)]), numpy.array([often]),
        numpy.array(list(words.values())), totals,
    )  # fmt: skip
    cuts = [cut for cut in _cuts(text) if all(word in words for word in cut)]
    weights = [math.exp(sum(words[word] for word in cut)) for cut in cuts]
    for name, total in zip(names, totals, strict=True):
        share = sum(w * cut.count(name) for w, cut in zip(weights, cuts, strict=True))
        assert total == pytest.approx(often * share / sum(weights))


def test_words_are_learned_from_plain_text(tmp_path: Path) -> None:
    vocabulary = ["老师", "学生", "苹果", "自行车", "吃", "看", "在"]
    rng = numpy.random.default_rng(5)
    texts = ["".join(rng.choice(vocabulary, 6)) for _ in range(300)]
    calls: list[tuple[int, int]] = []
    model = train_statistical(texts, words=4, progress=lambda *done: calls.append(done))
    assert calls[-1][0] == calls[-1][1]
    learned = {word for word in model.words if len(word) > 1}
    assert learned == {"老师", "学生", "苹果", "自行车"}
    assert model.segment("学生吃苹果") == ["学生", "吃", "苹果"]
    model.save(tmp_path / "model.tsv")
    again = open_segmenter(f"statistical:{tmp_path}/model.tsv")
    assert all(again(text) == model.segment(text) for text in texts[:20])
    # A character never seen is a word.
    assert again("学生唱") == ["学生", "唱"]


def test_words_are_counted_in_segmented_text() -> None:
    model = count_segmented(["老师 看 书", "老师 吃 苹果"])
    assert model.segment("老师吃苹果") == ["老师", "吃", "苹果"]


@pytest.mark.parametrize(
    ("specification", "error", "what"),
    [
        ("ictclas", OptionError, "unknown segmenter"),
        ("characters:x", OptionError, "takes no file"),
        ("statistical", OptionError, "meantime smt segmenter"),
    ],
)
def test_refusals(specification: str, error: type[Exception], what: str) -> None:
    with pytest.raises(error, match=what):
        open_segmenter(specification)


def test_damaged_files(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("甲\t-1\n乙 -2\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"model:2: not a word, a tab and a number"):
        read_statistical(tmp_path / "model")
    (tmp_path / "empty").write_text("", encoding="utf-8")
    with pytest.raises(FormatError, match="holds no word"):
        open_segmenter(f"dictionary:{tmp_path}/empty")
    with pytest.raises(FormatError, match="no Chinese characters"):
        train_statistical(["abc"])
