"""Server-sent events."""

import json
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import StreamingResponse

KEEP_ALIVE = b": keep-alive\n\n"


@dataclass(frozen=True, slots=True)
class Frame:
    event: str
    data: Mapping[str, Any]
    id: str | None = None

    def encode(self) -> bytes:
        data = json.dumps(self.data, ensure_ascii=False, default=str)
        # Many clients split at every Unicode line break, not only at those of the format.
        data = data.replace("\x85", "\\u0085").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        lines = [f"id: {self.id}"] if self.id is not None else []
        lines += [f"event: {self.event}", f"data: {data}"]
        return ("\n".join(lines) + "\n\n").encode("utf-8", "backslashreplace")


class EventStream(StreamingResponse):
    media_type = "text/event-stream"

    def __init__(self, content: AsyncIterable[bytes], headers: Mapping[str, str] | None = None) -> None:
        super().__init__(content, headers={"cache-control": "no-cache", "x-accel-buffering": "no", **(headers or {})})
