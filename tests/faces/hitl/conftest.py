"""A server on each database, people on this face, and a fresh owner for tests of what is remembered for one."""

from collections.abc import Generator, Iterator
from itertools import count

import pytest

from tests.faces.conftest import GRACE
from tests.servers.postgres import PostgresServer
from tests.support.either_database import DATABASES, server_on
from tests.support.hitl import HitlClient, of
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

_numbers = count(1)


@pytest.fixture(scope="package", params=DATABASES)
def database_kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="package")
def witness(database_kind: str) -> Generator[Witness]:
    """One for each server: what it counted for the other one is not counted here."""
    assert database_kind
    with Witness() as running:
        yield running


@pytest.fixture(scope="package")
def server(
    request: pytest.FixtureRequest, database_kind: str, tmp_path_factory: pytest.TempPathFactory, witness: Witness
) -> Generator[ServerProcess]:
    environment = {**witness.environment, "INTERLOCK_FOLLOW_GRACE": str(GRACE)}
    folder = tmp_path_factory.mktemp(f"hitl-{database_kind}")
    with server_on(database_kind, request, folder, environment) as process:
        yield process


@pytest.fixture
def own_database(request: pytest.FixtureRequest, database_kind: str) -> Generator[str | None]:
    """Of the same kind, for a server of a test's own."""
    if database_kind == "sqlite":
        yield None
        return
    postgres: PostgresServer = request.getfixturevalue("postgres_server")
    with postgres.fresh_database() as url:
        yield url


@pytest.fixture(scope="package")
def people(server: ServerProcess) -> Generator[People]:
    """Of this server: what the other faces' tests stand on is another one."""
    with People(server.url) as registered:
        yield registered


@pytest.fixture
def person(alice: ThreadsClient) -> Iterator[HitlClient]:
    """Alice."""
    with of(alice) as client:
        yield client


@pytest.fixture
def other(bob: ThreadsClient) -> Iterator[HitlClient]:
    with of(bob) as client:
        yield client


@pytest.fixture
def admin(root: ThreadsClient) -> Iterator[HitlClient]:
    with of(root) as client:
        yield client


@pytest.fixture
def agent(server: ServerProcess, person: HitlClient) -> Iterator[HitlClient]:
    """An agent that runs elsewhere, with a key of Alice's and a name of its own."""
    made = person.new_key(f"worker-{next(_numbers)}", "agent")
    with HitlClient(server.url, made["key"]) as client:
        yield client


@pytest.fixture
def owner(people: People) -> ThreadsClient:
    """Somebody for whom nothing is remembered yet."""
    return people.named(f"owner-{next(_numbers)}")


@pytest.fixture
def theirs(owner: ThreadsClient) -> Generator[HitlClient]:
    """The same, on this face."""
    with of(owner) as client:
        yield client
