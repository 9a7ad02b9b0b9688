"""Claude Code itself as a host: its permission prompt, questions, patience and pages. The model is a script."""

import json
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.faces.mcp.test_bridge import PROGRAM
from tests.hooks.claude import BINARY, KEY, finished
from tests.hooks.messages_model import Block, MessagesModel, use
from tests.support.hitl import HitlClient, of
from tests.support.mcp import SECONDS, Host
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for

PROMPT = "mcp__interlock__permission_prompt"
_numbers = count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("claude") / "data", environment={"INTERLOCK_LOCALE": "en"}) as process:
        yield process


@pytest.fixture
def person(server: ServerProcess) -> Generator[HitlClient]:
    with People(server.url) as people, of(people.named("alice")) as client:
        yield client


@pytest.fixture
def host(server: ServerProcess, person: HitlClient) -> Host:
    # Models have a new id for each call; scripts have the same ones, each with a key of its own.
    name = f"claude-{next(_numbers)}"
    return Host(server, person, name, person.new_key(name, "agent")["key"])


class Claude:
    """With a home of its own, and this server as its only one."""

    def __init__(self, host: Host, home: Path, model: MessagesModel, *, stdio: bool = False, **variables: str) -> None:
        self.folder = home / "my-project"
        self.folder.mkdir(parents=True)
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **variables,
        }
        url, key = host.server.url, host.key
        entry: dict[str, Any] = {
            "type": "http",
            "url": f"{url}/mcp",
            "headers": {"Authorization": f"Bearer {key}"},
        }
        if stdio:
            entry = {"command": PROGRAM, "args": ["mcp"], "env": {"INTERLOCK_URL": url, "INTERLOCK_KEY": key}}
        self._settings = json.dumps({"mcpServers": {"interlock": entry}})

    @contextmanager
    def run(self, *options: str) -> Generator[subprocess.Popen[bytes]]:
        command = [str(BINARY), "-p", "go", "--permission-mode", "default", "--output-format", "json"]
        command += ["--mcp-config", self._settings, "--strict-mcp-config", *options]
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=self._environment, cwd=self.folder
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


def asked(host: Host) -> dict[str, Any]:
    [request] = wait_for(host.pending, lambda found: len(found) == 1, SECONDS)
    return request


TOUCH = use("Bash", command="touch one.txt", description="Make one")


@pytest.mark.parametrize("stdio", [False, True], ids=["http", "stdio"])
def test_a_yes_runs_the_call_as_it_was_asked(host: Host, tmp_path: Path, stdio: bool) -> None:
    with MessagesModel([TOUCH]) as model:
        claude = Claude(host, tmp_path, model, stdio=stdio)
        with claude.run("--permission-prompt-tool", PROMPT) as process:
            request = asked(host)
            assert request["request_data"]["args"] == {"command": "touch one.txt", "description": "Make one"}
            assert claude.made == []
            host.person.respond(request["request_id"], {"granted": True})
            finished(process)
        assert claude.made == ["one.txt"]


@pytest.mark.parametrize(
    ("response", "made", "words"),
    [
        ({"granted": True, "args": {"command": "touch two.txt", "description": "Make two"}}, ["two.txt"], ""),
        ({"granted": False, "reason": "use two.txt"}, [], "use two.txt"),
        ({"granted": False, "reply": "why at all?"}, [], "why at all?"),
    ],
    ids=["edit", "no", "reply"],
)
def test_an_edit_runs_and_a_no_is_told(
    host: Host, tmp_path: Path, response: dict[str, Any], made: list[str], words: str
) -> None:
    with MessagesModel([TOUCH]) as model:
        claude = Claude(host, tmp_path, model)
        with claude.run("--permission-prompt-tool", PROMPT) as process:
            host.person.respond(asked(host)["request_id"], response)
            finished(process)
        assert claude.made == made
        assert words in model.results["toolu_1"]


def test_two_calls_that_are_alike_are_asked_twice(host: Host, tmp_path: Path) -> None:
    again = use("Bash", "toolu_2", command="echo x >> many.txt", description="Count")
    with MessagesModel([{**again, "id": "toolu_1"}], [again]) as model:
        claude = Claude(host, tmp_path, model)
        with claude.run("--permission-prompt-tool", PROMPT) as process:
            first = asked(host)
            host.person.respond(first["request_id"], {"granted": True})
            wait_for(lambda: claude.made, bool)
            second = asked(host)
            host.person.respond(second["request_id"], {"granted": False})
            finished(process)
        assert second["conversation_id"] == first["conversation_id"]
        assert (claude.folder / "many.txt").read_text() == "x\n"


COLOURS: Block = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
}


def test_its_own_questions_are_put_and_the_answers_reach_the_model(host: Host, tmp_path: Path) -> None:
    with MessagesModel([use("AskUserQuestion", questions=[COLOURS])]) as model:
        claude = Claude(host, tmp_path, model)
        with claude.run("--permission-prompt-tool", PROMPT) as process:
            request = asked(host)
            assert request["request_data"]["questions"][0]["question"] == "Which colour?"
            host.person.respond(request["request_id"], {"answers": ["Blue"]})
            finished(process)
        assert "Blue" in model.results["toolu_1"]


def test_it_waits_for_longer_than_it_bears_silence(host: Host, tmp_path: Path) -> None:
    """It gives up after so many milliseconds without progress; the call is held until its second sign of life."""
    ask = use("mcp__interlock__ask_person", question="Which colour?")
    with MessagesModel([ask]) as model:
        claude = Claude(host, tmp_path, model, CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT="15000")
        with claude.run("--allowedTools", "mcp__interlock__ask_person") as process:
            request = asked(host)
            before = host.held_until()
            wait_for(host.held_until, lambda until: until != before, SECONDS)
            host.person.respond(request["request_id"], {"answer": "Blue"})
            finished(process)
        assert "alice answered: Blue" in model.results["toolu_1"]


def test_without_a_screen_it_opens_no_page_and_the_secret_is_given_in_the_inbox(host: Host, tmp_path: Path) -> None:
    ask = use("mcp__interlock__request_secret", names=["TOKEN"], why="to push")
    with MessagesModel([ask]) as model:
        claude = Claude(host, tmp_path, model)
        with claude.run("--allowedTools", "mcp__interlock__request_secret") as process:
            request = asked(host)
            host.person.respond(request["request_id"], {"values": {"TOKEN": "ghp_planted"}})
            finished(process)
        assert request["request_id"] in model.results["toolu_1"]
        assert "planted" not in model.results["toolu_1"]


def test_a_hook_of_its_own_is_told_the_page(host: Host, tmp_path: Path) -> None:
    noted = tmp_path / "noted.json"
    accept = {"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "accept"}}
    script = tmp_path / "accept.sh"
    script.write_text(f"#!/bin/sh\ncat > {noted}\necho '{json.dumps(accept)}'\n")
    script.chmod(0o755)
    hooks = {"Elicitation": [{"hooks": [{"type": "command", "command": str(script)}]}]}
    with MessagesModel([use("mcp__interlock__request_secret", names=["TOKEN"])]) as model:
        claude = Claude(host, tmp_path / "home", model)
        settings = json.dumps({"hooks": hooks})
        with claude.run("--allowedTools", "mcp__interlock__request_secret", "--settings", settings) as process:
            request = asked(host)
            wait_for(noted.exists, bool, SECONDS)
            # That a machine accepted the page gives nothing.
            assert [one["request_id"] for one in host.pending()] == [request["request_id"]]
            host.person.respond(request["request_id"], {"values": {"TOKEN": "ghp_planted"}})
            finished(process)
        told = json.loads(noted.read_text())
        assert (told["mode"], told["url"]) == ("url", f"{host.server.url}/give/{request['request_id']}")
