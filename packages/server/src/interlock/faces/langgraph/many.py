"""Calls for many at once, and of whole threads: a batch of runs, cancels, a copy, and the removal of threads."""

from typing import Any, cast

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interlock.domain.errors import Forbidden
from interlock.domain.run import ACTIVE
from interlock.faces.http.credentials import Caller
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.langgraph.errors import Refusal, invalid, not_found
from interlock.faces.langgraph.fields import (
    Fields,
    body_of,
    choice_of,
    json_of,
    not_offered,
    query_of,
    text_of,
    texts_of,
)
from interlock.faces.langgraph.runs import begin_stateless, new_run_view, read_stateless, tidy_later
from interlock.faces.langgraph.scene import Scene
from interlock.faces.langgraph.views import ThreadPicture, thread_view
from interlock.services.threads import messages, threads

router = APIRouter(include_in_schema=False)

MOST_AT_ONCE = 100


@router.post("/runs/batch")
async def batch(request: Request, caller: Caller) -> Response:
    """Runs without a thread, each on its own. All are read before the first one begins."""
    scene, bodies = Scene(request, caller), await _bodies(request)
    for body in bodies:
        read_stateless(scene, body)
    views: list[Any] = []
    for place, body in enumerate(bodies):
        ref = await begin_stateless(scene, body, place)
        views.append(await new_run_view(scene, ref))
        tidy_later(scene, ref.thread, body)
    return LenientJSONResponse(views)


async def _bodies(request: Request) -> list[Fields]:
    given = await json_of(request)
    items = cast("list[Any]", given) if isinstance(given, list) else []
    if not 1 <= len(items) <= MOST_AT_ONCE or not all(isinstance(one, dict) for one in items):
        raise invalid(f"the body must be a list of 1 to {MOST_AT_ONCE} runs")
    return [{name: value for name, value in one.items() if value is not None} for one in items]


@router.post("/runs/cancel")
async def cancel(request: Request, caller: Caller) -> Response:
    """Those named of one thread, or what runs and waits on it."""
    body, scene = await body_of(request), Scene(request, caller)
    if choice_of(query_of(request), "action", "interrupt", "interrupt", "rollback") == "rollback":
        raise not_offered("a run is not rolled back here: what it did was done")
    thread_id, run_ids = text_of(body, "thread_id"), texts_of(body, "run_ids")
    if thread_id is None:
        raise not_offered("name the thread_id: runs of all threads are not cancelled at once here")
    status = choice_of(body, "status", "all", "pending", "running", "all")
    await scene.thread(thread_id, drives=True)
    async with scene.core.store.snapshot() as tx:
        waiting = [one.id for one in await tx.waiting_runs.of_thread(thread_id)] if status != "running" else []
        active = [one.id for one in await tx.runs.of_thread(thread_id) if one.status in ACTIVE]
    found = [*waiting, *(active if status != "pending" else [])]
    targets = [one for one in found if run_ids is None or one in run_ids]
    if run_ids is not None and not targets:
        raise not_found("an active run of these ids was")
    for run_id in targets:
        if not await messages.cancel_waiting(scene.core, caller, thread_id, run_id):
            await messages.stop(scene.core, caller, thread_id, "cancelled by a client", run_id=run_id)
    return Response(status_code=204)


@router.post("/threads/{thread_id}/copy")
async def copy(request: Request, caller: Caller, thread_id: str) -> Response:
    scene = Scene(request, caller)
    await scene.thread(thread_id, drives=True)
    thread_copy = await threads.copy_thread(scene.core, caller, thread_id)
    snapshot = await scene.core.agents.snapshot(thread_copy)
    return LenientJSONResponse(thread_view(ThreadPicture(thread_copy, None, (), None), snapshot, scene.locale))


@router.post("/threads/prune")
async def prune(request: Request, caller: Caller) -> Response:
    """Delete the threads that are theirs; the others count as not there."""
    body, scene = await body_of(request), Scene(request, caller)
    if choice_of(body, "strategy", "delete", "delete", "keep_latest") != "delete":
        raise not_offered("only the strategy delete is offered: streams are told again from older checkpoints")
    ids = texts_of(body, "thread_ids") or ()
    if not 1 <= len(ids) <= MOST_AT_ONCE:
        raise invalid(f"thread_ids must name 1 to {MOST_AT_ONCE} threads")
    pruned = 0
    for thread_id in dict.fromkeys(ids):
        try:
            await scene.thread(thread_id, drives=True)
            await threads.delete_thread(scene.core, caller, thread_id)
        except (Refusal, Forbidden):
            continue
        pruned += 1
    return LenientJSONResponse({"pruned_count": pruned})
