"""The extension for tasks: a client that declares it is told a request's id at once, and looks for the end of it."""

from contextlib import suppress
from typing import Any

from mcp import MCPError
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp_types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    RequestParams,
)

from interlock.domain.errors import AlreadySettled, InterlockError
from interlock.domain.moment import to_iso
from interlock.domain.request import RequestStatus
from interlock.faces.mcp.calls import TASKS, Call
from interlock.services.requests import outside, pending
from interlock.services.requests.pending import RequestView

POLL_MS = 5_000
KEPT_MS = 3_600_000
"""For at least so long after its deadline a request can be looked at."""

Context = ServerRequestContext[Any, Any]


class TaskParams(RequestParams):
    task_id: str


def task_of(view: RequestView) -> dict[str, Any]:
    """What a call is told in place of its result."""
    return {"resultType": "task", **_task(view)}


def _task(view: RequestView) -> dict[str, Any]:
    request = view.request
    lasts = None
    if request.deadline is not None:
        lasts = int((request.deadline - request.created_at).total_seconds() * 1000) + KEPT_MS
    return {
        "taskId": request.id,
        "status": "working",
        "statusMessage": "Waiting for a person to answer.",
        "createdAt": to_iso(request.created_at),
        "lastUpdatedAt": to_iso(request.settled_at or request.created_at),
        "ttlMs": lasts,
        "pollIntervalMs": POLL_MS,
    }


async def _call_of(context: Context, task_id: str) -> Call:
    call = await Call.of("", context)
    if not call.is_modern:
        raise MCPError(METHOD_NOT_FOUND, "Method not found", context.method)
    if not call.takes_tasks:
        required: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "Missing required client capability", required)
    try:
        await outside.check_asker(call.state.core, call.principal, task_id)
    except InterlockError as error:
        raise MCPError(INVALID_PARAMS, f"{error.code}: {error.message}") from error
    return call


async def get(context: Context, params: TaskParams) -> HandlerResult:
    call = await _call_of(context, params.task_id)
    view = await pending.view_request(call.state.core, call.principal, params.task_id)
    task = _task(view)
    if view.request.status is RequestStatus.PENDING:
        return task
    result = call.result(view).model_dump(by_alias=True, mode="json", exclude_none=True)
    [text] = result["content"]
    if view.request.status is RequestStatus.CANCELLED:
        return {**task, "status": "cancelled", "statusMessage": text["text"]}
    return {**task, "status": "completed", "statusMessage": text["text"], "result": result}


async def update(context: Context, params: TaskParams) -> HandlerResult:
    """Nothing is asked of a client by way of a task: an approval is never its to give."""
    await _call_of(context, params.task_id)
    return {}


async def cancel(context: Context, params: TaskParams) -> HandlerResult:
    call = await _call_of(context, params.task_id)
    with suppress(AlreadySettled):
        await call.withdraw(params.task_id, None)
    return {}


METHODS = {"tasks/get": get, "tasks/update": update, "tasks/cancel": cancel}
