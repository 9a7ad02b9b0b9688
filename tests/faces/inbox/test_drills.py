"""Drills on a running server: like any request to their person until they are answered, and nothing to anybody else."""

import json
import uuid
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from tests.support.hitl import HitlClient, of
from tests.support.http import client as http_client
from tests.support.inbox import INBOX, answer, view
from tests.support.people import People
from tests.support.receiver import Receiver
from tests.support.server import ServerProcess
from tests.support.threads import Frame, ThreadsClient, bounded, parse
from tests.support.waiting import WAIT_SECONDS, wait_for

pytestmark = pytest.mark.promise("P25")

CALL: dict[str, Any] = {"tool_name": "Bash", "args": {"command": "ls"}, "risk_level": "medium"}
ENOUGH = 200
"""Answers: with one drill for each on average, no burst follows that many once in 10^35 times."""


@pytest.fixture(scope="module")
def receiver() -> Generator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    environment = {
        "INTERLOCK_DRILLS": "1",
        "INTERLOCK_LOCALE": "en",
        "INTERLOCK_WEBHOOK_HOSTS": "127.0.0.1",
        "INTERLOCK_WEBHOOK_PRIVATE": "on",
    }
    process = ServerProcess(tmp_path_factory.mktemp("drills"), environment=environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="module")
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        yield registered


@pytest.fixture(scope="module")
def admin(people: People) -> ThreadsClient:
    return people.named("root")


@pytest.fixture(scope="module")
def ann(people: People, admin: ThreadsClient) -> ThreadsClient:
    return people.named("ann")


@pytest.fixture(scope="module")
def agent(ann: ThreadsClient) -> Iterator[HitlClient]:
    with of(ann) as owner, HitlClient(str(ann.http.base_url), owner.new_key("worker", "agent")["key"]) as client:
        yield client


def listed(person: ThreadsClient, **query: Any) -> list[dict[str, Any]]:
    return person.http.get(INBOX, params={"limit": 200, **query}).raise_for_status().json()["requests"]


def put_to_the_test(ann: ThreadsClient, agent: HitlClient) -> tuple[dict[str, Any], dict[str, Any]]:
    """The page of a real request as it was before its answer, and the entry of a drill that came after it."""
    for _ in range(ENOUGH):
        real = view(ann, agent.ask("permission", CALL)["request_id"])
        answer(ann, real, {"decision": "accept"}).raise_for_status()
        if found := listed(ann, drills=True):
            return real, found[0]
    raise AssertionError("no drill came")


def test_a_drill_is_like_a_request_until_it_is_answered_and_nobody_else_meets_it(
    ann: ThreadsClient, admin: ThreadsClient, agent: HitlClient, server: ServerProcess, receiver: Receiver
) -> None:
    hook = {"url": receiver.url, "events": ["request.asked", "request.settled"]}
    admin.http.post("/api/v1/webhooks", json=hook).raise_for_status()
    real, drill = put_to_the_test(ann, agent)
    drill_id = drill["request_id"]
    shown = view(ann, drill_id)
    assert shown.keys() == real.keys()
    alike = (
        "kind",
        "agent",
        "tool",
        "risk",
        "owner",
        "outside",
        "status",
        "display_name",
        "allowed",
        "drill",
        "in_doubt",
    )
    assert {name: shown[name] for name in alike} == {name: real[name] for name in alike}
    assert "drill" not in json.dumps({name: one for name, one in shown.items() if name != "drill"}).lower()
    path = f"{INBOX}/requests/{drill_id}"
    for reading in ("similar", "explain"):
        assert ann.http.get(f"{path}/{reading}").status_code == 200
    assert ann.http.post(f"{INBOX}/looking", json={"request_id": drill_id}).status_code == 200
    # Nobody else, and no client that has not asked for drills.
    assert listed(ann) == []
    assert listed(admin, drills=True) == []
    for other in (admin.http, agent.http):
        assert other.get(path).status_code == 404
    with of(ann) as owner:
        assert owner.everything()["pending_requests"] == []
        assert owner.try_respond(drill_id, {"granted": True}).status_code == 404
    assert agent.everything()["pending_requests"] == []
    history = ann.http.get("/api/v1/history").json()["entries"]
    key = str(uuid.uuid4())
    told = answer(ann, shown, {"decision": "accept"}, key=key, dwell_ms=5).raise_for_status().json()
    assert (told["status"], told["drill"]["caught"]) == ("answered", False)
    assert answer(ann, shown, {"decision": "accept"}, key=key, dwell_ms=5).json() == told
    after = view(ann, drill_id)
    assert (after["status"], after["answered_by"], after["drill"]) == ("answered", "ann", told["drill"])
    assert answer(ann, shown, {"decision": "reject"}).json()["code"] == "already_settled"
    assert ann.http.get("/api/v1/history").json()["entries"] == history
    week = ann.http.get("/api/v1/figures", params={"weeks": 1}).json()["people"][0]["weeks"][0]
    assert (week["drills"], week["drills_caught"]) == (1, 0)
    entries = admin.http.get("/api/v1/audit", params={"action": "drill.answered"}).raise_for_status().json()["entries"]
    assert [one["data"]["drill_id"] for one in entries] == [drill_id]
    # What was delivered is of real requests alone: one more is asked, so that whatever came before it has arrived.
    last = agent.ask("permission", {**CALL, "args": {"command": "last"}})["request_id"]
    received = wait_for(lambda: json.dumps([one.json for one in receiver.received]), lambda text: last in text)
    assert drill_id not in received


def test_a_page_is_told_of_drills_as_of_requests(people: People, ann: ThreadsClient) -> None:
    bob = people.named("bob")
    with (
        of(bob) as owner,
        HitlClient(str(bob.http.base_url), owner.new_key("other", "agent")["key"]) as asking,
        http_client(bob.http.base_url, headers=bob.http.headers, timeout=WAIT_SECONDS) as http,
        http.stream("GET", f"{INBOX}/stream", params={"drills": True}) as response,
    ):
        frames = parse(bounded(response.iter_lines()))
        assert next(frames).event == "hello"
        _, drill = put_to_the_test(bob, asking)
        drill_id = drill["request_id"]
        assert of_drill(frames, "asked", drill_id)["headline"] == drill["headline"]
        headers = {"idempotency-key": str(uuid.uuid4())}
        cancelled = bob.http.post(f"{INBOX}/requests/{drill_id}/cancel", json={}, headers=headers)
        assert cancelled.json()["drill"]["caught"] is True
        assert of_drill(frames, "settled", drill_id)["status"] == "cancelled"


def of_drill(frames: Iterator[Frame], event: str, drill_id: str) -> dict[str, Any]:
    return next(one.data for one in frames if one.event == event and one.data["request_id"] == drill_id)
