"""The envelope of every answer of this face, its one table from the core's errors to codes, and what OpenAPI says of
both."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.requests import HTTPConnection
from fastapi.responses import Response

from interlock.domain.canonical import json_text
from interlock.domain.errors import (
    AlreadySettled,
    Claimed,
    Conflict,
    Forbidden,
    InterlockError,
    InvalidAnswer,
    InvalidInput,
    KeyReused,
    NotAuthenticated,
    NotEligible,
    NotFound,
    NoWorker,
    RateLimited,
    StorageUnavailable,
    TooManyOpen,
)
from interlock.domain.moment import to_iso
from interlock.domain.request import RequestStatus
from interlock.faces.hitl.views import EVENTS
from interlock.faces.http.documented import Responses
from interlock.faces.http.locale import locale_of
from interlock.faces.http.problems import error_headers, listed_errors
from interlock.faces.shared.refusals import needs_text
from interlock.faces.shared.responses import message_of
from interlock.texts import Locale
from interlock.texts import hitl_text as text
from interlock_client import hitl as wire


@dataclass(frozen=True, slots=True)
class Code:
    status: int
    code: str
    text: str
    alias: str | None = None


_ANSWER = '"response": {"answer": %s}'
_INVALID = Code(400, "HITL_INVALID_RESPONSE", "invalid", "INVALID_REQUEST")
_EXPIRED = Code(409, "HITL_REQUEST_EXPIRED", "expired", "REQUEST_EXPIRED")
_FAILED = Code(500, "HITL_INTERNAL", "internal", "WORKFLOW_ERROR")

_CODES: Mapping[type[InterlockError], Code] = {
    InvalidInput: _INVALID,
    NotAuthenticated: Code(401, "HITL_UNAUTHORIZED", "unauthorized"),
    NotEligible: Code(403, "HITL_FORBIDDEN", "not_eligible", "NOT_ELIGIBLE"),
    Forbidden: Code(403, "HITL_FORBIDDEN", "forbidden"),
    NotFound: Code(404, "HITL_REQUEST_NOT_FOUND", "not_found", "REQUEST_NOT_FOUND"),
    KeyReused: Code(422, "HITL_IDEMPOTENCY_CONFLICT", "key_reused"),
    AlreadySettled: Code(400, "HITL_REQUEST_NOT_PENDING", "not_pending", "REQUEST_NOT_PENDING"),
    Claimed: Code(409, "HITL_CONFLICT", "conflict", "CLAIMED"),
    Conflict: Code(409, "HITL_CONFLICT", "conflict"),
    TooManyOpen: Code(429, "HITL_RATE_LIMITED", "too_many_open"),
    RateLimited: Code(429, "HITL_RATE_LIMITED", "rate_limited"),
    NoWorker: Code(500, "HITL_ACTOR_ERROR", "no_worker", "WORKFLOW_ERROR"),
    StorageUnavailable: Code(503, "HITL_UNAVAILABLE", "unavailable"),
}

_CODES_OF_STATUS: Mapping[int, Code] = {
    400: _INVALID,
    403: Code(403, "HITL_FORBIDDEN", "forbidden"),
    404: Code(404, "HITL_NOT_FOUND", "no_route"),
    405: Code(405, "HITL_METHOD_NOT_ALLOWED", "no_method"),
    413: Code(413, "HITL_TOO_LARGE", "too_large"),
    429: Code(429, "HITL_RATE_LIMITED", "rate_limited"),
    500: _FAILED,
}
_DESCRIPTIONS = {
    400: "HITL_INVALID_RESPONSE or HITL_REQUEST_NOT_PENDING.",
    401: "HITL_UNAUTHORIZED.",
    403: "HITL_FORBIDDEN.",
    404: "HITL_REQUEST_NOT_FOUND.",
    409: "HITL_REQUEST_EXPIRED or HITL_CONFLICT.",
    413: "HITL_TOO_LARGE.",
    422: "HITL_IDEMPOTENCY_CONFLICT.",
    429: "HITL_RATE_LIMITED; `Retry-After` says in how many seconds there is room again.",
    503: "HITL_UNAVAILABLE: the database cannot be used right now; nothing was changed.",
}


def success(data: Mapping[str, Any], message: str) -> bytes:
    return _encode({"success": True, "data": dict(data), "message": message})


def answer(content: bytes) -> Response:
    return Response(content, media_type="application/json")


def answer_success(connection: HTTPConnection, data: Mapping[str, Any]) -> Response:
    return answer(success(data, text("completed", locale_of(connection))))


def code_of(error: InterlockError) -> Code:
    if isinstance(error, AlreadySettled) and error.end.status is RequestStatus.EXPIRED:
        return _EXPIRED
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), _FAILED)


def failure(error: InterlockError, locale: Locale) -> dict[str, Any]:
    """The `error` of the envelope, as sockets send it too."""
    code = code_of(error)
    # What went wrong inside is for the log.
    detail = message_of(error, locale, _ANSWER) if isinstance(error, InvalidInput) else error.message
    detail = detail if code is not _FAILED else ""
    if isinstance(error, NotEligible):
        return _failure(code, needs_text(error, locale), {"needs": error.needs.to_json()})
    return _failure(code, text(code.text, locale, detail=detail), _details(error))


def _failure(code: Code, message: str, details: Mapping[str, Any]) -> dict[str, Any]:
    alias = {"alias": code.alias} if code.alias else {}
    return {"code": code.code, "message": message, "details": {**alias, **details}}


def _details(error: InterlockError) -> dict[str, Any]:
    if isinstance(error, AlreadySettled):
        return error.end.to_json()
    if isinstance(error, InvalidInput):
        # What was asked is in the request; what was answered is in its `response`.
        where = "response." if isinstance(error, InvalidAnswer) else ""
        return {"errors": [{**one, "field": where + one["field"]} for one in listed_errors(error)]}
    if isinstance(error, Claimed):
        return {"claimed_by": error.by, "claimed_until": to_iso(error.until)}
    if isinstance(error, NotFound) and error.request_id is not None:
        return {"request_id": error.request_id}
    return {}


class Envelope:
    """The dialect of everything under this face's prefix."""

    def refuse(self, error: InterlockError, request: Request) -> Response:
        return _refusal(code_of(error).status, failure(error, locale_of(request)), error_headers(error))

    def refuse_malformed(self, error: RequestValidationError, request: Request) -> Response:
        errors = [
            {"field": _field(one), "code": str(one["type"]), "message": str(one["msg"])} for one in error.errors()
        ]
        messages = "; ".join(f"{one['field']}: {one['message']}" for one in errors)
        message = text(_INVALID.text, locale_of(request), detail=messages)
        return _refusal(400, _failure(_INVALID, message, {"errors": errors}), {})

    def turn_away(self, connection: HTTPConnection, status: int, detail: str, headers: Mapping[str, str]) -> Response:
        code = _CODES_OF_STATUS.get(status, Code(status, "HITL_INTERNAL", "internal"))
        message = text(code.text, locale_of(connection), detail=detail)
        errors = {"errors": [{"field": "body", "code": "form", "message": detail}]}
        return _refusal(status, _failure(code, message, errors if status == 400 else {"reason": detail}), headers)


def _refusal(status: int, error: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    content = _encode({"success": False, "error": dict(error)})
    return Response(content, status, dict(headers), media_type="application/json")


def _field(error: Mapping[str, Any]) -> str:
    location: tuple[int | str, ...] = error["loc"]
    if error["type"] == "json_invalid":
        return "body"
    parts = location[1:] if location and location[0] in ("body", "query", "path", "header") else location
    return ".".join(str(part) for part in parts) or "body"


def _encode(value: Mapping[str, Any]) -> bytes:
    return json_text(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def envelope_of(data: Any, *statuses: int) -> Responses:
    """A route's success, and the errors that it may give beside those that every route may give."""
    return {200: {"model": wire.Done[data]}} | failures(*statuses)


def failures(*statuses: int) -> Responses:
    every = {*statuses, 400, 401, 403, 413, 429, 503}
    return {status: {"model": wire.Failed, "description": _DESCRIPTIONS[status]} for status in sorted(every)}


def event_stream() -> Responses:
    as_json = {"application/json": {"schema": {"$ref": f"#/components/schemas/{wire.Failed.__name__}"}}}
    item = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "event": {"enum": list(EVENTS)},
            "data": {"type": "string", "contentMediaType": "application/json"},
        },
    }
    errors: Responses = {
        status: {"description": one["description"], "content": as_json} for status, one in failures(404).items()
    }
    return {200: {"content": {"text/event-stream": {"itemSchema": item}}}} | errors
