"""InterlockMiddleware on LangChain's agent."""

from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from interlock import idempotency_key
from interlock.domain.canonical import action_digest
from interlock.domain.effect import EffectState
from interlock.domain.kinds import RequestKind
from interlock.langchain import InterlockMiddleware
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent
from tests.support.bodies import shown

ONE = [("c1", "delete", {"path": "a"})]


@pytest.fixture
def deeds() -> Deeds:
    return Deeds()


def gated(deeds: Deeds, made: Any = ONE, gate: Any = True, **more: Any) -> Any:
    tools = [deeds.tool("delete"), deeds.tool("read")]
    return agent(tools, made, middleware=[InterlockMiddleware({"delete": gate, "read": False}, **more)])


@on_sqlite
async def test_an_accepted_call_runs_as_it_was_shown(host: Host, deeds: Deeds) -> None:
    stage = await host(gated(deeds, gate={"risk_level": "high", "display_name": "Delete", "description": "gone!"}))
    turn = await stage.say()
    assert turn.request.kind is RequestKind.APPROVAL
    assert shown(turn.request)["risk_level"] == "high"
    assert shown(turn.request)["tool_display_name"] == "Delete"
    assert shown(turn.request)["description"] == "gone!"
    assert turn.request.call_id == "c1"
    assert deeds.done == []

    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done"
    assert deeds.done == ["delete a"]
    assert await stage.results() == {"c1": "delete a: ok"}
    (effect,) = await stage.effects()
    assert effect.digest == turn_digest("a")


def turn_digest(path: str) -> str:
    return action_digest("delete", {"path": path})


@on_sqlite
async def test_an_edit_is_what_runs_and_the_model_is_told(host: Host, deeds: Deeds) -> None:
    stage = await host(gated(deeds))
    turn = await stage.say()

    await stage.reply(turn.request, {"decision": "edit", "args": {"path": "z"}})

    assert deeds.done == ["delete z"]
    told = (await stage.results())["c1"]
    assert 'ran with {"path": "z"}' in told
    assert told.endswith("delete z: ok")
    (effect,) = await stage.effects()
    assert effect.digest == turn_digest("z")
    assert effect.args == {"path": "z"}


@on_sqlite
async def test_a_rejection_is_told_with_its_reason(host: Host, deeds: Deeds) -> None:
    stage = await host(gated(deeds))
    turn = await stage.say()

    turn = await stage.reply(turn.request, {"decision": "reject", "message": "needed"})

    assert turn.status == "done"
    assert deeds.done == []
    (message,) = [message for message in await stage.messages() if isinstance(message, ToolMessage)]
    assert message.status == "error"
    assert "needed" in message.text


@on_sqlite
async def test_a_response_is_the_result(host: Host, deeds: Deeds) -> None:
    stage = await host(gated(deeds))
    turn = await stage.say()

    await stage.reply(turn.request, {"decision": "response", "message": "did it by hand"})

    assert deeds.done == []
    assert await stage.results() == {"c1": "did it by hand"}


@on_sqlite
async def test_a_cancelled_call_is_not_run_and_the_model_is_told(host: Host, deeds: Deeds) -> None:
    stage = await host(gated(deeds, gate={"allowed_decisions": ["approve"], "timeout": 5.0}))
    turn = await stage.say()
    assert shown(turn.request)["allowed"] == ["accept"]
    assert turn.request.timeout_seconds == 5

    turn = await stage.reply(turn.request, None)

    assert turn.status == "done"
    assert deeds.done == []
    assert "cancelled" in (await stage.results())["c1"]


@on_sqlite
async def test_refusing_is_possible_where_only_approving_is_offered(host: Host, deeds: Deeds) -> None:
    stage = await host(gated(deeds, gate={"allowed_decisions": ["approve"]}))
    turn = await stage.say()

    turn = await stage.reply(turn.request, {"decision": "reject"})

    assert turn.status == "done"
    assert deeds.done == []


@on_sqlite
async def test_only_calls_for_which_when_is_true_are_asked_about(host: Host, deeds: Deeds) -> None:
    def outside(request: Any) -> bool:
        return request.tool_call["args"]["path"].startswith("/")

    made = [("c1", "delete", {"path": "a"}), ("c2", "delete", {"path": "/etc"}), ("c3", "read", {"path": "b"})]
    stage = await host(gated(deeds, made, {"when": outside}))
    turn = await stage.say()
    assert turn.request.call_id == "c2"
    assert sorted(deeds.done) == ["delete a", "read b"]

    await stage.reply(turn.request, {"decision": "accept"})

    assert sorted(deeds.done) == ["delete /etc", "delete a", "read b"]


async def test_parallel_calls_are_each_decided_on_their_own(host: Host, deeds: Deeds) -> None:
    made = [(f"c{n}", "delete", {"path": str(n)}) for n in range(4)]
    stage = await host(gated(deeds, made))
    turn = await stage.say()
    by_call = {request.call_id: request for request in turn.requests}
    await stage.answer(by_call["c1"], {"decision": "reject"})
    await stage.answer(by_call["c3"], {"decision": "edit", "args": {"path": "edited"}})
    await stage.answer(by_call["c0"], {"decision": "accept"})
    assert deeds.done == []

    await stage.reply(by_call["c2"], {"decision": "response", "message": "told"})

    assert sorted(deeds.done) == ["delete 0", "delete edited"]
    results = await stage.results()
    assert "refused" in results["c1"]
    assert results["c2"] == "told"


@on_sqlite
async def test_tools_named_idempotent_are_recorded_as_such(host: Host, deeds: Deeds) -> None:
    made = [("c1", "read", {"path": "a"}), ("c2", "delete", {"path": "a"})]
    tools = [deeds.tool("delete"), deeds.tool("read")]
    stage = await host(agent(tools, made, middleware=[InterlockMiddleware(idempotent={"read"})]))
    assert (await stage.say()).status == "done"
    effects = {effect.tool: effect for effect in await stage.effects(EffectState.DONE)}
    assert effects["read"].idempotent
    assert not effects["delete"].idempotent
    with pytest.raises(LookupError):
        idempotency_key()


@pytest.mark.parametrize(
    ("interrupt_on", "idempotent"),
    [
        ({"delete": {"allowed_decisions": []}}, ()),
        ({"delete": {"allowed_decisions": ["maybe"]}}, ()),
        ({}, "read_file"),
    ],
)
def test_a_configuration_that_means_nothing_is_refused(interrupt_on: Any, idempotent: Any) -> None:
    with pytest.raises(ValueError):
        InterlockMiddleware(interrupt_on, idempotent)
