"""Errors of this face: `{detail: text, ...}` in its own words, by one table from the core's errors."""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from interlock.domain.errors import (
    AlreadySettled,
    Forbidden,
    InterlockError,
    InvalidAnswer,
    NoSession,
    NotEligible,
    NotFound,
    NotShown,
    NoWorker,
    ThreadBusy,
    WrongSession,
)
from interlock.domain.session import SessionState
from interlock.domain.thread import ThreadStatus
from interlock.faces.http.locale import locale_of
from interlock.faces.http.problems import DefaultErrorFormat, error_headers, listed_errors, problem, status_of
from interlock.faces.sessions import views
from interlock.faces.shared.refusals import needs_text
from interlock.faces.shared.responses import message_of
from interlock.services.threads.sessions import NotInterrupted
from interlock.texts import Locale
from interlock.texts import sessions_text as text

_ANSWER = '"args": {"answer": %s}'
_STATES = {ThreadStatus.PAUSED: SessionState.INTERRUPTED, ThreadStatus.RUNNING: SessionState.RUNNING}


class SessionsErrorFormat(DefaultErrorFormat):
    def refuse(self, error: InterlockError, request: Request) -> Response:
        if isinstance(error, NotEligible):
            return _not_eligible(error, locale_of(request))
        render = next((render for kind, render in _FORMATS.items() if isinstance(error, kind)), None)
        if render is None:
            return super().refuse(error, request)
        locale = locale_of(request)
        key, values, more = render(error, locale)
        # What the core calls a conflict, the face's source document calls a bad request.
        status = 400 if isinstance(error, NotInterrupted) else status_of(error)
        return problem(status, text(key, locale, **values), error_headers(error), code=error.code, **more)


def _not_eligible(error: NotEligible, locale: Locale) -> Response:
    """Its user may call this: it is the state of the session that is in the way."""
    more = {"status": SessionState.INTERRUPTED, "needs": error.needs.to_json()}
    return problem(409, needs_text(error, locale), error_headers(error), code=error.code, **more)


ErrorParts = tuple[str, Mapping[str, Any], Mapping[str, Any]]
"""The text's key, what stands in it, and what the body says beside it."""


def _busy(error: InterlockError, locale: Locale) -> ErrorParts:
    assert isinstance(error, ThreadBusy)
    state = _STATES[error.status]
    pending = [views.request_view(one, locale) for one in error.requests]
    more = {"status": state, "session_id": error.thread_id, "pending": pending}
    return "busy", {"state": state}, more


def _already_settled(error: InterlockError, _: Locale) -> ErrorParts:
    assert isinstance(error, AlreadySettled)
    return "already_settled", {}, error.end.to_json()


def _invalid(error: InterlockError, locale: Locale) -> ErrorParts:
    assert isinstance(error, InvalidAnswer)
    return "invalid_answer", {"what": message_of(error, locale, _ANSWER)}, {"errors": listed_errors(error)}


def _not_found(error: InterlockError, _: Locale) -> ErrorParts:
    if isinstance(error, NoSession):
        return "no_session", {"user": error.user}, {"status": SessionState.NOT_FOUND}
    assert isinstance(error, NotFound)
    return "no_request", {"request_id": error.request_id}, {}


def _not_interrupted(error: InterlockError, _: Locale) -> ErrorParts:
    assert isinstance(error, NotInterrupted)
    end = error.end.to_json() if error.end else {}
    return "not_interrupted", {"state": error.state}, {"status": error.state, **end}


def _plainly(key: str, **more: Any) -> Callable[[InterlockError, Locale], ErrorParts]:
    return lambda _error, _locale: (key, {}, more)


_FORMATS: Mapping[type[InterlockError], Callable[[InterlockError, Locale], ErrorParts]] = {
    NotFound: _not_found,
    WrongSession: _plainly("wrong_session"),
    NotInterrupted: _not_interrupted,
    NotShown: _plainly("not_shown", status=SessionState.INTERRUPTED),
    ThreadBusy: _busy,
    AlreadySettled: _already_settled,
    InvalidAnswer: _invalid,
    Forbidden: _plainly("forbidden"),
    NoWorker: _plainly("no_worker", status=SessionState.INTERRUPTED),
}
