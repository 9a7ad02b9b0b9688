"""Settings: the lines that connect an agent are pasted as they are shown, and its first request is noticed."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.hooks import gemini_model
from tests.hooks.claude import BINARY, ClaudeCode, finished
from tests.hooks.editor import Editor
from tests.hooks.gemini import command as gemini_command
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


def program(folder: Path, name: str, command: list[str]) -> str:
    """A PATH in which that name is the command, as it is where it was installed, and our own are found too."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    file.chmod(0o755)
    return f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"


def test_the_line_for_mcp_adds_the_server_to_claude_code(
    person: Person, asked_person: HitlClient, home: Path, tmp_path: Path
) -> None:
    page = person.opens(CONNECT)
    line = connected(page, "mcp")["shell"]
    desk = Desk(person.url, shlex.split(line)[-1].split()[-1], asked_person, home)
    ask = use("mcp__interlock__ask_person", question="Which colour?")
    with desk.agent, MessagesModel([ask]) as model:
        claude = ClaudeCode(desk, model)
        path = program(tmp_path / "bin", "claude", [str(BINARY)])
        added = {**os.environ, "HOME": str(home), "PATH": path}
        subprocess.run(["sh", "-c", line], env=added, cwd=claude.folder, check=True, timeout=SECONDS)
        with claude.run("--allowedTools", "mcp__interlock__ask_person") as process:
            [asked] = desk.asked()
            expect(page.locator("[data-first=received]")).to_contain_text("Which colour?")
            asked_person.respond(asked["request_id"], {"answer": "Blue"})
            finished(process)
        assert "Blue" in str(model.results)


def with_gemini(home: Path, model: gemini_model.GeminiModel, tmp_path: Path) -> dict[str, str]:
    """What Gemini CLI is started with, where `gemini` is installed."""
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
    return {
        "PATH": program(tmp_path / "bin", "gemini", gemini_command()),
        "HOME": str(home),
        "GOOGLE_GEMINI_BASE_URL": model.url,
        "GEMINI_API_KEY": "scripted",
        # A folder that nobody has looked at is not trusted, and there is nobody to ask.
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def test_the_settings_for_mcp_start_the_bridge_in_a_host(
    person: Person, asked_person: HitlClient, home: Path, tmp_path: Path
) -> None:
    page = person.opens(CONNECT)
    pasted = json.loads(connected(page, "mcp")["mcpSettings"])
    key = pasted["mcpServers"]["interlock"]["env"]["INTERLOCK_KEY"]
    desk = Desk(person.url, key, asked_person, home)
    ask = gemini_model.use("*ask_person", question="Which colour?")
    with desk.agent, gemini_model.GeminiModel([ask]) as model:
        environment = with_gemini(home, model, tmp_path)
        settings = home / ".gemini" / "settings.json"
        settings.write_text(json.dumps({**json.loads(settings.read_text()), **pasted}))
        alone = ["gemini", "--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p", "go"]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            alone, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=environment, cwd=home
        ) as process:
            try:
                [asked] = desk.asked()
                expect(page.locator("[data-first=received]")).to_contain_text("Which colour?")
                asked_person.respond(asked["request_id"], {"answer": "Blue"})
                stdout, stderr = process.communicate(timeout=SECONDS)
            finally:
                process.kill()
        assert process.returncode == 0, (stdout, stderr)
        assert "Blue" in model.results[0]


def test_the_settings_of_an_editor_start_an_agent_that_asks_here_too(
    person: Person, asked_person: HitlClient, home: Path, tmp_path: Path
) -> None:
    page = person.opens(CONNECT)
    pasted = json.loads(connected(page, "acp")["editor"])
    # The form of Zed's documents: a name of one's own, and how to start the agent.
    [(name, entry)] = pasted["agent_servers"].items()
    assert (name, entry["type"], entry.keys()) == ("Interlock", "custom", {"type", "command", "args", "env"})
    desk = Desk(person.url, entry["env"]["INTERLOCK_KEY"], asked_person, home)
    folder = home / "my-project"
    folder.mkdir()
    touch = gemini_model.use("run_shell_command", command="touch one.txt", description="Make one")
    with desk.agent, gemini_model.GeminiModel([touch]) as model:
        environment = {**with_gemini(home, model, tmp_path), **entry["env"]}
        with Editor.by_settings([entry["command"], *entry["args"]], environment, folder) as editor:
            turn = editor.prompt(editor.begin(3 * SECONDS), "go")
            editor.asked()
            [asked] = desk.asked()
            expect(page.locator("[data-first=received]")).to_be_visible()
            desk.allow(asked["request_id"])
            editor.result(turn)
        assert (folder / "one.txt").exists()


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
