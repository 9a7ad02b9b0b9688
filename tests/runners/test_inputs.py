"""Runs that are started with what their graph takes, and not with a text."""

import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.func import entrypoint  # pyright: ignore[reportUnknownVariableType]
from langgraph.graph import MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from interlock.domain.errors import InvalidInput
from interlock.domain.event import UserMessage
from interlock.domain.run_input import GraphCommand, GraphInput, RunSettings, Send
from interlock.services.threads import messages, threads
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import by_hand, line
from tests.runners.stage import ANN, THREAD, Stage, Turn
from tests.support.bodies import shown


class Order(TypedDict, total=False):
    item: str
    count: int
    seen: Annotated[list[str], operator.add]


def note(state: Order) -> dict[str, Any]:
    return {"seen": [f"{state.get('item')} x{state.get('count')}"]}


def again(state: Order) -> dict[str, Any]:
    return {"seen": ["again"]}


async def give(stage: Stage, values: Any, **more: Any) -> Turn:
    started = await messages.send_input(stage.core, ANN, THREAD, GraphInput(values, **more))
    return await stage.ended(started.run, started.seq)


@on_sqlite
async def test_a_graph_gets_the_input_as_it_is_and_its_output_is_its_reply(host: Host) -> None:
    stage = await host(line(Order, note))
    turn = await give(stage, {"item": "tea", "count": 2})

    assert turn.status == "done"
    assert await stage.values() == {"item": "tea", "count": 2, "seen": ["tea x2"]}
    told = [(message.role, message.content) for message in await threads.history(stage.core, ANN, THREAD)]
    assert told[0] == ("user", '{"item": "tea", "count": 2}')
    assert told[1][0] == "assistant"
    assert '"tea x2"' in told[1][1]
    async with stage.core.store.snapshot() as tx:
        thread = await tx.threads.get(THREAD)
    assert thread is not None
    assert thread.title == '{"item": "tea", "count": 2}'


@on_sqlite
@pytest.mark.parametrize(
    ("values", "field"),
    [
        ([1, 2], "input"),
        ("tea", "input"),
        (None, "input"),
        ({}, "input"),
        ({"item": 7}, "input.item"),
        ({"item": "tea", "size": "large"}, "input.size"),
        ({"item": "x" * 1_000_000, "count": "y" * 1_000_000}, "input.count"),
    ],
)
async def test_what_the_graph_does_not_take_is_refused_by_field_and_starts_nothing(
    host: Host, values: Any, field: str
) -> None:
    stage = await host(line(Order, note))
    with pytest.raises(InvalidInput) as refused:
        await give(stage, values)
    assert [error.field for error in refused.value.errors] == [field]
    assert len(refused.value.message) < 2_000
    assert await stage.events() == []


@on_sqlite
async def test_a_breakpoint_at_a_node_that_there_is_not_is_refused(host: Host) -> None:
    stage = await host(line(Order, note))
    with pytest.raises(InvalidInput, match="known: note"):
        await give(stage, {"item": "tea"}, settings=RunSettings(interrupt_before=("nota",)))


@on_sqlite
async def test_messages_may_come_in_any_form_and_are_told_as_words(host: Host) -> None:
    def reply(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", f"heard {state['messages'][-1].text}")]}

    stage = await host(line(MessagesState, reply))
    await give(stage, {"messages": [{"role": "user", "content": "hi"}]})
    assert [message.text for message in await stage.messages()] == ["hi", "heard hi"]
    assert [said.text for said in await stage.events_of(UserMessage)] == ["hi"]


@on_sqlite
async def test_a_function_that_is_a_graph_takes_what_it_says(host: Host) -> None:
    @entrypoint()
    def double(number: int) -> int:
        return number * 2

    stage = await host(double)
    assert (await give(stage, 21)).status == "done"
    assert (await threads.history(stage.core, ANN, THREAD))[-1].content == "42"
    with pytest.raises(InvalidInput):
        await give(stage, "twenty-one")


@dataclass
class Tenant:
    name: str


def configured() -> Any:
    def ask(state: Order, config: RunnableConfig, runtime: Runtime[Tenant]) -> dict[str, Any]:
        given = config.get("configurable", {})
        before = f"{given.get('model')} {runtime.context.name} {config.get('tags')}"
        return {"seen": [f"{before} {interrupt('go on?')}"]}

    graph: Any = StateGraph(Order, context_schema=Tenant)
    graph.add_node("ask", ask)
    graph.set_entry_point("ask")
    return graph


@on_sqlite
async def test_config_and_context_hold_for_the_whole_turn_from_wherever_it_is_answered(host: Host) -> None:
    own = {"thread_id": "other", "checkpoint_id": "1", "__pregel_x": 1, "interlock_run": "x", "run_id": "same"}
    config = {"configurable": {"model": "small", **own}, "tags": ["a"]}
    settings = RunSettings.of(config, {"name": "acme"})
    assert settings.configurable == {"model": "small"}
    stage = await host(configured())
    turn = await give(stage, {"item": "tea"}, settings=settings)
    assert turn.status == "paused", turn.error
    turn = await stage.tell(turn.request, "yes")
    assert turn.status == "done", turn.error
    assert (await stage.values())["seen"] == ["small acme ['a'] yes"]


@on_sqlite
@pytest.mark.parametrize("stops", [{"interrupt_before": ("again",)}, {"interrupt_after": ("note",)}])
async def test_breakpoints_of_a_turn_are_passed_by_a_yes_and_are_gone_with_it(host: Host, stops: Any) -> None:
    stage = await host(line(Order, note, again))
    turn = await give(stage, {"item": "tea"}, settings=RunSettings(**stops))
    assert turn.status == "paused"
    assert shown(turn.request)["tool_name"] == "again"
    assert (await stage.values())["seen"] == ["tea xNone"]
    turn = await stage.reply(turn.request, {"decision": "accept"})
    assert turn.status == "done"
    assert (await give(stage, {"item": "milk"})).status == "done"


@on_sqlite
async def test_breakpoints_of_a_turn_stand_beside_those_of_the_graph(host: Host) -> None:
    stage = await host(line(Order, note, again).compile(interrupt_before=["again"]))
    turn = await give(stage, {"item": "tea"}, settings=RunSettings(interrupt_before=("note",)))
    for node in ("note", "again"):
        assert shown(turn.request)["tool_name"] == node
        turn = await stage.reply(turn.request, {"decision": "accept"})
    assert turn.status == "done"


@on_sqlite
async def test_too_many_steps_fail_the_run(host: Host) -> None:
    stage = await host(line(Order, note, again))
    turn = await give(stage, {"item": "tea"}, settings=RunSettings.of({"recursion_limit": 1}))
    assert turn.status == "failed"
    with pytest.raises(InvalidInput, match="recursion_limit"):
        RunSettings.of({"recursion_limit": 0})


@on_sqlite
async def test_a_command_updates_the_state_and_goes_to_a_node(host: Host) -> None:
    stage = await host(line(Order, note, again))
    await give(stage, {"item": "tea", "count": 1})
    command = GraphCommand({"item": "milk"}, (Send("again", {"item": "x"}),))
    turn = await give(stage, None, command=command)
    assert turn.status == "done", turn.error
    values = await stage.values()
    assert values["item"] == "milk"
    assert values["seen"] == ["tea x1", "again", "again"]


async def test_an_input_that_no_worker_sent_is_sent_once(host: Host) -> None:
    stage = await host(line(Order, note), started=False)
    started = await messages.send_input(stage.core, ANN, THREAD, GraphInput({"item": "tea", "seen": ["given"]}))
    await stage.dying()
    await stage.start()
    turn = await stage.ended(started.run, started.seq)
    assert turn.status == "done", turn.error
    assert (await stage.values())["seen"] == ["given", "tea xNone"]


async def test_an_input_that_the_graph_has_is_not_sent_again(host: Host) -> None:
    gate = Gate()

    async def slow(state: Order) -> dict[str, Any]:
        await gate.stop()
        return {"seen": ["slow"]}

    stage = await host(line(Order, slow), started=False)
    settings = RunSettings({"model": "m"}, interrupt_after=("slow",))
    given = GraphInput({"item": "tea", "seen": ["given"]}, settings)
    started = await messages.send_input(stage.core, ANN, THREAD, given)
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()
    await stage.start()
    turn = await stage.ended(started.run, started.seq)
    assert turn.status == "done", turn.error
    assert (await stage.values())["seen"] == ["given", "slow"]


async def test_an_input_waits_behind_an_effect_in_doubt_and_is_sent_when_that_is_settled(host: Host) -> None:
    gate, deeds = Gate(), Deeds()

    async def send(path: str) -> str:
        """Send it."""
        deeds.note(path)
        await gate.stop()
        return "sent"

    stage = await host(by_hand([send], [("c1", "send", {"path": "a"})]), started=False)
    await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()
    await stage.start()
    turn = await stage.ended(mortal.claim.run, 0)
    assert turn.status == "paused"
    await messages.interrupt(stage.core, ANN, THREAD, "not now", "test")

    turn = await give(stage, {"messages": [{"role": "user", "content": "what now?"}]})
    assert turn.status == "paused"
    assert "what now?" not in [message.text for message in await stage.messages()]
    turn = await stage.reply(turn.request, {"decision": "skip"})
    assert turn.status == "done", turn.error
    said = [message.text for message in await stage.messages() if message.type == "human"]
    assert said == ["go", "what now?"]
    assert deeds.done == ["a"]
