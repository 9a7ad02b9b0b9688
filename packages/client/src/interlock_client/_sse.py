"""Server-sent events, as they come in."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast

from interlock_client.errors import ServerFailed


@dataclass(frozen=True, slots=True)
class Frame:
    event: str
    data: dict[str, Any] | None
    """None: the frame only says from where to go on."""
    id: str | None


async def frames(chunks: AsyncIterator[bytes]) -> AsyncIterator[Frame]:
    """The frames of a stream; comments, which are signs of life, are left out. A frame that was cut off is not told."""
    fields: dict[str, str] = {}
    async for line in _lines(chunks):
        if not line:
            if "data" in fields or "id" in fields:
                yield _frame(fields)
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Split at the line breaks of the format only, and not at every one that Unicode knows."""
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")


def _frame(fields: dict[str, str]) -> Frame:
    try:
        data: Any = json.loads(fields["data"]) if "data" in fields else None
    except ValueError as error:
        raise ServerFailed("the stream holds an event that is not JSON") from error
    if data is not None and not isinstance(data, dict):
        raise ServerFailed("the stream holds an event that is no object")
    return Frame(fields.get("event", "message"), cast("dict[str, Any] | None", data), fields.get("id"))
