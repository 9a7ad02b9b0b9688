"""Server-sent events."""

import asyncio
import logging
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send
from typing_extensions import override

from interlock.domain.canonical import json_text
from interlock.domain.json_value import JsonValue
from interlock.faces.http.dropping import drop
from interlock.faces.http.server_state import ServerState

KEEP_ALIVE = b": keep-alive\n\n"

logger = logging.getLogger("interlock.streams")


@dataclass(frozen=True, slots=True)
class Frame:
    event: str
    data: Mapping[str, Any]
    id: str | None = None

    def encode(self) -> bytes:
        lines = [f"id: {self.id}"] if self.id is not None else []
        return encode_lines(*lines, f"event: {self.event}", data_line(self.data))


def data_line(data: JsonValue) -> str:
    text = json_text(data, ensure_ascii=False)
    # Many clients split at every Unicode line break, not only at those of the format.
    text = text.replace("\x85", "\\u0085").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"data: {text}"


def encode_lines(*lines: str) -> bytes:
    return ("\n".join(lines) + "\n\n").encode("utf-8", "backslashreplace")


class TooSlow(Exception):
    """What is sent is not taken."""


class EventStream(StreamingResponse):
    """A stream whose reader is dropped when they take nothing for too long; `caller` is for the log."""

    media_type = "text/event-stream"

    def __init__(
        self, content: AsyncIterable[bytes], headers: Mapping[str, str] | None = None, *, caller: str | None = None
    ) -> None:
        super().__init__(content, headers={"cache-control": "no-cache", "x-accel-buffering": "no", **(headers or {})})
        self._caller = caller

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        server: ServerState = scope["app"].state.server
        seconds = server.limits.slow_seconds

        async def hand_over(message: Message) -> None:
            # Not waiting for content, only for room: a stream on which nothing happens is no slow one.
            try:
                async with asyncio.timeout(seconds):
                    await send(message)
            except TimeoutError as error:
                raise TooSlow from error

        try:
            await super().__call__(scope, receive, hand_over)
        except TooSlow:
            logger.warning(
                "a stream was cut off: its reader took nothing for %g s (caller %s)",
                seconds,
                self._caller,
                extra={"path": scope["path"], "request_id": scope["state"].get("request_id")},
            )
            await drop(scope)
