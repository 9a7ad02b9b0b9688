"""Runs on a thread, and runs without one: begun, followed, joined, listed and cancelled."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from interlock.domain.errors import Conflict, InterlockError
from interlock.domain.event import Event, RunEnded, ThreadDeleted
from interlock.domain.json_value import ABSENT, JsonObject
from interlock.domain.principal import Principal
from interlock.domain.run import ACTIVE, Run, RunStatus, WaitingRun
from interlock.domain.thread import ONE_RUN, Thread
from interlock.faces.http.credentials import Caller, stream_slot
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.server_state import state_of
from interlock.faces.http.sse import EventStream
from interlock.faces.langgraph.errors import Refusal, not_found
from interlock.faces.langgraph.fields import (
    Fields,
    body_of,
    choice_of,
    is_on,
    not_offered,
    number_of,
    query_of,
    text_of,
    texts_of,
)
from interlock.faces.langgraph.scene import Scene
from interlock.faces.langgraph.streaming import Outcome, RunStream, is_whole, modes_of
from interlock.faces.langgraph.turns import RunRef, Turn, begin, read_turn
from interlock.faces.langgraph.views import NAMESPACE, RUN_STATUS, page_headers, run_view, select_fields
from interlock.services.core import Core
from interlock.services.threads import messages, threads
from interlock.services.threads.following import follow

_tasks: set[asyncio.Task[None]] = set()


router = APIRouter(include_in_schema=False)
STREAMS: Mapping[str, Any] = {"dependencies": [Depends(stream_slot)]}


@router.post("/threads/{thread_id}/runs")
async def create(request: Request, caller: Caller, thread_id: str) -> Response:
    scene = Scene(request, caller)
    ref = await _begin(scene, thread_id, await body_of(request))
    return await _new_run(scene, ref)


@router.post("/threads/{thread_id}/runs/stream", **STREAMS)
async def stream(request: Request, caller: Caller, thread_id: str) -> Response:
    scene, body = Scene(request, caller), await body_of(request)
    modes = modes_of(body.get("stream_mode"))
    ref, inner = await _begin(scene, thread_id, body), is_on(body.get("stream_subgraphs"))
    return _stream(scene, RunStream(scene, ref, modes, inner=inner), ref, modes=modes if inner else ())


@router.post("/threads/{thread_id}/runs/wait", **STREAMS)
async def wait(request: Request, caller: Caller, thread_id: str) -> Response:
    scene = Scene(request, caller)
    ref = await _begin(scene, thread_id, await body_of(request))
    return _outcome(scene, RunStream(scene, ref, ["values"]), ref)


@router.get("/threads/{thread_id}/runs")
async def runs(request: Request, caller: Caller, thread_id: str) -> Response:
    scene, query = Scene(request, caller), query_of(request)
    thread = await scene.thread(thread_id)
    limit, offset = number_of(query, "limit", 10, 1, 1000), number_of(query, "offset", 0, 0, 1_000_000)
    status = choice_of(query, "status", "", "", *RUN_STATUS.values(), "timeout")
    statuses = [ours for ours, theirs in RUN_STATUS.items() if status in ("", theirs)]
    async with scene.core.store.snapshot() as tx:
        waiting = list(reversed(await tx.waiting_runs.of_thread(thread_id))) if RunStatus.QUEUED in statuses else []
        rows = await tx.runs.newest(thread_id, limit + 1, max(0, offset - len(waiting)), statuses)
    found = [*waiting[offset:], *rows]
    page = [select_fields(run_view(thread, one), texts_of(query, "select")) for one in found[:limit]]
    return LenientJSONResponse(page, headers=page_headers(offset, len(page), has_more=len(found) > limit))


@router.get("/threads/{thread_id}/runs/{run_id}")
async def get(request: Request, caller: Caller, thread_id: str, run_id: str) -> Response:
    scene = Scene(request, caller)
    thread = await scene.thread(thread_id)
    return LenientJSONResponse(run_view(thread, await scene.run(thread, run_id)))


@router.get("/threads/{thread_id}/runs/{run_id}/join", **STREAMS)
async def join(request: Request, caller: Caller, thread_id: str, run_id: str) -> Response:
    scene = Scene(request, caller)
    ref = await _ref_of(scene, thread_id, run_id)
    follower = RunStream(scene, ref, ["values"])
    on_disconnect = _disconnect_handler(scene, ref, follower, query_of(request))
    return _outcome(scene, follower, ref, on_disconnect)


@router.get("/threads/{thread_id}/runs/{run_id}/stream", **STREAMS)
async def join_stream(request: Request, caller: Caller, thread_id: str, run_id: str) -> Response:
    scene, query = Scene(request, caller), query_of(request)
    ref = await _ref_of(scene, thread_id, run_id)
    after = request.headers.get("last-event-id")
    modes = modes_of(query.get("stream_mode"))
    wish = query.get("stream_subgraphs")
    inner = await scene.tells_inner(ref.thread, ref.run_id) if wish is None else is_on(wish)
    follower = RunStream(scene, ref, modes, None if is_whole(after) else after, inner=inner)
    return _stream(scene, follower, ref, _disconnect_handler(scene, ref, follower, query), modes if inner else ())


@router.post("/threads/{thread_id}/runs/{run_id}/cancel")
async def cancel(request: Request, caller: Caller, thread_id: str, run_id: str) -> Response:
    scene, query = Scene(request, caller), query_of(request)
    if choice_of(query, "action", "interrupt", "interrupt", "rollback") == "rollback":
        raise not_offered("a run is not rolled back here: what it did was done")
    thread = await scene.thread(thread_id, drives=True)
    run = await scene.run(thread, run_id)
    if isinstance(run, WaitingRun) and await messages.cancel_waiting(scene.core, caller, thread_id, run_id):
        return LenientJSONResponse({}, 200 if is_on(query.get("wait")) else 202)
    run = await scene.run(thread, run_id)
    if not isinstance(run, Run) or run.status not in ACTIVE:
        raise not_found("an active run of this id was")
    await messages.stop(scene.core, caller, thread_id, "cancelled by a client", run_id=run_id)
    if not is_on(query.get("wait")):
        return LenientJSONResponse({}, 202)
    ref = RunRef(thread, run_id, run.started_seq - 1)
    return _outcome(scene, RunStream(scene, ref, ["values"]), ref)


@router.delete("/threads/{thread_id}/runs/{run_id}")
async def delete(request: Request, caller: Caller, thread_id: str, run_id: str) -> Response:
    raise not_offered("a run is part of its thread's record: delete the thread")


@router.post("/runs")
async def create_stateless(request: Request, caller: Caller) -> Response:
    scene, body = Scene(request, caller), await body_of(request)
    ref = await begin_stateless(scene, body)
    response = await _new_run(scene, ref)
    tidy_later(scene, ref.thread, body)
    return response


@router.post("/runs/stream", **STREAMS)
async def stream_stateless(request: Request, caller: Caller) -> Response:
    scene, body = Scene(request, caller), await body_of(request)
    modes = modes_of(body.get("stream_mode"))
    ref = await begin_stateless(scene, body)
    inner = is_on(body.get("stream_subgraphs"))
    content = _tidy_after(scene, ref, body, RunStream(scene, ref, modes, inner=inner).events())
    return EventStream(content, _headers(ref, "stream", modes if inner else ()), caller=caller.id)


@router.post("/runs/wait", **STREAMS)
async def wait_stateless(request: Request, caller: Caller) -> Response:
    scene, body = Scene(request, caller), await body_of(request)
    ref = await begin_stateless(scene, body)
    content = _tidy_after(scene, ref, body, RunStream(scene, ref, ["values"]).result())
    return Outcome(content, _headers(ref, "join"), caller=caller.id)


async def _begin(scene: Scene, thread_id: str, body: Fields) -> RunRef:
    turn = read_turn(scene, body)
    creates = choice_of(body, "if_not_exists", "reject", "reject", "create") == "create"
    return await begin(scene, thread_id, turn, creates=creates)


async def _ref_of(scene: Scene, thread_id: str, run_id: str) -> RunRef:
    thread = await scene.thread(thread_id)
    run = await scene.run(thread, run_id)
    return RunRef(thread, run_id, run.started_seq - 1 if isinstance(run, Run) else thread.seq)


async def _new_run(scene: Scene, ref: RunRef) -> Response:
    return LenientJSONResponse(await new_run_view(scene, ref), headers=_headers(ref, "stream"))


async def new_run_view(scene: Scene, ref: RunRef) -> JsonObject:
    thread = await scene.thread(ref.thread.id)
    view = run_view(thread, await scene.run(thread, ref.run_id))
    return view if ref.goes_on else {**view, "status": "success"}


def _headers(ref: RunRef, tail: str, inner_modes: Sequence[str] = ()) -> dict[str, str]:
    """`inner_modes`: those of a stream that tells of graphs inside, too. Where it is cut, its client comes back to just
    this address, and is to get the same again."""
    # A name may have any letters, a header only some.
    path = f"/threads/{quote(ref.thread.id, safe='@')}/runs/{ref.run_id}"
    query = [*(("stream_mode", one) for one in inner_modes), ("stream_subgraphs", "1")]
    more = f"?{urlencode(query)}" if inner_modes else ""
    return {"content-location": path, "location": f"{path}/{tail}{more}"}


def _stream(
    scene: Scene, follower: RunStream, ref: RunRef, on_disconnect: Any = None, modes: Sequence[str] = ()
) -> Response:
    content = follower.events() if on_disconnect is None else on_disconnect(follower.events())
    return EventStream(content, _headers(ref, "stream", modes), caller=scene.caller.id)


def _outcome(scene: Scene, follower: RunStream, ref: RunRef, on_disconnect: Any = None) -> Response:
    content = follower.result() if on_disconnect is None else on_disconnect(follower.result())
    return Outcome(content, _headers(ref, "join"), caller=scene.caller.id)


def _disconnect_handler(scene: Scene, ref: RunRef, follower: RunStream, query: Fields) -> Any:
    """Whoever joins may say that the run is to stop when they go."""
    if not is_on(query.get("cancel_on_disconnect")):
        return None

    async def stop_on_disconnect(content: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        try:
            async with aclosing(content) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            # A server that shuts down ends its streams, and the runs go on elsewhere or later.
            if not follower.is_over and not state_of(scene.request).closing.is_set():
                _beside(_stop(scene.core, scene.caller, ref.thread.id, ref.run_id))

    return stop_on_disconnect


async def _stop(core: Core, caller: Principal, thread_id: str, run_id: str) -> None:
    """Only this one: another may be under way on the thread, before it or by now."""
    with suppress(InterlockError):
        if not await messages.cancel_waiting(core, caller, thread_id, run_id):
            await messages.stop(core, caller, thread_id, "its follower went away", run_id=run_id)


def read_stateless(scene: Scene, body: Fields) -> Turn:
    turn = read_turn(scene, body)
    if turn.resume is not ABSENT or turn.given is None:
        raise Refusal(400, "invalid_argument", "a run without a thread has nothing to resume")
    choice_of(body, "on_completion", "delete", "delete", "keep")
    return turn


async def begin_stateless(scene: Scene, body: Fields, place: int = 0) -> RunRef:
    """`place`: of the run among those of one request."""
    turn = read_stateless(scene, body)
    is_kept = body.get("on_completion") == "keep"
    key = scene.request.headers.get("idempotency-key")
    thread_id = str(uuid.uuid5(NAMESPACE, f"{scene.caller.id}\n{place}\n{key}") if key else uuid.uuid4())
    with suppress(Conflict):
        face = "" if is_kept else ONE_RUN
        await threads.create_thread(
            scene.core, scene.caller, agent=turn.agent, thread_id=thread_id, face=face, metadata=turn.metadata
        )
    try:
        return await begin(scene, thread_id, turn)
    except Refusal as error:
        if key is None or error.status != 404:
            raise
        message = "a run with this idempotency key has ended, and its thread was deleted"
        raise Refusal(409, "conflict", message) from error


async def _tidy_after(scene: Scene, ref: RunRef, body: Fields, content: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    try:
        async with aclosing(content) as pieces:
            async for piece in pieces:
                yield piece
    finally:
        tidy_later(scene, ref.thread, body)


def tidy_later(scene: Scene, thread: Thread, body: Fields) -> None:
    if text_of(body, "on_completion") != "keep":
        _beside(_tidy(scene.core, scene.caller, thread))


def _beside(work: Any) -> None:
    task: asyncio.Task[None] = asyncio.create_task(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def _tidy(core: Core, caller: Principal, thread: Thread) -> None:
    """Delete the thread of a run that had none, when it has ended; not while a person is awaited."""
    with suppress(InterlockError):
        async with aclosing(follow(core, thread.id, 0)) as items:
            async for item in items:
                match item:
                    case Event(data=ThreadDeleted()):
                        return
                    case Event(data=RunEnded(status=status)) if status is not RunStatus.PAUSED:
                        break
                    case _:
                        pass
        await threads.delete_thread(core, caller, thread.id)
