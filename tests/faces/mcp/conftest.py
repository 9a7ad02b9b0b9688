"""A server on each database, and hosts whose keys are a person's."""

from collections.abc import Generator, Iterator
from itertools import count

import pytest

from tests.support.either_database import DATABASES, server_on
from tests.support.hitl import HitlClient, of
from tests.support.mcp import MODES, Host
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

_numbers = count(1)


@pytest.fixture(scope="package", params=DATABASES)
def database_kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="package")
def server(
    request: pytest.FixtureRequest, database_kind: str, tmp_path_factory: pytest.TempPathFactory
) -> Generator[ServerProcess]:
    with server_on(database_kind, request, tmp_path_factory.mktemp(f"mcp-{database_kind}"), {}) as process:
        yield process


@pytest.fixture(scope="package")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture
def person(alice: ThreadsClient) -> Iterator[HitlClient]:
    with of(alice) as client:
        yield client


@pytest.fixture
def host(server: ServerProcess, person: HitlClient) -> Host:
    name = f"host-{next(_numbers)}"
    return Host(server, person, name, person.new_key(name, "agent")["key"])


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """Both eras of the protocol, on one path."""
    return request.param
