"""Leases, held against `ports.store.Leases`."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain.errors import LeaseLost
from interlock.domain.run import RunStatus
from interlock.domain.thread import Lease, ThreadStatus
from interlock.ports.store import Store
from tests.conformance.examples import AT, a_run, begin

pytestmark = pytest.mark.promise("P5")

ENDED = -1.0
"""Seconds of a lease that has ended when it is taken, by whichever clock."""


async def claim(store: Store, thread_id: str = "ann-1", worker: str = "worker-1", seconds: float = 30) -> Lease:
    """A queued run of the thread, and then the lease under which it runs."""
    run_id = f"run-of-{thread_id}"
    async with store.transaction() as tx:
        await begin(tx, thread_id)
        await tx.runs.add(a_run(run_id, thread_id))
        lease = await tx.leases.take(thread_id, run_id, worker, AT, seconds)
        assert await tx.runs.change(run_id, RunStatus.RUNNING, AT)
    return lease


async def test_each_lease_has_a_higher_epoch_than_the_one_before(store: Store) -> None:
    first = await claim(store)
    async with store.transaction() as tx:
        second = await tx.leases.take("ann-1", "run-2", "worker-1", AT, 30)
    assert first == Lease("ann-1", "run-of-ann-1", "worker-1", 1)
    assert second == Lease("ann-1", "run-2", "worker-1", 2)


async def test_a_check_gives_the_thread(store: Store) -> None:
    lease = await claim(store)
    async with store.transaction() as tx:
        thread = await tx.leases.check(lease)
        assert thread == await tx.threads.get("ann-1")
        assert thread.epoch == lease.epoch


async def test_a_worker_whose_lease_another_took_is_fenced_off(store: Store) -> None:
    lost = await claim(store)
    async with store.transaction() as tx:
        held = await tx.leases.take("ann-1", "run-1", "worker-2", AT, 30)
    async with store.transaction() as tx:
        with pytest.raises(LeaseLost):
            await tx.leases.check(lost)
        await tx.leases.check(held)


async def test_a_worker_is_fenced_off_from_the_lease_that_it_held_itself_before(store: Store) -> None:
    lost = await claim(store)
    async with store.transaction() as tx:
        await tx.leases.take("ann-1", "run-1", "worker-1", AT, 30)
        with pytest.raises(LeaseLost):
            await tx.leases.check(lost)


async def test_a_lease_nobody_was_given_does_not_hold(store: Store) -> None:
    lease = await claim(store)
    async with store.transaction() as tx:
        for forged in (replace(lease, epoch=2), replace(lease, worker="worker-2"), replace(lease, thread_id="ann-2")):
            with pytest.raises(LeaseLost):
                await tx.leases.check(forged)


async def test_a_worker_whose_lease_is_taken_while_it_checks_commits_nothing(store: Store) -> None:
    lease = await claim(store)

    async def work() -> bool:
        try:
            async with store.transaction() as tx:
                thread = await tx.leases.check(lease)
                await tx.threads.update("ann-1", AT, message_count=thread.message_count + 1)
        except LeaseLost:
            return False
        return True

    async def take_over() -> int:
        async with store.transaction() as tx:
            await tx.leases.take("ann-1", "run-1", "worker-2", AT, 30)
            thread = await tx.threads.get("ann-1")
            assert thread is not None
            return thread.message_count

    workers = [asyncio.create_task(work()) for _ in range(10)]
    taking = asyncio.create_task(take_over())
    workers += [asyncio.create_task(work()) for _ in range(10)]
    done = await asyncio.gather(*workers)
    at_take_over = await taking
    async with store.snapshot() as tx:
        thread = await tx.threads.get("ann-1")
    assert thread is not None
    assert thread.message_count == at_take_over == sum(done)


async def test_renewing_tells_which_leases_are_still_held(store: Store) -> None:
    await claim(store, "ann-1")
    await claim(store, "ann-2")
    await claim(store, "ann-3", worker="worker-2")
    async with store.transaction() as tx:
        held = await tx.leases.renew("worker-1", ["ann-1", "ann-2", "ann-3", "ann-4"], AT, 60)
        assert held == {"ann-1", "ann-2"}
        assert await tx.leases.renew("worker-1", [], AT, 60) == set()


async def test_a_renewed_lease_lasts_until_its_new_time(store: Store) -> None:
    lease = await claim(store, seconds=ENDED)
    async with store.transaction() as tx:
        await tx.leases.renew("worker-1", ["ann-1"], AT, 60)
    async with store.transaction() as tx:
        assert await tx.leases.requeue_lost(AT) == []
        await tx.leases.check(lease)


async def test_a_released_lease_holds_no_more(store: Store) -> None:
    lease = await claim(store)
    async with store.transaction() as tx:
        await tx.leases.release(lease)
    async with store.transaction() as tx:
        assert await tx.leases.renew("worker-1", ["ann-1"], AT, 60) == set()
        with pytest.raises(LeaseLost):
            await tx.leases.check(lease)


async def test_releasing_a_lost_lease_does_nothing_to_its_next_holder(store: Store) -> None:
    lost = await claim(store)
    async with store.transaction() as tx:
        held = await tx.leases.take("ann-1", "run-1", "worker-1", AT, 30)
        await tx.leases.release(lost)
    async with store.transaction() as tx:
        await tx.leases.check(held)
        assert await tx.leases.renew("worker-1", ["ann-1"], AT, 60) == {"ann-1"}


async def test_a_lease_is_not_given_back_by_who_does_not_hold_it(store: Store) -> None:
    held = await claim(store)
    async with store.transaction() as tx:
        await tx.leases.release(replace(held, worker="worker-2"))
    async with store.transaction() as tx:
        await tx.leases.check(held)


async def test_runs_whose_lease_ended_are_queued_again_and_their_workers_fenced_off(store: Store) -> None:
    lost = await claim(store, "ann-1", seconds=ENDED)
    kept = await claim(store, "ann-2", seconds=30)
    async with store.transaction() as tx:
        assert await tx.leases.requeue_lost(AT) == ["run-of-ann-1"]
    async with store.transaction() as tx:
        run = await tx.runs.get("run-of-ann-1")
        assert run is not None
        assert run.status is RunStatus.QUEUED
        assert run.attempt == 1
        with pytest.raises(LeaseLost):
            await tx.leases.check(lost)
        thread = await tx.threads.get("ann-1")
        assert thread is not None
        assert thread.epoch == lost.epoch + 1
        await tx.leases.check(kept)
        assert await tx.leases.requeue_lost(AT) == []


async def test_the_runs_of_a_worker_that_is_gone_are_queued_again_and_it_is_fenced_off(store: Store) -> None:
    lost = [await claim(store, f"ann-{number}", seconds=1000) for number in range(2)]
    kept = await claim(store, "ann-2", worker="worker-2", seconds=1000)
    async with store.transaction() as tx:
        assert sorted(await tx.leases.requeue_of("worker-1")) == ["run-of-ann-0", "run-of-ann-1"]
    async with store.transaction() as tx:
        for lease in lost:
            with pytest.raises(LeaseLost):
                await tx.leases.check(lease)
        assert await tx.leases.renew("worker-1", ["ann-0", "ann-1"], AT, 60) == set()
        await tx.leases.check(kept)
        # Another one that looks, as a second server does, finds nothing more: also when somebody took them meanwhile.
        taken = await tx.leases.take("ann-0", "run-of-ann-0", "worker-2", AT, 60)
        assert await tx.leases.requeue_of("worker-1") == []
        await tx.leases.check(taken)


async def test_without_a_time_every_running_run_is_queued_again(store: Store) -> None:
    leases = [await claim(store, f"ann-{number}", seconds=1000) for number in range(3)]
    async with store.transaction() as tx:
        await tx.runs.change("run-of-ann-2", RunStatus.DONE, AT)
        assert sorted(await tx.leases.requeue_lost(None)) == ["run-of-ann-0", "run-of-ann-1"]
    async with store.transaction() as tx:
        for lease in leases[:2]:
            with pytest.raises(LeaseLost):
                await tx.leases.check(lease)
        await tx.leases.check(leases[2])


async def test_a_run_that_waits_in_the_queue_or_is_of_a_deleted_thread_is_not_lost(store: Store) -> None:
    await claim(store, "ann-1", seconds=ENDED)
    async with store.transaction() as tx:
        await tx.threads.delete("ann-1", AT)
        await begin(tx, "ann-2")
        await tx.runs.add(a_run("run-2", "ann-2"))
    async with store.transaction() as tx:
        assert await tx.leases.requeue_lost(AT) == []
        assert await tx.leases.requeue_lost(None) == []


async def test_a_running_run_that_nobody_holds_a_lease_for_is_lost_too(store: Store) -> None:
    lease = await claim(store, seconds=1000)
    async with store.transaction() as tx:
        await tx.leases.release(lease)
    async with store.transaction() as tx:
        assert await tx.leases.requeue_lost(AT) == ["run-of-ann-1"]


async def test_of_several_servers_that_look_for_lost_runs_one_queues_each_again(store: Store) -> None:
    for number in range(10):
        await claim(store, f"ann-{number}", seconds=ENDED)

    async def look() -> list[str]:
        async with store.transaction() as tx:
            return await tx.leases.requeue_lost(AT)

    found = [run_id for run_ids in await asyncio.gather(*(look() for _ in range(10))) for run_id in run_ids]
    assert sorted(found) == [f"run-of-ann-{number}" for number in range(10)]


async def test_ending_a_lease_leaves_the_thread_free_and_counts_its_messages(store: Store) -> None:
    lease = await claim(store)
    async with store.transaction() as tx:
        await tx.leases.end(lease, ThreadStatus.PAUSED, AT, 7)
    async with store.snapshot() as tx:
        thread = await tx.threads.get(lease.thread_id)
    assert thread is not None
    assert (thread.status, thread.message_count) == (ThreadStatus.PAUSED, 7)
    with pytest.raises(LeaseLost):
        async with store.transaction() as tx:
            await tx.leases.end(lease, ThreadStatus.IDLE, AT, None)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("minutes", [-60, 60])
async def test_where_several_servers_share_a_database_leases_end_by_its_clock(store: Store, minutes: int) -> None:
    """One of them is an hour ahead of the others, or behind them."""
    wrong = datetime.now(UTC) + timedelta(minutes=minutes)
    await claim(store, "ann-1")
    await claim(store, "ann-2", seconds=ENDED)
    async with store.transaction() as tx:
        held = await tx.leases.take("ann-1", "run-of-ann-1", "worker-2", wrong, 30)
    async with store.transaction() as tx:
        assert await tx.leases.requeue_lost(wrong) == ["run-of-ann-2"]
        assert await tx.leases.renew("worker-2", ["ann-1"], wrong, 30) == {"ann-1"}
    async with store.transaction() as tx:
        assert await tx.leases.requeue_lost(datetime.now(UTC)) == []
        await tx.leases.check(held)
