"""Inverse document frequency: how much a word says by being there at all.

    idf(w) = ln((N + 1) / (n(w) + 1))

N is the number of sentences counted, n(w) the number of those with w in them. A word that was
never seen has ln(N + 1), the maximum; a word in every sentence has 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy

from meantime.errors import InputError
from meantime.matching.packing import read_numbers, write_number
from meantime.protocols import Array
from meantime.similarity.context_file import SHIPPED, Writer, models_folder, open_file, write

KIND = "idf"


@dataclass(frozen=True)
class Idf:
    """In how many sentences words stand; the words are lower-cased.

    Args:
        sentences: How many sentences were counted.
        counts: In how many of them each word stands.
        title: What to call it in a signature.
    """

    sentences: int
    counts: Mapping[str, int]
    title: str = "given"

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], title: str = "given") -> Idf:
        """Count tokenised sentences."""
        total = 0
        counts: Counter[str] = Counter()
        for tokens in sentences:
            total += 1
            counts.update({token.lower() for token in tokens})
        return cls(total, dict(counts), title)

    @property
    def name(self) -> str:
        """What to call it in a signature."""
        return f"idf({self.title})"

    @property
    def maximum(self) -> float:
        """What a word gets that was never seen."""
        return math.log(self.sentences + 1)

    @cached_property
    def _values(self) -> dict[str, float]:
        counts = numpy.fromiter(self.counts.values(), numpy.float64, len(self.counts))
        values = numpy.log((self.sentences + 1) / (counts + 1))
        return dict(zip(self.counts, values.tolist(), strict=True))

    def __call__(self, word: str) -> float:
        """The idf of a word, whatever its case."""
        return self._values.get(word.lower(), self.maximum)

    def weights(self, words: Sequence[str]) -> Array:
        """The idf of each word of a list."""
        values = self._values
        unseen = self.maximum
        return numpy.array([values.get(word.lower(), unseen) for word in words], dtype=float)

    def __reduce__(self) -> tuple[Any, ...]:
        """Its counts alone: what is derived from them is quickly derived again."""
        return (type(self), (self.sentences, self.counts, self.title))

    def __hash__(self) -> int:
        return hash((self.sentences, len(self.counts), self.title))

    def save(
        self, path: Path, *, min_sentences: int = 1, made: Mapping[str, Any] | None = None
    ) -> None:
        """Write a table, without the words that stand in fewer sentences than that.

        What is left out counts as never seen.
        """
        # By the alphabet, where neighbours begin alike, they pack best.
        kept = sorted(word for word, count in self.counts.items() if count >= min_sentences)
        data = numpy.empty(10 * len(kept), dtype=numpy.uint8)
        end = 0
        for word in kept:
            end = write_number(self.counts[word], data, end)

        def fill(writer: Writer) -> Mapping[str, Any]:
            writer.section("words", "\n".join(kept).encode(), compress=True)
            writer.section("counts", data[:end].tobytes(), compress=True)
            return {
                "kind": KIND,
                "sentences": self.sentences,
                "words": len(kept),
                "min_sentences": min_sentences,
                "made": dict(made or {}),
            }

        write(path, fill)


def count_idf(
    paths: Sequence[str | Path],
    *,
    jobs: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Idf:
    """Count the sentences with each word in plain or gzipped texts, a sentence a line."""
    from meantime.similarity.context_counting import count_words

    found = count_words(paths, jobs=jobs, progress=progress)
    counts = dict(zip(found.words, found.sentences.tolist(), strict=True))
    return Idf(found.lines, counts)


def open_idf(path: str | Path | None = None) -> Idf:
    """Open a table: a file, or the shipped one.

    Raises:
        InputError: The file is not there, is something else, or damaged.
    """
    if path is None or str(path) == SHIPPED:
        path = models_folder() / SHIPPED / "sentences.idf"
    path = Path(path)
    try:
        facts = path.stat()
    except OSError:
        return _open(path)
    return _remembered(path, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=4)
def _remembered(path: Path, time: int, size: int) -> Idf:
    return _open(path)


def _open(path: Path) -> Idf:
    opened = open_file(path, KIND)
    try:
        words = bytes(opened.sections["words"]).decode().split("\n")
        data = opened.sections["counts"]
        counts = numpy.empty(int(opened.facts["words"]), dtype=numpy.int64)
        whole = read_numbers(data, counts) and len(words) == max(1, len(counts))
        sentences = int(opened.facts["sentences"])
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"{path}: damaged ({error}); copy it again, or make it anew") from error
    if not whole:
        raise InputError(f"{path}: damaged (its parts do not fit); copy it again, or make it anew")
    ours = path.parent.parent == models_folder()
    title = path.parent.name if ours else path.stem
    table = dict(zip(words, counts.tolist(), strict=False))
    return Idf(sentences, table, f"{title}-{opened.identity[:12]}")
