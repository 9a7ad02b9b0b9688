"""Signing in with a browser."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.http import client as http_client
from tests.support.people import People
from tests.support.server import ServerProcess

SESSION = "/api/v1/session"
COOKIE = "interlock_session"


@pytest.fixture
def browser(server: ServerProcess, people: People) -> Iterator[httpx.Client]:
    """Alice's, signed in."""
    people.named("alice")
    with http_client(server.url, headers={"origin": server.url}) as client:
        client.post(SESSION, json={"username": "alice", "password": "wonderland"}).raise_for_status()
        yield client


def test_the_cookie_stands_for_the_person_and_no_script_or_site_can_take_it(
    server: ServerProcess, people: People
) -> None:
    people.named("alice")
    with server.client() as client:
        reply = client.post(SESSION, json={"username": "alice", "password": "wonderland"})
        cookie = reply.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert client.get(SESSION).json()["username"] == "alice"
        assert client.get("/api/sessions").status_code == 200


def test_a_wrong_password_gives_no_cookie(server: ServerProcess) -> None:
    with server.client() as client:
        reply = client.post(SESSION, json={"username": "alice", "password": "not this one"})
        assert (reply.status_code, "set-cookie" in reply.headers) == (401, False)
        assert client.get(SESSION).status_code == 401


def test_signing_out_ends_it(browser: httpx.Client) -> None:
    assert browser.get(SESSION).status_code == 200
    assert browser.delete(SESSION).json() == {"ended": True}
    assert browser.get(SESSION).status_code == 401
    assert browser.delete(SESSION).json() == {"ended": True}


def test_what_was_signed_out_holds_for_nobody_who_kept_a_copy(browser: httpx.Client, people: People) -> None:
    copy = {"authorization": f"Bearer {browser.cookies[COOKIE]}"}
    ticket = {"ticket": browser.post("/api/v1/tickets").raise_for_status().json()["ticket"]}
    with browser.stream("GET", "/api/v1/inbox/stream", headers=copy) as open_stream:
        lines = open_stream.iter_lines()
        assert next(lines) == "event: hello"
        browser.delete(SESSION).raise_for_status()
        assert "event: settled" not in list(lines)
        assert open_stream.is_stream_consumed
    assert browser.get(SESSION, headers=copy).status_code == 401
    assert browser.get("/api/v1/inbox/stream", params=ticket).status_code == 401
    assert people.named("alice").http.get(SESSION).status_code == 200


def test_another_sites_page_cannot_use_the_cookie(browser: httpx.Client) -> None:
    for headers in ({"origin": "https://evil.example"}, {"origin": "null"}):
        assert browser.post("/api/sessions", json={}, headers=headers).status_code == 403
    del browser.headers["origin"]
    assert browser.get("/api/v1/keys", headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_the_link_makes_the_first_account_once(tmp_path: Path) -> None:
    process = ServerProcess(tmp_path / "data").start()
    try:
        token = process.output.read_text().split("#once=")[1].split()[0]
        with process.client() as client:
            assert client.get("/api/v1/welcome").json()["has_accounts"] is False
            missing = client.post(f"{SESSION}/once", json={"token": token})
            assert (missing.status_code, len(missing.json()["errors"])) == (400, 2)
            first = {"token": token, "username": "ann", "password": "long enough"}
            assert client.post(f"{SESSION}/once", json={**first, "token": "another"}).status_code == 401
            assert client.post(f"{SESSION}/once", json=first).json()["role"] == "admin"
            assert client.get(SESSION).json()["username"] == "ann"
            assert client.post(f"{SESSION}/once", json=first).status_code == 401
    finally:
        process.close()


def test_the_link_of_a_later_start_signs_the_admin_in(tmp_path: Path) -> None:
    process = ServerProcess(tmp_path / "data").start()
    try:
        with process.client() as client:
            client.post("/api/auth/register", json={"username": "ann", "password": "long enough"}).raise_for_status()
        process.stop()
        process.start()
        token = process.output.read_text().split("#once=")[1].split()[0]
        with process.client() as client:
            assert client.post(f"{SESSION}/once", json={"token": token}).json()["username"] == "ann"
            assert client.get("/api/v1/inbox").status_code == 200
    finally:
        process.close()


def test_without_accounts_everybody_is_signed_in(tmp_path: Path) -> None:
    process = ServerProcess(tmp_path / "data", auth="none").start()
    try:
        assert "#once=" not in process.output.read_text()
        with process.client() as client:
            assert client.get(SESSION).json()["auth"] == "none"
    finally:
        process.close()
