"""One stream over everything that the caller may see: what is asked, what is settled, who looks."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from interlock.domain.errors import NotAuthenticated, StorageUnavailable
from interlock.domain.event import (
    Event,
    Looking,
    PauseOpened,
    RequestClaimed,
    RequestCommented,
    RequestExtended,
    RequestRouted,
    RequestSettled,
    RequestVoted,
    ThreadDeleted,
)
from interlock.domain.moment import to_iso
from interlock.domain.principal import Principal
from interlock.faces.http.credentials import Caller, caller_still, stream_slot
from interlock.faces.http.documented import stream as streamed
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sse import EventStream, Frame
from interlock.faces.http.watching import RECHECK_SECONDS
from interlock.faces.inbox import views
from interlock.faces.inbox.drills import Arrivals
from interlock.ports.bus import Notice, NoticeSubscription
from interlock.services.core import Core
from interlock.services.requests import inbox
from interlock.services.threads.threads import is_visible
from interlock.texts import Locale
from interlock_client import inbox as wire

EVENTS = (
    *("hello", "asked", "settled", "extended", "voted", "routed", "claimed", "commented"),
    *("looking", "deleted", "reset", "tick"),
)
TICK_SECONDS = 4.0
"""A page that has heard nothing for 10 seconds takes the server for gone, and lets nobody decide."""

router = APIRouter(prefix="/api/v1/inbox", tags=["inbox"])


@router.get("/stream", response_class=Response, responses=streamed(EVENTS, 401), dependencies=[Depends(stream_slot)])
async def stream(
    request: Request,
    caller: Caller,
    with_drills: Annotated[
        bool, Query(alias="drills", description="With the caller's drills, by whoever shows what is said of them.")
    ] = False,
) -> Response:
    """What happens, as it happens. It has no past: after a reconnect the list is to be read again."""
    return EventStream(_frames(request, caller, with_drills=with_drills), caller=caller.id)


async def _frames(request: Request, caller: Principal, *, with_drills: bool) -> AsyncGenerator[bytes]:
    core = state_of(request).core
    arrivals = Arrivals(core, caller, locale_of(request)) if with_drills else None
    async with core.bus.notices() as notices:
        yield _timed_frame(core, "hello", started_at=to_iso(state_of(request).started_at))
        try:
            async for frame in _notices(request, caller, notices, arrivals):
                yield frame
        except (NotAuthenticated, StorageUnavailable):
            # The page connects again, or is sent to sign in.
            return


async def _notices(
    request: Request, caller: Principal, notices: NoticeSubscription, arrivals: Arrivals | None
) -> AsyncGenerator[bytes]:
    state, core = state_of(request), state_of(request).core
    loop = asyncio.get_running_loop()
    ticked = checked = loop.time()
    while not state.closing.is_set():
        notice = await notices.next(max(checked + RECHECK_SECONDS - loop.time(), 0.0))
        if loop.time() - checked >= RECHECK_SECONDS:
            checked = loop.time()
            caller = await caller_still(request)
        if notices.take_lagged():
            yield Frame("reset", {}).encode()
        elif notice is not None and notice.thread_id:
            for frame in await _frames_of(core, caller, notice, locale_of(request)):
                yield frame.encode()
        if loop.time() - ticked >= TICK_SECONDS:
            ticked = loop.time()
            for frame in await arrivals.frames() if arrivals is not None else ():
                yield frame.encode()
            yield _timed_frame(core, "tick")


async def _frames_of(core: Core, caller: Principal, notice: Notice, locale: Locale) -> list[Frame]:
    if await _is_seen(core, caller, notice):
        return await _of(core, caller, notice, locale)
    # Somebody who is a candidate sees what is put to them, and not the conversation.
    request_id = _routed_request(notice)
    if request_id is None or not await inbox.is_candidate(core, caller, request_id):
        return []
    return await _of(core, caller, notice, locale)


def _routed_request(notice: Notice) -> str | None:
    """The request that it is about, where others than who sees the conversation may see it."""
    match notice.data if isinstance(notice, Event) else None:
        case PauseOpened(requests=requests):
            return next((one.request_id for one in requests if one.is_routed), None)
        case RequestSettled(is_routed=True) as settled:
            return settled.request_id
        case RequestVoted() | RequestRouted() | RequestClaimed() | RequestCommented() as data:
            return data.request_id
        case _:
            return None


async def _is_seen(core: Core, caller: Principal, notice: Notice) -> bool:
    if isinstance(notice, Event) and isinstance(notice.data, ThreadDeleted):
        deleted = notice.data
        return caller.may_see_of(deleted.owner_id, deleted.agent, deleted.asker_id)
    return await is_visible(core, caller, notice.thread_id)


async def _of(core: Core, caller: Principal, notice: Notice, locale: Locale) -> list[Frame]:
    if isinstance(notice, Looking):
        core.viewers.add(notice)
        names = core.viewers.at([notice.request_id], core.clock.now()).get(notice.request_id, [])
        return [Frame("looking", {"request_id": notice.request_id, "names": names})]
    match notice.data:
        case PauseOpened(requests=requests):
            entries = await inbox.entries_of(core, caller, [one.request_id for one in requests])
            views_of = [wire.InboxEntry.model_validate(views.entry_view(entry, locale)) for entry in entries]
            return [Frame("asked", entry.model_dump(mode="json")) for entry in views_of]
        case RequestSettled() as settled:
            return [Frame("settled", _settlement(notice.thread_id, settled))]
        case RequestExtended(request_id=request_id, expires_at=expires_at):
            return [Frame("extended", {"request_id": request_id, "expires_at": to_iso(expires_at)})]
        case RequestVoted() as voted:
            votes = {"yes": voted.yes, "needed": voted.needed, "refusals": voted.refusals}
            return [Frame("voted", {"request_id": voted.request_id, "votes": votes})]
        case RequestRouted() as routed:
            return await _change_frames(core, caller, "routed", routed.request_id, locale)
        case RequestClaimed() as claim:
            until = to_iso(claim.until) if claim.until else None
            return [Frame("claimed", {"request_id": claim.request_id, "by": claim.by, "until": until})]
        case RequestCommented() as comment:
            return [Frame("commented", {"request_id": comment.request_id})]
        case _:
            return [Frame("deleted", {"conversation_id": notice.thread_id})]


async def _change_frames(core: Core, caller: Principal, name: str, request_id: str, locale: Locale) -> list[Frame]:
    """The request as it is now: for whoever it was put to just now it is a new one."""
    entries = await inbox.entries_of(core, caller, [request_id])
    views_of = [wire.InboxEntry.model_validate(views.entry_view(entry, locale)) for entry in entries]
    return [Frame(name, entry.model_dump(mode="json")) for entry in views_of]


def _settlement(conversation_id: str, settled: RequestSettled) -> dict[str, Any]:
    return {
        "request_id": settled.request_id,
        "conversation_id": conversation_id,
        "status": settled.status,
        **settled.settled_by(),
        "value": settled.value.to_json() if settled.value is not None else None,
        "reason": settled.reason,
    }


def _timed_frame(core: Core, name: str, **more: str) -> bytes:
    return Frame(name, {"server_time": to_iso(core.clock.now()), **more}).encode()
