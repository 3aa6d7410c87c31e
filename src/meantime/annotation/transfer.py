"""A whole campaign in files: JSONL or CSV, which give an equal campaign when read again."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from meantime.annotation.campaign import (
    Kind,
    Role,
    State,
    VersionKind,
    settings_from_json,
)
from meantime.annotation.correlations import make_human_scores
from meantime.annotation.results import Results
from meantime.annotation.store import Store, Version, upgrade
from meantime.annotation.store.migrations import LATEST
from meantime.annotation.store.schema import OF_A_CAMPAIGN
from meantime.annotation.store.store import Everything, SegmentText
from meantime.errors import FormatError, InputError, MeantimeError
from meantime.formats.opening import decode, disarm, load, rearm

_HEAD = "meantime campaign"
_DISARMED = "formulas_disarmed"
_KNOWN: Mapping[str, Sequence[tuple[str, Callable[[Any], Any]]]] = {
    "campaigns": (
        ("state", State),
        ("settings", lambda text: settings_from_json(json.loads(text))),
    ),
    "people": (("role", Role),),
    "versions": (("kind", VersionKind), ("tokens", json.loads), ("offsets", json.loads)),
    "examples": (("kind", Kind), ("content", json.loads)),
    "tasks": (("kind", Kind),),
    "saves": (("content", json.loads),),
}
"""Columns whose values must be some of those there are."""
_TABLES = {table.name: table for table in OF_A_CAMPAIGN}


def render_jsonl(store: Store, campaign: str) -> str:
    """Everything of a campaign but links and sessions, a row a line, headed by its version."""
    rows = list(store.dump(campaign))
    if not rows:
        store.campaign(campaign)
    head = {"what": _HEAD, "version": LATEST, "rows": len(rows)}
    lines: list[Any] = [head, *([table, row] for table, row in rows)]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def render_csv(store: Store, campaign: str) -> dict[str, bytes]:
    """The same as a folder of CSV files, one a table; an empty field without quotes is null.

    People's texts may begin like formulas. Spreadsheets, which may open these files, see an
    apostrophe in front; reading takes it away.
    """
    files: dict[str, io.StringIO] = {}
    for name, table in _TABLES.items():
        files[name] = io.StringIO()
        files[name].write(",".join(column.name for column in table.columns) + "\r\n")
    for name, row in store.dump(campaign):
        files[name].write(
            ",".join(_field(row[column.name]) for column in _TABLES[name].columns) + "\r\n"
        )
    found = {f"{name}.csv": file.getvalue().encode() for name, file in files.items()}
    found["version.csv"] = f"what,version,{_DISARMED}\r\n{_HEAD},{LATEST},yes\r\n".encode()
    return found


def _field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + disarm(value).replace('"', '""') + '"'
    return repr(value)


def import_campaign(store: Store, path: Path) -> str:
    """Put an exported campaign (a JSONL file or a folder of CSV files) into a database.

    Raises:
        FormatError: The file is no export, is cut short, or holds what an export cannot.
        InputError: The campaign is there already.
    """
    version, rows = _read_folder(path) if path.is_dir() else _read_jsonl(path)
    unknown = sorted({table for table, _ in rows} - set(_TABLES))
    if unknown:
        raise FormatError(f"{path}: a row of {unknown[0]!r}; an export holds {', '.join(_TABLES)}")
    if version < LATEST:
        rows = upgrade(rows, version, str(path))
    _check(rows, str(path))
    return store.load(rows)


def _read_jsonl(path: Path) -> tuple[int, list[tuple[str, dict[str, Any]]]]:
    lines = [line for line in decode(str(path), load(path)).split("\n") if line]
    try:
        head = json.loads(lines[0])
        known = head["what"] == _HEAD
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise _foreign(path) from error
    if not known:
        raise _foreign(path)
    version = _check_version(path, head["version"])
    rows = []
    for number, line in enumerate(lines[1:], 2):
        try:
            table, row = json.loads(line)
            rows.append((str(table), dict(row)))
        except (ValueError, TypeError) as error:
            raise FormatError(f"{path}:{number}: not a row of an export; export again") from error
    if len(rows) != head["rows"]:
        raise FormatError(
            f"{path}: {len(rows)} rows of {head['rows']}; the file is cut short: copy it again"
        )
    return version, rows


def _foreign(path: Path) -> FormatError:
    return FormatError(
        f"{path}: no exported campaign; give what 'meantime annotate export' wrote with "
        "--format jsonl or csv"
    )


def _check_version(path: Path, version: object) -> int:
    if type(version) is not int or version < 1:
        raise _foreign(path)
    if version > LATEST:
        raise InputError(
            f"{path}: exported by version {version} of the tables, this is {LATEST}; import it "
            "with the version of meantime that exported it, or a later one"
        )
    return version


def _read_folder(path: Path) -> tuple[int, list[tuple[str, dict[str, Any]]]]:
    try:
        with (path / "version.csv").open(encoding="utf-8", newline="") as file:
            head, (_, stated, *_) = list(csv.reader(file))
    except (OSError, ValueError) as error:
        raise _foreign(path) from error
    version = _check_version(path, int(stated) if stated.isdecimal() else stated)
    # Earlier exports had texts as they are.
    armed = _DISARMED not in head
    rows: list[tuple[str, dict[str, Any]]] = []
    for name, table in _TABLES.items():
        table_file = path / f"{name}.csv"
        if version < LATEST and not table_file.exists():
            # A table that came later.
            continue
        records = _records(decode(str(table_file), load(table_file)), str(table_file), armed)
        columns = [str(value) for value in records[0]] if records else []
        wanted = [column.name for column in table.columns]
        if version < LATEST and columns and set(columns) <= set(wanted):
            # Columns that came later are added when the rows are brought up to date.
            wanted = columns
        if columns != wanted:
            raise FormatError(
                f"{table_file}:1: columns {','.join(columns)}; expected {','.join(wanted)}"
            )
        for number, record in enumerate(records[1:], 2):
            if len(record) != len(wanted):
                raise FormatError(
                    f"{table_file}: record {number} has {len(record)} fields of {len(wanted)}; "
                    "export it again"
                )
            rows.append((name, dict(zip(wanted, record, strict=True))))
    return version, rows


def _records(content: str, name: str, armed: bool) -> list[list[Any]]:
    """Records of CSV as written above, where quotes tell texts from numbers and from null."""
    records: list[list[Any]] = []
    record: list[Any] = []
    place = 0
    while place < len(content):
        if content[place] == '"':
            parts = []
            while True:
                end = content.find('"', place + 1)
                if end < 0:
                    raise FormatError(f"{name}: a quotation mark is not closed; export it again")
                parts.append(content[place + 1 : end])
                place = end + 1
                if content[place : place + 1] != '"':
                    break
            whole = '"'.join(parts)
            record.append(whole if armed else rearm(whole))
        else:
            end = place
            while end < len(content) and content[end] not in ",\r\n":
                end += 1
            record.append(_value(content[place:end]))
            place = end
        if content[place : place + 1] == ",":
            place += 1
            if content[place : place + 1] in ("", "\r", "\n"):
                record.append(None)
        if content[place : place + 1] in ("", "\r", "\n"):
            records.append(record)
            record = []
            place += 2 if content[place : place + 2] == "\r\n" else 1
    return records


def _value(text: str) -> Any:
    if text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _check(rows: Iterable[tuple[str, Mapping[str, Any]]], name: str) -> None:
    """Refuse rows of no table, columns nobody knows, and rows of another campaign."""
    found = list(rows)
    campaigns = [row.get("id") for table, row in found if table == "campaigns"]
    if len(campaigns) != 1:
        raise FormatError(f"{name}: holds {len(campaigns)} campaigns; an export holds one")
    for table, row in found:
        wanted = {column.name for column in _TABLES[table].columns}
        if set(row) != wanted:
            odd = sorted(set(row) ^ wanted)
            raise FormatError(f"{name}: a row of {table} lacks or adds {', '.join(odd)}")
        try:
            for column, kind in _KNOWN.get(table, ()):
                kind(row[column])
        except (MeantimeError, ValueError, TypeError) as error:
            raise FormatError(f"{name}: a row of {table}: {error}; export it again") from error
        if table != "campaigns" and row["campaign"] != campaigns[0]:
            raise FormatError(f"{name}: a row of {table} is of another campaign")


def render_human_scores(data: Everything, results: Results, which: str) -> str:
    """A human score of every output as the table that metaeval and weights are fitted on read.

    Columns `lp seg system src ref hyp score`; a score that is not there is empty. Tabs and line
    breaks in texts become spaces.
    """
    lines = ["lp\tseg\tsystem\tsrc\tref\thyp\tscore"]
    for pair in make_human_scores(data, results, which).pairs:
        texts = (pair.segment, pair.system, pair.source or "", pair.references[0][1])
        number = "" if pair.score is None else repr(pair.score)
        row = [pair.lp, *map(_plain, texts), _plain(pair.hypothesis or ""), number]
        lines.append("\t".join(row))
    return "\n".join(lines) + "\n"


def render_ratings(data: Everything) -> str:
    """Every rating from 1 to 5 with its rater, as the table of judgements metaeval reads."""
    lines = ["judge\tlp\tseg\tsystem\tsrc\tref\thyp\tscore"]
    segments = {one.id: one for one in data.segments}
    for task in data.tasks:
        if task.kind is not Kind.RATE or task.repeat_of is not None:
            continue
        version = data.versions[task.target]
        judge = _plain(data.people[task.person or ""].name)
        row = _translation(segments[version.segment], version)
        lines.append("\t".join([judge, *row, str(task.answer["rating"])]))
    return "\n".join(lines) + "\n"


def _translation(segment: SegmentText, version: Version) -> list[str]:
    source = segment.source
    return [
        f"{source.lang if source else 'und'}-{segment.reference.lang}",
        _plain(segment.name),
        _plain(version.system),
        _plain(source.text) if source else "",
        _plain(segment.reference.text),
        _plain(version.sentence.text),
    ]


def _plain(text: str) -> str:
    return " ".join(text.split())


def render_scores(results: Results) -> str:
    """Scores of segments by system as CSV: what a spreadsheet wants, and no formula in it."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        ["segment", "system", "hmeant", "precision", "recall", "rank", "rating_percentile"]
    )
    for one in results.segments:
        numbers = (one.f, one.precision, one.recall, one.rank, one.percentile)
        writer.writerow(
            [
                disarm(one.segment),
                disarm(one.system),
                *("" if n is None or math.isnan(n) else repr(n) for n in numbers),
            ]
        )
    return out.getvalue()
