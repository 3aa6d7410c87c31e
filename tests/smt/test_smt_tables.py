"""Links, phrase pairs and the language model, held to plain definitions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy
import pytest

from meantime.matching.phrase_pairs import extract, number_spans, symmetrise
from meantime.smt.alignment import Links, offsets_of, train_direction
from meantime.smt.language_model import BUCKETS, train_model
from meantime.smt.phrases import build_table
from meantime.smt.thot import load_part

RNG = numpy.random.default_rng(12)


def _random_links(rows: int, columns: int, count: int) -> set[tuple[int, int]]:
    return {(int(RNG.integers(rows)), int(RNG.integers(columns))) for _ in range(count)}


def _consistent(links: set[tuple[int, int]], rows: int, columns: int, longest: int):
    """Every phrase pair that fits, by the definition."""
    for begin in range(rows):
        for end in range(begin + 1, min(rows, begin + longest) + 1):
            for start in range(columns):
                for stop in range(start + 1, min(columns, start + longest) + 1):
                    sides = [(begin <= a < end, start <= b < stop) for a, b in links]
                    if any(one and other for one, other in sides) and all(
                        one == other for one, other in sides
                    ):
                        yield begin, end - begin, start, stop - start


@pytest.mark.parametrize("longest", [1, 2, 4, 7])
def test_phrase_pairs_are_those_of_the_definition(longest: int) -> None:
    sizes = [(int(RNG.integers(1, 8)), int(RNG.integers(1, 8))) for _ in range(25)]
    linked = [_random_links(*size, int(RNG.integers(0, 9))) for size in sizes]
    left, right, starts = [], [], [0]
    for links in linked:
        left += [one for one, _ in sorted(links)]
        right += [other for _, other in sorted(links)]
        starts.append(len(left))
    sources = numpy.cumsum([0, *(rows for rows, _ in sizes)])
    targets = numpy.cumsum([0, *(columns for _, columns in sizes)])
    found = extract(
        numpy.array(left, dtype=numpy.int32), numpy.array(right, dtype=numpy.int32),
        numpy.array(starts), sources, targets, longest,
    )  # fmt: skip
    expected = [
        (a + int(sources[n]), b, c + int(targets[n]), d)
        for n, (links, size) in enumerate(zip(linked, sizes, strict=True))
        for a, b, c, d in _consistent(links, *size, longest)
    ]
    assert Counter(map(tuple, found.tolist())) == Counter(expected)


def test_joined_links() -> None:
    # Source 4, target 3 words. Forward: of each target word; backward: of each source word.
    forward = numpy.array([1, 2, 4], dtype=numpy.int32)
    backward = numpy.array([1, 2, 2, 0], dtype=numpy.int32)
    left, right, starts = symmetrise(forward, backward, numpy.array([0, 4]), numpy.array([0, 3]))
    # In both: 0-0 and 1-1. Grown from 1-1: 2-1, beside it. Both words free: 3-2.
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 0), (1, 1), (2, 1), (3, 2)]
    assert starts.tolist() == [0, 4]


def test_joined_links_lie_between_both_and_either() -> None:
    for _ in range(50):
        rows, columns = (int(n) for n in RNG.integers(1, 8, 2))
        forward = RNG.integers(0, rows + 1, columns).astype(numpy.int32)
        backward = RNG.integers(0, columns + 1, rows).astype(numpy.int32)
        one = {(int(r) - 1, c) for c, r in enumerate(forward) if r}
        other = {(r, int(c) - 1) for r, c in enumerate(backward) if c}
        left, right, _ = symmetrise(
            forward, backward, numpy.array([0, rows]), numpy.array([0, columns])
        )
        joined = set(zip(left.tolist(), right.tolist(), strict=True))
        assert one & other <= joined <= one | other


def test_numbers_of_phrases_are_exact() -> None:
    words = RNG.integers(0, 3, 60)
    offsets = numpy.array([0, 11, 11, 40, 60])
    numbers = number_spans(words, offsets, 4)
    seen: dict[int, tuple[int, ...]] = {}
    for place in range(60):
        end = next(int(e) for e in offsets[1:] if e > place)
        for size in range(1, 5):
            number = int(numbers[place, size - 1])
            if place + size > end:
                assert number == -1
                continue
            phrase = tuple(words[place : place + size].tolist())
            assert seen.setdefault(number, phrase) == phrase
    assert len(set(seen.values())) == len(seen)


def test_table_counts_and_keeps_the_most_frequent() -> None:
    source = [["a"], ["a"], ["a"], ["b"]]
    target = [["x"], ["x"], ["y"], ["x"]]
    links = Links(
        numpy.zeros(4, dtype=numpy.int32), numpy.zeros(4, dtype=numpy.int32), numpy.arange(5)
    )
    table = build_table(source, target, links)
    assert set(table.rows) == {("a", "x", 3, 2), ("a", "y", 1, 1), ("b", "x", 3, 1)}
    assert build_table(source, target, links, kept=1).rows == [("a", "x", 3, 2), ("b", "x", 3, 1)]
    assert b"x ||| a ||| 3 2\n" in table.render()


TEXT = [line.split() for line in ["the cat sat", "the dog sat down", "a cat sat on the dog", "a"]]


@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_language_model_is_the_one_the_decoder_computes(order: int, tmp_path: Path) -> None:
    model = train_model(TEXT * 3 + [["once"]], order=order)
    for name, data in zip(("lm", "lm.weights"), model.render(), strict=True):
        (tmp_path / name).write_bytes(data)
    read = load_part("common").NGramLanguageModel()
    assert read.load(str(tmp_path / "lm"))
    for words in (*TEXT, ["the", "bird", "sat"], ["dog", "dog"], ["once"]):
        assert read.get_sentence_log_probability(words) == pytest.approx(
            model.log_probability(words), abs=2e-4
        )
    read.clear()


def test_language_model_sums_to_one() -> None:
    model = train_model(TEXT * 2, order=3)
    words = [one[0] for one in model.counts if len(one) == 1 and one[0] not in ("<s>", "</s>")]
    after = [10 ** model.word_log_probability(["<s>", "the"], w) for w in (*words, "</s>")]
    # Of a word behind another, all but the zerogram's share of <s> and of the decoder's own mark,
    # and what the counts give to <s>, which is never predicted.
    begin = 10 ** model.word_log_probability(["<s>", "the"], "<s>")
    assert sum(after) + begin == pytest.approx(1, abs=2 / model.vocabulary)
    assert all(value > 0 for value in after)


def test_weights_learn_that_histories_tell() -> None:
    # Every word but the first follows from the one before it.
    told = train_model([["a", "b", "c", "d"]] * 30 + [["b", "c"]] * 30, order=2)
    chance = train_model([list(RNG.choice(list("abcdefgh"), 8)) for _ in range(60)], order=2)
    assert told.weights[1][BUCKETS - 1] > 0.99
    assert chance.weights[1][BUCKETS - 1] < 0.9


def test_alignment_finds_the_words(tmp_path: Path) -> None:
    source = [["a", "b"], ["b", "c"], ["c", "a"], ["a"], ["b"], ["c"]] * 5
    target = [[w.upper() for w in line] for line in source]
    calls: list[tuple[int, int]] = []
    links = train_direction(
        source, target, tmp_path / "m", iterations=4, progress=lambda *done: calls.append(done)
    )
    expected = [n for line in source for n in range(1, len(line) + 1)]
    assert links.tolist() == expected
    assert calls[-1] == (5, 5)
    assert offsets_of(source)[-1] == len(expected)
