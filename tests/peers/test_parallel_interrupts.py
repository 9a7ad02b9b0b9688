"""Faults of other systems where several ask at once: ids are shared, answers go astray, asks come back."""

import asyncio
import operator
import random
from typing import Annotated, Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.types import interrupt
from typing_extensions import TypedDict

from interlock.langchain import InterlockMiddleware
from tests.peers.sdk import calling, interrupts_of
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent, by_hand, line
from tests.runners.stage import SECONDS

pytestmark = [pytest.mark.promise("P8"), on_sqlite]
SHAPES = ("circle", "square", "triangle")


def drawing(deeds: Deeds, shape: str) -> BaseTool:
    def create(shape_id: str, color: str) -> str:
        response = interrupt({"tool": f"create_{shape}", "shapeId": shape_id, "color": color})
        deeds.note(shape)
        return f"Created {shape} {shape_id}. Response: {response}"

    return StructuredTool.from_function(create, name=f"create_{shape}", description=f"Create a {shape}.")


@pytest.mark.parametrize("made", [agent, by_hand])
async def test_parallel_tools_do_not_share_an_interrupt_id(host: Host, made: Any) -> None:
    """langgraph 6624, 6626 (6627 and 6633 were closed unmerged): `{one.id: answer}` of three asks had one entry."""
    deeds = Deeds()
    calls = [(f"c{n}", f"create_{shape}", {"shape_id": str(n), "color": "red"}) for n, shape in enumerate(SHAPES)]
    stage = await host(made([drawing(deeds, shape) for shape in SHAPES], calls))
    ids: list[str] = []
    async with calling(stage) as caller:
        result = await caller.run()
        while asked := interrupts_of(result):
            ids += asked
            result = await caller.resume({key: f"approved {value['tool']}" for key, value in asked.items()})

    assert len(set(ids)) == len(ids) == 3
    told = [message["content"] for message in result["messages"] if message["type"] == "tool"]
    assert told == [f"Created {shape} {n}. Response: approved create_{shape}" for n, shape in enumerate(SHAPES)]
    assert sorted(deeds.done) == sorted(SHAPES)


def expecting(name: str, moments: random.Random) -> BaseTool:
    async def ask() -> str:
        # The reporter's delay: who asks first is another one each time.
        for _ in range(moments.randrange(20)):
            await asyncio.sleep(0)
        first, second = f"Interrupt {name}", f"Interrupt {name} again"
        assert interrupt(first) == first
        assert interrupt(second) == second
        return name

    return StructuredTool.from_function(coroutine=ask, name=f"tool_{name}", description="Expects its own value.")


@pytest.mark.parametrize("made", [agent, by_hand])
async def test_no_answer_is_delivered_to_another_tool(host: Host, made: Any) -> None:
    """langgraph 6533: "Expected Interrupt A, got Interrupt B"."""
    names, moments = "ABCD", random.Random(6533)
    stage = await host(made([expecting(name, moments) for name in names], [(f"c{n}", f"tool_{n}", {}) for n in names]))
    async with calling(stage) as caller:
        result = await caller.run()
        while asked := interrupts_of(result):
            # One at a time, the last one first, as people would.
            key, value = list(asked.items())[-1]
            result = await caller.resume({key: value})

    assert [message["content"] for message in result["messages"] if message["type"] == "tool"] == list(names)


class Said(TypedDict, total=False):
    said: Annotated[list[str], operator.add]


async def test_an_answered_interrupt_does_not_fire_again_while_others_wait(host: Host) -> None:
    """langgraph 5952: two nodes side by side with several interrupts each, resumed one by one by their ids."""
    entered: list[str] = []

    def asking(name: str) -> Any:
        def node(state: Said) -> Said:
            entered.append(name)
            return {"said": [f"{name} {n}: {interrupt(f'{name} interrupt {n}')}" for n in range(2)]}

        node.__name__ = name
        return node

    def node1(state: Said) -> Said:
        return {"said": ["node1"]}

    builder = line(Said, node1)
    for name in ("node2", "node3"):
        builder.add_node(name, asking(name)).add_edge("node1", name).add_edge(name, "__end__")
    stage = await host(builder)
    seen: list[str] = []
    async with calling(stage) as caller:
        result = await caller.run({"said": []})
        while asked := interrupts_of(result):
            (key, value), *others = asked.items()
            assert key not in seen
            seen.append(key)
            before = list(entered)
            result = await caller.resume({key: value.upper()})
            shown = {one["id"] for one in (await caller.state())["interrupts"]}
            assert key not in shown
            assert {other for other, _ in others} <= shown
            # No node is run again for a sibling's answer, only when the whole pause is answered.
            assert not others or entered == before

    assert len(seen) == 4
    assert sorted(result["said"]) == sorted(
        ["node1", *(f"{name} {n}: {name.upper()} INTERRUPT {n}" for name in ("node2", "node3") for n in range(2))]
    )


@pytest.mark.promise("P6")
async def test_fifty_six_approvals_of_one_step_can_all_be_given(host: Host) -> None:
    """convex agent 354: 56 calls in one step; approving them in a loop ran out of time, and all of it rolled back."""
    deeds = Deeds()
    many = [(f"c{n}", "create_location", {"path": str(n)}) for n in range(56)]
    gate = InterlockMiddleware({"create_location": True})
    stage = await host(agent([deeds.tool("create_location")], many, middleware=[gate]))
    turn = await stage.say()
    assert len(turn.requests) == 56
    async with asyncio.timeout(SECONDS):
        settled = await asyncio.gather(*(stage.answer(one, {"decision": "accept"}) for one in turn.requests))
    [last] = [one for one in settled if one.run is not None]
    assert last.run is not None

    turn = await stage.ended(last.run, last.seq)

    assert turn.status == "done", turn.error
    assert sorted(deeds.done) == sorted(f"create_location {n}" for n in range(56))


async def test_approvals_in_a_row_send_nothing_a_second_time(host: Host) -> None:
    """openai-agents-js 1435: the second streamed approval sent the first one's result once more, and was refused."""
    deeds = Deeds()

    @tool
    def ping(host: str) -> str:
        """Ping a host."""
        deeds.note(host)
        return f"pong {host}"

    lines = [[(f"c{n}", "ping", {"host": f"{n}.example.com"})] for n in range(3)]
    stage = await host(agent([ping], *lines, middleware=[InterlockMiddleware({"ping": True})]))
    async with calling(stage) as caller:
        given: dict[str, Any] = {"input": {"messages": [("user", "go")]}}
        for _ in range(4):
            parts = [part async for part in caller.sdk.runs.stream(caller.thread_id, "agent", **given)]
            asked = interrupts_of([part.data for part in parts if part.event == "values"][-1])
            if not asked:
                break
            given = {"command": {"resume": {key: {"decisions": [{"type": "approve"}]} for key in asked}}}
        messages: list[dict[str, Any]] = (await caller.state())["values"]["messages"]

    assert deeds.done == [f"{n}.example.com" for n in range(3)]
    assert [one["tool_call_id"] for one in messages if one["type"] == "tool"] == ["c0", "c1", "c2"]
