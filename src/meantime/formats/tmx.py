"""TMX 1.4: translation units with a text (`<tuv>`) in each language.

The source is the text in the source language the caller states, else the unit's or the header's
`srclang`. The texts in the target language are the references, or the hypothesis where the file
is given as one; the target language is the caller's, and `en` finds `en-US` where there is no
`en`. Of inline codes `<hi>` keeps its text, the others vanish.

Files written here say in properties what each text is (`x-meantime-role`: source, reference or
hypothesis), of which system (`x-meantime-system`) and of which document
(`x-meantime-document`); there the languages choose nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lxml import etree

from meantime.formats import holding, markup
from meantime.formats.opening import Text
from meantime.formats.table import Gathering, Key, Part, Request, Stream, Table
from meantime.types import Corpus, Sentence

_CODES = frozenset({"bpt", "ept", "ph", "it", "ut"})
_ALL_LANGUAGES = "*all*"
_ROLE = "x-meantime-role"
_SYSTEM = "x-meantime-system"
_DOCUMENT = "x-meantime-document"


@dataclass(frozen=True, slots=True)
class _Variant:
    """A `<tuv>`: one text of a unit."""

    lang: str
    text: str
    line: int
    role: str | None
    system: str


def parse(text: Text, request: Request) -> Table:
    """Read the units.

    Raises:
        FormatError: The file is no TMX, or a unit lacks the target language.
    """
    root = markup.parse_tree(text, "tmx")
    header = markup.child(root, "header")
    default = markup.attribute(header, "srclang") if header is not None else None
    gathering = Gathering(text, request)
    keyed = True
    for number, unit in enumerate(markup.descendants(root, "tu"), start=1):
        own = markup.attribute(unit, "tuid")
        keyed = keyed and own is not None
        key = Key(_property(unit, _DOCUMENT), own or str(number))
        gathering.open(key, markup.line_of(unit))
        variants = [_variant(text, one) for one in markup.children(unit, "tuv")]
        if any(variant.role for variant in variants):
            _gather_own(gathering, key, variants)
        else:
            source_lang = request.source_lang or markup.attribute(unit, "srclang") or default
            found = _choose_source(variants, source_lang)
            _gather_foreign(gathering, text, request, key, unit, variants, found)
    return gathering.table(keyed=keyed, uneven=True)


def _property(element: etree._Element, kind: str) -> str | None:
    for one in markup.children(element, "prop"):
        if one.get("type") == kind:
            return one.text or None
    return None


def _variant(text: Text, element: etree._Element) -> _Variant:
    lang = markup.attribute(element, markup.XML_LANG, "lang")
    segment = markup.child(element, "seg")
    if lang is None or segment is None:
        raise markup.fault(
            text, element, "a <tuv> has no xml:lang or no <seg>; export the file again"
        )
    return _Variant(
        lang,
        markup.text_of(text, segment, _CODES),
        markup.line_of(element),
        _property(element, _ROLE),
        _property(element, _SYSTEM) or "",
    )


def _gather_own(gathering: Gathering, key: Key, variants: Sequence[_Variant]) -> None:
    references = 0
    for variant in variants:
        if variant.role == Part.SOURCE:
            stream = Stream(Part.SOURCE, "")
        elif variant.role == Part.HYPOTHESIS:
            stream = Stream(Part.HYPOTHESIS, variant.system)
        else:
            references += 1
            stream = Stream(Part.REFERENCE, str(references))
        gathering.add(stream, key, Sentence(variant.text, variant.lang), variant.line)


def _gather_foreign(
    gathering: Gathering,
    text: Text,
    request: Request,
    key: Key,
    unit: etree._Element,
    variants: Sequence[_Variant],
    source: _Variant | None,
) -> None:
    if source is not None:
        sentence = request.source(source.text, source.lang)
        gathering.add(Stream(Part.SOURCE, ""), key, sentence, source.line)
    if request.part is Part.SOURCE:
        return
    others = [variant for variant in variants if variant is not source]
    targets = _in_language(others, request.lang)
    if not targets:
        there = ", ".join(variant.lang for variant in others) or "none"
        raise markup.fault(
            text,
            unit,
            f"{key} has no translation into {request.lang!r} (it has: {there}); "
            "state the target language or add the translation",
        )
    if request.part is Part.HYPOTHESIS and len(targets) > 1:
        raise markup.fault(
            text, unit, f"{key} has {len(targets)} translations into {request.lang!r}; keep one"
        )
    for number, target in enumerate(targets, start=1):
        hypothesis = request.part is Part.HYPOTHESIS
        stream = Stream(Part.HYPOTHESIS, "") if hypothesis else Stream(Part.REFERENCE, str(number))
        gathering.add(stream, key, request.target(target.text, target.lang), target.line)


def _choose_source(variants: Sequence[_Variant], lang: str | None) -> _Variant | None:
    if lang is None or lang == _ALL_LANGUAGES:
        return None
    return next(iter(_in_language(variants, lang)), None)


def _in_language(variants: Sequence[_Variant], lang: str) -> list[_Variant]:
    """The texts in just this language, else those in a variety of it."""
    exact = [variant for variant in variants if variant.lang.lower() == lang.lower()]
    return exact or [variant for variant in variants if _primary(variant.lang) == _primary(lang)]


def _primary(lang: str) -> str:
    return lang.replace("_", "-").partition("-")[0].lower()


def render(corpus: Corpus, name: str, format: str) -> str:
    """Write TMX 1.4.

    Raises:
        InputError: The corpus holds what the format cannot.
    """
    holding.check_xml(corpus, name)
    languages = holding.languages(corpus, name)
    root = etree.Element("tmx", {"version": "1.4"})
    header = {
        "creationtool": "meantime",
        "creationtoolversion": "1",
        "segtype": "sentence",
        "o-tmf": "meantime",
        "adminlang": "en",
        "srclang": languages.source or _ALL_LANGUAGES,
        "datatype": "plaintext",
    }
    etree.SubElement(root, "header", header)
    body = etree.SubElement(root, "body")
    for number, segment in enumerate(corpus.segments):
        unit = etree.SubElement(body, "tu", {"tuid": segment.id})
        if segment.document is not None:
            markup.add_text(unit, "prop", segment.document, type=_DOCUMENT)
        if segment.source is not None:
            _add_variant(unit, segment.source, Part.SOURCE)
        for reference in segment.references:
            _add_variant(unit, reference, Part.REFERENCE)
        for system, sentences in corpus.outputs.items():
            _add_variant(unit, sentences[number], Part.HYPOTHESIS, system)
        if markup.child(unit, "tuv") is None:
            raise holding.refusal(name, segment, "no text at all; remove it or use jsonl")
    return markup.serialise(root)


def _add_variant(
    unit: etree._Element, sentence: Sentence, role: Part, system: str | None = None
) -> None:
    variant = etree.SubElement(unit, "tuv", {markup.XML_LANG: sentence.lang})
    markup.add_text(variant, "prop", role.value, type=_ROLE)
    if system is not None:
        markup.add_text(variant, "prop", system, type=_SYSTEM)
    markup.add_text(variant, "seg", sentence.text)
