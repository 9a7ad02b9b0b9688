"""What the core refuses, as an event of this face: one table."""

from collections.abc import Callable, Mapping
from typing import Any

from interlock.domain.errors import (
    AlreadySettled,
    Conflict,
    Forbidden,
    InterlockError,
    InvalidInput,
    NotFound,
    NoWorker,
    RateLimited,
    StorageUnavailable,
    ThreadBusy,
)
from interlock.faces.confirm.events import Said
from interlock.faces.confirm.steps import step_of
from interlock.faces.confirm.texts import text
from interlock.faces.http.limits import whole_seconds
from interlock.faces.http.locale import Locale
from interlock.faces.http.problems import listed_errors
from interlock.faces.shared.refusals import message_of
from interlock_client.confirm import AgentEvents, ErrorTypes, SystemEvents


class EmptyMessage(InvalidInput):
    """A message without a text."""


def unknown_step(step_id: str | None) -> NotFound:
    return NotFound("there is no such step", received_step_id=step_id)


def refusal(error: InterlockError, locale: Locale) -> Said:
    """What a client is told; what went wrong inside is for the log."""
    told = next((tell for kind, tell in _ERRORS.items() if isinstance(error, kind)), _failed)
    return told(error, locale)


def _system(error_type: ErrorTypes, locale: Locale, detail: str = "", **metadata: Any) -> Said:
    content = text(error_type, locale, detail=detail)
    return Said(SystemEvents.ERROR, content, {"error_type": error_type, **metadata})


def _busy(error: InterlockError, locale: Locale) -> Said:
    pause, requests = error.context.get("pause"), error.context.get("requests", ())
    pending = [step_of(pause.opened_seq, one).id for one in requests] if pause and pause.opened_seq else []
    state = "paused" if pause else "running"
    metadata = {"error_type": ErrorTypes.BUSY, "status": state, "pending": pending}
    return Said(AgentEvents.ERROR, text(f"busy.{state}", locale), metadata)


def _empty(_error: InterlockError, locale: Locale) -> Said:
    error_type = ErrorTypes.EMPTY_MESSAGE
    return Said(AgentEvents.ERROR, text(error_type, locale), {"error_type": error_type})


def _settled(error: InterlockError, locale: Locale) -> Said:
    return _system(ErrorTypes.INVALID_STEP_ID, locale, status=error.context["current_status"], **error.context)


def _not_found(error: InterlockError, locale: Locale) -> Said:
    if "received_step_id" in error.context:
        step_id = error.context["received_step_id"]
        return _system(ErrorTypes.INVALID_STEP_ID, locale, received_step_id=step_id)
    return _system(ErrorTypes.SESSION_NOT_FOUND, locale)


def _invalid(error: InterlockError, locale: Locale) -> Said:
    assert isinstance(error, InvalidInput)
    more = {name: value for name, value in error.context.items() if name in ("step_id", "attempts_left")}
    return _system(ErrorTypes.INVALID_MESSAGE, locale, message_of(error, locale), errors=listed_errors(error), **more)


def _conflict(error: InterlockError, locale: Locale) -> Said:
    metadata = {"error_type": ErrorTypes.BUSY}
    return Said(AgentEvents.ERROR, text("conflict", locale, detail=error.message), metadata)


def _rate_limited(error: InterlockError, locale: Locale) -> Said:
    assert isinstance(error, RateLimited)
    return _system(ErrorTypes.RATE_LIMITED, locale, retry_after=int(whole_seconds(error.retry_after)))


def _forbidden(_error: InterlockError, locale: Locale) -> Said:
    return _system(ErrorTypes.FORBIDDEN, locale)


def _unavailable(_error: InterlockError, locale: Locale) -> Said:
    return _system(ErrorTypes.UNAVAILABLE, locale)


def _no_worker(_error: InterlockError, locale: Locale) -> Said:
    return Said(SystemEvents.ERROR, text("no_worker", locale), {"error_type": ErrorTypes.UNAVAILABLE})


def _failed(_error: InterlockError, locale: Locale) -> Said:
    return _system(ErrorTypes.INTERNAL, locale)


_ERRORS: Mapping[type[InterlockError], Callable[[InterlockError, Locale], Said]] = {
    EmptyMessage: _empty,
    InvalidInput: _invalid,
    AlreadySettled: _settled,
    ThreadBusy: _busy,
    Conflict: _conflict,
    NotFound: _not_found,
    Forbidden: _forbidden,
    RateLimited: _rate_limited,
    NoWorker: _no_worker,
    StorageUnavailable: _unavailable,
}
