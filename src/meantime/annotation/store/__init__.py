"""Where a campaign is kept: SQLite in a folder, or PostgreSQL. The only room that speaks SQL."""

from meantime.annotation.store.opening import backup, open_store, restore, upgrade
from meantime.annotation.store.store import (
    Campaign,
    Conflict,
    Gone,
    NewCampaign,
    NewSegment,
    NotAllowed,
    Store,
    Task,
    Version,
)

__all__ = [
    "Campaign",
    "Conflict",
    "Gone",
    "NewCampaign",
    "NewSegment",
    "NotAllowed",
    "Store",
    "Task",
    "Version",
    "backup",
    "open_store",
    "restore",
    "upgrade",
]
