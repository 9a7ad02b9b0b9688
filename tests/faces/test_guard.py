"""Who may talk to the server at all, how much they may send, and how a request is found again."""

import json
import re
import socket
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from interlock.faces.http.guard import MAX_BODY, AllowedHosts, Guard
from interlock.faces.http.limits import Limits
from interlock.faces.http.problems import Problems
from tests.support.puppet import says, script
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient


def status(server: ServerProcess, path: str = "/healthz", method: str = "GET", **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with server.client() as http:
        reply = http.request(method, path, headers=named)
        assert reply.headers["x-request-id"]
        if reply.status_code == 403:
            assert "detail" in reply.json()
        return reply.status_code


@pytest.fixture(scope="module")
def port(server: ServerProcess) -> int:
    return urlsplit(server.url).port or 0


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.2", "[::1]", "LOCALHOST"])
def test_a_name_of_this_machine_is_taken(server: ServerProcess, port: int, host: str) -> None:
    assert status(server, host=f"{host}:{port}") == 200
    assert status(server, host=host) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "a b", "["]
)
def test_a_name_that_a_web_page_could_point_here_is_refused(server: ServerProcess, host: str) -> None:
    assert status(server, host=host) == 403


def test_a_refused_name_drives_nothing(server: ServerProcess, alice: ThreadsClient, thread: str) -> None:
    headers = {"host": "evil.example"}
    reply = alice.http.post(f"/api/chat/{thread}", json={"message": script(says("x"))}, headers=headers)
    assert reply.status_code == 403
    assert alice.history(thread) == []


def test_the_same_origin_is_taken_and_another_is_not(server: ServerProcess, port: int) -> None:
    assert status(server, origin=server.url) == 200
    foreign = [f"http://127.0.0.1:{port + 1}", "http://evil.example", "null", "", f"https://evil.example:{port}"]
    for origin in [*foreign, f"http://127.0.0.1:{port}.evil.example", "file://", "chrome-extension://abc"]:
        assert status(server, origin=origin) == 403


def test_a_preflight_of_another_origin_gets_no_leave(server: ServerProcess) -> None:
    with server.client() as http:
        headers = {"origin": "http://evil.example", "access-control-request-method": "POST"}
        reply = http.options("/api/chat", headers=headers)
        assert reply.status_code == 403
        assert not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("mode", ["no-cors", "cors", "navigate"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_a_browser_sends_for_another_site_is_refused(
    server: ServerProcess, site: str, mode: str, method: str
) -> None:
    assert status(server, "/api/sessions", method, sec_fetch_site=site, sec_fetch_mode=mode) == 403


def test_a_link_from_another_site_may_be_followed_to_a_page(server: ServerProcess) -> None:
    headers = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert status(server, "/", **headers) == 200
    assert status(server, "/", "POST", **headers) == 403
    assert status(server, "/", sec_fetch_site="cross-site", sec_fetch_mode="no-cors") == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_what_a_browser_sends_for_this_site_is_taken(server: ServerProcess, site: str) -> None:
    assert status(server, "/healthz", sec_fetch_site=site) == 200


def test_other_hosts_and_origins_can_be_allowed() -> None:
    allowed = AllowedHosts(frozenset({"interlock.example"}), frozenset({"https://app.example"}))
    assert allowed.takes_host("interlock.example")
    assert allowed.takes_host("Interlock.Example:8000")
    assert not allowed.takes_host("other.example")
    assert not allowed.takes_host("10.0.0.1")
    assert allowed.takes_origin("https://app.example", "interlock.example")
    assert allowed.takes_origin("https://interlock.example", "interlock.example")
    assert not allowed.takes_origin("https://app.example.evil", "interlock.example")


def test_a_server_beyond_loopback_goes_by_its_addresses_but_not_by_any_name() -> None:
    allowed = AllowedHosts(frozenset({"0.0.0.0"}), any_address=True)
    assert allowed.takes_host("192.168.1.5:8000")
    assert allowed.takes_host("[fe80::1]:8000")
    assert not allowed.takes_host("evil.example")


def test_a_body_of_the_largest_size_is_read(alice: ThreadsClient, thread: str) -> None:
    content = b'{"message": ""' + b" " * (MAX_BODY - 15) + b"}"
    assert len(content) == MAX_BODY
    headers = {"content-type": "application/json"}
    assert alice.http.post(f"/api/chat/{thread}", content=content, headers=headers).status_code == 422


@pytest.mark.parametrize("with_length", [True, False])
@pytest.mark.parametrize(("language", "words"), [("", "a body has"), ("zh-CN,zh;q=0.9", "请求体最多")])
def test_a_larger_body_is_refused_in_the_language_that_was_asked_for(
    alice: ThreadsClient, thread: str, with_length: bool, language: str, words: str
) -> None:
    content = b'{"message": "' + b"x" * MAX_BODY + b'"}'
    pieces = (content[at : at + 65536] for at in range(0, len(content), 65536))
    headers = {"content-type": "application/json", "accept-language": language}
    sent = content if with_length else pieces
    reply = alice.http.post(f"/api/chat/{thread}", content=sent, headers=headers)
    assert reply.status_code == 413
    assert f"{words} {MAX_BODY} " in reply.json()["detail"]
    assert alice.history(thread) == []


def test_json_that_is_nested_too_deeply_is_refused(alice: ThreadsClient, thread: str) -> None:
    content = b'{"message": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    headers = {"content-type": "application/json"}
    reply = alice.http.post(f"/api/chat/{thread}", content=content, headers=headers)
    assert reply.status_code in (400, 422)


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"nonsense", b'{"message": NaN}'])
def test_what_is_no_json_is_unprocessable(alice: ThreadsClient, thread: str, content: bytes) -> None:
    headers = {"content-type": "application/json"}
    reply = alice.http.post(f"/api/chat/{thread}", content=content, headers=headers)
    assert reply.status_code in (400, 422)
    assert "detail" in reply.json()


def test_a_request_gets_an_id_and_keeps_one_that_it_brought(server: ServerProcess) -> None:
    with server.client() as http:
        ids = {http.get("/healthz").headers["x-request-id"] for _ in range(3)}
        assert len(ids) == 3
        assert http.get("/healthz", headers={"x-request-id": "mine-42"}).headers["x-request-id"] == "mine-42"


@pytest.mark.parametrize("given", ["a b", "x" * 65, "<script>", "a\tb", "ünï"])
def test_an_id_that_could_harm_a_log_is_replaced(server: ServerProcess, given: str) -> None:
    with server.client() as http:
        kept = http.get("/healthz", headers={b"x-request-id": given.encode()}).headers["x-request-id"]
        assert re.fullmatch(r"[0-9a-f]{16}", kept)


def test_unknown_paths_and_methods_are_told_as_details(server: ServerProcess, alice: ThreadsClient) -> None:
    with server.client() as http:
        unknown = http.get("/api/nowhere")
        assert (unknown.status_code, unknown.json()) == (404, {"detail": "Not Found"})
        wrong = http.put("/api/sessions")
        assert (wrong.status_code, wrong.json()) == (405, {"detail": "Method Not Allowed"})
        assert wrong.headers["allow"]


def test_a_connection_that_speaks_no_http_disturbs_nobody(server: ServerProcess, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        connection.recv(1024)
    assert status(server) == 200


def test_refusals_are_json_too(server: ServerProcess) -> None:
    with server.client() as http:
        reply = http.get("/healthz", headers={"host": "evil.example"})
        assert reply.headers["content-type"] == "application/json"
        assert json.loads(reply.text)["detail"]


async def test_what_fails_inside_is_told_as_an_error_with_its_request_id(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise RuntimeError("inside")

    transport = httpx.ASGITransport(Guard(broken, AllowedHosts(), Limits(), Problems({})))
    with caplog.at_level("INFO", "interlock.access"):
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            reply = await http.get("/", headers={"x-request-id": "broken-one"})
    assert (reply.status_code, reply.headers["x-request-id"]) == (500, "broken-one")
    assert "inside" not in reply.text
    failed, access = caplog.records
    assert failed.exc_info
    assert (failed.__dict__["request_id"], access.__dict__["status"]) == ("broken-one", 500)
