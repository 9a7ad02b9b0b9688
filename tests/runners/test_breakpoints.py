"""Graphs that were compiled to stop before or after a node."""

from typing import Any

import pytest
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Send, interrupt

from interlock.domain.kinds import RequestKind
from interlock.domain.request import PauseOrigin, PauseStatus
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent, by_hand, line
from tests.support.bodies import shown

pytestmark = on_sqlite


@pytest.fixture
def deeds() -> Deeds:
    return Deeds()


def three(deeds: Deeds, **stops: Any) -> Any:
    def first(state: MessagesState) -> dict[str, Any]:
        deeds.note("first")
        return {"messages": [("ai", "one")]}

    def second(state: MessagesState) -> dict[str, Any]:
        deeds.note("second")
        return {"messages": [("ai", "two")]}

    def third(state: MessagesState) -> dict[str, Any]:
        deeds.note("third")
        return {"messages": [("ai", "three")]}

    return line(MessagesState, first, second, third).compile(**stops)


@pytest.mark.parametrize("stops", [{"interrupt_before": ["second"]}, {"interrupt_after": ["first"]}])
async def test_a_breakpoint_asks_whether_to_go_on(host: Host, deeds: Deeds, stops: Any) -> None:
    stage = await host(three(deeds, **stops))
    turn = await stage.say()
    assert turn.status == "paused"
    assert turn.request.kind is RequestKind.APPROVAL
    assert shown(turn.request)["tool_name"] == "second"
    assert [pause.origin for pause in await stage.pauses(PauseStatus.OPEN)] == [PauseOrigin.BREAKPOINT]
    assert deeds.done == ["first"]

    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done"
    assert deeds.done == ["first", "second", "third"]


@pytest.mark.parametrize("value", [{"decision": "reject"}, None])
async def test_a_refusal_at_a_breakpoint_ends_the_run(host: Host, deeds: Deeds, value: Any) -> None:
    stage = await host(three(deeds, interrupt_before=["second"]))
    turn = await stage.say()

    turn = await stage.reply(turn.request, value)
    assert turn.status == "not_answered"
    assert deeds.done == ["first"]

    turn = await stage.say("again")
    assert shown(turn.request)["tool_name"] == "second"
    assert deeds.done == ["first", "first"]


async def test_every_breakpoint_is_asked_about(host: Host, deeds: Deeds) -> None:
    stage = await host(three(deeds, interrupt_before="*"))
    turn = await stage.say()
    for node in ("first", "second", "third"):
        assert shown(turn.request)["tool_name"] == node
        assert node not in deeds.done
        turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done"
    assert deeds.done == ["first", "second", "third"]


@pytest.mark.parametrize("stops", [{"interrupt_before": ["second"]}, {"interrupt_after": ["first"]}])
async def test_a_crash_at_a_breakpoint_that_was_not_recorded_does_not_pass_it(
    host: Host, deeds: Deeds, stops: Any
) -> None:
    stage = await host(three(deeds, **stops), started=False)
    started = await stage.send()
    mortal = await stage.dying()
    await stage.graph.ainvoke({"messages": [("user", "go")]}, mortal.config, durability="sync")
    assert deeds.done == ["first"]

    await stage.start()
    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "paused"
    assert deeds.done == ["first"]
    turn = await stage.reply(turn.request, {"decision": "accept"})
    assert turn.status == "done"
    assert deeds.done == ["first", "second", "third"]


async def test_a_crash_at_the_next_breakpoint_is_not_answered_by_the_answer_to_the_last(
    host: Host, deeds: Deeds
) -> None:
    stage = await host(three(deeds, interrupt_before=["second", "third"]))
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"decision": "accept"})
    assert settled.run is not None
    dying = await stage.dying()
    await stage.graph.ainvoke(None, dying.config, durability="sync")
    assert deeds.done == ["first", "second"]

    await stage.start()
    turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "paused"
    assert shown(turn.request)["tool_name"] == "third"
    turn = await stage.reply(turn.request, {"decision": "accept"})
    assert turn.status == "done"
    assert deeds.done == ["first", "second", "third"]


async def test_a_crash_after_an_accepted_breakpoint_does_not_ask_again(host: Host, deeds: Deeds) -> None:
    stage = await host(three(deeds, interrupt_before=["second"]))
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"decision": "accept"})
    assert settled.run is not None
    await stage.dying()

    await stage.start()
    turn = await stage.ended(settled.run, settled.seq)

    assert turn.status == "done"
    assert deeds.done == ["first", "second", "third"]


async def test_a_breakpoint_shows_the_calls_that_would_run_in_both_languages(host: Host, deeds: Deeds) -> None:
    sending = by_hand([deeds.tool("send")], [("c1", "send", {"path": "a"}), ("c2", "send", {"path": "b"})])
    stage = await host(sending.compile(interrupt_before=["tools"]))
    turn = await stage.say()

    body = turn.request.body
    calls = [{"id": "c1", "name": "send", "args": {"path": "a"}}, {"id": "c2", "name": "send", "args": {"path": "b"}}]
    assert shown(turn.request)["args"] == {"calls": calls}
    assert body.in_language("en").to_json()["description"] == "The graph stopped before tools."
    assert body.in_language("zh").to_json()["description"] == "图在执行 tools 之前暂停。"
    assert deeds.done == []
    assert (await stage.reply(turn.request, {"decision": "accept"})).status == "done"
    assert len(deeds.done) == 2


async def test_a_breakpoint_before_the_tools_of_langchains_agent_shows_their_calls(host: Host, deeds: Deeds) -> None:
    calls = [("c1", "send", {"path": "a"}), ("c2", "send", {"path": "b"})]
    stage = await host(agent([deeds.tool("send")], calls, interrupt_before=["tools"]))
    turn = await stage.say()

    assert [call["args"] for call in shown(turn.request)["args"]["calls"]] == [{"path": "a"}, {"path": "b"}]
    assert (await stage.reply(turn.request, {"decision": "accept"})).status == "done"
    assert len(deeds.done) == 2


async def test_a_breakpoint_shows_what_was_sent_to_its_node(host: Host, deeds: Deeds) -> None:
    def work(given: dict[str, Any]) -> dict[str, Any]:
        deeds.note(given["where"])
        return {}

    def spread(_state: MessagesState) -> list[Send]:
        return [Send("work", {"where": where}) for where in ("staging", "production")]

    builder: Any = StateGraph(MessagesState)
    builder.add_node("work", work).add_conditional_edges(START, spread, ["work"]).add_edge("work", END)
    stage = await host(builder.compile(interrupt_before=["work"]))
    turn = await stage.say()

    assert shown(turn.request)["args"] == {"inputs": [{"where": "staging"}, {"where": "production"}]}
    assert deeds.done == []


async def test_breakpoints_side_by_side_are_requests_of_their_own_and_one_no_stops_all(
    host: Host, deeds: Deeds
) -> None:
    builder: Any = StateGraph(MessagesState)
    for name in ("left", "right"):
        builder.add_node(name, three(deeds, interrupt_before=["second"]))
        builder.add_edge(START, name).add_edge(name, END)
    stage = await host(builder)
    turn = await stage.say()

    left, right = turn.requests
    texts = [shown(request)["description"] for request in (left, right)]
    assert texts == ["left 中的图在执行 second 之前暂停。", "right 中的图在执行 second 之前暂停。"]
    assert (await stage.answer(left, {"decision": "accept"})).run is None
    turn = await stage.reply(right, {"decision": "reject"})
    assert turn.status == "not_answered"
    assert deeds.done == ["first", "first"]


async def test_the_answer_to_an_interrupt_is_not_sent_where_the_breakpoint_beside_it_was_refused(
    host: Host, deeds: Deeds
) -> None:
    def ask(state: MessagesState) -> dict[str, Any]:
        deeds.note(f"heard {interrupt('Which?')}")
        return {}

    builder: Any = StateGraph(MessagesState)
    builder.add_node("inner", three(deeds, interrupt_before=["second"])).add_node("ask", ask)
    builder.add_edge(START, "inner").add_edge(START, "ask")
    stage = await host(builder)
    turn = await stage.say()

    asked, stopped = turn.requests
    await stage.answer(asked, {"answer": "this"})
    turn = await stage.reply(stopped, {"decision": "reject"})
    assert turn.status == "not_answered"
    assert deeds.done == ["first"]


async def test_a_step_that_asks_behind_a_breakpoint_is_entered_again_without_a_second_question(
    host: Host, deeds: Deeds
) -> None:
    def first(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", "one")]}

    def second(state: MessagesState) -> dict[str, Any]:
        deeds.note(f"heard {interrupt('Which?')} and {interrupt('Why?')}")
        return {}

    stage = await host(line(MessagesState, first, second).compile(interrupt_before=["second"]))
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"decision": "accept"})
    turn = await stage.tell(turn.request, "this")
    turn = await stage.tell(turn.request, "because")
    assert turn.status == "done"
    assert deeds.done == ["heard this and because"]


async def test_a_breakpoint_in_a_graph_that_nothing_keeps_is_refused(host: Host, deeds: Deeds) -> None:
    inner = three(deeds, interrupt_before=["second"], checkpointer=False)

    def outer(state: MessagesState) -> dict[str, Any]:
        inner.invoke({"messages": state["messages"]})
        return {}

    stage = await host(line(MessagesState, outer))
    turn = await stage.say()
    assert turn.status == "failed"
    assert "checkpointer=False" in (turn.error or "")
    assert deeds.done == ["first"]


@pytest.mark.parametrize("stops", [{"interrupt_before": ["second"]}, {"interrupt_after": ["first"]}])
async def test_a_graph_that_keeps_its_own_history_is_asked_about_each_time(
    host: Host, deeds: Deeds, stops: Any
) -> None:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("inner", three(deeds, checkpointer=True, **stops)).add_edge(START, "inner")
    stage = await host(builder)
    for turns in (1, 2):
        turn = await stage.say()
        assert deeds.counts["second"] == turns - 1
        assert (await stage.reply(turn.request, {"decision": "accept"})).status == "done"
        assert deeds.counts["second"] == turns
