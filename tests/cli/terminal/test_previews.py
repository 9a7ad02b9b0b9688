"""What a tool says that a call would do is shown in the terminal too, by the list and line by line."""

from collections.abc import Generator
from pathlib import Path

import pytest

from interlock_client.cli.terminal.contents import join_lines
from interlock_client.cli.terminal.open_request import from_pending
from interlock_client.cli.terminal.sections import sections
from interlock_client.hitl import PendingRequest
from tests.cli.terminal.driving import inbox
from tests.support.hitl import HitlClient, of
from tests.support.inbox import asked
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

PAINTER = f"painter={Path(__file__).parents[2] / 'web' / 'painter.py'}:agent"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path_factory.mktemp("shown"), agents=[PAINTER], environment=witness.environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="module")
def painting(server: ServerProcess) -> Generator[ThreadsClient]:
    with People(server.url) as people:
        yield people.named("root")


@pytest.fixture
def person(painting: ThreadsClient) -> Generator[HitlClient]:
    with of(painting) as client:
        yield client


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        ("table", r"chair\u202e | 12"),
        ("text", "chair: 10 → 12"),
        ("nothing", "no preview: LookupError: no price list"),
    ],
)
def test_what_a_call_would_do_is_a_section_of_its_own(
    painting: ThreadsClient, person: HitlClient, shown: str, line: str
) -> None:
    (entry,) = asked(painting, ("reprice", {"shown": shown}), agent="painter")
    waiting = from_pending(PendingRequest.model_validate(person.one_pending(entry["conversation_id"])))
    would = next(one for one in sections(waiting) if one.heading.startswith("WHAT IT WOULD DO"))
    assert line in join_lines(would.lines).plain.split("\n")


async def test_it_stands_on_the_page_of_the_request(
    server: ServerProcess, painting: ThreadsClient, person: HitlClient
) -> None:
    asked(painting, ("reprice", {"shown": "text"}), agent="painter")
    async with inbox(server.url, person.new_key("terminal")["key"]) as driver:
        await driver.open("reprice")
        await driver.sees("WHAT IT WOULD DO")
