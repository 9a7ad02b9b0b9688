"""Servers on one database, of either kind, and people with accounts there."""

import shutil
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Self

import pytest

from tests.servers.postgres import PostgresServer
from tests.support import puppet
from tests.support.command import users
from tests.support.either_database import DATABASES
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

PASSWORD = "wonderland"

_numbers = count(1)


class Servers:
    """Two on PostgreSQL. On SQLite there is one, which is both."""

    def __init__(self, here: ServerProcess, there: ServerProcess) -> None:
        self.here = here
        self.there = there


class Join:
    """Somebody new, signed in; their name is one that nobody else has."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._clients: list[ThreadsClient] = []

    def __call__(self, name: str = "person", *how: str) -> ThreadsClient:
        """`how`: by the operator, with these options."""
        username = f"{name}-{next(_numbers)}"
        if how:
            users(self._servers.here, "create", username, "--password", PASSWORD, *how)
        client = ThreadsClient(self._servers.here.url, username, PASSWORD)
        self._clients.append(client)
        return client.sign_in(register=not how)

    def again(self, person: ThreadsClient, url: str | None = None) -> ThreadsClient:
        """The same person, signed in once more."""
        client = ThreadsClient(url or str(person.http.base_url), person.username, person.password)
        self._clients.append(client)
        return client.sign_in(register=False)

    def holding(self, credential: str, person: ThreadsClient, url: str) -> ThreadsClient:
        """Whoever has that token or key of the person."""
        client = ThreadsClient(url, person.username)
        client.http.headers["authorization"] = f"Bearer {credential}"
        self._clients.append(client)
        return client

    def copy(self, person: ThreadsClient, url: str) -> ThreadsClient:
        return self.holding(person.http.headers["authorization"].removeprefix("Bearer "), person, url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.http.close()


@contextmanager
def servers_on(kind: str, request: pytest.FixtureRequest, folder: Path, witness: Witness) -> Generator[Servers]:
    workspace = folder / "workspace"
    workspace.mkdir()
    environment = {**witness.environment, puppet.WORKSPACE: str(workspace)}
    with ExitStack() as stack:
        database = None
        if kind == "postgres":
            postgres: PostgresServer = request.getfixturevalue("postgres_server")
            database = stack.enter_context(postgres.fresh_database())
        names = ("here", "there") if kind == "postgres" else ("here",)
        agents = [puppet.SPEC, puppet.DEMO_SPEC]
        started = [ServerProcess(folder / one, agents, database, environment=environment) for one in names]
        for process in started:
            if process is not started[0]:
                process.data.mkdir()
                shutil.copy2(started[0].data / "secret.key", process.data / "secret.key")
            stack.callback(process.close)
            process.start()
        yield Servers(started[0], started[-1])


@pytest.fixture(scope="module", params=DATABASES)
def servers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, witness: Witness
) -> Generator[Servers]:
    with servers_on(request.param, request, tmp_path_factory.mktemp("account"), witness) as both:
        yield both


@pytest.fixture(scope="module")
def root(servers: Servers) -> Generator[ThreadsClient]:
    """The admin, who was there first."""
    client = ThreadsClient(servers.here.url, "root").sign_in()
    yield client
    client.http.close()


@pytest.fixture
def join(servers: Servers, root: ThreadsClient) -> Generator[Join]:
    with Join(servers) as joining:
        yield joining
