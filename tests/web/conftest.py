"""The pages in a real browser, against a real server: people who are signed in, and agents that do what a test says."""

from collections.abc import Callable, Generator
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.servers.browser import browser as running_browser
from tests.support import puppet
from tests.support.people import People
from tests.support.push_service import PushService
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness
from tests.web.langgraph_page import serving
from tests.web.person import WAIT_MS, Person

Visit = Callable[..., Person]

PAINTER_SPEC = f"painter={Path(__file__).with_name('painter.py')}:agent"

CHANNELS = {"INTERLOCK_PUBLIC_URL": "http://127.0.0.1:8000", "INTERLOCK_CHANNEL_HOSTS": "127.0.0.1"}

_numbers = count(1)


@pytest.fixture(scope="package")
def browser() -> Generator[Browser]:
    expect.set_options(timeout=WAIT_MS)
    with running_browser() as running:
        yield running


@pytest.fixture(scope="package")
def witness() -> Generator[Witness]:
    with Witness() as running:
        yield running


@pytest.fixture(scope="package")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the demo agent."""
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="package")
def langgraph_page(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, Path]]:
    """Where a page of another origin will stand, and the folder that it is served from."""
    folder = tmp_path_factory.mktemp("page")
    with serving(folder) as address:
        yield address, folder


@pytest.fixture(scope="package")
def push(tmp_path_factory: pytest.TempPathFactory) -> Generator[PushService]:
    with PushService(tmp_path_factory.mktemp("push")) as listening:
        yield listening


@pytest.fixture(scope="package")
def server(
    tmp_path_factory: pytest.TempPathFactory,
    witness: Witness,
    workspace: Path,
    langgraph_page: tuple[str, Path],
    push: PushService,
) -> Generator[ServerProcess]:
    """The puppet is its default agent, beside the demo agent and the painter; who registers first is its admin."""
    variables = {"INTERLOCK_ALLOWED_ORIGINS": langgraph_page[0], **CHANNELS, **push.environment}
    environment = {**witness.environment, **variables, puppet.WORKSPACE: str(workspace)}
    agents = [puppet.SPEC, puppet.DEMO_SPEC, PAINTER_SPEC]
    process = ServerProcess(tmp_path_factory.mktemp("web"), agents=agents, environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="package")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture
def owner(people: People) -> ThreadsClient:
    """Somebody for whom nothing waits yet, by their programs."""
    return people.named(f"owner-{next(_numbers)}")


@pytest.fixture
def visit(browser: Browser, server: ServerProcess) -> Generator[Visit]:
    """Somebody at a browser of their own, signed in; whatever a page complained about fails the test."""
    visiting: list[Person] = []

    def arrive(client: ThreadsClient, url: str | None = None, **options: object) -> Person:
        person = Person(browser, url or server.url, client, options)
        visiting.append(person)
        return person

    yield arrive
    for person in visiting:
        person.leave()


@pytest.fixture
def person(owner: ThreadsClient, visit: Visit) -> Person:
    """The owner, at a browser."""
    return visit(owner)


@pytest.fixture(scope="module")
def desk(browser: Browser, server: ServerProcess, people: People) -> Generator[Person]:
    """A browser that stays open from test to test, and whose clock they can put forward."""
    person = Person(browser, server.url, people.named(f"reviewer-{next(_numbers)}"), {})
    person.takes_the_clock()
    yield person
    person.leave()


@pytest.fixture
def reviewer(desk: Person) -> Generator[Person]:
    """Somebody at that desk; what they had open is closed again."""
    yield desk
    desk.clears()
