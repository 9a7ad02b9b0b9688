"""The same key and body give the same bytes, whenever they come; another body under the key is a conflict."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.support.hitl import (
    CHOICE,
    PERMISSION,
    QUESTION,
    VARIABLES,
    HitlClient,
    asked_by_agent,
    data_of,
    error_of,
    finished,
    of,
)
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.wire import at_once
from tests.support.witness import Witness

pytestmark = pytest.mark.promise("P3")


def test_the_same_answer_again_gets_the_same_bytes(person: HitlClient) -> None:
    request_id = person.ask("clarification", QUESTION)["request_id"]
    first = person.try_respond(request_id, {"answer": "A"}, key="same-answer")
    again = person.try_respond(request_id, {"answer": "A"}, key="same-answer")
    assert first.status_code == again.status_code == 200
    assert again.content == first.content
    told = person.try_respond(request_id, {"answer": "A"})
    error_of(told, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")


def test_the_same_body_in_another_spelling_is_the_same(person: HitlClient) -> None:
    request_id = person.ask("clarification", QUESTION)["request_id"]
    first = person.try_respond(request_id, {"answer": "A"}, key="spelled")
    body = f'{{  "response": {{"answer": "\\u0041"}},\n "request_id": "{request_id}"}}'
    headers = {"idempotency-key": "spelled", "content-type": "application/json"}
    assert person.http.post("/api/v1/agent/hitl/respond", content=body, headers=headers).content == first.content


def test_another_body_under_the_key_is_a_conflict_and_changes_nothing(person: HitlClient) -> None:
    first = person.ask("clarification", QUESTION)["request_id"]
    second = person.ask("clarification", QUESTION)["request_id"]
    person.respond(first, {"answer": "A"}, key="reused")
    for request_id, answer in ((first, "B"), (second, "A")):
        reply = person.try_respond(request_id, {"answer": answer}, key="reused")
        error_of(reply, 422, "HITL_IDEMPOTENCY_CONFLICT")
    assert person.look(second)["status"] == "pending"


def test_a_key_is_the_callers_own_and_of_one_operation(person: HitlClient, other: HitlClient) -> None:
    asked = [client.ask("clarification", QUESTION, key="shared")["request_id"] for client in (person, other)]
    assert len(set(asked)) == 2
    assert person.try_respond(asked[0], {"answer": "A"}, key="shared").status_code == 200
    cancelled = person.ask("clarification", QUESTION)["request_id"]
    assert person.post("cancel", {"request_id": cancelled}, key="shared").status_code == 200
    again = person.post("cancel", {"request_id": cancelled}, key="shared")
    assert data_of(again)["status"] == "cancelled"


def test_a_person_is_the_same_caller_with_a_key_as_with_a_token(person: HitlClient, server: ServerProcess) -> None:
    request_id = person.ask("clarification", QUESTION)["request_id"]
    first = person.try_respond(request_id, {"answer": "A"}, key="two-credentials")
    with HitlClient(server.url, person.new_key("laptop")["key"]) as laptop:
        assert laptop.try_respond(request_id, {"answer": "A"}, key="two-credentials").content == first.content


def test_ten_asks_at_once_under_one_key_make_one_request(person: HitlClient, alice: ThreadsClient) -> None:
    clients = [of(alice) for _ in range(10)]
    agent = "ten-at-once"
    replies = at_once(10, lambda n: clients[n].try_ask("decision", CHOICE, key="ten", agent=agent))
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.content for reply in replies}) == 1
    assert person.everything(agent=agent)["total"] == 1
    for client in clients:
        client.http.close()


def test_ten_answers_at_once_under_one_key_are_one_answer(
    alice: ThreadsClient, person: HitlClient, thread: str, witness: Witness
) -> None:
    asked_by_agent(alice, thread, ("guarded", {"name": "once-only"}))
    request_id = person.one_pending(thread)["request_id"]
    clients = [of(alice) for _ in range(10)]
    replies = at_once(10, lambda n: clients[n].try_respond(request_id, {"granted": True}, key="ten-answers"))
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.content for reply in replies}) == 1
    finished(alice, thread)
    assert witness.count("once-only") == 1
    for client in clients:
        client.http.close()


def test_a_call_that_failed_keeps_nothing(person: HitlClient) -> None:
    request_id = person.ask("clarification", QUESTION)["request_id"]
    assert person.try_respond(request_id, {"answer": "C"}, key="failed").status_code == 400
    assert person.try_respond("clar_unknown", {"answer": "A"}, key="failed").status_code == 404
    assert person.try_respond(request_id, {"answer": "A"}, key="failed").status_code == 200
    assert person.try_ask("decision", CHOICE, agent="puppet", key="failed").status_code == 400
    assert person.try_ask("decision", CHOICE, key="failed").status_code == 200


def test_a_conflict_keeps_nothing_either(person: HitlClient) -> None:
    request_id = person.ask("clarification", QUESTION)["request_id"]
    person.respond(request_id, {"answer": "A"})
    for _ in range(2):
        reply = person.try_respond(request_id, {"answer": "A"}, key="too-late")
        error_of(reply, 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_that_cannot_be_is_named(person: HitlClient, key: str) -> None:
    reply = person.try_ask("decision", CHOICE, key=key)
    errors = error_of(reply, 400, "HITL_INVALID_RESPONSE", "INVALID_REQUEST")["errors"]
    assert [error["field"] for error in errors] == ["Idempotency-Key"]


@pytest.fixture
def mortal(tmp_path: Path, database_url: str) -> Generator[ServerProcess]:
    """A server on either database that is killed and started again."""
    process = ServerProcess(tmp_path / "mortal", database=database_url)
    try:
        yield process.start()
    finally:
        process.close()


def test_a_reply_is_the_same_after_the_server_was_killed(mortal: ServerProcess) -> None:
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("requests", {"type": "permission", "request_data": PERMISSION}),
        ("requests", {"type": "env_var", "request_data": VARIABLES}),
    ]
    planted = "sk-in-no-file-4c1d"
    with People(mortal.url) as people:
        person = people.named("root")
        credential = person.http.headers["authorization"].removeprefix("Bearer ")
        with of(person) as client:
            first = [client.post(path, body, key=f"k{n}") for n, (path, body) in enumerate(bodies)]
            request_id = data_of(first[1])["request_id"]
            answer = {"request_id": request_id, "response": {"values": {"API_KEY": planted, "REGION": "eu"}}}
            first.append(client.post("respond", answer, key="k2"))
        mortal.kill()
        mortal.start()
        with HitlClient(mortal.url, credential) as client:
            again = [client.post(path, body, key=f"k{n}") for n, (path, body) in enumerate(bodies)]
            again.append(client.post("respond", answer, key="k2"))
            assert client.everything()["total"] == 1
            changed = answer | {"response": {"values": {"API_KEY": "other", "REGION": "eu"}}}
            error_of(client.post("respond", changed, key="k2"), 422, "HITL_IDEMPOTENCY_CONFLICT")
    assert [reply.content for reply in again] == [reply.content for reply in first]
    assert json.dumps(planted).encode()[1:-1] not in b"".join(
        file.read_bytes() for file in (*mortal.data.parent.rglob("*.db*"), mortal.log) if file.is_file()
    )
