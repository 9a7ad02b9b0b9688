"""The list, one request, and answers to it."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response

from interlock.domain.canonical import canonical_json
from interlock.domain.errors import KeyReused, NotFound
from interlock.domain.grant import GrantDuration, GrantScope, Remember
from interlock.domain.kinds import RequestKind
from interlock.domain.moment import to_iso
from interlock.domain.principal import Principal
from interlock.faces.http.credentials import Caller
from interlock.faces.http.cursors import cursor as cursor_at
from interlock.faces.http.cursors import read_cursor
from interlock.faces.http.documented import problems
from interlock.faces.http.lenient_json import LenientJSONResponse
from interlock.faces.http.locale import locale_of
from interlock.faces.http.server_state import state_of
from interlock.faces.inbox import drills, views
from interlock.faces.shared.policies import explanation_view
from interlock.services.core import Core
from interlock.services.policies import explaining
from interlock.services.requests import answering, extending, inbox, likeness, opinions
from interlock.services.requests import drills as drill_service
from interlock.services.requests import idempotency as once_only
from interlock.services.requests.answering import Reply, Sender, SettleResult
from interlock.services.requests.idempotency import IdempotentCall
from interlock.services.requests.inbox import Entry, PageView
from interlock.services.requests.pending import RequestQuery, last_of
from interlock_client import inbox as wire
from interlock_client.policy import PolicyExplanation

SOURCE = "web"

router = APIRouter(prefix="/api/v1/inbox", tags=["inbox"])

IdempotencyKey = Annotated[str, Header(min_length=1, max_length=255, description="The same key is answered the same.")]


@router.get("", responses=problems(401))
async def list_all(
    request: Request,
    caller: Caller,
    kind: Annotated[wire.Kind | None, Query()] = None,
    risk: Annotated[wire.Risk | None, Query()] = None,
    agent: Annotated[str | None, Query(max_length=64)] = None,
    q: Annotated[str | None, Query(max_length=200)] = None,
    closing_within: Annotated[int | None, Query(ge=1, le=86_400, description="Seconds until its deadline.")] = None,
    of_whom: Annotated[
        str, Query(alias="for", max_length=80, description="`me`, `group:NAME`, `claimed` or `all`.")
    ] = "all",
    with_drills: Annotated[
        bool, Query(alias="drills", description="With the caller's drills, by whoever shows what is said of them.")
    ] = False,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> wire.Inbox:
    """Everything that waits and that the caller may see, the oldest first."""
    core = state_of(request).core
    kinds = (RequestKind(kind),) if kind else None
    query = RequestQuery(kinds, agent, risk, q or None, closing_within=closing_within, of_whom=of_whom)
    after = read_cursor(cursor) if cursor else None
    found, total = await inbox.list_inbox(core, caller, query, after, limit)
    is_last = len(found) < limit
    if with_drills:
        found, total = await _with_drills(core, caller, query, after, found, total, is_last=is_last)
    return wire.Inbox(
        requests=[wire.InboxEntry.model_validate(views.entry_view(entry, locale_of(request))) for entry in found],
        total=total,
        next_cursor=None if is_last else cursor_at(*last_of([entry.request for entry in found])),
        server_time=core.clock.now(),
    )


async def _with_drills(
    core: Core,
    caller: Principal,
    query: RequestQuery,
    after: tuple[datetime, str] | None,
    found: list[Entry],
    total: int,
    *,
    is_last: bool,
) -> tuple[list[Entry], int]:
    """With those that stand on this page; of others the next one has them."""
    own = await drill_service.list_open(core, caller, query, after)
    end = None if is_last else last_of([entry.request for entry in found])
    here = [one for one in own if end is None or (one.request.created_at, one.request.id) <= end]
    return drill_service.with_drills(found, here), total + len(own)


@router.get("/requests/{request_id}", response_model=wire.InboxRequest, responses=problems(401, 404))
async def look_at(request: Request, caller: Caller, request_id: str) -> Response:
    """One request with everything that its page shows, what will run first and complete."""
    core, drill = state_of(request).core, None
    try:
        view = await inbox.view(core, caller, request_id)
    except NotFound as missing:
        view, own = await drills.view(request, caller, request_id, missing)
        drill = views.drill_view(own, locale_of(request))
    full = views.full_view(view, locale_of(request))
    body = wire.InboxRequest.model_validate({**full, "drill": drill, "server_time": core.clock.now()})
    # As it is: the names of arguments may hold anything, and must not be shown as something else.
    return LenientJSONResponse(body.model_dump())


@router.get("/requests/{request_id}/similar", response_model=wire.Similar, responses=problems(401, 404))
async def similar(request: Request, caller: Caller, request_id: str) -> Response:
    """How often such a call was decided before, and the last one that a person approved."""
    try:
        found = await likeness.likeness(state_of(request).core, caller, request_id)
    except NotFound as missing:
        await drills.find(request, caller, request_id, missing)
        found = likeness.Likeness()
    last = found.last and wire.ApprovedCall(
        request_id=found.last.request_id,
        by=found.last.by,
        at=found.last.at,
        differences=[wire.Difference.model_validate(asdict(one), strict=False) for one in found.differences],
    )
    body = wire.Similar(
        earlier=found.earlier,
        approved=found.approved,
        whole=found.is_whole,
        last=last,
        may_be_ruled=found.may_be_ruled,
    )
    return LenientJSONResponse(body.model_dump())


@router.get("/requests/{request_id}/rule", responses=problems(401, 404, 409))
async def draft(request: Request, caller: Caller, request_id: str) -> wire.PolicyDraft:
    """The active policy with a rule for what people approved of such calls. For admins; nothing is saved."""
    found = await likeness.draft_policy(state_of(request).core, caller, request_id)
    return wire.PolicyDraft(
        name=found.rule.name,
        rule=found.rule.text,
        free=list(found.rule.free),
        calls=found.calls,
        text=found.text,
        active=found.active,
        covers=found.covers,
    )


@router.post("/requests/{request_id}/answer", response_model=wire.Settled, responses=problems(401, 404, 409))
async def answer(
    request: Request, caller: Caller, request_id: str, body: wire.Answer, idempotency_key: IdempotencyKey
) -> Response:
    """Answer what was shown. A yes to a risky call repeats the code that stands behind its last line."""
    page_view = PageView(body.digest, body.code, body.file_sha256, over_claim=body.over_claim)
    override = body.override.reason if body.override else None
    reply = Reply(request_id, body.value, remember=_remember(body.remember), override=override)
    sender = inbox.with_page_view(Sender(caller, SOURCE), page_view, body.dwell_ms)
    once = _once(idempotency_key, request_id, "answer", body)
    core, rendered = state_of(request).core, _renderer(request_id, "answered")
    try:
        given = await inbox.answer_from_page(core, sender, reply, page_view, once, rendered)
    except NotFound as missing:
        await drills.find(request, caller, request_id, missing)
        return _json(await drills.settle(request, sender, reply, page_view, once))
    await drill_service.consider(core, caller, request_id)
    return _json(given)


@router.post("/requests/{request_id}/cancel", response_model=wire.Settled, responses=problems(401, 404, 409))
async def cancel(
    request: Request, caller: Caller, request_id: str, body: wire.CancelRequest, idempotency_key: IdempotencyKey
) -> Response:
    """Do not answer: the agent is told so, with the reason, and goes on."""
    once = _once(idempotency_key, request_id, "cancel", body)
    reply = Reply(request_id, None, body.reason)
    core, sender = state_of(request).core, Sender(caller, SOURCE)
    try:
        return _json(await answering.answer_once(core, sender, reply, once, _renderer(request_id, "cancelled")))
    except NotFound as missing:
        await drills.find(request, caller, request_id, missing)
        return _json(await drills.settle(request, sender, reply, None, once))


@router.post("/requests/{request_id}/{operation}/recall", responses=problems(401), response_model_exclude_unset=True)
async def recall(
    request: Request,
    caller: Caller,
    request_id: str,
    operation: Literal["answer", "cancel"],
    idempotency_key: IdempotencyKey,
) -> wire.Recalled:
    """What became of an answer that got no reply. Where nothing did, what still comes under its key does nothing."""
    reply = await once_only.recall_reply(state_of(request).core, caller, f"inbox.{operation}", idempotency_key)
    settled = None if reply is None else wire.Settled.model_validate_json(reply)
    if settled is not None and settled.request_id != request_id:
        raise KeyReused("this idempotency key came with an answer to another request")
    return wire.Recalled(settled=settled)


@router.post("/requests/{request_id}/extend", response_model=wire.InboxRequest, responses=problems(401, 404, 409))
async def extend(request: Request, caller: Caller, request_id: str, body: wire.Extend) -> Response:
    """Give it more time, while there is some left."""
    await extending.extend(state_of(request).core, caller, request_id, body.seconds)
    return await look_at(request, caller, request_id)


@router.get("/requests/{request_id}/explain", responses=problems(401, 404))
async def explain(request: Request, caller: Caller, request_id: str) -> PolicyExplanation:
    """Why it was put to people, or was not: what the policy said of it."""
    core = state_of(request).core
    try:
        found = await explaining.explain(core, caller, request_id)
    except NotFound as missing:
        await drills.find(request, caller, request_id, missing)
        found = await drill_service.explain(core, caller)
    return PolicyExplanation.model_validate(explanation_view(request_id, found))


@router.post("/requests/{request_id}/opinion", response_model=wire.Opinion, responses=problems(401, 404, 409))
async def opinion(request: Request, caller: Caller, request_id: str) -> Response:
    """What a model says of the call, which is all that it is told. Nothing changes by it, and no agent is sent it."""
    found = await opinions.second_opinion(state_of(request).core, caller, request_id)
    body = wire.Opinion(request_id=request_id, by=found.by, end=found.end.value, text=found.text)
    return LenientJSONResponse(body.model_dump())


@router.post("/looking", responses=problems(401, 404))
async def look(request: Request, caller: Caller, body: wire.Look) -> wire.Looked:
    """The request is on the caller's screen; others are told for 20 seconds. It locks nothing."""
    try:
        await inbox.announce_viewer(state_of(request).core, caller, body.request_id)
    except NotFound as missing:
        await drills.find(request, caller, body.request_id, missing)
    return wire.Looked(request_id=body.request_id)


def _remember(kept: wire.Remember | None) -> Remember | None:
    if kept is None:
        return None
    duration, scope = GrantDuration(kept.duration), GrantScope(kept.scope)
    return Remember(duration, scope, kept.also_high_risk, kept.confirm_high_risk)


def _once(key: str, request_id: str, operation: str, body: Any) -> IdempotentCall:
    # Not in the mode of JSON, which fails on half a character in a name.
    return IdempotentCall(key, f"inbox.{operation}", canonical_json([request_id, body.model_dump()]).encode())


def _renderer(request_id: str, status: str) -> Any:
    def render(settled: SettleResult) -> bytes:
        reply: dict[str, Any] = {"request_id": request_id, "status": status, "answered_at": to_iso(settled.at)}
        if (votes := settled.votes.get(request_id)) is not None:
            reply |= {"status": "pending", "votes": views.votes_view(votes)}
        return json.dumps(reply).encode()

    return render


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")
