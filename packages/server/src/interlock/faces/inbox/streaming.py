"""One stream over everything that the caller may see: what is asked, what is settled, who looks."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from interlock.domain.errors import NotAuthenticated, StorageUnavailable
from interlock.domain.event import Event, EventType, Looking
from interlock.domain.moment import spelled
from interlock.domain.principal import Principal
from interlock.faces.http.credentials import Caller, caller_still
from interlock.faces.http.documented import stream as streamed
from interlock.faces.http.locale import Locale, locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sse import EventStream, Frame
from interlock.faces.http.watching import RECHECK_SECONDS
from interlock.faces.inbox import views
from interlock.ports.bus import Notice, NoticeSubscription
from interlock.services import inbox
from interlock.services.core import Core
from interlock.services.threads import is_visible
from interlock_client import inbox as wire

EVENTS = ("hello", "asked", "settled", "extended", "looking", "deleted", "reset", "tick")
TICK_SECONDS = 4.0
"""A page that has heard nothing for 10 seconds takes the server for gone, and lets nobody decide."""

router = APIRouter(prefix="/api/v1/inbox", tags=["inbox"])


async def place(request: Request, caller: Caller) -> AsyncGenerator[None]:
    with state_of(request).limits.stream(caller.person_id):
        yield


@router.get("/stream", response_class=Response, responses=streamed(EVENTS, 401), dependencies=[Depends(place)])
async def stream(request: Request, caller: Caller) -> Response:
    """What happens, as it happens. It has no past: after a reconnect the list is to be read again."""
    return EventStream(_frames(request, caller), caller=caller.id)


async def _frames(request: Request, caller: Principal) -> AsyncGenerator[bytes]:
    core = state_of(request).core
    async with core.bus.notices() as notices:
        yield _timed(core, "hello", started_at=spelled(state_of(request).started_at))
        try:
            async for frame in _told(request, caller, notices):
                yield frame
        except (NotAuthenticated, StorageUnavailable):
            # The page connects again, or is sent to sign in.
            return


async def _told(request: Request, caller: Principal, notices: NoticeSubscription) -> AsyncGenerator[bytes]:
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
        elif notice is not None and (notice.thread_id and await _is_seen(core, caller, notice)):
            for frame in await _of(core, caller, notice, locale_of(request)):
                yield frame.encode()
        if loop.time() - ticked >= TICK_SECONDS:
            ticked = loop.time()
            yield _timed(core, "tick")


async def _is_seen(core: Core, caller: Principal, notice: Notice) -> bool:
    if isinstance(notice, Event) and notice.type is EventType.THREAD_DELETED:
        data = notice.data
        return caller.may_see_of(data["owner_id"], data["agent"], data["asker_id"])
    return await is_visible(core, caller, notice.thread_id)


async def _of(core: Core, caller: Principal, notice: Notice, locale: Locale) -> list[Frame]:
    if isinstance(notice, Looking):
        core.lookers.add(notice)
        names = core.lookers.at([notice.request_id], core.clock.now()).get(notice.request_id, [])
        return [Frame("looking", {"request_id": notice.request_id, "names": names})]
    data = notice.data
    match notice.type:
        case EventType.PAUSE_OPENED:
            entries = await inbox.entries_of(core, caller, [one["request_id"] for one in data["requests"]])
            shown = [wire.InboxEntry.model_validate(views.entry_view(entry, locale)) for entry in entries]
            return [Frame("asked", entry.model_dump(mode="json")) for entry in shown]
        case EventType.REQUEST_SETTLED:
            return [Frame("settled", _settled(notice))]
        case EventType.REQUEST_EXTENDED:
            return [Frame("extended", {name: data[name] for name in ("request_id", "expires_at")})]
        case _:
            return [Frame("deleted", {"conversation_id": notice.thread_id})]


def _settled(event: Event) -> dict[str, Any]:
    data = event.data
    return {
        "request_id": data["request_id"],
        "conversation_id": event.thread_id,
        "status": data["status"],
        "answered_by": data["by"],
        "answered_at": data["at"],
        "source": data["source"],
        "value": data["value"],
    }


def _timed(core: Core, name: str, **more: str) -> bytes:
    return Frame(name, {"server_time": spelled(core.clock.now()), **more}).encode()
