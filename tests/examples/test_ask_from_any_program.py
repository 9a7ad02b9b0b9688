"""The programs of the how-to on asking from anywhere, run as they stand against a real server."""

import json
import os
import subprocess
import sys
from collections.abc import Generator

import pytest

import interlock_client
from interlock_client import SyncInterlock
from interlock_client.hitl import PendingRequest
from tests.examples.readme import ROOT, Readme, run_shell
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for

HOW_TO = Readme((ROOT / "docs" / "how-to" / "ask-from-any-program.md").read_text())
SECONDS = 60.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    process = ServerProcess(tmp_path_factory.mktemp("any-program") / "data")
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="module")
def ann(server: ServerProcess) -> Generator[SyncInterlock]:
    ThreadsClient(server.url, "ann", "correct horse").sign_in().http.close()
    with SyncInterlock.sign_in(server.url, "ann", "correct horse") as person:
        yield person


@pytest.fixture(scope="module")
def key(server: ServerProcess, ann: SyncInterlock, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Made as the document makes it."""
    output = run_shell(HOW_TO.block("bash"), server.url, tmp_path_factory.mktemp("shell"), language="en")
    return json.loads(output)["key"]


def started(program: str, server: ServerProcess, key: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "INTERLOCK_URL": server.url, "INTERLOCK_KEY": key}
    return subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)


def asked(ann: SyncInterlock, count: int = 1) -> list[PendingRequest]:
    return wait_for(lambda: list(ann.pending(agent="nightly")), lambda found: len(found) == count)


def test_the_script_goes_on_with_each_answer(server: ServerProcess, ann: SyncInterlock, key: str) -> None:
    with started(HOW_TO.block("python", "SyncInterlock"), server, key) as running:
        for fields in ({"answer": "staging"}, {"decision": "yes"}, {"granted": True}):
            [request] = asked(ann)
            ann.respond(request.request_id, fields)
        output, _ = running.communicate(timeout=SECONDS)
    assert (running.returncode, output) == (0, "running DROP TABLE old on staging\n")


def test_the_script_runs_what_the_person_made_of_it(server: ServerProcess, ann: SyncInterlock, key: str) -> None:
    changed = {"host": "staging", "sql": "SELECT 1"}
    with started(HOW_TO.block("python", "SyncInterlock"), server, key) as running:
        for fields in ({"answer": "staging"}, {"decision": "yes"}, {"granted": True, "args": changed}):
            [request] = asked(ann)
            ann.respond(request.request_id, fields)
        output, _ = running.communicate(timeout=SECONDS)
    assert (running.returncode, output) == (0, "running SELECT 1 on staging\n")


def test_what_is_asked_at_once_is_one_conversation(server: ServerProcess, ann: SyncInterlock, key: str) -> None:
    answers = {"Which colour?": "blue", "Which size?": "large"}
    with started(HOW_TO.block("python", "asyncio.run"), server, key) as running:
        requests = asked(ann, 2)
        for request in requests:
            ann.respond(request.request_id, answer=answers[request.request_data["question"]])
        output, _ = running.communicate(timeout=SECONDS)
    assert (running.returncode, output) == (0, "large and blue\n")
    assert len({request.conversation_id for request in requests}) == 1


def test_the_reference_names_every_method_and_error() -> None:
    text = (ROOT / "docs" / "reference" / "python-client.md").read_text()
    methods = [name for name in vars(SyncInterlock) if not name.startswith("_")]
    assert [name for name in (*interlock_client.__all__, *methods) if name not in text] == []
