"""A real server on each database, and people at each face."""

from collections.abc import Callable, Generator
from contextlib import ExitStack

import pytest

from tests.behaviour.driver import FACES, Person
from tests.servers.postgres import PostgresServer
from tests.support import puppet
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.witness import Witness

DATABASES = ["sqlite", "postgres"]

Persons = Callable[[str], Person]


@pytest.fixture(scope="session")
def witness() -> Generator[Witness]:
    with Witness() as running:
        yield running


@pytest.fixture(scope="session", params=DATABASES)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, witness: Witness
) -> Generator[ServerProcess]:
    with ExitStack() as stack:
        database = None
        if request.param == "postgres":
            postgres: PostgresServer = request.getfixturevalue("postgres_server")
            database = stack.enter_context(postgres.fresh_database())
        folder = tmp_path_factory.mktemp(f"behaviour-{request.param}")
        environment = {**witness.environment, puppet.WORKSPACE: str(folder / "workspace")}
        (folder / "workspace").mkdir()
        process = ServerProcess(
            folder / "data", agents=[puppet.SPEC, puppet.DEMO_SPEC], database=database, environment=environment
        )
        stack.callback(process.close)
        yield process.start()


@pytest.fixture(scope="session")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture(params=FACES.keys())
def persons(request: pytest.FixtureRequest, people: People) -> Persons:
    """Anybody, at the face under test."""
    return lambda name: FACES[request.param](people, name)


@pytest.fixture
def person(persons: Persons) -> Person:
    return persons("alice")


@pytest.fixture
def conversation(person: Person) -> str:
    return person.begin()


@pytest.fixture
def fresh(request: pytest.FixtureRequest) -> str:
    """A name that no other test counts by."""
    return request.node.name.replace(" ", "_")
