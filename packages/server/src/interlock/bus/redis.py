"""The bus between processes: Redis Streams carries live events, and each process hands them to its own followers.

A thread's items are in one of a few streams, by the thread's name: a process reads them all with one connection,
however many people follow how many threads. Whatever is lost here is in the store: a follower that may have missed
something reads the log.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import datetime
from time import time
from typing import Any, cast
from zlib import crc32

from redis.asyncio import Redis
from redis.exceptions import RedisError

from interlock import failpoints
from interlock.bus.local import LocalBus
from interlock.domain import event_json
from interlock.domain.errors import StorageUnavailable
from interlock.domain.event import Call, Event, EventType, Live, Looking, Partial, Token
from interlock.domain.ids import new_id
from interlock.ports.bus import CallSubscription, Notice, NoticeSubscription, Subscription

Item = Event | Token | Partial | Looking | Call
THREADS = tuple(f"interlock:threads:{number}" for number in range(16))
NOTICES = "interlock:notices"
CALLS = "interlock:calls"
LENGTH = 10_000
"""How many items a stream keeps."""
QUEUED = 50_000
"""How many items wait for Redis before the oldest are dropped."""
AT_ONCE = 500
BLOCK_MS = 5_000
REPLAYED_SECONDS = 300
"""How far back a process that starts reads, to have the beginning of messages that are being written."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
SECONDS = 5.0

logger = logging.getLogger(__name__)


class RedisBus:
    def __init__(self, url: str) -> None:
        patience = {"socket_connect_timeout": SECONDS, "socket_timeout": SECONDS + BLOCK_MS / 1000}
        self._redis = cast("Any", Redis).from_url(url, **patience)
        self._name = new_id("bus").encode()
        self._local = LocalBus()
        self._out: deque[tuple[str, bytes]] = deque(maxlen=QUEUED)
        self._has_out = asyncio.Event()
        self._seen: dict[str, bytes] = {}
        self._has_read = False
        """Before that, what is missing at the beginning of a stream was never waited for."""
        self._tasks: list[asyncio.Task[None]] = []
        self.lag_seconds = 0.0
        """How long ago the item that was read last was written."""

    @asynccontextmanager
    async def run(self) -> AsyncGenerator["RedisBus"]:
        """Read and write while the block lasts; `StorageUnavailable` when Redis is not there to begin with."""
        try:
            await self._redis.ping()
            since = b"%d-0" % int((time() - REPLAYED_SECONDS) * 1000)
            self._seen = dict.fromkeys(THREADS, since)
            self._seen |= {stream: await self._last(stream) for stream in (NOTICES, CALLS)}
        except (RedisError, OSError) as error:
            await self._redis.aclose()
            raise StorageUnavailable(f"Redis cannot be used: {error}") from error
        self._tasks = [asyncio.create_task(self._keep_running(work)) for work in (self._write, self._read)]
        try:
            yield self
        finally:
            while pending := [task for task in self._tasks if not task.done()]:
                # Told again: the driver may take it for a broken connection.
                for task in pending:
                    task.cancel()
                await asyncio.wait(pending, timeout=0.1)
            with suppress(RedisError, OSError):
                await self._redis.aclose()

    def notify(self, notices: Sequence[Notice]) -> None:
        self._local.notify(notices)
        self._send(NOTICES, notices)

    def notices(self) -> AbstractAsyncContextManager[NoticeSubscription]:
        return self._local.notices()

    def call(self, calls: Sequence[Call]) -> None:
        self._local.call(calls)
        self._send(CALLS, calls)

    def calls(self) -> AbstractAsyncContextManager[CallSubscription]:
        return self._local.calls()

    def publish(self, thread_id: str, items: Sequence[Live]) -> None:
        self._local.publish(thread_id, items)
        self._send(_stream_of(thread_id), items)

    def subscribe(self, thread_id: str) -> AbstractAsyncContextManager[Subscription]:
        return self._local.subscribe(thread_id)

    def _send(self, stream: str, items: Sequence[Item]) -> None:
        if failpoints.is_on("bus.off"):
            return
        self._out.extend((stream, encode(item)) for item in items)
        self._has_out.set()

    async def _keep_running(self, work: Any) -> None:
        """Do it for as long as the process lives; a lost Redis is waited for, a little longer each time."""
        pause = FIRST_PAUSE
        while True:
            try:
                await work()
                pause = FIRST_PAUSE
            except Exception as error:
                if not isinstance(error, (RedisError, OSError, TimeoutError)):
                    logger.exception("the bus failed; trying again")
                elif pause == FIRST_PAUSE:
                    logger.warning("Redis cannot be used; trying again: %s", error)
                # What was told meanwhile was not heard here.
                self._local.lag()
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _write(self) -> None:
        await self._has_out.wait()
        batch = [self._out.popleft() for _ in range(min(len(self._out), AT_ONCE))]
        if not self._out:
            self._has_out.clear()
        try:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for stream, content in batch:
                    fields = {b"by": self._name, b"item": content}
                    pipeline.xadd(stream, fields, maxlen=LENGTH, approximate=True)
                await pipeline.execute()
        except BaseException:
            # It may be told twice: followers know what they have heard. What no longer fits is the oldest.
            room = QUEUED - len(self._out)
            self._out.extendleft(reversed(batch[max(len(batch) - room, 0) :]))
            self._has_out.set()
            raise

    async def _read(self) -> None:
        found = await self._redis.xread(self._seen, count=AT_ONCE, block=BLOCK_MS)
        self.lag_seconds = 0.0
        for name, entries in found or ():
            stream = name.decode()
            if self._has_read and len(entries) == AT_ONCE and await self._was_trimmed(stream):
                self._local.lag()
            for number, fields in entries:
                self._seen[stream] = number
                self._take(stream, fields)
            self.lag_seconds = max(time() - _milliseconds(entries[-1][0]) / 1000, self.lag_seconds)
        self._has_read = True

    async def _was_trimmed(self, stream: str) -> bool:
        """Whether the stream was cut beyond what was read of it: this process is too slow, or was stopped."""
        oldest = await self._redis.xrange(stream, count=1)
        return bool(oldest) and _milliseconds(oldest[0][0]) > _milliseconds(self._seen[stream])

    def _take(self, stream: str, fields: dict[bytes, bytes]) -> None:
        if fields.get(b"by") == self._name:
            return
        try:
            item = decode(fields[b"item"])
        except (ValueError, KeyError):
            logger.warning("an item on the bus was not understood; does another version of Interlock run?")
            return
        match item:
            case Call():
                self._local.call([item])
            case Event() | Looking() if stream == NOTICES:
                self._local.notify([item])
            case Event() | Token() | Partial():
                self._local.publish(item.thread_id, [item])
            case Looking():
                pass

    async def _last(self, stream: str) -> bytes:
        entries = await self._redis.xrevrange(stream, count=1)
        return entries[0][0] if entries else b"0-0"


def _stream_of(thread_id: str) -> str:
    return THREADS[crc32(thread_id.encode("utf-8", "surrogatepass")) % len(THREADS)]


def _milliseconds(number: bytes) -> int:
    return int(number.partition(b"-")[0])


def encode(item: Item) -> bytes:
    fields = _fields(item)
    # Halves of characters, which a model may stream, are no UTF-8: as escapes they are.
    return json.dumps([type(item).__name__, *fields], separators=(",", ":")).encode()


def decode(content: bytes) -> Item:
    """`ValueError` for what another version of Interlock wrote, and this one does not know."""
    try:
        name, *fields = json.loads(content)
        return _READERS[name](*fields)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not an item of this version: {error}") from error


def _fields(item: Item) -> list[Any]:
    match item:
        case Event():
            return [item.thread_id, item.seq, item.type, event_json.to_json(item.data), item.at.isoformat()]
        case Looking():
            return [item.thread_id, item.request_id, item.name, item.until.isoformat()]
        case Call():
            return [item.run_id, item.is_stop]
        case Token() | Partial():
            return [item.thread_id, item.seq, item.part, item.message_id, item.text]


def _event(thread_id: str, seq: int, kind: str, data: dict[str, Any], at: str) -> Event:
    written_at = datetime.fromisoformat(at)
    return Event(thread_id, seq, event_json.from_json(EventType(kind), data, written_at), written_at)


def _read_looking(thread_id: str, request_id: str, name: str, until: str) -> Looking:
    return Looking(thread_id, request_id, name, datetime.fromisoformat(until))


_READERS: Mapping[str, Callable[..., Item]] = {
    "Call": Call,
    "Event": _event,
    "Looking": _read_looking,
    "Token": Token,
    "Partial": Partial,
}
