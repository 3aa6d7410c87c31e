"""Four ways to cut Chinese into words (Beloucif, Lo and Wu 2014, section 5.3, compared four).

    characters          every character is a word
    dictionary[:FILE]   the longest word of a list, from left to right; else a character
    statistical:FILE    the likeliest words under a model that was trained from text
    jieba[:FILE]        the segmenter jieba; FILE adds words of one's own

Without FILE the dictionary is jieba's list. A statistical model is a list of words with their
probabilities; words of a sentence are independent in it, so the likeliest cut is found exactly.
It is trained from text that is not segmented: begin with all strings that occur often enough, and
again and again cut the text with what there is (expectation and maximisation over all cuts), and
drop the words that the text can best do without. Text that is segmented already is counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from meantime.errors import FormatError, OptionError
from meantime.formats.opening import decode, display, encode, lines, load, save
from meantime.smt.thot import load_jieba
from meantime.smt.words import HAN

NAMES = ("characters", "dictionary", "statistical", "jieba")
LONGEST = 4
"""Characters of a word in a statistical model."""
WORDS = 8000
LEAST = 3
"""Occurrences a string must have to be tried as a word."""
_UNKNOWN = 10.0
"""How much less likely an unknown character is than the rarest word, as a logarithm."""
_ROUNDS = 3
"""Passes over the text between two prunings."""
_SHARE = 0.25
"""Of the words too many, dropped in one pruning."""

Segment = Callable[[str], Sequence[str]]


class Segmenter(Protocol):
    """Cuts a run of Chinese characters into words."""

    def __call__(self, text: str) -> Sequence[str]: ...


def open_segmenter(specification: str, *, words: Iterable[str] = ()) -> Segment:
    """A segmenter by name.

    Args:
        specification: One of `NAMES`, where it takes a file after a colon.
        words: Words that must not be cut, as names are; characters and statistical models
            ignore them.

    Raises:
        OptionError: There is no such segmenter, or it has a file too few or too many.
        MissingPart: It needs a package that is not installed.
        FormatError: Its file is not what it should be.
    """
    name, _, file = specification.partition(":")
    if name not in NAMES:
        raise OptionError(f"unknown segmenter {name!r}; take one of {', '.join(NAMES)}")
    if name == "characters":
        if file:
            raise OptionError(f"the segmenter characters takes no file; leave out {file!r}")
        return list
    if name == "statistical":
        if not file:
            raise OptionError(
                "the segmenter statistical needs a model; write statistical:FILE, with a file made "
                "by 'meantime smt segmenter'"
            )
        return read_statistical(file).segment
    if name == "dictionary":
        known = read_words(file) if file else _jieba_words()
        return LongestMatch(frozenset(known) | frozenset(words)).segment
    return _jieba([*(read_words(file) if file else ()), *words])


def read_words(path: str | Path) -> list[str]:
    """The first column of a file: a word a line, what follows white space left out."""
    name = display(path)
    found = []
    for line in lines(decode(name, load(path))):
        columns = line.split()
        if columns and not columns[0].startswith("#"):
            found.append(columns[0])
    if not found:
        raise FormatError(f"{name}: holds no word; write one a line")
    return found


def _jieba_words() -> list[str]:
    jieba = load_jieba()
    with jieba.get_module_res("dict.txt") as file:
        return [line.split()[0].decode("utf-8") for line in file if line.split()]


def _jieba(words: Sequence[str]) -> Segment:
    tokenizer = load_jieba().Tokenizer()
    tokenizer.initialize()
    for word in words:
        tokenizer.add_word(word)

    def segment(text: str) -> list[str]:
        found: list[str] = tokenizer.lcut(text)
        return found

    return segment


@dataclass(frozen=True)
class LongestMatch:
    """Words of a list, the longest first, from left to right."""

    words: frozenset[str]

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.words), default=1)

    def segment(self, text: str) -> list[str]:
        """Cut a run of characters."""
        found = []
        place = 0
        while place < len(text):
            for end in range(min(len(text), place + self._longest), place + 1, -1):
                if text[place:end] in self.words:
                    break
            else:
                end = place + 1
            found.append(text[place:end])
            place = end
        return found


@dataclass(frozen=True)
class Statistical:
    """Words with the logarithms of their probabilities."""

    words: Mapping[str, float]

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.words), default=1)

    @cached_property
    def _floor(self) -> float:
        return min(self.words.values(), default=0.0) - _UNKNOWN

    def segment(self, text: str) -> list[str]:
        """The likeliest words of a run of characters; of equals, the ones that end it longer."""
        best = [0.0] + [-math.inf] * len(text)
        begins = [0] * (len(text) + 1)
        for end in range(1, len(text) + 1):
            for begin in range(max(0, end - self._longest), end):
                value = self.words.get(text[begin:end])
                if value is None:
                    if end - begin > 1:
                        continue
                    value = self._floor
                if best[begin] + value > best[end]:
                    best[end] = best[begin] + value
                    begins[end] = begin
        found = []
        end = len(text)
        while end:
            found.append(text[begins[end] : end])
            end = begins[end]
        return found[::-1]

    def save(self, path: Path) -> None:
        """Write a file in one step, the likeliest word first."""
        rows = sorted(self.words.items(), key=lambda item: (-item[1], item[0]))
        save(path, encode("".join(f"{word}\t{value:.6f}\n" for word, value in rows)))


def read_statistical(path: str | Path) -> Statistical:
    """A model that `Statistical.save` wrote.

    Raises:
        FormatError: A line is no word with a number.
    """
    name = display(path)
    words = {}
    for number, line in enumerate(lines(decode(name, load(path))), start=1):
        word, tab, value = line.partition("\t")
        try:
            words[word] = float(value)
        except ValueError:
            tab = ""
        if not tab or not word:
            raise FormatError(
                f"{name}:{number}: not a word, a tab and a number; make the file with "
                "'meantime smt segmenter'"
            )
    if not words:
        raise FormatError(f"{name}: holds no word; make it with 'meantime smt segmenter'")
    return Statistical(words)


def train_statistical(
    texts: Iterable[str],
    *,
    words: int = WORDS,
    longest: int = LONGEST,
    least: int = LEAST,
    progress: Callable[[int, int], None] | None = None,
) -> Statistical:
    """Learn words from text that is not segmented.

    Args:
        texts: Any; runs of Chinese characters are taken from them.
        words: How many to keep, besides all single characters.
        longest: Characters in a word.
        least: Occurrences a string must have to be tried.
        progress: Told how many prunings are done, of about how many.
    """
    runs = Counter(run for text in texts for run in HAN.findall(text))
    counts: Counter[str] = Counter()
    for run, often in runs.items():
        for begin in range(len(run)):
            for end in range(begin + 1, min(len(run), begin + longest) + 1):
                counts[run[begin:end]] += often
    if not counts:
        raise FormatError("the text holds no Chinese characters; give text that does")
    candidates = {
        word: float(often * len(word))
        for word, often in counts.items()
        if len(word) == 1 or often >= least
    }
    total = _prunings(len(candidates), words + sum(len(word) == 1 for word in candidates))
    done = 0
    while True:
        model = _normalised(candidates)
        for _ in range(_ROUNDS):
            expected = _expect(model, runs, longest)
            model = _normalised(
                {word: expected.get(word, 0.0) + 1e-3 for word in model if len(word) == 1}
                | {w: expected[w] for w in model if len(w) > 1 and expected.get(w, 0.0) >= 0.5}
            )
        singles = sum(len(word) == 1 for word in model)
        extra = len(model) - singles - words
        done += 1
        if progress:
            progress(min(done, total), total)
        if extra <= 0:
            break
        candidates = _pruned(model, expected, min(extra, max(1, round(len(model) * _SHARE))))
    if progress:
        progress(total, total)
    return Statistical(model)


def count_segmented(texts: Iterable[str]) -> Statistical:
    """A model of text whose words are separated by spaces."""
    counts: Counter[str] = Counter()
    for text in texts:
        for word in text.split():
            if HAN.fullmatch(word):
                counts[word] += 1
    if not counts:
        raise FormatError("the text holds no Chinese words; separate them with spaces")
    for character in {character for word in counts for character in word}:
        counts[character] += 1
    return Statistical(_normalised(counts))


def _prunings(size: int, wanted: int) -> int:
    return max(1, 1 + math.ceil(math.log(max(size / max(wanted, 1), 1)) / -math.log(1 - _SHARE)))


def _normalised(counts: Mapping[str, float]) -> dict[str, float]:
    total = math.log(sum(counts.values()))
    return {word: math.log(often) - total for word, often in counts.items()}


def _expect(model: Mapping[str, float], runs: Mapping[str, int], longest: int) -> dict[str, float]:
    """How often each word is in the text, over all its cuts by their probabilities."""
    import numpy

    from meantime.matching.cuts import expected_uses

    words = list(model)
    numbers = {word: number for number, word in enumerate(words)}
    weights = numpy.fromiter(model.values(), numpy.float64, len(words))
    totals = numpy.zeros(len(words))
    for part in _parts(list(runs.items())):
        places, offsets, often = _lattice(part, numbers, longest)
        expected_uses(places, offsets, often, weights, totals)
    return dict(zip(words, totals.tolist(), strict=True))


def _parts(items: Sequence[Any], size: int = 20000) -> Iterable[Sequence[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _lattice(part: Sequence[tuple[str, int]], numbers: Mapping[str, int], longest: int) -> Any:
    """For each place and length the number of the word that ends there, or -1."""
    import numpy

    offsets = numpy.zeros(len(part) + 1, dtype=numpy.int64)
    numpy.cumsum([len(run) for run, _ in part], out=offsets[1:])
    places = numpy.full((int(offsets[-1]), longest), -1, dtype=numpy.int32)
    row = 0
    for run, _ in part:
        for end in range(1, len(run) + 1):
            for size in range(1, min(end, longest) + 1):
                found = numbers.get(run[end - size : end])
                if found is not None:
                    places[row, size - 1] = found
            row += 1
    often = numpy.array([count for _, count in part], dtype=numpy.float64)
    return places, offsets, often


def _pruned(
    model: Mapping[str, float], expected: Mapping[str, float], drop: int
) -> dict[str, float]:
    """Without the words whose loss costs the text the least likelihood."""
    whole = Statistical(model)
    losses = []
    for word, value in model.items():
        if len(word) == 1:
            continue
        rest = {w: v for w, v in _inner(word, model).items() if w != word}
        cut = Statistical(rest).segment(word)
        instead = sum(rest.get(piece, whole._floor) for piece in cut)
        losses.append((expected.get(word, 0.0) * (value - instead), word))
    losses.sort()
    dropped = {word for _, word in losses[:drop]}
    return {word: max(expected.get(word, 0.0), 1e-3) for word in model if word not in dropped}


def _inner(word: str, model: Mapping[str, float]) -> dict[str, float]:
    return {
        piece: model[piece]
        for begin in range(len(word))
        for end in range(begin + 1, len(word) + 1)
        if (piece := word[begin:end]) in model
    }
