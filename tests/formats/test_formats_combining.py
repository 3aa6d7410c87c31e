"""Several files, one corpus."""

import pytest

from meantime.errors import FormatError, InputError, LengthMismatch, UsageError
from meantime.formats import read


def texts(sentences):
    return [sentence.text for sentence in sentences]


JSONL = '{"id": "a", "ref": "r1", "hyp": "h1", "system": "S"}\n' + (
    '{"id": "b", "ref": "r2", "hyp": "h2", "system": "S"}\n'
)


def test_more_systems_references_and_a_source_beside_everything(make):
    corpus = read(
        [make("more.txt", "x\ny\n")],
        references=[make("ref.txt", "q1\nq2\n")],
        source=make("src.txt", "s1\ns2\n"),
        input=make("all.jsonl", JSONL),
    )
    assert list(corpus.outputs) == ["S", "more"]
    assert texts(corpus.segments[0].references) == ["r1", "q1"]
    assert corpus.segments[1].source.text == "s2"
    assert [segment.id for segment in corpus.segments] == ["a", "b"]


def test_a_second_source_is_refused(refused, make):
    everything = make("all.tsv", "src\tref\na\tb\n")
    words = ["s.txt", "all.tsv has the source already", "leave one"]
    refused(UsageError, words, input=everything, source=make("s.txt", "a\n"))


def test_the_first_file_with_ids_gives_them_whatever_its_part(make):
    hypothesis = make("h.jsonl", '{"id": "x", "doc": "d", "hyp": "a"}\n')
    corpus = read([hypothesis], references=[make("r.txt", "r\n")])
    assert (corpus.segments[0].id, corpus.segments[0].document) == ("x", "d")


def test_other_formats_are_matched_by_id_where_the_ids_are_the_same(make):
    hypothesis = make("h.tsv", "id\tmt\n2\tb\n1\ta\n")
    corpus = read(
        [hypothesis], references=[make("r.jsonl", '{"id":1,"ref":"x"}\n{"id":2,"ref":"y"}')]
    )
    assert texts(corpus.outputs["h"]) == ["a", "b"]


def test_other_formats_are_matched_in_order_where_the_ids_differ(make, refused):
    hypothesis = make("h.tsv", "id\tmt\ne\tb\nf\ta\n")
    reference = make("r.jsonl", '{"id":1,"ref":"x"}\n{"id":2,"ref":"y"}')
    corpus = read([hypothesis], references=[reference])
    assert texts(corpus.outputs["h"]) == ["b", "a"]
    longer = make("i.tsv", "id\tmt\ne\tb\nf\ta\ng\tc\n")
    words = ["i.tsv has 3", "r.jsonl has 2"]
    refused(LengthMismatch, words, [longer], references=[reference])


def test_the_same_format_must_have_the_same_ids(make, refused):
    hypothesis = make("h.tsv", "id\tmt\n1\tb\n3\ta\n")
    reference = make("r.tsv", "id\tref\n1\tb\n2\ta\n")
    words = ["h.tsv lacks segment '2'", "r.tsv:3", "same documents and ids"]
    refused(FormatError, words, [hypothesis], references=[reference])


def test_stems_name_systems_and_folders_tell_them_apart(make):
    files = [make(name, "x\n") for name in ("a/out.txt", "b/out.txt.gz", "b/c.d.txt", "e")]
    assert list(read(files).outputs) == ["a/out", "b/out", "c.d", "e"]


def test_as_many_folders_as_needed(make):
    files = [make(name, "x\n") for name in ("p/a/out.txt", "q/a/out.txt", "q/b/out.txt")]
    assert list(read(files).outputs) == ["p/a/out", "q/a/out", "b/out"]


def test_relative_names(make, monkeypatch, tmp_path):
    make("here/out.txt", "x\n")
    make("there/out.txt", "x\n")
    monkeypatch.chdir(tmp_path / "here")
    assert list(read(["out.txt", "../there/out.txt"]).outputs) == ["here/out", "there/out"]


def test_the_same_file_twice(make, refused):
    path = make("out.txt", "x\n")
    refused(InputError, ["out.txt", "system 'out'", "rename one"], [path, path])


def test_a_file_beside_its_compressed_copy(make, refused):
    files = [make("out.txt", "x\n"), make("out.txt.gz", "x\n")]
    refused(InputError, ["system 'out'", "rename one"], files)


def test_a_system_named_in_a_file_and_by_a_file(make, refused):
    words = ["S.txt", "'S' is there already", "rename"]
    refused(InputError, words, [make("S.txt", "x\ny\n")], input=make("all.jsonl", JSONL))


@pytest.mark.parametrize("name", ["h.txt", "h.jsonl"])
def test_one_format_may_be_stated_for_all(name, make):
    corpus = read([make(name, "{}\n")], references=[make("r.tsv", "a\tb\n")], format="plain")
    assert texts(corpus.outputs["h"]) == ["{}"]
    assert texts(corpus.segments[0].references) == ["a\tb"]
