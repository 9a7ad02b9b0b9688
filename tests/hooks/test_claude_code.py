"""Claude Code itself asks a person through its hooks; the model is a script, everything else is real."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from interlock_client.presentation import Change, presentation
from tests.hooks.claude import ClaudeCode, finished
from tests.hooks.hook import SECONDS, Desk
from tests.hooks.messages_model import PLAN_FILE, MessagesModel, use
from tests.hooks.mortal import MortalServer
from tests.servers.terminal import Terminal
from tests.support.hitl import error_of
from tests.support.waiting import wait_for

TOUCH = use("Bash", command="touch one.txt", description="Make one")


def test_a_yes_runs_the_call_as_it_was_asked(desk: Desk) -> None:
    with MessagesModel([TOUCH]) as model:
        claude = ClaudeCode(desk, model)
        with claude.run() as process:
            [asked] = desk.asked()
            assert asked["request_data"]["args"] == {"command": "touch one.txt", "description": "Make one"}
            assert not (claude.folder / "one.txt").exists()
            desk.allow(asked["request_id"])
            finished(process)
        assert (claude.folder / "one.txt").exists()


@pytest.mark.parametrize("mode", ["permission", "every-call"])
def test_an_edit_runs_in_place_of_the_call(desk: Desk, mode: str) -> None:
    with MessagesModel([TOUCH]) as model:
        claude = ClaudeCode(desk, model, "--mode", mode)
        with claude.run("--allowedTools", "Bash" if mode == "every-call" else "Read") as process:
            desk.allow(desk.asked()[0]["request_id"], args={"command": "touch two.txt", "description": "Make two"})
            finished(process)
        assert sorted(file.name for file in claude.folder.iterdir()) == ["two.txt"]


def test_a_no_is_told_to_the_model_and_nothing_runs(desk: Desk) -> None:
    with MessagesModel([TOUCH]) as model:
        claude = ClaudeCode(desk, model)
        with claude.run() as process:
            desk.deny(desk.asked()[0]["request_id"], reason="use two.txt")
            finished(process)
        assert "A person refused it: use two.txt" in model.results["toolu_1"]
        assert list(claude.folder.iterdir()) == []


@pytest.mark.parametrize("mode", ["permission", "every-call"])
def test_a_server_that_is_down_is_a_no(desk: Desk, mode: str) -> None:
    with MessagesModel([TOUCH]) as model:
        claude = ClaudeCode(desk, model, "--mode", mode, "--timeout", "20", INTERLOCK_URL="http://127.0.0.1:9")
        with claude.run("--allowedTools", "Bash" if mode == "every-call" else "Read") as process:
            finished(process)
        assert "cannot be reached" in model.results["toolu_1"]
        assert list(claude.folder.iterdir()) == []


@pytest.mark.parametrize("mode", ["permission", "every-call"])
def test_nobody_in_time_is_a_no_before_the_clients_own_timeout(desk: Desk, mode: str) -> None:
    with MessagesModel([TOUCH]) as model:
        claude = ClaudeCode(desk, model, "--mode", mode, "--timeout", "20")
        with claude.run("--allowedTools", "Bash" if mode == "every-call" else "Read") as process:
            desk.asked()
            finished(process)
        assert "nobody answered in time" in model.results["toolu_1"]
        assert list(claude.folder.iterdir()) == []


def test_every_call_is_asked_about_where_a_rule_allows_it_and_none_runs_whose_hook_is_killed(desk: Desk) -> None:
    others = [use("Bash", f"toolu_{name}", command=f"touch {name}.txt", description="Make one") for name in ("2", "3")]
    with MessagesModel([TOUCH], *([one] for one in others)) as model:
        claude = ClaudeCode(desk, model, "--mode", "every-call")
        with claude.run("--allowedTools", "Bash") as process:
            [first] = desk.asked()
            desk.allow(first["request_id"])
            wait_for(lambda: (claude.folder / "one.txt").exists(), bool)
            second = desk.next_asked(first["request_id"])
            desk.deny(second, reason="enough")
            desk.next_asked(first["request_id"], second)
            desk.kill_hook()
            finished(process)
        assert [file.name for file in claude.folder.iterdir()] == ["one.txt"]
        assert "enough" in model.results["toolu_2"]
        assert "toolu_3" in model.results


def test_a_hook_that_cannot_be_started_blocks_every_call(desk: Desk) -> None:
    with MessagesModel([TOUCH]) as model:
        claude = ClaudeCode(desk, model, "--mode", "every-call")
        settings = claude.settings
        settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"] = str(desk.home / "gone")
        claude.settings = settings
        with claude.run("--allowedTools", "Bash") as process:
            finished(process)
        assert list(claude.folder.iterdir()) == []
        assert "toolu_1" in model.results


def test_two_calls_that_are_alike_are_asked_twice(desk: Desk) -> None:
    count = use("Bash", command="echo x >> many.txt", description="Count")
    with MessagesModel([count], [{**count, "id": "toolu_2"}]) as model:
        claude = ClaudeCode(desk, model)
        with claude.run() as process:
            [first] = desk.asked()
            desk.allow(first["request_id"])
            [second] = desk.asked()
            assert second["conversation_id"] == first["conversation_id"]
            desk.deny(second["request_id"])
            finished(process)
        assert (claude.folder / "many.txt").read_text() == "x\n"


def test_two_calls_of_one_turn_each_get_their_own_answer(desk: Desk) -> None:
    turn = [TOUCH, use("Bash", "toolu_2", command="touch two.txt", description="Make two")]
    with MessagesModel(turn) as model:
        claude = ClaudeCode(desk, model)
        with claude.run() as process:
            for _ in turn:
                [asked] = desk.asked()
                if "two" in asked["request_data"]["args"]["command"]:
                    desk.deny(asked["request_id"])
                else:
                    desk.allow(asked["request_id"])
            finished(process)
        assert [file.name for file in claude.folder.iterdir()] == ["one.txt"]


def test_a_change_of_a_notebook_is_shown_as_what_it_changes(desk: Desk) -> None:
    cell: dict[str, Any] = {"cell_type": "code", "id": "first", "metadata": {}, "outputs": [], "execution_count": None}
    notebook: dict[str, Any] = {
        "cells": [{**cell, "source": ["print(1)"]}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = desk.home / "my-project" / "n.ipynb"
    # As the first of two turns: Claude Code changes no notebook that it has not read.
    read = use("Read", file_path=str(path))
    change = use("NotebookEdit", "toolu_2", notebook_path=str(path), cell_id="first", new_source="print(2)")
    with MessagesModel([read], [change]) as model:
        claude = ClaudeCode(desk, model)
        path.write_text(json.dumps(notebook))
        with claude.run() as process:
            [asked] = desk.asked()
            data = asked["request_data"]
            shown = presentation(data["tool_name"], data["args"])
            assert shown is not None
            assert shown.changes == (Change(str(path), "replace_cell", after="print(2)", at="first"),)
            # Every argument is in the difference.
            assert data["args"].keys() <= set(shown.shows)
            assert "print(1)" in path.read_text()
            desk.allow(asked["request_id"])
            finished(process)
        assert "print(2)" in path.read_text()


def test_a_server_killed_while_it_is_waited_for_goes_on(mortal: MortalServer) -> None:
    desk = mortal.desk
    with MessagesModel([TOUCH]) as model:
        claude = ClaudeCode(desk, model)
        with claude.run() as process:
            [asked] = desk.asked()
            mortal.restart()
            desk.allow(asked["request_id"])
            finished(process)
        assert (claude.folder / "one.txt").exists()


def test_a_yes_at_the_terminal_runs_the_call_and_withdraws_the_request(desk: Desk, tmp_path: Path) -> None:
    write = use("Edit", "toolu_2", file_path="e.txt", old_string="a", new_string="b")
    with MessagesModel([TOUCH], [write]) as model:
        claude = ClaudeCode(desk, model)
        (claude.folder / "e.txt").write_text("a")
        with claude.terminal(tmp_path) as screen:
            [asked] = desk.asked()
            screen.sees("Do you want to proceed?")
            screen.press("1")
            [second] = wait_for(desk.waiting, lambda found: len(found) == 1 and found != [asked])
            assert second["request_data"]["tool_name"] == "Edit"
            assert (claude.folder / "one.txt").exists()
            late = desk.person.try_respond(asked["request_id"], {"granted": True})
            details = error_of(late, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
            assert details["reason"] == "answered_at_the_terminal"
            screen.sees("Do you want to make this edit")

            def dismissed() -> list[dict[str, Any]]:
                # A key right after the dialog came up may be missed.
                if "Do you want to make this edit" in screen.screen():
                    screen.press("Escape")
                    time.sleep(1.0)
                return desk.waiting()

            wait_for(dismissed, lambda found: found == [], SECONDS)
        assert (claude.folder / "e.txt").read_text() == "a"


def test_a_yes_in_the_inbox_closes_the_dialog_at_the_terminal(desk: Desk, tmp_path: Path) -> None:
    with MessagesModel([TOUCH]) as model:
        claude = ClaudeCode(desk, model)
        with claude.terminal(tmp_path) as screen:
            [asked] = desk.asked()
            screen.sees("Do you want to proceed?")
            desk.allow(asked["request_id"])
            screen.sees_no("Do you want to proceed?")
            wait_for(lambda: (claude.folder / "one.txt").exists(), bool)


COLOURS = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}


def test_claudes_own_questions_are_answered_in_the_inbox(desk: Desk, tmp_path: Path) -> None:
    with MessagesModel([use("AskUserQuestion", questions=[COLOURS])]) as model:
        claude = ClaudeCode(desk, model)
        with claude.terminal(tmp_path):
            [asked] = desk.asked()
            assert asked["request_data"]["questions"][0]["question"] == "Which colour?"
            desk.person.respond(asked["request_id"], {"answers": ["Blue"]})
            wait_for(lambda: model.results.get("toolu_1", ""), bool)
        assert "Blue" in model.results["toolu_1"]


PLANNING = (
    [use("EnterPlanMode")],
    [use("Write", "toolu_2", file_path=PLAN_FILE, content="# Plan\n\n1. touch one.txt\n")],
    [use("ExitPlanMode", "toolu_3")],
)


def test_a_yes_to_a_plan_in_the_inbox_closes_the_dialog_at_the_terminal(desk: Desk, tmp_path: Path) -> None:
    with MessagesModel(*PLANNING) as model:
        claude = ClaudeCode(desk, model)
        with claude.terminal(tmp_path) as screen:
            [asked] = desk.asked()
            assert asked["request_data"]["args"]["plan"] == "# Plan\n\n1. touch one.txt\n"
            screen.sees("Would you like to proceed?")
            desk.allow(asked["request_id"])
            screen.sees("User approved Claude's plan")
            wait_for(lambda: model.results.get("toolu_3", ""), bool)
        assert "User has approved your plan" in model.results["toolu_3"]


def test_questions_and_plans_answered_at_the_terminal_are_withdrawn_before_the_turn_ends(
    desk: Desk, tmp_path: Path
) -> None:
    """Of neither does Claude Code tell at its end what it was asked with."""
    ask, last = use("AskUserQuestion", "toolu_0", questions=[COLOURS]), use("Bash", "toolu_4", command="touch one.txt")
    with MessagesModel([ask], *PLANNING, [last]) as model:
        claude = ClaudeCode(desk, model)
        with claude.terminal(tmp_path) as screen:
            desk.asked()
            choose(screen, "Which colour?", "1")
            wait_for(desk.waiting, lambda found: asked_tools(found) == ["ExitPlanMode"], SECONDS)
            choose(screen, "Would you like to proceed?", "2")
            wait_for(desk.waiting, lambda found: asked_tools(found) == ["Bash"], SECONDS)
        assert "Red" in model.results["toolu_0"]
        assert "User has approved your plan" in model.results["toolu_3"]


def asked_tools(requests: list[dict[str, Any]]) -> list[str | None]:
    return [one["request_data"].get("tool_name") for one in requests]


def choose(screen: Terminal, shown: str, key: str) -> None:
    """Press it until the dialog is gone: a key right after the dialog came up may be missed."""
    screen.sees(shown)

    def is_gone() -> bool:
        screen.press(key)
        time.sleep(1.0)
        return shown not in screen.screen()

    wait_for(is_gone, bool, SECONDS)


@pytest.mark.parametrize("granted", [True, False])
def test_a_run_that_defers_ends_and_takes_the_answer_when_it_is_resumed(desk: Desk, granted: bool) -> None:
    with MessagesModel([TOUCH]) as model:
        claude = ClaudeCode(desk, model, "--mode", "every-call", "--defer")
        with claude.run() as process:
            ended = finished(process)
        assert ended["stop_reason"] == "tool_deferred"
        [asked] = desk.asked()
        assert asked["expires_at"] is None
        with claude.run("--resume", ended["session_id"], prompt=()) as process:
            assert finished(process)["stop_reason"] == "tool_deferred"
        assert [one["request_id"] for one in desk.asked()] == [asked["request_id"]]
        desk.person.respond(asked["request_id"], {"granted": granted})
        with claude.run("--resume", ended["session_id"], prompt=()) as process:
            assert finished(process)["stop_reason"] == "end_turn"
        assert (claude.folder / "one.txt").exists() == granted
        assert desk.waiting() == []
