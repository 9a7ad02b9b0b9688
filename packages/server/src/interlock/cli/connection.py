"""One connection: cut off by a face, or where its other end neither takes what is sent nor sends what it began."""

import asyncio
import ipaddress
import logging
import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from interlock.faces.http.dropping import DROP
from interlock.faces.http.limits import address_of

_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TOO_MANY = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

logger = logging.getLogger("interlock.streams")
floods = logging.getLogger("interlock.connections")


@dataclass(slots=True)
class ConnectionLimits:
    """What one address may have open, and how long a client may take."""

    slow_seconds: float = 30.0
    """For taking what is sent to it."""
    request_seconds: float = 30.0
    """For sending a request's head, and then its body."""
    per_address: int = 1_000
    proxies: Sequence[str] = ()
    """Whose connections are those of others, and not counted."""
    open: Counter[str] = field(default_factory=Counter[str])

    def counted_address(self, client: tuple[str, int] | None) -> str | None:
        """The address under which a connection counts; None where it does not."""
        if client is None or any(_is_of(client[0], proxy) for proxy in self.proxies):
            return None
        return address_of({"client": client})


def _is_of(host: str, proxy: str) -> bool:
    if proxy == "*":
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(proxy, strict=False)
    except ValueError:
        return host == proxy


class Connection(H11Protocol):
    """A response that is larger than its buffer and is not taken is cut off.

    The streams have a bound of their own, with a better reason in the log; so this one waits for longer.
    """

    bounds = ConnectionLimits()

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        # A socket on which nothing happens tells by this that the other end is gone; no client has to answer anything.
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._stuck: asyncio.TimerHandle | None = None
        self._late: asyncio.TimerHandle | None = None
        self._awaited_part: str | None = None
        self._is_socket = False
        self._address = self.bounds.counted_address(self.client)
        self.app_state = {**self.app_state, DROP: transport.abort}
        if self._address is None or self.bounds.open[self._address] < self.bounds.per_address:
            if self._address is not None:
                self.bounds.open[self._address] += 1
            self._await("head")
            return
        floods.warning("%s has %d connections open: more are refused", self._address, self.bounds.per_address)
        self._address = None
        transport.write(_TOO_MANY)
        transport.close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        # A request that came behind the one before is read here.
        super().on_response_complete()
        self._look()

    def _look(self) -> None:
        """Wait for what is left of a request that has begun."""
        if self._is_socket:
            return
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._await("body")
        else:
            self._await("head" if state is h11.IDLE and self.conn.trailing_data[0] else None)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        # From here on it is a socket, of which a caller may have so many; no more of a request is to come.
        self._is_socket = True
        self._leave()
        super().handle_websocket_upgrade(event)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck = self.loop.call_later(2 * self.bounds.slow_seconds, self._cut_off)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._free()

    def connection_lost(self, exc: Exception | None) -> None:
        self._free()
        self._leave()
        super().connection_lost(exc)

    def _leave(self) -> None:
        """It is no longer one of its address's, and nothing of it is waited for."""
        self._await(None)
        if self._address is not None:
            self.bounds.open[self._address] -= 1
            if not self.bounds.open[self._address]:
                del self.bounds.open[self._address]
            self._address = None

    def _await(self, part: str | None) -> None:
        """Wait for that part of a request from now on. More of the same part gives it no more time."""
        if part == self._awaited_part:
            return
        self._awaited_part = part
        if self._late is not None:
            self._late.cancel()
        self._late = None if part is None else self.loop.call_later(self.bounds.request_seconds, self._too_late)

    def _too_late(self) -> None:
        if self.flow.read_paused:
            # What came is not taken yet: that is not the client's doing.
            self._late = self.loop.call_later(self.bounds.request_seconds, self._too_late)
            return
        floods.warning("%s did not send a request's %s in time", self.client and self.client[0], self._awaited_part)
        if self._awaited_part == "head" or not self.cycle.response_started:
            self.transport.write(_TIMED_OUT)
        self.transport.close()

    def _cut_off(self) -> None:
        seconds = 2 * self.bounds.slow_seconds
        logger.warning(
            "a response was cut off: its reader took nothing for %g s", seconds, extra={"path": self.scope["path"]}
        )
        self.transport.abort()

    def _free(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None


def connections(bounds_: ConnectionLimits) -> type[Connection]:
    class BoundedConnection(Connection):
        bounds = bounds_

    return BoundedConnection
