"""`kill -9` where a run that waited its turn is started: what waits is started once, and in its order."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from interlock.domain.run import WaitingRun
from interlock.domain.run_input import MessageInput
from interlock.storage.database import open_database
from interlock.storage.sealing import Sealer
from interlock.storage.store import SqlStore
from tests.conformance.examples import AT
from tests.durability.lives import Lives, Talk

TEXTS = ["hello", "hello"]


def let_wait(url: str, thread_id: str) -> None:
    """As an enqueueing call leaves it, on a database that no server uses now."""

    async def add() -> None:
        database = open_database(url)
        async with SqlStore(database, sealer=Sealer(bytes(32)), audit_key=b"k").transaction() as tx:
            thread = await tx.threads.lock(thread_id)
            assert thread is not None
            for number, text in enumerate(TEXTS):
                given = MessageInput(text)
                run = WaitingRun(f"run_waited_{number}", thread_id, given, thread.owner_id, "local", AT, detached=True)
                await tx.waiting_runs.add(run)
        await database.close()

    with ThreadPoolExecutor(1) as aside:
        aside.submit(asyncio.run, add()).result()


@pytest.mark.parametrize("failpoint", ["run.promoting=kill", "run.claimed=kill@2", "run.promoting=kill@2"])
def test_what_waits_is_started_once_though_the_server_dies_as_it_starts_it(
    lives: Lives, database_url: str, failpoint: str
) -> None:
    lives.start()
    talk = Talk(lives, "deploy")
    talk.is_asked()
    lives.server.stop()
    let_wait(database_url, talk.thread_id)
    lives.start(failpoint)
    with lives.dying():
        talk.approve()
    lives.start()

    history = talk.person.wait_for(lambda: talk.person.history(talk.thread_id), lambda told: len(told) == 6)
    assert [one["content"] for one in history if one["role"] == "user"] == [talk.message, *TEXTS]
    answers = [one["content"] for one in history if one["role"] == "assistant"]
    assert answers == [f"finished {talk.name}", "hello to you", "hello to you"]
    assert talk.effects == 1
    story = [frame.event for frame in talk.log(runs=4)]
    assert story.count("end") == 4
    assert talk.person.chat(talk.thread_id, "hello").text == "hello to you"
