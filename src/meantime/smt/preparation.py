"""From a text to the tokens a system works on, and back.

A source text goes through: names of the dictionary and numbers, dates and percentages by rule,
each rendered in English as one token; words (Chinese by a segmenter); the case the first word has
inside a sentence. A decoder leaves words it does not know as they are, so that a rendering comes
out even where it was never seen, and where it was, the phrase table knows better. What comes out
is joined to text, with capitals where sentences begin.

All of it is part of a model and stands in its folder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from meantime.errors import FormatError, OptionError
from meantime.formats.opening import decode, encode, load, save
from meantime.smt import numbers
from meantime.smt.names import NameDictionary, read_names
from meantime.smt.segmenters import Segment, open_segmenter
from meantime.smt.truecasing import Truecaser, capitalise, train_truecaser
from meantime.smt.words import HAN, SPACE, join_words, split_words, unspaced
from meantime.types import primary

CASES = ("true", "lower", "keep")
FILE = "preparation.json"
_SEGMENTER = "segmenter.tsv"
_NAMES = "names.tsv"
_ESCAPED = {"|||": "¦¦¦", "<s>": "<s >", "</s>": "</s >", "<unk>": "<unk >"}
"""Never written by the rules for words, but a segmenter's list may hold anything."""


@dataclass(frozen=True)
class Preparation:
    """How texts of a language pair become tokens."""

    source: str
    target: str
    case: str = "true"
    """`true`, `lower` (all output is lower case) or `keep`."""
    segmenter: str = "jieba"
    """For Chinese, on whichever side it is."""
    numbers: bool = False
    """Whether Chinese numbers, dates and percentages are rendered in English."""
    names: NameDictionary | None = None
    source_case: Truecaser | None = None
    target_case: Truecaser | None = None
    folder: Path | None = field(default=None, compare=False)
    """Where the files it names are, once it is part of a model."""

    def __post_init__(self) -> None:
        if self.case not in CASES:
            raise OptionError(f"unknown case {self.case!r}; take one of {', '.join(CASES)}")
        if self.numbers and not (unspaced(self.source) and primary(self.target) == "en"):
            raise OptionError(
                f"numbers are rendered from Chinese in English, and this is {self.source} to "
                f"{self.target}; leave out --numbers"
            )

    # From text to tokens

    @cached_property
    def _segment(self) -> Segment:
        name, colon, file = self.segmenter.partition(":")
        if colon and self.folder is not None:
            file = str(self.folder / file)
        words = self.names.forms if self.names and unspaced(self.source) else ()
        return open_segmenter(f"{name}{colon}{file}", words=[w for w in words if HAN.fullmatch(w)])

    def _words(self, text: str, lang: str) -> list[str]:
        segment = self._segment if unspaced(lang) else None
        words = split_words(text, lang, segment)
        return [_ESCAPED.get(word, word).replace(SPACE, "_").replace(" ", "") for word in words]

    def source_tokens(self, text: str) -> list[str]:
        """Tokens of a source text."""
        tokens: list[str] = []
        last = 0
        for start, end, english in self._rendered(text):
            tokens += self._words(text[last:start], self.source)
            tokens.append(english.replace(" ", SPACE))
            last = end
        tokens += self._words(text[last:], self.source)
        if self.names is not None and not unspaced(self.source):
            tokens = self.names.replace_words(tokens)
        return self._cased(tokens, self.source_case)

    def target_tokens(self, text: str) -> list[str]:
        """Tokens of a target text, to learn from."""
        return self._cased(self._words(text, self.target), self.target_case)

    def _cased(self, tokens: list[str], truecaser: Truecaser | None) -> list[str]:
        if self.case == "lower":
            return [token.lower() for token in tokens]
        return truecaser.apply(tokens) if truecaser is not None else tokens

    def _rendered(self, text: str) -> list[tuple[int, int, str]]:
        """What is not left to the phrase table: place, end, English; in order, none overlapping."""
        if not unspaced(self.source):
            return []
        found: list[tuple[int, int, str]] = []
        if self.names is not None:
            found += self.names.find(text)
        if self.numbers:
            taken = [(start, end) for start, end, _ in found]
            found += [
                (one.start, one.end, one.english)
                for one in numbers.find(text)
                if all(one.end <= start or end <= one.start for start, end in taken)
            ]
        return sorted(found)

    # And back

    def finish(self, tokens: Sequence[str]) -> str:
        """The text of the decoder's tokens."""
        text = join_words(tokens, self.target)
        return capitalise(text) if self.case == "true" and not unspaced(self.target) else text

    # Learning and keeping

    def learned(self, source: Sequence[str], target: Sequence[str]) -> Preparation:
        """With truecasers of these texts, where the case asks for them."""
        if self.case != "true":
            return self
        bare = replace(self, case="keep", source_case=None, target_case=None)
        return replace(
            self,
            source_case=None
            if unspaced(self.source)
            else train_truecaser(bare.source_tokens(text) for text in source),
            target_case=None
            if unspaced(self.target)
            else train_truecaser(bare.target_tokens(text) for text in target),
        )

    def describe(self) -> dict[str, Any]:
        """What is done, in a few plain values."""
        return {
            "source": self.source,
            "target": self.target,
            "case": self.case,
            "segmenter": self.segmenter if unspaced(self.source) or unspaced(self.target) else None,
            "numbers": self.numbers,
            "names": len(self.names) if self.names is not None else None,
        }

    def save(self, folder: Path) -> None:
        """Write it into a model's folder, with the files it depends on."""
        name, colon, file = self.segmenter.partition(":")
        if colon:
            save(folder / _SEGMENTER, load(self.folder / file if self.folder else file))
        if self.names is not None:
            self.names.save(folder / _NAMES)
        content = {
            **{key: getattr(self, key) for key in ("source", "target", "case", "numbers")},
            "segmenter": f"{name}:{_SEGMENTER}" if colon else name,
            "names": _NAMES if self.names is not None else None,
            "source_case": self.source_case and dict(self.source_case.forms),
            "target_case": self.target_case and dict(self.target_case.forms),
        }
        text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True)
        save(folder / FILE, encode(text + "\n"))


def read_preparation(folder: Path) -> Preparation:
    """What `Preparation.save` wrote.

    Raises:
        FormatError: It is damaged.
    """
    path = folder / FILE
    try:
        content = json.loads(decode(str(path), load(path)))
        names = content.pop("names")
        cases = {
            key: Truecaser(forms) if (forms := content.pop(key)) is not None else None
            for key in ("source_case", "target_case")
        }
        return Preparation(
            **content,
            source_case=cases["source_case"],
            target_case=cases["target_case"],
            names=read_names(folder / names) if names is not None else None,
            folder=folder,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{path}: damaged ({error}); train the model again") from error
