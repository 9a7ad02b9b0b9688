"""Where somebody is signed in: listed, ended one by one or everywhere, on every server at once."""

import httpx
import pytest

from tests.faces.account.acting import (
    ACCOUNT,
    OpenStreams,
    change,
    entries,
    goes_on,
    is_in,
    new_key,
    sessions,
    sign_in_status,
)
from tests.faces.account.conftest import PASSWORD, Join, Servers
from tests.support.puppet import says, script
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.wire import at_once

NEW = "through the looking-glass"


def test_each_sign_in_is_listed_with_when_and_from_where_and_which_one_asks(servers: Servers, join: Join) -> None:
    person = join()
    with servers.there.client() as browser:
        browser.headers["origin"] = servers.there.url
        browser.headers["user-agent"] = "Mozilla/5.0 (X11; Linux) Firefox/140.0"
        body = {"username": person.username, "password": PASSWORD}
        browser.post("/api/v1/session", json=body).raise_for_status()
        listed = sessions(person)
        assert [one["current"] for one in listed] == [False, True]
        seen, own = listed
        assert (seen["address"], seen["how"], seen["user_agent"]) == (
            "127.0.0.1",
            "password",
            "Mozilla/5.0 (X11; Linux) Firefox/140.0",
        )
        assert own["user_agent"].startswith("python-httpx")
        assert own["signed_in_at"] <= own["last_used_at"] < own["expires_at"]
        (by_cookie,) = [one for one in browser.get(f"{ACCOUNT}/sessions").json()["sessions"] if one["current"]]
        assert by_cookie["id"] == seen["id"]


def test_an_ended_session_is_refused_by_every_server_at_once_and_its_streams_end(
    servers: Servers, root: ThreadsClient, join: Join
) -> None:
    person = join()
    other = join.again(person, servers.there.url)
    thread_id = person.new_thread()
    person.chat(thread_id, script(says("hello")))
    streams = OpenStreams(other, servers.there.url, thread_id)
    (ended,) = [one for one in sessions(person) if not one["current"]]
    assert person.http.delete(f"{ACCOUNT}/sessions/{ended['id']}").json() == {"id": ended["id"], "ended": True}
    assert not is_in(other, servers.there.url)
    assert not is_in(other, servers.here.url)
    assert is_in(person, servers.there.url)
    assert streams.all_end(), streams.ended
    assert [one["id"] for one in sessions(person)] == [one["id"] for one in sessions(person) if one["current"]]
    assert person.http.delete(f"{ACCOUNT}/sessions/{ended['id']}").status_code == 404
    (entry,) = entries(root, "session.ended", person.username)
    assert (entry["actor"], entry["data"]["session_id"]) == (person.username, ended["id"])


def test_signing_out_with_a_bearer_ends_that_token_on_every_server_with_its_streams(
    servers: Servers, root: ThreadsClient, join: Join
) -> None:
    person = join()
    other, copy = join.again(person, servers.there.url), join.copy(person, servers.there.url)
    streams = OpenStreams(copy, servers.there.url, person.new_thread())
    assert person.http.delete("/api/v1/session").json() == {"ended": True}
    assert not is_in(person, servers.here.url)
    assert not is_in(copy, servers.there.url)
    assert is_in(other, servers.here.url)
    assert streams.all_end(), streams.ended
    assert [one["actor"] for one in entries(root, "session.ended", person.username)] == [person.username]


def test_signing_out_ends_the_bearer_and_the_cookie_of_one_request(servers: Servers, join: Join) -> None:
    person = join()
    other = join.again(person)
    cookie = other.http.headers["authorization"].removeprefix("Bearer ")
    reply = person.http.delete("/api/v1/session", headers={"cookie": f"interlock_session={cookie}"})
    assert reply.json() == {"ended": True}
    assert not is_in(person, servers.there.url)
    assert not is_in(other, servers.there.url)


def test_a_key_that_signs_out_is_told_that_it_goes_on(servers: Servers, join: Join) -> None:
    person = join()
    key = join.holding(new_key(person), person, servers.there.url)
    reply = key.http.delete("/api/v1/session")
    assert reply.status_code == 403
    assert "/api/v1/keys" in reply.text
    assert is_in(key)


def test_nobody_ends_or_sees_the_sessions_of_somebody_else(root: ThreadsClient, join: Join) -> None:
    person, other = join(), join()
    (own,) = sessions(person)
    for somebody in (other, root):
        assert somebody.http.delete(f"{ACCOUNT}/sessions/{own['id']}").status_code == 404
        assert own["id"] not in [one["id"] for one in sessions(somebody)]
    assert is_in(person)


def test_signing_out_everywhere_ends_this_one_too(servers: Servers, root: ThreadsClient, join: Join) -> None:
    person = join()
    others = [join.again(person, servers.there.url) for _ in range(2)]
    assert person.http.delete(f"{ACCOUNT}/sessions").json() == {"ended": 3, "access_token": None}
    for one in (person, *others):
        assert not is_in(one, servers.here.url)
        assert not is_in(one, servers.there.url)
    assert [one["data"]["count"] for one in entries(root, "session.all_ended", person.username)] == [3]
    assert is_in(join.again(person, servers.there.url), servers.here.url)


def test_signing_out_everywhere_else_goes_on_with_a_new_token_and_ends_copies_of_the_old_one(
    servers: Servers, join: Join
) -> None:
    person = join()
    other = join.again(person)
    copy = join.copy(person, servers.there.url)
    reply = person.http.delete(f"{ACCOUNT}/sessions", params={"others": True})
    assert reply.json()["ended"] == 1
    goes_on(person, reply)
    assert is_in(person, servers.there.url)
    assert not is_in(other)
    assert not is_in(copy)
    assert [one["current"] for one in sessions(person)] == [True]


def test_a_new_password_ends_every_other_session_and_the_old_password(
    servers: Servers, root: ThreadsClient, join: Join
) -> None:
    person = join()
    other = join.again(person, servers.there.url)
    key = join.holding(new_key(person), person, servers.there.url)
    thread_id = person.new_thread()
    streams = OpenStreams(other, servers.there.url, thread_id)
    reply = change(person, NEW)
    assert reply.json()["ended"] == 2
    assert not is_in(person)
    goes_on(person, reply)
    assert is_in(person, servers.there.url)
    assert not is_in(other, servers.there.url)
    assert streams.all_end(), streams.ended
    assert sign_in_status(servers.there.url, person.username, PASSWORD) == 401
    assert sign_in_status(servers.there.url, person.username, NEW) == 200
    assert is_in(key)
    (entry,) = entries(root, "user.password_changed", person.username)
    assert (entry["actor"], entry["data"]["ended"]) == (person.username, 2)
    assert NEW not in root.http.get("/api/v1/audit", params={"conversation_id": "server", "limit": 200}).text


def test_a_browser_that_changes_the_password_goes_on_with_another_cookie(servers: Servers, join: Join) -> None:
    person = join()
    with servers.here.client() as browser:
        browser.headers["origin"] = servers.here.url
        body = {"username": person.username, "password": PASSWORD}
        browser.post("/api/v1/session", json=body).raise_for_status()
        before = browser.cookies["interlock_session"]
        changing = {"old_password": PASSWORD, "new_password": NEW}
        assert browser.post(f"{ACCOUNT}/password", json=changing).json() == {"ended": 2, "access_token": None}
        assert browser.cookies["interlock_session"] != before
        assert browser.get("/api/v1/session").json()["username"] == person.username
        assert (
            httpx.get(
                f"{servers.here.url}/api/v1/session", cookies={"interlock_session": before}, timeout=60
            ).status_code
            == 401
        )


@pytest.mark.parametrize(
    ("old", "new", "field", "code"),
    [
        ("not this one", NEW, "old_password", "wrong"),
        (PASSWORD, "short", "new_password", "length"),
        (PASSWORD, PASSWORD, "new_password", "same"),
    ],
)
def test_a_password_that_cannot_be_changed_so_stays_as_it_is(
    servers: Servers, join: Join, old: str, new: str, field: str, code: str
) -> None:
    person = join()
    reply = change(person, new, old)
    assert reply.status_code == 400
    assert [(one["field"], one["code"]) for one in reply.json()["errors"]] == [(field, code)]
    assert old not in reply.text
    assert is_in(person)
    assert sign_in_status(servers.there.url, person.username, PASSWORD) == 200


def test_guessing_the_present_password_is_bounded_as_signing_in_is(
    servers: Servers, root: ThreadsClient, join: Join
) -> None:
    person = join()
    assert [change(person, NEW, f"guess number {number}").status_code for number in range(10)] == [400] * 10
    # Until the next guess there are some seconds left, for what follows.
    wait_for(lambda: change(person, NEW, "a guess"), lambda reply: int(reply.headers.get("retry-after", 0)) > 3)
    assert change(person, NEW).status_code == 429
    # A session that was stolen must not open another way to guess.
    assert sign_in_status(servers.here.url, person.username, PASSWORD) == 429
    query = {"conversation_id": "server", "action": "session.refused", "limit": 200}
    refused = root.http.get("/api/v1/audit", params=query).json()["entries"]
    assert person.username in [one["data"]["account"] for one in refused]


def test_of_several_changes_of_one_password_at_once_one_is_made(servers: Servers, join: Join) -> None:
    person = join()
    urls = (servers.here.url, servers.there.url) * 2
    clients = [join.copy(person, url) for url in urls]
    replies = at_once(4, lambda number: change(clients[number], f"{NEW} {number}"))
    (won,) = [number for number, reply in enumerate(replies) if reply.status_code == 200]
    assert {reply.status_code for reply in replies} <= {200, 400, 401, 409}
    # Fewer at once than may be guessed in a minute.
    assert sign_in_status(urls[0], person.username, f"{NEW} {won}") == 200
    assert sign_in_status(urls[0], person.username, f"{NEW} {(won + 1) % 4}") == 401


def test_a_key_neither_changes_the_password_nor_ends_sessions(servers: Servers, join: Join) -> None:
    person = join()
    key = join.holding(new_key(person), person, servers.there.url)
    assert change(key, NEW).status_code == 403
    assert key.http.get(f"{ACCOUNT}/sessions").status_code == 403
    for query in ({}, {"others": True}):
        assert key.http.delete(f"{ACCOUNT}/sessions", params=query).status_code == 403
    assert is_in(person)
