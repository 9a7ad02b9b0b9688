"""Cancelling: by who may answer, and by the agent that asked."""

import pytest

from tests.faces.threads.asking import clarification
from tests.support.hitl import (
    ASKED,
    HITL,
    PERMISSION,
    QUESTION,
    HitlClient,
    asked_by_agent,
    data_of,
    error_of,
    finished,
)
from tests.support.threads import ThreadsClient
from tests.support.wire import until
from tests.support.witness import Witness


def test_a_hosted_agent_is_told_and_goes_on(alice: ThreadsClient, person: HitlClient, thread: str) -> None:
    asked_by_agent(alice, thread, clarification("A"))
    request_id = person.one_pending(thread)["request_id"]
    told = data_of(person.try_cancel(request_id, reason="不再需要"))
    assert (told["request_id"], told["status"]) == (request_id, "cancelled")
    assert "Not answered" in finished(alice, thread)
    shown = person.look(request_id)
    assert (shown["status"], shown["response"]) == ("cancelled", None)
    assert shown["answered_at"] == told["cancelled_at"]


def test_a_cancelled_permission_is_no_permission(
    alice: ThreadsClient, person: HitlClient, thread: str, witness: Witness
) -> None:
    asked_by_agent(alice, thread, ("guarded", {"name": "cancelled-away"}))
    assert person.try_cancel(person.one_pending(thread)["request_id"]).status_code == 200
    finished(alice, thread)
    assert witness.count("cancelled-away") == 0


@pytest.mark.parametrize("kind", ASKED)
def test_every_kind_may_be_cancelled_once(person: HitlClient, kind: str) -> None:
    request_type, asked, _ = ASKED[kind]
    request_id = person.ask(request_type, asked)["request_id"]
    assert person.try_cancel(request_id).status_code == 200
    details = error_of(person.try_cancel(request_id), 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
    assert details["current_status"] == "cancelled"


def test_an_event_tells_of_it_with_the_reason(person: HitlClient) -> None:
    asked = person.ask("clarification", QUESTION)
    with person.events(asked["conversation_id"]) as frames:
        until(frames, "clarification_asked")
        person.try_cancel(asked["request_id"], reason="用户主动取消")
        told = until(frames, "request_cancelled")[-1].data
    assert told["request_id"] == asked["request_id"]
    assert told["data"]["reason"] == "用户主动取消"
    assert told["data"]["response"] is None
    assert told["data"]["answered_by"] == "alice"


def test_an_agent_takes_back_what_it_asked_and_nothing_else(agent: HitlClient, person: HitlClient) -> None:
    own = agent.ask("permission", PERMISSION)["request_id"]
    hers = person.ask("clarification", QUESTION)["request_id"]
    assert data_of(agent.try_cancel(own))["status"] == "cancelled"
    error_of(agent.try_cancel(hers), 403, "HITL_FORBIDDEN")
    assert person.look(hers)["status"] == "pending"


def test_what_was_answered_or_has_expired_cannot_be_cancelled(person: HitlClient) -> None:
    answered = person.ask("clarification", QUESTION)["request_id"]
    person.respond(answered, {"answer": "A"})
    details = error_of(person.try_cancel(answered), 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")
    assert (details["current_status"], details["answered_by"]) == ("answered", "alice")
    expired = person.ask("clarification", QUESTION, timeout_seconds=0.001)["request_id"]
    assert person.look(expired, wait=30)["status"] == "expired"
    error_of(person.try_cancel(expired), 409, "HITL_REQUEST_EXPIRED", "REQUEST_EXPIRED")


def test_an_unknown_request_is_not_found(person: HitlClient) -> None:
    details = error_of(person.try_cancel("clar_unknown"), 404, "HITL_REQUEST_NOT_FOUND", "REQUEST_NOT_FOUND")
    assert details["request_id"] == "clar_unknown"


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["request_id"]),
        ({"request_id": 1, "reason": 2}, ["reason", "request_id"]),
        ({"request_id": "", "reason": "x" * 10_001}, ["reason", "request_id"]),
    ],
)
def test_every_wrong_field_is_named(person: HitlClient, body: dict[str, object], fields: list[str]) -> None:
    reply = person.http.post(f"{HITL}/cancel", json=body)
    errors = error_of(reply, 400, "HITL_INVALID_RESPONSE", "INVALID_REQUEST")["errors"]
    assert sorted(error["field"] for error in errors) == fields


def test_fields_that_are_not_known_are_ignored(person: HitlClient) -> None:
    request_id = person.ask("clarification", QUESTION)["request_id"]
    assert person.try_cancel(request_id, later="perhaps").status_code == 200
