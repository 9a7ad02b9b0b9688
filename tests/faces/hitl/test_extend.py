"""More time for a request, from whoever may answer it."""

import httpx

from tests.support.hitl import QUESTION, HitlClient, data_of, error_of, wrong_fields


def extend(client: HitlClient, request_id: str, seconds: float = 300) -> httpx.Response:
    return client.post(f"requests/{request_id}/extend", {"seconds": seconds})


def test_the_deadline_moves_and_the_trail_says_who_moved_it(person: HitlClient, agent: HitlClient) -> None:
    asked = agent.ask("clarification", QUESTION, timeout_seconds=60)
    longer = data_of(extend(person, asked["request_id"]))
    assert longer["status"] == "pending"
    assert longer["expires_at"] > asked["expires_at"]
    assert agent.look(asked["request_id"])["expires_at"] == longer["expires_at"]
    (entry,) = person.audit(asked["conversation_id"], "request.extended")
    assert (entry["data"]["by"], entry["data"]["expires_at"]) == ("alice", longer["expires_at"])


def test_who_asked_and_who_sees_nothing_cannot_move_it(agent: HitlClient, other: HitlClient) -> None:
    asked = agent.ask("clarification", QUESTION, timeout_seconds=60)
    for somebody in (agent, other):
        error_of(extend(somebody, asked["request_id"]), 403, "HITL_FORBIDDEN")
    assert agent.look(asked["request_id"])["expires_at"] == asked["expires_at"]


def test_what_has_no_deadline_or_wants_it_left_alone_is_left_alone(person: HitlClient) -> None:
    for fields, data in (({"timeout_seconds": None}, QUESTION), ({}, {**QUESTION, "extendable": False})):
        asked = person.ask("clarification", data, **fields)
        error_of(extend(person, asked["request_id"]), 409, "HITL_CONFLICT")


def test_what_is_settled_has_no_more_time(person: HitlClient) -> None:
    asked = person.ask("clarification", QUESTION, timeout_seconds=60)
    person.respond(asked["request_id"], {"answer": "A"})
    error_of(extend(person, asked["request_id"]), 400, "HITL_REQUEST_NOT_PENDING", "REQUEST_NOT_PENDING")


def test_a_length_that_is_none_is_named(person: HitlClient) -> None:
    asked = person.ask("clarification", QUESTION, timeout_seconds=60)
    for seconds in (0, -1, 86_401):
        assert wrong_fields(extend(person, asked["request_id"], seconds)) == ["seconds"]
