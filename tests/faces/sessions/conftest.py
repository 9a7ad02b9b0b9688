"""A server on each database, without accounts as the face's own clients know it, and with them."""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count

import pytest

from tests.servers.postgres import PostgresServer
from tests.support import puppet
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.sessions import SessionsClient, of
from tests.support.witness import Witness

_numbers = count(1)


@dataclass
class Place:
    """A server, and the people on it."""

    server: ServerProcess
    people: People
    with_accounts: bool

    def named(self, name: str) -> SessionsClient:
        return of(self.people.named(name)) if self.with_accounts else SessionsClient(self.server.url, name)


@pytest.fixture(scope="package", params=["sqlite-none", "postgres-none", "sqlite-accounts", "postgres-accounts"])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, witness: Witness
) -> Generator[Place]:
    database, _, auth = request.param.partition("-")
    with ExitStack() as stack:
        url = None
        if database == "postgres":
            postgres: PostgresServer = request.getfixturevalue("postgres_server")
            url = stack.enter_context(postgres.fresh_database())
        environment = {**witness.environment, "INTERLOCK_FOLLOW_GRACE": "0.3"}
        server = ServerProcess(
            tmp_path_factory.mktemp("sessions"), [puppet.SPEC], url, auth=auth, environment=environment
        )
        stack.callback(server.close)
        server.start()
        people = stack.enter_context(People(server.url))
        yield Place(server, people, auth == "accounts")


Users = Callable[[], SessionsClient]


@pytest.fixture
def users(place: Place) -> Generator[Users]:
    """Somebody new each time, without a session."""
    with ExitStack() as stack:

        def new() -> SessionsClient:
            client = place.named(f"user_{next(_numbers)}")
            stack.callback(client.close)
            return client

        yield new


@pytest.fixture
def user(users: Users) -> SessionsClient:
    return users()


@pytest.fixture
def fresh(request: pytest.FixtureRequest) -> str:
    """A name that no other test counts by."""
    return request.node.name.replace(" ", "_")
