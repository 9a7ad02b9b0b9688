"""Waiting for what comes of a run, for as long as anybody is there to be told."""

from contextlib import aclosing

from fastapi import Request
from fastapi.responses import Response

from interlock.domain.errors import NotAuthenticated, StorageUnavailable
from interlock.domain.principal import Principal
from interlock.domain.run import Run
from interlock.domain.session import SessionState
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.locale import locale_of
from interlock.faces.http.problems import problem
from interlock.faces.http.server_state import state_of
from interlock.faces.http.watching import Watch
from interlock.faces.sessions.views import agent_response
from interlock.services.threads import sessions
from interlock.services.threads.followers import following
from interlock.services.threads.sessions import Outcome
from interlock.texts import sessions_text as text

CLIENT_GONE = 499
"""For the log: nobody is there to be told."""


async def answer(request: Request, caller: Principal, session_id: str, run: Run | None, after: int) -> Response:
    """The agent's response, once the run has ended or waits. A run goes on whatever becomes of this call."""
    core = state_of(request).core
    try:
        with following(core, session_id):
            outcome = await _outcome(request, session_id, run, after)
    except StorageUnavailable:
        return _not_now(request, session_id, "unavailable")
    if isinstance(outcome, Response):
        return outcome
    await note_shown(request, caller, outcome)
    return LenientJSONResponse(agent_response(outcome, locale_of(request)))


async def note_shown(request: Request, caller: Principal, outcome: Outcome) -> None:
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
