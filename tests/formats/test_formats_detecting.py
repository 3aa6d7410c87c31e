"""Which format a file is in."""

import gzip

import pytest

from meantime.formats import FORMATS, detect


@pytest.mark.parametrize(
    ("name", "head", "format"),
    [
        ("a.txt", b"<xliff>", "plain"),
        ("a.TSV", b"", "tsv"),
        ("a.csv.gz", b"", "csv"),
        ("a.jsonl", b"", "jsonl"),
        ("a.sgm", b"", "sgml"),
        ("a.mqxliff", b"", "xliff"),
        ("a.tmx", b"", "tmx"),
        ("a.xml", b"<?xml version='1.0'?><!-- <tmx> --><dataset id='x'>", "wmtxml"),
        ("a.xml", b"<?xml version='1.0'?>\n<x:xliff version='2.0'>", "xliff"),
        ("a.xml", b'<!DOCTYPE tmx [\n<!ELEMENT tmx (x)>\n]>\n<tmx version="1.4">', "tmx"),
        ("a.xml", b"<html>", "wmtxml"),
        ("a.de", b'\xef\xbb\xbf<REFSET setid="x">', "sgml"),
        ("-", b'{"id": 1, "src": "a"}\n', "jsonl"),
        ("-", b'{"id": 1, "references": ["a"]}\n', "jsonl"),
        ("-", b"source\treference2\nx\ty", "tsv"),
        ("-", b'"ref","hyp"\r\n', "csv"),
        ("-", gzip.compress(b"src\tref\n", mtime=0), "tsv"),
        ("-", b"\x1f\x8bdamaged", "plain"),
        ("-", b"", "plain"),
        ("-", b"<unk> is a token\n", "plain"),
        ("-", b"{a} set\n", "plain"),
        ("-", b'{"a": 1}\n', "plain"),
        ("-", b"source, they said\n", "plain"),
        ("hyp.de", "Größe\n".encode("latin-1"), "plain"),
    ],
)
def test_detect(name, head, format):
    assert detect(name, head) == format
    assert format in FORMATS
