"""Threads that were made for one run, and left behind by a server that died: deleted, unless a person is awaited."""

from interlock.domain.thread import ONE_RUN
from interlock.services.operations.housekeeping import tidy
from interlock.services.threads.threads import create_thread
from tests.runners.conftest import Host
from tests.runners.script import line
from tests.runners.stage import ANN, Stage
from tests.runners.test_double_clicks import Heard, client_of, production

HOUR = 3600.0


async def alive(stage: Stage, thread_id: str) -> bool:
    async with stage.core.store.snapshot() as tx:
        return await tx.threads.get(thread_id) is not None


async def test_what_was_left_behind_is_deleted(host: Host) -> None:
    stage = await host(line(Heard, production))
    left = await create_thread(stage.core, ANN, face=ONE_RUN)
    own = await create_thread(stage.core, ANN)
    await tidy(stage.core)
    assert await alive(stage, left.id)
    stage.clock.move(HOUR)
    new = await create_thread(stage.core, ANN, face=ONE_RUN)
    await tidy(stage.core)
    assert [await alive(stage, one.id) for one in (left, own, new)] == [False, True, True]


async def test_a_run_without_a_thread_waits_for_its_answer(host: Host) -> None:
    stage = await host(line(Heard, production))
    async with client_of(stage) as client:
        body = {"assistant_id": "agent", "input": {"topic": "x"}}
        asked = await client.post("/runs/wait", json=body)
    assert asked.json()["__interrupt__"]
    thread_id = asked.headers["content-location"].split("/")[2]
    stage.clock.move(HOUR)
    await tidy(stage.core)
    async with stage.core.store.snapshot() as tx:
        thread = await tx.threads.get(thread_id)
    assert thread is not None
    assert thread.face == ONE_RUN
