"""Files that are damaged, foreign or from another time are refused by name."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from meantime.errors import InputError
from meantime.similarity import context_file
from meantime.similarity.context_counting import train
from meantime.similarity.context_file import VECTORS, check, open_file, open_model, write
from meantime.similarity.idf import Idf, open_idf


@pytest.fixture
def path(tmp_path: Path) -> Path:
    text = tmp_path / "text.txt"
    text.write_text("the cat saw the dog\n" * 3 + "the dog slept\n", encoding="utf-8")
    train([text], tmp_path / "words.vectors", windows=(3, 5), min_count=1, jobs=1)
    return tmp_path / "words.vectors"


def test_it_opens_and_checks(path: Path) -> None:
    assert check(path, VECTORS) == open_model(path).identity
    assert open_model(path) is open_model(path)


def test_every_damaged_byte_is_noticed(path: Path) -> None:
    data = path.read_bytes()
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        with pytest.raises(InputError, match=r"words\.vectors: "):
            context_file._open(path)


def test_every_cut_is_noticed(path: Path) -> None:
    data = path.read_bytes()
    for end in range(0, len(data), 7):
        path.write_bytes(data[:end])
        with pytest.raises(InputError, match=r"words\.vectors: "):
            context_file._open(path)
    path.write_bytes(data + b"more")
    with pytest.raises(InputError, match="damaged"):
        context_file._open(path)


def test_a_row_that_was_packed_wrong_is_named(path: Path) -> None:
    """Not a damaged file but a wrong one: its checks fit, its rows do not."""
    opened = open_file(path, VECTORS)

    def fill(writer: context_file.Writer) -> dict[str, object]:
        for name, section in opened.sections.items():
            data = bytes(section)
            writer.section(name, b"\xff" * len(data) if name == "rows" else data)
        return dict(opened.facts)

    write(path, fill)  # type: ignore[arg-type]
    model = context_file._open(path)
    with pytest.raises(InputError, match=r"the row of 'the' is damaged"):
        model.row("the")
    with pytest.raises(InputError, match=r"the row of 'the' is damaged"):
        _ = model.entries
    from meantime.similarity.context import ContextSimilarity

    source = ContextSimilarity(model=path)
    for _ in range(2):
        with pytest.raises(InputError, match=r"the row of '.*' is damaged"):
            source.similarity("the", "dog")


def test_another_format_is_refused(path: Path) -> None:
    data = path.read_bytes()
    begin, length = struct.unpack_from("<QQ", data, 8)
    directory = data[begin : begin + length].replace(b'"format": 1', b'"format": 9')
    head = struct.pack("<8sQQQ", b"MTVECTOR", begin, length, zlib.crc32(directory))
    path.write_bytes(head + data[len(head) : begin] + directory)
    with pytest.raises(InputError, match="format 9, this version reads 1"):
        context_file._open(path)


@pytest.mark.parametrize("content", [b"", b"some text", b"MTVECTOR", b"MTVECTOR" + bytes(40)])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(InputError, match="other: "):
        open_model(path)


def test_kinds_are_told_apart(path: Path, tmp_path: Path) -> None:
    Idf.of([["a", "b"]]).save(tmp_path / "table.idf")
    with pytest.raises(InputError, match="holds idf, not context vectors"):
        open_model(tmp_path / "table.idf")
    with pytest.raises(InputError, match="holds context vectors, not idf"):
        open_idf(path)


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        open_model(tmp_path / "none")
    with pytest.raises(InputError, match="this is a folder"):
        open_model(tmp_path)
    with pytest.raises(InputError, match="this is a folder"):
        Idf.of([["a"]]).save(tmp_path)


def test_a_changed_file_is_read_anew(path: Path) -> None:
    before = open_model(path)
    text = path.with_name("text.txt")
    text.write_text("something else entirely\n", encoding="utf-8")
    train([text], path, windows=(3,), min_count=1, jobs=1)
    assert open_model(path).identity != before.identity
    # What was opened goes on as it was.
    assert before.row("cat", 3) == {"the": 3, "saw": 3}
