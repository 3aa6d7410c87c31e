"""What a file of any format comes to: segments, each with its texts, complete and checked.

A reader tells a `Gathering` every text it meets; the gathering refuses what is said twice or
missing and gives back a `Table`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from meantime.errors import FormatError
from meantime.formats.opening import Text
from meantime.types import Sentence

UNNAMED = ""
"""The system of a file that names none; it is called after the file."""

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_UNKNOWN_LANGUAGES = frozenset({"any", "unk"})


class Part(StrEnum):
    """What a file is read for."""

    EVERYTHING = "everything"
    SOURCE = "source"
    REFERENCE = "reference"
    HYPOTHESIS = "hypothesis"

    # Hashed for every text of a corpus, where the one of enumerations takes its time.
    __hash__ = str.__hash__


class Key(NamedTuple):
    """What tells one segment from another: ids may start again in each document."""

    document: str | None
    id: str

    def __str__(self) -> str:
        where = "" if self.document is None else f" of document {self.document!r}"
        return f"segment {self.id!r}{where}"


class Stream(NamedTuple):
    """A text every segment has: the source, one of the references, one system's output."""

    part: Part
    name: str

    def __str__(self) -> str:
        return f"{self.part} {self.name!r}" if self.name else f"the {self.part}"


_SOURCE = Stream(Part.SOURCE, "")


@dataclass(frozen=True, slots=True)
class Request:
    """What a file is read for, in which format, and the languages of texts that state none."""

    part: Part
    format: str
    lang: str
    source_lang: str | None = None

    def target(self, text: str, lang: str | None = None) -> Sentence:
        """A reference or a hypothesis."""
        return Sentence(text, lang or self.lang)

    def source(self, text: str, lang: str | None = None) -> Sentence:
        """A source."""
        return Sentence(text, lang or self.source_lang or "und")


@dataclass(frozen=True, slots=True)
class Entry:
    """One segment as a file has it, and the line where it begins."""

    key: Key
    line: int
    source: Sentence | None
    references: tuple[Sentence, ...]
    hypotheses: Mapping[str, Sentence]


@dataclass(frozen=True, slots=True)
class Table:
    """All segments of a file.

    `keyed` says that the ids stand in the file; otherwise they count the segments.
    """

    text: Text
    request: Request
    keyed: bool
    entries: tuple[Entry, ...]
    systems: tuple[str, ...]


def stated_language(value: str | None) -> str | None:
    """A language code as a file states it; `None` for names ("English") and for "any"."""
    if not value or not _LANGUAGE.fullmatch(value) or value.lower() in _UNKNOWN_LANGUAGES:
        return None
    return value


@dataclass(slots=True)
class _Draft:
    line: int
    texts: dict[Stream, Sentence] = field(default_factory=dict)
    lines: dict[Stream, int] = field(default_factory=dict)


class Gathering:
    """Collects the texts of one file and checks that they are complete.

    Texts that are not of the part the file is read for are left aside.
    """

    def __init__(self, text: Text, request: Request, *, repeats: bool = False) -> None:
        """Begin.

        Args:
            text: The file.
            request: What it is read for.
            repeats: Whether a source or reference may be said again in the same words.
        """
        self._text = text
        self._request = request
        self._repeats = repeats
        self._drafts: dict[Key, _Draft] = {}
        self._streams: dict[Stream, None] = {}

    def open(self, key: Key, line: int) -> None:
        """Say that there is such a segment."""
        if key not in self._drafts:
            self._drafts[key] = _Draft(line)

    def expect(self, stream: Stream) -> None:
        """Say that a text comes before those first met later."""
        if self._request.part in (Part.EVERYTHING, stream.part):
            self._streams.setdefault(stream)

    def add(self, stream: Stream, key: Key, sentence: Sentence, line: int) -> None:
        """Say what the text of a segment is.

        Raises:
            FormatError: It has been said before.
        """
        self.open(key, line)
        if self._request.part not in (Part.EVERYTHING, stream.part):
            return
        self._streams.setdefault(stream)
        draft = self._drafts[key]
        if stream not in draft.texts:
            draft.texts[stream] = sentence
            draft.lines[stream] = line
        elif not self._repeats or stream.part is Part.HYPOTHESIS:
            raise self._error(
                line, f"{stream} has {key} again, first in line {draft.lines[stream]}; keep one"
            )
        elif draft.texts[stream] != sentence:
            raise self._error(
                line,
                f"{stream} of {key} differs from the one in line {draft.lines[stream]}; "
                "make them equal or give each segment an id of its own",
            )

    def table(self, *, keyed: bool = True, uneven: bool = False) -> Table:
        """Everything said, in the order of the first mention.

        Args:
            keyed: Whether the ids stand in the file.
            uneven: Whether some segments may have fewer references than others, or no source.

        Raises:
            FormatError: There is no segment, or a text is missing.
        """
        if not self._drafts:
            raise no_segment(self._text)
        for stream in self._streams:
            if not uneven or stream.part is Part.HYPOTHESIS:
                self._check(stream)
        references, hypotheses = self._of(Part.REFERENCE), self._of(Part.HYPOTHESIS)
        entries = []
        for key, draft in self._drafts.items():
            texts = draft.texts
            entries.append(
                Entry(
                    key,
                    draft.line,
                    texts.get(_SOURCE),
                    tuple([texts[one] for one in references if one in texts]),
                    {one.name: texts[one] for one in hypotheses},
                )
            )
        systems = tuple(stream.name for stream in hypotheses)
        return Table(self._text, self._request, keyed, tuple(entries), systems)

    def _of(self, part: Part) -> list[Stream]:
        return [stream for stream in self._streams if stream.part is part]

    def _check(self, stream: Stream) -> None:
        for key, draft in self._drafts.items():
            if stream not in draft.texts:
                raise self._error(
                    draft.line,
                    f"{stream} lacks {key}; add it, or take the segment out everywhere",
                )

    def _error(self, line: int, what: str) -> FormatError:
        return FormatError(f"{self._text.name}:{line}: {what}")


def no_segment(text: Text) -> FormatError:
    """The error for a file in which nothing was found."""
    return FormatError(f"{text.name}:1: holds no segment; check that it is the right file")
