"""Gemini CLI itself asks a person through its hook; the model is a script, everything else is real."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.hooks.gemini import command
from tests.hooks.gemini_model import GeminiModel, Part, use
from tests.hooks.hook import PROGRAM, SECONDS, Desk
from tests.hooks.mortal import MortalServer

TOUCH = use("run_shell_command", command="touch one.txt", description="Make one")
COUNT = use("run_shell_command", command="echo x >> many.txt", description="Count")


@pytest.fixture
def agent() -> str:
    return "gemini"


class Gemini:
    """With a home of its own; the hook is the only gate."""

    def __init__(self, desk: Desk, model: GeminiModel, *installing: str, **variables: str) -> None:
        self.folder = desk.home / "my-project"
        self.folder.mkdir()
        self.settings = Path(variables.get("GEMINI_CLI_HOME", desk.home)) / ".gemini" / "settings.json"
        self.settings.parent.mkdir(parents=True)
        # As people write it, with a comment.
        self.settings.write_text('{\n  // mine\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n')
        self._environment = {
            **desk.environment,
            "GOOGLE_GEMINI_BASE_URL": model.url,
            "GEMINI_API_KEY": "scripted",
            **variables,
        }
        install = [PROGRAM, "install", "gemini", "--yes", *installing]
        subprocess.run(install, env=self._environment, check=True, capture_output=True, timeout=SECONDS)

    @contextmanager
    def run(self) -> Generator[subprocess.Popen[bytes]]:
        alone = ["--approval-mode", "yolo", "--skip-trust", "-m", "gemini-2.5-pro", "-p", "go"]
        process = subprocess.Popen(
            [*command(), *alone],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
            cwd=self.folder,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate(timeout=SECONDS)

    @property
    def made(self) -> list[str]:
        return sorted(file.name for file in self.folder.iterdir())


def finish(process: subprocess.Popen[bytes]) -> None:
    stdout, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, (stdout, stderr)


def test_a_yes_an_edit_and_a_no_each_reach_their_call_and_none_runs_whose_hook_is_killed(desk: Desk) -> None:
    """In one run, which takes long to start; with a home that is not the person's."""
    names = ("two", "four", "five")
    others = [use("run_shell_command", command=f"touch {name}.txt", description="Make one") for name in names]
    with GeminiModel([TOUCH], *([one] for one in others)) as model:
        gemini = Gemini(desk, model, GEMINI_CLI_HOME=str(desk.home / "elsewhere"))
        with gemini.run() as process:
            [first] = desk.asked()
            assert first["request_data"]["args"] == {"command": "touch one.txt", "description": "Make one"}
            desk.allow(first["request_id"])
            second = desk.next_asked(first["request_id"])
            desk.allow(second, args={"command": "touch three.txt", "description": "Make three"})
            third = desk.next_asked(first["request_id"], second)
            desk.deny(third, reason="not today")
            desk.next_asked(first["request_id"], second, third)
            desk.kill_hook()
            finish(process)
        assert gemini.made == ["one.txt", "three.txt"]
        assert ["not today" in told for told in model.results] == [False, False, True, False]
        assert "// mine" in gemini.settings.read_text()


def test_nobody_in_time_is_a_no_before_the_clients_own_timeout(desk: Desk) -> None:
    with GeminiModel([TOUCH]) as model:
        gemini = Gemini(desk, model, "--timeout", "20")
        with gemini.run() as process:
            desk.asked()
            finish(process)
        assert gemini.made == []
        assert "nobody answered in time" in model.results[0]


def test_a_server_that_is_down_is_a_no(desk: Desk) -> None:
    with GeminiModel([TOUCH]) as model:
        gemini = Gemini(desk, model, "--timeout", "20", INTERLOCK_URL="http://127.0.0.1:9")
        with gemini.run() as process:
            finish(process)
        assert gemini.made == []
        assert "cannot be reached" in model.results[0]


def test_a_hook_that_cannot_be_started_blocks(desk: Desk) -> None:
    with GeminiModel([TOUCH]) as model:
        gemini = Gemini(desk, model)
        gemini.settings.write_text(gemini.settings.read_text().replace("interlock-hook gemini", "gone gemini"))
        with gemini.run() as process:
            finish(process)
        assert gemini.made == []
        assert len(model.results) == 1


def test_a_server_killed_while_it_is_waited_for_is_waited_for_again(mortal: MortalServer) -> None:
    desk = mortal.desk
    with GeminiModel([TOUCH]) as model:
        gemini = Gemini(desk, model)
        with gemini.run() as process:
            [asked] = desk.asked()
            mortal.restart()
            assert [one["request_id"] for one in desk.asked()] == [asked["request_id"]]
            desk.allow(asked["request_id"])
            finish(process)
        assert gemini.made == ["one.txt"]


@pytest.mark.parametrize("turns", [[[COUNT], [COUNT]], [[COUNT, COUNT]]], ids=["one by one", "at once"])
def test_two_calls_that_are_alike_each_have_an_answer(desk: Desk, turns: list[list[Part]]) -> None:
    with GeminiModel(*turns) as model:
        gemini = Gemini(desk, model)
        with gemini.run() as process:
            first = desk.next_asked()
            desk.allow(first)
            desk.deny(desk.next_asked(first), reason="once is enough")
            finish(process)
        assert (gemini.folder / "many.txt").read_text() == "x\n"
        assert ["once is enough" in told for told in model.results].count(True) == 1
        assert len(model.results) == 2
