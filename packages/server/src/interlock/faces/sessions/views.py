"""Outcomes, sessions and requests as this face shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from interlock.domain.kinds import ApprovalBody
from interlock.domain.request import Request
from interlock.domain.run import RunStatus
from interlock.domain.session import SessionState
from interlock.faces.sessions.kinds import description_of
from interlock.ports.agents import Message, MessageRole
from interlock.services.threads.sessions import Outcome, Session
from interlock.texts import Locale
from interlock.texts import sessions_text as text
from interlock_client.sessions import ResponseType

_TYPES: Mapping[MessageRole, str] = {"user": "human", "assistant": "ai", "tool": "tool", "system": "system"}


View = dict[str, Any]
"""A body of `interlock_client.sessions`; not made by its models, which take no halves of characters."""


def agent_response(outcome: Outcome, locale: Locale) -> View:
    view: View = {
        "session_id": outcome.session_id,
        "status": "error",
        "timestamp": outcome.at.timestamp(),
        "message": None,
        "result": None,
        "interrupt_data": None,
    }
    match outcome.state:
        case SessionState.INTERRUPTED:
            return view | {"status": "interrupted", "interrupt_data": interrupt_data(outcome.requests, locale)}
        case SessionState.COMPLETED:
            return view | {"status": "completed", "result": _result(outcome.messages)}
        case _:
            return view | {"message": text("error", locale, what=_error(outcome, locale))}


def session_status(user_id: str, session: Session | None, locale: Locale) -> View:
    response = agent_response(session.outcome, locale) if session and session.outcome else None
    return {
        "user_id": user_id,
        "session_id": session.thread.id if session else None,
        "status": session.state if session else SessionState.NOT_FOUND,
        "message": response["message"] if response else None,
        "last_query": session.query if session else None,
        "last_updated": session.thread.updated_at.timestamp() if session else None,
        "last_response": response,
    }


def interrupt_data(requests: Sequence[Request], locale: Locale) -> View:
    """A pause: its top fields are those of the first open request."""
    views = [request_view(request, locale) for request in requests]
    top = {name: views[0][name] for name in _TOP}
    return {**top, "requests": views}


_TOP = ("action_request", "config", "description", "interrupt_type", "request_id")


def request_view(request: Request, locale: Locale) -> View:
    body = request.body.in_language(locale)
    fields = body.to_json()
    return {
        "request_id": request.id,
        "interrupt_type": request.kind,
        "action_request": {
            "action": body.tool_name if isinstance(body, ApprovalBody) else body.kind,
            "args": body.args if isinstance(body, ApprovalBody) else fields,
        },
        "config": {
            "allow_accept": allows(request, "accept"),
            "allow_edit": allows(request, "edit"),
            "allow_respond": allows(request, "response"),
            "allow_reject": allows(request, "reject"),
        },
        "description": description_of(body),
        "request_data": fields,
        "created_at": request.created_at.timestamp(),
        "expires_at": request.deadline.timestamp() if request.deadline else None,
    }


def allows(request: Request, response_type: ResponseType) -> bool:
    """Whether a request can be replied to like this. Refusing an approval is always possible."""
    if not isinstance(request.body, ApprovalBody):
        return response_type == "response"
    return request.body.takes(response_type)


def _result(messages: Sequence[Message]) -> View:
    return {"messages": [_message(message) for message in messages], "output": _output(messages)}


def _message(message: Message) -> View:
    view: View = {"type": _TYPES[message.role], "role": message.role, "content": message.content}
    return view | ({"tool_calls": list(message.tool_calls)} if message.tool_calls else {})


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
