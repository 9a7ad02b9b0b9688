"""What a conversation says of its requests and calls is so, whenever it was opened and however they were answered."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.hitl import of
from tests.support.inbox import answer, asked, view
from tests.support.puppet import calls, gate, says, script
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.chatting import begin, said, thread_of
from tests.web.person import Person
from tests.web.reviewing import opened, reviewed


@pytest.mark.parametrize("read", ["status", "history"])
def test_a_request_that_comes_while_its_conversation_is_loaded_can_be_answered(
    person: Person, witness: Witness, read: str
) -> None:
    """The server's word on how things stood is older than the ask, and comes to the page after it."""
    name = f"{read}-{person.name}"
    person.takes_the_clock()
    thread_id = thread_of(begin(person, script(calls(("guarded", {"name": name}), say=["Wait. ", gate(name)]))))
    wait_for(lambda: witness.count(f"at:{name}"), lambda count: count == 1)
    page = person.opens("about:blank")

    def hold(route: Route) -> None:
        reply = route.fetch()
        witness.release(name)
        person.client.wait_for_status(thread_id, "interrupted")
        # By then the page has heard of it, on this stream as on the other one.
        expect(page.get_by_role("link", name="Inbox")).to_contain_text("1")
        route.fulfill(response=reply)

    page.route(f"**/api/{read}/{thread_id}", hold, times=1)
    page.goto(f"/chat/{thread_id}")
    expect(page.get_by_text("Waiting for your answer")).to_be_visible()
    (request,) = person.client.status(thread_id)["interrupt_info"]["requests"]
    card = reviewed(person, page, request["request_id"])
    card.chooses("Approve")
    wait_for(lambda: witness.count(name), lambda count: count == 1)


def test_a_request_that_is_settled_while_its_conversation_is_loaded_is_not_said_to_wait(person: Person) -> None:
    """The other way round: the server's word is older than the answer, of which the page heard meanwhile."""
    first, second = asked(person.client, *(("guarded", {"name": f"{place}-of-two"}) for place in ("one", "other")))
    thread_id = first["conversation_id"]
    page = person.opens("about:blank")

    def hold(route: Route) -> None:
        reply = route.fetch()
        expect(page.get_by_role("link", name="Inbox")).to_contain_text("2")
        answer(person.client, first["request_id"], {"decision": "reject"}).raise_for_status()
        expect(page.get_by_role("link", name="Inbox")).to_contain_text("1")
        route.fulfill(response=reply)

    page.route(f"**/api/status/{thread_id}", hold, times=1)
    page.goto(f"/chat/{thread_id}")
    expect(page.get_by_text("Waiting for your answer")).to_be_visible()
    expect(page.locator("[data-asked=open]")).to_have_count(1)
    expect(page.locator(f"[data-review='{second['request_id']}']")).to_be_visible()
    page.unroute_all(behavior="wait")


ENDINGS: dict[str, tuple[dict[str, Any], str, str]] = {
    "replied": ({"decision": "response", "message": "Use the other one."}, "replied to, not run", "Use the other one."),
    "refused": ({"decision": "reject", "message": "Not today."}, "refused, not run", "Not today."),
}
"""How a call is answered, what its card says of it, and what the agent was told."""


@pytest.mark.parametrize("how", ENDINGS)
def test_a_call_that_a_person_spoke_in_place_of_is_shown_as_not_run_live_and_after_a_reload(
    person: Person, witness: Witness, how: str
) -> None:
    value, words, told = ENDINGS[how]
    name = f"{how}-{person.name}"
    page = begin(person, script(calls(("guarded", {"name": name}))))
    status = person.client.wait_for_status(thread_of(page), "interrupted")
    card = reviewed(person, page, status["interrupt_info"]["requests"][0]["request_id"])
    answer(person.client, card.request_id, value).raise_for_status()
    person.client.wait_for_rest(thread_of(page))
    shows_unrun(page, words, told)
    page.reload()
    shows_unrun(page, words, told)
    assert witness.count(name) == 0


def shows_unrun(page: Page, words: str, told: str) -> None:
    tool = page.locator("section[data-state]").filter(has_text="guarded").first
    expect(tool).to_contain_text(words)
    expect(tool).to_contain_text(f"Told to the agent instead{told}")
    expect(tool).to_contain_text("Arguments (not run)")
    expect(tool.locator("svg.lucide-check")).to_have_count(0)


@pytest.mark.parametrize("how", [*ENDINGS, "approved"])
def test_only_what_was_approved_has_a_tick_on_its_receipt(reviewer: Person, how: str) -> None:
    (entry,) = asked(reviewer.client, ("guarded", {"name": f"tick-{how}"}))
    review = opened(reviewer, entry["request_id"])
    if how == "approved":
        review.chooses("Approve")
    else:
        review.chooses("Refuse" if how == "refused" else "Reply")
        review.bar.get_by_role("textbox").fill("because")
        review.chooses("Refuse" if how == "refused" else "Reply")
    receipt = review.bar.locator("[data-state=receipt]")
    expect(receipt).to_be_visible()
    expect(receipt.locator("svg.lucide-circle-check")).to_have_count(1 if how == "approved" else 0)
    assert view(reviewer.client, review.request_id)["status"] == "answered"


def test_a_call_that_was_approved_and_failed_has_no_tick(reviewer: Person) -> None:
    (entry,) = asked(reviewer.client, ("reprice", {"shown": "broken"}), agent="painter")
    review = opened(reviewer, entry["request_id"])
    review.chooses("Approve")
    review.ends("reprice ran and failed.")
    expect(review.bar.locator("svg.lucide-circle-check")).to_have_count(0)


def test_a_request_is_not_open_on_a_page_that_read_it_before_it_was_settled(person: Person) -> None:
    """What was read is older than what the stream told meanwhile."""
    (entry,) = asked(person.client, ("guarded", {"name": "late-read"}))
    page = person.opens()
    request_id = entry["request_id"]

    def hold(route: Route) -> None:
        reply = route.fetch()
        answer(person.client, request_id, {"decision": "reject"}).raise_for_status()
        expect(page.get_by_role("link", name="Inbox", exact=True)).to_be_visible()
        route.fulfill(response=reply)

    page.route(f"**/api/v1/inbox/requests/{request_id}", hold, times=1)
    page.get_by_role("link", name="guarded").first.click()
    expect(page.locator("section[data-bar]")).to_contain_text("refused this at")


def test_a_call_in_a_conversation_has_its_numbers_as_the_server_spells_them(reviewer: Person) -> None:
    args = {"amount": 5.0, "to": [12345678901234567890]}
    page = begin(reviewer, script(calls(("pay", args)), says("paid")))
    with of(reviewer.client) as client:
        request_id = client.one_pending(thread_of(page))["request_id"]
    answer(reviewer.client, request_id, {"decision": "reject"}).raise_for_status()
    expect(said(page, "paid")).to_be_visible()
    call = page.locator("section[data-state=refused]")
    expect(call.get_by_role("definition")).to_have_text(["5.0", "[  12345678901234567890]"], use_inner_text=False)
