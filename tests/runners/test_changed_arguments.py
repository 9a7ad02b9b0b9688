"""A task that is run again may make its calls with other arguments: nothing runs but what people were asked about."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt
from typing_extensions import TypedDict

import interlock
from interlock import ask
from interlock.domain.event import ToolStarted
from interlock.domain.kinds import RequestKind
from interlock.langchain import InterlockMiddleware
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import calls, line
from tests.runners.stage import Stage, Turn
from tests.support.bodies import shown

CHANGES = [["staging", "PRODUCTION"], ["a", "b", "a"], ["a", "b", "c"], ["a"]]


class State(TypedDict, total=False):
    topic: str
    heard: Any


class Changing:
    """A hand-written node whose call has another argument whenever it is run, as one with a time in it has."""

    def __init__(self, tools: Sequence[Any], arguments: Sequence[str], **of_node: Any) -> None:
        self.node, self.arguments = ToolNode(list(tools), **of_node), list(arguments)

    async def act(self, state: State) -> State:
        what = self.arguments.pop(0) if len(self.arguments) > 1 else self.arguments[0]
        made = calls(*((f"c-{name}", name, {"what": what}) for name in self.node.tools_by_name))
        found = await self.node.ainvoke({"messages": [made]})
        return {"heard": [message.text for message in found["messages"]]}


def deleting(deeds: Deeds, question: Callable[[str], str]) -> Any:
    @tool
    async def delete(what: str) -> str:
        """Delete."""
        if ask.clarification(question(what)) == "yes":
            deeds.note(what)
        return what

    return delete


def removing(deeds: Deeds) -> Any:
    @tool
    async def remove(what: str) -> str:
        """Remove."""
        deeds.note(what)
        return what

    return remove


async def agree(stage: Stage, turn: Turn) -> tuple[Turn, list[Any]]:
    """Say yes to everything, at most ten times; what was asked about."""
    asked: list[Any] = []
    for _ in range(10):
        if turn.status != "paused":
            break
        request = turn.request
        is_approval = request.kind is RequestKind.APPROVAL
        asked.append(shown(request)["args"]["what"] if is_approval else shown(request)["question"])
        turn = await stage.reply(request, {"decision": "accept"} if is_approval else {"answer": "yes"})
    return turn, asked


@pytest.mark.parametrize("arguments", CHANGES)
async def test_a_call_with_other_arguments_than_those_that_were_asked_about_is_asked_about_again(
    host: Host, arguments: list[str]
) -> None:
    deeds = Deeds()
    stage = await host(line(State, Changing([deleting(deeds, lambda what: f"Delete {what}?")], arguments).act))

    turn, asked = await agree(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert asked == [f"Delete {what}?" for what in arguments]
    assert deeds.done == arguments[-1:]
    # People see what it is about to run with now.
    started = [one.input["what"] for one in await stage.events_of(ToolStarted)]
    assert started == arguments


@on_sqlite
@pytest.mark.parametrize("arguments", CHANGES)
async def test_the_same_words_about_other_arguments_are_another_question(host: Host, arguments: list[str]) -> None:
    deeds = Deeds()
    stage = await host(line(State, Changing([deleting(deeds, lambda _: "Sure?")], arguments).act))

    turn, asked = await agree(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert len(asked) == len(arguments)
    assert deeds.done == arguments[-1:]


@pytest.mark.parametrize("arguments", CHANGES)
async def test_an_approved_call_that_comes_with_other_arguments_is_approved_again(
    host: Host, arguments: list[str]
) -> None:
    deeds = Deeds()
    gate = InterlockMiddleware({"remove": True})
    changing = Changing([removing(deeds)], arguments, awrap_tool_call=gate.awrap_tool_call)
    stage = await host(line(State, changing.act))

    turn, asked = await agree(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert asked == arguments
    assert deeds.done == arguments[-1:]


def _hitl(what: str) -> Any:
    config = {"action_name": "remove", "allowed_decisions": ["approve"]}
    return {"action_requests": [{"name": "remove", "args": {"what": what}}], "review_configs": [config]}


def _call(what: str) -> Any:
    return {"type": "tool_approval", "name": "remove", "args": {"what": what}, "tool_call_id": "c1"}


def _human(what: str) -> Any:
    return [{"action_request": {"action": "remove", "args": {"what": what}}, "config": {"allow_accept": True}}]


@on_sqlite
@pytest.mark.parametrize("shape", [_hitl, _call, _human])
@pytest.mark.parametrize("arguments", CHANGES)
async def test_a_node_that_asks_for_approval_of_something_else_when_it_is_run_again_is_not_answered(
    host: Host, shape: Callable[[str], Any], arguments: list[str]
) -> None:
    deeds, left = Deeds(), list(arguments)

    def node(state: State) -> State:
        what = left.pop(0) if len(left) > 1 else left[0]
        interrupt(shape(what))
        deeds.note(what)
        return {}

    stage = await host(line(State, node))
    turn, asked = await agree(stage, await stage.say())

    assert turn.status == "done", turn.error
    assert asked == arguments
    assert deeds.done == arguments[-1:]


@on_sqlite
@pytest.mark.parametrize("inside", [True, False])
async def test_where_something_ran_already_other_arguments_end_the_run_with_a_word_about_why(
    host: Host, inside: bool
) -> None:
    deeds = Deeds()

    @tool
    async def pay(what: str) -> str:
        """Pay, then ask."""

        async def transfer() -> None:
            deeds.note(f"paid {what}")

        if inside:
            await interlock.effect("transfer", transfer)
        return ask.clarification("And the receipt?")

    tools = [pay] if inside else [removing(deeds), pay]
    stage = await host(line(State, Changing(tools, ["a", "b"]).act))
    turn = await stage.say()

    turn = await stage.tell(turn.request, "yes")

    assert turn.status == "failed"
    assert "other arguments" in (turn.error or "")
    assert "state" in (turn.error or "")
    assert deeds.done == ["paid a" if inside else "a"]


async def test_a_worker_that_dies_between_a_changed_call_and_its_question_gives_it_no_answer_of_another(
    host: Host,
) -> None:
    deeds, gate = Deeds(), Gate()

    @tool
    async def delete(what: str) -> str:
        """Delete, with a moment before it asks."""
        if what == "PRODUCTION":
            await gate.stop()
        if ask.clarification(f"Delete {what}?") == "yes":
            deeds.note(what)
        return what

    stage = await host(line(State, Changing([delete], ["staging", "PRODUCTION"]).act))
    turn = await stage.say()
    await stage.close()
    settled = await stage.answer(turn.request, {"answer": "yes"})
    assert settled.run is not None
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()
    await stage.start()
    turn = await stage.ended(settled.run, settled.seq)
    assert shown(turn.request)["decision_type"] == "effect_in_doubt"

    turn = await stage.reply(turn.request, {"decision": "retry"})

    assert turn.status == "paused", turn.error
    assert shown(turn.request)["question"] == "Delete PRODUCTION?"
    assert deeds.done == []
