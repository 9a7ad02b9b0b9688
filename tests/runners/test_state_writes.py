"""A graph's state, written to by people: with a trace in the audit trail, before and after."""

from typing import Any

import pytest
from langgraph.types import interrupt
from typing_extensions import TypedDict

from interlock.domain.errors import Forbidden, InvalidInput, NotFound, ThreadBusy
from interlock.domain.principal import Principal, Role
from interlock.domain.run_input import GraphCommand, GraphInput
from interlock.services.threads.states import return_to, write_state
from tests.runners.conftest import Host
from tests.runners.script import line
from tests.runners.stage import ANN, THREAD, Stage


class Heard(TypedDict, total=False):
    topic: str
    heard: Any


def ask(state: Heard) -> Heard:
    return {"heard": interrupt("go on?")}


async def trail(stage: Stage) -> list[str]:
    async with stage.core.store.snapshot() as tx:
        entries = await tx.audit.entries(THREAD, 0, 100)
    return [one.action for one in entries if one.action.startswith("state.")]


async def test_what_is_not_taken_leaves_the_question_open_and_no_trace(host: Host) -> None:
    stage = await host(line(Heard, ask))
    turn = await stage.say()
    with pytest.raises(InvalidInput):
        await write_state(stage.core, ANN, THREAD, {"heard": "x"}, "nobody", "test")
    assert (await stage.open_requests(), await trail(stage)) == (turn.requests, [])
    written = await write_state(stage.core, ANN, THREAD, {"heard": "x"}, "ask", "test")
    state = await stage.state()
    assert (state.values["heard"], state.config["configurable"]["checkpoint_id"]) == ("x", written)
    assert (await stage.open_requests(), await trail(stage)) == ([], ["state.updating", "state.updated"])


async def test_a_thread_goes_back_only_at_rest_and_leaves_a_trace(host: Host) -> None:
    stage = await host(line(Heard, ask))
    turn = await stage.say()
    async with stage.core.store.snapshot() as tx:
        thread = await tx.threads.get(THREAD)
    assert thread is not None
    [*_, asking, begin] = await stage.core.agents.snapshots(thread, 10)
    assert (asking.next, begin.next) == (("ask",), ("__start__",))
    first, eve = str(asking.checkpoint_id), Principal("u-eve", "eve", Role.OWNER)
    with pytest.raises(ThreadBusy):
        await return_to(stage.core, ANN, THREAD, first)
    await stage.tell(turn.request, "!")
    with pytest.raises(NotFound):
        await return_to(stage.core, ANN, THREAD, "none")
    with pytest.raises(Forbidden):
        await return_to(stage.core, eve, THREAD, first)
    assert await trail(stage) == []
    written = await return_to(stage.core, ANN, THREAD, first)
    state = await stage.state()
    assert ("heard" in state.values, state.config["configurable"]["checkpoint_id"]) == (False, written)
    assert state.next == ("ask",)
    assert await trail(stage) == ["state.returning", "state.updated"]


def test_going_on_from_a_step_is_told_by_a_sign() -> None:
    assert GraphInput(None, command=GraphCommand()).as_text() == "↩"
