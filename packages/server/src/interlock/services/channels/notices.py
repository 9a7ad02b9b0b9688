"""Notices, written inside the transactions that change what they tell of.

Where no channel can be used, none of this runs a statement.
"""

from collections.abc import Collection

from interlock.domain.channel import TO_GATHER, Notice, NoticeEnd, NoticeStatus
from interlock.domain.event import RequestSettled
from interlock.domain.ids import new_id
from interlock.domain.request import Request
from interlock.domain.terms import EVERYBODY, GROUP, PERSON
from interlock.domain.thread import Thread
from interlock.ports.channels import Recipient
from interlock.services.core import Unit


async def notify(work: Unit, thread: Thread, request: Request, candidates: Collection[str] | None = None) -> None:
    """Write a notice for each address of the people that the request is put to; of these candidates, where some are
    named. Whoever has one of it gets no second one."""
    if not work.core.channel_kinds:
        return
    if candidates is None:
        candidates = request.routing.terms.candidates if request.routing else (EVERYBODY,)
    written = [
        _notice(work, request, one)
        for one in await _recipients(work, thread, candidates)
        if _is_asked(request, one) and one.channel_id not in one.preferences.off
    ]
    if written:
        await work.tx.notices.add(written)
        work.notify_people()


async def end_notices(work: Unit, request: Request, settled: RequestSettled) -> None:
    """What was sent of it is told that it ended, and what waits is not sent any more."""
    if work.core.channel_kinds and await work.tx.notices.end(request.id, NoticeEnd.of_event(settled), work.now):
        work.notify_people()


async def _recipients(work: Unit, thread: Thread, candidates: Collection[str]) -> list[Recipient]:
    people = [one.removeprefix(PERSON) for one in candidates if one.startswith(PERSON)]
    groups = [one.removeprefix(GROUP) for one in candidates if one.startswith(GROUP)]
    owner_id = thread.owner_id if EVERYBODY in candidates else None
    found = await work.tx.addresses.recipients(people, groups, owner_id, work.now)
    return [one for one in found if one.is_named or one.person.may_answer(thread)]


def _is_asked(request: Request, one: Recipient) -> bool:
    return request.routing is None or one.person.id not in request.routing.terms.excluded


def _notice(work: Unit, request: Request, to: Recipient) -> Notice:
    due_at = to.preferences.due_at(request.risk, work.now, request.deadline)
    digest = TO_GATHER if to.preferences.gathers(due_at, work.now) else None
    waiting = NoticeStatus.WAITING
    return Notice(new_id("note"), to.channel_id, to.address_id, request.id, waiting, work.now, due_at, digest=digest)
