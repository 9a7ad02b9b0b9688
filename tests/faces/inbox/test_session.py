"""Signing in with a browser."""

import os
import signal
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from select import select

import httpx
import pytest

from interlock.faces.http.tokens import OneTimeLink
from tests.support.command import users
from tests.support.http import client as http_client
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.warm import WarmProcess

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


ANN = {"username": "ann", "password": "long enough"}


def test_no_link_is_written_to_a_file_once_there_is_an_admin(tmp_path: Path) -> None:
    process = ServerProcess(tmp_path / "data").start()
    try:
        early = process.output.read_text().split("#once=")[1].split()[0]
        with process.client() as client:
            client.post("/api/auth/register", json=ANN).raise_for_status()
        process.stop()
        process.start()
        assert "#once=" not in process.output.read_text() + process.log.read_text()
        with process.client() as client:
            for token in (early, "", "None"):
                assert client.post(f"{SESSION}/once", json={"token": token}).status_code in (401, 422)
    finally:
        process.close()


@pytest.mark.parametrize("made_by", ["registration", "command"])
def test_a_link_that_was_written_to_a_file_ends_when_the_first_admin_is_made(tmp_path: Path, made_by: str) -> None:
    with ServerProcess(tmp_path / "data") as process, process.client() as client:
        token = process.output.read_text().split("#once=")[1].split()[0]
        if made_by == "command":
            users(process, "create", "ann", "--password", ANN["password"])
        else:
            client.post("/api/auth/register", json=ANN).raise_for_status()
        with http_client(process.url) as finder:
            for more in ({}, {"username": "eve", "password": "long enough"}):
                assert finder.post(f"{SESSION}/once", json={"token": token, **more}).status_code == 401
            assert finder.get(SESSION).status_code == 401
        client.post(SESSION, json=ANN).raise_for_status()
        trail = client.get("/api/v1/audit", params={"conversation_id": "server"}).json()["entries"]
    assert ("session.refused", "link") in [(one["action"], one["data"].get("how")) for one in trail]


def test_of_two_who_use_the_link_at_once_one_becomes_the_admin(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as process, ThreadPoolExecutor(4) as at_once:
        token = process.output.read_text().split("#once=")[1].split()[0]

        def use(number: int) -> int:
            with process.client() as client:
                body = {"token": token, "username": f"ann{number}", "password": "long enough"}
                return client.post(f"{SESSION}/once", json=body).status_code

        assert sorted(at_once.map(use, range(4))) == [200, 401, 401, 401]


def test_on_a_terminal_the_link_signs_the_admin_in_once_and_both_are_recorded(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as process, process.client() as client:
        client.post("/api/auth/register", json=ANN).raise_for_status()
    with ServerProcess(tmp_path / "data") as process:
        pass
    with on_a_terminal(tmp_path / "data") as (url, printed), http_client(url) as client:
        token = printed.split("#once=")[1].split()[0]
        assert client.post(f"{SESSION}/once", json={"token": token}).json()["username"] == "ann"
        assert client.get("/api/v1/inbox").status_code == 200
        with http_client(url) as other:
            assert other.post(f"{SESSION}/once", json={"token": token}).status_code == 401
        trail = client.get("/api/v1/audit", params={"conversation_id": "server"}).json()["entries"]
    newest = [(entry["action"], entry["actor"]) for entry in trail[:3]]
    assert newest == [("session.refused", "system"), ("session.opened", "ann"), ("link.made", "system")]
    assert (trail[0]["data"]["how"], trail[1]["data"]["how"]) == ("link", "link")
    # One of the first start, when there was no admin, none of the second, and this one.
    assert [entry["action"] for entry in trail].count("link.made") == 2
    assert token not in str(trail)


@contextmanager
def on_a_terminal(data: Path) -> Generator[tuple[str, str]]:
    """A server whose output is a terminal: its address, and what it printed."""
    ours, theirs = os.openpty()
    process = WarmProcess(
        ["serve", "--port", "0", "--data", str(data)], {}, Path(os.ttyname(theirs)), data / "server.log"
    )
    try:
        printed = ""
        while printed.count("\n") < 2:
            assert select([ours], [], [], 60)[0], f"the server printed only {printed!r}"
            printed += os.read(ours, 4_096).decode()
        yield printed.split("ready at ")[1].split(" ")[0], printed
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        os.close(ours)
        os.close(theirs)


def test_the_link_without_an_admin_makes_an_admin_though_there_are_accounts(tmp_path: Path) -> None:
    users(ServerProcess(tmp_path / "data"), "create", "bo", "--password", "long enough", "--role", "owner")
    with ServerProcess(tmp_path / "data") as process, process.client() as client:
        token = process.output.read_text().split("#once=")[1].split()[0]
        assert client.post(f"{SESSION}/once", json={"token": token, **ANN}).json()["role"] == "admin"


def test_the_link_ends_after_a_quarter_of_an_hour() -> None:
    made = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
    for after, holds in ((timedelta(minutes=15, microseconds=-1), True), (timedelta(minutes=15), False)):
        link = OneTimeLink()
        token = link.make(made, is_for_first=False)
        assert link.use(token, made + after, is_first=False) is holds
        assert link.use(token, made, is_first=False) is not holds


def test_without_accounts_everybody_is_signed_in(tmp_path: Path) -> None:
    process = ServerProcess(tmp_path / "data", auth="none").start()
    try:
        assert "#once=" not in process.output.read_text()
        with process.client() as client:
            assert client.get(SESSION).json()["auth"] == "none"
    finally:
        process.close()
