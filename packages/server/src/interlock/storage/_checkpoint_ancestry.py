"""What a checkpoint owes to the ones before it.

A LangGraph `DeltaChannel` stores its whole value only now and then. In between its value is that of the nearest
ancestor that has one, its seed, and every write since. Ancestors are found by parent, never by order: a fork's
siblings are not among them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.base import DeltaChannelHistory, PendingWrite
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Integer, bindparam, literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.storage._checkpoint_rows import AnyRow, BlobKey, Body, contents, known_keys, pending_writes, unpack
from interlock.storage.schema import checkpoints

STRIDE = 100
"""Generations in one statement. It also ends the recursion if a chain ever closes on itself."""

_chain = (
    select(
        checkpoints.c.id,
        checkpoints.c.parent_id,
        checkpoints.c.type,
        checkpoints.c.body,
        literal_column("1", Integer).label("depth"),
    )
    .where(
        checkpoints.c.thread_id == bindparam("thread_id"),
        checkpoints.c.ns == bindparam("ns"),
        checkpoints.c.id == bindparam("id"),
    )
    .cte("chain", recursive=True)
)
_parent = checkpoints.alias("parent")
# The outer join makes SQLite look each parent up by key; with an inner one it may scan the thread for every step.
_chain = _chain.union_all(
    select(_parent.c.id, _parent.c.parent_id, _parent.c.type, _parent.c.body, _chain.c.depth + 1)
    .select_from(
        _chain.outerjoin(
            _parent,
            (_parent.c.thread_id == bindparam("thread_id"))
            & (_parent.c.ns == bindparam("ns"))
            & (_parent.c.id == _chain.c.parent_id),
        )
    )
    .where(_chain.c.parent_id.is_not(None), _chain.c.depth < STRIDE)
)
_lineage = select(_chain).where(_chain.c.id.is_not(None)).order_by(_chain.c.depth)


@dataclass(slots=True)
class Trail:
    """One channel's way back: the ancestors nearest first, and where its value was last stored."""

    ids: list[str] = field(default_factory=list[str])
    seed: BlobKey | None = None
    """The blob that holds the value, when the ancestor's body does not."""
    inline: tuple[Any] | None = None

    @property
    def is_seeded(self) -> bool:
        return self.seed is not None or self.inline is not None

    def pass_by(self, checkpoint_id: str, body: Body, channel: str, known: set[BlobKey]) -> None:
        if self.is_seeded:
            return
        self.ids.append(checkpoint_id)
        values = body.checkpoint["channel_values"]
        if channel in values:
            self.inline = (values[channel],)
        else:
            self.seed = next((key for key in body.blobs if key[0] == channel and key in known), None)


async def trace(
    connection: AsyncConnection,
    thread_id: str,
    ns: str,
    parent_id: str | None,
    channels: Sequence[str],
    serde: SerializerProtocol,
) -> dict[str, Trail]:
    """Follow each channel from this parent back to its seed, or to the first checkpoint."""
    trails = {channel: Trail() for channel in channels}
    passed: set[str] = set()
    while parent_id is not None and parent_id not in passed and not all(t.is_seeded for t in trails.values()):
        rows: Sequence[AnyRow] = (
            await connection.execute(_lineage, {"thread_id": thread_id, "ns": ns, "id": parent_id})
        ).all()
        bodies = [unpack(row, serde) for row in rows]
        keys = [key for body in bodies for key in body.blobs if key[0] in trails]
        known = await known_keys(connection, thread_id, ns, keys)
        for row, body in zip(rows, bodies, strict=True):
            if row.id in passed:
                break
            passed.add(row.id)
            for channel, trail in trails.items():
                trail.pass_by(row.id, body, channel, known)
        parent_id = rows[-1].parent_id if rows else None
    return trails


async def histories(
    connection: AsyncConnection, thread_id: str, ns: str, trails: dict[str, Trail], serde: SerializerProtocol
) -> dict[str, DeltaChannelHistory]:
    """What LangGraph replays: each channel's seed and its writes since, oldest first."""
    ids = list(dict.fromkeys(checkpoint_id for trail in trails.values() for checkpoint_id in trail.ids))
    seeds = [trail.seed for trail in trails.values() if trail.seed is not None]
    loaded = await contents(connection, thread_id, ns, ids, seeds)
    result: dict[str, DeltaChannelHistory] = {}
    for channel, trail in trails.items():
        writes: list[PendingWrite] = []
        for checkpoint_id in reversed(trail.ids):
            rows = loaded.writes.get(checkpoint_id, ())
            writes.extend(pending_writes((row for row in rows if row.channel == channel), serde))
        history: DeltaChannelHistory = {"writes": writes}
        if trail.seed is not None:
            history["seed"] = serde.loads_typed(loaded.blobs[trail.seed])
        elif trail.inline is not None:
            history["seed"] = trail.inline[0]
        result[channel] = history
    return result
