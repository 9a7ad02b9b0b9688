"""Effects inside of tools and nodes: each has a record of its own, and none is doubled or dropped."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy
from sqlalchemy import update
from typing_extensions import TypedDict

import interlock
from interlock import ask
from interlock.domain.effect import EffectState
from interlock.domain.request import PauseOrigin, PauseStatus
from interlock.langchain import InterlockMiddleware
from interlock.services.runs import lifecycle
from interlock.services.runs.effects import RunJournal
from interlock.storage.schema import effects
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import agent, by_hand, line
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P6")


class State(TypedDict, total=False):
    topic: str
    heard: Any


def paying(deeds: Deeds, gate: Gate) -> Any:
    @tool
    async def pay(to: str) -> str:
        """Pay."""

        async def transfer() -> str:
            deeds.note(f"transfer {to}")
            return f"paid {to}"

        deeds.note(f"book {to}")
        receipt = await interlock.effect("transfer", transfer)
        await gate.stop()
        return receipt

    return pay


@pytest.mark.parametrize(("word", "booked"), [("retry", 2), ("skip", 1)])
async def test_a_tool_with_an_effect_inside_is_put_to_a_person_before_it_is_entered_again(
    host: Host, word: str, booked: int
) -> None:
    deeds, gate = Deeds(), Gate()
    stage = await host(by_hand([paying(deeds, gate)], [("c1", "pay", {"to": "ann"})]), started=False)
    started = await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()
    await stage.start()

    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "paused", turn.error
    assert [pause.origin for pause in await stage.pauses(PauseStatus.OPEN)] == [PauseOrigin.EFFECT]
    assert shown(turn.request)["description"].startswith("pay ")
    assert deeds.counts == {"book ann": 1, "transfer ann": 1}
    turn = await stage.reply(turn.request, {"decision": word})
    assert turn.status == "done", turn.error
    assert deeds.counts == {"book ann": booked, "transfer ann": 1}


async def test_two_calls_of_a_tool_have_an_effect_inside_each(host: Host) -> None:
    deeds, gate = Deeds(), Gate()
    gate.open.set()
    made = [(f"c-{to}", "pay", {"to": to}) for to in ("ann", "bob")]
    stage = await host(by_hand([paying(deeds, gate)], made))

    turn = await stage.say()

    assert turn.status == "done", turn.error
    assert deeds.counts == {"book ann": 1, "transfer ann": 1, "book bob": 1, "transfer bob": 1}
    assert await stage.results() == {"c-ann": "paid ann", "c-bob": "paid bob"}


async def test_an_effect_inside_that_an_earlier_version_recorded_is_not_repeated(host: Host) -> None:
    deeds = Deeds()

    @tool
    async def pay(to: str) -> str:
        """Pay, then ask."""

        async def transfer() -> str:
            deeds.note(f"transfer {to}")
            return f"paid {to}"

        receipt = await interlock.effect("transfer", transfer)
        return f"{receipt}, {ask.clarification(f'what for, {to}?')}"

    made = [(f"c-{to}", "pay", {"to": to}) for to in ("ann", "bob")]
    stage = await host(by_hand([pay], made[:1]))
    turn = await stage.say()
    async with stage.database.write() as connection:
        inner = effects.c.call_id == "effect:c-ann/transfer"
        assert (await connection.execute(update(effects).where(inner).values(call_id="effect:transfer"))).rowcount == 1

    turn = await stage.tell(turn.request, "rent")

    assert turn.status == "done", turn.error
    assert deeds.done == ["transfer ann"]
    assert await stage.results() == {"c-ann": "paid ann, rent"}


@on_sqlite
async def test_a_key_that_is_used_twice_in_a_node_is_an_error_and_not_a_dropped_effect(host: Host) -> None:
    deeds = Deeds()

    async def node(state: State) -> State:
        for to in ("ann", "bob"):

            async def transfer(to: str = to) -> None:
                deeds.note(to)

            await interlock.effect("transfer", transfer)
        return {}

    stage = await host(line(State, node))

    turn = await stage.say()

    assert turn.status == "failed"
    assert "used twice" in (turn.error or "")
    assert deeds.done == ["ann"]


@on_sqlite
async def test_an_effect_under_a_retry_policy_is_found_again_by_its_key(host: Host) -> None:
    deeds, attempts = Deeds(), list[int]()

    async def transfer() -> str:
        deeds.note("transfer")
        return "paid"

    async def node(state: State) -> State:
        attempts.append(1)
        receipt = await interlock.effect("transfer", transfer)
        if len(attempts) < 3:
            raise ConnectionError("try again")
        return {"heard": receipt}

    builder: Any = StateGraph(State)
    policy = RetryPolicy(max_attempts=4, initial_interval=0.01, jitter=False)
    builder.add_node("node", node, retry_policy=policy).add_edge(START, "node").add_edge("node", END)
    stage = await host(builder)

    turn = await stage.say()

    assert turn.status == "done", turn.error
    assert deeds.done == ["transfer"]
    assert (await stage.values())["heard"] == "paid"
    assert [effect.state for effect in await stage.effects()] == [EffectState.DONE]


@on_sqlite
async def test_an_effect_that_failed_may_be_tried_again_under_its_key(host: Host) -> None:
    deeds = Deeds()

    async def charge() -> str:
        deeds.note("charge")
        if len(deeds.done) < 3:
            raise ConnectionError
        return "paid"

    async def node(state: State) -> State:
        for _ in range(3):
            try:
                return {"heard": await interlock.effect("charge", charge, idempotent=True)}
            except ConnectionError:
                continue
        return {}

    stage = await host(line(State, node))

    turn = await stage.say()

    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == "paid"


@on_sqlite
async def test_what_is_declared_of_a_tool_is_not_declared_of_those_that_it_calls(host: Host) -> None:
    deeds, gate = Deeds(), Gate()

    @tool
    async def send(path: str) -> str:
        """Send."""
        deeds.note(path)
        await gate.stop()
        return path

    inner = by_hand([send], [("d1", "send", {"path": "x"})]).compile()

    @tool
    async def research(path: str) -> str:
        """Let another agent do it."""
        return (await inner.ainvoke({"messages": [("user", path)]}))["messages"][-1].text

    middleware = InterlockMiddleware(idempotent={"research"})
    stage = await host(agent([research], [("c1", "research", {"path": "x"})], middleware=[middleware]), started=False)
    started = await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()
    await stage.start()

    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "paused", turn.error
    assert shown(turn.request)["description"].startswith("send ")
    assert deeds.done == ["x"]


@on_sqlite
async def test_a_run_waits_for_an_effect_that_is_about_to_begin_when_another_asks(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its intent would stand without an end, and a person would be asked what became of it."""
    pausing, write = asyncio.Event(), lifecycle.open_pause
    begin = RunJournal.begin

    async def pause(*args: Any, **more: Any) -> Any:
        pausing.set()
        return await write(*args, **more)

    async def begin_slowly(self: Any, task: str, call_id: str, *args: Any, **more: Any) -> Any:
        begun = await begin(self, task, call_id, *args, **more)
        if call_id == "effect:b":
            with suppress(TimeoutError):
                await asyncio.wait_for(pausing.wait(), 0.5)
        return begun

    async def asks() -> str:
        return ask.clarification("a?")

    async def acts() -> str:
        return "b"

    async def node(state: State) -> State:
        return {"heard": await asyncio.gather(interlock.effect("a", asks), interlock.effect("b", acts))}

    monkeypatch.setattr(lifecycle, "open_pause", pause)
    monkeypatch.setattr(RunJournal, "begin", begin_slowly)
    stage = await host(line(State, node))
    turn = await stage.say()
    turn = await stage.tell(turn.request, "A?")

    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == ["A?", "b"]
