"""One server for all tests of the faces that need no other settings, and the people who use it."""

from collections.abc import Generator

import pytest

from tests.support import puppet
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

GRACE = 1.5
"""So long that who comes back at once comes back in time on a busy machine too."""


@pytest.fixture(scope="package")
def witness() -> Generator[Witness]:
    with Witness() as running:
        yield running


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    """The puppet is its default agent, the demo agent the other one; who registers first is `root`, its admin."""
    folder = tmp_path_factory.mktemp("faces")
    (folder / "workspace").mkdir()
    environment = {
        **witness.environment,
        puppet.WORKSPACE: str(folder / "workspace"),
        "INTERLOCK_FOLLOW_GRACE": str(GRACE),
    }
    process = ServerProcess(folder / "data", agents=[puppet.SPEC, puppet.DEMO_SPEC], environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="package")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture
def root(people: People) -> ThreadsClient:
    return people.named("root")


@pytest.fixture
def alice(people: People) -> ThreadsClient:
    return people.named("alice")


@pytest.fixture
def giver(people: People) -> ThreadsClient:
    """Who gives values in confidence. Nobody else does: from then on an end of the agent's words that may begin such a
    value waits for the words after it, so that tests which count the pieces of a message cannot use this person."""
    return people.named("giver")


@pytest.fixture
def bob(people: People) -> ThreadsClient:
    return people.named("bob")


@pytest.fixture
def thread(alice: ThreadsClient) -> str:
    return alice.new_thread()
