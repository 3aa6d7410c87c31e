"""What happens to a campaign, each as one transaction.

Everything that people do is durable when a method returns. Rules that must hold whoever asks
(one version of a segment for a person, one save for a key) are keys of tables; what several
people compete for is decided under a lock: SQLite's single writer, or PostgreSQL's campaign row.
"""

from __future__ import annotations

import json
import random
import secrets
import threading
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, and_, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from meantime.annotation import judging, marks, training
from meantime.annotation.assignment import Candidate, Worker, choose, wants_repeat
from meantime.annotation.campaign import (
    CONTROL,
    TASKS,
    Kind,
    Person,
    Role,
    Settings,
    State,
    Training,
    VersionKind,
    settings_from_json,
    settings_text,
)
from meantime.annotation.store.schema import (
    ALL,
    CAMPAIGNS,
    EXAMPLES,
    EXPOSURES,
    LINKS,
    LOG,
    OF_A_CAMPAIGN,
    PEOPLE,
    SAVES,
    SEGMENTS,
    SESSIONS,
    VERSIONS,
)  # fmt: skip
from meantime.annotation.store.schema import (
    TASKS as TASKS_TABLE,
)
from meantime.errors import InputError, UsageError
from meantime.types import Frame, Sentence

Answer = Mapping[str, Any]
Change = Callable[[Answer], Answer]
UNDO = "undo"


class Gone(InputError):
    """A task is no longer somebody's: finished, given back to the pool, or never theirs."""


class Conflict(InputError):
    """A page speaks of an earlier state than the one that was saved last."""


class NotAllowed(InputError):
    """A rule of the campaign forbids it now."""


@dataclass(frozen=True, slots=True)
class NewSegment:
    """A segment for a new campaign: texts split into words, outputs by system."""

    name: str
    source: Sentence | None
    reference: Sentence
    outputs: Mapping[str, Sentence]
    key: tuple[Frame, ...] | None = None
    """Frames of the reference under the campaign's labels, where people do not mark them."""
    suggested: Mapping[str, tuple[Frame, ...]] | None = None
    """Frames an analyser suggests, by system; the control's under its name."""


@dataclass(frozen=True, slots=True)
class NewCampaign:
    """Everything a campaign is made from."""

    name: str
    settings: Settings
    segments: tuple[NewSegment, ...]
    examples: tuple[Mapping[str, Any], ...] = ()
    """Examples of its own for the training round."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign, without what is in it."""

    id: str
    name: str
    state: State
    settings: Settings
    created: float


@dataclass(frozen=True, slots=True)
class Version:
    """A text somebody reads: a system's output, the control or the key, as words."""

    id: str
    segment: str
    kind: VersionKind
    system: str
    sentence: Sentence
    suggested: tuple[Frame, ...] | None


@dataclass(frozen=True, slots=True)
class Task:
    """One person's task with its latest answer."""

    id: str
    campaign: str
    segment: str | None
    kind: Kind
    target: str
    state: str
    person: str | None
    repeat_of: str | None
    prefilled: bool
    revision: int
    opened: float | None
    touched: float | None
    finished: float | None
    answer: Answer
    example: str | None = None
    """Which example it is of, in training."""


@dataclass(frozen=True, slots=True)
class SegmentText:
    """What a segment is about."""

    id: str
    name: str
    position: int
    source: Sentence | None
    reference: Sentence


@dataclass(frozen=True, slots=True)
class Progress:
    """How many tasks of a kind are open, claimed, done."""

    open: int = 0
    claimed: int = 0
    done: int = 0

    @property
    def total(self) -> int:
        return self.open + self.claimed + self.done


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the log."""

    at: float
    person: str | None
    action: str
    about: str | None
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Link:
    """A way in, known by the hash of its secret."""

    hash: str
    person: str
    created: float
    expires: float
    single: bool
    revoked: bool
    used: float | None


@dataclass(frozen=True, slots=True)
class Everything:
    """What a campaign holds, for results: segments, versions, people, tasks and times of saves."""

    campaign: Campaign
    segments: tuple[SegmentText, ...]
    versions: Mapping[str, Version]
    people: Mapping[str, Person]
    tasks: tuple[Task, ...]
    saved: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Trained:
    """How far somebody is in the training round.

    Attributes:
        examples: How many there are.
        passed: How many they have passed, or worked on where nothing must be passed.
        tries: How many answers they gave.
        agreement: The mean agreement of their first answers with the key; none without any.
        over: Whether nothing keeps them from real work.
    """

    examples: int
    passed: int
    tries: int
    agreement: float | None
    over: bool


TICK = 1e-6
"""Seconds between entries of the log that are made at one moment."""


def hash_secret(secret: str) -> str:
    """What is kept of a link or session: enough to know it again, not to make it."""
    return sha256(secret.encode()).hexdigest()


def _new_id() -> str:
    return secrets.token_hex(8)


class Store:
    """A database of campaigns."""

    def __init__(
        self,
        engine: Engine,
        clock: Callable[[], float] | None = None,
        ids: Callable[[], str] | None = None,
    ) -> None:
        self._engine = engine
        self._now = clock or time.time
        self._id = ids or _new_id
        self._logging = threading.Lock()
        self._logged = 0.0
        # SQLite takes one writer at a time and lets the others poll, the unlucky ones for long:
        # those of this process stand in line instead.
        line = engine.dialect.name == "sqlite"
        self._line: AbstractContextManager[Any] = threading.Lock() if line else nullcontext()

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._line, self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        reading = self._engine.execution_options(reading=True)
        if reading.dialect.name == "postgresql":
            # Several queries see one moment, as in SQLite.
            reading = reading.execution_options(isolation_level="REPEATABLE READ")
        with reading.begin() as connection:
            yield connection

    def _lock(self, connection: Connection, campaign: str) -> Row[Any]:
        """The campaign's row, held until the transaction ends."""
        found = connection.execute(
            select(CAMPAIGNS).where(CAMPAIGNS.c.id == campaign).with_for_update()
        ).one_or_none()
        if found is None:
            raise UsageError(f"no campaign {campaign!r}; 'meantime annotate list' lists them")
        return found

    def _moment(self) -> float:
        """When something is logged: what follows at the same time gets a later one, so that the log
        is in order.
        """
        with self._logging:
            now = self._now()
            # A clock that is set back by more is followed.
            follows = 0.0 <= self._logged - now < 1.0
            self._logged = self._logged + TICK if follows else now
            return self._logged

    def _record(
        self,
        connection: Connection,
        action: str,
        *,
        campaign: str | None = None,
        by: str | None = None,
        about: str | None = None,
        **detail: Any,
    ) -> None:
        connection.execute(
            insert(LOG).values(
                id=self._id(),
                at=self._moment(),
                campaign=campaign,
                person=by,
                action=action,
                about=about,
                detail=json.dumps(detail, ensure_ascii=False, sort_keys=True),
            )
        )

    def _make(
        self,
        campaign: str | None,
        segment: str | None,
        kind: Kind,
        target: str,
        slot: int | None,
        prefilled: bool = False,
    ) -> dict[str, Any]:
        """The row of a new task."""
        return {
            "id": self._id(),
            "campaign": campaign,
            "segment": segment,
            "kind": str(kind),
            "target": target,
            "slot": slot,
            "state": "open",
            "person": None,
            "repeat_of": None,
            "prefilled": int(prefilled),
            "revision": 0,
            "finished": None,
            "example": None,
        }

    # Campaigns

    def create_campaign(self, new: NewCampaign, *, by: str | None = None) -> str:
        """Make a campaign with all its tasks; returns its id.

        Raises:
            InputError: It has no segment or system, or a name it cannot have.
        """
        check_new(new)
        campaign = self._id()
        with self._write() as connection:
            connection.execute(
                insert(CAMPAIGNS).values(
                    id=campaign,
                    name=new.name.strip(),
                    state=str(State.OPEN),
                    settings=settings_text(new.settings),
                    created=self._now(),
                )
            )
            self._add_segments(connection, campaign, new.settings, new.segments, 0)
            self._add_examples(connection, campaign, new.examples)
            self._record(
                connection,
                "create campaign",
                campaign=campaign,
                by=by,
                name=new.name,
                segments=len(new.segments),
                systems=sorted(new.segments[0].outputs),
            )
        return campaign

    def add_segments(
        self, campaign: str, segments: Sequence[NewSegment], *, by: str | None = None
    ) -> None:
        """Extend a campaign by segments, with outputs of the same systems."""
        with self._write() as connection:
            row = self._lock(connection, campaign)
            if row.state == State.CLOSED:
                raise NotAllowed("A closed campaign cannot be extended. Make a new one.")
            settings = settings_from_json(json.loads(row.settings))
            check_new(NewCampaign(row.name, settings, tuple(segments)))
            systems = set(
                connection.execute(
                    select(VERSIONS.c.system)
                    .where(VERSIONS.c.campaign == campaign, VERSIONS.c.kind == VersionKind.SYSTEM)
                    .distinct()
                ).scalars()
            )
            if systems != set(segments[0].outputs):
                raise InputError(
                    f"the campaign has the systems {', '.join(sorted(systems))}, these files "
                    f"{', '.join(sorted(segments[0].outputs))}; give outputs of the same systems"
                )
            names = set(
                connection.execute(
                    select(SEGMENTS.c.name).where(SEGMENTS.c.campaign == campaign)
                ).scalars()
            )
            count = len(names)
            fresh = []
            for number, segment in enumerate(segments, count + 1):
                name = segment.name if segment.name not in names else str(number)
                if name in names:
                    raise InputError(f"segment {segment.name!r} is there already; rename it")
                names.add(name)
                fresh.append(replace(segment, name=name))
            self._add_segments(connection, campaign, settings, fresh, count)
            self._record(
                connection, "add segments", campaign=campaign, by=by, segments=len(segments)
            )

    def _add_segments(
        self,
        connection: Connection,
        campaign: str,
        settings: Settings,
        new: Sequence[NewSegment],
        first: int,
    ) -> None:
        rng = random.Random(f"{settings.seed} {campaign} {first}")
        segments, versions, tasks, saves = [], [], [], []
        for position, item in enumerate(new, first):
            segment = self._id()
            segments.append(
                {
                    "id": segment,
                    "campaign": campaign,
                    "position": position,
                    "name": item.name,
                    "source": None if item.source is None else item.source.text,
                    "source_lang": None if item.source is None else item.source.lang,
                    "reference": item.reference.text,
                    "lang": item.reference.lang,
                }
            )
            texts = [(VersionKind.KEY, "", item.reference)]
            if settings.control:
                texts.append((VersionKind.CONTROL, CONTROL, item.reference))
            texts += [(VersionKind.SYSTEM, *pair) for pair in item.outputs.items()]
            for kind, system, sentence in texts:
                version = self._id()
                suggested = (item.suggested or {}).get(system if system else CONTROL)
                versions.append(
                    {
                        "id": version,
                        "campaign": campaign,
                        "segment": segment,
                        "kind": str(kind),
                        "system": system,
                        "text": sentence.text,
                        "tokens": json.dumps(sentence.tokens, ensure_ascii=False),
                        "offsets": json.dumps(sentence.offsets),
                        "suggested": None
                        if suggested is None
                        else json.dumps(marks.from_frames(suggested), ensure_ascii=False),
                    }
                )
                slots = 1 if kind is VersionKind.KEY else settings.annotators
                for slot in range(slots):
                    prefilled = (
                        suggested is not None
                        and kind is not VersionKind.KEY
                        and rng.random() < settings.prefill
                    )
                    task = self._make(campaign, segment, Kind.MARK, version, slot, prefilled)
                    if kind is VersionKind.KEY and item.key is not None:
                        task |= {"state": "done", "finished": self._now(), "revision": 1}
                        saves.append(
                            {
                                "task": task["id"],
                                "revision": 1,
                                "campaign": campaign,
                                "key": "key",
                                "person": None,
                                "undoes": 0,
                                "content": json.dumps(
                                    marks.from_frames(item.key), ensure_ascii=False
                                ),
                                "at": self._now(),
                            }
                        )
                    tasks.append(task)
                if kind is VersionKind.SYSTEM:
                    tasks += [
                        self._make(campaign, segment, Kind.RATE, version, slot)
                        for slot in range(settings.raters)
                    ]
            if item.source is not None:
                tasks += [
                    self._make(campaign, segment, Kind.RANK, segment, slot)
                    for slot in range(settings.rankers)
                ]
        for table, rows in (
            (SEGMENTS, segments),
            (VERSIONS, versions),
            (TASKS_TABLE, tasks),
            (SAVES, saves),
        ):
            if rows:
                connection.execute(insert(table), rows)

    def campaigns(self) -> list[Campaign]:
        """All campaigns, the newest first."""
        with self._read() as connection:
            rows = connection.execute(select(CAMPAIGNS).order_by(CAMPAIGNS.c.created.desc()))
            return [_campaign(row) for row in rows]

    def campaign(self, campaign: str) -> Campaign:
        """One campaign.

        Raises:
            UsageError: There is none of this id.
        """
        with self._read() as connection:
            row = connection.execute(
                select(CAMPAIGNS).where(CAMPAIGNS.c.id == campaign)
            ).one_or_none()
        if row is None:
            raise UsageError(f"no campaign {campaign!r}; 'meantime annotate list' lists them")
        return _campaign(row)

    def set_state(self, campaign: str, state: State, *, by: str | None = None) -> None:
        """Open, pause or close a campaign. What is closed stays closed."""
        with self._write() as connection:
            row = self._lock(connection, campaign)
            if row.state == State.CLOSED and state is not State.CLOSED:
                raise NotAllowed("A closed campaign stays closed. Make a new one.")
            if row.state == state:
                return
            connection.execute(
                update(CAMPAIGNS).where(CAMPAIGNS.c.id == campaign).values(state=str(state))
            )
            self._record(
                connection, "set state", campaign=campaign, by=by, before=row.state, state=state
            )

    def change_settings(self, campaign: str, settings: Settings, *, by: str | None = None) -> None:
        """Change what may still be changed; more readings, judges, … get their tasks.

        Raises:
            NotAllowed: The change would make work worthless that was done already.
        """
        with self._write() as connection:
            row = self._lock(connection, campaign)
            if row.state == State.CLOSED:
                raise NotAllowed("The campaign is closed.")
            before = settings_from_json(json.loads(row.settings))
            if (before.control, before.key) != (settings.control, settings.key):
                raise NotAllowed("The control and the key are fixed once a campaign is made.")
            names = [label.name for label in settings.labels]
            if names != [label.name for label in before.labels]:
                self._check_renaming(connection, campaign, before)
            for name in ("annotators", "judges", "rankers", "raters"):
                if getattr(settings, name) < getattr(before, name):
                    raise NotAllowed(
                        f"{name} can be raised and not lowered (now {getattr(before, name)}): "
                        "the tasks are there already."
                    )
            connection.execute(
                update(CAMPAIGNS)
                .where(CAMPAIGNS.c.id == campaign)
                .values(settings=settings_text(settings))
            )
            self._extend(connection, campaign, before, settings)
            self._record(
                connection,
                "change settings",
                campaign=campaign,
                by=by,
                before=json.loads(row.settings),
                after=json.loads(settings_text(settings)),
            )

    def _check_renaming(self, connection: Connection, campaign: str, settings: Settings) -> None:
        if self._has_work(connection, campaign):
            raise NotAllowed(
                "Labels cannot be renamed after marking has begun; their help can be changed."
            )
        if settings.key != "people" or settings.prefill > 0:
            raise NotAllowed(
                "Labels cannot be renamed where frames were made with them from the start; their "
                "help can be changed."
            )
        own = connection.execute(
            select(EXAMPLES.c.id).where(EXAMPLES.c.campaign == campaign, EXAMPLES.c.active == 1)
        ).first()
        if own is not None:
            raise NotAllowed(
                "Labels cannot be renamed while people train with examples of your own; train "
                "with those of the package first, then rename, then give your own anew."
            )

    def _has_work(self, connection: Connection, campaign: str) -> bool:
        found = connection.execute(
            select(SAVES.c.task)
            .where(SAVES.c.campaign == campaign, SAVES.c.person.is_not(None))
            .limit(1)
        ).first()
        return found is not None

    def _extend(
        self, connection: Connection, campaign: str, before: Settings, after: Settings
    ) -> None:
        tasks = []
        versions = connection.execute(
            select(VERSIONS.c.id, VERSIONS.c.segment, VERSIONS.c.kind).where(
                VERSIONS.c.campaign == campaign, VERSIONS.c.kind != VersionKind.KEY
            )
        ).all()
        for version in versions:
            for slot in range(before.annotators, after.annotators):
                tasks.append(self._make(campaign, version.segment, Kind.MARK, version.id, slot))
            if version.kind == VersionKind.SYSTEM:
                for slot in range(before.raters, after.raters):
                    tasks.append(self._make(campaign, version.segment, Kind.RATE, version.id, slot))
        ordered = connection.execute(
            select(SEGMENTS.c.id).where(
                SEGMENTS.c.campaign == campaign, SEGMENTS.c.source.is_not(None)
            )
        ).scalars()
        for segment in ordered:
            for slot in range(before.rankers, after.rankers):
                tasks.append(self._make(campaign, segment, Kind.RANK, segment, slot))
        judged = connection.execute(
            select(TASKS_TABLE.c.target, TASKS_TABLE.c.segment)
            .where(TASKS_TABLE.c.campaign == campaign, TASKS_TABLE.c.kind == Kind.JUDGE)
            .where(TASKS_TABLE.c.repeat_of.is_(None))
            .distinct()
        ).all()
        for reading in judged:
            for slot in range(before.judges, after.judges):
                tasks.append(
                    self._make(campaign, reading.segment, Kind.JUDGE, reading.target, slot)
                )
        if tasks:
            connection.execute(insert(TASKS_TABLE), tasks)

    def systems(self, campaign: str) -> list[str]:
        """The names of a campaign's systems, without the control."""
        with self._read() as connection:
            return list(
                connection.execute(
                    select(VERSIONS.c.system)
                    .where(VERSIONS.c.campaign == campaign, VERSIONS.c.kind == VersionKind.SYSTEM)
                    .distinct()
                    .order_by(VERSIONS.c.system)
                ).scalars()
            )

    # People and their ways in

    def add_person(
        self, campaign: str | None, name: str, role: Role, *, by: str | None = None
    ) -> Person:
        """Add somebody to a campaign; without a campaign, an administrator of all."""
        name = " ".join(name.split())
        if not 0 < len(name) <= 80 or not is_plain(name):
            raise InputError("Give a name of 1 to 80 characters.")
        if campaign is None and role is not Role.ADMINISTRATOR:
            raise UsageError(f"a {role} needs a campaign; name one")
        person = Person(self._id(), campaign, name, role)
        with self._write() as connection:
            if campaign is not None:
                self._lock(connection, campaign)
                there = connection.execute(
                    select(PEOPLE.c.id).where(PEOPLE.c.campaign == campaign, PEOPLE.c.name == name)
                ).first()
                if there is not None:
                    raise InputError(
                        f"There is somebody called {name} in this campaign. Give another name."
                    )
            connection.execute(
                insert(PEOPLE).values(
                    id=person.id,
                    campaign=campaign,
                    name=name,
                    role=str(role),
                    active=1,
                    created=self._now(),
                )
            )
            self._record(
                connection,
                "add person",
                campaign=campaign,
                by=by,
                about=person.id,
                name=name,
                role=role,
            )
        return person

    def people(self, campaign: str | None) -> list[Person]:
        """Everybody of a campaign, or the administrators of all."""
        there = PEOPLE.c.campaign.is_(None) if campaign is None else PEOPLE.c.campaign == campaign
        with self._read() as connection:
            rows = connection.execute(
                select(PEOPLE).where(there).order_by(PEOPLE.c.role, PEOPLE.c.created, PEOPLE.c.name)
            )
            return [_person(row) for row in rows]

    def person(self, person: str) -> Person | None:
        """Somebody by id."""
        with self._read() as connection:
            row = connection.execute(select(PEOPLE).where(PEOPLE.c.id == person)).one_or_none()
        return None if row is None else _person(row)

    def remove_person(self, person: str, *, by: str | None = None) -> None:
        """Take somebody's ways in, and give what they have begun back to the pool.

        What they finished stays.
        """
        with self._write() as connection:
            row = connection.execute(select(PEOPLE).where(PEOPLE.c.id == person)).one()
            if row.campaign is not None:
                self._lock(connection, row.campaign)
            connection.execute(update(PEOPLE).where(PEOPLE.c.id == person).values(active=0))
            self._shut(connection, person)
            self._release(
                connection,
                and_(
                    TASKS_TABLE.c.person == person,
                    TASKS_TABLE.c.state == "claimed",
                    TASKS_TABLE.c.kind != Kind.TRAINING,
                ),
            )
            self._record(connection, "remove person", campaign=row.campaign, by=by, about=person)

    def _shut(self, connection: Connection, person: str) -> None:
        connection.execute(update(LINKS).where(LINKS.c.person == person).values(revoked=1))
        connection.execute(update(SESSIONS).where(SESSIONS.c.person == person).values(revoked=1))

    def make_link(
        self, person: str, *, days: float = 14, single: bool = False, by: str | None = None
    ) -> str:
        """A new secret that lets somebody in for some days; only its hash is kept."""
        secret = secrets.token_urlsafe(24)
        with self._write() as connection:
            row = connection.execute(select(PEOPLE).where(PEOPLE.c.id == person)).one()
            if not row.active:
                raise NotAllowed("This person was removed. Add them anew.")
            now = self._now()
            connection.execute(
                insert(LINKS).values(
                    hash=hash_secret(secret),
                    person=person,
                    created=now,
                    expires=now + days * 86400,
                    single=int(single),
                    revoked=0,
                )
            )
            self._record(
                connection, "make link", campaign=row.campaign, by=by, about=person, days=days
            )
        return secret

    def links(self, campaign: str) -> list[Link]:
        """The links of everybody in a campaign, the newest first."""
        with self._read() as connection:
            rows = connection.execute(
                select(LINKS)
                .join(PEOPLE, PEOPLE.c.id == LINKS.c.person)
                .where(PEOPLE.c.campaign == campaign)
                .order_by(LINKS.c.created.desc())
            )
            return [
                Link(
                    row.hash,
                    row.person,
                    row.created,
                    row.expires,
                    bool(row.single),
                    bool(row.revoked),
                    row.used,
                )
                for row in rows
            ]

    def revoke(self, person: str, *, by: str | None = None) -> None:
        """Make somebody's links and sessions useless."""
        with self._write() as connection:
            row = connection.execute(select(PEOPLE).where(PEOPLE.c.id == person)).one()
            self._shut(connection, person)
            self._record(connection, "revoke links", campaign=row.campaign, by=by, about=person)

    def who_may_enter(self, secret: str) -> Person | None:
        """Whose link this is, if it still lets them in."""
        with self._read() as connection:
            return self._entering(connection, secret)

    def _entering(self, connection: Connection, secret: str) -> Person | None:
        row = connection.execute(
            select(PEOPLE, LINKS.c.expires, LINKS.c.single, LINKS.c.revoked, LINKS.c.used)
            .join(LINKS, LINKS.c.person == PEOPLE.c.id)
            .where(LINKS.c.hash == hash_secret(secret))
        ).one_or_none()
        if row is None or row.revoked or not row.active or row.expires < self._now():
            return None
        if row.single and row.used is not None:
            return None
        return _person(row)

    def enter(self, secret: str, *, days: float = 14) -> str | None:
        """Exchange a link for a session; returns the session's secret."""
        session = secrets.token_urlsafe(24)
        with self._write() as connection:
            person = self._entering(connection, secret)
            if person is None:
                return None
            now = self._now()
            # Counted in one statement, so that a single link lets in one of two who click at once.
            used = connection.execute(
                update(LINKS)
                .where(LINKS.c.hash == hash_secret(secret), LINKS.c.revoked == 0)
                .where(or_(LINKS.c.single == 0, LINKS.c.used.is_(None)))
                .values(used=now)
            )
            if used.rowcount != 1:
                return None
            connection.execute(
                insert(SESSIONS).values(
                    hash=hash_secret(session),
                    person=person.id,
                    created=now,
                    expires=now + days * 86400,
                    revoked=0,
                )
            )
            self._record(connection, "enter", campaign=person.campaign, by=person.id)
        return session

    def who(self, session: str) -> Person | None:
        """Whose session this is, if it still holds."""
        with self._read() as connection:
            row = connection.execute(
                select(PEOPLE, SESSIONS.c.expires, SESSIONS.c.revoked)
                .join(SESSIONS, SESSIONS.c.person == PEOPLE.c.id)
                .where(SESSIONS.c.hash == hash_secret(session))
            ).one_or_none()
        if row is None or row.revoked or not row.active or row.expires < self._now():
            return None
        return _person(row)

    def leave(self, session: str) -> None:
        """End a session."""
        with self._write() as connection:
            connection.execute(
                update(SESSIONS).where(SESSIONS.c.hash == hash_secret(session)).values(revoked=1)
            )

    # Work

    def claim(self, person: Person) -> tuple[Task | None, str]:
        """The task somebody should work on: the one they have, else a new one.

        Returns:
            The task, or none and the reason in words for them.
        """
        kind = TASKS.get(person.role)
        if kind is None or person.campaign is None:
            return None, "Administrators have no tasks of their own."
        with self._write() as connection:
            row = self._lock(connection, person.campaign)
            settings = settings_from_json(json.loads(row.settings))
            self._release(
                connection,
                and_(
                    TASKS_TABLE.c.campaign == person.campaign,
                    TASKS_TABLE.c.state == "claimed",
                    TASKS_TABLE.c.kind != Kind.TRAINING,
                    # Whoever comes back in time to ask goes on with what they had.
                    TASKS_TABLE.c.person != person.id,
                    TASKS_TABLE.c.touched < self._now() - settings.lease_minutes * 60,
                ),
            )
            if row.state != State.OPEN:
                return None, f"The campaign is {row.state}: there is no work now."
            lesson = self._lesson(connection, person, settings)
            if lesson is not None:
                return self._task(connection, lesson), ""
            own = connection.execute(
                select(TASKS_TABLE)
                .where(TASKS_TABLE.c.person == person.id, TASKS_TABLE.c.state != "done")
                .where(TASKS_TABLE.c.kind != Kind.TRAINING)
                .order_by(TASKS_TABLE.c.state, TASKS_TABLE.c.kind.desc(), TASKS_TABLE.c.slot)
                .limit(1)
            ).one_or_none()
            if own is not None:
                if own.state == "open":
                    self._take(connection, person, own.id)
                return self._task(connection, own.id), ""
            repeat = self._repeat(connection, person, kind, settings)
            if repeat is not None:
                self._take(connection, person, repeat)
                return self._task(connection, repeat), ""
            chosen, open_tasks = self._choose(connection, person, kind)
            if chosen is None:
                reason = (
                    "Nothing that you may still do is open now. Thank you for your work so far; "
                    "look again later."
                    if open_tasks
                    else "All of this work is done or in somebody’s hands. Thank you!"
                )
                return None, reason
            if kind is Kind.MARK and not self._has_seen(connection, person, chosen.segment):
                connection.execute(
                    insert(EXPOSURES).values(
                        person=person.id,
                        segment=chosen.segment,
                        campaign=person.campaign,
                        version=chosen.target,
                        at=self._now(),
                    )
                )
            self._take(connection, person, chosen.task)
            return self._task(connection, chosen.task), ""

    def _lesson(self, connection: Connection, person: Person, settings: Settings) -> str | None:
        """The training task somebody should do before their first real one; none if none."""
        examples = self._round(connection, person, settings)
        trained, tries = self._tries(connection, person, examples, settings)
        if trained.over:
            return None
        for example in examples:
            own = [(row, answer) for row, answer in tries if row.example == example]
            if _is_over([answer for row, answer in own if row.state == "done"], settings):
                continue
            waiting = next((row for row, _ in own if row.state != "done"), None)
            if waiting is None:
                task = self._make(
                    person.campaign,
                    None,
                    Kind.TRAINING,
                    person.id,
                    self._next_try(connection, person),
                )
                task |= {"person": person.id, "example": example}
                connection.execute(insert(TASKS_TABLE), [task])
                self._take(connection, person, str(task["id"]))
                return str(task["id"])
            if waiting.state == "open":
                self._take(connection, person, waiting.id)
            return str(waiting.id)
        return None

    def _round(self, connection: Connection, person: Person, settings: Settings) -> tuple[str, ...]:
        """The examples somebody begins with: the campaign's own, else those of the package."""
        kind = TASKS.get(person.role)
        if settings.training is Training.OFF or kind not in training.TRAINED:
            return ()
        own = connection.execute(
            select(EXAMPLES.c.id)
            .where(EXAMPLES.c.campaign == person.campaign, EXAMPLES.c.kind == kind)
            .where(EXAMPLES.c.active == 1)
            .order_by(EXAMPLES.c.position)
        ).scalars()
        return tuple(own) or training.shipped_names(kind)

    def _next_try(self, connection: Connection, person: Person) -> int:
        """Tries are numbered: two of one number cannot be, whoever asks twice."""
        return int(
            connection.execute(
                select(func.count())
                .select_from(TASKS_TABLE)
                .where(TASKS_TABLE.c.person == person.id, TASKS_TABLE.c.kind == Kind.TRAINING)
            ).scalar_one()
        )

    def _tries(
        self,
        connection: Connection,
        person: Person,
        examples: Sequence[str],
        settings: Settings,
    ) -> tuple[Trained, list[tuple[Row[Any], Answer]]]:
        """How far somebody is with these examples, and their training tasks with answers."""
        rows = connection.execute(
            select(TASKS_TABLE)
            .where(TASKS_TABLE.c.person == person.id, TASKS_TABLE.c.kind == Kind.TRAINING)
            .order_by(TASKS_TABLE.c.slot)
        ).all()
        tries: list[tuple[Row[Any], Answer]] = []
        for row in rows:
            if row.example in examples:
                latest = self._latest(connection, row.id) if row.state == "done" else None
                tries.append((row, {} if latest is None else json.loads(latest.content)))
        done = [(row, answer) for row, answer in tries if row.state == "done"]
        firsts = {row.example: answer.get("agreement") for row, answer in reversed(done)}
        known = [one for one in firsts.values() if one is not None]
        passed = sum(
            _is_over([answer for row, answer in done if row.example == example], settings)
            for example in examples
        )
        begun = connection.execute(
            select(TASKS_TABLE.c.id)
            .where(TASKS_TABLE.c.person == person.id, TASKS_TABLE.c.kind != Kind.TRAINING)
            .limit(1)
        ).first()
        # Whoever has real work, or did some, is not sent back.
        over = passed == len(examples) or begun is not None
        mean = sum(known) / len(known) if known else None
        return Trained(len(examples), passed, len(done), mean, over), tries

    def trained(self, person: Person) -> Trained:
        """How far somebody is in the training round."""
        with self._read() as connection:
            row = connection.execute(
                select(CAMPAIGNS.c.settings).where(CAMPAIGNS.c.id == person.campaign)
            ).one()
            settings = settings_from_json(json.loads(row.settings))
            examples = self._round(connection, person, settings)
            return self._tries(connection, person, examples, settings)[0]

    def set_examples(
        self, campaign: str, examples: Sequence[Mapping[str, Any]], *, by: str | None = None
    ) -> None:
        """Train with these from now on; of a kind that has none here with the package's.

        Examples that were there stay for those who have worked on them, and are given out no more.
        """
        with self._write() as connection:
            row = self._lock(connection, campaign)
            if row.state == State.CLOSED:
                raise NotAllowed("The campaign is closed.")
            connection.execute(
                update(EXAMPLES).where(EXAMPLES.c.campaign == campaign).values(active=0)
            )
            self._add_examples(connection, campaign, examples)
            self._record(
                connection,
                "set training examples",
                campaign=campaign,
                by=by,
                examples=len(examples),
            )

    def _add_examples(
        self, connection: Connection, campaign: str, examples: Sequence[Mapping[str, Any]]
    ) -> None:
        rows = [
            {
                "id": self._id(),
                "campaign": campaign,
                "kind": str(training.kind_of(content)),
                "position": position,
                "active": 1,
                "content": json.dumps(content, ensure_ascii=False),
            }
            for position, content in enumerate(examples)
        ]
        if rows:
            connection.execute(insert(EXAMPLES), rows)

    def examples(self, campaign: str) -> dict[Kind, int]:
        """How many examples of its own a campaign trains with, by kind."""
        with self._read() as connection:
            rows = connection.execute(
                select(EXAMPLES.c.kind, func.count().label("count"))
                .where(EXAMPLES.c.campaign == campaign, EXAMPLES.c.active == 1)
                .group_by(EXAMPLES.c.kind)
            )
            return {Kind(row.kind): int(row._mapping["count"]) for row in rows}

    def example(self, task: Task) -> Mapping[str, Any]:
        """The example a training task is of, as plain values."""
        found = training.shipped_content(task.example or "")
        if found is not None:
            return found
        with self._read() as connection:
            content = connection.execute(
                select(EXAMPLES.c.content).where(
                    EXAMPLES.c.id == task.example, EXAMPLES.c.campaign == task.campaign
                )
            ).scalar_one()
        kept: Mapping[str, Any] = json.loads(content)
        return kept

    def _has_seen(self, connection: Connection, person: Person, segment: str) -> bool:
        found = connection.execute(
            select(EXPOSURES.c.version).where(
                EXPOSURES.c.person == person.id, EXPOSURES.c.segment == segment
            )
        ).first()
        return found is not None

    def _take(self, connection: Connection, person: Person, task: str) -> None:
        now = self._now()
        connection.execute(
            update(TASKS_TABLE)
            .where(TASKS_TABLE.c.id == task)
            .values(state="claimed", person=person.id, opened=now, touched=now)
        )
        self._record(connection, "claim", campaign=person.campaign, by=person.id, about=task)

    def _release(self, connection: Connection, which: Any) -> None:
        rows = connection.execute(
            select(TASKS_TABLE.c.id, TASKS_TABLE.c.campaign, TASKS_TABLE.c.person).where(which)
        ).all()
        for row in rows:
            # The next one begins anew; what was saved stays in the table of saves.
            released = connection.execute(
                update(TASKS_TABLE)
                .where(TASKS_TABLE.c.id == row.id, which)
                .values(state="open", person=None, opened=None, touched=None)
            )
            if released.rowcount != 1:
                # Its owner saved something just now.
                continue
            if self._latest(connection, row.id) is not None:
                self._append(connection, row.id, row.campaign, None, f"release {self._id()}", None)
            self._record(
                connection, "release", campaign=row.campaign, about=row.id, former=row.person
            )

    def _repeat(
        self, connection: Connection, person: Person, kind: Kind, settings: Settings
    ) -> str | None:
        """A task of somebody's own to do again, where one is due."""
        rows = connection.execute(
            select(TASKS_TABLE)
            .where(
                TASKS_TABLE.c.person == person.id,
                TASKS_TABLE.c.kind == kind,
                TASKS_TABLE.c.state == "done",
            )
            .order_by(TASKS_TABLE.c.finished)
        ).all()
        done = [row for row in rows if row.repeat_of is None]
        repeated = {row.repeat_of for row in rows if row.repeat_of is not None}
        if not wants_repeat(len(done), len(repeated), settings.repeat_every):
            return None
        # The oldest: longest forgotten.
        again = next((row for row in done if row.id not in repeated), None)
        if again is None:
            return None
        task = self._make(again.campaign, again.segment, kind, again.target, None)
        task |= {"repeat_of": again.id, "person": person.id}
        connection.execute(insert(TASKS_TABLE), [task])
        return str(task["id"])

    def _choose(
        self, connection: Connection, person: Person, kind: Kind
    ) -> tuple[Candidate | None, int]:
        table = TASKS_TABLE
        system = select(VERSIONS.c.id, VERSIONS.c.system).where(
            VERSIONS.c.campaign == person.campaign
        )
        systems = {row.id: row.system for row in connection.execute(system)}
        if kind is Kind.JUDGE:
            marked = select(table.c.id, table.c.target).where(
                table.c.campaign == person.campaign, table.c.kind == Kind.MARK
            )
            systems = {row.id: systems[row.target] for row in connection.execute(marked)}
        rows = connection.execute(
            select(table.c.id, table.c.segment, table.c.target, SEGMENTS.c.position)
            .join(SEGMENTS, SEGMENTS.c.id == table.c.segment)
            .where(table.c.campaign == person.campaign, table.c.kind == kind)
            .where(table.c.state == "open", table.c.repeat_of.is_(None))
        ).all()
        candidates = [
            Candidate(r.id, r.segment, r.target, systems.get(r.target, ""), r.position)
            for r in rows
        ]
        workers = self._workers(connection, person, kind, systems)
        total = connection.execute(
            select(func.count())
            .select_from(table)
            .where(table.c.campaign == person.campaign, table.c.kind == kind)
            .where(table.c.repeat_of.is_(None))
        ).scalar_one()
        me = workers.pop(person.id)
        if kind is not Kind.MARK:
            # Whoever has read any version of a segment judges nothing of it.
            read = set(
                connection.execute(
                    select(EXPOSURES.c.segment).where(EXPOSURES.c.person == person.id)
                ).scalars()
            )
            candidates = [one for one in candidates if one.segment not in read]
        chosen = choose(
            me, list(workers.values()), candidates, total, whole_segments=kind is Kind.MARK
        )
        return chosen, len(candidates)

    def _workers(
        self, connection: Connection, person: Person, kind: Kind, systems: Mapping[str, str]
    ) -> dict[str, Worker]:
        table = TASKS_TABLE
        people = connection.execute(
            select(PEOPLE.c.id).where(
                PEOPLE.c.campaign == person.campaign,
                PEOPLE.c.role == person.role,
                PEOPLE.c.active == 1,
            )
        ).scalars()
        counts: dict[str, Counter[str]] = {one: Counter() for one in people}
        targets: dict[str, set[str]] = defaultdict(set)
        segments: dict[str, dict[str, str]] = defaultdict(dict)
        for row in connection.execute(
            select(table.c.person, table.c.target)
            .where(table.c.campaign == person.campaign, table.c.kind == kind)
            .where(table.c.person.is_not(None), table.c.repeat_of.is_(None))
        ):
            targets[row.person].add(row.target)
            if row.person in counts:
                counts[row.person][systems.get(row.target, "")] += 1
        if kind is Kind.MARK:
            for row in connection.execute(
                select(EXPOSURES).where(EXPOSURES.c.campaign == person.campaign)
            ):
                segments[row.person][row.segment] = row.version
        return {one: Worker(one, counts[one], segments[one], targets[one]) for one in counts}

    def task(self, task: str) -> Task | None:
        """A task with its latest answer."""
        with self._read() as connection:
            return self._task(connection, task)

    def _task(self, connection: Connection, task: str) -> Task | None:
        row = connection.execute(select(TASKS_TABLE).where(TASKS_TABLE.c.id == task)).one_or_none()
        if row is None:
            return None
        latest = self._latest(connection, task)
        return self._as_task(connection, row, None if latest is None else latest.content)

    def _latest(self, connection: Connection, task: str) -> Row[Any] | None:
        return connection.execute(
            select(SAVES).where(SAVES.c.task == task).order_by(SAVES.c.revision.desc()).limit(1)
        ).one_or_none()

    def _as_task(self, connection: Connection, row: Row[Any], content: str | None) -> Task:
        answer = json.loads(content) if content is not None else None
        if answer is None:
            answer = self._initial(connection, row)
        return Task(
            row.id,
            row.campaign,
            row.segment,
            Kind(row.kind),
            row.target,
            row.state,
            row.person,
            row.repeat_of,
            bool(row.prefilled),
            row.revision,
            row.opened,
            row.touched,
            row.finished,
            answer,
            row.example,
        )

    def _initial(self, connection: Connection, row: Row[Any]) -> Answer:
        """What a task begins with."""
        if row.kind == Kind.MARK and row.prefilled:
            suggested = connection.execute(
                select(VERSIONS.c.suggested).where(VERSIONS.c.id == row.target)
            ).scalar_one()
            if suggested is not None:
                found: Answer = json.loads(suggested)
                return found
        if row.kind == Kind.TRAINING:
            return training.begin()
        if row.kind == Kind.MARK:
            return marks.empty()
        if row.kind == Kind.JUDGE:
            return judging.empty()
        if row.kind == Kind.RANK:
            versions = connection.execute(
                select(VERSIONS.c.id).where(
                    VERSIONS.c.segment == row.segment, VERSIONS.c.kind == VersionKind.SYSTEM
                )
            ).scalars()
            return judging.empty_order(list(versions), row.id)
        return {"rating": None}

    def save(
        self, task: str, person: Person, key: str, revision: int, change: Change | str
    ) -> Task:
        """Change the answer of one's own task by one step; durable when this returns.

        Args:
            task: The task.
            person: Who changes it.
            key: A name for this step, the same however often it is sent.
            revision: The revision the step is made on.
            change: Makes the new answer of the old one; or `UNDO`.

        Raises:
            Gone: The task is not theirs (any more).
            Conflict: Somebody, likely they in another tab, saved since.
            InputError: The step cannot be taken; in words for them.
        """
        with self._write() as connection:
            row = self._own(connection, task, person)
            if self._was_saved(connection, task, key):
                found = self._task(connection, task)
                assert found is not None
                return found
            if row.state != "claimed":
                raise Gone("This task is finished; it cannot be changed any more.")
            if row.revision != revision:
                raise Conflict(
                    "This task was changed in another window or tab. Its newest state is shown "
                    "now; your last step was not taken."
                )
            if change == UNDO:
                answer, undoes = self._undone(connection, row)
            else:
                assert callable(change)
                latest = self._latest(connection, task)
                current = None if latest is None else json.loads(latest.content)
                answer = change(self._initial(connection, row) if current is None else current)
                undoes = row.revision
            self._append(connection, task, row.campaign, person.id, key, answer, undoes)
            found = self._task(connection, task)
            assert found is not None
            return found

    def _own(self, connection: Connection, task: str, person: Person) -> Row[Any]:
        row = connection.execute(
            select(TASKS_TABLE).where(TASKS_TABLE.c.id == task).with_for_update()
        ).one_or_none()
        if row is None or row.person != person.id or row.campaign != person.campaign:
            raise Gone(
                "This task is not yours now: it went back to the pool because nothing was saved "
                "for a while, or it was somebody else’s. Ask for the next one."
            )
        state = connection.execute(
            select(CAMPAIGNS.c.state).where(CAMPAIGNS.c.id == row.campaign)
        ).scalar_one()
        if state != State.OPEN:
            raise NotAllowed(f"The campaign is {state}: nothing can be changed now.")
        return row

    def _was_saved(self, connection: Connection, task: str, key: str) -> bool:
        found = connection.execute(
            select(SAVES.c.revision).where(SAVES.c.task == task, SAVES.c.key == key)
        ).first()
        return found is not None

    def _undone(self, connection: Connection, row: Row[Any]) -> tuple[Answer | None, int]:
        """The answer before the latest step, and the revision a further undo goes back to.

        Each save says on which revision it was made; to undo is to go back along these.
        """
        latest = self._latest(connection, row.id)
        if latest is None:
            raise InputError("There is nothing to undo.")
        if latest.undoes == 0:
            before = None
        else:
            before = connection.execute(
                select(SAVES).where(SAVES.c.task == row.id, SAVES.c.revision == latest.undoes)
            ).one()
        if before is None:
            if json.loads(latest.content) in (None, self._initial(connection, row)):
                raise InputError("There is nothing to undo.")
            return self._initial(connection, row), 0
        return json.loads(before.content), before.undoes

    def _append(
        self,
        connection: Connection,
        task: str,
        campaign: str,
        person: str | None,
        key: str,
        answer: Answer | None,
        undoes: int = 0,
    ) -> None:
        revision = (
            connection.execute(
                select(TASKS_TABLE.c.revision).where(TASKS_TABLE.c.id == task)
            ).scalar_one()
            + 1
        )
        now = self._now()
        connection.execute(
            insert(SAVES).values(
                task=task,
                revision=revision,
                campaign=campaign,
                key=key,
                person=person,
                undoes=undoes,
                content=json.dumps(answer, ensure_ascii=False),
                at=now,
            )
        )
        connection.execute(
            update(TASKS_TABLE)
            .where(TASKS_TABLE.c.id == task)
            .values(revision=revision, touched=now)
        )

    def finish(
        self,
        task: str,
        person: Person,
        key: str,
        revision: int,
        complete: Callable[[Task], str | None],
        change: Change | None = None,
    ) -> Task:
        """Finish one's own task, and make the tasks that follow from it.

        Args:
            task: The task.
            person: Who finishes it.
            key: A name for this step, the same however often it is sent.
            revision: The revision it is made on.
            complete: Says what is missing, or none.
            change: A last step that is taken first (a rating's number, say).
        """
        with self._write() as connection:
            campaign = connection.execute(
                select(TASKS_TABLE.c.campaign).where(TASKS_TABLE.c.id == task)
            ).scalar_one_or_none()
            if campaign is not None:
                self._lock(connection, campaign)
            row = self._own(connection, task, person)
            found = self._task(connection, task)
            assert found is not None
            if row.state == "done":
                # A double click: it is finished, as was asked.
                return found
            if row.state != "claimed":
                raise Gone("This task is not open. Ask for the next one.")
            if row.revision != revision:
                raise Conflict(
                    "This task was changed in another window or tab. Look at its newest state, "
                    "then finish it."
                )
            answer = change(found.answer) if change is not None else found.answer
            reason = complete(replace(found, answer=answer))
            if reason is not None:
                raise InputError(reason)
            # Whatever an answer began with, the finished one stands among the saves.
            self._append(connection, task, row.campaign, person.id, key, answer, row.revision)
            connection.execute(
                update(TASKS_TABLE)
                .where(TASKS_TABLE.c.id == task)
                .values(state="done", finished=self._now())
            )
            if row.kind == Kind.MARK and row.repeat_of is None:
                self._make_judging(connection, row.campaign, row.segment)
            self._record(connection, "finish", campaign=row.campaign, by=person.id, about=task)
            done = self._task(connection, task)
            assert done is not None
            return done

    def _make_judging(self, connection: Connection, campaign: str, segment: str) -> None:
        """Judges' tasks for every finished reading of a segment whose key is finished."""
        settings = settings_from_json(
            json.loads(
                connection.execute(
                    select(CAMPAIGNS.c.settings).where(CAMPAIGNS.c.id == campaign)
                ).scalar_one()
            )
        )
        done = connection.execute(
            select(TASKS_TABLE.c.id, VERSIONS.c.kind)
            .join(VERSIONS, VERSIONS.c.id == TASKS_TABLE.c.target)
            .where(TASKS_TABLE.c.segment == segment, TASKS_TABLE.c.kind == Kind.MARK)
            .where(TASKS_TABLE.c.state == "done", TASKS_TABLE.c.repeat_of.is_(None))
        ).all()
        if not any(row.kind == VersionKind.KEY for row in done):
            return
        there = set(
            connection.execute(
                select(TASKS_TABLE.c.target)
                .where(TASKS_TABLE.c.segment == segment, TASKS_TABLE.c.kind == Kind.JUDGE)
                .distinct()
            ).scalars()
        )
        tasks = [
            self._make(campaign, segment, Kind.JUDGE, row.id, slot)
            for row in done
            if row.kind != VersionKind.KEY and row.id not in there
            for slot in range(settings.judges)
        ]
        if tasks:
            connection.execute(insert(TASKS_TABLE), tasks)

    # What a task is about

    def version(self, version: str) -> Version | None:
        """A text to be read."""
        with self._read() as connection:
            row = connection.execute(
                select(VERSIONS, SEGMENTS.c.lang)
                .join(SEGMENTS, SEGMENTS.c.id == VERSIONS.c.segment)
                .where(VERSIONS.c.id == version)
            ).one_or_none()
        return None if row is None else _version(row)

    def versions(self, segment: str) -> list[Version]:
        """All texts of a segment."""
        with self._read() as connection:
            rows = connection.execute(
                select(VERSIONS, SEGMENTS.c.lang)
                .join(SEGMENTS, SEGMENTS.c.id == VERSIONS.c.segment)
                .where(VERSIONS.c.segment == segment)
                .order_by(VERSIONS.c.kind, VERSIONS.c.system)
            )
            return [_version(row) for row in rows]

    def segment(self, segment: str) -> SegmentText:
        """A segment's source and reference."""
        with self._read() as connection:
            row = connection.execute(select(SEGMENTS).where(SEGMENTS.c.id == segment)).one()
        return _segment(row)

    def key_answer(self, segment: str) -> Answer:
        """The finished marking of a segment's key."""
        with self._read() as connection:
            task = connection.execute(
                select(TASKS_TABLE.c.id)
                .join(VERSIONS, VERSIONS.c.id == TASKS_TABLE.c.target)
                .where(
                    VERSIONS.c.segment == segment,
                    VERSIONS.c.kind == VersionKind.KEY,
                    TASKS_TABLE.c.kind == Kind.MARK,
                    TASKS_TABLE.c.repeat_of.is_(None),
                )
            ).scalar_one()
            found = self._task(connection, task)
        assert found is not None
        return found.answer

    def done_by(self, person: str) -> int:
        """How many tasks somebody has finished, training left out."""
        with self._read() as connection:
            return int(
                connection.execute(
                    select(func.count())
                    .select_from(TASKS_TABLE)
                    .where(TASKS_TABLE.c.person == person, TASKS_TABLE.c.state == "done")
                    .where(TASKS_TABLE.c.kind != Kind.TRAINING)
                ).scalar_one()
            )

    # What an administrator sees

    def progress(self, campaign: str) -> dict[Kind, Progress]:
        """How far each kind of work is; judging counts the readings there are."""
        with self._read() as connection:
            rows = connection.execute(
                select(TASKS_TABLE.c.kind, TASKS_TABLE.c.state, func.count().label("count"))
                .where(TASKS_TABLE.c.campaign == campaign, TASKS_TABLE.c.repeat_of.is_(None))
                .group_by(TASKS_TABLE.c.kind, TASKS_TABLE.c.state)
            ).all()
        found: dict[Kind, dict[str, int]] = defaultdict(dict)
        for row in rows:
            found[Kind(row.kind)][row.state] = row._mapping["count"]
        return {kind: Progress(**states) for kind, states in found.items()}

    def find_stuck(self, campaign: str) -> list[str]:
        """Open work that too few of the people there are may still do, in words, by segment.

        People who left after reading a version have used up what they may read of its segment.
        """
        table = TASKS_TABLE
        with self._read() as connection:
            names = {
                row.id: row.name
                for row in connection.execute(
                    select(SEGMENTS.c.id, SEGMENTS.c.name)
                    .where(SEGMENTS.c.campaign == campaign)
                    .order_by(SEGMENTS.c.position)
                )
            }
            roles = {
                row.id: row.role
                for row in connection.execute(
                    select(PEOPLE.c.id, PEOPLE.c.role).where(
                        PEOPLE.c.campaign == campaign, PEOPLE.c.active == 1
                    )
                )
            }
            waiting: dict[str, dict[tuple[str, str], list[str]]] = {"mark": {}, "judge": {}}
            taken: dict[str, set[str]] = defaultdict(set)
            for row in connection.execute(
                select(table.c.kind, table.c.segment, table.c.target, table.c.state, table.c.person)
                .where(table.c.campaign == campaign, table.c.repeat_of.is_(None))
                .where(table.c.kind.in_(["mark", "judge"]))
            ):
                place = row.segment if row.kind == Kind.MARK else row.target
                if row.state == "open":
                    waiting[row.kind].setdefault((row.segment, place), []).append(row.target)
                if row.person is not None:
                    taken[row.target].add(row.person)
            seen = connection.execute(
                select(EXPOSURES).where(EXPOSURES.c.campaign == campaign)
            ).all()
        read: dict[str, dict[str, str]] = defaultdict(dict)
        for one in seen:
            read[one.segment][one.person] = one.version
        found = []
        for kind, role in (("mark", Role.ANNOTATOR), ("judge", Role.JUDGE)):
            there = [person for person, own in roles.items() if own == role]
            for (segment, place), targets in waiting[kind].items():
                if kind == "mark":
                    able = [
                        person
                        for person in there
                        if person not in read[segment]
                        or (
                            read[segment][person] in targets
                            and person not in taken[read[segment][person]]
                        )
                    ]
                else:
                    able = [person for person in there if person not in taken[place]]
                if len(able) < len(targets):
                    found.append(
                        f"segment {names[segment]}: {len(targets)} to {kind}, and {len(able)} "
                        f"{role}s who still may; invite {len(targets) - len(able)} more"
                    )
        return list(dict.fromkeys(found))

    def progress_by_person(self, campaign: str) -> dict[str, tuple[int, int, float | None]]:
        """For everybody: tasks done, tasks in hand, and when they last did anything."""
        with self._read() as connection:
            rows = connection.execute(
                select(
                    TASKS_TABLE.c.person,
                    TASKS_TABLE.c.state,
                    func.count().label("count"),
                    func.max(TASKS_TABLE.c.touched).label("last"),
                )
                .where(TASKS_TABLE.c.campaign == campaign, TASKS_TABLE.c.person.is_not(None))
                .where(TASKS_TABLE.c.kind != Kind.TRAINING)
                .group_by(TASKS_TABLE.c.person, TASKS_TABLE.c.state)
            ).all()
        found: dict[str, tuple[int, int, float | None]] = {}
        for row in rows:
            done, hand, last = found.get(row.person, (0, 0, None))
            count = int(row._mapping["count"])
            done, hand = (done + count, hand) if row.state == "done" else (done, hand + count)
            times = [at for at in (last, row.last) if at is not None]
            found[row.person] = (done, hand, max(times, default=None))
        return found

    def log(self, campaign: str, *, most: int = 500) -> list[Entry]:
        """The latest entries of a campaign's log, the newest first."""
        with self._read() as connection:
            rows = connection.execute(
                select(LOG)
                .where(LOG.c.campaign == campaign)
                .order_by(LOG.c.at.desc(), LOG.c.id)
                .limit(most)
            )
            return [
                Entry(row.at, row.person, row.action, row.about, json.loads(row.detail))
                for row in rows
            ]

    def everything(self, campaign: str) -> Everything:
        """What results are made from, as it is at one moment."""
        with self._read() as connection:
            row = connection.execute(
                select(CAMPAIGNS).where(CAMPAIGNS.c.id == campaign)
            ).one_or_none()
            if row is None:
                raise UsageError(f"no campaign {campaign!r}; 'meantime annotate list' lists them")
            segments = connection.execute(
                select(SEGMENTS)
                .where(SEGMENTS.c.campaign == campaign)
                .order_by(SEGMENTS.c.position)
            ).all()
            versions = connection.execute(
                select(VERSIONS, SEGMENTS.c.lang)
                .join(SEGMENTS, SEGMENTS.c.id == VERSIONS.c.segment)
                .where(VERSIONS.c.campaign == campaign)
            ).all()
            people = connection.execute(select(PEOPLE).where(PEOPLE.c.campaign == campaign)).all()
            # Sorted here: databases put texts in orders of their own.
            people = sorted(people, key=lambda one: (one.created, one.id))
            tasks = connection.execute(
                select(TASKS_TABLE)
                .where(TASKS_TABLE.c.campaign == campaign)
                .order_by(TASKS_TABLE.c.finished, TASKS_TABLE.c.id)
            ).all()
            latest: dict[str, str] = {}
            saved: dict[str, list[float]] = defaultdict(list)
            owners = {task.id: task.person for task in tasks}
            for save in connection.execute(
                select(SAVES)
                .where(SAVES.c.campaign == campaign)
                .order_by(SAVES.c.task, SAVES.c.revision)
            ):
                latest[save.task] = save.content
                if save.person == owners[save.task]:
                    saved[save.task].append(save.at)
            return Everything(
                _campaign(row),
                tuple(_segment(one) for one in segments),
                {one.id: _version(one) for one in versions},
                {one.id: _person(one) for one in people},
                tuple(
                    self._as_task(connection, one, latest.get(one.id))
                    for one in tasks
                    if one.state == "done"
                ),
                {task: tuple(times) for task, times in saved.items()},
            )

    # Keeping and moving

    def dump(self, campaign: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """All rows by table, or those of one campaign, without ways in; in a fixed order."""
        with self._read() as connection:
            for table in OF_A_CAMPAIGN if campaign is not None else ALL:
                query: Select[Any] = select(table)
                if campaign is not None:
                    column = table.c.id if table is CAMPAIGNS else table.c.campaign
                    query = query.where(column == campaign)
                query = query.order_by(*table.primary_key.columns)
                rows = [dict(row._mapping) for row in connection.execute(query)]
                if table is TASKS_TABLE:
                    # What is repeated stands before its repeats.
                    rows.sort(key=lambda row: row["repeat_of"] is not None)
                for row in rows:
                    yield table.name, row

    def load(self, rows: Iterable[tuple[str, Mapping[str, Any]]], *, by: str | None = None) -> str:
        """Put an exported campaign in, with the ids it has; returns its id.

        Raises:
            InputError: It is here already.
        """
        waiting: dict[str, list[Mapping[str, Any]]] = {table.name: [] for table in OF_A_CAMPAIGN}
        for name, row in rows:
            waiting[name].append(row)
        [campaign] = waiting["campaigns"]
        with self._write() as connection:
            there = connection.execute(
                select(CAMPAIGNS.c.id).where(CAMPAIGNS.c.id == campaign["id"])
            ).first()
            if there is not None:
                raise InputError(
                    f"campaign {campaign['id']} is in this database already; import it into another"
                )
            for table in OF_A_CAMPAIGN:
                found = waiting[table.name]
                for start in range(0, len(found), 1000):
                    try:
                        connection.execute(
                            insert(table), [dict(row) for row in found[start : start + 1000]]
                        )
                    except IntegrityError as error:
                        raise InputError(
                            f"rows of {table.name} contradict each other or what is here already "
                            f"({str(error.orig).splitlines()[0]}); export the campaign again"
                        ) from error
        return str(campaign["id"])


def _is_over(answers: Sequence[Answer], settings: Settings) -> bool:
    """Whether somebody is done with an example, by their finished answers to it."""
    if settings.training is Training.REQUIRED:
        return any(answer.get("agreement", 0) >= settings.training_pass for answer in answers)
    return bool(answers)


def is_plain(name: str) -> bool:
    """Whether a name has no control characters, and none that turn the text around them."""
    turning = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    return not any(unicodedata.category(one) in ("Cc", "Cs") or one in turning for one in name)


def check_new(new: NewCampaign) -> None:
    """Refuse a campaign that could not be worked on, before anything is written."""
    if not new.name.strip() or len(new.name) > 200 or not is_plain(new.name):
        raise InputError("Give the campaign a name of 1 to 200 characters.")
    if not new.segments:
        raise InputError("The files hold no segment; there is nothing to read.")
    systems = set(new.segments[0].outputs)
    if not systems:
        raise InputError("The files hold no system output; give at least one.")
    if CONTROL in systems or "" in systems:
        raise InputError(
            f"A system cannot be called “{CONTROL}” or nothing: the control is; rename its file."
        )
    for segment in new.segments:
        texts = [segment.reference, *segment.outputs.values()]
        texts += [] if segment.source is None else [segment.source]
        if any("\0" in sentence.text for sentence in texts):
            raise InputError(f"Segment {segment.name} holds the character U+0000; remove it.")
        if set(segment.outputs) != systems:
            raise InputError(f"Segment {segment.name} lacks the output of a system.")
        if not segment.reference.tokens:
            raise InputError(
                f"The reference of segment {segment.name} is empty; leave the segment out."
            )
        if new.settings.key == "analyser" and segment.key is None:
            raise InputError(f"The reference of segment {segment.name} was not analysed.")
        if new.settings.key == "file" and segment.key is None:
            raise InputError(
                f"The file of frames has none for the reference of segment {segment.name}; add a "
                'line for it ("frames": [] if there are none).'
            )
    names = [segment.name for segment in new.segments]
    if len(set(names)) != len(names):
        raise InputError("Two segments have the same name; give each its own.")


def _campaign(row: Row[Any]) -> Campaign:
    return Campaign(
        row.id,
        row.name,
        State(row.state),
        settings_from_json(json.loads(row.settings)),
        row.created,
    )


def _person(row: Row[Any]) -> Person:
    return Person(row.id, row.campaign, row.name, Role(row.role), bool(row.active))


def _segment(row: Row[Any]) -> SegmentText:
    source = None if row.source is None else Sentence(row.source, row.source_lang or "und")
    return SegmentText(row.id, row.name, row.position, source, Sentence(row.reference, row.lang))


def _version(row: Row[Any]) -> Version:
    suggested = None if row.suggested is None else marks.as_frames(json.loads(row.suggested))
    return Version(
        row.id,
        row.segment,
        VersionKind(row.kind),
        row.system,
        Sentence(
            row.text,
            row.lang,
            tokens=tuple(json.loads(row.tokens)),
            offsets=tuple((start, end) for start, end in json.loads(row.offsets)),
        ),
        suggested,
    )
