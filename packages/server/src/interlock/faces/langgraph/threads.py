"""Threads: made, found, looked at, noted on and deleted; their states now and in the past."""

import uuid
from collections.abc import AsyncGenerator, Sequence
from typing import Any, cast

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interlock.domain.errors import Conflict
from interlock.domain.json_value import JsonObject
from interlock.domain.thread import Thread, ThreadStatus
from interlock.domain.thread_metadata import contains
from interlock.faces.http.credentials import Caller
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.langgraph.errors import Refusal, invalid
from interlock.faces.langgraph.extract import extract, paths_of
from interlock.faces.langgraph.fields import (
    Fields,
    body_of,
    choice_of,
    is_on,
    not_offered,
    number_of,
    object_of,
    query_of,
    text_of,
    texts_of,
)
from interlock.faces.langgraph.repeats import SOURCE
from interlock.faces.langgraph.scene import Scene, thread_uuid
from interlock.faces.langgraph.views import (
    ThreadPicture,
    checkpoint,
    own_asks,
    page_headers,
    select_fields,
    state_view,
    thread_view,
)
from interlock.ports.agents import Snapshot
from interlock.ports.filters import ThreadFilter, ThreadOrder, ThreadSort
from interlock.services.threads import messages, states, threads
from interlock.services.threads.threads import MOST_FOUND, MOST_SKIPPED

router = APIRouter(include_in_schema=False)

STATUSES = {
    "idle": ThreadStatus.IDLE,
    "error": ThreadStatus.IDLE,
    "busy": ThreadStatus.RUNNING,
    "interrupted": ThreadStatus.PAUSED,
}
SORTED_BY = {
    "updated_at": ThreadSort.UPDATED,
    "state_updated_at": ThreadSort.UPDATED,
    "thread_id": ThreadSort.ID,
    "status": ThreadSort.STATUS,
    "created_at": ThreadSort.CREATED,
}
LISTED_AT_ONCE = 100
MOST_NAMED = 10_000
MOST_STATES = 1_000
"""How many threads are looked at for the values of their states, each of which is read for it."""


@router.post("/threads")
async def make(request: Request, caller: Caller) -> Response:
    body, scene = await body_of(request), Scene(request, caller)
    for name in ("supersteps", "ttl"):
        if body.get(name):
            raise not_offered(f"{name} is not offered here")
    wanted_id = text_of(body, "thread_id")
    thread_id = thread_uuid(wanted_id) if wanted_id else str(uuid.uuid4())
    metadata = object_of(body, "metadata") or {}
    graph = text_of(body, "graph_id") or metadata.get("graph_id")
    agent = scene.agent(graph) if isinstance(graph, str) and graph else None
    try:
        thread = await threads.create_thread(
            scene.core, caller, agent=agent, thread_id=thread_id, metadata=_own_metadata(metadata)
        )
    except Conflict as error:
        if choice_of(body, "if_exists", "raise", "raise", "do_nothing") == "raise":
            raise Refusal(409, "conflict", "there is a thread of this id already") from error
        return await _show(scene, await scene.picture(thread_id))
    return LenientJSONResponse(thread_view(ThreadPicture(thread, None, (), None), None, scene.locale))


@router.post("/threads/search")
async def search(request: Request, caller: Caller) -> Response:
    body, scene = await body_of(request), Scene(request, caller)
    limit = number_of(body, "limit", 10, 1, MOST_FOUND - 1)
    offset = number_of(body, "offset", 0, 0, MOST_SKIPPED)
    names, paths = texts_of(body, "select"), paths_of(body)
    page, has_more = await _page(scene, body, offset, limit)
    wanted = None if paths else names
    pictures = await scene.pictures(page)
    heads = await scene.core.agents.heads(page) if _needs_state(wanted) else [None] * len(page)
    views: list[JsonObject] = []
    for picture, head in zip(pictures, heads, strict=True):
        view = thread_view(picture, head, scene.locale)
        more: JsonObject = {"extracted": extract(view, paths)} if paths else {}
        views.append({**select_fields(view, names), **more})
        if names is None or "interrupts" in names:
            await scene.note_shown(picture)
    return LenientJSONResponse(views, headers=page_headers(offset, len(page), has_more=has_more))


@router.post("/threads/count")
async def count(request: Request, caller: Caller) -> Response:
    body, scene = await body_of(request), Scene(request, caller)
    if object_of(body, "values"):
        return LenientJSONResponse(len([one async for one in _with_values(scene, body)]))
    return LenientJSONResponse(await threads.count_threads(scene.core, scene.caller, _filter(scene, body)))


@router.get("/threads/{thread_id}")
async def get(request: Request, caller: Caller, thread_id: str) -> Response:
    scene = Scene(request, caller)
    return await _show(scene, await scene.picture(thread_id))


@router.patch("/threads/{thread_id}")
async def patch(request: Request, caller: Caller, thread_id: str) -> Response:
    body, scene = await body_of(request), Scene(request, caller)
    await scene.thread(thread_id, drives=True)
    if body.get("ttl"):
        raise not_offered("ttl is not offered here")
    await threads.merge_metadata(scene.core, caller, thread_id, _own_metadata(object_of(body, "metadata") or {}))
    if "return=minimal" in request.headers.get("prefer", ""):
        return Response(status_code=204)
    return await _show(scene, await scene.picture(thread_id))


@router.delete("/threads/{thread_id}")
async def delete(request: Request, caller: Caller, thread_id: str) -> Response:
    scene = Scene(request, caller)
    await scene.thread(thread_id, drives=True)
    await threads.delete_thread(scene.core, caller, thread_id)
    return Response(status_code=204)


@router.get("/threads/{thread_id}/state")
async def state(request: Request, caller: Caller, thread_id: str) -> Response:
    return await _state(Scene(request, caller), thread_id, {}, query_of(request))


@router.get("/threads/{thread_id}/state/{checkpoint_id}")
async def state_at(request: Request, caller: Caller, thread_id: str, checkpoint_id: str) -> Response:
    return await _state(Scene(request, caller), thread_id, {"checkpoint_id": checkpoint_id}, query_of(request))


@router.post("/threads/{thread_id}/state/checkpoint")
async def state_of_checkpoint(request: Request, caller: Caller, thread_id: str) -> Response:
    body = await body_of(request)
    return await _state(Scene(request, caller), thread_id, object_of(body, "checkpoint") or {}, body)


@router.post("/threads/{thread_id}/state")
async def write(request: Request, caller: Caller, thread_id: str) -> Response:
    """Write to the state, or to one of the past; what is open is cancelled. `{values: null, as_node: "__end__"}` does
    only that."""
    body, scene = await body_of(request), Scene(request, caller)
    thread = await scene.thread(thread_id, drives=True)
    place = object_of(body, "checkpoint") or {}
    if _space(place):
        raise not_offered("the state of a graph inside is not written to here: write to the thread's")
    fence = text_of(place, "checkpoint_id") or text_of(body, "checkpoint_id")
    head = await scene.core.agents.snapshot(thread)
    past = fence if fence != head.checkpoint_id else None
    if past is not None and thread.status is ThreadStatus.PAUSED:
        raise Refusal(409, "stale_checkpoint", "the thread has gone on since this checkpoint")
    values, as_node = body.get("values"), text_of(body, "as_node")
    if past is not None and values is None:
        written = await states.return_to(scene.core, caller, thread_id, past)
    elif values is None and as_node == "__end__":
        await messages.cancel_pause(scene.core, caller, thread_id, SOURCE)
        written = head.checkpoint_id
    else:
        written = await states.write_state(scene.core, caller, thread_id, values, as_node, SOURCE, past)
    config = checkpoint(thread_id, written)
    return LenientJSONResponse({"checkpoint": config, "configurable": config or {}, "checkpoint_id": written})


@router.get("/threads/{thread_id}/history")
async def history(request: Request, caller: Caller, thread_id: str) -> Response:
    return await _history(Scene(request, caller), thread_id, query_of(request))


@router.post("/threads/{thread_id}/history")
async def history_of(request: Request, caller: Caller, thread_id: str) -> Response:
    return await _history(Scene(request, caller), thread_id, await body_of(request))


async def _history(scene: Scene, thread_id: str, given: Fields) -> Response:
    picture = await scene.picture(thread_id)
    limit, space = number_of(given, "limit", 1, 1, 1000), _space(object_of(given, "checkpoint") or {})
    agents, filters = scene.core.agents, object_of(given, "metadata")
    found = await agents.snapshots(picture.thread, limit, _before(given.get("before")), filters, space=space)
    head = (await agents.snapshot(picture.thread, space=space)).checkpoint_id
    states = [
        _head_view(scene, picture, one) if one.checkpoint_id == head else state_view(thread_id, one, {})
        for one in found
    ]
    if not space and any(one.checkpoint_id == head for one in found):
        await scene.note_shown(picture)
    return LenientJSONResponse(states)


def _before(given: Any) -> str | None:
    if isinstance(given, dict):
        fields = cast("JsonObject", given)
        return text_of(object_of(fields, "configurable") or fields, "checkpoint_id")
    if given is not None and not isinstance(given, str):
        raise invalid("before must name a checkpoint")
    return given or None


async def _state(scene: Scene, thread_id: str, place: Fields, options: Fields) -> Response:
    checkpoint_id, space = text_of(place, "checkpoint_id"), _space(place)
    inner, agents = is_on(options.get("subgraphs")), scene.core.agents
    picture = await scene.picture(thread_id)
    head = await agents.snapshot(picture.thread, space=space, inner=inner)
    if checkpoint_id not in (None, head.checkpoint_id):
        snapshot = await agents.snapshot(picture.thread, checkpoint_id, space=space, inner=inner)
        return LenientJSONResponse(state_view(thread_id, snapshot, {}))
    view = _head_view(scene, picture, head)
    if not space:
        await scene.note_shown(picture)
    return LenientJSONResponse(view)


def _head_view(scene: Scene, picture: ThreadPicture, head: Snapshot) -> JsonObject:
    """The newest state of the graph, or of one inside, with what is open on it."""
    views = picture.by_source(scene.locale)
    return state_view(picture.thread.id, head, views, () if head.space else own_asks(head, views))


def _space(place: Fields) -> str:
    """The namespace of a graph inside; @langchain/react joins its levels in a way of its own."""
    return (text_of(place, "checkpoint_ns") or "").replace("\0", "|")


async def _show(scene: Scene, picture: ThreadPicture) -> Response:
    head = await scene.core.agents.snapshot(picture.thread)
    view = thread_view(picture, head, scene.locale)
    await scene.note_shown(picture)
    return LenientJSONResponse(view)


def _needs_state(names: Sequence[str] | None) -> bool:
    return names is None or "values" in names or "interrupts" in names


def _own_metadata(metadata: JsonObject) -> JsonObject:
    """What every thread says by itself is not noted on it."""
    return {name: value for name, value in metadata.items() if name not in ("graph_id", "assistant_id")}


def _filter(scene: Scene, body: Fields) -> ThreadFilter:
    status, ids = text_of(body, "status"), texts_of(body, "ids")
    if status is not None and status not in STATUSES:
        raise invalid(f"status must be one of {', '.join(STATUSES)}")
    if ids is not None and len(ids) > MOST_NAMED:
        raise invalid(f"ids must be {MOST_NAMED} at the most")
    metadata = object_of(body, "metadata") or {}
    return ThreadFilter(
        ids=None if ids is None else tuple(ids),
        agents=_agents(scene, metadata),
        statuses=(STATUSES[status],) if status else None,
        has_failed=status == "error" if status in ("idle", "error") else None,
        is_hosted=True,
        metadata=_own_metadata(metadata),
    )


def _order(body: Fields) -> ThreadOrder:
    """The one last touched first, unless another order is asked for."""
    by = SORTED_BY[choice_of(body, "sort_by", "updated_at", *SORTED_BY)]
    return ThreadOrder(by, choice_of(body, "sort_order", "desc", "asc", "desc") == "asc")


async def _page(scene: Scene, body: Fields, offset: int, limit: int) -> tuple[list[Thread], bool]:
    """Those of the page, and whether there are more."""
    if object_of(body, "values"):
        found = [one async for one in _with_values(scene, body, offset + limit + 1)]
        return found[offset : offset + limit], len(found) > offset + limit
    found = await threads.search_threads(
        scene.core, scene.caller, _filter(scene, body), offset=offset, limit=limit + 1, order=_order(body)
    )
    return found[:limit], len(found) > limit


async def _with_values(scene: Scene, body: Fields, most: int = MOST_STATES) -> AsyncGenerator[Thread]:
    """Those of the first threads whose state has these values: each of the states is read for it."""
    values, query, order = object_of(body, "values") or {}, _filter(scene, body), _order(body)
    number = 0
    for start in range(0, MOST_STATES, LISTED_AT_ONCE):
        page = await threads.search_threads(
            scene.core, scene.caller, query, offset=start, limit=LISTED_AT_ONCE, order=order
        )
        for thread, head in zip(page, await scene.core.agents.heads(page), strict=True):
            if contains(head.values, values):
                yield thread
                if (number := number + 1) >= most:
                    return
        if len(page) < LISTED_AT_ONCE:
            return


def _agents(scene: Scene, metadata: JsonObject) -> tuple[str, ...]:
    """The agents of the threads that a filter means; what is unknown fits none."""
    names = scene.core.agents.names
    for field in ("graph_id", "assistant_id"):
        if (value := metadata.get(field)) is not None:
            try:
                names = tuple(name for name in names if name == scene.agent(str(value)))
            except Refusal:
                return ()
    return names
