"""The tools of an upstream, as one caller sees them: read when a call needs them, kept for as long as upstream says."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import count
from typing import Any, cast

from interlock.domain.errors import InvalidInput
from interlock.domain.json_value import JsonObject, JsonValue, member, object_at
from interlock.faces.gateway.messages import messages_of, reason_of
from interlock.ports.gateway import Exchange, Upstream, UpstreamLost

ENVELOPE = "io.modelcontextprotocol/"
"""Before what a request of the newer era says of its host; subscriptions and tasks are another matter."""
MOST_PAGES = 1_000
MOST_KEPT = 1_000


@dataclass(frozen=True, slots=True)
class _ToolList:
    tools: Mapping[str, JsonObject]
    ambiguous: Set[str]
    """Those that are listed more than once, each time otherwise: nobody knows which of them a host has read."""
    until: float


@dataclass(slots=True)
class ToolLists:
    upstream: Upstream
    _kept: dict[tuple[str, str], _ToolList] = field(default_factory=dict[tuple[str, str], _ToolList])
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def forget(self, call: Exchange) -> None:
        """The caller is about to read the list itself: what it calls from then on is what it finds there."""
        self._kept.pop(_place(call), None)

    async def definition(self, call: Exchange, tool: str) -> JsonObject:
        """As upstream lists it; `InvalidInput` where it does not."""
        where = _place(call)
        lists = self._kept.get(where)
        if lists is None or lists.until <= time.monotonic():
            lists = await self._read(call)
            self._kept.pop(where, None)
            if lists.until > time.monotonic():
                self._kept[where] = lists
                while len(self._kept) > MOST_KEPT:
                    self._kept.pop(next(iter(self._kept)))
        if tool in lists.ambiguous:
            raise InvalidInput(f"{self.upstream.settings.name} lists {tool!r} more than once, each time otherwise")
        if tool in lists.tools:
            return lists.tools[tool]
        near = get_close_matches(tool, lists.tools, 1)
        hint = f"is {near[0]} meant?" if near else f"there are {', '.join(lists.tools) or 'none'}"
        raise InvalidInput(f"{self.upstream.settings.name} has no tool {tool!r}; {hint}")

    async def _read(self, call: Exchange) -> _ToolList:
        tools: dict[str, JsonObject] = {}
        ambiguous: set[str] = set()
        cursor, until = None, time.monotonic() + 86_400
        for _ in range(MOST_PAGES):
            page = await self._page(call, cursor)
            listed = page.get("tools")
            for tool in cast("list[JsonValue]", listed) if isinstance(listed, list) else ():
                name = member(tool, "name")
                if isinstance(name, str) and tools.setdefault(name, cast("JsonObject", tool)) != tool:
                    ambiguous.add(name)
            ttl = page.get("ttlMs")
            until = min(until, time.monotonic() + (ttl / 1000 if isinstance(ttl, int | float) else 0))
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        return _ToolList(tools, ambiguous, until)

    async def _page(self, call: Exchange, cursor: Any) -> JsonObject:
        number = f"interlock-{next(self._numbers)}"
        meta = object_at(call.message, "params", "_meta")
        envelope = {key: value for key, value in meta.items() if key.startswith(ENVELOPE)}
        params: JsonObject = {"_meta": envelope} if envelope else {}
        params |= {} if cursor is None else {"cursor": cursor}
        message: JsonObject = {"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": params}
        headers = {name: value for name, value in call.headers.items() if not name.startswith("mcp-param-")}
        headers.pop("mcp-name", None)
        if "mcp-method" in headers:
            headers["mcp-method"] = "tools/list"
        try:
            async with asyncio.timeout(self.upstream.settings.timeout):
                return await self._ask(Exchange("POST", call.caller, headers, message), number)
        except TimeoutError:
            raise UpstreamLost(f"{self.upstream.settings.name} does not list its tools") from None

    async def _ask(self, exchange: Exchange, number: str) -> JsonObject:
        async with self.upstream.open(exchange) as reply:
            if reply.status >= 400:
                _, reason = await reason_of(reply)
                raise UpstreamLost(f"{self.upstream.settings.name} does not list its tools: {reply.status} {reason}")
            async for message in messages_of(reply):
                if message.get("id") == number and "result" in message:
                    return object_at(message, "result")
                if message.get("id") == number:
                    raise UpstreamLost(f"{self.upstream.settings.name} does not list its tools: {message.get('error')}")
        raise UpstreamLost(f"{self.upstream.settings.name} does not list its tools")


def _place(call: Exchange) -> tuple[str, str]:
    return call.caller, call.headers.get("mcp-session-id", "")
