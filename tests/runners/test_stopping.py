"""Stopping a run is a drain: the tool under way ends and is recorded."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import MessagesState
from langgraph.types import interrupt

from interlock.domain.effect import EffectState
from interlock.domain.run import RunStatus
from interlock.runners.graph_run import GraphRun
from interlock.services.threads import messages
from interlock.services.threads.followers import stop_unfollowed
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import agent, line
from tests.runners.stage import ANN, SECONDS, THREAD, Stage


class Slow:
    def __init__(self, *, is_sync: bool = False) -> None:
        self.deeds, self.gate = Deeds(), Gate()
        loop = asyncio.get_running_loop()

        @tool("send")
        async def send(path: str) -> str:
            """Send."""
            await self.gate.stop()
            self.deeds.note(path)
            return f"sent {path}"

        @tool("send")
        def send_sync(path: str) -> str:
            """Send."""
            asyncio.run_coroutine_threadsafe(self.gate.stop(), loop).result()
            self.deeds.note(path)
            return f"sent {path}"

        self.tool = send_sync if is_sync else send


async def run_of(stage: Stage, run_id: str) -> Any:
    async with stage.core.store.snapshot() as tx:
        return await tx.runs.get(run_id)


@pytest.mark.parametrize("is_sync", [False, True])
async def test_a_stop_lets_the_tool_end_and_the_conversation_goes_on_from_there(host: Host, is_sync: bool) -> None:
    slow = Slow(is_sync=is_sync)
    stage = await host(agent([slow.tool], [("c1", "send", {"path": "a"})], [("c2", "send", {"path": "b"})]))
    started = await stage.send()
    await slow.gate.until_reached()
    assert await messages.stop(stage.core, ANN, THREAD, "enough")
    slow.gate.open.set()

    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "stopped"
    assert slow.deeds.done == ["a"]
    assert [effect.state for effect in await stage.effects()] == [EffectState.DONE]
    assert (await run_of(stage, started.run.id)).stop_reason == "enough"
    turn = await stage.say("go on")
    assert turn.status == "done"
    assert await stage.results() == {"c1": "sent a", "c2": "sent b"}


async def test_calls_left_open_by_a_stop_are_closed_before_the_next_turn(host: Host) -> None:
    slow = Slow()
    gate = Gate()

    async def say(state: MessagesState) -> dict[str, Any]:
        if isinstance(state["messages"][-1], ToolMessage) or len(state["messages"]) > 1:
            return {"messages": [AIMessage("heard")]}
        await gate.stop()
        calls = [{"id": f"c{n}", "name": "send", "args": {"path": str(n)}} for n in range(2)]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    def tools(state: MessagesState) -> dict[str, Any]:
        raise AssertionError("not reached")

    builder = line(MessagesState, say, tools)
    stage = await host(builder)
    started = await stage.send()
    await gate.until_reached()
    await messages.stop(stage.core, ANN, THREAD, "enough")
    gate.open.set()
    turn = await stage.ended(started.run, started.seq)
    assert turn.status == "stopped"
    assert slow.deeds.done == []

    turn = await stage.say("again")

    said = await stage.messages()
    closed = [message for message in said if isinstance(message, ToolMessage)]
    assert [message.tool_call_id for message in closed] == ["c0", "c1"]
    assert {message.status for message in closed} == {"error"}
    assert [message.type for message in said] == ["human", "ai", "tool", "tool", "human", "ai"]


@on_sqlite
async def test_a_stop_of_a_thread_that_does_nothing_says_so(host: Host) -> None:
    stage = await host(agent([], AIMessage("hi")))
    await stage.say()
    assert not await messages.stop(stage.core, ANN, THREAD, "enough")


@on_sqlite
async def test_a_stop_that_comes_before_the_run_was_claimed_is_heeded(host: Host) -> None:
    deeds = Deeds()
    stage = await host(agent([deeds.tool("send")], [("c1", "send", {"path": "a"})]), started=False)
    started = await stage.send()
    assert await messages.stop(stage.core, ANN, THREAD, "enough")
    await stage.start()

    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "stopped"
    assert deeds.done == []
    assert (await stage.say("go on")).status == "done"


async def test_a_shutdown_lets_the_tool_end_and_the_next_start_continues(host: Host) -> None:
    slow = Slow()
    stage = await host(agent([slow.tool], [("c1", "send", {"path": "a"})], [("c2", "send", {"path": "b"})]))
    started = await stage.send()
    await slow.gate.until_reached()
    closing = asyncio.create_task(stage.close())
    await asyncio.sleep(0)
    slow.gate.open.set()
    async with asyncio.timeout(SECONDS):
        await closing
    assert (await run_of(stage, started.run.id)).status is RunStatus.QUEUED
    assert slow.deeds.done == ["a"]

    await stage.start("another")
    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "done"
    assert slow.deeds.done == ["a", "b"]
    assert await stage.results() == {"c1": "sent a", "c2": "sent b"}


async def test_a_shutdown_while_an_answer_is_taken_sends_it_once(host: Host) -> None:
    gate, heard = Gate(), list[str]()

    async def first(state: MessagesState) -> dict[str, Any]:
        heard.append(interrupt("which?"))
        await gate.stop()
        return {"messages": [AIMessage(heard[-1])]}

    async def second(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("end")]}

    stage = await host(line(MessagesState, first, second))
    turn = await stage.say()
    settled = await stage.answer(turn.request, {"answer": "this"})
    assert settled.run is not None
    await gate.until_reached()
    closing = asyncio.create_task(stage.close())
    await asyncio.sleep(0)
    gate.open.set()
    async with asyncio.timeout(SECONDS):
        await closing
    await stage.start("another")

    turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "done"
    assert heard == ["this"]
    assert [message.text for message in await stage.messages()] == ["go", "this", "end"]


async def test_a_stop_that_comes_while_the_agent_is_about_to_ask_asks_nobody(host: Host) -> None:
    gate = Gate()

    async def node(_state: MessagesState) -> dict[str, Any]:
        await gate.stop()
        interrupt("too late?")
        return {}

    stage = await host(line(MessagesState, node), started=False)
    await stage.send()
    claim = await stage.claim()
    run = GraphRun(stage.core, claim, stage.agent_of(claim), stage.saver.with_lease(claim.lease))
    task = asyncio.create_task(run.execute())
    await gate.until_reached()
    # Written, and not heard of: the worker is another process, or looks only the next second.
    assert await messages.interrupt(stage.core, ANN, THREAD, "enough", "web")
    gate.open.set()
    async with asyncio.timeout(SECONDS):
        await task

    assert await stage.open_requests() == []
    assert (await run_of(stage, claim.run.id)).status is RunStatus.STOPPED


async def test_a_follower_that_went_before_the_run_began_does_not_stop_it(host: Host) -> None:
    slow = Slow()
    stage = await host(agent([slow.tool], [("c1", "send", {"path": "a"})]))
    left_at = stage.core.clock.now() - timedelta(microseconds=1)
    started = await stage.send()
    await slow.gate.until_reached()
    await stop_unfollowed(stage.core, THREAD, left_at)
    assert (await run_of(stage, started.run.id)).stop_reason is None
    await stop_unfollowed(stage.core, THREAD, stage.core.clock.now())
    assert (await run_of(stage, started.run.id)).stop_reason is not None
    slow.gate.open.set()
    assert (await stage.ended(started.run, started.seq)).status == "stopped"
