"""A worker that lost its lease commits nothing, and a deleted thread stays deleted."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from sqlalchemy import select, text, update

from interlock.domain.errors import LeaseLost
from interlock.domain.thread import Lease
from interlock.storage.checkpoints import CheckpointSaver
from interlock.storage.database import Database
from interlock.storage.schema import checkpoints, threads
from tests.conformance.checkpoints.conftest import Leases
from tests.conformance.checkpoints.drafts import LONG, METADATA, at, draft, rows

pytestmark = pytest.mark.promise("P5")


async def take_over(database: Database, **changes: Any) -> None:
    async with database.write() as connection:
        await connection.execute(update(threads).values(**changes))


async def put_one(saver: CheckpointSaver, checkpoint_id: str = "c1") -> None:
    await saver.aput(at("t"), draft(checkpoint_id, {"messages": [LONG]}), METADATA, {"messages": "1"})
    await saver.aput_writes(at("t", checkpoint_id), [("messages", ["more"])], "task")


async def test_the_holder_of_the_lease_writes(saver: CheckpointSaver, database: Database, lease_on: Leases) -> None:
    leased = saver.with_lease(await lease_on("t"))

    await put_one(leased)

    found = await leased.aget_tuple(at("t"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"messages": [LONG]}
    assert found.pending_writes == [("task", "messages", ["more"])]
    async with database.read() as connection:
        assert (await connection.execute(select(checkpoints.c.run_id))).scalars().all() == ["run-1"]


LOST: dict[str, dict[str, Any]] = {
    "taken by another": {"epoch": 8, "lease_worker": "worker-2"},
    "taken again": {"epoch": 8},
    "given back": {"lease_worker": None, "lease_run": None, "lease_until": None},
    "held by another": {"lease_worker": "worker-2"},
}
CALLS: dict[str, Callable[[CheckpointSaver], Awaitable[Any]]] = {
    "put": lambda saver: saver.aput(
        at("t", "c1"), draft("c2", {"messages": [LONG, LONG]}, "2"), METADATA, {"messages": "2"}
    ),
    "put_writes": lambda saver: saver.aput_writes(at("t", "c1"), [("messages", ["late"])], "another-task"),
    "put_no_writes": lambda saver: saver.aput_writes(at("t", "c1"), [], "another-task"),
    "delete": lambda saver: saver.adelete_thread("t"),
    "delete_for_runs": lambda saver: saver.adelete_for_runs(["run-1"]),
    "prune": lambda saver: saver.aprune(["t"]),
    "prune_all": lambda saver: saver.aprune(["t"], strategy="delete"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("how", LOST)
async def test_a_lease_that_was_lost_or_given_back_changes_no_checkpoint(
    saver: CheckpointSaver, database: Database, lease_on: Leases, how: str, call: str
) -> None:
    leased = saver.with_lease(await lease_on("t"))
    await put_one(leased)
    before = await rows(database)
    await take_over(database, **LOST[how])

    with pytest.raises(LeaseLost):
        await CALLS[call](leased)

    assert await rows(database) == before


RESTING = {"status": "idle", "epoch": 7, "lease_worker": None, "lease_run": None, "lease_until": None}


async def test_between_runs_a_thread_at_rest_is_written_to(
    saver: CheckpointSaver, database: Database, lease_on: Leases
) -> None:
    await lease_on("t")
    await take_over(database, **RESTING)
    await put_one(saver.at_rest(7))
    assert await saver.aget_tuple(at("t")) is not None


@pytest.mark.parametrize("began", [{"status": "running", "epoch": 8}, {"epoch": 8}, {"status": "paused"}])
async def test_once_a_run_began_nothing_is_written_between_runs(
    saver: CheckpointSaver, database: Database, lease_on: Leases, began: dict[str, Any]
) -> None:
    await lease_on("t")
    await take_over(database, **{**RESTING, **began})
    before = await rows(database)
    with pytest.raises(LeaseLost):
        await put_one(saver.at_rest(7))
    assert await rows(database) == before


@pytest.mark.parametrize("call", ["aput", "aput_writes"])
async def test_a_write_that_meets_a_takeover_under_way_waits_for_it_and_loses(
    saver: CheckpointSaver, database: Database, lease_on: Leases, call: str
) -> None:
    leased = saver.with_lease(await lease_on("t"))

    async def write() -> None:
        if call == "aput":
            await leased.aput(at("t"), draft("c1"), METADATA, {})
        else:
            await leased.aput_writes(at("t", "c1"), [("messages", ["late"])], "task")

    async with asyncio.timeout(60):
        async with database.write() as connection:
            await connection.execute(update(threads).values(epoch=8))
            late = asyncio.create_task(write())
            while database.is_shared and not late.done():
                waiting = await connection.execute(text("SELECT count(*) FROM pg_locks WHERE NOT granted"))
                if waiting.scalar_one():
                    break
        with pytest.raises(LeaseLost):
            await late

    assert await rows(database) == []


async def test_a_lease_serves_its_own_thread_only(saver: CheckpointSaver, database: Database, lease_on: Leases) -> None:
    await lease_on("t")
    leased = saver.with_lease(await lease_on("another"))
    await put_one(saver)
    before = await rows(database)

    with pytest.raises(LeaseLost):
        await put_one(leased)
    with pytest.raises(LeaseLost):
        await leased.aput_writes(at("t", "c1"), [("messages", ["x"])], "task-2")
    with pytest.raises(LeaseLost):
        await leased.aget_tuple(at("t"))
    with pytest.raises(LeaseLost):
        await leased.acopy_thread("t", "another")
    assert [found async for found in leased.alist(None)] == []

    assert await rows(database) == before


async def test_a_lease_on_a_thread_that_was_never_stored_is_lost(saver: CheckpointSaver, database: Database) -> None:
    leased = saver.with_lease(Lease(thread_id="t", run_id="r", worker="w", epoch=1))

    with pytest.raises(LeaseLost):
        await put_one(leased)

    assert await rows(database) == []


@pytest.mark.parametrize("with_lease", [True, False])
async def test_a_late_put_does_not_revive_a_deleted_thread(
    saver: CheckpointSaver, database: Database, lease_on: Leases, with_lease: bool
) -> None:
    lease = await lease_on("t")
    late = saver.with_lease(lease) if with_lease else saver
    await put_one(late)
    await take_over(database, status="deleted")
    await saver.adelete_thread("t")
    await saver.aput(at("source"), draft("c1"), METADATA, {})
    before = await rows(database)

    with pytest.raises(LeaseLost):
        await late.aput(at("t", "c1"), draft("c2"), METADATA, {})
    with pytest.raises(LeaseLost):
        await late.aput_writes(at("t", "c1"), [("messages", ["late"])], "task")
    with pytest.raises(LeaseLost):
        await late.acopy_thread("source", "t")

    assert await rows(database) == before
    assert await saver.aget_tuple(at("t")) is None


async def test_deleting_a_thread_empties_all_three_tables(saver: CheckpointSaver, database: Database) -> None:
    await put_one(saver)

    await saver.adelete_thread("t")

    assert await rows(database) == []


async def test_the_copy_that_langgraph_makes_for_strict_msgpack_keeps_the_lease(
    database: Database, lease_on: Leases
) -> None:
    strict = CheckpointSaver(database, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    lease = await lease_on("t")

    derived = strict.with_lease(lease).with_allowlist({("some.module", "Kind")})

    assert isinstance(derived, CheckpointSaver)
    assert derived is not strict
    assert derived.lease == lease
    assert strict.lease is None
    await take_over(database, epoch=8)
    with pytest.raises(LeaseLost):
        await put_one(derived)
    assert await rows(database) == []
