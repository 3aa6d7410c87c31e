"""WMT XML (2021 and later): documents with a source, references and system outputs.

Segments are matched by document and id, references by their translator, outputs by their
system. White space in a segment is kept. Paragraphs and collections are not kept; translators
are written as A, B, ….
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lxml import etree

from meantime.formats import holding, markup
from meantime.formats.opening import Text
from meantime.formats.table import UNNAMED, Gathering, Key, Part, Request, Stream, Table
from meantime.types import Corpus, Sentence

_PARTS = {"src": Part.SOURCE, "ref": Part.REFERENCE, "hyp": Part.HYPOTHESIS}
_NAMES = {Part.SOURCE: (), Part.REFERENCE: ("translator",), Part.HYPOTHESIS: ("system",)}


def parse(text: Text, request: Request) -> Table:
    """Read a data set.

    Raises:
        FormatError: The file is no such XML, or a document lacks a text that others have.
    """
    root = markup.parse_tree(text, "dataset")
    gathering = Gathering(text, request)
    for document in markup.descendants(root, "doc"):
        seen: Counter[Stream] = Counter()
        name = markup.attribute(document, "id")
        for version in markup.children(document, *_PARTS):
            part = _PARTS[markup.local_name(version)]
            stream = Stream(part, markup.attribute(version, *_NAMES[part]) or UNNAMED)
            seen[stream] += 1
            if part is Part.REFERENCE and stream.name == UNNAMED and seen[stream] > 1:
                stream = Stream(part, f"#{seen[stream]}")
            lang = markup.attribute(version, "lang")
            make = request.source if part is Part.SOURCE else request.target
            for number, segment in enumerate(markup.descendants(version, "seg"), start=1):
                key = Key(name, markup.attribute(segment, "id") or str(number))
                sentence = make(markup.text_of(text, segment), lang)
                gathering.add(stream, key, sentence, markup.line_of(segment))
    return gathering.table()


def render(corpus: Corpus, name: str, format: str) -> str:
    """Write a data set.

    Raises:
        InputError: The corpus holds what the format cannot.
    """
    holding.check_xml(corpus, name)
    count = holding.reference_count(corpus, name)
    languages = holding.languages(corpus, name)
    source = holding.has_source(corpus, name)
    root = etree.Element("dataset", {"id": "meantime"})
    for run in holding.runs(corpus):
        document = etree.SubElement(
            root, "doc", markup.attributes(id=run.document, origlang=languages.source)
        )
        if source:
            sources = [one.source for one in run.segments if one.source is not None]
            _add_version(document, "src", run, sources, lang=languages.source)
        for number in range(count):
            references = [segment.references[number] for segment in run.segments]
            translator = _letters(number)
            _add_version(
                document, "ref", run, references, lang=languages.target, translator=translator
            )
        for system in corpus.outputs:
            hypotheses = run.output(corpus, system)
            _add_version(document, "hyp", run, hypotheses, system=system, lang=languages.target)
    return markup.serialise(root)


def _letters(number: int) -> str:
    """A to Z, then A2 to Z2, and so on."""
    again, letter = divmod(number, 26)
    return chr(ord("A") + letter) + (str(again + 1) if again else "")


def _add_version(
    document: etree._Element,
    name: str,
    run: holding.Run,
    sentences: Sequence[Sentence],
    **values: str | None,
) -> None:
    version = etree.SubElement(document, name, markup.attributes(**values))
    paragraph = etree.SubElement(version, "p")
    for segment, sentence in zip(run.segments, sentences, strict=True):
        markup.add_text(paragraph, "seg", sentence.text, id=segment.id)
