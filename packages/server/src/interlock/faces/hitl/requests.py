"""Asking, looking, answering and cancelling over REST."""

import json
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response

from interlock.domain.canonical import canonical_json
from interlock.domain.errors import FieldError, Forbidden, InvalidInput
from interlock.domain.kinds import RequestKind
from interlock.domain.moment import to_iso
from interlock.faces.hitl import envelope, views
from interlock.faces.hitl.envelope import envelope_of
from interlock.faces.hitl.kinds import kinds_of
from interlock.faces.http.credentials import Caller
from interlock.faces.http.cursors import cursor as cursor_at
from interlock.faces.http.cursors import read_cursor
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.http.watching import wait_until_settled
from interlock.faces.shared.refusals import count_text
from interlock.faces.shared.responses import reply_to
from interlock.services.requests import answering, extending, outside, pending
from interlock.services.requests.answering import Reply, Sender
from interlock.services.requests.idempotency import IdempotentCall
from interlock.services.requests.pending import RequestQuery
from interlock.texts import hitl_text as text
from interlock_client import hitl as wire

SOURCE = "hitl"
LONGEST_WAIT = 60.0
LONGEST_METADATA = 16 * 1024
_LATER_FIELDS = ("conversation_key", "title", "needs", "over_claim")

router = APIRouter(prefix="/api/v1/agent/hitl", tags=["hitl"])

IdempotencyKey = Annotated[
    str | None, Header(description="The same key and body give the same reply again, byte for byte.")
]


@router.get(
    "/conversations/{conversation_id}/pending",
    response_class=Response,
    responses=envelope_of(wire.PendingOfConversation),
)
async def pending_of(request: Request, caller: Caller, conversation_id: str) -> Response:
    """What a conversation waits for: nothing where there is no such conversation, 403 for another's."""
    found = await pending.pending_of(state_of(request).core, caller, conversation_id)
    owners = await pending.owners_of(state_of(request).core, found)
    items = [views.pending_view(one, owners.get(one.owner_id, ""), locale_of(request)) for one in found]
    return envelope.answer_success(request, {"pending_requests": items, "total": len(items)})


@router.get("/pending", response_class=Response, responses=envelope_of(wire.PendingPage))
async def list_pending(
    request: Request,
    caller: Caller,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    type: Annotated[wire.RequestType | None, Query()] = None,
    agent: Annotated[str | None, Query(max_length=64)] = None,
    risk: Annotated[wire.Risk | None, Query()] = None,
    min_age: Annotated[float | None, Query(ge=0, le=1e9, description="Seconds that it has waited at least.")] = None,
    max_age: Annotated[float | None, Query(ge=0, le=1e9, description="Seconds that it has waited at most.")] = None,
) -> Response:
    """Everything that waits and that the caller may see, over all conversations, the oldest first."""
    query = RequestQuery(kinds_of(type) if type else None, agent, risk, min_age=min_age, max_age=max_age)
    after = read_cursor(cursor) if cursor else None
    found, total = await pending.list_pending(state_of(request).core, caller, query, after, limit)
    owners = await pending.owners_of(state_of(request).core, found)
    more = len(found) == limit
    return envelope.answer_success(
        request,
        {
            "pending_requests": [
                views.pending_view(one, owners.get(one.owner_id, ""), locale_of(request)) for one in found
            ],
            "total": total,
            "next_cursor": cursor_at(*pending.last_of(found)) if more else None,
        },
    )


@router.post("/respond", response_class=Response, responses=envelope_of(wire.Answered, 404, 409, 422))
async def respond(
    request: Request, caller: Caller, body: wire.Respond, idempotency_key: IdempotencyKey = None
) -> Response:
    """Answer a request. The first valid answer wins; whoever comes second is told who answered, and when."""
    core = state_of(request).core
    if caller.is_agent:
        raise Forbidden("an agent's key asks, and never answers")
    _check_metadata(body.metadata)
    view = await pending.view_request(core, caller, body.request_id)
    message = text("submitted", locale_of(request))

    def render(done: answering.SettleResult) -> bytes:
        fields = {"request_id": body.request_id, "status": "answered", "answered_at": to_iso(done.at)}
        if (votes := done.votes.get(body.request_id)) is None:
            return envelope.success(fields, message)
        fields |= {"status": "pending", "votes": views.votes_view(votes)}
        return envelope.success(fields, count_text(votes, locale_of(request)))

    reply = replace(reply_to(view.request, body.response), over_claim=body.over_claim is not False)
    once = _once(idempotency_key, "respond", body)
    sender = Sender(caller, SOURCE, body.metadata)
    return envelope.answer(await answering.answer_once(core, sender, reply, once, render))


@router.post("/cancel", response_class=Response, responses=envelope_of(wire.Cancelled, 404, 409, 422))
async def cancel(
    request: Request, caller: Caller, body: wire.Cancel, idempotency_key: IdempotencyKey = None
) -> Response:
    """Cancel a request that is pending: the agent is told that it was not answered, and goes on."""
    message = text("cancelled", locale_of(request))

    def render(done: answering.SettleResult) -> bytes:
        fields = {"request_id": body.request_id, "status": "cancelled", "cancelled_at": to_iso(done.at)}
        return envelope.success(fields, message)

    reply = Reply(body.request_id, None, body.reason)
    once = _once(idempotency_key, "cancel", body)
    sender = Sender(caller, SOURCE)
    return envelope.answer(await answering.answer_once(state_of(request).core, sender, reply, once, render))


@router.post("/requests", response_class=Response, responses=envelope_of(wire.RequestObject, 409, 422))
async def ask(
    request: Request, caller: Caller, body: wire.NewRequest, idempotency_key: IdempotencyKey = None
) -> Response:
    """Ask a person, from an agent that runs elsewhere; `GET .../requests/{id}?wait=30` waits for the answer."""
    locale = locale_of(request)

    def render(result: outside.AskResult) -> bytes:
        owner = (caller.on_behalf_of or caller).name
        view = views.request_view(pending.readable_view(result.request, result.answer, owner), locale)
        return envelope.success(view, text("asked", locale))

    where = (body.conversation_id, body.agent, body.conversation_key, body.title)
    what = outside.Ask(_kind(body), body.request_data, body.timeout_seconds, *where, needs=_needs(body.needs))
    once = _once(idempotency_key, "ask", body)
    return envelope.answer(await outside.ask(state_of(request).core, caller, what, once, render))


@router.get("/requests/{request_id}", response_class=Response, responses=envelope_of(wire.RequestObject, 404))
async def look(
    request: Request,
    caller: Caller,
    request_id: str,
    wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for it to be settled.")] = 0.0,
) -> Response:
    """One request, with its answer where it has one. `wait` holds the reply until it is settled."""
    if wait:
        with state_of(request).limits.stream(caller.person_id):
            view = await wait_until_settled(request, request_id, wait, request.is_disconnected)
            return envelope.answer_success(request, views.request_view(view, locale_of(request)))
    view = await pending.view_request(state_of(request).core, caller, request_id)
    return envelope.answer_success(request, views.request_view(view, locale_of(request)))


@router.post(
    "/requests/{request_id}/extend", response_class=Response, responses=envelope_of(wire.RequestObject, 404, 409)
)
async def extend(request: Request, caller: Caller, request_id: str, body: wire.Extend) -> Response:
    """Give a pending request more time, for whoever may answer it."""
    core = state_of(request).core
    extended = await extending.extend(core, caller, request_id, body.seconds)
    owners = await pending.owners_of(core, [extended])
    view = pending.readable_view(extended, None, owners.get(extended.owner_id, ""))
    return envelope.answer_success(request, views.request_view(view, locale_of(request)))


@router.post(
    "/requests/{request_id}/collect", response_class=Response, responses=envelope_of(wire.CollectedValues, 404, 409)
)
async def collect(request: Request, caller: Caller, request_id: str) -> Response:
    """The values that were given to an `env_var` request: for who asked, once. They are destroyed here with that."""
    values = await outside.collect(state_of(request).core, caller, request_id)
    response = envelope.answer_success(request, {"values": values})
    response.headers["cache-control"] = "no-store"
    return response


def _needs(given: wire.AskNeeds | None) -> outside.AskedNeeds | None:
    return None if given is None else outside.AskedNeeds(given.people, tuple(given.from_), given.separate)


def _kind(body: wire.NewRequest) -> RequestKind:
    if body.type == "clarification" and "questions" in body.request_data:
        return RequestKind.QUESTIONS
    return kinds_of(body.type)[0]


def _once(key: str | None, operation: str, body: Any) -> IdempotentCall | None:
    if key is None:
        return None
    # A key that came before a server knew of a field still names the same body.
    unset = {name for name in _LATER_FIELDS if getattr(body, name, None) is None}
    # Not in the mode of JSON, which fails on half a character in a name.
    return IdempotentCall(key, operation, canonical_json(body.model_dump(exclude=unset)).encode())


def _check_metadata(metadata: dict[str, Any]) -> None:
    if len(json.dumps(metadata)) > LONGEST_METADATA:
        message = f"metadata has {LONGEST_METADATA} bytes at the most"
        raise InvalidInput(message, [FieldError("metadata", "length", message)])
