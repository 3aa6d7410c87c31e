"""Similarity by what words look like: the same word, the same stem, the same characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy
from numpy.typing import NDArray

from meantime.analysis.stems import stem
from meantime.errors import InputError, UsageError
from meantime.matching.grams import spelling_bags, spelling_overlaps
from meantime.protocols import Array
from meantime.types import Layer, Sentence

Pairs = Sequence[tuple[Sentence, Sentence]]
Numbers = NDArray[numpy.int64]

TOKENS = frozenset({Layer.TOKENS})


def tokens_of(sentence: Sentence) -> tuple[str, ...]:
    """The tokens of a sentence.

    Raises:
        InputError: They are not known.
    """
    if sentence.tokens is None:
        raise InputError(
            f"no tokens are known of {sentence.text[:60]!r}; analyse the sentence first"
        )
    return sentence.tokens


def number(
    pairs: Pairs, key: Callable[[str], str] = str.casefold
) -> tuple[list[tuple[Numbers, Numbers]], list[str]]:
    """Words as numbers, the same for words of the same key; and the keys by number."""
    known: dict[str, int] = {}
    seen: dict[int, Numbers] = {}

    def numbers(sentence: Sentence) -> Numbers:
        found = seen.get(id(sentence))
        if found is None:
            words = tokens_of(sentence)
            found = numpy.fromiter(
                (known.setdefault(key(word), len(known)) for word in words),
                dtype=numpy.int64,
                count=len(words),
            )
            # Sentences live as long as the list of pairs does, so numbers of theirs stay true.
            seen[id(sentence)] = found
        return found

    return [(numbers(left), numbers(right)) for left, right in pairs], list(known)


def same_words(left: Numbers, right: Numbers) -> NDArray[numpy.bool_]:
    """Where two sentences have the same number."""
    found: NDArray[numpy.bool_] = left[:, None] == right[None, :]
    return found


def check_power(name: str, power: float) -> None:
    """Refuse a power that would not keep similarities in order and from 0 to 1."""
    if not 0.0 < power <= 64.0:
        raise UsageError(f"{name}: power={power:g}; give a number above 0, 64 at most")


def raise_to(values: Array, power: float) -> Array:
    """Values raised to a power, in place where that is quicker: squares are, many times."""
    if power in (1.0, 2.0, 4.0, 8.0):
        for _ in range(int(power).bit_length() - 1):
            values *= values
        return values
    found: Array = values**power
    return found


@dataclass(frozen=True, kw_only=True)
class Exact:
    """1 for the same word whatever its case, 0 for any other."""

    @property
    def name(self) -> str:
        return "exact"

    @property
    def needs(self) -> frozenset[Layer]:
        return TOKENS

    def matrices(self, pairs: Pairs) -> list[Array]:
        """One matrix a pair."""
        numbered, _ = number(pairs)
        return [same_words(left, right).astype(numpy.float64) for left, right in numbered]


def _folded_stem(word: str) -> str:
    return stem(word.casefold())


@dataclass(frozen=True, kw_only=True)
class Stem:
    """1 for words of the same English stem (Snowball), 0 for others."""

    @property
    def name(self) -> str:
        return "stem"

    @property
    def needs(self) -> frozenset[Layer]:
        return TOKENS

    def matrices(self, pairs: Pairs) -> list[Array]:
        """One matrix a pair."""
        numbered, _ = number(pairs, _folded_stem)
        return [same_words(left, right).astype(numpy.float64) for left, right in numbered]


@dataclass(frozen=True, kw_only=True)
class Characters:
    """Dice coefficient of the runs of two and three characters of two words.

    For names, numbers and words no model has seen: what is spelt alike is somewhat alike.

    Args:
        power: What a coefficient is raised to; above 1 it takes down what any two words share.
    """

    power: float = 1.0

    def __post_init__(self) -> None:
        check_power("characters", self.power)

    @property
    def name(self) -> str:
        return "characters" if self.power == 1.0 else f"characters(power={self.power:g})"

    @property
    def needs(self) -> frozenset[Layer]:
        return TOKENS

    def matrices(self, pairs: Pairs) -> list[Array]:
        """One matrix a pair."""
        numbered, words = number(pairs)
        # Half of a pair of surrogates stands for itself: such tokens do occur.
        encoded = "".join(words).encode("utf-32-le", "surrogatepass")
        codes = numpy.frombuffer(encoded, dtype="<u4").astype(numpy.uint32)
        offsets = numpy.fromiter(
            accumulate(map(len, words), initial=0), dtype=numpy.int64, count=len(words) + 1
        )
        bags, ends = spelling_bags(codes, offsets)
        return [
            raise_to(spelling_overlaps(bags, ends, left, right), self.power)
            for left, right in numbered
        ]
