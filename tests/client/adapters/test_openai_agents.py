"""The OpenAI Agents SDK with a scripted model: what a person answers is what its tools do, and what its model reads."""

import asyncio
import json
from typing import Any, cast

import pytest
from agents import (
    Agent,
    FunctionTool,
    ModelBehaviorError,
    RunConfig,
    Runner,
    ShellCommandRequest,
    ShellTool,
    SQLiteSession,
    function_tool,
)
from agents.items import TResponseOutputItem
from agents.testing import ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseFunctionShellToolCall, ResponseFunctionToolCall
from openai.types.responses.response_function_shell_tool_call import Action

from interlock_client import InvalidInput, NotAuthenticated
from interlock_client.adapters.openai_agents import Approvals, run_with_approvals
from interlock_client.client import Interlock
from tests.client.adapters.desk import YES, Desk, FrailServer

QUIET = RunConfig(tracing_disabled=True)
DONE = [assistant_message("done")]


def delete(call_id: str, path: str) -> TResponseOutputItem:
    return function_call("delete", {"path": path}, call_id=call_id)


def send(call_id: str, to: str) -> TResponseOutputItem:
    return function_call("send", {"to": to}, call_id=call_id)


class Stage:
    """An agent whose model makes the given calls."""

    def __init__(self, *turns: list[TResponseOutputItem]) -> None:
        self.model = ScriptedModel([*turns, DONE])
        self.did: list[str] = []
        self.tools: list[Any] = [self._tool(self.delete), self._tool(self.send)]
        self.agent: Agent[Any] = Agent("helper", model=self.model, tools=self.tools)

    def _tool(self, function: Any) -> FunctionTool:
        return function_tool(function, needs_approval=True)

    def delete(self, path: str) -> str:
        """Delete a file for good."""
        self.did.append(f"deleted {path}")
        return self.did[-1]

    def send(self, to: str) -> str:
        self.did.append(f"sent to {to}")
        return self.did[-1]

    @property
    def told(self) -> dict[str, str]:
        """What the model was told of its calls, by their id."""
        last = self.model.last_call
        assert last is not None
        items = cast("list[dict[str, Any]]", last.input)
        return {item["call_id"]: item["output"] for item in items if item.get("type") == "function_call_output"}

    async def run(self, desk: Desk, **options: Any) -> Any:
        return await run_with_approvals(self.agent, "tidy up", desk.client, run_config=QUIET, **options)


async def test_an_approved_call_runs_as_it_was_shown(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt")])
    result, [shown] = await desk.meanwhile(stage.run(desk, risk={"delete": "high"}), {"delete": YES})
    assert (result.final_output, stage.did, stage.told) == ("done", ["deleted a.txt"], {"1": "deleted a.txt"})
    asked = shown["delete"]
    assert (asked["args"], asked["risk_level"], asked["description"]) == (
        {"path": "a.txt"},
        "high",
        "Delete a file for good.",
    )


async def test_a_refused_call_does_not_run_and_the_model_reads_why(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt")])
    result, _ = await desk.meanwhile(stage.run(desk), {"delete": {"granted": False, "reason": "it is the last copy"}})
    assert (result.final_output, stage.did) == ("done", [])
    assert "it is the last copy" in stage.told["1"]


async def test_an_edited_call_runs_with_exactly_the_edited_arguments_and_is_not_asked_again(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt")], [delete("2", "b.txt")])
    result, _ = await desk.meanwhile(stage.run(desk), {"delete": {"granted": True, "args": {"path": "b.txt"}}})
    assert (result.final_output, stage.did) == ("done", ["deleted b.txt"])
    assert '{"path": "b.txt"}' in stage.told["1"]
    assert stage.told["2"] == "deleted b.txt"


async def test_a_call_other_than_the_edited_one_is_asked_about(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt")], [delete("2", "c.txt")])
    edit = {"granted": True, "args": {"path": "b.txt"}}
    _, [_, second] = await desk.meanwhile(stage.run(desk), {"delete": edit}, {"delete": {"granted": False}})
    assert second["delete"]["args"] == {"path": "c.txt"}
    assert stage.did == []


async def test_an_edit_allows_one_call(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt")], [delete("2", "b.txt")], [delete("3", "b.txt")])
    edit = {"granted": True, "args": {"path": "b.txt"}}
    await desk.meanwhile(stage.run(desk), {"delete": edit}, {"delete": {"granted": False}})
    assert stage.did == ["deleted b.txt"]


async def test_a_number_is_not_the_truth_value_that_python_takes_it_for(desk: Desk) -> None:
    ran: list[Any] = []

    def count(number: Any) -> str:
        ran.append(number)
        return "counted"

    model = ScriptedModel(
        [
            [function_call("count", {"number": 7}, call_id="1")],
            [function_call("count", {"number": True}, call_id="2")],
            DONE,
        ]
    )
    tool = function_tool(count, needs_approval=True, strict_mode=False)
    agent: Agent[Any] = Agent("helper", model=model, tools=[tool])
    running = run_with_approvals(agent, "count", desk.client, run_config=QUIET)
    edit = {"granted": True, "args": {"number": 1}}
    await desk.meanwhile(running, {"count": edit}, {"count": {"granted": False}})
    assert ran == []


async def test_a_reply_stands_in_for_the_result(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt")])
    await desk.meanwhile(stage.run(desk), {"delete": {"granted": False, "reply": "already gone"}})
    assert (stage.did, stage.told) == ([], {"1": "already gone"})


async def test_nobody_answering_is_a_refusal(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt")])
    await stage.run(desk, timeout=0.2)
    assert stage.did == []
    assert "no person decided (expired)" in stage.told["1"]


async def test_two_calls_are_asked_at_once_and_each_gets_its_own_answer(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt"), send("2", "ann")])
    answers = {"delete": {"granted": False, "reason": "no"}, "send": YES}
    await desk.meanwhile(stage.run(desk), answers)
    assert stage.did == ["sent to ann"]
    assert "did not run: no" in stage.told["1"]
    assert stage.told["2"] == "sent to ann"


async def test_calls_of_the_same_tool_at_once_are_told_apart(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt"), delete("2", "b.txt")])

    def answer() -> None:
        for one in desk.comes(2):
            is_first = one["request_data"]["args"] == {"path": "a.txt"}
            desk.person.respond(one["request_id"], {"granted": not is_first})

    await asyncio.gather(stage.run(desk), asyncio.to_thread(answer))
    assert stage.did == ["deleted b.txt"]


async def test_context_hooks_and_session_live_through_the_pause(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt")])
    session = SQLiteSession("talk")
    context = {"user": "ann"}
    result, _ = await desk.meanwhile(stage.run(desk, session=session, context=context, max_turns=2), {"delete": YES})
    assert result.context_wrapper.context is context
    kept = cast("list[dict[str, Any]]", await session.get_items())
    assert [item.get("type", item.get("role")) for item in kept] == [
        "user",
        "function_call",
        "function_call_output",
        "message",
    ]
    session.close()


async def test_a_call_inside_an_agent_that_is_a_tool_is_asked_about(desk: Desk) -> None:
    inner = Stage([delete("in-1", "a.txt")])
    tool = inner.agent.as_tool("helper", "It tidies up.")
    model = ScriptedModel([[function_call("helper", {"input": "go"}, call_id="out-1")], DONE])
    outer: Agent[Any] = Agent("chief", model=model, tools=[tool])
    running = run_with_approvals(outer, "tidy up", desk.client, run_config=QUIET)
    result, _ = await desk.meanwhile(running, {"delete": YES})
    assert (result.final_output, inner.did) == ("done", ["deleted a.txt"])


async def test_a_call_of_an_agent_that_was_handed_over_to_is_asked_about(desk: Desk) -> None:
    other = Stage([delete("2", "a.txt")])
    model = ScriptedModel([[function_call("transfer_to_helper", {}, call_id="1")]])
    first: Agent[Any] = Agent("desk", model=model, handoffs=[other.agent])
    running = run_with_approvals(first, "tidy up", desk.client, run_config=QUIET)
    result, _ = await desk.meanwhile(running, {"delete": YES})
    assert (result.final_output, other.did) == ("done", ["deleted a.txt"])


async def test_a_call_that_is_no_function_call_is_shown_whole(desk: Desk) -> None:
    ran: list[str] = []

    def execute(request: ShellCommandRequest) -> str:
        ran.extend(request.data.action.commands)
        return "removed"

    action = Action(commands=["rm a.txt"])
    call = ResponseFunctionShellToolCall(id="1", call_id="1", type="shell_call", status="completed", action=action)
    tool = ShellTool(executor=execute, needs_approval=True)
    agent: Agent[Any] = Agent("helper", model=ScriptedModel([[call], DONE]), tools=[tool])
    running = run_with_approvals(agent, "tidy up", desk.client, run_config=QUIET)
    result, [shown] = await desk.meanwhile(running, {"shell": YES})
    assert (result.final_output, ran) == ("done", ["rm a.txt"])
    assert shown["shell"]["args"]["action"]["commands"] == ["rm a.txt"]


async def test_a_streaming_run_is_resumed_from_its_answers(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt")])
    approvals = Approvals(desk.client)
    streamed = Runner.run_streamed(stage.agent, "tidy up", run_config=QUIET)
    async for _ in streamed.stream_events():
        pass
    state, _ = await desk.meanwhile(approvals.answer(streamed), {"delete": YES})
    resumed = Runner.run_streamed(stage.agent, state, run_config=QUIET)
    async for _ in resumed.stream_events():
        pass
    assert (resumed.final_output, stage.did) == ("done", ["deleted a.txt"])


async def test_arguments_that_are_no_json_are_shown_as_they_are_and_cannot_be_edited(desk: Desk) -> None:
    raw = '{"path": NaN}'
    stage = Stage([function_call("delete", raw, call_id="1")])

    def answer() -> dict[str, Any]:
        [asked] = desk.comes()
        edit = desk.person.try_respond(asked["request_id"], {"granted": True, "args": {"path": "b.txt"}})
        assert edit.status_code == 400
        desk.person.respond(asked["request_id"], {"granted": False})
        return asked["request_data"]

    _, shown = await asyncio.gather(stage.run(desk), asyncio.to_thread(answer))
    assert shown["args"]["arguments"] == raw
    assert stage.did == []


async def test_a_call_whose_arguments_change_meanwhile_does_not_run(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt")])
    result = await Runner.run(stage.agent, "tidy up", run_config=QUIET)

    def change_and_answer() -> None:
        desk.comes()
        cast("ResponseFunctionToolCall", result.interruptions[0].raw_item).arguments = json.dumps({"path": "/"})
        desk.answer({"delete": YES})

    state, _ = await asyncio.gather(Approvals(desk.client).answer(result), asyncio.to_thread(change_and_answer))
    with pytest.raises(ModelBehaviorError):
        await Runner.run(stage.agent, state, run_config=QUIET)
    assert stage.did == []


async def test_a_restart_of_the_server_while_a_person_thinks_changes_nothing(
    frail: FrailServer, far_desk: Desk
) -> None:
    stage = Stage([delete("1", "a.txt")])

    def restart_and_answer() -> dict[str, Any]:
        far_desk.comes()
        frail.restart()
        return far_desk.answer({"delete": YES})

    result, _ = await asyncio.gather(stage.run(far_desk), asyncio.to_thread(restart_and_answer))
    assert (result.final_output, stage.did) == ("done", ["deleted a.txt"])


async def test_what_cannot_be_asked_is_an_error_and_does_not_run(desk: Desk) -> None:
    stage = Stage([delete("1", "a.txt"), send("2", "ann")])
    async with Interlock(desk.url, key="ilk_wrong") as stranger:
        with pytest.raises(NotAuthenticated):
            await run_with_approvals(stage.agent, "tidy up", stranger, run_config=QUIET)
    assert stage.did == []


def test_a_risk_that_there_is_not_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput):
        Approvals(Interlock(), risk={"delete": "enormous"})  # pyright: ignore[reportArgumentType]
