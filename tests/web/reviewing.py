"""The page of a request, and somebody who reviews it."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Locator, Page, Request, expect

from tests.support.hitl import finished
from tests.support.inbox import asked, view
from tests.support.threads import ThreadsClient
from tests.web.person import Person

LATE_MS = 600
"""After so much time it is taken that somebody means what is before them."""
LOOK_MS = 150
"""Within so much time a page sees that something on it has moved."""

UNFOLD = (
    "() => { for (const one of document.querySelectorAll('[data-review] details[data-remember]')) one.open = true; }"
)
CONTROLS = re.compile("Approve|Refuse|Reply|Send|Don’t answer")


class Review:
    """One request on its page. `sent` tells of each answer that has left the page, `keys` under which name."""

    def __init__(self, person: Person, page: Page, request_id: str) -> None:
        self.request_id = request_id
        self.owner: ThreadsClient = person.client
        self.page = page
        self.sent: list[dict[str, Any]] = []
        self.keys: list[str] = []
        # Not by their roles: working out the name of every part takes seconds where thousands of lines are shown.
        self.bar: Locator = page.locator('section[aria-label="Answer"]')
        self.shown: Locator = self.part("What will run")
        self.words: Locator = self.part("Written by the agent, not checked")
        self.code: Locator = self.bar.get_by_label("Code")
        page.on("request", self._heard)

    def part(self, heading: str) -> Locator:
        return self.page.locator("section", has=self.page.locator("h2, h3", has_text=heading))

    def button(self, name: str) -> Locator:
        return self.bar.get_by_role("button", name=name)

    def chooses(self, name: str) -> None:
        """Clicks it, when it has stood there for long enough that a click is meant for it."""
        self.button(name).wait_for()
        self.later()
        self.button(name).click()

    def tries(self, name: str) -> None:
        """The same, whether or not it is off."""
        self.button(name).wait_for()
        self.later()
        self.button(name).click(force=True)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def later(self) -> None:
        waits(self.page)

    def passes(self, milliseconds: int) -> None:
        """So much time, at the browser."""
        self.page.clock.fast_forward(milliseconds)

    def freezes(self) -> None:
        """From now on time passes at the browser only where a test lets it."""
        self.page.clock.pause_at(self.page.evaluate("Date.now()") / 1000 + 1)

    def told(self) -> dict[str, Any]:
        """What the server says of it."""
        return view(self.owner, self.request_id)

    def is_open(self) -> None:
        """It can be answered still, on the page as on the server, and no answer has left the page."""
        expect(self.bar.get_by_role("button", name=CONTROLS).first).to_be_visible()
        assert self.sent == []
        assert self.told()["status"] == "pending"

    def ends(self, words: str) -> None:
        """The page comes to say so in place of the controls."""
        expect(self.bar).to_contain_text(words)

    def goes_through_the_edit(self) -> None:
        """To the end of what would run instead."""
        self.page.locator("[data-end]").scroll_into_view_if_needed()
        self.bar.get_by_text("Read to the end first").wait_for(state="hidden")
        self.later()

    def types_code(self) -> None:
        """The digits shown after the last line."""
        self.code.fill(self.told()["code"] or "")

    def finished(self) -> str:
        """What the agent says at its end; the puppet repeats what its tools told it."""
        return finished(self.owner, self.told()["conversation_id"])

    def _heard(self, request: Request) -> None:
        if request.method == "POST" and request.url.endswith(("/answer", "/cancel")):
            self.sent.append(request.post_data_json or {})
            self.keys.append(request.headers["idempotency-key"])


def waits(page: Page) -> None:
    """Time passes at the browser, until what is pressed there counts."""
    for milliseconds in (LOOK_MS, LATE_MS):
        page.clock.fast_forward(milliseconds)


def asks(person: Person, tool: str, agent: str = "puppet", **args: Any) -> str:
    """The one request that a call of an agent's came to wait for."""
    (entry,) = asked(person.client, (tool, args), agent=agent)
    return entry["request_id"]


def opened(person: Person, request_id: str) -> Review:
    """The request at its own address, for long enough that an answer counts; `person` is a reviewer."""
    return reviewed(person, person.turns_to(f"/requests/{request_id}"), request_id)


def reviewed(person: Person, page: Page, request_id: str) -> Review:
    """The request that a page shows, or is about to show, for as long; what it offers to remember is unfolded."""
    review = come(Review(person, page, request_id))
    page.evaluate(UNFOLD)
    review.later()
    return review


def come(review: Review) -> Review:
    """Once it is on its page."""
    review.page.wait_for_function(
        "id => document.querySelector(`[data-review='${id}'] [data-bar]`) !== null", arg=review.request_id
    )
    return review


@contextmanager
def offline(person: Person) -> Generator[None]:
    """The network is gone, and the browser knows."""
    person.context.set_offline(True)
    try:
        yield
    finally:
        person.context.set_offline(False)
