"""Half of a surrogate pair, which JSON can escape and UTF-8 cannot carry, as the name of something in an answer."""

import json
from typing import Any

import pytest

from tests.support.hitl import HITL, HitlClient, asked_by_agent, finished
from tests.support.inbox import INBOX
from tests.support.inbox import view as shown_in_inbox
from tests.support.threads import ThreadsClient

HALF = {"\udfff": {"\ud800": 1}}
"""`json.dumps` writes the escapes."""


def sent(person: ThreadsClient, path: str, body: dict[str, Any]) -> tuple[int, str]:
    headers = {"content-type": "application/json", "idempotency-key": f"{person.username} {path}"}
    reply = person.http.post(path, content=json.dumps(body), headers=headers)
    return reply.status_code, reply.text


def body_of(door: str, request: dict[str, Any], thread_id: str, digest: str) -> tuple[str, dict[str, Any]]:
    request_id = request["request_id"]
    bodies: dict[str, tuple[str, dict[str, Any]]] = {
        "inbox": (f"{INBOX}/requests/{request_id}/answer", {"value": {"answer": HALF}, "digest": digest}),
        "hitl": (f"{HITL}/respond", {"request_id": request_id, "response": {"answer": HALF}, "metadata": HALF}),
        "threads": (f"/api/resume/{thread_id}", {"action": "answer", "answers": [HALF], "request_id": request_id}),
    }
    return bodies[door]


@pytest.mark.parametrize("door", ["inbox", "hitl", "threads"])
def test_an_answer_with_half_a_character_in_a_name_reaches_the_graph_and_spoils_no_page(
    owner: ThreadsClient, theirs: HitlClient, door: str
) -> None:
    thread_id = owner.new_thread()
    asked_by_agent(owner, thread_id, ("transfer", {"name": "x", "value": {"question": "Which?"}}))
    request = theirs.one_pending(thread_id)
    path, body = body_of(door, request, thread_id, shown_in_inbox(owner, request)["digest"])

    first = sent(owner, path, body)

    assert first[0] == 200, first[1]
    assert "the graph got {'" in finished(owner, thread_id)
    for page in (f"{INBOX}/requests/{request['request_id']}", f"{HITL}/requests/{request['request_id']}"):
        assert owner.http.get(page).status_code == 200
    assert owner.http.get("/api/v1/history", params={"limit": 200}).status_code == 200
    if door != "threads":
        assert sent(owner, path, body) == first


def test_an_ask_with_half_a_character_in_a_name_is_taken_or_refused_and_spoils_no_list(
    owner: ThreadsClient, theirs: HitlClient
) -> None:
    for data in ({"question": "Which?", "more": HALF}, {"question": "Which?", "options": ["\udfff"]}):
        body = {"type": "clarification", "request_data": data}
        headers = {"content-type": "application/json", "idempotency-key": json.dumps(data)[:60]}
        reply = theirs.http.post(f"{HITL}/requests", content=json.dumps(body), headers=headers)
        assert reply.status_code in (200, 400, 422), reply.text
        for page in (f"{HITL}/pending", INBOX):
            assert owner.http.get(page).status_code == 200


def test_an_edit_with_half_a_character_in_a_name_is_refused_with_the_argument_that_there_is_not(
    owner: ThreadsClient, theirs: HitlClient
) -> None:
    thread_id = owner.new_thread()
    asked_by_agent(owner, thread_id, ("guarded", {"name": "x"}))
    request = theirs.one_pending(thread_id)
    digest = shown_in_inbox(owner, request)["digest"]
    value = {"decision": "edit", "args": {"name": "y", **HALF}}
    path = f"{INBOX}/requests/{request['request_id']}/answer"
    status, text = sent(owner, path, {"value": value, "digest": digest})
    assert status == 400, text
    assert theirs.one_pending(thread_id)["request_id"] == request["request_id"]
