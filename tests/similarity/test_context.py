"""The five measures by hand and against the formulas as printed; the seam they keep."""

from __future__ import annotations

import math
import multiprocessing
import pickle
from collections.abc import Mapping
from pathlib import Path

import numpy
import pytest

from meantime.errors import InputError, UsageError
from meantime.matching import rows
from meantime.protocols import Similarity
from meantime.similarity import context
from meantime.similarity.context import MEASURES, ContextSimilarity
from meantime.similarity.context_counting import train
from meantime.similarity.context_file import open_model
from meantime.similarity.context_pieces import prune
from meantime.types import Layer, Sentence

Counts = Mapping[str, Mapping[str, int]]

ANIMALS = {
    "cat": {"purrs": 2, "sleeps": 3},
    "dog": {"sleeps": 3, "barks": 2},
    "fish": {"swims": 4},
    "bird": {"sleeps": 1, "sings": 9},
}


def count(folder: Path, lines: list[str], **options: object) -> Path:
    text = folder / "text.txt"
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    train([text], folder / "words.vectors", **{"min_count": 1, "jobs": 1, **options})  # type: ignore[arg-type]
    return folder / "words.vectors"


@pytest.fixture(scope="module")
def animals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with exactly the counts of ANIMALS."""
    lines = [
        f"{word} {context}"
        for word, own in ANIMALS.items()
        for context, number in own.items()
        for _ in range(number)
    ]
    return count(tmp_path_factory.mktemp("animals"), lines)


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of random lines, in which most words meet."""
    rng = numpy.random.default_rng(5)
    words = [f"w{number}" for number in range(60)]
    weights = 1 / numpy.arange(1, 61)
    weights /= weights.sum()
    lines = [" ".join(rng.choice(words, size=9, p=weights)) for _ in range(500)]
    return count(tmp_path_factory.mktemp("letters"), lines, windows=(3, 7))


def between(path: Path, measure: str, one: str, other: str) -> float:
    return ContextSimilarity(measure=measure, model=path).similarity(one, other)


def test_by_hand(animals: Path) -> None:
    # Shared: sleeps, min(3, 3); all: purrs 2, sleeps 3, barks 2.
    assert between(animals, "jaccard", "cat", "dog") == 3 / 7
    assert between(animals, "dice", "cat", "dog") == 2 * 3 / 10
    assert between(animals, "dice-printed", "cat", "dog") == 3 / 10
    assert between(animals, "cosine", "cat", "dog") == pytest.approx(9 / 13)
    # P(sleeps|x) = 0.6 for both; 0.4 for what each has alone.
    divergence = 0.4 * math.log2(2) + 0.6 * math.log2(1) + 0.6 * math.log2(1) + 0.4 * math.log2(2)
    assert between(animals, "jensen-shannon", "cat", "dog") == pytest.approx(1 - divergence / 2)
    # 24 lines, 48 counts: P(sleeps) = 7/48, P(purrs) = P(barks) = 2/48.
    sleeps, alone = math.log(0.6 / (7 / 48)), math.log(0.4 / (2 / 48))
    assert between(animals, "mutual-information", "cat", "dog") == pytest.approx(
        sleeps / (sleeps + 2 * alone)
    )


def test_negative_mutual_information_counts_as_none(animals: Path) -> None:
    # A bird sleeps one time in ten, less than chance has it (7/48): its information is negative.
    assert math.log(0.1 / (7 / 48)) < 0
    assert between(animals, "mutual-information", "cat", "bird") == 0
    assert between(animals, "jaccard", "cat", "bird") == 1 / 14


@pytest.mark.parametrize("measure", MEASURES)
def test_nothing_shared_is_0_and_the_same_word_1(measure: str, animals: Path) -> None:
    source = ContextSimilarity(measure=measure, model=animals)
    assert source.similarity("cat", "fish") == 0
    assert source.similarity("Cat", "cAT") == 1
    assert source.similarity("cat", "unseen") == 0
    assert source.similarity("Unseen", "unseen") == 1
    assert source.similarity("unseen", "unknown") == 0
    assert source.similarity("", "") == 1


def formula(measure: str, one: str, other: str, counts: Counts) -> float:
    """The paper's formulas, over all contexts, as printed but for what the page states."""
    contexts = list(counts)
    x = numpy.array([counts[one].get(context, 0) for context in contexts], dtype=float)
    y = numpy.array([counts[other].get(context, 0) for context in contexts], dtype=float)
    if measure == "jaccard":
        return float(numpy.minimum(x, y).sum() / numpy.maximum(x, y).sum())
    if measure == "dice":
        return float(2 * numpy.minimum(x, y).sum() / (x + y).sum())
    if measure == "dice-printed":
        return float(numpy.minimum(x, y).sum() / (x + y).sum())
    p, q = x / x.sum(), y / y.sum()
    if measure == "cosine":
        return float((p * q).sum() / math.sqrt((p * p).sum()) / math.sqrt((q * q).sum()))
    if measure == "jensen-shannon":
        divergence = sum(a * math.log2(2 * a / (a + b)) for a, b in zip(p, q, strict=True) if a)
        divergence += sum(b * math.log2(2 * b / (a + b)) for a, b in zip(p, q, strict=True) if b)
        return 1 - divergence / 2
    total = sum(sum(own.values()) for own in counts.values())
    overall = numpy.array(
        [sum(own.get(context, 0) for own in counts.values()) / total for context in contexts]
    )
    with numpy.errstate(divide="ignore"):
        first = numpy.maximum(0, numpy.log(p / overall))
        second = numpy.maximum(0, numpy.log(q / overall))
    return float(numpy.minimum(first, second).sum() / numpy.maximum(first, second).sum())


@pytest.mark.parametrize("window", [3, 7])
@pytest.mark.parametrize("measure", MEASURES)
def test_like_the_formulas(measure: str, window: int, letters: Path) -> None:
    model = open_model(letters)
    counts = {word: model.row(word, window) for word in model.words}
    words = list(model.words[::4])
    found = ContextSimilarity(measure=measure, model=letters, window=window).matrix(words, words)
    for i, one in enumerate(words):
        for j, other in enumerate(words):
            expected = 1.0 if i == j else formula(measure, one, other, counts)
            assert found[i, j] == pytest.approx(expected, abs=1e-12)


def test_dice_and_jaccard_order_alike(letters: Path) -> None:
    words = open_model(letters).words
    jaccard, printed = (
        ContextSimilarity(measure=name, model=letters).matrix(words, words)
        for name in ("jaccard", "dice-printed")
    )
    apart = ~numpy.eye(len(words), dtype=bool)
    assert jaccard[apart] == pytest.approx(printed[apart] / (1 - printed[apart]))
    assert printed[apart].max() <= 0.5


def test_pruning_takes_from_what_is_shared_alone(letters: Path, tmp_path: Path) -> None:
    """Sums stay those of the text, so a pruned model never finds words more alike."""
    prune(letters, tmp_path / "small.vectors", min_entry=4)
    words = open_model(letters).words
    for measure in ("jaccard", "dice", "dice-printed", "jensen-shannon"):
        full = ContextSimilarity(measure=measure, model=letters).matrix(words, words)
        small = ContextSimilarity(measure=measure, model=tmp_path / "small.vectors")
        found = small.matrix(words, words)
        assert (found <= full + 1e-12).all()
        assert (found < full - 1e-6).any()


# The seam


def sentence(text: str) -> Sentence:
    return Sentence(text, tokens=tuple(text.split()))


PAIRS = [
    ("w1 W2 unseen w3", "W1 w9 unseen"),
    ("w1", ""),
    ("", ""),
    ("w5 w5 w0", "w7 w5 other Other"),
    ("", "w1 w2"),
    ("w59 w58 w57 w0", "w0 w1 w2 w3 w4 w5 w6 w7"),
]


@pytest.mark.parametrize("measure", MEASURES)
def test_it_keeps_the_protocol(measure: str, letters: Path) -> None:
    source = ContextSimilarity(measure=measure, model=letters)
    assert isinstance(source, Similarity)
    assert source.needs == {Layer.TOKENS}
    pairs = [(sentence(left), sentence(right)) for left, right in PAIRS]
    together = source.matrices(pairs)
    for (left, right), matrix in zip(pairs, together, strict=True):
        assert left.tokens is not None
        assert right.tokens is not None
        assert matrix.shape == (len(left.tokens), len(right.tokens))
        assert matrix.dtype == numpy.float64
        assert ((matrix >= 0) & (matrix <= 1)).all()
        # Bit for bit: alone, by a newcomer, and with the sides changed.
        newcomer = ContextSimilarity(measure=measure, model=letters)
        assert (newcomer.matrices([(left, right)])[0] == matrix).all()
        assert (source.matrices([(right, left)])[0] == matrix.T).all()
        for i, one in enumerate(left.tokens):
            for j, other in enumerate(right.tokens):
                if one.lower() == other.lower():
                    assert matrix[i, j] == 1


def test_no_pairs_no_matrices(letters: Path) -> None:
    assert ContextSimilarity(model=letters).matrices([]) == []


@pytest.mark.parametrize("measure", ["jaccard", "jensen-shannon", "cosine"])
def test_memory_is_bounded_and_nothing_depends_on_it(
    measure: str, letters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = open_model(letters).words * 6
    whole = ContextSimilarity(measure=measure, model=letters).matrix(words, words)
    assert whole.size > rows.CHUNK
    # So little room that rows are unpacked again and again, and the cache is emptied.
    monkeypatch.setattr(context, "_UNPACKED", 1)
    monkeypatch.setattr(context, "_REMEMBERED", 2 * rows.CHUNK)
    small = ContextSimilarity(measure=measure, model=letters)
    for _ in range(2):
        assert (small.matrix(words, words) == whole).all()
    assert len(small._state.keys) == 2 * rows.CHUNK


def test_it_can_be_sent_to_processes(letters: Path) -> None:
    source = ContextSimilarity(measure="cosine", model=letters, window=3)
    expected = source.similarity("w1", "w2")
    other = pickle.loads(pickle.dumps(source))
    assert other == source
    assert hash(other) == hash(source)
    assert other.similarity("w1", "w2") == expected
    assert len(pickle.dumps(source)) < 1000
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.starmap(source.similarity, [("w1", "w2"), ("w2", "w1")]) == [expected] * 2


def test_its_name_says_what_its_numbers_depend_on(letters: Path) -> None:
    identity = open_model(letters).identity[:12]
    assert ContextSimilarity(model=letters).name == f"context(jaccard,window=7,words-{identity})"
    other = ContextSimilarity(measure="cosine", model=letters, window=3)
    assert other.name == f"context(cosine,window=3,words-{identity})"


def test_what_cannot_be_asked(letters: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no measure 'tanimoto'; there are cosine"):
        ContextSimilarity(measure="tanimoto", model=letters)
    with pytest.raises(UsageError, match="no window 5; it holds 3, 7"):
        ContextSimilarity(model=letters, window=5)
    with pytest.raises(InputError, match="no such file"):
        ContextSimilarity(model=tmp_path / "none")
    with pytest.raises(InputError, match="no tokens are known of 'a b'; analyse"):
        ContextSimilarity(model=letters).matrices([(Sentence("a b"), sentence("a"))])


def test_what_it_knows(animals: Path) -> None:
    source = ContextSimilarity(model=animals)
    assert source.known(sentence("Cat unseen sleeps")).tolist() == [True, False, True]
    assert source.known(sentence("")).tolist() == []


def test_the_most_similar(animals: Path) -> None:
    source = ContextSimilarity(model=animals)
    [first, second] = source.similar("CAT", 2)
    assert (first.word, first.similarity) == ("dog", 3 / 7)
    assert (second.word, second.similarity) == ("bird", 1 / 14)
    assert len(source.similar("cat", 100)) == 8
    with pytest.raises(InputError, match=r"'unseen' is not among the 9 words of .*words.vectors"):
        source.similar("unseen")
