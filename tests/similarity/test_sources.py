"""What every source of similarity keeps, and how specifications are read."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from numpy.typing import NDArray

from meantime.errors import InputError, MissingPart, OptionError, UsageError
from meantime.protocols import Array, Similarity
from meantime.similarity import SOURCES, names, open_similarity
from meantime.similarity.mixing import Backoff, Mix
from meantime.similarity.vectors import OccurrenceSimilarity, VectorSimilarity
from meantime.similarity.words import Characters, Exact, Stem
from meantime.types import Layer, Sentence

Pairs = Sequence[tuple[Sentence, Sentence]]

SPECIFICATIONS = [
    "exact",
    "stem",
    "characters",
    "characters:2",
    "vectors",
    "vectors:3:0",
    "occurrences",
    "occurrences:1:0",
    "vectors*0.7+characters*0.3",
    "exact+stem+vectors:2*3",
]
OF_WORDS = [one for one in SPECIFICATIONS if not one.startswith("occurrences")]


def sentence(text: str, seed: int = 0, width: int = 8) -> Sentence:
    """A text split at spaces, with vectors by chance."""
    tokens = tuple(text.split())
    rng = numpy.random.default_rng([seed, *text.encode("utf-8", "surrogatepass")])
    vectors = rng.standard_normal((len(tokens), width)).astype(numpy.float16)
    return Sentence(text, tokens=tokens, vectors=vectors)


words = some.text(some.characters(exclude_categories=("Z", "Cc")), min_size=1, max_size=6)
sentences = some.lists(
    some.sampled_from(["the", "The", "cat", "cats", "ＣＡＴ", "STRASSE", "straße"]) | words,
    max_size=6,
).map(lambda some_words: sentence(" ".join(some_words)))


def one(source: Similarity, left: Sentence, right: Sentence) -> Array:
    [matrix] = source.matrices([(left, right)])
    return matrix


def value(specification: str, left: str, right: str) -> float:
    return float(one(open_similarity(specification), sentence(left), sentence(right))[0, 0])


@pytest.mark.parametrize("specification", SPECIFICATIONS)
@settings(max_examples=60, deadline=None)
@given(left=sentences, right=sentences)
def test_bounds_and_symmetry(specification: str, left: Sentence, right: Sentence) -> None:
    source = open_similarity(specification)
    assert isinstance(source, Similarity)
    assert {Layer.TOKENS} <= source.needs <= {Layer.TOKENS, Layer.VECTORS}
    matrix = one(source, left, right)
    assert matrix.dtype == numpy.float64
    assert matrix.flags.c_contiguous
    assert left.tokens is not None
    assert right.tokens is not None
    assert matrix.shape == (len(left.tokens), len(right.tokens))
    assert ((matrix >= 0) & (matrix <= 1)).all()
    assert (matrix == one(source, right, left).T).all()


@pytest.mark.parametrize("specification", OF_WORDS)
@settings(max_examples=60, deadline=None)
@given(left=sentences, right=sentences)
def test_the_same_word_has_one(specification: str, left: Sentence, right: Sentence) -> None:
    matrix = one(open_similarity(specification), left, right)
    for i, word in enumerate(left.tokens or ()):
        for j, other in enumerate(right.tokens or ()):
            if word.casefold() == other.casefold():
                assert matrix[i, j] == 1


@pytest.mark.parametrize("specification", SPECIFICATIONS)
@settings(max_examples=30, deadline=None)
@given(text=sentences)
def test_a_copy_has_ones(specification: str, text: Sentence) -> None:
    assert (numpy.diag(one(open_similarity(specification), text, text)) == 1).all()


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_a_pair_does_not_depend_on_the_others(specification: str) -> None:
    pairs = [
        (sentence("the cat sat"), sentence("a dog sat down")),
        (sentence(""), sentence("so it is")),
        (sentence("so it is"), sentence("the cat sat")),
        (sentence("cat"), sentence("Cat")),
    ]
    source = open_similarity(specification)
    together = source.matrices(pairs)
    assert len(together) == 4
    for pair, matrix in zip(pairs, together, strict=True):
        assert (one(source, *pair) == matrix).all()
    assert source.matrices([]) == []


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_survives_a_journey_to_another_process(specification: str) -> None:
    source = open_similarity(specification)
    again = pickle.loads(pickle.dumps(source))
    assert again.name == source.name
    pair = (sentence("the cat sat"), sentence("a cat sits"))
    assert (one(again, *pair) == one(source, *pair)).all()


def test_stems() -> None:
    assert value("stem", "Translator", "transit") == 0
    assert value("stem", "Translating", "translate") == 1
    assert value("exact", "Translating", "translate") == 0


def bag(word: str) -> Counter[str]:
    marked = f"\0{word}\1"
    return Counter(marked[i : i + n] for n in (2, 3) for i in range(len(marked) - n + 1))


@settings(max_examples=200, deadline=None)
@given(words, words)
def test_characters(left: str, right: str) -> None:
    first, second = bag(left.casefold()), bag(right.casefold())
    dice = 2 * (first & second).total() / (first.total() + second.total())
    pair = [Sentence(word, tokens=(word,)) for word in (left, right)]
    assert one(Characters(), *pair)[0, 0] == pytest.approx(dice)
    assert one(Characters(power=3), *pair)[0, 0] == pytest.approx(dice**3)


def test_characters_by_hand() -> None:
    # ^c ca at t$ ^ca cat at$ against ^h ha at t$ ^ha hat at$: three in common of seven each.
    assert value("characters", "cat", "hat") == pytest.approx(3 / 7)
    assert value("characters", "a", "b") == 0
    assert value("characters", "Schaeuble", "Schäuble") > value("characters", "Schaeuble", "Merkel")


def test_characters_of_tokens_nobody_expects() -> None:
    odd = Sentence("?", tokens=("", "\ud800", "😀", "a" * 500))
    matrix = one(Characters(), odd, odd)
    assert (numpy.diag(matrix) == 1).all()
    assert (matrix[~numpy.eye(4, dtype=bool)] == 0).all()


def with_vectors(text: str, rows: list[list[float]]) -> Sentence:
    return Sentence(text, tokens=tuple(text.split()), vectors=numpy.array(rows, numpy.float16))


def test_vectors_by_hand() -> None:
    left = with_vectors("big cat", [[2, 0], [1, 1]])
    right = with_vectors("large tiny cat", [[1, 1], [-1, 0], [0, 3]])
    half = numpy.sqrt(0.5)
    expected = numpy.array([[half, 0, 0], [1, 0, 1]])
    for power in (1, 2, 0.5, 3, 8):
        source = VectorSimilarity(power=power, neighbours=0)
        assert one(source, left, right) == pytest.approx(expected**power, abs=1e-6)


def test_occurrences_by_hand() -> None:
    left = with_vectors("a b", [[2, 0], [0, 1]])
    right = with_vectors("b", [[0, 5]])
    # With half of its neighbour each: (1, 0.5) and (0.5, 1).
    cosines = numpy.array([[0.5], [1.0]]) / numpy.sqrt(1.25)
    source = OccurrenceSimilarity(power=1, neighbours=0.5)
    assert one(source, left, right) == pytest.approx(cosines, abs=1e-6)
    assert one(OccurrenceSimilarity(), left, right) == pytest.approx(cosines**4, abs=1e-6)
    # Other vectors, other surroundings: the same word has less than 1.
    assert one(source, left, right)[1, 0] < 1
    assert one(VectorSimilarity(), left, right)[1, 0] == 1


def test_tokens_without_length_are_like_nothing_else() -> None:
    blank = with_vectors("x y", [[0, 0], [1, 0]])
    matrix = one(VectorSimilarity(neighbours=0), blank, with_vectors("z", [[1, 0]]))
    assert matrix.tolist() == [[0], [1]]


def test_long_sentences() -> None:
    rng = numpy.random.default_rng(3)
    left, right = (
        Sentence(
            "long",
            tokens=tuple(f"{side}{n}" for n in range(size)),
            vectors=rng.standard_normal((size, 384)).astype(numpy.float16),
        )
        for side, size in (("a", 130), ("b", 90))
    )
    assert left.vectors is not None
    assert right.vectors is not None
    a, b = (side.vectors.astype(numpy.float64) for side in (left, right))
    a /= numpy.linalg.norm(a, axis=1, keepdims=True)
    b /= numpy.linalg.norm(b, axis=1, keepdims=True)
    source = OccurrenceSimilarity(power=1, neighbours=0)
    assert one(source, left, right) == pytest.approx(numpy.clip(a @ b.T, 0, 1), abs=1e-6)
    assert (one(source, left, right) == one(source, right, left).T).all()


def test_what_is_missing_is_named() -> None:
    bare = Sentence("the cat")
    for specification in SPECIFICATIONS:
        with pytest.raises(InputError, match="no tokens are known of 'the cat'"):
            one(open_similarity(specification), bare, bare)
    split = Sentence("the cat", tokens=("the", "cat"))
    with pytest.raises(InputError, match=r"no vectors are known of 'the cat'; use an analyser"):
        one(VectorSimilarity(), split, split)
    odd = Sentence("the cat", tokens=("the", "cat"), vectors=numpy.ones((3, 2), numpy.float16))
    with pytest.raises(InputError, match=r"2 tokens and vectors of shape \(3, 2\)"):
        one(VectorSimilarity(), odd, odd)
    with pytest.raises(InputError, match="vectors of 8 numbers, 'b' of 3"):
        one(VectorSimilarity(), sentence("a"), sentence("b", width=3))


def test_a_mix_is_the_weighted_mean() -> None:
    left, right = sentence("the cats sat"), sentence("a cat sat down")
    mix = open_similarity("vectors*3+characters")
    expected = 0.75 * one(VectorSimilarity(), left, right) + 0.25 * one(Characters(), left, right)
    assert one(mix, left, right) == pytest.approx(expected)
    assert mix.name == "vectors(power=2,neighbours=0.5)*0.75+characters*0.25"
    assert mix.needs == {Layer.TOKENS, Layer.VECTORS}
    assert isinstance(open_similarity("exact*0.2"), Exact)


@dataclass(frozen=True)
class Few:
    """Knows short words only."""

    name: str = "few"
    needs: frozenset[Layer] = frozenset({Layer.TOKENS})

    def matrices(self, pairs: Pairs) -> list[Array]:
        return [numpy.full((len(a.tokens or ()), len(b.tokens or ())), 0.25) for a, b in pairs]

    def known(self, sentence: Sentence) -> NDArray[numpy.bool_]:
        return numpy.array([len(word) < 4 for word in sentence.tokens or ()], dtype=bool)


def test_another_source_for_unknown_words() -> None:
    source = Backoff(first=Few(), second=Characters())
    left, right = sentence("cat walker"), sentence("cut walked")
    characters = one(Characters(), left, right)
    expected = characters.copy()
    expected[0, 0] = 0.25
    assert one(source, left, right) == pytest.approx(expected)
    assert source.name == "few?characters"
    assert source.known(left).all()
    assert Backoff(first=Few(), second=Few()).known(left).tolist() == [True, False]
    with pytest.raises(UsageError, match=r"exact knows every word.*mix them with \+"):
        open_similarity("exact?characters")


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("", "no source of similarity is named; there are exact, stem"),
        ("exakt", "no source is called 'exakt'; did you mean exact?"),
        ("fiddle", "no source is called 'fiddle'; there are exact"),
        ("exact+", "a source is missing"),
        ("exact*none+stem", "'none' is no weight"),
        ("exact*-1+stem", "'-1' is no weight"),
        ("exact*0+stem", "'0' is no weight"),
        ("exact*inf", "'inf' is no weight"),
        ("characters:-1", "characters: power=-1; give a number above 0"),
        ("stem:5", "stem is told too much; write stem"),
        ("vectors:1:1:2", "vectors is told too much; write vectors:POWER:NEIGHBOURS"),
        ("vectors:high", "vectors: power 'high' .* is not a number"),
        ("vectors:0", "power=0; give a number above 0"),
        ("vectors:nan", "power=nan; give a number above 0"),
        ("occurrences:4:2", "neighbours=2; give a number from 0 to 1"),
    ],
)
def test_what_cannot_be_read(specification: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        open_similarity(specification)


def test_what_is_left_out_has_its_default() -> None:
    assert open_similarity("occurrences::0.25") == OccurrenceSimilarity(neighbours=0.25)
    assert open_similarity(" stem ") == Stem()
    assert open_similarity("vectors : 3 + exact").name.startswith("vectors(power=3,")
    assert set(SOURCES) <= set(names())


def test_a_mix_needs_weights() -> None:
    with pytest.raises(UsageError, match="2 sources with 1 weights"):
        Mix(sources=(Exact(), Stem()), weights=(1.0,))
    with pytest.raises(UsageError, match="exact weighs 0"):
        Mix(sources=(Exact(),), weights=(0.0,))


def test_listing_loads_nothing_heavy() -> None:
    code = (
        "import sys; from meantime.similarity import SOURCES, names; names();"
        "assert not {'numpy', 'numba', 'scipy', 'snowballstemmer'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_window_is_a_number() -> None:
    with pytest.raises(OptionError, match=r"window 'wide' .* is not a whole number"):
        open_similarity("context:jaccard:wide")


def test_sources_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        def __init__(self, made: object) -> None:
            self.made = made

        def load(self) -> object:
            if isinstance(self.made, Exception):
                raise self.made
            return self.made

    points = {
        "few": Point(lambda *texts: Few(name=f"few({','.join(texts)})")),
        "broken": Point(ImportError("no such thing")),
    }
    monkeypatch.setattr("meantime.similarity._outside", lambda: points)
    assert open_similarity("few:a:b").name == "few(a,b)"
    assert (
        open_similarity("few?characters*2+stem").name == "few()?characters*0.666667+stem*0.333333"
    )
    assert names()[-2:] == ("broken", "few")
    with pytest.raises(MissingPart, match=r"broken comes from another package.*no such thing"):
        open_similarity("broken")
