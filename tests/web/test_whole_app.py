"""What holds for every page: nothing from elsewhere, no policy broken, little to load, room on a phone, axe content."""

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.inbox import told
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.inspecting import Inspector
from tests.web.person import NOWHERE, PHONE, Person, lead
from tests.web.reviewing import waits
from tests.web.stage import every_page, shown

FIRST_LOAD = 250_000
"""Bytes, as they come over the wire."""
READABLE = 4.5
"""The contrast that WCAG asks for."""


@pytest.fixture(scope="module")
def resident(people: People) -> ThreadsClient:
    return people.named("resident")


@pytest.fixture(scope="module")
def pages(resident: ThreadsClient) -> dict[str, str]:
    return every_page(resident)


@pytest.fixture(scope="module")
def inspected(
    browser: Browser, server: ServerProcess, resident: ThreadsClient, pages: dict[str, str]
) -> Generator[Inspector]:
    """Every page, looked at, each under the title that its heading says."""
    person = Person(browser, server.url, resident, {})
    inspector = Inspector(person.opens())
    for name, path in pages.items():
        shown(inspector.page, path)
        inspector.looks(name)
        titled(inspector.page)
    yield inspector
    person.leave()


def titled(page: Page) -> None:
    """As its heading says."""
    heading = re.escape(page.get_by_role("heading", level=1).inner_text())
    expect(page).to_have_title(re.compile(rf"^(\(\d+\) )?{heading} · Interlock$"))


def test_axe_finds_nothing_on_any_page_in_light_dark_or_forced_colours(inspected: Inspector) -> None:
    assert inspected.faults == {}


def test_no_page_scrolls_sideways_on_a_phone(inspected: Inspector) -> None:
    assert inspected.wide == {}


def test_no_page_asks_another_host_for_anything(inspected: Inspector, server: ServerProcess) -> None:
    assert inspected.hosts == {server.url}


def test_no_page_breaks_the_policy_that_it_came_with(inspected: Inspector) -> None:
    (policy,) = inspected.policies
    for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "require-trusted-types-for 'script'"):
        assert part in policy.split("; ")
    assert inspected.violations == []


def test_no_page_scrolls_sideways_on_a_phone_in_chinese_where_its_heading_is_its_title_too(
    resident: ThreadsClient, visit: Visit, pages: dict[str, str]
) -> None:
    inspector = Inspector(visit(resident, locale="zh-CN", viewport=PHONE).opens())
    for name, path in pages.items():
        shown(inspector.page, path)
        expect(inspector.page.locator("html")).to_have_attribute("lang", "zh-CN")
        inspector.fits(name)
        titled(inspector.page)
    assert inspector.wide == {}


def test_what_stands_in_empty_fields_can_be_read(inspected: Inspector) -> None:
    for scheme in ("light", "dark"):
        found = inspected.hints[scheme]
        assert {"Search requests", "Message the agent", "Username"} <= set(found)
        assert [hint for hint, contrast in found.items() if contrast < READABLE] == []


def opens_editor(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["permission"])
    waits(page)
    page.keyboard.press("e")
    json = page.get_by_role("group", name="Edit as").get_by_role("button", name="JSON")
    json.wait_for()
    waits(page)
    json.click()
    expect(page.get_by_role("textbox", name="JSON of all arguments")).to_be_visible()


def opens_refusal(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["command"])
    waits(page)
    page.keyboard.press("r")
    expect(page.get_by_label("Reason")).to_be_focused()


def opens_form(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["command"])
    waits(page)
    page.keyboard.press("e")
    expect(page.get_by_role("heading", name="What will run instead")).to_be_visible()


def opens_batch(page: Page, pages: dict[str, str]) -> None:
    shown(page, f"{pages['inbox']}?risk=low")
    page.get_by_label("Select for a batch").first.check()
    page.keyboard.press("b")
    expect(page.get_by_role("dialog").get_by_text("end ·").first).to_be_visible()


def opens_help(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["inbox"])
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


def opens_account(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["inbox"])
    page.get_by_role("button", name="account and more").click()


def opens_record(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["history"])
    page.get_by_role("listitem").filter(has_text="refused").locator("summary").click()
    expect(page.get_by_text("Hash").first).to_be_visible()


def is_lost(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["inbox"])
    lead(page, NOWHERE)
    expect(page.get_by_role("heading", level=1, name="Page not found")).to_be_visible()


def answers(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["arguments"])
    waits(page)
    page.keyboard.press("m")
    page.get_by_label("What the agent is told").fill("not now")
    waits(page)
    page.get_by_label("What the agent is told").press("Control+Enter")
    expect(page.locator("[data-state=receipt]")).to_be_visible()


def loses_its_connection(page: Page, pages: dict[str, str]) -> None:
    shown(page, pages["command"])
    page.context.set_offline(True)
    expect(page.locator("[data-bar]").get_by_text("No connection since")).to_be_visible()


def loses_its_session(page: Page, pages: dict[str, str]) -> None:
    page.context.set_offline(False)
    shown(page, pages["command"])
    assert page.context.request.delete("/api/v1/session").ok
    expect(page.get_by_role("dialog", name="Your session has ended")).to_be_visible()


def test_what_becomes_of_a_request_or_a_session_has_no_faults(people: People, visit: Visit) -> None:
    owner = people.named("passer-by")
    pages = every_page(owner)
    person = visit(owner)
    person.context.clock.install()
    inspector = Inspector(person.opens())
    for comes in (is_lost, answers, loses_its_connection, loses_its_session):
        comes(inspector.page, pages)
        inspector.looks(comes.__name__)
    assert (inspector.faults, inspector.wide, inspector.violations) == ({}, {}, [])


def test_neither_forms_nor_dialogs_have_faults(resident: ThreadsClient, visit: Visit, pages: dict[str, str]) -> None:
    person = visit(resident)
    person.context.clock.install()
    inspector = Inspector(person.opens())
    for opens in (opens_editor, opens_refusal, opens_form, opens_batch, opens_help, opens_account, opens_record):
        opens(inspector.page, pages)
        inspector.looks(opens.__name__)
        inspector.page.keyboard.press("Escape")
    person.context.clear_cookies()
    inspector.page.goto("/login")
    expect(inspector.page.get_by_role("heading", name="Sign in to Interlock")).to_be_visible()
    inspector.looks("login")
    inspector.page.get_by_role("button", name="Create an account").click()
    inspector.page.get_by_label("Username", exact=True).fill("newcomer")
    inspector.page.get_by_label("Password", exact=True).fill("one password")
    inspector.page.get_by_label("Repeat password").fill("another password")
    inspector.page.get_by_label("Repeat password").press("Enter")
    expect(inspector.page.get_by_role("alert")).to_be_visible()
    inspector.looks("new account")
    assert (inspector.faults, inspector.wide, inspector.violations) == ({}, {}, [])


def test_a_difference_has_no_faults(resident: ThreadsClient, workspace: Path, visit: Visit) -> None:
    lines = "".join(f"line {number} {'of many words ' * 20}\n" for number in range(60))
    (workspace / "long.txt").write_text(lines)
    (entry,) = told(resident, 'replace "line 30" with "LINE THIRTY" in long.txt', "demo")
    inspector = Inspector(visit(resident).opens())
    shown(inspector.page, f"/requests/{entry['request_id']}")
    expect(inspector.page.get_by_text("LINE THIRTY").first).to_be_visible()
    inspector.looks("difference")
    assert (inspector.faults, inspector.wide, inspector.violations) == ({}, {}, [])


def test_the_first_load_is_small_and_packed(owner: ThreadsClient, visit: Visit) -> None:
    person = visit(owner)
    page = person.context.new_page()
    sizes: list[float] = []
    devtools: Any = person.context.new_cdp_session(page)
    devtools.send("Network.enable")

    def loaded(event: dict[str, Any]) -> None:
        sizes.append(event["encodedDataLength"])

    devtools.on("Network.loadingFinished", loaded)
    with page.expect_response("**/assets/index-*.js") as script:
        page.goto("/inbox")
    expect(page.get_by_text("All caught up. Nothing is waiting.")).to_be_visible()
    assert script.value.headers["content-encoding"] == "gzip"
    assert 50_000 < sum(sizes) < FIRST_LOAD
