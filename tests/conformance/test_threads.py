"""Threads, held against `ports.store.Threads`."""

import asyncio

import pytest
from sqlalchemy import insert, select

from interlock.domain.errors import Conflict, LeaseLost
from interlock.domain.thread import Thread, ThreadStatus
from interlock.ports.store import Store
from interlock.storage.database import Database
from interlock.storage.schema import checkpoint_blobs, checkpoint_writes, checkpoints, secrets
from tests.conformance.examples import AT, a_thread, a_user, after, begin

CHECKPOINT = {"ns": "", "type": "msgpack", "body": b"x"}


async def test_a_thread_is_read_back_as_it_was_added(store: Store) -> None:
    thread = a_thread(title="日本 \u202e", seq=3, epoch=2, message_count=5)
    async with store.transaction() as tx:
        await tx.threads.add(thread)
        assert await tx.threads.lock(thread.id) == thread
    async with store.snapshot() as tx:
        assert await tx.threads.get(thread.id) == thread
        assert await tx.threads.get("ann-2") is None


async def test_an_id_that_is_in_use_is_a_conflict(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
    async with store.transaction() as tx:
        with pytest.raises(Conflict):
            await tx.threads.add(a_thread(owner_id="u-bob"))
    async with store.snapshot() as tx:
        assert await tx.threads.get("ann-1") == a_thread()


async def test_the_id_of_a_deleted_thread_cannot_be_used_again(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.threads.delete("ann-1", AT)
    async with store.transaction() as tx:
        with pytest.raises(Conflict):
            await begin(tx)


async def test_a_deleted_thread_is_not_found_any_more(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.threads.delete("ann-1", AT)
        await tx.threads.update("ann-1", AT, status=ThreadStatus.IDLE)
        assert await tx.threads.lock("ann-1") is None
    async with store.snapshot() as tx:
        assert await tx.threads.get("ann-1") is None
        assert await tx.threads.page("u-ann", 0, 10) == ([], 0)


async def test_deleting_a_thread_fences_off_its_worker(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        lease = await tx.leases.take("ann-1", "run-1", "worker-1", AT, 30)
    async with store.transaction() as tx:
        await tx.threads.delete("ann-1", AT)
    async with store.transaction() as tx:
        with pytest.raises(LeaseLost):
            await tx.leases.check(lease)
        assert await tx.leases.renew("worker-1", ["ann-1"], AT, 60) == set()
        with pytest.raises(LeaseLost):
            await tx.leases.take("ann-1", "run-1", "worker-1", AT, 30)


async def test_deleting_a_thread_drops_its_checkpoints_and_secrets_and_nobody_elses(
    store: Store, database: Database
) -> None:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2")
        for thread_id in ("ann-1", "ann-2"):
            await tx.secrets.put(f"secret-{thread_id}", thread_id, "envv_1", "TOKEN", "value", AT)
    async with database.write() as connection:
        for thread_id in ("ann-1", "ann-2"):
            row = {**CHECKPOINT, "thread_id": thread_id}
            await connection.execute(insert(checkpoints), {**row, "id": "c", "seq": 1, "metadata": {}})
            await connection.execute(insert(checkpoint_blobs), {**row, "channel": "messages", "version": "1"})
            write = {"checkpoint_id": "c", "task_id": "t", "idx": 0, "task_path": "", "channel": "messages"}
            await connection.execute(insert(checkpoint_writes), {**row, **write})
    async with store.transaction() as tx:
        await tx.threads.delete("ann-1", AT)
        assert not await tx.threads.drop("ann-1", 10)
    async with database.read() as connection:
        for table in (checkpoints, checkpoint_blobs, checkpoint_writes, secrets):
            assert list(await connection.scalars(select(table.c.thread_id))) == ["ann-2"]


async def test_an_update_changes_what_it_names_and_nothing_else(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.threads.update("ann-1", after(1), title="New")
        assert await tx.threads.get("ann-1") == a_thread(title="New", updated_at=after(1))
        await tx.threads.update("ann-1", after(2), status=ThreadStatus.RUNNING, message_count=2)
    async with store.snapshot() as tx:
        expected = a_thread(title="New", status=ThreadStatus.RUNNING, message_count=2, updated_at=after(2))
        assert await tx.threads.get("ann-1") == expected


async def test_a_title_with_characters_that_no_database_holds_is_kept_with_a_mark_in_their_place(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.threads.add(a_thread(title="a\0b\ud800c😀"))
    async with store.snapshot() as tx:
        thread = await tx.threads.get("ann-1")
    assert thread is not None
    assert thread.title == "a\ufffdb\ufffdc😀"


async def test_a_page_has_the_thread_last_touched_first_and_the_number_of_all(store: Store) -> None:
    async with store.transaction() as tx:
        for number in range(5):
            await tx.threads.add(a_thread(f"ann-{number}", updated_at=after(number)))
        await tx.threads.add(a_thread("bob-1", owner_id="u-bob"))
        await tx.threads.update("ann-1", after(100))
        await tx.threads.delete("ann-4", after(101))
    async with store.snapshot() as tx:
        page, total = await tx.threads.page("u-ann", 0, 3)
        assert [thread.id for thread in page] == ["ann-1", "ann-3", "ann-2"]
        assert total == 4
        page, total = await tx.threads.page("u-ann", 3, 3)
        assert [thread.id for thread in page] == ["ann-0"]
        assert await tx.threads.page("u-ann", 9, 3) == ([], 4)


async def test_between_lock_and_the_end_of_the_transaction_nobody_else_changes_the_thread(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)

    async def count_one_more() -> Thread | None:
        async with store.transaction() as tx:
            thread = await tx.threads.lock("ann-1")
            assert thread is not None
            await tx.threads.update("ann-1", AT, message_count=thread.message_count + 1)
            return thread

    seen = await asyncio.gather(*(count_one_more() for _ in range(40)))
    assert sorted(thread.message_count for thread in seen if thread) == list(range(40))


async def test_the_present_thread_of_a_face_is_the_owners_newest_that_is_not_deleted(store: Store) -> None:
    async with store.transaction() as tx:
        await tx.users.add(a_user("u-ann", "ann"))
        await tx.users.add(a_user("u-bob", "bob"))
        for number, (owner, face) in enumerate(
            [("u-ann", "sessions"), ("u-ann", "sessions"), ("u-ann", ""), ("u-bob", "other")]
        ):
            await tx.threads.add(a_thread(f"t-{number}", owner_id=owner, face=face, created_at=after(number)))
    async with store.snapshot() as tx:
        assert await tx.threads.newest_of("sessions", "u-ann") == await tx.threads.get("t-1")
        assert await tx.threads.newest_of("sessions", "u-bob") is None
        assert await tx.threads.owners("sessions") == ["ann"]
    async with store.transaction() as tx:
        await tx.threads.delete("t-1", AT)
        assert await tx.threads.lock_newest_of("sessions", "u-ann") == await tx.threads.get("t-0")
        await tx.threads.delete("t-0", AT)
    async with store.snapshot() as tx:
        assert await tx.threads.newest_of("sessions", "u-ann") is None
        assert await tx.threads.owners("sessions") == []
        assert await tx.threads.owners("other") == ["bob"]


async def test_of_several_that_begin_the_present_thread_at_once_one_does(store: Store) -> None:
    async def begun(number: int) -> str:
        async with store.transaction() as tx:
            thread = await tx.threads.lock_newest_of("sessions", "u-ann")
            if thread is None:
                thread = a_thread(f"t-{number}", face="sessions")
                await tx.threads.add(thread)
            return thread.id

    assert len(set(await asyncio.gather(*(begun(number) for number in range(8))))) == 1
