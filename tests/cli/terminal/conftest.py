"""One server for everything that is answered from a terminal, and a fresh person for each test."""

from collections.abc import Generator, Iterator
from itertools import count

import pytest

from tests.cli.terminal.driving import Asker
from tests.support import puppet
from tests.support.hitl import HitlClient, of
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

_numbers = count(1)


@pytest.fixture(scope="package")
def witness() -> Generator[Witness]:
    with Witness() as running:
        yield running


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    folder = tmp_path_factory.mktemp("terminal")
    process = ServerProcess(folder / "data", agents=[puppet.SPEC], environment=witness.environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="package")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture
def owner(people: People) -> ThreadsClient:
    """Somebody for whom nothing waits yet."""
    return people.named(f"person-{next(_numbers)}")


@pytest.fixture
def person(owner: ThreadsClient) -> Iterator[HitlClient]:
    """The same, on the hitl face."""
    with of(owner) as client:
        yield client


@pytest.fixture
def key(person: HitlClient) -> str:
    """A key of theirs, for a terminal."""
    return person.new_key("terminal")["key"]


@pytest.fixture
def asker(server: ServerProcess, person: HitlClient) -> Iterator[Asker]:
    """An agent that runs elsewhere, and asks them."""
    made = person.new_key("worker", "agent")
    with Asker(server.url, made["key"]) as client:
        yield client
