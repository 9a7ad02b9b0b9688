"""What waits: of one conversation, and over all of them."""

import base64
from typing import Any

import pytest

from tests.faces.threads.asking import clarification
from tests.support.hitl import (
    ASKED,
    CHOICE,
    HITL,
    PERMISSION,
    QUESTION,
    VARIABLES,
    HitlClient,
    asked_by_agent,
    error_of,
    wrong_fields,
)
from tests.support.threads import ThreadsClient


def ids(page: dict[str, Any]) -> list[str]:
    return [one["request_id"] for one in page["pending_requests"]]


@pytest.mark.parametrize("conversation_id", ["abc123", "%00", "alice-", "x" * 400, "日本"])
def test_an_unknown_conversation_waits_for_nothing(person: HitlClient, conversation_id: str) -> None:
    assert person.pending(conversation_id) == []


def test_a_conversation_that_waits_for_nothing_has_an_empty_list(person: HitlClient, thread: str) -> None:
    assert person.pending(thread) == []


def test_anothers_conversation_is_forbidden_and_says_nothing_of_it(
    alice: ThreadsClient, other: HitlClient, admin: HitlClient, thread: str
) -> None:
    asked_by_agent(alice, thread, clarification("secret option"))
    reply = other.http.get(f"{HITL}/conversations/{thread}/pending")
    error_of(reply, 403, "HITL_FORBIDDEN")
    assert "secret option" not in reply.text
    assert len(admin.pending(thread)) == 1


def test_several_requests_of_one_pause_are_listed_in_their_order(
    alice: ThreadsClient, person: HitlClient, thread: str
) -> None:
    asked_by_agent(alice, thread, *(("guarded", {"name": f"listed-{n}"}) for n in range(3)))
    shown = [one["request_data"]["args"]["name"] for one in person.pending(thread)]
    assert shown == ["listed-0", "listed-1", "listed-2"]
    person.respond(person.pending(thread)[1]["request_id"], {"granted": False})
    shown = [one["request_data"]["args"]["name"] for one in person.pending(thread)]
    assert shown == ["listed-0", "listed-2"]


def test_a_deleted_conversation_is_as_one_that_never_was(alice: ThreadsClient, person: HitlClient, thread: str) -> None:
    asked_by_agent(alice, thread, clarification("A"))
    request_id = person.one_pending(thread)["request_id"]
    assert alice.http.delete(f"/api/sessions/{thread}").status_code == 200
    assert person.pending(thread) == []
    assert request_id not in ids(person.everything(limit=200))
    for reply in (person.http.get(f"{HITL}/requests/{request_id}"), person.try_respond(request_id, {"answer": "A"})):
        error_of(reply, 404, "HITL_REQUEST_NOT_FOUND", "REQUEST_NOT_FOUND")


def test_the_list_over_all_conversations_is_oldest_first_and_goes_page_by_page(theirs: HitlClient) -> None:
    asked = [theirs.ask("clarification", QUESTION)["request_id"] for _ in range(7)]
    page = theirs.everything(limit=3)
    seen = ids(page)
    assert page["total"] == 7
    while page["next_cursor"]:
        page = theirs.everything(limit=3, cursor=page["next_cursor"])
        assert page["total"] == 7
        seen += ids(page)
    assert seen == asked


def test_what_is_settled_between_two_pages_moves_nothing(theirs: HitlClient) -> None:
    asked = [theirs.ask("clarification", QUESTION)["request_id"] for _ in range(5)]
    page = theirs.everything(limit=2)
    for request_id in asked[:3]:
        theirs.respond(request_id, {"answer": "A"})
    assert ids(theirs.everything(limit=50, cursor=page["next_cursor"])) == asked[3:]


def test_the_list_is_narrowed_by_type_agent_risk_and_age(theirs: HitlClient) -> None:
    clar = theirs.ask("clarification", QUESTION, agent="one")["request_id"]
    several = theirs.ask("clarification", ASKED["questions"][1], agent="two")["request_id"]
    deci = theirs.ask("decision", CHOICE, agent="two")["request_id"]
    envv = theirs.ask("env_var", VARIABLES, agent="one")["request_id"]
    high = theirs.ask("permission", PERMISSION, agent="one")["request_id"]
    low = theirs.ask("permission", PERMISSION | {"risk_level": "low"}, agent="two")["request_id"]
    assert ids(theirs.everything(type="clarification")) == [clar, several]
    assert ids(theirs.everything(type="decision")) == [deci]
    assert ids(theirs.everything(type="env_var")) == [envv]
    assert ids(theirs.everything(type="permission")) == [high, low]
    assert ids(theirs.everything(risk="high")) == [high]
    assert ids(theirs.everything(risk="critical")) == []
    assert ids(theirs.everything(agent="two", type="permission")) == [low]
    assert theirs.everything(agent="two")["total"] == 3
    assert ids(theirs.everything(agent="nobody")) == []
    assert ids(theirs.everything(min_age=3600)) == []
    assert ids(theirs.everything(max_age=3600)) == [clar, several, deci, envv, high, low]


def test_everybody_sees_their_own_and_an_admin_everything(
    person: HitlClient, other: HitlClient, admin: HitlClient
) -> None:
    request_id = person.ask("clarification", QUESTION, agent="seen-by-whom")["request_id"]
    assert ids(person.everything(agent="seen-by-whom")) == [request_id]
    assert ids(admin.everything(agent="seen-by-whom")) == [request_id]
    assert ids(other.everything(agent="seen-by-whom")) == []


def test_an_agents_key_sees_only_what_it_asked(person: HitlClient, agent: HitlClient) -> None:
    mine = agent.ask("clarification", QUESTION)["request_id"]
    person.ask("clarification", QUESTION)
    assert ids(agent.everything(limit=200)) == [mine]
    assert agent.everything()["total"] == 1


@pytest.mark.parametrize(
    "cursor",
    ["x", "é", "=", base64.urlsafe_b64encode(b"2026-01-01T00:00:00 clar_1").decode()]
    + [base64.urlsafe_b64encode(text).decode() for text in (b"\xff\xfe x", b"0001-01-01T00:00:00+14:00 x", b"never x")]
    + [base64.urlsafe_b64encode(b"2026-01-01T00:00:00+00:00").decode()],
)
def test_a_cursor_of_somebody_elses_is_named(person: HitlClient, cursor: str) -> None:
    assert wrong_fields(person.http.get(f"{HITL}/pending", params={"cursor": cursor})) == ["cursor"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=many", "limit"),
        ("type=approval", "type"),
        ("risk=none", "risk"),
        ("min_age=-1", "min_age"),
        ("max_age=nan", "max_age"),
        (f"agent={'x' * 65}", "agent"),
    ],
)
def test_a_filter_that_cannot_be_is_named(person: HitlClient, query: str, field: str) -> None:
    assert wrong_fields(person.http.get(f"{HITL}/pending?{query}")) == [field]


def test_what_reading_shows_has_no_field_that_the_document_has_not(person: HitlClient) -> None:
    person.ask("env_var", VARIABLES, agent="shape")
    (shown,) = person.everything(agent="shape")["pending_requests"]
    assert shown.keys() == {
        "request_id",
        "type",
        "status",
        "conversation_id",
        "message_id",
        "agent",
        "owner",
        "created_at",
        "expires_at",
        "timeout_seconds",
        "request_data",
    }
