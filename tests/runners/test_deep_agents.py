"""deepagents, unchanged: its own gated tools, and those of its subagents."""

from typing import Any, cast

import pytest
from deepagents import create_deep_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.messages import AIMessage

from interlock.domain.effect import EffectState
from interlock.domain.event import EventType
from interlock.langchain import InterlockMiddleware
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import Call, script

pytestmark = on_sqlite


@pytest.fixture
def deeds() -> Deeds:
    return Deeds()


def task(call_id: str, subagent: str = "helper") -> Call:
    return (call_id, "task", {"description": "clean up", "subagent_type": subagent})


def helper(deeds: Deeds, name: str, *made: Call, gate: Any = True) -> dict[str, Any]:
    model = script(list(made), AIMessage(f"{name} has finished"))
    spec: dict[str, Any] = {"name": name, "description": "helps", "system_prompt": "help", "model": model}
    return spec | {"tools": [deeds.tool("delete")], "interrupt_on": {"delete": gate}}


def deep(deeds: Deeds, lines: Any, *subagents: Any) -> Any:
    make = cast("Any", create_deep_agent)
    return make(
        model=script(*lines),
        tools=[deeds.tool("send")],
        interrupt_on={"send": True},
        subagents=list(subagents),
    )


async def test_a_gated_tool_of_the_agent_itself(host: Host, deeds: Deeds) -> None:
    stage = await host(deep(deeds, [[("c1", "send", {"path": "a"})]]))
    turn = await stage.say()
    assert turn.request.body["tool_name"] == "send"

    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done"
    assert deeds.done == ["send a"]


async def test_a_gated_tool_of_a_subagent_is_asked_about_and_runs_once(host: Host, deeds: Deeds) -> None:
    stage = await host(deep(deeds, [[task("t1")]], helper(deeds, "helper", ("d1", "delete", {"path": "x"}))))
    turn = await stage.say()
    assert turn.request.body["tool_name"] == "delete"
    assert [effect.state for effect in await stage.effects()] == [EffectState.WAITING]

    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done"
    assert deeds.done == ["delete x"]
    assert (await stage.results())["t1"] == "helper has finished"
    effects = {effect.tool: effect for effect in await stage.effects()}
    assert {effect.state for effect in effects.values()} == {EffectState.DONE}
    assert effects["delete"].parent == effects["task"].key


async def test_a_refusal_inside_a_subagent_is_told_to_the_subagent(host: Host, deeds: Deeds) -> None:
    stage = await host(deep(deeds, [[task("t1")]], helper(deeds, "helper", ("d1", "delete", {"path": "x"}))))
    turn = await stage.say()

    turn = await stage.reply(turn.request, {"decision": "reject", "message": "keep it"})

    assert turn.status == "done"
    assert deeds.done == []
    assert (await stage.results())["t1"] == "helper has finished"


async def test_subagents_side_by_side_are_each_given_their_own_answer(host: Host, deeds: Deeds) -> None:
    # Both subagents call by the same id, as models do that number their calls.
    subagents = [helper(deeds, name, ("d1", "delete", {"path": name})) for name in ("left", "right")]
    stage = await host(deep(deeds, [[task("t1", "left"), task("t2", "right")]], *subagents))
    turn = await stage.say()
    by_path = {request.body["args"]["path"]: request for request in turn.requests}
    assert set(by_path) == {"left", "right"}
    await stage.answer(by_path["right"], {"decision": "accept"})
    assert deeds.done == []

    turn = await stage.reply(by_path["left"], {"decision": "edit", "args": {"path": "edited"}})

    assert turn.status == "done"
    assert sorted(deeds.done) == ["delete edited", "delete right"]
    assert (await stage.results()) == {"t1": "left has finished", "t2": "right has finished"}


async def test_a_subagent_that_asks_twice_goes_on_where_it_was(host: Host, deeds: Deeds) -> None:
    model = script([("d1", "delete", {"path": "x"})], [("d2", "delete", {"path": "y"})], AIMessage("both"))
    spec = helper(deeds, "helper") | {"model": model}
    stage = await host(deep(deeds, [[task("t1")]], spec))
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"decision": "accept"})
    assert turn.request.body["args"] == {"path": "y"}
    assert deeds.done == ["delete x"]

    turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done"
    assert deeds.done == ["delete x", "delete y"]
    assert len(model.heard) == 3


async def test_what_a_subagent_says_is_not_the_agents_own_voice(host: Host, deeds: Deeds) -> None:
    stage = await host(deep(deeds, [[task("t1")]], helper(deeds, "helper", ("d1", "delete", {"path": "x"}))))
    turn = await stage.say()
    await stage.reply(turn.request, {"decision": "accept"})

    said = [event.data["text"] for event in await stage.events(EventType.ASSISTANT_MESSAGE)]

    assert said == ["", "done"]


async def test_equal_call_ids_in_two_subagents_do_not_mix_their_approvals(host: Host, deeds: Deeds) -> None:
    def spec(name: str) -> dict[str, Any]:
        model = script([("d1", "delete", {"path": name})], AIMessage(f"{name} has finished"))
        gate = InterlockMiddleware({"delete": True})
        made = {"name": name, "description": "helps", "system_prompt": "help", "model": model}
        return made | {"tools": [deeds.tool("delete")], "middleware": [gate]}

    stage = await host(deep(deeds, [[task("t1", "left"), task("t2", "right")]], spec("left"), spec("right")))
    turn = await stage.say()
    first, second = turn.requests
    assert first.call_id == second.call_id == "d1"
    await stage.answer(first, {"decision": "accept"})

    turn = await stage.reply(second, {"decision": "accept"})

    assert turn.status == "done", turn.error
    assert sorted(deeds.done) == ["delete left", "delete right"]
