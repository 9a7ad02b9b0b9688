"""An upstream with a command: a process for each caller and session, in the form of the protocol over HTTP.

In the older era a host begins a session, which has a process of its own; in the newer there are none, and a caller has
one process. A process that nobody has used for a while is ended. A session goes on with another one when it is used
again: what it began with is said to that too.
"""

import asyncio
import json
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

from interlock.domain.gateway import UpstreamSettings
from interlock.domain.json_value import JsonObject, object_at
from interlock.ports.gateway import Exchange, Reply, UpstreamLost
from interlock.upstreams.child import Child

IDLE_SECONDS = 600.0
LOOK_SECONDS = 30.0
SESSION = "mcp-session-id"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
MOST_KEPT = 100
"""Messages that belong to no request, until there is a stream to tell them on."""
MOST_SESSIONS = 1_000
LONGEST_NUMBER = 20
"""Digits of an id that is one of ours."""

Queue = asyncio.Queue[JsonObject | None]


class _Line:
    """One process and those who talk to it. Ids of requests are its own, since several hosts may use the same."""

    def __init__(self) -> None:
        self.child: Child | None = None
        self.begun: JsonObject | None = None
        """How the host began its session."""
        self.used = time.monotonic()
        self.starting = asyncio.Lock()
        self._numbers = count(1)
        self._waiting: dict[int, tuple[Any, Any, Queue]] = {}
        """By its own id: the host's id and progress token, and where it reads."""
        self._listener_queue: Queue | None = None
        self._kept: deque[JsonObject] = deque(maxlen=MOST_KEPT)

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting) or self._listener_queue is not None

    def hear(self, message: JsonObject | None) -> None:
        self.used = time.monotonic()
        if message is None:
            for _, _, queue in self._waiting.values():
                queue.put_nowait(None)
            self._waiting.clear()
            return
        if "method" not in message:
            self._pass_answer(message)
            return
        params, meta = object_at(message, "params"), object_at(message, "params", "_meta")
        if message["method"] == "notifications/progress":
            known = self._waiting.get(_number(params.get("progressToken")))
            if known is not None:
                known[2].put_nowait({**message, "params": {**params, "progressToken": known[1]}})
            return
        known = self._waiting.get(_number(meta.get(SUBSCRIPTION)))
        if known is not None:
            known[2].put_nowait({**message, "params": {**params, "_meta": {**meta, SUBSCRIPTION: known[0]}}})
            return
        self._tell(message)

    def _pass_answer(self, message: JsonObject) -> None:
        known = self._waiting.pop(_number(message.get("id")), None)
        if known is not None:
            known[2].put_nowait({**message, "id": known[0]})
            known[2].put_nowait(None)

    def _tell(self, message: JsonObject) -> None:
        """What belongs to no request: on the stream for that, else on the one of the request that came last."""
        if self._listener_queue is not None:
            self._listener_queue.put_nowait(message)
        elif self._waiting:
            next(reversed(self._waiting.values()))[2].put_nowait(message)
        else:
            self._kept.append(message)

    async def ask(self, message: JsonObject) -> tuple[int, Queue]:
        assert self.child is not None
        number = next(self._numbers)
        queue: Queue = asyncio.Queue()
        numbered_message: JsonObject = {**message, "id": number}
        meta = object_at(message, "params", "_meta")
        token = meta.get("progressToken")
        if token is not None:
            numbered_message["params"] = {**object_at(message, "params"), "_meta": {**meta, "progressToken": number}}
        while self._kept:
            queue.put_nowait(self._kept.popleft())
        self._waiting[number] = (message["id"], token, queue)
        try:
            await self.child.send(numbered_message)
        except BaseException:
            self._waiting.pop(number, None)
            raise
        return number, queue

    async def say(self, message: JsonObject) -> None:
        """A notification, or an answer to something that the process asked."""
        assert self.child is not None
        if message.get("method") == "notifications/cancelled":
            params = object_at(message, "params")
            numbers = [number for number, known in self._waiting.items() if known[0] == params.get("requestId")]
            for number in numbers:
                await self.child.send({**message, "params": {**params, "requestId": number}})
            return
        await self.child.send(message)

    async def give_up(self, number: int) -> None:
        """Nobody reads what comes of it."""
        if self._waiting.pop(number, None) is not None and self.child is not None:
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
            with suppress(Exception):
                await self.child.send(cancelled)

    @asynccontextmanager
    async def listen(self) -> AsyncGenerator[Queue]:
        queue: Queue = asyncio.Queue()
        while self._kept:
            queue.put_nowait(self._kept.popleft())
        self._listener_queue = queue
        try:
            yield queue
        finally:
            if self._listener_queue is queue:
                self._listener_queue = None


class StdioUpstream:
    def __init__(self, settings: UpstreamSettings, environment: Mapping[str, str]) -> None:
        self.settings = settings
        self._environment = {**environment, **settings.env}
        self._lines: dict[tuple[str, str], _Line] = {}
        self._end_task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def open(self, exchange: Exchange) -> AsyncGenerator[Reply]:
        self._end_task = self._end_task or asyncio.create_task(self._end_idle())
        message = exchange.message
        is_beginning = message is not None and message.get("method") == "initialize"
        session = secrets.token_urlsafe(24) if is_beginning else exchange.headers.get(SESSION, "")
        where = (exchange.caller, session)
        if (session and not is_beginning and where not in self._lines) or (exchange.method != "POST" and not session):
            status = 404 if session else 405
            yield Reply(status, {"content-type": "text/plain"}, _once(b"there is no such session\n"))
            return
        if exchange.method == "DELETE":
            await self._end(where)
            yield Reply(200, {}, _once(b""))
            return
        line = await self._line(where, message if is_beginning else None)
        if exchange.method == "GET":
            async with line.listen() as queue:
                yield Reply(200, _events({}), _stream(queue))
        elif message is None or "method" not in message or "id" not in message:
            await line.say(message or {})
            yield Reply(202, {}, _once(b""))
        else:
            number, queue = await line.ask(message)
            headers = {SESSION: session} if is_beginning else {}
            try:
                yield Reply(200, _events(headers), self._answer(queue, message, where))
            finally:
                await line.give_up(number)

    async def _answer(self, queue: Queue, message: JsonObject, where: tuple[str, str]) -> AsyncIterator[bytes]:
        while (item := await queue.get()) is not None:
            yield _event(item)
            if item.get("id") == message["id"] and "method" not in item:
                if message["method"] == "server/discover" and "error" in item:
                    # It is of the older era: the host begins a session next, and nobody needs this process.
                    await self._end(where)
                return
        raise UpstreamLost(f"the process of {self.settings.name} has ended")

    async def _line(self, where: tuple[str, str], session_start: JsonObject | None) -> _Line:
        line = self._lines.get(where)
        if line is None:
            if len(self._lines) >= MOST_SESSIONS:
                await self._end(min(self._lines, key=lambda one: self._lines[one].used))
            line = self._lines[where] = _Line()
        line.used = time.monotonic()
        line.begun = session_start or line.begun
        async with line.starting:
            if line.child is None or line.child.has_ended:
                line.child = await Child.start(self.settings.command, self._environment, line.hear)
                if line.begun is not None and session_start is None:
                    number, queue = await line.ask({**line.begun, "id": 0})
                    if await queue.get() is None:
                        raise UpstreamLost(f"the process of {self.settings.name} ended as it began: {number}")
                    await line.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return line

    async def _end(self, where: tuple[str, str]) -> None:
        line = self._lines.pop(where, None)
        if line is not None and line.child is not None:
            await line.child.close()

    async def _end_idle(self) -> None:
        """A session stays known when its process is ended."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.end_unused(IDLE_SECONDS)

    async def end_unused(self, seconds: float) -> None:
        before = time.monotonic() - seconds
        for where, line in list(self._lines.items()):
            if line.used <= before and not line.is_busy and line.child is not None:
                child, line.child = line.child, None
                if not where[1]:
                    self._lines.pop(where, None)
                await child.close()

    async def close(self) -> None:
        if self._end_task is not None:
            self._end_task.cancel()
            await asyncio.wait([self._end_task])
        for where in list(self._lines):
            await self._end(where)


def _number(given: Any) -> int:
    """An id of its own; servers give some of them back as texts."""
    is_number = isinstance(given, str) and given.isdecimal() and len(given) < LONGEST_NUMBER
    return int(given) if isinstance(given, int) or is_number else 0


def _events(headers: Mapping[str, str]) -> dict[str, str]:
    return {"content-type": "text/event-stream", "cache-control": "no-cache", **headers}


def _event(message: JsonObject) -> bytes:
    return b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n"


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _stream(queue: Queue) -> AsyncIterator[bytes]:
    while (message := await queue.get()) is not None:
        yield _event(message)
