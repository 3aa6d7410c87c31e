"""Similarity by the vectors an analyser gives to tokens: cosines, negative ones counting as 0.

A token's vector gets a share of those of its two neighbours: v + neighbours · (before + after),
each of length 1. A cosine c becomes c ** power: those of words that have nothing in common are
not 0 but spread around it, and a power takes the small ones down. There are two readings:

- `VectorSimilarity`: of words. The same word has 1, wherever it stands.
- `OccurrenceSimilarity`: of words where they stand. The same word has 1 in the same surroundings
  and less in others: the one source that does not give 1 to the same word. It tells a
  translation with all the right words in the wrong places from a good one.

`training/occurrences.py` chose the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError, UsageError
from meantime.protocols import Array
from meantime.similarity.words import (
    Pairs,
    check_power,
    number,
    raise_to,
    same_words,
    tokens_of,
)
from meantime.types import Layer, Sentence

Rows = NDArray[numpy.float32]

NEEDS = frozenset({Layer.TOKENS, Layer.VECTORS})

_ONE = 1.0 - 2.0**-20
"""Cosines from here on are those of equal vectors, but for rounding."""
_ONE_THREAD = 1 << 18
"""Multiplications that OpenBLAS leaves to one thread."""
_KEPT = 1024
"""Sentences whose rows are kept while pairs are worked on."""


def _check(name: str, power: float, neighbours: float) -> None:
    check_power(name, power)
    if not 0.0 <= neighbours <= 1.0:
        raise UsageError(f"{name}: neighbours={neighbours:g}; give a number from 0 to 1")


def _unit(rows: Rows) -> Rows:
    """Rows of length 1; those of no length stay as they are."""
    lengths = numpy.sqrt(numpy.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0.0] = 1.0
    found: Rows = rows / lengths[:, None]
    return found


def _rows(sentence: Sentence, neighbours: float) -> Rows:
    """One row of length 1 a token, with a share of its neighbours'."""
    count = len(tokens_of(sentence))
    vectors = sentence.vectors
    if vectors is None:
        raise InputError(
            f"no vectors are known of {sentence.text[:60]!r}; use an analyser that gives vectors, "
            "or another source of similarity"
        )
    if vectors.ndim != 2 or len(vectors) != count:
        raise InputError(
            f"{sentence.text[:60]!r} has {count} tokens and vectors of shape {vectors.shape}; "
            "give one row a token"
        )
    rows = _unit(vectors.astype(numpy.float32))
    if neighbours == 0.0 or count < 2:
        return rows
    mixed = rows.copy()
    mixed[1:] += numpy.float32(neighbours) * rows[:-1]
    mixed[:-1] += numpy.float32(neighbours) * rows[1:]
    return _unit(mixed)


def _later(left: Sentence, right: Sentence) -> bool:
    """Whether a pair is multiplied the other way round: then changing sides changes no bit."""
    if left.tokens != right.tokens:
        return (left.tokens or ()) > (right.tokens or ())
    if left is right or left.vectors is None or right.vectors is None:
        return False
    return left.vectors.tobytes() > right.vectors.tobytes()


def _cosines(pairs: Pairs, neighbours: float, power: float) -> list[Array]:
    known: dict[int, Rows] = {}

    def rows(sentence: Sentence) -> Rows:
        found = known.get(id(sentence))
        if found is None:
            if len(known) >= _KEPT:
                known.clear()
            known[id(sentence)] = found = _rows(sentence, neighbours)
        return found

    matrices = []
    for left, right in pairs:
        a, b = rows(left), rows(right)
        if a.shape[1] != b.shape[1]:
            raise InputError(
                f"{left.text[:60]!r} has vectors of {a.shape[1]} numbers, {right.text[:60]!r} of "
                f"{b.shape[1]}; analyse both with the same analyser"
            )
        product = _product(b, a).T if _later(left, right) else _product(a, b)
        cosines = numpy.clip(product, 0.0, 1.0).astype(numpy.float64, order="C")
        cosines[cosines >= _ONE] = 1.0
        matrices.append(raise_to(cosines, power))
    return matrices


def _product(a: Rows, b: Rows) -> Rows:
    """All inner products, in parts so small that no BLAS wakes threads for one.

    Waking them takes longer than the product does, many times longer where cores are busy.
    """
    step = max(1, _ONE_THREAD // (len(b) * b.shape[1] or 1))
    if len(a) <= step:
        found: Rows = a @ b.T
        return found
    product = numpy.empty((len(a), len(b)), dtype=numpy.float32)
    for start in range(0, len(a), step):
        numpy.matmul(a[start : start + step], b.T, out=product[start : start + step])
    return product


@dataclass(frozen=True, kw_only=True)
class VectorSimilarity:
    """Cosine of two tokens' vectors; the same word has 1, whatever its case and place.

    Args:
        power: What a cosine is raised to.
        neighbours: What the token before and the token after add to a token's vector.
    """

    power: float = 2.0
    neighbours: float = 0.5

    def __post_init__(self) -> None:
        _check("vectors", self.power, self.neighbours)

    @property
    def name(self) -> str:
        return f"vectors(power={self.power:g},neighbours={self.neighbours:g})"

    @property
    def needs(self) -> frozenset[Layer]:
        return NEEDS

    def matrices(self, pairs: Pairs) -> list[Array]:
        """One matrix a pair."""
        numbered, _ = number(pairs)
        found = _cosines(pairs, self.neighbours, self.power)
        for matrix, (left, right) in zip(found, numbered, strict=True):
            matrix[same_words(left, right)] = 1.0
        return found


@dataclass(frozen=True, kw_only=True)
class OccurrenceSimilarity:
    """Cosine of two tokens' vectors, of the same word too: it has 1 in the same surroundings.

    Args:
        power: What a cosine is raised to.
        neighbours: What the token before and the token after add to a token's vector.
    """

    power: float = 4.0
    neighbours: float = 0.5

    def __post_init__(self) -> None:
        _check("occurrences", self.power, self.neighbours)

    @property
    def name(self) -> str:
        return f"occurrences(power={self.power:g},neighbours={self.neighbours:g})"

    @property
    def needs(self) -> frozenset[Layer]:
        return NEEDS

    def matrices(self, pairs: Pairs) -> list[Array]:
        """One matrix a pair."""
        return _cosines(pairs, self.neighbours, self.power)
