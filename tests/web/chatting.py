"""The chat page: conversations that are begun on it, and what is said there."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.web.person import Person


def begin(reviewer: Person, message: str) -> Page:
    """A new conversation with the puppet, begun on the page."""
    page = reviewer.opens("/chat")
    # Choosing what is not there yet is tried again only after a while.
    page.get_by_role("option", name="puppet").wait_for(state="attached")
    page.get_by_label("Agent").select_option("puppet")
    page.get_by_label("Message").fill(message)
    page.get_by_label("Message").press("Enter")
    expect(page).to_have_url(re.compile(f"/chat/{reviewer.name}-"))
    return page


def thread_of(page: Page) -> str:
    return page.url.rpartition("/")[2]


def said(page: Page, text: str) -> Locator:
    """A whole paragraph of the conversation."""
    return page.get_by_role("region", name="Conversation").get_by_text(text, exact=True)
