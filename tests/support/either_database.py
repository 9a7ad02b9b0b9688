"""A server with the puppet on the database that a test asks for."""

from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.servers.postgres import PostgresServer
from tests.support import puppet
from tests.support.server import ServerProcess

DATABASES = ["sqlite", "postgres"]


@contextmanager
def server_on(
    kind: str, request: pytest.FixtureRequest, folder: Path, environment: Mapping[str, str]
) -> Generator[ServerProcess]:
    """`kind` is one of `DATABASES`. The puppet is its default agent, the demo agent the other one."""
    workspace = folder / "workspace"
    workspace.mkdir()
    agents = [puppet.SPEC, puppet.DEMO_SPEC]
    with ExitStack() as stack:
        database = None
        if kind == "postgres":
            postgres: PostgresServer = request.getfixturevalue("postgres_server")
            database = stack.enter_context(postgres.fresh_database())
        environment = {**environment, puppet.WORKSPACE: str(workspace)}
        process = ServerProcess(folder / "data", agents=agents, database=database, environment=environment)
        stack.callback(process.close)
        yield process.start()
