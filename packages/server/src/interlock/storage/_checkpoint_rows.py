"""How a checkpoint lies in the tables: what goes into which row, and how the rows become a checkpoint again.

A checkpoint's body carries its small values; every other channel value is a blob of its own, stored once for each
version of the channel and shared by all checkpoints that hold that version.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointTuple,
    PendingWrite,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Integer,
    Table,
    Text,
    bindparam,
    literal_column,
    or_,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.domain.redaction import Redaction
from interlock.domain.unkept import refusal
from interlock.storage._repository import next_number
from interlock.storage.schema import checkpoint_blobs, checkpoint_writes, checkpoints

BATCH = 500
"""Keys in one statement: databases bound the number of its parameters."""

INLINE_LENGTH = 64
"""The longest text that is repeated in every body, rather than stored once beside them."""

AnyRow = Row[*tuple[Any, ...]]

BlobKey = tuple[str, str]
"""A channel and its version."""

_IN_BLOBS = "interlock:blobs"
_NAMES = {INTERRUPT: "the interrupt", RESUME: "the answer"}


@dataclass(frozen=True, slots=True)
class Address:
    """Which checkpoint a config names; without an id, the latest one of its thread and namespace."""

    thread_id: str
    ns: str
    id: str | None = None

    @classmethod
    def of(cls, config: RunnableConfig) -> "Address":
        options = configurable(config)
        return cls(str(options["thread_id"]), str(options.get("checkpoint_ns") or ""), options.get("checkpoint_id"))

    def config(self, checkpoint_id: str) -> RunnableConfig:
        return {"configurable": {"thread_id": self.thread_id, "checkpoint_ns": self.ns, "checkpoint_id": checkpoint_id}}


def configurable(config: RunnableConfig) -> dict[str, Any]:
    return config.get("configurable", {})


class Body(NamedTuple):
    """What a body holds: the checkpoint with its small values, and the keys of the others."""

    checkpoint: Checkpoint
    blobs: Sequence[BlobKey]


class PackedCheckpoint(NamedTuple):
    type: str
    body: bytes
    blobs: list[dict[str, Any]]


class Silence(Protocol):
    """Takes out what people gave in confidence, where a run was lent it."""

    @property
    def data(self) -> Redaction: ...

    def error(self, error: Any) -> Any: ...

    def pack(self, kind: str, data: bytes) -> bytes: ...


def pack(
    checkpoint: Checkpoint, new_versions: ChannelVersions, serde: SerializerProtocol, silence: Silence | None = None
) -> PackedCheckpoint:
    values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
    # A value without a version could never be found again among the blobs.
    inline = {channel: value for channel, value in values.items() if channel not in versions or _is_small(value)}
    apart = [channel for channel in values if channel not in inline]
    if silence is not None:
        inline = {channel: silence.data.within(value) for channel, value in inline.items()}
    kind, body = _serialize("the state", {**checkpoint, "channel_values": inline, _IN_BLOBS: apart}, serde)
    blobs: list[dict[str, Any]] = []
    for channel in apart:
        if channel in new_versions:
            blob_kind, blob = _dump(channel, values[channel], serde, silence)
            blobs.append(
                {"channel": channel, "version": str(new_versions[channel]), "type": blob_kind, "body": bytes(blob)}
            )
    return PackedCheckpoint(kind, bytes(body), blobs)


def unpack(row: AnyRow, serde: SerializerProtocol) -> Body:
    """Read the `type` and `body` of a checkpoint's row."""
    loaded: dict[str, Any] = serde.loads_typed((row.type, row.body))
    apart: list[str] = loaded.pop(_IN_BLOBS)
    versions: ChannelVersions = loaded["channel_versions"]
    return Body(cast(Checkpoint, loaded), [(channel, str(versions[channel])) for channel in apart])


def _is_small(value: Any) -> bool:
    return value is None or type(value) in (bool, int, float) or (type(value) is str and len(value) <= INLINE_LENGTH)


def _serialize(what: str, value: Any, serde: SerializerProtocol) -> tuple[str, bytes]:
    try:
        return serde.dumps_typed(value)
    except TypeError as error:
        raise refusal(what, value, error) from error


def _dump(channel: str, value: Any, serde: SerializerProtocol, silence: Silence | None) -> tuple[str, bytes]:
    kind, data = _serialize(_NAMES.get(channel, channel), value, serde)
    return kind, data if silence is None else silence.pack(kind, bytes(data))


def pack_writes(
    writes: Sequence[tuple[str, Any]],
    task_id: str,
    task_path: str,
    serde: SerializerProtocol,
    silence: Silence | None = None,
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for position, (channel, value) in enumerate(writes):
        if channel == ERROR and silence is not None:
            value = silence.error(value)
        # Asks and answers are compared with what is asked when the task runs again: they stay as they are.
        kind, body = _dump(channel, value, serde, None if channel in (INTERRUPT, RESUME) else silence)
        rows.append(
            {
                "task_id": task_id,
                "task_path": task_path,
                "idx": WRITES_IDX_MAP.get(channel, position),
                "channel": channel,
                "type": kind,
                "body": bytes(body),
            }
        )
    return rows


def plain(value: Any) -> Any:
    """The value as JSON can carry it; what it cannot carry is told by its text."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case dict():
            return {str(key): plain(item) for key, item in cast(dict[Any, Any], value).items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in cast(Iterable[Any], value)]
        case _:
            return str(value)


def insert_into(table: Table, connection: AsyncConnection) -> "postgresql.Insert | sqlite.Insert":
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def _in_place(table: Table) -> tuple[ColumnElement[bool], ...]:
    return table.c.thread_id == bindparam("thread_id"), table.c.ns == bindparam("ns")


_these_blobs = (
    *_in_place(checkpoint_blobs),
    # The pairs say it all, but SQLite finds no index for pairs and would go through the whole thread.
    checkpoint_blobs.c.channel.in_(bindparam("channels", expanding=True)),
    checkpoint_blobs.c.version.in_(bindparam("versions", expanding=True)),
    tuple_(checkpoint_blobs.c.channel, checkpoint_blobs.c.version).in_(bindparam("keys", expanding=True)),
)

_BLOB_COLUMNS = (
    checkpoint_blobs.c.channel,
    checkpoint_blobs.c.version.label("place"),
    literal_column("''", Text).label("task_id"),
    literal_column("''", Text).label("task_path"),
    literal_column("0", Integer).label("idx"),
    checkpoint_blobs.c.type,
    checkpoint_blobs.c.body,
    literal_column("1", Integer).label("is_blob"),
)
_blobs = select(*_BLOB_COLUMNS).where(*_these_blobs)

_WRITE_COLUMNS = (
    checkpoint_writes.c.channel,
    checkpoint_writes.c.checkpoint_id.label("place"),
    checkpoint_writes.c.task_id,
    checkpoint_writes.c.task_path,
    checkpoint_writes.c.idx,
    checkpoint_writes.c.type,
    checkpoint_writes.c.body,
    literal_column("0", Integer).label("is_blob"),
)
_writes = select(*_WRITE_COLUMNS).where(
    *_in_place(checkpoint_writes), checkpoint_writes.c.checkpoint_id.in_(bindparam("ids", expanding=True))
)

_contents = union_all(_blobs, _writes)

_SIZES = (1, 2, 4, 8, 16, 32)
"""So many keys a statement of its own may have, which is prepared: most checkpoints have few channels."""


@cache
def _contents_of_one(size: int) -> CompoundSelect[*tuple[Any, ...]]:
    """The same for one checkpoint, with so many keys."""
    pairs = (
        (checkpoint_blobs.c.channel == bindparam(f"channel_{number}"))
        & (checkpoint_blobs.c.version == bindparam(f"version_{number}"))
        for number in range(size)
    )
    return union_all(
        select(*_BLOB_COLUMNS).where(*_in_place(checkpoint_blobs), or_(*pairs)),
        select(*_WRITE_COLUMNS).where(
            *_in_place(checkpoint_writes), checkpoint_writes.c.checkpoint_id == bindparam("id")
        ),
    )


def _select_contents(
    ids: Sequence[str], keys: Sequence[BlobKey]
) -> tuple[CompoundSelect[*tuple[Any, ...]], dict[str, Any]]:
    size = next((size for size in _SIZES if size >= len(keys)), 0)
    if len(ids) != 1 or not keys or not size:
        return _contents, {"ids": ids, **_key_params(keys)}
    # The last one is named again where there are fewer: a row is found once, by however many keys.
    padded = [*keys, *[keys[-1]] * (size - len(keys))]
    values = {"id": ids[0]}
    for number, (channel, version) in enumerate(padded):
        values |= {f"channel_{number}": channel, f"version_{number}": version}
    return _contents_of_one(size), values


_known_keys = select(checkpoint_blobs.c.channel, checkpoint_blobs.c.version).where(*_these_blobs)


class Inserts:
    """The INSERTs in one database's words, built once: building one takes longer than running it."""

    def __init__(self, insert: Callable[[Table], "postgresql.Insert | sqlite.Insert"]) -> None:
        checkpoint = insert(checkpoints).values(seq=next_number(checkpoints.c.seq))
        # Put again under the same id, a checkpoint keeps its place and its parent.
        self.checkpoint = checkpoint.on_conflict_do_update(
            index_elements=["thread_id", "ns", "id"],
            set_={name: checkpoint.excluded[name] for name in ("type", "body", "metadata", "run_id")},
        )
        self.blob = insert(checkpoint_blobs).on_conflict_do_nothing()
        write = insert(checkpoint_writes)
        # A task's first write at a position stays; errors, interrupts and resumes, below zero, are replaced.
        self.write = write.on_conflict_do_update(
            index_elements=["thread_id", "ns", "checkpoint_id", "task_id", "idx"],
            set_={name: write.excluded[name] for name in ("task_path", "channel", "type", "body")},
            where=checkpoint_writes.c.idx < 0,
        )


_INSERTS = {"postgresql": Inserts(postgresql.insert), "sqlite": Inserts(sqlite.insert)}


async def insert_checkpoint(connection: AsyncConnection, row: Mapping[str, Any], blobs: list[dict[str, Any]]) -> None:
    """Store it as its thread's latest."""
    inserts = _INSERTS[connection.dialect.name]
    await connection.execute(inserts.checkpoint, {**row, "of_thread": row["thread_id"]})
    if blobs:
        key = {"thread_id": row["thread_id"], "ns": row["ns"]}
        await connection.execute(inserts.blob, [{**key, **blob} for blob in blobs])


async def insert_writes(connection: AsyncConnection, rows: list[dict[str, Any]]) -> None:
    await connection.execute(_INSERTS[connection.dialect.name].write, rows)


class Contents(NamedTuple):
    blobs: dict[BlobKey, tuple[str, bytes]]
    writes: dict[str, list[AnyRow]]
    """By checkpoint, in the order in which a live run applies them."""


async def contents(
    connection: AsyncConnection, thread_id: str, ns: str, ids: Sequence[str], keys: Iterable[BlobKey]
) -> Contents:
    """The blobs under these keys, and the writes that belong to these checkpoints."""
    unique_keys = list(dict.fromkeys(keys))
    found = Contents({}, defaultdict(list))
    for start in range(0, max(len(unique_keys), len(ids), 1), BATCH):
        batch = slice(start, start + BATCH)
        query, values = _select_contents(ids[batch], unique_keys[batch])
        rows = await connection.execute(query, {"thread_id": thread_id, "ns": ns, **values})
        for row in rows:
            if row.is_blob:
                found.blobs[row.channel, row.place] = (row.type, row.body)
            else:
                found.writes[row.place].append(row)
    for rows in found.writes.values():
        rows.sort(key=lambda row: writes_sort_key(row.task_path, row.task_id, row.idx))
    return found


def _key_params(keys: Sequence[BlobKey]) -> dict[str, Any]:
    return {"keys": keys, "channels": list({key[0] for key in keys}), "versions": list({key[1] for key in keys})}


async def known_keys(connection: AsyncConnection, thread_id: str, ns: str, keys: Sequence[BlobKey]) -> set[BlobKey]:
    """Of these keys, those with a blob."""
    known: set[BlobKey] = set()
    for start in range(0, len(keys), BATCH):
        batch = _key_params(keys[start : start + BATCH])
        rows = await connection.execute(_known_keys, {"thread_id": thread_id, "ns": ns, **batch})
        known.update((row.channel, row.version) for row in rows)
    return known


def pending_writes(rows: Iterable[AnyRow], serde: SerializerProtocol) -> list[PendingWrite]:
    return [(row.task_id, row.channel, serde.loads_typed((row.type, row.body))) for row in rows]


async def assemble(
    connection: AsyncConnection, rows: Sequence[AnyRow], serde: SerializerProtocol
) -> list[CheckpointTuple]:
    """The checkpoints of these rows, in their order, with their values and pending writes."""
    bodies = [unpack(row, serde) for row in rows]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, row in enumerate(rows):
        groups[row.thread_id, row.ns].append(position)
    loaded: dict[tuple[str, str], Contents] = {}
    for (thread_id, ns), members in groups.items():
        keys = (key for position in members for key in bodies[position].blobs)
        ids = [rows[position].id for position in members]
        loaded[thread_id, ns] = await contents(connection, thread_id, ns, ids, keys)
    return [_tuple(row, body, loaded[row.thread_id, row.ns], serde) for row, body in zip(rows, bodies, strict=True)]


def _tuple(row: AnyRow, body: Body, loaded: Contents, serde: SerializerProtocol) -> CheckpointTuple:
    address = Address(row.thread_id, row.ns)
    values = body.checkpoint["channel_values"]
    # A channel that was never stored at its version has no value: LangGraph rebuilds such a one from its writes.
    values.update({key[0]: serde.loads_typed(loaded.blobs[key]) for key in body.blobs if key in loaded.blobs})
    return CheckpointTuple(
        config=address.config(row.id),
        checkpoint=body.checkpoint,
        metadata=row.metadata,
        parent_config=address.config(row.parent_id) if row.parent_id else None,
        pending_writes=pending_writes(loaded.writes.get(row.id, ()), serde),
    )
