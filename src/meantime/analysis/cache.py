"""Analyses kept on disk, so that a text is analysed once.

`CachedAnalyser` stands before any analyser and asks it only for texts it has not seen.
`AnalysisCache` is the SQLite file behind it, for several processes and threads at once.

A cache may be lost at any time and nothing but time is lost with it. So no fault of the
file or of the disk is an error here: a damaged file is replaced, a disk that cannot be
written to leaves the cache as it is, and `note` says in words what happened.

An entry is found by a hash of the format of entries, the analyser's identity, the language
and the text. Entries of different analysers and formats share a file without meeting.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import struct
import sys
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import numpy
from numpy.typing import NDArray

from meantime.errors import MeantimeError, UsageError
from meantime.protocols import Analyser
from meantime.types import Frame, Layer, Role, Sentence, Span, Tree

FORMAT = 1
"""Of one entry. Part of the key: raise it when `encode` changes."""

LIMIT_BYTES = 1 << 30
"""How large a cache grows unless told otherwise."""

_SCHEMA = 1
_APPLICATION = 0x6D6E746D
"""Marks an SQLite file as ours ("mntm", in the file's header)."""

_TABLES = """
CREATE TABLE IF NOT EXISTS analysers (
    id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS analyses (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, analyser INTEGER NOT NULL,
    used INTEGER NOT NULL, size INTEGER NOT NULL, complete INTEGER NOT NULL,
    body BLOB NOT NULL, vectors BLOB);
CREATE INDEX IF NOT EXISTS analyses_by_use ON analyses (used, id);
"""

_PATIENCE_SECONDS = 10.0
_ATTEMPTS = 4
_KEYS_A_QUERY = 400
_ENTRIES_A_WRITE = 256
_BYTES_A_WRITE = 4 << 20
_ENTRIES_DROPPED_A_ROUND = 512
_ROUNDS = 4
_PAGES_RETURNED_A_WRITE = 4096
_PAGES_IN_RESERVE = 8
"""For what entries cost beyond their content, such as pages that a table splits."""

_TOUCH_SECONDS = 3600
"""An entry's last use is written down at most this often, so that reading seldom writes."""

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_SCHEMA}
_DAMAGED = {
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_MISMATCH,
}
_UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL}

_Found = TypeVar("_Found")


# One entry


def encode(sentence: Sentence) -> bytes:
    """Everything an analysis added but the vectors, as compressed JSON.

    What is not known is left out; what was looked for and not found is an empty list.
    """
    content: dict[str, Any] = {}
    if sentence.tokens is not None:
        content["tokens"] = sentence.tokens
    if sentence.offsets is not None:
        content["offsets"] = [place for offsets in sentence.offsets for place in offsets]
    if sentence.pos is not None:
        content["pos"] = sentence.pos
    if sentence.tree is not None:
        content["tree"] = _flatten(sentence.tree)
    if sentence.tree_score is not None:
        content["score"] = float(sentence.tree_score)
    if sentence.frames is not None:
        content["frames"] = [
            [
                [frame.predicate.start, frame.predicate.end],
                [
                    [
                        role.label,
                        *(place for span in role.spans for place in (span.start, span.end)),
                    ]
                    for role in frame.roles
                ],
            ]
            for frame in sentence.frames
        ]
    text = json.dumps(content, separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), 4)


def decode(body: bytes, sentence: Sentence) -> Sentence:
    """A copy of a sentence with what `encode` kept, its vectors not known.

    Raises:
        ValueError, LookupError, TypeError, zlib.error, MeantimeError: The body is damaged.
    """
    content = json.loads(zlib.decompress(body))
    tokens = content.get("tokens")
    offsets = content.get("offsets")
    pos = content.get("pos")
    tree = content.get("tree")
    frames = content.get("frames")
    return replace(
        sentence,
        tokens=None if tokens is None else tuple(tokens),
        offsets=None if offsets is None else tuple(_in_twos(offsets)),
        pos=None if pos is None else tuple(pos),
        tree=None if tree is None else _unflatten(*tree),
        tree_score=content.get("score"),
        frames=None
        if frames is None
        else tuple(
            Frame(
                Span(*predicate),
                tuple(
                    Role(label, tuple(Span(*places) for places in _in_twos(ends)))
                    for label, *ends in roles
                ),
            )
            for predicate, roles in frames
        ),
        vectors=None,
    )


def _in_twos(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    return zip(places[::2], places[1::2], strict=True)


def _flatten(tree: Tree) -> tuple[list[str], list[int]]:
    """Labels, and start, end and number of children of each node, children before parents."""
    nodes = tree.bottom_up()
    numbers: list[int] = []
    for node in nodes:
        numbers += (node.span.start, node.span.end, len(node.children))
    return [node.label for node in nodes], numbers


def _unflatten(labels: list[str], numbers: list[int]) -> Tree:
    ready: list[Tree] = []
    places = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
    for label, (start, end, count) in zip(labels, places, strict=True):
        first = len(ready) - count
        if first < 0:
            raise ValueError("a node has more children than there are nodes before it")
        children = tuple(ready[first:])
        del ready[first:]
        ready.append(Tree(label, Span(start, end), children))
    if len(ready) != 1:
        raise ValueError(f"a tree with {len(ready)} roots")
    return ready[0]


_HEADER = struct.Struct("<III")


def _pack(vectors: NDArray[Any]) -> bytes:
    """Half-precision numbers, least significant byte first, behind shape and checksum."""
    half = numpy.ascontiguousarray(vectors, dtype="<f2")
    rows, columns = half.shape
    content = half.tobytes()
    return _HEADER.pack(rows, columns, zlib.crc32(content)) + content


def _unpack(content: bytes) -> NDArray[numpy.float16]:
    rows, columns, checksum = _HEADER.unpack_from(content)
    if zlib.crc32(content[_HEADER.size :]) != checksum:
        raise ValueError("vectors do not fit their checksum")
    array = numpy.frombuffer(content, dtype="<f2", offset=_HEADER.size).reshape(rows, columns)
    return array if sys.byteorder == "little" else array.astype(numpy.float16)


def key(text: str, lang: str, identity: str) -> bytes:
    """Where the analysis of a text by an analyser is kept."""
    digest = hashlib.blake2b(digest_size=20, person=b"meantime")
    for field in (str(FORMAT), identity, lang, text):
        content = field.encode("utf-8", "surrogatepass")
        # The length apart, so that no two lists of fields read the same.
        digest.update(struct.pack("<Q", len(content)))
        digest.update(content)
    return digest.digest()


# The file


class Entry(NamedTuple):
    """What is kept of one text."""

    key: bytes
    body: bytes
    vectors: bytes | None
    complete: bool
    """Whether the vectors are as the analyser gave them, and not left out."""

    @property
    def size(self) -> int:
        """About how many bytes of the file it takes: a large entry leaves part of a page free."""
        content = len(self.body) + len(self.vectors or b"")
        return content + (160 if content < 1000 else 1200)


@dataclass(frozen=True, slots=True)
class AnalyserShare:
    """What one analyser has in a cache."""

    name: str
    identity: str
    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds."""

    path: Path | None
    entries: int
    bytes: int
    """Size of the file."""
    analysers: tuple[AnalyserShare, ...]


class _Foreign(Exception):
    """The file is a database, but not a cache of this kind."""


class _Unusable(Exception):
    """There can be no cache at this place; the message says why."""


_open_caches: weakref.WeakSet[AnalysisCache] = weakref.WeakSet()
_inherited: list[sqlite3.Connection] = []
"""Connections of a parent process: SQLite forbids a child to use them, and to close them."""


def _leave_behind() -> None:
    for cache in list(_open_caches):
        cache._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_behind)


class AnalysisCache:
    """Entries in one SQLite file, the least recently used dropped when it is full.

    Opened when first needed. Safe for threads and processes; no method raises for what is
    wrong with the file or the disk.
    """

    def __init__(self, path: Path | None = None, *, limit_bytes: int = LIMIT_BYTES) -> None:
        """Remember where.

        Args:
            path: The file; without one, the entries are kept in memory.
            limit_bytes: How large the file may grow. Its write-ahead log adds a few
                megabytes while it is in use.
        """
        if limit_bytes < 0:
            raise UsageError(f"limit_bytes={limit_bytes}; give 0 (keep nothing) or more")
        self.path = None if path is None else Path(path)
        self.limit_bytes = limit_bytes
        self.note: str | None = None
        """What went wrong with the file, in words; `None` while nothing did."""
        self._start()

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None
        self._readable = True
        self._writable = True
        _open_caches.add(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "limit_bytes": self.limit_bytes, "note": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; the next call opens it again."""
        with self._lock:
            self._disconnect()

    def get(self, keys: Iterable[bytes], *, vectors: bool = True) -> dict[bytes, Entry]:
        """The entries there are. With `vectors`, only those that have all the analyser gave."""
        found: dict[bytes, Entry] = {}
        for some in _in_parts(list(dict.fromkeys(keys)), _KEYS_A_QUERY):
            rows: list[Any] = self._do(partial(_select, keys=some, vectors=vectors), [])
            stale = []
            now = int(time.time())
            for name, body, kept, complete, used in rows:
                found[name] = Entry(name, body, kept, bool(complete))
                if abs(now - used) > _TOUCH_SECONDS:
                    stale.append(name)
            if stale:
                self._do(partial(_touch, keys=stale, now=now), None, writes=True)
        return found

    def put(self, entries: Iterable[Entry], *, identity: str, name: str = "") -> None:
        """Keep entries of one analyser, and drop the least recently used for them."""
        for some in self._in_writes(entries):
            if not self._writable:
                return
            insert = partial(self._insert, entries=some, identity=identity, name=name)
            self._do(insert, None, writes=True)

    def drop(self, keys: Sequence[bytes]) -> None:
        """Forget some entries."""
        for some in _in_parts(keys, _KEYS_A_QUERY):
            self._do(partial(_delete, column="key", values=some), None, writes=True)

    def info(self) -> CacheInfo:
        """What there is; a file that does not exist is not made."""
        nothing = CacheInfo(self.path, 0, 0, ())
        if self._absent():
            return nothing
        return self._do(self._describe, nothing)

    def clear(self) -> int:
        """Drop everything, while others may have the file open; how many entries that was."""
        if self._absent():
            return 0
        count = self._do(_empty, 0, writes=True)
        self._do(_shrink, None, writes=True)
        return count

    def _absent(self) -> bool:
        return self.path is not None and not os.path.lexists(self.path)

    def _in_writes(self, entries: Iterable[Entry]) -> Iterator[list[Entry]]:
        """Entries in parts small enough that nobody waits long for a write."""
        most = min(_BYTES_A_WRITE, max(self.limit_bytes // 4, 1))
        part: list[Entry] = []
        total = 0
        for entry in entries:
            if entry.size > self.limit_bytes // 2:
                continue
            if part and (len(part) == _ENTRIES_A_WRITE or total + entry.size > most):
                yield part
                part, total = [], 0
            part.append(entry)
            total += entry.size
        if part:
            yield part

    # Doing something, whatever the state of the file

    def _do(
        self,
        action: Callable[[sqlite3.Connection], _Found],
        otherwise: _Found,
        *,
        writes: bool = False,
    ) -> _Found:
        """Carry out an action on the file; mend what can be mended and try again."""
        with self._lock:
            for attempt in range(_ATTEMPTS):
                if not (self._writable if writes else self._readable):
                    return otherwise
                before = self._state()
                try:
                    try:
                        return action(self._connect())
                    except (_Foreign, sqlite3.Error) as error:
                        self._roll_back()
                        self._mend(error, before, writes, last=attempt + 1 == _ATTEMPTS)
                    finally:
                        # Also when interrupted: an open transaction would shut out others.
                        self._roll_back()
                except _Unusable as error:
                    self._give_up(str(error))
                except OSError as error:
                    self._give_up(f"cannot be used ({error.strerror or error})")
            return otherwise

    def _mend(self, error: Exception, before: object, writes: bool, *, last: bool) -> None:
        """See to it that the next attempt succeeds, or that there is none."""
        full = getattr(error, "sqlite_errorcode", None)
        # No code: a foreign file, or a value that the sqlite3 module could not read.
        code = sqlite3.SQLITE_CORRUPT if full is None else full & 0xFF
        if code in _BUSY:
            if last and writes:
                # Others hold it; waiting as long again for every write would be worse.
                self._writable = False
                self._say("is in use by others all the time; some analyses were not kept")
            time.sleep(random.uniform(0.01, 0.1))
        elif code in _DAMAGED or full == sqlite3.SQLITE_IOERR_SHORT_READ:
            self._replace(before)
        elif writes and code in _UNWRITABLE:
            self._writable = False
            self._say(f"cannot be written to ({error}); new analyses are not kept")
        else:
            self._give_up(f"cannot be used ({error})")

    def _give_up(self, reason: str) -> None:
        self._disconnect()
        self._readable = self._writable = False
        self._say(f"{reason}; analyses are not kept")

    def _say(self, what: str) -> None:
        self.note = f"cache {self.path or 'in memory'}: {what}"

    def _roll_back(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:
                self._disconnect()

    def _state(self) -> tuple[int, int, int, int] | None:
        """Which file this is, in which state, so that only a file seen damaged is replaced."""
        if self.path is None:
            return None
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return (found.st_dev, found.st_ino, found.st_ctime_ns, found.st_size)

    def _connect(self) -> sqlite3.Connection:
        """The connection; a new one where the file has been removed or replaced meanwhile."""
        if self._connection is not None:
            state = self._state()
            if self.path is None or (state is not None and state[:2] == self._opened):
                return self._connection
            self._disconnect()
        if self.path is not None:
            if self.path.is_dir():
                raise _Unusable("is a folder; give the name of a file in it")
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        connection = sqlite3.connect(
            ":memory:" if self.path is None else self.path,
            timeout=_PATIENCE_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            _set_up(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        state = self._state()
        self._opened = None if state is None else state[:2]
        return connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except sqlite3.Error as error:
                self._say(f"could not be closed ({error})")

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        if self._connection is not None:
            _inherited.append(self._connection)
            self._connection = None

    def _replace(self, before: object) -> None:
        """Make way for a new file: drop ours, move any other aside.

        Another process may have done so already: only a file in the state in which it was
        found damaged is touched.
        """
        self._disconnect()
        if self.path is None or before is None or self._state() != before:
            return
        log, index = (Path(f"{self.path}{ending}") for ending in ("-wal", "-shm"))
        # The log goes first. A new file beside an old log would take in the log's pages.
        if _is_ours(self.path):
            log.unlink(missing_ok=True)
            index.unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)
            self._say("was damaged and has been replaced")
            return
        aside = _free_name(self.path)
        if log.exists():
            os.replace(log, f"{aside}-wal")
        index.unlink(missing_ok=True)
        os.replace(self.path, aside)
        self._say(f"was no cache of ours, or damaged; it is now {aside.name}, and a new one begun")

    # What is done

    def _insert(
        self, base: sqlite3.Connection, entries: list[Entry], identity: str, name: str
    ) -> None:
        base.execute("BEGIN IMMEDIATE")
        if not self._make_room(base, sum(entry.size for entry in entries)):
            base.execute("COMMIT")
            return
        base.execute(
            "INSERT INTO analysers (identity, name) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (identity, name),
        )
        query = "SELECT id FROM analysers WHERE identity = ?"
        (analyser,) = base.execute(query, (identity,)).fetchone()
        now = int(time.time())
        base.executemany(
            # An entry without vectors gives way to one with them, and no other does.
            "INSERT INTO analyses (key, analyser, used, size, complete, body, vectors) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET used = excluded.used, "
            "size = excluded.size, complete = excluded.complete, body = excluded.body, "
            "vectors = excluded.vectors WHERE excluded.complete > complete",
            [(e.key, analyser, now, e.size, int(e.complete), e.body, e.vectors) for e in entries],
        )
        base.execute("COMMIT")
        size, free, page = _pages(base)
        if free and size * page > self.limit_bytes:
            # The limit was larger once: give back to the disk, a part at a time.
            _return_pages(base, _PAGES_RETURNED_A_WRITE)

    def _make_room(self, base: sqlite3.Connection, incoming: int) -> bool:
        """Drop old entries, within bounds; whether the new ones then fit.

        Where the limit has been lowered, one write drops only part of the excess, but never
        less than it adds.
        """
        dropped = 0
        for _ in range(_ROUNDS):
            size, free, page = _pages(base)
            excess = (size - free + _PAGES_IN_RESERVE) * page + incoming - self.limit_bytes
            if excess <= 0:
                return True
            oldest = []
            freed = 0
            query = "SELECT id, size FROM analyses ORDER BY used, id LIMIT ?"
            for number, cost in base.execute(query, (_ENTRIES_DROPPED_A_ROUND,)):
                oldest.append(number)
                freed += cost
                if freed >= excess:
                    break
            if not oldest:
                return False
            for some in _in_parts(oldest, _KEYS_A_QUERY):
                _delete(base, "id", some)
            dropped += freed
        return dropped >= incoming

    def _describe(self, base: sqlite3.Connection) -> CacheInfo:
        rows = base.execute(
            "SELECT name, identity, count(*), sum(size) FROM analyses "
            "JOIN analysers ON analysers.id = analyser GROUP BY analyser ORDER BY 3 DESC, 2"
        ).fetchall()
        size, _, page = _pages(base)
        shares = tuple(AnalyserShare(*row) for row in rows)
        return CacheInfo(self.path, sum(share.entries for share in shares), size * page, shares)


_Item = TypeVar("_Item")


def _in_parts(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _run(base: sqlite3.Connection, statement: str) -> list[Any]:
    """A statement and its rows, all of them, so that it is done with."""
    return base.execute(statement).fetchall()


def _pages(base: sqlite3.Connection) -> tuple[int, int, int]:
    """Pages in the file, how many of them are free, and the size of one."""
    ((size,),) = _run(base, "PRAGMA page_count")
    ((free,),) = _run(base, "PRAGMA freelist_count")
    ((page,),) = _run(base, "PRAGMA page_size")
    return size, free, page


def _set_up(base: sqlite3.Connection) -> None:
    """Tell whether a file is ours, begin it where it is new, and set how it is used."""
    # In one transaction: another process may be beginning the same file.
    base.execute("BEGIN")
    ((tables,),) = _run(base, "SELECT count(*) FROM sqlite_master")
    ((application,),) = _run(base, "PRAGMA application_id")
    ((version,),) = _run(base, "PRAGMA user_version")
    base.execute("COMMIT")
    new = not tables and not application and not version
    if not new and (application != _APPLICATION or version != _SCHEMA):
        raise _Foreign
    if new:
        # Before the journal mode, which writes the first page.
        _run(base, "PRAGMA auto_vacuum = INCREMENTAL")
    _run(base, "PRAGMA journal_mode = WAL")
    _run(base, "PRAGMA synchronous = NORMAL")
    _run(base, f"PRAGMA journal_size_limit = {_BYTES_A_WRITE}")
    if new:
        base.execute("BEGIN IMMEDIATE")
        try:
            for statement in filter(None, map(str.strip, _TABLES.split(";"))):
                base.execute(statement)
            base.execute(f"PRAGMA application_id = {_APPLICATION}")
            base.execute(f"PRAGMA user_version = {_SCHEMA}")
            base.execute("COMMIT")
        except sqlite3.Error:
            if base.in_transaction:
                base.execute("ROLLBACK")
            raise


def _select(base: sqlite3.Connection, keys: Sequence[bytes], vectors: bool) -> list[Any]:
    marks = ",".join("?" * len(keys))
    columns = "key, body, vectors, complete, used" if vectors else "key, body, NULL, 0, used"
    return base.execute(
        f"SELECT {columns} FROM analyses WHERE key IN ({marks}) AND complete >= ?",
        (*keys, int(vectors)),
    ).fetchall()


def _touch(base: sqlite3.Connection, keys: Sequence[bytes], now: int) -> None:
    marks = ",".join("?" * len(keys))
    base.execute(f"UPDATE analyses SET used = ? WHERE key IN ({marks})", (now, *keys))


def _delete(base: sqlite3.Connection, column: str, values: Sequence[object]) -> None:
    marks = ",".join("?" * len(values))
    base.execute(f"DELETE FROM analyses WHERE {column} IN ({marks})", tuple(values))


def _empty(base: sqlite3.Connection) -> int:
    base.execute("BEGIN IMMEDIATE")
    (count,) = base.execute("SELECT count(*) FROM analyses").fetchone()
    base.execute("DELETE FROM analyses")
    base.execute("DELETE FROM analysers")
    base.execute("COMMIT")
    return int(count)


def _return_pages(base: sqlite3.Connection, most: int) -> None:
    """Give free pages at the end of the file back to the disk."""
    # As a script: of a single statement without rows, the module takes only one step, and
    # this one frees a page a step.
    base.executescript(f"PRAGMA incremental_vacuum({most})")


def _shrink(base: sqlite3.Connection) -> None:
    _return_pages(base, 0)
    # Others who are reading now keep the log from being cut; that can wait for the next one.
    _run(base, "PRAGMA busy_timeout = 100")
    _run(base, "PRAGMA wal_checkpoint(TRUNCATE)")
    _run(base, f"PRAGMA busy_timeout = {int(_PATIENCE_SECONDS * 1000)}")


def _is_ours(path: Path) -> bool:
    """By the header, which says so even where what follows is damaged."""
    with open(path, "rb") as file:
        header = file.read(100)
    return header.startswith(b"SQLite format 3\0") and header[68:72] == _APPLICATION.to_bytes(
        4, "big"
    )


def _free_name(path: Path) -> Path:
    """A name beside a file that nothing has yet."""
    number = 1
    while True:
        name = path.with_name(f"{path.name}.replaced-{number}")
        if not os.path.lexists(name):
            return name
        number += 1


# The analyser before the file

_UNREADABLE = (zlib.error, ValueError, LookupError, TypeError, struct.error, MeantimeError)


class CachedAnalyser:
    """An analyser that remembers what another one answered.

    Answers are those of the analyser behind it, to the bit; vectors are at half precision
    whether they come from there or from the file. A sentence that brings layers of its own
    (frames read from a file, say) goes to the analyser every time: the key speaks of texts.
    """

    def __init__(
        self,
        analyser: Analyser,
        path: Path | None = None,
        *,
        limit_bytes: int = LIMIT_BYTES,
        vectors: bool = True,
    ) -> None:
        """Stand before an analyser.

        Args:
            analyser: Asked for texts not seen before.
            path: The file; without one, analyses are remembered while this object lives.
            limit_bytes: How large the file may grow; the least recently used entries go.
            vectors: Whether vectors are kept and given. They are most of the file; without
                them, sentences come without vectors, new ones too.
        """
        self.analyser = analyser
        self.vectors = vectors
        self.cache = AnalysisCache(path, limit_bytes=limit_bytes)
        self.hits = 0
        """Sentences answered from the file."""
        self.misses = 0
        """Distinct texts the analyser was asked for."""

    @property
    def name(self) -> str:
        return self.analyser.name

    @property
    def identity(self) -> str:
        return self.analyser.identity

    @property
    def layers(self) -> frozenset[Layer]:
        layers = self.analyser.layers
        return layers if self.vectors else layers - {Layer.VECTORS}

    @property
    def languages(self) -> frozenset[str]:
        return self.analyser.languages

    @property
    def note(self) -> str | None:
        """What went wrong with the file, in words; `None` while nothing did."""
        return self.cache.note

    def info(self) -> CacheInfo:
        """What the cache holds, of all analysers."""
        return self.cache.info()

    def clear(self) -> int:
        """Drop all analyses, of all analysers; how many there were."""
        return self.cache.clear()

    def close(self) -> None:
        """Let go of the file; the next call opens it again."""
        self.cache.close()

    def analyse(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Enriched copies, in order; the analyser is asked once, for what is not known."""
        identity = self.analyser.identity
        keys = [
            key(sentence.text, sentence.lang, identity) if _is_bare(sentence) else None
            for sentence in sentences
        ]
        known = self._look_up(sentences, keys)
        asked: list[Sentence] = []
        names: list[bytes | None] = []
        listed: set[bytes] = set()
        for sentence, name in zip(sentences, keys, strict=True):
            if name is None or not (name in known or name in listed):
                asked.append(sentence)
                names.append(name)
                if name is not None:
                    listed.add(name)
        answers = self.analyser.analyse(asked) if asked else []
        new: dict[bytes, Sentence] = {}
        others: list[Sentence] = []
        for name, answer in zip(names, answers, strict=True):
            if name is None:
                others.append(self._trim(answer))
            else:
                new[name] = self._trim(answer)
        self.hits += sum(name in known for name in keys)
        self.misses += len(asked)
        self._keep(new, identity)
        known |= new
        rest = iter(others)
        return [
            next(rest)
            if name is None
            # Only the text differs between equal keys, and only by collision: never.
            else replace(known[name], text=sentence.text, lang=sentence.lang)
            for sentence, name in zip(sentences, keys, strict=True)
        ]

    def _look_up(
        self, sentences: Sequence[Sentence], keys: Sequence[bytes | None]
    ) -> dict[bytes, Sentence]:
        found = self.cache.get((name for name in keys if name is not None), vectors=self.vectors)
        known: dict[bytes, Sentence] = {}
        damaged: set[bytes] = set()
        for sentence, name in zip(sentences, keys, strict=True):
            if name is None or name in known or name in damaged or name not in found:
                continue
            entry = found[name]
            try:
                read = decode(entry.body, sentence)
                if entry.vectors is not None:
                    read = replace(read, vectors=_unpack(entry.vectors))
            except _UNREADABLE:
                damaged.add(name)
            else:
                known[name] = read
        if damaged:
            self.cache.drop(list(damaged))
        return known

    def _trim(self, answer: Sentence) -> Sentence:
        """An answer as it would come from the file."""
        if answer.vectors is None:
            return answer
        if not self.vectors:
            return replace(answer, vectors=None)
        return replace(answer, vectors=answer.vectors.astype(numpy.float16, copy=False))

    def _keep(self, new: dict[bytes, Sentence], identity: str) -> None:
        # A generator: entries are made as they are written, not all at once.
        entries = (
            Entry(
                name,
                encode(sentence),
                None if sentence.vectors is None else _pack(sentence.vectors),
                self.vectors,
            )
            for name, sentence in new.items()
        )
        self.cache.put(entries, identity=identity, name=self.analyser.name)


def _is_bare(sentence: Sentence) -> bool:
    """Whether nothing but text and language is known."""
    return (
        sentence.tokens is None
        and sentence.offsets is None
        and sentence.pos is None
        and sentence.tree is None
        and sentence.tree_score is None
        and sentence.frames is None
        and sentence.vectors is None
    )
