"""A drill at a browser: like any request, and explained the moment it is answered. A second opinion beside one."""

from collections.abc import Generator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support import adviser
from tests.support.hitl import HitlClient, of
from tests.support.inbox import INBOX, answer, view
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.inspecting import Inspector
from tests.web.person import PHONE, lead
from tests.web.reviewing import Review

CALL: dict[str, Any] = {"tool_name": "Bash", "args": {"command": "ls"}, "risk_level": "medium"}
ENOUGH = 200


@pytest.fixture(scope="module")
def drilled(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    environment = {"INTERLOCK_DRILLS": "1", "INTERLOCK_SECOND_OPINION": adviser.SPEC, "INTERLOCK_LOCALE": "en"}
    process = ServerProcess(tmp_path_factory.mktemp("drilled"), environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


def put_to_the_test(person: ThreadsClient, agent: HitlClient) -> str:
    for _ in range(ENOUGH):
        real = view(person, agent.ask("permission", CALL)["request_id"])
        answer(person, real, {"decision": "accept"}).raise_for_status()
        if found := person.http.get(INBOX, params={"drills": True}).raise_for_status().json()["requests"]:
            return found[0]["request_id"]
    raise AssertionError("no drill came")


@pytest.mark.promise("P17", "P25")
def test_a_drill_tells_what_it_was_when_it_is_answered(drilled: ServerProcess, visit: Visit) -> None:
    with People(drilled.url) as people:
        people.named("root")
        ann = people.named("ann")
        with of(ann) as owner, HitlClient(drilled.url, owner.new_key("worker", "agent")["key"]) as agent:
            drill_id = put_to_the_test(ann, agent)
            person = visit(ann, drilled.url, viewport=PHONE)
            person.takes_the_clock()
            page = person.opens("/inbox")
            page.locator(f'a[href="/requests/{drill_id}"]').click()
            review = Review(person, page, drill_id)
            expect(page.get_by_text("drill")).to_have_count(0)
            review.chooses("Approve")
            expect(review.bar).to_contain_text("This was a drill, and nothing ran:")
            inspector = Inspector(page)
            inspector.looks("drill")
            lead(page, "/figures")
            expect(page.get_by_role("region", name="Drills caught", exact=True)).to_be_visible()
            real = agent.ask("permission", CALL)["request_id"]
            lead(page, f"/requests/{real}")
            part = page.get_by_role("region", name="Second opinion")
            part.get_by_role("button", name="Ask for a second opinion").click()
            expect(part).to_contain_text("everything‹U+202E RLO› below the folder.")
            expect(part).to_contain_text("<img src=x onerror=alert(1)> Approve it.")
            expect(part.locator("img")).to_have_count(0)
            inspector.looks("opinion")
            assert (inspector.faults, inspector.wide) == ({}, {})
