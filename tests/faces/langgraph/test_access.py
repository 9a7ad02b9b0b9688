"""Whose threads are there for whom: the owner's, a reviewer's to see and to answer, and nobody else's."""

from collections.abc import Generator
from typing import Any

import pytest

from tests.support.command import users
from tests.support.langgraph import LanggraphClient
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

pytestmark = pytest.mark.promise("P12")

MESSAGE = {"messages": [{"type": "human", "content": "[]"}]}
Call = tuple[str, str, dict[str, Any] | None]
SEEN: list[Call] = [
    ("GET", "", None),
    ("GET", "/state?subgraphs=1", None),
    ("GET", "/history", None),
    ("POST", "/history", {"limit": 3}),
    ("GET", "/runs", None),
    ("GET", "/runs/{run}", None),
    ("GET", "/runs/{run}/join", None),
    ("GET", "/runs/{run}/stream", None),
    ("POST", "/runs/wait", {"assistant_id": "puppet"}),
]
DRIVEN: list[Call] = [
    ("PATCH", "", {"metadata": {"a": 1}}),
    ("DELETE", "", None),
    ("POST", "/state", {"values": MESSAGE}),
    ("POST", "/state", {"values": None, "as_node": "__end__"}),
    ("POST", "/runs", {"assistant_id": "puppet", "input": MESSAGE}),
    ("POST", "/runs", {"assistant_id": "puppet", "input": MESSAGE, "multitask_strategy": "enqueue"}),
    ("POST", "/runs", {"assistant_id": "puppet", "input": MESSAGE, "if_not_exists": "create"}),
    ("POST", "/runs", {"assistant_id": "demo", "input": MESSAGE}),
    ("POST", "/runs", {"assistant_id": "puppet", "command": {"goto": "__end__"}}),
    ("POST", "/runs", {"assistant_id": "puppet", "command": {"goto": "tools"}}),
    ("POST", "/runs", {"assistant_id": "puppet", "command": {"update": MESSAGE}}),
    ("POST", "/runs/{run}/cancel", {}),
]
ANSWERED: list[Call] = [
    ("POST", "/runs", {"assistant_id": "puppet", "command": {"resume": {"decisions": [{"type": "reject"}]}}}),
    ("POST", "/runs", {"assistant_id": "puppet", "command": {"resume": {"0" * 32: 1}}}),
]


@pytest.fixture(scope="module")
def reviewer(server: ServerProcess, people: People) -> ThreadsClient:
    person = people.named("judge")
    users(server, "role", "judge", "reviewer", "--agent", "puppet")
    return person


@pytest.fixture
def paused(alice: ThreadsClient) -> Generator[tuple[str, str]]:
    """A thread of Alice's that waits for a person, and its run."""
    with LanggraphClient.of(alice) as client:
        thread_id = client.thread()
        given = {"messages": [{"type": "human", "content": script(calls(("guarded", {"name": "access"})))}]}
        reply = client.post(thread_id, "wait", {"assistant_id": "puppet", "input": given})
        assert reply.json()["__interrupt__"]
        yield thread_id, reply.headers["content-location"].rpartition("/")[2]
        shown = client.http.get(f"/threads/{thread_id}").json()
        assert (shown["status"], shown["metadata"]["graph_id"]) == ("interrupted", "puppet")
        assert "a" not in shown["metadata"]


def statuses(person: LanggraphClient, paused: tuple[str, str], calls: list[Call]) -> dict[str, int]:
    thread_id, run_id = paused
    return {
        f"{method} {tail} {body}": person.http.request(
            method, f"/threads/{thread_id}{tail.format(run=run_id)}", json=body
        ).status_code
        for method, tail, body in calls
    }


def test_a_reviewer_sees_and_drives_nothing(reviewer: ThreadsClient, paused: tuple[str, str]) -> None:
    with LanggraphClient.of(reviewer) as client:
        assert set(statuses(client, paused, SEEN).values()) == {200}
        assert set(statuses(client, paused, DRIVEN).values()) == {404}
        found = client.http.post("/threads/search", json={"ids": [paused[0]]}).json()
        assert [one["thread_id"] for one in found] == [paused[0]]


def test_a_stranger_and_an_agents_key_find_nothing(
    alice: ThreadsClient, bob: ThreadsClient, paused: tuple[str, str]
) -> None:
    key = alice.http.post("/api/v1/keys", json={"name": "elsewhere", "role": "agent"}).raise_for_status().json()["key"]
    agents = LanggraphClient(str(alice.http.base_url), {"x-api-key": key})
    for client in (LanggraphClient.of(bob), agents):
        with client:
            assert set(statuses(client, paused, [*SEEN, *DRIVEN, *ANSWERED]).values()) == {404}
            assert client.http.post("/threads/search", json={"ids": [paused[0]]}).json() == []
            body = {"thread_id": paused[0], "if_exists": "do_nothing"}
            assert client.http.post("/threads", json=body).status_code == 404
            started = {"id": 1, "method": "run.start", "params": {"assistant_id": "puppet", "input": MESSAGE}}
            reply = client.http.post(f"/threads/{paused[0]}/commands", json=started).json()
            assert (reply["type"], reply["error"]) == ("error", "no_such_run")
