"""Writing: in one step or not at all."""

import os

import pytest

from meantime.errors import InputError, UsageError
from meantime.formats import FORMATS, read, write
from meantime.types import Corpus, Segment, Sentence

CORPUS = Corpus((Segment("1", (Sentence("r"),), Sentence("s", "de")),), {"A": (Sentence("h"),)})


@pytest.mark.parametrize("format", FORMATS)
def test_a_failure_leaves_nothing_behind(format, tmp_path, monkeypatch):
    def fail(*names):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match=r"out: cannot be written \(No space left on device\); "):
        write(CORPUS, tmp_path / "out", format=format)
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_is_replaced_or_kept(tmp_path):
    path = tmp_path / "a.tsv"
    write(CORPUS, path)
    before = path.read_bytes()
    broken = Corpus((Segment("1", (Sentence("a\tb"),)),))
    with pytest.raises(InputError):
        write(broken, path)
    assert path.read_bytes() == before
    write(Corpus((Segment("9", (Sentence("new"),)),)), path)
    assert read(input=path).segments[0].id == "9"
    assert [one.name for one in tmp_path.iterdir()] == ["a.tsv"]


@pytest.mark.parametrize("name", ["nowhere/a.tsv", "nowhere/folder"])
def test_a_missing_folder(name, tmp_path):
    with pytest.raises(InputError, match=r"cannot be written .*; check that the folder exists"):
        write(CORPUS, tmp_path / name)


def test_a_folder_in_the_way(tmp_path):
    (tmp_path / "a.tsv").mkdir()
    with pytest.raises(InputError, match="this is a folder"):
        write(CORPUS, tmp_path / "a.tsv")
    assert [one.name for one in tmp_path.iterdir()] == ["a.tsv"]


def test_an_unknown_extension(tmp_path):
    with pytest.raises(UsageError, match=r"\.docx tells no format; state one of plain"):
        write(CORPUS, tmp_path / "a.docx")


def test_an_unknown_format(tmp_path):
    with pytest.raises(UsageError, match="unknown format 'docx'; use auto"):
        write(CORPUS, tmp_path / "a", format="docx")


@pytest.mark.parametrize(
    ("corpus", "words"),
    [
        (Corpus(()), "no segment; "),
        (Corpus((Segment("1", ()),)), "no segment has a text; "),
        (Corpus((Segment("1", ()),), {"": (Sentence("x"),)}), "empty name; name it"),
        (Corpus((Segment("1", (Sentence("\ud800"),)),)), "segment '1': .*surrogate; repair"),
        (Corpus((Segment("1", ()),), {"\ud800": (Sentence("x"),)}), "surrogate; repair"),
    ],
)
@pytest.mark.parametrize("name", ["folder", "a.jsonl", "a.xml"])
def test_what_no_format_holds(corpus, words, name, tmp_path):
    with pytest.raises(InputError, match=words):
        write(corpus, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_usual_rights(tmp_path):
    (tmp_path / "other").write_text("x", encoding="utf-8")
    write(CORPUS, tmp_path / "a.tsv")
    assert (tmp_path / "a.tsv").stat().st_mode == (tmp_path / "other").stat().st_mode
