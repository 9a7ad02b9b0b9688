"""Clients that go in any moment of their call: nothing is left that waits for them."""

import uuid
from collections.abc import Callable, Generator, Mapping
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from interlock.storage.schema import runs
from tests.support.agui import user
from tests.support.either_database import DATABASES, server_on
from tests.support.hitl import HITL, QUESTION, HitlClient, of
from tests.support.people import People
from tests.support.puppet import gate, says, script
from tests.support.rows import first_column
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.wire import MOMENTS, send_and_go
from tests.support.witness import Witness

TOKEN = "of the one who measures"


@pytest.fixture(scope="module", params=DATABASES)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, witness: Witness
) -> Generator[ServerProcess]:
    settings = {**witness.environment, "INTERLOCK_METRICS_TOKEN": TOKEN, "INTERLOCK_FOLLOW_GRACE": "0.1"}
    with server_on(request.param, request, tmp_path_factory.mktemp("gone"), settings) as process:
        yield process


@pytest.fixture(scope="module")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture
def person(alice: ThreadsClient) -> Generator[HitlClient]:
    with of(alice) as client:
        yield client


def go_at_all_moments(person: ThreadsClient, line: str, body: Callable[[], Mapping[str, Any]]) -> None:
    headers = {"authorization": person.http.headers["authorization"]}
    for seconds in MOMENTS:
        send_and_go(seconds, str(person.http.base_url), line, body(), headers)


def nothing_is_left(server: ServerProcess, *measures: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}

    def left() -> dict[str, float]:
        lines = httpx.get(f"{server.url}/metrics", headers=headers, trust_env=False, timeout=60).text.splitlines()
        samples = [line.rpartition(" ") for line in lines if not line.startswith("#")]
        wanted = ("interlock_streams_open", *measures)
        return {name: float(number) for name, _, number in samples if name.partition("{")[0] in wanted}

    wait_for(left, lambda seen: bool(seen) and not any(seen.values()), 30.0)


def waiting(name: str) -> str:
    return script(says("so", gate(name), "on"))


@pytest.mark.parametrize("face", ["threads", "agui"])
def test_a_run_that_nobody_came_to_follow_is_stopped(
    server: ServerProcess, people: People, witness: Witness, face: str
) -> None:
    person = people.named(f"goer-{face}")
    name = f"gone-{uuid.uuid4()}"
    if face == "threads":
        go_at_all_moments(person, "POST /api/chat", lambda: {"message": waiting(name)})
    else:

        def said() -> dict[str, Any]:
            return {
                "threadId": str(uuid.uuid4()),
                "runId": str(uuid.uuid4()),
                "messages": [user(waiting(name))],
            }

        go_at_all_moments(person, "POST /api/v1/agui/puppet", said)
    # They come to their end when the model has spoken; that they are to is on record before.
    goes_on = select(runs.c.id).where(runs.c.status.in_(["queued", "running"]), runs.c.stop_reason.is_(None))
    wait_for(lambda: first_column(server, goes_on), lambda found: found == [])
    witness.release(name)
    nothing_is_left(server, "interlock_runs_active")


def test_what_a_hook_asked_is_withdrawn(server: ServerProcess, people: People) -> None:
    person = people.named("goer-hooks")

    def event() -> dict[str, Any]:
        call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": str(uuid.uuid4())}
        return {"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/", "prompt_id": "p1", **call}

    go_at_all_moments(person, "POST /api/v1/hooks/claude-code", event)
    with of(person) as client:
        wait_for(lambda: client.everything()["total"], lambda total: total == 0)
    nothing_is_left(server)


def test_who_waits_for_a_request_and_goes_holds_no_place(
    server: ServerProcess, alice: ThreadsClient, person: HitlClient
) -> None:
    request_id = person.ask("clarification", QUESTION)["request_id"]
    go_at_all_moments(alice, f"GET {HITL}/requests/{request_id}?wait=60", dict[str, Any])
    nothing_is_left(server)
    assert person.look(request_id)["status"] == "pending"
    person.try_cancel(request_id).raise_for_status()


@pytest.mark.parametrize("path", ["/api/v1/inbox/stream", f"{HITL}/stream?conversation_id=%s", "/api/stream/%s"])
def test_who_follows_and_goes_holds_no_place(server: ServerProcess, alice: ThreadsClient, path: str) -> None:
    thread = alice.new_thread()
    go_at_all_moments(alice, f"GET {path}".replace("%s", thread), dict[str, Any])
    nothing_is_left(server)
