"""Bytes in and out: what every format shares."""

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meantime.errors import FormatError, InputError, UsageError
from meantime.formats import read
from meantime.formats.opening import decompress_within, disarm, rearm


def test_a_missing_file(refused, tmp_path):
    refused(
        InputError, ["nowhere.txt", "no such file", "check the name"], [tmp_path / "nowhere.txt"]
    )


def test_a_folder(refused, tmp_path):
    refused(InputError, [str(tmp_path), "folder", "name a file"], [tmp_path])


def test_an_unreadable_file(refused, make, monkeypatch):
    def deny(path):
        raise PermissionError(13, "Permission denied", path)

    path = make("a.txt", "x\n")
    # Changed rights would not stop a test that runs as root.
    monkeypatch.setattr(Path, "read_bytes", deny)
    refused(InputError, ["a.txt", "not readable", "chmod"], [path])


def test_an_impossible_name(refused):
    refused(InputError, ["cannot be read"], ["a\0b"])


@pytest.mark.parametrize("name", ["a.txt", "a.tsv", "a.csv", "a.jsonl", "a.sgm", "a.xml", "a.tmx"])
def test_not_utf8_names_the_line_of_the_first_bad_byte(name, refused, make):
    path = make(name, "fine\nélan\n".encode() + "caf\xe9\n".encode("latin-1"))
    refused(FormatError, [f"{name}:3:", "0xe9", "iconv"], [path])


def test_utf16_is_refused(refused, make):
    path = make("a.txt", "hello\n".encode("utf-16"))
    refused(FormatError, ["a.txt:1:", "UTF-16", "iconv"], [path])


def test_a_byte_order_mark_is_dropped(make):
    corpus = read([make("a.txt", b"\xef\xbb\xbfhello\n")], references=[make("r.txt", "hello\n")])
    assert corpus.outputs["a"][0].text == "hello"


@pytest.mark.parametrize("name", ["a.txt", "a.tsv", "a.csv", "a.jsonl", "a.sgm", "a.xml", "a.tmx"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_an_empty_file(name, compress, refused, make):
    path = make(name, compress(b""))
    refused(FormatError, [f"{name}:1:", "holds no segment", "check"], [path])


def test_gzip_is_known_by_its_bytes(make):
    data = gzip.compress(b"one\ntwo\n")
    corpus = read([make("a.txt", data), make("b.txt.gz", data), make("c", data)])
    assert list(corpus.outputs) == ["a", "b", "c"]
    assert {tuple(one.text for one in texts) for texts in corpus.outputs.values()} == {
        ("one", "two")
    }


def test_plain_bytes_under_a_compressed_name(make):
    assert read([make("a.txt.gz", "one\n")]).outputs["a"][0].text == "one"


@pytest.mark.parametrize("keep", [-1, -8, 12])
def test_cut_gzip(keep, refused, make):
    data = gzip.compress(os.urandom(100).hex().encode())
    refused(FormatError, ["a.gz", "gzip", "again"], [make("a.gz", data[:keep])])


def test_damaged_gzip(refused, make):
    data = bytearray(gzip.compress(b"hello world\n" * 50))
    data[-6] ^= 0xFF
    refused(FormatError, ["a.gz", "damaged", "again"], [make("a.gz", bytes(data))])


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_standard_input(compress, make):
    stream = io.BytesIO(compress(b"one\ntwo\n"))
    corpus = read(["-"], references=[make("r.txt", "eins\nzwei\n")], stdin=stream)
    assert [one.text for one in corpus.outputs["stdin"]] == ["one", "two"]


def test_standard_input_holding_everything():
    stream = io.BytesIO(b'{"ref": "a", "hyp": "b"}\n')
    corpus = read(input="-", stdin=stream)
    assert corpus.outputs["stdin"][0].text == "b"


def test_standard_input_only_once(refused):
    refused(UsageError, ["standard input", "twice"], ["-"], references=["-"])


def test_errors_in_standard_input_say_so(refused):
    stream = io.BytesIO(b"fine\n\xff\n")
    refused(FormatError, ["standard input:2:", "iconv"], ["-"], stdin=stream)


def test_nothing_to_read(refused):
    refused(UsageError, ["nothing to read"])


def test_one_path_where_a_list_belongs(refused):
    refused(UsageError, ["list"], "a.txt")


def test_unknown_format(refused):
    refused(UsageError, ["'docx'", "plain", "tmx"], ["a.txt"], format="docx")


def test_importing_loads_no_xml_library():
    code = "import sys, meantime.formats; sys.exit('lxml' in sys.modules or 'numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent)


def test_packed_bytes_are_opened_within_limits():
    one, two = gzip.compress(b"one\n"), gzip.compress(b"two\n")
    assert decompress_within("a", b"plain", 5) == b"plain"
    # Put together as they are packed, and filled up with zeros, as archives do.
    assert decompress_within("a", one + two + b"\0" * 9, 8) == b"one\ntwo\n"
    for data, most, message in [
        (b"plain", 4, "too large"),
        (one + two, 7, "too large"),
        (gzip.compress(b"0" * 10**7), 1000, "too large"),
        (one[:-4], 100, "ends too early"),
        (one + b"x", 100, "no whole gzip file"),
        (gzip.compress(one), 100, "more than once"),
    ]:
        with pytest.raises(InputError, match=message):
            decompress_within("a.gz", data, most)


@given(st.text(alphabet="'=+-@\t\r a", max_size=6))
def test_texts_are_disarmed_and_come_back(text):
    safe = disarm(text)
    assert safe[:1] not in {"=", "+", "-", "@", "\t", "\r"}
    assert rearm(safe) == text
