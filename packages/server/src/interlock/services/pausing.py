"""Pauses as they are written: what is asked, what needs no person, and who is told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from interlock.domain.event import Event
from interlock.domain.request import Pause, Request
from interlock.domain.thread import Thread
from interlock.domain.webhook import WebhookEvent
from interlock.services.core import Unit
from interlock.services.requesting import pause_opened
from interlock.services.run_log import Entry
from interlock.services.settling import settle
from interlock.services.standing_answers import standing_answer
from interlock.services.webhooks import tell


@dataclass(frozen=True, slots=True)
class Placed:
    events: list[Event]
    is_open: bool
    """Whether anybody is waited for: grants and saved values may have settled all of it."""


async def place(
    work: Unit,
    thread: Thread,
    pause: Pause,
    requests: Sequence[Request],
    before: Sequence[Entry] = (),
    *,
    by_people: bool = False,
) -> Placed:
    """Write a pause of a locked thread, and settle at once what was granted or saved before, unless `by_people`.

    `TooManyOpen` when more would wait for people than may.
    """
    asked = () if by_people else requests
    settlements = [(one, how) for one in asked if (how := await standing_answer(work, thread, one))]
    settled = [request.id for request, _ in settlements]
    if more := len(requests) - len(settled):
        await work.core.open_asks.check(work.tx, work.core.policy.quota, thread, more, work.now)
    events = await work.record(thread.id, *before, pause_opened(pause, requests, settled))
    work.observe(lambda observer: observer.asked(requests))
    await work.tx.pauses.add(replace(pause, opened_seq=events[-1].seq), requests)
    for request in requests:
        if request.id not in settled:
            await tell(work, WebhookEvent.ASKED, request)
    for request, settlement in settlements:
        events += await settle(work, request, settlement)
    return Placed(events, len(settlements) < len(requests))
