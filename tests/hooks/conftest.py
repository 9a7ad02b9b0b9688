"""A server, a person and an agent's key for the hooks of coding agents."""

from collections.abc import Generator
from itertools import count
from pathlib import Path

import pytest

from tests.hooks.hook import Desk
from tests.hooks.mortal import MortalServer, mortal_server
from tests.support.hitl import HitlClient, of
from tests.support.people import People
from tests.support.server import ServerProcess

_numbers = count(1)


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path_factory.mktemp("hooks") / "data", environment={"INTERLOCK_LOCALE": "en"})
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="package")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture
def person(people: People) -> Generator[HitlClient]:
    with of(people.named("alice")) as client:
        yield client


@pytest.fixture
def agent() -> str:
    """The name that the key asks under."""
    return "claude-code"


@pytest.fixture
def desk(server: ServerProcess, person: HitlClient, agent: str, tmp_path: Path) -> Generator[Desk]:
    key = person.new_key(f"hook-{next(_numbers)}", "agent", agent=agent)["key"]
    (tmp_path / "home").mkdir()
    found = Desk(server.url, key, person, tmp_path / "home")
    with found.agent:
        yield found


@pytest.fixture
def mortal(tmp_path: Path) -> Generator[MortalServer]:
    with mortal_server(tmp_path) as found:
        yield found
