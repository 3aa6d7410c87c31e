"""Synonyms from a WordNet dictionary folder.

Reads the folder as Princeton distributes it (`index.noun`, `index.verb`, `index.adj`,
`index.adv`, and the exceptions `noun.exc` and so on), any version. Nothing is read before
the first look-up. Only single words are kept, each with its line as bytes; a line is
taken apart when its word is asked for.

The sets of a word are those of the word itself and of its base forms. Base forms are found
as METEOR 1.5 finds them: those the exceptions give, of whatever part of speech, and where
they give none, the first that a suffix rule makes and the dictionary knows.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from pathlib import Path

from meantime.errors import FormatError, MissingPart

PLACES = (
    "/usr/share/wordnet",
    "/usr/share/wordnet/dict",
    "/usr/share/wordnet-3.1/dict",
    "/usr/share/wordnet-3.0/dict",
    "/usr/local/share/wordnet",
    "/usr/local/share/wordnet/dict",
    "/usr/local/WordNet-3.1/dict",
    "/usr/local/WordNet-3.0/dict",
    "/usr/local/opt/wordnet/dict",
    "/opt/homebrew/opt/wordnet/dict",
    "/opt/local/share/WordNet-3.0/dict",
)
"""Where a WordNet is looked for: Debian, Fedora, Princeton's installer, Homebrew, MacPorts."""

_PARTS = ("noun", "verb", "adj", "adv")

# Offsets are unique within a part of speech only, and have eight digits.
_PART_STEP = 10**8

_RULES = (
    # Nouns
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
    # Verbs
    ("s", ""),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    # Adjectives
    ("er", ""),
    ("est", ""),
    ("er", "e"),
    ("est", "e"),
)
"""WordNet's rules of detachment, in its order: an ending and what takes its place."""

# A line of an index: word, part of speech, and the numbers. Words of several parts are
# written with an underscore and never equal a token; licence lines start with a space.
_LINE = re.compile(rb"^([^ _\n]+) [nvar] (.*)$", re.MULTILINE)

_VERSION = re.compile(rb"WordNet (\d+(?:\.\d+)+)")


class WordNet:
    """The synonym sets of a WordNet folder. Made with `open_wordnet`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, tuple[int, ...]] = {}

    @cached_property
    def version(self) -> str:
        """The version the files name, such as 3.0."""
        with (self.folder / "index.noun").open("rb") as file:
            named = _VERSION.search(file.read(4096))
        return named.group(1).decode() if named else "unknown"

    @cached_property
    def _lines(self) -> tuple[dict[bytes, bytes], ...]:
        return tuple(
            dict(_LINE.findall((self.folder / f"index.{part}").read_bytes())) for part in _PARTS
        )

    @cached_property
    def _exceptions(self) -> dict[str, tuple[str, ...]]:
        """Irregular forms with their bases, over all parts of speech."""
        found: dict[str, tuple[str, ...]] = {}
        for part in _PARTS:
            path = self.folder / f"{part}.exc"
            if not path.exists():
                continue
            for line in path.read_text(encoding="utf-8").splitlines():
                form, *bases = line.split() or [""]
                found[form] = found.get(form, ()) + tuple(bases)
        return found

    def _own_sets(self, word: str) -> tuple[int, ...]:
        """The sets a word itself is in, in the order of the files."""
        # A lone surrogate has no UTF-8, and no line in the files either.
        key = word.encode("utf-8", "replace")
        sets: list[int] = []
        for number, lines in enumerate(self._lines, start=1):
            line = lines.get(key)
            if line is None:
                continue
            fields = line.split()
            try:
                count = int(fields[0])
                sets += [number * _PART_STEP + int(offset) for offset in fields[-count:]]
            except ValueError as error:
                part = _PARTS[number - 1]
                raise FormatError(
                    f"{self.folder / f'index.{part}'}: the line of {word!r} is not one of a "
                    "WordNet index; give the folder of an unchanged WordNet"
                ) from error
        return tuple(sets)

    def _base_sets(self, word: str) -> tuple[int, ...]:
        """The sets of the base forms of a word."""
        if word in self._exceptions:
            return tuple(
                number for base in self._exceptions[word] for number in self._own_sets(base)
            )
        if word.endswith("ss") or len(word) <= 2:
            return ()
        for ending, replacement in _RULES:
            if word.endswith(ending):
                sets = self._own_sets(word[: -len(ending)] + replacement)
                if sets:
                    return sets
        return ()

    def sets(self, word: str) -> tuple[int, ...]:
        """Numbers of the synonym sets of a lowercased word and its base forms, ascending."""
        known = self._known.get(word)
        if known is None:
            known = tuple(sorted({*self._own_sets(word), *self._base_sets(word)}))
            self._known[word] = known
        return known


def find_wordnet(path: str | None) -> Path | None:
    """The folder of a WordNet: the one given, or one in the usual places, or None.

    A folder whose `dict` holds the files is taken as well.
    """
    for place in PLACES if path is None else (path, f"{path}/dict"):
        folder = Path(place).expanduser()
        if all((folder / f"index.{part}").is_file() for part in _PARTS):
            return folder
    return None


@cache
def _shared(folder: Path) -> WordNet:
    return WordNet(folder)


def open_wordnet(path: str | None) -> WordNet:
    """A WordNet, loaded when first asked and then shared.

    Args:
        path: Its dictionary folder; None looks in the usual places.

    Raises:
        MissingPart: There is none.
    """
    folder = find_wordnet(path)
    if folder is None:
        where = "in the usual places" if path is None else f"in {path}"
        raise MissingPart(
            f"no WordNet {where} (index.noun, index.verb, index.adj and index.adv), which "
            "meteor's synonym module needs; install the package wordnet-base (Debian, "
            "Ubuntu), or give its folder with meteor:wordnet=PATH, or do without synonyms "
            "with meteor:modules=exact+stem"
        )
    return _shared(folder)
