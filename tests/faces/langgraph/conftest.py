"""One server with graphs of all kinds, without accounts, and one person."""

from collections.abc import Generator

import pytest

from tests.support.langgraph import SPECS, LanggraphClient
from tests.support.server import ServerProcess
from tests.support.witness import Witness


@pytest.fixture(scope="package")
def graphs(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    folder = tmp_path_factory.mktemp("langgraph")
    environment = {**witness.environment, "INTERLOCK_ALLOWED_ORIGINS": "https://app.example.org"}
    with ServerProcess(folder / "data", agents=SPECS, auth="none", environment=environment) as process:
        yield process


@pytest.fixture
def client(graphs: ServerProcess) -> Generator[LanggraphClient]:
    with LanggraphClient(graphs.url) as made:
        yield made
