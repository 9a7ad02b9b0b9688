"""`GET /api/v1/audit`: who may read which entries, page by page."""

from typing import Any

import httpx
import pytest

from tests.support.command import users
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient

PATH = "/api/v1/audit"


def approved(client: ThreadsClient) -> str:
    thread_id = client.new_thread("puppet")
    client.chat(thread_id, script(calls(("guarded", {"name": "audited"}))))
    assert client.resume(thread_id, "continue").events[-1] == "end"
    return thread_id


def page(client: ThreadsClient, **query: Any) -> dict[str, Any]:
    return client.http.get(PATH, params=query).raise_for_status().json()


def every_page(client: ThreadsClient, **query: Any) -> list[dict[str, Any]]:
    told = page(client, **query)
    entries: list[dict[str, Any]] = told["entries"]
    while told["next_cursor"] is not None:
        assert told["entries"]
        told = page(client, **query, cursor=told["next_cursor"])
        entries += told["entries"]
    return entries


def places(entries: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(entry["conversation_id"], entry["number"]) for entry in entries]


def test_a_threads_trail_is_told_newest_first(alice: ThreadsClient) -> None:
    thread_id = approved(alice)
    told = page(alice, conversation_id=thread_id)
    assert [entry["number"] for entry in told["entries"]] == list(range(len(told["entries"]), 0, -1))
    assert [entry["action"] for entry in told["entries"][::-1]] == [
        "request.answered",
        "effect.intended",
        "effect.done",
    ]
    assert told["next_cursor"] is None
    first = told["entries"][-1]
    assert first.keys() == {"conversation_id", "number", "at", "actor", "action", "data", "hash"}
    assert (first["conversation_id"], first["actor"], first["data"]["value"]["decision"]) == (
        thread_id,
        "alice",
        "accept",
    )
    assert first["at"].endswith("Z")


def test_an_action_can_be_asked_for(alice: ThreadsClient) -> None:
    thread_id = approved(alice)
    (entry,) = page(alice, conversation_id=thread_id, action="effect.done")["entries"]
    assert entry["action"] == "effect.done"
    assert page(alice, conversation_id=thread_id, action="effect")["entries"] == []
    assert {entry["action"] for entry in every_page(alice, action="request.answered")} == {"request.answered"}


def test_pages_follow_each_other_without_a_gap(alice: ThreadsClient, root: ThreadsClient) -> None:
    thread_id = approved(alice)
    approved(alice)
    whole = page(alice, conversation_id=thread_id)["entries"]
    assert every_page(alice, conversation_id=thread_id, limit=1) == whole
    for client, limit in ((alice, 3), (root, 25)):
        before = places(every_page(client, limit=200))
        entries = every_page(client, limit=limit)
        # Other threads of this server may go on meanwhile.
        assert [place for place in places(entries) if place in before] == before
        assert len(entries) == len(set(places(entries))) > 5
        assert [entry["at"] for entry in entries] == sorted((entry["at"] for entry in entries), reverse=True)


def test_others_see_only_the_trails_of_their_own_threads(
    alice: ThreadsClient, bob: ThreadsClient, root: ThreadsClient
) -> None:
    hers, his = approved(alice), approved(bob)
    assert his not in {entry["conversation_id"] for entry in every_page(alice)}
    assert {entry["conversation_id"] for entry in every_page(bob)} >= {his}
    assert hers not in {entry["conversation_id"] for entry in every_page(bob)}
    reply = bob.http.get(PATH, params={"conversation_id": hers})
    unknown = bob.http.get(PATH, params={"conversation_id": "bob-unknown"})
    assert (reply.status_code, reply.json()) == (unknown.status_code, unknown.json())
    assert reply.status_code == 403
    assert {entry["conversation_id"] for entry in every_page(root)} >= {hers, his, "server"}
    assert page(root, conversation_id=hers)["entries"] == page(alice, conversation_id=hers)["entries"]


def test_the_servers_own_trail_is_the_admins(alice: ThreadsClient, root: ThreadsClient) -> None:
    assert page(root, conversation_id="server", action="audit.heads_made")["entries"][0]["number"] == 1
    assert alice.http.get(PATH, params={"conversation_id": "server"}).status_code == 403


def test_a_deleted_threads_trail_stays_for_the_admin(alice: ThreadsClient, root: ThreadsClient) -> None:
    thread_id = approved(alice)
    alice.http.delete(f"/api/sessions/{thread_id}").raise_for_status()
    assert page(root, conversation_id=thread_id)["entries"][0]["action"] == "thread.deleted"
    assert alice.http.get(PATH, params={"conversation_id": thread_id}).status_code == 403
    assert thread_id not in {entry["conversation_id"] for entry in every_page(alice)}


def test_a_reviewer_reads_the_trail_of_a_thread_they_review(server: ServerProcess, people: People) -> None:
    owner, auditor = people.named("audited-owner"), people.named("auditor")
    users(server, "role", "auditor", "reviewer", "--agent", "puppet")
    reviewed = approved(owner)
    assert page(auditor, conversation_id=reviewed)["entries"]
    assert reviewed not in {entry["conversation_id"] for entry in every_page(auditor)}


def test_without_a_credential_nothing_is_told(server: ServerProcess) -> None:
    with server.client() as http:
        assert http.get(PATH).status_code == 401


@pytest.mark.parametrize("cursor", ["x", "e30=", "W10=", "WzEsIDIsIDNd", "\ud7ff", "WyIyMDI2IiwgMWU5LCAiYSJd", "===="])
def test_a_cursor_that_no_page_gave_is_refused(alice: ThreadsClient, cursor: str) -> None:
    reply: httpx.Response = alice.http.get(PATH, params={"cursor": cursor})
    assert (reply.status_code, reply.json()["code"]) == (400, "invalid_input")


@pytest.mark.parametrize("limit", ["0", "201", "x"])
def test_a_page_has_a_bounded_size(alice: ThreadsClient, limit: str) -> None:
    assert alice.http.get(PATH, params={"limit": limit}).status_code == 422
