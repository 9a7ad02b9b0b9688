"""A person at a browser: a context of their own, with their cookie, and an ear for what pages complain about."""

from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.support.threads import ThreadsClient

# Chromium tells each reply that is no success, and each broken connection, as an error of the page.
EXPECTED = ("Failed to load resource",)
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
WAIT_MS = 20_000


class Person:
    def __init__(self, browser: Browser, url: str, client: ThreadsClient, options: Mapping[str, Any]) -> None:
        self.name = client.username
        self.client = client
        self.url = url
        settings = {"locale": "en-GB", "viewport": DESKTOP, "color_scheme": "light", **options}
        self.context = browser.new_context(base_url=url, **settings)
        self.context.set_default_timeout(WAIT_MS)
        self.complaints: list[str] = []
        token = client.http.headers["authorization"].removeprefix("Bearer ")
        self.context.add_cookies([{"name": "interlock_session", "value": token, "url": url}])

    def opens(self, path: str = "/inbox") -> Page:
        page = self.context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(path)
        return page

    def leave(self) -> None:
        self.context.close()
        assert self.complaints == []

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(EXPECTED):
            self.complaints.append(message.text)
