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
    NotFound,
    NothingPending,
    NotShown,
    NoWorker,
    ThreadBusy,
    WrongSession,
)
from interlock.domain.session import SessionState
from interlock.domain.thread import ThreadStatus
from interlock.faces.http.locale import Locale, locale_of
from interlock.faces.http.problems import Plain, error_headers, listed_errors, problem, status_of
from interlock.faces.sessions import views
from interlock.faces.sessions.texts import text
from interlock.faces.shared.refusals import message_of

_STATES = {ThreadStatus.PAUSED: SessionState.INTERRUPTED, ThreadStatus.RUNNING: SessionState.RUNNING}


class Dialect(Plain):
    def refused(self, error: InterlockError, request: Request) -> Response:
        told = next((told for kind, told in _TOLD.items() if isinstance(error, kind)), None)
        if told is None:
            return super().refused(error, request)
        locale = locale_of(request)
        key, values, more = told(error, locale)
        # What the core calls a conflict, the face's source document calls a bad request.
        status = 400 if isinstance(error, NothingPending) else status_of(error)
        return problem(status, text(key, locale, **values), error_headers(error), code=error.code, **more)


Told = tuple[str, Mapping[str, Any], Mapping[str, Any]]
"""The text's key, what stands in it, and what the body says beside it."""


def _busy(error: InterlockError, locale: Locale) -> Told:
    state = _STATES[error.context["status"]]
    requests = error.context["requests"]
    pending = [views.request_view(one, locale) for one in requests]
    more = {"status": state, "session_id": error.context["thread_id"], "pending": pending}
    return "busy", {"state": state}, more


def _settled(error: InterlockError, _: Locale) -> Told:
    return "already_settled", {}, error.context


def _invalid(error: InterlockError, locale: Locale) -> Told:
    assert isinstance(error, InvalidAnswer)
    return "invalid_answer", {"what": message_of(error, locale)}, {"errors": listed_errors(error)}


def _not_found(error: InterlockError, _: Locale) -> Told:
    if "request_id" in error.context:
        return "no_request", {"request_id": error.context["request_id"]}, {}
    return "no_session", {"user": error.context["user"]}, {"status": SessionState.NOT_FOUND}


def _not_interrupted(error: InterlockError, _: Locale) -> Told:
    context = dict(error.context)
    state = context.pop("state")
    return "not_interrupted", {"state": state}, {"status": state, **context}


def _plainly(key: str, **more: Any) -> Callable[[InterlockError, Locale], Told]:
    return lambda _error, _locale: (key, {}, more)


_TOLD: Mapping[type[InterlockError], Callable[[InterlockError, Locale], Told]] = {
    NotFound: _not_found,
    WrongSession: _plainly("wrong_session"),
    NothingPending: _not_interrupted,
    NotShown: _plainly("not_shown", status=SessionState.INTERRUPTED),
    ThreadBusy: _busy,
    AlreadySettled: _settled,
    InvalidAnswer: _invalid,
    Forbidden: _plainly("forbidden"),
    NoWorker: _plainly("no_worker", status=SessionState.INTERRUPTED),
}
