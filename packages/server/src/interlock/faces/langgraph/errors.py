"""What this face refuses, and how: `{detail, code, ...}`, never with a 5xx for what is not offered.

Clients send a POST again on 429, 5xx and network errors, and stop at 409 and 422.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.requests import HTTPConnection
from fastapi.responses import Response

from interlock.domain.errors import (
    AlreadySettled,
    Forbidden,
    InterlockError,
    InvalidInput,
    NotAuthenticated,
    NotEligible,
    NothingPending,
    ThreadBusy,
)
from interlock.domain.request import RequestEnd
from interlock.faces.http.problems import details_of, error_headers, problem, public_message, status_of

UNKNOWN = "not found"


class Refusal(InterlockError):
    """What is refused by the rules of this face, with what is open now."""

    code: ClassVar[str] = "refused"

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        interrupts: Sequence[Mapping[str, Any]] = (),
        interrupt_id: str | None = None,
        end: RequestEnd | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = code
        self.more: dict[str, Any] = {
            "interrupt_id": interrupt_id,
            "current_status": None,
            "answered_by": None,
            "answered_at": None,
            "source": None,
            **(end.to_json() if end else {}),
            "interrupts": list(interrupts),
        }


def invalid(message: str) -> Refusal:
    return Refusal(422, "invalid_argument", message)


def not_found(what: str) -> Refusal:
    return Refusal(404, "not_found", f"{what} {UNKNOWN}")


def status_here(error: InterlockError) -> int:
    """Whether a thing of somebody else's exists is told to nobody."""
    if isinstance(error, Refusal):
        return error.status
    if isinstance(error, NotEligible):
        return 403
    if isinstance(error, Forbidden):
        return 404
    return 422 if isinstance(error, InvalidInput) else status_of(error)


def fields_of(error: InterlockError) -> dict[str, Any]:
    if isinstance(error, Refusal):
        return {"code": error.reason, **error.more}
    end = error.end if isinstance(error, AlreadySettled | NothingPending) else None
    busy = {"status": error.status} if isinstance(error, ThreadBusy) else {}
    return {"code": error.code, **busy, **(end.to_json() if end else details_of(error))}


class LanggraphErrorFormat:
    def refuse(self, error: InterlockError, request: Request) -> Response:
        if isinstance(error, NotAuthenticated):
            return problem(401, "Could not validate credentials", error_headers(error))
        is_hidden = isinstance(error, Forbidden) and not isinstance(error, NotEligible)
        detail = UNKNOWN if is_hidden else public_message(error)
        return problem(status_here(error), detail, error_headers(error), **fields_of(error))

    def refuse_malformed(self, error: RequestValidationError, request: Request) -> Response:
        return problem(422, "; ".join(f"{one['loc'][-1]}: {one['msg']}" for one in error.errors()))

    def turn_away(self, connection: HTTPConnection, status: int, detail: str, headers: Mapping[str, str]) -> Response:
        return problem(status, detail, headers)
