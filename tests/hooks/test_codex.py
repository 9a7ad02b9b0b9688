"""Codex itself asks a person through its hooks; the model is a script, everything else is real."""

import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.hooks.codex import Codex, end_processes_of, processes_of
from tests.hooks.hook import SECONDS, Desk
from tests.hooks.mortal import MortalServer
from tests.hooks.responses_model import ResponsesModel, use
from tests.support.waiting import wait_for

TOUCH = use("exec_command", cmd="touch one.txt")
COUNT = "echo x >> many.txt"
ASKS = use("exec_command", cmd="touch one.txt", sandbox_permissions="require_escalated", justification="May I?")


@pytest.fixture
def agent() -> str:
    return "codex"


@pytest.fixture(autouse=True)
def nothing_left_running(tmp_path: Path) -> Generator[None]:
    yield
    assert wait_for(lambda: end_processes_of(tmp_path), lambda found: not found, SECONDS) == []


def wait_until_done(process: subprocess.Popen[bytes]) -> None:
    assert process.wait(SECONDS) == 0


def test_a_yes_lets_the_call_run_at_the_terminal(desk: Desk, tmp_path: Path) -> None:
    with ResponsesModel([ASKS]) as model:
        codex = Codex(desk, model)
        with codex.terminal(tmp_path):
            [asked] = desk.asked()
            assert asked["request_data"]["args"] == {"command": "touch one.txt", "description": "May I?"}
            assert asked["request_data"]["allowed"] == ["accept", "reject"]
            assert asked["agent"] == "codex"
            desk.allow(asked["request_id"])
            wait_for(lambda: (codex.folder / "one.txt").exists(), bool)


def test_a_no_is_told_to_the_model(desk: Desk, tmp_path: Path) -> None:
    with ResponsesModel([ASKS]) as model:
        codex = Codex(desk, model, "--away")
        with codex.terminal(tmp_path):
            desk.deny(desk.asked()[0]["request_id"], reason="not today")
            wait_for(lambda: model.results.get("call_1", ""), bool)
        assert "not today" in model.results["call_1"]
        assert list(codex.folder.iterdir()) == []


def test_nobody_in_time_leaves_it_to_the_terminal(desk: Desk, tmp_path: Path) -> None:
    with ResponsesModel([ASKS]) as model:
        codex = Codex(desk, model, "--timeout", "20")
        with codex.terminal(tmp_path) as screen:
            desk.asked()
            screen.sees("Would you like to run the following command?")
        assert list(codex.folder.iterdir()) == []


def test_every_call_of_a_run_is_asked_about_and_none_runs_whose_hook_is_killed(desk: Desk) -> None:
    others = [use("exec_command", f"call_{name}", cmd=f"touch {name}.txt") for name in ("2", "3")]
    with ResponsesModel([TOUCH], *([one] for one in others)) as model:
        codex = Codex(desk, model, "--mode", "every-call")
        with codex.run() as process:
            [first] = desk.asked()
            desk.allow(first["request_id"])
            wait_for(lambda: (codex.folder / "one.txt").exists(), bool)
            second = desk.next_asked(first["request_id"])
            desk.deny(second, reason="enough")
            desk.next_asked(first["request_id"], second)
            desk.kill_hook()
            wait_until_done(process)
        assert [file.name for file in codex.folder.iterdir()] == ["one.txt"]
        assert "enough" in model.results["call_2"]
        assert "call_3" in model.results


def test_an_edit_runs_in_place_of_the_call(desk: Desk) -> None:
    with ResponsesModel([TOUCH]) as model:
        codex = Codex(desk, model, "--mode", "every-call")
        with codex.run() as process:
            desk.allow(desk.asked()[0]["request_id"], args={"command": "touch two.txt"})
            wait_until_done(process)
        assert [file.name for file in codex.folder.iterdir()] == ["two.txt"]


def test_nobody_in_time_is_a_no_before_the_clients_own_timeout(desk: Desk) -> None:
    """Codex goes ahead where its own timeout ends the hook."""
    with ResponsesModel([TOUCH]) as model:
        codex = Codex(desk, model, "--mode", "every-call", "--timeout", "20")
        with codex.run() as process:
            desk.asked()
            wait_until_done(process)
        assert "nobody answered in time" in model.results["call_1"]
        assert list(codex.folder.iterdir()) == []


def test_a_server_that_is_down_is_a_no(desk: Desk) -> None:
    with ResponsesModel([TOUCH]) as model:
        codex = Codex(desk, model, "--mode", "every-call", "--timeout", "20", INTERLOCK_URL="http://127.0.0.1:9")
        with codex.run() as process:
            wait_until_done(process)
        assert "cannot be reached" in model.results["call_1"]
        assert list(codex.folder.iterdir()) == []


def test_a_hook_that_cannot_be_started_blocks(desk: Desk) -> None:
    with ResponsesModel([TOUCH]) as model:
        codex = Codex(desk, model, "--mode", "every-call")
        file = desk.home / ".codex" / "hooks.json"
        file.write_text(file.read_text().replace("interlock-hook codex", "interlock-hook-gone codex"))
        with codex.run() as process:
            wait_until_done(process)
        assert list(codex.folder.iterdir()) == []
        assert "call_1" in model.results


def test_a_hook_is_told_of_until_it_is_trusted_and_then_asked_without_any_option(desk: Desk, tmp_path: Path) -> None:
    with ResponsesModel([ASKS]) as model:
        codex = Codex(desk, model)
        assert "it is untrusted" in codex.told
        assert "it is untrusted" in codex.install("status", "codex")
        codex.trust()
        assert "after you trust it" not in codex.install("status", "codex")
        # Nothing that was asked for it goes on.
        assert processes_of(desk.home) == []
        with codex.terminal(tmp_path, "--no-alt-screen"):
            desk.allow(desk.asked()[0]["request_id"])
            wait_for(lambda: (codex.folder / "one.txt").exists(), bool, SECONDS)


OTHERS = """
# mine
[[hooks.PostToolUse]] # of my own
matcher = ".*"

[[hooks.PostToolUse.hooks]]
type = "command"
command = "true"
"""


def test_a_hook_among_others_in_its_config_is_trusted_asks_and_goes_again(desk: Desk, tmp_path: Path) -> None:
    with ResponsesModel([ASKS]) as model:
        codex = Codex(desk, model, others=OTHERS)
        before = codex.settings.read_text()
        assert "[[hooks.PermissionRequest]]" in before
        assert "+[[hooks.PermissionRequest]]" in codex.told
        assert not (desk.home / ".codex" / "hooks.json").exists()
        assert "it is untrusted" in codex.told
        codex.trust()
        assert "after you trust it" not in codex.install("status", "codex")
        with codex.terminal(tmp_path, "--no-alt-screen"):
            desk.allow(desk.asked()[0]["request_id"])
            wait_for(lambda: (codex.folder / "one.txt").exists(), bool, SECONDS)
        # The same again stays trusted; and gone is all of it, and nothing else.
        codex.install("install", "codex", "--yes")
        assert "after you trust it" not in codex.install("status", "codex")
        codex.install("uninstall", "codex", "--yes")
        assert OTHERS in codex.settings.read_text()
        assert "interlock" not in codex.settings.read_text()


def test_a_server_killed_while_it_is_waited_for_is_waited_for_again(mortal: MortalServer) -> None:
    desk = mortal.desk
    with ResponsesModel([TOUCH]) as model:
        codex = Codex(desk, model, "--mode", "every-call")
        with codex.run() as process:
            [asked] = desk.asked()
            mortal.restart()
            assert [one["request_id"] for one in desk.asked()] == [asked["request_id"]]
            desk.allow(asked["request_id"])
            wait_until_done(process)
        assert [file.name for file in codex.folder.iterdir()] == ["one.txt"]


def test_a_second_call_that_is_alike_is_asked_again(desk: Desk) -> None:
    turns = [[use("exec_command", f"call_{number}", cmd=COUNT)] for number in (1, 2)]
    with ResponsesModel(*turns) as model:
        codex = Codex(desk, model, "--mode", "every-call")
        with codex.run() as process:
            first = desk.next_asked()
            desk.allow(first)
            desk.deny(desk.next_asked(first), reason="once is enough")
            wait_until_done(process)
        assert (codex.folder / "many.txt").read_text() == "x\n"
        assert "once is enough" in model.results["call_2"]


def test_two_calls_at_once_that_are_alike_each_have_an_answer(desk: Desk) -> None:
    with ResponsesModel([use("exec_command", f"call_{number}", cmd=COUNT) for number in (1, 2)]) as model:
        codex = Codex(desk, model, "--mode", "every-call")
        with codex.run() as process:
            first = desk.next_asked()
            desk.deny(first, reason="not this one")
            desk.allow(desk.next_asked(first))
            wait_until_done(process)
        assert (codex.folder / "many.txt").read_text() == "x\n"
        assert sum("not this one" in told for told in model.results.values()) == 1
        assert model.results.keys() == {"call_1", "call_2"}
