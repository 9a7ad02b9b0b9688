"""Checkpoints to store, and a look at the rows that are really in the tables."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointMetadata
from sqlalchemy import select

from interlock.storage.database import Database
from interlock.storage.schema import checkpoint_blobs, checkpoint_writes, checkpoints

METADATA: CheckpointMetadata = {"source": "loop", "step": 1, "parents": {}}

LONG = "a text that is too long to be repeated in the body of every checkpoint " * 3


def at(thread_id: str, checkpoint_id: str | None = None, ns: str = "") -> RunnableConfig:
    named = {"thread_id": thread_id, "checkpoint_ns": ns}
    return {"configurable": named if checkpoint_id is None else {**named, "checkpoint_id": checkpoint_id}}


def draft(checkpoint_id: str, values: Mapping[str, Any] | None = None, version: str = "1") -> Checkpoint:
    held = dict(values or {})
    return {
        "v": 4,
        "id": checkpoint_id,
        "ts": "2026-11-15T09:00:00+00:00",
        "channel_values": held,
        "channel_versions": dict.fromkeys(held, version),
        "versions_seen": {},
        "updated_channels": None,
    }


async def rows(database: Database) -> list[tuple[Any, ...]]:
    """Every row of every table of the saver."""
    found: list[tuple[Any, ...]] = []
    async with database.read() as connection:
        for table in (checkpoints, checkpoint_blobs, checkpoint_writes):
            found += sorted(tuple(row) for row in await connection.execute(select(*table.primary_key, table.c.body)))
    return found
