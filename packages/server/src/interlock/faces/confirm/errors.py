"""What the core refuses, as an event of this face: one table."""

from collections.abc import Callable, Mapping
from typing import Any

from interlock.domain.errors import (
    AlreadySettled,
    Conflict,
    Forbidden,
    InterlockError,
    InvalidAnswer,
    InvalidInput,
    NotEligible,
    NotFound,
    NoWorker,
    RateLimited,
    StorageUnavailable,
    ThreadBusy,
)
from interlock.faces.confirm.events import OutgoingEvent
from interlock.faces.confirm.steps import step_of
from interlock.faces.http.limits import whole_seconds
from interlock.faces.http.problems import details_of, listed_errors
from interlock.faces.shared.refusals import needs_text
from interlock.faces.shared.responses import message_of
from interlock.texts import Locale
from interlock.texts import confirm_text as text
from interlock_client.confirm import AgentEvents, ErrorTypes, SystemEvents

_ANSWER = '"metadata": {"response": %s}'


class EmptyMessage(InvalidInput):
    """A message without a text."""


class UnknownStep(NotFound):
    def __init__(self, step_id: str | None) -> None:
        super().__init__("there is no such step")
        self.step_id = step_id


class StepSettled(AlreadySettled):
    def __init__(self, error: AlreadySettled, step_id: str | None) -> None:
        super().__init__(error.message, error.end)
        self.step_id = step_id


class InvalidStep(InvalidAnswer):
    """An answer to a step that cannot be taken, and how many more may come."""

    def __init__(self, error: InvalidAnswer, step_id: str | None, attempts_left: int | None = None) -> None:
        super().__init__(error.message, error.errors)
        self.error = error
        self.step_id = step_id
        self.attempts_left = attempts_left


def refusal(error: InterlockError, locale: Locale) -> OutgoingEvent:
    """What a client is told; what went wrong inside is for the log."""
    render = next((tell for kind, tell in _ERRORS.items() if isinstance(error, kind)), _internal)
    return render(error, locale)


def _system(error_type: ErrorTypes, locale: Locale, detail: str = "", **metadata: Any) -> OutgoingEvent:
    content = text(error_type, locale, detail=detail)
    return OutgoingEvent(SystemEvents.ERROR, content, {"error_type": error_type, **metadata})


def _busy(error: InterlockError, locale: Locale) -> OutgoingEvent:
    assert isinstance(error, ThreadBusy)
    pause = error.pause
    pending = [step_of(pause.opened_seq, one).id for one in error.requests] if pause and pause.opened_seq else []
    state = "paused" if pause else "running"
    metadata = {"error_type": ErrorTypes.BUSY, "status": state, "pending": pending}
    return OutgoingEvent(AgentEvents.ERROR, text(f"busy.{state}", locale), metadata)


def _empty(_error: InterlockError, locale: Locale) -> OutgoingEvent:
    error_type = ErrorTypes.EMPTY_MESSAGE
    return OutgoingEvent(AgentEvents.ERROR, text(error_type, locale), {"error_type": error_type})


def _already_settled(error: InterlockError, locale: Locale) -> OutgoingEvent:
    assert isinstance(error, AlreadySettled)
    metadata = {"status": error.end.status, **error.end.to_json()}
    if isinstance(error, StepSettled):
        metadata["received_step_id"] = error.step_id
    return _system(ErrorTypes.INVALID_STEP_ID, locale, **metadata)


def _not_found(error: InterlockError, locale: Locale) -> OutgoingEvent:
    if isinstance(error, UnknownStep):
        return _system(ErrorTypes.INVALID_STEP_ID, locale, received_step_id=error.step_id)
    return _system(ErrorTypes.SESSION_NOT_FOUND, locale)


def _invalid(error: InterlockError, locale: Locale) -> OutgoingEvent:
    assert isinstance(error, InvalidInput)
    more: dict[str, Any] = {}
    cause = error
    if isinstance(error, InvalidStep):
        cause, more = error.error, {"step_id": error.step_id}
        more |= {} if error.attempts_left is None else {"attempts_left": error.attempts_left}
    detail = message_of(cause, locale, _ANSWER)
    return _system(ErrorTypes.INVALID_MESSAGE, locale, detail, errors=listed_errors(error), **more)


def _conflict(error: InterlockError, locale: Locale) -> OutgoingEvent:
    metadata = {"error_type": ErrorTypes.BUSY, **details_of(error)}
    return OutgoingEvent(AgentEvents.ERROR, text("conflict", locale, detail=error.message), metadata)


def _rate_limited(error: InterlockError, locale: Locale) -> OutgoingEvent:
    assert isinstance(error, RateLimited)
    return _system(ErrorTypes.RATE_LIMITED, locale, retry_after=int(whole_seconds(error.retry_after)))


def _forbidden(_error: InterlockError, locale: Locale) -> OutgoingEvent:
    return _system(ErrorTypes.FORBIDDEN, locale)


def _not_eligible(error: InterlockError, locale: Locale) -> OutgoingEvent:
    assert isinstance(error, NotEligible)
    metadata = {"error_type": ErrorTypes.NOT_ELIGIBLE, "needs": error.needs.to_json()}
    return OutgoingEvent(SystemEvents.ERROR, needs_text(error, locale), metadata)


def _unavailable(_error: InterlockError, locale: Locale) -> OutgoingEvent:
    return _system(ErrorTypes.UNAVAILABLE, locale)


def _no_worker(_error: InterlockError, locale: Locale) -> OutgoingEvent:
    return OutgoingEvent(SystemEvents.ERROR, text("no_worker", locale), {"error_type": ErrorTypes.UNAVAILABLE})


def _internal(_error: InterlockError, locale: Locale) -> OutgoingEvent:
    return _system(ErrorTypes.INTERNAL, locale)


_ERRORS: Mapping[type[InterlockError], Callable[[InterlockError, Locale], OutgoingEvent]] = {
    EmptyMessage: _empty,
    InvalidInput: _invalid,
    AlreadySettled: _already_settled,
    ThreadBusy: _busy,
    Conflict: _conflict,
    NotFound: _not_found,
    NotEligible: _not_eligible,
    Forbidden: _forbidden,
    RateLimited: _rate_limited,
    NoWorker: _no_worker,
    StorageUnavailable: _unavailable,
}
