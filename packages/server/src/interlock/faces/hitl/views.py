"""Requests, answers and events of the core as this face shows them."""

from collections.abc import Mapping
from typing import Any

from interlock.domain.interrupt_value import whole_text
from interlock.domain.moment import spelled
from interlock.domain.request import Request, RequestKind, RequestStatus, end_of
from interlock.domain.translation import in_language
from interlock.faces.http.locale import Locale
from interlock.services.pending import RequestView

TYPES: Mapping[RequestKind, str] = {
    RequestKind.APPROVAL: "permission",
    RequestKind.CLARIFICATION: "clarification",
    RequestKind.DECISION: "decision",
    RequestKind.ENV_VAR: "env_var",
    RequestKind.QUESTIONS: "clarification",
}

ASKED: Mapping[str, str] = {
    "permission": "permission_asked",
    "clarification": "clarification_asked",
    "decision": "decision_asked",
    "env_var": "env_var_requested",
}
ANSWERED: Mapping[str, str] = {
    "permission": "permission_replied",
    "clarification": "clarification_answered",
    "decision": "decision_answered",
    "env_var": "env_var_provided",
}
NOT_ANSWERED: Mapping[str, str] = {
    RequestStatus.CANCELLED: "request_cancelled",
    RequestStatus.EXPIRED: "request_expired",
}
EVENTS = (*ASKED.values(), *ANSWERED.values(), *NOT_ANSWERED.values())


def kinds_of(request_type: str) -> tuple[RequestKind, ...]:
    return tuple(kind for kind, name in TYPES.items() if name == request_type)


def request_data(kind: RequestKind, body: Mapping[str, Any], timeout: float | None, locale: Locale) -> dict[str, Any]:
    shown = in_language(body, locale)
    if kind is RequestKind.QUESTIONS:
        # For clients that know a single question only.
        shown |= {"question": _joined(body), "options": [], "allow_custom": True, "default_answer": None}
    return shown | {"timeout_seconds": _seconds(timeout)}


def _seconds(timeout: float | None) -> float | int | None:
    """Whole seconds as a whole number, as clients of other languages expect them."""
    return int(timeout) if timeout is not None and timeout == int(timeout) else timeout


def _joined(body: Mapping[str, Any]) -> str:
    return "\n".join([*filter(None, [whole_text(body)]), *(question["question"] for question in body["questions"])])


def pending_view(request: Request, owner: str, locale: Locale) -> dict[str, Any]:
    return {
        "request_id": request.id,
        "type": TYPES[request.kind],
        "status": request.status,
        "conversation_id": request.thread_id,
        "message_id": request.message_id,
        "agent": request.agent,
        "owner": owner,
        "created_at": spelled(request.created_at),
        "expires_at": spelled(request.deadline) if request.deadline else None,
        "timeout_seconds": _seconds(request.timeout_seconds),
        "request_data": request_data(request.kind, request.body, request.timeout_seconds, locale),
    }


def request_view(view: RequestView, locale: Locale) -> dict[str, Any]:
    request, answer = view.request, view.answer
    end = end_of(request, answer)
    told = {name: end[name] for name in ("answered_at", "answered_by", "source")}
    response = response_view(request.kind, answer.value) if answer else None
    return pending_view(request, view.owner, locale) | {"response": response, **told}


def response_view(kind: RequestKind, value: Mapping[str, Any]) -> dict[str, Any]:
    """An answer in the words in which this face takes one; secret values are hidden already."""
    if kind is not RequestKind.APPROVAL:
        return dict(value)
    shown: dict[str, Any] = {"granted": value["decision"] in ("accept", "edit")}
    if value["decision"] == "edit":
        shown["args"] = value["args"]
    if value.get("message"):
        shown["reply" if value["decision"] == "response" else "reason"] = value["message"]
    return shown


def asked_event(conversation_id: str, asked: Mapping[str, Any], locale: Locale) -> dict[str, Any]:
    """A request as the log tells of it (`domain.request.described`)."""
    kind = RequestKind(asked["kind"])
    data = request_data(kind, asked["body"], asked["timeout_seconds"], locale)
    data |= {"created_at": asked["created_at"], "expires_at": asked["expires_at"]}
    return _event(ASKED[TYPES[kind]], conversation_id, asked["request_id"], data)


def settled_event(conversation_id: str, settled: Mapping[str, Any]) -> dict[str, Any]:
    kind, value = RequestKind(settled["kind"]), settled["value"]
    name = NOT_ANSWERED.get(settled["status"], ANSWERED[TYPES[kind]])
    data: dict[str, Any] = {
        "response": response_view(kind, value) if value is not None else None,
        "answered_at": settled["at"],
        "answered_by": settled["by"],
        "source": settled["source"],
        "type": TYPES[kind],
    }
    extra = {key: settled[key] for key in ("reason", "remembered", "provenance") if key in settled}
    return _event(name, conversation_id, settled["request_id"], data | extra)


def _event(name: str, conversation_id: str, request_id: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": name, "request_id": request_id, "conversation_id": conversation_id, "data": dict(data)}
