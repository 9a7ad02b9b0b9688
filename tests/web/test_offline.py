"""Without a connection nobody decides, and nothing is left to be sent when there is one again."""

import re
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.support import puppet
from tests.support.inbox import asked, view
from tests.support.people import People
from tests.support.puppet import says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.chatting import begin, said, thread_of
from tests.web.conftest import Visit
from tests.web.person import Person, lead
from tests.web.reviewing import Review, asks, come, offline, opened

HUNG_MS = 12_000
NOT_LOADED = "There is no connection. This page loads as soon as there is one."
LOST = "Your answer never reached the server and will not be sent again: nothing was done."


@pytest.fixture
def own(tmp_path: Path, witness: Witness) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path / "data", agents=[puppet.SPEC], environment=witness.environment)
    try:
        yield process.start()
    finally:
        process.running.send_signal(signal.SIGCONT)
        process.close()


@pytest.fixture
def reviewing(browser: Browser, own: ServerProcess) -> Generator[Person]:
    with People(own.url) as people:
        person = Person(browser, own.url, people.named("root"), {})
        person.takes_the_clock()
        yield person
        person.leave()


def test_without_a_network_deciding_is_off_at_once_and_nothing_is_sent_later(
    reviewer: Person, witness: Witness
) -> None:
    name = f"offline-{reviewer.name}"
    review = opened(reviewer, asks(reviewer, "guarded", name=name))
    with offline(reviewer):
        review.ends("No connection since")
        expect(review.bar.get_by_role("button")).to_have_text(["Try again"])
        review.press("a")
        review.later()
        review.press("a", "r", "Control+Enter")
    review.is_open()
    assert witness.count(name) == 0


def test_what_is_opened_without_a_network_says_so_and_comes_with_the_network(person: Person) -> None:
    request_id = asks(person, "guarded", name="unread")
    page = person.opens()
    with offline(person):
        lead(page, f"/requests/{request_id}")
        expect(page.get_by_role("heading", level=1)).to_have_text(NOT_LOADED)
    expect(page.get_by_role("heading", level=1)).to_contain_text("guarded wants to run")


def test_a_page_whose_code_is_not_loaded_yet_comes_with_the_network(person: Person) -> None:
    page = person.opens()
    page.locator("[data-state=live]").wait_for()
    with offline(person):
        for _ in range(2):
            lead(page, "/history")
            expect(page.get_by_role("heading", level=1)).to_have_text(NOT_LOADED)
            lead(page, "/inbox")
            expect(page.get_by_role("heading", level=1)).to_have_text("Inbox")
        lead(page, "/history")
    expect(page.get_by_role("heading", level=1)).to_have_text("History")
    # What did not come then is asked for anew later, too.
    page.locator("[data-state=live]").wait_for()
    with offline(person):
        lead(page, "/chat")
        expect(page.get_by_role("heading", level=1)).to_contain_text("There is no connection.")
        lead(page, "/inbox")
        expect(page.get_by_role("heading", level=1)).to_have_text("Inbox")
    page.locator("[data-state=live]").wait_for()
    lead(page, "/chat")
    expect(page.get_by_role("heading", level=1)).to_have_text("New conversation")


def reloads(page: Page) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Reload", exact=True).click()


def test_a_sheet_or_a_form_whose_code_does_not_come_says_so_and_comes_after_a_reload(reviewer: Person) -> None:
    asked(reviewer.client, *(("peek", {"name": name}) for name in ("one", "two")), agent="painter")
    page = reviewer.opens()
    page.locator("[data-state=live]").wait_for()

    def opens_sheet() -> None:
        page.get_by_label("Select for a batch").first.check()
        page.keyboard.press("b")

    with offline(reviewer):
        opens_sheet()
        expect(page.get_by_text("There is no connection: this could not be loaded.")).to_be_visible()
    reloads(page)
    opens_sheet()
    expect(page.get_by_role("dialog")).to_be_visible()

    review = opened(reviewer, asks(reviewer, "execute", command="ls"))
    review.page.route("**/edit-form-*.js", lambda route: route.abort())
    review.press("e")
    expect(review.page.get_by_text("This could not be loaded.")).to_be_visible()
    review.page.unroute_all()
    reloads(review.page)
    come(review).later()
    review.press("e")
    expect(review.part("What will run instead")).to_be_visible()


def test_without_a_network_no_message_is_sent_and_nobody_is_said_to_work_on_it(person: Person) -> None:
    page = begin(person, script(says("At first.")))
    expect(said(page, "At first.")).to_be_visible()
    late = script(says("Much later."))
    with offline(person):
        expect(page.get_by_label("Message")).to_have_attribute("placeholder", re.compile("^No connection"))
        page.get_by_label("Message").fill(late)
        page.get_by_label("Message").press("Enter")
        expect(page.get_by_label("Message")).to_have_value(late)
        expect(page.get_by_text("The agent is working")).to_have_count(0)
    expect(page.get_by_role("button", name="Send")).not_to_have_attribute("aria-disabled", "true")
    assert "Much later" not in person.client.http.get(f"/api/history/{thread_of(page)}").raise_for_status().text
    page.get_by_label("Message").press("Enter")
    expect(said(page, "Much later.")).to_be_visible()


def test_what_is_done_without_a_network_fails_at_once_in_the_language_of_the_page(
    owner: ThreadsClient, visit: Visit
) -> None:
    """Kept for later, it would be done when nobody looks."""
    (entry,) = asked(owner, ("guarded", {"name": "kept"}))
    person = visit(owner, locale="zh-CN")
    page = person.opens(f"/chat/{entry['conversation_id']}")
    page.get_by_role("button", name="删除", exact=True).click()
    with offline(person):
        page.get_by_role("dialog").get_by_role("button", name="删除", exact=True).click()
        expect(page.get_by_role("dialog").get_by_role("alert")).to_have_text("无法删除：与服务器的连接中断。")
    page.locator("[data-state=live]").wait_for()
    assert view(owner, entry)["status"] == "pending"


def test_an_answer_that_never_arrived_is_not_sent_when_the_network_is_back(reviewer: Person, witness: Witness) -> None:
    """The browser believes that it is online: a proxy, or a cable, is gone."""
    name = f"unarrived-{reviewer.name}"
    review = opened(reviewer, asks(reviewer, "guarded", name=name))
    review.page.route("**/answer", lambda route: route.abort(), times=1)
    review.chooses("Approve")
    review.ends(LOST)
    assert (len(review.sent), review.told()["status"], witness.count(name)) == (1, "pending", 0)
    assert review.page.evaluate("document.activeElement.dataset.act") == "problem"
    review.chooses("Approve")
    review.ends("Approved at")
    assert len(set(review.keys)) == 2
    wait_for(lambda: witness.count(name), lambda count: count == 1)


def test_of_an_answer_whose_reply_was_lost_the_page_learns_that_it_was_taken(
    reviewer: Person, witness: Witness
) -> None:
    name = f"unheard-{reviewer.name}"
    review = opened(reviewer, asks(reviewer, "guarded", name=name))

    def swallow(route: Route) -> None:
        route.fetch()
        route.abort()

    review.page.route("**/answer", swallow, times=1)
    review.chooses("Approve")
    review.ends("Approved at")
    assert len(review.sent) == 1
    wait_for(lambda: witness.count(name), lambda count: count == 1)


def hangs(own: ServerProcess, review: Review) -> None:
    """It takes connections, and says nothing any more."""
    own.running.send_signal(signal.SIGSTOP)
    review.page.clock.run_for(HUNG_MS)


def test_a_server_that_hangs_is_noticed_and_deciding_is_off(reviewing: Person, own: ServerProcess) -> None:
    review = opened(reviewing, asks(reviewing, "guarded", name="hung"))
    hangs(own, review)
    review.ends("No connection since")
    lead(review.page, "/history")
    expect(review.page.get_by_role("heading", level=1)).to_have_text(NOT_LOADED)
    own.running.send_signal(signal.SIGCONT)
    expect(review.page.get_by_role("heading", level=1)).to_have_text("History")
    lead(review.page, f"/requests/{review.request_id}")
    expect(review.button("Approve")).to_be_visible()
    review.is_open()


def test_of_an_answer_to_a_server_that_hangs_the_page_comes_to_tell_the_truth(
    reviewing: Person, own: ServerProcess, witness: Witness
) -> None:
    review = opened(reviewing, asks(reviewing, "guarded", name="into the void"))
    own.running.send_signal(signal.SIGSTOP)
    review.chooses("Approve")
    review.ends("Sending…")
    review.page.clock.run_for(HUNG_MS)
    review.ends("Sent, no reply. Checking… don’t assume that it ran.")
    own.running.send_signal(signal.SIGCONT)
    expect(review.bar.get_by_text("Approved at").or_(review.bar.get_by_text(LOST))).to_be_visible()
    is_taken = review.bar.get_by_text("Approved at").count() > 0
    assert (review.told()["status"] == "answered") == is_taken
    assert len(review.sent) == 1
    if is_taken:
        wait_for(lambda: witness.count("into the void"), lambda count: count == 1)
