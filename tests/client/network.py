"""A bad network in front of a server, at an address that stays: connections can be cut, and replies lost.

Behind it a server may be killed and started again, on another port.
"""

import socket
import threading
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class Network:
    def __init__(self, target: str) -> None:
        self.target = target
        self.losing = 0
        """So many of the next connections are cut when their reply comes, before a byte of it is passed on."""
        self.swallowing = False
        """What clients send is taken, and does not arrive."""
        self.opened = 0
        """How many connections there were."""
        self._lock = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def cut(self) -> None:
        """End every connection, in the middle of whatever it does."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                _close(end)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            address = urlsplit(self.target)
            try:
                far = socket.create_connection((address.hostname, address.port), timeout=5)
            except OSError:
                _close(near)
                self.opened += 1
                continue
            far.settimeout(None)
            with self._lock:
                self._pairs.append((near, far))
                self.opened += 1  # From now on a cut ends it.
                loses, self.losing = self.losing > 0, max(0, self.losing - 1)
            threading.Thread(target=self._send, args=(near, far), daemon=True).start()
            threading.Thread(target=_lose if loses else _pass, args=(far, near), daemon=True).start()

    def _send(self, near: socket.socket, far: socket.socket) -> None:
        with suppress(OSError):
            while data := near.recv(65536):
                if not self.swallowing:
                    far.sendall(data)
        _close(near)
        _close(far)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _close(self._listener)
        self.cut()


def _pass(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    _close(source)
    _close(sink)


def _lose(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        source.recv(65536)
    _close(source)
    _close(sink)


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
