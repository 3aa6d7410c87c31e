"""The files of this room: named sections of plain numbers and text, nothing to unpickle.

    8 bytes   MTVECTOR
    3 × 8     where the directory begins, its length, its CRC-32 (little-endian)
    …         the sections, end to end
    …         the directory: JSON

The directory holds facts and, for each section, where it begins, its length as stored and as
used, whether it is compressed (zlib), and the CRC-32 of the stored bytes. The file ends where
the directory ends. What is not compressed is mapped into memory, not read. Every section is
compared with its CRC when the file is opened.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import IO, Any

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError, UsageError
from meantime.formats.opening import replace
from meantime.matching.packing import DAMAGED, count_entries, own_counts, unpack_row

MAGIC = b"MTVECTOR"
FORMAT = 1
VECTORS = "context vectors"
_PREAMBLE = struct.Struct("<8sQQQ")
_BLOCK = 1 << 22
_LARGEST = 1 << 34
SHIPPED = "english"

Bytes = NDArray[numpy.uint8]
Whole = NDArray[numpy.int64]


class Writer:
    """Writes a file section by section; see `write`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._sections: dict[str, dict[str, int | bool]] = {}
        self._digest = hashlib.sha256()
        self._file.write(bytes(_PREAMBLE.size))

    def section(self, name: str, pieces: Any, *, compress: bool = False) -> None:
        """Add a section, from bytes or an iterable of bytes."""
        begin = self._file.tell()
        check = length = 0
        packer = zlib.compressobj(9) if compress else None
        self._digest.update(name.encode())
        for piece in [pieces] if isinstance(pieces, bytes) else pieces:
            self._digest.update(piece)
            length += len(piece)
            stored = packer.compress(piece) if packer else piece
            check = zlib.crc32(stored, check)
            self._file.write(stored)
        if packer:
            stored = packer.flush()
            check = zlib.crc32(stored, check)
            self._file.write(stored)
        self._sections[name] = {
            "begin": begin,
            "stored": self._file.tell() - begin,
            "length": length,
            "compressed": compress,
            "crc": check,
        }

    def close(self, facts: Mapping[str, Any]) -> None:
        """Write the directory."""
        self._digest.update(_counted(facts))
        directory = json.dumps(
            {
                "format": FORMAT,
                "hash": self._digest.hexdigest(),
                "facts": dict(facts),
                "sections": self._sections,
            },
            ensure_ascii=False,
        ).encode()
        begin = self._file.tell()
        self._file.write(directory)
        self._file.seek(0)
        self._file.write(_PREAMBLE.pack(MAGIC, begin, len(directory), zlib.crc32(directory)))


def write(path: Path, fill: Callable[[Writer], Mapping[str, Any]]) -> None:
    """Write a file in one step: `fill` adds the sections and returns the facts.

    Raises:
        InputError: The file cannot be written; nothing is left behind.
    """
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; name a file in it")

    def make(temporary: Path) -> None:
        with temporary.open("xb") as file:
            writer = Writer(file)
            writer.close(fill(writer))

    replace(path, make)


@dataclass(frozen=True)
class Opened:
    """A file of sections, mapped and checked."""

    path: Path
    facts: Mapping[str, Any]
    identity: str
    sections: Mapping[str, Bytes]


def open_file(path: Path, kind: str) -> Opened:
    """Map a file and check it.

    Raises:
        InputError: It is not there, is of another kind, or damaged.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_PREAMBLE.size)
            if len(head) < _PREAMBLE.size or not head.startswith(MAGIC):
                raise InputError(f"{path}: no file of {kind}; make one with 'meantime vectors'")
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the name and the folder") from error
    except IsADirectoryError as error:
        raise InputError(f"{path}: this is a folder; name a file of {kind}") from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be read ({error}); check the name and the disk"
        ) from error
    try:
        directory, sections = _sections(data, head)
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error, struct.error) as error:
        raise InputError(
            f"{path}: damaged ({error}); copy the file again, or make it anew"
        ) from error
    if directory["format"] != FORMAT:
        raise InputError(
            f"{path}: format {directory['format']}, this version reads {FORMAT}; make it anew with "
            "this version"
        )
    facts = directory["facts"]
    if facts.get("kind") != kind:
        raise InputError(f"{path}: holds {facts.get('kind')}, not {kind}; name another file")
    return Opened(path, facts, str(directory["hash"]), sections)


def check(path: Path, kind: str) -> str:
    """The identity of a file, compared with its content.

    Raises:
        InputError: The file cannot be read, or is not what its hash was made of.
    """
    opened = open_file(path, kind)
    digest = hashlib.sha256()
    for name, section in opened.sections.items():
        digest.update(name.encode())
        digest.update(memoryview(section))  # type: ignore[arg-type]
    digest.update(_counted(opened.facts))
    if digest.hexdigest() != opened.identity:
        raise InputError(f"{path}: damaged or changed; copy the file again, or make it anew")
    return opened.identity


def _counted(facts: Mapping[str, Any]) -> bytes:
    # Where a file came from is told, but two files of the same numbers are the same model.
    kept = {key: value for key, value in facts.items() if key != "made"}
    return json.dumps(kept, ensure_ascii=False, sort_keys=True).encode()


def _sections(data: mmap.mmap, head: bytes) -> tuple[dict[str, Any], dict[str, Bytes]]:
    _, begin, length, check = _PREAMBLE.unpack(head)
    if begin + length != len(data):
        raise ValueError("it does not end where it says")
    written = data[begin : begin + length]
    if zlib.crc32(written) != check:
        raise ValueError("the directory is not what was written")
    directory = json.loads(written)
    whole = numpy.frombuffer(data, dtype=numpy.uint8)
    sections = {}
    for name, place in directory["sections"].items():
        stored: Any = whole[place["begin"] : place["begin"] + place["stored"]]
        found = 0
        for at in range(0, len(stored), _BLOCK):
            found = zlib.crc32(stored[at : at + _BLOCK], found)
        if len(stored) != place["stored"] or found != place["crc"]:
            raise ValueError(f"section {name} is not what was written")
        if place["compressed"]:
            if not 0 <= place["length"] < _LARGEST:
                raise ValueError(f"section {name} has no sensible length")
            # One byte more than promised is asked for, and must not come.
            unpacked = zlib.decompressobj().decompress(stored, place["length"] + 1)
            stored = numpy.frombuffer(unpacked, dtype=numpy.uint8)
        if len(stored) != place["length"]:
            raise ValueError(f"section {name} has another length than it should")
        sections[name] = stored
    return directory, sections


@dataclass(frozen=True, eq=False)
class ContextModel:
    """Context vectors: for each word, how often every context word stood near it.

    Words are numbered by falling frequency, and the contexts are the first of the words. Rows
    stay packed, and mapped from the file, until they are used. Sums by row and by context are
    those of the counted text, also where entries were left out since (see `prune`).
    """

    path: Path
    windows: tuple[int, ...]
    words: tuple[str, ...]
    data: Bytes
    offsets: Whole
    """Where the packed row of each word begins, and where the last ends."""
    context_sums: NDArray[numpy.float64]
    """How often each context was counted, one column a window."""
    totals: NDArray[numpy.float64]
    """The sum of all counts, for each window."""
    identity: str
    facts: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What to call it: the name of a shipped model, or of the file without its ending."""
        ours = self.path.parent.parent == models_folder()
        return self.path.parent.name if ours else self.path.stem

    @property
    def contexts(self) -> int:
        """How many context words there are."""
        return len(self.context_sums)

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def window(self, asked: int | None = None) -> int:
        """A window this model holds: the one asked for, else 5, else the widest.

        Raises:
            UsageError: It does not hold the one asked for.
        """
        if asked is None:
            return 5 if 5 in self.windows else self.windows[-1]
        if asked not in self.windows:
            raise UsageError(
                f"{self.path}: no window {asked}; it holds {', '.join(map(str, self.windows))}: "
                f"choose one, or count anew with --window {asked}"
            )
        return asked

    def frequency(self, word: str) -> int:
        """How often a word stood in the text; 0 where it is not in the vocabulary."""
        number = self.index.get(word.lower())
        return 0 if number is None else int(self.frequencies[number])

    @cached_property
    def frequencies(self) -> Whole:
        """How often each word stood in the text."""
        found: Whole = own_counts(self.data, self.offsets, len(self.windows))
        return found

    @cached_property
    def entries(self) -> tuple[int, ...]:
        """How many counts are held, for each window."""
        found = count_entries(self.data, self.offsets, len(self.windows), self.contexts)
        if found[0] < 0:
            raise damaged(self.path, self.words[-1 - int(found[0])])
        return tuple(int(count) for count in found)

    def row(self, word: str, window: int | None = None) -> dict[str, int]:
        """The counts of a word's contexts, the widest first; none where it is not known."""
        number = self.index.get(word.lower())
        if number is None:
            return {}
        columns, counts = self.unpack(number, self.windows.index(self.window(window)))
        order = numpy.lexsort((columns, -counts))
        return {self.words[columns[place]]: int(counts[place]) for place in order}

    def unpack(self, number: int, place: int) -> tuple[Whole, Whole]:
        """Columns and counts of a row, for the window at this place."""
        begin, end = self.offsets[number : number + 2]
        columns = numpy.empty((end - begin) // 2 + 1, dtype=numpy.int64)
        counts = numpy.empty(len(columns), dtype=numpy.int64)
        entries, _ = unpack_row(
            self.data, begin, end, len(self.windows), place, self.contexts, columns, counts
        )
        if entries == DAMAGED:
            raise damaged(self.path, self.words[number])
        return columns[:entries], counts[:entries]


def damaged(path: Path, word: str) -> InputError:
    """The error for a row that cannot be unpacked."""
    return InputError(
        f"{path}: the row of {word!r} is damaged; copy the file again, or make it anew"
    )


def models_folder() -> Path:
    """Where the models that come with the package are."""
    return Path(__file__).parent / "models"


def find_model(name: str | Path | None = None) -> Path:
    """The file of a model: by default, or by its name, a shipped one; else a path."""
    if name is None or str(name) == SHIPPED:
        return models_folder() / SHIPPED / "context.vectors"
    return Path(name)


def open_model(name: str | Path | None = None) -> ContextModel:
    """Open a model of context vectors: a file, or the shipped one.

    Raises:
        InputError: The file is not there, is something else, or damaged.
    """
    path = find_model(name)
    try:
        facts = path.stat()
    except OSError:
        return _open(path)
    return _remembered(path, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=4)
def _remembered(path: Path, time: int, size: int) -> ContextModel:
    return _open(path)


def _open(path: Path) -> ContextModel:
    opened = open_file(path, VECTORS)
    try:
        windows = tuple(int(window) for window in opened.facts["windows"])
        sections = opened.sections
        lengths = sections["lengths"].view("<u4").astype(numpy.int64)
        sums = sections["contexts"].view("<u8").reshape(-1, len(windows)).astype(numpy.float64)
        totals = numpy.array(opened.facts["totals"], dtype=numpy.float64)
        text = bytes(sections["words"]).decode()
        words = tuple(text.split("\n")) if text else ()
        offsets = numpy.concatenate([[0], lengths.cumsum()]).astype(numpy.int64)
        whole = (
            list(windows) == sorted(set(windows))
            and len(windows) > 0
            and len(words) == len(lengths) == len(set(words))
            and offsets[-1] == len(sections["rows"])
            and len(sums) <= len(words)
            and totals.shape == (len(windows),)
        )
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(
            f"{path}: damaged ({error}); copy the file again, or make it anew"
        ) from error
    if not whole:
        raise InputError(f"{path}: damaged (its parts do not fit); copy it again, or make it anew")
    return ContextModel(
        path,
        windows,
        words,
        sections["rows"],
        offsets,
        sums,
        totals,
        opened.identity,
        opened.facts,
    )


def write_model(
    path: Path,
    *,
    words: list[str] | tuple[str, ...],
    windows: tuple[int, ...],
    rows: Any,
    facts: Mapping[str, Any],
) -> None:
    """Write a model.

    Args:
        path: The file.
        words: By falling frequency.
        windows: Rising.
        rows: Called with nothing, yields (packed bytes, lengths of the rows) piece by piece,
            and returns the sums of the contexts, one row a context.
        facts: What else is to be told.
    """

    def fill(writer: Writer) -> Mapping[str, Any]:
        lengths: list[Whole] = []
        contexts: list[Whole] = []

        def pieces() -> Any:
            source = rows()
            while True:
                try:
                    data, some = next(source)
                except StopIteration as stop:
                    contexts.append(stop.value)
                    return
                lengths.append(some)
                yield bytes(data)

        writer.section("rows", pieces())
        joined = numpy.concatenate([*lengths, numpy.zeros(0, dtype=numpy.int64)])
        writer.section("lengths", joined.astype("<u4").tobytes(), compress=True)
        writer.section("contexts", contexts[0].astype("<u8").tobytes(), compress=True)
        writer.section("words", "\n".join(words).encode(), compress=True)
        totals = [int(total) for total in contexts[0].sum(axis=0)]
        return {"kind": VECTORS, "windows": list(windows), "totals": totals, **facts}

    write(path, fill)
