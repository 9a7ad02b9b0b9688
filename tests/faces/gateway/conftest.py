"""A gateway on each database, with an upstream by a command and one over HTTP."""

from collections.abc import Generator, Iterator
from itertools import count

import pytest

from tests.support.either_database import DATABASES
from tests.support.gateway import UPSTREAMS, Gateway, GatewayHost, gateway_on
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
def gateway(
    request: pytest.FixtureRequest, database_kind: str, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Gateway]:
    with gateway_on(database_kind, request, tmp_path_factory.mktemp(f"gateway-{database_kind}")) as started:
        yield started


@pytest.fixture(scope="package")
def server(gateway: Gateway) -> ServerProcess:
    return gateway.server


@pytest.fixture(scope="package")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture
def person(alice: ThreadsClient) -> Iterator[HitlClient]:
    with of(alice) as client:
        yield client


@pytest.fixture(params=UPSTREAMS)
def upstream(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def host(server: ServerProcess, person: HitlClient, upstream: str) -> GatewayHost:
    name = f"gateway-host-{next(_numbers)}"
    return GatewayHost(Host(server, person, name, person.new_key(name, "agent")["key"]), upstream)


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """Both eras of the protocol."""
    return request.param


@pytest.fixture
def note() -> str:
    """A text that no other call has."""
    return f"note-{next(_numbers)}"
