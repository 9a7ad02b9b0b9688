"""A server that is shut down in the middle of a call goes on with it after its restart, and the caller is told."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from interlock_client import Interlock
from tests.client.asking import within
from tests.support import puppet
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.support.witness import Witness


@pytest.fixture
def own(tmp_path: Path, witness: Witness) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path / "data", agents=[puppet.SPEC], auth="none", environment=witness.environment)
    try:
        yield process.start()
    finally:
        process.close()


async def test_a_query_is_sent_once_and_its_outcome_told_over_a_restart(own: ServerProcess, witness: Witness) -> None:
    own.port = int(own.url.rpartition(":")[2])
    async with Interlock(own.url, user="alice") as client:
        query = script(calls(("hold", {"name": "restarted"})), calls(("note", {"name": "after-restart"})))
        invoking = asyncio.create_task(client.invoke("alice", query))
        await asyncio.to_thread(wait_for, lambda: witness.count("at:restarted"), lambda count: count == 1)
        stopping = asyncio.create_task(asyncio.to_thread(own.stop))
        witness.release("restarted")
        await stopping
        await asyncio.to_thread(own.start)
        told = await within(invoking)
    assert told.status == "completed"
    assert (witness.count("restarted"), witness.count("after-restart")) == (1, 1)
