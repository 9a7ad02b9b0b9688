"""Thousands of requests: what is counted is what waits, not what is listed."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.hitl import QUESTION, of
from tests.support.many import copy_request
from tests.support.people import FIRST, People
from tests.support.server import ServerProcess
from tests.web.conftest import Visit

COUNT = 5_000


@pytest.fixture
def crowded(tmp_path: Path) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path / "data", environment={"INTERLOCK_LOCALE": "en"})
    try:
        yield process.start()
    finally:
        process.close()


def test_5000_that_wait_are_counted_as_5000_and_a_part_of_them_as_a_part(crowded: ServerProcess, visit: Visit) -> None:
    (file,) = crowded.data.glob("*.db")
    with People(crowded.url) as people:
        owner = people.named(FIRST)
        with of(owner) as client:
            request_id = client.ask("clarification", QUESTION, timeout_seconds=None)["request_id"]
        copy_request(f"sqlite:///{file}", request_id, COUNT - 1)
        page = visit(owner, crowded.url).opens()
        expect(page).to_have_title("(5,000) Inbox · Interlock")
        expect(page.get_by_role("banner").get_by_role("link", name="5,000 requests waiting")).to_be_visible()
        expect(page.get_by_role("heading", level=2)).to_have_accessible_name("No deadline , 1,000+ waiting")
        expect(page.get_by_role("button", name="Show more (1,000 of 5,000 shown)")).to_be_attached()
