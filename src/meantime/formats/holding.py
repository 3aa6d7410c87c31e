"""What a format can hold: checks before writing, so that nothing is lost in silence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from meantime.errors import InputError
from meantime.formats.table import UNNAMED
from meantime.types import Corpus, Segment, Sentence

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Languages(NamedTuple):
    """The languages of a corpus; `None` where it has no such text."""

    source: str | None
    target: str | None


class Run(NamedTuple):
    """Segments in a row that share a document; `start` counts from the corpus's first."""

    document: str | None
    start: int
    segments: tuple[Segment, ...]

    def output(self, corpus: Corpus, system: str) -> tuple[Sentence, ...]:
        """One system's hypotheses for these segments."""
        return corpus.outputs[system][self.start : self.start + len(self.segments)]


def runs(corpus: Corpus) -> list[Run]:
    """The corpus cut where the document changes."""
    found = []
    for document, group in groupby(
        enumerate(corpus.segments), key=lambda numbered: numbered[1].document
    ):
        numbered = list(group)
        found.append(Run(document, numbered[0][0], tuple(segment for _, segment in numbered)))
    return found


def texts(corpus: Corpus) -> Iterator[tuple[Segment, str]]:
    """Every text of the corpus with its segment."""
    for number, segment in enumerate(corpus.segments):
        if segment.source is not None:
            yield segment, segment.source.text
        for reference in segment.references:
            yield segment, reference.text
        for sentences in corpus.outputs.values():
            yield segment, sentences[number].text


def check_writable(corpus: Corpus, name: str) -> None:
    """Refuse what no format can hold: no segment, and half characters.

    Raises:
        InputError: The corpus is such a one.
    """
    if not corpus.segments:
        raise InputError(f"{name}: the corpus holds no segment; there is nothing to write")
    if next(texts(corpus), None) is None:
        raise InputError(f"{name}: no segment has a text; there is nothing to write")
    if UNNAMED in corpus.outputs:
        raise InputError(f"{name}: a system has an empty name; name it")
    refuse_characters(corpus, name, _SURROGATE, "a lone surrogate; repair the text")


def check_keys(corpus: Corpus, name: str, *, empty_document: bool = False) -> None:
    """Refuse segments that their document and id do not tell apart.

    Raises:
        InputError: Two segments share both, an id is empty, or a document's name is empty
            where the format (`empty_document` false) would read it as no document.
    """
    seen = set()
    for segment in corpus.segments:
        key = (segment.document, segment.id)
        if not segment.id or key in seen:
            raise refusal(name, segment, "its id is empty or not its own; number the segments")
        if segment.document == "" and not empty_document:
            raise refusal(name, segment, "its document's name is empty; name it or use jsonl")
        seen.add(key)


def languages(corpus: Corpus, name: str) -> Languages:
    """The one source and the one target language of a corpus.

    Raises:
        InputError: There are several.
    """
    sources = {segment.source.lang for segment in corpus.segments if segment.source is not None}
    targets = {one.lang for segment in corpus.segments for one in segment.references}
    targets.update(one.lang for sentences in corpus.outputs.values() for one in sentences)
    for found in (sources, targets):
        if len(found) > 1 or "" in found:
            raise InputError(
                f"{name}: languages {', '.join(sorted(found))} on one side; a file holds one "
                "source and one target language: write one file for each"
            )
    return Languages(next(iter(sources), None), next(iter(targets), None))


def reference_count(corpus: Corpus, name: str, *, most: int | None = None) -> int:
    """How many references every segment has.

    Raises:
        InputError: The segments differ, or have more than the format can hold (`most`).
    """
    count = len(corpus.segments[0].references)
    for segment in corpus.segments:
        have = len(segment.references)
        if have != count:
            raise refusal(name, segment, f"{have} references, others {count}; use jsonl or tmx")
        if most is not None and have > most:
            raise refusal(name, segment, f"{have} references, at most {most} fit; use jsonl or tmx")
    return count


def has_source(corpus: Corpus, name: str) -> bool:
    """Whether the segments have a source.

    Raises:
        InputError: Some have one and some do not.
    """
    first = corpus.segments[0].source is not None
    for segment in corpus.segments:
        if (segment.source is not None) != first:
            raise refusal(name, segment, "some segments have a source, some not; use jsonl or tmx")
    return first


def refuse_characters(
    corpus: Corpus, name: str, pattern: re.Pattern[str], what: str, *, labels: bool = True
) -> None:
    """Refuse texts in which a pattern is found, and ids and names unless `labels` is false.

    Raises:
        InputError: Such a text is there; `what` says what it is and the remedy.
    """
    for segment, text in texts(corpus):
        if pattern.search(text):
            raise refusal(name, segment, f"its text holds {what}")
    if not labels:
        return
    for segment in corpus.segments:
        if pattern.search(segment.id) or pattern.search(segment.document or ""):
            raise refusal(name, segment, f"its id or document holds {what}")
    for system in corpus.outputs:
        if pattern.search(system):
            raise InputError(f"{name}: system {system!r}: its name holds {what}")


def check_xml(corpus: Corpus, name: str) -> None:
    """Refuse what no XML file can hold.

    Raises:
        InputError: A control character, or segments that their ids do not tell apart.
    """
    check_keys(corpus, name)
    refuse_characters(
        corpus, name, _NOT_XML, "a control character XML cannot hold; remove it or use jsonl"
    )


def refusal(name: str, segment: Segment, what: str) -> InputError:
    """The error for a segment that cannot be written."""
    return InputError(f"{name}: segment {segment.id!r}: {what}")
