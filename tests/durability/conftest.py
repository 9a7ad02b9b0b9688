from collections.abc import Generator
from pathlib import Path

import pytest

from tests.durability.lives import GRAPHS, LEASE_SECONDS, TOOLS, Lives
from tests.support.server import ServerProcess
from tests.support.witness import Witness


@pytest.fixture
def witness() -> Generator[Witness]:
    with Witness() as process:
        yield process


@pytest.fixture
def lives(tmp_path: Path, database_url: str, witness: Witness) -> Generator[Lives]:
    """A server on either database, not started yet."""
    server = ServerProcess(
        tmp_path / "data",
        agents=[TOOLS, *GRAPHS],
        database=database_url,
        auth="none",
        environment={**witness.environment, "INTERLOCK_LEASE_SECONDS": LEASE_SECONDS},
    )
    lives = Lives(server, witness)
    yield lives
    lives.close()
    server.close()
