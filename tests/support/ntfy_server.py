"""A stand-in for ntfy on loopback: what it takes as JSON, after https://docs.ntfy.sh/publish/ as it was remembered in
November 2026."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

KNOWN = {"topic", "title", "message", "priority", "tags", "click", "icon", "email", "delay"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    ntfy: "NtfyServer"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        ntfy = cast("_Server", self.server).ntfy
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, headers = ntfy.take(self.path, body)
        self.send_response(status)
        for name, value in {"content-length": "2", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None: ...


@dataclass
class NtfyServer:
    """Answers 200, or in turn what `answers` say."""

    published: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    wrong: list[str] = field(default_factory=list[str])
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list[tuple[int, dict[str, str]]])
    tries: int = 0
    _server: _Server | None = None

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.ntfy = self
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server
        self._server.shutdown()
        self._server.server_close()

    @property
    def place(self) -> str:
        assert self._server
        return f"127.0.0.1:{self._server.server_address[1]}"

    def take(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, str]]:
        self.tries += 1
        if self.answers:
            return self.answers.pop(0)
        unknown = body.keys() - KNOWN
        if path != "/" or unknown or not body.get("topic") or len(body["message"].encode()) > 4096:
            self.wrong.append(f"{path} {sorted(unknown)} {body.get('topic')}")
            return 400, {}
        self.published.append(body)
        return 200, {}
