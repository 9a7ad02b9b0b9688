"""The log, held against `ports.store.Events`."""

import asyncio

import pytest

from interlock.domain.errors import NotFound
from interlock.domain.event import Custom, Event, EventType, RunEnded, RunStarted, ThreadDeleted, UserMessage
from interlock.domain.run import RunCause, RunStatus
from interlock.ports.store import Store
from tests.conformance.examples import AT, after, begin


async def test_events_get_the_next_numbers_and_are_read_back_as_they_were_appended(store: Store) -> None:
    message, started = UserMessage("\0 \ud800 日本 😀", "ann"), RunStarted("run-1", RunCause.MESSAGE)
    ended = RunEnded("run-1", RunStatus.DONE)
    async with store.transaction() as tx:
        await begin(tx)
        first = await tx.events.append("ann-1", [message, started], AT)
        second = await tx.events.append("ann-1", [ended], after(1))
    assert first == [
        Event("ann-1", 1, message, AT),
        Event("ann-1", 2, started, AT),
    ]
    assert second == [Event("ann-1", 3, ended, after(1))]
    async with store.snapshot() as tx:
        assert await tx.events.after("ann-1", 0, 10) == first + second
        thread = await tx.threads.get("ann-1")
    assert thread is not None
    assert thread.seq == 3


async def test_the_log_is_read_from_after_a_number_and_to_a_limit(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2")
        await tx.events.append("ann-1", [Custom({"n": n}) for n in range(10)], AT)
        await tx.events.append("ann-2", [Custom({})], AT)
    async with store.snapshot() as tx:
        assert [event.seq for event in await tx.events.after("ann-1", 4, 3)] == [5, 6, 7]
        assert [event.seq for event in await tx.events.after("ann-1", 8, 10)] == [9, 10]
        assert await tx.events.after("ann-1", 10, 10) == []
        assert await tx.events.after("ann-1", 10**30, 10) == []
        assert await tx.events.after("ann-9", 0, 10) == []


async def test_numbers_are_consecutive_whoever_writes_and_whoever_fails(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)

    async def append(writer: int) -> list[int]:
        taken: list[int] = []
        for turn in range(4):
            try:
                async with store.transaction() as tx:
                    entries = [Custom({"writer": writer})] * (1 + turn % 2)
                    events = await tx.events.append("ann-1", entries, AT)
                    if (writer + turn) % 5 == 0:
                        raise RuntimeError
            except RuntimeError:
                continue
            taken += [event.seq for event in events]
        return taken

    taken = [seq for numbers in await asyncio.gather(*(append(writer) for writer in range(50))) for seq in numbers]
    assert sorted(taken) == list(range(1, len(taken) + 1))
    async with store.snapshot() as tx:
        assert [event.seq for event in await tx.events.after("ann-1", 0, 1000)] == sorted(taken)


async def test_appending_nothing_takes_no_number(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        assert await tx.events.append("ann-1", [], AT) == []
        appended = await tx.events.append("ann-1", [Custom({})], AT)
    assert [event.seq for event in appended] == [1]


async def test_a_deleted_thread_may_still_tell_of_its_end(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx)
        await tx.threads.delete("ann-1", AT)
        await tx.events.append("ann-1", [ThreadDeleted("ann", "u-ann", "demo", None)], AT)
    async with store.snapshot() as tx:
        assert [event.type for event in await tx.events.after("ann-1", 0, 10)] == [EventType.THREAD_DELETED]


async def test_a_thread_that_never_was_has_no_log(store: Store) -> None:
    async with store.transaction() as tx:
        with pytest.raises(NotFound):
            await tx.events.append("ann-1", [Custom({})], AT)


async def test_the_last_of_a_type_is_found_up_to_a_number(store: Store) -> None:
    async with store.transaction() as tx:
        await begin(tx, "ann-1", "ann-2")
        entries = [UserMessage("1", "ann"), Custom(2), UserMessage("3", "ann"), Custom(4)]
        appended = await tx.events.append("ann-1", entries, AT)
        await tx.events.append("ann-2", [UserMessage("", "ann")], AT)
    async with store.snapshot() as tx:
        found = [await tx.events.last("ann-1", EventType.USER_MESSAGE, until) for until in (0, 1, 2, 3, 4, 10**30)]
        assert found == [None, appended[0], appended[0], appended[2], appended[2], appended[2]]
        assert await tx.events.last("ann-1", EventType.RUN_ENDED, 4) is None
