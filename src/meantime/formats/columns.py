r"""Texts in named columns or keys: what TSV, CSV and JSONL have in common, and TSV and CSV.

Columns are `source`, `reference` (or `reference1`, `reference2`, …), `hypothesis`, `system`,
`id`, `document`, `lang` and `source_lang`, in any case and order; see `ALIASES` for other
spellings. Other columns are left aside. A row is a segment, or one system's output for it:

- with an `id`, rows of the same document and id speak of the same segment;
- without, the k-th row of every system is segment k;
- without a `system`, the hypotheses are those of a system called after the file.

TSV knows no quoting: a field cannot hold a tab or a line break. CSV quotes as RFC 4180 says.
In both, an empty field is an empty text in `source`, `hypothesis` and the first reference; in
the further references it means that the segment has no such reference, in `document`, `lang`
and `source_lang` that it is not stated. What that cannot tell apart is refused on writing.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from meantime.errors import FormatError
from meantime.formats import holding
from meantime.formats.opening import Text, lines
from meantime.formats.table import (
    UNNAMED,
    Gathering,
    Key,
    Part,
    Request,
    Stream,
    Table,
    no_segment,
)
from meantime.types import Corpus, Segment

ALIASES: Mapping[str, str] = {
    "source": "source",
    "src": "source",
    "reference": "reference",
    "ref": "reference",
    "hypothesis": "hypothesis",
    "hyp": "hypothesis",
    "mt": "hypothesis",
    "translation": "hypothesis",
    "system": "system",
    "id": "id",
    "seg": "id",
    "seg_id": "id",
    "document": "document",
    "doc": "document",
    "doc_id": "document",
    "lang": "lang",
    "source_lang": "source_lang",
}
_TEXT_COLUMNS = ("source", "reference", "hypothesis")
_NUMBERED_REFERENCE = re.compile(r"(?:reference|ref)[_-]?([1-9][0-9]{0,3})")
_TSV_UNHOLDABLE = re.compile(r"[\t\n\r]")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a segment, and perhaps hypotheses for it."""

    line: int
    id: str | None = None
    document: str | None = None
    lang: str | None = None
    source_lang: str | None = None
    source: str | None = None
    references: Mapping[int, str] = field(default_factory=dict)
    hypotheses: Mapping[str, str] = field(default_factory=dict)


def canonical(name: str) -> str | None:
    """The column a name stands for (`reference2` for the second reference), if any."""
    plain = name.strip().casefold()
    if match := _NUMBERED_REFERENCE.fullmatch(plain):
        return "reference" if int(match[1]) == 1 else f"reference{int(match[1])}"
    return ALIASES.get(plain)


def reference_number(column: str) -> int | None:
    """Which reference a column holds, from 1."""
    if column == "reference":
        return 1
    match = _NUMBERED_REFERENCE.fullmatch(column)
    return int(match[1]) if match else None


def recognise(names: Sequence[str], where: str) -> dict[str, int]:
    """The places of the columns we know.

    Raises:
        FormatError: Two columns are the same.
    """
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        column = canonical(name)
        if column is None:
            continue
        if column in places:
            raise FormatError(
                f"{where}: two columns are the {column} ({names[places[column]].strip()!r} and "
                f"{name.strip()!r}); rename or remove one"
            )
        places[column] = place
    return places


def gather(text: Text, request: Request, rows: Iterator[Row]) -> Table:
    """Bring rows together into segments.

    Raises:
        FormatError: Rows contradict each other, or a system lacks a segment.
    """
    gathered = list(rows)
    gathering = Gathering(text, request, repeats=True)
    for number in sorted({number for row in gathered for number in row.references}):
        gathering.expect(Stream(Part.REFERENCE, str(number)))
    counted: Counter[frozenset[str]] = Counter()
    keyed = None
    for row in gathered:
        if keyed is None:
            keyed = row.id is not None
        if keyed != (row.id is not None) or row.id == "":
            raise FormatError(
                f"{text.name}:{row.line}: no id, though other rows have one; "
                "give every row an id or none"
            )
        systems = frozenset(row.hypotheses)
        counted[systems] += 1
        key = Key(row.document, row.id or str(counted[systems]))
        _gather_row(gathering, request, row, key)
    return gathering.table(keyed=bool(keyed), uneven=True)


def _gather_row(gathering: Gathering, request: Request, row: Row, key: Key) -> None:
    gathering.open(key, row.line)
    if row.source is not None:
        sentence = request.source(row.source, row.source_lang)
        gathering.add(Stream(Part.SOURCE, ""), key, sentence, row.line)
    for number, reference in row.references.items():
        stream = Stream(Part.REFERENCE, str(number))
        gathering.add(stream, key, request.target(reference, row.lang), row.line)
    for system, hypothesis in row.hypotheses.items():
        stream = Stream(Part.HYPOTHESIS, system)
        gathering.add(stream, key, request.target(hypothesis, row.lang), row.line)


def missing_column(text: Text, line: int, part: Part, names: Sequence[str]) -> FormatError:
    """The error for a file without the column it is read for."""
    wanted = part if part is not Part.EVERYTHING else " or ".join(_TEXT_COLUMNS)
    found = ", ".join(repr(name.strip()) for name in names) or "none"
    return FormatError(
        f"{text.name}:{line}: no column {wanted}, only {found}; name the column so, "
        "or its alias src, ref, hyp, mt"
    )


def parse(text: Text, request: Request) -> Table:
    """Read a TSV or CSV file.

    Raises:
        FormatError: A column is missing or there twice, a row has too few or too many fields,
            or rows contradict each other.
    """
    rows = _split_csv(text) if request.format == "csv" else _split_tsv(text)
    line, header = next(rows, (1, []))
    if not any(header):
        raise no_segment(text)
    places = recognise(header, f"{text.name}:{line}")
    _check_header(text, line, request.part, header, places)
    return gather(text, request, _rows(text, rows, len(header), places))


def _check_header(
    text: Text, line: int, part: Part, header: Sequence[str], places: Mapping[str, int]
) -> None:
    wanted = _TEXT_COLUMNS if part is Part.EVERYTHING else (part.value,)
    present = {"reference" if reference_number(column) else column for column in places}
    unknown = [name.strip().casefold() for name in header if canonical(name) is None]
    for column in wanted:
        near = get_close_matches(column, unknown, n=1, cutoff=0.85)
        if column not in present and near:
            raise FormatError(
                f"{text.name}:{line}: no column {column}, but {near[0]!r}; rename it to {column}"
            )
    if not present.intersection(wanted):
        raise missing_column(text, line, part, header)
    if "system" in present and "hypothesis" not in present and part is Part.EVERYTHING:
        raise missing_column(text, line, Part.HYPOTHESIS, header)


def _rows(
    text: Text,
    split: Iterator[tuple[int, list[str]]],
    width: int,
    places: Mapping[str, int],
) -> Iterator[Row]:
    references = {
        number: column for column in places if (number := reference_number(column)) is not None
    }
    for line, fields in split:
        if len(fields) != width:
            raise FormatError(
                f"{text.name}:{line}: {len(fields)} columns, the header has {width}; "
                "give every row as many fields, with no separator inside a field"
            )
        values = {column: fields[place] for column, place in places.items()}
        yield Row(
            line=line,
            id=values.get("id"),
            document=values.get("document") or None,
            lang=values.get("lang") or None,
            source_lang=values.get("source_lang") or None,
            source=values.get("source"),
            references={
                number: values[column]
                for number, column in references.items()
                if number == 1 or values[column]
            },
            hypotheses=_hypotheses(text, line, values),
        )


def _hypotheses(text: Text, line: int, values: Mapping[str, str]) -> dict[str, str]:
    if "hypothesis" not in values:
        return {}
    if values.get("system") == "":
        raise FormatError(f"{text.name}:{line}: the system has no name; fill the column")
    return {values.get("system", UNNAMED): values["hypothesis"]}


def _split_tsv(text: Text) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines(text.content), start=1):
        yield number, line.split("\t")


def _split_csv(text: Text) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text.content, newline=""), strict=True)
    blank: int | None = None
    line = 1
    try:
        for fields in reader:
            if fields and blank is not None:
                raise FormatError(f"{text.name}:{blank}: an empty row; remove it")
            if fields:
                yield line, fields
            elif blank is None:
                blank = line
            line = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(
            f"{text.name}:{line}: not CSV ({error}); put fields that hold commas, quotes or "
            "line breaks between quotes, and double the quotes in them"
        ) from error


def render(corpus: Corpus, name: str, format: str) -> str:
    """Write a TSV or CSV file.

    Raises:
        InputError: The corpus holds what the format cannot.
    """
    holding.check_keys(corpus, name)
    if format == "tsv":
        holding.refuse_characters(
            corpus, name, _TSV_UNHOLDABLE, "a tab or line break; use csv or jsonl"
        )
    else:
        # Longer fields are taken for a forgotten quote when they are read.
        for segment, text in holding.texts(corpus):
            if len(text) > csv.field_size_limit():
                raise holding.refusal(name, segment, "its text is too long for csv; use jsonl")
    table = _layout(corpus, name)
    if format == "tsv":
        return "".join("\t".join(row) + "\n" for row in table)
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(table)
    return stream.getvalue()


def _layout(corpus: Corpus, name: str) -> Iterator[list[str]]:
    languages = holding.languages(corpus, name)
    source = holding.has_source(corpus, name)
    count = _reference_columns(corpus, name)
    documents = any(segment.document is not None for segment in corpus.segments)

    def describe(segment: Segment) -> list[str]:
        fields = [segment.id]
        if documents:
            fields.append(segment.document or "")
        if languages.target is not None:
            fields.append(languages.target)
        if segment.source is not None:
            fields += [segment.source.lang, segment.source.text]
        fields += [reference.text for reference in segment.references]
        return fields + [""] * (count - len(segment.references))

    columns = {
        "id": True,
        "document": documents,
        "lang": languages.target is not None,
        "source_lang": source,
        "source": source,
    }
    header = [column for column, held in columns.items() if held]
    header += [f"reference{number}" if count > 1 else "reference" for number in range(1, count + 1)]
    if not corpus.outputs:
        yield header
        yield from map(describe, corpus.segments)
        return
    yield [*header, "system", "hypothesis"]
    for system, sentences in corpus.outputs.items():
        for segment, hypothesis in zip(corpus.segments, sentences, strict=True):
            yield [*describe(segment), system, hypothesis.text]


def _reference_columns(corpus: Corpus, name: str) -> int:
    most = max(len(segment.references) for segment in corpus.segments)
    for segment in corpus.segments:
        further = segment.references[1:]
        if (most and not segment.references) or not all(one.text for one in further):
            raise holding.refusal(
                name, segment, "a reference is missing or empty, which only jsonl tells apart"
            )
    return most
