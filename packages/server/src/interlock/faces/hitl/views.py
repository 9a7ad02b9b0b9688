"""Requests, answers and events of the core as this face shows them."""

from collections.abc import Mapping
from typing import Any

from interlock.domain.event import RequestSettled
from interlock.domain.kinds import Body
from interlock.domain.moment import to_iso
from interlock.domain.request import PublicRequest, Request, RequestEnd, RequestStatus
from interlock.domain.terms import VoteCount
from interlock.faces.hitl.kinds import ROWS, response_of
from interlock.services.requests.pending import RequestView
from interlock.services.teams.people import RequestPeople
from interlock.texts import Locale

NOT_ANSWERED: Mapping[str, str] = {
    RequestStatus.CANCELLED: "request_cancelled",
    RequestStatus.EXPIRED: "request_expired",
}
EVENTS = (
    *dict.fromkeys(row.asked for row in ROWS.values()),
    *dict.fromkeys(row.answered for row in ROWS.values()),
    *NOT_ANSWERED.values(),
)


def request_data(body: Body, timeout: float | None, locale: Locale) -> dict[str, Any]:
    return ROWS[body.kind].body(body.in_language(locale)) | {"timeout_seconds": _seconds(timeout)}


def _seconds(timeout: float | None) -> float | int | None:
    """Whole seconds as a whole number, as clients of other languages expect them."""
    return int(timeout) if timeout is not None and timeout == int(timeout) else timeout


def pending_view(request: Request, owner: str, locale: Locale) -> dict[str, Any]:
    return {
        "request_id": request.id,
        "type": request.kind.public_type,
        "status": request.status,
        "conversation_id": request.thread_id,
        "message_id": request.message_id,
        "agent": request.agent,
        "owner": owner,
        "created_at": to_iso(request.created_at),
        "expires_at": to_iso(request.deadline) if request.deadline else None,
        "timeout_seconds": _seconds(request.timeout_seconds),
        "request_data": request_data(request.body, request.timeout_seconds, locale),
    }


def votes_view(votes: VoteCount) -> dict[str, Any]:
    return {"yes": votes.yes, "needed": votes.needed}


def people_view(people: RequestPeople | None) -> dict[str, Any]:
    """Where it stands with its people; nothing of a request without terms."""
    if people is None or people.needs is None:
        return {}
    view: dict[str, Any] = {"needs": people.needs.to_json()}
    if people.votes is not None:
        view["votes"] = votes_view(people.votes)
    if people.claim is not None:
        view["claim"] = {"by": people.claim.by, "until": to_iso(people.claim.until)}
    if people.levels:
        view["level"] = people.level
    if people.rule is not None:
        view["policy"] = {"version": people.policy_version, "rule": people.rule}
    return view


def request_view(view: RequestView, locale: Locale) -> dict[str, Any]:
    request, answer = view.request, view.answer
    response = response_of(answer.value) if answer else None
    end = {"response": response, **RequestEnd.of(request, answer).settled_by()}
    return pending_view(request, view.owner, locale) | end | people_view(view.people)


def asked_event(conversation_id: str, request: PublicRequest, locale: Locale) -> dict[str, Any]:
    data = request_data(request.body, request.timeout_seconds, locale)
    expires_at = to_iso(request.expires_at) if request.expires_at else None
    data |= {"created_at": to_iso(request.created_at), "expires_at": expires_at}
    return _event(ROWS[request.body.kind].asked, conversation_id, request.request_id, data)


def settled_event(conversation_id: str, settled: RequestSettled) -> dict[str, Any]:
    row = ROWS[settled.kind]
    data: dict[str, Any] = {
        "response": response_of(settled.value) if settled.value is not None else None,
        **settled.settled_by(),
        "type": settled.kind.public_type,
    }
    more = {"reason": settled.reason, "remembered": settled.remembered, "provenance": settled.provenance}
    data |= {name: value for name, value in more.items() if value is not None}
    return _event(NOT_ANSWERED.get(settled.status, row.answered), conversation_id, settled.request_id, data)


def _event(name: str, conversation_id: str, request_id: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": name, "request_id": request_id, "conversation_id": conversation_id, "data": dict(data)}
