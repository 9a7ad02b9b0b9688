"""Effects and asks from threads that a node or tool starts: recorded, or refused, and never done in silence."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from typing_extensions import TypedDict

import interlock
from interlock import ask
from tests.runners.conftest import Host, on_sqlite
from tests.runners.deeds import Deeds, Gate
from tests.runners.script import line

pytestmark = [pytest.mark.promise("P6"), on_sqlite]

Work = Callable[[], Any]


class State(TypedDict, total=False):
    topic: str
    heard: Any


async def in_the_loops_pool(work: Work) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, work)


async def in_a_pool(work: Work) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return await asyncio.wrap_future(pool.submit(work))


async def in_a_pool_with_the_context(work: Work) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return await asyncio.wrap_future(pool.submit(contextvars.copy_context().run, work))


USES: dict[str, Callable[[Work], Any]] = {
    "effect": lambda do: interlock.effect("pay", do),
    "ask": lambda do: do() if ask.clarification("pay?") else None,
    "ask.secret": lambda do: do() if ask.secret("KEY") else None,
    "idempotency_key": lambda do: do() if interlock.idempotency_key() else None,
}
Start = Callable[[Work], Awaitable[Any]]
knowing = pytest.mark.parametrize("start", [asyncio.to_thread, in_a_pool_with_the_context])


@pytest.mark.parametrize("start", [in_the_loops_pool, in_a_pool])
@pytest.mark.parametrize("name", list(USES))
async def test_what_a_thread_that_does_not_know_its_run_would_lose_is_refused(
    host: Host, start: Start, name: str
) -> None:
    deeds = Deeds()

    async def node(state: State) -> State:
        await start(lambda: USES[name](lambda: deeds.note("paid")))
        return {}

    stage = await host(line(State, node))

    turn = await stage.say()

    assert turn.status == "failed"
    assert f"interlock.{name} " in (turn.error or "")
    assert "asyncio.to_thread" in (turn.error or "")
    assert deeds.done == []


@knowing
async def test_an_effect_of_a_thread_that_knows_its_run_is_not_repeated(host: Host, start: Start) -> None:
    deeds, gate = Deeds(), Gate()

    async def node(state: State) -> State:
        await start(lambda: interlock.effect("pay", lambda: deeds.note("paid")))
        await gate.stop()
        return {}

    stage = await host(line(State, node), started=False)
    started = await stage.send()
    mortal = await stage.mortal()
    await gate.until_reached()
    await mortal.kill()
    await stage.start()

    turn = await stage.ended(started.run, started.seq)

    assert turn.status == "done", turn.error
    assert deeds.done == ["paid"]


@knowing
async def test_an_ask_of_a_thread_that_knows_its_run_is_answered(host: Host, start: Start) -> None:
    async def node(state: State) -> State:
        return {"heard": await start(lambda: ask.clarification("Which?"))}

    stage = await host(line(State, node))
    turn = await stage.say()

    turn = await stage.tell(turn.request, "this")

    assert turn.status == "done", turn.error
    assert (await stage.values())["heard"] == "this"


async def test_where_no_run_is_under_way_an_effect_is_just_done(host: Host) -> None:
    async def node(state: State) -> State:
        return {}

    stage = await host(line(State, node))
    await stage.say()
    await stage.close()
    deeds = Deeds()

    await in_a_pool(lambda: interlock.effect("pay", lambda: deeds.note("paid")))

    assert deeds.done == ["paid"]
