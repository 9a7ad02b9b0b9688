"""API keys and tickets: made, shown once, listed, revoked, and what each may do."""

import threading
import time
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from interlock.domain.api_key import credential_hash
from interlock.domain.errors import NotFound
from interlock_client.cli.main import app
from tests.faces.threads.asking import clarification
from tests.support.hitl import AGENT, HITL, QUESTION, HitlClient, asked_by_agent, of
from tests.support.people import People
from tests.support.puppet import says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient, bounded, parse
from tests.support.wire import at_once

NOBODY = {"detail": "Could not validate credentials"}
_numbers = count(1)


@pytest.fixture
def person(alice: ThreadsClient) -> Iterator[HitlClient]:
    with of(alice) as client:
        yield client


@pytest.fixture
def made(person: HitlClient) -> dict[str, Any]:
    return person.new_key(f"laptop-{next(_numbers)}")


def with_key(server: ServerProcess, key: str) -> HitlClient:
    return HitlClient(server.url, key)


def status(server: ServerProcess, credential: str, path: str = f"{HITL}/pending") -> int:
    return httpx.get(f"{server.url}{path}", headers={"authorization": f"Bearer {credential}"}, timeout=60).status_code


def entry(person: HitlClient, key_id: str) -> dict[str, Any]:
    return next(one for one in person.http.get("/api/v1/keys").json()["keys"] if one["id"] == key_id)


def test_a_key_has_64_hex_digits_of_which_the_last_8_check_the_others(made: dict[str, Any]) -> None:
    assert made.keys() >= {"id", "key", "name", "role"}
    assert made["role"] == "person"
    digits = made["key"].removeprefix("ms_sk_")
    assert len(digits) == 64
    assert f"{zlib.crc32(digits[:56].encode()):08x}" == digits[56:]


def test_a_key_is_shown_once_and_only_its_hash_is_kept(
    server: ServerProcess, person: HitlClient, made: dict[str, Any]
) -> None:
    listed = person.http.get("/api/v1/keys").text
    assert made["id"] in listed
    kept = b"".join(file.read_bytes() for file in server.data.iterdir() if file.is_file())
    assert credential_hash(made["key"]).encode() in kept
    for part in (made["key"], made["key"].removeprefix("ms_sk_"), made["key"][6:62]):
        assert part not in listed
        assert part.encode() not in kept


SPOILED: list[Callable[[str], str]] = [
    lambda key: key[:-1],
    lambda key: key + "0",
    lambda key: key[:-1] + ("0" if key[-1] != "0" else "1"),
    lambda key: key.upper(),
    lambda key: key.replace("ms_sk_", "ms_pk_"),
    lambda key: f"{key} {key}",
]


@pytest.mark.parametrize("spoiled", SPOILED)
def test_a_key_that_is_not_quite_one_is_refused(
    server: ServerProcess, made: dict[str, Any], spoiled: Callable[[str], str]
) -> None:
    assert status(server, made["key"]) == 200
    assert status(server, spoiled(made["key"])) == 401


def test_a_key_works_on_every_face(server: ServerProcess, made: dict[str, Any], thread: str) -> None:
    with with_key(server, made["key"]) as client:
        assert client.http.get("/api/sessions").status_code == 200
        assert client.http.get(f"/api/status/{thread}").status_code == 200
        assert client.pending(thread) == []
        assert client.http.get("/api/v1/grants").status_code == 200


def test_when_a_key_was_used_last_is_listed(server: ServerProcess, person: HitlClient, made: dict[str, Any]) -> None:
    assert entry(person, made["id"])["last_used_at"] is None
    assert status(server, made["key"]) == 200
    assert entry(person, made["id"])["last_used_at"] is not None


def test_a_key_holds_until_it_expires(server: ServerProcess, person: HitlClient) -> None:
    until = datetime.now(UTC) + timedelta(seconds=1.5)
    brief = person.new_key("brief", expires_at=until.isoformat())
    deadline = time.monotonic() + 10
    while status(server, brief["key"]) == 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert datetime.now(UTC) >= until
    assert entry(person, brief["id"])["revoked_at"] is None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"name": "x", "expires_at": "2020-01-01T00:00:00Z"}, 400),
        ({"name": "x", "expires_at": "9999-12-31T23:59:59-14:00"}, 400),
        ({"name": "x", "expires_at": "2030-01-01T00:00:00"}, 422),
        ({"name": " "}, 400),
        ({"name": "a\nb"}, 400),
        ({"name": "x" * 65}, 422),
        ({"name": "x", "role": "admin"}, 422),
        ({"name": "puppet", "role": "agent"}, 400),
        ({"name": "x", "role": "agent", "agent": "demo"}, 400),
        ({"name": "with space", "role": "agent"}, 400),
        ({}, 422),
    ],
)
def test_a_key_that_cannot_be_is_not_made(person: HitlClient, body: dict[str, Any], code: int) -> None:
    before = len(person.http.get("/api/v1/keys").json()["keys"])
    reply = person.http.post("/api/v1/keys", json=body)
    assert reply.status_code == code
    assert reply.json()["detail"]
    assert len(person.http.get("/api/v1/keys").json()["keys"]) == before


def test_a_revoked_key_is_refused_at_once_and_stays_listed(
    server: ServerProcess, person: HitlClient, made: dict[str, Any]
) -> None:
    assert status(server, made["key"]) == 200
    assert person.http.delete(f"/api/v1/keys/{made['id']}").json() == {"id": made["id"], "ended": True}
    assert status(server, made["key"]) == 401
    assert entry(person, made["id"])["revoked_at"] is not None
    assert person.http.delete(f"/api/v1/keys/{made['id']}").status_code == 200


def test_nobody_sees_or_revokes_anothers_key_but_an_admin(
    server: ServerProcess, bob: ThreadsClient, root: ThreadsClient, made: dict[str, Any]
) -> None:
    assert made["id"] not in bob.http.get("/api/v1/keys").text
    assert bob.http.get("/api/v1/keys", params={"all": True}).status_code == 403
    assert bob.http.delete(f"/api/v1/keys/{made['id']}").status_code == 404
    assert status(server, made["key"]) == 200
    assert made["id"] not in root.http.get("/api/v1/keys").text
    assert made["id"] in root.http.get("/api/v1/keys", params={"all": True}).text
    assert root.http.delete(f"/api/v1/keys/{made['id']}").status_code == 200
    assert status(server, made["key"]) == 401


def test_a_persons_key_does_what_its_owner_may_and_makes_no_keys(
    server: ServerProcess, person: HitlClient, other_thread: str, made: dict[str, Any]
) -> None:
    request_id = person.ask("clarification", QUESTION)["request_id"]
    with with_key(server, made["key"]) as client:
        assert client.respond(request_id, {"answer": "A"})["status"] == "answered"
        assert client.look(request_id)["answered_by"] == "alice"
        assert client.http.get(f"/api/status/{other_thread}").status_code == 403
        assert client.http.post("/api/v1/keys", json={"name": "more"}).status_code == 403
        assert client.http.delete(f"/api/v1/keys/{made['id']}").status_code == 403
    assert status(server, made["key"]) == 200


@pytest.fixture
def other_thread(bob: ThreadsClient) -> str:
    return bob.new_thread()


def test_the_key_that_answered_is_in_the_audit(
    server: ServerProcess, person: HitlClient, root: ThreadsClient, made: dict[str, Any]
) -> None:
    asked = person.ask("clarification", QUESTION)
    with with_key(server, made["key"]) as client:
        client.respond(asked["request_id"], {"answer": "A"}, metadata={"key_id": "another", "source": "script"})
    with of(root) as admin:
        (answered,) = admin.audit(asked["conversation_id"], "request.answered")
        assert answered["data"]["metadata"] == {"key_id": made["id"], "source": "script"}
        created = admin.audit("server", "key.created")
        assert made["id"] in [one["data"]["key_id"] for one in created]


def test_an_agents_key_asks_and_reads_its_own_and_nothing_else(
    server: ServerProcess, alice: ThreadsClient, person: HitlClient, thread: str
) -> None:
    asked_by_agent(alice, thread, clarification("A"))
    hers = person.one_pending(thread)["request_id"]
    key = person.new_key(f"agent-{next(_numbers)}", "agent")["key"]
    with with_key(server, key) as agent, with_key(server, person.new_key("rival", "agent")["key"]) as rival:
        own = agent.ask("clarification", QUESTION)
        assert agent.look(own["request_id"])["status"] == "pending"
        closed = [
            agent.http.get(f"{HITL}/requests/{hers}"),
            agent.http.get(f"{HITL}/conversations/{thread}/pending"),
            agent.http.get(f"{AGENT}/stream", params={"conversation_id": thread}),
            rival.http.get(f"{HITL}/requests/{own['request_id']}"),
            rival.http.get(f"{HITL}/conversations/{own['conversation_id']}/pending"),
            rival.http.get(f"{AGENT}/stream", params={"conversation_id": own["conversation_id"]}),
            agent.try_respond(hers, {"answer": "A"}),
            agent.try_respond(own["request_id"], {"answer": "A"}),
            agent.http.get(f"/api/status/{thread}"),
            agent.http.get(f"/api/history/{thread}"),
            agent.http.get(f"/api/stream/{thread}"),
            agent.http.delete(f"/api/sessions/{thread}"),
            agent.http.delete(f"/api/sessions/{own['conversation_id']}"),
            agent.http.post("/api/sessions", json={}),
            agent.http.post("/api/chat", json={"message": "hi"}),
            agent.http.post(f"/api/chat/{thread}", json={"message": "hi"}),
            agent.http.post(f"/api/resume/{thread}", json={"action": "answer", "answers": ["A"]}),
            agent.http.post(f"/api/resume/{own['conversation_id']}", json={"action": "answer", "answers": ["A"]}),
            agent.http.get("/api/v1/keys"),
            agent.http.post("/api/v1/keys", json={"name": "more"}),
            agent.http.get("/api/v1/grants"),
            agent.http.get("/api/v1/secrets"),
            agent.http.get("/api/v1/audit", params={"conversation_id": thread}),
        ]
        assert [(reply.url.path, reply.status_code) for reply in closed if reply.status_code != 403] == []
        assert agent.http.get("/api/sessions").json()["threads"] == []
        assert thread not in agent.http.get("/api/v1/audit").text
    assert person.look(own["request_id"])["status"] == "pending"


def test_keys_are_made_listed_and_revoked_on_the_command_line(server: ServerProcess, people: People) -> None:
    people.named("alice")

    def keys(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["keys", *arguments, "--data", str(server.data)], catch_exceptions=False)
        assert done.exit_code == 0
        return done.stdout

    key = keys("create", "robot", "--user", "alice", "--role", "agent", "--agent", "robot-one", "--days", "1").strip()
    with with_key(server, key) as robot:
        assert robot.ask("clarification", QUESTION)["agent"] == "robot-one"
    listed = keys("list", "--user", "alice")
    (line,) = [one.split("\t") for one in listed.splitlines() if "robot-one" in one]
    assert line[1:6] == ["robot", "agent", "robot-one", "alice", "holds"]
    assert key not in listed
    assert "no longer holds" in keys("revoke", line[0])
    assert status(server, key) == 401
    with pytest.raises(NotFound, match="users create nobody"):
        keys("create", "x", "--user", "nobody")


Stream = tuple[str, dict[str, str]]
"""Its address, and the headers that it is opened with."""


def streams_by(server: ServerProcess, key: str, thread: str) -> list[Stream]:
    headers = {"authorization": f"Bearer {key}"}
    with server.client(20.0) as http:
        ticket = http.post("/api/v1/tickets", headers=headers).json()["ticket"]
    return [
        (f"{AGENT}/stream?conversation_id={thread}", headers),
        (f"{AGENT}/stream?conversation_id={thread}&ticket={ticket}", {}),
        (f"/api/stream/{thread}", headers),
    ]


def ended_within(
    server: ServerProcess, streams: list[Stream], seconds: float, once_open: Callable[[], None]
) -> list[Stream]:
    """Those of the streams that the server ended, so many seconds after what was done once all were open."""
    opened, ended = threading.Barrier(len(streams) + 1), list[Stream]()

    def read(stream: Stream) -> None:
        path, headers = stream
        with server.client(20.0) as http, http.stream("GET", path, headers=headers) as response:
            assert response.status_code == 200
            opened.wait(20)
            for _ in bounded(response.iter_lines()):
                pass
            ended.append(stream)

    readers = [threading.Thread(target=read, args=[stream], daemon=True) for stream in streams]
    for reader in readers:
        reader.start()
    opened.wait(20)
    once_open()
    begun = time.monotonic()
    for reader in readers:
        reader.join(max(0.0, begun + seconds - time.monotonic()))
    return sorted(ended, key=streams.index)


def test_revoking_a_key_ends_the_streams_that_it_opened(
    server: ServerProcess, person: HitlClient, made: dict[str, Any], alice: ThreadsClient, thread: str
) -> None:
    alice.chat(thread, script(says("hello")))

    def revoke() -> None:
        assert person.http.delete(f"/api/v1/keys/{made['id']}").status_code == 200

    streams = streams_by(server, made["key"], thread)
    assert ended_within(server, streams, 20, revoke) == streams


def test_a_key_that_ends_by_itself_ends_the_streams_that_it_opened(
    server: ServerProcess, person: HitlClient, alice: ThreadsClient, thread: str
) -> None:
    alice.chat(thread, script(says("hello")))
    until = datetime.now(UTC) + timedelta(seconds=6)
    streams = streams_by(server, person.new_key("brief", expires_at=until.isoformat())["key"], thread)
    assert ended_within(server, streams, 25, lambda: None) == streams


def ticket_of(client: httpx.Client) -> str:
    reply = client.post("/api/v1/tickets").raise_for_status().json()
    assert reply.keys() == {"ticket", "expires_at"}
    return reply["ticket"]


def test_a_ticket_opens_one_stream(server: ServerProcess, alice: ThreadsClient, person: HitlClient) -> None:
    asked = person.ask("clarification", QUESTION)
    query = {"conversation_id": asked["conversation_id"], "ticket": ticket_of(alice.http)}
    with server.client() as http:
        with http.stream("GET", f"{AGENT}/stream", params=query) as response:
            assert response.status_code == 200
            frame = next(parse(bounded(response.iter_lines())))
            assert frame.data["request_id"] == asked["request_id"]
        assert http.get(f"{AGENT}/stream", params=query).status_code == 401


def test_of_many_who_bring_one_ticket_one_is_let_in(server: ServerProcess, alice: ThreadsClient) -> None:
    query = {"ticket": ticket_of(alice.http)}
    replies = at_once(8, lambda _: httpx.get(f"{server.url}{HITL}/pending", params=query, timeout=60).status_code)
    assert sorted(replies) == [200] + [401] * 7


def test_a_ticket_makes_nothing_that_outlives_it(server: ServerProcess, alice: ThreadsClient) -> None:
    with server.client() as http:
        for path, body in (("/api/v1/tickets", None), ("/api/v1/keys", {"name": "escaped"})):
            query = {"ticket": ticket_of(alice.http)}
            assert http.post(path, params=query, json=body).status_code == 401
    assert "escaped" not in alice.http.get("/api/v1/keys").text


def test_a_long_lived_credential_in_the_address_is_not_taken(
    server: ServerProcess, alice: ThreadsClient, made: dict[str, Any]
) -> None:
    token = alice.http.headers["authorization"].removeprefix("Bearer ")
    with server.client() as http:
        for credential in (made["key"], token):
            for name in ("ticket", "key", "api_key", "token", "access_token", "authorization"):
                reply = http.get("/api/sessions", params={name: credential})
                assert (reply.status_code, reply.json()) == (401, NOBODY)


def test_no_ticket_and_no_key_is_in_the_log(server: ServerProcess, alice: ThreadsClient, made: dict[str, Any]) -> None:
    ticket = ticket_of(alice.http)
    with server.client() as http:
        assert http.get(f"{HITL}/pending", params={"ticket": ticket}).status_code == 200
        assert http.get(f"{HITL}/pending", params={"ticket": made["key"]}).status_code == 401
    assert status(server, made["key"]) == 200
    log = server.log.read_text()
    assert ticket not in log
    assert made["key"] not in log
