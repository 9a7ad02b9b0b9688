"""What OpenAPI says of this face: success and every error in their envelopes."""

from typing import Any

from interlock.faces.hitl.views import EVENTS
from interlock.faces.http.documented import Responses
from interlock_client import hitl as wire

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


def enveloped(data: Any, *statuses: int) -> Responses:
    """A route's success, and the errors that it may give beside those that every route may give."""
    return {200: {"model": wire.Done[data]}} | failures(*statuses)


def failures(*statuses: int) -> Responses:
    every = {*statuses, 400, 401, 403, 413, 429, 503}
    return {status: {"model": wire.Failed, "description": _DESCRIPTIONS[status]} for status in sorted(every)}


def streamed() -> Responses:
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
