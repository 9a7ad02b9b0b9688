"""Accounts, access tokens, and who may do what."""

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest

from tests.support.people import People
from tests.support.puppet import calls, gate, says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient
from tests.support.token_keys import signed, token_keys
from tests.support.waiting import NOTICED_SECONDS
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


@pytest.fixture(scope="module")
def keys(server: ServerProcess) -> dict[int, bytes]:
    return token_keys(server)


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


def test_a_token_holds_subject_expiry_audience_and_id(alice: ThreadsClient, keys: dict[int, bytes]) -> None:
    token = token_of(alice)
    assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT", "kid": str(max(keys))}
    claims = jwt.decode(token, keys[max(keys)], algorithms=["HS256"], audience="interlock")
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


Keys = dict[int, bytes]
Forge = Callable[[dict[str, Any], Keys], str]


def _unsigned(claims: dict[str, Any], keys: Keys) -> str:
    head, body = ({"alg": "none", "typ": "JWT", "kid": str(max(keys))}, {**claims, "aud": "interlock"})
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (head, body)]
    return ".".join([*parts, ""])


FORGED: dict[str, Forge] = {
    "expired": lambda claims, keys: signed(claims | {"exp": int(time.time()) - 1}, keys),
    "signed with another key": lambda claims, keys: signed(claims, {max(keys): b"k" * 32}),
    "signed with a key that is not there yet": lambda claims, keys: signed(claims, {max(keys) + 1: keys[max(keys)]}),
    "naming no key": lambda claims, keys: jwt.encode(claims, keys[max(keys)], algorithm="HS256"),
    **{
        f"naming the key {name!r}": lambda claims, keys, name=name: jwt.encode(
            claims, keys[max(keys)], algorithm="HS256", headers={"kid": name}
        )
        for name in ("", "-2", "9" * 40, "²", "../keys", "\ud800")
    },
    "not signed": _unsigned,
    "signed with another algorithm": lambda claims, keys: jwt.encode(
        claims, keys[max(keys)] + b"0" * 32, algorithm="HS512", headers={"kid": str(max(keys))}
    ),
    "for another audience": lambda claims, keys: signed(claims | {"aud": "elsewhere"}, keys),
    "for no audience": lambda claims, keys: signed({k: v for k, v in claims.items() if k != "aud"}, keys),
    "without an expiry": lambda claims, keys: signed({k: v for k, v in claims.items() if k != "exp"}, keys),
    "of nobody": lambda claims, keys: signed(claims | {"sub": "user_unknown"}, keys),
    "cut short": lambda claims, keys: signed(claims, keys)[:-2],
    "with a time that is no number": lambda claims, keys: signed(claims | {"iat": "yesterday"}, keys),
    "with a time that cannot be": lambda claims, keys: signed(claims | {"iat": 1e300}, keys),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
def test_a_token_that_does_not_hold_is_refused(alice: ThreadsClient, keys: Keys, forge: Forge) -> None:
    claims = jwt.decode(token_of(alice), keys[max(keys)], algorithms=["HS256"], audience="interlock")
    assert status_with(alice, signed(claims, keys)) == 200
    assert status_with(alice, forge(claims, keys)) == 401


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


def test_a_token_that_ends_while_it_streams_ends_the_stream(people: People, keys: Keys, witness: Witness) -> None:
    person = people.named("brief")
    thread_id = person.new_thread()
    claims = jwt.decode(token_of(person), keys[max(keys)], algorithms=["HS256"], audience="interlock")
    brief = ThreadsClient(str(person.http.base_url), "brief")
    brief.http.headers["authorization"] = f"Bearer {signed(claims | {'exp': int(time.time()) + 4}, keys)}"
    begun = time.monotonic()
    with opened(brief, f"/api/chat/{thread_id}", {"message": script(says("one", gate("brief")))}) as frames:
        assert [frame.event for frame in until(frames, "end")] == ["messages/partial", "error", "end"]
    assert time.monotonic() - begun < 4 + NOTICED_SECONDS
    witness.release("brief")
    brief.http.close()
