"""Several runs on one thread: the next one starts when the one before it has ended."""

import asyncio
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import pytest
from langgraph.graph import MessagesState
from langgraph.types import interrupt

from interlock.domain.errors import Forbidden, ThreadBusy
from interlock.domain.event import Event, RunEnded, RunStarted, ThreadDeleted, UserMessage
from interlock.domain.principal import Principal, Role, User
from interlock.domain.run import RunStatus
from interlock.domain.run_input import MessageInput
from interlock.domain.thread import ThreadStatus
from interlock.services.runs import waiting_runs
from interlock.services.threads import messages, threads
from interlock.services.threads.export import export_thread
from interlock.services.threads.following import follow
from interlock.services.threads.messages import EnqueuedRun, StartedRun
from tests.conformance.examples import AT
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Gate
from tests.runners.script import line
from tests.runners.stage import ANN, SECONDS, THREAD, Stage

EVE = Principal("u-eve", "eve", Role.OWNER)


def slow(gate: Gate) -> Any:
    """Stops at the first message, asks at `ask`, fails at `fail`."""

    async def reply(state: MessagesState) -> dict[str, Any]:
        await gate.stop()
        text = state["messages"][-1].text
        if text == "fail":
            raise RuntimeError("as it was told")
        return {"messages": [("ai", f"{text}: {interrupt('?')}" if text == "ask" else text)]}

    return line(MessagesState, reply)


async def enqueue(stage: Stage, text: str, by: Principal = ANN) -> StartedRun | EnqueuedRun:
    return await messages.enqueue_input(stage.core, by, THREAD, MessageInput(text))


async def finished(stage: Stage, count: int) -> None:
    """Until so many runs have ended."""
    async with asyncio.timeout(SECONDS), aclosing(follow(stage.core, THREAD, 0)) as items:
        async for item in items:
            count -= isinstance(item, Event) and isinstance(item.data, RunEnded)
            if not count:
                return


async def said(stage: Stage) -> list[str]:
    return [message.text for message in await stage.messages() if message.type == "human"]


async def check_started_with_the_end_before(stage: Stage) -> None:
    """In one transaction, by its moment: no sweep had to find it."""
    told = [event for event in await stage.events() if isinstance(event.data, RunEnded | UserMessage)]
    pairs = [(one, other) for one, other in pairwise(told) if isinstance(other.data, UserMessage)]
    assert pairs
    assert [one.at for one, _ in pairs] == [other.at for _, other in pairs]


async def test_runs_wait_their_turn_and_come_in_order(host: Host) -> None:
    gate = Gate()
    stage = await host(slow(gate))
    first = await enqueue(stage, "one")
    assert isinstance(first, StartedRun)
    await gate.until_reached()
    later = [await enqueue(stage, text) for text in ("two", "three")]
    assert all(isinstance(one, EnqueuedRun) for one in later)
    with pytest.raises(ThreadBusy):
        await stage.send("four")
    gate.open.set()
    await finished(stage, 3)
    assert await said(stage) == ["one", "two", "three"]
    started = [event.run_id for event in await stage.events_of(RunStarted)]
    assert started == [first.run.id, *(one.run.id for one in later)]
    told = [type(event.data) for event in await stage.events() if isinstance(event.data, RunEnded | UserMessage)]
    assert told == [UserMessage, RunEnded] * 3
    await check_started_with_the_end_before(stage)
    assert "waiting_runs" in await export_thread(stage.core, THREAD)


@on_sqlite
async def test_a_run_waits_behind_a_pause_until_its_answer_has_been_used(host: Host) -> None:
    gate = Gate()
    gate.open.set()
    stage = await host(slow(gate))
    turn = await stage.say("ask")
    assert turn.status == "paused"
    assert isinstance(await enqueue(stage, "next"), EnqueuedRun)
    await waiting_runs.start_stranded(stage.core)
    assert await said(stage) == ["ask"]
    await stage.answer(turn.request, {"answer": "yes"})
    await finished(stage, 3)
    assert [message.text for message in await stage.messages()] == ["ask", "ask: yes", "next", "next"]
    await check_started_with_the_end_before(stage)


@on_sqlite
async def test_the_end_of_a_pause_by_a_person_starts_the_next(host: Host) -> None:
    gate = Gate()
    gate.open.set()
    stage = await host(slow(gate))
    turn = await stage.say("ask")
    await enqueue(stage, "next")
    assert await messages.interrupt(stage.core, ANN, THREAD, "enough", "test")
    await finished(stage, 3)
    assert (await said(stage))[-1] == "next"
    await check_started_with_the_end_before(stage)
    assert turn.request.id not in [request.id for request in await stage.open_requests()]


@on_sqlite
async def test_a_run_that_failed_and_one_that_was_stopped_start_the_next(host: Host) -> None:
    gate = Gate()
    stage = await host(slow(gate))
    await enqueue(stage, "fail")
    await gate.until_reached()
    await enqueue(stage, "next")
    gate.open.set()
    await finished(stage, 2)
    assert [event.status for event in await stage.events_of(RunEnded)] == ["failed", "done"]
    await check_started_with_the_end_before(stage)

    gate.times = 0
    gate.reached.clear()
    gate.open.clear()
    await enqueue(stage, "slow")
    await gate.until_reached()
    await enqueue(stage, "last")
    assert await messages.stop(stage.core, ANN, THREAD, "enough")
    gate.open.set()
    await finished(stage, 4)
    assert (await said(stage))[-1] == "last"


@on_sqlite
async def test_a_stop_of_one_run_stops_no_other(host: Host) -> None:
    gate = Gate()
    stage = await host(slow(gate))
    first = await enqueue(stage, "one")
    await gate.until_reached()
    later = await enqueue(stage, "two")
    assert isinstance(later, EnqueuedRun)
    assert later.behind == first.run.id
    assert not await messages.stop(stage.core, ANN, THREAD, "enough", run_id=later.run.id)
    gate.open.set()
    await finished(stage, 2)
    assert not await messages.stop(stage.core, ANN, THREAD, "enough", run_id=first.run.id)
    assert [event.status for event in await stage.events_of(RunEnded)] == ["done", "done"]


@on_sqlite
async def test_one_that_waits_is_taken_back_and_by_nobody_else(host: Host) -> None:
    gate = Gate()
    stage = await host(slow(gate))
    first = await enqueue(stage, "one")
    await gate.until_reached()
    two, three = [await enqueue(stage, text) for text in ("two", "three")]
    with pytest.raises(Forbidden):
        await messages.cancel_waiting(stage.core, EVE, THREAD, two.run.id)
    with pytest.raises(Forbidden):
        await enqueue(stage, "of another", EVE)
    assert await messages.cancel_waiting(stage.core, ANN, THREAD, two.run.id)
    assert not await messages.cancel_waiting(stage.core, ANN, THREAD, two.run.id)
    assert not await messages.cancel_waiting(stage.core, ANN, THREAD, first.run.id)
    gate.open.set()
    await finished(stage, 2)
    assert await said(stage) == ["one", "three"]
    assert not await messages.cancel_waiting(stage.core, ANN, THREAD, three.run.id)


@on_sqlite
async def test_what_waits_goes_with_its_thread(host: Host) -> None:
    gate = Gate()
    stage = await host(slow(gate))
    await enqueue(stage, "one")
    await gate.until_reached()
    two = await enqueue(stage, "two")
    await threads.delete_thread(stage.core, ANN, THREAD)
    gate.open.set()
    await waiting_runs.start_stranded(stage.core)
    async with stage.core.store.snapshot() as tx:
        assert await tx.waiting_runs.get(two.run.id) is None
    assert [type(event.data) for event in await stage.events()][-1] is ThreadDeleted


@on_sqlite
async def test_what_somebody_sent_who_may_not_come_in_any_more_does_not_start(host: Host) -> None:
    gate = Gate()
    stage = await host(slow(gate))
    async with stage.core.store.transaction() as tx:
        await tx.users.add(User(ANN.id, ANN.name, "hash", Role.OWNER, AT, AT))
    await enqueue(stage, "one")
    await gate.until_reached()
    two = await enqueue(stage, "two")
    async with stage.core.store.transaction() as tx:
        await tx.users.set_disabled(ANN.id, AT)
    gate.open.set()
    await finished(stage, 1)
    await waiting_runs.start_stranded(stage.core)
    async with stage.core.store.snapshot() as tx:
        assert await tx.waiting_runs.get(two.run.id) is None
        assert await tx.runs.get(two.run.id) is None


async def test_what_an_older_server_left_waiting_is_found(host: Host) -> None:
    gate = Gate()
    stage = await host(slow(gate), started=False)
    await stage.send("one")
    two = await enqueue(stage, "two")
    claim = await stage.claim()
    async with stage.core.store.transaction() as tx:
        # As a version that knows of none ends a run.

        await tx.leases.end(claim.lease, ThreadStatus.IDLE, stage.clock.now(), None)
        await tx.runs.change(claim.run.id, RunStatus.DONE, stage.clock.now())
    gate.open.set()
    await stage.start()
    await finished(stage, 1)
    assert [event.run_id for event in await stage.events_of(RunEnded)] == [two.run.id]


@on_sqlite
async def test_as_many_wait_as_may(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MOST_WAITING", 2)
    stage = await host(slow(Gate()), started=False)
    await stage.send("one")
    for text in ("two", "three"):
        await enqueue(stage, text)
    with pytest.raises(ThreadBusy, match="2 runs wait"):
        await enqueue(stage, "four")
