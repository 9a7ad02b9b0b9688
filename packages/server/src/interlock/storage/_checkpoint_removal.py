"""Taking checkpoints away without taking what the remaining ones still need."""

from collections.abc import Collection, Sequence

from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import bindparam, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.storage._checkpoint_ancestry import trace
from interlock.storage._checkpoint_rows import BATCH, AnyRow, known_keys, unpack
from interlock.storage.schema import checkpoint_blobs, checkpoint_writes, checkpoints

_DELTA_COUNTERS = "counters_since_delta_snapshot"
"""The metadata in which LangGraph names its delta channels; nothing else tells them from empty ones."""

_remove_checkpoint = delete(checkpoints).where(
    checkpoints.c.thread_id == bindparam("of_thread"),
    checkpoints.c.ns == bindparam("of_ns"),
    checkpoints.c.id == bindparam("of_id"),
)
_remove_writes = delete(checkpoint_writes).where(
    checkpoint_writes.c.thread_id == bindparam("of_thread"),
    checkpoint_writes.c.ns == bindparam("of_ns"),
    checkpoint_writes.c.checkpoint_id == bindparam("of_id"),
)
_remove_blob = delete(checkpoint_blobs).where(
    checkpoint_blobs.c.thread_id == bindparam("of_thread"),
    checkpoint_blobs.c.ns == bindparam("of_ns"),
    checkpoint_blobs.c.channel == bindparam("of_channel"),
    checkpoint_blobs.c.version == bindparam("of_version"),
)


async def remove_thread(connection: AsyncConnection, thread_id: str) -> None:
    for table in (checkpoints, checkpoint_blobs, checkpoint_writes):
        await connection.execute(delete(table).where(table.c.thread_id == thread_id))


async def remove_runs(
    connection: AsyncConnection, run_ids: Sequence[str], thread_id: str | None, serde: SerializerProtocol
) -> None:
    """Remove what these runs stored, within one thread if one is given."""
    places: dict[tuple[str, str], list[str]] = {}
    query = select(checkpoints.c.thread_id, checkpoints.c.ns, checkpoints.c.id)
    if thread_id is not None:
        query = query.where(checkpoints.c.thread_id == thread_id)
    for start in range(0, len(run_ids), BATCH):
        batch = list(run_ids[start : start + BATCH])
        for row in await connection.execute(query.where(checkpoints.c.run_id.in_(batch))):
            places.setdefault((row.thread_id, row.ns), []).append(row.id)
    for (thread, ns), ids in places.items():
        await _remove(connection, thread, ns, ids, serde)


async def keep_latest(connection: AsyncConnection, thread_id: str, serde: SerializerProtocol) -> None:
    """Leave each namespace its latest checkpoint, and the ancestors from which that one is rebuilt."""
    namespaces: dict[str, list[AnyRow]] = {}
    query = select(checkpoints.c.ns, checkpoints.c.id, checkpoints.c.metadata)
    ordered = query.where(checkpoints.c.thread_id == thread_id).order_by(checkpoints.c.seq.desc())
    for row in await connection.execute(ordered):
        namespaces.setdefault(row.ns, []).append(row)
    for ns, rows in namespaces.items():
        deltas = {channel for row in rows for channel in row.metadata.get(_DELTA_COUNTERS, ())}
        needed = {rows[0].id, *await _find_needed(connection, thread_id, ns, rows[0].id, deltas, serde)}
        await _remove(connection, thread_id, ns, [row.id for row in rows if row.id not in needed], serde)


async def _find_needed(
    connection: AsyncConnection, thread_id: str, ns: str, kept_id: str, deltas: set[str], serde: SerializerProtocol
) -> set[str]:
    if not deltas:
        return set()
    query = select(checkpoints.c.parent_id, checkpoints.c.type, checkpoints.c.body)
    kept = (
        await connection.execute(
            query.where(checkpoints.c.thread_id == thread_id, checkpoints.c.ns == ns, checkpoints.c.id == kept_id)
        )
    ).one()
    body = unpack(kept, serde)
    own_channels = {channel for channel, _ in await known_keys(connection, thread_id, ns, body.blobs)}
    own_channels |= body.checkpoint["channel_values"].keys()
    channels = sorted((deltas & body.checkpoint["channel_versions"].keys()) - own_channels)
    trails = await trace(connection, thread_id, ns, kept.parent_id, channels, serde)
    return {checkpoint_id for trail in trails.values() for checkpoint_id in trail.ids}


async def _remove(
    connection: AsyncConnection, thread_id: str, ns: str, ids: Collection[str], serde: SerializerProtocol
) -> None:
    if not ids:
        return
    keys = [{"of_thread": thread_id, "of_ns": ns, "of_id": checkpoint_id} for checkpoint_id in ids]
    await connection.execute(_remove_checkpoint, keys)
    await connection.execute(_remove_writes, keys)
    await _sweep(connection, thread_id, ns, serde)


async def _sweep(connection: AsyncConnection, thread_id: str, ns: str, serde: SerializerProtocol) -> None:
    """Remove the blobs that no remaining checkpoint holds."""
    bodies = select(checkpoints.c.type, checkpoints.c.body)
    remaining = await connection.execute(bodies.where(checkpoints.c.thread_id == thread_id, checkpoints.c.ns == ns))
    in_use = {key for row in remaining for key in unpack(row, serde).blobs}
    keys = select(checkpoint_blobs.c.channel, checkpoint_blobs.c.version)
    stored = await connection.execute(
        keys.where(checkpoint_blobs.c.thread_id == thread_id, checkpoint_blobs.c.ns == ns)
    )
    loose = [
        {"of_thread": thread_id, "of_ns": ns, "of_channel": row.channel, "of_version": row.version}
        for row in stored
        if (row.channel, row.version) not in in_use
    ]
    if loose:
        await connection.execute(_remove_blob, loose)
