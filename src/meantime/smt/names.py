"""Names through a dictionary, and two ways to make one.

A dictionary is a table of tab-separated lines: the name in the source language, and what it is in
the target language. It can be made from the interlanguage links of an encyclopedia
(`from_links`), or from the training text itself, from what its words are linked to (`from_text`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy

from meantime.errors import FormatError
from meantime.formats.opening import decode, display, encode, lines, load, save
from meantime.smt.alignment import Links, Tokens
from meantime.smt.words import HAN, SPACE, split_words

LEAST = 2
SHARE = 0.6


@dataclass(frozen=True)
class NameDictionary:
    """Names of the source language with what they are in the target language."""

    names: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def forms(self) -> Sequence[str]:
        """The names of the source language."""
        return list(self.names)

    @cached_property
    def _by_first(self) -> dict[str, list[str]]:
        index: dict[str, list[str]] = defaultdict(list)
        for name in self.names:
            index[name[0]].append(name)
        for found in index.values():
            found.sort(key=lambda name: (-len(name), name))
        return dict(index)

    def find(self, text: str) -> list[tuple[int, int, str]]:
        """Names in a text without spaces: place, end, translation; the longest, from the left."""
        found = []
        place = 0
        while place < len(text):
            for name in self._by_first.get(text[place], ()):
                if text.startswith(name, place):
                    found.append((place, place + len(name), self.names[name]))
                    place += len(name)
                    break
            else:
                place += 1
        return found

    @cached_property
    def _by_words(self) -> dict[tuple[str, ...], str]:
        return {tuple(split_words(name)): english for name, english in self.names.items()}

    @cached_property
    def _most_words(self) -> int:
        return max(map(len, self._by_words), default=0)

    def replace_words(self, words: Sequence[str]) -> list[str]:
        """Words of a text with names replaced by their translation, each as one word."""
        found = []
        place = 0
        while place < len(words):
            for end in range(min(len(words), place + self._most_words), place, -1):
                translation = self._by_words.get(tuple(words[place:end]))
                if translation is not None:
                    found.append(translation.replace(" ", SPACE))
                    place = end
                    break
            else:
                found.append(words[place])
                place += 1
        return found

    def save(self, path: Path) -> None:
        """Write a file in one step."""
        rows = (f"{name}\t{english}\n" for name, english in sorted(self.names.items()))
        save(path, encode("".join(rows)))


def read_names(path: str | Path) -> NameDictionary:
    """The names of a file; empty lines and those that begin with `#` are passed over.

    Raises:
        FormatError: A line is no pair, or a name is there with two translations.
    """
    place = display(path)
    names: dict[str, str] = {}
    for number, line in enumerate(lines(decode(place, load(path))), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, tab, english = line.partition("\t")
        name, english = name.strip(), english.strip()
        if not tab or not name or not english or "\t" in english:
            raise FormatError(
                f"{place}:{number}: not two columns; write the name, a tab and its translation"
            )
        if names.setdefault(name, english) != english:
            raise FormatError(
                f"{place}:{number}: {name} is there twice, as {names[name]!r} and {english!r}; "
                "keep one"
            )
    if not names:
        raise FormatError(f"{place}: holds no name; write the name, a tab and its translation")
    return NameDictionary(names)


_NAMESPACE = re.compile(r"^[^\W\d_]+(?: [^\W\d_]+)?:\S")
_APPENDED = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_LIST = re.compile(r"(?i)^(?:lists? of|index of|outline of)\b|列表$|消歧义")
_YEAR = re.compile(r"^[0-9]|^[一二三四五六七八九十百千零〇]+年代?$")


def from_links(rows: Iterable[str], *, shortest: int = 2, place: str = "links") -> NameDictionary:
    """A dictionary from interlanguage links: lines of a title, a tab, and the title it links to.

    Titles that are no names are left out: other namespaces, lists, years, titles that begin with
    a small letter, Chinese ones that hold no Chinese character or are shorter than `shortest`.
    What stands in brackets behind a title, to tell it from others, is cut off; a name that leads
    to several titles then keeps the one it has without brackets, or none.

    Raises:
        FormatError: A line is no pair, or nothing is left.
    """
    plain: dict[str, str] = {}
    bracketed: dict[str, set[str]] = defaultdict(set)
    for number, line in enumerate(rows, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [column.strip().replace("_", " ") for column in line.split("\t")]
        if len(columns) < 2 or not columns[0] or not columns[1]:
            raise FormatError(
                f"{place}:{number}: not two columns; write a title, a tab and the title it links to"
            )
        name, english = columns[:2]
        if any(_is_no_name(title) for title in columns[:2]):
            continue
        short, shown = _APPENDED.sub("", name), _APPENDED.sub("", english)
        if not shown or not shown[0].isupper() or len(short) < shortest or not HAN.search(short):
            continue
        if short == name:
            plain.setdefault(name, shown)
        else:
            bracketed[short].add(shown)
    single = {name: next(iter(found)) for name, found in bracketed.items() if len(found) == 1}
    names = {**single, **plain}
    if not names:
        raise FormatError(
            f"{place}: no name is left of it; are the titles in the first column Chinese?"
        )
    return NameDictionary(names)


def _is_no_name(title: str) -> bool:
    return bool(_NAMESPACE.match(title) or _LIST.search(title) or _YEAR.match(title))


def from_text(
    source: Tokens,
    target: Tokens,
    links: Links,
    *,
    least: int = LEAST,
    share: float = SHARE,
    longest: int = 4,
) -> NameDictionary:
    """A dictionary from aligned text.

    A run of capitalised words inside a sentence is taken for a name, where it goes with one run
    of source words that goes with nothing else. What a source word becomes in at least `share` of
    the times it is linked to anything, and `least` times, is its translation.

    Args:
        source: Tokens by sentence.
        target: Likewise, in the case they are written in.
        links: Between them.
        least: Times a name must be seen with its translation.
        share: Of all times its source is seen.
        longest: Words in a name, on either side.
    """
    from meantime.matching.phrase_pairs import extract
    from meantime.smt.alignment import offsets_of

    source_offsets, target_offsets = offsets_of(source), offsets_of(target)
    pairs = extract(links.left, links.right, links.starts, source_offsets, target_offsets, longest)
    flat_source = [word for sentence in source for word in sentence]
    flat_target = [word for sentence in target for word in sentence]
    begins = set(target_offsets.tolist())
    pairs_of_links = numpy.repeat(numpy.arange(len(source)), numpy.diff(links.starts))
    linked = set((source_offsets[pairs_of_links] + links.left).tolist())
    small = Counter(word for word in flat_target if word.islower())
    capital = Counter(flat_target)
    seen: Counter[str] = Counter()
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for begin, size, place, length in pairs.tolist():
        words = flat_target[place : place + length]
        # A phrase may have words at its ends that go with nothing; a name has not.
        if begin not in linked or begin + size - 1 not in linked:
            continue
        text = "".join(flat_source[begin : begin + size])
        if not HAN.fullmatch(text) or len(text) < 2:
            continue
        seen[text] += 1
        if place in begins or not all(_is_name(word) for word in words):
            continue
        # A word that is usually written small is no name where it has a capital.
        if any(small[word.lower()] > capital[word] for word in words):
            continue
        # The whole of a run of capitalised words, not a part of it.
        end = place + length
        if (place - 1 not in begins and _is_name(flat_target[place - 1])) or (
            end not in begins and _is_name(flat_target[end])
        ):
            continue
        found[text][" ".join(words)] += 1
    names = {}
    for text, translations in found.items():
        best, often = min(translations.items(), key=lambda item: (-item[1], item[0]))
        if often >= least and often >= share * seen[text]:
            names[text] = best
    return NameDictionary(names)


def _is_name(word: str) -> bool:
    return word[:1].isupper() and any(character.islower() for character in word[1:])
