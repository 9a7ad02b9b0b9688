"""What grants answer within a run, and what they never do."""

from datetime import timedelta
from typing import Any

import pytest
from langchain_core.tools import tool
from typing_extensions import TypedDict

from interlock import ask
from interlock.domain.grant import GrantDuration, GrantScope, Remember
from interlock.domain.principal import Role, User
from interlock.domain.request import RequestStatus
from interlock.langchain import InterlockMiddleware
from interlock.runners import graph_run
from interlock.services.requests import answering, extending
from interlock.services.requests.answering import Reply, Sender, expire_due
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent, line
from tests.runners.stage import ANN, Stage
from tests.support.bodies import shown

pytestmark = [pytest.mark.promise("P11"), on_sqlite]


class Said(TypedDict, total=False):
    topic: str
    heard: Any


async def with_ann(stage: Stage) -> None:
    """Who gives a grant must be somebody who may still answer."""
    now = stage.clock.now()
    async with stage.core.store.transaction() as tx:
        await tx.users.add(User(ANN.id, ANN.name, "", Role.OWNER, now, now))


async def remember(stage: Stage, request_id: str, scope: GrantScope) -> Any:
    how = Remember(GrantDuration.FOREVER, scope)
    return await answering.answer(
        stage.core, Sender(ANN, "test"), Reply(request_id, {"decision": "accept"}, remember=how)
    )


def gated(deeds: Deeds, count: int) -> Any:
    @tool
    async def send(path: str) -> str:
        """Send."""
        deeds.note(path)
        return path

    turns = [[(f"c{number}", "send", {"path": str(number)})] for number in range(count)]
    return agent([send], *turns, middleware=[InterlockMiddleware(interrupt_on={"send": True})])


async def test_later_calls_go_on_in_the_same_run(host: Host) -> None:
    deeds = Deeds()
    stage = await host(gated(deeds, 4))
    await with_ann(stage)
    turn = await stage.say()
    settled = await remember(stage, turn.request.id, GrantScope.THIS_TOOL)
    turn = await stage.ended(settled.run, settled.seq)
    assert turn.status == "done"
    assert deeds.done == ["0", "1", "2", "3"]


async def test_an_agent_that_turns_in_circles_comes_to_a_person_again(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_run, "MOST_IN_A_ROW", 2)
    deeds = Deeds()
    stage = await host(gated(deeds, 6))
    await with_ann(stage)
    turn = await stage.say()
    settled = await remember(stage, turn.request.id, GrantScope.ALL_TOOLS)
    turn = await stage.ended(settled.run, settled.seq)
    assert turn.status == "paused"
    assert deeds.done == ["0", "1", "2"]


async def test_what_is_no_tool_of_the_agent_is_never_remembered(host: Host) -> None:
    def node(state: Said) -> Said:
        return {"heard": ask.approval("wire_money", {"amount": 1}).decision}

    stage = await host(line(Said, node))
    turn = await stage.say()
    assert shown(turn.request)["allow_remember"] is False
    assert (turn.request.definition, turn.request.toolset) == (None, None)


async def test_more_time_that_was_given_counts_at_the_old_deadline(host: Host) -> None:
    def node(state: Said) -> Said:
        return {"heard": ask.clarification("Which?", timeout=60)}

    stage = await host(line(Said, node))
    turn = await stage.say()
    await extending.extend(stage.core, ANN, turn.request.id, 120)
    stage.clock.move(61)
    await expire_due(stage.core)
    async with stage.core.store.snapshot() as tx:
        request = await tx.requests.get(turn.request.id)
    assert request is not None
    assert request.status is RequestStatus.PENDING
    assert turn.request.deadline is not None
    assert request.deadline == turn.request.deadline + timedelta(seconds=120)
