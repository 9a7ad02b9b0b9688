"""`GET /api/v1/agent/stream`: named events, first what is pending and then what comes, without a gap or a repeat."""

import asyncio
import time
import uuid
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest

from interlock.bootstrap import application
from interlock.config import Config
from interlock.faces.hitl import streaming
from interlock.faces.http import watching
from interlock.faces.http.credentials import authenticate
from interlock.faces.http.sse import KEEP_ALIVE
from interlock.services.requests import pending
from interlock.services.threads import following, threads
from tests.support.asgi import request_to
from tests.support.hitl import AGENT, ASKED, QUESTION, SEVERAL, HitlClient, error_of
from tests.support.puppet import Call, calls, script
from tests.support.server import ServerProcess
from tests.support.threads import Frame, ThreadsClient, bounded, parse
from tests.support.waiting import NOTICED_SECONDS

# The events of the face's source document, field by field.
NAMES = {
    "clarification": ("clarification_asked", "clarification_answered"),
    "decision": ("decision_asked", "decision_answered"),
    "env_var": ("env_var_requested", "env_var_provided"),
    "permission": ("permission_asked", "permission_replied"),
}
FIELDS = {
    "clarification": {"question", "options", "allow_custom", "default_answer", "timeout_seconds"},
    "decision": {"decision_type", "title", "description", "options", "risks", "timeout_seconds"},
    "env_var": {"fields", "allow_save", "timeout_seconds"},
    "permission": {
        "tool_name",
        "tool_display_name",
        "action",
        "risk_level",
        "description",
        "allow_remember",
        "timeout_seconds",
    },
}
GUARDED: tuple[Call, ...] = tuple(("guarded", {"name": f"streamed-{number}"}) for number in range(3))


def take(frames: Iterator[Frame], count: int) -> list[Frame]:
    return list(islice(frames, count))


def named(frames: list[Frame]) -> list[tuple[str, str]]:
    return [(frame.event, frame.data["request_id"]) for frame in frames]


@pytest.mark.parametrize(("kind", "data", "response"), ASKED.values(), ids=ASKED.keys())
def test_every_kind_has_its_two_events(
    person: HitlClient, kind: str, data: dict[str, Any], response: dict[str, Any]
) -> None:
    conversation = person.ask("clarification", QUESTION)["conversation_id"]
    with person.events(conversation) as frames:
        take(frames, 1)
        asked = person.ask(kind, data, conversation_id=conversation)
        person.respond(asked["request_id"], response)
        first, second = take(frames, 2)
    assert (first.event, second.event) == NAMES[kind]
    for frame in (first, second):
        assert frame.data.keys() == {"type", "request_id", "conversation_id", "data"}
        assert frame.data["type"] == frame.event
        assert frame.data["request_id"] == asked["request_id"]
        assert frame.data["conversation_id"] == conversation
    assert first.data["data"].keys() >= FIELDS[kind]
    assert first.data["data"].items() >= asked["request_data"].items()
    assert first.data["data"]["timeout_seconds"] == 300
    told = second.data["data"]
    assert told.keys() >= {"response", "answered_at", "answered_by", "source"}
    settled = person.look(asked["request_id"])
    assert told.items() >= {name: settled[name] for name in ("response", "answered_at", "source")}.items()
    assert told["answered_by"] == "alice"


def test_a_request_that_nobody_answered_says_so(person: HitlClient) -> None:
    asked = person.ask("clarification", QUESTION)
    conversation = asked["conversation_id"]
    with person.events(conversation) as frames:
        take(frames, 1)
        person.try_cancel(asked["request_id"], reason="no longer needed")
        (cancelled,) = take(frames, 1)
        late = person.ask(
            "clarification", QUESTION | {"default_answer": "B"}, timeout_seconds=0.05, conversation_id=conversation
        )
        _, expired = take(frames, 2)
    assert (cancelled.event, cancelled.data["data"]["reason"]) == ("request_cancelled", "no longer needed")
    assert cancelled.data["data"].items() >= {"response": None, "answered_by": "alice"}.items()
    assert (expired.event, expired.data["request_id"]) == ("request_expired", late["request_id"])
    assert expired.data["data"].items() >= {"response": {"answer": "B"}, "source": "deadline"}.items()


def test_what_is_pending_comes_first_under_its_own_ids_and_then_what_comes(person: HitlClient) -> None:
    first = person.ask("clarification", QUESTION)
    conversation = first["conversation_id"]
    settled = person.ask("clarification", QUESTION, conversation_id=conversation)
    second = person.ask("clarification", SEVERAL, conversation_id=conversation)
    person.respond(settled["request_id"], {"answer": "A"})
    with person.events(conversation, last="0") as frames:
        whole = take(frames, 4)
    with person.events(conversation) as frames:
        assert take(frames, 2) == [whole[0], whole[2]]
        assert named([whole[0], whole[2]]) == [("clarification_asked", one["request_id"]) for one in (first, second)]
        person.respond(first["request_id"], {"answer": "B"})
        assert named(take(frames, 1)) == [("clarification_answered", first["request_id"])]


def test_every_event_can_be_gone_on_from(person: HitlClient) -> None:
    conversation = person.ask("clarification", QUESTION)["conversation_id"]
    for kind, data, response in ASKED.values():
        asked = person.ask(kind, data, conversation_id=conversation)
        person.respond(asked["request_id"], response)
    with person.events(conversation, last="0") as frames:
        whole = take(frames, 11)
    assert all(frame.id is not None for frame in whole)
    for index, frame in enumerate(whole[:-1]):
        with person.events(conversation, last=frame.id) as frames:
            assert take(frames, 10 - index) == whole[index + 1 :]


def test_every_request_of_one_pause_can_be_gone_on_from(person: HitlClient, alice: ThreadsClient) -> None:
    thread_id = alice.new_thread()
    alice.chat(thread_id, script(calls(*GUARDED)))
    with person.events(thread_id) as frames:
        whole = take(frames, 3)
        assert [frame.data["data"]["args"] for frame in whole] == [call[1] for call in GUARDED]
        assert len({frame.id for frame in whole}) == 3
        for index, frame in enumerate(whole[:-1]):
            with person.events(thread_id, last=frame.id) as rest:
                assert take(rest, 2 - index) == whole[index + 1 :]
        person.respond(whole[1].data["request_id"], {"granted": False, "reason": "no"})
        (refused,) = take(frames, 1)
    assert refused.data["data"]["response"] == {"granted": False, "reason": "no"}
    with person.events(thread_id) as frames:
        left = take(frames, 2)
    assert [frame.data for frame in left] == [whole[0].data, whole[2].data]
    with person.events(thread_id, last=left[0].id) as frames:
        assert take(frames, 3) == [whole[1], whole[2], refused]


def test_a_client_that_has_heard_nothing_knows_where_to_go_on(person: HitlClient, alice: ThreadsClient) -> None:
    thread_id = alice.new_thread()
    with streamed(person, thread_id) as response:
        beginning = "".join(islice(response.iter_text(), 1))
    assert beginning.startswith("id: ")
    alice.chat(thread_id, script(calls(GUARDED[0])))
    with person.events(thread_id, last=beginning.removeprefix("id: ").strip()) as frames:
        assert take(frames, 1)[0].event == "permission_asked"


def test_an_id_that_the_log_has_not_reached_hides_nothing(person: HitlClient) -> None:
    asked = person.ask("clarification", QUESTION)
    with person.events(asked["conversation_id"], last="123456789") as frames:
        assert named(take(frames, 1)) == [("clarification_asked", asked["request_id"])]


@pytest.mark.parametrize("last", ["x", "-1", "1.x", "1.2.3", "9" * 19, "１"])
def test_an_id_that_is_none_is_refused(person: HitlClient, last: str) -> None:
    conversation = person.ask("clarification", QUESTION)["conversation_id"]
    headers = {b"last-event-id": last.encode()}
    refusal = person.http.get(f"{AGENT}/stream", params={"conversation_id": conversation}, headers=headers)
    (error,) = error_of(refusal, 400, "HITL_INVALID_RESPONSE", "INVALID_REQUEST")["errors"]
    assert error["field"] == "Last-Event-ID"


def test_what_is_not_ones_own_is_forbidden_and_what_is_not_there_is_not_found(
    person: HitlClient, other: HitlClient, agent: HitlClient, server: ServerProcess
) -> None:
    conversation = person.ask("clarification", QUESTION)["conversation_id"]

    def get(client: HitlClient, **query: str) -> httpx.Response:
        return client.http.get(f"{AGENT}/stream", params=query)

    for stranger in (other, agent):
        refusal = get(stranger, conversation_id=conversation)
        assert "alias" not in error_of(refusal, 403, "HITL_FORBIDDEN")
        assert conversation not in refusal.text
    missing = get(person, conversation_id=f"alice-{uuid.uuid4()}")
    error_of(missing, 404, "HITL_REQUEST_NOT_FOUND", "REQUEST_NOT_FOUND")
    error_of(get(person), 400, "HITL_INVALID_RESPONSE", "INVALID_REQUEST")
    with HitlClient(server.url, "nothing") as nobody:
        error_of(get(nobody, conversation_id=conversation), 401, "HITL_UNAUTHORIZED")


def test_an_agents_key_hears_what_became_of_its_own(person: HitlClient, agent: HitlClient) -> None:
    asked = agent.ask("clarification", QUESTION)
    with agent.events(asked["conversation_id"]) as frames:
        take(frames, 1)
        person.respond(asked["request_id"], {"answer": "B"})
        assert take(frames, 1)[0].data["data"]["response"] == {"answer": "B"}


def test_a_ticket_in_the_address_opens_one_stream(person: HitlClient, server: ServerProcess) -> None:
    asked = person.ask("clarification", QUESTION)
    ticket = person.http.post("/api/v1/tickets").raise_for_status().json()["ticket"]
    query = {"conversation_id": asked["conversation_id"], "ticket": ticket}
    with server.client() as http:
        with http.stream("GET", f"{AGENT}/stream", params=query) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            frames = parse(bounded(response.iter_lines()))
            assert take(frames, 1)[0].data["request_id"] == asked["request_id"]
        error_of(http.get(f"{AGENT}/stream", params=query), 401, "HITL_UNAUTHORIZED")


def test_a_sensitive_value_is_never_shown(person: HitlClient) -> None:
    value = f"s3cret-{uuid.uuid4()}"
    asked = person.ask("env_var", {"fields": [{"name": "KEY"}, {"name": "REGION", "sensitive": False}]})
    with person.events(asked["conversation_id"]) as frames:
        person.respond(asked["request_id"], {"values": {"KEY": value, "REGION": "eu"}, "save": True})
        told = take(frames, 2)
    assert told[1].data["data"]["response"] == {"values": {"KEY": "***", "REGION": "eu"}, "save": True}
    assert value not in str(told)


def streamed(client: HitlClient, conversation_id: str) -> Any:
    return client.http.stream("GET", f"{AGENT}/stream", params={"conversation_id": conversation_id})


def test_a_revoked_key_ends_its_stream(person: HitlClient, server: ServerProcess) -> None:
    asked = person.ask("clarification", QUESTION)
    key = person.new_key("to be revoked")
    with HitlClient(server.url, key["key"]) as brief, brief.events(asked["conversation_id"]) as frames:
        take(frames, 1)
        person.http.delete(f"/api/v1/keys/{key['id']}").raise_for_status()
        revoked = time.monotonic()
        assert list(frames) == []
        assert time.monotonic() - revoked < NOTICED_SECONDS


def test_a_deleted_conversation_ends_its_streams(person: HitlClient, alice: ThreadsClient) -> None:
    thread_id = alice.new_thread()
    alice.chat(thread_id, script(calls(GUARDED[0])))
    with person.events(thread_id) as frames:
        (asked,) = take(frames, 1)
        alice.http.delete(f"/api/sessions/{thread_id}").raise_for_status()
        assert named(list(frames)) == [("request_cancelled", asked.data["request_id"])]
    refusal = person.http.get(f"{AGENT}/stream", params={"conversation_id": thread_id})
    error_of(refusal, 404, "HITL_REQUEST_NOT_FOUND", "REQUEST_NOT_FOUND")


async def test_a_silent_stream_says_that_it_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (following, watching):
        monkeypatch.setattr(module, "IDLE_SECONDS", 0.02)
    monkeypatch.setattr(watching, "KEEP_ALIVE_SECONDS", 0.1)
    async with application(Config(data=tmp_path, auth="none")) as built, asyncio.timeout(60):
        core = built.state.core
        request = request_to(built.app)
        principal = await authenticate(request)
        thread = await threads.create_thread(core, principal)
        standing = await pending.open_requests_of(core, principal, thread.id)
        assert standing is not None
        frames = streaming._frames(request, standing, None)  # pyright: ignore[reportPrivateUsage]
        assert [await anext(frames) for _ in range(3)] == [b"id: 1\n\n", KEEP_ALIVE, KEEP_ALIVE]
        await frames.aclose()
