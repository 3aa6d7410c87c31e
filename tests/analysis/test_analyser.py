"""The shipped analyser, end to end."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import numpy
import pytest

from meantime.analysis import analyser as module
from meantime.analysis import open_analyser
from meantime.analysis.analyser import WINDOW, EmbeddedAnalyser
from meantime.analysis.model import Model, installed, shipped
from meantime.errors import InputError, UsageError
from meantime.protocols import Analyser
from meantime.types import Layer, Sentence, Tree


@pytest.fixture(scope="module")
def analyser() -> EmbeddedAnalyser:
    return open_analyser(threads=1)


def _roles(sentence: Sentence) -> dict[str, dict[str, str]]:
    """Predicate word to label to filler."""
    words = sentence.tokens or ()
    return {
        words[frame.predicate.start]: {
            role.label: " ".join(words[role.spans[0].start : role.spans[-1].end])
            for role in frame.roles
        }
        for frame in sentence.frames or ()
    }


@pytest.mark.parametrize(
    ("text", "predicate", "expected"),
    [
        (
            "The committee rejected the proposal on Monday.",
            "rejected",
            {"ARG0": "The committee", "ARG1": "the proposal", "ARGM-TMP": "on Monday"},
        ),
        (
            "The mayor did not sign the contract.",
            "sign",
            {"ARG0": "The mayor", "ARGM-NEG": "not", "ARG1": "the contract"},
        ),
        (
            "Three children were rescued from the river by a fisherman.",
            "rescued",
            {"ARG1": "Three children", "ARG0": "by a fisherman"},
        ),
        (
            "The company will close its factory in Leipzig next year.",
            "close",
            {"ARG0": "The company", "ARGM-MOD": "will", "ARGM-TMP": "next year"},
        ),
    ],
)
def test_who_did_what(analyser, text: str, predicate: str, expected: dict[str, str]) -> None:
    frames = _roles(analyser.analyse([Sentence(text)])[0])
    assert predicate in frames
    for label, filler in expected.items():
        assert frames[predicate].get(label) == filler


def test_every_layer_is_there_and_fits(analyser) -> None:
    assert isinstance(analyser, Analyser)
    text = "She sold her old car to her neighbour for 900 euros, didn't she?"
    sentence = analyser.analyse([Sentence(text)])[0]
    assert sentence.text == text
    count = len(sentence.tokens)
    assert len(sentence.pos) == len(sentence.offsets) == count
    assert sentence.vectors.shape == (count, 384)
    assert sentence.vectors.dtype == numpy.float16
    assert sentence.tree_score < 0
    for (start, end), token in zip(sentence.offsets, sentence.tokens, strict=True):
        assert text[start:end] == token
    _check_tree(sentence.tree, sentence.pos)
    assert analyser.layers == {
        Layer.TOKENS, Layer.POS, Layer.TREE, Layer.FRAMES, Layer.VECTORS,
    }  # fmt: skip


def _check_tree(tree: Tree, pos: tuple[str, ...]) -> None:
    assert tree.label == "TOP"
    assert (tree.span.start, tree.span.end) == (0, len(pos))
    leaves = [node for node in tree if not node.children]
    assert [(node.span.start, node.label) for node in leaves] == list(enumerate(pos))
    for node in tree:
        if node.children:
            assert node.children[0].span.start == node.span.start
            assert node.children[-1].span.end == node.span.end
            for left, right in zip(node.children, node.children[1:], strict=False):
                assert left.span.end == right.span.start


TEXTS = [
    "The dog bit the postman.",
    "",
    "   ",
    "Hi",
    "?!",
    "狗咬了人，但他没有报警。",
    "Der Hund biss den Briefträger.",
    "the the the the of of of",
    "x\x00y\x07 \u200b \ufeff z",
    "🙂🙂🙂 👍🏽",
    "&quot;Yes&quot; &amp; no",
    "half \ud800 a character",
    "\udc00",
    "A" * 3000,
    "word " * 30,
    "Prices rose by 4.5 percent in March because of the drought, the bank said on Tuesday.",
]


def test_any_text_has_an_answer_whatever_it_is_with(analyser) -> None:
    together = analyser.analyse([Sentence(text) for text in TEXTS])
    threaded = EmbeddedAnalyser(analyser.model, threads=3).analyse([Sentence(t) for t in TEXTS])
    for text, one, other in zip(TEXTS, together, threaded, strict=True):
        alone = analyser.analyse([Sentence(text)])[0]
        assert one == alone == other
        assert numpy.array_equal(one.vectors, alone.vectors)
        assert numpy.array_equal(one.vectors, other.vectors)
        assert one.tokens is not None
        assert one.frames is not None
        if one.tokens:
            _check_tree(one.tree, one.pos)
        else:
            assert one.tree is None
            assert one.pos == one.frames == one.offsets == ()


def test_a_long_line_is_read_in_windows_to_its_end(analyser) -> None:
    clause = "The dog attacked the postman and he did not report it to the police , but"
    text = " ".join([clause] * 130) + " the mayor resigned ."
    sentence = analyser.analyse([Sentence(text)])[0]
    assert len(sentence.tokens) > 2000 > WINDOW
    _check_tree(sentence.tree, sentence.pos)
    assert sentence.vectors.shape[0] == len(sentence.tokens)
    words = [sentence.tokens[frame.predicate.start] for frame in sentence.frames]
    assert words.count("attacked") == words.count("report") == 130
    assert "resigned" in _roles(sentence)
    for frame in sentence.frames:
        for role in frame.roles:
            assert role.spans[-1].end <= len(sentence.tokens)


def test_given_tokens_are_used(analyser) -> None:
    words = ("The", "dog", "did", "n't", "bite", ".")
    sentence = analyser.analyse([Sentence("The dog didn't bite.", tokens=words)])[0]
    assert sentence.tokens == words
    assert len(sentence.pos) == 6


@pytest.mark.parametrize("awake", [True, False])
def test_the_collector_is_left_as_it_was(analyser, awake: bool, monkeypatch) -> None:
    sentences = [Sentence("Prices rose.")] * 5
    seen: list[bool] = []
    swept: list[int] = []
    monkeypatch.setattr(module, "STRETCH", 2)
    monkeypatch.setattr(gc, "collect", swept.append)
    watched = EmbeddedAnalyser(
        analyser.model, threads=1, progress=lambda done, of: seen.append(gc.isenabled())
    )
    (gc.enable if awake else gc.disable)()
    try:
        watched.analyse(sentences)
        assert gc.isenabled() is awake
        monkeypatch.setattr(watched, "_analyse_one", lambda sentence: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            watched.analyse(sentences)
        assert gc.isenabled() is awake
    finally:
        gc.enable()
    assert seen == [False] * 5
    assert swept == [1, 1]


def test_progress() -> None:
    seen = []
    analyser = open_analyser(threads=2, progress=lambda done, total: seen.append((done, total)))
    analyser.analyse([Sentence(text) for text in TEXTS])
    assert seen[-1] == (len(TEXTS), len(TEXTS))


def test_an_interruption_waits_for_nothing_that_has_not_begun(monkeypatch) -> None:
    """It comes while threads work on sentences, which is most of the time."""
    analyser = open_analyser(threads=2)
    begun = []

    def slow(sentence: Sentence) -> Sentence:
        begun.append(sentence)
        time.sleep(0.05)
        return sentence

    def interrupt(one: Future) -> None:
        time.sleep(0.1)
        raise KeyboardInterrupt

    monkeypatch.setattr(Future, "result", interrupt)
    monkeypatch.setattr(EmbeddedAnalyser, "_analyse_one", lambda _, sentence: slow(sentence))
    with pytest.raises(KeyboardInterrupt):
        analyser.analyse([Sentence(f"Sentence {number}.") for number in range(100)])
    assert 0 < len(begun) < 50


def test_one_failure_ends_the_work_of_all_threads(monkeypatch) -> None:
    analyser = open_analyser(threads=2)
    begun = []

    def fail(sentence: Sentence) -> Sentence:
        begun.append(sentence)
        if len(begun) == 3:
            raise ZeroDivisionError
        time.sleep(0.01)
        return sentence

    monkeypatch.setattr(EmbeddedAnalyser, "_analyse_one", lambda _, sentence: fail(sentence))
    with pytest.raises(ZeroDivisionError):
        analyser.analyse([Sentence(f"Sentence {number}.") for number in range(100)])
    assert len(begun) < 50


def test_the_shipped_model_is_whole() -> None:
    models = installed()
    assert [model.name for model in models] == ["english"]
    model = models[0]
    model.check()
    assert model.size < 35_000_000
    assert "CC BY-SA" in model.facts["licence"]
    assert model.facts["figures"]
    for word in ("EWT", "MASC", "PropBank", "Wikinews"):
        assert word in model.card
    assert model.identity[:12] in model.card


def test_damage_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(shipped() / "english", folder)
    Model(folder).check()
    data = bytearray((folder / "second.onnx").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "second.onnx").write_bytes(data)
    with pytest.raises(InputError, match="damaged"):
        Model(folder).check()
    settings = json.loads((folder / "configuration.json").read_text())
    (folder / "configuration.json").write_text(json.dumps({**settings, "format": 99}))
    with pytest.raises(InputError, match="format 99"):
        Model(folder)
    (folder / "configuration.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        Model(folder)
    (folder / "first.onnx").unlink()
    with pytest.raises(InputError, match=r"first\.onnx is missing"):
        Model(folder)


def test_another_analyser() -> None:
    with pytest.raises(UsageError, match="no analyser is called 'nope'"):
        open_analyser("nope")
    with pytest.raises(InputError, match="no such folder"):
        open_analyser("./nowhere")
    assert open_analyser(str(shipped() / "english")).identity == open_analyser().identity


OUTSIDE = """
import sys
sys.path.insert(0, sys.argv[1])
from meantime.analysis import open_analyser
assert open_analyser("mine").name == "mine"
"""


def test_an_outside_analyser(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("class Mine:\n    name = 'mine'\n")
    information = tmp_path / "outside-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[meantime.analysers]\nmine = outside:Mine\n")
    subprocess.run([sys.executable, "-c", OUTSIDE, str(tmp_path)], check=True)


def test_no_torch_and_no_pickle() -> None:
    program = (
        "import sys\nfrom meantime.analysis import open_analyser\n"
        "from meantime.types import Sentence\n"
        "open_analyser(threads=1).analyse([Sentence('The dog bit.')])\n"
        "assert not {'torch', 'transformers', 'nltk'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.needs("shared")
def test_accuracy_on_a_sample(analyser, shared: Path) -> None:
    """A floor well below the measured figures, to notice a broken model or decoder."""
    from meantime.formats.parses import read_parses

    parses = read_parses(shared / "propbank" / "ewt.test.gold_conll.gz")[:300]
    right = total = tags = words = 0
    for parse in parses:
        found = analyser.analyse([Sentence(" ".join(parse.tokens), tokens=parse.tokens)])[0]
        tags += sum(a == b for a, b in zip(found.pos, parse.pos, strict=True))
        words += len(parse.tokens)
        one = {(f.predicate.start, r) for f in found.frames for r in f.roles}
        other = {(f.predicate.start, r) for f in parse.frames for r in f.roles}
        right += len(one & other)
        total += len(one) + len(other)
    assert 2 * right / total > 0.74
    assert tags / words > 0.93
