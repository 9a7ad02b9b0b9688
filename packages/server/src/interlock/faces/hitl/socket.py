"""The WebSocket of this face: any number of conversations on one connection, events out, answers in."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, cast

from fastapi import APIRouter, WebSocket

from interlock.domain.canonical import json_text
from interlock.domain.errors import (
    FieldError,
    Forbidden,
    InterlockError,
    InvalidInput,
    NotFound,
    StorageUnavailable,
)
from interlock.domain.event import Event, ThreadDeleted
from interlock.domain.moment import to_iso
from interlock.domain.principal import Principal
from interlock.faces.hitl.envelope import Envelope, failure
from interlock.faces.hitl.events import RenderedEvent, StreamPosition, read_place, render_events, still_pending
from interlock.faces.hitl.views import votes_view
from interlock.faces.http.connections import watch, welcome
from interlock.faces.http.credentials import caller_now
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sockets import Outbox, read_message
from interlock.faces.shared.refusals import count_text
from interlock.faces.shared.responses import reply_to
from interlock.services.requests import answering, pending
from interlock.services.requests.answering import Sender
from interlock.services.threads.followers import count_follower
from interlock.services.threads.following import follow
from interlock.services.threads.threads import is_visible
from interlock.texts import Locale
from interlock.texts import hitl_text as text

SOURCE = "hitl"
MOST_CONVERSATIONS = 1_000

router = APIRouter(prefix="/api/v1/agent")

Message = Mapping[str, Any]


@router.websocket("/ws")
async def socket(websocket: WebSocket) -> None:
    """Subscribe to conversations, and answer what is asked on them."""
    await welcome(
        websocket,
        Envelope(),
        lambda outbox, principal: _Conversations(websocket, outbox, principal).serve(),
    )


class _Conversations:
    """One connection: what it is subscribed to, and what it says."""

    def __init__(self, websocket: WebSocket, outbox: Outbox, principal: Principal) -> None:
        self._websocket = websocket
        self._outbox = outbox
        self._principal = principal
        self._state = state_of(websocket)
        self._core = self._state.core
        self._locale: Locale = locale_of(websocket)
        self._tasks = asyncio.TaskGroup()
        self._follow_tasks: dict[str, asyncio.Task[None]] = {}

    async def serve(self) -> None:
        # What fails in one of its tasks ends the connection: a socket that is open and silent would be worse.
        async with self._tasks:
            watching = self._tasks.create_task(watch(self._websocket, self._principal, self._still, self._speak))
            try:
                await self._converse()
            finally:
                for task in (watching, *self._follow_tasks.values()):
                    task.cancel()

    async def _converse(self) -> None:
        query = self._websocket.query_params
        if first := query.get("conversation_id"):
            last = {"last_event_id": query["last_event_id"]} if "last_event_id" in query else {}
            await self._handle(json.dumps({"type": "subscribe", "conversation_id": first, **last}))
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            await self._handle(message.get("text") or message.get("bytes") or "")

    async def _still(self, principal: Principal) -> None:
        """Leave what is no longer theirs to see."""
        self._principal = principal
        for conversation_id in [*self._follow_tasks]:
            if not await is_visible(self._core, principal, conversation_id):
                await self._leave(conversation_id)

    def _speak(self, reason: str) -> str:
        return text(reason, self._locale)

    async def _handle(self, raw: str | bytes) -> None:
        message: Message = {}
        try:
            self._state.limits.admit(self._principal.person_id)
            message = _parse(raw)
            await _ACTIONS[message["type"]](self, message)
        except InterlockError as error:
            self._tell_error(message, error)

    def _tell_error(self, message: Message, error: InterlockError) -> None:
        body = failure(error, self._locale)
        if message.get("type") == "hitl_respond" and isinstance(message.get("request_id"), str):
            self._put({"type": "hitl_ack", "request_id": message["request_id"], "success": False, "error": body})
            return
        about = {name: message[name] for name in ("conversation_id",) if isinstance(message.get(name), str)}
        self._put({"type": "error", **about, "error": body})

    def _put(self, message: Message) -> None:
        self._outbox.put(json_text(message, ensure_ascii=False).encode("utf-8", "replace").decode())

    async def _subscribe(self, message: Message) -> None:
        conversation_id = _text(message, "conversation_id")
        if conversation_id in self._follow_tasks and message.get("last_event_id") is None:
            self._put({"type": "subscribed", "conversation_id": conversation_id})
            return
        if len(self._follow_tasks) >= MOST_CONVERSATIONS:
            raise InvalidInput(f"a connection follows {MOST_CONVERSATIONS} conversations at the most")
        self._principal = await caller_now(self._websocket)
        open_requests = await pending.open_requests_of(self._core, self._principal, conversation_id)
        if open_requests is None:
            raise NotFound("there is no such conversation")
        seen = read_place(_last_event_id(message), open_requests.seq, "last_event_id")
        await self._stop(conversation_id)
        self._put({"type": "subscribed", "conversation_id": conversation_id})
        if seen is None:
            for pause, requests in open_requests.open:
                for event in still_pending(conversation_id, requests, pause.opened_seq, self._locale):
                    self._put_event(event)
        task = self._tasks.create_task(self._follow(conversation_id, seen or StreamPosition(open_requests.seq)))
        self._follow_tasks[conversation_id] = task

    async def _unsubscribe(self, message: Message) -> None:
        await self._leave(_text(message, "conversation_id"))

    async def _leave(self, conversation_id: str) -> None:
        await self._stop(conversation_id)
        self._put({"type": "unsubscribed", "conversation_id": conversation_id})

    async def _stop(self, conversation_id: str) -> None:
        if task := self._follow_tasks.pop(conversation_id, None):
            task.cancel()
            await asyncio.wait([task])

    async def _respond(self, message: Message) -> None:
        request_id, response = _text(message, "request_id"), message.get("response")
        if not isinstance(response, dict):
            raise _wrong("response", "response must be an object")
        principal = await caller_now(self._websocket)
        if principal.is_agent:
            raise Forbidden("an agent's key asks, and never answers")
        view = await pending.view_request(self._core, principal, request_id)
        reply = reply_to(view.request, cast("dict[str, Any]", response))
        settled = await answering.answer(self._core, Sender(principal, SOURCE), reply)
        fields: dict[str, Any] = {"status": "answered", "answered_at": to_iso(settled.at)}
        if (votes := settled.votes.get(request_id)) is not None:
            fields |= {"status": "pending", "votes": votes_view(votes), "message": count_text(votes, self._locale)}
        self._put({"type": "hitl_ack", "request_id": request_id, "success": True, **fields})

    async def _ping(self, _message: Message) -> None:
        self._put({"type": "pong"})

    async def _follow(self, conversation_id: str, since: StreamPosition) -> None:
        """Tell what happens on one conversation, until it is deleted."""
        about = {"conversation_id": conversation_id}
        try:
            with count_follower(self._core, conversation_id):
                async with aclosing(follow(self._core, conversation_id, since.seq)) as items:
                    async for item in items:
                        for event in render_events(item, since, self._locale):
                            self._put_event(event)
                        if isinstance(item, Event) and isinstance(item.data, ThreadDeleted):
                            break
        except StorageUnavailable as error:
            self._tell_error(about, error)
        self._follow_tasks.pop(conversation_id, None)
        self._put({"type": "unsubscribed", **about})

    def _put_event(self, rendered: RenderedEvent) -> None:
        event, number = rendered
        top = {name: event[name] for name in ("request_id", "conversation_id")}
        fields = {"type": "hitl_event", "event_type": event["type"], **top, "data": {**event["data"], **top}}
        self._put({**fields, "id": number} if number else fields)


def _parse(raw: str | bytes) -> Message:
    message = read_message(raw)
    kind = message.get("type")
    if not isinstance(kind, str) or kind not in _ACTIONS:
        raise _wrong("type", f"type must be one of {', '.join(_ACTIONS)}")
    return message


def _text(message: Message, name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or not value:
        raise _wrong(name, f"{name} must be a text")
    return value


def _last_event_id(message: Message) -> str | None:
    """Where to go on, for who was subscribed before; without it what is pending comes first."""
    value: Any = message.get("last_event_id")
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong("last_event_id", "last_event_id must be a text")
    return str(value)


def _wrong(field: str, message: str) -> InvalidInput:
    return InvalidInput(message, [FieldError(field, "form", message)])


_ACTIONS: Mapping[str, Callable[[_Conversations, Message], Awaitable[None]]] = {
    "subscribe": _Conversations._subscribe,  # pyright: ignore[reportPrivateUsage]
    "unsubscribe": _Conversations._unsubscribe,  # pyright: ignore[reportPrivateUsage]
    "hitl_respond": _Conversations._respond,  # pyright: ignore[reportPrivateUsage]
    "ping": _Conversations._ping,  # pyright: ignore[reportPrivateUsage]
}
