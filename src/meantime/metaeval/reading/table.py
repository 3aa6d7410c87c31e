"""A table of named columns: tab-separated, one header row, no quoting.

A field holds neither a tab nor a line break, and a quotation mark is an ordinary character. Columns
are found by name in any case and order; those nobody asks for are left aside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from meantime.errors import FormatError
from meantime.formats.opening import decode, display, lines, load

ALIASES: Mapping[str, tuple[str, ...]] = {
    "lp": ("lp", "language_pair", "langpair", "langs"),
    "domain": ("domain",),
    "doc": ("doc", "document", "doc_id", "docid"),
    "seg": ("seg", "segment", "seg_id", "segid", "globalsegid", "id"),
    "system": ("system", "sys"),
    "src": ("src", "source"),
    "ref": ("ref", "reference"),
    "hyp": ("hyp", "hypothesis", "mt", "translation", "target"),
    "score": ("score", "human", "rating"),
    "ref_id": ("ref_id",),
    "is_human": ("is_human",),
    "raw": ("raw",),
    "n": ("n",),
    "judge": ("judge", "rater", "annotator", "rater_id"),
    "category": ("category",),
    "severity": ("severity",),
    "better": ("better",),
    "worse": ("worse",),
    "better_system": ("better_system",),
    "worse_system": ("worse_system",),
}
"""Names of columns, ours first, then other spellings."""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file, each a list of fields, and where the columns we know stand."""

    name: str
    header: tuple[str, ...]
    places: Mapping[str, int]
    rows: tuple[tuple[str, ...], ...]

    def has(self, *columns: str) -> bool:
        """Whether all these columns are there."""
        return all(column in self.places for column in columns)

    def require(self, *columns: str) -> None:
        """Refuse a file that lacks one of these columns.

        Raises:
            FormatError: One is missing; the message names the nearest column there is.
        """
        for column in columns:
            if column in self.places:
                continue
            unknown = [
                name for place, name in enumerate(self.header) if place not in self.places.values()
            ]
            near = get_close_matches(column, [name.casefold() for name in unknown], n=1, cutoff=0.8)
            hint = f"; is {near[0]!r} meant? rename it" if near else ""
            raise FormatError(
                f"{self.name}:1: no column {column}, only {', '.join(map(repr, self.header))}{hint}"
            )

    def __iter__(self) -> Iterator[Row]:
        for number, fields in enumerate(self.rows, start=2):
            yield Row(self, number, fields)


@dataclass(frozen=True, slots=True)
class Row:
    """One row, and the number of its line."""

    table: Table
    line: int
    fields: tuple[str, ...]

    def text(self, column: str) -> str:
        """A field; empty where there is no such column."""
        place = self.table.places.get(column)
        return "" if place is None else self.fields[place]

    def given(self, column: str) -> str | None:
        """A field, even if empty; None where there is no such column."""
        place = self.table.places.get(column)
        return None if place is None else self.fields[place]

    def number(self, column: str) -> float | None:
        """A number; None where the field is empty, which means "not known".

        Raises:
            FormatError: The field is not empty and no finite number.
        """
        return as_number(self.text(column), f"{self.table.name}:{self.line}: {column}")

    def count(self, column: str) -> int | None:
        """A whole number, or None.

        Raises:
            FormatError: The field is not empty and no whole number.
        """
        value = self.number(column)
        if value is None:
            return None
        if not value.is_integer():
            raise FormatError(
                f"{self.table.name}:{self.line}: {column} is {self.text(column)!r}; "
                "give a whole number"
            )
        return int(value)

    def flag(self, column: str) -> bool | None:
        """Yes (1) or no (0); None where nothing is said.

        Raises:
            FormatError: The field holds something else.
        """
        text = self.text(column)
        if text == "":
            return None
        if text not in ("0", "1"):
            raise FormatError(
                f"{self.table.name}:{self.line}: {column} is {text!r}; give 0 or 1, or leave the "
                "field empty"
            )
        return text == "1"


def as_number(text: str, where: str) -> float | None:
    """A finite number, or None for an empty text.

    Raises:
        FormatError: It is neither.
    """
    if text == "":
        return None
    try:
        value = float(text)
    except ValueError as error:
        raise FormatError(
            f"{where} is {text!r}; give a number, or leave the field empty where there is none"
        ) from error
    if not math.isfinite(value):
        raise FormatError(
            f"{where} is {text!r}; leave the field empty where there is no score: not rated is "
            "never a number"
        )
    return value


def open_table(path: str | Path) -> Table:
    """Read a tab-separated file, gzipped or not.

    Raises:
        FormatError: It holds no row, a column stands twice, or a row has another number of fields.
    """
    name = display(path)
    content = lines(decode(name, load(path)))
    if not content or not content[0].strip():
        raise FormatError(f"{name}: the file is empty; it needs a header row and rows of scores")
    header = tuple(field.strip() for field in content[0].split("\t"))
    rows = tuple(tuple(line.split("\t")) for line in content[1:])
    if not rows:
        raise FormatError(f"{name}: there is a header and no row of scores below it")
    for number, fields in enumerate(rows, start=2):
        if len(fields) != len(header):
            raise FormatError(
                f"{name}:{number}: {len(fields)} columns, the header has {len(header)}; separate "
                "fields with one tab, and leave a field empty where nothing is known"
            )
    return Table(name, header, _places(name, header), rows)


def _places(name: str, header: Sequence[str]) -> dict[str, int]:
    """Where the columns we know stand; of two spellings the one named first in `ALIASES`."""
    plain = [field.casefold() for field in header]
    for column in plain:
        if plain.count(column) > 1:
            raise FormatError(f"{name}:1: two columns are called {column!r}; rename or remove one")
    places = {}
    for column, spellings in ALIASES.items():
        for spelling in spellings:
            if spelling in plain:
                places[column] = plain.index(spelling)
                break
    return places
