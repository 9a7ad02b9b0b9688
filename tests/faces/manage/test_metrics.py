"""What a server says of itself to whoever measures it."""

from collections.abc import Generator
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families as parse

from tests.support import puppet
from tests.support.either_database import DATABASES, server_on
from tests.support.hitl import HitlClient
from tests.support.people import FIRST, People
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

TOKEN = "of the one who measures"
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module", params=DATABASES)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, witness: Witness
) -> Generator[ServerProcess]:
    settings = {**witness.environment, "INTERLOCK_METRICS_TOKEN": TOKEN}
    with server_on(request.param, request, tmp_path_factory.mktemp("measured"), settings) as process:
        yield process


@pytest.fixture(scope="module")
def root(server: ServerProcess) -> Generator[ThreadsClient]:
    with People(server.url) as people:
        yield people.named(FIRST)


def measured(server: ServerProcess) -> Samples:
    reply = httpx.get(f"{server.url}/metrics", headers={"authorization": f"Bearer {TOKEN}"}, timeout=60)
    assert (reply.status_code, reply.headers["content-type"].partition(";")[0]) == (200, "text/plain")
    # Which worker it was has another name each time.
    return {
        (
            sample.name,
            frozenset((name, value) for name, value in sample.labels.items() if name != "worker"),
        ): sample.value
        for family in parse(reply.text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[(name, frozenset(labels.items()))]


def grown(before: Samples, after: Samples) -> Samples:
    """What came since; other tests of the file ask and answer on the same server."""
    return {name: number - before.get(name, 0) for name, number in after.items()}


def test_asks_answers_runs_and_effects_are_counted(server: ServerProcess, root: ThreadsClient) -> None:
    start = measured(server)
    thread = root.new_thread()
    root.chat(thread, script(calls(("guarded", {"name": "counted"})), says("the end")))
    asked = grown(start, measured(server))
    assert value(asked, "interlock_requests_pending", kind="approval") == 1
    assert value(asked, "interlock_requests_asked_total", kind="approval") == 1
    root.resume(thread, "continue")
    done = wait_for(lambda: grown(start, measured(server)), lambda found: ended(found) == {"paused": 1, "done": 1})
    assert value(done, "interlock_requests_pending", kind="approval") == 0
    settled = {"kind": "approval", "status": "answered", "origin": "person"}
    assert value(done, "interlock_requests_settled_total", **settled) == 1
    assert value(done, "interlock_answer_seconds_count", kind="approval") == 1
    assert value(done, "interlock_effects_total", state="done") == 1
    assert value(done, "interlock_run_seconds_count") == 2
    assert value(done, "interlock_run_wait_seconds_bucket", le="+Inf") == 2
    assert value(done, "interlock_runs_active", status="queued") == 0


def ended(samples: Samples) -> dict[str, float]:
    """How many runs ended, by how they did."""
    ends = ((labels, number) for (name, labels), number in samples.items() if name == "interlock_runs_ended_total")
    return {dict(labels)["status"]: number for labels, number in ends if number}


def test_open_streams_and_what_the_bus_brought_are_counted(server: ServerProcess, root: ThreadsClient) -> None:
    thread = root.new_thread()
    with root.stream(thread, "0") as frames:
        assert value(measured(server), "interlock_streams_open") == 1
        root.chat(thread, script(says("heard")))
        while next(frames).event != "end":
            pass
        assert value(measured(server), "interlock_bus_lag_seconds_count") > 0
    wait_for(lambda: value(measured(server), "interlock_streams_open"), lambda number: number == 0)


@pytest.mark.parametrize("authorization", [None, "Bearer wrong", f"Basic {TOKEN}"])
def test_nobody_else_may_see_them(server: ServerProcess, authorization: str | None) -> None:
    headers = {} if authorization is None else {"authorization": authorization}
    assert httpx.get(f"{server.url}/metrics", headers=headers, timeout=60).status_code == 401


def test_the_token_is_good_for_nothing_else(server: ServerProcess, root: ThreadsClient) -> None:
    thread = root.new_thread()
    with HitlClient(server.url, TOKEN) as stranger:
        assert stranger.http.get(f"/api/status/{thread}").status_code == 401


def test_no_name_of_a_tool_or_a_person_is_told(server: ServerProcess, root: ThreadsClient) -> None:
    thread = root.new_thread()
    root.chat(thread, script(calls(("guarded", {"name": "planted"}))))
    shown: Any = httpx.get(f"{server.url}/metrics", headers={"authorization": f"Bearer {TOKEN}"}, timeout=60).text
    assert "interlock_requests_pending" in shown
    for word in (thread, "planted", "guarded", root.username, puppet.SPEC):
        assert word not in shown
