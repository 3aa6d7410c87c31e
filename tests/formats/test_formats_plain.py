"""Plain text."""

import pytest

from meantime.errors import FormatError, InputError, LengthMismatch, UsageError
from meantime.formats import read, write
from meantime.types import Corpus, Segment, Sentence


def texts(sentences):
    return [sentence.text for sentence in sentences]


def test_hypotheses_references_and_source(make):
    corpus = read(
        [make("sysA.txt", "a\nb\n"), make("sysB.out", "c\nd")],
        references=[make("r1.txt", "r\ns\n"), make("r2.txt", "t\nu\n")],
        source=make("s.txt", "v\nw\n"),
        lang="de",
        source_lang="fr",
    )
    assert texts(corpus.outputs["sysA"]) == ["a", "b"]
    assert texts(corpus.outputs["sysB"]) == ["c", "d"]
    assert corpus.segments == (
        Segment("1", (Sentence("r", "de"), Sentence("t", "de")), Sentence("v", "fr")),
        Segment("2", (Sentence("s", "de"), Sentence("u", "de")), Sentence("w", "fr")),
    )


def test_only_line_feeds_end_lines(make):
    line = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\rh\x00"
    assert texts(read([make("a.txt", line + "\nnext\n")]).outputs["a"]) == [line, "next"]


def test_carriage_returns_before_line_ends_go(make):
    assert texts(read([make("a.txt", "a\r\nb \r\n\r\nc\r")]).outputs["a"]) == ["a", "b ", "", "c"]


def test_spaces_are_kept_and_empty_lines_count(make):
    assert texts(read([make("a.txt", " a \n\n\n")]).outputs["a"]) == [" a ", "", ""]


def test_unequal_lengths_name_both_files_and_counts(refused, make):
    hypothesis, reference = make("h.txt", "a\nb\n"), make("r.txt", "a\nb\nc\n")
    words = ["h.txt has 2", "r.txt has 3", "check"]
    refused(LengthMismatch, words, [hypothesis], references=[reference])


def test_a_blank_line_too_many_is_not_cut_off(refused, make):
    hypothesis, reference = make("h.txt", "a\nb\n\n"), make("r.txt", "a\nb\n")
    refused(LengthMismatch, ["h.txt has 3", "r.txt has 2"], [hypothesis], references=[reference])


def test_a_plain_file_does_not_hold_everything(refused, make):
    refused(UsageError, ["a.txt", "plain", "hypothesis"], input=make("a.txt", "a\n"))


def test_a_folder_holds_everything(make, tmp_path):
    for name in ("source", "reference2", "reference1", "reference10", "sysB", "sysA"):
        make(f"set/{name}.txt", f"{name}\n")
    make("set/notes.md", "not\na\ntext")
    make("set/.hidden.txt", "not\na\ntext")
    corpus = read(input=tmp_path / "set")
    assert texts(corpus.segments[0].references) == ["reference1", "reference2", "reference10"]
    assert list(corpus.outputs) == ["sysA", "sysB"]
    assert corpus.segments[0].source == Sentence("source", "und")


def test_a_folder_with_more_files(make, tmp_path, refused):
    make("set/reference.txt", "r\n")
    make("set/source.txt", "s\n")
    corpus = read([make("x.txt", "h\n")], references=[make("q.txt", "q\n")], input=tmp_path / "set")
    assert texts(corpus.segments[0].references) == ["r", "q"]
    assert list(corpus.outputs) == ["x"]
    words = ["source already", "leave one"]
    refused(UsageError, words, input=tmp_path / "set", source=tmp_path / "x.txt")


def test_a_folder_without_text(tmp_path, refused):
    refused(FormatError, [str(tmp_path), "no .txt", "reference.txt"], input=tmp_path)


def test_a_folder_with_a_file_twice(make, tmp_path, refused):
    make("set/a.txt", "a\n")
    make("set/a.txt.gz", "b\n")
    refused(FormatError, ["a.txt and a.txt.gz", "remove one"], input=tmp_path / "set")


def corpus_of(text="x", system="sysA"):
    return Corpus((Segment("1", (Sentence(text),)),), {system: (Sentence("y"),)})


@pytest.mark.parametrize("text", ["a\nb", "a\r", "\n"])
def test_line_breaks_are_refused(text, tmp_path):
    with pytest.raises(InputError, match=r"segment '1'.*line break.*; .*jsonl"):
        write(corpus_of(text), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "system",
    ["a/b", "..", ".x", "source", "Reference", "reference2", "-", "a:b", "x.", "a\tb", "n" * 300],
)
def test_unsafe_names_are_refused(system, tmp_path):
    with pytest.raises(InputError, match=r"system .*; .*jsonl"):
        write(corpus_of(system=system), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_names_that_differ_in_case_alone_are_refused(tmp_path):
    outputs = {"A": (Sentence("y"),), "a": (Sentence("y"),)}
    with pytest.raises(InputError, match="system 'a'"):
        write(Corpus((Segment("1", ()),), outputs), tmp_path / "out")


def test_a_folder_that_holds_something_is_left_alone(make, tmp_path):
    make("out/old.txt", "old\n")
    with pytest.raises(InputError, match=r"not empty; "):
        write(corpus_of(), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["old.txt"]


@pytest.mark.parametrize("name", ["out.txt", "out.gz"])
def test_a_folder_cannot_have_a_files_name(name, tmp_path):
    with pytest.raises(UsageError, match=r"folder; name one"):
        write(corpus_of(), tmp_path / name)
