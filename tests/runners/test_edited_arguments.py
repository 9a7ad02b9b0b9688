"""An edit is held against what the tool takes before it is accepted, whatever asked for the approval."""

from typing import Annotated, Any, Literal

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode
from pydantic import BaseModel, ConfigDict, Field

from interlock import ask
from interlock.domain.errors import InvalidAnswer
from interlock.domain.request import RequestStatus
from interlock.langchain import InterlockMiddleware
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import agent
from tests.support.bodies import shown

pytestmark = [pytest.mark.promise("P7"), on_sqlite]


class Line(BaseModel):
    item: str
    count: int = Field(default=1, ge=1, le=9)


ordered: list[Any] = []


@tool
def order(
    lines: list[Line],
    speed: Literal["slow", "fast"] = "slow",
    note: str | None = None,
    state: Annotated[Any, InjectedState] = None,
) -> str:
    """Order things."""
    ordered.append((lines, speed, note))
    return "ordered"


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str


@tool(args_schema=Open)
def tag(name: str, **more: Any) -> str:
    """Tag a thing with whatever there is to say."""
    return name


DESCRIBED = {"type": "object", "properties": {"query": {"type": "string", "minLength": 1}}, "required": ["query"]}


@tool("look_up", args_schema=DESCRIBED, description="A tool of a server elsewhere.")
def look_up(**args: Any) -> str:
    return str(args)


MADE = {
    "order": {"lines": [{"item": "tea"}], "speed": "slow"},
    "tag": {"name": "x"},
    "look_up": {"query": "q"},
}
GATES: dict[str, Any] = {
    "interlock": lambda: InterlockMiddleware(interrupt_on=dict.fromkeys(MADE, True)),
    "langchain": lambda: HumanInTheLoopMiddleware(dict.fromkeys(MADE, True)),
    "langchain per call": lambda: HumanInTheLoopMiddleware(dict.fromkeys(MADE, True), interrupt_mode="per_call"),
}


def asking(gate: str, name: str) -> Any:
    return agent([order, tag, look_up], [("c1", name, MADE[name])], middleware=[GATES[gate]()])


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize(
    ("args", "wrong"),
    [
        ({}, {"args.lines": "missing"}),
        ({"lines": "tea"}, {"args.lines": "schema"}),
        ({"lines": [{"count": 1}]}, {"args.lines.0.item": "missing"}),
        ({"lines": [{"item": "tea", "count": 10}]}, {"args.lines.0.count": "schema"}),
        ({"lines": [], "speed": "faster"}, {"args.speed": "schema"}),
        ({"lines": [], "note": 1}, {"args.note": "schema"}),
        ({"lines": [], "sped": "fast"}, {"args.sped": "unknown"}),
        ({"lines": [], "state": {}}, {"args.state": "unknown"}),
        ({"lines": 1, "speed": 2}, {"args.lines": "schema", "args.speed": "schema"}),
    ],
)
async def test_arguments_that_the_tool_does_not_take_are_named_and_nothing_is_settled(
    host: Host, gate: str, args: dict[str, Any], wrong: dict[str, str]
) -> None:
    ordered.clear()
    stage = await host(asking(gate, "order"))
    turn = await stage.say()
    with pytest.raises(InvalidAnswer) as refused:
        await stage.answer(turn.request, {"decision": "edit", "args": args})
    assert {error.field: error.code for error in refused.value.errors} == wrong
    assert [request.status for request in await stage.open_requests()] == [RequestStatus.PENDING]
    turn = await stage.reply(turn.request, {"decision": "edit", "args": {"lines": [{"item": "jam", "count": 2}]}})
    assert turn.status == "done"
    assert ordered == [([Line(item="jam", count=2)], "slow", None)]


async def test_what_was_asked_for_may_be_sent_back_as_an_edit(host: Host) -> None:
    stage = await host(asking("interlock", "order"))
    turn = await stage.say()
    assert (await stage.reply(turn.request, {"decision": "edit", "args": shown(turn.request)["args"]})).status == "done"


async def test_a_tool_that_takes_anything_takes_unknown_names(host: Host) -> None:
    stage = await host(asking("interlock", "tag"))
    turn = await stage.say()
    with pytest.raises(InvalidAnswer):
        await stage.answer(turn.request, {"decision": "edit", "args": {"more": "y"}})
    turn = await stage.reply(turn.request, {"decision": "edit", "args": {"name": "z", "more": "y"}})
    assert turn.status == "done"


async def test_a_tool_that_is_described_by_a_schema_is_held_to_it(host: Host) -> None:
    stage = await host(asking("interlock", "look_up"))
    turn = await stage.say()
    with pytest.raises(InvalidAnswer) as refused:
        await stage.answer(turn.request, {"decision": "edit", "args": {"query": ""}})
    assert [error.field for error in refused.value.errors] == ["args.query"]
    turn = await stage.reply(turn.request, {"decision": "edit", "args": {"query": "q", "more": 1}})
    assert turn.status == "done"


async def test_the_names_of_a_tools_arguments_are_known(host: Host) -> None:
    stage = await host(asking("interlock", "order"))
    turn = await stage.say()
    assert stage.agents.takes(turn.request) == {"lines", "speed", "note"}


def approving(state: MessagesState) -> dict[str, Any]:
    """A node that asks in the name of a tool that it does not call."""
    decided = ask.approval("order", {"what": "tea"})
    return {"messages": [AIMessage(f"{decided.decision} {dict(decided.args)}")]}


async def test_a_call_that_is_not_of_the_tool_by_that_name_is_not_held_against_it(host: Host) -> None:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("approving", approving).add_node("tools", ToolNode([order]))
    builder.add_edge(START, "approving").add_edge("approving", END).add_edge("tools", END)
    stage = await host(builder)
    turn = await stage.say()
    assert stage.agents.takes(turn.request) is None
    turn = await stage.reply(turn.request, {"decision": "edit", "args": {"what": "jam"}})
    assert turn.status == "done"
    assert (await stage.messages())[-1].text == "edit {'what': 'jam'}"
