"""Resumes of LangGraph's clients, hours later or at another server: a card that still stands on a screen answers no
newer question, and a list of responses nothing that stood at another place."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from langgraph.types import interrupt
from typing_extensions import TypedDict

from interlock.bus.local import LocalBus
from interlock.domain.request import Pause, PauseStatus, Request
from interlock.faces.langgraph.errors import Refusal
from interlock.faces.langgraph.interrupts import interrupts_of, view_of
from interlock.faces.langgraph.repeats import ResumeResult
from interlock.faces.langgraph.resumes import Resume
from interlock.passwords import Argon2Passwords
from interlock.services.core import Core
from tests.runners.conftest import Host, on_sqlite
from tests.runners.script import line
from tests.runners.stage import ANN, BOB, THREAD, Stage, Turn

LATER = 3600.0
ACCEPT = {"type": "accept", "args": None}
IGNORE = {"type": "ignore", "args": None}


class Heard(TypedDict, total=False):
    topic: str
    heard: list[Any]


def asks(*questions: Any) -> Any:
    def ask(state: Heard) -> Heard:
        return {"heard": [interrupt(one) for one in questions]}

    return line(Heard, ask)


def actions(count: int) -> Any:
    """Several in one interrupt of the older form, which is answered by a list."""
    config = {"allow_accept": True, "allow_edit": True, "allow_respond": True, "allow_ignore": True}
    return [{"action_request": {"action": "send", "args": {"n": n}}, "config": config} for n in range(count)]


def review(count: int) -> Any:
    """Several in one interrupt of the newer form, of which Agent Inbox shows the first."""
    requests = [{"name": "pay", "args": {"amount": n}, "description": f"pay {n}"} for n in range(count)]
    configs = [{"action_name": "pay", "allowed_decisions": ["approve", "reject"]} for _ in requests]
    return {"action_requests": requests, "review_configs": configs}


class StillClock:
    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        return self._at


def other_server(stage: Stage, at: datetime) -> Core:
    """On the same database, with a memory of its own."""
    return Core(stage.core.store, LocalBus(), StillClock(at), stage.agents, Argon2Passwords())


async def open_pause(stage: Stage) -> tuple[Pause, list[Request]]:
    [pause] = await stage.pauses(PauseStatus.OPEN)
    async with stage.core.store.snapshot() as tx:
        return pause, await tx.requests.of_pauses([pause.id])


async def show_ann(stage: Stage, core: Core | None = None) -> None:
    (core or stage.core).seen_pauses.show(view_of(*await open_pause(stage)), ANN.id)


async def told_by_bob(stage: Stage, request: Request) -> Turn:
    settled = await stage.answer(request, {"answer": "go ahead"}, BOB)
    assert settled.run is not None
    return await stage.ended(settled.run, settled.seq)


async def resume(core: Core, value: Any = "yes", *, is_click: bool = False) -> ResumeResult:
    return await Resume(core, ANN, THREAD, "en", is_click=is_click, is_fetched=is_click).answer(value)


async def refusal(core: Core, value: Any = "yes", *, is_click: bool = False) -> str:
    with pytest.raises(Refusal) as refused:
        await resume(core, value, is_click=is_click)
    return refused.value.reason


@on_sqlite
@pytest.mark.parametrize("between", [(), ("testing?",)])
async def test_a_card_that_others_answered_answers_nothing_later(host: Host, between: tuple[str, ...]) -> None:
    stage = await host(asks("staging?", *between, "PRODUCTION?"))
    turn = await stage.say()
    await show_ann(stage)
    for _ in ("staging?", *between):
        turn = await told_by_bob(stage, turn.request)
    stage.clock.move(LATER)
    assert await refusal(stage.core) == "not_shown"
    assert await refusal(other_server(stage, stage.clock.now())) == "not_shown"
    await show_ann(stage)
    await resume(stage.core)
    assert await stage.open_requests() == []


@on_sqlite
async def test_a_card_that_its_owner_answered_elsewhere_answers_nothing_later(host: Host) -> None:
    stage = await host(asks("staging?", "PRODUCTION?"))
    turn = await stage.say()
    await show_ann(stage)
    await stage.tell(turn.request, "go ahead")
    stage.clock.move(LATER)
    assert await refusal(stage.core) == "not_shown"


@on_sqlite
async def test_the_only_question_of_a_thread_is_meant_without_having_been_shown(host: Host) -> None:
    stage = await host(asks("staging?", "PRODUCTION?"))
    await stage.say()
    assert await refusal(stage.core) == "not_shown"
    stage.clock.move(LATER)
    await resume(stage.core)
    assert await stage.pauses(PauseStatus.VOID) == []
    assert len(await stage.pauses(PauseStatus.OPEN)) <= 1


async def test_a_double_click_over_two_servers_answers_one_question(host: Host) -> None:
    stage = await host(asks("staging?", "PRODUCTION?"))
    await stage.say()
    await show_ann(stage)
    first = await resume(stage.core, is_click=True)
    async with stage.core.store.snapshot() as tx:
        run = await tx.runs.get(first.run_id)
    assert run is not None
    [production] = (await stage.ended(run, first.seq)).requests
    [pause] = await stage.pauses(PauseStatus.CONSUMED)
    async with stage.core.store.snapshot() as tx:
        [staging] = await tx.requests.of_pauses([pause.id])
    assert staging.settled_at is not None
    for seconds, is_taken in ((0.9, False), (1.1, True)):
        second = other_server(stage, staging.settled_at + timedelta(seconds=seconds))
        # The stream of a second tab shows the question between the two clicks.
        await show_ann(stage, second)
        if is_taken:
            await resume(second, is_click=True)
        else:
            assert await refusal(second, is_click=True) == "not_shown"
            assert await stage.open_requests() == [production]


@on_sqlite
@pytest.mark.parametrize("seconds", [1.0, LATER])
@pytest.mark.parametrize(
    ("asked", "given"),
    [(actions(3), [ACCEPT, IGNORE]), (actions(2), [ACCEPT]), (actions(2), ACCEPT), (review(2), [ACCEPT])],
)
async def test_a_list_goes_by_the_places_that_its_sender_saw(
    host: Host, asked: Any, given: Any, seconds: float
) -> None:
    stage = await host(asks(asked))
    turn = await stage.say()
    pause, requests = await open_pause(stage)
    await show_ann(stage)
    [shown] = interrupts_of(pause, requests)
    await stage.answer(turn.requests[0], {"decision": "reject"}, BOB)
    stage.clock.move(seconds)
    # Meant for the first ones of all, while those after the first are left.
    assert await refusal(stage.core, {shown.id: given}) == "not_shown"
    assert await refusal(stage.core, given) == "not_shown"
    assert await stage.open_requests() == turn.requests[1:]
    await show_ann(stage)
    await resume(stage.core, {shown.id: given})
    assert turn.requests[1] not in await stage.open_requests()


@on_sqlite
async def test_a_list_for_a_part_gets_its_first_reply_again(host: Host) -> None:
    stage = await host(asks(actions(4)))
    turn = await stage.say()
    pause, requests = await open_pause(stage)
    [shown] = interrupts_of(pause, requests)
    given = {shown.id: [ACCEPT, IGNORE]}
    first = await resume(stage.core, given)
    stage.clock.move(24)
    assert await resume(stage.core, given) == ResumeResult(first.run_id, 0, goes_on=False)
    stage.clock.move(LATER)
    assert await refusal(stage.core, given) == "not_shown"
    assert await stage.open_requests() == turn.requests[2:]
