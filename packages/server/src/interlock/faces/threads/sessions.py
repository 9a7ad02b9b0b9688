"""Threads: made, listed, looked at, deleted."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.threads import views
from interlock.services.threads import threads
from interlock_client import threads as wire

router = APIRouter(prefix="/api", tags=["threads"])


@router.post("/sessions", responses=problems(400, 401))
async def create(request: Request, caller: Caller, body: wire.NewSession | None = None) -> wire.Session:
    """Make a thread. Its agent is fixed with it; an unknown name is 400 and names the known ones."""
    thread = await threads.create_thread(state_of(request).core, caller, agent=body.agent if body else None)
    return wire.Session(thread_id=thread.id)


@router.get("/sessions", responses=problems(401))
async def list_all(
    request: Request,
    caller: Caller,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    page_size: Annotated[int, Query(ge=1, le=200)] = 20,
) -> wire.SessionList:
    """The caller's threads, the one last touched first."""
    found, total = await threads.list_threads(state_of(request).core, caller, (page - 1) * page_size, page_size)
    return wire.SessionList(threads=[views.session_entry(thread) for thread in found], total=total)


@router.delete("/sessions/{thread_id}", responses=problems(401))
async def delete(request: Request, caller: Caller, thread_id: str) -> wire.Deleted:
    """Delete a thread for good: what runs is stopped, what is pending is cancelled, its state is dropped."""
    await threads.delete_thread(state_of(request).core, caller, thread_id)
    return wire.Deleted(thread_id=thread_id)


@router.get("/status/{thread_id}", responses=problems(401))
async def status(request: Request, caller: Caller, thread_id: str) -> wire.ThreadStatus:
    """Whether the thread waits for a person, and for what."""
    core = state_of(request).core
    view = await threads.view_thread(core, caller, thread_id)
    info = None
    if view.pause is not None and view.open_requests:
        core.seen_pauses.show(view.pause.id, caller.id)
        info = views.interrupt_info(view.pause.node, view.open_requests, locale_of(request))
    return wire.ThreadStatus(
        thread_id=thread_id,
        status=views.status_word(view.thread),
        has_pending_tasks=info is not None,
        interrupt_info=info,
        message_count=view.thread.message_count,
    )


@router.get("/history/{thread_id}", responses=problems(401))
async def history(request: Request, caller: Caller, thread_id: str) -> wire.History:
    """The conversation so far, in order; messages without text are left out."""
    messages = await threads.history(state_of(request).core, caller, thread_id)
    views = [wire.Message(role=message.role, content=message.content) for message in messages if message.content]
    return wire.History(thread_id=thread_id, messages=views)
