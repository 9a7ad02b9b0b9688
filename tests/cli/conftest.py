"""The command as a user runs it, and a server for what it is to act upon."""

import subprocess
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.support import puppet
from tests.support.command import command
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.witness import Witness

Interlock = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def interlock(tmp_path: Path) -> Interlock:
    """Run `interlock ARGUMENTS` in an empty folder; keywords are INTERLOCK_ variables."""

    def run(*arguments: str, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        return command(*arguments, given=given, variables=variables, folder=tmp_path)

    return run


@pytest.fixture
def witness() -> Generator[Witness]:
    with Witness() as running:
        yield running


@pytest.fixture
def live(tmp_path: Path, witness: Witness) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path / "live", agents=[puppet.SPEC], environment=witness.environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture
def alice(live: ServerProcess) -> Generator[ThreadsClient]:
    client = ThreadsClient(live.url).sign_in()
    yield client
    client.http.close()


def approved(client: ThreadsClient, name: str) -> str:
    """A thread on which something was asked, allowed and done."""
    thread_id = client.new_thread()
    client.chat(thread_id, script(calls(("guarded", {"name": name}))))
    assert client.resume(thread_id, "continue").events[-1] == "end"
    return thread_id
