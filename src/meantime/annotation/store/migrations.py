"""From an empty database, or that of any earlier version, to the tables of today.

A step is never changed once it was released: a change is a new step. Each runs in one
transaction with the number of its version, so that a database stands at one version or the next.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Engine, text

from meantime.errors import InputError

_FIRST = (
    """CREATE TABLE campaigns (
      id TEXT PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, settings TEXT NOT NULL,
      created DOUBLE PRECISION NOT NULL)""",
    """CREATE TABLE segments (
      id TEXT PRIMARY KEY, campaign TEXT NOT NULL REFERENCES campaigns (id),
      position INTEGER NOT NULL, name TEXT NOT NULL, source TEXT, source_lang TEXT,
      reference TEXT NOT NULL, lang TEXT NOT NULL,
      UNIQUE (campaign, position), UNIQUE (campaign, name))""",
    """CREATE TABLE versions (
      id TEXT PRIMARY KEY, campaign TEXT NOT NULL REFERENCES campaigns (id),
      segment TEXT NOT NULL REFERENCES segments (id), kind TEXT NOT NULL, system TEXT NOT NULL,
      text TEXT NOT NULL, tokens TEXT NOT NULL, offsets TEXT NOT NULL,
      UNIQUE (segment, kind, system))""",
    """CREATE TABLE people (
      id TEXT PRIMARY KEY, campaign TEXT REFERENCES campaigns (id), name TEXT NOT NULL,
      role TEXT NOT NULL, active INTEGER NOT NULL, created DOUBLE PRECISION NOT NULL)""",
    "CREATE UNIQUE INDEX people_names ON people (campaign, name)",
    # A task is what one person does with one thing (its target): a version to mark or rate, a
    # reading to judge, a segment to order. Slots make several of one target; repeats have none.
    """CREATE TABLE tasks (
      id TEXT PRIMARY KEY, campaign TEXT NOT NULL REFERENCES campaigns (id),
      segment TEXT REFERENCES segments (id), kind TEXT NOT NULL, target TEXT NOT NULL,
      slot INTEGER, state TEXT NOT NULL, person TEXT REFERENCES people (id),
      repeat_of TEXT REFERENCES tasks (id), revision INTEGER NOT NULL,
      opened DOUBLE PRECISION, touched DOUBLE PRECISION, finished DOUBLE PRECISION,
      UNIQUE (kind, target, slot), UNIQUE (repeat_of))""",
    "CREATE INDEX tasks_open ON tasks (campaign, kind, state)",
    "CREATE INDEX tasks_person ON tasks (person, state)",
    "CREATE INDEX tasks_segment ON tasks (segment, kind)",
    # Nobody sees two versions of one segment: the key of this table is the rule.
    """CREATE TABLE exposures (
      person TEXT NOT NULL REFERENCES people (id), segment TEXT NOT NULL REFERENCES segments (id),
      campaign TEXT NOT NULL, version TEXT NOT NULL, at DOUBLE PRECISION NOT NULL,
      PRIMARY KEY (person, segment))""",
    """CREATE TABLE saves (
      task TEXT NOT NULL REFERENCES tasks (id), revision INTEGER NOT NULL, campaign TEXT NOT NULL,
      key TEXT NOT NULL, person TEXT REFERENCES people (id), undoes INTEGER NOT NULL,
      content TEXT NOT NULL, at DOUBLE PRECISION NOT NULL,
      PRIMARY KEY (task, revision), UNIQUE (task, key))""",
    """CREATE TABLE links (
      hash TEXT PRIMARY KEY, person TEXT NOT NULL REFERENCES people (id),
      created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION NOT NULL,
      single INTEGER NOT NULL, revoked INTEGER NOT NULL, used DOUBLE PRECISION)""",
    """CREATE TABLE sessions (
      hash TEXT PRIMARY KEY, person TEXT NOT NULL REFERENCES people (id),
      created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION NOT NULL,
      revoked INTEGER NOT NULL)""",
    """CREATE TABLE log (
      id TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL, campaign TEXT, person TEXT,
      action TEXT NOT NULL, about TEXT, detail TEXT NOT NULL)""",
    "CREATE INDEX log_campaign ON log (campaign, at)",
)

# Frames an analyser suggests, and tasks that began with them.
_SUGGESTED = (
    "ALTER TABLE versions ADD COLUMN suggested TEXT",
    "ALTER TABLE tasks ADD COLUMN prefilled INTEGER NOT NULL DEFAULT 0",
)

# What was saved and what was logged cannot be changed afterwards, whoever asks.
_KEPT_SQLITE = tuple(
    f"""CREATE TRIGGER {table}_{event.lower()} BEFORE {event} ON {table}
      BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"""
    for table in ("saves", "log")
    for event in ("UPDATE", "DELETE")
)
_KEPT_POSTGRESQL = (
    """CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$""",
    *(
        f"""CREATE TRIGGER {table}_kept BEFORE UPDATE OR DELETE ON {table}
          FOR EACH ROW EXECUTE FUNCTION refuse_change()"""
        for table in ("saves", "log")
    ),
)

# Examples of a campaign's own for the training round, which may have to be passed. A training
# task says which example it is of; there were two, by their number.
_EXAMPLES = (
    """CREATE TABLE examples (
      id TEXT PRIMARY KEY, campaign TEXT NOT NULL REFERENCES campaigns (id), kind TEXT NOT NULL,
      position INTEGER NOT NULL, active INTEGER NOT NULL, content TEXT NOT NULL)""",
    "CREATE INDEX examples_campaign ON examples (campaign, active)",
    "ALTER TABLE tasks ADD COLUMN example TEXT",
    """UPDATE tasks SET example = CASE slot WHEN 0 THEN 'baker' ELSE 'pilot' END
      WHERE kind = 'training'""",
    # Within a text in it these words would have their quotation marks escaped.
    """UPDATE campaigns SET settings = REPLACE(REPLACE(settings,
      '"training": true', '"training": "shown"'), '"training": false', '"training": "off"')""",
)

STEPS: Sequence[dict[str, Sequence[str]]] = (
    {"sqlite": _FIRST, "postgresql": _FIRST},
    {"sqlite": _SUGGESTED, "postgresql": _SUGGESTED},
    {"sqlite": _KEPT_SQLITE, "postgresql": _KEPT_POSTGRESQL},
    {"sqlite": _EXAMPLES, "postgresql": _EXAMPLES},
)
"""The statements that lead to version 1, 2, 3, … by kind of database."""

LATEST = len(STEPS)


def version_of(connection: Connection) -> int:
    """The version a database stands at; 0 where it is empty.

    Raises:
        InputError: It holds tables that are not ours.
    """
    if connection.dialect.has_table(connection, "meantime_schema"):
        found = connection.execute(text("SELECT version FROM meantime_schema")).scalar_one()
        return int(found)
    if connection.dialect.has_table(connection, "campaigns"):
        raise InputError(
            "the database has a table 'campaigns' and no version of ours; it belongs to another "
            "program: give an empty database"
        )
    return 0


def migrate(engine: Engine, until: int = LATEST) -> tuple[int, int]:
    """Bring a database to a version; returns the one it had and the one it has.

    Raises:
        InputError: It was made by a later version of this program.
    """
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            # Two servers may start at once: one waits here until the other is done.
            connection.execute(text("SELECT pg_advisory_xact_lock(7353462)"))
        before = version_of(connection)
        if before > LATEST:
            raise InputError(
                f"the database is of version {before}, this program knows {LATEST} at most; use "
                "the version of meantime that made it, or a later one"
            )
        if before == 0 and until > 0:
            connection.execute(text("CREATE TABLE meantime_schema (version INTEGER NOT NULL)"))
            connection.execute(text("INSERT INTO meantime_schema VALUES (0)"))
        for step in STEPS[before:until]:
            for statement in step[engine.dialect.name]:
                connection.execute(text(statement))
        after = max(before, until)
        if after != before:
            connection.execute(text("UPDATE meantime_schema SET version = :v"), {"v": after})
    return before, after
