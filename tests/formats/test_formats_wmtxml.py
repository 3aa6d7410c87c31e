"""WMT XML."""

import pytest

from meantime.errors import FormatError, InputError
from meantime.formats import read, write
from meantime.types import Corpus, Segment, Sentence

CONTENT = """\
<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest">
  <collection id="general">
    <doc origlang="cs" id="alpha">
      <src lang="cs">
        <p>
          <seg id="1">Jedna &amp; dvě.</seg>
        </p>
        <p>
          <seg id="2">Tři.</seg>
        </p>
      </src>
      <ref lang="en" translator="B">
        <p><seg id="1">One and two (B).</seg><seg id="2">Three (B).</seg></p>
      </ref>
      <ref lang="en" translator="A">
        <p><seg id="1">One and two (A).</seg></p>
        <p><seg id="2">Three (A).</seg></p>
      </ref>
      <hyp system="Online-X" lang="en"><p><seg id="1">1 x</seg><seg id="2">2 x</seg></p></hyp>
      <hyp system="Lab (big)" lang="en"><p><seg id="1">1 l</seg><seg id="2">2 l</seg></p></hyp>
    </doc>
  </collection>
  <doc origlang="cs" id="beta">
    <src lang="cs"><p><seg id="1">Čtyři.</seg></p></src>
    <hyp system="Lab (big)" lang="en"><p><seg id="1">3 l</seg></p></hyp>
    <hyp system="Online-X" lang="en"><p><seg id="1">3 x</seg></p></hyp>
    <ref lang="en" translator="A"><p><seg id="1">Four (A).</seg></p></ref>
    <ref lang="en" translator="B"><p><seg id="1">Four (B).</seg></p></ref>
  </doc>
</dataset>
"""


def texts(sentences):
    return [sentence.text for sentence in sentences]


def test_documents_references_and_systems(make):
    corpus = read(input=make("newstest.xml", CONTENT), lang="xx", source_lang="yy")
    assert corpus.segments[2] == Segment(
        "1",
        (Sentence("Four (B).", "en"), Sentence("Four (A).", "en")),
        Sentence("Čtyři.", "cs"),
        "beta",
    )
    assert corpus.segments[0].source == Sentence("Jedna & dvě.", "cs")
    assert list(corpus.outputs) == ["Online-X", "Lab (big)"]
    assert texts(corpus.outputs["Online-X"]) == ["1 x", "2 x", "3 x"]
    assert texts(corpus.outputs["Lab (big)"]) == ["1 l", "2 l", "3 l"]


def test_one_file_in_several_parts(make):
    path = make("newstest.xml", CONTENT)
    corpus = read([path, make("mine.txt", "a\nb\nc\n")], references=[path], source=path)
    assert corpus.segments == read(input=path).segments
    assert list(corpus.outputs) == ["Online-X", "Lab (big)", "mine"]


def test_the_only_system_of_a_hypothesis_file_is_called_after_it(make):
    path = make("run7.xml", one_document("<hyp system='S'><p><seg id='1'>h</seg></p></hyp>"))
    assert list(read([path]).outputs) == ["run7"]
    assert list(read(input=path).outputs) == ["S"]


def one_document(versions: str) -> str:
    return f"<dataset>\n<doc id='d'>\n{versions}\n</doc>\n</dataset>"


def test_references_without_translator_and_languages_from_the_caller(make):
    reference = "<ref><p><seg id='1'>{}</seg></p></ref>"
    content = one_document(reference.format("a") + reference.format("b"))
    corpus = read(input=make("a.xml", content), lang="fr")
    assert corpus.segments[0].references == (Sentence("a", "fr"), Sentence("b", "fr"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '<ref lang="en" translator="B"><p><seg id="1">Four (B).</seg></p></ref>',
            "",
            ["reference 'B' lacks segment '1' of document 'beta'", "add it"],
        ),
        (
            '<hyp system="Online-X" lang="en"><p><seg id="1">3 x</seg></p></hyp>',
            "",
            ["hypothesis 'Online-X' lacks segment '1' of document 'beta'", "add it"],
        ),
        ('<seg id="2">2 l</seg>', "", ["hypothesis 'Lab (big)' lacks segment '2'", "add it"]),
        (
            '<seg id="2">2 l</seg>',
            '<seg id="1">2 l</seg>',
            [":21:", "segment '1' of document 'alpha' again", "keep one"],
        ),
        ("</collection>", "", ["not well-formed", "repair"]),
        ("<dataset id", "<corpus id", ["not well-formed"]),
    ],
)
def test_refusals(old, new, words, refused, make):
    assert old in CONTENT
    refused(FormatError, ["a.xml:", *words], input=make("a.xml", CONTENT.replace(old, new)))


def test_malformed_xml_names_the_line(refused, make):
    content = "<dataset>\n<doc id='d'>\n<src><p><seg id='1'>a & b</seg></p></src></doc></dataset>"
    refused(FormatError, ["a.xml:3:", "not well-formed"], input=make("a.xml", content))


def test_other_xml_is_refused_by_its_root(refused, make):
    words = ["a.xml:1:", "<html>", "<dataset>"]
    refused(FormatError, words, input=make("a.xml", "<html></html>"))


def test_no_document(refused, make):
    refused(FormatError, ["holds no segment"], input=make("a.xml", "<dataset></dataset>"))


BOMB = """\
<?xml version="1.0"?>
<!DOCTYPE dataset [
 <!ENTITY a "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">
 <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
 <!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
 <!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">
 <!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;">
]>
<dataset id="&e;"><doc id="d"><ref><seg id="1">&e;</seg></ref></doc></dataset>
"""
EXTERNAL = """\
<!DOCTYPE dataset [<!ENTITY secret SYSTEM "file:///etc/passwd">]>
<dataset><doc id="d"><ref><p><seg id="1">&secret;</seg></p></ref></doc></dataset>
"""


@pytest.mark.parametrize(("content", "line"), [(BOMB, 3), (EXTERNAL, 1)])
def test_entities_are_refused(content, line, refused, make):
    words = [f"a.xml:{line}:", "declares entities", "remove"]
    refused(FormatError, words, input=make("a.xml", content))


def test_an_undefined_entity_is_refused(refused, make):
    content = '<!DOCTYPE dataset SYSTEM "x.dtd">\n' + one_document(
        "<ref><p><seg id='1'>a&nbsp;b</seg></p></ref>"
    )
    refused(FormatError, ["a.xml:4:", "nbsp"], input=make("a.xml", content))


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16", "utf-8"),
        ("iso-8859-2", "ISO-8859-2"),
        ("gb18030", "GB18030"),
    ],
)
def test_the_stated_encoding_is_used(make, encoding, declared):
    content = CONTENT.replace("encoding='utf-8'", f"encoding='{declared}'")
    expected = read(input=make("b.xml", content.replace(declared, "utf-8", 1)))
    assert read(input=make("a.xml", content.encode(encoding))) == expected


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("utf-8", "no-such-encoding"), ("utf-8", "rot13"), ("iso-8859-1", "utf-8")],
)
def test_a_wrong_encoding_is_refused(refused, make, encoding, declared):
    content = CONTENT.replace("encoding='utf-8'", f"encoding='{declared}'")
    data = content.replace("</doc>", "<!-- é --></doc>").encode(encoding, "replace")
    refused(FormatError, ["a.xml:", "UTF-8", "convert"], input=make("a.xml", data))


@pytest.mark.parametrize("name", ["a.xml", "a.tmx", "a.xlf"])
@pytest.mark.parametrize("text", ["a\x00b", "\x0b", "\uffff"])
def test_control_characters_are_refused_on_writing(name, text, tmp_path):
    corpus = Corpus((Segment("7", (Sentence(text),), Sentence("s", "de")),))
    with pytest.raises(InputError, match=rf"{name}: segment '7': .*control character.*; .*jsonl"):
        write(corpus, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_uneven_references_are_refused_on_writing(tmp_path):
    segments = (Segment("1", (Sentence("a"),)), Segment("2", ()))
    with pytest.raises(InputError, match=r"segment '2': 0 references, others 1; use jsonl"):
        write(Corpus(segments), tmp_path / "a.xml")
