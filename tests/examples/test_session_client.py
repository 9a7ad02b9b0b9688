"""The client of the sessions face in `examples/clients/`, at a terminal, against a real server."""

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.examples.readme import ROOT
from tests.support.server import ServerProcess
from tests.support.sessions import SessionsClient

CLIENT = ROOT / "examples" / "clients" / "session_client.py"
SECONDS = 60


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """The demo agent, for everybody on this machine."""
    process = ServerProcess(tmp_path_factory.mktemp("client"), auth="none", environment={"INTERLOCK_LOCALE": "en"})
    try:
        yield process.start()
    finally:
        process.close()


def typed(server: ServerProcess, user: str, *lines: str) -> str:
    """What the client shows to somebody who types this, and then closes the terminal."""
    done = subprocess.run(
        [sys.executable, str(CLIENT), user, server.url],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert done.stdout.endswith("Bye.\n"), done.stdout
    return done.stdout


@pytest.fixture
def workspace(demo: ServerProcess) -> Path:
    return demo.data / "workspace"


def test_the_four_answers(demo: ServerProcess, workspace: Path) -> None:
    edited = '{"path": "other.py", "content": "1"}'
    shown = typed(
        demo,
        "ann",
        *("create accepted.py", "accept"),
        *("create rejected.py", "reject", "not today"),
        *("create edited.py", "edit", edited),
        *("create answered.py", "response", "write it yourself"),
    )
    for told in ("accepted.py is written.", "The reason: not today", "other.py is written.", "write it yourself"):
        assert told in shown
    assert '"path": "accepted.py"' in shown
    assert sorted(path.name for path in workspace.glob("*.py")) == ["accepted.py", "hello.py", "other.py"]


def test_an_answer_that_does_not_fit_is_asked_for_again(demo: ServerProcess, workspace: Path) -> None:
    shown = typed(demo, "ben", "create again.py", "edit", '{"paht": "x"}', "edit", "no json", "accept")
    assert shown.count("Not taken: ") == 2
    assert "args.paht is not known" in shown
    assert "again.py is written." in shown
    assert (workspace / "again.py").exists()


def test_questions_are_answered_one_by_one(demo: ServerProcess) -> None:
    shown = typed(demo, "cleo", "ask me three questions", "response", "red", "cat", "now")
    assert "Which animal do you like?" in shown
    assert "Which animal do you like? Cat" in shown


def test_a_client_that_comes_back_finds_what_its_session_waits_for(demo: ServerProcess, workspace: Path) -> None:
    typed(demo, "dora", "create later.py")
    client = SessionsClient(demo.url, "dora")
    assert client.status()["status"] == "interrupted"
    client.close()
    assert "later.py is written." in typed(demo, "dora", "accept")
    assert (workspace / "later.py").exists()
