"""Runs that wait their turn, held against `ports.store.WaitingRuns`."""

from interlock.domain.run import WaitingRun
from interlock.domain.run_input import GraphInput, MessageInput, RunSettings
from interlock.domain.thread import Lease, ThreadStatus
from interlock.ports.store import Store
from tests.conformance.examples import AT, a_run, begin


def waiting(run_id: str, thread_id: str = "ann-1", text: str = "hi") -> WaitingRun:
    return WaitingRun(run_id, thread_id, MessageInput(text), "u-ann", "ann", AT)


async def held(store: Store) -> Lease:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2")
        await tx.runs.add(a_run())
        return await tx.leases.take("ann-1", "run-1", "worker", AT, 30)


async def test_they_are_read_back_in_the_order_of_their_adding(store: Store) -> None:
    given = GraphInput({"q": 1}, RunSettings({"model": "m"}), metadata={"a": 1})
    first = WaitingRun("run-z", "ann-1", given, "u-ann", "ann", AT, detached=True)
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2")
        for run in (first, waiting("run-a"), waiting("run-b", "ann-2")):
            await tx.waiting_runs.add(run)
    async with store.snapshot() as tx:
        assert await tx.waiting_runs.of_thread("ann-1") == [first, waiting("run-a")]
        assert await tx.waiting_runs.first_of("ann-1") == first
        assert await tx.waiting_runs.get("run-b") == waiting("run-b", "ann-2")
        assert await tx.waiting_runs.count_of("ann-1") == 2
        assert await tx.waiting_runs.first_of("ann-3") is None


async def test_one_is_removed_once(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.waiting_runs.add(waiting("run-a"))
    async with store.transaction() as tx:
        assert await tx.waiting_runs.remove("run-a")
        assert not await tx.waiting_runs.remove("run-a")
    async with store.snapshot() as tx:
        assert await tx.waiting_runs.get("run-a") is None


async def test_the_end_of_a_lease_tells_whether_another_run_waits(store: Store) -> None:
    lease = await held(store)
    async with store.transaction() as tx:
        await tx.waiting_runs.add(waiting("run-b", "ann-2"))
        assert not await tx.leases.end(lease, ThreadStatus.IDLE, AT, None)
    async with store.transaction() as tx:
        lease = await tx.leases.take("ann-1", "run-1", "worker", AT, 30)
        await tx.waiting_runs.add(waiting("run-a"))
        assert await tx.leases.end(lease, ThreadStatus.IDLE, AT, None)


async def test_stranded_are_those_on_idle_threads(store: Store) -> None:
    lease = await held(store)
    async with store.transaction() as tx:
        await tx.waiting_runs.add(waiting("run-a"))
        await tx.waiting_runs.add(waiting("run-b", "ann-2"))
        await tx.waiting_runs.add(waiting("run-c", "ann-2"))
    async with store.snapshot() as tx:
        assert await tx.waiting_runs.list_stranded(10) == ["ann-2"]
    async with store.transaction() as tx:
        await tx.leases.end(lease, ThreadStatus.IDLE, AT, None)
    async with store.snapshot() as tx:
        assert sorted(await tx.waiting_runs.list_stranded(10)) == ["ann-1", "ann-2"]


async def test_they_go_with_their_thread(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.waiting_runs.add(waiting("run-a"))
    async with store.transaction() as tx:
        await tx.threads.delete("ann-1", AT)
        await tx.threads.drop("ann-1", 10)
    async with store.snapshot() as tx:
        assert await tx.waiting_runs.get("run-a") is None
        assert await tx.waiting_runs.list_stranded(10) == []
