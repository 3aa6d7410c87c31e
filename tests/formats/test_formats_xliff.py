"""XLIFF 1.2 and 2.x."""

import pytest

from meantime.errors import FormatError, InputError
from meantime.formats import read, write
from meantime.types import Corpus, Segment, Sentence

# As a desktop translation tool writes it: its own namespace, segmentation marks, inline codes.
OLD = """\
<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" xmlns:tool="urn:tool" version="1.2">
  <file original="manual.docx" source-language="en-GB" target-language="de-DE"
        datatype="x-docx" tool:project="p1">
    <header><skl><internal-file form="base64">UEsDBA==</internal-file></skl></header>
    <body>
      <group id="g1">
        <trans-unit id="u1" approved="yes">
          <source>Press <g id="1">Start</g><x id="2"/> &amp; wait<ph id="3">{n}</ph>.</source>
          <seg-source><mrk mtype="seg" mid="0">Press Start.</mrk></seg-source>
          <target state="final"><mrk mtype="seg" mid="0">Drücken Sie <g id="1">Start</g></mrk
            ><bpt id="4">&lt;b&gt;</bpt> jetzt<ept id="4">&lt;/b&gt;</ept>.<!-- ok --></target>
          <note>seen</note>
          <alt-trans origin="engine-1" match-quality="80%">
            <source>Press Start.</source>
            <target xml:lang="de-DE">Start drücken<it id="9" pos="open">i</it>.</target>
          </alt-trans>
          <alt-trans tool-id="engine-2"><target>Taste Start.</target></alt-trans>
          <alt-trans><target>Start!</target></alt-trans>
          <alt-trans alttranstype="previous-version"><target>Alt.</target></alt-trans>
        </trans-unit>
        <trans-unit id="u2" translate="no"><source>ACME</source></trans-unit>
      </group>
    </body>
  </file>
  <file original="second.docx" source-language="en-GB" target-language="de-DE" datatype="x-docx">
    <body>
      <trans-unit id="u1">
        <source>Stop.</source>
        <target>Halt.</target>
        <alt-trans tool="engine-2"><target>Stopp.</target></alt-trans>
        <alt-trans origin="engine-1"><target>Anhalten.</target></alt-trans>
        <alt-trans origin="match"><target>Stop!</target></alt-trans>
      </trans-unit>
    </body>
  </file>
</xliff>
"""

# As a web translation platform writes it: no namespace prefix but for the matches module.
NEW = """\
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0"
       xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0" srcLang="en" trgLang="cs">
  <file id="f1">
    <unit id="greeting">
      <mtc:matches>
        <mtc:match ref="#1" origin="engine"><source>Hi</source><target>Nazdar</target></mtc:match>
      </mtc:matches>
      <segment state="final">
        <source>Hello <pc id="1">world</pc><ph id="2"/></source>
        <target>Ahoj <pc id="1">světe</pc><ph id="2"/></target>
      </segment>
    </unit>
    <unit id="two">
      <mtc:matches>
        <mtc:match ref="#b" origin="engine"><source>B</source><target>BB</target></mtc:match>
        <mtc:match ref="#a" origin="engine"><source>A</source><target>AA</target></mtc:match>
      </mtc:matches>
      <segment id="a"><source>A</source><target>Á</target></segment>
      <ignorable><source> </source></ignorable>
      <segment id="b"><source>B</source><target>Bé</target></segment>
    </unit>
  </file>
</xliff>
"""


def texts(sentences):
    return [sentence.text for sentence in sentences]


def test_old_files_hold_everything(make):
    corpus = read(input=make("job.xlf", OLD))
    assert corpus.segments == (
        Segment(
            "u1",
            (Sentence("Drücken Sie Start jetzt.", "de-DE"),),
            Sentence("Press Start & wait.", "en-GB"),
            "manual.docx",
        ),
        Segment("u1", (Sentence("Halt.", "de-DE"),), Sentence("Stop.", "en-GB"), "second.docx"),
    )
    assert {name: texts(output) for name, output in corpus.outputs.items()} == {
        "engine-1": ["Start drücken.", "Anhalten."],
        "engine-2": ["Taste Start.", "Stopp."],
        "match": ["Start!", "Stop!"],
    }


def test_new_files_hold_everything(make):
    corpus = read(input=make("job.xliff", NEW))
    assert [segment.id for segment in corpus.segments] == ["greeting", "two/a", "two/b"]
    assert {segment.document for segment in corpus.segments} == {"f1"}
    assert corpus.segments[0].source == Sentence("Hello world", "en")
    assert corpus.segments[0].references == (Sentence("Ahoj světe", "cs"),)
    assert texts(corpus.outputs["engine"]) == ["Nazdar", "AA", "BB"]


def without_namespace(content: str) -> str:
    return content.replace('xmlns="urn:oasis:names:tc:xliff:document:1.2"', "")


def test_namespaces_may_be_absent(make):
    expected = read(input=make("a.xlf", OLD))
    assert read(input=make("b.xlf", without_namespace(OLD))) == expected


def test_targets_as_hypotheses_and_references(make):
    path = make("job.sdlxliff", OLD)
    corpus = read([path], references=[path], source=path)
    assert list(corpus.outputs) == ["job"]
    assert corpus.outputs["job"] == tuple(one.references[0] for one in corpus.segments)
    assert corpus.segments == read(input=path).segments


def test_files_of_one_document_each_are_matched_by_id(make):
    file = '<xliff version="1.2"><file original="{}"><body>{}</body></file></xliff>'
    unit = '<trans-unit id="{0}"><source>s{0}</source><target>{1}{0}</target></trans-unit>'
    one = make("h.xlf", file.format("h.txt", unit.format(1, "h") + unit.format(2, "h")))
    two = make("r.xlf", file.format("r.txt", unit.format(2, "r") + unit.format(1, "r")))
    corpus = read([one], references=[two])
    assert texts(corpus.outputs["h"]) == ["h2", "h1"]
    assert [segment.references[0].text for segment in corpus.segments] == ["r2", "r1"]


@pytest.mark.parametrize("part", ["input", "hypotheses", "references"])
@pytest.mark.parametrize("new", ["", "<target/>"])
def test_a_missing_target_names_unit_and_line(part, new, refused, make):
    content = OLD.replace("<target>Halt.</target>", new and '<target state="new"/>')
    path = make("job.xlf", content)
    given = path if part == "input" else [path]
    words = ["job.xlf:28:", "segment 'u1' of document 'second.docx'", "no <target>", "translate"]
    refused(FormatError, words, **{part: given})


def test_a_missing_target_does_not_matter_for_the_source(make):
    path = make("job.xlf", OLD.replace("<target>Halt.</target>", ""))
    corpus = read([make("h.txt", "a\nb\n")], source=path)
    assert corpus.segments[1].source == Sentence("Stop.", "en-GB")


def test_an_empty_target_is_an_empty_text(make):
    path = make("job.xlf", OLD.replace("<target>Halt.</target>", "<target/>"))
    assert read(input=path).segments[1].references[0].text == ""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (OLD.replace("Anhalten", "x").replace('origin="engine-1">', ">"), ["'match'", "again"]),
        (OLD.replace('origin="match"', 'origin="o"'), ["hypothesis 'match' lacks", "add it"]),
        (OLD.replace("<source>Stop.</source>", ""), [":28:", "no <source>", "export"]),
        (OLD.replace('id="u1"', ""), ["a unit has no id", "give it one"]),
        (NEW.replace("#b", "#c"), ["'c'", "name a segment"]),
        (OLD[:-60], ["not well-formed", "repair"]),
        (OLD.replace("trans-unit", "bin-unit"), ["holds no segment"]),
    ],
)
def test_refusals(content, words, refused, make):
    refused(FormatError, ["job.xlf:", *words], input=make("job.xlf", content))


def test_writing_gives_version_one_two(tmp_path):
    segment = Segment("1", (Sentence("r"),), Sentence("s", "de"), "d.txt")
    write(Corpus((segment,), {"A": (Sentence("<h>"),)}), tmp_path / "a.xliff")
    content = (tmp_path / "a.xliff").read_text(encoding="utf-8")
    assert '<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2">' in content
    assert '<alt-trans origin="A">' in content
    assert "<target>&lt;h&gt;</target>" in content


@pytest.mark.parametrize(
    ("segment", "words"),
    [
        (Segment("7", (Sentence("r"),)), "no source.*; add it"),
        (Segment("7", (Sentence("r"), Sentence("r")), Sentence("s", "de")), "2 references.*jsonl"),
    ],
)
def test_what_cannot_be_held_is_refused(segment, words, tmp_path):
    with pytest.raises(InputError, match=rf"segment '7': .*{words}"):
        write(Corpus((segment,)), tmp_path / "a.xlf")
