"""Requests as the inbox shows them."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from interlock.domain import showing
from interlock.domain.drill import Drill
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody
from interlock.domain.request import Answer, Request, RequestEnd, RequestStatus
from interlock.domain.terms import VoteCount
from interlock.services.requests.inbox import Entry, FullView
from interlock.texts import Locale, drills_text
from interlock_client.presentation import presentation

OUTCOMES = {"accept": "approved", "edit": "edited", "reject": "refused", "response": "replied"}


def entry_view(entry: Entry, locale: Locale) -> dict[str, Any]:
    request = translate(entry.request, locale)
    body = request.body
    return {
        "request_id": request.id,
        "kind": request.kind.value,
        "conversation_id": request.thread_id,
        "conversation_title": "" if entry.is_candidate_only else entry.thread.title,
        "owner": entry.owner,
        "agent": request.agent,
        "outside": entry.thread.is_outside,
        "tool": request.tool or None,
        "display_name": body.tool_display_name if isinstance(body, ApprovalBody) else None,
        "headline": showing.headline(request, entry.change),
        "risk": request.risk or None,
        "created_at": request.created_at,
        "expires_at": request.deadline,
        "pause_id": request.pause_id,
        "position": request.position,
        "in_pause": entry.in_pause,
        "batchable": showing.is_batchable(request),
        "looking": list(entry.looking),
        "people": people_view(entry),
    }


def people_view(entry: Entry) -> dict[str, Any] | None:
    people = entry.people
    if people is None or people.needs is None:
        return None
    needs, votes, claim = people.needs, people.votes, people.claim
    return {
        "needs": {
            "people": needs.people,
            "candidates": list(needs.candidates),
            "separate": needs.separate,
            "code": needs.code,
        },
        "votes": votes_view(votes) if votes else None,
        "own_vote": None if people.own_vote is None else ("yes" if people.own_vote else "no"),
        "voters": [{"by": one.name, "yes": one.is_yes, "at": one.at} for one in people.voters],
        "claim": {"by": claim.by, "mine": claim.is_mine, "until": claim.until} if claim else None,
        "level": {"number": people.level, "of": people.levels} if people.levels else None,
        "policy": {"version": people.policy_version, "rule": people.rule} if people.rule is not None else None,
        "may_answer": people.access.may_answer,
        "may_refuse": people.access.may_refuse,
        "excluded": people.is_excluded,
        "may_override": people.may_override,
        "conversation": not entry.is_candidate_only,
    }


def votes_view(votes: VoteCount) -> dict[str, Any]:
    return {"yes": votes.yes, "needed": votes.needed, "refusals": votes.refusals}


def full_view(view: FullView, locale: Locale) -> dict[str, Any]:
    request, answer = view.view.request, view.view.answer
    body = request.body
    approval = body if isinstance(body, ApprovalBody) else None
    default = body.default()
    end = RequestEnd.of(request, answer)
    written = showing.render(request)
    return entry_view(view.entry, locale) | {
        "status": request.status.value,
        "in_doubt": request.is_in_doubt,
        "body": body.in_language(locale).to_json(),
        "view": {
            "type": showing.view_type(request).value,
            "lines": list(written.lines),
            "rest": list(written.rest),
            "details": list(written.details),
            "presentation": _presentation(approval),
        },
        "digest": showing.shown_digest(request),
        "code": showing.code_of(request) if body.takes_code or _wants_code(request) else None,
        "args_schema": view.schema,
        "file": _file(view),
        "said": view.agent_text,
        "described_by": "tool" if view.is_tools_own else "agent",
        "allowed": list(approval.allowed) if approval else [],
        "allow_remember": approval is not None and approval.allow_remember,
        "siblings": [request.id] if view.entry.is_candidate_only else list(view.siblings),
        "at_deadline": "default" if default else "told",
        "default": str(next(iter(default.to_json().values()))) if default else None,
        "timeout_seconds": request.timeout_seconds,
        "extendable": request.deadline is not None and body.extendable,
        "response": answer.value.to_json() if answer else None,
        "answered_by": end.by,
        "answered_at": end.at,
        "source": end.source,
        "reason": end.reason,
        "provenance": _provenance(answer),
        "passed_on": asdict(view.passed_on) if view.passed_on else None,
        "result": None if view.result is None else {"status": view.result.status, "output": view.result.output},
    }


def drill_view(drill: Drill, locale: Locale) -> dict[str, Any] | None:
    """None while it is to look like a request."""
    if drill.settled_at is None:
        return None
    harm = drills_text(drill.harm, locale)
    return {
        "caught": drill.is_caught,
        "text": drills_text("caught" if drill.is_caught else "missed", locale, harm=harm),
    }


def _wants_code(request: Request) -> bool:
    return request.routing is not None and request.routing.terms.code


def _presentation(body: ApprovalBody | None) -> dict[str, Any] | None:
    found = presentation(body.tool_name, body.args) if body else None
    if found is None:
        return None
    changes = [asdict(change) for change in found.changes]
    return {"shows": list(found.shows), "changes": changes, "markdown": found.markdown}


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


def translate(request: Request, locale: Locale) -> Request:
    return replace(request, body=request.body.in_language(locale))


def history_view(request: Request, answer: Answer | None, locale: Locale) -> dict[str, Any]:
    end = RequestEnd.of(request, answer)
    metadata: Mapping[str, Any] = answer.metadata if answer else {}
    dwell = metadata.get("dwell_ms")
    return {
        "request_id": request.id,
        "kind": request.kind.value,
        "conversation_id": request.thread_id,
        "agent": request.agent,
        "tool": request.tool or None,
        "headline": showing.headline(translate(request, locale)),
        "outcome": _outcome(request, answer),
        "by": end.by,
        "source": end.source,
        "origin": answer.origin.value if answer else None,
        "at": request.settled_at,
        "dwell_ms": dwell if isinstance(dwell, int) else None,
        "digest": request.digest,
        "reason": end.reason,
        "rule": metadata.get("rule"),
        "policy_version": metadata.get("policy_version"),
    }


def _outcome(request: Request, answer: Answer | None) -> str:
    if request.status is not RequestStatus.ANSWERED or answer is None:
        return request.status.value
    return OUTCOMES[answer.value.decision] if isinstance(answer.value, ApprovalAnswer) else "answered"
