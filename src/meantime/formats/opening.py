"""Files in and out: bytes, decompressed, decoded, and every way that can fail.

Nothing here knows a format. A file is read whole, because every format must be checked to
its end before its first segment may be used.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

from meantime.errors import FormatError, InputError

STANDARD_INPUT = "-"
GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = "\ufeff"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_DECLARED = re.compile(rb"""\A<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


@dataclass(frozen=True, slots=True)
class Text:
    """What a file says, and what to call the file in a message."""

    name: str
    stem: str
    content: str


def is_standard_input(path: str | Path) -> bool:
    """Whether a path asks for standard input."""
    return str(path) == STANDARD_INPUT


def stem(path: str | Path) -> str:
    """The file's name without its folder, its extension and `.gz`."""
    if is_standard_input(path):
        return "stdin"
    name = Path(without_gzip(path).name).stem
    # A name that is not UTF-8 still has to be printed.
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def without_gzip(path: str | Path) -> Path:
    """The path as it would be if the file were not compressed."""
    plain = Path(path)
    return plain.with_suffix("") if plain.suffix.lower() == ".gz" else plain


def display(path: str | Path) -> str:
    """What to call a file in a message."""
    return "standard input" if is_standard_input(path) else str(path)


def load(path: str | Path, stdin: IO[bytes] | None = None) -> bytes:
    """The bytes of a file or of standard input, decompressed where they are gzipped.

    Raises:
        InputError: The file is not there, is a folder or cannot be read.
        FormatError: The file is gzipped and damaged.
    """
    data = _read(path, stdin)
    return _decompress(display(path), data) if data.startswith(GZIP_MAGIC) else data


def _read(path: str | Path, stdin: IO[bytes] | None) -> bytes:
    if is_standard_input(path):
        return (stdin or sys.stdin.buffer).read()
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the name and the folder") from error
    except IsADirectoryError as error:
        raise InputError(f"{path}: this is a folder; name a file in it") from error
    except PermissionError as error:
        raise InputError(f"{path}: not readable; allow reading with chmod u+r") from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be read ({error}); check the name and the disk"
        ) from error


def _decompress(name: str, data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError as error:
        raise FormatError(
            f"{name}: the gzip data end too early; copy or compress the file again"
        ) from error
    except (OSError, zlib.error) as error:
        raise FormatError(
            f"{name}: damaged gzip data ({error}); copy or compress the file again"
        ) from error


def decompress_within(name: str, data: bytes, most: int) -> bytes:
    """Bytes somebody sent, decompressed where they are gzipped, and never more than are taken.

    A small file can be one of gigabytes; it is not unpacked further than it takes to know.

    Raises:
        InputError: It is larger than that, or not what it seems.
    """
    parts: list[bytes] = []
    left = most
    packed = data if data.startswith(GZIP_MAGIC) else b""
    while packed:
        opener = zlib.decompressobj(31)
        try:
            part = opener.decompress(packed, left + 1)
        except zlib.error as error:
            raise InputError(f"{name}: is no whole gzip file ({error})") from error
        left -= len(part)
        if left >= 0 and not opener.eof:
            raise InputError(f"{name}: is no whole gzip file (it ends too early)")
        parts.append(part)
        # Files may be put together as they are packed.
        packed = opener.unused_data.lstrip(b"\0") if left >= 0 else b""
    whole = b"".join(parts) if parts else data
    if parts and whole.startswith(GZIP_MAGIC):
        # Whoever reads it would unpack it again, and without a limit.
        raise InputError(f"{name}: gzipped more than once; decompress it with gunzip")
    if len(whole) > most:
        raise InputError(f"{name}: the files are too large together; send less")
    return whole


def decode(name: str, data: bytes) -> str:
    """UTF-8 text; a byte-order mark is dropped.

    Raises:
        FormatError: The bytes are not UTF-8; the message names the line of the first bad one.
    """
    if data.startswith(GZIP_MAGIC):
        raise FormatError(f"{name}: gzipped more than once; decompress it with gunzip")
    if data.startswith(_UTF16_MARKS):
        raise FormatError(
            f"{name}:1: UTF-16, expected UTF-8; convert it with iconv -f UTF-16 -t UTF-8"
        )
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"{name}:{line}: byte 0x{data[error.start]:02x} is not UTF-8; "
            "convert the file, for example with iconv -f ISO-8859-1 -t UTF-8"
        ) from error
    return content.removeprefix(_BYTE_ORDER_MARK)


def decode_markup(name: str, data: bytes) -> str:
    """XML text in the encoding its byte-order mark or its declaration states, else UTF-8.

    Translation tools export UTF-16 and, older ones, the encodings of a country.

    Raises:
        FormatError: The bytes are not in the stated encoding, or nobody knows it.
    """
    declared = _DECLARED.match(data)
    if data.startswith(_UTF16_MARKS):
        encoding = "utf-16"
    elif declared is None:
        return decode(name, data)
    else:
        encoding = declared[1].decode("ascii")
    try:
        codec = codecs.lookup(encoding)
        if codec.name in ("utf-8", "ascii"):
            return decode(name, data)
        return data.decode(codec.name).removeprefix(_BYTE_ORDER_MARK)
    except (LookupError, UnicodeError) as error:
        raise FormatError(
            f"{name}:1: cannot be read in its stated encoding {encoding} ({error}); "
            "convert the file and its declaration to UTF-8"
        ) from error


_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def disarm(text: str) -> str:
    """A text no spreadsheet takes for a formula: in front of one stands an apostrophe."""
    return f"'{text}" if _FORMULA.match(text) else text


def rearm(text: str) -> str:
    """The text that was made harmless."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def lines(content: str) -> list[str]:
    """The lines of a text, split on line feeds alone.

    A carriage return before a line feed goes with it, and the last line feed is optional.
    Other characters Unicode calls line separators are ordinary characters here.
    """
    if not content:
        return []
    return [line.removesuffix("\r") for line in content.removesuffix("\n").split("\n")]


def encode(content: str) -> bytes:
    """UTF-8 bytes that `decode` turns into the same text."""
    # A first U+FEFF would be taken for a byte-order mark and dropped: put one before it.
    mark = _BYTE_ORDER_MARK if content.startswith(_BYTE_ORDER_MARK) else ""
    return (mark + content).encode("utf-8")


def save(path: Path, data: bytes) -> None:
    """Write a file in one step, gzipped where its name ends in `.gz`.

    A link is followed, a file that is there keeps its permissions, and what is no ordinary
    file (a pipe, a device) is written to as it is.

    Raises:
        InputError: The file cannot be written; nothing is left behind.
    """
    # Without a time stamp, equal corpora give equal bytes.
    content = gzip.compress(data, mtime=0) if path.suffix.lower() == ".gz" else data
    target = _target(path)
    if target.exists() and not target.is_file():
        try:
            target.write_bytes(content)
        except OSError as error:
            raise _unwritable(path, error) from error
        return
    mode = target.stat().st_mode if target.exists() else None

    def make(temporary: Path) -> None:
        _create(temporary, content)
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))

    replace(target, make)


def _target(path: Path) -> Path:
    """Where a path leads, links followed; refused where it can be no file."""
    try:
        target = path.resolve()
    except (OSError, RuntimeError) as error:
        raise _unwritable(path, error) from error
    if target.is_dir() or not target.name:
        raise InputError(f"{path}: this is a folder; name a file in it")
    return target


def _unwritable(path: Path, error: BaseException) -> InputError:
    reason = getattr(error, "strerror", None) or error
    return InputError(
        f"{path}: cannot be written ({reason}); check that the folder exists and may be written to"
    )


def _create(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)


def save_folder(path: Path, files: dict[str, bytes]) -> None:
    """Write a new folder of files in one step.

    Raises:
        InputError: The folder is there and holds something, or cannot be written.
    """
    if path.is_dir() and any(path.iterdir()):
        raise InputError(f"{path}: the folder is not empty; name a new one or empty it first")

    def fill(temporary: Path) -> None:
        temporary.mkdir()
        for name, data in files.items():
            _create(temporary / name, data)

    replace(path, fill)


def replace(path: Path, make: Callable[[Path], None]) -> None:
    """Make something under a temporary name beside `path`, then give it that name."""
    temporary = path.with_name(f".{path.name[:100]}.{uuid4().hex}")
    try:
        make(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        _remove(temporary)


def _remove(path: Path) -> None:
    if path.is_dir():
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
