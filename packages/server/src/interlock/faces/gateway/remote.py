"""`/mcp/calls`: for a gateway that runs beside its host. It asks here before each call, and reports how the call ended.

Nothing is held for long: a reply is `pending` after a while, and the same request again goes on waiting.
"""

import json
from collections.abc import Awaitable, Callable
from typing import TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from interlock.domain.errors import FieldError, Forbidden, InvalidInput, NotFound
from interlock.domain.gateway import ToolPolicy, UpstreamCall, read_policy
from interlock.domain.json_value import JsonObject, member
from interlock.domain.principal import Principal
from interlock.faces.gateway.gate import Gate
from interlock.faces.gateway.messages import attend
from interlock.faces.gateway.served_call import text_of
from interlock.faces.http.credentials import authenticate
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.server_state import state_of
from interlock.services.gateway import calls
from interlock.services.gateway.calls import ProposedCall, SendCall
from interlock.services.teams.routing import MCP_TIMEOUT
from interlock_client.gateway import CallEnd, HostCall

M = TypeVar("M", bound=BaseModel)

HOLDER = "wrapper "
_WAITING = ("pending", "in_doubt", "still_running")
_NO_TERMS = ToolPolicy().terms_of("", {})


async def _ask(request: Request, principal: Principal) -> Response:
    """May this call be made, and with which arguments?"""
    host_call = await _read(request, HostCall)
    policy = read_policy(host_call.rules)
    proposal = ProposedCall(
        host_call.upstream,
        host_call.tool,
        host_call.args,
        host_call.definition,
        policy.terms_of(host_call.tool, host_call.definition),
        host_call.conversation,
        host_call.key,
        MCP_TIMEOUT,
    )
    holder = HOLDER + host_call.holder
    if host_call.before is not None:
        admission = await calls.continue_call(state_of(request).core, principal, proposal, holder, host_call.before)
        return _reply(request, admission)
    return _reply(request, await _gate(request, principal, proposal, policy, holder, host_call.wait_seconds).admit())


async def _end(request: Request, principal: Principal) -> Response:
    """How a call ended, or that it is alive."""
    core, ended = state_of(request).core, await _read(request, CallEnd)
    call = await _find_call(request, principal, HOLDER + ended.holder)
    match ended.outcome:
        case "alive":
            await calls.renew(core, call)
        case "done":
            await calls.record_result(core, call, ended.result, text_of(ended.result))
        case "waiting":
            await calls.wait_for_host(core, call)
        case "failed":
            await calls.record_failure(core, call, ended.error or "it failed")
        case "lost":
            proposal = ProposedCall(call.upstream, "", {}, {}, _NO_TERMS)
            gate = _gate(request, principal, proposal, ToolPolicy(), call.holder, ended.wait_seconds)
            return _reply(request, await gate.settle_doubt(call))
    return LenientJSONResponse({"outcome": "recorded"})


class _Attendance:
    """For as long as who asks is there: nothing begins that nobody waits for."""

    def __init__(self, work: Callable[[Request, Principal], Awaitable[Response]]) -> None:
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        principal = await authenticate(request)
        await request.body()

        async def work() -> None:
            await (await self._work(request, principal))(scope, receive, send)

        await attend(request, work())


ROUTES = [
    Route("/mcp/calls", _Attendance(_ask), methods=["POST"]),
    Route("/mcp/calls/{call_id}", _Attendance(_end), methods=["POST"]),
]


async def _read(request: Request, model: type[M]) -> M:
    try:
        return model.model_validate(json.loads(await request.body()))
    except ValidationError as error:
        items = [
            FieldError(".".join(map(str, one["loc"])) or "body", one["type"], one["msg"]) for one in error.errors()
        ]
        raise InvalidInput("; ".join(f"{one.field}: {one.message}" for one in items), items) from None
    except (ValueError, RecursionError):
        raise InvalidInput("the body is no JSON", [FieldError("body", "form", "it is no JSON")]) from None


async def _find_call(request: Request, principal: Principal, holder: str) -> UpstreamCall:
    async with state_of(request).core.store.snapshot() as tx:
        call = await tx.upstream_calls.get(request.path_params["call_id"])
    if call is None:
        raise NotFound("there is no such call, or its end is known")
    if call.asker_id != principal.id or call.holder != holder:
        raise Forbidden("the call is not yours, or another one waits for its end by now")
    return call


def _gate(
    request: Request, principal: Principal, proposal: ProposedCall, policy: ToolPolicy, holder: str, seconds: float
) -> Gate:
    async def nothing() -> None: ...

    async def definition() -> JsonObject:
        return proposal.definition

    return Gate(request, principal, proposal, policy, holder, seconds, nothing, definition)


def _reply(request: Request, admission: SendCall | JsonObject) -> Response:
    if isinstance(admission, SendCall):
        call = admission.call
        lease = state_of(request).core.settings.lease_seconds
        run = {"outcome": "run", "call_id": call.id, "conversation_id": call.thread_id, "args": admission.args}
        return LenientJSONResponse({**run, "lease_seconds": lease})
    if member(admission, "_meta", "interlock/status") in _WAITING:
        return LenientJSONResponse({"outcome": "pending"})
    return LenientJSONResponse({"outcome": "result", "result": admission})
