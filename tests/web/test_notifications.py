"""Notifications of the machine: only after a person asked for them, and never what an agent wrote."""

from collections.abc import Generator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.hitl import of
from tests.support.inbox import answer, asked, forget
from tests.support.waiting import wait_for
from tests.web.person import Person

BURST_MS = 5_000
SECRET = "argument-that-nobody-else-reads"
# In place of the machine's own; whether the tab is hidden is the test's to say.
MACHINE = """
localStorage.clear();
window.notices = [];
window.isAway = false;
window.Notification = class {
  static permission = "default";
  static asked = 0;
  static requestPermission() {
    Notification.asked += 1;
    Notification.permission = "granted";
    return Promise.resolve("granted");
  }
  constructor(title, options) {
    this.told = { title, ...options };
    this.isShown = true;
    window.notices.push(this);
  }
  close() {
    this.isShown = false;
  }
};
Object.defineProperty(document, "hidden", { get: () => window.isAway });
"""


@pytest.fixture
def page(reviewer: Person) -> Generator[Page]:
    """The inbox, with nothing in it, at a machine that keeps what it is told to show."""
    page = reviewer.opens("about:blank")
    page.add_init_script(MACHINE)
    page.goto("/inbox")
    expect(page.get_by_text("All caught up. Nothing is waiting.")).to_be_visible()
    yield page
    forget(reviewer.client)


def leaves(page: Page) -> None:
    """Another tab comes before this one."""
    page.evaluate("window.isAway = true; document.dispatchEvent(new Event('visibilitychange'))")


def notices(page: Page) -> list[dict[str, Any]]:
    """What is on the screen."""
    return page.evaluate("notices.filter((one) => one.isShown).map((one) => one.told)")


def comes(page: Page, count: int) -> list[dict[str, Any]]:
    return wait_for(lambda: notices(page), lambda found: len(found) == count)


def test_nobody_is_notified_who_did_not_ask_for_it(reviewer: Person, page: Page) -> None:
    leaves(page)
    asked(reviewer.client, ("guarded", {"name": SECRET}))
    expect(page).to_have_title("(1) Inbox · Interlock")
    assert (notices(page), page.evaluate("Notification.asked")) == ([], 0)


def test_a_notification_names_kind_agent_tool_and_risk_and_shows_no_argument(reviewer: Person, page: Page) -> None:
    page.get_by_role("button", name="Turn on notifications").click()
    expect(page.get_by_text("You will be notified while this tab is hidden.")).to_be_visible()
    leaves(page)
    (entry,) = asked(reviewer.client, ("execute", {"command": SECRET}))
    (notice,) = comes(page, 1)
    assert (notice["title"], notice["body"]) == ("Approval requested", "puppet · execute · High risk")
    page.clock.fast_forward(BURST_MS)
    with of(reviewer.client) as outside:
        outside.ask("clarification", {"question": SECRET})
    asked(reviewer.client, ("guarded", {"name": SECRET}))
    page.clock.fast_forward(BURST_MS)
    told = comes(page, 3)
    assert SECRET not in str(told)
    assert not any("actions" in one for one in told)
    page.evaluate("notices[0].onclick()")
    expect(page).to_have_url(f"{reviewer.url}/requests/{entry['request_id']}")
    expect(page.get_by_role("heading", level=1, name="execute wants to run")).to_be_visible()


def test_a_burst_is_told_as_one_and_what_is_settled_is_taken_away(reviewer: Person, page: Page) -> None:
    page.get_by_role("button", name="Turn on notifications").click()
    leaves(page)
    # However long the machine takes, for the page it is one burst.
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
    (first,) = asked(reviewer.client, ("guarded", {"name": "first"}))
    comes(page, 1)
    others = asked(reviewer.client, ("guarded", {"name": SECRET}), ("execute", {"command": SECRET}))
    expect(page.get_by_role("button", name="2 new · show")).to_be_visible()
    page.clock.fast_forward(BURST_MS)
    page.clock.resume()
    _, burst = comes(page, 2)
    assert (burst["title"], burst["body"]) == ("2 requests waiting", "From puppet. Highest risk: High.")
    answer(reviewer.client, first["request_id"], {"decision": "reject"}).raise_for_status()
    assert comes(page, 1) == [burst]
    for entry in others:
        answer(reviewer.client, entry["request_id"], {"decision": "reject"}).raise_for_status()
    comes(page, 0)


def test_who_looks_at_the_page_is_not_notified(reviewer: Person, page: Page) -> None:
    page.get_by_role("button", name="Turn on notifications").click()
    asked(reviewer.client, ("guarded", {"name": "looked at"}))
    expect(page.get_by_role("listitem").filter(has_text="looked at")).to_be_visible()
    page.clock.fast_forward(BURST_MS)
    assert page.evaluate("notices.length") == 0
