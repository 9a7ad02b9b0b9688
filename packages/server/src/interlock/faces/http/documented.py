"""What OpenAPI says of errors and streams, so that it is true."""

from typing import Any

from interlock_client.threads import Problem

_SAID = {
    400: "What was sent cannot be taken; `detail` says why.",
    401: "No credential, or one that does not hold.",
    403: "Not yours, or not there: existence is not told.",
    404: "No such thing.",
    409: "The thread is in another state; `status` and what is pending are in the body.",
    413: "The body is too large.",
    422: "The body is not of the form.",
    503: "The database cannot be used right now; nothing was changed.",
}

Responses = dict[int | str, dict[str, Any]]


def problems(*statuses: int) -> Responses:
    """The errors a route may give, beside those that every route may give."""
    every = (403, 413, 422, 503)
    return {status: {"model": Problem, "description": _SAID[status]} for status in sorted({*statuses, *every})}


def stream(*statuses: int) -> Responses:
    events: Responses = {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}}
    return events | problems(*statuses)
