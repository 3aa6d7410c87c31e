"""NIST mteval SGML."""

import pytest

from meantime.errors import FormatError, InputError, LengthMismatch
from meantime.formats import read, write
from meantime.types import Corpus, Segment, Sentence

REFERENCE = """\
<!DOCTYPE mteval SYSTEM "ftp://jaguar.ncsl.nist.gov/mt/resources/mteval-xml-v1.3.dtd">
<!-- <refset><doc docid="no"><seg id="9">not this</seg></doc></refset> -->
<REFSET setid="news" srclang="German" trglang="English">
<DOC docid=first sysid="human one" genre='nw'>
<hl>
<SEG id=1> A  headline
  in two lines </SEG>
</hl>
<p>
<seg id="2">Tom &amp; Jerry &lt;b&gt; AT&T &quot;x&quot; &apos; &amp;lt; 3 < 4</seg>
</p>
</DOC>
<doc sysid="human one" docid="second"><seg id="1">Last.</seg></doc>
<doc sysid="human two" docid="second"><seg id="1">Final.</seg></doc>
<doc sysid="human two" docid="first"><seg id="2">Two.</seg><seg id="1">One.</seg></doc>
</REFSET>
"""


def sgml_set(documents: str, kind: str = "tstset", **attributes: str) -> str:
    """A set around documents."""
    stated = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<{kind} setid="news"{stated}>\n{documents}\n</{kind}>\n'


def texts(sentences):
    return [sentence.text for sentence in sentences]


OUTPUT = sgml_set(
    '<doc docid="second" sysid="x"><seg id="1">c</seg></doc>\n'
    '<doc docid="first" sysid="x"><seg id="1">a</seg><seg id="2">b</seg></doc>'
)


def test_references_and_a_system_matched_by_document_and_id(make):
    corpus = read([make("sysA.sgm", OUTPUT)], references=[make("ref.sgm", REFERENCE)])
    assert [(one.document, one.id) for one in corpus.segments] == [
        ("first", "1"),
        ("first", "2"),
        ("second", "1"),
    ]
    assert texts(corpus.segments[0].references) == ["A headline in two lines", "One."]
    assert corpus.segments[1].references[0].text == 'Tom & Jerry <b> AT&T "x" \' &lt; 3 < 4'
    assert list(corpus.outputs) == ["sysA"]
    assert texts(corpus.outputs["sysA"]) == ["a", "b", "c"]


def test_languages_count_as_codes_only(make):
    one = '<doc docid="d"><seg id="1">x</seg></doc>'
    named = make("a.sgm", sgml_set(one, "refset", trglang="German"))
    coded = make("b.sgm", sgml_set(one, "refset", trglang="de-AT"))
    anything = make("c.sgm", sgml_set(one, "refset", trglang="any"))
    corpus = read(references=[named, coded, anything], lang="nl")
    assert [one.lang for one in corpus.segments[0].references] == ["nl", "de-AT", "nl"]


def test_several_systems_keep_their_names(make):
    content = sgml_set(
        '<doc docid="d" sysid="A"><seg id="1">a</seg></doc>'
        '<doc docid="d" sysid="B"><seg id="1">b</seg></doc>'
    )
    assert list(read([make("all.sgm", content)]).outputs) == ["A", "B"]


def test_names_on_the_set_and_one_file_for_everything(make):
    one = '<doc docid="d"><seg id="1">x</seg></doc>'
    content = (
        "<mteval>"
        + sgml_set(one, "srcset", srclang="de")
        + sgml_set(one, "refset", trglang="en", refid="r")
        + sgml_set(one, "tstset", trglang="en", sysid="A")
        + "</mteval>"
    )
    corpus = read(input=make("all.xml", content))
    assert corpus.segments == (Segment("1", (Sentence("x"),), Sentence("x", "de"), "d"),)
    assert list(corpus.outputs) == ["A"]


def test_mixed_with_plain_text(make):
    corpus = read([make("h.txt", "1\n2\n3\n")], references=[make("ref.sgm", REFERENCE)])
    assert texts(corpus.outputs["h"]) == ["1", "2", "3"]
    assert corpus.segments[2].document == "second"


def test_a_missing_segment_is_named(refused, make):
    short = sgml_set('<doc docid="first"><seg id="1">a</seg><seg id="2">b</seg></doc>')
    words = ["h.sgm lacks segment '1' of document 'second'", "ref.sgm:13", "h.sgm has 2", "has 3"]
    hypothesis, reference = make("h.sgm", short), make("ref.sgm", REFERENCE)
    refused(LengthMismatch, words, [hypothesis], references=[reference])


def test_an_additional_segment_is_named(refused, make):
    more = OUTPUT.replace("</doc>\n</tstset>", '<seg id="3">d</seg></doc>\n</tstset>')
    words = ["ref.sgm lacks segment '3' of document 'first'", "h.sgm:3", "check"]
    hypothesis, reference = make("h.sgm", more), make("ref.sgm", REFERENCE)
    refused(LengthMismatch, words, [hypothesis], references=[reference])


def test_another_document_is_named(refused, make):
    other = OUTPUT.replace("second", "third")
    words = ["h.sgm lacks segment '1' of document 'second'", "same documents"]
    hypothesis, reference = make("h.sgm", other), make("ref.sgm", REFERENCE)
    refused(FormatError, words, [hypothesis], references=[reference])


DOCUMENT = '<doc docid="d" sysid="A"><seg id="1">a</seg></doc>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (sgml_set(DOCUMENT).replace("</seg>", ""), [":2:", "<seg> is never closed", "</seg>"]),
        (sgml_set(DOCUMENT).replace("</tstset>", ""), [":1:", "<tstset>", "cut short"]),
        (sgml_set(DOCUMENT).replace("</doc>", ""), [":3:", "<tstset> is out of place"]),
        ("<tstset>\n<doc><seg id=1>a</seg>", [":2:", "<doc> is never closed", "cut short"]),
        ("\n<seg id=1>a</seg>", [":2:", "<seg> is out of place", "inside"]),
        ("\n" + DOCUMENT, [":2:", "<doc> is out of place", "inside a set"]),
        (sgml_set(DOCUMENT + "\n" + DOCUMENT), [":3:", "hypothesis 'A'", "again", "keep one"]),
        (sgml_set(""), [":1:", "holds no segment"]),
        (
            sgml_set(DOCUMENT + '\n<doc docid="d" sysid="B"><seg id="2">a</seg></doc>'),
            [":3:", "hypothesis 'A' lacks segment '2' of document 'd'"],
        ),
        (sgml_set(DOCUMENT, "refset"), [":2:", "no hypothesis", "give a file"]),
    ],
)
def test_refusals(content, words, refused, make):
    refused(FormatError, ["h.sgm", *words], [make("h.sgm", content)])


@pytest.mark.parametrize("text", [" a", "a ", "a  b", "a\tb", "a\nb", " "])
def test_white_space_that_would_change_is_refused(text, tmp_path):
    with pytest.raises(InputError, match=r"segment '1': .*white space.*; use jsonl"):
        write(Corpus((Segment("1", (Sentence(text),)),)), tmp_path / "a.sgm")


def test_a_language_that_is_no_code_is_refused(tmp_path):
    with pytest.raises(InputError, match="'English' is no language code; use one"):
        write(Corpus((Segment("1", (Sentence("a", "English"),)),)), tmp_path / "a.sgm")
