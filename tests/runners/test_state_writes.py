"""A graph's state, written to by people: with a trace in the audit trail, before and after."""

from typing import Any

import pytest
from langgraph.types import interrupt
from typing_extensions import TypedDict

from interlock.domain.errors import InvalidInput
from interlock.services.threads.states import write_state
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
