"""Outcomes, sessions and requests as this face shows them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from interlock.domain.request import Request, RequestKind
from interlock.domain.run import RunStatus
from interlock.domain.session import SessionState
from interlock.faces.http.locale import Locale
from interlock.faces.sessions.texts import text
from interlock.ports.agents import Message, MessageRole
from interlock.services.sessions import Outcome, Session
from interlock_client import sessions as wire

_TYPES: Mapping[MessageRole, Literal["human", "ai", "tool", "system"]] = {
    "user": "human",
    "assistant": "ai",
    "tool": "tool",
    "system": "system",
}


def agent_response(outcome: Outcome, locale: Locale) -> wire.AgentResponse:
    told = partial(wire.AgentResponse, session_id=outcome.session_id, timestamp=outcome.at.timestamp())
    match outcome.state:
        case SessionState.INTERRUPTED:
            return told(status="interrupted", interrupt_data=interrupt_data(outcome.requests))
        case SessionState.COMPLETED:
            return told(status="completed", result=_result(outcome.messages))
        case _:
            return told(status="error", message=text("error", locale, what=_error(outcome, locale)))


def session_status(user_id: str, session: Session | None, locale: Locale) -> wire.SessionStatusResponse:
    if session is None:
        return wire.SessionStatusResponse(user_id=user_id, status="not_found")
    response = agent_response(session.outcome, locale) if session.outcome else None
    return wire.SessionStatusResponse(
        user_id=user_id,
        session_id=session.thread.id,
        status=session.state.value,
        message=response.message if response else None,
        last_query=session.query,
        last_updated=session.thread.updated_at.timestamp(),
        last_response=response,
    )


def interrupt_data(requests: Sequence[Request]) -> wire.InterruptData:
    views = [request_view(request) for request in requests]
    top = views[0].model_dump(exclude={"request_data", "created_at", "expires_at"})
    return wire.InterruptData.model_validate({**top, "requests": views})


def request_view(request: Request) -> wire.InterruptRequest:
    body = request.body
    is_approval = request.kind is RequestKind.APPROVAL
    return wire.InterruptRequest(
        request_id=request.id,
        interrupt_type=request.kind.value,
        action_request=wire.ActionRequest(
            action=body["tool_name"] if is_approval else request.kind, args=body["args"] if is_approval else body
        ),
        config=_config(request),
        description=_description(request),
        request_data=body,
        created_at=request.created_at.timestamp(),
        expires_at=request.deadline.timestamp() if request.deadline else None,
    )


def allows(request: Request, response_type: wire.ResponseType) -> bool:
    """Whether a request can be replied to like this. Refusing an approval is always possible."""
    if request.kind is not RequestKind.APPROVAL:
        return response_type == "response"
    return response_type == "reject" or response_type in request.body["allowed"]


def _config(request: Request) -> wire.InterruptConfig:
    return wire.InterruptConfig(
        allow_accept=allows(request, "accept"),
        allow_edit=allows(request, "edit"),
        allow_respond=allows(request, "response"),
        allow_reject=allows(request, "reject"),
    )


def _description(request: Request) -> str:
    body = request.body
    match request.kind:
        case RequestKind.APPROVAL:
            return body["description"] or body["action"]
        case RequestKind.CLARIFICATION:
            return body["question"]
        case RequestKind.DECISION:
            return "\n".join(part for part in (body["title"], body["description"]) if part)
        case RequestKind.ENV_VAR:
            return ", ".join(field["label"] or field["name"] for field in body["fields"])
        case RequestKind.QUESTIONS:
            return "\n".join(question["question"] for question in body["questions"])


def _result(messages: Sequence[Message]) -> wire.Result:
    return wire.Result(
        messages=[
            wire.ResultMessage(
                type=_TYPES[message.role],
                role=message.role,
                content=message.content,
                tool_calls=[wire.ToolCall.model_validate(call) for call in message.tool_calls] or None,
            )
            for message in messages
        ],
        output=_output(messages),
    )


def _output(messages: Sequence[Message]) -> str:
    """The agent's last text of this turn; what it said before the last question of its user is none."""
    for message in reversed(messages):
        if message.role == "user":
            break
        if message.role == "assistant" and message.content:
            return message.content
    return ""


def _error(outcome: Outcome, locale: Locale) -> str:
    if outcome.run is None:
        return text("gone", locale)
    match outcome.run.status:
        case RunStatus.STOPPED:
            return text("stopped", locale)
        case RunStatus.NOT_ANSWERED:
            return text("not_answered", locale)
        case _:
            return outcome.run.error or ""
