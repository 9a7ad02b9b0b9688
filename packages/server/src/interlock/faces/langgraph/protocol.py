"""v2 on the wire: commands by POST, events as a stream, and both over one WebSocket."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

from fastapi import APIRouter, Depends, Request, WebSocket
from fastapi.responses import Response
from starlette.websockets import WebSocketDisconnect

from interlock.domain.canonical import json_text
from interlock.domain.errors import InterlockError, InvalidInput, NotAuthenticated
from interlock.domain.ids import new_id
from interlock.domain.json_value import JsonObject
from interlock.domain.principal import Principal
from interlock.faces.http.connections import close, watch
from interlock.faces.http.credentials import Caller, authenticate, stream_slot
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sockets import TRY_AGAIN_LATER, Outbox, read_message
from interlock.faces.http.sse import EventStream, data_line, encode_lines
from interlock.faces.langgraph.commands import Command, MalformedCommand, failure, obey, success
from interlock.faces.langgraph.errors import Refusal, status_here
from interlock.faces.langgraph.events import Filter, ThreadEvents
from interlock.faces.langgraph.fields import body_of
from interlock.faces.langgraph.scene import Scene
from interlock.faces.langgraph.streaming import KEEP_ALIVE
from interlock.texts import threads_text as text

router = APIRouter(include_in_schema=False)

CLOSED = 4000
"""Plus the status that a request would have got."""
MOST_SUBSCRIPTIONS = 100
"""Of one socket: every one reads the whole thread."""


@router.post("/threads/{thread_id}/commands")
async def command(request: Request, caller: Caller, thread_id: str) -> Response:
    try:
        given = Command.read(await body_of(request))
    except (MalformedCommand, Refusal) as error:
        return LenientJSONResponse(failure(None, "invalid_argument", str(error)), 400)
    return LenientJSONResponse(await obey(Scene(request, caller), thread_id, given))


@router.post("/threads/{thread_id}/stream/events", dependencies=[Depends(stream_slot)])
async def events(request: Request, caller: Caller, thread_id: str) -> Response:
    scene, event_filter = Scene(request, caller), Filter.read(await body_of(request))
    thread = await scene.thread(thread_id)
    return EventStream(_encode(ThreadEvents(scene, thread, event_filter)), caller=caller.id)


async def _encode(source: ThreadEvents) -> AsyncGenerator[bytes]:
    async with aclosing(source.events()) as items:
        async for item in items:
            if item is None:
                yield KEEP_ALIVE
            else:
                yield encode_lines(f"id: {item['seq']}", f"event: {item['method']}", data_line(item))


@router.websocket("/threads/{thread_id}/stream/events")
async def socket(websocket: WebSocket, thread_id: str) -> None:
    await websocket.accept()
    try:
        principal = await authenticate(websocket)
        scene = Scene(websocket, principal)
        await scene.thread(thread_id)
        limits = state_of(websocket).limits
        with limits.stream(principal.person_id):
            async with Outbox(websocket, principal.id, limits.slow_seconds) as outbox:
                await _CommandSocket(websocket, scene, thread_id, outbox).run()
    except WebSocketDisconnect:
        return
    except InterlockError as error:
        status = 401 if isinstance(error, NotAuthenticated) else status_here(error)
        await websocket.close(CLOSED + status, error.message[:100])


class _CommandSocket:
    def __init__(self, websocket: WebSocket, scene: Scene, thread_id: str, outbox: Outbox) -> None:
        self._websocket = websocket
        self._scene = scene
        self._thread_id = thread_id
        self._outbox = outbox
        self._subscriptions: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        async def still(principal: Principal) -> None:
            self._scene.caller = principal

        watching = asyncio.create_task(
            watch(self._websocket, self._scene.caller, still, lambda reason: text(reason, self._scene.locale))
        )
        try:
            while (message := await self._websocket.receive())["type"] != "websocket.disconnect":
                self._put(await self._reply(message.get("text") or message.get("bytes") or ""))
        finally:
            for task in (watching, *self._subscriptions.values()):
                task.cancel()

    async def _reply(self, message: str | bytes) -> JsonObject:
        state_of(self._websocket).limits.admit(self._scene.caller.person_id)
        try:
            given = Command.read(read_message(message))
        except (MalformedCommand, InvalidInput) as error:
            return failure(None, "invalid_argument", str(error))
        try:
            match given.method:
                case "subscription.subscribe":
                    return await self._subscribe(given)
                case "subscription.unsubscribe":
                    return self._unsubscribe(given)
                case "subscription.reconnect":
                    # A subscription ends with its socket: whoever comes back subscribes again, with `since`.
                    thread = await self._scene.thread(self._thread_id)
                    return success(given.id, {"restored": False}, thread.seq)
                case _:
                    return await obey(self._scene, self._thread_id, given)
        except Refusal as error:
            return failure(given.id, "invalid_argument", error.message)

    async def _subscribe(self, command: Command) -> JsonObject:
        if len(self._subscriptions) >= MOST_SUBSCRIPTIONS:
            raise Refusal(422, "invalid_argument", f"a socket has {MOST_SUBSCRIPTIONS} subscriptions at the most")
        thread = await self._scene.thread(self._thread_id)
        source = ThreadEvents(self._scene, thread, Filter.read(command.params))
        name = new_id("sub")
        # Its first event comes after the reply.
        self._subscriptions[name] = asyncio.create_task(self._follow(source))
        return success(command.id, {"subscription_id": name, "replayed_events": 0}, thread.seq)

    def _unsubscribe(self, command: Command) -> JsonObject:
        name: Any = command.params.get("subscription_id")
        task = self._subscriptions.pop(name, None) if isinstance(name, str) else None
        if task is None:
            return failure(command.id, "no_such_subscription", "there is no such subscription")
        task.cancel()
        return success(command.id, {}, 0)

    async def _follow(self, source: ThreadEvents) -> None:
        with suppress(InterlockError):
            async with aclosing(source.events()) as items:
                async for item in items:
                    if item is not None:
                        self._put(item)
                        await self._outbox.room()
        # A socket that is open and silent would be worse: its client comes back, or is told why not.
        await close(self._websocket, TRY_AGAIN_LATER, "the subscription has ended")

    def _put(self, message: JsonObject) -> None:
        # What cannot be encoded becomes the escape that JSON has for it.
        self._outbox.put(json_text(message, ensure_ascii=False).encode("utf-8", "backslashreplace").decode())
