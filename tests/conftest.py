"""What every test may stand on: a real database of either kind, with its tables, and a store on it."""

import asyncio
import shutil
import signal
from collections.abc import AsyncGenerator, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from interlock.storage.database import Database, open_database
from interlock.storage.migrate import migrate
from interlock.storage.sealing import Sealer, derive
from interlock.storage.store import SqlStore
from tests.servers.postgres import LentDatabases, PostgresServer, postgres

MASTER_KEY = bytes(range(32))
BACKENDS = ["sqlite", "postgres"]
LONG = (
    *("tests/cluster", "tests/durability", "tests/behaviour"),
    *("tests/faces/test_openapi.py", "tests/runners/test_random_kills.py", "tests/runners/test_graphs_side_by_side.py"),
)
"""The files of which a single one takes longest, or where they are."""
ABOVE_THE_STORE = ("tests/behaviour", "tests/faces", "tests/runners")
"""Where a test that is given many values takes only the first of them to PostgreSQL: what a value means is decided
above the database. `--every-value` takes all."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background has them ignore interrupts, and so every process that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--promise", metavar="ID", help="run only the tests of this promise, such as P4")
    parser.addoption("--every-value", action="store_true", help="take every value of every test to PostgreSQL too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long comes first, so that no process of a parallel run is left alone with it in the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
    if promise := config.getoption("--promise"):
        items[:] = [item for item in items if any(promise in mark.args for mark in item.iter_markers("promise"))]
    if not config.getoption("--every-value"):
        before: set[tuple[object, ...]] = set()
        items[:] = [item for item in items if _is_first_value(item, before)]


def _is_first_value(item: pytest.Item, before: set[tuple[object, ...]]) -> bool:
    """Whether it is the first of its values on PostgreSQL, at the same face; on SQLite all are run."""
    params = _params(item)
    if "postgres" not in params.values() or not item.nodeid.startswith(ABOVE_THE_STORE):
        return True
    values = {name for mark in item.iter_markers("parametrize") for name in _names(mark.args[0])}
    of_fixtures = tuple((name, str(value)) for name, value in params.items() if name not in values)
    key = (item.nodeid.partition("[")[0], *of_fixtures)
    is_first = key not in before
    before.add(key)
    return is_first


def _params(item: pytest.Item) -> dict[str, object]:
    return dict(item.callspec.params) if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


def _names(names: str | Sequence[str]) -> Sequence[str]:
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else names


@pytest.fixture(scope="session")
def postgres_server() -> Generator[PostgresServer]:
    """One for each worker of a parallel run: it starts in a second, and nobody has to agree on who stops it."""
    with postgres() as server:
        yield server


@pytest.fixture(params=BACKENDS)
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    """A database without tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/interlock.db"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.fresh_database() as url:
        yield url


@pytest.fixture(params=BACKENDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    """A database that has its tables and nothing in them; it was not migrated for this test, which is quicker."""
    if request.param == "sqlite":
        shutil.copyfile(request.getfixturevalue("sqlite_template"), tmp_path / "interlock.db")
        yield f"sqlite:///{tmp_path}/interlock.db"
        return
    databases: LentDatabases = request.getfixturevalue("postgres_databases")
    with databases.lend() as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("template") / "interlock.db"
    _migrate(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def postgres_databases(postgres_server: PostgresServer) -> Generator[LentDatabases]:
    with postgres_server.fresh_database() as url:
        _migrate(url)
        databases = LentDatabases(postgres_server, template=url.partition("?")[0].rpartition("/")[2])
        yield databases
        databases.close()


def _migrate(url: str) -> None:
    async def build() -> None:
        database = open_database(url)
        await migrate(database)
        await database.close()

    # In a thread of its own, because the loop of the tests belongs to their plugin.
    with ThreadPoolExecutor(1) as aside:
        aside.submit(asyncio.run, build()).result()


@pytest.fixture
async def database(database_url: str) -> AsyncGenerator[Database]:
    opened = open_database(database_url)
    yield opened
    await opened.close()


@pytest.fixture
def store(database: Database) -> SqlStore:
    return SqlStore(database, sealer=Sealer(MASTER_KEY), audit_key=derive(MASTER_KEY, "audit"))
