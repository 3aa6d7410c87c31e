"""Reading and writing evaluation corpora.

`read` makes a `Corpus` of one file that holds everything, or of files for hypotheses, references
and source; `write` puts a corpus into one file (plain text: into a folder). Each format's module
says what it can hold: what it cannot is refused on writing, so that reading a written corpus
gives an equal one. Analysis (tokens, frames) is not written.

Languages: where a file states the language of a text, that counts; where it does not, `lang`
is the language of references and hypotheses and `source_lang` (else "und") that of the source.
In TMX they also choose which of the texts is which.

Every file may be gzipped, whatever its name, and one may be `-`, standard input.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import IO, Protocol, cast

from meantime.errors import UsageError
from meantime.formats import holding, plain
from meantime.formats.combining import Given, combine, refuse_second_source
from meantime.formats.detecting import by_extension, detect
from meantime.formats.opening import (
    Text,
    decode,
    decode_markup,
    display,
    encode,
    is_standard_input,
    load,
    save,
    save_folder,
    stem,
    without_gzip,
)
from meantime.formats.table import Part, Request, Table
from meantime.types import Corpus

__all__ = ["FORMATS", "detect", "read", "write"]

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "plain": "plain text, one segment a line; a whole corpus is a folder",
        "tsv": "tab-separated columns with a header, no quoting",
        "csv": "comma-separated columns with a header, quoted as in RFC 4180",
        "jsonl": "one JSON object a line",
        "sgml": "NIST mteval SGML: source, reference and test sets",
        "wmtxml": "WMT XML of 2021 and later",
        "xliff": "XLIFF 1.2 and 2.x (written as 1.2)",
        "tmx": "TMX 1.4",
    }
)
_MODULES = {"tsv": "columns", "csv": "columns"}
_MARKUP = frozenset({"wmtxml", "xliff", "tmx"})


class _Module(Protocol):
    """What a format's module offers."""

    def parse(self, text: Text, request: Request) -> Table: ...

    def render(self, corpus: Corpus, name: str, format: str) -> str: ...


def _module(format: str) -> _Module:
    # Loaded when first needed: some formats need a large library.
    return cast(_Module, importlib.import_module(f"{__name__}.{_MODULES.get(format, format)}"))


def read(
    hypotheses: Sequence[str | Path] = (),
    *,
    references: Sequence[str | Path] = (),
    source: str | Path | None = None,
    input: str | Path | None = None,
    format: str = "auto",
    lang: str = "en",
    source_lang: str | None = None,
    stdin: IO[bytes] | None = None,
) -> Corpus:
    """Read a corpus.

    Args:
        hypotheses: Files with the output of a system (or of several); a system is called after
            its file unless the file has several or names it in a column.
        references: Files with references; several files, or several in one, give several
            references to each segment.
        source: A file with the source.
        input: A file that holds everything, or a folder of plain text files; the other
            arguments add to it.
        format: The format of all these files, one of `FORMATS`; "auto" finds it for each.
        lang: The language of references and hypotheses where a file does not state it.
        source_lang: The language of the source where a file does not state it.
        stdin: Where `-` is read from; by default the standard input of the process.

    Raises:
        InputError: A file cannot be read, is not what its format says (`FormatError`), or files
            have different numbers of segments (`LengthMismatch`).
        UsageError: Nothing to read, an unknown format, or standard input asked for twice.
    """
    _check_format(format)
    if isinstance(hypotheses, (str, Path)) or isinstance(references, (str, Path)):
        raise UsageError("hypotheses and references are lists of files; put the file in a list")
    corpus_file = input
    if input is not None and Path(input).is_dir() and format in ("auto", "plain"):
        folder = plain.folder(Path(input))
        if source is not None and folder.source is not None:
            raise UsageError(f"{source}: {input} has the source already; leave one of them out")
        hypotheses = [*folder.hypotheses, *hypotheses]
        references = [*folder.references, *references]
        source = source if folder.source is None else folder.source
        corpus_file = None
    wanted = [
        *_asked(Part.EVERYTHING, corpus_file),
        *chain.from_iterable(_asked(Part.REFERENCE, path) for path in references),
        *_asked(Part.SOURCE, source),
        *chain.from_iterable(_asked(Part.HYPOTHESIS, path) for path in hypotheses),
    ]
    _check_wanted([path for _, path in wanted])
    files = [_give(path, Request(part, format, lang, source_lang), stdin) for part, path in wanted]
    if corpus_file is not None:
        for given in files:
            if given.part is Part.SOURCE:
                refuse_second_source(files[0], given)
    return combine(files)


def _asked(part: Part, path: str | Path | None) -> list[tuple[Part, str | Path]]:
    return [] if path is None else [(part, path)]


def _check_format(format: str) -> None:
    if format != "auto" and format not in FORMATS:
        raise UsageError(f"unknown format {format!r}; use auto or one of {', '.join(FORMATS)}")


def _check_wanted(paths: Sequence[str | Path]) -> None:
    if not paths:
        raise UsageError("nothing to read; give hypotheses and references, or an input file")
    if sum(map(is_standard_input, paths)) > 1:
        raise UsageError(
            "standard input (-) is given twice; it can be read once: put the other in a file"
        )


def _give(path: str | Path, request: Request, stdin: IO[bytes] | None) -> Given:
    data = load(path, stdin)
    format = detect(path, data[:65536]) if request.format == "auto" else request.format
    if format == "plain" and request.part is Part.EVERYTHING:
        raise UsageError(
            f"{display(path)}: plain text holds one text a segment, not everything; give it as "
            "a hypothesis or reference, or state its format"
        )
    decoded = (decode_markup if format in _MARKUP else decode)(display(path), data)
    text = Text(display(path), stem(path), decoded)
    stated = Request(request.part, format, request.lang, request.source_lang)
    return Given(path, _module(format).parse(text, stated))


def write(corpus: Corpus, path: str | Path, *, format: str = "auto") -> None:
    """Write a corpus into one file; `.gz` at the end of its name compresses it.

    Args:
        corpus: What to write: texts, ids, documents, languages; not their analysis.
        path: The file. For plain text, a folder that does not exist or is empty.
        format: One of `FORMATS`; "auto" takes the one the file's name tells, and plain text
            where it has no extension.

    Raises:
        InputError: The corpus holds what the format cannot, or the file cannot be written; then
            nothing is left behind.
        UsageError: The format is unknown or the name does not tell it.
    """
    _check_format(format)
    target = Path(path)
    chosen = _written_format(target) if format == "auto" else format
    holding.check_writable(corpus, str(path))
    if chosen != "plain":
        save(target, encode(_module(chosen).render(corpus, str(path), chosen)))
    elif target.suffix.lower() in (".gz", ".txt"):
        raise UsageError(
            f"{path}: plain text is written into a folder; name one, or a file of another format "
            "such as .jsonl"
        )
    else:
        save_folder(target, plain.render_files(corpus, str(path)))


def _written_format(path: Path) -> str:
    suffix = without_gzip(path).suffix.lower()
    found = "wmtxml" if suffix == ".xml" else by_extension(path)
    if found is None and suffix and not path.is_dir():
        raise UsageError(
            f"{path}: the extension {suffix} tells no format; state one of {', '.join(FORMATS)}"
        )
    return found or "plain"
