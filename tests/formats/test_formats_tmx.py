"""TMX."""

import pytest

from meantime.errors import FormatError, InputError
from meantime.formats import read, write
from meantime.types import Corpus, Segment, Sentence

CONTENT = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4">
  <header creationtool="tool" creationtoolversion="7" segtype="sentence" o-tmf="x"
          adminlang="en-US" srclang="de-DE" datatype="xml"/>
  <body>
    <tu tuid="t1" creationdate="20200101T000000Z">
      <prop type="x-domain">legal</prop>
      <tuv xml:lang="DE-DE"><seg>Ein <bpt i="1">&lt;b&gt;</bpt>Haus<ept i="1"/>.</seg></tuv>
      <tuv xml:lang="en-US"><seg>A <hi type="x">house</hi><ph x="1">{1}</ph>.</seg></tuv>
      <tuv xml:lang="fr"><seg>Une maison.</seg></tuv>
    </tu>
    <tu tuid="t2">
      <tuv lang="de"><seg>Zwei<it pos="begin">x</it><ut>y</ut>.</seg></tuv>
      <tuv lang="en-GB"><seg>Two.</seg></tuv>
      <tuv lang="en-IE"><seg>Two, so.</seg></tuv>
      <tuv lang="fr"><seg>Deux.</seg></tuv>
    </tu>
  </body>
</tmx>
"""


def texts(sentences):
    return [sentence.text for sentence in sentences]


def test_the_target_language_chooses(make):
    corpus = read(input=make("memory.tmx", CONTENT))
    assert corpus.segments == (
        Segment("t1", (Sentence("A house.", "en-US"),), Sentence("Ein Haus.", "DE-DE")),
        Segment(
            "t2",
            (Sentence("Two.", "en-GB"), Sentence("Two, so.", "en-IE")),
            Sentence("Zwei.", "de"),
        ),
    )
    french = read(input=make("memory.tmx", CONTENT), lang="fr-CA", source_lang="en")
    assert [one.references[0].text for one in french.segments] == ["Une maison.", "Deux."]
    assert french.segments[0].source == Sentence("A house.", "en-US")


def test_an_exact_language_goes_before_a_variety(make):
    corpus = read(references=[make("memory.tmx", CONTENT.replace("en-IE", "en"))])
    assert texts(corpus.segments[1].references) == ["Two, so."]


def test_parts(make):
    path = make("memory.tmx", CONTENT)
    corpus = read([path], references=[path], source=path, lang="fr")
    assert texts(corpus.outputs["memory"]) == ["Une maison.", "Deux."]
    assert corpus.segments[1].source == Sentence("Zwei.", "de")


def test_units_without_id_are_numbered(make):
    content = CONTENT.replace('tuid="t1"', "").replace('tuid="t2"', "")
    corpus = read([make("h.txt", "a\nb\n")], references=[make("memory.tmx", content)])
    assert [segment.id for segment in corpus.segments] == ["1", "2"]


def test_source_and_target_may_be_varieties_of_one_language(make):
    content = CONTENT.replace('srclang="de-DE"', 'srclang="en-US"').replace("en-GB", "en-US")
    corpus = read(references=[make("memory.tmx", content)], lang="de")
    assert texts(one.references[0] for one in corpus.segments) == ["Ein Haus.", "Zwei."]


@pytest.mark.parametrize("part", ["input", "hypotheses", "references"])
def test_a_missing_language_names_those_there(part, refused, make):
    path = make("memory.tmx", CONTENT.replace('lang="fr"><seg>Deux', 'lang="nl"><seg>Twee'))
    words = ["memory.tmx:13:", "'t2'", "'fr'", "en-GB, en-IE, nl", "state the target language"]
    refused(FormatError, words, **{part: path if part == "input" else [path]}, lang="fr")


def test_two_translations_make_no_hypothesis(refused, make):
    words = ["memory.tmx:13:", "'t2'", "2 translations", "keep one"]
    refused(FormatError, words, [make("memory.tmx", CONTENT)])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('<tuv xml:lang="fr">', "<tuv>", [":11:", "no xml:lang", "export"]),
        ("<seg>Two.</seg>", "", [":15:", "no <seg>", "export"]),
        ('tuid="t2"', 'tuid="t1"', ["segment 't1' again", "keep one"]),
        ("</body>", "", ["not well-formed", "repair"]),
    ],
)
def test_refusals(old, new, words, refused, make):
    assert old in CONTENT
    path = make("memory.tmx", CONTENT.replace(old, new))
    refused(FormatError, ["memory.tmx:", *words], input=path)


def test_written_roles_do_not_depend_on_the_language(tmp_path):
    segment = Segment("1", (Sentence("r", "en"),), Sentence("s", "en"), "d")
    corpus = Corpus((segment,), {"A": (Sentence("h", "en"),), "B": (Sentence("i", "en"),)})
    path = tmp_path / "a.tmx"
    write(corpus, path)
    assert read(input=path, lang="ja") == corpus
    assert read([path], references=[path], source=path, lang="ja") == corpus


def test_a_segment_without_text_is_refused(tmp_path):
    segments = (Segment("1", (Sentence("r"),)), Segment("2", ()))
    with pytest.raises(InputError, match=r"segment '2': no text at all; .*jsonl"):
        write(Corpus(segments), tmp_path / "a.tmx")
