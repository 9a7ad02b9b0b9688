"""Votes and levels where the server is killed in the middle of them: each counts whole, once, or not at all."""

from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import puppet
from tests.support.hitl import HITL
from tests.support.people import People
from tests.support.puppet import calls, says, script
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for
from tests.support.witness import Witness

INBOX, POLICY, GROUPS = "/api/v1/inbox", "/api/v1/policy", "/api/v1/groups"
TWO = '[[rule]]\nname = "two"\ntools = ["guarded"]\nthen = "ask"\npeople = 2\nfrom = ["group:payments"]\n'
LEVELS = (
    '[[rule]]\nname = "level"\ntools = ["guarded"]\nthen = "ask"\nfrom = ["group:payments"]\n'
    'levels = [{from = ["group:leads"], after = 1}, {from = ["person:root"], after = 1}]\n'
)

Restart = Callable[[str], People]


@pytest.fixture
def restart(tmp_path: Path, database_url: str, witness: Witness) -> Generator[Restart]:
    """Start the server, again at the same address, with these failpoints; everybody stays signed in."""
    server = ServerProcess(
        tmp_path / "data", agents=[puppet.SPEC], database=database_url, environment=witness.environment
    )
    known: list[People] = []

    def restart(failpoints: str) -> People:
        if known:
            server.wait_until_dead()
        server.start(failpoints=failpoints)
        if not known:
            server.port = int(server.url.rpartition(":")[2])
            known.append(People(server.url))
        return known[0]

    try:
        yield restart
    finally:
        for people in known:
            people.__exit__()
        server.close()


def save_rule(people: People, rule: str) -> None:
    """And have it count, with the groups that it names."""
    root = people.named("root")
    for group, members in {"payments": ["bob", "cyd"], "leads": ["zoe"]}.items():
        for member in members:
            people.named(member)
        root.http.post(GROUPS, json={"name": group, "members": members}).raise_for_status()
    number = root.http.post(f"{POLICY}/versions", json={"text": rule}).raise_for_status().json()["version"]
    root.http.post(f"{POLICY}/versions/{number}/activate", json={"expected": None}).raise_for_status()


def asked(people: People, rule: str, name: str) -> str:
    """Ann's agent calls what takes the others' yes: the conversation, in which the request waits."""
    ann = people.named("ann")
    save_rule(people, rule)
    thread = ann.new_thread()
    # The first level is due so soon that the server may be killed before it has said all of its reply.
    with suppress(httpx.TransportError):
        ann.chat(thread, script(calls(("guarded", {"name": name})), says("the end")))
    return thread


def pending(people: People, thread: str) -> str:
    found = people.named("ann").http.get(f"/api/v1/agent/hitl/conversations/{thread}/pending").raise_for_status()
    (request,) = found.json()["data"]["pending_requests"]
    return request["request_id"]


def says_yes(http: httpx.Client, request_id: str) -> dict[str, Any]:
    body = {"request_id": request_id, "response": {"granted": True}}
    return http.post("/api/v1/agent/hitl/respond", json=body).raise_for_status().json()["data"]


def view(http: httpx.Client, request_id: str) -> dict[str, Any]:
    return http.get(f"{INBOX}/requests/{request_id}").raise_for_status().json()


@pytest.mark.promise("P18")
def test_a_vote_that_was_not_committed_is_not_counted_and_the_last_one_settles_once(
    restart: Restart, witness: Witness
) -> None:
    people = restart("vote.committing=kill")
    request_id = pending(people, asked(people, TWO, "two people"))
    bob, cyd = people.named("bob").http, people.named("cyd").http
    with pytest.raises(httpx.TransportError):
        says_yes(bob, request_id)

    restart("vote.committing=kill@2")
    assert view(bob, request_id)["people"]["votes"]["yes"] == 0
    assert says_yes(bob, request_id)["votes"] == {"yes": 1, "needed": 2}
    # Killed with the one that would have settled it: nothing of that is so.
    with pytest.raises(httpx.TransportError):
        says_yes(cyd, request_id)

    restart("")
    assert (view(cyd, request_id)["status"], witness.count("two people")) == ("pending", 0)
    assert says_yes(cyd, request_id)["status"] == "answered"
    wait_for(lambda: witness.count("two people"), lambda count: count == 1)
    assert view(bob, request_id)["answered_by"] == "bob, cyd"


def levels_opened(people: People) -> list[tuple[str, int]]:
    """Each that the trail has, with its request."""
    query = {"action": "request.routed", "limit": 100}
    trail = people.named("root").http.get("/api/v1/audit", params=query).raise_for_status().json()["entries"]
    return [(entry["data"]["request_id"], entry["data"]["level"]) for entry in reversed(trail)]


@pytest.mark.promise("P21")
def test_a_level_that_was_not_committed_opens_once_after_it_and_one_that_was_not_again(restart: Restart) -> None:
    people = restart("level.committing=kill@2")
    thread = asked(people, LEVELS, "a level")
    restart("")
    request_id = pending(people, thread)
    wait_for(lambda: levels_opened(people), lambda found: len(found) == 2)
    shown = view(people.named("zoe").http, request_id)
    assert (shown["status"], shown["people"]["level"]) == ("pending", {"number": 2, "of": 2})
    assert levels_opened(people) == [(request_id, 1), (request_id, 2)]


@pytest.mark.promise("P21")
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_of_two_servers_one_opens_each_level_and_one_ends_it(tmp_path: Path, database_url: str) -> None:
    key = {"INTERLOCK_SECRET_KEY": "the same on both servers"}
    with (
        ServerProcess(tmp_path / "one", database=database_url, environment=key) as one,
        ServerProcess(tmp_path / "other", database=database_url, environment=key) as other,
        People(one.url) as people,
        other.client() as there,
    ):
        save_rule(people, LEVELS.replace("guarded", "deploy") + 'at_end = "refuse"\n')
        ann = people.named("ann")
        there.headers["authorization"] = ann.http.headers["authorization"]
        sides = [ann.http, there]
        asking: dict[str, Any] = {"type": "permission", "request_data": {"tool_name": "deploy", "args": {}}}
        replies = [sides[number % 2].post(f"{HITL}/requests", json=asking).raise_for_status() for number in range(12)]
        ids = [reply.json()["data"]["request_id"] for reply in replies]
        for request_id in ids:
            wait_for(partial(view, ann.http, request_id), lambda shown: shown["status"] != "pending")
            assert view(there, request_id)["response"]["decision"] == "reject"
        assert sorted(levels_opened(people)) == sorted((one, level) for one in ids for level in (1, 2))
        query = {"action": "request.answered", "limit": 100}
        trail = people.named("root").http.get("/api/v1/audit", params=query).raise_for_status().json()["entries"]
        assert sorted(entry["data"]["request_id"] for entry in trail) == sorted(ids)
