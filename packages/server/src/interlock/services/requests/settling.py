"""How a request is settled: the one place where an answer, a refusal or an expiry becomes true.

Whoever comes first wins by one conditional update. The answer, the audit entry, the event and, with the pause's last
open request, the resuming run are written in the same transaction.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime

from interlock.domain import event_json
from interlock.domain.canonical import action_digest
from interlock.domain.errors import AlreadySettled, InterlockError, NotFound
from interlock.domain.event import Event, RequestSettled, SettledCall
from interlock.domain.grant import Remember
from interlock.domain.ids import new_id
from interlock.domain.json_value import JsonObject
from interlock.domain.kinds import ApprovalAnswer, ApprovalBody, EnvVarAnswer, EnvVarBody, Value
from interlock.domain.principal import SYSTEM, Principal
from interlock.domain.request import (
    Answer,
    AnswerOrigin,
    Ending,
    PauseStatus,
    Request,
    RequestEnd,
    RequestStatus,
)
from interlock.domain.run import Run, RunCause
from interlock.domain.run_input import NoInput
from interlock.domain.thread import Thread, ThreadStatus
from interlock.domain.webhook import WebhookEvent
from interlock.services.channels.notices import end_notices
from interlock.services.core import Unit
from interlock.services.requests.grants import remember, save_values
from interlock.services.runs.queue import queue_run
from interlock.services.webhooks.webhooks import enqueue_deliveries


@dataclass(frozen=True, slots=True)
class Settlement:
    """How one request is to end, by whom and from where."""

    status: RequestStatus
    by: Principal
    source: str
    value: Value | None = None
    """A checked answer; a cancelled or expired request has one only if its ask named a default."""
    origin: AnswerOrigin = AnswerOrigin.PERSON
    reason: str | None = None
    metadata: JsonObject = field(default_factory=JsonObject)
    remember: Remember | None = None
    """How much of an answer to an approval later asks are answered with."""


async def settle(work: Unit, request: Request, how: Settlement) -> list[Event]:
    """Settle the request, or raise `AlreadySettled` with who did, when, and with what."""
    ending = Ending(how.by.name, how.source, how.reason)
    if not await work.tx.requests.settle(request.id, how.status, work.now, ending):
        raise await settlement_error(work, request.id)
    if request.routing is not None:
        await work.tx.routes.close(request.id)
    value = await _seal_value(work, request, how)
    if value is not None:
        answer = Answer(request.id, value, how.by.id, how.by.name, how.source, how.origin, work.now, dict(how.metadata))
        await work.tx.answers.add(answer)
    event = _settlement_event(request, how, value, work.now)
    if how.remember is not None and value is not None:
        event = replace(event, remembered=await _remember(work, request, how, value))
    data = event_json.to_json(event) | ({"metadata": dict(how.metadata)} if how.metadata else {})
    await work.tx.audit.append(request.thread_id, how.by, f"request.{how.status}", data, work.now)
    await enqueue_deliveries(work, WebhookEvent.SETTLED, request, event)
    await end_notices(work, request, event)
    work.observe(lambda observer: observer.on_settlement(request, how.status, how.origin, work.now))
    return await work.record(request.thread_id, event)


async def settlement_error(work: Unit, request_id: str) -> InterlockError:
    request = await work.tx.requests.get(request_id)
    if request is None:
        return NotFound("there is no such request", request_id=request_id)
    answer = (await work.tx.answers.of_requests([request_id])).get(request_id)
    return already_settled(request, answer)


def already_settled(request: Request, answer: Answer | None) -> AlreadySettled:
    """For whoever comes second to a settled request."""
    return AlreadySettled("the request is no longer pending", RequestEnd.of(request, answer))


def overdue(request: Request) -> AlreadySettled:
    """For whoever comes after its deadline, and before that is recorded."""
    default = request.body.default()
    how = expiry(default)
    ended = replace(
        request,
        status=how.status,
        settled_at=request.deadline,
        ending=Ending(how.by.name, how.source, how.reason),
    )
    end = RequestEnd.of(ended, None)
    if default is not None:
        end = replace(end, by=how.by.name, answer=default.readable())
    return AlreadySettled("the request has expired", end)


async def close(work: Unit, thread: Thread, pause_id: str, *, detached: bool = False) -> Run | None:
    """The pause's last request is settled: mark it so, and queue the run that goes on.

    Where the agent runs elsewhere there is none: it reads the answer itself.
    """
    await work.tx.pauses.change(pause_id, PauseStatus.SETTLED, work.now)
    if thread.is_outside:
        await work.tx.pauses.change(pause_id, PauseStatus.CONSUMED, work.now)
        if not await work.tx.pauses.of_thread(thread.id, PauseStatus.OPEN, limit=1):
            await work.tx.threads.update(thread.id, work.now, status=ThreadStatus.IDLE)
        return None
    return await queue_run(work, thread, RunCause.ANSWER, NoInput(), detached=detached)


async def void_pauses(work: Unit, thread: Thread, by: Principal, reason: str) -> None:
    """End every pause of the thread that still waits, or still has answers to give, so that none reaches the graph."""
    if thread.seq <= 1:
        # Nothing happened on it but that it was made.
        return
    await cancel_open(work, thread.id, by, reason)
    for status in (PauseStatus.OPEN, PauseStatus.SETTLED):
        for pause in await work.tx.pauses.of_thread(thread.id, status):
            await work.tx.pauses.change(pause.id, PauseStatus.VOID, work.now)


async def cancel_open(
    work: Unit, thread_id: str, by: Principal, reason: str, source: str = "server", *, most: int | None = None
) -> bool:
    """Cancel what is pending on the thread, so many at most, with their pauses; whether some may be left."""
    requests = await work.tx.requests.open_of(thread_id, most)
    for request in requests:
        await settle(work, request, Settlement(RequestStatus.CANCELLED, by, source, reason=reason))
    for pause_id in dict.fromkeys(request.pause_id for request in requests):
        await work.tx.pauses.change(pause_id, PauseStatus.VOID, work.now)
    return len(requests) == most


async def cancel_and_drop(work: Unit, thread_id: str, by: Principal, reason: str, *, most: int) -> bool:
    """As `cancel_open`, of a deleted thread: its log has ended, and the requests are dropped with their end."""
    requests = await work.tx.requests.open_of(thread_id, most)
    how = Settlement(RequestStatus.CANCELLED, by, "server", reason=reason)
    ends = [_settlement_event(request, how, None, work.now) for request in requests]
    entries = [(f"request.{how.status}", event_json.to_json(end)) for end in ends]
    await work.tx.audit.append_all(thread_id, by, entries, work.now)
    for request, end in zip(requests, ends, strict=True):
        await enqueue_deliveries(work, WebhookEvent.SETTLED, request, end)
        await end_notices(work, request, end)
        work.observe(
            lambda observer, request=request: observer.on_settlement(request, how.status, how.origin, work.now)
        )
    await work.tx.requests.drop([request.id for request in requests])
    return len(requests) == most


async def _seal_value(work: Unit, request: Request, how: Settlement) -> Value | None:
    """The answer as it is stored: secret values are sealed apart, and only their handles stay."""
    if not isinstance(how.value, EnvVarAnswer) or not isinstance(request.body, EnvVarBody):
        return how.value
    sensitive = request.body.sensitive
    values: dict[str, str] = {}
    handles: dict[str, str] = {}
    for name, text in how.value.values.items():
        if name not in sensitive:
            values[name] = text
            continue
        handles[name] = new_id("sec")
        await work.tx.secrets.put(handles[name], request.thread_id, request.id, name, text, work.now)
    if how.value.save:
        await save_values(work, request, request.body, how.by, how.value.values)
    return EnvVarAnswer(values, how.value.save, handles)


async def _remember(work: Unit, request: Request, how: Settlement, value: Value) -> JsonObject | None:
    assert how.remember is not None
    grant = await remember(work, request, how.by, value, how.remember)
    if grant is None:
        return None
    data = {"grant_id": grant.id, "scope": grant.scope, "duration": grant.duration, "owner_id": grant.owner_id}
    return data | ({"ceiling": grant.ceiling} if grant.allow else {})


def _settlement_event(request: Request, how: Settlement, value: Value | None, at: datetime) -> RequestSettled:
    call = None
    if isinstance(request.body, ApprovalBody):
        edit = value.args if isinstance(value, ApprovalAnswer) else None
        edited = action_digest(request.tool, edit) if edit is not None else None
        call = SettledCall(request.tool, request.call_id, request.digest, edited)
    return RequestSettled(
        request_id=request.id,
        pause_id=request.pause_id,
        kind=request.kind,
        status=how.status,
        value=value.readable() if value is not None else None,
        by=how.by.name,
        source=how.source,
        origin=how.origin,
        at=at,
        reason=how.reason or None,
        provenance=dict(how.metadata) if how.origin in (AnswerOrigin.GRANT, AnswerOrigin.SAVED) else None,
        call=call,
        is_routed=request.routing is not None,
    )


def expiry(default: Value | None) -> Settlement:
    return Settlement(
        RequestStatus.EXPIRED, SYSTEM, "deadline", value=default, origin=AnswerOrigin.DEFAULT, reason="nobody answered"
    )
