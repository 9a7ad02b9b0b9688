"""Settings: the lines that connect an agent are pasted as they are shown, and its first request is noticed."""

import json
import shlex
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.hooks.claude import ClaudeCode, finished
from tests.hooks.hook import SECONDS, Desk
from tests.hooks.messages_model import MessagesModel, use
from tests.support.hitl import HitlClient, of
from tests.support.waiting import wait_for
from tests.web.conftest import Visit
from tests.web.person import PHONE, Person

CONNECT = "/settings/connect"
TOUCH = use("Bash", command="touch one.txt", description="Make one")
HOSTS = {
    "claude": "interlock-hook install claude-code",
    "claudeHttp": "/api/v1/hooks/claude-code?timeout=3600",
    "codex": "interlock-hook install codex",
    "gemini": "interlock-hook install gemini",
    "cursor": "interlock-hook install cursor",
    "opencode": "interlock watch opencode",
    "acp": '"acp"',
    "mcp": "/mcp --header",
}


def connected(page: Page, host: str) -> dict[str, str]:
    """What is pasted, by where it goes."""
    page.locator("main select").last.select_option(host)
    page.get_by_role("button", name="Create key and show the steps").click()
    expect(page.locator("[data-first=waiting]")).to_be_visible()
    pastes = page.locator("[data-paste]")
    return {str(one.get_attribute("data-paste")): one.inner_text() for one in pastes.all()}


def exported(lines: str) -> dict[str, str]:
    """What a shell would have in its environment."""
    return dict(
        word.split("=", 1)
        for line in lines.splitlines()
        if line.startswith("export ")
        for word in shlex.split(line)[1:]
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def asked_person(person: Person) -> Generator[HitlClient]:
    with of(person.client) as client:
        yield client


def test_the_lines_connect_claude_code_and_its_first_request_is_noticed(
    person: Person, asked_person: HitlClient, home: Path
) -> None:
    page = person.opens(CONNECT)
    pasted = connected(page, "claude")["clone"]
    assert pasted.splitlines()[0] == "pip install ./packages/client"
    assert pasted.splitlines()[2:] == ["interlock-hook install claude-code"]
    given = exported(pasted)
    assert given["INTERLOCK_URL"] == person.url
    desk = Desk(given["INTERLOCK_URL"], given["INTERLOCK_KEY"], asked_person, home)
    with desk.agent, MessagesModel([TOUCH]) as model:
        claude = ClaudeCode(desk, model)
        with claude.run() as process:
            [asked] = desk.asked()
            received = page.locator("[data-first=received]")
            expect(received).to_contain_text("Bash touch one.txt")
            received.get_by_role("link").click()
            expect(page).to_have_url(f"{person.url}/requests/{asked['request_id']}")
            desk.allow(asked["request_id"])
            finished(process)
        assert (claude.folder / "one.txt").exists()


def test_the_lines_connect_claude_code_with_nothing_installed(
    person: Person, asked_person: HitlClient, home: Path, tmp_path: Path
) -> None:
    page = person.opens(CONNECT)
    pasted = connected(page, "claudeHttp")
    desk = Desk(person.url, exported(pasted["shell"])["INTERLOCK_KEY"], asked_person, home)
    with desk.agent, MessagesModel([TOUCH]) as model:
        claude = ClaudeCode(desk, model)
        claude.settings = json.loads(pasted["claudeSettings"])
        with claude.terminal(tmp_path) as screen:
            desk.asked()
            expect(page.locator("[data-first=received]")).to_contain_text("Bash touch one.txt")
            screen.sees("Do you want to proceed?")
            screen.press("1")
            wait_for(desk.waiting, lambda found: found == [], SECONDS)
    page.goto("/history")
    expect(page.get_by_role("listitem").filter(has_text="touch one.txt").first).to_contain_text(
        "answered at the terminal"
    )


def test_a_key_is_shown_once_and_asks_only(person: Person) -> None:
    page = person.opens(CONNECT)
    key = exported(connected(page, "codex")["clone"])["INTERLOCK_KEY"]
    page.get_by_role("link", name="API keys").click()
    expect(page.get_by_role("listitem").filter(has_text="agent key for codex")).to_be_visible()
    assert key not in page.content()
    page.goto(CONNECT)
    expect(page.get_by_role("button", name="Create key and show the steps")).to_be_visible()
    expect(page.locator("[data-paste]")).to_have_count(0)
    assert key not in page.content()


def test_what_another_key_of_the_same_agent_asks_is_not_taken_for_it(person: Person, asked_person: HitlClient) -> None:
    page = person.opens(CONNECT)
    own = exported(connected(page, "codex")["clone"])["INTERLOCK_KEY"]
    other = asked_person.new_key("elsewhere", "agent", agent="codex")["key"]
    with HitlClient(person.url, other) as elsewhere, HitlClient(person.url, own) as connecting:
        with page.expect_response(lambda response: response.url.endswith("/api/v1/keys")):
            elsewhere.ask("clarification", {"question": "First?"})
        expect(page.locator("[data-first=waiting]")).to_be_visible()
        asked = connecting.ask("clarification", {"question": "Second?"})
        expect(page.locator("[data-first=received]")).to_be_visible()
    assert page.locator("[data-first=received] a").get_attribute("href") == f"/requests/{asked['request_id']}"


def test_it_is_noticed_though_it_came_while_the_page_was_cut_off(person: Person) -> None:
    page = person.opens(CONNECT)
    key = exported(connected(page, "gemini")["clone"])["INTERLOCK_KEY"]
    person.context.set_offline(True)
    with HitlClient(person.url, key) as connecting:
        connecting.ask("clarification", {"question": "First?"})
    person.context.set_offline(False)
    expect(page.locator("[data-first=received]")).to_contain_text("First?")


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_each_agent_has_lines_with_its_key_that_fit_a_phone(
    visit: Visit, person: Person, host: str, locale: str
) -> None:
    page = visit(person.client, viewport=PHONE, locale=locale, has_touch=True).opens(CONNECT)
    page.locator("main select").last.select_option(host)
    page.locator("main button").last.click()
    expect(page.locator("[data-first=waiting]")).to_be_visible()
    pasted = "\n".join(page.locator("[data-paste]").all_inner_texts())
    assert HOSTS[host] in pasted
    assert person.url in pasted
    assert "ms_sk_" in pasted
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_is_done_by_the_keyboard_alone(person: Person) -> None:
    page = person.opens(CONNECT)
    page.locator("main select").last.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("[data-paste=clone]")).to_contain_text("interlock-hook install codex")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copying = page.get_by_role("button", name="Copy")
    copying.focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("[data-paste=clone]").inner_text()
