"""XLIFF 1.2 and 2.x, as localisation tools write them.

A translation unit (1.2) or a segment of a unit (2.x) is a segment; units that say
`translate="no"` are none. The `<target>` is the reference, or the hypothesis where the file is
given as one; proposals (`<alt-trans>` in 1.2, the matches module in 2.x) are hypotheses, their
system is their origin. Of inline codes, those around text keep the text, the others vanish. The
`original` of a `<file>` (else its id) is the document. An empty target of a unit whose state
says that it is not translated is no target.

Writing gives XLIFF 1.2, which holds one reference and needs a source.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from meantime.formats import holding, markup
from meantime.formats.opening import Text
from meantime.formats.table import Gathering, Key, Part, Request, Stream, Table
from meantime.types import Corpus

NAMESPACE = "urn:oasis:names:tc:xliff:document:1.2"
_CODES = frozenset({"ph", "bpt", "ept", "it", "x", "bx", "ex", "sc", "ec", "sm", "em", "cp"})
_UNTRANSLATED = frozenset({"new", "needs-translation", "initial"})


def parse(text: Text, request: Request) -> Table:
    """Read the units of every file in it.

    Raises:
        FormatError: The file is no XLIFF, or a unit lacks what others have.
    """
    root = markup.parse_tree(text, "xliff")
    reader = _Reader(text, request)
    for file in markup.descendants(root, "file"):
        document = markup.attribute(file, "original", "id")
        for unit in markup.descendants(file, "trans-unit"):
            reader.read_old(unit, document, file)
        for unit in markup.descendants(file, "unit"):
            reader.read_new(unit, document, root)
    reader.check_targets()
    return reader.gathering.table()


class _Reader:
    def __init__(self, text: Text, request: Request) -> None:
        self.gathering = Gathering(text, request)
        self._text = text
        self._request = request
        self._translated = False
        self._untranslated: list[tuple[etree._Element, Key]] = []

    def check_targets(self) -> None:
        """Refuse a file in which some units have a target and some do not."""
        needed = self._request.part in (Part.REFERENCE, Part.HYPOTHESIS) or self._translated
        if self._untranslated and needed and self._request.part is not Part.SOURCE:
            unit, key = self._untranslated[0]
            raise markup.fault(
                self._text,
                unit,
                f"{key} has no <target>; translate it and export the file again, "
                'or mark the unit translate="no"',
            )

    def read_old(self, unit: etree._Element, document: str | None, file: etree._Element) -> None:
        """Read a `<trans-unit>` of XLIFF 1.2."""
        if not _translatable(unit):
            return
        key = Key(document, self._id(unit))
        languages = (
            markup.attribute(file, "source-language"),
            markup.attribute(file, "target-language"),
        )
        self._read_pair(unit, key, languages)
        for proposal in markup.children(unit, "alt-trans"):
            if (markup.attribute(proposal, "alttranstype") or "proposal") == "proposal":
                self._read_proposal(proposal, key, languages[1])

    def read_new(self, unit: etree._Element, document: str | None, root: etree._Element) -> None:
        """Read a `<unit>` of XLIFF 2.x."""
        if not _translatable(unit):
            return
        languages = (markup.attribute(root, "srcLang"), markup.attribute(root, "trgLang"))
        segments = list(markup.children(unit, "segment"))
        keys = {}
        for number, segment in enumerate(segments, start=1):
            own = markup.attribute(segment, "id") or str(number)
            suffix = f"/{own}" if len(segments) > 1 else ""
            keys[own] = Key(document, self._id(unit) + suffix)
            self._read_pair(segment, keys[own], languages)
        for proposal in _matches(unit):
            key = self._proposed(proposal, keys)
            self._read_proposal(proposal, key, languages[1])

    def _id(self, unit: etree._Element) -> str:
        found = markup.attribute(unit, "id")
        if found is None:
            raise markup.fault(self._text, unit, "a unit has no id; give it one")
        return found

    def _read_pair(
        self, unit: etree._Element, key: Key, languages: tuple[str | None, str | None]
    ) -> None:
        line = markup.line_of(unit)
        source = markup.child(unit, "source")
        if source is None:
            raise markup.fault(self._text, unit, f"{key} has no <source>; export the file again")
        sentence = self._request.source(self._inner(source), languages[0])
        self.gathering.add(Stream(Part.SOURCE, ""), key, sentence, line)
        target = markup.child(unit, "target")
        content = "" if target is None else self._inner(target)
        state = unit.get("state") if target is None else target.get("state", unit.get("state"))
        if target is None or (not content and state in _UNTRANSLATED):
            self._untranslated.append((unit, key))
            return
        self._translated = True
        hypothesis = self._request.part is Part.HYPOTHESIS
        stream = Stream(Part.HYPOTHESIS if hypothesis else Part.REFERENCE, "")
        lang = markup.attribute(target, markup.XML_LANG) or languages[1]
        self.gathering.add(stream, key, self._request.target(content, lang), line)

    def _read_proposal(self, proposal: etree._Element, key: Key, lang: str | None) -> None:
        target = markup.child(proposal, "target")
        if target is None or self._request.part is not Part.EVERYTHING:
            return
        system = markup.attribute(proposal, "origin", "tool", "tool-id") or "match"
        own = markup.attribute(target, markup.XML_LANG)
        sentence = self._request.target(self._inner(target), own or lang)
        stream = Stream(Part.HYPOTHESIS, system)
        self.gathering.add(stream, key, sentence, markup.line_of(proposal))

    def _proposed(self, proposal: etree._Element, keys: dict[str, Key]) -> Key:
        if len(keys) == 1:
            return next(iter(keys.values()))
        place = (markup.attribute(proposal, "ref") or "").rpartition("#")[2].removeprefix("/")
        if place not in keys:
            raise markup.fault(
                self._text,
                proposal,
                f"a match is for {place!r}, no segment of its unit; let its ref name a segment",
            )
        return keys[place]

    def _inner(self, element: etree._Element) -> str:
        return markup.text_of(self._text, element, _CODES)


def _translatable(unit: etree._Element) -> bool:
    """Whether a unit is to be translated: the nearest statement around it counts."""
    stated = unit.get("translate")
    around = (one.get("translate") for one in unit.iterancestors())
    return (stated or next(filter(None, around), "yes")) != "no"


def _matches(unit: etree._Element) -> Iterator[etree._Element]:
    for matches in markup.children(unit, "matches"):
        yield from markup.children(matches, "match")


def render(corpus: Corpus, name: str, format: str) -> str:
    """Write XLIFF 1.2.

    Raises:
        InputError: The corpus holds what the format cannot.
    """
    holding.check_xml(corpus, name)
    holding.reference_count(corpus, name, most=1)
    if not holding.has_source(corpus, name):
        raise holding.refusal(
            name, corpus.segments[0], "no source, which XLIFF needs; add it or use jsonl"
        )
    languages = holding.languages(corpus, name)
    root = etree.fromstring(f'<xliff xmlns="{NAMESPACE}" version="1.2"/>')
    for run in holding.runs(corpus):
        file = etree.SubElement(root, _tag("file"))
        file.set("original", run.document or "")
        file.set("datatype", "plaintext")
        file.set("source-language", languages.source or "und")
        if languages.target is not None:
            file.set("target-language", languages.target)
        body = etree.SubElement(file, _tag("body"))
        for number, segment in enumerate(run.segments, start=run.start):
            unit = etree.SubElement(body, _tag("trans-unit"), {"id": segment.id})
            if segment.source is not None:
                markup.add_text(unit, _tag("source"), segment.source.text)
            for reference in segment.references:
                markup.add_text(unit, _tag("target"), reference.text)
            for system, sentences in corpus.outputs.items():
                proposal = etree.SubElement(unit, _tag("alt-trans"), {"origin": system})
                markup.add_text(proposal, _tag("target"), sentences[number].text)
    return markup.serialise(root)


def _tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"
