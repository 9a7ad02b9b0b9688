"""HTTP as the hook reads it: what servers and proxies send, and what is no reply."""

import socket
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from interlock_client.hook.exchange import HttpReply, exchange

SECONDS = 30.0


@contextmanager
def replying(reply: bytes) -> Generator[tuple[str, "list[bytes]"]]:
    """A server that sends this to whoever asks, and what it was asked."""
    heard: list[bytes] = []

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(SECONDS)
            heard.append(connection.recv(65_536))
            connection.sendall(reply)

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
