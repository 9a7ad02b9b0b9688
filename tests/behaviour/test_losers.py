"""Whoever comes second is told who was first, when, from where and with what: on every face, however it ended."""

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from typer.testing import CliRunner

from interlock_client import AlreadySettled, SyncInterlock
from interlock_client.cli.main import app
from interlock_client.confirm import SystemEvents
from tests.behaviour.test_questions import KEY
from tests.support import confirm, hitl, inbox, sessions
from tests.support.hitl import HitlClient
from tests.support.people import People
from tests.support.puppet import Call, calls
from tests.support.sessions import SessionsClient
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for

pytestmark = pytest.mark.promise("P2")

SECRET = "s3cr3t-v4lue-of-a-token"
MOST_EVENTS = 40
_numbers = count(1)


@dataclass
class Place:
    """Somebody's session, and an admin who ends what is asked there."""

    owner: ThreadsClient
    user: SessionsClient
    boss: HitlClient

    def ask(self, call: Call) -> str:
        response = self.user.invoke(calls(call))
        if response["status"] == "interrupted":
            return response["interrupt_data"]["request_id"]
        # It has expired before it could be told.
        return self.owner.http.get("/api/v1/history").raise_for_status().json()["entries"][0]["request_id"]


@pytest.fixture
def place(people: People) -> Generator[Place]:
    owner = people.named(f"second-{next(_numbers)}")
    user = sessions.of(owner)
    with hitl.of(people.named("root")) as boss:
        yield Place(owner, user, boss)
    user.close()


def guarded(place: Place) -> Call:
    return "guarded", {"name": place.owner.username}


def answered(place: Place) -> str:
    request_id = place.ask(guarded(place))
    place.boss.respond(request_id, {"granted": False, "reason": "not today"})
    return request_id


def cancelled(place: Place) -> str:
    request_id = place.ask(guarded(place))
    assert place.boss.try_cancel(request_id, reason="no longer needed").status_code == 200
    return request_id


def expired(place: Place) -> str:
    return place.ask(("hurried", {"seconds": 0.5}))


def defaulted(place: Place) -> str:
    return place.ask(("hurried", {"seconds": 0.5, "default": "no"}))


def granted(place: Place) -> str:
    first = place.ask(guarded(place))
    response = {"granted": True, "remember": True, "scope": "this_tool", "duration": "session"}
    place.boss.respond(first, response)
    place.user.wait_for("completed")
    assert place.user.invoke(calls(guarded(place)))["status"] == "completed"
    entries = place.boss.audit(place.user.session_id, "request.answered")
    return next(one["data"]["request_id"] for one in entries if one["data"]["source"] == "grant")


def given_in_confidence(place: Place) -> str:
    request_id = place.ask(KEY)
    place.boss.respond(request_id, {"values": {"TOKEN": SECRET, "REGION": "eu"}})
    return request_id


End = Callable[[Place], str]
BY_NOBODY = {"answered_by": None, "source": "deadline", "answer": None, "reason": "nobody answered"}
ENDS: dict[End, dict[str, Any]] = {
    answered: {
        "current_status": "answered",
        "answered_by": "root",
        "source": "hitl",
        "answer": {"decision": "reject", "message": "not today"},
        "reason": None,
    },
    cancelled: {
        "current_status": "cancelled",
        "answered_by": "root",
        "source": "hitl",
        "answer": None,
        "reason": "no longer needed",
    },
    expired: {"current_status": "expired", **BY_NOBODY},
    defaulted: {"current_status": "expired", **BY_NOBODY, "answered_by": "system", "answer": {"answer": "no"}},
    granted: {
        "current_status": "answered",
        "answered_by": "root",
        "source": "grant",
        "answer": {"decision": "accept"},
        "reason": None,
    },
    given_in_confidence: {
        "current_status": "answered",
        "answered_by": "root",
        "source": "hitl",
        "answer": {"values": {"TOKEN": "***", "REGION": "***"}, "save": False},
        "reason": None,
    },
}


RESPONSES: dict[str, dict[str, Any]] = {
    "perm": {"granted": True},
    "clar": {"answer": "yes"},
    "envv": {"values": {"TOKEN": "t"}},
}


def token_of(person: ThreadsClient) -> str:
    return person.http.headers["authorization"].removeprefix("Bearer ")


def on_threads(person: ThreadsClient, place: Place, request_id: str) -> Any:
    return person.resume(place.user.session_id, "cancel", request_id=request_id).body


def on_hitl(person: ThreadsClient, place: Place, request_id: str) -> Any:
    with hitl.of(person) as client:
        return client.try_cancel(request_id).json()["error"]["details"]


def on_hitl_with_an_answer(person: ThreadsClient, place: Place, request_id: str) -> Any:
    with hitl.of(person) as client:
        response = RESPONSES[request_id.partition("_")[0]]
        return client.try_respond(request_id, response).json()["error"]["details"]


def on_hitl_for_more_time(person: ThreadsClient, place: Place, request_id: str) -> Any:
    with hitl.of(person) as client:
        return client.post(f"requests/{request_id}/extend", {"seconds": 60}).json()["error"]["details"]


def in_the_inbox(person: ThreadsClient, place: Place, request_id: str) -> Any:
    path = f"{inbox.INBOX}/requests/{request_id}/answer"
    body = {"value": {"decision": "accept"}, "digest": "whatever"}
    return person.http.post(path, json=body, headers={"idempotency-key": f"late-{next(_numbers)}"}).json()


def in_the_inbox_without_an_answer(person: ThreadsClient, place: Place, request_id: str) -> Any:
    path = f"{inbox.INBOX}/requests/{request_id}/cancel"
    return person.http.post(path, json={}, headers={"idempotency-key": f"late-{next(_numbers)}"}).json()


def on_sessions(person: ThreadsClient, place: Place, request_id: str) -> Any:
    late = sessions.of(person)
    late.session_id = place.user.session_id
    try:
        return late.try_resume("reject", {"request_id": request_id}, user_id=place.user.user_id).json()
    finally:
        late.close()


def on_confirm(person: ThreadsClient, place: Place, request_id: str) -> Any:
    """Steps are numbered by the log, so one that nobody was shown is found by trying."""
    told: dict[str, Any] = {}
    with confirm.of(person) as client:
        for number in range(1, MOST_EVENTS):
            for name in ("guarded", "clarification", "env_var"):
                client.refuse(f"step_{number}_confirm_{name}", session_id=place.user.session_id)
                told = client.wait_for(SystemEvents.ERROR)["metadata"]
                if told.get("request_id") == request_id or told["error_type"] == "forbidden":
                    return told
    return told


def with_the_python_client(person: ThreadsClient, place: Place, request_id: str) -> Any:
    with SyncInterlock(str(person.http.base_url), token=token_of(person), patience=0) as client:
        try:
            client.cancel(request_id)
        except AlreadySettled as late:
            attributes = ("answered_by", "answered_at", "source", "answer", "reason")
            return {**late.details} | {name: getattr(late, name) for name in attributes}
        except Exception as error:
            return getattr(error, "details", {})
    raise AssertionError("it was taken")


FACES = [
    on_threads,
    on_hitl,
    on_hitl_with_an_answer,
    on_hitl_for_more_time,
    in_the_inbox,
    in_the_inbox_without_an_answer,
    on_sessions,
    on_confirm,
    with_the_python_client,
]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_who_comes_second_is_told_who_when_from_where_and_with_what(people: People, place: Place, end: End) -> None:
    request_id = end(place)
    ended = wait_for(lambda: place.boss.look(request_id), lambda seen: seen["status"] != "pending")
    expected = {**ENDS[end], "request_id": request_id, "answered_at": ended["answered_at"]}
    assert expected["answered_at"]
    holes: dict[str, Any] = {}
    for face in FACES:
        told = face(place.owner, place, request_id)
        if {name: told.get(name, "nothing") for name in expected} != expected or SECRET in json.dumps(told):
            holes[face.__name__] = told
    assert holes == {}


@pytest.mark.parametrize("end", [answered, cancelled], ids=lambda end: end.__name__)
def test_who_names_nothing_and_comes_second_is_told_the_same(place: Place, end: End) -> None:
    request_id = end(place)
    place.user.wait_for("completed")
    expected = {**ENDS[end], "request_id": request_id, "code": "nothing_pending"}
    answer = {"assistant_id": "puppet", "command": {"resume": {"decisions": [{"type": "approve"}]}}}
    late = {
        "threads": place.owner.resume(place.user.session_id, "continue").body,
        "langgraph": place.owner.http.post(f"/threads/{place.user.session_id}/runs/wait", json=answer).json(),
        "sessions": place.user.try_resume("reject").json(),
    }
    assert {face: {name: told.get(name) for name in expected} for face, told in late.items()} == {
        face: expected for face in late
    }


def test_who_may_not_see_the_request_learns_nothing(people: People, place: Place) -> None:
    request_id = answered(place)
    stranger = people.named("stranger")
    for face in FACES:
        told = json.dumps(face(stranger, place, request_id))
        assert not any(word in told for word in ("not today", "answered_by", "root", "current_status")), face.__name__


def test_who_comes_second_in_a_terminal_reads_all_four(place: Place) -> None:
    request_id = answered(place)
    at = wait_for(lambda: place.boss.look(request_id), lambda seen: seen["status"] != "pending")["answered_at"]
    where = ["--url", str(place.owner.http.base_url), "--key", place.boss.new_key("late")["key"]]
    late = CliRunner().invoke(app, ["answer", request_id, "--yes", *where])
    assert late.exit_code == 1
    for part in ("by root through hitl", at, '"decision": "reject"', '"message": "not today"'):
        assert part in late.stderr, late.stderr
