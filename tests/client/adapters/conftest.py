"""A server that hosts no agent of its own, a person, and an agent that runs elsewhere and asks."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from tests.client.adapters.desk import Desk, FrailServer, open_desk
from tests.support.hitl import of
from tests.support.people import People
from tests.support.server import ServerProcess


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path_factory.mktemp("adapters") / "data")
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="package")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture
async def desk(people: People) -> AsyncGenerator[Desk]:
    with of(people.named("alice")) as person:
        async with open_desk(person) as opened:
            yield opened


@pytest.fixture
def frail(tmp_path: Path) -> Generator[FrailServer]:
    process = FrailServer(tmp_path / "data")
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture
async def far_desk(frail: FrailServer) -> AsyncGenerator[Desk]:
    """On the server that may be killed."""
    with People(frail.url) as people, of(people.named("alice")) as person:
        async with open_desk(person) as opened:
            yield opened
