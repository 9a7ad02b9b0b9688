"""The list: what waits, newcomers behind a button, rows that stay where they are, filters in the address, keys."""

import re
from collections.abc import Generator
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.support.hitl import QUESTION, of
from tests.support.inbox import answer, asked, forget, view
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness
from tests.web.conftest import Visit
from tests.web.person import Person
from tests.web.reviewing import reviewed, waits

GUARDED = [("guarded", {"name": name}) for name in ("first", "second", "third")]


@pytest.fixture
def person(reviewer: Person) -> Generator[Person]:
    """Somebody for whom nothing waits, at a browser whose clock a test can put forward."""
    yield reviewer
    forget(reviewer.client)


def ask_outside(owner: ThreadsClient, **fields: Any) -> str:
    """A question of an agent elsewhere, by its request id."""
    with of(owner) as outside:
        return outside.ask("clarification", QUESTION, **fields)["request_id"]


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("listitem").filter(has_text=text)


def place_of(locator: Locator) -> FloatRect:
    place = locator.bounding_box()
    assert place is not None
    return place


def test_each_row_tells_kind_risk_agent_and_call_and_the_page_how_many_wait(person: Person) -> None:
    asked(person.client, ("execute", {"command": "rm -r x"}), ("guarded", {"name": "plain"}))
    ask_outside(person.client, timeout_seconds=900)
    page = person.opens()
    risky, plain, question = row(page, "rm -r x"), row(page, "plain"), row(page, "Which one?")
    expect(risky).to_contain_text(re.compile(r"High.*execute.*puppet.*Approval.*1 of 2", re.DOTALL))
    expect(plain).to_contain_text(re.compile(r"Medium.*guarded.*2 of 2", re.DOTALL))
    expect(question).to_contain_text(re.compile(r"Question.*14 min left", re.DOTALL))
    expect(page.get_by_role("heading", level=2)).to_have_text(
        [re.compile("^With a deadline"), re.compile("^No deadline")]
    )
    expect(page.get_by_role("link", name="3 requests waiting")).to_be_visible()
    expect(page).to_have_title("(3) Inbox · Interlock")


def test_opening_the_page_reads_the_list_once(person: Person) -> None:
    asked(person.client, GUARDED[0])
    read: list[str] = []
    person.context.on("request", lambda request: read.append(request.url.removeprefix(f"{person.url}/api/v1/inbox?")))
    page = person.opens()
    expect(row(page, "first")).to_be_visible()
    expect(page).to_have_title("(1) Inbox · Interlock")
    # The count is read again after it, so whatever was to be read at the start has been read by now.
    asked(person.client, GUARDED[1])
    expect(page.get_by_role("button", name="1 new · show")).to_be_visible()
    expect(page).to_have_title("(2) Inbox · Interlock")
    listed = [query for query in read if query.startswith("limit=200")]
    counted = [query for query in read if query.startswith("limit=1") and query not in listed]
    assert (len(listed), len(counted)) == (1, 2)


def test_newcomers_wait_behind_a_button_and_no_row_moves(person: Person) -> None:
    asked(person.client, *GUARDED)
    page = person.opens()
    expect(row(page, "second")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    focused = row(page, "second").get_by_role("link")
    expect(focused).to_be_focused()
    before = place_of(focused)
    asked(person.client, ("execute", {"command": "urgent"}))
    ask_outside(person.client, timeout_seconds=60)
    fresh = page.get_by_role("button", name="2 new · show")
    expect(fresh).to_be_visible()
    expect(page.get_by_role("listitem").filter(has=page.get_by_role("link", name="guarded"))).to_have_count(3)
    expect(focused).to_be_focused()
    assert place_of(focused) == before
    fresh.click()
    expect(row(page, "Which one?").get_by_role("link")).to_be_focused()
    expect(row(page, "urgent")).to_be_visible()
    expect(fresh).to_be_hidden()


def test_what_is_settled_stays_in_its_place_until_the_list_is_left(person: Person) -> None:
    first, second, third = asked(person.client, *GUARDED)
    page = person.opens()
    last = row(page, "third")
    before = place_of(last)
    answer(person.client, first["request_id"], {"decision": "reject"}).raise_for_status()
    answer(person.client, second["request_id"], {"decision": "response", "message": "wait"}).raise_for_status()
    expect(row(page, "first")).to_contain_text("✕ You refused")
    expect(row(page, "second")).to_contain_text("↩ You replied")
    assert place_of(last) == before
    expect(page.get_by_role("link", name="1 request waiting")).to_be_visible()
    page.get_by_role("link", name="History").click()
    expect(page.get_by_role("heading", level=1, name="History")).to_be_visible()
    page.go_back()
    expect(last).to_be_visible()
    expect(row(page, "first")).to_have_count(0)
    answer(person.client, third["request_id"], {"decision": "reject"}).raise_for_status()
    page.get_by_role("button", name="Clear settled").click()
    expect(page.get_by_text("All caught up. Nothing is waiting.")).to_be_visible()
    expect(page.get_by_text("Last: guarded, refused")).to_be_visible()


def test_filters_and_search_stand_in_the_address(person: Person) -> None:
    asked(person.client, ("execute", {"command": "日本語 %"}), ("guarded", {"name": "plain"}))
    ask_outside(person.client)
    page = person.opens()
    page.get_by_label("Kind").select_option(label="Question")
    expect(page).to_have_url(f"{person.url}/inbox?kind=clarification")
    expect(row(page, "Which one?")).to_be_visible()
    expect(row(page, "guarded")).to_have_count(0)
    page.get_by_label("Risk").select_option(label="High")
    expect(page.get_by_text("No matches. 3 requests are hidden by the filters.")).to_be_visible()
    page.get_by_role("main").get_by_role("button", name="Clear filters").last.click()
    page.get_by_label("Search requests").fill("日本語 %")
    expect(page).to_have_url(re.compile(r"/inbox\?q=%E6%97%A5"))
    expect(row(page, "plain")).to_have_count(0)
    expect(row(page, "日本語 %")).to_be_visible()
    page.reload()
    expect(row(page, "日本語 %")).to_be_visible()
    expect(page.get_by_label("Search requests")).to_have_value("日本語 %")
    expect(row(page, "plain")).to_have_count(0)
    row(page, "日本語 %").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1, name="execute wants to run")).to_be_focused()
    assert "q=%E6%97%A5" in page.url


def test_the_keyboard_alone_moves_opens_and_answers(person: Person, witness: Witness) -> None:
    name = f"keyed-{person.name}"
    first, second = asked(person.client, ("guarded", {"name": f"not-{name}"}), ("guarded", {"name": name}))
    page = person.opens()
    expect(row(page, name).first).to_be_visible()
    for key in ("j", "J", "k", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page).to_have_url(f"{person.url}/requests/{second['request_id']}")
    review = reviewed(person, page, second["request_id"])
    review.press("a")
    review.later()
    review.press("a")
    review.ends("guarded runs once the others in this pause are answered")
    page.keyboard.press("[")
    expect(page).to_have_url(f"{person.url}/requests/{first['request_id']}")
    review = reviewed(person, page, first["request_id"])
    review.press("r")
    expect(review.bar.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("not now")
    review.later()
    page.keyboard.press("Control+Enter")
    review.ends("guarded does not run")
    assert review.told()["response"] == {"decision": "reject", "message": "not now"}
    wait_for(lambda: witness.count(name), lambda count: count == 1)
    assert witness.count(f"not-{name}") == 0


def test_every_page_is_reached_by_keys_and_fields_keep_their_letters(person: Person) -> None:
    asked(person.client, GUARDED[0])
    page = person.opens()
    expect(row(page, "first")).to_be_visible()
    for keys, heading in (("gs", "Preferences"), ("gh", "History"), ("gc", "New conversation"), ("GI", "Inbox")):
        page.keyboard.type(keys)
        expect(page.get_by_role("heading", level=1, name=heading)).to_be_focused()
    page.keyboard.type("?")
    expect(page.get_by_role("dialog", name="Shortcuts")).to_contain_text("Enter never approves.")
    page.keyboard.type("gh")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.type("/")
    search = page.get_by_label("Search requests")
    expect(search).to_be_focused()
    page.keyboard.type("gho?")
    expect(search).to_have_value("gho?")
    expect(page).to_have_url(f"{person.url}/inbox?q=gho%3F")


def test_letters_that_are_turned_off_do_nothing(owner: ThreadsClient, visit: Visit) -> None:
    page = visit(owner).opens("/settings/preferences")
    page.get_by_label("Single-key shortcuts").uncheck()
    page.keyboard.type("gi?")
    page.get_by_role("link", name="API keys").press("Enter")
    expect(page.get_by_role("heading", level=1, name="API keys")).to_be_focused()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Shortcuts").click()
    expect(page.get_by_role("dialog", name="Shortcuts")).to_contain_text("turned off in Settings")


PRESS_AT_ONCE = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("h1")?.textContent.includes("wants to run")) return;
  observer.disconnect();
  const press = (key, target) =>
    target.dispatchEvent(new KeyboardEvent("keydown", { key, code: `Key${key.toUpperCase()}`, bubbles: true }));
  for (const key of "aarem") press(key, document.activeElement);
  for (const button of document.querySelectorAll("main button"))
    if (/Approve|Refuse/.test(button.textContent)) button.click();
  document.documentElement.dataset.pressed = "yes";
}).observe(document, { childList: true, subtree: true });
"""
"""What a hand does that was about to press something else when the request came, in the very moment of its coming."""


def test_what_is_pressed_as_a_request_arrives_does_nothing(person: Person, witness: Witness) -> None:
    name = f"late-{person.name}"
    (entry,) = asked(person.client, ("guarded", {"name": name}))
    page = person.opens("about:blank")
    page.add_init_script(PRESS_AT_ONCE)
    page.goto(f"/requests/{entry['request_id']}")
    expect(page.locator("html[data-pressed]")).to_be_attached()
    expect(page.get_by_role("button", name="Refuse")).to_be_visible()
    expect(page.get_by_text("Press A again")).to_be_hidden()
    expect(page.get_by_role("textbox")).to_have_count(0)
    assert view(person.client, entry["request_id"])["status"] == "pending"
    waits(page)
    page.keyboard.press("a")
    expect(page.get_by_text("Press A again")).to_be_visible()
    assert witness.count(name) == 0
