"""Answers of people, and the deadlines that take their place. The first valid one wins; the others are told who did."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from interlock import failpoints
from interlock.domain.errors import AlreadySettled, Forbidden, NotFound, NotShown
from interlock.domain.grant import Remember
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds import RequestKind
from interlock.domain.principal import Principal
from interlock.domain.request import Pause, Request, RequestStatus
from interlock.domain.run import Run
from interlock.domain.terms import VoteCount
from interlock.domain.thread import Thread
from interlock.ports.store import Transaction
from interlock.services.core import Core, Unit, unit
from interlock.services.requests.grants import check_remember
from interlock.services.requests.idempotency import IdempotentCall, reply_once
from interlock.services.requests.settling import Settlement, close, expiry, overdue, settle, settlement_error
from interlock.services.runs.workers import require_worker
from interlock.services.teams import override
from interlock.services.teams.claims import check_claim
from interlock.services.teams.eligibility import access_to
from interlock.services.teams.voting import Admission, admit
from interlock.services.threads.threads import NOT_YOURS, answerable, require_open_pause

EXPIRY_BATCH = 100


@dataclass(frozen=True, slots=True)
class Reply:
    """What a caller says of one request: an answer to be checked, or that it is cancelled."""

    request_id: str
    value: Mapping[str, JsonValue] | None = None
    """As it was sent, to be checked; None: cancel it."""
    reason: str | None = None
    remember: Remember | None = None
    """Whether later asks are to be answered alike."""
    code: str | None = None
    """The digits that were typed, where the request wants them of a yes."""
    override: str | None = None
    """Why an admin answers alone what is put to others."""
    over_claim: bool = True
    """Whether it counts although somebody else has said that they have it."""


@dataclass(frozen=True, slots=True)
class Sender:
    principal: Principal
    source: str
    """The face, and what else tells where the reply came from."""
    metadata: JsonObject = field(default_factory=JsonObject)


@dataclass(frozen=True, slots=True)
class SettleResult:
    thread_id: str
    pause_id: str
    seq: int
    """The thread's last event before the replies: following after it shows everything they caused."""
    run: Run | None
    """The run that goes on, when nothing of the pause is open any more."""
    at: datetime
    votes: Mapping[str, VoteCount] = field(default_factory=dict[str, VoteCount])
    """By request, the votes on what more people have to say yes to: it is still pending."""


async def answer(core: Core, sender: Sender, reply: Reply) -> SettleResult:
    """Settle one request by its id; the run that goes on is nobody's connection's to end."""
    async with unit(core) as work:
        settled = await settle_one(work, sender, reply)
    failpoints.hit("answer.committed")
    return settled


async def answer_once(
    core: Core,
    sender: Sender,
    reply: Reply,
    idempotent_call: IdempotentCall | None,
    render: Callable[[SettleResult], bytes],
) -> bytes:
    """As `answer`, for callers that may send the same again under an idempotency key."""
    given = await reply_once(
        core, sender.principal, idempotent_call, lambda work: settle_one(work, sender, reply), render
    )
    failpoints.hit("answer.committed")
    return given


async def settle_one(work: Unit, sender: Sender, reply: Reply) -> SettleResult:
    """Settle one request by its id, in the caller's transaction."""
    request, thread = await _lock_request(work, sender.principal, reply)
    if not reply.over_claim:
        await check_claim(work, sender.principal, thread, request)
    requests = await work.tx.requests.of_pauses([request.pause_id])
    settled = await _settle_replies(work, sender, thread, requests, [reply], detached=True)
    failpoints.hit("answer.committing")
    return settled


async def _lock_request(work: Unit, principal: Principal, reply: Reply) -> tuple[Request, Thread]:
    """The request that is replied to, and its thread, locked; an agent may take back what it asked itself."""
    request = await work.tx.requests.get(reply.request_id)
    if request is None:
        raise NotFound("there is no such request", request_id=reply.request_id)
    thread = await work.tx.threads.lock(request.thread_id)
    is_own = thread is not None and principal.is_agent and principal.may_see(thread)
    if thread is None or not (is_own and reply.value is None):
        if thread is None or not (await access_to(work.tx, principal, thread, request)).may_see:
            raise Forbidden(NOT_YOURS)
        if request.routing is None:
            answerable(principal, thread)
    return request, thread


Choose = Callable[[Sequence[Request]], list[Reply]]
"""Turns the open requests of a pause into replies; raises `InvalidAnswer` where they cannot be replied to like that."""


async def answer_pause(
    core: Core,
    sender: Sender,
    thread_id: str,
    pause_id: str,
    choose: Choose,
    *,
    request_id: str | None = None,
    detached: bool = False,
) -> SettleResult:
    """Settle what `choose` makes of the open requests of one pause, or of the one that is named.

    For faces that reply to a thread as a whole. All of it or nothing: a reply that is not valid leaves every request
    open. A `detached` run goes on unfollowed.
    """
    async with unit(core) as work:
        thread = answerable(sender.principal, await work.tx.threads.lock(thread_id))
        requests = await work.tx.requests.of_pauses([pause_id])
        candidates = [request for request in requests if request_id in (None, request.id)]
        pending = [request for request in candidates if request.status is RequestStatus.PENDING]
        if not pending:
            raise await settlement_error(work, candidates[-1].id)
        settled = await _settle_replies(work, sender, thread, requests, choose(pending), detached=detached)
        failpoints.hit("answer.committing")
    failpoints.hit("answer.committed")
    core.seen_pauses.record_reply(thread_id, sender.principal.id, work.now)
    return settled


async def pause_in_view(
    core: Core, principal: Principal, thread_id: str, *, request_id: str | None = None, is_click: bool = False
) -> Pause:
    """The pause that a reply to a whole thread means: the one of the request it names, else the open one.

    Without a name, `NotShown` when its sender has not seen the open one yet, or, for a click in a browser, has replied
    on this thread a moment ago. Called when the reply arrives, before anything is waited for: from then on the reply is
    bound to this pause.
    """
    async with core.store.snapshot() as tx:
        thread = answerable(principal, await tx.threads.get(thread_id))
        if request_id is not None:
            return await _pause_of(tx, thread_id, request_id)
        pause, _ = await require_open_pause(tx, thread)
    if not core.seen_pauses.is_in_view(
        pause, principal.id, core.clock.now(), is_click=is_click, is_one_of_many=thread.is_outside
    ):
        raise NotShown("this reply was sent before the present question was shown")
    return pause


async def _pause_of(tx: Transaction, thread_id: str, request_id: str) -> Pause:
    request = await tx.requests.get(request_id)
    pause = await tx.pauses.get(request.pause_id) if request and request.thread_id == thread_id else None
    if pause is None:
        raise NotFound("there is no such request on this thread", request_id=request_id)
    return pause


async def expire_due(core: Core) -> int:
    """Settle every request whose deadline has come: each with its default answer if it has one, never with a yes."""
    async with core.store.snapshot() as tx:
        due = await tx.requests.overdue(core.clock.now(), EXPIRY_BATCH)
    for request in due:
        try:
            await _expire(core, request)
        except AlreadySettled:
            continue
    return len(due)


async def _expire(core: Core, request: Request) -> None:
    async with unit(core) as work:
        thread = await work.tx.threads.lock(request.thread_id)
        requests = await work.tx.requests.of_pauses([request.pause_id])
        present = next((one for one in requests if one.id == request.id), None)
        if thread is None or present is None or present.deadline is None or present.deadline > work.now:
            # Deleted, or given more time, since it was found to be due.
            return
        await settle(work, request, expiry(request.body.default()))
        if not _pending(requests, {request.id}):
            # Nobody's connection started this run, so none that closes ends it.
            await close(work, thread, request.pause_id, detached=True)


async def _settle_replies(
    work: Unit,
    sender: Sender,
    thread: Thread,
    requests: Sequence[Request],
    replies: Sequence[Reply],
    *,
    detached: bool = False,
) -> SettleResult:
    """Settle some of the requests of one pause, whose thread is locked."""
    if not thread.is_outside:
        await require_worker(work)
    by_id = {request.id: request for request in requests}
    settlements = [
        (by_id[reply.request_id], _settlement(work, sender, by_id[reply.request_id], reply), reply) for reply in replies
    ]
    votes: dict[str, VoteCount] = {}
    for request, settlement, reply in settlements:
        if reply.override is not None:
            settlement = await override.overridden(work, thread, request, settlement, reply.override, reply.code)
            admission = Admission(settlement)
        else:
            admission = await admit(work, thread, request, settlement, reply.code)
        if admission.settlement is not None:
            await settle(work, request, admission.settlement)
        elif admission.votes is not None:
            votes[request.id] = admission.votes
    pause_id = requests[0].pause_id
    is_last = not _pending(requests, {reply.request_id for reply in replies} - votes.keys())
    run = await close(work, thread, pause_id, detached=detached) if is_last else None
    return SettleResult(thread.id, pause_id, thread.seq, run, work.now, votes)


def _pending(requests: Sequence[Request], settled: set[str]) -> bool:
    return any(request.status is RequestStatus.PENDING and request.id not in settled for request in requests)


def _settlement(work: Unit, sender: Sender, request: Request, reply: Reply) -> Settlement:
    is_pending = request.status is RequestStatus.PENDING
    # Of one that was settled before its deadline, who comes second is told by whom.
    if is_pending and request.deadline is not None and request.deadline <= work.now:
        raise overdue(request)
    status, value = RequestStatus.CANCELLED, None
    if reply.value is not None and is_pending:
        status, value = RequestStatus.ANSWERED, request.check(reply.value)
        work.core.agents.check(request, value)
        if reply.remember is not None:
            check_remember(request, value, reply.remember)
    return Settlement(
        status,
        sender.principal,
        sender.source,
        value=value,
        reason=reply.reason,
        metadata=_sender_metadata(sender),
        remember=reply.remember if value is not None else None,
    )


def _sender_metadata(sender: Sender) -> JsonObject:
    """What the sender said of itself, and the key that it came with."""
    key = {"key_id": sender.principal.key_id} if sender.principal.key_id else {}
    # Nobody says of themselves that they came with a key.
    return {name: value for name, value in sender.metadata.items() if name != "key_id"} | key


async def count_malformed(core: Core, sender: Sender, request: Request, reason: str) -> int | None:
    """How many tries its owner has left; with the last one it is refused, or cancelled, for this reason.

    None for anybody else: nobody uses up another's tries.
    """
    if sender.principal.id != request.owner_id:
        return None
    left = core.settings.confirmation_retry_limit - core.invalid_replies.fail(request.id)
    if left > 0:
        return left
    value = {"decision": "reject", "message": reason} if request.kind is RequestKind.APPROVAL else None
    try:
        await answer(core, sender, Reply(request.id, value, reason=reason))
    except AlreadySettled:
        # By somebody else, a moment before.
        return 0
    return 0
