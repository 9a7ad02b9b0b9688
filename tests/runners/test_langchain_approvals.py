"""LangChain's agent with its own HumanInTheLoopMiddleware, unchanged, in both of its modes."""

from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage

from interlock.domain.canonical import action_digest
from interlock.domain.errors import InvalidAnswer
from interlock.domain.kinds import RequestKind
from interlock.domain.request import PauseStatus
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent
from tests.support.bodies import shown

pytestmark = [pytest.mark.promise("P7"), on_sqlite, pytest.mark.parametrize("mode", ["batched", "per_call"])]

ONE = [("c1", "delete", {"path": "a"})]
TWO = [("c1", "delete", {"path": "a"}), ("c2", "send", {"path": "b"})]


@pytest.fixture
def deeds() -> Deeds:
    return Deeds()


def gated(deeds: Deeds, mode: Any, made: Any, gate: Any = True, **more: Any) -> Any:
    middleware: Any = HumanInTheLoopMiddleware({"delete": gate, "send": gate}, interrupt_mode=mode, **more)
    return agent([deeds.tool("delete"), deeds.tool("send"), deeds.tool("read")], made, middleware=[middleware])


async def test_an_approved_call_runs_once(host: Host, deeds: Deeds, mode: str) -> None:
    stage = await host(gated(deeds, mode, ONE))
    turn = await stage.say()
    assert turn.status == "paused"
    assert turn.request.kind is RequestKind.APPROVAL
    assert shown(turn.request)["tool_name"] == "delete"
    assert shown(turn.request)["args"] == {"path": "a"}
    assert shown(turn.request)["allowed"] == ["accept", "edit", "reject", "response"]
    assert turn.request.call_id == "c1"
    assert turn.request.digest == action_digest("delete", {"path": "a"})
    assert deeds.done == []

    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done"
    assert turn.requests == []
    assert deeds.done == ["delete a"]
    assert await stage.results() == {"c1": "delete a: ok"}
    assert [pause.status for pause in await stage.pauses(PauseStatus.CONSUMED)] == [PauseStatus.CONSUMED]


async def test_an_edited_call_runs_as_the_person_changed_it(host: Host, deeds: Deeds, mode: str) -> None:
    stage = await host(gated(deeds, mode, ONE))
    turn = await stage.say()

    turn = await stage.reply(turn.request, {"decision": "edit", "args": {"path": "z"}})

    assert turn.status == "done"
    assert deeds.done == ["delete z"]
    assert "replaced this tool call" in (await stage.results())["c1"]
    (effect,) = await stage.effects()
    assert effect.digest == action_digest("delete", {"path": "z"})


async def test_a_rejected_call_is_not_executed_and_the_model_is_told_why(host: Host, deeds: Deeds, mode: str) -> None:
    stage = await host(gated(deeds, mode, ONE))
    turn = await stage.say()

    turn = await stage.reply(turn.request, {"decision": "reject", "message": "we need it"})

    assert turn.status == "done"
    assert deeds.done == []
    assert "we need it" in (await stage.results())["c1"]
    assert await stage.effects() == []


async def test_a_response_stands_in_for_the_tool(host: Host, deeds: Deeds, mode: str) -> None:
    stage = await host(gated(deeds, mode, ONE))
    turn = await stage.say()

    turn = await stage.reply(turn.request, {"decision": "response", "message": "it is gone already"})

    assert turn.status == "done"
    assert deeds.done == []
    assert (await stage.results())["c1"] == "it is gone already"


async def test_a_rejection_among_parallel_calls_leaves_the_siblings_approval(
    host: Host, deeds: Deeds, mode: str
) -> None:
    stage = await host(gated(deeds, mode, [*TWO, ("c3", "read", {"path": "c"})]))
    turn = await stage.say()
    first, second = sorted(turn.requests, key=lambda request: str(request.call_id))
    assert (first.call_id, second.call_id) == ("c1", "c2")

    settled = await stage.answer(first, {"decision": "reject"})
    assert settled.run is None
    assert [request.id for request in await stage.open_requests()] == [second.id]
    turn = await stage.reply(second, {"decision": "accept"})

    assert turn.status == "done"
    assert sorted(deeds.done) == ["read c", "send b"]
    results = await stage.results()
    assert "rejected" in results["c1"]
    assert results["c2"] == "send b: ok"


async def test_every_kind_of_decision_at_once_reaches_its_own_call(host: Host, deeds: Deeds, mode: str) -> None:
    made = [(f"c{n}", "delete", {"path": str(n)}) for n in range(4)]
    stage = await host(gated(deeds, mode, made))
    turn = await stage.say()
    by_call = {request.call_id: request for request in turn.requests}
    await stage.answer(by_call["c3"], {"decision": "response", "message": "told"})
    await stage.answer(by_call["c1"], {"decision": "reject", "message": "no"})
    await stage.answer(by_call["c0"], {"decision": "accept"})

    turn = await stage.reply(by_call["c2"], {"decision": "edit", "args": {"path": "edited"}})

    assert turn.status == "done"
    assert sorted(deeds.done) == ["delete 0", "delete edited"]
    results = await stage.results()
    assert results["c0"] == "delete 0: ok"
    assert results["c3"] == "told"
    assert results["c1"].endswith("no")


async def test_two_equal_calls_are_told_apart(host: Host, deeds: Deeds, mode: str) -> None:
    stage = await host(gated(deeds, mode, [("c1", "delete", {"path": "a"}), ("c2", "delete", {"path": "a"})]))
    turn = await stage.say()
    by_call = {request.call_id: request for request in turn.requests}
    assert set(by_call) == {"c1", "c2"}
    await stage.answer(by_call["c2"], {"decision": "accept"})

    turn = await stage.reply(by_call["c1"], {"decision": "reject"})

    assert deeds.done == ["delete a"]
    assert [effect.key.call_id for effect in await stage.effects()] == ["c2"]


@pytest.mark.parametrize("value", [{"decision": "reject"}, None])
async def test_a_refusal_that_the_graph_cannot_take_ends_the_run_and_sends_nothing(
    host: Host, deeds: Deeds, mode: str, value: Any
) -> None:
    stage = await host(gated(deeds, mode, ONE, {"allowed_decisions": ["approve"]}))
    turn = await stage.say()
    assert shown(turn.request)["allowed"] == ["accept"]
    before = (await stage.state()).config
    with pytest.raises(InvalidAnswer):
        await stage.answer(turn.request, {"decision": "edit", "args": {}})

    turn = await stage.reply(turn.request, value)

    assert turn.status == "not_answered"
    assert deeds.done == []
    assert (await stage.state()).config == before
    assert await stage.pauses(PauseStatus.SETTLED) == []

    turn = await stage.say("and now?")

    assert turn.status == "done"
    assert deeds.done == []
    said = await stage.messages()
    closed = [message for message in said if isinstance(message, ToolMessage)]
    assert [message.tool_call_id for message in closed] == ["c1"]
    assert "Not run" in closed[0].text
    assert said[-1].text == "done"


async def test_an_edit_that_does_not_fit_the_tool_is_refused_before_it_reaches_the_graph(
    host: Host, deeds: Deeds, mode: str
) -> None:
    stage = await host(gated(deeds, mode, ONE))
    turn = await stage.say()
    if mode == "per_call":
        with pytest.raises(InvalidAnswer):
            await stage.answer(turn.request, {"decision": "edit", "args": {"path": 7}})
    for wrong in ({"decision": "maybe"}, {"decision": "edit"}, {"decision": "response", "message": " "}, {}):
        with pytest.raises(InvalidAnswer):
            await stage.answer(turn.request, wrong)
    assert [request.id for request in await stage.open_requests()] == [turn.request.id]

    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done"
    assert deeds.done == ["delete a"]


async def test_the_conversation_asks_anew_in_every_turn(host: Host, deeds: Deeds, mode: str) -> None:
    middleware: Any = HumanInTheLoopMiddleware({"delete": True}, interrupt_mode=mode)  # pyright: ignore[reportArgumentType]
    # The same call id in each turn, as some providers have it.
    stage = await host(
        agent([deeds.tool("delete")], ONE, AIMessage("one"), [("c1", "delete", {"path": "b"})], middleware=[middleware])
    )
    first = await stage.say()
    await stage.reply(first.request, {"decision": "accept"})

    second = await stage.say("again")
    assert shown(second.request)["args"] == {"path": "b"}
    assert second.request.interrupt_id != first.request.interrupt_id
    turn = await stage.reply(second.request, {"decision": "accept"})

    assert turn.status == "done"
    assert deeds.done == ["delete a", "delete b"]
