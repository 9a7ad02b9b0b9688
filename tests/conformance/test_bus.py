"""What every bus does: in one process, and between processes over Redis Streams."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count

import pytest

from interlock.bus.local import CAPACITY, LocalBus
from interlock.bus.redis import AT_ONCE, LENGTH, THREADS, RedisBus
from interlock.domain.errors import StorageUnavailable
from interlock.domain.event import (
    AssistantMessage,
    Call,
    Custom,
    Event,
    EventData,
    Live,
    Looking,
    Partial,
    PauseOpened,
    Token,
)
from interlock.ports.bus import Bus, Subscription
from tests.servers.redis import RedisServer, redis

AT = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS = 60.0

_names = count(1)


@pytest.fixture(scope="module")
def redis_server() -> Generator[RedisServer]:
    with redis() as server:
        yield server


@dataclass
class Ends:
    """Where something is told, and where it is heard: the same place, or another process."""

    telling: Bus
    hearing: Bus


@pytest.fixture(params=["local", "redis"])
async def ends(request: pytest.FixtureRequest) -> AsyncGenerator[Ends]:
    if request.param == "local":
        bus = LocalBus()
        yield Ends(bus, bus)
        return
    server: RedisServer = request.getfixturevalue("redis_server")
    async with RedisBus(server.url).run() as telling, RedisBus(server.url).run() as hearing:
        yield Ends(telling, hearing)


@pytest.fixture
def thread() -> str:
    """One that no other test has told anything of."""
    return f"thread-{next(_names)}"


def event(thread: str, seq: int, data: EventData | None = None) -> Event:
    return Event(thread, seq, data or Custom({"text": "你好 \ud800 \u202e", "number": seq}), AT)


def token(thread: str, part: int, text: str, message: str = "m") -> Token:
    return Token(thread, 1, part, message, text)


async def heard(subscription: Subscription, number: int) -> list[Live]:
    items: list[Live] = []
    async with asyncio.timeout(SECONDS):
        while len(items) < number:
            if (item := await subscription.next(1.0)) is not None:
                items.append(item)
    return items


async def until(is_right: Callable[[], bool]) -> None:
    for _ in range(int(SECONDS * 100)):
        if is_right():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("still not so")


async def connected(ends: Ends, thread: str) -> None:
    """What was told so far has arrived: a call is heard after it."""
    async with ends.hearing.calls() as calls:
        ends.telling.call([Call(thread)])
        async with asyncio.timeout(SECONDS):
            while await calls.next(1.0) != Call(thread):
                pass


async def test_items_come_whole_and_in_order(ends: Ends, thread: str) -> None:
    told = [event(thread, 1), *(token(thread, part, f"w{part} ") for part in range(200)), event(thread, 2)]
    async with ends.hearing.subscribe(thread) as subscription:
        for item in told:
            ends.telling.publish(thread, [item])
        assert await heard(subscription, len(told)) == told
        assert await subscription.next(0.05) is None
        assert not subscription.take_lagged()


async def test_only_the_threads_own_items_come(ends: Ends, thread: str) -> None:
    async with ends.hearing.subscribe(thread) as subscription:
        ends.telling.publish(f"{thread}-other", [event(f"{thread}-other", 1)])
        ends.telling.publish(thread, [event(thread, 7)])
        assert await heard(subscription, 1) == [event(thread, 7)]


async def test_nothing_comes_from_before_but_the_text_of_a_message_that_is_being_written(
    ends: Ends, thread: str
) -> None:
    ends.telling.publish(thread, [event(thread, 1), token(thread, 1, "Once "), token(thread, 2, "upon ")])
    async with ends.hearing.subscribe(thread) as early:
        if ends.hearing is not ends.telling:
            await heard(early, 3)
        async with ends.hearing.subscribe(thread) as late:
            ends.telling.publish(thread, [token(thread, 3, "a time")])
            assert await heard(late, 2) == [Partial(thread, 1, 2, "m", "Once upon "), token(thread, 3, "a time")]


async def test_a_message_that_was_written_is_not_told_again(ends: Ends, thread: str) -> None:
    async with ends.hearing.subscribe(thread) as early:
        ends.telling.publish(thread, [token(thread, 1, "Once"), event(thread, 2, AssistantMessage("m", "Once"))])
        await heard(early, 2)
    async with ends.hearing.subscribe(thread) as late:
        ends.telling.publish(thread, [event(thread, 3)])
        assert await heard(late, 1) == [event(thread, 3)]


async def test_who_is_too_slow_is_told_that_they_lost_something(ends: Ends, thread: str) -> None:
    async with ends.hearing.subscribe(thread) as slow, ends.hearing.subscribe(thread) as quick:
        for start in range(0, CAPACITY + 10, 10):
            batch = [event(thread, start + number) for number in range(10)]
            ends.telling.publish(thread, batch)
            assert await heard(quick, 10) == batch
        assert slow.take_lagged()
        assert not slow.take_lagged()
        last = await heard(slow, 10)
        assert last[-1] == event(thread, CAPACITY + 9)
        assert not quick.take_lagged()


async def test_a_token_that_is_sent_again_is_told_once(ends: Ends, thread: str) -> None:
    pieces = [token(thread, 1, "Once "), token(thread, 2, "upon ")]
    async with ends.hearing.subscribe(thread) as subscription:
        ends.telling.publish(thread, pieces)
        ends.telling.publish(thread, [*pieces, token(thread, 3, "a time")])
        assert await heard(subscription, 3) == [*pieces, token(thread, 3, "a time")]
        async with ends.hearing.subscribe(thread) as late:
            assert await heard(late, 1) == [Partial(thread, 1, 3, "m", "Once upon a time")]


async def test_notices_reach_every_inbox(ends: Ends, thread: str) -> None:
    told = [event(thread, 1, PauseOpened("p", "node", ())), Looking(thread, "request", "李", AT)]
    async with (
        ends.hearing.notices() as one,
        ends.hearing.notices() as other,
        ends.hearing.subscribe(thread) as thread_s,
    ):
        ends.telling.notify(told)
        for inbox in (one, other):
            async with asyncio.timeout(SECONDS):
                assert [await inbox.next(SECONDS), await inbox.next(SECONDS)] == told
            assert not inbox.take_lagged()
        assert await thread_s.next(0.05) is None


async def test_calls_reach_the_workers(ends: Ends, thread: str) -> None:
    told = [Call(thread), Call(thread, is_stop=True)]
    async with ends.hearing.calls() as worker:
        ends.telling.call(told)
        async with asyncio.timeout(SECONDS):
            assert [await worker.next(SECONDS), await worker.next(SECONDS)] == told


async def test_what_a_process_tells_comes_to_its_own_followers_once(ends: Ends, thread: str) -> None:
    async with ends.telling.subscribe(thread) as subscription:
        ends.telling.publish(thread, [event(thread, 1)])
        assert await heard(subscription, 1) == [event(thread, 1)]
        await connected(ends, thread)
        assert await subscription.next(0.2) is None


async def test_a_process_that_starts_in_the_middle_of_a_message_has_its_beginning(
    redis_server: RedisServer, thread: str
) -> None:
    async with AsyncExitStack() as stack:
        telling = await stack.enter_async_context(RedisBus(redis_server.url).run())
        telling.publish(thread, [token(thread, 1, "Once "), token(thread, 2, "upon ")])
        witness = await stack.enter_async_context(RedisBus(redis_server.url).run())
        await connected(Ends(telling, witness), thread)
        late = await stack.enter_async_context(RedisBus(redis_server.url).run())
        await connected(Ends(telling, late), f"{thread}-again")
        async with late.subscribe(thread) as subscription:
            assert await heard(subscription, 1) == [Partial(thread, 1, 2, "m", "Once upon ")]


async def test_the_streams_are_bounded_and_who_was_cut_off_is_told(redis_server: RedisServer, thread: str) -> None:
    redis_server.command("FLUSHALL")
    async with AsyncExitStack() as stack:
        telling = await stack.enter_async_context(RedisBus(redis_server.url).run())
        hearing = await stack.enter_async_context(RedisBus(redis_server.url).run())
        async with hearing.subscribe(thread) as subscription:
            telling.publish(thread, [event(thread, 0)])
            await heard(subscription, 1)
            # The loop does not read while it writes all this at once.
            for number in range(2 * LENGTH // AT_ONCE):
                telling.publish(thread, [event(thread, number * AT_ONCE + one) for one in range(AT_ONCE)])
            await until(subscription.take_lagged)
    lengths = [int(redis_server.command("XLEN", stream).strip()[1:]) for stream in THREADS]
    assert 0 < sum(lengths) <= LENGTH + 200


async def test_a_lost_and_emptied_redis_is_waited_for_and_followers_are_told(thread: str) -> None:
    with redis() as server:
        async with AsyncExitStack() as stack:
            telling = await stack.enter_async_context(RedisBus(server.url).run())
            hearing = await stack.enter_async_context(RedisBus(server.url).run())
            subscription = await stack.enter_async_context(hearing.subscribe(thread))
            inbox = await stack.enter_async_context(hearing.notices())
            telling.publish(thread, [event(thread, 1)])
            await heard(subscription, 1)
            server.kill()
            telling.publish(thread, [event(thread, 2)])
            await until(subscription.take_lagged)
            await until(inbox.take_lagged)
            server.start()
            # It was written while there was no Redis, and is told once there is one again.
            assert event(thread, 2) in await heard(subscription, 1)
            telling.publish(thread, [event(thread, 3)])
            assert (await heard(subscription, 1))[-1] == event(thread, 3)


async def test_an_emptied_redis_costs_only_what_was_not_read(redis_server: RedisServer, thread: str) -> None:
    async with AsyncExitStack() as stack:
        telling = await stack.enter_async_context(RedisBus(redis_server.url).run())
        hearing = await stack.enter_async_context(RedisBus(redis_server.url).run())
        async with hearing.subscribe(thread) as subscription:
            telling.publish(thread, [event(thread, 1)])
            await heard(subscription, 1)
            redis_server.command("FLUSHALL")
            telling.publish(thread, [event(thread, 2)])
            assert await heard(subscription, 1) == [event(thread, 2)]


async def test_a_redis_that_is_not_there_stops_the_start() -> None:
    with pytest.raises(StorageUnavailable):
        async with RedisBus("redis://127.0.0.1:1/0").run():
            pass
