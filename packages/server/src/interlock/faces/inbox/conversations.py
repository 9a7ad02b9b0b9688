"""The caller's conversations, for the chat page: which there are, and stopping one."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from interlock.domain.thread import Thread, ThreadStatus
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import state_of
from interlock.faces.inbox.requests import SOURCE
from interlock.services.threads import messages, threads
from interlock_client import inbox as wire

_STATES: dict[ThreadStatus, wire.ConversationState] = {
    ThreadStatus.IDLE: "idle",
    ThreadStatus.RUNNING: "running",
    ThreadStatus.PAUSED: "waiting",
}

router = APIRouter(prefix="/api/v1/inbox/conversations", tags=["inbox"])


@router.get("", responses=problems(401))
async def list_all(
    request: Request,
    caller: Caller,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    page_size: Annotated[int, Query(ge=1, le=200)] = 50,
) -> wire.Conversations:
    """The caller's own, the one last touched first."""
    found, total = await threads.list_threads(state_of(request).core, caller, (page - 1) * page_size, page_size)
    return wire.Conversations(conversations=[_entry(thread) for thread in found], total=total)


@router.post("/{conversation_id}/stop", responses=problems(401, 404))
async def stop(
    request: Request, caller: Caller, conversation_id: str, body: wire.StopConversation
) -> wire.ConversationStopped:
    """Stop what runs, and cancel what waits; a tool under way is let finish, and its result recorded."""
    reason = body.reason or "stopped by a person"
    stopped = await messages.interrupt(state_of(request).core, caller, conversation_id, reason, SOURCE)
    return wire.ConversationStopped(conversation_id=conversation_id, stopped=stopped)


def _entry(thread: Thread) -> wire.Conversation:
    return wire.Conversation(
        conversation_id=thread.id,
        title=thread.title,
        agent=thread.agent,
        outside=thread.is_outside,
        state=_STATES[thread.status],
        message_count=thread.message_count,
        created_at=thread.created_at,
        updated_at=thread.updated_at,
    )
