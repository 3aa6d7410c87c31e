"""Similarity of words by the company they keep (Tumuluru, Lo and Wu 2012).

A word x has the vector of counts c(x, i): how often context word i stood in a window of n
tokens around x. P(i|x) = c(x, i) / Σj c(x, j) and P(i) = Σy c(y, i) / Σy Σj c(y, j).

    cosine             Σ P(i|x) P(i|y) / sqrt(Σ P(i|x)² · Σ P(i|y)²)
    mutual-information Σ min(m(x, i), m(y, i)) / Σ max(m(x, i), m(y, i))
                       with m(x, i) = max(0, log(P(i|x) / P(i)))
    jensen-shannon     1 - D / 2, where D is the divergence as printed, to the base 2
    dice               2 Σ min(c(x, i), c(y, i)) / Σ (c(x, i) + c(y, i))
    dice-printed       half of that, as the paper has it
    jaccard            Σ min(c(x, i), c(y, i)) / Σ max(c(x, i), c(y, i))

The same word, whatever its case, has 1; a word without a vector has 0 with any other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError, UsageError
from meantime.matching import rows
from meantime.protocols import Array
from meantime.similarity.context_file import ContextModel, damaged, open_model
from meantime.types import Layer, Sentence

MEASURES = {
    "cosine": rows.COSINE,
    "mutual-information": rows.MUTUAL_INFORMATION,
    "jensen-shannon": rows.JENSEN_SHANNON,
    "dice": rows.DICE,
    "dice-printed": rows.DICE_AS_PRINTED,
    "jaccard": rows.JACCARD,
}
DEFAULT = "jaccard"

_REMEMBERED = 1 << 21
"""Pairs of words in the cache (32 MB)."""
_UNPACKED = 1 << 22
"""Entries of unpacked rows that are kept (at most 80 MB)."""


class Similar(NamedTuple):
    """A word and how similar it is."""

    word: str
    similarity: float


@dataclass(frozen=True, kw_only=True)
class ContextSimilarity:
    """Word similarity from counted contexts; a `meantime.protocols.Similarity`.

    Values are computed when first asked for, from the rows of the model that both words have,
    and remembered by pair of words in bounded memory.

    Args:
        measure: One of `MEASURES`.
        model: A file of context vectors; by default the shipped one.
        window: One of the model's windows; by default 5, or the model's widest.

    Raises:
        UsageError: There is no such measure, or the model does not hold the window.
        InputError: The model cannot be read.
    """

    measure: str = DEFAULT
    model: str | Path | None = None
    window: int | None = None

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise UsageError(f"no measure {self.measure!r}; there are {', '.join(MEASURES)}")
        self.vectors.window(self.window)

    @cached_property
    def vectors(self) -> ContextModel:
        """The model."""
        return open_model(self.model)

    @property
    def name(self) -> str:
        """Measure, window and model, with the start of the model's hash."""
        model = self.vectors
        window = model.window(self.window)
        return f"context({self.measure},window={window},{model.title}-{model.identity[:12]})"

    @property
    def needs(self) -> frozenset[Layer]:
        """Tokens alone."""
        return frozenset({Layer.TOKENS})

    def matrices(self, pairs: Sequence[tuple[Sentence, Sentence]]) -> list[Array]:
        """One matrix a pair: (tokens of the left, tokens of the right), each from 0 to 1.

        Raises:
            InputError: A sentence has no tokens yet.
        """
        return self._fill([(_tokens(left), _tokens(right)) for left, right in pairs])

    def known(self, sentence: Sentence) -> NDArray[numpy.bool_]:
        """Of each token whether it has a vector.

        Raises:
            InputError: The sentence has no tokens yet.
        """
        index = self.vectors.index
        found = [token.lower() in index for token in _tokens(sentence)]
        return numpy.array(found, dtype=numpy.bool_)

    def matrix(self, left: Sequence[str], right: Sequence[str]) -> Array:
        """The similarities of two lists of words."""
        [found] = self._fill([(left, right)])
        return found

    def similarity(self, one: str, other: str) -> float:
        """The similarity of two words."""
        return float(self.matrix([one], [other])[0, 0])

    def similar(self, word: str, count: int = 10) -> list[Similar]:
        """The words most similar to a word, itself left out; of equals, the more frequent.

        Raises:
            InputError: The word has no vector.
        """
        model = self.vectors
        number = model.index.get(word.lower())
        if number is None:
            raise InputError(
                f"{word!r} is not among the {len(model.words):,} words of {model.path}"
            )
        values = self.matrix([word], model.words)[0]
        values[number] = -1.0
        order = numpy.lexsort((numpy.arange(len(values)), -values))
        best = [place for place in order[:count] if place != number]
        return [Similar(model.words[place], float(values[place])) for place in best]

    def _fill(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[Array]:
        model = self.vectors
        known = model.index
        unknown: dict[str, int] = {}

        def number(word: str) -> int:
            word = word.lower()
            found = known.get(word)
            # Below zero, so that only the same word has the same number.
            return unknown.setdefault(word, -1 - len(unknown)) if found is None else found

        lefts = [number(word) for left, _ in pairs for word in left]
        rights = [number(word) for _, right in pairs for word in right]
        heights = [len(left) for left, _ in pairs]
        widths = [len(right) for _, right in pairs]
        borders = numpy.cumsum([0, *(h * w for h, w in zip(heights, widths, strict=True))])
        out = numpy.empty(borders[-1])
        window = model.windows.index(model.window(self.window))
        sums = model.context_sums[:, window].copy()
        wrong = rows.fill(
            numpy.array(lefts, dtype=numpy.int64),
            numpy.cumsum([0, *heights]),
            numpy.array(rights, dtype=numpy.int64),
            numpy.cumsum([0, *widths]),
            model.data,
            model.offsets,
            len(model.windows),
            window,
            MEASURES[self.measure],
            sums,
            float(model.totals[window]),
            *self._state,
            out,
        )
        if wrong >= 0:
            del self.__dict__["_state"]
            raise damaged(model.path, model.words[wrong])
        return [
            out[begin:end].reshape(height, width)
            for begin, end, height, width in zip(
                borders[:-1], borders[1:], heights, widths, strict=True
            )
        ]

    @cached_property
    def _state(self) -> _State:
        model = self.vectors
        longest = int(numpy.diff(model.offsets).max(initial=0)) // 2 + 1
        room = max(_UNPACKED, longest)
        entropy = MEASURES[self.measure] == rows.JENSEN_SHANNON
        return _State(
            numpy.full(_REMEMBERED, -1, dtype=numpy.int64),
            numpy.empty(_REMEMBERED),
            numpy.empty(room, dtype=numpy.int32),
            numpy.empty(room),
            numpy.empty(room if entropy else 0),
            numpy.full(len(model.words), -1, dtype=numpy.int64),
            numpy.zeros(len(model.words), dtype=numpy.int64),
            numpy.zeros(len(model.words)),
            numpy.zeros(model.contexts),
            numpy.zeros(model.contexts if entropy else 0),
            numpy.zeros(2, dtype=numpy.int64),
        )

    def __getstate__(self) -> dict[str, Any]:
        """What it was made from; the receiver opens the model and remembers for itself."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}


class _State(NamedTuple):
    """What `rows.fill` keeps from call to call; see there. It belongs to one process."""

    keys: NDArray[numpy.int64]
    known: Array
    columns: NDArray[numpy.int32]
    values: Array
    logs: Array
    begins: NDArray[numpy.int64]
    ends: NDArray[numpy.int64]
    figures: Array
    opened: Array
    opened_logs: Array
    used: NDArray[numpy.int64]


def _tokens(sentence: Sentence) -> tuple[str, ...]:
    if sentence.tokens is None:
        raise InputError(
            f"no tokens are known of {sentence.text[:60]!r}; analyse the sentence first"
        )
    return sentence.tokens
