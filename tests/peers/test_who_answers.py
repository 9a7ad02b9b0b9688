"""Faults of other systems in who may say yes, and in what is on record of it."""

import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.hitl import PERMISSION, HitlClient, of
from tests.support.people import People

Ask = Callable[..., tuple[str, str]]


@pytest.fixture
def ask(people: People) -> Ask:
    """Alice asks, from a program; the conversation and the request."""

    def ask(**needs: Any) -> tuple[str, str]:
        with of(people.named("alice")) as asking:
            asked = asking.ask("permission", PERMISSION, needs=needs)
        return asked["conversation_id"], asked["request_id"]

    return ask


def yes(people: People, name: str, request_id: str) -> httpx.Response:
    with of(people.named(name)) as person:
        return person.try_respond(request_id, {"granted": True})


@pytest.mark.promise("P19")
def test_somebody_can_be_named_and_nobody_else_approves(people: People, ask: Ask) -> None:
    """dify 42496, dust 28508 and 26605, langgraph 8026: whoever had the page could say yes, and whoever resumed the
    graph could write any name into the record."""
    names = [f"{name}-{uuid.uuid4().hex[:8]}" for name in ("approver", "other")]
    approver, other = names
    for name in names:
        people.named(name)
    conversation_id, request_id = ask(**{"from": [f"person:{approver}"]})
    for name in (other, "alice", "root"):
        assert yes(people, name, request_id).status_code in (403, 404), name
    # Nor does a name in the reply count: who answers is who is signed in.
    with of(people.named(approver)) as person:
        claimed = {"granted": True, "reason": "by root", "answered_by": "root"}
        person.try_respond(request_id, claimed)
        person.try_respond(request_id, {"granted": True})

    with of(people.named("alice")) as asking:
        assert (asking.look(request_id)["status"], asking.look(request_id)["answered_by"]) == ("answered", approver)
        [entry] = asking.audit(conversation_id, "request.answered")
    assert entry["actor"] == approver
    assert entry["data"]["value"]["decision"] == "accept"


@pytest.mark.promise("P18")
def test_two_people_are_needed_and_one_of_them_twice_is_one(people: People, ask: Ask) -> None:
    """awaithumans 76, Steward 205, paperclip 1061: the first yes settled it, and there was no way to want two."""
    members = [f"member-{uuid.uuid4().hex[:8]}" for _ in range(3)]
    root = people.named("root").http
    for name in members:
        people.named(name)
    group = f"g{uuid.uuid4().hex[:8]}"
    root.post("/api/v1/groups", json={"name": group, "members": members}).raise_for_status()
    conversation_id, request_id = ask(people=2, **{"from": [f"group:{group}"]})
    first, second, third = members
    for _ in range(2):
        assert yes(people, first, request_id).json()["data"]["votes"] == {"yes": 1, "needed": 2}
    with of(people.named(first)) as person:
        key = HitlClient(str(person.http.base_url), person.new_key("another credential")["key"])
    with key:
        assert key.respond(request_id, {"granted": True})["votes"] == {"yes": 1, "needed": 2}
    assert yes(people, second, request_id).json()["data"]["status"] == "answered"
    assert yes(people, third, request_id).status_code == 400

    with of(people.named("alice")) as asking:
        assert asking.look(request_id)["answered_by"] == f"{first}, {second}"
        assert len(asking.audit(conversation_id, "request.answered")) == 1
