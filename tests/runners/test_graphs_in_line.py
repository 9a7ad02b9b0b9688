"""Graphs that one task calls one after the other: each goes on with what it was given itself, also where some of them
are left out the next time."""

import asyncio
from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState
from langgraph.prebuilt import ToolNode
from langgraph.types import RetryPolicy, interrupt
from typing_extensions import TypedDict

import interlock
from interlock.domain.request import Request
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import by_hand, calls, line
from tests.runners.stage import Stage, Turn, words_of
from tests.support.bodies import shown

pytestmark = pytest.mark.promise("P6", "P8", "P10")
TARGETS = ("staging", "PRODUCTION", "dev")


class Confirm(TypedDict):
    what: str
    agreed: bool


def confirm(state: Confirm) -> dict[str, Any]:
    return {"agreed": interrupt({"question": f"Delete {state['what']}?"})}


CONFIRM = line(Confirm, confirm).compile()


def agreed(what: str) -> bool:
    return CONFIRM.invoke({"what": what})["agreed"] is True


async def told(stage: Stage, turn: Turn, doubt: str = "anew") -> tuple[Turn, list[str]]:
    """Yes to all but PRODUCTION, however often it is asked, and this about graphs in doubt."""
    asked: list[str] = []
    for _ in range(12):
        if turn.status != "paused":
            break
        asked.append(words_of(turn.request))
        turn = await stage.reply(turn.request, reply_to(turn.request, doubt))
    return turn, asked


def is_doubt(request: Request) -> bool:
    return shown(request).get("decision_type") == "graph_in_doubt"


def reply_to(request: Request, doubt: str) -> dict[str, Any]:
    if is_doubt(request):
        return {"decision": doubt}
    return {"answer": "PRODUCTION" not in words_of(request)}


async def test_a_graph_after_a_single_tool_call_with_a_graph_inside_asks_for_itself(host: Host) -> None:
    deeds = Deeds()

    @tool
    def prepare(what: str) -> str:
        """Ask, then prepare."""
        return str(agreed(f"a copy of {what}"))

    def node(state: MessagesState) -> dict[str, Any]:
        ToolNode([prepare]).invoke({"messages": [calls(("c1", "prepare", {"what": "staging"}))]})
        for what in TARGETS:
            if agreed(what):
                interlock.effect(what, lambda what=what: deeds.note(f"delete {what}"))
        return {}

    stage = await host(line(MessagesState, node))

    turn, asked = await told(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert deeds.done == ["delete staging", "delete dev"]
    assert asked == [f"Delete {what}?" for what in ("a copy of staging", *TARGETS)]


async def test_what_is_left_out_of_a_list_leaves_its_answer_to_nobody(host: Host) -> None:
    deeds = Deeds()

    def node(state: MessagesState) -> dict[str, Any]:
        for what in TARGETS:
            if f"delete {what}" not in deeds.done and agreed(what):
                deeds.note(f"delete {what}")
        return {}

    stage = await host(line(MessagesState, node))

    turn, asked = await told(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert deeds.done == ["delete staging", "delete dev"]
    assert asked == [f"Delete {what}?" for what in TARGETS]


@pytest.mark.parametrize(("doubt", "deleted"), [("anew", ["staging", "dev"]), (None, ["staging"])])
async def test_a_graph_that_comes_where_another_had_ended_is_put_to_a_person(
    host: Host, doubt: str | None, deleted: list[str]
) -> None:
    """Whether it is that one with another input, or another one, nobody can tell."""
    deeds = Deeds()

    def node(state: MessagesState) -> dict[str, Any]:
        for what in TARGETS:
            if f"delete {what}" not in deeds.done:
                if agreed(what):
                    deeds.note(f"delete {what}")
                interrupt({"question": f"Go on after {what}?"})
        return {}

    stage = await host(line(MessagesState, node))
    turn = await stage.say()
    if doubt is None:
        for _ in range(12):
            if turn.status != "paused" or is_doubt(turn.request):
                break
            turn = await stage.reply(turn.request, {"answer": True})
        description = shown(turn.request)["description"]
        assert "PRODUCTION" in description
        assert "staging" in description
    else:
        turn, asked = await told(stage, turn, doubt)
        assert turn.status == "done", turn.error
        assert "Delete PRODUCTION?" in asked

    assert deeds.done == [f"delete {what}" for what in deleted]


@pytest.mark.parametrize("is_beside", [False, True])
async def test_a_graph_goes_on_when_its_node_is_tried_again(host: Host, is_beside: bool) -> None:
    deeds, attempts = Deeds(), list[int]()

    def mail(state: Confirm) -> dict[str, Any]:
        interlock.effect("mail", lambda: deeds.note(f"mail {state['what']}"))
        return {"agreed": True}

    mailer = line(Confirm, mail).compile()

    async def node(state: MessagesState) -> dict[str, Any]:
        mailed = mailer.ainvoke({"what": "ann"})
        await (asyncio.wait_for(mailed, 20) if is_beside else mailed)
        attempts.append(1)
        if len(attempts) < 3:
            raise ConnectionError("try again")
        return {}

    builder = line(MessagesState)
    policy = RetryPolicy(initial_interval=0, max_attempts=4, jitter=False, retry_on=ConnectionError)
    builder.add_node("node", node, retry_policy=policy).add_edge(START, "node").add_edge("node", END)
    stage = await host(builder)

    turn = await stage.say()

    assert turn.status == "done", turn.error
    assert (len(attempts), deeds.done) == (3, ["mail ann"])


@pytest.mark.parametrize("is_beside", [False, True])
async def test_a_graph_that_is_called_again_after_it_failed_does_not_repeat_the_call_that_failed(
    host: Host, is_beside: bool
) -> None:
    deeds = Deeds()

    @tool
    def charge(amount: int) -> str:
        """It took effect before it raised, for all that is known."""
        deeds.note(f"charge {amount}")
        raise ConnectionError("504")

    cashier = by_hand([charge], [("c1", "charge", {"amount": 5})], handle_tool_errors=False).compile()

    async def node(state: MessagesState) -> dict[str, Any]:
        for _ in range(3):
            try:
                charged = cashier.ainvoke({"messages": [HumanMessage("charge")]})
                await (asyncio.wait_for(charged, 20) if is_beside else charged)
            except ConnectionError:
                continue
        return {}

    stage = await host(line(MessagesState, node))

    turn = await stage.say()

    assert turn.status == "failed"
    assert deeds.done == ["charge 5"]


def added(before: list[str] | None, more: list[str]) -> list[str]:
    return [*(before or []), *more]


class Memory(TypedDict):
    heard: Annotated[list[str], added]


@on_sqlite
@pytest.mark.parametrize("is_beside", [False, True])
async def test_a_graph_with_a_memory_keeps_it_from_one_message_to_the_next(host: Host, is_beside: bool) -> None:
    heard: list[list[str]] = []

    def listen(state: Memory) -> dict[str, Any]:
        heard.append(state["heard"])
        return {}

    memory = line(Memory, listen).compile(checkpointer=True)

    async def node(state: MessagesState) -> dict[str, Any]:
        listening = memory.ainvoke({"heard": [state["messages"][-1].text]})
        await (asyncio.wait_for(listening, 20) if is_beside else listening)
        return {}

    stage = await host(line(MessagesState, node))

    for text in ("one", "two"):
        turn = await stage.say(text)
        assert turn.status == "done", turn.error

    assert heard == [["one"], ["one", "two"]]
