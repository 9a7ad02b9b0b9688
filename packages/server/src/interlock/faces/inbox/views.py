"""Requests as the inbox shows them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from interlock.domain import showing
from interlock.domain.answers import default_answer
from interlock.domain.request import Answer, Request, RequestKind, RequestStatus, end_of
from interlock.domain.translation import in_language
from interlock.faces.http.locale import Locale
from interlock.services.inbox import Entry, FullView

OUTCOMES = {"accept": "approved", "edit": "edited", "reject": "refused", "response": "replied"}


def entry_view(entry: Entry, locale: Locale) -> dict[str, Any]:
    request = translated(entry.request, locale)
    is_approval = request.kind is RequestKind.APPROVAL
    return {
        "request_id": request.id,
        "kind": request.kind.value,
        "conversation_id": request.thread_id,
        "conversation_title": entry.thread.title,
        "owner": entry.owner,
        "agent": request.agent,
        "outside": entry.thread.is_outside,
        "tool": request.tool if is_approval else None,
        "display_name": request.body["tool_display_name"] if is_approval else None,
        "headline": showing.headline(request),
        "risk": request.risk or None,
        "created_at": request.created_at,
        "expires_at": request.deadline,
        "pause_id": request.pause_id,
        "position": request.position,
        "in_pause": entry.in_pause,
        "batchable": showing.is_batchable(request),
        "looking": list(entry.looking),
    }


def full_view(view: FullView, locale: Locale) -> dict[str, Any]:
    request, answer = view.view.request, view.view.answer
    default = default_answer(request.kind, request.body)
    settled_at = answer.at if answer else request.settled_at
    written = showing.written(request)
    return entry_view(view.entry, locale) | {
        "status": request.status.value,
        "in_doubt": request.form.get("shape") == "effect",
        "body": in_language(request.body, locale),
        "view": {
            "type": showing.view_type(request).value,
            "lines": list(written.lines),
            "rest": list(written.rest),
            "details": list(written.details),
        },
        "digest": showing.shown_digest(request),
        "code": showing.code_of(request) if showing.takes_code(request) else None,
        "args_schema": view.schema,
        "file": _file(view),
        "allowed": list(request.body.get("allowed", ())),
        "allow_remember": bool(request.body.get("allow_remember")),
        "siblings": list(view.siblings),
        "at_deadline": "default" if default else "told",
        "default": str(next(iter(default.values()))) if default else None,
        "timeout_seconds": request.timeout_seconds,
        "extendable": request.deadline is not None and request.body.get("extendable") is not False,
        "response": dict(answer.value) if answer else None,
        "answered_by": _by(request, answer),
        "answered_at": settled_at,
        "source": _source(request, answer),
        "reason": request.ending.reason if request.ending else None,
        "provenance": _provenance(answer),
        "result": None if view.result is None else {"status": view.result.status, "output": view.result.output},
    }


def _by(request: Request, answer: Answer | None) -> str | None:
    """Who settled it; nobody did where its deadline passed."""
    return end_of(request, answer)["answered_by"]


def _source(request: Request, answer: Answer | None) -> str | None:
    return end_of(request, answer)["source"]


def _file(view: FullView) -> dict[str, Any] | None:
    file = view.file
    if file is None:
        return None
    names = ("path", "exists", "text", "sha256", "modified_at", "after")
    return {name: getattr(file, name) for name in names}


def _provenance(answer: Answer | None) -> dict[str, Any] | None:
    """Where an answer that no person gave comes from."""
    if answer is None or answer.origin == "person":
        return None
    return {"origin": answer.origin.value, **answer.metadata}


def translated(request: Request, locale: Locale) -> Request:
    return replace(request, body=in_language(request.body, locale))


def history_view(request: Request, answer: Answer | None, locale: Locale) -> dict[str, Any]:
    metadata: Mapping[str, Any] = answer.metadata if answer else {}
    dwell = metadata.get("dwell_ms")
    return {
        "request_id": request.id,
        "kind": request.kind.value,
        "conversation_id": request.thread_id,
        "agent": request.agent,
        "tool": request.tool or None,
        "headline": showing.headline(translated(request, locale)),
        "outcome": _outcome(request, answer),
        "by": _by(request, answer),
        "source": _source(request, answer),
        "origin": answer.origin.value if answer else None,
        "at": request.settled_at,
        "dwell_ms": dwell if isinstance(dwell, int) else None,
        "digest": request.digest,
    }


def _outcome(request: Request, answer: Answer | None) -> str:
    if request.status is not RequestStatus.ANSWERED or answer is None:
        return request.status.value
    if request.kind is RequestKind.APPROVAL:
        return OUTCOMES[answer.value["decision"]]
    return "answered"
