"""`GET /threads/{id}/stream`: run after run of one thread, for who stays with it; without an end of its own."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from interlock.domain.event import Event, RunEnded, RunStarted, ThreadDeleted
from interlock.domain.thread import Thread
from interlock.faces.http.credentials import Caller, stream_slot
from interlock.faces.http.sse import EventStream
from interlock.faces.http.watching import Watch
from interlock.faces.langgraph.fields import not_offered, query_of, texts_of
from interlock.faces.langgraph.scene import Scene
from interlock.faces.langgraph.streaming import KEEP_ALIVE, RunStream, is_whole, position
from interlock.faces.langgraph.turns import RunRef
from interlock.services.threads.followers import count_follower
from interlock.services.threads.following import follow

router = APIRouter(include_in_schema=False)


@router.get("/threads/{thread_id}/stream", dependencies=[Depends(stream_slot)])
async def stream(request: Request, caller: Caller, thread_id: str) -> Response:
    scene = Scene(request, caller)
    wrong = {*(texts_of(query_of(request), "stream_mode") or ())} - {"run_modes", ""}
    if wrong:
        raise not_offered(f"stream_mode {sorted(wrong)[0]!r} is not offered here: only run_modes")
    thread = await scene.thread(thread_id)
    after = request.headers.get("last-event-id")
    if is_whole(after):
        return EventStream(_runs(scene, thread, await _start(scene, thread)), caller=caller.id)
    seq = min(position(after or "")[0], thread.seq)
    ref = await _under_way(scene, thread, seq)
    return EventStream(_runs(scene, thread, seq, ref, after if ref else None), caller=caller.id)


async def _start(scene: Scene, thread: Thread) -> int:
    """What is under way is told from its beginning."""
    async with scene.core.store.snapshot() as tx:
        active = await tx.runs.active_of(thread.id)
    return active.started_seq - 1 if active else thread.seq


async def _under_way(scene: Scene, thread: Thread, seq: int) -> RunRef | None:
    """The run in the middle of which this place of the log is."""
    async with scene.core.store.snapshot() as tx:
        started = await tx.events.last(thread.id, RunStarted.type, seq)
        ended = await tx.events.last(thread.id, RunEnded.type, seq)
    if started is None or not isinstance(started.data, RunStarted) or (ended is not None and ended.seq > started.seq):
        return None
    return RunRef(thread, started.data.run_id, started.seq - 1)


async def _runs(
    scene: Scene, thread: Thread, seq: int, ref: RunRef | None = None, after: str | None = None
) -> AsyncGenerator[bytes]:
    while True:
        if ref is None:
            async with aclosing(_until_run(scene, thread, seq)) as waited:
                async for found in waited:
                    if found is None:
                        yield KEEP_ALIVE
                    else:
                        ref = found
        if ref is None:
            return
        last = ("metadata", {"status": "run_done", "run_id": ref.run_id})
        follower = RunStream(scene, ref, ["values"], after, last)
        async with aclosing(follower.events()) as frames:
            async for frame in frames:
                yield frame
        if not follower.is_over:
            return
        seq, ref, after = follower.seq, None, None


async def _until_run(scene: Scene, thread: Thread, seq: int) -> AsyncGenerator[RunRef | None]:
    """None while nothing happens, and at last the next run that began; without it where nobody may follow any more."""
    watch = Watch(scene.request)
    with count_follower(scene.core, thread.id):
        async with aclosing(follow(scene.core, thread.id, seq)) as items:
            async for item in items:
                if isinstance(item, Event) and isinstance(item.data, ThreadDeleted):
                    return
                if isinstance(item, Event) and isinstance(item.data, RunStarted):
                    yield RunRef(thread, item.data.run_id, item.seq - 1)
                    return
                if item is None:
                    yield None
                if await watch.reason_to_end(thread.id, is_idle=item is None):
                    return
