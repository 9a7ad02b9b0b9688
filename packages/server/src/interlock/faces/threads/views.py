"""Requests and threads as this face shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from interlock.domain.interrupt_value import whole_text
from interlock.domain.request import Request, RequestKind, described
from interlock.domain.thread import Thread, ThreadStatus
from interlock.domain.translation import in_language
from interlock.faces.http.locale import Locale
from interlock.faces.threads import texts
from interlock_client import threads as wire

Described = Mapping[str, Any]
"""A request as events tell of it: see `domain.request.described`."""

_LANGCHAIN = {"accept": "approve", "edit": "edit", "reject": "reject", "response": "respond"}


def request_view(request: Described, locale: Locale) -> dict[str, Any]:
    kind, body = RequestKind(request["kind"]), in_language(request["body"], locale)
    view: dict[str, Any] = {
        "request_id": request["request_id"],
        "kind": kind,
        "info": texts.info(kind, body, locale),
        "taskName": texts.task_name(kind, body, locale),
        "questions": texts.questions(kind, body, locale),
        "call_id": request["call_id"],
        "created_at": request["created_at"],
        "expires_at": request["expires_at"],
        "request_data": body,
    }
    if kind is RequestKind.APPROVAL:
        view["options"] = texts.approval_options(locale)
    return view


def interrupt_fields(pause_id: str, requests: Sequence[Described], locale: Locale) -> dict[str, Any]:
    """One pause: its top fields describe the first open request, `requests` all of them."""
    views = [request_view(request, locale) for request in requests]
    first = views[0]
    top = {
        "info": first["info"],
        "taskName": first["taskName"],
        "questions": first["questions"],
        **({"options": first["options"]} if "options" in first else {}),
        "request_id": first["request_id"],
        "pause_id": pause_id,
        "requests": views,
    }
    return {**top, "data": {**top, **_actions(requests)}}


def _actions(requests: Sequence[Described]) -> dict[str, Any]:
    """The approvals in LangChain's words, as front ends that were written for it read them."""
    bodies = [request["body"] for request in requests if request["kind"] == RequestKind.APPROVAL]
    if not bodies:
        return {}
    return {
        "action_requests": [
            {"name": body["tool_name"], "args": body["args"], "description": whole_text(body, body["description"])}
            for body in bodies
        ],
        "review_configs": [
            {"action_name": body["tool_name"], "allowed_decisions": [_LANGCHAIN[one] for one in body["allowed"]]}
            for body in bodies
        ],
    }


def interrupt_info(node: str, requests: Sequence[Request], locale: Locale) -> wire.InterruptInfo:
    views = [wire.RequestView.model_validate(request_view(described(request), locale)) for request in requests]
    return wire.InterruptInfo(task_name=node, interrupts=[view.info for view in views], requests=views)


def status_word(thread: Thread) -> wire.Status:
    return "interrupted" if thread.status is ThreadStatus.PAUSED else "idle"


def session_entry(thread: Thread) -> wire.SessionEntry:
    return wire.SessionEntry(
        thread_id=thread.id,
        title=thread.title,
        created_at=thread.created_at,
        message_count=thread.message_count,
        status=status_word(thread),
    )
