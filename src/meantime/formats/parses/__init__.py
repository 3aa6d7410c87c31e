"""Your own parses: frames, trees and tags read instead of computed, and written.

`read_parses` reads a file, `attach` puts what it gave onto sentences of a corpus, `attach_file`
does both and names lines in its refusals; `write_parses` and `render_parses` write. What is
read, written and read again is equal, in what a format can hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import IO

from meantime.errors import InputError, UsageError
from meantime.formats.opening import (
    Text,
    decode,
    display,
    encode,
    lines,
    load,
    save,
    stem,
    without_gzip,
)
from meantime.formats.parses import bracketed, conll, jsonl
from meantime.formats.parses.attaching import attach_parsed, plain_token
from meantime.formats.parses.parsed import Parsed
from meantime.types import Sentence

__all__ = [
    "PARSE_FORMATS",
    "attach",
    "attach_file",
    "plain_token",
    "read_parses",
    "render_parses",
    "write_parses",
]

PARSE_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "conll2005": "columns of the CoNLL-2005 shared task",
        "conll2012": "columns of CoNLL-2012 (OntoNotes) or of PropBank (written)",
        "assert": "ASSERT's bracketed lines, one a frame",
        "jsonl": "one JSON object a sentence",
    }
)
_MODULES: Mapping[str, ModuleType] = {
    "conll2005": conll,
    "conll2012": conll,
    "assert": bracketed,
    "jsonl": jsonl,
}
_EXTENSIONS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".conll": "conll2012",
    ".gold_conll": "conll2012",
    ".auto_conll": "conll2012",
    ".conll2012": "conll2012",
    ".conll05": "conll2005",
    ".conll2005": "conll2005",
    ".assert": "assert",
}
# A name that only says "columns" does not say whose.
_TOLD = {".jsonl", ".ndjson", ".json", ".assert", ".conll05", ".conll2005"}
_NUMBERED = re.compile(r"[0-9]+")


def read_parses(
    path: str | Path,
    *,
    format: str = "auto",
    texts: Sequence[str] | None = None,
    lang: str = "en",
    stdin: IO[bytes] | None = None,
) -> list[Sentence]:
    """Read parsed sentences.

    Args:
        path: The file, gzipped or not; `-` is standard input.
        format: One of `PARSE_FORMATS`; "auto" finds it by name and content.
        texts: The texts that were parsed, one a sentence: the parses are checked against them
            and get their places in them. Without, the text of a sentence is what the file says
            it is, else its tokens with a space between them.
        lang: The language, where the file does not state it.
        stdin: Where `-` is read from; by default the standard input of the process.

    Returns:
        Sentences with the layers that the file has; others are `None`.

    Raises:
        InputError: The file cannot be read, is not what its format says (`FormatError`), or is
            not about these texts (`FormatError`, `LengthMismatch`).
        UsageError: The format is unknown.
    """
    parses = _read(path, format, lang, stdin)
    if texts is None:
        return [parsed.sentence for parsed in parses]
    if isinstance(texts, str):
        raise UsageError("texts is a list, one text a sentence; put the text in a list")
    return attach_parsed([Sentence(text, lang) for text in texts], parses, display(path))


def attach(sentences: Sequence[Sentence], parses: Sequence[Sentence], name: str) -> list[Sentence]:
    """Put parses onto the sentences they are of.

    Args:
        sentences: Sentences with their text, as a corpus has them.
        parses: A parse of each, in the same order; those of sentences without any visible
            character may be left out, all of them.
        name: What to call the parses in a message, such as their file.

    Returns:
        The sentences with the layers of the parses, and where each token stands. A token that a
        treebank writes in another way gets the characters of the text.

    Raises:
        FormatError: A token does not stand in its text, in order; white space does not count.
        LengthMismatch: There are more or fewer parses than sentences.
    """
    return attach_parsed(sentences, [Parsed(parse) for parse in parses], name)


def attach_file(
    sentences: Sequence[Sentence],
    path: str | Path,
    *,
    format: str = "auto",
    stdin: IO[bytes] | None = None,
) -> list[Sentence]:
    """Read parses and put them onto the sentences they are of; see `attach`.

    Raises:
        InputError: As `read_parses` and `attach` do; here with file, line and token.
        UsageError: The format is unknown.
    """
    return attach_parsed(sentences, _read(path, format, "und", stdin), display(path))


def _read(path: str | Path, format: str, lang: str, stdin: IO[bytes] | None) -> list[Parsed]:
    _check_format(format)
    name = display(path)
    content = decode(name, load(path, stdin))
    chosen = _detect(path, content) if format == "auto" else format
    found: list[Parsed] = _MODULES[chosen].parse(Text(name, stem(path), content), chosen, lang)
    return found


def _check_format(format: str) -> None:
    if format != "auto" and format not in PARSE_FORMATS:
        raise UsageError(
            f"unknown format {format!r} of parses; use auto or one of {', '.join(PARSE_FORMATS)}"
        )


def _detect(path: str | Path, content: str) -> str:
    """The format of a file: by its name where that tells, else by its first line."""
    suffix = without_gzip(path).suffix.lower()
    if suffix in _TOLD:
        return _EXTENSIONS[suffix]
    first = next((line for line in lines(content) if line.strip() not in ("", conll.EMPTY)), "")
    if first.strip().startswith("{") and first.rstrip().endswith("}"):
        return "jsonl"
    if bracketed.LINE.fullmatch(first) is not None:
        return "assert"
    fields = first.split()
    numbered = len(fields) >= 6 and all(map(_NUMBERED.fullmatch, fields[1:3]))
    old = bool(fields) and not numbered and not first.startswith("#begin ")
    return "conll2005" if old else "conll2012"


def render_parses(sentences: Sequence[Sentence], *, format: str, first: int = 0) -> str:
    """Parsed sentences as text.

    Args:
        sentences: What to write.
        format: One of `PARSE_FORMATS`.
        first: How many sentences were written before these, in parts of one file.

    Raises:
        InputError: A sentence holds what the format cannot.
        UsageError: The format is unknown.
    """
    if format not in PARSE_FORMATS:
        raise UsageError(
            f"unknown format {format!r} to write parses in; use one of {', '.join(PARSE_FORMATS)}"
        )
    text: str = _MODULES[format].render(sentences, format, first)
    return text


def write_parses(sentences: Sequence[Sentence], path: str | Path, *, format: str = "auto") -> None:
    """Write parsed sentences into a file; `.gz` at the end of its name compresses it.

    Args:
        sentences: What to write.
        path: The file; it is written wholly or not at all.
        format: One of `PARSE_FORMATS`; "auto" takes the one the file's name tells.

    Raises:
        InputError: A sentence holds what the format cannot, or the file cannot be written.
        UsageError: The format is unknown or the name does not tell it.
    """
    _check_format(format)
    chosen = _EXTENSIONS.get(without_gzip(path).suffix.lower()) if format == "auto" else format
    if chosen is None:
        raise UsageError(
            f"{path}: the name tells no format of parses; state one of {', '.join(PARSE_FORMATS)}"
        )
    try:
        text = render_parses(sentences, format=chosen)
        data = encode(text)
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path}: half a character (a lone surrogate) in a sentence; repair the text"
        ) from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    save(Path(path), data)
