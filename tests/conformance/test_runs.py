"""Runs, held against `ports.store.Runs`."""

import asyncio

import pytest
from sqlalchemy import text

from interlock.domain.errors import ThreadBusy
from interlock.domain.run import RUN, RunCause, RunStatus
from interlock.domain.run_input import GraphCommand, GraphInput, MessageInput, NoInput, RunSettings, Send
from interlock.ports.store import Store
from interlock.storage.database import Database
from tests.conformance.examples import AT, a_run, after, begin

on_postgres = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)


async def test_a_run_is_read_back_as_it_was_added(store: Store) -> None:
    run = a_run(
        cause=RunCause.ANSWER,
        input=MessageInput("\0 \ud800 日本", "be brief"),
        started_seq=7,
        detached=True,
        stop_reason="x",
    )
    async with store.transaction() as tx:
        await begin(tx)
        await tx.runs.add(run)
    async with store.snapshot() as tx:
        assert await tx.runs.get(run.id) == run
        assert await tx.runs.active_of("ann-1") == run
        assert await tx.runs.last_of("ann-1") == run
        assert await tx.runs.get("run-2") is None
        assert await tx.runs.last_of("ann-2") is None


SETTINGS = RunSettings({"model": "m"}, 7, ("a",), {}, ("tools",), "*")


@pytest.mark.parametrize(
    "given",
    [
        NoInput(),
        MessageInput("hi"),
        MessageInput("hi", "be brief", SETTINGS),
        GraphInput({"q": ["\ud800", None, 1.5]}),
        GraphInput(None, command=GraphCommand({"q": 1}, ("a", Send("b", {"x": 1})))),
        GraphInput([], SETTINGS, metadata={"from": "a test"}),
    ],
)
async def test_whatever_a_run_was_started_with_is_read_back(
    store: Store, given: NoInput | MessageInput | GraphInput
) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.runs.add(a_run(input=given))
    async with store.snapshot() as tx:
        found = await tx.runs.get("run-1")
    assert found is not None
    assert found.input == given


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("{}", NoInput()),
        ('{"text":"hi"}', MessageInput("hi")),
        ('{"text":"hi","system":"be brief"}', MessageInput("hi", "be brief")),
    ],
)
async def test_what_older_versions_started_runs_with_is_read(
    store: Store, database: Database, stored: str, read: NoInput | MessageInput
) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.runs.add(a_run())
    async with database.write() as connection:
        await connection.execute(text("UPDATE runs SET input = :stored"), {"stored": stored})
    async with store.snapshot() as tx:
        found = await tx.runs.get("run-1")
    assert found is not None
    assert found.input == read


@pytest.mark.parametrize("status", [RunStatus.QUEUED, RunStatus.RUNNING])
async def test_a_thread_with_an_active_run_is_busy_and_the_transaction_goes_on(store: Store, status: RunStatus) -> None:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2")
        await tx.runs.add(a_run(status=status))
    async with store.transaction() as tx:
        with pytest.raises(ThreadBusy):
            await tx.runs.add(a_run("run-2"))
        await tx.runs.add(a_run("run-3", "ann-2"))
    async with store.snapshot() as tx:
        assert await tx.runs.get("run-2") is None
        assert await tx.runs.get("run-3") is not None


async def test_of_many_runs_added_to_one_thread_at_once_one_is_taken(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)

    async def add(number: int) -> bool:
        try:
            async with store.transaction() as tx:
                await tx.runs.add(a_run(f"run-{number}"))
        except ThreadBusy:
            return False
        return True

    assert sum(await asyncio.gather(*(add(number) for number in range(50)))) == 1


async def test_after_its_run_ended_a_thread_takes_another_one(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2", "ann-3")
        # All of one moment: the order is that in which they were added.
        for number in range(3):
            await tx.runs.add(a_run(f"run-{9 - number}"))
            await tx.runs.change(f"run-{9 - number}", RunStatus.STOPPED, AT)
        await tx.runs.add(a_run("other", "ann-2"))
    async with store.snapshot() as tx:
        assert await tx.runs.active_of("ann-1") is None
        last = await tx.runs.last_of("ann-1")
        each = await tx.runs.last_of_each(["ann-1", "ann-2", "ann-3", "nobody-1"])
    assert last is not None
    assert last.id == "run-7"
    assert each == {"ann-1": last, "ann-2": a_run("other", "ann-2")}


async def test_the_oldest_queued_run_is_the_next(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2", "ann-3")
        assert await tx.runs.next_queued() is None
        await tx.runs.add(a_run("run-1", "ann-1", created_at=after(2)))
        await tx.runs.add(a_run("run-2", "ann-2", created_at=after(1)))
        await tx.runs.add(a_run("run-3", "ann-3", created_at=after(0), status=RunStatus.RUNNING))
        following = await tx.runs.next_queued()
        assert following == a_run("run-2", "ann-2", created_at=after(1))


async def test_a_named_run_is_given_only_while_it_is_queued(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2")
        await tx.runs.add(a_run("run-1", "ann-1"))
        await tx.runs.add(a_run("run-2", "ann-2", created_at=after(1)))
    async with store.transaction() as tx:
        named = await tx.runs.next_queued("run-2")
        assert named is not None
        assert named.id == "run-2"
        await tx.runs.change("run-2", RunStatus.RUNNING, AT)
        assert await tx.runs.next_queued("run-2") is None
        assert await tx.runs.next_queued("run-9") is None


@pytest.mark.parametrize("named", [True, False])
async def test_each_queued_run_is_taken_by_one_worker(store: Store, named: bool) -> None:
    async with store.transaction() as tx:
        for number in range(10):
            await begin(tx, f"ann-{number}")
            await tx.runs.add(a_run(f"run-{number}", f"ann-{number}"))

    async def take(number: int) -> str | None:
        async with store.transaction() as tx:
            run = await tx.runs.next_queued(f"run-{number % 10}" if named else None)
            if run is None:
                return None
            await tx.leases.take(run.thread_id, run.id, f"worker-{number}", AT, 30)
            assert await tx.runs.change(run.id, RunStatus.RUNNING, AT)
            return run.id

    taken: list[str] = []
    for _ in range(2):
        taken += [run_id for run_id in await asyncio.gather(*(take(number) for number in range(20))) if run_id]
    assert sorted(taken) == [f"run-{number}" for number in range(10)]


@on_postgres
async def test_a_run_that_another_worker_is_taking_is_skipped(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2")
        await tx.runs.add(a_run("run-1", "ann-1"))
        await tx.runs.add(a_run("run-2", "ann-2", created_at=after(1)))
    async with store.transaction() as first, store.transaction() as second, store.transaction() as third:
        taken = [await tx.runs.next_queued() for tx in (first, second, third)]
    assert [run.id if run else None for run in taken] == ["run-1", "run-2", None]


@on_postgres
async def test_workers_that_take_runs_and_services_that_stop_them_never_wait_for_each_other_in_a_circle(
    store: Store,
) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.runs.add(a_run())

    async def take(run_id: str | None) -> None:
        async with store.transaction() as tx:
            run = await tx.runs.next_queued(run_id)
            if run:
                await tx.leases.take(run.thread_id, run.id, "worker", AT, 30)
                await tx.runs.change(run.id, RunStatus.RUNNING, AT)

    async def put_back() -> None:
        async with store.transaction() as tx:
            await tx.threads.lock("ann-1")
            await tx.runs.change("run-1", RunStatus.QUEUED, AT)

    work = [task for _ in range(60) for task in (take(None), put_back(), take("run-1"), put_back())]
    async with asyncio.timeout(60):
        await asyncio.gather(*work)


@pytest.mark.parametrize("before", list(RunStatus))
async def test_a_run_changes_only_as_its_table_allows(store: Store, before: RunStatus) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        for index, after_status in enumerate(RunStatus):
            thread_id, run_id = f"ann-1{index}", f"run-{index}"
            await begin(tx, thread_id)
            await tx.runs.add(a_run(run_id, thread_id, status=before))
            changed = await tx.runs.change(run_id, after_status, AT)
            run = await tx.runs.get(run_id)
            assert run is not None
            assert changed is (after_status in RUN.table[before])
            assert run.status is (after_status if changed else before)


async def test_becoming_running_counts_an_attempt(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.runs.add(a_run())
        for attempt in (1, 2, 3):
            assert await tx.runs.change("run-1", RunStatus.RUNNING, AT)
            assert not await tx.runs.change("run-1", RunStatus.RUNNING, AT)
            run = await tx.runs.get("run-1")
            assert run is not None
            assert run.attempt == attempt
            assert await tx.runs.change("run-1", RunStatus.QUEUED, AT)


async def test_a_failed_run_keeps_its_error(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.runs.add(a_run(status=RunStatus.RUNNING))
        assert await tx.runs.change("run-1", RunStatus.FAILED, AT, error="boom \0 \ud800")
        assert not await tx.runs.change("run-1", RunStatus.DONE, AT, error="later")
    async with store.snapshot() as tx:
        run = await tx.runs.get("run-1")
    assert run is not None
    assert run.error == "boom \ufffd \ufffd"


async def test_those_asked_to_stop_are_told_with_the_first_reason(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2", "ann-3")
        await tx.runs.add(a_run("run-1", "ann-1"))
        await tx.runs.add(a_run("run-2", "ann-2"))
        await tx.runs.add(a_run("run-3", "ann-3", status=RunStatus.DONE))
        await tx.runs.request_stop("run-1", "disconnected")
        await tx.runs.request_stop("run-1", "cancelled")
        await tx.runs.request_stop("run-3", "cancelled")
    async with store.snapshot() as tx:
        assert await tx.runs.stop_requested(["run-1", "run-2", "run-3"]) == {"run-1": "disconnected"}
        assert await tx.runs.stop_requested(["run-2"]) == {}
        assert await tx.runs.stop_requested([]) == {}


async def test_the_last_message_is_found_behind_the_answers_to_what_it_led_to(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        for number, cause in enumerate((RunCause.MESSAGE, RunCause.MESSAGE, RunCause.ANSWER, RunCause.RETRY)):
            await tx.runs.add(a_run(f"run-{9 - number}", cause=cause))
            await tx.runs.change(f"run-{9 - number}", RunStatus.STOPPED, AT)
    async with store.snapshot() as tx:
        last = await tx.runs.last_message_of("ann-1")
        assert await tx.runs.last_message_of("ann-2") is None
    assert last is not None
    assert last.id == "run-8"
