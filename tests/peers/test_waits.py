"""Faults of other systems while a person is waited for and right after: waits that end, silence that counts, answers
that are lost with the run that they started."""

from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import tool

from interlock import ask
from interlock.domain.errors import AlreadySettled
from interlock.domain.request import RequestStatus
from interlock.langchain import InterlockMiddleware
from interlock.services.requests.answering import expire_due
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import Script, agent, calls
from tests.runners.stage import SECONDS
from tests.support.hitl import PERMISSION, HitlClient, of
from tests.support.threads import ThreadsClient

DEPLOY = ("c1", "deploy", {"path": "production"})
YEAR = 365 * 24 * 3600.0


@on_sqlite
@pytest.mark.promise("P10")
async def test_a_wait_without_a_deadline_outlives_every_fixed_time(host: Host) -> None:
    """claude-agent-sdk-python 96 (five minutes), anthropic-sdk-typescript 854 (sixty seconds, then the run ended),
    claude-agent-sdk-typescript 470 (and no later question was ever answered)."""
    deeds = Deeds()
    gate = InterlockMiddleware({"deploy": True})
    stage = await host(agent([deeds.tool("deploy")], [DEPLOY], [("c2", *DEPLOY[1:])], middleware=[gate]))
    turn = await stage.say()
    stage.clock.move(YEAR)
    assert await expire_due(stage.core) == 0
    await stage.close()
    await stage.start("another")
    for number in (1, 2):
        assert turn.request.call_id == f"c{number}"
        turn = await stage.reply(turn.request, {"decision": "accept"})

    assert turn.status == "done", turn.error
    assert deeds.done == ["deploy production"] * 2


@on_sqlite
@pytest.mark.promise("P10")
async def test_a_question_that_nobody_answered_in_time_is_consent_to_nothing(host: Host) -> None:
    """claude-code 30740 and 30983: a question ended with an empty answer, and 160 items were processed all the same."""
    deeds = Deeds()

    @tool
    def process(count: int) -> str:
        """Process items, once a person has agreed."""
        decision = ask.clarification(f"Process all {count} items?", ["yes", "no"], timeout=60)
        # As hasty code has it, to which everything but a no is a yes.
        if decision != "no":
            for number in range(count):
                deeds.note(str(number))
        return "processed"

    stage = await host(agent([process], [("c1", "process", {"count": 160})]))
    started = await stage.send()
    assert (await stage.ended(started.run, started.seq)).status == "paused"
    [request] = await stage.open_requests()
    stage.clock.move(61)
    assert await expire_due(stage.core) == 1
    async with stage.core.store.snapshot() as tx:
        run = await tx.runs.last_of(request.thread_id)
        ended = await tx.requests.get(request.id)
    assert run is not None
    turn = await stage.ended(run, run.started_seq - 1)

    assert turn.status == "done", turn.error
    assert deeds.done == []
    assert "Not answered" in (await stage.results())["c1"]
    assert ended is not None
    assert ended.status is RequestStatus.EXPIRED
    with pytest.raises(AlreadySettled):
        await stage.answer(request, {"answer": "yes"})


class FailsOnce(Script):
    """A provider that fails when it is told what the tool gave."""

    has_failed: bool = False

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        if isinstance(messages[-1], ToolMessage) and not self.has_failed:
            self.has_failed = True
            raise ConnectionError("500 from the provider")
        return super()._generate(messages, *args, **kwargs)


def deploying(deeds: Deeds) -> Any:
    from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]

    model: BaseChatModel = FailsOnce(lines=[calls(DEPLOY), AIMessage("deployed")])
    gate = InterlockMiddleware({"deploy": True})
    made: Any = create_agent(model, tools=[deeds.tool("deploy")], middleware=[gate])
    return made


@on_sqlite
@pytest.mark.promise("P2")
@pytest.mark.parametrize(
    ("answer", "done"), [({"decision": "accept"}, ["deploy production"]), ({"decision": "reject"}, [])]
)
@pytest.mark.parametrize("then", ["retry", "message"])
async def test_an_answer_outlives_the_run_that_failed_with_it(
    host: Host, answer: dict[str, Any], done: list[str], then: str
) -> None:
    """agent-framework 7458 (the answer was used up, a second one unknown) and 8575 (every later message was refused,
    since the approval in the history had no response)."""
    deeds = Deeds()
    stage = await host(deploying(deeds))
    asked = (await stage.say()).request
    turn = await stage.reply(asked, answer)
    assert turn.status == "failed"
    assert deeds.done == done
    with pytest.raises(AlreadySettled) as refused:
        await stage.answer(asked, answer)
    assert refused.value.end.by == "ann"

    turn = await stage.retry() if then == "retry" else await stage.say("and now?")

    assert turn.status == "done", turn.error
    assert deeds.done == done
    messages = await stage.messages()
    made = [call["id"] for one in messages if isinstance(one, AIMessage) for call in one.tool_calls]
    assert [one.tool_call_id for one in messages if isinstance(one, ToolMessage)] == made
    assert messages[-1].text in ("deployed", "done")


@pytest.fixture
def asker(alice: ThreadsClient) -> HitlClient:
    """A program that runs elsewhere."""
    with of(alice) as person:
        return HitlClient(str(alice.http.base_url), person.new_key("deployer", "agent")["key"])


def test_an_answer_that_came_before_the_wait_is_not_lost(alice: ThreadsClient, asker: HitlClient) -> None:
    """inngest 1433: an event that is sent before the function comes to wait for it is never seen by it."""
    with of(alice) as person, asker:
        request_id = asker.ask("permission", PERMISSION)["request_id"]
        person.respond(request_id, {"granted": True})
        told = asker.look(request_id, wait=SECONDS)
        assert (told["status"], told["response"]["granted"]) == ("answered", True)


@pytest.mark.promise("P10")
def test_a_missing_decision_runs_nothing(alice: ThreadsClient, asker: HitlClient) -> None:
    """pydantic-ai 8060: `decisions.get(call_id)` of a call that nobody decided is None, and None ran the tool."""
    with of(alice) as person, asker:
        request_id = asker.ask("permission", PERMISSION)["request_id"]
        nothings: list[Any] = [None, {}, [], "", {"granted": None}, {"granted": ""}, {"granted": 1}, {"granted": "yes"}]
        for nothing in nothings:
            assert person.try_respond(request_id, nothing).status_code == 400, nothing
        path = f"/api/v1/inbox/requests/{request_id}"
        shown = person.http.get(path).raise_for_status().json()
        for nothing in (None, {}, {"decision": None}, {"decision": ""}, {"decision": True}):
            body = {"value": nothing, "digest": shown["digest"], "code": shown["code"]}
            reply = person.http.post(f"{path}/answer", json=body, headers={"idempotency-key": str(nothing)})
            assert reply.status_code in (400, 422), nothing
        assert asker.look(request_id)["status"] == "pending"
        person.respond(request_id, {"granted": False})
        assert asker.look(request_id)["response"]["granted"] is False
