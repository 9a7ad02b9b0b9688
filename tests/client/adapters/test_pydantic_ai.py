"""Pydantic AI with a scripted model: what a person answers is what its tools do, and what its model reads."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent, ApprovalRequired, DeferredToolRequests, RunContext
from pydantic_ai.exceptions import CallDeferred
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from interlock_client import InvalidInput, NotAuthenticated
from interlock_client.adapters.pydantic_ai import ask_a_person, run_with_approvals
from interlock_client.client import Interlock
from tests.client.adapters.desk import YES, Desk, FrailServer
from tests.support.hitl import wrong_fields

Call = tuple[str, dict[str, Any]]


class Stage:
    """An agent whose model makes the given calls, and then repeats what its tools told it."""

    def __init__(self, *turns: list[Call], **settings: Any) -> None:
        self._turns = list(turns)
        self.deleted: list[str] = []
        self.read: list[ToolReturnPart] = []
        self.agent: Agent[None, str] = Agent(FunctionModel(self._reply), output_type=str, **settings)
        self.agent.tool_plain(requires_approval=True)(self.delete)
        self.agent.tool(self.send)

    def _reply(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.read = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if self._turns:
            calls = [ToolCallPart(name, args, f"call-{n}") for n, (name, args) in enumerate(self._turns.pop(0))]
            return ModelResponse(parts=calls)
        return ModelResponse(parts=[TextPart("; ".join(str(part.content) for part in self.read))])

    def delete(self, path: str) -> str:
        """Delete a file for good."""
        self.deleted.append(path)
        return f"deleted {path}"

    def send(self, context: RunContext[None], to: str) -> str:
        """Send the report."""
        if not context.tool_call_approved:
            raise ApprovalRequired
        return f"sent to {to}"


DELETE: Call = ("delete", {"path": "a.txt"})
SEND: Call = ("send", {"to": "ann"})


async def test_an_approved_call_runs_as_it_was_shown(desk: Desk) -> None:
    stage = Stage([DELETE])
    running = run_with_approvals(stage.agent, "tidy up", desk.client, risk={"delete": "high"})
    result, [shown] = await desk.meanwhile(running, {"delete": YES})
    assert (result.output, stage.deleted) == ("deleted a.txt", ["a.txt"])
    asked = shown["delete"]
    assert (asked["args"], asked["risk_level"], asked["description"]) == (
        {"path": "a.txt"},
        "high",
        "Delete a file for good.",
    )


async def test_what_changes_the_arguments_meanwhile_does_not_change_what_runs(desk: Desk) -> None:
    args = {"path": "a.txt"}
    stage = Stage([("delete", args)])

    def change_and_answer() -> None:
        desk.comes()
        args["path"] = "/"
        desk.answer({"delete": YES})

    await asyncio.gather(run_with_approvals(stage.agent, "tidy up", desk.client), asyncio.to_thread(change_and_answer))
    assert stage.deleted == ["a.txt"]


async def test_a_refused_call_does_not_run_and_the_model_reads_why(desk: Desk) -> None:
    stage = Stage([DELETE])
    running = run_with_approvals(stage.agent, "tidy up", desk.client)
    result, _ = await desk.meanwhile(running, {"delete": {"granted": False, "reason": "it is the last copy"}})
    assert stage.deleted == []
    assert "it is the last copy" in result.output
    assert [part.outcome for part in stage.read] == ["denied"]


async def test_an_edited_call_runs_with_exactly_the_edited_arguments(desk: Desk) -> None:
    stage = Stage([DELETE])
    running = run_with_approvals(stage.agent, "tidy up", desk.client)
    result, _ = await desk.meanwhile(running, {"delete": {"granted": True, "args": {"path": "b.txt"}}})
    assert (result.output, stage.deleted) == ("deleted b.txt", ["b.txt"])


async def test_an_edit_that_the_tool_cannot_take_is_refused_to_who_made_it(desk: Desk) -> None:
    stage = Stage([DELETE])

    def edit() -> None:
        request_id = desk.comes()[0]["request_id"]
        refused = desk.person.try_respond(request_id, {"granted": True, "args": {"path": ["b.txt"]}})
        assert wrong_fields(refused) == ["response.args.path"]
        desk.person.respond(request_id, {"granted": True, "args": {"path": "b.txt"}})

    running = run_with_approvals(stage.agent, "tidy up", desk.client)
    result, _ = await asyncio.gather(running, asyncio.to_thread(edit))
    assert (result.output, stage.deleted) == ("deleted b.txt", ["b.txt"])


async def test_a_reply_stands_in_for_the_result(desk: Desk) -> None:
    stage = Stage([DELETE])
    running = run_with_approvals(stage.agent, "tidy up", desk.client)
    result, _ = await desk.meanwhile(running, {"delete": {"granted": False, "reply": "already gone"}})
    assert (result.output, stage.deleted) == ("already gone", [])


async def test_nobody_answering_is_a_denial(desk: Desk) -> None:
    stage = Stage([DELETE])
    result = await run_with_approvals(stage.agent, "tidy up", desk.client, timeout=0.2)
    assert stage.deleted == []
    assert "no person decided (expired)" in result.output


async def test_a_cancelled_request_is_a_denial(desk: Desk) -> None:
    stage = Stage([DELETE])

    def cancel() -> None:
        desk.person.try_cancel(desk.comes()[0]["request_id"]).raise_for_status()

    running = run_with_approvals(stage.agent, "tidy up", desk.client)
    result, _ = await asyncio.gather(running, asyncio.to_thread(cancel))
    assert stage.deleted == []
    assert "no person decided (cancelled)" in result.output


async def test_two_calls_are_asked_at_once_and_each_gets_its_own_answer(desk: Desk) -> None:
    stage = Stage([DELETE, SEND])
    running = run_with_approvals(stage.agent, "tidy up", desk.client)
    result, [shown] = await desk.meanwhile(running, {"delete": {"granted": False, "reason": "no"}, "send": YES})
    assert stage.deleted == []
    assert result.output.endswith("sent to ann")
    assert shown["send"]["args"] == {"to": "ann"}


async def test_calls_of_later_turns_are_asked_too(desk: Desk) -> None:
    stage = Stage([DELETE], [("delete", {"path": "b.txt"})])
    running = run_with_approvals(stage.agent, "tidy up", desk.client)
    await desk.meanwhile(running, {"delete": YES}, {"delete": {"granted": False}})
    assert stage.deleted == ["a.txt"]


async def test_an_agent_can_have_the_capability_itself(desk: Desk) -> None:
    stage = Stage([SEND], capabilities=[ask_a_person(desk.client)])
    result, _ = await desk.meanwhile(stage.agent.run("send it"), {"send": YES})
    assert result.output == "sent to ann"


async def test_calls_that_something_else_executes_are_left_alone(desk: Desk) -> None:
    stage = Stage([("fetch", {}), DELETE])
    both: Agent[None, Any] = stage.agent
    both.tool_plain(_deferring("fetch"))
    running = run_with_approvals(both, "go", desk.client, output_type=[str, DeferredToolRequests])
    result, _ = await desk.meanwhile(running, {"delete": YES})
    assert [call.tool_name for call in result.output.calls] == ["fetch"]
    assert (result.output.approvals, stage.deleted) == ([], ["a.txt"])


def _deferring(name: str) -> Callable[[], str]:
    def fetch() -> str:
        raise CallDeferred

    fetch.__name__ = name
    return fetch


async def test_a_restart_of_the_server_while_a_person_thinks_changes_nothing(
    frail: FrailServer, far_desk: Desk
) -> None:
    stage = Stage([DELETE])

    def restart_and_answer() -> dict[str, Any]:
        far_desk.comes()
        frail.restart()
        return far_desk.answer({"delete": YES})

    running = run_with_approvals(stage.agent, "tidy up", far_desk.client)
    result, _ = await asyncio.gather(running, asyncio.to_thread(restart_and_answer))
    assert (result.output, stage.deleted) == ("deleted a.txt", ["a.txt"])


async def test_what_cannot_be_asked_is_an_error_and_does_not_run(desk: Desk) -> None:
    stage = Stage([DELETE, SEND])
    async with Interlock(desk.url, key="ilk_wrong") as stranger:
        with pytest.raises(NotAuthenticated):
            await run_with_approvals(stage.agent, "tidy up", stranger)
    assert stage.deleted == []


def test_a_risk_that_there_is_not_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput):
        ask_a_person(Interlock(), risk={"delete": "enormous"})  # pyright: ignore[reportArgumentType]
