"""Requests and threads as this face shows them."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from interlock.domain.kinds import ApprovalBody, Body
from interlock.domain.moment import to_iso
from interlock.domain.request import PublicRequest, Request
from interlock.domain.thread import Thread, ThreadStatus
from interlock.faces.threads.kinds import questions_of
from interlock.texts import Locale, has_text
from interlock.texts import threads_text as text
from interlock_client import threads as wire

_LANGCHAIN = {"accept": "approve", "edit": "edit", "reject": "reject", "response": "respond"}


def request_view(request: PublicRequest, locale: Locale) -> dict[str, Any]:
    body = request.body.in_language(locale)
    view: dict[str, Any] = {
        "request_id": request.request_id,
        "kind": body.kind,
        "info": _info(body, locale),
        "taskName": _task_name(body, locale),
        "questions": questions_of(body, locale),
        "call_id": request.call_id,
        "created_at": to_iso(request.created_at),
        "expires_at": to_iso(request.expires_at) if request.expires_at else None,
        "request_data": body.to_json(),
    }
    if isinstance(body, ApprovalBody):
        view["options"] = [{"label": text(value, locale), "value": value} for value in ("continue", "cancel")]
    return view


def _info(body: Body, locale: Locale) -> str:
    """What is about to happen, or how much is asked, in one line."""
    if not isinstance(body, ApprovalBody):
        return text("questions", locale, count=len(questions_of(body, locale) or ()))
    tool, args = body.tool_name, body.args
    if tool == "execute" and isinstance(args.get("command"), str):
        return text("execute", locale, what=args["command"])
    path = args.get("path", args.get("file_path"))
    if tool == "write_file" and isinstance(path, str):
        return text("write_file", locale, what=PurePath(path).name)
    return text("other", locale, what=tool)


def _task_name(body: Body, locale: Locale) -> str:
    if not isinstance(body, ApprovalBody):
        return text("asking", locale)
    task = f"task.{body.tool_name}"
    return text(task, locale) if has_text("threads", task) else body.tool_display_name


def interrupt_fields(
    pause_id: str, requests: Sequence[PublicRequest], locale: Locale, info: str | None = None
) -> dict[str, Any]:
    """One pause: its top fields describe the first open request, `requests` all of them. `info` goes before its own."""
    views = [request_view(request, locale) for request in requests]
    first = views[0]
    top = {
        "info": info or first["info"],
        "taskName": first["taskName"],
        "questions": first["questions"],
        **({"options": first["options"]} if "options" in first else {}),
        "request_id": first["request_id"],
        "pause_id": pause_id,
        "requests": views,
    }
    return {**top, "data": {**top, **_actions(requests)}}


def _actions(requests: Sequence[PublicRequest]) -> dict[str, Any]:
    """The approvals in LangChain's words, as front ends that were written for it read them."""
    bodies = [request.body for request in requests if isinstance(request.body, ApprovalBody)]
    if not bodies:
        return {}
    return {
        "action_requests": [
            {"name": body.tool_name, "args": body.args, "description": body.with_details(body.description)}
            for body in bodies
        ],
        "review_configs": [
            {"action_name": body.tool_name, "allowed_decisions": [_LANGCHAIN[one] for one in body.allowed]}
            for body in bodies
        ],
    }


def interrupt_info(node: str, requests: Sequence[Request], locale: Locale) -> wire.InterruptInfo:
    views = [wire.RequestView.model_validate(request_view(PublicRequest.of(request), locale)) for request in requests]
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
