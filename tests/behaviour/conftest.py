"""A real server on each database, and people at each face."""

from collections.abc import Callable, Generator

import pytest

from tests.behaviour.driver import FACES, Person
from tests.support.either_database import DATABASES, server_on
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.witness import Witness

Persons = Callable[[str], Person]


@pytest.fixture(scope="package")
def witness() -> Generator[Witness]:
    with Witness() as running:
        yield running


@pytest.fixture(scope="package", params=DATABASES)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, witness: Witness
) -> Generator[ServerProcess]:
    folder = tmp_path_factory.mktemp(f"behaviour-{request.param}")
    with server_on(request.param, request, folder, witness.environment) as process:
        yield process


@pytest.fixture(scope="package")
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
