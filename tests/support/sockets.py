"""A client of the hitl face's WebSocket, and its raw bytes for those who do not read."""

import base64
import json
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode, urlsplit

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.support.waiting import WAIT_SECONDS

PATH = "/api/v1/agent/ws"
CUT_OFF = 1006
"""What a socket that ends without a reason is closed with."""

Message = dict[str, Any]


class HitlSocket:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def send(self, message: Any) -> None:
        self.connection.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def receive(self) -> Message:
        return json.loads(self.connection.recv(timeout=WAIT_SECONDS))

    def until(self, kind: str) -> list[Message]:
        """The messages up to the first of that type, which is the last one."""
        seen = [self.receive()]
        while seen[-1]["type"] != kind:
            seen.append(self.receive())
        return seen

    def events(self, count: int) -> list[Message]:
        """The next messages, all of which have to be events."""
        seen = [self.receive() for _ in range(count)]
        assert {message["type"] for message in seen} == {"hitl_event"}, seen
        return seen

    def ask(self, message: Any) -> Message:
        """Send, and receive what comes next."""
        self.send(message)
        return self.receive()

    def subscribe(self, conversation_id: str, **fields: Any) -> Message:
        return self.ask({"type": "subscribe", "conversation_id": conversation_id, **fields})

    def respond(self, request_id: Any, response: Any) -> Message:
        """The reply to this response; events that come before it are left out."""
        self.send({"type": "hitl_respond", "request_id": request_id, "response": response})
        return next(one for one in iter(self.receive, None) if one["type"] != "hitl_event")

    def is_alive(self) -> bool:
        self.send({"type": "ping"})
        return self.until("pong")[-1] == {"type": "pong"}

    def until_closed(self) -> tuple[int, list[Message]]:
        """The code that it is closed with, and the messages before."""
        seen: list[Message] = []
        try:
            while True:
                seen.append(self.receive())
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else CUT_OFF, seen


@contextmanager
def joined(
    url: str,
    credential: str | None,
    *,
    headers: dict[str, str] | None = None,
    host: str | None = None,
    **query: str | None,
) -> Generator[HitlSocket]:
    """A socket with this credential, a token or a key; the query may name a conversation."""
    named = {"authorization": f"Bearer {credential}"} if credential else {}
    place = urlsplit(url)
    with connect(
        f"ws://{host or place.netloc}{PATH}?{urlencode(_given(query))}",
        sock=socket.create_connection((place.hostname, place.port), timeout=WAIT_SECONDS),
        additional_headers={**named, **(headers or {})},
        compression=None,
        ping_interval=None,
        proxy=None,
        close_timeout=2.0,
        open_timeout=WAIT_SECONDS,
        max_size=None,
    ) as connection:
        yield HitlSocket(connection)


def refused(
    url: str,
    credential: str | None,
    *,
    headers: dict[str, str] | None = None,
    host: str | None = None,
    **query: str | None,
) -> tuple[int, Message]:
    """The status and the body that a handshake is refused with."""
    try:
        with joined(url, credential, headers=headers, host=host, **query):
            raise AssertionError("the handshake was not refused")
    except InvalidStatus as error:
        body = error.response.body
        assert body is not None
        return error.response.status_code, json.loads(body)


def _given(query: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in query.items() if value is not None}


@contextmanager
def unread(url: str, credential: str, **query: str) -> Generator[socket.socket]:
    """A socket with a small buffer that has made its handshake and reads nothing more."""
    place = urlsplit(url)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(WAIT_SECONDS)
        connection.connect((place.hostname, place.port))
        lines = [
            f"GET {PATH}?{urlencode(query)} HTTP/1.1",
            f"Host: {place.netloc}",
            f"Authorization: Bearer {credential}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        ]
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        assert connection.recv(12) == b"HTTP/1.1 101"
        yield connection
