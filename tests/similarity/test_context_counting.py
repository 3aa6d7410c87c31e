"""Counting: by hand, against a plain count, whoever counts and in however many pieces."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from meantime.analysis.tokenise import tokenise
from meantime.errors import FormatError, InputError, UsageError
from meantime.matching.cooccurrences import BOUNDARY
from meantime.similarity import context_counting, context_tokens
from meantime.similarity.context_counting import count_words, train
from meantime.similarity.context_file import ContextModel, open_model
from meantime.similarity.context_pieces import merge, prune
from meantime.similarity.context_tokens import Vocabulary, split

WINDOWS = (3, 5, 9)


def count(folder: Path, lines: list[str], name: str = "model", **options: object) -> ContextModel:
    """A model of every word, counted by one process unless asked otherwise."""
    text = folder / f"{name}.txt"
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    path = folder / f"{name}.vectors"
    train([text], path, **{"min_count": 1, "jobs": 1, **options})  # type: ignore[arg-type]
    return open_model(path)


def plain(lines: list[str], window: int) -> dict[str, dict[str, int]]:
    """The same, said as simply as can be."""
    reach = (window - 1) // 2
    found: dict[str, Counter[str]] = {}
    for line in lines:
        words = split(line)
        for place, word in enumerate(words):
            own = found.setdefault(word, Counter())
            for other in range(max(0, place - reach), min(len(words), place + reach + 1)):
                if other != place:
                    own[words[other]] += 1
    return {word: dict(own) for word, own in found.items()}


def held(model: ContextModel, window: int) -> dict[str, dict[str, int]]:
    return {word: model.row(word, window) for word in model.words}


@pytest.fixture(scope="module")
def lines() -> list[str]:
    rng = random.Random(3)
    words = [f"w{number}" for number in range(40)] + ["Don't", "e.g.", "(A.)", "x&y", "12%"]
    weights = [1 / (1 + place) for place in range(len(words))]
    return [" ".join(rng.choices(words, weights, k=rng.randrange(0, 15))) for _ in range(400)]


def test_by_hand(tmp_path: Path) -> None:
    model = count(tmp_path, ["The cat saw the dog", "cat"])
    # Two on either side, never over the end of a line.
    assert model.row("cat") == {"the": 2, "saw": 1}
    assert model.row("THE") == {"cat": 2, "saw": 2, "dog": 1}
    assert model.words == ("cat", "the", "dog", "saw")
    assert (model.frequency("the"), model.frequency("bird")) == (2, 0)
    assert model.row("bird") == {}
    assert model.facts["tokens"] == 6
    assert model.facts["sentences"] == 2


def test_a_word_beside_itself_counts_from_both_sides(tmp_path: Path) -> None:
    assert count(tmp_path, ["ha ha ha"], windows=(3,)).row("ha") == {"ha": 4}


def test_a_cut_word_keeps_its_place(tmp_path: Path) -> None:
    model = count(tmp_path, ["a rare b", "a b"], windows=(3,), min_count=2)
    assert model.words == ("a", "b")
    assert model.row("a") == {"b": 1}


def test_contexts_can_be_cut(tmp_path: Path) -> None:
    model = count(tmp_path, ["a a a b b c"], windows=(3,), max_contexts=2)
    assert (model.words, model.contexts) == (("a", "b", "c"), 2)
    assert held(model, 3) == {"a": {"a": 4, "b": 1}, "b": {"b": 2, "a": 1}, "c": {"b": 1}}
    # The rows speak of a and b alone, and so do the sums.
    assert model.context_sums[:, 0].tolist() == [5.0, 4.0]


@pytest.mark.parametrize("jobs", [1, 2])
def test_like_a_plain_count(
    lines: list[str], jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_tokens, "BLOCK", 1000)
    monkeypatch.setattr(context_counting, "_EVENTS", 2000)
    monkeypatch.setattr(context_counting, "_ENTRIES", 300)
    model = count(tmp_path, lines, windows=WINDOWS, jobs=jobs)
    for window in WINDOWS:
        assert held(model, window) == plain(lines, window)
    assert model.totals.tolist() == [
        sum(sum(own.values()) for own in plain(lines, window).values()) for window in WINDOWS
    ]
    counts = Counter(word for line in lines for word in split(line))
    assert list(model.words) == sorted(counts, key=lambda word: (-counts[word], word))
    assert {word: model.frequency(word) for word in model.words} == counts


def test_one_pass_for_several_windows_is_one_for_each(lines: list[str], tmp_path: Path) -> None:
    together = count(tmp_path, lines, windows=WINDOWS)
    for window in WINDOWS:
        alone = count(tmp_path, lines, f"window{window}", windows=(window,))
        assert held(alone, window) == held(together, window)


def test_the_same_file_whoever_counts(
    lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_tokens, "BLOCK", 1000)
    one = count(tmp_path, lines, "model", windows=(3, 5))
    first = one.path.read_bytes()
    count(tmp_path, lines, "model", windows=(3, 5), jobs=3)
    assert one.path.read_bytes() == first


def test_pieces_add_up_to_the_whole(lines: list[str], tmp_path: Path) -> None:
    whole = count(tmp_path, lines, "whole", windows=WINDOWS)
    pieces = [
        count(tmp_path, lines[start::3], f"piece{start}", windows=WINDOWS).path
        for start in range(3)
    ]
    merge(pieces, tmp_path / "merged.vectors")
    merged = open_model(tmp_path / "merged.vectors")
    assert merged.identity == whole.identity
    assert merged.facts["cut"] is False
    merge(pieces, tmp_path / "cut.vectors", min_count=30)
    cut = open_model(tmp_path / "cut.vectors")
    assert held(cut, 5) == held(count(tmp_path, lines, "cut2", windows=WINDOWS, min_count=30), 5)
    assert cut.facts["cut"] is True


def test_pieces_of_other_windows_do_not_merge(tmp_path: Path) -> None:
    one = count(tmp_path, ["a b"], "one", windows=(3,))
    two = count(tmp_path, ["a b"], "two", windows=(5,))
    with pytest.raises(InputError, match=r"two.vectors: holds other windows .* \(3 and 5\)"):
        merge([one.path, two.path], tmp_path / "three.vectors")
    with pytest.raises(UsageError, match="nothing to merge"):
        merge([one.path], tmp_path / "three.vectors")
    assert not (tmp_path / "three.vectors").exists()


def test_pieces_with_cut_contexts_merge(tmp_path: Path) -> None:
    one = count(tmp_path, ["a a a b b c"], "one", windows=(3,), max_contexts=2)
    two = count(tmp_path, ["c c c a", "c a"], "two", windows=(3,), max_contexts=1)
    merge([one.path, two.path], tmp_path / "both.vectors")
    both = open_model(tmp_path / "both.vectors")
    assert held(both, 3) == {
        "a": {"a": 4, "c": 2, "b": 1},
        "c": {"c": 4, "b": 1},
        "b": {"b": 2, "a": 1},
    }
    assert dict(zip(both.words, both.context_sums[:, 0], strict=False)) == {
        "a": 5.0, "c": 6.0, "b": 4.0,
    }  # fmt: skip


def test_pruning_keeps_the_sums(lines: list[str], tmp_path: Path) -> None:
    whole = count(tmp_path, lines, windows=WINDOWS)
    prune(
        whole.path,
        tmp_path / "small.vectors",
        max_words=20,
        max_contexts=10,
        min_entry=3,
        windows=(3, 9),
    )
    small = open_model(tmp_path / "small.vectors")
    assert (small.windows, small.words, small.contexts) == ((3, 9), whole.words[:20], 10)
    for word in small.words:
        kept = {c: n for c, n in whole.row(word, 9).items() if c in whole.words[:10] and n >= 3}
        assert small.row(word, 9) == kept
        near = whole.row(word, 3)
        assert small.row(word, 3) == {c: near[c] for c in small.row(word, 3)}
        assert set(small.row(word, 3)) == set(kept) & set(near)
        assert small.frequency(word) == whole.frequency(word)
    assert (small.context_sums == whole.context_sums[:10][:, [0, 2]]).all()
    assert (small.totals == whole.totals[[0, 2]]).all()
    assert small.facts["pruned"]["from"] == whole.identity
    with pytest.raises(UsageError, match="no window 5; it holds 3, 9"):
        small.window(5)


# Words


@settings(max_examples=200, deadline=None)
@given(
    some.lists(
        some.one_of(
            some.text(alphabet="aA.'’-&;12%$(),!? \t\u00a0\u3000中x", max_size=12),
            some.sampled_from(["Mr.", "A.", "(A.)", "don't", "x&amp;y", "&nbsp;", "cannot", "…"]),
        ),
        max_size=8,
    ).map(" ".join)
)
def test_words_are_the_analysers_tokens(line: str) -> None:
    vocabulary = Vocabulary()
    numbers = vocabulary.read([line, line])
    words = list(vocabulary.numbers)
    found = [None if number == BOUNDARY else words[number] for number in numbers]
    expected = [*(token.text.lower() for token in tokenise(line)), None]
    assert found == expected * 2


@pytest.mark.needs("shared")
@pytest.mark.parametrize("name", ["en-wikinews", "en-wikipedia-3", "zh-wikipedia"])
def test_words_are_the_analysers_tokens_on_real_text(name: str, shared: Path) -> None:
    with gzip.open(
        shared / "text" / f"{name}.txt.gz", "rt", encoding="utf-8", newline="\n"
    ) as file:
        lines = [line.rstrip("\n") for line in itertools.islice(file, 3000)]
    vocabulary = Vocabulary()
    numbers = vocabulary.read(lines)
    words = list(vocabulary.numbers)
    found = [None if number == BOUNDARY else words[number] for number in numbers]
    expected = [word for line in lines for word in (*split(line), None)]
    assert found == expected


def test_words_stay_right_when_what_was_remembered_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(context_tokens, "_REMEMBERED", 2)
    vocabulary = Vocabulary()
    for _ in range(3):
        numbers = vocabulary.read(["don't go. (now)", "I can't."])
        words = [*vocabulary.numbers, "|"]
        assert " ".join(words[number] for number in numbers) == (
            "do n't go . ( now ) | i ca n't . |"
        )


def test_words_are_counted_by_sentence_too(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("a a b\n\nA c\n", encoding="utf-8")
    found = count_words([path], jobs=1)
    assert found.words == ("a", "b", "c")
    assert found.counts.tolist() == [3, 1, 1]
    assert found.sentences.tolist() == [2, 1, 1]
    assert (found.lines, found.tokens) == (3, 5)


# Files


def test_gzip_and_standard_input(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbfa b\r\nb c"
    packed = tmp_path / "text.txt.gz"
    # Two members, as concatenated archives have.
    packed.write_bytes(gzip.compress(content[:5]) + gzip.compress(content[5:]))
    for path, stdin in ((packed, None), ("-", io.BytesIO(content))):
        train([path], tmp_path / "m", windows=(3,), min_count=1, jobs=1, stdin=stdin)
        assert held(open_model(tmp_path / "m"), 3) == {
            "a": {"b": 1},
            "b": {"a": 1, "c": 1},
            "c": {"b": 1},
        }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a b\nb \xff c\n", r"text:2: byte 0xff is not UTF-8; convert"),
        ("a b".encode("utf-16"), r"text:1: UTF-16, expected UTF-8"),
        (gzip.compress(b"a b\n" * 5000)[:-20], r"text: the gzip data end too early"),
        (gzip.compress(gzip.compress(b"a b")), r"text: gzipped more than once"),
        (b"\x1f\x8b\x08\x00" + b"\x07" * 50, r"text: damaged gzip data"),
        (b"", r"text: no word stands there 1 times; give more text"),
        (b"\n \n", r"text: no word stands there 1 times"),
    ],
    # Names of their own: packed bytes hold the time, so two processes would name them differently.
    ids=["latin", "utf-16", "cut", "packed-twice", "damaged", "empty", "blank"],
)
def test_texts_that_cannot_be_counted(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(content)
    with pytest.raises(InputError, match=message):
        train([tmp_path / "text"], tmp_path / "model", min_count=1, jobs=1)
    assert os.listdir(tmp_path) == ["text"]


def test_a_bad_line_is_named_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_tokens, "BLOCK", 64)
    (tmp_path / "text").write_bytes(b"good line\n" * 50 + b"bad \xe4 line\n" + b"good\n")
    with pytest.raises(FormatError, match="text:51: byte 0xe4"):
        train([tmp_path / "text"], tmp_path / "model", jobs=1)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_tokens, "BLOCK", 64)
    monkeypatch.setattr(context_tokens, "_LONGEST_LINE", 256)
    (tmp_path / "text").write_bytes(b"word " * 100)
    with pytest.raises(FormatError, match="text:1: a line of more than"):
        train([tmp_path / "text"], tmp_path / "model", jobs=1)


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a b\n")
    with pytest.raises(InputError, match="no such folder"):
        train([tmp_path / "text"], tmp_path / "nowhere" / "model", jobs=1)
    with pytest.raises(InputError, match="this is a folder"):
        train([tmp_path / "text"], tmp_path, jobs=1)
    with pytest.raises(InputError, match=r"missing: no such file"):
        train([tmp_path / "missing"], tmp_path / "model", jobs=1)


@pytest.mark.parametrize("window", [1, 2, 4, -3, 1003])
def test_windows_that_cannot_be(window: int, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a b\n")
    with pytest.raises(UsageError, match=f"window {window}: give an odd number"):
        train([tmp_path / "text"], tmp_path / "model", windows=(window,))


@pytest.mark.skipif(sys.platform != "linux", reason="what is patched here is seen by forks alone")
@pytest.mark.parametrize("part", ["_read_blocks", "_start"])
def test_a_process_that_dies_is_told_of(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text("a b\n")
    monkeypatch.setattr(context_counting, part, lambda *_: os._exit(9))
    with pytest.raises(InputError, match=r"a process that .* was ended .*--jobs"):
        train([tmp_path / "text"], tmp_path / "model", min_count=1, jobs=2)
    assert os.listdir(tmp_path) == ["text"]


def test_a_full_disk_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").write_text("a b\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(context_counting, "_sort_runs", full)
    with pytest.raises(InputError, match=r"model: cannot be written \(No space left on device\)"):
        train([tmp_path / "text"], tmp_path / "model", min_count=1, jobs=1)
    assert os.listdir(tmp_path) == ["text"]


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    count(tmp_path, ["a b"], progress=lambda *state: told.append(state))
    assert [stage for stage, *_ in told] == ["reading, MB", "counting", "packing"]
    assert all(done <= total for _, done, total in told)
