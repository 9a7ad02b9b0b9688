"""Levels of an escalation: opened by the timer of deadlines, each once over all servers."""

from datetime import timedelta

from interlock import failpoints
from interlock.domain import event_json
from interlock.domain.errors import AlreadySettled
from interlock.domain.event import RequestRouted
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody
from interlock.domain.principal import ESCALATION
from interlock.domain.request import AnswerOrigin, Request, RequestStatus
from interlock.domain.terms import AtEnd, Routing
from interlock.domain.thread import Thread
from interlock.domain.webhook import WebhookEvent
from interlock.services.channels.notices import notify
from interlock.services.core import Core, Unit, unit
from interlock.services.requests.settling import Settlement, close, expiry, settle
from interlock.services.teams.eligibility import names_of
from interlock.services.teams.routing import add_candidates, is_anybody_there
from interlock.services.webhooks.webhooks import enqueue_deliveries

OPENED_AT_ONCE = 100


async def open_due_levels(core: Core) -> int:
    """Put what nobody decided to the next level, and end what has come to the end of its levels."""
    async with core.store.snapshot() as tx:
        due = await tx.routes.due_levels(core.clock.now(), OPENED_AT_ONCE)
    for request in due:
        try:
            await _go_on(core, request)
        except AlreadySettled:
            continue
    return len(due)


async def _go_on(core: Core, request: Request) -> None:
    async with unit(core) as work:
        thread = await work.tx.threads.lock(request.thread_id)
        present = await work.tx.requests.get(request.id)
        if thread is None or present is None or present.routing is None:
            return
        routing = present.routing
        if routing.level >= len(routing.terms.levels):
            if await work.tx.routes.end_levels(present.id, routing.level, work.now):
                await _end(work, present, routing)
                requests = await work.tx.requests.of_pauses([present.pause_id])
                if not any(one.status is RequestStatus.PENDING for one in requests):
                    # Nobody's connection started this run, so none that closes ends it.
                    await close(work, thread, present.pause_id, detached=True)
        else:
            await _open_level(work, thread, present, routing)
        failpoints.hit("level.committing")


async def _open_level(work: Unit, thread: Thread, request: Request, routing: Routing) -> None:
    number = routing.level + 1
    level = routing.terms.levels[routing.level]
    is_last = number == len(routing.terms.levels)
    # The end comes as long after the last level as that came after the one before it.
    after = level.after if is_last else routing.terms.levels[number].after
    then = None if is_last and routing.terms.at_end is AtEnd.WAIT else work.now + timedelta(seconds=after)
    if not is_last and not await is_anybody_there(work, level.candidates, routing.terms.excluded):
        then = work.now
    work.set_timer()
    if not await work.tx.routes.open_level(request.id, number, work.now, then):
        return
    added = await add_candidates(work, request, level.candidates, number)
    names = await names_of(work.tx, level.candidates)
    event = RequestRouted(request.id, request.pause_id, names, number, ESCALATION.name)
    data = event_json.to_json(event)
    await work.tx.audit.append(request.thread_id, ESCALATION, str(event.type), data, work.now)
    await work.record(request.thread_id, event)
    await enqueue_deliveries(work, WebhookEvent.ROUTED, request, more={"candidates": list(names), "level": number})
    await notify(work, thread, request, added)


async def _end(work: Unit, request: Request, routing: Routing) -> None:
    """Never with a yes."""
    if routing.terms.at_end is AtEnd.REFUSE and isinstance(request.body, ApprovalBody):
        message = f"nobody of those who were asked decided it ({routing.rule or 'escalation'})"
        how = Settlement(
            RequestStatus.ANSWERED,
            ESCALATION,
            "policy",
            value=ApprovalAnswer("reject", message=message),
            origin=AnswerOrigin.POLICY,
            metadata={"policy_version": routing.policy_version, "rule": routing.rule, "level": routing.level},
        )
    else:
        how = expiry(request.body.default())
    await settle(work, request, how)
