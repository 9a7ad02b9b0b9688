"""What came of a yes, as the request's page is told it, on both databases."""

from typing import Any

import pytest
from langgraph.graph import MessagesState

from interlock import ask
from interlock.domain.request import Request
from interlock.langchain import InterlockMiddleware
from interlock.services.requests import inbox
from interlock.services.runs.results import Result
from tests.runners.conftest import Host
from tests.runners.deeds import Deeds
from tests.runners.script import agent, line
from tests.runners.stage import ANN, Stage

ACCEPT = {"decision": "accept"}


async def result(stage: Stage, request: Request) -> Result | None:
    return (await inbox.view(stage.core, ANN, request.id)).result


def deleting(deeds: Deeds, *more: Any) -> Any:
    made = [("c1", "delete", {"path": "a"}), *more]
    return agent([deeds.tool("delete")], made, middleware=[InterlockMiddleware({"delete": True})])


async def test_the_result_of_the_call_itself_is_told(host: Host) -> None:
    stage = await host(deleting(Deeds()))
    turn = await stage.say()
    assert await result(stage, turn.request) is None
    await stage.reply(turn.request, ACCEPT)
    assert await result(stage, turn.request) == Result("success", "delete a: ok")
    await stage.say("another turn, which uses the same call id again")
    assert await result(stage, turn.request) == Result("success", "delete a: ok")


async def test_a_yes_that_waits_for_its_siblings_is_told_to_wait(host: Host) -> None:
    stage = await host(deleting(Deeds(), ("c2", "delete", {"path": "b"})))
    first, second = (await stage.say()).requests
    await stage.answer(first, ACCEPT)
    assert await result(stage, first) == Result("waiting")
    await stage.reply(second, {"decision": "reject"})
    assert await result(stage, first) == Result("success", "delete a: ok")
    assert await result(stage, second) is None


@pytest.mark.parametrize("more", [False, True], ids=["and-ends", "and-asks-again"])
async def test_of_a_yes_that_is_no_call_of_a_model_it_is_told_that_the_agent_went_on(host: Host, more: bool) -> None:
    def node(state: MessagesState) -> MessagesState:
        ask.approval("refund", {})
        if more:
            ask.clarification("Why?")
        return state

    stage = await host(line(MessagesState, node))
    turn = await stage.say()
    await stage.reply(turn.request, ACCEPT)
    assert await result(stage, turn.request) == Result("went_on")


async def test_a_run_that_fails_before_the_call_has_a_result_is_told_with_its_reason(host: Host) -> None:
    def node(state: MessagesState) -> MessagesState:
        ask.approval("refund", {})
        raise RuntimeError("no money")

    stage = await host(line(MessagesState, node))
    turn = await stage.say()
    await stage.reply(turn.request, ACCEPT)
    assert await result(stage, turn.request) == Result("run_failed", "RuntimeError: no money")
