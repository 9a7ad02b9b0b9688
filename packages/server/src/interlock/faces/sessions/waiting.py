"""Waiting for what comes of a run, for as long as anybody is there to be told."""

from contextlib import aclosing
from functools import partial

from fastapi import Request
from fastapi.responses import Response

from interlock.domain.errors import NotAuthenticated, StorageUnavailable
from interlock.domain.principal import Principal
from interlock.domain.run import Run
from interlock.domain.session import SessionState
from interlock.faces.http.any_text import AnyText
from interlock.faces.http.locale import locale_of
from interlock.faces.http.problems import problem
from interlock.faces.http.server_state import state_of
from interlock.faces.http.watching import Watch
from interlock.faces.sessions.texts import text
from interlock.faces.sessions.views import agent_response
from interlock.services import sessions
from interlock.services.sessions import Outcome
from interlock.services.unfollowed import stop_unfollowed

CLIENT_GONE = 499
"""For the log: nobody is there to be told."""


async def answer(request: Request, caller: Principal, session_id: str, run: Run | None, after: int) -> Response:
    """The agent's response, once the run has ended or waits. A run goes on whatever becomes of this call."""
    core = state_of(request).core
    try:
        gone = partial(stop_unfollowed, core)
        with core.presence.follow(session_id, core.policy.follow_grace, core.clock.now, gone):
            outcome = await _outcome(request, session_id, run, after)
    except StorageUnavailable:
        return _not_now(request, session_id, "unavailable")
    if isinstance(outcome, Response):
        return outcome
    if outcome.pause is not None:
        core.showing.show(outcome.pause.id, caller.id)
    return AnyText(agent_response(outcome, locale_of(request)))


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
