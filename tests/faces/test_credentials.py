"""Accounts, access tokens, and who may do what."""

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest

from interlock.storage.sealing import derive
from tests.support.people import People
from tests.support.puppet import calls, gate, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.wire import opened, until
from tests.support.witness import Witness

REFUSED = {"detail": "Could not validate credentials"}
CLOSED = [
    ("POST", "/api/sessions"),
    ("GET", "/api/sessions"),
    ("DELETE", "/api/sessions/{id}"),
    ("POST", "/api/chat"),
    ("POST", "/api/chat/{id}"),
    ("POST", "/api/resume/{id}"),
    ("GET", "/api/status/{id}"),
    ("GET", "/api/history/{id}"),
    ("GET", "/api/stream/{id}"),
]


@pytest.fixture(scope="session")
def key(server: ServerProcess) -> bytes:
    return derive((server.data / "secret.key").read_bytes(), "tokens")


def token_of(client: ThreadsClient) -> str:
    return client.http.headers["authorization"].removeprefix("Bearer ")


def status_with(client: ThreadsClient, token: str) -> int:
    return client.http.get("/api/sessions", headers={"authorization": f"Bearer {token}"}).status_code


def test_registering_makes_an_account_that_can_sign_in(server: ServerProcess, people: People) -> None:
    people.named("root")
    with server.client() as http:
        body = {"username": "newcomer", "password": "long enough"}
        made = http.post("/api/auth/register", json=body)
        assert made.status_code == 200
        assert made.json().keys() == {"message", "user_id"}
        assert made.json()["message"] == "注册成功"
        signed_in = http.post("/api/auth/login", json=body)
        assert signed_in.json().keys() == {"access_token", "token_type"}
        assert signed_in.json()["token_type"] == "bearer"


def test_a_taken_name_is_a_bad_request(alice: ThreadsClient) -> None:
    reply = alice.http.post("/api/auth/register", json={"username": "alice", "password": "another one"})
    assert reply.status_code == 400
    assert alice.http.get("/api/sessions").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"username": "short", "password": "1234567"},
        {"username": "with space", "password": "long enough"},
        {"username": "../up", "password": "long enough"},
        {"username": "nul\0", "password": "long enough"},
    ],
)
def test_a_name_or_password_that_cannot_be_is_a_bad_request(alice: ThreadsClient, body: dict[str, str]) -> None:
    reply = alice.http.post("/api/auth/register", json=body)
    assert reply.status_code == 400
    assert body["password"] not in reply.text


@pytest.mark.parametrize("path", ["register", "login"])
@pytest.mark.parametrize("username", [None, 1, "", "x" * 65])
def test_a_body_of_another_form_is_unprocessable(alice: ThreadsClient, path: str, username: object) -> None:
    reply = alice.http.post(f"/api/auth/{path}", json={"username": username, "password": "hunter2-in-a-bad-body"})
    assert reply.status_code == 422
    assert "hunter2" not in reply.text


@pytest.mark.parametrize(("username", "password"), [("alice", "wrong"), ("nobody", "wonderland"), ("\0", "\0")])
def test_a_wrong_password_and_an_unknown_name_are_told_apart_by_nobody(
    alice: ThreadsClient, username: str, password: str
) -> None:
    reply = alice.http.post("/api/auth/login", json={"username": username, "password": password})
    assert (reply.status_code, reply.json()) == (401, REFUSED)
    assert reply.headers["www-authenticate"] == "Bearer"


def test_a_token_holds_subject_expiry_audience_and_id(alice: ThreadsClient, key: bytes) -> None:
    token = token_of(alice)
    assert jwt.get_unverified_header(token)["alg"] == "HS256"
    claims = jwt.decode(token, key, algorithms=["HS256"], audience="interlock")
    assert claims.keys() >= {"sub", "exp", "aud", "jti"}
    assert time.time() < claims["exp"] < time.time() + 7 * 24 * 3600
    other = ThreadsClient(str(alice.http.base_url)).sign_in(register=False)
    assert jwt.decode(token_of(other), options={"verify_signature": False})["jti"] != claims["jti"]
    other.http.close()


@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_every_route_wants_a_credential(server: ServerProcess, alice: ThreadsClient, method: str, path: str) -> None:
    with server.client() as http:
        reply = http.request(method, path.format(id="x"), json={"message": "hi", "action": "continue"})
        assert (reply.status_code, reply.json()) == (401, REFUSED)
        assert reply.headers["www-authenticate"] == "Bearer"


Forge = Callable[[dict[str, Any], bytes], str]


def _signed(claims: dict[str, Any], key: bytes) -> str:
    return jwt.encode(claims, key, algorithm="HS256")


def _unsigned(claims: dict[str, Any], key: bytes) -> str:
    head, body = ({"alg": "none", "typ": "JWT"}, {**claims, "aud": "interlock"})
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (head, body)]
    return ".".join([*parts, ""])


FORGED: dict[str, Forge] = {
    "expired": lambda claims, key: _signed(claims | {"exp": int(time.time()) - 1}, key),
    "signed with another key": lambda claims, key: _signed(claims, b"k" * 32),
    "not signed": _unsigned,
    "signed with another algorithm": lambda claims, key: jwt.encode(claims, key + b"0" * 32, algorithm="HS512"),
    "for another audience": lambda claims, key: _signed(claims | {"aud": "elsewhere"}, key),
    "for no audience": lambda claims, key: _signed({k: v for k, v in claims.items() if k != "aud"}, key),
    "without an expiry": lambda claims, key: _signed({k: v for k, v in claims.items() if k != "exp"}, key),
    "of nobody": lambda claims, key: _signed(claims | {"sub": "user_unknown"}, key),
    "cut short": lambda claims, key: _signed(claims, key)[:-2],
    "with a time that is no number": lambda claims, key: _signed(claims | {"iat": "yesterday"}, key),
    "with a time that cannot be": lambda claims, key: _signed(claims | {"iat": 1e300}, key),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
def test_a_token_that_does_not_hold_is_refused(alice: ThreadsClient, key: bytes, forge: Forge) -> None:
    claims = jwt.decode(token_of(alice), key, algorithms=["HS256"], audience="interlock")
    assert status_with(alice, _signed(claims, key)) == 200
    assert status_with(alice, forge(claims, key)) == 401


@pytest.mark.parametrize("header", ["", "Bearer", "Basic YTpi", "Bearer a b", "token x", "Bearer \xe9"])
def test_a_header_that_holds_no_token_is_refused(alice: ThreadsClient, header: str) -> None:
    reply = alice.http.get("/api/sessions", headers={b"authorization": header.encode("latin-1")})
    assert (reply.status_code, reply.json()) == (401, REFUSED)


def test_a_token_in_the_address_is_not_taken(server: ServerProcess, alice: ThreadsClient) -> None:
    with server.client() as http:
        for name in ("token", "access_token", "ticket"):
            assert http.get("/api/sessions", params={name: token_of(alice)}).status_code == 401


def test_the_first_account_is_the_admins_and_sees_everything(
    root: ThreadsClient, alice: ThreadsClient, bob: ThreadsClient, thread: str
) -> None:
    alice.chat(thread, script(calls(("guarded", {"name": "seen-by-the-admin"}))))
    assert root.status(thread)["status"] == "interrupted"
    assert root.history(thread)
    assert bob.http.get(f"/api/status/{thread}").status_code == 403
    assert root.resume(thread, "cancel").status == 200


def test_nobody_reaches_threads_by_a_name_that_begins_like_theirs(people: People) -> None:
    short, long = people.named("anna"), people.named("anna-x")
    theirs = long.new_thread()
    long.chat(theirs, script(says("private")))
    assert theirs.startswith("anna-")
    for reply in (short.http.get(f"/api/{path}/{theirs}") for path in ("status", "history", "stream")):
        assert reply.status_code == 403
    assert short.chat(theirs, script(says("mine?"))).status == 403
    assert short.resume(theirs, "continue").status == 403
    assert short.http.delete(f"/api/sessions/{theirs}").status_code == 403
    fresh = f"anna-x-{theirs[-36:][:-4]}0000"
    assert short.chat(fresh, script(says("mine?"))).status == 403


def test_a_user_id_that_is_sent_is_not_heeded_with_accounts_on(alice: ThreadsClient, people: People) -> None:
    people.named("carol")
    made = alice.http.post("/api/sessions", json={"user_id": "carol"}, params={"user_id": "carol"})
    assert made.json()["thread_id"].startswith("alice-")


def test_a_token_that_ends_while_it_streams_ends_the_stream(people: People, key: bytes, witness: Witness) -> None:
    person = people.named("brief")
    thread_id = person.new_thread()
    claims = jwt.decode(token_of(person), key, algorithms=["HS256"], audience="interlock")
    brief = ThreadsClient(str(person.http.base_url), "brief")
    brief.http.headers["authorization"] = f"Bearer {_signed(claims | {'exp': int(time.time()) + 2}, key)}"
    begun = time.monotonic()
    with opened(brief, f"/api/chat/{thread_id}", {"message": script(says("one", gate("brief")))}) as frames:
        assert [frame.event for frame in until(frames, "end")] == ["messages/partial", "error", "end"]
    assert time.monotonic() - begun < 2 + 5
    witness.release("brief")
    brief.http.close()
