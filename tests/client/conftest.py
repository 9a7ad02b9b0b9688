"""One server for all tests of the client that need no other, the people who use it, and agents that ask them."""

import secrets
from collections.abc import AsyncGenerator, Generator

import pytest

from interlock_client import Interlock
from tests.client import approvals
from tests.client.asking import Person
from tests.support import puppet
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

GRACE = 0.3


@pytest.fixture(scope="package")
def witness() -> Generator[Witness]:
    with Witness() as running:
        yield running


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    """The puppet is its agent, and one that asks for approvals; who registers first is `root`, its admin."""
    environment = {**witness.environment, "INTERLOCK_FOLLOW_GRACE": str(GRACE), "INTERLOCK_LOCALE": "en"}
    folder = tmp_path_factory.mktemp("client")
    process = ServerProcess(folder / "data", agents=[puppet.SPEC, approvals.SPEC], environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="package")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture
def token(people: People) -> str:
    """Alice's."""
    return token_of(people.named("alice"))


def token_of(client: ThreadsClient) -> str:
    return client.http.headers["authorization"].removeprefix("Bearer ")


@pytest.fixture
async def alice(server: ServerProcess, token: str) -> AsyncGenerator[Person]:
    async with Person(server.url, token=token, locale="en") as client:
        yield client


@pytest.fixture
async def bob(server: ServerProcess, people: People) -> AsyncGenerator[Interlock]:
    async with Interlock(server.url, token=token_of(people.named("bob")), locale="en") as client:
        yield client


@pytest.fixture
async def root(server: ServerProcess, people: People) -> AsyncGenerator[Interlock]:
    async with Interlock(server.url, token=token_of(people.named("root")), locale="en") as client:
        yield client


@pytest.fixture
async def key(alice: Person) -> str:
    """Of an agent that nobody else is, who asks Alice."""
    name = f"agent-{secrets.token_hex(4)}"
    return (await alice.create_key(name, "agent")).key


@pytest.fixture
async def agent(server: ServerProcess, key: str) -> AsyncGenerator[Interlock]:
    async with Interlock(server.url, key=key, locale="en") as client:
        yield client
