"""N-best lists: what a decoder found for each segment, with the features it was scored by.

Three formats, told by their first line, all of them one candidate a line, gzipped or not:

    moses   0 ||| the text ||| LM0= -12.3 TM0= -1 -2.5 ||| -4.7 ||| 0-0 1-1
    zmert   0 ||| the text ||| -12.3 -1 -2.5
    jsonl   {"segment": 0, "hypothesis": "the text", "features": {"LM0": -12.3, "TM0": [-1, -2.5]}}

Segments count from 0. In moses lines names end in `=` (or, as old decoders wrote, in `:`), and
`name=value` in one word is understood as well; fields after the features are the total score,
if it is a number, and whatever else the decoder adds. A feature of several values is several
features, `TM0[0]` and `TM0[1]`. A JSONL line may also hold a whole list, in `candidates`.

Files are read line by line, so that a list may be larger than the memory.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

from meantime.errors import FormatError, InputError, UsageError
from meantime.formats.opening import GZIP_MAGIC, display, is_standard_input

FORMATS = ("moses", "zmert", "jsonl", "plain")

_TEXT_KEYS = ("hypothesis", "text", "hyp", "mt")
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_SEPARATOR = "|||"
_SEGMENT_DIGITS = 9
"""A number with more is none of a segment, and could become too large to count with."""
_LARGEST = 1e100
"""A feature beyond could not be squared."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entry of an n-best list."""

    segment: int
    text: str
    names: tuple[str, ...] = ()
    """Of the features, in the order of the file."""
    values: tuple[float, ...] = ()
    score: float | None = None
    """The decoder's total score, where the file has it."""
    line: int = 0
    """Where it stands in its file, from 1."""


def component(name: str, index: int) -> str:
    """The name of one value of a feature that has several."""
    return f"{name}[{index}]"


_COMPONENT = re.compile(r"(.+)\[(\d+)\]")


def split_component(name: str) -> tuple[str, int | None]:
    """A feature's name, and which of its values is meant, if it has several."""
    found = _COMPONENT.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, None)


def read_nbest(
    path: str | Path,
    *,
    format: str = "auto",
    names: Sequence[str] | None = None,
    size: int | None = None,
    stdin: IO[bytes] | None = None,
) -> Iterator[Candidate]:
    """The candidates of a file, in its order, read as they are asked for.

    Args:
        path: The file, gzipped or not; `-` is standard input.
        format: One of `FORMATS`; "auto" tells by the first line.
        names: Names of the features in a zmert file; else they are f1, f2, …
        size: For plain text, how many lines each segment has; else every line is a segment.
        stdin: Where `-` is read from.

    Raises:
        InputError: The file cannot be read.
        FormatError: A line is not what the format says, or a feature is no finite number.
    """
    if format not in ("auto", *FORMATS):
        raise UsageError(f"unknown format {format!r}; use auto or one of {', '.join(FORMATS)}")
    place = display(path)
    with _open(path, stdin) as file:
        numbered = _decoded(place, file)
        first = next(numbered, None)
        if first is None:
            raise FormatError(f"{place}: the file is empty; an n-best list has a line a candidate")
        chosen = _detect(first[1]) if format == "auto" else format
        reader = _Reader(place, names)
        lines = _chain(first, numbered)
        if chosen == "plain":
            yield from reader.plain(lines, size)
        elif size is not None:
            raise UsageError(
                f"{place}: the number of lines a segment is for plain text, and this is {chosen}; "
                "leave it out"
            )
        elif chosen == "jsonl":
            yield from reader.jsonl(lines)
        else:
            yield from reader.fields(lines, named=chosen == "moses")


def _chain(first: tuple[int, str], others: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from others


def _detect(line: str) -> str:
    if line.lstrip().startswith("{"):
        return "jsonl"
    fields = line.split(_SEPARATOR)
    if len(fields) == 1:
        return "plain"
    words = fields[2].split() if len(fields) > 2 else []
    return "zmert" if words and _is_number(words[0]) else "moses"


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@contextmanager
def _open(path: str | Path, stdin: IO[bytes] | None) -> Iterator[IO[bytes]]:
    """The bytes of a file as a stream, decompressed where they are gzipped."""
    if is_standard_input(path):
        yield _unpacked(io.BufferedReader(_Raw(stdin or sys.stdin.buffer)))
        return
    try:
        file = Path(path).open("rb")  # noqa: SIM115
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the name and the folder") from error
    except IsADirectoryError as error:
        raise InputError(f"{path}: this is a folder; name a file in it") from error
    except PermissionError as error:
        raise InputError(f"{path}: not readable; allow reading with chmod u+r") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); check the name and disk") from error
    with file:
        yield _unpacked(file)


class _Raw(io.RawIOBase):
    """Any stream of bytes, so that its start can be looked at."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _unpacked(file: io.BufferedReader) -> IO[bytes]:
    if file.peek(2)[:2] == GZIP_MAGIC:
        return io.BufferedReader(gzip.GzipFile(fileobj=file), 1 << 16)
    return file


def _decoded(place: str, file: IO[bytes]) -> Iterator[tuple[int, str]]:
    """Lines as text, with their numbers."""
    number = 0
    try:
        for number, raw in enumerate(file, start=1):
            line = raw
            if number == 1:
                if line.startswith(_MARKS[1:]):
                    raise FormatError(
                        f"{place}:1: UTF-16, expected UTF-8; convert it with "
                        "iconv -f UTF-16 -t UTF-8"
                    )
                line = line.removeprefix(_MARKS[0])
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise FormatError(
                    f"{place}:{number}: byte 0x{line[error.start]:02x} is not UTF-8; "
                    "convert the file, for example with iconv -f ISO-8859-1 -t UTF-8"
                ) from error
            yield number, text.removesuffix("\n").removesuffix("\r")
    except EOFError as error:
        raise FormatError(
            f"{place}: the gzip data end too early, after line {number}; "
            "copy or compress the file again"
        ) from error
    except (OSError, zlib.error) as error:
        raise FormatError(
            f"{place}: damaged after line {number} ({error}); copy or compress the file again"
        ) from error


class _Reader:
    """Lines of one file into candidates; every refusal names file and line."""

    def __init__(self, place: str, names: Sequence[str] | None) -> None:
        self._place = place
        self._names = tuple(names) if names is not None else None
        self._shared: dict[tuple[str, ...], tuple[str, ...]] = {}

    def _refuse(self, line: int, what: str) -> NoReturn:
        raise FormatError(f"{self._place}:{line}: {what}")

    def _segment(self, line: int, word: str) -> int:
        # By its length first, since numbers of thousands of digits are not read at all.
        if not (word.isascii() and word.isdigit() and len(word.lstrip("0")) <= _SEGMENT_DIGITS):
            self._refuse(
                line, f"the segment is {word[:40]!r}; write its number, counted from 0, first"
            )
        return int(word)

    def _number(self, line: int, name: str, word: str) -> float:
        try:
            value = float(word)
        except ValueError:
            self._refuse(line, f"feature {name} is {word[:40]!r}, not a number; repair the line")
        if not math.isfinite(value):
            self._refuse(
                line,
                f"feature {name} is {word}; features must be finite numbers: repair the decoder, "
                "or drop the candidate",
            )
        self._refuse_huge(line, f"feature {name}", value)
        return value

    def _refuse_huge(self, line: int, what: str, value: float) -> None:
        if abs(value) > _LARGEST:
            self._refuse(
                line,
                f"{what} is {float(value):g}, too large to be searched in; keep to "
                f"{_LARGEST:g}, or drop the candidate",
            )

    # Plain text

    def plain(self, lines: Iterable[tuple[int, str]], size: int | None) -> Iterator[Candidate]:
        number = 0
        for number, text in lines:
            yield Candidate((number - 1) // (size or 1), text, line=number)
        if size is not None and number % size:
            raise FormatError(
                f"{self._place}: {number} lines are no multiple of {size}, the candidates a "
                f"segment; the last segment has {number % size}"
            )

    # Moses and Z-MERT

    def fields(self, lines: Iterable[tuple[int, str]], *, named: bool) -> Iterator[Candidate]:
        for number, line in lines:
            if not line.strip():
                continue
            fields = line.split(_SEPARATOR)
            if len(fields) < 2:
                self._refuse(number, "no ||| in it; write segment ||| text ||| features ||| score")
            segment = self._segment(number, fields[0].strip())
            features = fields[2] if len(fields) > 2 else ""
            names, values = (self._named if named else self._bare)(number, features)
            score = self._total(number, fields[3].strip()) if len(fields) > 3 else None
            yield Candidate(segment, fields[1].strip(), names, values, score, number)

    def _total(self, line: int, word: str) -> float | None:
        """The fourth field where it is a number; other decoders keep other things there."""
        if not _is_number(word):
            return None
        value = float(word)
        if not math.isfinite(value):
            self._refuse(line, f"the total score is {word}; it must be a finite number")
        return value

    def _named(self, line: int, field: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
        names: list[str] = []
        counts: list[int] = []
        values: list[float] = []
        for word in field.split():
            if word[-1] == "=" or (word[-1] == ":" and len(word) > 1):
                names.append(word[:-1])
                counts.append(0)
            elif "=" in word:
                name, _, value = word.rpartition("=")
                names.append(name)
                counts.append(1)
                values.append(self._number(line, name, value))
            elif names:
                values.append(self._number(line, names[-1], word))
                counts[-1] += 1
            else:
                self._refuse(
                    line,
                    f"the features begin with {word[:40]!r} and not with a name; "
                    "write name= value, or values alone on every line",
                )
        return self._flat(line, names, counts), tuple(values)

    def _flat(self, line: int, names: list[str], counts: list[int]) -> tuple[str, ...]:
        if 0 in counts:
            self._refuse(line, f"feature {names[counts.index(0)]} has no value; give it one")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            self._refuse(line, f"feature {twice} stands there twice; keep one")
        if len(counts) == sum(counts):
            flat = tuple(names)
        else:
            flat = tuple(
                component(name, index) if count > 1 else name
                for name, count in zip(names, counts, strict=True)
                for index in range(count)
            )
        # The same names stand on every line: one tuple of them is enough.
        return self._shared.setdefault(flat, flat)

    def _bare(self, line: int, field: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
        words = field.split()
        names = self._names
        if names is None:
            names = self._names = tuple(f"f{n}" for n in range(1, len(words) + 1))
        if len(words) != len(names):
            self._refuse(
                line,
                f"{len(words)} features, expected {len(names)}; every line must have the same",
            )
        pairs = zip(names, words, strict=True)
        return names, tuple(self._number(line, name, word) for name, word in pairs)

    # JSONL

    def jsonl(self, lines: Iterable[tuple[int, str]]) -> Iterator[Candidate]:
        for number, line in lines:
            if not line.strip():
                continue
            try:
                item = json.loads(line)
                if "\\u" in line:
                    # A lone surrogate is legal in JSON and in no UTF-8 file.
                    json.dumps(item, ensure_ascii=False).encode("utf-8")
            except UnicodeEncodeError:
                self._refuse(number, "half a character (a lone surrogate); repair the text")
            except (ValueError, RecursionError) as error:
                self._refuse(number, f"not JSON ({error}); write one object a line")
            if not isinstance(item, dict):
                self._refuse(number, "not a JSON object; write one object in braces a line")
            segment = item.get("segment")
            if isinstance(segment, bool) or not (
                isinstance(segment, int) and 0 <= segment < 10**_SEGMENT_DIGITS
            ):
                self._refuse(
                    number, 'no "segment" that is a number; give the segment, counted from 0'
                )
            several = item.get("candidates", [item])
            if not isinstance(several, list):
                self._refuse(number, '"candidates" is not a list; write one in brackets')
            for one in several:
                yield self._object(number, segment, one)

    def _object(self, line: int, segment: int, item: Any) -> Candidate:
        if isinstance(item, str):
            return Candidate(segment, item, line=line)
        if not isinstance(item, dict):
            self._refuse(line, "a candidate is neither a text nor an object")
        text = next((item[key] for key in _TEXT_KEYS if key in item), None)
        if not isinstance(text, str):
            self._refuse(line, 'no "hypothesis" that is a text; give the candidate\'s text')
        score = item.get("score")
        if score is not None:
            score = self._value(line, "score", score)
        names, values = self._features(line, item.get("features") or {})
        return Candidate(segment, text, names, values, score, line)

    def _features(self, line: int, given: Any) -> tuple[tuple[str, ...], tuple[float, ...]]:
        if isinstance(given, list):
            known = self._names or [f"f{n}" for n in range(1, len(given) + 1)]
            if len(known) != len(given):
                self._refuse(line, f"{len(given)} features, expected {len(known)}")
            given = dict(zip(known, given, strict=True))
        if not isinstance(given, dict):
            self._refuse(line, '"features" is neither an object nor a list of numbers')
        names: list[str] = []
        counts: list[int] = []
        values: list[float] = []
        for name, value in given.items():
            if not name or name.split() != [name]:
                self._refuse(line, f"the feature {name!r} has white space or no name; rename it")
            several = value if isinstance(value, list) else [value]
            names.append(name)
            counts.append(len(several))
            values += [self._value(line, name, one) for one in several]
        return self._flat(line, names, counts), tuple(values)

    def _value(self, line: int, name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._refuse(line, f"{name} is {str(value)[:40]!r}, not a number; repair the line")
        if isinstance(value, float) and not math.isfinite(value):
            self._refuse(line, f"{name} is {value}; it must be a finite number")
        if isinstance(value, int) and abs(value) > _LARGEST:
            self._refuse(line, f"{name} has {len(str(value))} digits; keep to {_LARGEST:g}")
        self._refuse_huge(line, name, value)
        return float(value)


def render_candidate(candidate: Candidate, *, format: str) -> str:
    """One line of an n-best list, with its line feed."""
    features = group(candidate.names, candidate.values)
    if format == "jsonl":
        item: dict[str, Any] = {"segment": candidate.segment, "hypothesis": candidate.text}
        if candidate.names:
            item["features"] = {k: v[0] if len(v) == 1 else list(v) for k, v in features.items()}
        if candidate.score is not None:
            item["score"] = candidate.score
        return json.dumps(item, ensure_ascii=False) + "\n"
    shown = " ".join(f"{k}= {' '.join(map(repr, v))}" for k, v in features.items())
    fields = [str(candidate.segment), candidate.text, shown]
    if candidate.score is not None:
        fields.append(repr(candidate.score))
    return f" {_SEPARATOR} ".join(fields) + "\n"


def group(names: Sequence[str], values: Sequence[float]) -> dict[str, tuple[float, ...]]:
    """Values by the name of their feature; those of a feature with several, together in order.

    Where the numbers in brackets are not 0, 1, 2, …, they are part of the name.
    """
    found: dict[str, list[tuple[int | None, float]]] = {}
    for name, value in zip(names, values, strict=True):
        base, index = split_component(name)
        found.setdefault(base, []).append((index, value))
    grouped: dict[str, tuple[float, ...]] = {}
    for base, several in found.items():
        if [index for index, _ in several] in ([None], list(range(len(several)))):
            grouped[base] = tuple(value for _, value in several)
        else:
            for index, value in several:
                grouped[base if index is None else component(base, index)] = (value,)
    return grouped
