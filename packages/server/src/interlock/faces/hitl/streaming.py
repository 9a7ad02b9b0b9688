"""The event stream of one conversation."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import Response

from interlock.domain.errors import NotFound, StorageUnavailable
from interlock.domain.event import Event, Live, ThreadDeleted
from interlock.faces.hitl.envelope import event_stream
from interlock.faces.hitl.events import RenderedEvent, StreamPosition, read_place, render_events, still_pending
from interlock.faces.http.credentials import Caller, stream_slot
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sse import KEEP_ALIVE, EventStream, Frame
from interlock.faces.http.watching import Watch
from interlock.services.requests.pending import OpenRequests, open_requests_of
from interlock.services.threads.followers import count_follower
from interlock.services.threads.following import follow
from interlock.texts import Locale

router = APIRouter(prefix="/api/v1/agent", tags=["hitl"])


@router.get("/stream", response_class=Response, responses=event_stream(), dependencies=[Depends(stream_slot)])
async def stream(
    request: Request,
    caller: Caller,
    conversation_id: Annotated[str, Query(min_length=1, max_length=500)],
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Named events of a conversation. After `Last-Event-ID` everything since; without it what is pending now, then
    what comes."""
    open_requests = await open_requests_of(state_of(request).core, caller, conversation_id)
    if open_requests is None:
        raise NotFound("there is no such conversation")
    seen = read_place(last_event_id, open_requests.seq, "Last-Event-ID")
    return EventStream(_frames(request, open_requests, seen), caller=caller.id)


async def _frames(request: Request, open_requests: OpenRequests, seen: StreamPosition | None) -> AsyncGenerator[bytes]:
    with count_follower(state_of(request).core, open_requests.thread_id):
        for frame in _first_frames(open_requests, seen, locale_of(request)):
            yield frame
        try:
            async with aclosing(_since(request, open_requests, seen or StreamPosition(open_requests.seq))) as frames:
                async for frame in frames:
                    yield frame
        except StorageUnavailable:
            # The client connects again, and goes on where it was.
            return


async def _since(request: Request, open_requests: OpenRequests, since: StreamPosition) -> AsyncGenerator[bytes]:
    watch, locale = Watch(request), locale_of(request)
    async with aclosing(follow(state_of(request).core, open_requests.thread_id, since.seq)) as items:
        async for item in items:
            for frame in _frames_of(item, since, watch, locale):
                yield frame
            if isinstance(item, Event) and isinstance(item.data, ThreadDeleted):
                return
            if await watch.reason_to_end(open_requests.thread_id, is_idle=item is None):
                return


def _first_frames(open_requests: OpenRequests, seen: StreamPosition | None, locale: Locale) -> list[bytes]:
    """For a client that has seen nothing yet: what is pending now, and the place in the log from which it goes on."""
    if seen is not None:
        # It knows where it is; this is for whoever waits for the stream to begin.
        return [KEEP_ALIVE]
    events: list[RenderedEvent] = []
    for pause, requests in open_requests.open:
        events += still_pending(open_requests.thread_id, requests, pause.opened_seq, locale)
    # Also for a client that hears nothing before it has to connect again.
    return [*(_encode(one) for one in events), f"id: {open_requests.seq}\n\n".encode()]


def _frames_of(item: Live | None, since: StreamPosition, watch: Watch, locale: Locale) -> list[bytes]:
    if item is None:
        return [KEEP_ALIVE] if watch.needs_sign_of_life() else []
    frames = [_encode(event) for event in render_events(item, since, locale)]
    if frames:
        watch.spoke()
    return frames


def _encode(rendered: RenderedEvent) -> bytes:
    event, number = rendered
    return Frame(event["type"], event, number).encode()
