"""Words of large plain texts as numbers: exactly the analyser's tokens, lower-cased, but fast.

What a stretch between two spaces splits into depends on that stretch alone, and on whether it
ends its line. So each kind of stretch is split once and remembered.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy
from numpy.typing import NDArray

from meantime.analysis.tokenise import tokenise
from meantime.errors import FormatError, InputError
from meantime.formats.opening import GZIP_MAGIC, display, is_standard_input
from meantime.matching.cooccurrences import BOUNDARY, expand

Numbers = NDArray[numpy.int32]

BLOCK = 1 << 22
_LONGEST_LINE = 1 << 26
_REMEMBERED = 1 << 20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def split(line: str) -> list[str]:
    """The words of a line: the analyser's tokens, lower-cased."""
    return [token.text.lower() for token in tokenise(line)]


class Vocabulary:
    """Numbers for words, handed out as they are met."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._flat = array("i")
        self._starts = array("i", [0])
        self._inner = _Stretches(self, " x")
        self._last = _Stretches(self, "")

    def read(self, lines: Sequence[str]) -> Numbers:
        """The words of lines, with `BOUNDARY` after each line."""
        if len(self._inner) + len(self._last) > _REMEMBERED:
            self._inner.clear()
            self._last.clear()
            self._flat = array("i")
            self._starts = array("i", [0])
        found = array("i")
        inner = self._inner.__getitem__
        last = self._last.__getitem__
        for line in lines:
            # An entity may stand for a space, so such a line is split as a whole.
            if "&" in line:
                found.extend([self._number(word) for word in split(line)])
            else:
                stretches = line.split()
                if stretches:
                    ending = stretches.pop()
                    found.extend(map(inner, stretches))
                    found.append(last(ending))
            found.append(BOUNDARY)
        numbers = numpy.frombuffer(found, dtype=numpy.int32)
        flat = numpy.array(self._flat, dtype=numpy.int32)
        starts = numpy.array(self._starts, dtype=numpy.int32)
        out = numpy.empty(len(numbers) * 2, dtype=numpy.int32)
        length = expand(numbers, flat, starts, out)
        if length > len(out):
            out = numpy.empty(length, dtype=numpy.int32)
            expand(numbers, flat, starts, out)
        return out[:length]

    def _number(self, word: str) -> int:
        return self.numbers.setdefault(word, len(self.numbers))

    def _remember(self, words: Sequence[str]) -> int:
        """One number for a stretch: its word's, or -2 - n for the n-th run of several."""
        if len(words) == 1:
            return self._number(words[0])
        self._flat.extend([self._number(word) for word in words])
        self._starts.append(len(self._flat))
        return -len(self._starts)


class _Stretches(dict[str, int]):
    """What stretches between spaces split into; `after` is put behind one to split it."""

    def __init__(self, vocabulary: Vocabulary, after: str) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._after = after

    def __missing__(self, stretch: str) -> int:
        words = split(stretch + self._after)
        if self._after:
            words.pop()
        number = self[stretch] = self._vocabulary._remember(words)
        return number


def blocks(path: str | Path, stdin: IO[bytes] | None = None) -> Iterator[tuple[bytes, int]]:
    """Whole lines of a plain or gzipped UTF-8 text, some megabytes at a time.

    With each block comes how many bytes of the file are read by then.

    Raises:
        InputError: The file cannot be read.
        FormatError: It is damaged, or not UTF-8; the message names the line.
    """
    name = display(path)
    try:
        with _open(path, stdin) as raw:
            head = raw.peek(2)[:2] if hasattr(raw, "peek") else b""
            packed = head == GZIP_MAGIC
            source: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            yield from _blocks(name, source, raw)
    except FileNotFoundError as error:
        raise InputError(f"{name}: no such file; check the name and the folder") from error
    except IsADirectoryError as error:
        raise InputError(f"{name}: this is a folder; name a file in it") from error
    except PermissionError as error:
        raise InputError(f"{name}: not readable; allow reading with chmod u+r") from error
    except EOFError as error:
        raise FormatError(
            f"{name}: the gzip data end too early; copy or compress the file again"
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(
            f"{name}: damaged gzip data ({error}); copy or compress the file again"
        ) from error
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error}); check the disk") from error


def _open(path: str | Path, stdin: IO[bytes] | None) -> IO[bytes]:
    if is_standard_input(path):
        return stdin or sys.stdin.buffer
    return Path(path).open("rb")


def _blocks(name: str, source: IO[bytes], raw: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    rest = b""
    line = 1
    first = True
    while True:
        data = source.read(BLOCK)
        whole = rest + data
        if first:
            if whole.startswith(_UTF16):
                raise FormatError(
                    f"{name}:1: UTF-16, expected UTF-8; convert it with iconv -f UTF-16 -t UTF-8"
                )
            if whole.startswith(GZIP_MAGIC):
                raise FormatError(f"{name}: gzipped more than once; decompress it with gunzip")
            whole = whole.removeprefix(_BYTE_ORDER_MARK)
            first = False
        end = whole.rfind(b"\n") + 1 if data else len(whole)
        if end == 0 and len(whole) > _LONGEST_LINE:
            raise FormatError(
                f"{name}:{line}: a line of more than {_LONGEST_LINE >> 20} MB; put a sentence on "
                "a line"
            )
        block, rest = whole[:end], whole[end:]
        if block:
            try:
                block.decode()
            except UnicodeDecodeError as error:
                bad = line + block.count(b"\n", 0, error.start)
                raise FormatError(
                    f"{name}:{bad}: byte 0x{block[error.start]:02x} is not UTF-8; convert the "
                    "file, for example with iconv -f ISO-8859-1 -t UTF-8"
                ) from error
            line += block.count(b"\n")
            yield block, raw.tell() if raw.seekable() else 0
        if not data:
            return
