"""What OpenAPI says of errors and streams, so that it is true."""

from collections.abc import Collection, Sequence
from typing import Any

from interlock_client.threads import Problem

_DESCRIPTIONS = {
    400: "What was sent cannot be taken; `detail` says why.",
    401: "No credential, or one that does not hold.",
    403: "Not yours, or not there: existence is not told.",
    404: "No such thing.",
    409: "The thread is in another state; `status` and what is pending are in the body.",
    413: "The body is too large.",
    422: "The body is not of the form.",
    429: "Too much at once; `Retry-After` says in how many seconds there is room again.",
    503: "The database cannot be used right now; nothing was changed.",
}

Responses = dict[int | str, dict[str, Any]]


def problems(*statuses: int) -> Responses:
    """The errors a route may give, beside those that every route may give."""
    return _describe({*statuses, 400, 403, 413, 422, 429, 503})


def refusals() -> Responses:
    """What may be said to a request that is let in nowhere."""
    return _describe({403, 413})


def _describe(statuses: Collection[int]) -> Responses:
    return {status: {"model": Problem, "description": _DESCRIPTIONS[status]} for status in sorted(statuses)}


def stream(events: Sequence[str], *statuses: int) -> Responses:
    """As `problems`, for a route whose success is a stream of these events; an error of it is JSON all the same.

    Such a route's `response_class` is the plain `Response`, so that nothing else is said of its success.
    """
    as_json = {"application/json": {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}}
    errors: Responses = {
        status: {"description": response["description"], "content": as_json}
        for status, response in problems(*statuses).items()
    }
    item = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "event": {"enum": list(events)},
            "data": {"type": "string", "contentMediaType": "application/json"},
        },
        "required": ["event", "data"],
    }
    return {200: {"content": {"text/event-stream": {"itemSchema": item}}}} | errors
