"""Drills: planted after a person's answer, shown to that person among what waits for them, and explained when answered.

Nothing here writes a request, an event or a delivery, and nothing that works with those reads drills.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.drill import BURST, GAP, SOURCE, Drill, burst, is_drawn, request_of, thread_of
from interlock.domain.errors import InterlockError, NotFound
from interlock.domain.kinds import ApprovalAnswer, RequestKind
from interlock.domain.policy import Decision, Ruling
from interlock.domain.policy_explanation import Cause, Explanation
from interlock.domain.principal import SYSTEM, Principal, Role
from interlock.domain.request import Answer, AnswerOrigin, RequestStatus
from interlock.ports.store import Transaction
from interlock.services.core import Core, Unit, unit
from interlock.services.requests.answering import Reply, Sender
from interlock.services.requests.idempotency import IdempotentCall, reply_once
from interlock.services.requests.inbox import Entry, FullView, PageView, check_page_view
from interlock.services.requests.pending import RequestQuery, RequestView
from interlock.services.requests.settling import already_settled
from interlock.services.teams.override import check_override

WAITS = timedelta(days=1)
"""After that a drill without an answer is gone."""

logger = logging.getLogger(__name__)


async def consider(core: Core, principal: Principal, request_id: str) -> None:
    """After an answer on the page: now and then its giver is put to the test. It never fails, whatever happens."""
    one_in = core.settings.drills
    if one_in is None or principal.is_agent or principal.key_id is not None or not is_drawn(core.draw(), one_in):
        return
    try:
        async with unit(core) as work:
            await _plant(work, principal, request_id)
    except InterlockError:
        logger.exception("a drill could not be planted")


async def _plant(work: Unit, principal: Principal, request_id: str) -> None:
    request = await work.tx.requests.get(request_id)
    thread = await work.tx.threads.get(request.thread_id) if request is not None else None
    if request is None or thread is None or request.status is RequestStatus.PENDING:
        return
    # One burst at a time: whoever leaves drills alone is not given more of them.
    if await work.tx.drills.open_of(principal.id, work.now - WAITS, work.now + BURST * GAP):
        return
    planted = burst(principal, request, thread.is_outside, work.now, [work.core.draw() for _ in range(BURST)])
    if planted:
        await work.tx.drills.add(planted)
    for drill in planted:
        data = {"drill_id": drill.id, "person_id": principal.id, "person": principal.name, "harm": drill.harm.value}
        await work.tx.audit.append(SERVER_CHAIN, SYSTEM, "drill.planted", data, work.now)


async def list_open(
    core: Core, principal: Principal, query: RequestQuery, after: tuple[datetime, str] | None
) -> list[Entry]:
    """The person's own that are wanted, as they stand in the list."""
    if core.settings.drills is None or principal.is_agent:
        return []
    is_asked_for = query.of_whom in ("all", "me") and query.closing_within is None
    if not is_asked_for or (query.kinds is not None and RequestKind.APPROVAL not in query.kinds):
        return []
    now = core.clock.now()
    async with core.store.snapshot() as tx:
        found = await tx.drills.open_of(principal.id, now - WAITS, now)
    later = (one for one in found if after is None or (one.created_at, one.id) > after)
    return [_entry(one, principal) for one in later if _is_wanted(one, principal, query)]


def _is_wanted(drill: Drill, principal: Principal, query: RequestQuery) -> bool:
    if query.agent not in (None, drill.agent) or query.risk not in (None, drill.risk):
        return False
    text = f"{request_of(drill, principal).body.headline} {drill.agent}"
    return query.text is None or query.text.casefold() in text.casefold()


def with_drills(found: Sequence[Entry], drills: Sequence[Entry]) -> list[Entry]:
    """One list in the order in which all of it was asked."""
    return sorted(
        [*found, *drills], key=lambda one: (one.request.created_at, one.request.pause_id, one.request.position)
    )


async def moved(core: Core, principal: Principal, after: datetime, until: datetime) -> list[tuple[Drill, Entry]]:
    """What came or was answered since a page was told last."""
    if core.settings.drills is None or principal.is_agent:
        return []
    async with core.store.snapshot() as tx:
        found = await tx.drills.moved(principal.id, after, until)
    return [(one, _entry(one, principal)) for one in found]


async def find(core: Core, principal: Principal, drill_id: str) -> Drill | None:
    """The person's own drill; nobody else is told that there is one."""
    if principal.is_agent:
        return None
    async with core.store.snapshot() as tx:
        return await _own(tx, principal, drill_id, core.clock.now())


async def _own(tx: Transaction, principal: Principal, drill_id: str, now: datetime) -> Drill | None:
    drill = await tx.drills.get(drill_id)
    is_there = drill is not None and drill.person_id == principal.id and drill.created_at <= now
    return drill if is_there else None


def view(drill: Drill, principal: Principal) -> FullView:
    """As the page of a request has it."""
    entry = _entry(drill, principal)
    seen = RequestView(entry.request, _answer(drill, principal), principal.name)
    return FullView(entry, seen, [drill.id], None, None, None, None, is_tools_own=False)


def _entry(drill: Drill, principal: Principal) -> Entry:
    return Entry(request_of(drill, principal), thread_of(drill, principal), principal.name, 1)


def _answer(drill: Drill, principal: Principal) -> Answer | None:
    if drill.settled_at is None or drill.decision is None or drill.decision == "cancel":
        return None
    value = ApprovalAnswer.from_json({"decision": drill.decision})
    at, origin = drill.settled_at, AnswerOrigin.PERSON
    return Answer(drill.id, value, principal.id, principal.name, SOURCE, origin, at)


async def explain(core: Core, principal: Principal) -> Explanation:
    """As for a request of which no rule says anything."""
    async with core.store.snapshot() as tx:
        activation = await tx.policies.activation()
    number = activation.number if activation else None
    cause = Cause.NO_POLICY if number is None else Cause.NO_RULE
    return Explanation(cause, Decision(Ruling.ASK), number, is_whole=principal.role is Role.ADMIN)


async def answer_from_page(
    core: Core,
    sender: Sender,
    reply: Reply,
    page: PageView | None,
    once: IdempotentCall,
    rendered: Callable[[Drill], bytes],
) -> bytes:
    """What its person decides of a drill, checked as the answer to a request is; nothing comes of it but a word."""
    principal = sender.principal

    async def act(work: Unit) -> Drill:
        drill = await _own(work.tx, principal, reply.request_id, work.now)
        if drill is None:
            raise NotFound("there is no such request", request_id=reply.request_id)
        request = request_of(drill, principal)
        if drill.settled_at is not None:
            raise already_settled(request, _answer(drill, principal))
        decision = "cancel"
        if page is not None and reply.value is not None:
            check_page_view(request, reply, page)
            value = request.check(reply.value)
            assert isinstance(value, ApprovalAnswer)
            decision = value.decision
            if reply.override is not None:
                check_override(work, principal, request, reply.override)
        if not await work.tx.drills.settle(drill.id, decision, work.now):
            raise already_settled(request, None)
        settled = await work.tx.drills.get(drill.id)
        assert settled is not None
        data = {"drill_id": drill.id, "harm": drill.harm.value, "decision": decision, "caught": settled.is_caught}
        await work.tx.audit.append(SERVER_CHAIN, principal, "drill.answered", data, work.now)
        return settled

    return await reply_once(core, principal, once, act, rendered)
