"""Following a thread: the log after a given number, then live, with no gap and no duplicate.

Tokens are live only. Where a follower missed some, it gets the text so far as one `Partial`; also where a run was
broken off and begins its message anew, in place of what it had said.
"""

from collections.abc import AsyncGenerator

from interlock.domain.event import AssistantMessage, Event, EventType, Live, Partial, Token
from interlock.ports.bus import Subscription
from interlock.services.core import Core

PAGE = 500
IDLE_SECONDS = 4.0
"""How long a follower trusts the silence of the bus; when the log has come further, the pulse wakes it before."""


async def last_text_of(core: Core, thread_id: str, seq: int) -> str:
    """What the agent said last in the turn that was under way at this event; empty where it had said nothing."""
    async with core.store.snapshot() as tx:
        message = await tx.events.last(thread_id, EventType.ASSISTANT_MESSAGE, seq)
        turn = await tx.events.last(thread_id, EventType.USER_MESSAGE, seq)
    if message is None or turn is None or message.seq < turn.seq or not isinstance(message.data, AssistantMessage):
        return ""
    return message.data.text


async def follow(core: Core, thread_id: str, after: int) -> AsyncGenerator[Live | None]:
    """Everything of the thread after event number `after`, for as long as the caller listens.

    None comes when nothing happened for a while, so that the caller may send a sign of life.
    """
    async with core.bus.subscribe(thread_id) as subscription:
        with core.pulse.following(thread_id, subscription.wake):
            async for item in _follow_events(core, thread_id, after, subscription):
                yield item


async def _follow_events(
    core: Core, thread_id: str, after: int, subscription: Subscription
) -> AsyncGenerator[Live | None]:
    seq, last = after, (after, 0)
    async for event in _replay(core, thread_id, seq):
        seq = event.seq
        yield event
    while True:
        item = await subscription.next(IDLE_SECONDS)
        if _needs_replay(item, seq, subscription, core.pulse.is_behind(thread_id, seq)):
            before = seq
            async for event in _replay(core, thread_id, seq):
                seq = event.seq
                yield event
            if seq > before:
                core.observer.on_missed_event()
        if item is None:
            yield None
        elif isinstance(item, Event):
            if item.seq == seq + 1:
                seq = item.seq
                core.observer.on_live_event((core.clock.now() - item.at).total_seconds())
                yield item
        elif _is_current(item, seq):
            place = item.seq, item.part
            yield item if place > last else _begin_anew(item)
            last = place


def _needs_replay(item: Live | None, seq: int, subscription: Subscription, is_behind: bool) -> bool:
    if subscription.take_lagged():
        return True
    if item is None:
        return is_behind
    return item.seq > seq + (1 if isinstance(item, Event) else 0)


def _is_current(item: Token | Partial, seq: int) -> bool:
    """A token of a message whose end is in the log already tells nothing new."""
    return item.seq >= seq


def _begin_anew(item: Token | Partial) -> Partial:
    return Partial(item.thread_id, item.seq, item.part, item.message_id, item.text)


async def _replay(core: Core, thread_id: str, after: int) -> AsyncGenerator[Event]:
    seq = after
    while True:
        async with core.store.snapshot() as tx:
            page = await tx.events.after(thread_id, seq, PAGE)
        for event in page:
            yield event
            seq = event.seq
        if len(page) < PAGE:
            return
