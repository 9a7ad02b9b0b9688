"""A person at a browser: a context of their own, with their cookie, and an ear for what pages complain about."""

from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.support.threads import ThreadsClient

# Chromium tells each reply that is no success, and each broken connection, as an error of the page.
EXPECTED = ("Failed to load resource",)
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
WAIT_MS = 60_000
# Whose they are stays known: the page would take them for another one's, and drop them.
WITHOUT_DRAFTS = "for (const name of Object.keys(sessionStorage)) if (/draft/.test(name)) delete sessionStorage[name]"
NOWHERE = "/nowhere"
"""No page of the app's: whatever stood there before is gone."""


class Person:
    def __init__(self, browser: Browser, url: str, client: ThreadsClient, options: Mapping[str, Any]) -> None:
        self.name = client.username
        self.client = client
        self.url = url
        settings: dict[str, Any] = {"locale": "en-GB", "viewport": DESKTOP, "color_scheme": "light", **options}
        self.context = browser.new_context(base_url=url, **settings)
        self.context.set_default_timeout(WAIT_MS)
        self.complaints: list[str] = []
        self._has_clock = False
        self._kept: Page | None = None
        token = client.http.headers["authorization"].removeprefix("Bearer ")
        self.context.add_cookies([{"name": "interlock_session", "value": token, "url": url}])

    def opens(self, path: str = "/inbox") -> Page:
        page = self.context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(path)
        if path != "about:blank":
            # Looked for with each frame: what waits for an element looks less and less often.
            page.wait_for_function("() => document.querySelector('h1') !== null")
        return page

    def turns_to(self, path: str) -> Page:
        """A page that stays open from test to test, led there by the app itself: nothing is loaded again."""
        if self._kept is None:
            self._kept = self.opens(path)
        else:
            lead(self._kept, path)
        return self._kept

    def takes_the_clock(self) -> None:
        """From now on tests can put the time of the pages forward. Where they have much to draw it falls behind."""
        self.context.clock.install()
        self._has_clock = True

    def clears(self) -> None:
        """Closes all pages but the one that stays; whatever one of them complained about is told now."""
        if self._has_clock:
            self.context.clock.resume()
        if self._kept and self._kept.locator("dialog[open]").count():
            self._kept = None
        for page in self.context.pages:
            if page is not self._kept:
                page.close()
        if self._kept:
            self._kept.unroute_all()
            lead(self._kept, NOWHERE)
            self._kept.evaluate(WITHOUT_DRAFTS)
        complaints, self.complaints = self.complaints, []
        assert complaints == [], complaints

    def leave(self) -> None:
        self.context.close()
        assert self.complaints == [], self.complaints

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(EXPECTED):
            self.complaints.append(message.text)


def lead(page: Page, path: str) -> None:
    """To another page of the app, as one of its links would."""
    page.evaluate("path => history.pushState(null, '', path)", path)
