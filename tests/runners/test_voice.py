"""What the agent says reaches the log once, in whatever form its nodes give it."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.config import get_stream_writer
from langgraph.graph import MessagesState
from langgraph.types import Command, interrupt

from interlock.domain.event import AssistantMessage, Custom
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import agent, line
from tests.runners.stage import Stage

pytestmark = on_sqlite


async def said(stage: Stage) -> list[str]:
    return [one.text for one in await stage.events_of(AssistantMessage)]


def formed(form: str, text: str) -> Any:
    match form:
        case "message":
            return {"messages": [AIMessage(text)]}
        case "message with id":
            return {"messages": AIMessage(text, id=text)}
        case "pair":
            return {"messages": [("ai", text)]}
        case "object":
            return {"messages": [{"role": "assistant", "content": text}]}
        case _:
            return Command(update={"messages": [AIMessage(text)]})


@pytest.mark.parametrize("form", ["message", "message with id", "pair", "object", "command"])
async def test_every_form_of_a_message_is_told_once(host: Host, form: str) -> None:
    def first(state: MessagesState) -> Any:
        return formed(form, "one")

    def second(state: MessagesState) -> Any:
        return formed(form, "two")

    def third(state: MessagesState) -> Any:
        return formed(form, f"three {interrupt('?')}")

    stage = await host(line(MessagesState, first, second, third))
    turn = await stage.say()
    assert await said(stage) == ["one", "two"]

    await stage.tell(turn.request, "!")
    assert await said(stage) == ["one", "two", "three !"]

    await stage.say("again")
    assert (await said(stage))[:3] == ["one", "two", "three !"]
    assert (await said(stage)).count("three !") == 1


async def test_what_an_agent_in_a_node_says_is_told_once(host: Host) -> None:
    inner = agent([], AIMessage("inner voice"))
    builder: Any = line(MessagesState)
    builder.add_node("inner", inner).add_edge("__start__", "inner").add_edge("inner", "__end__")
    stage = await host(builder)
    await stage.say()
    assert await said(stage) == ["inner voice"]


async def test_what_a_graph_streams_of_its_own_is_in_the_log(host: Host) -> None:
    def node(state: MessagesState) -> dict[str, Any]:
        get_stream_writer()({"percent": 50})
        return {"messages": [AIMessage("half")]}

    stage = await host(line(MessagesState, node))
    await stage.say()
    assert await stage.events_of(Custom) == [Custom({"percent": 50})]
