"""How long conversations are kept: what somebody touches at the same moment is never lost."""

import asyncio
from datetime import timedelta

import pytest

from interlock.domain.errors import Forbidden, InvalidInput
from interlock.domain.event import ThreadDeleted
from interlock.domain.run import RunStatus
from interlock.domain.run_input import MessageInput
from interlock.domain.thread import ThreadStatus
from interlock.ports.clock import SystemClock
from interlock.services.operations.housekeeping import tidy
from interlock.services.operations.retention import count_expired, expire_threads
from interlock.services.threads.messages import send_message
from interlock.storage.store import SqlStore
from tests.conformance.examples import ANN, a_pause, a_request, a_run, a_thread
from tests.conformance.trails import core_on

LONG_AGO = SystemClock().now() - timedelta(days=100)


async def add(store: SqlStore, *thread_ids: str, **changes: object) -> None:
    async with store.transaction() as tx:
        for thread_id in thread_ids:
            await tx.threads.add(a_thread(thread_id, **{"updated_at": LONG_AGO, **changes}))


async def alive(store: SqlStore) -> set[str]:
    async with store.snapshot() as tx:
        return {thread.id for thread in await tx.threads.newest(100)}


async def test_only_what_is_idle_and_old_is_deleted(store: SqlStore) -> None:
    await add(store, "old-1", "old-2")
    await add(store, "outside", asker_id="key-1")
    await add(store, "new", updated_at=SystemClock().now())
    await add(store, "running", status=ThreadStatus.RUNNING)
    await add(store, "paused", status=ThreadStatus.PAUSED)
    await add(store, "asked", "queued")
    async with store.transaction() as tx:
        await tx.pauses.add(a_pause("pause-1", "asked"), [a_request(thread_id="asked")])
        await tx.runs.add(a_run("run-1", "queued"))
    core = core_on(store)
    assert await expire_threads(core, 99) == 3
    assert await alive(store) == {"new", "running", "paused", "asked", "queued"}
    assert await expire_threads(core, 99) == 0
    async with store.snapshot() as tx:
        assert await tx.audit.is_recorded("old-1", "thread.deleted")
        (event,) = await tx.events.after("outside", 0, 10)
    assert isinstance(event.data, ThreadDeleted)
    assert (event.data.by, event.data.asker_id) == ("system", "key-1")


async def test_nothing_is_deleted_unless_the_operator_says_so(store: SqlStore) -> None:
    await add(store, "old")
    core = core_on(store)
    await tidy(core)
    assert await count_expired(core, 99) == 1
    assert await count_expired(core, 101) == 0
    for days in (0, -1, 36_501):
        with pytest.raises(InvalidInput):
            await expire_threads(core, days)
    assert await alive(store) == {"old"}


async def test_a_message_at_the_same_moment_is_refused_or_keeps_the_thread(store: SqlStore) -> None:
    thread_ids = [f"ann-{number}" for number in range(40)]
    await add(store, *thread_ids)
    core = core_on(store)

    async def send(thread_id: str) -> bool:
        try:
            await send_message(core, ANN, thread_id, "still here")
        except Forbidden:
            return False
        return True

    # From both ends, so that they meet.
    expiring = [asyncio.create_task(expire_threads(core, 99)) for _ in range(2)]
    taken = await asyncio.gather(*map(send, reversed(thread_ids)))
    gone = sum(await asyncio.gather(*expiring))
    kept = {thread_id for thread_id, was_taken in zip(reversed(thread_ids), taken, strict=True) if was_taken}
    assert await alive(store) == kept
    assert gone == len(thread_ids) - len(kept)
    async with store.snapshot() as tx:
        for thread_id in kept:
            run = await tx.runs.active_of(thread_id)
            assert run is not None
            assert (run.status, run.input) == (RunStatus.QUEUED, MessageInput("still here"))


async def test_the_newest_come_first_and_runs_come_in_their_order(store: SqlStore) -> None:
    await add(store, "old")
    async with store.transaction() as tx:
        await tx.threads.add(a_thread("new", updated_at=SystemClock().now()))
        for number in range(3):
            await tx.runs.add(a_run(f"run-{9 - number}", "new", status=RunStatus.DONE))
    async with store.snapshot() as tx:
        assert [thread.id for thread in await tx.threads.newest(10)] == ["new", "old"]
        assert [thread.id for thread in await tx.threads.newest(1)] == ["new"]
        assert [run.id for run in await tx.runs.of_thread("new")] == ["run-9", "run-8", "run-7"]
        assert await tx.runs.of_thread("old") == []
        assert [run.id for run in await tx.runs.newest("new", 2, 1)] == ["run-8", "run-9"]
        assert await tx.runs.newest("new", 2, statuses=[RunStatus.FAILED]) == []
