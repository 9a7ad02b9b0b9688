"""A receiver of webhooks on loopback: it keeps what it was sent, and answers as the test says."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

from interlock.domain.webhook import signature
from tests.support.waiting import wait_for


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> str:
        return self.headers["interlock-event"]

    @property
    def id(self) -> str:
        return self.headers["interlock-delivery"]

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)

    def is_signed_with(self, secret: str) -> bool:
        at, _, given = self.headers["interlock-signature"].removeprefix("t=").partition(",v1=")
        return given == signature(secret, int(at), self.body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    receiver: "Receiver"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A sender that did not wait for the answer is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        receiver = cast("_Server", self.server).receiver
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = receiver.take(Received(self.path, headers, body))
        receiver.gate.wait(30)
        self.send_response(answer)
        if 300 <= answer < 400:
            self.send_header("location", f"{receiver.url}/elsewhere")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: Any) -> None: ...


@dataclass
class Receiver:
    """Statuses are given in turn, the last of them from then on; a closed `gate` keeps every response back."""

    statuses: Sequence[int] = (200,)
    port: int = 0
    received: list[Received] = field(default_factory=list[Received])
    gate: threading.Event = field(default_factory=threading.Event)
    _server: _Server | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.gate.set()

    def start(self) -> Self:
        """Listen, after a stop at the same port as before."""
        self._server = _Server(("127.0.0.1", self.port), _Handler)
        self._server.receiver = self
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def stop(self) -> None:
        if self._server is not None:
            self.gate.set()
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def take(self, received: Received) -> int:
        with self._lock:
            self.received.append(received)
            return self.statuses[min(len(self.received), len(self.statuses)) - 1]

    def wait_for(self, is_right: Callable[[list[Received]], bool]) -> list[Received]:
        return wait_for(lambda: list(self.received), is_right)

    def wait_for_events(self, *events: str) -> list[Received]:
        """Wait until these came, in whichever order; the deliveries in the order of their names here."""
        wanted = sorted(events)
        came = self.wait_for(lambda all_of_it: sorted(one.event for one in all_of_it) == wanted)
        return sorted(came, key=lambda one: events.index(one.event))

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
