"""Agents that run elsewhere belong to who made their key: another's of the same name reaches no reviewer."""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import command, users
from tests.support.either_database import DATABASES, server_on
from tests.support.hitl import HitlClient, of
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.server import ServerProcess

PASSWORD = {"fields": [{"name": "PASSWORD", "sensitive": True, "description": "Sign in again, please"}]}


@pytest.fixture(params=DATABASES)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[ServerProcess]:
    with server_on(request.param, request, tmp_path, {}) as process:
        yield process


@pytest.fixture
def people(server: ServerProcess) -> Generator[People]:
    with People(server.url) as registered:
        for name in ("root", "ann", "mallory", "reviewer"):
            registered.named(name)
        users(server, "role", "reviewer", "reviewer", "--agent", "puppet", "--agent", "worker", "--agent", "ann/worker")
        yield registered


Person = Callable[[str], HitlClient]


@pytest.fixture
def person(people: People) -> Generator[Person]:
    """Somebody's own connection on the hitl face and the inbox."""
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(of(people.named(name)))


def asked_by_key(server: ServerProcess, person: HitlClient) -> dict[str, Any]:
    with HitlClient(server.url, person.new_key("worker", "agent")["key"]) as agent:
        return agent.ask("env_var", PASSWORD)


def seen(client: HitlClient) -> dict[str, str]:
    """What waits, with whose it is; the two lists agree."""
    listed = client.http.get("/api/v1/agent/hitl/pending").raise_for_status().json()["data"]["pending_requests"]
    entries = client.http.get("/api/v1/inbox").raise_for_status().json()["requests"]
    owners = {one["request_id"]: one["owner"] for one in listed}
    assert {one["request_id"]: one["owner"] for one in entries} == owners
    return owners


def statuses(client: HitlClient, request_id: str) -> set[int]:
    """Of every way to look at a request and to answer it."""
    return {
        client.http.get(f"/api/v1/agent/hitl/requests/{request_id}").status_code,
        client.http.get(f"/api/v1/inbox/requests/{request_id}").status_code,
        client.try_respond(request_id, {"values": {"PASSWORD": "hunter2"}}).status_code,
    }


def test_another_persons_agent_of_a_reviewed_name_does_not_reach_its_reviewer(
    server: ServerProcess, person: Person
) -> None:
    ann, mallory, reviewer, root = (person(name) for name in ("ann", "mallory", "reviewer", "root"))
    honest = asked_by_key(server, ann)["request_id"]
    baits = [asked_by_key(server, mallory)["request_id"]]
    baits.append(mallory.ask("env_var", PASSWORD, agent="worker")["request_id"])
    assert seen(reviewer) == {honest: "ann"}
    assert seen(root) == {honest: "ann", **dict.fromkeys(baits, "mallory")}
    for bait in baits:
        assert statuses(reviewer, bait) == {403}
    assert reviewer.look(honest)["owner"] == "ann"
    reviewer.respond(honest, {"values": {"PASSWORD": "hunter2"}})
    for bait in baits:
        mallory.respond(bait, {"values": {"PASSWORD": "x"}})
    history = reviewer.http.get("/api/v1/history").raise_for_status().json()["entries"]
    assert [one["request_id"] for one in history] == [honest]


def test_a_hosted_agent_is_reviewed_by_its_name_whoever_talks_to_it(people: People, person: Person) -> None:
    mallory, reviewer = people.named("mallory"), person("reviewer")
    thread_id = mallory.new_thread("puppet")
    mallory.chat(thread_id, script(calls(("guarded", {"name": "hosted"}))))
    (request_id,) = seen(reviewer)
    assert seen(reviewer)[request_id] == "mallory"
    (entry,) = reviewer.http.get("/api/v1/inbox").json()["requests"]
    assert entry["outside"] is False
    reviewer.respond(request_id, {"granted": False})
    # Nobody elsewhere may go by its name.
    taken = mallory.http.post("/api/v1/keys", json={"name": "puppet", "role": "agent"})
    assert (taken.status_code, taken.json()["errors"][0]["code"]) == (400, "taken")


def test_a_reviewer_is_told_what_they_review_with_the_names_of_owners(server: ServerProcess, people: People) -> None:
    present = people.named("reviewer").http.get("/api/v1/session").json()
    assert present["reviews"] == ["puppet", "worker", "ann/worker"]
    assert "reviewer\treviewer\tpuppet,worker,ann/worker\t" in users(server, "list")
    wrong = command("users", "role", "reviewer", "reviewer", "--agent", "nobody/worker", *server.where)
    assert wrong.returncode != 0
    assert "no user 'nobody'" in wrong.stderr
    assert people.named("reviewer").http.get("/api/v1/session").json()["reviews"] == present["reviews"]


def test_the_terminal_says_whose_agent_asks(server: ServerProcess, person: Person) -> None:
    asked = asked_by_key(server, person("mallory"))
    key = person("root").new_key("terminal")["key"]
    listed = command("pending", variables={"url": server.url, "key": key})
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.split("\t")[:3] == [asked["request_id"], "env_var", "worker · of mallory"]
