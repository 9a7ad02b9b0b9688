"""JSON-RPC messages as they come from an upstream, and as they go to a host: one of JSON, or server-sent events."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import suppress
from typing import Any, cast

from fastapi import Request
from starlette.types import Message, Send

from interlock.domain.errors import NotAuthenticated
from interlock.domain.json_value import JsonObject, object_at
from interlock.faces.http.credentials import caller_still
from interlock.faces.http.server_state import state_of
from interlock.faces.http.watching import RECHECK_SECONDS
from interlock.ports.gateway import Reply, UpstreamLost

KEEP_ALIVE = b": waiting\n\n"
LONGEST_REASON = 500


async def messages_of(reply: Reply) -> AsyncGenerator[JsonObject]:
    """Each message of the reply. Whatever is none ends it as lost."""
    if reply.is_stream:
        async for data in _events(reply):
            yield _message(data)
        return
    body = b"".join([chunk async for chunk in reply.body])
    yield _message(body)


async def _events(reply: Reply) -> AsyncGenerator[bytes]:
    """The data of each event."""
    rest, data = b"", list[bytes]()
    async for chunk in reply.body:
        *lines, rest = (rest + chunk).replace(b"\r\n", b"\n").split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line.strip(b"\r") and data:
                whole = b"\n".join(data)
                data.clear()
                # An event without data opens a stream that can be resumed.
                if whole:
                    yield whole


def _message(data: bytes) -> JsonObject:
    try:
        message: Any = json.loads(data)
    except (ValueError, RecursionError):
        raise UpstreamLost("upstream sent something that is no JSON") from None
    if not isinstance(message, dict):
        raise UpstreamLost("upstream sent something that is no message")
    return cast("JsonObject", message)


async def reason_of(reply: Reply) -> tuple[JsonObject | None, str]:
    """Of a refused request: the JSON-RPC error in it, where it has one, and a text."""
    body = b""
    async for chunk in reply.body:
        body += chunk
        if len(body) > 1024 * 1024:
            break
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    error = cast("JsonObject", message) if isinstance(message, dict) and "error" in message else None
    return error, body[:LONGEST_REASON].decode("utf-8", "replace")


class HostReply:
    """What a host is told of one call: JSON where nothing comes before the answer, else a stream."""

    def __init__(self, send: Send, request_id: Any, token: Any) -> None:
        self._send = send
        self._id = request_id
        self._token = token
        self._is_begun = False
        self._beats = 0
        """Our own signs of progress; what upstream reports comes after them, since progress only rises."""

    async def beat(self) -> None:
        """Somebody is waited for."""
        if self._token is None:
            await self._write(KEEP_ALIVE)
            return
        self._beats += 1
        await self._tell(
            {
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {
                    "progressToken": self._token,
                    "progress": self._beats,
                    "message": "Waiting for a person to answer",
                },
            }
        )

    async def relay(self, message: JsonObject) -> None:
        params = object_at(message, "params")
        if self._beats and message.get("method") == "notifications/progress":
            risen = {
                name: params[name] + self._beats
                for name in ("progress", "total")
                if isinstance(params.get(name), int | float)
            }
            message = {**message, "params": {**params, **risen}}
        await self._tell(message)

    async def result(self, result: Mapping[str, Any]) -> None:
        await self.end({"jsonrpc": "2.0", "id": self._id, "result": result})

    async def end(self, message: Mapping[str, Any]) -> None:
        if self._is_begun:
            await self._tell(message)
            await self._send({"type": "http.response.body", "body": b""})
            return
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": json.dumps(message).encode()})

    async def _tell(self, message: Mapping[str, Any]) -> None:
        await self._write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")

    async def _write(self, data: bytes) -> None:
        if not self._is_begun:
            self._is_begun = True
            fields = {"content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no"}
            headers = [(name.encode(), value.encode()) for name, value in fields.items()]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": data, "more_body": True})


async def attend(request: Request, work: Awaitable[None], *, is_stream: bool = False) -> None:
    """Do it for as long as the host is there and its credential holds; a stream ends when the server stops, too."""
    task = asyncio.ensure_future(work)
    leaving = [
        asyncio.ensure_future(_wait_for_disconnect(request)),
        asyncio.ensure_future(_wait_for_end(request, is_stream=is_stream)),
    ]
    try:
        await asyncio.wait([task, *leaving], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in leaving:
            one.cancel()
        if not task.done():
            task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _wait_for_disconnect(request: Request) -> None:
    message: Message = {"type": ""}
    while message["type"] != "http.disconnect":
        message = await request.receive()


async def _wait_for_end(request: Request, *, is_stream: bool) -> None:
    with suppress(NotAuthenticated):
        while not (is_stream and state_of(request).closing.is_set()):
            await asyncio.sleep(RECHECK_SECONDS)
            await caller_still(request)
