"""The WebSocket: many conversations on one connection, events out, answers in, and nothing that breaks it."""

import json
import time
import uuid
from typing import Any

import pytest

from tests.support import hitl
from tests.support.hitl import ASKED, QUESTION, HitlClient
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess
from tests.support.sockets import HitlSocket, joined, refused
from tests.support.threads import ThreadsClient
from tests.support.waiting import NOTICED_SECONDS

MIB = 1024 * 1024


@pytest.fixture
def token(alice: ThreadsClient) -> str:
    return alice.http.headers["authorization"].removeprefix("Bearer ")


@pytest.fixture
def asked(person: HitlClient) -> dict[str, Any]:
    return person.ask("clarification", QUESTION)


def codes(message: dict[str, Any]) -> tuple[str, str]:
    return message["type"], message["error"]["code"]


def test_the_conversation_in_the_address_is_subscribed_to_and_what_is_pending_comes_first(
    server: ServerProcess, person: HitlClient, token: str, asked: dict[str, Any]
) -> None:
    conversation = asked["conversation_id"]
    with joined(server.url, token, conversation_id=conversation) as socket:
        assert socket.receive() == {"type": "subscribed", "conversation_id": conversation}
        event = socket.receive()
        about = {"request_id": asked["request_id"], "conversation_id": conversation}
        assert event.keys() == {"type", "event_type", "request_id", "conversation_id", "data", "id"}
        assert (event["type"], event["event_type"]) == ("hitl_event", "clarification_asked")
        assert event.items() >= about.items()
        assert event["data"].items() >= {**about, **QUESTION, "timeout_seconds": 300}.items()
        person.respond(asked["request_id"], {"answer": "A"})
        answered = socket.receive()
        assert answered["event_type"] == "clarification_answered"
        assert answered.items() >= about.items()
        assert answered["data"].items() >= {**about, "response": {"answer": "A"}, "source": "hitl"}.items()
        assert int(answered["id"]) > int(event["id"])


def test_many_conversations_share_one_socket(server: ServerProcess, person: HitlClient, token: str) -> None:
    asked = [person.ask("clarification", QUESTION) for _ in range(40)]
    with joined(server.url, token) as socket:
        for one in asked:
            assert socket.subscribe(one["conversation_id"])["type"] == "subscribed"
            assert socket.receive()["request_id"] == one["request_id"]
        for one in reversed(asked):
            assert socket.respond(one["request_id"], {"answer": "B"})["success"]
            assert socket.is_alive()
    with joined(server.url, token) as socket:
        for one in asked:
            socket.send({"type": "subscribe", "conversation_id": one["conversation_id"], "last_event_id": 0})
        told = [(one["conversation_id"], one["event_type"]) for one in _events(socket, 80)]
    for one in asked:
        assert [name for conversation, name in told if conversation == one["conversation_id"]] == [
            "clarification_asked",
            "clarification_answered",
        ]


def _events(socket: HitlSocket, count: int) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while len(events) < count:
        if (message := socket.receive())["type"] == "hitl_event":
            events.append(message)
    return events


def test_after_unsubscribing_nothing_more_is_told(
    server: ServerProcess, person: HitlClient, token: str, asked: dict[str, Any]
) -> None:
    other = person.ask("clarification", QUESTION)
    with joined(server.url, token, conversation_id=asked["conversation_id"]) as socket:
        socket.until("hitl_event")
        socket.subscribe(other["conversation_id"])
        socket.until("hitl_event")
        left = socket.ask({"type": "unsubscribe", "conversation_id": asked["conversation_id"]})
        assert left == {"type": "unsubscribed", "conversation_id": asked["conversation_id"]}
        for one in (asked, other):
            person.respond(one["request_id"], {"answer": "A"})
        assert socket.receive()["request_id"] == other["request_id"]
        assert socket.is_alive()
        assert socket.ask({"type": "unsubscribe", "conversation_id": "never"})["type"] == "unsubscribed"


def test_subscribing_again_repeats_nothing(
    server: ServerProcess, person: HitlClient, token: str, asked: dict[str, Any]
) -> None:
    conversation = asked["conversation_id"]
    with joined(server.url, token, conversation_id=conversation) as socket:
        socket.until("hitl_event")
        assert socket.subscribe(conversation) == {"type": "subscribed", "conversation_id": conversation}
        person.respond(asked["request_id"], {"answer": "A"})
        assert socket.receive()["event_type"] == "clarification_answered"
        assert socket.is_alive()


@pytest.mark.parametrize("how", ["address", "message", "while subscribed"])
def test_who_comes_back_is_told_what_was_missed(
    server: ServerProcess, person: HitlClient, token: str, asked: dict[str, Any], how: str
) -> None:
    conversation = asked["conversation_id"]
    with joined(server.url, token, conversation_id=conversation) as socket:
        last = socket.until("hitl_event")[-1]["id"]
    person.respond(asked["request_id"], {"answer": "A"})
    person.ask("clarification", QUESTION, conversation_id=conversation)
    first = None if how == "message" else conversation
    resumed = last if how == "address" else None
    with joined(server.url, token, conversation_id=first, last_event_id=resumed) as socket:
        if how == "while subscribed":
            socket.until("hitl_event")
        if how != "address":
            socket.send({"type": "subscribe", "conversation_id": conversation, "last_event_id": last})
        assert socket.receive()["type"] == "subscribed"
        assert [one["event_type"] for one in socket.events(2)] == ["clarification_answered", "clarification_asked"]
        assert socket.is_alive()


def test_several_requests_of_one_pause_can_be_gone_on_from_each(
    server: ServerProcess, alice: ThreadsClient, token: str
) -> None:
    thread_id = alice.new_thread()
    alice.chat(thread_id, script(calls(*(("guarded", {"name": f"part-{number}"}) for number in range(3)))))
    with joined(server.url, token, conversation_id=thread_id) as socket:
        socket.receive()
        whole = socket.events(3)
    assert len({one["id"] for one in whole}) == 3
    for index, one in enumerate(whole[:-1]):
        with joined(server.url, token, conversation_id=thread_id, last_event_id=one["id"]) as socket:
            socket.receive()
            assert socket.events(2 - index) == whole[index + 1 :]


def test_an_id_that_the_log_has_not_reached_hides_nothing(
    server: ServerProcess, token: str, asked: dict[str, Any]
) -> None:
    with joined(server.url, token) as socket:
        socket.subscribe(asked["conversation_id"], last_event_id="123456789")
        assert socket.receive()["request_id"] == asked["request_id"]


@pytest.mark.parametrize("last", ["x", "-1", "1.x", "1.", ".1", "", " ", "9" * 19, 1.5, True, [], "١"])
def test_an_id_that_is_none_is_told(server: ServerProcess, token: str, asked: dict[str, Any], last: object) -> None:
    with joined(server.url, token) as socket:
        told = socket.subscribe(asked["conversation_id"], last_event_id=last)
        if isinstance(last, str) and last.strip() in ("", "1."):
            assert told["type"] == "subscribed"
            return
        assert codes(told) == ("error", "HITL_INVALID_RESPONSE")
        assert told["error"]["details"]["errors"][0]["field"] == "last_event_id"
        assert socket.is_alive()


@pytest.mark.parametrize(("kind", "data", "response"), ASKED.values(), ids=ASKED.keys())
def test_every_kind_can_be_answered(
    server: ServerProcess, person: HitlClient, token: str, kind: str, data: dict[str, Any], response: dict[str, Any]
) -> None:
    asked = person.ask(kind, data)
    with joined(server.url, token) as socket:
        ack = socket.respond(asked["request_id"], response)
        assert ack.items() >= {"type": "hitl_ack", "request_id": asked["request_id"], "success": True}.items()
        settled = person.look(asked["request_id"])
        assert (settled["status"], settled["source"]) == ("answered", "hitl")
        assert ack["answered_at"] == settled["answered_at"]


def test_an_answer_that_is_refused_is_told_with_its_code(
    server: ServerProcess, person: HitlClient, bob: ThreadsClient, token: str, asked: dict[str, Any]
) -> None:
    with hitl.of(bob) as others:
        theirs = others.ask("clarification", QUESTION)["request_id"]
    settled = person.ask("clarification", QUESTION)["request_id"]
    person.respond(settled, {"answer": "B"})
    late = person.ask("clarification", QUESTION, timeout_seconds=0.05)["request_id"]
    person.look(late, wait=30)
    wanted: list[tuple[str, Any, str]] = [
        (asked["request_id"], {"answer": "C"}, "HITL_INVALID_RESPONSE"),
        (asked["request_id"], {}, "HITL_INVALID_RESPONSE"),
        (asked["request_id"], {"answer": "A", "typo": 1}, "HITL_INVALID_RESPONSE"),
        (asked["request_id"], "A", "HITL_INVALID_RESPONSE"),
        ("clar_00000000", {"answer": "A"}, "HITL_REQUEST_NOT_FOUND"),
        (theirs, {"answer": "A"}, "HITL_FORBIDDEN"),
        (settled, {"answer": "A"}, "HITL_REQUEST_NOT_PENDING"),
        (late, {"answer": "A"}, "HITL_REQUEST_EXPIRED"),
    ]
    with joined(server.url, token) as socket:
        for request_id, response, code in wanted:
            told = socket.respond(request_id, response)
            assert (told["type"], told["request_id"], told["success"]) == ("hitl_ack", request_id, False)
            assert told["error"]["code"] == code
            assert QUESTION["question"] not in json.dumps(told)
        winner = socket.respond(settled, {"answer": "A"})["error"]["details"]
        assert winner.items() >= {"answered_by": "alice", "current_status": "answered", "source": "hitl"}.items()
        assert winner["answered_at"]
        for nobody in (None, 7, {"a": 1}):
            assert codes(socket.respond(nobody, {"answer": "A"})) == ("error", "HITL_INVALID_RESPONSE")
    assert person.look(asked["request_id"])["status"] == "pending"


def test_what_is_not_ones_own_is_not_subscribed_to(server: ServerProcess, bob: ThreadsClient, token: str) -> None:
    theirs = bob.new_thread()
    with joined(server.url, token, conversation_id=theirs) as socket:
        refusal = socket.receive()
        assert (*codes(refusal), refusal["conversation_id"]) == ("error", "HITL_FORBIDDEN", theirs)
        assert codes(socket.subscribe(f"alice-{uuid.uuid4()}")) == ("error", "HITL_REQUEST_NOT_FOUND")
        assert socket.is_alive()


GARBAGE: dict[str, Any] = {
    "no JSON": "hello",
    "nothing": "",
    "binary": b"\xff\xfe\x00",
    "no bytes": b"",
    "a list": [],
    "a number": 1e999,
    "null": "null",
    "a text": '"subscribe"',
    "no type": {},
    "an unknown type": {"type": "explode"},
    "a type that is no text": {"type": ["subscribe"]},
    "a hidden method": {"type": "__class__"},
    "deep": "[" * 100_000,
    "deep and right": '{"type":' + '{"a":' * 5_000 + "1" + "}" * 5_001,
    "a long number": '{"type": ' + "9" * 10_000 + "}",
    "no conversation": {"type": "subscribe"},
    "a conversation that is no text": {"type": "subscribe", "conversation_id": {"a": 1}},
    "half a character": r'{"type": "subscribe", "conversation_id": "\ud800"}',
    "a NUL": r'{"type": "subscribe", "conversation_id": "a\u0000b"}',
    "half a character in a type": r'{"type": "\udfff"}',
    "as large as may be": {"type": "x" * (MIB - 12)},
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE.keys())
def test_what_is_not_understood_is_told_and_the_connection_stays(
    server: ServerProcess, token: str, asked: dict[str, Any], garbage: Any
) -> None:
    with joined(server.url, token, conversation_id=asked["conversation_id"]) as socket:
        socket.until("hitl_event")
        told = socket.ask(garbage)
        assert told["type"] == "error"
        assert told["error"].keys() >= {"code", "message"}
        assert told["error"]["code"] in ("HITL_INVALID_RESPONSE", "HITL_REQUEST_NOT_FOUND")
        assert socket.respond(asked["request_id"], {"answer": "A"})["success"]


@pytest.mark.parametrize("half", [r"\ud800", r"\udfff\ud800", r"\u0000"])
def test_a_reply_that_no_database_could_hold_breaks_nothing(
    server: ServerProcess, person: HitlClient, token: str, half: str
) -> None:
    asked = person.ask("clarification", {"question": "Anything?", "options": []})
    with joined(server.url, token, conversation_id=asked["conversation_id"]) as socket:
        socket.until("hitl_event")
        socket.send(f'{{"type": "hitl_respond", "request_id": "{half}", "response": {{}}}}')
        assert socket.receive()["error"]["code"] == "HITL_REQUEST_NOT_FOUND"
        request_id = asked["request_id"]
        socket.send(f'{{"type": "hitl_respond", "request_id": "{request_id}", "response": {{"answer": "a{half}b"}}}}')
        told = [socket.receive(), socket.receive()]
        assert {one["type"] for one in told} == {"hitl_event", "hitl_ack"}
        assert socket.is_alive()


def test_a_message_that_is_too_large_closes_with_1009(server: ServerProcess, token: str) -> None:
    with joined(server.url, token) as socket:
        socket.send("x" * (MIB + 1))
        assert socket.until_closed()[0] == 1009


def test_a_handshake_without_a_credential_that_holds_is_refused(server: ServerProcess, token: str) -> None:
    for credential in (None, "ms_sk_" + "0" * 64, token + "x"):
        status, body = refused(server.url, credential)
        assert (status, body["success"], body["error"]["code"]) == (401, False, "HITL_UNAUTHORIZED")
    for credential in (token, "x"):
        assert refused(server.url, None, token=credential)[0] == 401
        assert refused(server.url, None, ticket=credential)[0] == 401


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_a_page_of_another_site_gets_no_socket(server: ServerProcess, token: str, origin: str) -> None:
    status, body = refused(server.url, token, headers={"origin": origin})
    assert (status, body["success"], body["error"]["code"]) == (403, False, "HITL_FORBIDDEN")


def test_a_page_of_the_server_itself_gets_one(server: ServerProcess, token: str) -> None:
    with joined(server.url, token, headers={"origin": server.url}) as socket:
        assert socket.is_alive()


def test_a_handshake_with_another_host_is_refused(server: ServerProcess, token: str) -> None:
    status, body = refused(server.url, token, host="evil.example")
    assert (status, body["success"], body["error"]["code"]) == (403, False, "HITL_FORBIDDEN")


def test_a_ticket_opens_one_socket(
    server: ServerProcess, person: HitlClient, alice: ThreadsClient, asked: dict[str, Any]
) -> None:
    ticket = alice.http.post("/api/v1/tickets").json()["ticket"]
    with joined(server.url, None, ticket=ticket, conversation_id=asked["conversation_id"]) as socket:
        assert socket.until("hitl_event")[-1]["request_id"] == asked["request_id"]
        assert socket.respond(asked["request_id"], {"answer": "A"})["success"]
    assert refused(server.url, None, ticket=ticket)[0] == 401


def test_an_agents_key_is_told_of_its_own_and_never_answers(
    server: ServerProcess, person: HitlClient, asked: dict[str, Any]
) -> None:
    key = person.new_key("listening", "agent")["key"]
    with HitlClient(server.url, key) as agent:
        own = agent.ask("clarification", QUESTION)
    with joined(server.url, key, conversation_id=own["conversation_id"]) as socket:
        assert socket.until("hitl_event")[-1]["request_id"] == own["request_id"]
        assert codes(socket.subscribe(asked["conversation_id"])) == ("error", "HITL_FORBIDDEN")
        for one in (own, asked):
            refusal = socket.respond(one["request_id"], {"answer": "A"})
            assert (refusal["success"], refusal["error"]["code"]) == (False, "HITL_FORBIDDEN")
        person.respond(own["request_id"], {"answer": "B"})
        assert socket.receive()["data"]["response"] == {"answer": "B"}
    assert person.look(asked["request_id"])["status"] == "pending"


@pytest.mark.parametrize("subscribed", [True, False])
def test_a_revoked_key_closes_its_sockets(
    server: ServerProcess, person: HitlClient, token: str, asked: dict[str, Any], subscribed: bool
) -> None:
    key = person.new_key(f"revoked-{subscribed}")
    first = asked["conversation_id"] if subscribed else None
    with joined(server.url, key["key"], conversation_id=first) as socket, joined(server.url, token) as other:
        assert socket.is_alive()
        person.http.delete(f"/api/v1/keys/{key['id']}").raise_for_status()
        revoked = time.monotonic()
        told = socket.respond(asked["request_id"], {"answer": "A"})
        assert (told["success"], told["error"]["code"]) == (False, "HITL_UNAUTHORIZED")
        assert socket.until_closed() == (1008, [])
        assert time.monotonic() - revoked < NOTICED_SECONDS
        assert other.is_alive()
    assert person.look(asked["request_id"])["status"] == "pending"


def test_a_deleted_conversation_ends_its_subscription_and_no_other(
    server: ServerProcess, person: HitlClient, alice: ThreadsClient, token: str, asked: dict[str, Any]
) -> None:
    thread_id = alice.new_thread()
    alice.chat(thread_id, script(calls(("guarded", {"name": "deleted"}))))
    with joined(server.url, token, conversation_id=thread_id) as socket:
        socket.until("hitl_event")
        socket.subscribe(asked["conversation_id"])
        socket.receive()
        alice.http.delete(f"/api/sessions/{thread_id}").raise_for_status()
        ended = [socket.receive(), socket.receive()]
        assert [one.get("event_type", one["type"]) for one in ended] == ["request_cancelled", "unsubscribed"]
        assert socket.respond(asked["request_id"], {"answer": "A"})["success"]
