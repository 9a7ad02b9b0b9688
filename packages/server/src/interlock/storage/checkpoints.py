"""LangGraph's checkpoint saver on the store's own tables.

It differs from LangGraph's savers where a durable pause needs it to: a run's writes are fenced by its lease, the
latest checkpoint is the one stored last and not the one with the highest clock, and a deleted thread stays deleted.
"""

import asyncio
import copy
import random
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Select, bindparam, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from interlock import failpoints
from interlock.domain.errors import LeaseLost
from interlock.domain.thread import Lease, ThreadStatus
from interlock.storage._checkpoint_ancestry import histories, trace
from interlock.storage._checkpoint_bridge import BridgedSaver
from interlock.storage._checkpoint_removal import keep_latest, remove_runs, remove_thread
from interlock.storage._checkpoint_rows import (
    Address,
    AnyRow,
    Silence,
    assemble,
    configurable,
    insert_checkpoint,
    insert_into,
    insert_writes,
    pack,
    pack_writes,
    plain,
)
from interlock.storage._repository import batched
from interlock.storage.database import Database
from interlock.storage.leases import HOLDS, holder, lease_lost
from interlock.storage.schema import checkpoint_blobs, checkpoint_writes, checkpoints, threads

PAGE = 64

AnySelect = Select[*tuple[Any, ...]]

_row = select(
    checkpoints.c.thread_id,
    checkpoints.c.ns,
    checkpoints.c.id,
    checkpoints.c.parent_id,
    checkpoints.c.seq,
    checkpoints.c.type,
    checkpoints.c.body,
    checkpoints.c.metadata,
)
_in_namespace = _row.where(checkpoints.c.thread_id == bindparam("thread_id"), checkpoints.c.ns == bindparam("ns"))
_named = _in_namespace.where(checkpoints.c.id == bindparam("id"))
_latest = _in_namespace.order_by(checkpoints.c.seq.desc()).limit(1)

_other = checkpoints.alias()
_heads = _row.join_from(
    threads,
    checkpoints,
    (checkpoints.c.thread_id == threads.c.id)
    & (checkpoints.c.ns == literal(""))
    & (
        checkpoints.c.seq
        == select(func.max(_other.c.seq))
        .where(_other.c.thread_id == threads.c.id, _other.c.ns == literal(""))
        .scalar_subquery()
    ),
)
"""From the threads: the number is looked up in the index, once for each."""

_lease_row = select(threads.c.status).where(*HOLDS)
_status = select(threads.c.status, threads.c.epoch).where(threads.c.id == bindparam("of_thread"))
# Numbering needs the thread to itself; writes only need the lease to stay what it is until they are committed.
_lease_row_locked, _lease_row_shared = _lease_row.with_for_update(), _lease_row.with_for_update(read=True)
_status_alone, _status_shared = _status.with_for_update(), _status.with_for_update(read=True)


class CheckpointSaver(BridgedSaver):
    """With a lease it serves that lease's thread alone, and writes only while the lease holds; else `LeaseLost`."""

    def __init__(
        self,
        database: Database,
        *,
        lease: Lease | None = None,
        serde: SerializerProtocol | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(serde=serde, loop=loop)
        self._database = database
        self._lease = lease
        self._resting_epoch: int | None = None
        self._is_trial = False
        self._heads: Mapping[str, CheckpointTuple] = {}
        self.silence: Silence | None = None
        """Takes out what must not be kept."""

    @property
    def lease(self) -> Lease | None:
        return self._lease

    def with_lease(self, lease: Lease) -> "CheckpointSaver":
        """The same saver for one run."""
        leased = copy.copy(self)
        leased._lease = lease
        return leased

    def at_rest(self, epoch: int) -> "CheckpointSaver":
        """The same saver for writes between runs: `LeaseLost` once a run began after the thread had this epoch."""
        resting = copy.copy(self)
        resting._resting_epoch = epoch
        return resting

    def trial(self) -> "CheckpointSaver":
        """The same saver, that keeps nothing of what is written."""
        trying = copy.copy(self)
        trying._is_trial = True
        return trying

    async def with_heads(self, thread_ids: Collection[str]) -> "CheckpointSaver":
        """The same saver, that has read the latest checkpoints of these threads, all in one transaction."""
        reading = copy.copy(self)
        async with self._database.read() as connection:
            rows: list[AnyRow] = []
            for some in batched(thread_ids):
                rows += (await connection.execute(_heads.where(threads.c.id.in_(some)))).all()
            reading._heads = {row.thread_id: (await assemble(connection, [row], self.serde))[0] for row in rows}
        return reading

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        address = Address.of(config)
        self._confine(address.thread_id)
        head = None if address.ns else self._heads.get(address.thread_id)
        if head is not None and address.id in (None, head.checkpoint["id"]):
            return head
        async with self._database.read() as connection:
            row = await self._find(connection, address)
            return None if row is None else (await assemble(connection, [row], self.serde))[0]

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Thread by thread, each from its latest checkpoint back."""
        query = self._select_rows(config, before)
        metadata_filter = plain(filter or {})
        size = PAGE if limit is None or metadata_filter else min(limit, PAGE)
        left, last = limit, None
        while left is None or left > 0:
            # Each page is read on its own: no transaction stays open while the caller works, or walks away.
            async with self._database.read() as connection:
                page = (await connection.execute(_after(query, last).limit(size))).all()
                hits = [
                    row for row in page if all(row.metadata.get(key) == metadata_filter[key] for key in metadata_filter)
                ][:left]
                found = await assemble(connection, hits, self.serde)
            for checkpoint in found:
                yield checkpoint
            if len(page) < size:
                return
            left, last = None if left is None else left - len(found), page[-1]

    async def aspaces(self, thread_id: str, space: str) -> Mapping[str, Mapping[str, Any]]:
        """By namespace, what the newest checkpoints say of the graphs that a task called, which is named by `space`."""
        self._confine(thread_id)
        ns, inside = checkpoints.c.ns, f"{space}|"
        is_called = ns.startswith(inside, autoescape=True) & ~func.substr(ns, len(inside) + 1).contains(":")
        query = select(ns, checkpoints.c.metadata).where(
            checkpoints.c.thread_id == thread_id, (ns == space) | is_called
        )
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(checkpoints.c.seq))
            return {row.ns: row.metadata for row in rows}

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        address = Address.of(config)
        rows = pack(checkpoint, new_versions, self.serde, self.silence)
        if self._is_trial:
            return address.config(checkpoint["id"])
        plain_metadata = plain(get_serializable_checkpoint_metadata(config, metadata))
        run_id = plain_metadata.get("run_id") or (self._lease.run_id if self._lease else None)
        row = {
            "thread_id": address.thread_id,
            "ns": address.ns,
            "id": checkpoint["id"],
            "parent_id": address.id,
            "run_id": None if run_id is None else str(run_id),
            "type": rows.type,
            "body": rows.body,
            "metadata": plain_metadata,
        }
        async with self._database.write() as connection:
            await self._hold(connection, address.thread_id)
            await insert_checkpoint(connection, row, rows.blobs)
            failpoints.hit("checkpoint.writing")
        failpoints.hit("checkpoint.written")
        return address.config(checkpoint["id"])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        address = Address.of(config)
        key = {"thread_id": address.thread_id, "ns": address.ns, "checkpoint_id": address.id}
        rows = [{**key, **row} for row in pack_writes(writes, task_id, task_path, self.serde, self.silence)]
        if self._is_trial:
            return
        async with self._database.write() as connection:
            await self._check(connection, address.thread_id, shared=True)
            if rows:
                await insert_writes(connection, rows)

    async def adelete_thread(self, thread_id: str) -> None:
        async with self._database.write() as connection:
            await self._check_lease(connection, thread_id)
            await remove_thread(connection, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        own = self._lease.thread_id if self._lease else None
        async with self._database.write() as connection:
            if own is not None:
                await self._check_lease(connection, own)
            await remove_runs(connection, run_ids, own, self.serde)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"{strategy!r} is no pruning strategy: use 'keep_latest' or 'delete'")
        for thread_id in thread_ids:
            async with self._database.write() as connection:
                await self._check_lease(connection, thread_id)
                if strategy == "delete":
                    await remove_thread(connection, thread_id)
                else:
                    await keep_latest(connection, thread_id, self.serde)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Everything of the source, in its order, after what the target already has."""
        self._confine(source_thread_id)
        if source_thread_id == target_thread_id:
            return
        async with self._database.write() as connection:
            await self._hold(connection, target_thread_id)
            ended = select(func.coalesce(func.max(checkpoints.c.seq), 0)).where(
                checkpoints.c.thread_id == target_thread_id
            )
            last = (await connection.execute(ended)).scalar_one()
            for table in (checkpoints, checkpoint_blobs, checkpoint_writes):
                changed = {"thread_id": literal(target_thread_id)}
                if "seq" in table.c:
                    changed["seq"] = table.c.seq + last
                columns = [changed.get(column.name, column) for column in table.c]
                rows = select(*columns).where(table.c.thread_id == source_thread_id)
                copied = insert_into(table, connection).from_select(list(table.c.keys()), rows)
                await connection.execute(copied.on_conflict_do_nothing())

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        address = Address.of(config)
        self._confine(address.thread_id)
        async with self._database.read() as connection:
            row = await self._find(connection, address) if channels else None
            parent_id = None if row is None else row.parent_id
            trails = await trace(connection, address.thread_id, address.ns, parent_id, channels, self.serde)
            return await histories(connection, address.thread_id, address.ns, trails, self.serde)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Grows as text does. The second part keeps two branches that count alike from sharing blobs."""
        counted = 0 if current is None else int(str(current).partition(".")[0])
        return f"{counted + 1:032}.{random.getrandbits(64):016x}"

    async def _find(self, connection: AsyncConnection, address: Address) -> AnyRow | None:
        key = {"thread_id": address.thread_id, "ns": address.ns}
        if address.id:
            return (await connection.execute(_named, {**key, "id": address.id})).first()
        return (await connection.execute(_latest, key)).first()

    def _select_rows(self, config: RunnableConfig | None, before: RunnableConfig | None) -> AnySelect:
        options = configurable(config) if config else {}
        query = _row.order_by(checkpoints.c.thread_id, checkpoints.c.seq.desc())
        if "thread_id" in options:
            self._confine(str(options["thread_id"]))
            query = query.where(checkpoints.c.thread_id == str(options["thread_id"]))
        elif self._lease is not None:
            query = query.where(checkpoints.c.thread_id == self._lease.thread_id)
        if (ns := options.get("checkpoint_ns")) is not None:
            query = query.where(checkpoints.c.ns == ns)
        if checkpoint_id := options.get("checkpoint_id"):
            query = query.where(checkpoints.c.id == checkpoint_id)
        return query if before is None else _earlier(query, {**options, **configurable(before)})

    def _confine(self, thread_id: str) -> None:
        if self._lease is not None and self._lease.thread_id != thread_id:
            raise LeaseLost(f"the lease is for thread {self._lease.thread_id}, not for {thread_id}")

    async def _check(self, connection: AsyncConnection, thread_id: str, *, shared: bool = False) -> bool:
        """Refuse what comes without the lease, or after the thread's end, and tell if there is a row."""
        self._confine(thread_id)
        if self._lease is not None:
            lease_row = _lease_row_shared if shared else _lease_row_locked
            if await connection.scalar(lease_row, holder(self._lease)) is None:
                raise lease_lost(self._lease)
            return True
        row = (await connection.execute(_status_shared if shared else _status_alone, {"of_thread": thread_id})).first()
        status = None if row is None else row.status
        if self._resting_epoch is not None and (
            row is None or (row.status, row.epoch) != (ThreadStatus.IDLE, self._resting_epoch)
        ):
            raise LeaseLost(f"a run began on thread {thread_id}")
        if status == ThreadStatus.DELETED:
            raise LeaseLost(f"thread {thread_id} is deleted")
        return status is not None

    async def _check_lease(self, connection: AsyncConnection, thread_id: str) -> None:
        """For removals: without a lease they are always right, above all on a thread that is deleted."""
        if self._lease is not None:
            await self._check(connection, thread_id)

    async def _hold(self, connection: AsyncConnection, thread_id: str) -> None:
        """Check, and keep everybody else from numbering checkpoints of the thread until this one is committed."""
        has_row = await self._check(connection, thread_id)
        if not has_row and connection.dialect.name == "postgresql":
            await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(thread_id, 0))))


def _after(query: AnySelect, last: AnyRow | None) -> AnySelect:
    if last is None:
        return query
    return query.where(
        or_(
            checkpoints.c.thread_id > last.thread_id,
            (checkpoints.c.thread_id == last.thread_id) & (checkpoints.c.seq < last.seq),
        )
    )


def _earlier(query: AnySelect, before: Mapping[str, Any]) -> AnySelect:
    if not before.get("checkpoint_id"):
        return query
    bound = checkpoints.alias("bound")
    seq = select(func.max(bound.c.seq)).where(bound.c.id == before["checkpoint_id"])
    if "thread_id" in before:
        thread_id = str(before["thread_id"])
        query = query.where(checkpoints.c.thread_id == thread_id)
        seq = seq.where(bound.c.thread_id == thread_id)
    return query.where(checkpoints.c.seq < seq.scalar_subquery())
