"""Letters in the case they have inside a sentence, and back.

The first word of a sentence is written with a capital whatever it is, so a system that keeps
case would learn most words twice. A truecaser gives it the form it has most often elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_ENDS = frozenset(". ! ? : \" “ ” ' ‘ ’ ( ) [ ] « » … - — *".split())


@dataclass(frozen=True)
class Truecaser:
    """The usual form of words by their lower-cased form; what is not there is lower case."""

    forms: Mapping[str, str]

    def apply(self, words: Sequence[str]) -> list[str]:
        """Words of a sentence, those that begin it in their usual form."""
        cased = list(words)
        for place in _beginnings(words):
            cased[place] = self.usual(words[place])
        return cased

    def usual(self, word: str) -> str:
        """The form a word has inside a sentence."""
        lower = word.lower()
        found = self.forms.get(lower)
        if found is not None:
            return found
        # Never seen: a capital alone says nothing here, other capitals do.
        return lower if word[1:] == lower[1:] else word


def train_truecaser(sentences: Iterable[Sequence[str]]) -> Truecaser:
    """Count the forms of words where they do not begin a sentence."""
    inside: dict[str, Counter[str]] = {}
    for words in sentences:
        begins = set(_beginnings(words))
        for place, word in enumerate(words):
            if place not in begins and word.lower() != word.upper():
                inside.setdefault(word.lower(), Counter())[word] += 1
    forms = {}
    for lower, counts in inside.items():
        best = max(counts.values())
        # Of equals the lower-cased form, which is the commoner guess.
        usual = min(
            (word for word in counts if counts[word] == best), key=lambda w: (w != lower, w)
        )
        if usual != lower:
            forms[lower] = usual
    return Truecaser(forms)


def _beginnings(words: Sequence[str]) -> list[int]:
    """Places of words that begin a sentence, also behind a full stop within the line."""
    places = []
    begins = True
    for place, word in enumerate(words):
        if begins and any(character.isalnum() for character in word):
            places.append(place)
            begins = False
        elif word in (".", "!", "?", "..."):
            begins = True
        elif not begins or word in _ENDS:
            continue
    return places


def capitalise(text: str) -> str:
    """A text with a capital where each of its sentences begins."""
    out = []
    begins = True
    stop = False
    for character in text:
        if begins and character.isalnum():
            # A word that is a name with a small letter first ("iPhone") is too rare to ask for.
            out.append(character.upper() if len(character.upper()) == 1 else character)
            begins = False
            stop = False
            continue
        if character in ".!?":
            stop = True
        elif character == " " and stop:
            begins = True
        elif character.isalnum():
            stop = False
        out.append(character)
    return "".join(out)
