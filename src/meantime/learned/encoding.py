"""Texts as the trained metric's network takes them, and what is counted on their surface.

A text is [CLS] pieces [SEP]. HTML's names of characters, which tokenising scripts leave behind, are
read as the characters they stand for: `it &apos;s` is "it's". Pieces tell badly how alike two texts
look, so a few numbers are given besides: precision and recall of character n-grams (orders 1 to 6)
and of pieces, the F-score of pairs of pieces, and the ratio of lengths.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError
from meantime.matching.ngrams import clipped_matches
from meantime.metrics.tokens import Batch
from meantime.protocols import Array

SURFACE = (
    "character-precision",
    "character-recall",
    "piece-precision",
    "piece-recall",
    "piece-pairs",
    "length-ratio",
)
CHARACTER_ORDER = 6
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_FILLER = "\u0001"
"""Takes the place of what an entity is longer than its character; the tokeniser drops it."""


def read_entities(text: str) -> str:
    """The text with characters for HTML's names of them."""
    return _ENTITY.sub(lambda match: _character(match[0]), text) if "&" in text else text


def _character(entity: str) -> str:
    made = html.unescape(entity)
    return made if len(made) <= len(entity) else entity


def _as_long(text: str) -> str:
    """The same, filled up, so that all else stands where it stood.

    Half a character (a lone surrogate) is no text to the tokeniser: a mark stands for it.
    """
    text = text.encode("utf-8", "replace").decode("utf-8")
    if "&" not in text:
        return text
    return _ENTITY.sub(lambda match: _character(match[0]).ljust(len(match[0]), _FILLER), text)


@dataclass(frozen=True, slots=True)
class Text:
    """A text in pieces, and where each stands in it."""

    text: str
    pieces: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Pieces:
    """Word pieces by the encoder's own tokeniser file."""

    path: Path

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        if not self.path.is_file():
            raise InputError(f"{self.path}: no such file; install the package again")
        found = Tokenizer.from_file(str(self.path))
        found.no_padding()
        found.no_truncation()
        return found

    @cached_property
    def marks(self) -> tuple[int, int]:
        """The mark before a pair and the one behind each side."""
        return self._tokenizer.token_to_id("[CLS]"), self._tokenizer.token_to_id("[SEP]")

    def split(self, texts: Sequence[str]) -> list[Text]:
        """Texts in pieces, marks left out."""
        found = self._tokenizer.encode_batch(
            [_as_long(text) for text in texts], add_special_tokens=False
        )
        return [
            Text(text, tuple(one.ids), tuple(one.offsets))
            for text, one in zip(texts, found, strict=True)
        ]


def measure_surface(pairs: Sequence[tuple[Text, Text]]) -> Array:
    """The numbers of `SURFACE`, one row a pair; the same in any batch."""
    found = numpy.zeros((len(pairs), len(SURFACE)))
    if not pairs:
        return found
    characters = _counts(
        [_points(one.text) for one, _ in pairs],
        [_points(other.text) for _, other in pairs],
        CHARACTER_ORDER,
    )
    orders = numpy.zeros(len(pairs))
    for order in range(CHARACTER_ORDER):
        ours, theirs, common = characters[:, order].T
        orders += (ours > 0) & (theirs > 0)
        found[:, 0] += _ratio(common, ours)
        found[:, 1] += _ratio(common, theirs)
    found[:, :2] /= numpy.maximum(orders, 1)[:, None]
    pieces = _counts(
        [numpy.array(one.pieces, numpy.int32) for one, _ in pairs],
        [numpy.array(other.pieces, numpy.int32) for _, other in pairs],
        2,
    )
    ours, theirs, common = pieces[:, 0].T
    found[:, 2] = _ratio(common, ours)
    found[:, 3] = _ratio(common, theirs)
    found[:, 5] = numpy.clip(numpy.log((ours + 1) / (theirs + 1)), -2, 2)
    ours, theirs, common = pieces[:, 1].T
    found[:, 4] = _ratio(2 * common, ours + theirs)
    return found


def _points(text: str) -> NDArray[numpy.int32]:
    kept = "".join(read_entities(text).split())
    return numpy.frombuffer(kept.encode("utf-32-le", "surrogatepass"), dtype=numpy.int32)


def _counts(
    hypotheses: Sequence[NDArray[numpy.int32]],
    references: Sequence[NDArray[numpy.int32]],
    orders: int,
) -> Array:
    """N-grams of hypothesis and reference, and matches: (pairs, orders, 3)."""
    batch = Batch(*_laid_out(hypotheses), *_laid_out(references), numpy.arange(len(references) + 1))
    lengths = numpy.arange(orders)
    found = numpy.zeros((len(hypotheses), orders, 3))
    found[:, :, 0] = numpy.maximum(batch.hypothesis_lengths[:, None] - lengths, 0)
    found[:, :, 1] = numpy.maximum(batch.reference_lengths[:, None] - lengths, 0)
    found[:, :, 2] = clipped_matches(*batch, orders).reshape(len(hypotheses), orders)
    return found


def _laid_out(
    items: Sequence[NDArray[numpy.int32]],
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64]]:
    offsets = numpy.zeros(len(items) + 1, dtype=numpy.int64)
    numpy.cumsum([len(item) for item in items], out=offsets[1:])
    return numpy.concatenate([*items, numpy.zeros(0, numpy.int32)]), offsets


def _ratio(above: Array, below: Array) -> Array:
    found = numpy.zeros(len(above))
    numpy.divide(above, below, out=found, where=below > 0)
    return found
