"""Asks that a call holds on to until it can tell their id; see `domain.hold`."""

from contextlib import suppress
from dataclasses import dataclass

from interlock.domain.errors import AlreadySettled, TakenOver
from interlock.domain.hold import LEASE, ORPHANS_KEPT, Hold
from interlock.domain.kinds import Body, read_ask
from interlock.domain.principal import SYSTEM, Principal
from interlock.domain.request import RequestStatus
from interlock.services.core import Core, Unit, shared_time, undo_on_cancel, unit
from interlock.services.requests import outside
from interlock.services.requests.answering import Reply, Sender, settle_one
from interlock.services.requests.idempotency import IdempotentCall, reply_once

ASKER_GONE = "asker_gone"
OPERATION = "held"
"""Under which idempotency keys of such asks are kept."""
SOURCE = "server"
ENDED_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class CallAsk:
    """What one call asks, and by what the same ask is known again."""

    what: outside.Ask
    digest: str
    holder: str
    key: str | None = None
    """By which the same call is known when it comes again."""
    body: Body | None = None
    """What is asked, where it is made here and not read from `what`."""

    @property
    def idempotent_call(self) -> IdempotentCall | None:
        return None if self.key is None else IdempotentCall(self.key, OPERATION, self.digest.encode())


@dataclass(frozen=True, slots=True)
class HoldHandle:
    request_id: str
    is_active: bool
    """False when the id was told before: there is nothing to take over."""


async def ask(core: Core, principal: Principal, call_ask: CallAsk) -> HoldHandle:
    """Put the request and hold it, or take over an orphan of the same ask: one transaction.

    The same call again, known by its idempotency key, has the same request, and holds it in the place of the first.
    A caller that goes while this is written leaves an orphan, as it does later.
    """
    return await undo_on_cancel(_ask(core, principal, call_ask), lambda made: abandon(core, made, call_ask.holder))


async def _ask(core: Core, principal: Principal, call_ask: CallAsk) -> HoldHandle:
    body = call_ask.body or read_ask(call_ask.what.kind, call_ask.what.data)
    is_new = False

    async def place(work: Unit) -> str:
        nonlocal is_new
        is_new = True
        if (orphan := await _take_over_orphan(work, principal, call_ask)) is not None:
            return orphan
        ask = await outside.place_ask(work, principal, call_ask.what, body)
        until = await work.shared_time() + LEASE
        hold = Hold(ask.request.id, principal.id, call_ask.digest, call_ask.holder, until, call_ask.key)
        await work.tx.holds.add(hold)
        return ask.request.id

    request_id = (await reply_once(core, principal, call_ask.idempotent_call, place, str.encode)).decode()
    if is_new:
        outside.after_commit(core)
        return HoldHandle(request_id, is_active=True)
    async with unit(core) as work:
        until = await work.shared_time() + LEASE
        return HoldHandle(request_id, await work.tx.holds.replace(request_id, call_ask.holder, until))


async def _take_over_orphan(work: Unit, principal: Principal, call_ask: CallAsk) -> str | None:
    now = await work.shared_time()
    for orphan in await work.tx.holds.orphans(principal.id, call_ask.digest, now):
        request = await work.tx.requests.get(orphan.request_id)
        is_worth_it = request is not None and request.status in (RequestStatus.PENDING, RequestStatus.ANSWERED)
        if not is_worth_it or orphan.until < now - ORPHANS_KEPT:
            continue
        if await work.tx.holds.take_over(orphan, call_ask.holder, now + LEASE, call_ask.key):
            if orphan.call is not None:
                # Should the first call come again after all, it asks anew: one answer is not for two calls.
                await work.tx.replies.forget(principal.id, OPERATION, orphan.call)
            return orphan.request_id
    return None


async def renew(core: Core, handle: HoldHandle, holder: str) -> None:
    """The call still waits; `TakenOver` when another one does in its place."""
    if not handle.is_active:
        return
    async with unit(core) as work:
        if not await work.tx.holds.renew(handle.request_id, holder, await work.shared_time() + LEASE):
            raise _taken_over_error(handle)


async def finish(core: Core, handle: HoldHandle, holder: str) -> None:
    """Before the call tells the id or the answer; `TakenOver` when that is another's to do."""
    if not handle.is_active:
        return
    async with unit(core) as work:
        if not await work.tx.holds.end(handle.request_id, holder):
            raise _taken_over_error(handle)


async def abandon(core: Core, handle: HoldHandle, holder: str) -> None:
    """The call waits no longer, and has told nobody."""
    if handle.is_active:
        async with unit(core) as work:
            await work.tx.holds.renew(handle.request_id, holder, await work.shared_time())


async def release_all(core: Core) -> None:
    """When the one server on a database starts: the calls that it held before it died are gone."""
    async with unit(core) as work:
        await work.tx.holds.release_all(await work.shared_time())


async def end_abandoned(core: Core) -> None:
    """Cancel what was asked by a call that went, and that no other call took over in time."""
    async with core.store.snapshot() as tx:
        abandoned = await tx.holds.abandoned(await shared_time(core, tx) - ORPHANS_KEPT, ENDED_AT_ONCE)
    for hold in abandoned:
        with suppress(AlreadySettled):
            # By its deadline or a person, in this very moment: the next look finds it so.
            await _end(core, hold)


async def _end(core: Core, hold: Hold) -> None:
    async with unit(core) as work:
        if not await work.tx.holds.end(hold.request_id, hold.holder):
            return
        request = await work.tx.requests.get(hold.request_id)
        if request is not None and request.status is RequestStatus.PENDING:
            await settle_one(work, Sender(SYSTEM, SOURCE), Reply(hold.request_id, None, ASKER_GONE))


def _taken_over_error(handle: HoldHandle) -> TakenOver:
    return TakenOver(f"another call waits for {handle.request_id} now, and is told the answer: ask again")
