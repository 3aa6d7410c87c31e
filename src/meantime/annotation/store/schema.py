"""The tables as they are now. How they came to be so is in `migrations`."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, MetaData, Table, Text

METADATA = MetaData()


def _text(name: str, *, key: bool = False, optional: bool = False) -> Column[str]:
    return Column(name, Text, primary_key=key, nullable=optional and not key)


def _time(name: str, *, optional: bool = False) -> Column[float]:
    """Seconds since 1970, UTC."""
    return Column(name, Float(53), nullable=optional)


def _number(name: str, *, key: bool = False, optional: bool = False) -> Column[int]:
    return Column(name, Integer, primary_key=key, nullable=optional and not key)


CAMPAIGNS = Table(
    "campaigns",
    METADATA,
    _text("id", key=True),
    _text("name"),
    _text("state"),
    _text("settings"),
    _time("created"),
)
SEGMENTS = Table(
    "segments",
    METADATA,
    _text("id", key=True),
    _text("campaign"),
    _number("position"),
    _text("name"),
    _text("source", optional=True),
    _text("source_lang", optional=True),
    _text("reference"),
    _text("lang"),
)
VERSIONS = Table(
    "versions",
    METADATA,
    _text("id", key=True),
    _text("campaign"),
    _text("segment"),
    _text("kind"),
    _text("system"),
    _text("text"),
    _text("tokens"),
    _text("offsets"),
    _text("suggested", optional=True),
)
PEOPLE = Table(
    "people",
    METADATA,
    _text("id", key=True),
    _text("campaign", optional=True),
    _text("name"),
    _text("role"),
    _number("active"),
    _time("created"),
)
TASKS = Table(
    "tasks",
    METADATA,
    _text("id", key=True),
    _text("campaign"),
    _text("segment", optional=True),
    _text("kind"),
    _text("target"),
    _number("slot", optional=True),
    _text("state"),
    _text("person", optional=True),
    _text("repeat_of", optional=True),
    _number("prefilled"),
    _number("revision"),
    _time("opened", optional=True),
    _time("touched", optional=True),
    _time("finished", optional=True),
    _text("example", optional=True),
)
EXAMPLES = Table(
    "examples",
    METADATA,
    _text("id", key=True),
    _text("campaign"),
    _text("kind"),
    _number("position"),
    _number("active"),
    _text("content"),
)
EXPOSURES = Table(
    "exposures",
    METADATA,
    _text("person", key=True),
    _text("segment", key=True),
    _text("campaign"),
    _text("version"),
    _time("at"),
)
SAVES = Table(
    "saves",
    METADATA,
    _text("task", key=True),
    _number("revision", key=True),
    _text("campaign"),
    _text("key"),
    _text("person", optional=True),
    _number("undoes"),
    _text("content"),
    _time("at"),
)
LINKS = Table(
    "links",
    METADATA,
    _text("hash", key=True),
    _text("person"),
    _time("created"),
    _time("expires"),
    _number("single"),
    _number("revoked"),
    _time("used", optional=True),
)
SESSIONS = Table(
    "sessions",
    METADATA,
    _text("hash", key=True),
    _text("person"),
    _time("created"),
    _time("expires"),
    _number("revoked"),
)
LOG = Table(
    "log",
    METADATA,
    _text("id", key=True),
    _time("at"),
    _text("campaign", optional=True),
    _text("person", optional=True),
    _text("action"),
    _text("about", optional=True),
    _text("detail"),
)

OF_A_CAMPAIGN = (CAMPAIGNS, SEGMENTS, VERSIONS, PEOPLE, EXAMPLES, TASKS, EXPOSURES, SAVES, LOG)
"""What an export holds: everything but the ways in. Referred to before referring."""
ALL = (
    CAMPAIGNS,
    SEGMENTS,
    VERSIONS,
    PEOPLE,
    EXAMPLES,
    TASKS,
    EXPOSURES,
    SAVES,
    LINKS,
    SESSIONS,
    LOG,
)
