"""Servers that share PostgreSQL and Redis, with workers that Ray keeps on this machine."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.servers.postgres import PostgresServer
from tests.servers.ray import ON_LOOPBACK
from tests.servers.redis import RedisServer, redis
from tests.support import puppet
from tests.support.server import ServerProcess
from tests.support.witness import Witness

LEASE_SECONDS = 3.0


@pytest.fixture(scope="package")
def witness() -> Generator[Witness]:
    with Witness() as running:
        yield running


@pytest.fixture(scope="package")
def redis_server() -> Generator[RedisServer]:
    with redis() as server:
        yield server


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> Generator[str]:
    with postgres_server.fresh_database() as url:
        yield url


@pytest.fixture(scope="module")
def environment(witness: Witness, redis_server: RedisServer) -> dict[str, str]:
    return {
        **witness.environment,
        "INTERLOCK_BUS": redis_server.url,
        "INTERLOCK_LEASE_SECONDS": str(LEASE_SECONDS),
        **ON_LOOPBACK,
    }


@pytest.fixture(scope="module")
def node(
    tmp_path_factory: pytest.TempPathFactory, database: str, environment: dict[str, str]
) -> Generator[ServerProcess]:
    """A server that runs nothing itself: two workers of its own Ray do."""
    process = server(tmp_path_factory.mktemp("node"), database, environment | {"INTERLOCK_RUNNER": "ray"})
    try:
        yield process.start()
    finally:
        process.close()


def server(folder: Path, database: str, environment: dict[str, str]) -> ServerProcess:
    return ServerProcess(folder, agents=[puppet.SPEC], database=database, environment=environment)
