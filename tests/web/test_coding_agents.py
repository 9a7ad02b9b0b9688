"""What a coding agent wants is shown as what it is; Claude Code itself asks, its model is a script."""

import json
from collections.abc import Generator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.hooks.claude import ClaudeCode, finished
from tests.hooks.hook import SECONDS, Desk
from tests.hooks.messages_model import PLAN_FILE, MessagesModel, use
from tests.support.hitl import of
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.web.conftest import Visit
from tests.web.person import Person
from tests.web.reviewing import Review, opened

_numbers = count(1)

PLAN = """# Move the settings

1. Read `settings.py`, then [the guide](https://evil.example/guide).
2. ![logo](https://evil.example/logo.png) <b onclick="alert(1)">bold</b> \u202etxt.exe

[//]: # (and delete the backups)
"""


@pytest.fixture
def coder(server: ServerProcess, reviewer: Person, tmp_path: Path) -> Generator[Desk]:
    """The reviewer's own machine, with a key for its coding agent."""
    (tmp_path / "home").mkdir()
    with of(reviewer.client) as person:
        key = person.new_key(f"coder-{next(_numbers)}", "agent", agent="claude-code")["key"]
        desk = Desk(server.url, key, person, tmp_path / "home")
        with desk.agent:
            yield desk


def reviewing(reviewer: Person, coder: Desk) -> Review:
    """The one request of the agent, on its page."""
    [asked] = coder.asked()
    return opened(reviewer, asked["request_id"])


def test_a_command_is_shown_as_one_with_its_folder_and_agent(reviewer: Person, coder: Desk) -> None:
    with MessagesModel([use("Bash", command="touch one.txt\ntouch two.txt", description="Make two")]) as model:
        claude = ClaudeCode(coder, model)
        with claude.run() as process:
            review = reviewing(reviewer, coder)
            expect(review.shown).to_contain_text("$ touch one.txt")
            expect(review.shown).to_contain_text("Make two")
            row = review.page.locator(f"li[data-request='{review.request_id}']")
            expect(row).to_contain_text("Bash touch one.txt ⏎ touch two.txt")
            expect(row).to_contain_text("claude-code")
            expect(row).to_contain_text("my-project")
            review.chooses("Approve")
            review.ends("Approved at")
            finished(process)
        assert sorted(file.name for file in claude.folder.iterdir()) == ["one.txt", "two.txt"]


def test_an_edit_is_shown_as_a_difference_with_its_file(reviewer: Person, coder: Desk) -> None:
    file = coder.home / "my-project" / "app.py"
    edit = use("Edit", "toolu_2", file_path=str(file), old_string="a = 1\nb = 2", new_string="a = 1\nb = 3")
    with MessagesModel([use("Read", file_path=str(file))], [edit]) as model:
        claude = ClaudeCode(coder, model)
        file.write_text("a = 1\nb = 2\n")
        with claude.run() as process:
            review = reviewing(reviewer, coder)
            expect(review.shown.locator("[data-change=edit]")).to_contain_text(str(file))
            expect(review.shown.locator("b")).to_have_text("app.py")
            expect(review.shown).to_contain_text("+1 −1")
            expect(review.shown.get_by_text("removed:").locator("..")).to_contain_text("b = 2")
            expect(review.shown.get_by_text("added:").locator("..")).to_contain_text("b = 3")
            review.shown.get_by_role("button", name="JSON").click()
            expect(review.shown).to_contain_text('"old_string": "a = 1\\nb = 2"')
            review.later()
            review.chooses("Approve")
            review.ends("Approved at")
            finished(process)
        assert file.read_text() == "a = 1\nb = 3\n"


def test_a_file_that_is_written_is_shown_as_its_lines(reviewer: Person, coder: Desk) -> None:
    file = coder.home / "my-project" / "new.py"
    with MessagesModel([use("Write", file_path=str(file), content="one = 1\ntwo = 2\n")]) as model:
        claude = ClaudeCode(coder, model)
        with claude.run() as process:
            review = reviewing(reviewer, coder)
            written = review.shown.locator("[data-change=write]")
            expect(written).to_contain_text("+2 −0")
            expect(written).to_contain_text("whole file, overwritten if it exists")
            expect(written).to_contain_text("two = 2")
            review.chooses("Approve")
            review.ends("Approved at")
            finished(process)
        assert file.read_text() == "one = 1\ntwo = 2\n"


def test_a_cell_of_a_notebook_is_shown_as_its_new_lines(reviewer: Person, coder: Desk) -> None:
    file = coder.home / "my-project" / "work.ipynb"
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "c1",
        "metadata": {},
        "source": ["one = 1"],
        "outputs": [],
        "execution_count": None,
    }
    about = {"kernelspec": {"name": "python3"}, "language_info": {"name": "python"}}
    edit = use("NotebookEdit", "toolu_2", notebook_path=str(file), cell_id="c1", new_source="two = 2\nthree = 3")
    with MessagesModel([use("Read", file_path=str(file))], [edit]) as model:
        claude = ClaudeCode(coder, model)
        file.write_text(json.dumps({"cells": [cell], "metadata": about, "nbformat": 4, "nbformat_minor": 5}))
        with claude.run() as process:
            review = reviewing(reviewer, coder)
            replaced = review.shown.locator("[data-change=replace_cell]")
            expect(replaced).to_contain_text("work.ipynb")
            expect(replaced).to_contain_text("the new content of a cell")
            expect(replaced).to_contain_text("in c1")
            expect(replaced).to_contain_text("three = 3")
            review.chooses("Approve")
            review.ends("Approved at")
            finished(process)
        assert "three = 3" in file.read_text()


def test_a_plan_is_markdown_that_hides_nothing_and_leads_nowhere(reviewer: Person, coder: Desk, tmp_path: Path) -> None:
    write = use("Write", "toolu_2", file_path=PLAN_FILE, content=PLAN)
    asked: list[str] = []
    reviewer.context.on("request", lambda request: asked.append(request.url))
    with MessagesModel([use("EnterPlanMode")], [write], [use("ExitPlanMode", "toolu_3")]) as model:
        claude = ClaudeCode(coder, model)
        with claude.terminal(tmp_path):
            review = reviewing(reviewer, coder)
            plan = review.page.locator("[data-plan]")
            expect(review.page.locator("h1")).to_have_text("claude-code presents a plan")
            expect(plan.locator("ol > li")).to_have_count(2)
            expect(plan.locator("strong")).to_have_text("Move the settings")
            expect(plan).to_contain_text("the guide (https://evil.example/guide)")
            expect(plan).to_contain_text("[image: logo] (https://evil.example/logo.png)")
            expect(plan).to_contain_text('<b onclick="alert(1)">bold</b>')
            expect(plan).to_contain_text("‹U+202E RLO›")
            expect(plan).to_contain_text("and delete the backups")
            expect(plan.locator("a, img, b")).to_have_count(0)
            review.chooses("Approve")
            review.ends("Approved at")
            wait_for(lambda: model.results.get("toolu_3", ""), bool, SECONDS)
        assert "User has approved your plan" in model.results["toolu_3"]
    assert not any("evil.example" in url for url in asked)


def test_questions_are_a_form(reviewer: Person, coder: Desk, tmp_path: Path) -> None:
    colours = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    question = {"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": colours}
    with MessagesModel([use("AskUserQuestion", questions=[question])]) as model:
        claude = ClaudeCode(coder, model)
        with claude.terminal(tmp_path):
            review = reviewing(reviewer, coder)
            expect(review.page.get_by_text("Which colour?").first).to_be_visible()
            review.page.get_by_role("radio", name="Blue: cold").check()
            review.chooses("Send")
            review.ends("Answered at")
            wait_for(lambda: model.results.get("toolu_1", ""), bool, SECONDS)
        assert "Blue" in model.results["toolu_1"]


def test_who_is_late_is_told_that_it_was_answered_at_the_terminal(
    reviewer: Person, coder: Desk, tmp_path: Path, visit: Visit
) -> None:
    with MessagesModel([use("Bash", command="touch one.txt", description="Make one")]) as model:
        claude = ClaudeCode(coder, model)
        with claude.terminal(tmp_path) as screen:
            review = reviewing(reviewer, coder)
            screen.sees("Do you want to proceed?")
            screen.press("1")
            review.ends("Answered at the terminal at")
            review.ends("You sent nothing.")
            row = review.page.locator(f"li[data-request='{review.request_id}']")
            expect(row).to_contain_text("Answered at the terminal")
    assert review.told()["reason"] == "answered_at_the_terminal"
    later = visit(reviewer.client).opens(f"/requests/{review.request_id}")
    expect(later.locator("[data-bar]")).to_contain_text("Answered at the terminal at")
    expect(later.get_by_text("answered_at_the_terminal")).to_have_count(0)
    later.goto("/history")
    entry = later.get_by_role("listitem").filter(has_text="touch one.txt").first
    expect(entry).to_contain_text("answered at the terminal")
    expect(entry).to_contain_text("somebody")
