r"""Plain text: one segment a line.

Lines end at `\n` alone; `\r\n` is tolerated and the last line end is optional. Everything else
in a line is text, spaces at its ends included. Ids, documents and languages are not held: the
segments are called "1", "2", … and the caller states the languages.

A whole corpus is a folder: `source.txt`, `reference.txt` (or `reference1.txt`,
`reference2.txt`, …) and one file a system. The systems come back in alphabetical order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from meantime.errors import FormatError, InputError
from meantime.formats import holding
from meantime.formats.opening import Text, encode, lines, without_gzip
from meantime.formats.table import UNNAMED, Entry, Key, Part, Request, Table, no_segment
from meantime.types import Corpus, Sentence

_REFERENCE = re.compile(r"reference([0-9]*)")
_SAFE_NAME = re.compile(r"""[^\W_][^/\\:*?"<>|]*(?<![. ])""")
_UNHOLDABLE = re.compile(r"\n|\r\Z")


class Folder(NamedTuple):
    """The files of a corpus that is a folder of plain text."""

    source: Path | None
    references: tuple[Path, ...]
    hypotheses: tuple[Path, ...]


def parse(text: Text, request: Request) -> Table:
    """Read one text of every segment.

    Raises:
        FormatError: The file is empty.
    """
    # Nothing can be missing or there twice, so no gathering: this is the commonest format.
    entries = tuple(
        _entry(number, line, request) for number, line in enumerate(lines(text.content), start=1)
    )
    if not entries:
        raise no_segment(text)
    systems = (UNNAMED,) if request.part is Part.HYPOTHESIS else ()
    return Table(text, request, keyed=False, entries=entries, systems=systems)


def _entry(number: int, line: str, request: Request) -> Entry:
    key = Key(None, str(number))
    if request.part is Part.SOURCE:
        return Entry(key, number, request.source(line), (), {})
    if request.part is Part.REFERENCE:
        return Entry(key, number, None, (request.target(line),), {})
    return Entry(key, number, None, (), {UNNAMED: request.target(line)})


def folder(path: Path) -> Folder:
    """Find the files of a corpus that is a folder.

    Raises:
        FormatError: There is no text file, or one of them is there twice.
    """
    names: dict[str, Path] = {}
    for file in sorted(path.iterdir()):
        bare = without_gzip(file.name)
        if bare.suffix != ".txt" or file.name.startswith("."):
            continue
        if bare.stem in names:
            raise FormatError(
                f"{path}: holds both {names[bare.stem].name} and {file.name}; remove one"
            )
        names[bare.stem] = file
    if not names:
        raise FormatError(
            f"{path}: no .txt file in this folder; a plain corpus has reference.txt "
            "and one file a system"
        )
    source = names.pop("source", None)
    numbered = sorted(
        (int(match[1] or 0), name) for name in names if (match := _REFERENCE.fullmatch(name))
    )
    references = tuple(names.pop(name) for _, name in numbered)
    return Folder(source, references, tuple(names[name] for name in sorted(names)))


def render_files(corpus: Corpus, name: str) -> dict[str, bytes]:
    """The files of a corpus, by name.

    Raises:
        InputError: A text holds a line break, or a system's name cannot name a file.
    """
    holding.refuse_characters(
        corpus, name, _UNHOLDABLE, "a line break; join its lines or use jsonl", labels=False
    )
    _check_names(corpus, name)
    count = holding.reference_count(corpus, name)
    files = {}
    if holding.has_source(corpus, name):
        files["source.txt"] = _join([one.source for one in corpus.segments if one.source])
    for number in range(count):
        label = f"reference{number + 1}" if count > 1 else "reference"
        files[f"{label}.txt"] = _join([one.references[number] for one in corpus.segments])
    for system, sentences in corpus.outputs.items():
        files[f"{system}.txt"] = _join(sentences)
    return files


def _check_names(corpus: Corpus, name: str) -> None:
    seen: set[str] = set()
    for system in corpus.outputs:
        # Some file systems take upper and lower case for the same.
        folded = system.casefold()
        taken = folded == "source" or _REFERENCE.fullmatch(folded) or folded in seen
        safe = system.isprintable() and _SAFE_NAME.fullmatch(system) and len(system.encode()) < 200
        if taken or not safe:
            raise InputError(
                f"{name}: system {system!r} cannot name a file of its own; rename it or use jsonl"
            )
        seen.add(folded)


def _join(sentences: Sequence[Sentence]) -> bytes:
    return encode("".join(f"{sentence.text}\n" for sentence in sentences))
