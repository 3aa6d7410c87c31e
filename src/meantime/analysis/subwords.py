"""Words as the encoder takes them: word pieces, and the shape that lower-casing loses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from meantime.errors import InputError

MOST_PIECES = 8
"""Pieces of one word that are used; only the first one's state is read."""

SHAPES = ("mark", "lower", "Upper", "UPPER", "First", "FIRST", "digit", "other")
"""What a word looks like: a mark around the sentence, or its case and characters."""
MARK = 0
OTHER = 7
FIRST = {2: 4, 3: 5}
"""What the upper-case shapes are in the first word of a sentence."""


class Encoded(NamedTuple):
    """A sentence as numbers: pieces, the shape of each one's word, where words begin."""

    pieces: list[int]
    shapes: list[int]
    firsts: list[int]


class Subwords:
    """Word pieces by the encoder's own tokeniser file, remembered word by word."""

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.start, self.end, self.unknown = (
            self._number(path, mark) for mark in ("[CLS]", "[SEP]", "[UNK]")
        )
        self._known: dict[str, tuple[list[int], int]] = {}

    def _number(self, path: Path, mark: str) -> int:
        found: int | None = self._tokenizer.token_to_id(mark)
        if found is None:
            raise InputError(f"{path}: has no {mark}; use the tokeniser of the encoder")
        return found

    def of(self, word: str) -> list[int]:
        """The pieces of a word, at least one and at most `MOST_PIECES`."""
        return self._look_up(word)[0]

    def _look_up(self, word: str) -> tuple[list[int], int]:
        """Pieces and shape of a word in the middle of a sentence."""
        found = self._known.get(word)
        if found is None:
            # Half a character (a lone surrogate) is no text to the tokeniser: a mark stands for it.
            whole = word.encode("utf-8", "replace").decode("utf-8")
            encoded = self._tokenizer.encode(whole, add_special_tokens=False).ids
            found = (encoded[:MOST_PIECES] or [self.unknown], _shape(word))
            if len(self._known) > 1 << 17:
                # Bounded: machine output brings new words without end.
                self._known.clear()
            self._known[word] = found
        return found

    def encode(self, words: Sequence[str]) -> Encoded:
        """A sentence, a mark before and behind it."""
        pieces = [self.start]
        shapes = [MARK]
        firsts = []
        begun = False
        known = self._known
        for word in words:
            own, shape = known.get(word) or self._look_up(word)
            if not begun and shape != OTHER:
                # The first word is upper case without meaning it.
                begun = True
                shape = FIRST.get(shape, shape)
            firsts.append(len(pieces))
            pieces += own
            shapes += [shape] * len(own)
        pieces.append(self.end)
        shapes.append(MARK)
        return Encoded(pieces, shapes, firsts)


def _shape(word: str) -> int:
    """What a word looks like, as its number in `SHAPES`."""
    if word[0].isalpha():
        if not word[0].isupper():
            return 1
        return 3 if len(word) > 1 and word.isupper() else 2
    return 6 if word[0].isdigit() else OTHER
