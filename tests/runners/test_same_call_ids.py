"""Models that number their calls use one id in several graphs at once: no approval and no effect is shared by it."""

import asyncio
from itertools import pairwise
from typing import Any, cast

import pytest
from deepagents import create_deep_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt

from interlock.domain.effect import EffectState
from interlock.domain.request import Request
from interlock.langchain import InterlockMiddleware
from interlock.services.runs import lifecycle
from interlock.services.runs.results import Result, result_of
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import Call, agent, by_hand, calls, script
from tests.runners.stage import SECONDS, Stage, Turn
from tests.support.bodies import shown

pytestmark = on_sqlite
SIDES = ("left", "right")


def worker(deeds: Deeds, side: str, *, gated: bool) -> Any:
    """An agent whose one call has the id that the other's has, too."""
    gate = InterlockMiddleware({"delete": True} if gated else {})
    return agent([deeds.tool("delete")], [("d1", "delete", {"path": side})], middleware=[gate])


def as_subgraphs(deeds: Deeds, gated: tuple[str, ...]) -> Any:
    builder: Any = StateGraph(MessagesState)
    for side in SIDES:
        compiled = worker(deeds, side, gated=side in gated)

        async def node(state: MessagesState, compiled: Any = compiled) -> dict[str, Any]:
            found = await compiled.ainvoke({"messages": state["messages"][:1]})
            return {"messages": [AIMessage(found["messages"][-2].text)]}

        builder.add_node(side, node).add_edge(START, side).add_edge(side, END)
    return builder


def as_nodes(deeds: Deeds, gated: tuple[str, ...]) -> Any:
    """The agents themselves are the nodes."""
    builder: Any = StateGraph(MessagesState)
    for side in SIDES:
        builder.add_node(side, worker(deeds, side, gated=side in gated)).add_edge(START, side).add_edge(side, END)
    return builder


def as_subagents(deeds: Deeds, gated: tuple[str, ...]) -> Any:
    subagents: list[Any] = [
        {
            "name": side,
            "description": "helps",
            "system_prompt": "help",
            "model": script([("d1", "delete", {"path": side})], AIMessage("finished")),
            "tools": [deeds.tool("delete")],
            "interrupt_on": {"delete": True} if side in gated else {},
        }
        for side in SIDES
    ]
    tasks = [(f"t-{side}", "task", {"description": "clean up", "subagent_type": side}) for side in SIDES]
    return cast("Any", create_deep_agent)(model=script(tasks), tools=[], subagents=subagents)


def as_tools_of_one_task(deeds: Deeds, gated: tuple[str, ...]) -> Any:
    agents = {side: worker(deeds, side, gated=side in gated) for side in SIDES}

    @tool
    async def delegate(side: str) -> str:
        """Let an agent do it."""
        return (await agents[side].ainvoke({"messages": [("user", side)]}))["messages"][-1].text

    return by_hand([delegate], [(f"t-{side}", "delegate", {"side": side}) for side in SIDES])


ALL = [as_subgraphs, as_nodes, as_subagents, as_tools_of_one_task]


async def answered(stage: Stage, turn: Turn, answers: dict[str, dict[str, Any]]) -> Turn:
    """Give each side its answer, whether both ask at once or one after the other."""
    for _ in range(4):
        if turn.status != "paused":
            break
        *others, last = turn.requests
        for request in others:
            await stage.answer(request, answers[_side(request)])
        turn = await stage.reply(last, answers[_side(last)])
    return turn


def _side(request: Request) -> str:
    return shown(request)["args"]["path"]


@pytest.mark.parametrize("build", ALL)
@pytest.mark.parametrize("refused", SIDES)
async def test_a_yes_to_one_is_no_yes_to_the_other(host: Host, build: Any, refused: str) -> None:
    deeds = Deeds()
    stage = await host(build(deeds, SIDES))
    answers = {side: {"decision": "reject" if side == refused else "accept"} for side in SIDES}

    turn = await answered(stage, await stage.say(), answers)

    assert turn.status == "done", turn.error
    assert deeds.done == [f"delete {side}" for side in SIDES if side != refused]


def nested(deeds: Deeds, *, outer: bool) -> Any:
    """An agent that has two others work, all of which number their calls alike; the outer or the inner ones ask."""
    gate = InterlockMiddleware({"delegate" if outer else "delete": True})
    inner = {
        side: agent(
            [deeds.tool("delete")],
            [(f"c{number}", "delete", {"path": f"{side} {number}"}) for number in (1, 2)],
            middleware=[] if outer else [gate],
        )
        for side in SIDES
    }

    @tool
    async def delegate(side: str) -> str:
        """Let an agent do it."""
        return (await inner[side].ainvoke({"messages": [("user", side)]}))["messages"][-1].text

    made = [(f"c{number}", "delegate", {"side": side}) for number, side in enumerate(SIDES, 1)]
    return by_hand([delegate], made, **({"awrap_tool_call": gate.awrap_tool_call} if outer else {}))


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("dies", [True, False])
async def test_an_approval_in_one_graph_is_not_held_against_the_call_around_it_or_those_inside(
    host: Host, monkeypatch: pytest.MonkeyPatch, outer: bool, dies: bool
) -> None:
    deeds = Deeds()
    stage = await host(nested(deeds, outer=outer), started=False)
    started = await stage.send()
    if dies:
        with monkeypatch.context() as broken:
            broken.setattr(lifecycle, "open_pause", killed)
            with pytest.raises(asyncio.CancelledError):
                await (await stage.dying()).execute()
    await stage.start()
    turn = await stage.ended(started.run, started.seq)
    while turn.status == "paused":
        *others, last = turn.requests
        for request in others:
            await stage.answer(request, {"decision": "accept"})
        turn = await stage.reply(last, {"decision": "accept"})

    assert turn.status == "done", turn.error
    assert sorted(deeds.done) == [f"delete {side} {number}" for side in SIDES for number in (1, 2)]


async def test_what_came_of_a_call_is_not_what_came_of_one_inside_it(host: Host) -> None:
    deeds = Deeds()
    stage = await host(nested(deeds, outer=True))
    turn = await stage.say()
    asked = turn.request

    while turn.status == "paused":
        turn = await stage.reply(turn.request, {"decision": "accept"})

    async with stage.core.store.snapshot() as tx:
        thread = await tx.threads.get(asked.thread_id)
        assert thread is not None
        answers = await tx.answers.of_requests([asked.id])
        result = await result_of(tx, thread, asked, answers[asked.id])
    assert result == Result("success", "done")


async def killed(*_: Any, **__: Any) -> Any:
    raise asyncio.CancelledError


@pytest.mark.parametrize("build", ALL)
@pytest.mark.parametrize("gated", SIDES)
async def test_a_call_that_nobody_asks_about_is_not_held_against_an_approval_of_another(
    host: Host, build: Any, gated: str
) -> None:
    deeds = Deeds()
    stage = await host(build(deeds, (gated,)))

    turn = await answered(stage, await stage.say(), {gated: {"decision": "accept"}})

    assert turn.status == "done", turn.error
    assert sorted(deeds.done) == ["delete left", "delete right"]
    effects = [effect for effect in await stage.effects() if effect.tool == "delete"]
    assert [effect.state for effect in effects] == [EffectState.DONE] * 2


@pytest.mark.parametrize("build", ALL)
async def test_an_edit_is_of_its_own_call(host: Host, build: Any) -> None:
    deeds = Deeds()
    stage = await host(build(deeds, SIDES))
    answers = {side: {"decision": "edit", "args": {"path": f"{side}, edited"}} for side in SIDES}

    turn = await answered(stage, await stage.say(), answers)

    assert turn.status == "done", turn.error
    assert sorted(deeds.done) == ["delete left, edited", "delete right, edited"]


def asking_first(value: Any, call: Call, called: Any, *between: Any) -> Any:
    """A graph that asks, and then makes the call."""

    def ask(_: MessagesState) -> dict[str, Any]:
        interrupt(value)
        return {"messages": [calls(call)]}

    builder: Any = StateGraph(MessagesState)
    names = [node.__name__ for node in (ask, *between)]
    for name, node in zip(names, (ask, *between), strict=True):
        builder.add_node(name, node)
    builder.add_node("tools", ToolNode([called])).add_edge(START, "ask").add_edge("tools", END)
    for before, after in pairwise([*names, "tools"]):
        builder.add_edge(before, after)
    return builder.compile()


async def test_a_call_that_nobody_asks_about_runs_while_an_approved_one_with_its_id_has_not_begun(host: Host) -> None:
    """Both ask something, so that both go on in the same run; then the approved one waits for the other."""
    deeds, noted = Deeds(), asyncio.Event()

    @tool
    async def note(path: str) -> str:
        """Note."""
        deeds.note(f"note {path}")
        noted.set()
        return path

    async def wait(_: MessagesState) -> None:
        async with asyncio.timeout(SECONDS):
            await noted.wait()

    approved = {"type": "tool_approval", "name": "delete", "args": {"path": "x"}, "tool_call_id": "d1"}
    builder: Any = StateGraph(MessagesState)
    builder.add_node("left", asking_first(approved, ("d1", "delete", {"path": "x"}), deeds.tool("delete"), wait))
    builder.add_node("right", asking_first("Go on?", ("d1", "note", {"path": "y"}), note))
    for side in SIDES:
        builder.add_edge(START, side).add_edge(side, END)
    stage = await host(builder)
    turn = await stage.say()
    approval, question = sorted(turn.requests, key=lambda request: request.kind)
    await stage.answer(approval, {"decision": "accept"})

    turn = await stage.reply(question, {"answer": "on"})

    assert turn.status == "done", turn.error
    assert deeds.done == ["note y", "delete x"]
