"""From text to the words that string metrics compare.

The tokenisers are sacreBLEU's own, used and not rewritten, so that a score here and there
speaks of the same words. Those that would download a model are left out.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from meantime.errors import MissingPart
from meantime.types import primary

_CLASSES = {
    "13a": ("sacrebleu.tokenizers.tokenizer_13a", "Tokenizer13a"),
    "intl": ("sacrebleu.tokenizers.tokenizer_intl", "TokenizerV14International"),
    "char": ("sacrebleu.tokenizers.tokenizer_char", "TokenizerChar"),
    "zh": ("sacrebleu.tokenizers.tokenizer_zh", "TokenizerZh"),
    "ja-mecab": ("sacrebleu.tokenizers.tokenizer_ja_mecab", "TokenizerJaMecab"),
    "ko-mecab": ("sacrebleu.tokenizers.tokenizer_ko_mecab", "TokenizerKoMecab"),
}
_EXTRAS = {"ja-mecab": "ja", "ko-mecab": "ko"}

NAMES = ("none", *_CLASSES)

_BY_LANGUAGE = {"zh": "zh", "yue": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
_UNSPACED = {"zh", "yue", "ja", "th", "lo", "km", "my", "bo", "dz"}


def language_defaults(lang: str) -> dict[str, Any]:
    """The tokeniser sacreBLEU would choose for a language, if not 13a."""
    name = _BY_LANGUAGE.get(primary(lang))
    return {"tokeniser": name} if name else {}


def unspaced(lang: str) -> bool:
    """Whether a language is written without spaces between words."""
    return primary(lang) in _UNSPACED


@cache
def _tokeniser(name: str) -> Any:
    module, attribute = _CLASSES[name]
    try:
        return getattr(importlib.import_module(module), attribute)()
    except (ImportError, RuntimeError) as error:
        extra = _EXTRAS.get(name)
        if extra is None:
            raise
        raise MissingPart(
            f"tokeniser {name} needs a package that is not installed; "
            f"pip install 'meantime[{extra}]', or choose another tokeniser"
        ) from error


@lru_cache(maxsize=1 << 14)
def tokenise(text: str, tokeniser: str = "13a", lowercase: bool = False) -> tuple[str, ...]:
    """Split a text into words."""
    if lowercase:
        text = text.lower()
    # sacreBLEU tokenises the line without the white space at its end.
    text = text.rstrip()
    if tokeniser != "none":
        text = _tokeniser(tokeniser)(text)
    return tuple(text.split())


Ids = tuple[NDArray[numpy.int32], NDArray[numpy.int64]]


class Vocabulary(dict[str, int]):
    """Words and their numbers; a word not seen before gets the next one when asked for."""

    __slots__ = ()

    def __missing__(self, word: str) -> int:
        self[word] = found = len(self)
        return found


class Overlay(Vocabulary):
    """Numbers of words in a batch: those of a bound vocabulary, higher ones for other words."""

    __slots__ = ("_bound", "_next")

    def __init__(self, bound: Mapping[str, int]) -> None:
        super().__init__()
        self._bound = bound
        self._next = len(bound)

    def __missing__(self, word: str) -> int:
        found = self._bound.get(word)
        if found is None:
            found = self._next
            self._next += 1
        self[word] = found
        return found


def number(sequences: Sequence[Sequence[str]], vocabulary: Vocabulary) -> Ids:
    """Words as numbers, all sequences end to end, and where each one starts.

    Sequence i is `ids[offsets[i]:offsets[i + 1]]`. New words are added to the vocabulary.
    """
    offsets = numpy.zeros(len(sequences) + 1, dtype=numpy.int64)
    numpy.cumsum([len(sequence) for sequence in sequences], out=offsets[1:])
    numbers = map(vocabulary.__getitem__, chain.from_iterable(sequences))
    return numpy.fromiter(numbers, dtype=numpy.int32, count=int(offsets[-1])), offsets


class Batch(NamedTuple):
    """Pairs as arrays, laid out as the kernels of `meantime.matching` take them."""

    hypotheses: NDArray[numpy.int32]
    hypothesis_offsets: NDArray[numpy.int64]
    references: NDArray[numpy.int32]
    reference_offsets: NDArray[numpy.int64]
    first_reference: NDArray[numpy.int64]

    @property
    def hypothesis_lengths(self) -> NDArray[numpy.int64]:
        return numpy.diff(self.hypothesis_offsets)

    @property
    def reference_lengths(self) -> NDArray[numpy.int64]:
        return numpy.diff(self.reference_offsets)

    @property
    def reference_owners(self) -> NDArray[numpy.int64]:
        """Which pair each reference belongs to."""
        counts = numpy.diff(self.first_reference)
        return numpy.repeat(numpy.arange(len(counts)), counts)

    def common_words(self) -> NDArray[numpy.int64]:
        """Words each reference has in common with its hypothesis, each as often as in both."""
        from meantime.matching.ngrams import clipped_matches

        owners = self.reference_owners
        if len(owners) == len(self.hypothesis_offsets) - 1:
            return clipped_matches(*self, max_order=1)[:, 0]
        offsets = numpy.zeros(len(owners) + 1, dtype=numpy.int64)
        numpy.cumsum(self.hypothesis_lengths[owners], out=offsets[1:])
        starts = self.hypothesis_offsets
        repeated = [self.hypotheses[starts[owner] : starts[owner + 1]] for owner in owners]
        each = numpy.arange(len(owners) + 1)
        joined = numpy.concatenate(repeated)
        return clipped_matches(
            joined, offsets, self.references, self.reference_offsets, each, max_order=1
        )[:, 0]

    def best(self, costs: NDArray[Any]) -> NDArray[numpy.int64]:
        """For each pair, its reference of least cost; the first of equals."""
        counts = numpy.diff(self.first_reference)
        if counts.size and counts.max() == 1:
            return self.first_reference[:-1]
        order = numpy.lexsort((numpy.arange(len(costs)), costs, self.reference_owners))
        return order[self.first_reference[:-1]]


def batch(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    vocabulary: Vocabulary | None = None,
) -> Batch:
    """Lay out words of hypotheses, and of the references of each, as arrays."""
    vocabulary = Vocabulary() if vocabulary is None else vocabulary
    first = numpy.zeros(len(references) + 1, dtype=numpy.int64)
    numpy.cumsum([len(several) for several in references], out=first[1:])
    return Batch(
        *number(hypotheses, vocabulary),
        *number([words for several in references for words in several], vocabulary),
        first,
    )
