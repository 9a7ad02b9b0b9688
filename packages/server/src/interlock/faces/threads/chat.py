"""Chat, resume and follow: the streams of this face."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import JSONResponse, Response

from interlock.domain.errors import (
    AlreadySettled,
    Conflict,
    FieldError,
    InvalidAnswer,
    InvalidInput,
    NotEligible,
    NothingPending,
    ThreadBusy,
)
from interlock.domain.ids import new_thread_id
from interlock.domain.principal import Principal
from interlock.domain.request import PublicRequest
from interlock.domain.request import Request as Asked
from interlock.domain.run_input import GraphInput, MessageInput
from interlock.domain.thread import ThreadStatus
from interlock.faces.http.credentials import Caller, stream_slot
from interlock.faces.http.documented import stream
from interlock.faces.http.guard import is_click
from interlock.faces.http.locale import locale_of
from interlock.faces.http.problems import problem
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sse import EventStream
from interlock.faces.shared.refusals import count_text, needs_text
from interlock.faces.shared.responses import message_of
from interlock.faces.threads import streaming
from interlock.faces.threads.actions import ACTIONS, choose
from interlock.faces.threads.frames import EVENTS, Frames
from interlock.faces.threads.streaming import Stream
from interlock.faces.threads.views import request_view
from interlock.services.requests import answering
from interlock.services.requests.answering import Sender, SettleResult
from interlock.services.threads import messages, threads
from interlock.services.threads.messages import StartedRun
from interlock.texts import threads_text as text
from interlock_client import threads as wire

SOURCE = "threads"

router = APIRouter(prefix="/api", tags=["chat"])

STREAMS: Mapping[str, Any] = {"response_class": Response, "dependencies": [Depends(stream_slot)]}
OnDisconnect = Annotated[str | None, Header(description="`continue` lets the run go on when its followers have gone.")]


@router.post("/chat/{thread_id}", **STREAMS, responses=stream(EVENTS, 400, 401, 409))
async def chat_in(
    request: Request, caller: Caller, thread_id: str, body: wire.ChatMessage, x_on_disconnect: OnDisconnect = None
) -> Response:
    """Send a message or an input to a thread, and follow what it starts.

    An unused id `{username}-{uuid}` makes the thread.
    """
    return await _send(request, caller, thread_id, body, x_on_disconnect)


@router.post("/chat", **STREAMS, responses=stream(EVENTS, 400, 401, 409))
async def chat(request: Request, caller: Caller, body: wire.Chat, x_on_disconnect: OnDisconnect = None) -> Response:
    """Send a message or an input to the thread that the body names, or to a new one; its id is in `X-Thread-Id`."""
    thread_id = body.thread_id or new_thread_id(caller.name)
    return await _send(request, caller, thread_id, body, x_on_disconnect, body.agent)


async def _send(
    request: Request,
    caller: Principal,
    thread_id: str,
    body: wire.ChatMessage,
    on_disconnect: str | None,
    agent: str | None = None,
) -> Response:
    value = GraphInput(body.input) if body.message is None else MessageInput(body.message)
    detached = on_disconnect == "continue"
    try:
        started = await messages.send_input(
            state_of(request).core, caller, thread_id, value, detached=detached, agent=agent
        )
    except ThreadBusy as error:
        return await _conflict(request, caller, thread_id, error)
    return _stream_run(request, caller, started)


@router.post("/resume/{thread_id}", **STREAMS, responses=stream(EVENTS, 400, 401, 404, 409))
async def resume(
    request: Request, caller: Caller, thread_id: str, body: wire.Resume, x_on_disconnect: OnDisconnect = None
) -> Response:
    """Reply to what is pending: `continue` and `cancel` settle approvals, `answer` gives one text for each question.

    What a free interrupt asks takes any JSON: `"answers": [false]`.

    A reply that does not fit gives an `error` event and `end` with the action `error`; everything stays pending. After
    a run that failed, `continue` tries again with the answers on record.
    """
    _check_action(body)
    locale = locale_of(request)
    try:
        settled = await _settle(request, caller, thread_id, body, detached=x_on_disconnect == "continue")
    except InvalidAnswer as error:
        frames = Frames(thread_id, locale, joined_late=False)
        refused = streaming.of(
            frames.error(message_of(error, locale, '"answers": [%s]')), frames.end({"action": "error"})
        )
        return _event_stream(caller, thread_id, refused)
    except NotEligible as error:
        frames = Frames(thread_id, locale, joined_late=False)
        refused = streaming.of(frames.error(needs_text(error, locale)), frames.end({"action": "error"}))
        return _event_stream(caller, thread_id, refused)
    except Conflict as error:
        return await _conflict(request, caller, thread_id, error)
    frames = Frames(thread_id, locale, joined_late=False, end={"action": body.action})
    if settled.run is not None:
        return _follow_run(request, caller, frames, thread_id, settled.run.id, settled.seq)
    view = await threads.view_thread(state_of(request).core, caller, thread_id)
    pause_id = view.pause.id if view.pause else settled.pause_id
    info = next((count_text(one, locale) for one in settled.votes.values()), None)
    left = Stream(request, caller, thread_id, frames).still_open(pause_id, view.open_requests, info)
    return _event_stream(caller, thread_id, left)


@router.get("/stream/{thread_id}", **STREAMS, responses=stream(EVENTS, 400, 401))
async def follow(
    request: Request, caller: Caller, thread_id: str, last_event_id: Annotated[str | None, Header()] = None
) -> Response:
    """Follow a thread: everything in its log after `Last-Event-ID`, then live; without it, from now on."""
    view = await threads.view_thread(state_of(request).core, caller, thread_id)
    seq = view.thread.seq
    # An id that this thread has not reached, say from before a restored backup, must not hide what comes.
    after = seq if last_event_id is None else min(seq, _parse_event_id(last_event_id))
    frames = Frames(thread_id, locale_of(request), joined_late=True)
    return _event_stream(caller, thread_id, Stream(request, caller, thread_id, frames).thread(after))


def _check_action(body: wire.Resume) -> None:
    if body.action not in ACTIONS:
        raise InvalidInput(f"action must be one of {', '.join(ACTIONS)}")
    if body.action == "answer" and not body.answers:
        raise InvalidInput("action answer needs answers: one text for each question")
    beside = [name for name, value in (("answers", body.answers), ("reason", body.reason)) if value]
    if body.action == "continue" and beside:
        message = f"continue is a yes and takes no {' and no '.join(beside)}: use answer, or cancel with a reason"
        raise InvalidInput(message, [FieldError(name, "not_allowed", message) for name in beside])


async def _settle(
    request: Request, caller: Principal, thread_id: str, body: wire.Resume, *, detached: bool
) -> SettleResult | StartedRun:
    core = state_of(request).core
    try:
        pause = await answering.pause_in_view(
            core, caller, thread_id, request_id=body.request_id, is_click=is_click(request)
        )
    except NothingPending:
        if body.action != "continue" or body.request_id is not None:
            raise
        return await messages.retry(core, caller, thread_id, detached=detached, in_view_for=messages.FAILURE_VIEW)
    sender = Sender(caller, SOURCE)
    chosen = choose(body.action, body.answers or (), body.reason)
    return await answering.answer_pause(
        core, sender, thread_id, pause.id, chosen, request_id=body.request_id, detached=detached
    )


def _stream_run(request: Request, caller: Principal, started: StartedRun) -> Response:
    thread_id = started.thread.id
    frames = Frames(thread_id, locale_of(request), joined_late=False)
    return _follow_run(request, caller, frames, thread_id, started.run.id, started.seq)


def _follow_run(
    request: Request, caller: Principal, frames: Frames, thread_id: str, run_id: str, after: int
) -> Response:
    return _event_stream(caller, thread_id, Stream(request, caller, thread_id, frames).run(run_id, after))


def _event_stream(caller: Principal, thread_id: str, content: AsyncGenerator[bytes]) -> EventStream:
    # A name may have any letters, a header only some.
    return EventStream(content, {"x-thread-id": quote(thread_id, safe="@")}, caller=caller.id)


def _parse_event_id(text: str) -> int:
    seq, _, part = text.strip().partition(".")
    if not seq.isascii() or not seq.isdigit() or len(seq) > 18 or (part and not part.isdigit()):
        raise InvalidInput("Last-Event-ID must be the id of an event of this stream")
    return int(seq)


_STATUS = {ThreadStatus.PAUSED: "interrupted", ThreadStatus.RUNNING: "running"}


async def _conflict(request: Request, caller: Principal, thread_id: str, error: Conflict) -> JSONResponse:
    """409, with the thread's state and what is pending on it; for what was settled already, by whom and how."""
    locale = locale_of(request)
    status, requests = await _state(request, caller, thread_id, error)
    more: dict[str, object] = {
        "code": error.code,
        "status": _STATUS.get(status, "idle"),
        "pending": [request_view(PublicRequest.of(one), locale) for one in requests],
    }
    end = error.end if isinstance(error, AlreadySettled | NothingPending) else None
    if end is not None:
        more |= end.to_json()
    key = error.code
    if isinstance(error, ThreadBusy):
        key = "busy.paused" if status is ThreadStatus.PAUSED else "busy.running"
    return problem(409, text(key, locale), **more)


async def _state(
    request: Request, caller: Principal, thread_id: str, error: Conflict
) -> tuple[ThreadStatus, Sequence[Asked]]:
    """As it was when the call was refused, where that is known; it may have changed since."""
    if isinstance(error, ThreadBusy):
        return error.status, error.requests
    if isinstance(error, NothingPending):
        return error.status, ()
    view = await threads.view_thread(state_of(request).core, caller, thread_id)
    return view.thread.status, view.open_requests
