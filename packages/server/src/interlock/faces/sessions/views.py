"""Outcomes, sessions and requests as this face shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from interlock.domain.interrupt_value import whole_text
from interlock.domain.request import Request, RequestKind
from interlock.domain.run import RunStatus
from interlock.domain.session import SessionState
from interlock.domain.translation import in_language
from interlock.faces.http.locale import Locale
from interlock.faces.sessions.texts import text
from interlock.ports.agents import Message, MessageRole
from interlock.services.sessions import Outcome, Session
from interlock_client.sessions import ResponseType

_TYPES: Mapping[MessageRole, str] = {"user": "human", "assistant": "ai", "tool": "tool", "system": "system"}


Told = dict[str, Any]
"""A body of `interlock_client.sessions`; not made by its models, which take no halves of characters."""


def agent_response(outcome: Outcome, locale: Locale) -> Told:
    told: Told = {
        "session_id": outcome.session_id,
        "status": "error",
        "timestamp": outcome.at.timestamp(),
        "message": None,
        "result": None,
        "interrupt_data": None,
    }
    match outcome.state:
        case SessionState.INTERRUPTED:
            return told | {"status": "interrupted", "interrupt_data": interrupt_data(outcome.requests, locale)}
        case SessionState.COMPLETED:
            return told | {"status": "completed", "result": _result(outcome.messages)}
        case _:
            return told | {"message": text("error", locale, what=_error(outcome, locale))}


def session_status(user_id: str, session: Session | None, locale: Locale) -> Told:
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


def interrupt_data(requests: Sequence[Request], locale: Locale) -> Told:
    """A pause: its top fields are those of the first open request."""
    views = [request_view(request, locale) for request in requests]
    top = {name: views[0][name] for name in _TOP}
    return {**top, "requests": views}


_TOP = ("action_request", "config", "description", "interrupt_type", "request_id")


def request_view(request: Request, locale: Locale) -> Told:
    body = in_language(request.body, locale)
    is_approval = request.kind is RequestKind.APPROVAL
    return {
        "request_id": request.id,
        "interrupt_type": request.kind,
        "action_request": {
            "action": body["tool_name"] if is_approval else request.kind,
            "args": body["args"] if is_approval else body,
        },
        "config": {
            "allow_accept": allows(request, "accept"),
            "allow_edit": allows(request, "edit"),
            "allow_respond": allows(request, "response"),
            "allow_reject": allows(request, "reject"),
        },
        "description": _description(request.kind, body),
        "request_data": body,
        "created_at": request.created_at.timestamp(),
        "expires_at": request.deadline.timestamp() if request.deadline else None,
    }


def allows(request: Request, response_type: ResponseType) -> bool:
    """Whether a request can be replied to like this. Refusing an approval is always possible."""
    if request.kind is not RequestKind.APPROVAL:
        return response_type == "response"
    return response_type == "reject" or response_type in request.body["allowed"]


def _description(kind: RequestKind, body: Mapping[str, Any]) -> str:
    match kind:
        case RequestKind.APPROVAL:
            return whole_text(body, body["description"] or body["action"])
        case RequestKind.CLARIFICATION:
            return body["question"]
        case RequestKind.DECISION:
            return "\n".join(part for part in (body["title"], body["description"]) if part)
        case RequestKind.ENV_VAR:
            return ", ".join(field["label"] or field["name"] for field in body["fields"])
        case RequestKind.QUESTIONS:
            asked = "\n".join(question["question"] for question in body["questions"])
            return "\n\n".join(part for part in (whole_text(body), asked) if part)


def _result(messages: Sequence[Message]) -> Told:
    return {"messages": [_message(message) for message in messages], "output": _output(messages)}


def _message(message: Message) -> Told:
    told: Told = {"type": _TYPES[message.role], "role": message.role, "content": message.content}
    return told | ({"tool_calls": list(message.tool_calls)} if message.tool_calls else {})


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
