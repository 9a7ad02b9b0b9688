"""Digests: one message about several requests, to one address.

Each of them has its notice. What binds these is the message that tells of them: they are claimed together and recorded
together, and whenever some of them end, the message is drawn anew with all of them. It has no buttons: each request is
answered from its own page.
"""

from collections.abc import Sequence
from datetime import datetime

from interlock.domain.channel import Address, Message, Notice, NoticeEnd, NoticeStatus
from interlock.domain.request import Request, RequestEnd
from interlock.ports.channels import OpenChannel, Unchangeable
from interlock.ports.store import Transaction
from interlock.services.channels import wording
from interlock.services.channels.places import inbox_url
from interlock.services.core import Core, Unit
from interlock.texts import Locale

Told = tuple[Request | None, NoticeEnd | None]
Recorded = list[NoticeStatus | None]
"""What becomes of each notice: None where it is not sent any more."""


async def deliver(
    core: Core, link: OpenChannel, address: Address, claimed: Sequence[Notice], locale: Locale, *, edits: bool
) -> tuple[Recorded, str | None]:
    """Tell of what was claimed: in a new message what waits, in the place of the old one what has ended since."""
    digest = claimed[0].digest
    assert digest is not None
    may_have_arrived = any(one.may_have_arrived for one in claimed)
    async with core.store.snapshot() as tx:
        notices = await tx.notices.of_digest(digest) if may_have_arrived else claimed
        told = {one.id: await _told(tx, one, core.clock.now()) for one in notices}
    has_ended = {notice_id: end is not None for notice_id, (_, end) in told.items()}
    if may_have_arrived:
        over: NoticeStatus | None = NoticeStatus.EDITED
        shown = list(told.values())
    else:
        over, shown = None, [one for one in told.values() if one[1] is None]
    statuses: Recorded = [over if has_ended[one.id] else NoticeStatus.SENT for one in claimed]
    if not shown:
        return statuses, None
    message = wording.digest(digest, shown, inbox_url(core), locale)
    known = next((one.digest_ref for one in notices if one.digest_ref is not None), None)
    return statuses, await _tell(link, address.external_id, message, known if edits else None)


async def _told(tx: Transaction, notice: Notice, at: datetime) -> Told:
    request = await tx.requests.get(notice.request_id)
    answer = (await tx.answers.of_requests([notice.request_id])).get(notice.request_id)
    return request, notice.end or wording.end_of(request, RequestEnd.of(request, answer) if request else None, at)


async def _tell(link: OpenChannel, address: str, message: Message, ref: str | None) -> str:
    if ref is not None:
        try:
            await link.update(address, ref, message)
        except Unchangeable:
            return await link.send(address, message)
        return ref
    return await link.send(address, message)


async def record(work: Unit, claimed: Sequence[Notice], statuses: Recorded, ref: str | None) -> None:
    for notice, status in zip(claimed, statuses, strict=True):
        if status is None:
            await work.tx.notices.drop(notice)
        else:
            await work.tx.notices.settle(notice, status, work.now, ref=ref)
    await resume(work, claimed)


async def resume(work: Unit, claimed: Sequence[Notice]) -> None:
    """What ended while the message was under way has waited for it."""
    if (digest := claimed[0].digest) is not None:
        await work.tx.notices.resume_digest(digest, work.now)
