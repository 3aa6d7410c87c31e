"""TSV, CSV and JSONL."""

import pytest

from meantime.errors import FormatError, InputError
from meantime.formats import read, write
from meantime.types import Corpus, Segment, Sentence


def texts(sentences):
    return [sentence.text for sentence in sentences]


TSV = """\
SRC\tref\tHyp\tdomain
Hallo\tHello\t"Hi\tx
Welt\tWorld\tEarth"\ty
"""


def test_tsv_with_aliases_and_no_quoting(make):
    corpus = read(input=make("sysA.tsv", TSV))
    assert texts(corpus.outputs["sysA"]) == ['"Hi', 'Earth"']
    assert texts(segment.source for segment in corpus.segments) == ["Hallo", "Welt"]
    assert [segment.id for segment in corpus.segments] == ["1", "2"]


def test_tsv_with_crlf_and_odd_characters(make):
    corpus = read(input=make("a.tsv", "ref\thyp\r\na\u2028b\x0b\tc\x85\r\n\td\r\n"))
    assert texts(corpus.outputs["a"]) == ["c\x85", "d"]
    assert texts(corpus.segments[0].references) == ["a\u2028b\x0b"]
    assert texts(corpus.segments[1].references) == [""]


def test_csv_with_quotes_and_line_breaks(make):
    content = 'reference,translation\r\n"a ""b"", c","line\none"\r\nd,\r\n\r\n'
    corpus = read(input=make("a.csv", content))
    assert texts(corpus.segments[0].references) == ['a "b", c']
    assert texts(corpus.outputs["a"]) == ["line\none", ""]


def test_several_references_some_missing(make):
    corpus = read(input=make("a.tsv", "ref2\tref1\tref_3\tmt\nb\ta\tc\tx\n\td\te\ty\n"))
    assert texts(corpus.segments[0].references) == ["a", "b", "c"]
    assert texts(corpus.segments[1].references) == ["d", "e"]


SYSTEMS = "system\tid\tdoc\tref\thyp\n" + "".join(
    f"{system}\t{id}\t{document}\tr{document}{id}\t{system}{document}{id}\n"
    for system, order in (("B", ["x1", "x2", "y1"]), ("A", ["y1", "x1", "x2"]))
    for document, id in order
)


def test_systems_in_rows_are_matched_by_document_and_id(make):
    corpus = read(input=make("all.tsv", SYSTEMS))
    assert list(corpus.outputs) == ["B", "A"]
    assert texts(corpus.outputs["A"]) == ["Ax1", "Ax2", "Ay1"]
    assert [(one.document, one.id) for one in corpus.segments] == [
        ("x", "1"),
        ("x", "2"),
        ("y", "1"),
    ]


def test_systems_in_rows_without_id_are_matched_in_order(make):
    content = "system,ref,hyp\nA,r,1\nB,r,2\nA,s,3\nB,s,4\n"
    corpus = read(input=make("all.csv", content))
    assert texts(corpus.outputs["A"]) == ["1", "3"]
    assert texts(corpus.outputs["B"]) == ["2", "4"]
    assert len(corpus.segments) == 2


def test_languages_in_columns(make):
    content = "lang\tsource_lang\tsrc\tref\nde\tfr\ta\tb\n\t\tc\td\n"
    corpus = read(input=make("a.tsv", content), lang="nl")
    assert corpus.segments[0].references == (Sentence("b", "de"),)
    assert corpus.segments[0].source == Sentence("a", "fr")
    assert corpus.segments[1].references == (Sentence("d", "nl"),)
    assert corpus.segments[1].source == Sentence("c", "und")


def test_jsonl_in_its_several_ways(make):
    content = (
        '{"id": 7, "SRC": "s", "references": ["a", ""], "hypotheses": {"B": "b", "A": "a"}}\r\n'
        "\n"
        '{"id": "8", "doc": null, "reference": "c", "ref2": null, "hypotheses": '
        '{"A": "", "B": "\\u2028"}, "note": [1, {}]}'
    )
    corpus = read(input=make("a.jsonl", content))
    assert [segment.id for segment in corpus.segments] == ["7", "8"]
    assert texts(corpus.segments[0].references) == ["a", ""]
    assert texts(corpus.segments[1].references) == ["c"]
    assert corpus.segments[1].source is None
    assert list(corpus.outputs) == ["B", "A"]
    assert texts(corpus.outputs["B"]) == ["b", "\u2028"]


def test_jsonl_rows_by_system(make):
    content = '{"ref":"r","hyp":"1","system":"A"}\n{"hyp":"2","system":"B"}\n'
    corpus = read(input=make("a.jsonl", content))
    assert texts(corpus.outputs["B"]) == ["2"]
    assert texts(corpus.segments[0].references) == ["r"]


def test_files_by_part(make):
    corpus = read(
        [make("h.tsv", "mt\tref\nh\tignored\n"), make("i.jsonl", '{"hyp": "i"}\n')],
        references=[make("r.csv", "ref1,ref2\na,b\n"), make("s.tsv", "reference\nc\n")],
        source=make("src.jsonl", '{"src": "s", "ref": "ignored"}\n'),
    )
    assert {name: texts(output) for name, output in corpus.outputs.items()} == {
        "h": ["h"],
        "i": ["i"],
    }
    assert texts(corpus.segments[0].references) == ["a", "b", "c"]
    assert corpus.segments[0].source == Sentence("s", "und")


def test_a_system_column_names_the_system_of_a_hypothesis_file(make):
    corpus = read([make("out.tsv", "system\tmt\nNMT\th\n")])
    assert list(corpus.outputs) == ["NMT"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("foo\tbar\na\tb\n", [":1:", "no column", "'foo', 'bar'", "src, ref, hyp"]),
        ("ref\thypotesis\na\tb\n", [":1:", "'hypotesis'", "rename it to hypothesis"]),
        ("ref\tsystem\na\tb\n", [":1:", "no column hypothesis"]),
        ("ref\tReference\thyp\na\tb\tc\n", [":1:", "'ref' and 'Reference'", "remove one"]),
        ("ref\thyp\na\tb\nc\nd\te\n", [":3:", "1 columns", "2", "separator"]),
        ("ref\thyp\na\tb\tc\n", [":2:", "3 columns", "header has 2"]),
        ("ref\thyp\na\tb\n\n", [":3:", "1 columns"]),
        ("id\tref\n\ta\n", [":2:", "no id", "every row"]),
        ("id\tref\thyp\n1\ta\tb\n1\ta\tc\n", [":3:", "segment '1'", "line 2", "keep one"]),
        (
            "id\tsystem\tref\thyp\n1\tA\ta\tb\n1\tA\ta\tc\n",
            [":3:", "hypothesis 'A'", "segment '1'", "keep one"],
        ),
        (
            "id\tsystem\tref\thyp\n1\tA\ta\tb\n1\tB\tx\tc\n",
            [":3:", "reference '1'", "differs", "line 2", "make them equal"],
        ),
        (
            "system\tref\thyp\nA\tr\tb\nB\tx\tc\n",
            [":3:", "segment '1'", "differs", "line 2"],
        ),
        (
            "id\tsystem\tref\thyp\n1\tA\ta\tb\n2\tA\ta\tb\n1\tB\ta\tc\n",
            [":3:", "hypothesis 'B'", "lacks segment '2'", "add it"],
        ),
        ("system\tref\thyp\n\tr\tb\n", [":2:", "system has no name", "fill"]),
        ("ref\thyp\n", [":1:", "holds no segment"]),
        ("\n", [":1:", "holds no segment"]),
    ],
)
def test_tsv_refusals(content, words, refused, make):
    refused(FormatError, ["all.tsv", *words], input=make("all.tsv", content))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('ref,hyp\na,"b\nc\n', [":2:", "not CSV", "quotes"]),
        ('ref,hyp\na,"b"c\n', [":2:", "not CSV", "quotes"]),
        ('ref,hyp\n"a\nb",c\nd\n', [":4:", "1 columns"]),
        ("ref,hyp\n\na,b\n", [":2:", "empty row", "remove"]),
    ],
)
def test_csv_refusals(content, words, refused, make):
    refused(FormatError, ["all.csv", *words], input=make("all.csv", content))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"ref": "a", "hyp": "b"}\n{"ref": "a"\n', [":2:", "not JSON", "one object a line"]),
        ('["a"]\n', [":1:", "not a JSON object", "braces"]),
        ("[" * 100000, [":1:", "not JSON"]),
        ('{"ref": 5}\n', [":1:", "reference is not a text", "quotes"]),
        ('{"ref": "a", "REF": "b"}\n', [":1:", "two columns", "remove one"]),
        ('{"references": "a"}\n', [":1:", "not a list"]),
        ('{"references": ["a"], "ref": "b"}\n', [":1:", "use one of them"]),
        ('{"references": ["a"], "References": ["b"]}\n', [":1:", "references", "twice"]),
        ('{"references": [null]}\n', [":1:", "a reference is not a text"]),
        ('{"hypotheses": ["a"]}\n', [":1:", "not an object"]),
        ('{"hypotheses": {"A": "a", "A": "b"}}\n', [":1:", "twice"]),
        ('{"hypotheses": {"A": 1}}\n', [":1:", "the hypothesis of 'A'"]),
        ('{"hyp": "a", "system": ""}\n', [":1:", "no name"]),
        ('{"foo": "a"}\n', [":1:", "no column", "'foo'"]),
        ('{"ref": "\\ud83d"}\n', [":1:", "surrogate", "repair"]),
        ('{"id": "1", "ref": "a"}\n{"ref": "a"}\n', [":2:", "no id"]),
        ('{"id":1,"hypotheses":{"A":"a"}}\n{"id":2,"hypotheses":{"B":"a"}}\n', [":2:", "'A'"]),
    ],
)
def test_jsonl_refusals(content, words, refused, make):
    refused(FormatError, ["all.jsonl", *words], input=make("all.jsonl", content))


@pytest.mark.parametrize("part", ["source", "reference", "hypothesis"])
@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl"])
def test_the_column_a_file_is_read_for_must_be_there(part, name, refused, make):
    path = make(name, "id\n1\n" if name == "a.tsv" else '{"id": 1}\n')
    asked = {"source": path} if part == "source" else {"references": [path]}
    words = [f"{name}:1:", f"no column {part}"]
    if part == "hypothesis":
        refused(FormatError, words, [path])
    else:
        refused(FormatError, words, **asked)


def segment(id="1", references=("r",), source=None, document=None):
    return Segment(id, tuple(map(Sentence, references)), source, document)


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
@pytest.mark.parametrize(
    "segments",
    [
        (segment(references=()), segment("2")),
        (segment(references=("a", "")),),
        (segment(source=Sentence("s", "de")), segment("2")),
        (segment(), segment()),
        (segment(""),),
        (segment(document=""),),
    ],
)
def test_what_columns_cannot_hold_is_refused(name, segments, tmp_path):
    with pytest.raises(InputError, match=rf"{name}: segment '[12]?': .*"):
        write(Corpus(segments), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["a\tb", "a\nb", "a\rb"])
def test_tsv_refuses_separators(text, tmp_path):
    with pytest.raises(InputError, match=r"segment '1': .*tab or line break; .*jsonl"):
        write(Corpus((segment(references=(text,)),)), tmp_path / "a.tsv")


def test_csv_refuses_fields_it_could_not_read_again(tmp_path):
    with pytest.raises(InputError, match=r"segment '1': .*too long.*jsonl"):
        write(Corpus((segment(references=("x" * 200_000,)),)), tmp_path / "a.csv")


def test_mixed_languages_are_refused(tmp_path):
    corpus = Corpus((segment(),), {"A": (Sentence("x", "de"),)})
    with pytest.raises(InputError, match=r"languages de, en.*; .*write one file for each"):
        write(corpus, tmp_path / "a.jsonl")
