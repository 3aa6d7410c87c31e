"""Tokens and nothing found: for languages that have no parser yet, which is said in so many words.

A metric of the MEANT family compares whole sentences where there are no frames. With this analyser
it does so everywhere, for Chinese by characters, words of other scripts being whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from meantime.analysis.tokenise import tokenise
from meantime.types import Layer, Sentence

NAME = "unparsed"
_VERSION = "1"


class Unparsed:
    """Finds tokens, no tag that means anything, and no frame."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def identity(self) -> str:
        return _VERSION

    @property
    def layers(self) -> frozenset[Layer]:
        return frozenset({Layer.TOKENS, Layer.POS, Layer.FRAMES})

    @property
    def languages(self) -> frozenset[str]:
        return frozenset({"zh", "yue"})

    def analyse(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Copies with tokens, the tag XX for each, and no frames."""
        return [self._one(sentence) for sentence in sentences]

    def _one(self, sentence: Sentence) -> Sentence:
        if sentence.tokens is not None:
            return replace(sentence, pos=("XX",) * len(sentence.tokens), frames=())
        found = tokenise(sentence.text)
        return replace(
            sentence,
            tokens=tuple(token.text for token in found),
            offsets=tuple((token.start, token.end) for token in found),
            pos=("XX",) * len(found),
            frames=(),
        )
