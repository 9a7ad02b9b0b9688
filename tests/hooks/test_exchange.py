"""HTTP as the hook reads it: what servers and proxies send, and what is no reply."""

import re
import socket
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from ssl import SSLContext
from urllib.parse import urlsplit

import pytest

from interlock_client.hook.exchange import HttpReply, exchange, proxy_of
from interlock_client.hook.settings import Settings
from interlock_client.mcp_bridge import Bridge, Exchange
from tests.hooks.hook import Desk, bash
from tests.hooks.parrot import Parrot
from tests.support.certificate import context_for

SECONDS = 30.0


def received(connection: socket.socket) -> bytes:
    """One request, which may come in several pieces."""
    content = b""
    while piece := connection.recv(65_536):
        content += piece
        head, end, body = content.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head.lower())
        if end and len(body) >= int(length[1] if length else 0):
            break
    return content


@contextmanager
def replying(reply: bytes, tls: SSLContext | None = None, before: bytes = b"") -> Generator[tuple[str, "list[bytes]"]]:
    """A server that sends this to whoever asks, and what it was asked; `before` TLS, what a proxy says."""
    heard: list[bytes] = []

    def serve() -> None:
        connection, _ = listener.accept()
        connection.settimeout(SECONDS)
        if before:
            heard.append(received(connection))
            connection.sendall(before)
        # Who does not trust it ends the connection.
        with suppress(OSError), connection, tls.wrap_socket(connection, server_side=True) if tls else connection as end:
            heard.append(received(end))
            end.sendall(reply)

    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        listener.settimeout(SECONDS)
        served = pool.submit(serve)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", heard
        served.result(SECONDS)


def asked(url: str, content: bytes | None = None, **headers: str) -> HttpReply:
    return exchange(urlsplit(url), "POST", "/a?b=c", headers, content, SECONDS)


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nRetry-After: 3\r\n\r\nhello and more",
        b"HTTP/1.0 200 OK\r\nretry-after:3\r\n\r\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200\r\nRETRY-AFTER: 3 \r\nTransfer-Encoding: Chunked\r\n\r\n"
        b"2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nx: y\r\n\r\n",
    ],
    ids=["a length", "until it ends", "chunks"],
)
def test_a_reply_is_read_however_it_says_where_it_ends(reply: bytes) -> None:
    with replying(reply) as (url, heard):
        told = asked(url, b"{}", accept="text/plain")
    assert (told.status, told.headers["retry-after"], told.content) == (200, "3", b"hello")
    head, _, content = heard[0].partition(b"\r\n\r\n")
    assert content == b"{}"
    place = url.removeprefix("http://").encode()
    lines = [b"host: " + place, b"connection: close", b"accept: text/plain", b"content-length: 2"]
    assert head.split(b"\r\n") == [b"POST /a?b=c HTTP/1.1", *lines]


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"220 mail.example ESMTP\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\nhello",
        b"HTTP/1.1 200 OK\r\na: " + b"b" * 70_000 + b"\r\n\r\nhello",
    ],
)
def test_what_is_no_whole_reply_is_a_server_that_is_away(reply: bytes) -> None:
    with replying(reply) as (url, _), pytest.raises(OSError):
        asked(url)


def test_a_key_that_would_be_two_headers_is_not_sent() -> None:
    with pytest.raises(ValueError, match="no header"):
        asked("http://127.0.0.1:9", authorization="Bearer a\r\nx-other: b")


HELLO = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"


@pytest.mark.parametrize(
    ("host", "is_trusted", "said"),
    [
        ("localhost", True, "A person allowed it."),
        ("localhost", False, "self-signed"),
        ("127.0.0.1", True, "not valid for"),
    ],
)
def test_a_certificate_has_to_be_trusted_and_of_that_name(
    desk: Desk, tmp_path: Path, host: str, is_trusted: bool, said: str
) -> None:
    placed = b'{"data": {"request_id": "perm_1", "status": "pending"}}'
    shown = b'{"data": {"status": "answered", "response": {"granted": true}}}'
    trusted = {"SSL_CERT_FILE": str(tmp_path / "certificate.pem")} if is_trusted else {}
    before = bash(hook_event_name="PreToolUse", tool_use_id="toolu_1")
    with Parrot(placed, shown, context_for("localhost", tmp_path)) as parrot:
        url = f"https://{host}:{parrot.port}"
        with desk.hook("claude-code", "--timeout", "12", event=before, INTERLOCK_URL=url, **trusted) as hook:
            told = hook.said()["hookSpecificOutput"]
    assert told["permissionDecision"] == ("allow" if "allowed" in said else "deny")
    assert said in told["permissionDecisionReason"]


def test_a_proxy_of_the_environment_is_asked_for_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    with replying(HELLO) as (url, heard):
        monkeypatch.setenv("http_proxy", url.replace("://", "://ann:p%40ss@"))
        assert asked("http://interlock.test:81").content == b"hello"
    lines = heard[0].split(b"\r\n")
    assert lines[:2] == [b"POST http://interlock.test:81/a?b=c HTTP/1.1", b"host: interlock.test:81"]
    assert b"proxy-authorization: Basic YW5uOnBAc3M=" in lines
    tunnel = b"HTTP/1.1 200 Connection established\r\n\r\n"
    with replying(HELLO, context_for("interlock.test", tmp_path), tunnel) as (url, heard):
        monkeypatch.setenv("HTTPS_PROXY", url.removeprefix("http://"))
        assert asked("https://interlock.test", authorization="Bearer key").content == b"hello"
    assert heard[0] == b"CONNECT interlock.test:443 HTTP/1.1\r\nhost: interlock.test:443\r\n\r\n"
    assert heard[1].startswith(b"POST /a?b=c HTTP/1.1\r\nhost: interlock.test\r\n")
    with replying(HELLO, before=b"HTTP/1.1 407 Who are you?\r\n\r\n") as (url, heard):
        monkeypatch.setenv("HTTPS_PROXY", url)
        with pytest.raises(ConnectionError, match=r"the proxy 127\.0\.0\.1 answered 407"):
            asked("https://interlock.test")


def test_the_bridge_of_mcp_goes_by_the_same_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    content = b'{"jsonrpc": "2.0", "id": 7, "result": {}}'
    reply = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(content) + content

    def listed(url: str) -> bytes:
        output = BytesIO()
        bridge = Bridge(Settings(url, "key"), {}, output)
        Exchange(bridge, {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}).run()
        return output.getvalue()

    with replying(reply) as (url, heard):
        monkeypatch.setenv("http_proxy", url.replace("://", "://ann:p%40ss@"))
        assert b"result" in listed("http://interlock.test:81")
    lines = heard[0].lower().split(b"\r\n")
    assert lines[:2] == [b"post http://interlock.test:81/mcp http/1.1", b"host: interlock.test:81"]
    assert b"proxy-authorization: basic yw5uonbac3m=" in lines
    tunnel = b"HTTP/1.1 200 Connection established\r\n\r\n"
    with replying(reply, context_for("interlock.test", tmp_path), tunnel) as (url, heard):
        monkeypatch.setenv("HTTPS_PROXY", url)
        assert b"result" in listed("https://interlock.test")
    assert heard[0].startswith(b"CONNECT interlock.test:443 ")
    assert heard[1].startswith(b"POST /mcp HTTP/1.1\r\nHost: interlock.test\r\n")


@pytest.mark.parametrize(
    ("host", "without", "is_direct"),
    [
        *(("localhost", "", True), ("127.0.0.1", "", True), ("::1", "", True), ("interlock.test", "", False)),
        *(
            ("interlock.test", "*", True),
            ("interlock.test", "other, .test", True),
            ("interlock.test", "lock.test", False),
        ),
        ("interlock.test", "Interlock.Test", True),
    ],
)
def test_no_proxy_for_this_machine_or_for_hosts_that_are_named(
    monkeypatch: pytest.MonkeyPatch, host: str, without: str, is_direct: bool
) -> None:
    monkeypatch.setenv("ALL_PROXY", "proxy.test:3128")
    monkeypatch.setenv("NO_PROXY", without)
    assert (proxy_of("https", host) is None) == is_direct


def test_a_proxy_that_is_none_for_http_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://user:secret@proxy.test")
    with pytest.raises(
        ConnectionError, match=r"^the proxy in the environment \(socks5://proxy.test\) is none for HTTP"
    ):
        asked("https://interlock.test")
