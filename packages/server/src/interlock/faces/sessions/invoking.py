"""Invoke, resume, status, system information and deletion."""

from contextlib import aclosing

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interlock.domain.errors import NotAuthenticated, NotFound, StorageUnavailable
from interlock.domain.principal import Principal, Role
from interlock.domain.run import Run
from interlock.domain.run_input import GraphInput, MessageInput
from interlock.domain.session import SessionState
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.guard import is_click
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.locale import locale_of
from interlock.faces.http.problems import problem
from interlock.faces.http.server_state import state_of
from interlock.faces.http.watching import Watch
from interlock.faces.sessions import views
from interlock.faces.sessions.replies import ReplyInput, choose
from interlock.services.requests.answering import Sender
from interlock.services.threads import sessions
from interlock.services.threads.followers import count_follower
from interlock.services.threads.sessions import Outcome
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
        given = GraphInput(body.input) if body.query is None else MessageInput(body.query, system)
        started = await sessions.invoke(state.core, caller, user, given)
        return await _answer(request, caller, started.thread.id, started.run, started.seq)


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
        return await _answer(request, caller, settled.thread_id, settled.run, settled.seq)


@router.get("/agent/status/{user_id}", response_model=wire.SessionStatusResponse, responses=problems(401))
async def status(request: Request, caller: Caller, user_id: str) -> Response:
    """Where the user's session stands, and what the last call came to; `not_found` where there is none."""
    core = state_of(request).core
    try:
        session = await sessions.find_session(core, await sessions.find_user(core, caller, user_id))
    except NotFound:
        session = None
    if session is not None and session.outcome is not None:
        await _note_shown(request, caller, session.outcome)
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


CLIENT_GONE = 499
"""For the log: nobody is there to be told."""


async def _answer(request: Request, caller: Principal, session_id: str, run: Run | None, after: int) -> Response:
    """The agent's response, once the run has ended or waits. A run goes on whatever becomes of this call."""
    core = state_of(request).core
    try:
        with count_follower(core, session_id):
            outcome = await _outcome(request, session_id, run, after)
    except StorageUnavailable:
        return _not_now(request, session_id, "unavailable")
    if isinstance(outcome, Response):
        return outcome
    await _note_shown(request, caller, outcome)
    return LenientJSONResponse(views.agent_response(outcome, locale_of(request)))


async def _note_shown(request: Request, caller: Principal, outcome: Outcome) -> None:
    """The caller is about to be sent this, unless they are gone."""
    if outcome.pause is not None and not await request.is_disconnected():
        state_of(request).core.seen_pauses.show(outcome.pause.id, caller.id)


async def _outcome(request: Request, session_id: str, run: Run | None, after: int) -> Outcome | Response:
    watch = Watch(request)
    async with aclosing(sessions.follow_outcome(state_of(request).core, session_id, run, after)) as items:
        async for item in items:
            if isinstance(item, Outcome):
                return item
            reason = await watch.reason_to_end(session_id, is_idle=item is None)
            if reason == "revoked":
                raise NotAuthenticated("the credential no longer holds")
            if reason is not None:
                return _not_now(request, session_id, reason)
            if item is None and await request.is_disconnected():
                return Response(status_code=CLIENT_GONE)
    raise AssertionError("a thread is followed until its run has ended")


def _not_now(request: Request, session_id: str, reason: str) -> Response:
    """The run goes on, or will; the session's status tells what came of it."""
    more = {"status": SessionState.RUNNING, "session_id": session_id}
    return problem(503, text(reason, locale_of(request)), {"retry-after": "1"}, **more)
