r"""Synonyms by the distance of Jiang and Conrath (1997), in a WordNet counted on a text.

    distance(a, b) = IC(a) + IC(b) - 2 * IC(least common subsumer)
    IC(c) = -ln( (1 + occurrences of c and of what is below it) / (the same of the root) )

Two words of the text are synonyms where some senses of theirs, of the same part of speech, are
no farther apart than the threshold. Only nouns and verbs have hypernyms and so a distance. An
occurrence of a word counts for its senses in equal parts. Each synset has one occurrence besides,
so that what the text does not have is far from everything and still has a place. Verbs have many
roots: above them all is one more.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from math import inf, log
from pathlib import Path

import numpy
from numpy.typing import NDArray

from meantime.errors import FormatError, MissingPart, UsageError
from meantime.metrics.wordnet import WordNet, open_wordnet
from meantime.protocols import Array
from meantime.types import Sentence

PARTS = {"NN": (1, "noun"), "VB": (2, "verb")}
"""Tags of words that have hypernyms, by their beginning: number and name of the part of speech."""

_PART_STEP = 10**8
"""As in `meantime.metrics.wordnet`: a synset's number is that of its part and its place in the
file."""

THRESHOLD = 2.0


class Synonyms:
    """Which words are near each other. Made with `count_synonyms` or `from_arrays`."""

    def __init__(
        self, folder: str | Path | None, counts: dict[int, float], threshold: float, text: str
    ) -> None:
        """Remember what was counted; the WordNet is read when a word is first asked for.

        Args:
            folder: WordNet's dictionary folder; None looks in the usual places.
            counts: Occurrences by synset, their own alone.
            threshold: The greatest distance of synonyms.
            text: What the counts are of, in words.
        """
        if not 0 <= threshold < inf:
            raise UsageError(f"threshold={threshold}; give a distance of 0 or more")
        self._wordnet = _opened(folder)
        self.counts = counts
        self.threshold = threshold
        self.text = text
        self._parents = {part: _hypernyms(self._wordnet, name) for part, name in PARTS.values()}
        self._information = {part: self._inform(part) for part in self._parents}
        self._above: dict[int, frozenset[int]] = {}
        self._known: dict[tuple[str, str, str], float] = {}

    def __repr__(self) -> str:
        sets, numbers = self.as_arrays()
        digest = hashlib.sha256(sets.tobytes() + numbers.tobytes()).hexdigest()[:12]
        return (
            f"Synonyms(wordnet={self._wordnet.version}, threshold={self.threshold}, "
            f"counts={digest})"
        )

    def __getstate__(self) -> tuple[str, dict[int, float], float, str]:
        return str(self._wordnet.folder), self.counts, self.threshold, self.text

    def __setstate__(self, state: tuple[str, dict[int, float], float, str]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def with_threshold(self, threshold: float) -> Synonyms:
        """The same counts, with another greatest distance."""
        return Synonyms(self._wordnet.folder, self.counts, threshold, self.text)

    @property
    def wordnet_version(self) -> str:
        return self._wordnet.version

    def as_arrays(self) -> tuple[NDArray[numpy.int64], Array]:
        """Synsets that occur, ascending, and how often they do."""
        sets = sorted(self.counts)
        return (
            numpy.array(sets, dtype=numpy.int64),
            numpy.array([self.counts[one] for one in sets], dtype=numpy.float64),
        )

    def distance(self, one: str, other: str, tag: str) -> float:
        """The least distance of senses of two words, infinite where one has none.

        Args:
            one: A word as it stands in the text.
            other: Another.
            tag: The part of speech of both: anything that begins with `NN` or `VB`.
        """
        found = PARTS.get(tag[:2])
        if found is None:
            return inf
        first, second = sorted((one.lower(), other.lower()))
        key = (first, second, found[1])
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._least(first, second, found[0])
        return known

    def matched(
        self, words: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]]
    ) -> set[int]:
        """Places of words that match one of the others each, as many as can be."""
        near = [
            [place for place, other in enumerate(others) if self.near(word, other)]
            for word in words
        ]
        owner: dict[int, int] = {}

        def place(number: int, seen: set[int]) -> bool:
            for candidate in near[number]:
                if candidate not in seen:
                    seen.add(candidate)
                    if candidate not in owner or place(owner[candidate], seen):
                        owner[candidate] = number
                        return True
            return False

        for number in range(len(words)):
            place(number, set())
        return set(owner.values())

    def near(self, word: tuple[str, str], other: tuple[str, str]) -> bool:
        """Whether two tagged words are synonyms; of different parts of speech none are."""
        if word[1][:2] != other[1][:2] or word[1][:2] not in PARTS:
            return False
        return self.distance(word[0], other[0], word[1]) <= self.threshold

    def _least(self, one: str, other: str, part: int) -> float:
        left = [number for number in self._wordnet.sets(one) if number // _PART_STEP == part]
        right = [number for number in self._wordnet.sets(other) if number // _PART_STEP == part]
        information = self._information[part]
        least = inf
        for a in left:
            for b in right:
                if a == b:
                    return 0.0
                common = self._ancestors(a, part) & self._ancestors(b, part)
                shared = max((information[c] for c in common), default=0.0)
                least = min(least, information[a] + information[b] - 2 * shared)
        return least

    def _ancestors(self, number: int, part: int) -> frozenset[int]:
        """A synset and all above it, the root above the roots left out."""
        found = self._above.get(number)
        if found is None:
            found = self._above[number] = frozenset(_closure(number, self._parents[part]))
        return found

    def _inform(self, part: int) -> dict[int, float]:
        parents = self._parents[part]
        below: Counter[int] = Counter()
        whole = 0.0
        for number in parents:
            own = 1.0 + self.counts.get(number, 0.0)
            whole += own
            for above in _closure(number, parents):
                below[above] += own  # type: ignore[assignment]
        return {number: -log(below[number] / whole) for number in parents}


def _closure(number: int, parents: dict[int, tuple[int, ...]]) -> set[int]:
    found: set[int] = set()
    waiting = [number]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += parents.get(current, ())
    return found


def _opened(folder: str | Path | None) -> WordNet:
    try:
        return open_wordnet(None if folder is None else str(folder))
    except MissingPart as error:
        where = "in the usual places" if folder is None else f"in {folder}"
        raise MissingPart(
            f"no WordNet {where} (index.noun, data.noun and so on), which synonyms need; install "
            "the package wordnet-base (Debian, Ubuntu), name its folder, or do without synonyms"
        ) from error


@cache
def _hypernyms(wordnet: WordNet, name: str) -> dict[int, tuple[int, ...]]:
    """The synsets of a part of speech with those right above each."""
    path = wordnet.folder / f"data.{name}"
    number = next(part for part, known in PARTS.values() if known == name)
    try:
        content = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise MissingPart(
            f"{path} is not there, which the distance of synonyms needs; give the folder of a "
            "whole WordNet"
        ) from error
    found: dict[int, tuple[int, ...]] = {}
    for count, line in enumerate(content.splitlines(), 1):
        if line.startswith(" ") or not line:
            continue
        fields = line.split(" ")
        try:
            words = int(fields[3], 16)
            start = 4 + 2 * words
            pointers = int(fields[start])
            above = tuple(
                number * _PART_STEP + int(fields[place + 1])
                for place in range(start + 1, start + 1 + 4 * pointers, 4)
                if fields[place] in ("@", "@i")
            )
            found[number * _PART_STEP + int(fields[0])] = above
        except (IndexError, ValueError) as error:
            raise FormatError(
                f"{path}:{count}: not a line of a WordNet; give the folder of an unchanged one"
            ) from error
    return found


def count_synonyms(
    sentences: Iterable[Sentence],
    *,
    folder: str | Path | None = None,
    threshold: float = THRESHOLD,
    text: str = "",
) -> Synonyms:
    """Synonyms in a WordNet whose information content is counted from a text.

    Args:
        sentences: The text, with tokens and parts of speech.
        folder: WordNet's dictionary folder; None looks in the usual places.
        threshold: The greatest distance of synonyms.
        text: What the text is, in words.

    Raises:
        MissingPart: There is no WordNet.
    """
    wordnet = _opened(folder)
    words: Counter[tuple[str, int]] = Counter()
    for sentence in sentences:
        for token, tag in zip(sentence.tokens or (), sentence.pos or (), strict=True):
            if tag[:2] in PARTS:
                words[token.lower(), PARTS[tag[:2]][0]] += 1
    counts: dict[int, float] = {}
    for (word, part), count in words.items():
        sets = [number for number in wordnet.sets(word) if number // _PART_STEP == part]
        for number in sets:
            counts[number] = counts.get(number, 0.0) + count / len(sets)
    return Synonyms(folder, counts, threshold, text)


def from_arrays(
    folder: str | Path | None,
    sets: NDArray[numpy.int64],
    counts: Array,
    threshold: float,
    text: str,
) -> Synonyms:
    """Synonyms from what `Synonyms.as_arrays` gave."""
    return Synonyms(folder, dict(zip(sets.tolist(), counts.tolist(), strict=True)), threshold, text)
