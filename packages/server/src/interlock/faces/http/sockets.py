"""WebSockets within bounds: refused with a status, messages of a size, and nobody waits for who does not read."""

import asyncio
import json
import logging
import math
from collections import deque
from contextlib import suppress
from http import HTTPStatus
from typing import Any, NoReturn, Self, cast

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from interlock.domain.errors import InvalidInput
from interlock.faces.http.depth import TOO_DEEP, too_deep
from interlock.faces.http.dropping import drop, drop_later

MAX_MESSAGE = 1024 * 1024
CAPACITY = 1_000
"""How many texts wait for a client."""
VOLUME = 8 * 1024 * 1024
"""How many characters they have together."""
CLOSE_SECONDS = 2.0
"""How long a client that is too slow has for taking the reason."""
TRY_AGAIN_LATER = 1013

logger = logging.getLogger("interlock.streams")


async def refuse_handshake(scope: Scope, send: Send, response: Response) -> None:
    """Answer a handshake with this response in place of a socket; without a body where the server cannot."""
    if "websocket.http.response" in scope.get("extensions", {}):
        await response(scope, _nothing, send)
        return
    reason = HTTPStatus(response.status_code).phrase
    await send({"type": "websocket.close", "code": 1008, "reason": f"{response.status_code} {reason}"})


async def _nothing() -> Message:
    raise RuntimeError("a refusal reads nothing")


def check_message(message: str | bytes) -> None:
    """`InvalidInput` for one that is too large or nests too deeply; to be called before it is parsed."""
    size = len(message.encode("utf-8", "surrogatepass")) if isinstance(message, str) else len(message)
    if size > MAX_MESSAGE:
        raise InvalidInput(f"a message has {MAX_MESSAGE} bytes at the most")
    if too_deep(message):
        raise InvalidInput(TOO_DEEP)


def read_message(message: str | bytes) -> dict[str, Any]:
    """The JSON object that a message is; `InvalidInput` for anything else, numbers that only Python knows included."""
    check_message(message)
    try:
        given: Any = json.loads(message, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("the message is not JSON") from error
    if not isinstance(given, dict):
        raise InvalidInput("the message is not a JSON object")
    return cast("dict[str, Any]", given)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _no_number(text)
    return value


class Outbox:
    """What waits to be sent on an accepted socket: bounded, and written by one task while the block lasts.

    A client for whom too much waits, or who takes nothing for too long, is closed with 1013; the endpoint hears of it
    as of any other disconnect. Leaving the block sends what still waits.
    """

    def __init__(
        self,
        socket: WebSocket,
        caller: str,
        slow_seconds: float,
        capacity: int = CAPACITY,
        volume: int = VOLUME,
    ) -> None:
        self._socket = socket
        self._caller = caller
        self._slow_seconds = slow_seconds
        self._capacity = capacity
        self._volume = volume
        self._texts: deque[str] = deque()
        self._waiting_length = 0
        self._changed = asyncio.Event()
        self._taken = asyncio.Event()
        self._is_over = False
        self._writer: asyncio.Task[None] | None = None
        self._closer: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether what is put is still sent."""
        return not self._is_over

    def put(self, text: str) -> None:
        """Send it after what was put before. Never waits; once the client is given up, it is lost."""
        if self._is_over:
            return
        if len(self._texts) >= self._capacity or self._waiting_length + len(text) > self._volume:
            self._give_up(f"too slow: {len(self._texts)} messages waited")
            return
        self._texts.append(text)
        self._waiting_length += len(text)
        self._changed.set()

    async def room(self) -> None:
        """Wait until half of what may wait for the client is free: for who has a long story to tell."""
        while not self._is_over and (
            len(self._texts) > self._capacity // 2 or self._waiting_length > self._volume // 2
        ):
            self._taken.clear()
            await self._taken.wait()

    async def __aenter__(self) -> Self:
        self._writer = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._writer is not None
        self._is_over = True
        self._changed.set()
        try:
            await asyncio.wait([self._writer], timeout=self._slow_seconds)
            if self._closer is not None:
                await asyncio.wait([self._closer])
        finally:
            self._writer.cancel()

    async def _write(self) -> None:
        try:
            while self._texts or not self._is_over:
                await self._next_change()
                while self._texts:
                    text = self._texts.popleft()
                    self._waiting_length -= len(text)
                    async with asyncio.timeout(self._slow_seconds):
                        await self._socket.send_text(text)
                    self._taken.set()
        except TimeoutError:
            self._give_up(f"too slow: nothing was taken for {self._slow_seconds:g} s")
        except (WebSocketDisconnect, RuntimeError):
            # It has gone, or was closed by somebody else; who reads from it is told.
            self._is_over = True
            self._taken.set()

    async def _next_change(self) -> None:
        if not self._texts and not self._is_over:
            self._changed.clear()
            await self._changed.wait()

    def _give_up(self, reason: str) -> None:
        self._is_over = True
        self._texts.clear()
        self._waiting_length = 0
        self._changed.set()
        self._taken.set()
        if self._closer is not None:
            return
        logger.warning(
            "a socket was closed, %s (caller %s)",
            reason,
            self._caller,
            extra={"path": self._socket.url.path, "request_id": self._socket.scope["state"].get("request_id")},
        )
        self._closer = asyncio.create_task(self._close(reason))

    async def _close(self, reason: str) -> None:
        assert self._writer is not None
        self._writer.cancel()
        scope = self._socket.scope
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._socket.close(TRY_AGAIN_LATER, reason)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            with suppress(ClientDisconnect):
                await drop(scope)
        else:
            drop_later(scope, self._slow_seconds)
