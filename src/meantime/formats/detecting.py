"""Which format a file is in: by its name, else by its first bytes."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from pathlib import Path

from meantime.formats.columns import canonical, reference_number
from meantime.formats.opening import GZIP_MAGIC, without_gzip

_EXTENSIONS = {
    ".txt": "plain",
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".sgm": "sgml",
    ".sgml": "sgml",
    ".xlf": "xliff",
    ".xliff": "xliff",
    ".sdlxliff": "xliff",
    ".mqxliff": "xliff",
    ".mxliff": "xliff",
    ".tmx": "tmx",
}
_ROOTS = {
    "dataset": "wmtxml",
    "xliff": "xliff",
    "tmx": "tmx",
    "mteval": "sgml",
    "srcset": "sgml",
    "refset": "sgml",
    "tstset": "sgml",
}
_PROLOGUE = re.compile(r"<!--.*?-->|<\?.*?\?>|<![^>\[]*(?:\[.*?\]\s*)?>", re.DOTALL)
_ROOT = re.compile(r"\s*<(?:[\w.-]+:)?([A-Za-z][\w.-]*)")
_KEY = re.compile(r'[{,]\s*"([^"\\]+)"\s*:')
_TEXT_COLUMNS = frozenset({"source", "reference", "hypothesis"})
_HEAD = 65536


def by_extension(path: str | Path) -> str | None:
    """The format a file's name tells, if it does."""
    return _EXTENSIONS.get(without_gzip(path).suffix.lower())


def detect(path: str | Path, head: bytes) -> str:
    """The format of a file.

    Args:
        path: Its name; `.gz` at the end does not count.
        head: Its first bytes, compressed or not.

    Returns:
        The name of a format; "plain" where neither name nor content tell another.
    """
    named = by_extension(path)
    if named is not None:
        return named
    # Any other XML is refused by the reader of WMT XML, with its root's name.
    fallback = "wmtxml" if without_gzip(path).suffix.lower() == ".xml" else "plain"
    return _by_content(_open(head)) or fallback


def _open(head: bytes) -> str:
    if head.startswith(GZIP_MAGIC):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
        except zlib.error:
            return ""
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    return head[:_HEAD].decode(encoding, errors="replace").removeprefix("\ufeff")


def _by_content(content: str) -> str | None:
    if content.lstrip().startswith("<"):
        root = _ROOT.match(_PROLOGUE.sub("", content))
        return _ROOTS.get(root[1].lower()) if root else None
    first = content.lstrip("\r\n").partition("\n")[0].strip("\r")
    if first.lstrip().startswith("{"):
        keys = {name for name in _KEY.findall(first) if _is_text(name)}
        return "jsonl" if keys else None
    for format, separator in (("tsv", "\t"), ("csv", ",")):
        if _is_header([name.strip().strip('"') for name in first.split(separator)]):
            return format
    return None


def _is_text(name: str) -> bool:
    column = canonical(name) or ""
    several = name in ("references", "hypotheses")
    return several or column in _TEXT_COLUMNS or reference_number(column) is not None


def _is_header(names: Sequence[str]) -> bool:
    known = [name for name in names if canonical(name) is not None]
    return len(known) > 1 and any(map(_is_text, known))
