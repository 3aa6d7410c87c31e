"""The cache gives what the analyser gave, once for each text, whatever befalls its file."""

from __future__ import annotations

import dataclasses
import json
import math
import multiprocessing
import os
import pickle
import random
import sqlite3
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from meantime.analysis import cache as module
from meantime.analysis.cache import AnalysisCache, CachedAnalyser, Entry, decode, encode, key
from meantime.cli.cache import cache_app, cache_path
from meantime.errors import UsageError
from meantime.protocols import Analyser
from meantime.types import Frame, Layer, Role, Sentence, Span, Tree


class Counting:
    """An analyser whose answers tell the text, the language and itself; it counts calls."""

    name = "counting"
    layers = frozenset({Layer.TOKENS, Layer.POS, Layer.TREE, Layer.FRAMES, Layer.VECTORS})
    languages = frozenset({"en"})

    def __init__(self, identity: str = "one", width: int = 4) -> None:
        self.identity = identity
        self.width = width
        self.calls: list[list[str]] = []

    def analyse(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        self.calls.append([sentence.text for sentence in sentences])
        return [self._one(sentence) for sentence in sentences]

    def _one(self, sentence: Sentence) -> Sentence:
        tokens = tuple(sentence.text.split())
        offsets = []
        place = 0
        for token in tokens:
            start = sentence.text.index(token, place)
            place = start + len(token)
            offsets.append((start, place))
        leaves = tuple(Tree("NN", Span(i, i + 1)) for i in range(len(tokens)))
        seed = sum(sentence.text.encode()) + len(sentence.lang) + len(self.identity)
        vectors = numpy.random.default_rng(seed).normal(size=(len(tokens), self.width))
        return dataclasses.replace(
            sentence,
            tokens=tokens,
            offsets=tuple(offsets),
            pos=("NN",) * len(tokens),
            tree=Tree("TOP", Span(0, len(tokens)), leaves) if tokens else None,
            tree_score=-0.1 * len(tokens) - len(self.identity),
            frames=tuple(
                Frame(Span(i, i + 1), (Role("ARG0", (Span(0, 1), Span(i, i + 1))),))
                for i in range(1, len(tokens))
            ),
            vectors=vectors.astype(numpy.float16),
        )


def _texts(*texts: str) -> list[Sentence]:
    return [Sentence(text) for text in texts]


def _same(one: Sentence, other: Sentence) -> None:
    assert one == other
    if one.vectors is None or other.vectors is None:
        assert one.vectors is other.vectors
    else:
        assert one.vectors.dtype == other.vectors.dtype == numpy.float16
        assert one.vectors.shape == other.vectors.shape
        assert numpy.array_equal(one.vectors, other.vectors, equal_nan=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "analyses.sqlite"


# Hits and misses


def test_it_is_an_analyser(path: Path) -> None:
    inner = Counting()
    cached = CachedAnalyser(inner, path)
    assert isinstance(cached, Analyser)
    assert (cached.name, cached.identity) == (inner.name, inner.identity)
    assert (cached.layers, cached.languages) == (inner.layers, inner.languages)
    assert not path.exists(), "making it touches no disk"


@pytest.mark.parametrize("where", ["file", "memory"])
def test_a_text_is_analysed_once(path: Path, where: str) -> None:
    inner = Counting()
    cached = CachedAnalyser(inner, path if where == "file" else None)
    first = cached.analyse(_texts("a b", "c", "a b", ""))
    assert inner.calls == [["a b", "c", ""]], "distinct texts, one batch"
    again = cached.analyse(_texts("", "c", "d e", "a b"))
    assert inner.calls[1:] == [["d e"]]
    for here, there in ((3, 0), (1, 1), (0, 3)):
        _same(first[here], again[there])
    for sentence in first + again:
        _same(sentence, Counting().analyse([Sentence(sentence.text)])[0])
    assert (cached.hits, cached.misses) == (3, 4)
    assert cached.analyse([]) == []
    assert len(inner.calls) == 2
    assert cached.note is None


def test_another_object_finds_what_one_kept(path: Path) -> None:
    CachedAnalyser(Counting(), path).analyse(_texts("a b c", "d"))
    inner = Counting()
    answers = CachedAnalyser(inner, path).analyse(_texts("d", "a b c"))
    assert inner.calls == []
    for answer in answers:
        _same(answer, Counting().analyse([Sentence(answer.text)])[0])


def test_language_and_analyser_are_told_apart(path: Path) -> None:
    CachedAnalyser(Counting("one"), path).analyse([Sentence("a"), Sentence("a", "de")])
    other = Counting("another")
    cached = CachedAnalyser(other, path)
    (answer,) = cached.analyse([Sentence("a", "de")])
    assert other.calls == [["a"]]
    assert answer.lang == "de"
    _same(answer, other.analyse([Sentence("a", "de")])[0])
    info = cached.info()
    assert info.entries == 3
    assert {share.identity: share.entries for share in info.analysers} == {"one": 2, "another": 1}
    assert {share.name for share in info.analysers} == {"counting"}
    assert info.path == path
    assert info.bytes >= sum(share.bytes for share in info.analysers) > 0


def test_keys_depend_on_every_field_and_on_their_borders() -> None:
    keys = [
        key("a", "en", "m"),
        key("b", "en", "m"),
        key("a", "de", "m"),
        key("a", "en", "n"),
        key("", "ena", "m"),
        key("a", "", "men"),
        key("\ud800", "en", "m"),
        key("?", "en", "m"),
    ]
    assert len(set(keys)) == len(keys)


def test_sentences_with_layers_of_their_own_are_not_cached(path: Path) -> None:
    given_tokens = Sentence("a b", tokens=("a b",))
    inner = Counting()
    cached = CachedAnalyser(inner, path)
    cached.analyse([Sentence("a b"), given_tokens, given_tokens])
    answers = cached.analyse([given_tokens, Sentence("a b"), Sentence("c")])
    assert inner.calls == [["a b", "a b", "a b"], ["a b", "c"]]
    assert [answer.text for answer in answers] == ["a b", "a b", "c"]


def test_vectors_may_be_left_out(path: Path) -> None:
    inner = Counting()
    without = CachedAnalyser(inner, path, vectors=False)
    assert Layer.VECTORS not in without.layers
    assert without.analyse(_texts("a b"))[0].vectors is None
    assert without.analyse(_texts("a b"))[0].vectors is None
    assert len(inner.calls) == 1
    with_vectors = CachedAnalyser(inner, path)
    first = with_vectors.analyse(_texts("a b"))[0]
    assert len(inner.calls) == 2, "an entry without vectors does not serve one who wants them"
    again = with_vectors.analyse(_texts("a b"))[0]
    assert len(inner.calls) == 2, "but it has been replaced"
    _same(first, again)
    assert without.analyse(_texts("a b"))[0] == first
    assert len(inner.calls) == 2
    assert with_vectors.info().entries == 1


def test_vectors_of_higher_precision_come_as_they_will_be_kept(path: Path) -> None:
    class Wide(Counting):
        def _one(self, sentence: Sentence) -> Sentence:
            found = super()._one(sentence)
            assert found.vectors is not None
            return dataclasses.replace(found, vectors=found.vectors.astype(numpy.float64) / 3)

    cached = CachedAnalyser(Wide(), path)
    _same(cached.analyse(_texts("a b"))[0], cached.analyse(_texts("a b"))[0])


# Round trips

_words = st.text(st.characters(exclude_categories=()), max_size=6)
_spans = st.tuples(st.integers(0, 50), st.integers(1, 9)).map(lambda s: Span(s[0], sum(s)))
_trees = st.recursive(
    st.builds(Tree, _words, _spans),
    lambda below: st.builds(
        Tree, _words, _spans, st.lists(below, min_size=1, max_size=3).map(tuple)
    ),
    max_leaves=12,
)


def _some(strategy: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | st.lists(strategy, max_size=4).map(tuple)


_sentences = st.builds(
    Sentence,
    _words,
    st.sampled_from(["en", "de", "zh-Hans"]),
    tokens=_some(_words),
    offsets=_some(st.tuples(st.integers(0, 99), st.integers(0, 99))),
    pos=_some(_words),
    tree=st.none() | _trees,
    tree_score=st.none() | st.floats(allow_nan=False),
    frames=_some(
        st.builds(
            Frame,
            _spans,
            st.lists(
                st.builds(Role, _words, st.lists(_spans, max_size=3).map(tuple)), max_size=3
            ).map(tuple),
        )
    ),
)


@given(_sentences)
def test_every_layer_comes_back(sentence: Sentence) -> None:
    assert decode(encode(sentence), Sentence(sentence.text, sentence.lang)) == sentence


def test_no_layer_is_forgotten() -> None:
    # Whoever adds a layer to a sentence: encode and decode it, and raise cache.FORMAT.
    assert [field.name for field in dataclasses.fields(Sentence)] == [
        "text",
        "lang",
        "tokens",
        "offsets",
        "pos",
        "tree",
        "tree_score",
        "frames",
        "vectors",
    ]


@pytest.mark.parametrize(
    "layers",
    [
        {},
        {"tokens": (), "offsets": (), "pos": (), "frames": ()},
        {"vectors": numpy.zeros((0, 7), numpy.float16)},
        {"vectors": numpy.array([[1.5, numpy.inf], [-0.0, numpy.nan]], numpy.float16)},
        {"vectors": numpy.arange(12, dtype=numpy.float16).reshape(3, 4).T},
        {"tree_score": -math.inf},
        {"tree_score": 0.1 + 0.2},
        {"frames": (Frame(Span(0, 1)), Frame(Span(1, 2), (Role("ARG0", ()),)))},
    ],
    ids=lambda layers: "+".join(layers) or "nothing",
)
def test_absent_and_empty_are_kept_apart_on_disk(path: Path, layers: dict[str, object]) -> None:
    class Fixed(Counting):
        def _one(self, sentence: Sentence) -> Sentence:
            return dataclasses.replace(sentence, **layers)

    first = CachedAnalyser(Fixed(), path).analyse(_texts("a"))[0]
    inner = Fixed()
    again = CachedAnalyser(inner, path).analyse(_texts("a"))[0]
    assert not inner.calls
    _same(first, again)
    _same(again, dataclasses.replace(Sentence("a"), **layers))


def test_a_tree_may_be_deeper_than_python_recurses() -> None:
    deep = Tree("NN", Span(0, 1))
    for number in range(20 * sys.getrecursionlimit()):
        deep = Tree(f"X{number % 7}", Span(0, 1), (deep,))
    found = decode(encode(Sentence("a", tree=deep)), Sentence("a")).tree
    assert found is not None
    while deep.children:
        assert (found.label, found.span, len(found.children)) == (deep.label, deep.span, 1)
        deep, found = deep.children[0], found.children[0]
    assert found == deep


# Processes and threads


def _work(path: Path, worker: int, waiting: Any) -> None:
    waiting.wait()
    inner = Counting()
    cached = CachedAnalyser(inner, path)
    for batch in range(10):
        texts = [f"shared {batch} {i}" for i in range(10)]
        texts += [f"own {worker} {batch} {i}" for i in range(10)]
        for sentence in cached.analyse(_texts(*texts)):
            _same(sentence, Counting().analyse([Sentence(sentence.text)])[0])
    assert cached.note is None, cached.note


def _run_four(work: Callable[[Path, int, Any], None], path: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(4)
    workers = [context.Process(target=work, args=(path, number, barrier)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="test modules are not importable by name")
@pytest.mark.parametrize("opened", [False, True])
def test_processes_lose_nothing(path: Path, opened: bool) -> None:
    if opened:
        parent = CachedAnalyser(Counting(), path)
        parent.analyse(_texts("before the fork"))
    _run_four(_work, path)
    inner = Counting()
    cached = CachedAnalyser(inner, path)
    texts = [f"shared {batch} {i}" for batch in range(10) for i in range(10)]
    texts += [f"own {w} {batch} {i}" for w in range(4) for batch in range(10) for i in range(10)]
    cached.analyse(_texts(*texts))
    assert inner.calls == []
    assert cached.info().entries == 500 + opened
    if opened:
        parent.analyse(_texts("before the fork", "after it"))
        assert parent.analyser.calls == [["before the fork"], ["after it"]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="test modules are not importable by name")
def test_processes_survive_a_damaged_file(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(random.Random(7).randbytes(50_000))
    _run_four(_work_on_damage, path)
    cached = CachedAnalyser(Counting(), path)
    cached.analyse(_texts("x"))
    assert CachedAnalyser(Counting(), path).info().entries >= 1


def _work_on_damage(path: Path, worker: int, waiting: Any) -> None:
    waiting.wait()
    cached = CachedAnalyser(Counting(), path)
    for number in range(20):
        assert len(cached.analyse(_texts(f"text {worker} {number}", "shared"))) == 2


def test_threads_share_one(path: Path) -> None:
    cached = CachedAnalyser(Counting(), path)
    failures = []

    def work(worker: int) -> None:
        try:
            for number in range(30):
                for text in (f"shared {number}", f"own {worker} {number}"):
                    _same(cached.analyse(_texts(text))[0], Counting().analyse(_texts(text))[0])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert cached.note is None
    assert cached.info().entries == 150


def test_a_pickled_copy_uses_the_same_file(path: Path) -> None:
    cached = CachedAnalyser(Counting(), path)
    cached.analyse(_texts("a"))
    copied = pickle.loads(pickle.dumps(cached))
    copied.analyser.calls.clear()
    copied.analyse(_texts("a"))
    assert copied.analyser.calls == []


def test_a_busy_file_is_waited_for_and_then_left(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.01)
    CachedAnalyser(Counting(), path).analyse(_texts("a"))
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    inner = Counting()
    cached = CachedAnalyser(inner, path)
    assert [s.text for s in cached.analyse(_texts("a", "b"))] == ["a", "b"]
    assert inner.calls == [["b"]], "reading goes on while another writes"
    assert "in use" in str(cached.note)
    holder.execute("ROLLBACK")
    holder.close()
    assert CachedAnalyser(inner, path).info().entries == 1


def test_an_interruption_leaves_no_transaction_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = CachedAnalyser(Counting(), path)
    cached.analyse(_texts("a"))

    def interrupt(*_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(AnalysisCache, "_make_room", interrupt)
        with pytest.raises(KeyboardInterrupt):
            cached.analyse(_texts("b"))
    other = CachedAnalyser(Counting(), path)
    other.analyse(_texts("c"))
    cached.analyse(_texts("b"))
    assert (cached.note, other.note) == (None, None)
    assert cached.info().entries == 3


# Damage


def _filled(path: Path, entries: int = 200) -> None:
    cached = CachedAnalyser(Counting(width=64), path)
    cached.analyse(_texts(*(f"text number {i}" for i in range(entries))))
    cached.close()


def _random_bytes(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(random.Random(1).randbytes(30_000))


def _text_file(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("My thesis, chapter 1.\n" * 1000)


def _foreign_database(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE analyses (name TEXT)")
    base.commit()
    base.close()


def _other_schema(path: Path) -> None:
    _filled(path)
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 99")
    base.close()


def _truncated(path: Path) -> None:
    _filled(path)
    os.truncate(path, path.stat().st_size // 2)


def _truncated_oddly(path: Path) -> None:
    _filled(path)
    os.truncate(path, 5000)


def _header_only(path: Path) -> None:
    _filled(path)
    os.truncate(path, 100)


def _scrambled(path: Path) -> None:
    _filled(path)
    content = bytearray(path.read_bytes())
    content[4096:] = random.Random(2).randbytes(len(content) - 4096)
    path.write_bytes(bytes(content))


def _scrambled_log(path: Path) -> None:
    _filled(path)
    Path(f"{path}-wal").write_bytes(random.Random(3).randbytes(40_000))


def _table_gone(path: Path) -> None:
    _filled(path)
    base = sqlite3.connect(path)
    base.execute("DROP TABLE analyses")
    base.commit()
    base.close()


def _empty_file(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.touch()


DAMAGE = [
    _random_bytes,
    _text_file,
    _foreign_database,
    _other_schema,
    _truncated,
    _truncated_oddly,
    _header_only,
    _scrambled,
    _scrambled_log,
    _table_gone,
    _empty_file,
]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__.strip("_"))
def test_a_damaged_file_is_replaced(path: Path, damage: Callable[[Path], None]) -> None:
    damage(path)
    cached = CachedAnalyser(Counting(width=64), path)
    texts = _texts(*(f"text number {i}" for i in range(200)), "new")
    for answer in cached.analyse(texts):
        _same(answer, Counting(width=64).analyse([Sentence(answer.text)])[0])
    cached.close()
    inner = Counting(width=64)
    again = CachedAnalyser(inner, path)
    again.analyse(texts)
    again.analyse(texts)
    assert inner.calls == []
    assert again.info().entries == 201
    base = sqlite3.connect(path)
    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    base.close()


@pytest.mark.parametrize("damage", [_random_bytes, _text_file, _foreign_database])
def test_what_is_not_ours_is_moved_aside(path: Path, damage: Callable[[Path], None]) -> None:
    damage(path)
    content = path.read_bytes()
    cached = CachedAnalyser(Counting(), path)
    cached.analyse(_texts("a"))
    aside = path.with_name("analyses.sqlite.replaced-1")
    assert aside.read_bytes() == content
    assert aside.name in str(cached.note)


def test_what_is_ours_is_not_kept_when_damaged(path: Path) -> None:
    _truncated_oddly(path)
    cached = CachedAnalyser(Counting(), path)
    cached.analyse(_texts("a"))
    assert "damaged" in str(cached.note)
    cached.close()
    assert sorted(os.listdir(path.parent)) == [path.name]


def test_damage_while_in_use_is_mended(path: Path) -> None:
    inner = Counting(width=64)
    cached = CachedAnalyser(inner, path)
    texts = _texts(*(f"text number {i}" for i in range(200)))
    cached.analyse(texts)
    cached.close()
    cached.analyse(texts[:1])
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(random.Random(4).randbytes(path.stat().st_size - 4096))
    for _ in range(3):
        assert len(cached.analyse(texts)) == 200
    calls = len(inner.calls)
    cached.analyse(texts)
    assert len(inner.calls) == calls


def test_a_damaged_entry_is_analysed_again(path: Path) -> None:
    inner = Counting()
    cached = CachedAnalyser(inner, path)
    cached.analyse(_texts("a b", "c d", "e f"))
    base = sqlite3.connect(path)
    base.execute("UPDATE analyses SET body = x'0102' WHERE id = 1")
    base.execute("UPDATE analyses SET vectors = zeroblob(length(vectors)) WHERE id = 2")
    base.commit()
    base.close()
    answers = cached.analyse(_texts("a b", "c d", "e f"))
    assert inner.calls[1:] == [["a b", "c d"]]
    for answer in answers:
        _same(answer, Counting().analyse([Sentence(answer.text)])[0])
    calls = len(inner.calls)
    cached.analyse(_texts("a b", "c d", "e f"))
    assert len(inner.calls) == calls


def test_a_file_removed_while_in_use_is_begun_anew(path: Path) -> None:
    cached = CachedAnalyser(Counting(), path)
    cached.analyse(_texts("a"))
    for file in path.parent.iterdir():
        file.unlink()
    cached.analyse(_texts("a", "b"))
    inner = Counting()
    CachedAnalyser(inner, path).analyse(_texts("a", "b"))
    assert inner.calls == []


@pytest.mark.parametrize("full", [False, True])
def test_a_folder_in_its_place_switches_the_cache_off(path: Path, full: bool) -> None:
    path.mkdir(parents=True)
    if full:
        (path / "mine.txt").write_text("mine")
    inner = Counting()
    cached = CachedAnalyser(inner, path)
    for _ in range(2):
        assert len(cached.analyse(_texts("a", "b"))) == 2
    assert len(inner.calls) == 2
    assert "folder" in str(cached.note)
    assert str(path) in str(cached.note)
    assert cached.info().entries == cached.clear() == 0
    assert path.is_dir()
    assert (path / "mine.txt").exists() == full


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    inner = Counting()
    cached = CachedAnalyser(inner, tmp_path / "file" / "analyses.sqlite")
    assert len(cached.analyse(_texts("a"))) == 1
    assert len(cached.analyse(_texts("a"))) == 1
    assert "not kept" in str(cached.note)


# Disks that cannot be written to


def _unprivileged(path: Path, kept: list[str], expected: list[int]) -> None:
    """In a child process: without the rights of root, which may write anywhere."""
    if os.geteuid() == 0:
        os.setegid(65534)
        os.seteuid(65534)
    inner = Counting()
    cached = CachedAnalyser(inner, path)
    for _ in range(2):
        assert [s.text for s in cached.analyse(_texts(*kept))] == kept
    assert [len(call) for call in inner.calls] == expected, inner.calls
    assert cached.note is not None
    assert str(path) in cached.note


def _run_unprivileged(*arguments: object) -> None:
    child = multiprocessing.get_context("fork").Process(target=_unprivileged, args=arguments)
    child.start()
    child.join(60)
    assert child.exitcode == 0


@pytest.fixture
def shared_folder(tmp_path: Path) -> Path:
    """A folder others may pass through, below folders of pytest that they may not."""
    folder = tmp_path
    for parent in [folder, *folder.parents][:4]:
        if parent.stat().st_uid == os.getuid() and len(parent.parts) > 2:
            parent.chmod(0o755)
    return folder


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs users and their rights")
@pytest.mark.parametrize("state", ["absent", "present", "damaged"])
def test_a_read_only_folder_never_stops_a_run(shared_folder: Path, state: str) -> None:
    folder = shared_folder / "read-only"
    path = folder / "analyses.sqlite"
    folder.mkdir()
    if state == "present":
        _filled(path, 3)
    elif state == "damaged":
        _random_bytes(path)
    if state != "absent":
        path.chmod(0o444)
    folder.chmod(0o555)
    try:
        _run_unprivileged(path, ["a", "b"], [2, 2])
    finally:
        folder.chmod(0o755)
    assert not list(folder.glob("*replaced*"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs users and their rights")
def test_a_read_only_parent_never_stops_a_run(shared_folder: Path) -> None:
    folder = shared_folder / "read-only"
    folder.mkdir(mode=0o555)
    _run_unprivileged(folder / "below" / "analyses.sqlite", ["a"], [1, 1])


def test_a_full_disk_keeps_what_is_there(path: Path) -> None:
    inner = Counting(width=64)
    cached = CachedAnalyser(inner, path)
    cached.analyse(_texts("a b c"))
    connection = cached.cache._connection
    assert connection is not None
    connection.execute("PRAGMA max_page_count = 1").fetchall()
    many = _texts(*(f"text number {i}" for i in range(300)))
    for answer in cached.analyse(many):
        _same(answer, Counting(width=64).analyse([Sentence(answer.text)])[0])
    assert "full" in str(cached.note)
    cached.analyse(_texts("a b c"))
    assert len(inner.calls) == 2, "what was kept before still serves"
    cached.close()
    base = sqlite3.connect(path)
    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    base.close()


# Size


@pytest.mark.parametrize("width", [1, 300, 5000])
def test_the_size_is_bounded(path: Path, width: int) -> None:
    limit = 300_000
    cached = CachedAnalyser(Counting(width=width), path, limit_bytes=limit)
    for batch in range(30):
        texts = _texts(*(f"a text {batch} {i} with some words in it" for i in range(40)))
        cached.analyse(texts)
        assert cached.info().bytes <= limit
    newest = CachedAnalyser(Counting(width=width), path, limit_bytes=limit)
    newest.analyse(texts[-1:])
    if 9 * width * 2 < limit // 4:
        assert newest.hits == 1, "the newest is kept"
        assert newest.info().bytes > limit // 2, "the room is used"
    cached.close()
    newest.close()
    assert path.stat().st_size <= limit


def test_the_least_recently_used_goes_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(module.time, "time", lambda: now[0])
    inner = Counting(width=2000)
    cached = CachedAnalyser(inner, path, limit_bytes=400_000)
    cached.analyse(_texts("precious one"))
    for number in range(200):
        now[0] += 2 * module._TOUCH_SECONDS
        cached.analyse(_texts(f"passing {number}", "precious one"))
    assert sum(call.count("precious one") for call in inner.calls) == 1
    assert sum(call.count("passing 0") for call in inner.calls) == 1
    cached.analyse(_texts("passing 0"))
    assert sum(call.count("passing 0") for call in inner.calls) == 2


def test_a_lower_limit_is_reached_step_by_step(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _filled(path, 4000)
    before = AnalysisCache(path).info()
    limit = before.bytes // 5
    monkeypatch.setattr(module, "_ENTRIES_DROPPED_A_ROUND", 64)
    monkeypatch.setattr(module, "_PAGES_RETURNED_A_WRITE", 64)
    cached = CachedAnalyser(Counting(width=64), path, limit_bytes=limit)
    last = before
    for number in range(60):
        cached.analyse(_texts(f"another {number}"))
        info = cached.info()
        assert last.entries - info.entries <= 64 * module._ROUNDS, "bounded work a write"
        assert info.bytes <= max(limit, last.bytes)
        last = info
    assert last.bytes <= limit


def test_an_entry_larger_than_the_cache_is_not_kept(path: Path) -> None:
    cached = CachedAnalyser(Counting(width=200_000), path, limit_bytes=200_000)
    cached.analyse(_texts("a b"))
    assert cached.info().entries == 0
    for limit in (0, 1, 10_000):
        tiny = CachedAnalyser(Counting(), path, limit_bytes=limit)
        assert len(tiny.analyse(_texts("a", "b"))) == 2
        assert tiny.note is None
    with pytest.raises(UsageError, match="limit_bytes"):
        CachedAnalyser(Counting(), path, limit_bytes=-1)


def test_many_keys_at_once(path: Path) -> None:
    texts = _texts(*(str(i) for i in range(3000)))
    cached = CachedAnalyser(Counting(), path)
    cached.analyse(texts)
    inner = Counting()
    again = CachedAnalyser(inner, path)
    assert [s.text for s in again.analyse(texts)] == [s.text for s in texts]
    assert not inner.calls


# Clearing


def test_clear_while_another_has_it_open(path: Path) -> None:
    one, other = (CachedAnalyser(Counting(width=64), path) for _ in range(2))
    texts = _texts(*(f"text number {i}" for i in range(500)))
    one.analyse(texts)
    other.analyse(texts)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM analyses").fetchone() == (500,)
    assert one.clear() == 500
    assert one.info().entries == other.info().entries == 0
    reader.execute("COMMIT")
    reader.close()
    other.analyse(texts[:2])
    assert other.misses == 2
    assert one.info().entries == 2
    assert one.clear() == 2
    assert (one.note, other.note) == (None, None)
    one.close()
    other.close()
    assert path.stat().st_size < 60_000, "the space has been given back"


def test_looking_at_nothing_makes_nothing(path: Path) -> None:
    cache = AnalysisCache(path)
    assert cache.info() == module.CacheInfo(path, 0, 0, ())
    assert cache.clear() == 0
    assert not path.parent.exists()


def test_entries_can_be_put_and_dropped() -> None:
    with AnalysisCache() as cache:
        entries = [Entry(bytes([i]), b"body", None, True) for i in range(5)]
        cache.put(entries, identity="x")
        cache.drop([b"\0", b"\1", b"missing"])
        assert sorted(cache.get(entry.key for entry in entries)) == [b"\2", b"\3", b"\4"]


# The command


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", "~/.cache/meantime/analyses.sqlite"),
        ({}, "darwin", "~/Library/Caches/meantime/analyses.sqlite"),
        ({}, "win32", "~/AppData/Local/meantime/Cache/analyses.sqlite"),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local/meantime/Cache/analyses.sqlite"),
        ({"LOCALAPPDATA": "/local"}, "linux", "~/.cache/meantime/analyses.sqlite"),
        ({"XDG_CACHE_HOME": "/xdg"}, "linux", "/xdg/meantime/analyses.sqlite"),
        ({"XDG_CACHE_HOME": "relative"}, "linux", "~/.cache/meantime/analyses.sqlite"),
        (
            {"MEANTIME_CACHE": "", "XDG_CACHE_HOME": "/xdg"},
            "linux",
            "/xdg/meantime/analyses.sqlite",
        ),
        ({"MEANTIME_CACHE": "/a/b.db", "XDG_CACHE_HOME": "/xdg"}, "linux", "/a/b.db"),
        ({"MEANTIME_CACHE": "~/b.db"}, "darwin", "~/b.db"),
        ({"MEANTIME_CACHE": "/not/there/"}, "linux", "/not/there/analyses.sqlite"),
        ({"MEANTIME_CACHE": os.curdir}, "linux", "analyses.sqlite"),
    ],
)
def test_where_the_file_lies(environment: dict[str, str], platform: str, expected: str) -> None:
    assert cache_path(environment, platform) == Path(expected).expanduser()


def test_an_account_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert cache_path({}, "linux").name == "analyses.sqlite"
    assert cache_path({"MEANTIME_CACHE": "~/x"}, "linux") == Path("~/x")


def test_the_command(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEANTIME_CACHE", str(path))
    runner = CliRunner()

    def facts() -> dict[str, object]:
        shown = runner.invoke(cache_app, ["info", "--format", "json"])
        assert shown.exit_code == 0
        found: dict[str, object] = json.loads(shown.stdout)
        return found

    assert {key: value for key, value in facts().items() if key != "statistics"} == {
        "path": str(path),
        "entries": 0,
        "bytes": 0,
        "limit_bytes": 1 << 30,
        "analysers": [],
        "note": None,
    }
    assert not path.exists()
    CachedAnalyser(Counting("abc[0]def"), path).analyse(_texts("a", "b"))
    (share,) = facts()["analysers"]  # type: ignore[misc]
    assert (share["name"], share["identity"], share["entries"]) == ("counting", "abc[0]def", 2)
    table = runner.invoke(cache_app, ["info"])
    assert table.exit_code == 0
    for part in (str(path), "abc[0]def", "counting", "of 1.1 GB"):
        assert part in table.stdout
    cleared = runner.invoke(cache_app, ["clear"])
    assert cleared.exit_code == 0
    assert cleared.stdout == f"2 analyses dropped from {path}\n"
    assert facts()["entries"] == 0
    _random_bytes(path)
    shown = runner.invoke(cache_app, ["info"])
    assert shown.exit_code == 0
    assert "replaced" in shown.output
