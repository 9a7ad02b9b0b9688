"""Something on loopback that says the same to everybody, whatever is asked."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from typing import Any, Self


class Parrot:
    def __init__(self, to_post: bytes, to_get: bytes, tls: SSLContext | None = None) -> None:
        handler = type("Handler", (_Handler,), {"to_post": to_post, "to_get": to_get})
        self._server = _Server(("127.0.0.1", 0), handler)
        if tls is not None:
            # Each connection shakes hands in its own thread.
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        return self._server.server_port

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: who does not trust its certificate goes."""


class _Handler(BaseHTTPRequestHandler):
    to_post: bytes
    to_get: bytes

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self._say(self.to_post)

    def do_GET(self) -> None:
        self._say(self.to_get)

    def _say(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a test tells what it saw."""
