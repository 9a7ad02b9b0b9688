"""Everything that a call may raise, as one shallow tree.

    InterlockError
    ├── InvalidInput           something that cannot be taken; `errors` names each field
    │   └── InvalidResponse    an answer or an ask that does not fit; what was pending still is
    ├── NotAuthenticated       no credential, or one that does not hold
    ├── Forbidden              not the caller's to see or to do
    ├── NotFound               no such thing
    ├── Conflict               the thing is in another state than the call needs
    │   ├── AlreadySettled     somebody was first: `answered_by`, `answered_at`, `source`, `answer`, `reason`
    │   │   └── Expired        its deadline was first
    │   ├── NothingPending     a thread that waits for nobody; the same attributes tell how its last request ended
    │   ├── ThreadBusy         a thread that runs or waits, and takes no new message; `pending` is what it waits for
    │   └── KeyReused          an idempotency key that came before with another body
    ├── TooLarge               a body out of bounds
    ├── RateLimited            too much at once; `retry_after` says when there is room again
    ├── ServerUnavailable      the server cannot do it now; nothing was changed
    ├── ServerFailed           the server failed, or what answered is no Interlock server
    ├── NetworkError           the server was not reached, or went away in the middle
    ├── NotAnswered            an ask that expired or was cancelled
    ├── Refused                what a person did not allow (`interlock_client.approval`)
    └── ConfirmationError      what went wrong on the confirmation socket (`interlock_client.confirmation`)

`code` is stable; the text is for people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field: where it is, what is wrong with it, and a stable name for that."""

    field: str
    code: str
    message: str


class InterlockError(Exception):
    default_code: ClassVar[str] = "error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.status = status
        """Of the HTTP response, where there was one."""
        self.details: Mapping[str, Any] = dict(details or {})


class InvalidInput(InterlockError):
    default_code = "invalid_input"

    @property
    def errors(self) -> Sequence[FieldError]:
        return _field_errors(self.details.get("errors"))


class InvalidResponse(InvalidInput):
    default_code = "invalid_answer"


class NotAuthenticated(InterlockError):
    default_code = "not_authenticated"


class Forbidden(InterlockError):
    default_code = "forbidden"


class NotFound(InterlockError):
    default_code = "not_found"


class Conflict(InterlockError):
    default_code = "conflict"


class _CameSecond:
    """Who was first, when, from where, with what and why."""

    details: Mapping[str, Any]

    @property
    def answered_by(self) -> str | None:
        return self.details.get("answered_by")

    @property
    def answered_at(self) -> str | None:
        return self.details.get("answered_at")

    @property
    def source(self) -> str | None:
        """The face that it came through, or what gave it without one: `grant`, `saved`, `deadline`, `server`."""
        return self.details.get("source")

    @property
    def answer(self) -> Mapping[str, Any] | None:
        """What was answered, secret values as `***`; None where it ended without an answer."""
        return self.details.get("answer")

    @property
    def reason(self) -> str | None:
        """Why it ended, where somebody said so."""
        return self.details.get("reason")


class AlreadySettled(_CameSecond, Conflict):
    default_code = "already_settled"


class Expired(AlreadySettled):
    default_code = "expired"


class NothingPending(_CameSecond, Conflict):
    default_code = "nothing_pending"


class ThreadBusy(Conflict):
    default_code = "thread_busy"

    @property
    def pending(self) -> Sequence[Mapping[str, Any]]:
        return self.details.get("pending") or ()


class KeyReused(Conflict):
    default_code = "key_reused"


class TooLarge(InterlockError):
    default_code = "too_large"


class RateLimited(InterlockError):
    default_code = "rate_limited"

    @property
    def retry_after(self) -> float | None:
        """Seconds."""
        return self.details.get("retry_after")


class ServerUnavailable(InterlockError):
    default_code = "unavailable"

    @property
    def retry_after(self) -> float | None:
        return self.details.get("retry_after")


class ServerFailed(InterlockError):
    default_code = "server_failed"


class NetworkError(InterlockError):
    default_code = "network_error"


class NotAnswered(InterlockError):
    """Nobody answered, and the ask named no default."""

    default_code = "not_answered"

    def __init__(self, reason: str, *, request_id: str) -> None:
        super().__init__(f"{request_id} was not answered: {reason}", details={"request_id": request_id})
        self.reason = reason
        """`expired`, `cancelled` or `deleted`."""
        self.request_id = request_id


class Refused(InterlockError):
    default_code = "refused"

    def __init__(self, tool_name: str, reason: str = "") -> None:
        super().__init__(f"{tool_name} was refused{f': {reason}' if reason else ''}", details={"tool_name": tool_name})
        self.tool_name = tool_name
        self.reason = reason
        """What the person wrote, if anything."""


ERRORS: Mapping[str, type[InterlockError]] = {
    # The hitl face.
    "HITL_INVALID_RESPONSE": InvalidResponse,
    "HITL_UNAUTHORIZED": NotAuthenticated,
    "HITL_FORBIDDEN": Forbidden,
    "HITL_REQUEST_NOT_FOUND": NotFound,
    "HITL_NOT_FOUND": NotFound,
    "HITL_METHOD_NOT_ALLOWED": NotFound,
    "HITL_REQUEST_NOT_PENDING": AlreadySettled,
    "HITL_REQUEST_EXPIRED": Expired,
    "HITL_CONFLICT": Conflict,
    "HITL_IDEMPOTENCY_CONFLICT": KeyReused,
    "HITL_TOO_LARGE": TooLarge,
    "HITL_RATE_LIMITED": RateLimited,
    "HITL_UNAVAILABLE": ServerUnavailable,
    "HITL_ACTOR_ERROR": ServerUnavailable,
    "HITL_INTERNAL": ServerFailed,
    # All others.
    "invalid_input": InvalidInput,
    "invalid_answer": InvalidResponse,
    "wrong_session": InvalidInput,
    "not_authenticated": NotAuthenticated,
    "forbidden": Forbidden,
    "not_found": NotFound,
    "conflict": Conflict,
    "already_settled": AlreadySettled,
    "nothing_pending": NothingPending,
    "not_shown": Conflict,
    "taken_over": Conflict,
    "thread_busy": ThreadBusy,
    "key_reused": KeyReused,
    "last_admin": Conflict,
    "kept_out": Forbidden,
    "not_eligible": Forbidden,
    "passwords_off": Forbidden,
    "sign_on_failed": Forbidden,
    "claimed": Conflict,
    "rate_limited": RateLimited,
    "too_many_open": RateLimited,
    "storage_unavailable": ServerUnavailable,
    "no_worker": ServerUnavailable,
    "undeliverable": ServerFailed,
    "unreadable": ServerFailed,
    "lease_lost": ServerFailed,
    "illegal_transition": ServerFailed,
    "error": ServerFailed,
}

STATUSES: Mapping[int, type[InterlockError]] = {
    400: InvalidInput,
    401: NotAuthenticated,
    403: Forbidden,
    404: NotFound,
    405: NotFound,
    409: Conflict,
    413: TooLarge,
    422: InvalidInput,
    429: RateLimited,
    502: ServerUnavailable,
    503: ServerUnavailable,
    504: ServerUnavailable,
}
"""For what names no code: most faces give none where the status says all, and what stands between may speak too."""


def error_of(status: int, body: Any, retry_after: float | None = None) -> InterlockError:
    """What an HTTP response with an error says, in either of the two dialects."""
    code, message, details = _read(body)
    kind = ERRORS.get(code or "") or STATUSES.get(status, ServerFailed)
    if kind is AlreadySettled and details.get("current_status") == "expired":
        kind = Expired
    if retry_after is not None:
        details["retry_after"] = retry_after
    return kind(message or f"the server answered {status}", code=code, status=status, details=details)


def _read(body: Any) -> tuple[str | None, str, dict[str, Any]]:
    if not isinstance(body, dict):
        return None, "", {}
    given = cast("dict[str, Any]", body)
    envelope: Any = given.get("error")
    if isinstance(envelope, dict):
        error = cast("dict[str, Any]", envelope)
        return error.get("code"), str(error.get("message", "")), dict(error.get("details") or {})
    detail = given.get("detail", "")
    more = {name: value for name, value in given.items() if name not in ("detail", "code")}
    if isinstance(detail, list):
        more["errors"] = [_parse_entry(one) for one in cast("list[Any]", detail)]
        detail = "; ".join(f"{one['field']}: {one['message']}" for one in more["errors"])
    return given.get("code"), str(detail), more


def _parse_entry(one: Any) -> dict[str, str]:
    given = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
    place = [str(part) for part in given.get("loc", ())]
    return {
        "field": ".".join(place[1:] or place) or "body",
        "code": str(given.get("type", "")),
        "message": str(given.get("msg", "")),
    }


def _field_errors(errors: Any) -> tuple[FieldError, ...]:
    items = cast("list[Any]", errors) if isinstance(errors, list) else []
    entries = [cast("dict[str, Any]", one) for one in items if isinstance(one, dict)]
    return tuple(
        FieldError(str(one.get("field", "")), str(one.get("code", "")), str(one.get("message", ""))) for one in entries
    )
