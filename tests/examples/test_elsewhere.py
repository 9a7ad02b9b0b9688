"""Every program in `examples/elsewhere/` asks a real server, and does with the answer what its how-to says."""

import asyncio
import os
import runpy
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.examples.readme import ROOT, Readme
from tests.support.claude_code import ScriptedCli
from tests.support.hitl import HitlClient, of
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for

pytestmark = pytest.mark.xdist_group("examples")

PROGRAMS = {path.stem: path for path in sorted((ROOT / "examples" / "elsewhere").glob("*.py"))}
HOW_TOS = {
    "reviewing_bot": "answer-from-a-program",
    "with_any_function": "any-python-function",
    "with_claude_agent_sdk": "claude-agent-sdk",
    "with_openai_agents": "openai-agents",
    "with_pydantic_ai": "pydantic-ai",
}
LONGEST = 40
SECONDS = 60
YES: dict[str, Any] = {"granted": True}
NO: dict[str, Any] = {"granted": False, "reason": "not today"}
TOLD = "This call was not allowed, and did not run: not today"


@pytest.fixture
def reader(person: ThreadsClient) -> Generator[HitlClient]:
    with of(person) as client:
        yield client


@pytest.fixture
def agent(reader: HitlClient) -> dict[str, Any]:
    return reader.new_key(f"elsewhere-{os.urandom(4).hex()}", "agent")


@pytest.fixture
def environment(server: ServerProcess, agent: dict[str, Any]) -> dict[str, str]:
    return {"PYTHONPYCACHEPREFIX": f"{sys.prefix}/pycache", "INTERLOCK_URL": server.url, "INTERLOCK_KEY": agent["key"]}


def settle(reader: HitlClient, agent: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """Answer the one thing that it asks; what was shown."""
    # A process that starts on a busy machine takes a while.
    pending = wait_for(
        lambda: reader.everything(agent=agent["name"])["pending_requests"], lambda found: len(found) == 1, SECONDS
    )
    reader.respond(pending[0]["request_id"], response)
    return pending[0]["request_data"]


@pytest.mark.parametrize(
    ("name", "response", "printed"),
    [
        ("with_any_function", YES, "Refunded 12 for A-1001.\n"),
        ("with_any_function", {**YES, "args": {"order": "A-1001", "amount": 5}}, "Refunded 5 for A-1001.\n"),
        ("with_any_function", NO, "Not refunded: refund was refused: not today\n"),
        ("with_openai_agents", YES, "(deleting old.txt)\nThat is settled.\n"),
        ("with_openai_agents", NO, "That is settled.\n"),
        ("with_pydantic_ai", YES, "I was told: deleted old.txt\n"),
        ("with_pydantic_ai", {**YES, "args": {"path": "older.txt"}}, "I was told: deleted older.txt\n"),
        ("with_pydantic_ai", NO, f"I was told: {TOLD}\n"),
    ],
)
def test_a_program_goes_on_with_the_answer(
    name: str,
    response: dict[str, Any],
    printed: str,
    reader: HitlClient,
    agent: dict[str, Any],
    environment: dict[str, str],
) -> None:
    running = subprocess.Popen(
        [sys.executable, str(PROGRAMS[name])],
        env={**os.environ, **environment, "PYTHONDONTWRITEBYTECODE": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        shown = settle(reader, agent, response)
        said, complaints = running.communicate(timeout=SECONDS)
    finally:
        running.kill()
        running.communicate()
    assert (running.returncode, said) == (0, printed), complaints
    assert shown["risk_level"] == "high"


def test_the_bot_refuses_what_is_never_allowed_and_leaves_the_rest(
    server: ServerProcess, reader: HitlClient, agent: dict[str, Any], environment: dict[str, str]
) -> None:
    key = {"INTERLOCK_KEY": reader.new_key("bot", "person")["key"], "PYTHONUNBUFFERED": "1"}
    with HitlClient(server.url, agent["key"]) as asker:
        asked = [asker.ask("permission", {"tool_name": "run", "args": {"command": it}}) for it in ("ls", "rm -rf /")]
        bot = subprocess.Popen(
            [sys.executable, str(PROGRAMS["reviewing_bot"])],
            env={**os.environ, **environment, **key, "PYTHONDONTWRITEBYTECODE": ""},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            seen = asker.look(asked[1]["request_id"], wait=SECONDS)
            assert seen["response"] == {"granted": False, "reason": "never allowed here"}
            assert asker.look(asked[0]["request_id"])["status"] == "pending"
            asker.try_cancel(asked[0]["request_id"])
        finally:
            bot.kill()
            bot.communicate()


@pytest.mark.parametrize(("response", "behaviour"), [(YES, "allow"), (NO, "deny")])
async def test_the_program_for_claude_tells_it_the_answer(
    response: dict[str, Any],
    behaviour: str,
    reader: HitlClient,
    agent: dict[str, Any],
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    main = runpy.run_path(str(PROGRAMS["with_claude_agent_sdk"]))["main"]
    cli = ScriptedCli(("Bash", {"command": "rm old.txt"}))
    await asyncio.gather(main("Delete old.txt", cli), asyncio.to_thread(settle, reader, agent, response))
    assert [decision["behavior"] for decision in cli.decisions] == [behaviour]
    assert capsys.readouterr().out == "done\n"


def test_every_program_has_a_how_to_that_shows_it() -> None:
    assert set(HOW_TOS) == set(PROGRAMS)
    for name, how_to in HOW_TOS.items():
        document = Readme((ROOT / "docs" / "how-to" / f"{how_to}.md").read_text())
        assert _without_docstring(PROGRAMS[name]) in document.blocks("python"), name


def _without_docstring(program: Path) -> str:
    return program.read_text().split('"""\n\n', 1)[1]


def test_every_program_fits_on_a_screen() -> None:
    assert [name for name, path in PROGRAMS.items() if len(path.read_text().splitlines()) > LONGEST] == []
