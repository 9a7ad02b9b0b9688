"""Graphs that were compiled to stop before or after a node."""

from typing import Any

import pytest
from langgraph.graph import MessagesState

from interlock.domain.request import PauseOrigin, PauseStatus, RequestKind
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import line

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
    assert turn.request.body["tool_name"] == "second"
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
    assert turn.request.body["tool_name"] == "second"
    assert deeds.done == ["first", "first"]


async def test_every_breakpoint_is_asked_about(host: Host, deeds: Deeds) -> None:
    stage = await host(three(deeds, interrupt_before="*"))
    turn = await stage.say()
    for node in ("first", "second", "third"):
        assert turn.request.body["tool_name"] == node
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
    assert turn.request.body["tool_name"] == "third"
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
