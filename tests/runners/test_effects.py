"""Effects: the intent before, the result after, and nothing done twice."""

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command
from sqlalchemy import select
from typing_extensions import TypedDict

import interlock
from interlock import ask
from interlock.domain.canonical import action_digest
from interlock.domain.effect import EffectState
from interlock.domain.event import EventType, ToolEnded
from interlock.storage.schema import effects
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import agent, by_hand, line
from tests.runners.stage import Stage, own_thread
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P6")

ONE = [("c1", "send", {"path": "a"})]


class Heard(TypedDict, total=False):
    topic: str
    heard: Any


async def test_the_intent_is_on_record_while_the_tool_runs_and_the_result_after(host: Host) -> None:
    gate = Gate()

    @tool
    async def send(path: str) -> str:
        """Send."""
        await gate.stop()
        return "sent"

    stage = await host(agent([send], ONE))
    started = await stage.send()
    await gate.until_reached()
    (effect,) = await stage.effects()
    assert effect.state is EffectState.INTENDED
    assert effect.args == {"path": "a"}
    assert effect.digest == action_digest("send", {"path": "a"})
    assert [event.type for event in await stage.events(EventType.TOOL_STARTED, EventType.TOOL_ENDED)] == [
        EventType.TOOL_STARTED
    ]
    gate.open.set()
    assert (await stage.ended(started.run, started.seq)).status == "done"

    (effect,) = await stage.effects()
    assert effect.state is EffectState.DONE
    (ended,) = await stage.events_of(ToolEnded)
    assert ended == ToolEnded("c1", "send", "sent", "success")


async def killed_after(stage: Stage, gate: Gate) -> Any:
    """Have a worker run until the gate, and kill it there."""
    started = await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()
    return started


async def recovered(stage: Stage, started: Any) -> Any:
    await stage.start()
    return await stage.ended(started.run, started.seq)


@pytest.mark.parametrize("kind", ["agent", "by_hand"])
async def test_a_recorded_result_is_returned_and_not_repeated(host: Host, kind: str) -> None:
    deeds, gate = Deeds(), Gate()

    @tool
    async def last(path: str) -> str:
        """Hang after the other one is done."""
        await stage.until_told(EventType.TOOL_ENDED)
        await gate.stop()
        return "last"

    made = [*ONE, ("c2", "last", {"path": "b"})]
    tools = [deeds.tool("send"), tagged(last)]
    stage = await host(agent(tools, made) if kind == "agent" else by_hand(tools, made), started=False)
    started = await killed_after(stage, gate)

    turn = await recovered(stage, started)

    assert turn.status == "done", turn.error
    assert deeds.done == ["send a"]
    assert await stage.results() == {"c1": "send a: ok", "c2": "last"}


def tagged(made: Any) -> Any:
    made.metadata = {"idempotent": True}
    return made


@on_sqlite
async def test_a_recorded_command_is_returned_as_it_was(host: Host) -> None:
    gate, ran = Gate(), list[str]()

    @tool
    async def plan(path: str) -> Any:
        """Return a command."""
        ran.append(path)
        message = ToolMessage("planned", tool_call_id="c1")
        return Command(update={"messages": [message]})

    @tool
    async def last(path: str) -> str:
        """Hang."""
        await stage.until_told(EventType.TOOL_ENDED)
        await gate.stop()
        return "last"

    made = [("c1", "plan", {"path": "a"}), ("c2", "last", {"path": "b"})]
    stage = await host(by_hand([plan, tagged(last)], made), started=False)
    started = await killed_after(stage, gate)

    turn = await recovered(stage, started)

    assert turn.status == "done", turn.error
    assert ran == ["a"]
    assert await stage.results() == {"c1": "planned", "c2": "last"}


async def test_an_idempotent_tool_is_tried_again_with_the_same_key(host: Host) -> None:
    gate, keys = Gate(), list[str]()

    @tool
    async def send(path: str) -> str:
        """Send."""
        keys.append(interlock.idempotency_key())
        await gate.stop()
        return "sent"

    stage = await host(agent([tagged(send)], ONE), started=False)
    started = await killed_after(stage, gate)

    turn = await recovered(stage, started)

    assert turn.status == "done"
    assert len(keys) == 2
    assert len(set(keys)) == 1
    (effect,) = await stage.effects()
    assert effect.key.idempotency_key == keys[0]
    assert effect.state is EffectState.DONE


@on_sqlite
@pytest.mark.parametrize("is_async", [False, True])
async def test_an_effect_of_a_plain_node_happens_once(host: Host, is_async: bool) -> None:
    deeds, gate = Deeds(), Gate()

    def pay() -> dict[str, int]:
        deeds.note("pay")
        return {"paid": 7}

    async def async_pay() -> dict[str, int]:
        return pay()

    def node(state: Heard) -> Heard:
        paid = interlock.effect("pay", pay)
        asyncio.run_coroutine_threadsafe(gate.stop(), loop).result()
        return {"heard": paid}

    async def async_node(state: Heard) -> Heard:
        paid = await interlock.effect("pay", async_pay)
        await gate.stop()
        return {"heard": paid}

    loop = asyncio.get_running_loop()
    stage = await host(line(Heard, async_node if is_async else node), started=False)
    started = await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    await stage.take_over()
    gate.open.set()
    await mortal.kill()

    turn = await recovered(stage, started)

    assert turn.status == "done", turn.error
    assert deeds.done == ["pay"]
    assert (await stage.values())["heard"] == {"paid": 7}
    assert await stage.events(EventType.TOOL_STARTED, EventType.TOOL_ENDED) == []


@on_sqlite
@pytest.mark.parametrize("is_async", [False, True])
async def test_an_effect_may_ask_and_another_one_after_it_too(host: Host, is_async: bool) -> None:
    deeds = Deeds()

    def pay(what: str) -> str:
        answer = ask.clarification(f"how much for {what}?")
        deeds.note(f"{what} {answer}")
        return answer

    async def one() -> str:
        return pay("one")

    async def two() -> str:
        return pay("two")

    def node(state: Heard) -> Heard:
        before = ask.clarification("before?")
        return {"heard": [before, interlock.effect("1", lambda: pay("one")), interlock.effect("2", lambda: pay("two"))]}

    async def async_node(state: Heard) -> Heard:
        before = ask.clarification("before?")
        return {"heard": [before, await interlock.effect("1", one), await interlock.effect("2", two)]}

    stage = await host(line(Heard, async_node if is_async else node))
    turn = await stage.say()
    for question, text in (("before?", "b"), ("how much for one?", "1"), ("how much for two?", "2")):
        assert shown(turn.request)["question"] == question
        turn = await stage.tell(turn.request, text)

    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == ["b", "1", "2"]
    assert deeds.done == ["one 1", "two 2"]


@on_sqlite
async def test_a_sync_effect_in_an_async_node_is_refused_rather_than_hanging(host: Host) -> None:
    async def node(state: Heard) -> Heard:
        return {"heard": interlock.effect("x", lambda: 1)}

    stage = await host(line(Heard, node))
    turn = await stage.say()
    assert turn.status == "failed"
    assert "would block the server" in (turn.error or "")


def test_an_effect_outside_of_a_hosted_run_just_runs() -> None:
    assert interlock.effect("x", lambda: 7) == 7


class _Changing(AgentMiddleware[Any, Any, Any]):
    """Changes the arguments after they were approved."""

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(tool_call={**request.tool_call, "args": {"path": "/"}}))


@on_sqlite
@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_what_differs_from_what_was_approved_does_not_run(host: Host, mode: Any) -> None:
    deeds = Deeds()
    gate: Any = HumanInTheLoopMiddleware({"send": True}, interrupt_mode=mode)
    stage = await host(agent([deeds.tool("send")], ONE, middleware=[gate, _Changing()]))
    turn = await stage.say()

    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "failed"
    assert "what was approved is not what send" in (turn.error or "")
    assert deeds.done == []
    assert await stage.effects() == []


@on_sqlite
async def test_a_tool_that_reports_its_failure_is_done_and_one_that_raises_has_failed(host: Host) -> None:
    @tool
    def send(path: str) -> str:
        """Send."""
        raise ValueError("no such address")

    stage = await host(by_hand([send], ONE, handle_tool_errors=True), agent([send], ONE))
    turn = await stage.say()
    assert turn.status == "done"
    assert [effect.state for effect in await stage.effects()] == [EffectState.DONE]
    (ended,) = await stage.events_of(ToolEnded)
    assert ended.status == "failed"
    assert "no such address" in (await stage.results())["c1"]

    other = await host(agent([send], ONE))
    turn = await other.say(thread=own_thread(1))
    assert turn.status == "failed"
    assert "no such address" in (turn.error or "")
    (effect,) = await other.effects(thread=own_thread(1))
    assert effect.state is EffectState.FAILED


@on_sqlite
@pytest.mark.parametrize("sync_only", [True, False])
async def test_a_tool_node_with_a_wrapper_of_its_own_is_recorded_too(host: Host, sync_only: bool) -> None:
    deeds = Deeds()

    def wrap(request: Any, execute: Any) -> Any:
        deeds.note("wrapped")
        return execute(request)

    async def awrap(request: Any, execute: Any) -> Any:
        deeds.note("wrapped")
        return await execute(request)

    wrapper = {"wrap_tool_call": wrap} if sync_only else {"awrap_tool_call": awrap}
    stage = await host(by_hand([deeds.tool("send")], ONE, **wrapper))
    turn = await stage.say()

    assert turn.status == "done"
    assert deeds.done == ["wrapped", "send a"]
    assert [effect.state for effect in await stage.effects()] == [EffectState.DONE]


@on_sqlite
async def test_the_record_names_the_run_and_its_epoch(host: Host) -> None:
    stage = await host(agent([Deeds().tool("send")], ONE))
    turn = await stage.say()
    async with stage.database.read() as connection:
        row = (await connection.execute(select(effects.c.run_id, effects.c.epoch))).one()
    assert row.run_id == turn.run_id
    assert row.epoch >= 1
