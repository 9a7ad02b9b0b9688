"""The connection underneath a confirmation handler: opened with a credential, and opened again when it breaks."""

import asyncio
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from interlock_client._confirmations import ConfirmationConfig, ConfirmationError, connection_lost
from interlock_client.errors import InvalidInput, NetworkError, NotAuthenticated, ServerUnavailable, error_of

CONNECTING = 30.0
HEARTBEAT = 20.0
"""Seconds between two signs of life, and for which one may stay without a reply: then the connection counts as broken.
They are answered by the server's end of the connection itself, whatever it is busy with."""
LARGEST_MESSAGE = 16 * 1024 * 1024
POLICY = 1008
_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    credential: str | None
    user: str | None
    locale: str | None

    def __repr__(self) -> str:
        return f"Address({self.url!r})"

    @property
    def full_url(self) -> str:
        """The address of a server will do for that of its socket."""
        parts = urlsplit(self.url)
        if parts.scheme not in _SCHEMES or not parts.hostname:
            raise InvalidInput(f"{self.url!r} is no address of a confirmation socket: it begins with ws:// or wss://")
        query = [*parse_qsl(parts.query), *([("user_id", self.user)] if self.user else [])]
        path = parts.path if parts.path not in ("", "/") else "/ws"
        return urlunsplit((_SCHEMES[parts.scheme], parts.netloc, path, urlencode(query), ""))

    @property
    def headers(self) -> dict[str, str]:
        headers = {"Accept-Language": self.locale} if self.locale else {}
        return {**headers, "Authorization": f"Bearer {self.credential.strip()}"} if self.credential else headers


async def open_connection(address: Address) -> ClientConnection:
    try:
        return await connect(
            address.full_url,
            additional_headers=address.headers,
            max_size=LARGEST_MESSAGE,
            ping_interval=HEARTBEAT,
            ping_timeout=HEARTBEAT,
        )
    except InvalidStatus as error:
        refusal = error_of(error.response.status_code, None)
        if isinstance(refusal, ServerUnavailable):
            raise connection_lost(f"{address.url} is not available ({error.response.status_code})") from error
        raise refusal from error
    except InvalidURI as error:
        raise InvalidInput(f"{address.url!r} is no address of a confirmation socket") from error
    except (OSError, InvalidHandshake, TimeoutError) as error:
        raise connection_lost(f"{address.url} cannot be reached ({error})") from error


class ConfirmationLink(ABC):
    def __init__(self, address: Address, config: ConfirmationConfig) -> None:
        self.ws_url = address.url
        self.ws: ClientConnection | None = None
        self.config = config
        self._address = address
        self._change = asyncio.Event()
        self._is_over = False
        self._task: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Connect, and handle what comes until `close` is called.

        `NotAuthenticated` when the credential does not hold, `NetworkError` when the connection is gone for good.
        """
        self._is_over = False
        try:
            self.ws = await open_connection(self._address)
            while not self._is_over:
                if await self._greet():
                    self._change.set()
                    await self._start_message_loop()
                await self._reopen()
        finally:
            self._is_over = True
            self._change.set()
            await self._finish()

    async def close(self) -> None:
        self._is_over = True
        if self.ws is not None:
            await self.ws.close()

    @abstractmethod
    async def on_error(self, error: ConfirmationError) -> None: ...

    @abstractmethod
    def _greeting(self) -> Message | None:
        """What is to be said first on a new connection."""

    @abstractmethod
    async def _receive(self, raw: str | bytes) -> None: ...

    @abstractmethod
    async def _finish(self) -> None:
        """There will be no more."""

    async def _start_message_loop(self) -> None:
        assert self.ws is not None
        try:
            async for raw in self.ws:
                await self._receive(raw)
        except ConnectionClosed:
            return

    async def _greet(self) -> bool:
        assert self.ws is not None
        greeting = self._greeting()
        try:
            if greeting is not None:
                await self.ws.send(json.dumps(greeting))
        except ConnectionClosed:
            return False
        return True

    async def _reopen(self) -> None:
        assert self.ws is not None
        if self._is_over:
            return
        if self.ws.close_code == POLICY:
            raise NotAuthenticated(self.ws.close_reason or "the credential no longer holds")
        lost = connection_lost(f"the connection to {self.ws_url} broke")
        for _ in range(self.config.max_reconnect_attempts if self.config.auto_reconnect else 0):
            await asyncio.sleep(self.config.reconnect_interval)
            if self._is_over:
                return
            try:
                self.ws = await open_connection(self._address)
                return
            except NetworkError as error:
                lost = connection_lost(error.message)
        await self.on_error(lost)
        raise lost

    async def _send(self, message: Message) -> None:
        ws = await self._wait_for_connection()
        try:
            await ws.send(json.dumps(message))
        except ConnectionClosed as error:
            # Whether it arrived is not known, and sent twice it would be said twice.
            raise connection_lost(f"the connection broke while sending: {error}") from error

    async def _wait_for_connection(self) -> ClientConnection:
        """The connection, once there is one."""
        try:
            async with asyncio.timeout(CONNECTING):
                while self.ws is None or self.ws.close_code is not None:
                    if self._is_over:
                        raise connection_lost("not connected: `connect` has ended")
                    self._change.clear()
                    await self._change.wait()
                return self.ws
        except TimeoutError:
            raise connection_lost("not connected: is `connect` running?") from None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self.connect())
        there = asyncio.create_task(self._wait_for_connection())
        await asyncio.wait({self._task, there}, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            there.cancel()
            await asyncio.gather(there, return_exceptions=True)
            await self._task
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
        if self._task is not None:
            await self._task
