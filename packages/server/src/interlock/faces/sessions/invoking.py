"""Invoke, resume, status, system information and deletion."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interlock.domain.errors import NotFound
from interlock.domain.principal import Role
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.guard import is_click
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.sessions import views, waiting
from interlock.faces.sessions.replies import ReplyInput, choose
from interlock.faces.shared.inputs import run_input
from interlock.services.requests.answering import Sender
from interlock.services.threads import sessions
from interlock.texts import sessions_text as text
from interlock_client import sessions as wire

SOURCE = "sessions"

router = APIRouter(tags=["sessions"])


@router.post("/agent/invoke", response_model=wire.AgentResponse, responses=problems(401, 404, 409))
async def invoke(request: Request, caller: Caller, body: wire.AgentRequest) -> Response:
    """Send a query to the user's session, which is made if there is none, and wait until it is done or asks a person.

    409 while it runs or waits. A client that goes away loses nothing: the run goes on, and the status tells of it.
    """
    state = state_of(request)
    with state.limits.stream(caller.person_id):
        user = await sessions.find_user(state.core, caller, body.user_id)
        system = body.system_message
        if "system_message" not in body.model_fields_set:
            system = text("system_message", locale_of(request))
        given = run_input(body.query, body.input, system)
        started = await sessions.invoke(state.core, caller, user, given)
        return await waiting.answer(request, caller, started.thread.id, started.run, started.seq)


@router.post("/agent/resume", response_model=wire.AgentResponse, responses=problems(401, 404, 409))
async def resume(request: Request, caller: Caller, body: wire.InterruptResponse) -> Response:
    """Reply to what the session waits for, and wait until it is done or asks again.

    A reply that does not fit gives 400, and everything stays pending. Whoever comes second is told who was first.
    """
    state = state_of(request)
    reply = ReplyInput.of(body.response_type, body.args)
    with state.limits.stream(caller.person_id):
        user = await sessions.find_user(state.core, caller, body.user_id)
        settled = await sessions.resume(
            state.core,
            Sender(caller, SOURCE),
            user,
            body.session_id,
            choose(reply, state.core.agents.takes),
            request_id=reply.request_id,
            is_click=is_click(request),
        )
        return await waiting.answer(request, caller, settled.thread_id, settled.run, settled.seq)


@router.get("/agent/status/{user_id}", response_model=wire.SessionStatusResponse, responses=problems(401))
async def status(request: Request, caller: Caller, user_id: str) -> Response:
    """Where the user's session stands, and what the last call came to; `not_found` where there is none."""
    core = state_of(request).core
    try:
        session = await sessions.find_session(core, await sessions.find_user(core, caller, user_id))
    except NotFound:
        session = None
    if session is not None and session.outcome is not None:
        await waiting.note_shown(request, caller, session.outcome)
    return LenientJSONResponse(views.session_status(user_id, session, locale_of(request)))


@router.get("/system/info", responses=problems(401))
async def info(request: Request, caller: Caller) -> wire.SystemInfoResponse:
    """How many sessions there are, and whose; with accounts, who is not an admin sees their own only."""
    state = state_of(request)
    everybody = not state.with_accounts or caller.role is Role.ADMIN
    names = await sessions.users(state.core, caller, everybody=everybody)
    return wire.SystemInfoResponse(sessions_count=len(names), active_users=names)


@router.delete("/agent/session/{user_id}", responses=problems(401, 404))
async def delete(request: Request, caller: Caller, user_id: str) -> wire.SessionDeleted:
    """Delete the user's session for good: what runs is stopped, what is pending is cancelled, its state is dropped."""
    core = state_of(request).core
    user = await sessions.find_user(core, caller, user_id)
    await sessions.delete(core, caller, user)
    return wire.SessionDeleted(message=text("deleted", locale_of(request), user=user_id))
