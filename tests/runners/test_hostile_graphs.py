"""Graphs that do what nobody would plan: many threads at once, odd interrupts, tools that raise after they did it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.types import interrupt
from typing_extensions import TypedDict

import interlock
from interlock import ask, failpoints
from interlock.domain.effect import EffectState
from interlock.domain.errors import InvalidAnswer
from interlock.domain.event import EventType
from interlock.langchain import InterlockMiddleware
from interlock.storage.database import Database
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds
from tests.runners.script import agent, line
from tests.runners.stage import SECONDS, own_thread
from tests.runners.test_secrets import PLANTED, whole_database
from tests.support.bodies import shown

pytestmark = on_sqlite


class Heard(TypedDict, total=False):
    topic: str
    heard: Any


async def test_sync_effects_in_more_threads_than_the_pool_has_all_come_to_an_end(host: Host) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    deeds = Deeds()

    def node(state: Heard) -> Heard:
        return {"heard": interlock.effect("k", lambda: deeds.note(state.get("topic", "")))}

    stage = await host(line(Heard, node))
    async with asyncio.timeout(SECONDS):
        turns = await asyncio.gather(*(stage.say(f"t{number}", own_thread(number)) for number in range(8)))
    assert {turn.status for turn in turns} == {"done"}
    assert sorted(deeds.done) == [f"t{number}" for number in range(8)]


async def test_a_sync_effect_inside_a_sync_effect_stays_in_its_thread(host: Host) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))

    def node(state: Heard) -> Heard:
        return {"heard": interlock.effect("outer", lambda: interlock.effect("inner", lambda: "done"))}

    stage = await host(line(Heard, node))
    assert (await stage.say()).status == "done"
    assert (await stage.values())["heard"] == "done"


async def test_what_would_end_a_process_ends_only_the_sync_effect(host: Host) -> None:
    def node(state: Heard) -> Heard:
        return {"heard": interlock.effect("k", lambda: exit(3))}

    stage = await host(line(Heard, node))
    turn = await stage.say()
    assert (turn.status, turn.error) == ("failed", "RuntimeError: SystemExit: 3")


LOOK_ALIKES: list[Any] = [
    {"action_requests": [], "review_configs": []},
    {"action_requests": [{"name": "x"}], "review_configs": []},
    {"action_requests": [{"name": "x", "args": {}}], "review_configs": [{"allowed_decisions": ["whatever"]}]},
    {"interlock": 1},
    {"interlock": {"kind": "nothing we know"}},
    {"type": "tool_approval"},
]


@pytest.mark.parametrize("value", LOOK_ALIKES)
async def test_an_interrupt_that_only_looks_like_a_known_one_is_shown_as_it_is(host: Host, value: Any) -> None:
    def node(state: Heard) -> Heard:
        return {"heard": interrupt(value)}

    stage = await host(line(Heard, node))
    turn = await stage.say()
    assert turn.request.kind == "clarification"
    assert shown(turn.request)["value"] == value
    assert (await stage.tell(turn.request, "go on")).status == "done"
    assert (await stage.values())["heard"] == "go on"


TOO_LARGE = 10**400


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"order": {"amount": TOO_LARGE}}, "the interrupt[0].value['order']['amount'] cannot be kept: it is a whole"),
        ({"half \ud800": 1}, r"the interrupt[0].value cannot be kept: its name 'half \ud800' holds half a character"),
    ],
)
async def test_an_interrupt_that_no_checkpoint_keeps_is_refused_with_its_place(
    host: Host, value: Any, why: str
) -> None:
    def node(state: Heard) -> Heard:
        return {"heard": interrupt(value)}

    turn = await (await host(line(Heard, node))).say()
    assert turn.status == "failed"
    assert (turn.error or "").startswith(why)


async def test_arguments_that_no_checkpoint_keeps_are_refused_with_their_place(host: Host) -> None:
    deeds = Deeds()

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        deeds.note(str(amount))
        return "paid"

    stage = await host(
        agent([pay], [("c1", "pay", {"amount": TOO_LARGE})], middleware=[InterlockMiddleware({"pay": True})])
    )
    turn = await stage.say()
    assert turn.status == "failed"
    assert "['args']['amount'] cannot be kept: it is a whole number beyond 64 bits" in (turn.error or "")
    assert deeds.done == []


async def test_the_largest_number_is_asked_about_and_runs_as_it_is(host: Host) -> None:
    deeds = Deeds()

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        deeds.note(str(amount))
        return "paid"

    stage = await host(
        agent([pay], [("c1", "pay", {"amount": 2**64 - 1})], middleware=[InterlockMiddleware({"pay": True})])
    )
    turn = await stage.say()
    with pytest.raises(InvalidAnswer, match="64 bits"):
        await stage.reply(turn.request, {"decision": "edit", "args": {"amount": TOO_LARGE}})
    await stage.reply(turn.request, {"decision": "accept"})
    assert deeds.done == [str(2**64 - 1)]


async def test_an_answer_that_no_checkpoint_keeps_is_refused_and_the_question_stays(host: Host) -> None:
    def node(state: Heard) -> Heard:
        return {"heard": interrupt("how many?")}

    stage = await host(line(Heard, node))
    turn = await stage.say()
    for value in (TOO_LARGE, {"n": TOO_LARGE}):
        with pytest.raises(InvalidAnswer):
            await stage.reply(turn.request, {"answer": value})
    assert (await stage.reply(turn.request, {"answer": 2**63})).status == "done"
    assert (await stage.values())["heard"] == 2**63


async def test_a_tool_that_raised_is_not_run_again_by_a_crash(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    deeds = Deeds()

    @tool
    async def send(path: str) -> str:
        """Send."""
        deeds.note(path)
        raise ConnectionError("sent, but the reply was lost")

    stage = await host(agent([send], [("c1", "send", {"path": "a"})]), started=False)
    started = await stage.send()
    mortal = await stage.mortal()
    reached = asyncio.Event()

    def dies(name: str) -> None:
        if name == "run.finishing" and not reached.is_set():
            reached.set()
            raise asyncio.CancelledError

    monkeypatch.setattr(failpoints, "hit", dies)
    async with asyncio.timeout(SECONDS):
        await reached.wait()
    await mortal.kill()
    await stage.start()
    turn = await stage.ended(started.run, started.seq)
    assert turn.status == "failed"
    assert "the reply was lost" in (turn.error or "")
    assert deeds.done == ["a"]
    assert [effect.state for effect in await stage.effects()] == [EffectState.FAILED]


async def test_a_secret_in_the_text_of_an_error_is_hidden_everywhere(
    host: Host, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    def node(state: Heard) -> Heard:
        key = ask.env_vars(["KEY"])["KEY"]
        raise ValueError(f"bad header value {key}")

    stage = await host(line(Heard, node))
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"values": {"KEY": PLANTED}, "save": False})
    assert (turn.status, turn.error) == ("failed", "ValueError: bad header value ***")
    assert PLANTED not in await whole_database(database)
    assert PLANTED not in caplog.text
    assert "bad header value ***" in caplog.text


async def test_a_model_may_use_the_id_of_an_approved_call_again(host: Host) -> None:
    deeds = Deeds()
    tools = [deeds.tool("send"), deeds.tool("keep")]
    lines = ([("c1", "send", {"path": "a"})], [("c1", "keep", {"path": "b"})], AIMessage("done"))
    stage = await host(agent(tools, *lines, middleware=[InterlockMiddleware({"send": True})]))
    turn = await stage.say()
    turn = await stage.reply(turn.request, {"decision": "accept"})
    assert (turn.status, turn.error) == ("done", None)
    assert deeds.done == ["send a", "keep b"]
    assert len(await stage.events(EventType.TOOL_STARTED)) == 2
