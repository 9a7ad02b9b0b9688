"""The event stream of one conversation."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import Response

from interlock.domain.errors import NotFound, StorageUnavailable
from interlock.domain.event import Event, EventType, Live
from interlock.faces.hitl.documented import streamed
from interlock.faces.hitl.events import Place, Told, read_place, still_pending, told_of
from interlock.faces.http.credentials import Caller
from interlock.faces.http.locale import Locale, locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sse import KEEP_ALIVE, EventStream, Frame
from interlock.faces.http.watching import Watch
from interlock.services.following import follow
from interlock.services.pending import Standing, standing_of

router = APIRouter(prefix="/api/v1/agent", tags=["hitl"])


async def place(request: Request, caller: Caller) -> AsyncGenerator[None]:
    with state_of(request).limits.stream(caller.person_id):
        yield


@router.get("/stream", response_class=Response, responses=streamed(), dependencies=[Depends(place)])
async def stream(
    request: Request,
    caller: Caller,
    conversation_id: Annotated[str, Query(min_length=1, max_length=500)],
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Named events of a conversation. After `Last-Event-ID` everything since; without it what is pending now, then
    what comes."""
    standing = await standing_of(state_of(request).core, caller, conversation_id)
    if standing is None:
        raise NotFound("there is no such conversation")
    seen = read_place(last_event_id, standing.seq, "Last-Event-ID")
    return EventStream(_frames(request, standing, seen), caller=caller.id)


async def _frames(request: Request, standing: Standing, seen: Place | None) -> AsyncGenerator[bytes]:
    since = seen or Place(standing.seq)
    locale = locale_of(request)
    for frame in _beginning(standing, seen, locale):
        yield frame
    watch = Watch(request)
    try:
        async with aclosing(follow(state_of(request).core, standing.thread_id, since.seq)) as items:
            async for item in items:
                for frame in _shown(item, since, watch, locale):
                    yield frame
                if isinstance(item, Event) and item.type is EventType.THREAD_DELETED:
                    return
                if await watch.reason_to_end(standing.thread_id, is_idle=item is None):
                    return
    except StorageUnavailable:
        # The client connects again, and goes on where it was.
        return


def _beginning(standing: Standing, seen: Place | None, locale: Locale) -> list[bytes]:
    """For a client that has seen nothing yet: what is pending now, and the place in the log from which it goes on."""
    if seen is not None:
        # It knows where it is; this is for whoever waits for the stream to begin.
        return [KEEP_ALIVE]
    told: list[Told] = []
    for pause, requests in standing.open:
        told += still_pending(standing.thread_id, requests, pause.opened_seq, locale)
    # Also for a client that hears nothing before it has to connect again.
    return [*(_encoded(one) for one in told), f"id: {standing.seq}\n\n".encode()]


def _shown(item: Live | None, since: Place, watch: Watch, locale: Locale) -> list[bytes]:
    if item is None:
        return [KEEP_ALIVE] if watch.needs_sign_of_life() else []
    frames = [_encoded(told) for told in told_of(item, since, locale)]
    if frames:
        watch.spoke()
    return frames


def _encoded(told: Told) -> bytes:
    event, number = told
    return Frame(event["type"], event, number).encode()
