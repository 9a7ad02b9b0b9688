"""Pauses and their requests as they are opened: what is asked, by when, what needs no person, and who is told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from interlock.domain.canonical import digest
from interlock.domain.event import Event, EventData, PauseOpened
from interlock.domain.form import Form
from interlock.domain.ids import new_id
from interlock.domain.kinds import ApprovalBody, Body
from interlock.domain.request import Pause, PublicRequest, Request, RequestStatus, warning_before
from interlock.domain.risk import risk_of
from interlock.domain.terms import Routing, Terms
from interlock.domain.thread import CONFIRM, Thread
from interlock.domain.webhook import WebhookEvent
from interlock.services.channels.notices import notify
from interlock.services.core import OperatorSettings, Unit
from interlock.services.policies.deciding import PolicyRuling, ruling_of
from interlock.services.requests.automatic_answers import automatic_answer, refusal_without_accounts
from interlock.services.requests.settling import Settlement, settle
from interlock.services.teams.routing import put_to_candidates, route
from interlock.services.webhooks.webhooks import enqueue_deliveries

_DESCRIBING = ("tool_name", "tool_display_name", "description", "risk_level", "tool_schema")


@dataclass(frozen=True, slots=True)
class NewRequest:
    """One request as it was read from a graph, or came over the wire."""

    body: Body
    interrupt_id: str | None = None
    form: Form | None = None
    call_id: str | None = None
    message_id: str | None = None
    digest: str | None = None
    definition: str | None = None
    """For an approval: the digest of the tool's definition, where the tool is known."""
    toolset: str | None = None
    """For an approval: the digest of all tools of the agent, where they are known."""
    timeout: float | None = None
    terms: Terms | None = None
    """What its asker wants of people, beyond what a rule says."""


@dataclass(frozen=True, slots=True)
class OpenedPause:
    events: list[Event]
    is_open: bool
    """Whether anybody is waited for: grants and saved values may have settled all of it."""


def new_request(
    settings: OperatorSettings, now: datetime, thread: Thread, pause: Pause, position: int, asked: NewRequest
) -> Request:
    timeout = asked.timeout
    is_approval = isinstance(asked.body, ApprovalBody)
    if is_approval and timeout is None and not thread.is_outside:
        timeout = settings.confirmation_timeout if thread.face == CONFIRM else settings.approval_timeout
    deadline = None if timeout is None else now + timedelta(seconds=timeout)
    return Request(
        new_id(asked.body.id_prefix),
        pause.id,
        pause.thread_id,
        RequestStatus.PENDING,
        position,
        _body(settings, thread, asked),
        now,
        interrupt_id=asked.interrupt_id,
        form=asked.form,
        checked_by_agent=asked.form is not None,
        call_id=asked.call_id,
        message_id=asked.message_id,
        digest=asked.digest,
        definition=_definition(thread, asked) if is_approval else None,
        toolset=asked.toolset,
        timeout_seconds=timeout,
        deadline=deadline,
        warn_at=None if deadline is None or timeout is None else deadline - warning_before(timeout),
        owner_id=thread.owner_id,
        agent=thread.agent,
        routing=Routing(asked.terms) if asked.terms else None,
    )


def _body(settings: OperatorSettings, thread: Thread, asked: NewRequest) -> Body:
    body = asked.body
    if not isinstance(body, ApprovalBody):
        return body
    risk = risk_of(body.risk_level, settings.risks.get(body.tool_name), is_outside=thread.is_outside)
    # Where nothing is known that could change, nothing can be remembered.
    allow_remember = body.allow_remember and _definition(thread, asked) is not None
    return replace(body, risk_level=risk, allow_remember=allow_remember)


def _definition(thread: Thread, asked: NewRequest) -> str | None:
    """By what a remembered answer knows the tool again: of an agent that runs elsewhere, who asks and what it says."""
    if thread.is_outside and asked.definition is not None:
        return digest({"asker": thread.asker_id, "definition": asked.definition})
    return _described_definition(thread, asked.body) if thread.is_outside else asked.definition


def pause_opened(pause: Pause, requests: Sequence[Request], settled: Sequence[str] = ()) -> PauseOpened:
    """The event that tells of a pause; `settled` names what was answered in the same moment, without a person."""
    return PauseOpened(pause.id, pause.node, tuple(map(PublicRequest.of, requests)), tuple(settled))


def _described_definition(thread: Thread, body: Body) -> str:
    """Where the tool itself is not known: what the ask says of it, apart from the call, and the key that says it.

    The key, not the agent's name: that one can be given to another key, also after this one was revoked.
    """
    fields = body.to_json()
    return digest({"asker": thread.asker_id, **{name: fields.get(name) for name in _DESCRIBING}})


async def place(
    work: Unit,
    thread: Thread,
    pause: Pause,
    requests: Sequence[Request],
    before: Sequence[EventData] = (),
    *,
    by_people: bool = False,
) -> OpenedPause:
    """Write a pause of a locked thread, and settle at once what was granted or saved before, unless `by_people`.

    `TooManyOpen` when more would wait for people than may.
    """
    requests, settlements = await _decide(work, thread, requests, by_people=by_people)
    settled = [request.id for request, _ in settlements]
    if more := len(requests) - len(settled):
        await work.core.open_asks.check(work.tx, work.core.settings.quota, thread, more, work.now)
    events = await work.record(thread.id, *before, pause_opened(pause, requests, settled))
    work.observe(lambda observer: observer.on_ask(requests))
    await work.tx.pauses.add(replace(pause, opened_seq=events[-1].seq), requests)
    await put_to_candidates(work, [request for request in requests if request.id not in settled])
    for request in requests:
        if request.id not in settled:
            await enqueue_deliveries(work, WebhookEvent.ASKED, request)
            await notify(work, thread, request)
    for request, settlement in settlements:
        events += await settle(work, request, settlement)
    return OpenedPause(events, len(settlements) < len(requests))


async def _decide(
    work: Unit, thread: Thread, requests: Sequence[Request], *, by_people: bool
) -> tuple[list[Request], list[tuple[Request, Settlement]]]:
    """The requests with the terms that they have, and how those are settled that need no person."""
    routed: list[Request] = []
    settlements: list[tuple[Request, Settlement]] = []
    groups = (await work.tx.groups.of_people([thread.owner_id])).get(thread.owner_id, ())
    for request in requests:
        request = replace(request, owner_groups=tuple(sorted(groups)))
        ruling = await ruling_of(work, thread, request)
        request = await _route(work, thread, request, ruling)
        routed.append(request)
        how = None if by_people else await automatic_answer(work, thread, request, ruling)
        how = how or refusal_without_accounts(work, request)
        if how is not None:
            settlements.append((request, how))
    return routed, settlements


async def _route(work: Unit, thread: Thread, request: Request, ruling: PolicyRuling | None) -> Request:
    """By the rule that decided, and by what its asker wants beyond that."""
    asked = request.routing.terms if request.routing else None
    rule = ruling.decision.rule if ruling else None
    terms = rule.terms if rule else None
    if terms is not None and asked is not None:
        terms = terms.raised(asked)
    terms = terms or asked
    if terms is None or request.is_in_doubt:
        return replace(request, routing=None)
    number = ruling.version if ruling and rule else None
    return await route(work, thread, request, terms, number, rule.name if rule else None)
