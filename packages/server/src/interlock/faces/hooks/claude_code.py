"""Claude Code's HTTP hooks: `PermissionRequest` and `PreToolUse` are put to a person, ends of calls withdraw them."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.requests import HTTPConnection
from fastapi.responses import Response, StreamingResponse
from fastapi.routing import APIRoute
from typing_extensions import override

from interlock.domain.canonical import canonical_json
from interlock.domain.errors import FieldError, InterlockError, InvalidInput
from interlock.domain.kinds import ApprovalAnswer, RequestKind
from interlock.domain.principal import Principal
from interlock.domain.request import RequestStatus
from interlock.faces.hooks.hook_calls import HookCall, HookCalls
from interlock.faces.http.credentials import Caller, stream_slot
from interlock.faces.http.documented import Responses, problems
from interlock.faces.http.problems import DefaultErrorFormat, public_message
from interlock.faces.http.server_state import state_of
from interlock.faces.http.watching import KEEP_ALIVE_SECONDS, wait_until_settled
from interlock.faces.shared.responses import permission_response
from interlock.services.requests import answering, outside
from interlock.services.requests.answering import Reply, Sender
from interlock.services.requests.idempotency import IdempotentCall
from interlock.services.requests.pending import RequestView
from interlock_client.hook import claude_code
from interlock_client.hook.call import Call, Malformed, Outcome, digest, object_of
from interlock_client.hook.requests import (
    AT_TERMINAL,
    GONE,
    TIMED_OUT,
    AnswerMismatch,
    TimedOut,
    body_of,
    call_of,
    outcome_of,
)

SOURCE = "hooks"
TIMEOUT = 600.0
"""Of Claude Code, for a hook that names none."""
SIGN_OF_LIFE = b"\n"

_RESPONSES: Responses = {200: {"content": {"application/json": {"schema": {"type": "object"}}}}} | problems(401)


class HookRoute(APIRoute):
    """Claude Code goes ahead with a call where the hook before it is answered by an error: there, an error is a no."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_or_deny(request: Request) -> Response:
            try:
                return await handle(request)
            except (InterlockError, RequestValidationError) as error:
                if not await _is_before_call(request):
                    raise
                return _denial(
                    public_message(error) if isinstance(error, InterlockError) else "the hook's address is wrong"
                )

        return handle_or_deny


class HookErrorFormat(DefaultErrorFormat):
    """What is refused before anybody has read which event it is about, such as a body that is too large, is a no too.

    Where the event is another one, Claude Code takes such an answer for none, as it does an error.
    """

    @override
    def turn_away(self, connection: HTTPConnection, status: int, detail: str, headers: Mapping[str, str]) -> Response:
        if connection.scope.get("method") != "POST":
            return super().turn_away(connection, status, detail, headers)
        return _denial(detail)


def _denial(why: str) -> Response:
    outcome = Outcome("deny", f"Not run: no person could be asked: {why}")
    reply = claude_code.reply(Call(claude_code.EVERY_CALL, "", "", {}, ""), outcome)
    return Response(reply.stdout, media_type="application/json")


async def _is_before_call(request: Request) -> bool:
    try:
        event = object_of(await request.json())
    except (ValueError, RecursionError):
        event = None
    return event is not None and event.get("hook_event_name") == claude_code.EVERY_CALL


router = APIRouter(prefix="/api/v1/hooks", tags=["hooks"], route_class=HookRoute)


@router.post("/claude-code", response_class=Response, responses=_RESPONSES, dependencies=[Depends(stream_slot)])
async def claude_code_hook(
    request: Request,
    caller: Caller,
    event: Annotated[dict[str, Any], Body()],
    timeout: Annotated[float, Query(ge=20, le=604_800, description="Of the hook, in seconds.")] = TIMEOUT,
) -> Response:
    """What Claude Code tells its hook; the reply is held until a person has answered, or shortly before the timeout."""
    try:
        if event.get("hook_event_name") in (*claude_code.ENDS_OF_CALLS, *claude_code.ENDS_OF_TURNS):
            return await _settle(request, caller, event)
        call = claude_code.read(event)
    except Malformed as error:
        raise InvalidInput(str(error), [FieldError("body", "form", str(error))]) from error
    request_id = await _ask(request, caller, call, timeout)
    _calls(request).hold(request_id, HookCall.of(caller.id, call))
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_reply(request, caller, call, request_id), headers=headers, media_type="application/json")


async def _ask(request: Request, caller: Principal, call: Call, timeout: float) -> str:
    body = body_of(claude_code, call, timeout)
    what = outside.Ask(
        RequestKind.QUESTIONS if call.questions else RequestKind.APPROVAL,
        body["request_data"],
        body["timeout_seconds"],
        # A key has a name of its own.
        agent=None if caller.is_agent else body["agent"],
        conversation_key=body["conversation_key"],
        title=body["title"],
    )
    once = None
    if call.call_id:
        key = digest(claude_code.AGENT, call.session, call.call_id)
        once = IdempotentCall(key, "hooks.claude-code", canonical_json(body).encode())
    request_id = await outside.ask(state_of(request).core, caller, what, once, lambda asked: asked.request.id.encode())
    return request_id.decode()


async def _reply(request: Request, caller: Principal, call: Call, request_id: str) -> AsyncGenerator[bytes]:
    """Signs of life, and then the answer. Who is gone before it is there is not waited for by anybody."""
    is_told = False
    try:
        view = None
        while view is None or view.request.status is RequestStatus.PENDING:
            yield SIGN_OF_LIFE
            if view is not None and state_of(request).closing.is_set():
                break
            view = await wait_until_settled(request, request_id, KEEP_ALIVE_SECONDS)
        outcome = _outcome(call, view)
        _calls(request).release(request_id, call_of(call, outcome.args) if outcome.verdict == "allow" else "")
        is_told = view.request.status is not RequestStatus.PENDING
        yield claude_code.reply(call, outcome).stdout.encode()
    except InterlockError as error:
        # The request was deleted, or its key revoked: a reply without an answer would let some calls go ahead.
        outcome = Outcome("deny", f"Not run: no person could be asked: {public_message(error)}")
        yield claude_code.reply(call, outcome).stdout.encode()
    finally:
        _calls(request).release(request_id)
        if not is_told:
            is_at_terminal = call.terminal_asks and not state_of(request).closing.is_set()
            # Not in this task, which may be on its way out.
            _calls(request).leave(_withdraw(request, caller, request_id, AT_TERMINAL if is_at_terminal else GONE))


def _outcome(call: Call, view: RequestView) -> Outcome:
    status = view.request.status
    if status is RequestStatus.PENDING:
        return Outcome("deny", "Not run: the server was stopped before a person had answered.")
    value = view.answer.value if view.answer else None
    response = permission_response(value) if isinstance(value, ApprovalAnswer) else value and value.to_json()
    try:
        return outcome_of(call, {"status": status, "response": response})
    except TimedOut:
        return Outcome("deny", TIMED_OUT)
    except AnswerMismatch as error:
        return Outcome("deny", f"Not run: {error}")


async def _settle(request: Request, caller: Principal, event: dict[str, Any]) -> Response:
    for request_id in _calls(request).record_end(caller.id, claude_code.read_end(event)):
        await _withdraw(request, caller, request_id, AT_TERMINAL)
    return Response("{}", media_type="application/json")


async def _withdraw(request: Request, caller: Principal, request_id: str, reason: str) -> None:
    # Answered a moment before, or deleted: there is nothing left to withdraw.
    with suppress(InterlockError):
        reply = Reply(request_id, None, reason=reason)
        await answering.answer(state_of(request).core, Sender(caller, SOURCE), reply)


def _calls(request: Request) -> HookCalls:
    return request.app.state.held_calls
