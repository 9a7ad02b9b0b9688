"""What a remembered permission knows a tool again by."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import END, START, MessagesState, StateGraph

from interlock.agents.tool_definition import definition_of
from interlock.domain.grant import GrantScope
from interlock.langchain import InterlockMiddleware
from interlock.runners.arguments import NOTHING_KNOWN, errors_in, schema_of
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent
from tests.runners.stage import own_thread
from tests.runners.test_granted import remember, with_ann

pytestmark = pytest.mark.promise("P11")


def sending(deeds: Deeds, what: str) -> BaseTool:
    """Tools that differ in nothing but a value that they close over."""

    def send(path: str) -> str:
        deeds.note(f"{what} {path}")
        return path

    return StructuredTool.from_function(send, name="send", description="Send it.")


def made_of(function: Callable[..., Any]) -> str:
    return definition_of(StructuredTool.from_function(function, name="send", description="Send it."))


def test_a_tool_is_known_again_by_its_place_its_code_and_what_it_closes_over() -> None:
    deeds = Deeds()
    reminder = definition_of(sending(deeds, "reminder"))

    assert definition_of(sending(Deeds(), "reminder")) == reminder
    assert definition_of(sending(deeds, "MONEY")) != reminder
    assert definition_of(sending(deeds, "reminder"), "inner") != reminder
    lambdas: list[Callable[[str], str]] = [lambda path: path, lambda path: path * 2, lambda path: path * 3]
    assert len({*map(made_of, lambdas), reminder}) == 4


@on_sqlite
@pytest.mark.parametrize("gate", [InterlockMiddleware, HumanInTheLoopMiddleware])
@pytest.mark.parametrize("scope", [GrantScope.THIS_ACTION, GrantScope.THIS_TOOL])
async def test_a_grant_does_not_reach_a_look_alike_in_another_graph(
    host: Host, gate: Callable[[Any], Any], scope: GrantScope
) -> None:
    deeds = Deeds()
    call = ("c1", "send", {"path": "x"})

    def made(what: str) -> Any:
        return agent([sending(deeds, what)], [call], middleware=[gate({"send": True})])

    def way(state: MessagesState) -> str:
        return "other" if state["messages"][-1].text == "other" else "first"

    builder: Any = StateGraph(MessagesState)
    builder.add_node("first", made("reminder")).add_node("other", made("MONEY"))
    builder.add_conditional_edges(START, way, ["first", "other"]).add_edge("first", END).add_edge("other", END)
    stage = await host(builder)
    await with_ann(stage)
    turn = await stage.say("first")
    settled = await remember(stage, turn.request.id, scope)
    assert settled.run is not None
    await stage.ended(settled.run, settled.seq)

    turn = await stage.say("other", own_thread(1))

    assert turn.status == "paused", turn.error
    assert deeds.done == ["reminder x"]
    turn = await stage.say("first", own_thread(2))
    assert turn.status == "done", turn.error
    assert deeds.done == ["reminder x", "reminder x"]


@pytest.mark.parametrize(
    "part",
    [
        {"$ref": "http://127.0.0.1:9/x.json"},
        {"$ref": "file:///etc/hostname"},
        {"$ref": "#/$defs/Nowhere"},
        {"$ref": "#/$defs/Far"},
    ],
    ids=str,
)
def test_a_schema_of_a_tool_elsewhere_is_not_looked_for_elsewhere(part: dict[str, Any]) -> None:
    far = {"$id": "http://127.0.0.1:9/", "type": "string"}
    schema = {"type": "object", "properties": {"query": part}, "$defs": {"Near": {"type": "integer"}, "Far": far}}
    asked: Any = StructuredTool(name="look_up", description="A tool of a server elsewhere.", args_schema=schema)
    assert schema_of(asked, {"function": {"parameters": schema}}) == NOTHING_KNOWN
    near = {**schema, "properties": {"query": {"$ref": "#/$defs/Near"}}, "$defs": {"Near": {"type": "integer"}}}
    [error] = errors_in(schema_of(asked, {"function": {"parameters": near}}), {"query": "x"})
    assert error.field == "args.query"
