"""NIST mteval SGML: source, reference and test sets.

The files are older than XML and seldom well-formed, so they are read by their tags alone: any
case, attributes with or without quotes, bare ampersands. White space in a segment is one space
wherever it runs, and none at the ends; a text that would change so is refused on writing.
Segments are matched by document and id. Languages count where they are stated as codes ("en"),
not as names ("English").
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from meantime.errors import FormatError, InputError
from meantime.formats import holding
from meantime.formats.opening import Text
from meantime.formats.table import Gathering, Key, Part, Request, Stream, Table, stated_language
from meantime.types import Corpus, Sentence

_PARTS = {"srcset": Part.SOURCE, "refset": Part.REFERENCE, "tstset": Part.HYPOTHESIS}
_NAMES = "srcset|refset|tstset|doc|seg"
_TAG = re.compile(
    rf"""<!--.*?-->|<(?P<close>/?)(?P<name>{_NAMES})\b(?P<rest>(?:[^<>"']|"[^"]*"|'[^']*')*)>""",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_SEGMENT_END = re.compile(r"</seg\s*>", re.IGNORECASE)
_STRAY = re.compile(rf"</?(?:{_NAMES})\b[^<>]*>", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n\f\v]+")
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_UNHOLDABLE = re.compile(r"^[ \t\r\n\f\v]|[ \t\r\n\f\v]\Z|[\t\r\n\f\v]|  ")


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    closing: bool
    attributes: dict[str, str]
    start: int
    end: int


@dataclass(slots=True)
class _Place:
    """Where in the file we are: the open set and document."""

    set: _Tag | None = None
    document: _Tag | None = None
    counts: dict[tuple[Stream, str | None], int] = field(default_factory=dict)


def parse(text: Text, request: Request) -> Table:
    """Read a set, or several.

    Raises:
        FormatError: A tag is out of place or not closed, or sets differ in their segments.
    """
    return _Reader(text, request).table()


class _Reader:
    def __init__(self, text: Text, request: Request) -> None:
        self._text = text
        self._request = request
        self._gathering = Gathering(text, request)
        self._ends = [match.end() for match in re.finditer("\n", text.content)]
        self._place = _Place()

    def table(self) -> Table:
        for tag in self._tags():
            if tag.name == "seg":
                self._segment(tag)
            elif tag.name == "doc":
                self._document(tag)
            else:
                self._set(tag)
        for open_tag in (self._place.document, self._place.set):
            if open_tag is not None:
                raise self._error(
                    open_tag, f"<{open_tag.name}> is never closed; the file may be cut short"
                )
        return self._gathering.table()

    def _tags(self) -> Iterator[_Tag]:
        position = 0
        while match := _TAG.search(self._text.content, position):
            position = match.end()
            if match["name"] is None:
                continue
            tag = _Tag(
                match["name"].lower(),
                bool(match["close"]),
                _attributes(match["rest"]),
                match.start(),
                match.end(),
            )
            yield tag
            if tag.name == "seg":
                position = self._segment_end(tag).end()

    def _segment_end(self, tag: _Tag) -> re.Match[str]:
        end = _SEGMENT_END.search(self._text.content, tag.end)
        if end is None or _STRAY.search(self._text.content, tag.end, end.start()):
            raise self._error(tag, "<seg> is never closed; put </seg> at its end")
        return end

    def _set(self, tag: _Tag) -> None:
        if tag.closing == (self._place.set is None) or self._place.document is not None:
            raise self._error(tag, f"<{tag.name}> is out of place; close what is open before it")
        self._place.set = None if tag.closing else tag

    def _document(self, tag: _Tag) -> None:
        if self._place.set is None or tag.closing == (self._place.document is None):
            raise self._error(tag, "<doc> is out of place; open and close it inside a set")
        self._place.document = None if tag.closing else tag

    def _segment(self, tag: _Tag) -> None:
        document, whole = self._place.document, self._place.set
        if tag.closing or document is None or whole is None:
            raise self._error(tag, "<seg> is out of place; put it inside a <doc>")
        part = _PARTS[whole.name]
        stream = Stream(part, "" if part is Part.SOURCE else _name(document, whole))
        document_id = document.attributes.get("docid") or None
        number = self._place.counts.get((stream, document_id), 0) + 1
        self._place.counts[stream, document_id] = number
        key = Key(document_id, tag.attributes.get("id") or str(number))
        content = self._text.content[tag.end : self._segment_end(tag).start()]
        sentence = self._sentence(part, _clean(content), whole)
        self._gathering.add(stream, key, sentence, self._line(tag))

    def _sentence(self, part: Part, text: str, whole: _Tag) -> Sentence:
        if part is Part.SOURCE:
            return self._request.source(text, stated_language(whole.attributes.get("srclang")))
        return self._request.target(text, stated_language(whole.attributes.get("trglang")))

    def _line(self, tag: _Tag) -> int:
        return bisect_right(self._ends, tag.start) + 1

    def _error(self, tag: _Tag, what: str) -> FormatError:
        return FormatError(f"{self._text.name}:{self._line(tag)}: {what}")


def _name(document: _Tag, whole: _Tag) -> str:
    for attributes in (document.attributes, whole.attributes):
        for attribute in ("sysid", "refid"):
            if attributes.get(attribute):
                return attributes[attribute]
    return ""


def _attributes(content: str) -> dict[str, str]:
    return {
        match[1].lower(): _unescape(match[2] or match[3] or match[4] or "")
        for match in _ATTRIBUTE.finditer(content)
    }


def _clean(content: str) -> str:
    return _unescape(_SPACE.sub(" ", content).strip(" "))


def _unescape(content: str) -> str:
    # One pass, so that "&amp;lt;" is the text "&lt;".
    return _ENTITY.sub(lambda match: _CHARACTERS[match[1]], content)


def _escape(content: str) -> str:
    for name, character in _CHARACTERS.items():
        if character != "'":
            content = content.replace(character, f"&{name};")
    return content


def render(corpus: Corpus, name: str, format: str) -> str:
    """Write source, reference and test sets into one file.

    Raises:
        InputError: The corpus holds what the format cannot.
    """
    holding.check_keys(corpus, name)
    holding.refuse_characters(
        corpus,
        name,
        _UNHOLDABLE,
        "white space this format joins (at an end, repeated, or a line break); use jsonl",
        labels=False,
    )
    count = holding.reference_count(corpus, name)
    languages = holding.languages(corpus, name)
    for language in languages:
        if language is not None and stated_language(language) is None:
            raise InputError(f"{name}: {language!r} is no language code; use one such as 'en'")
    source = f'setid="meantime" srclang="{languages.source or "any"}"'
    both = f'{source} trglang="{languages.target or "any"}"'
    sets: list[str] = []
    if holding.has_source(corpus, name):
        texts = [one.source.text for one in corpus.segments if one.source is not None]
        sets += _set_lines(corpus, f"srcset {source}", "", texts)
    for number in range(count):
        texts = [segment.references[number].text for segment in corpus.segments]
        sets += _set_lines(corpus, f"refset {both}", f"reference{number + 1}", texts)
    for system, sentences in corpus.outputs.items():
        texts = [sentence.text for sentence in sentences]
        sets += _set_lines(corpus, f"tstset {both}", system, texts)
    return "".join(f"{line}\n" for line in sets)


def _set_lines(corpus: Corpus, opening: str, system: str, texts: Sequence[str]) -> Iterator[str]:
    yield f"<{opening}>"
    for run in holding.runs(corpus):
        attribute = f' sysid="{_escape(system)}"' if system else ""
        yield f'<doc docid="{_escape(run.document or "")}"{attribute}>'
        for number, segment in enumerate(run.segments, start=run.start):
            yield f'<seg id="{_escape(segment.id)}">{_escape(texts[number])}</seg>'
        yield "</doc>"
    yield f"</{opening.partition(' ')[0]}>"
