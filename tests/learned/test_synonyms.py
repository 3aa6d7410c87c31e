"""Distances of Jiang and Conrath in a WordNet of seven nouns, by hand; and in the real one."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy
import pytest

from meantime.errors import FormatError, MissingPart, UsageError
from meantime.learned import synonyms
from meantime.learned.features import PosFeatures, match_words
from meantime.learned.overlaps import OverlapFeatures
from meantime.learned.synonyms import Synonyms, count_synonyms, from_arrays
from meantime.types import Pair, Segment, Sentence

# thing > animal > dog, cat; thing > car = auto; each synset's offset is its number.
NOUNS = {
    100: (("thing",), ()),
    200: (("animal",), (100,)),
    300: (("dog",), (200,)),
    400: (("cat",), (200,)),
    500: (("car", "auto"), (100,)),
}
PART = 10**8


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    words: dict[str, list[int]] = {}
    lines = []
    for offset, (names, above) in NOUNS.items():
        for name in names:
            words.setdefault(name, []).append(offset)
        pointers = " ".join(f"@ {parent:08d} n 0000" for parent in above)
        listed = " ".join(f"{name} 0" for name in names)
        lines.append(
            f"{offset:08d} 03 n {len(names):02x} {listed} {len(above):03d} {pointers} | gloss"
        )
    for part in ("noun", "verb", "adj", "adv"):
        own = part == "noun"
        index = [
            f"{word} n {len(sets)} 0 {len(sets)} 0 {' '.join(f'{one:08d}' for one in sets)}"
            for word, sets in sorted(words.items())
        ]
        (tmp_path / f"index.{part}").write_text("\n".join(index if own else []) + "\n")
        (tmp_path / f"data.{part}").write_text("\n".join(lines if own else []) + "\n")
    return tmp_path


def _text(*words: str) -> Sentence:
    return Sentence(" ".join(words), tokens=words, pos=("NN",) * len(words))


def test_by_hand(folder: Path) -> None:
    found = count_synonyms([_text("dog", "dog", "dog", "cat", "car")], folder=folder)
    # Each synset once, and what was counted: thing 10, animal 7, dog 4, cat 2, car 2.
    dog, cat, car = -math.log(4 / 10), -math.log(2 / 10), -math.log(2 / 10)
    animal = -math.log(7 / 10)
    assert found.distance("dog", "cat", "NN") == pytest.approx(dog + cat - 2 * animal)
    assert found.distance("cat", "dog", "NNS") == found.distance("dog", "cat", "NN")
    assert found.distance("dog", "car", "NN") == pytest.approx(dog + car)
    assert found.distance("dog", "animal", "NN") == pytest.approx(dog - animal)
    assert found.distance("car", "auto", "NN") == 0
    assert found.distance("Dogs", "dog", "NN") == 0
    assert found.distance("dog", "unknown", "NN") == math.inf
    assert found.distance("dog", "cat", "VB") == math.inf
    assert found.distance("dog", "cat", "JJ") == math.inf


def test_as_many_as_can_be_match(folder: Path) -> None:
    # All synsets once: a dog is 1.1 from an animal and 2.2 from a cat.
    near = count_synonyms([], folder=folder, threshold=1.2)
    assert near.near(("dog", "NN"), ("animal", "NN"))
    assert not near.near(("dog", "NN"), ("cat", "NN"))
    # The cat would take the animal, which the dog needs.
    matched = near.matched([("cat", "NN"), ("dog", "NN")], [("animal", "NN"), ("cat", "NN")])
    assert matched == {0, 1}
    assert match_words([("dog", "NN"), ("car", "NN")], [("auto", "NN")], near) == [False, True]
    # Each word of the others once: the second car is left alone.
    assert match_words([("car", "NN")] * 2, [("auto", "NN")], near) == [True, False]
    assert match_words([("car", "NN"), ("auto", "NN")], [("auto", "NN")], near) == [False, True]
    assert not near.near(("car", "NN"), ("auto", "VB"))


def test_features_let_synonyms_match(folder: Path) -> None:
    found = count_synonyms([], folder=folder, threshold=0.0)
    pair = Pair(_text("the", "car"), Segment("1", (_text("the", "auto"),)))
    for given, expected in ((None, 0.5), (found, 0.0)):
        features = OverlapFeatures(which=("wer", "per", "bleu1"), synonyms=given)
        assert features.values([pair]).tolist() == [[expected, expected, 0.5]]
        shares = PosFeatures(synonyms=given).describe(pair)
        assert shares["pos-:NN"] == expected


def test_what_was_counted_is_kept(folder: Path) -> None:
    found = count_synonyms([_text("dog", "cat")], folder=folder, threshold=3, text="two words")
    sets, counts = found.as_arrays()
    assert sets.tolist() == [PART + 300, PART + 400]
    assert counts.tolist() == [1, 1]
    again = from_arrays(folder, sets, counts, 3, "two words")
    assert repr(again) == repr(found)
    assert repr(found) != repr(found.with_threshold(2))
    copied = pickle.loads(pickle.dumps(found))
    assert copied.distance("dog", "cat", "NN") == found.distance("dog", "cat", "NN")


def test_what_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="0 or more"):
        count_synonyms([], folder=folder, threshold=-1)
    with pytest.raises(MissingPart, match=r"no WordNet in .*nowhere"):
        Synonyms(tmp_path / "nowhere", {}, 1, "")
    (folder / "data.noun").write_text("00000100 03 n 01 thing 0 zz\n")
    synonyms._hypernyms.cache_clear()
    with pytest.raises(FormatError, match=r"data.noun:1"):
        Synonyms(folder, {}, 1, "")


@pytest.mark.needs("wordnet")
def test_real_words() -> None:
    found = from_arrays(None, numpy.array([], dtype=int), numpy.array([]), 2.0, "nothing")
    assert found.distance("car", "automobile", "NN") == 0
    assert found.distance("shares", "stock", "NNS") < 1
    assert found.distance("dog", "cat", "NN") < found.distance("dog", "idea", "NN")
    assert found.distance("buy", "purchased", "VBD") == 0
