"""Reading, writing and reading again gives an equal corpus, in what each format can hold."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.formats import FORMATS, read, write
from meantime.types import Corpus, Segment, Sentence

TRICKY = [
    "",
    " ",
    "  two  leading and trailing  ",
    "a\u2028b",
    "a\u0085b",
    "\ufeffmark",
    'say "hello", she said',
    '"',
    "<script>alert('x')</script>",
    "&amp; &lt; & &#39; &nbsp;",
    "]]> --> <!-- ?>",
    "tab\tin it",
    "line\nbreak",
    "carriage\rreturn\r",
    "\x0b\x0c\x00",
    "</seg>",
    "naïve 日本語 🎉 e\u0301",
]
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
ANYTHING = st.one_of(
    st.sampled_from(TRICKY),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
XML_TEXT = ANYTHING.map(lambda text: CONTROL.sub("", text))


def joined(text: str) -> str:
    return re.sub(r"[ \t\r\n\f\v]+", " ", text).strip(" ")


TEXTS = {
    "plain": ANYTHING.map(lambda text: text.replace("\n", "").rstrip("\r")),
    "tsv": ANYTHING.map(lambda text: re.sub(r"[\t\n\r]", "", text)),
    "csv": ANYTHING,
    "jsonl": ANYTHING,
    "sgml": ANYTHING.map(joined),
    "wmtxml": XML_TEXT,
    "xliff": XML_TEXT,
    "tmx": XML_TEXT,
}
EXTENSIONS = {
    "plain": "folder",
    "tsv": "corpus.tsv",
    "csv": "corpus.csv",
    "jsonl": "corpus.jsonl.gz",
    "sgml": "corpus.sgm",
    "wmtxml": "corpus.xml",
    "xliff": "corpus.xlf",
    "tmx": "corpus.tmx.gz",
}
UNEVEN = {"jsonl", "tmx"}


def names(format: str) -> st.SearchStrategy[list[str]]:
    """Names of systems, in alphabetical order where the format keeps no other."""
    if format == "plain":
        name = st.from_regex(r"[a-zA-Z0-9é][a-z0-9 .+-]{0,6}[a-z]", fullmatch=True)
        taken = re.compile(r"source|reference\d*", re.IGNORECASE)
        free = name.filter(lambda name: not taken.fullmatch(name))
        return st.lists(free, max_size=3, unique_by=str.casefold).map(sorted)
    name = TEXTS[format].filter(bool)
    return st.lists(name, max_size=3, unique=True)


@st.composite
def corpora(draw: st.DrawFn, format: str) -> Corpus:
    text = TEXTS[format]
    size = draw(st.integers(1, 5))
    lang = "en" if format == "plain" else draw(st.sampled_from(["en", "de-AT", "zh"]))
    source_lang = "und" if format == "plain" else draw(st.sampled_from(["und", "fr", "en"]))
    source = format == "xliff" or draw(st.booleans())
    count = draw(st.integers(0 if source else 1, 1 if format == "xliff" else 3))
    label = text.filter(bool)
    documents = draw(st.lists(st.none() | label, min_size=size, max_size=size))
    keys = [(document, str(number)) for number, document in enumerate(documents, start=1)]
    if format == "plain":
        keys = [(None, number) for _, number in keys]
    elif draw(st.booleans()):
        drawn = st.tuples(st.sampled_from(documents), label)
        keys = draw(st.lists(drawn, min_size=size, max_size=size, unique=True))
    segments = []
    for document, id in keys:
        have = draw(st.integers(0, count)) if format in UNEVEN else count
        references = draw(st.lists(text, min_size=have, max_size=have))
        if format in ("tsv", "csv"):
            references[1:] = [one or "-" for one in references[1:]]
        sentence = None
        if source and not (format == "jsonl" and draw(st.booleans())):
            sentence = Sentence(draw(text), source_lang)
        if format == "tmx" and sentence is None and not references:
            references = [draw(text)]
        targets = tuple(Sentence(one, lang) for one in references)
        segments.append(Segment(id, targets, sentence, document))
    if not any(segment.references or segment.source for segment in segments):
        segments[0] = Segment(segments[0].id, (Sentence("text", lang),), None, segments[0].document)
    outputs = {
        system: tuple(Sentence(draw(text), lang) for _ in segments)
        for system in draw(names(format))
    }
    return Corpus(tuple(segments), outputs)


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_reading_a_written_corpus_gives_an_equal_one(format: str, data: st.DataObject) -> None:
    corpus = data.draw(corpora(format))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / EXTENSIONS[format]
        write(corpus, path)
        again = read(input=path)
        if format != "plain":
            assert read(input=path, format=format) == again
    assert again == corpus
    assert list(again.outputs) == list(corpus.outputs)


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "plain"])
def test_a_written_file_without_extension_is_recognised(format: str, tmp_path: Path) -> None:
    segment = Segment("1", (Sentence("A cat."),), Sentence("Eine Katze.", "de"), "d")
    corpus = Corpus((segment,), {"a": (Sentence("Cat."),), "b": (Sentence("The cat."),)})
    write(corpus, tmp_path / "corpus", format=format)
    assert read(input=tmp_path / "corpus") == corpus


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "plain"])
def test_equal_corpora_give_equal_bytes(format: str, tmp_path: Path) -> None:
    segment = Segment("1", (Sentence("A cat."),), Sentence("Eine Katze.", "de"), "d")
    corpus = Corpus((segment,), {"a": (Sentence("Cat."),)})
    write(corpus, tmp_path / "one.gz", format=format)
    write(corpus, tmp_path / "two.gz", format=format)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert (tmp_path / "one.gz").read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize("format", [name for name in FORMATS if name not in ("plain", "xliff")])
def test_documents_may_share_ids_and_come_back_later(format: str, tmp_path: Path) -> None:
    keys = [("a", "1"), ("b", "1"), ("a", "2"), (None, "1")]
    segments = tuple(
        Segment(id, (Sentence(f"text {number}"),), None, document)
        for number, (document, id) in enumerate(keys)
    )
    corpus = Corpus(segments, {"x": tuple(Sentence(f"out {n}") for n in range(4))})
    write(corpus, tmp_path / "corpus", format=format)
    assert read(input=tmp_path / "corpus") == corpus
