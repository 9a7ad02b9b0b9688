"""A stage for each test: a graph, hosted on a real store, with a runner that is closed at the end."""

from collections.abc import AsyncGenerator, Awaitable
from typing import Any, Protocol

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from interlock.services.core import OperatorSettings
from interlock.storage.database import Database
from interlock.storage.store import SqlStore
from tests.runners.stage import Stage, hosting


class Host(Protocol):
    def __call__(
        self, *graphs: Any, started: bool = True, settings: OperatorSettings | None = None
    ) -> Awaitable[Stage]: ...


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a server: LangGraph reads the setting when it is imported, which in a test run may be long before."""
    for module in ("langgraph.checkpoint.serde._msgpack", "langgraph._internal._serde"):
        monkeypatch.setattr(f"{module}.STRICT_MSGPACK_ENABLED", True)
    monkeypatch.setattr(BaseCheckpointSaver, "serde", JsonPlusSerializer())


@pytest.fixture
async def host(database: Database, store: SqlStore) -> AsyncGenerator[Host]:
    """Host a graph. With `started=False` nothing runs until the test says who does."""
    stages: list[Stage] = []

    async def build(*graphs: Any, started: bool = True, settings: OperatorSettings | None = None) -> Stage:
        agents = [hosting(graph, f"agent{index or ''}") for index, graph in enumerate(graphs)]
        stage = Stage(database, store, agents, settings or OperatorSettings())
        stages.append(stage)
        if started:
            await stage.start()
        return stage

    yield build
    for stage in stages:
        await stage.close()


on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""For tests of what does not depend on the database: once is enough."""
