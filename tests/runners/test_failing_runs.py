"""A run that fails after an answer: the answer is not lost, and the effect happens once."""

from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.types import interrupt
from typing_extensions import TypedDict

import interlock
from interlock.domain.errors import NothingPending
from interlock.domain.event import EventType
from interlock.domain.request import PauseStatus
from interlock.langchain import InterlockMiddleware
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent, line
from tests.runners.stage import Stage

ONE = [("c1", "send", {"path": "a"}), ("c2", "keep", {"path": "b"})]


class Heard(TypedDict, total=False):
    topic: str
    heard: Any


class Failing:
    """A tool that fails the first times, and one beside it that does not, and is recorded before the other fails."""

    def __init__(self, times: int = 1) -> None:
        self.deeds = Deeds()
        self.attempts = 0
        self.stage: Stage | None = None

        @tool
        async def send(path: str) -> str:
            """Send."""
            self.attempts += 1
            if self.attempts <= times:
                assert self.stage is not None
                await self.stage.until_told(EventType.TOOL_ENDED)
                raise ConnectionError("the mail server is down")
            self.deeds.note(f"send {path}")
            return f"sent {path}"

        self.tools = [send, self.deeds.tool("keep")]


@pytest.mark.parametrize("kind", ["batched", "per_call", "interlock"])
async def test_a_retry_goes_on_without_asking_again(host: Host, kind: Any) -> None:
    failing = Failing(times=2)
    gate: Any = (
        InterlockMiddleware({"send": True})
        if kind == "interlock"
        else HumanInTheLoopMiddleware({"send": True}, interrupt_mode=kind)
    )
    stage = await host(agent(failing.tools, ONE, middleware=[gate]))
    failing.stage = stage
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"decision": "edit", "args": {"path": "z"}})
    assert turn.status == "failed"
    assert "mail server" in (turn.error or "")

    turn = await stage.retry()
    assert turn.status == "failed"
    turn = await stage.retry()

    assert turn.status == "done", turn.error
    assert failing.deeds.counts == {"send z": 1, "keep b": 1}
    assert (await stage.results())["c1"].endswith("sent z")
    assert len(await stage.events(EventType.PAUSE_OPENED)) == 1
    assert len(await stage.pauses(PauseStatus.CONSUMED)) == 1
    with pytest.raises(NothingPending):
        await stage.retry()


async def test_a_node_that_fails_after_its_answer_gets_it_again(host: Host) -> None:
    deeds, attempts = Deeds(), list[str]()

    async def pay() -> str:
        deeds.note("pay")
        return "paid"

    async def node(state: Heard) -> Heard:
        answer: str = interrupt("how much?")
        paid = await interlock.effect("pay", pay)
        attempts.append(answer)
        if len(attempts) == 1:
            raise ConnectionError("down")
        return {"heard": f"{paid} {answer}"}

    stage = await host(line(Heard, node))
    turn = await stage.say()
    turn = await stage.tell(turn.request, "7")
    assert turn.status == "failed"
    assert len(await stage.pauses(PauseStatus.SETTLED)) == 1

    turn = await stage.retry()

    assert turn.status == "done"
    assert (await stage.values())["heard"] == "paid 7"
    assert attempts == ["7", "7"]
    assert deeds.done == ["pay"]


@on_sqlite
@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_a_new_message_instead_voids_the_answer(host: Host, mode: Any) -> None:
    failing = Failing()
    gate: Any = HumanInTheLoopMiddleware({"send": True}, interrupt_mode=mode)
    stage = await host(agent(failing.tools, ONE, middleware=[gate]))
    failing.stage = stage
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"decision": "accept"})
    assert turn.status == "failed"

    turn = await stage.say("never mind")

    assert turn.status == "done"
    assert failing.deeds.done == ["keep b"]
    assert await stage.pauses(PauseStatus.SETTLED) == []
    assert len(await stage.pauses(PauseStatus.VOID)) == 1
    assert "Not run" in (await stage.results())["c1"]
    with pytest.raises(NothingPending):
        await stage.retry()


@on_sqlite
async def test_a_run_that_fails_before_anything_was_asked_cannot_be_retried_but_answered_by_a_message(
    host: Host,
) -> None:
    failing = Failing()
    stage = failing.stage = await host(agent(failing.tools, ONE))
    turn = await stage.say()
    assert turn.status == "failed"
    with pytest.raises(NothingPending):
        await stage.retry()
    assert (await stage.say("again")).status == "done"


@on_sqlite
async def test_a_graph_that_runs_in_circles_fails_and_says_so(host: Host) -> None:
    def node(state: Heard) -> Heard:
        return {"heard": 1}

    builder = line(Heard, node)
    builder.add_edge("node", "node")
    stage = await host(builder.compile().with_config({"recursion_limit": 5}))
    turn = await stage.say()
    assert turn.status == "failed"
    assert "GraphRecursionError" in (turn.error or "")


@on_sqlite
async def test_an_accepted_breakpoint_is_not_asked_again_after_its_node_failed(host: Host) -> None:
    attempts: list[str] = []

    def first(state: Heard) -> Heard:
        return {"heard": "first"}

    def second(state: Heard) -> Heard:
        attempts.append("second")
        if len(attempts) == 1:
            raise ConnectionError("down")
        return {"heard": "second"}

    stage = await host(line(Heard, first, second).compile(interrupt_before=["second"]))
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"decision": "accept"})
    assert turn.status == "failed"

    turn = await stage.retry()

    assert turn.status == "done"
    assert (await stage.values())["heard"] == "second"
