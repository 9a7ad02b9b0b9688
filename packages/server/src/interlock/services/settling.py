"""How a request is settled: the one place where an answer, a refusal or an expiry becomes true.

Whoever comes first wins by one conditional update. The answer, the audit entry, the event and, with the pause's last
open request, the resuming run are written in the same transaction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from interlock.domain import answers
from interlock.domain.canonical import action_digest
from interlock.domain.claim import Claim
from interlock.domain.errors import AlreadySettled, InterlockError, NotFound
from interlock.domain.event import Event, EventType
from interlock.domain.grant import Remember
from interlock.domain.ids import new_id
from interlock.domain.moment import spelled
from interlock.domain.principal import SYSTEM, Principal
from interlock.domain.redaction import HIDDEN
from interlock.domain.request import (
    Answer,
    AnswerOrigin,
    Ending,
    PauseStatus,
    Request,
    RequestKind,
    RequestStatus,
    end_of,
)
from interlock.domain.run import Run, RunCause, RunStatus
from interlock.domain.thread import Thread, ThreadStatus
from interlock.domain.webhook import WebhookEvent
from interlock.services.core import Unit
from interlock.services.remembering import remember, save_values
from interlock.services.webhooks import tell


@dataclass(frozen=True, slots=True)
class Settlement:
    """How one request is to end, by whom and from where."""

    status: RequestStatus
    by: Principal
    source: str
    value: Mapping[str, Any] | None = None
    """A checked answer; a cancelled or expired request has one only if its ask named a default."""
    origin: AnswerOrigin = AnswerOrigin.PERSON
    reason: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    remember: Remember | None = None
    """How much of an answer to an approval later asks are answered with."""


async def settle(work: Unit, request: Request, how: Settlement) -> list[Event]:
    """Settle the request, or raise `AlreadySettled` with who did, when, and with what."""
    ending = Ending(how.by.name, how.source, how.reason)
    if not await work.tx.requests.settle(request.id, how.status, work.now, ending):
        raise await settled_error(work, request.id)
    value = await _kept(work, request, how)
    if value is not None:
        answer = Answer(request.id, value, how.by.id, how.by.name, how.source, how.origin, work.now, dict(how.metadata))
        await work.tx.answers.add(answer)
    data = _settled_data(request, how, value)
    data["at"] = spelled(work.now)
    if how.remember is not None and value is not None:
        data |= await _remembered(work, request, how, value)
    metadata = {"metadata": dict(how.metadata)} if how.metadata else {}
    await work.tx.audit.append(request.thread_id, how.by, f"request.{how.status}", data | metadata, work.now)
    await tell(work, WebhookEvent.SETTLED, request, data)
    work.observe(lambda observer: observer.settled(request, how.status, how.origin, work.now))
    return await work.record(request.thread_id, (EventType.REQUEST_SETTLED, data))


async def settled_error(work: Unit, request_id: str) -> InterlockError:
    request = await work.tx.requests.get(request_id)
    if request is None:
        return NotFound("there is no such request", request_id=request_id)
    answer = (await work.tx.answers.of_requests([request_id])).get(request_id)
    return already_settled(request, readable(request, answer))


def already_settled(request: Request, answer: Answer | None, **more: Any) -> AlreadySettled:
    """For whoever comes second to a settled request; the answer is as readers may see it."""
    return AlreadySettled("the request is no longer pending", **end_of(request, answer), **more)


def overdue(request: Request) -> AlreadySettled:
    """For whoever comes after its deadline, and before that is recorded."""
    default = answers.default_answer(request.kind, request.body)
    how = expiry(request, default)
    ended = replace(
        request,
        status=how.status,
        settled_at=request.deadline,
        ending=Ending(how.by.name, how.source, how.reason),
    )
    told = end_of(ended, None) | ({"answered_by": how.by.name, "answer": default} if default is not None else {})
    return AlreadySettled("the request has expired", **told)


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
    return await queue_run(work, thread, RunCause.ANSWER, {}, detached=detached)


async def queue_run(
    work: Unit,
    thread: Thread,
    cause: RunCause,
    given: dict[str, Any],
    *,
    detached: bool = False,
    before: tuple[tuple[EventType, Mapping[str, Any]], ...] = (),
) -> Run:
    """Queue a run on a locked thread, with the events that belong in front of it, and have the runner told.

    Where this process has a place free the run is claimed at once: that saves the commit of a claim of its own.
    """
    run_id = new_id("run")
    started = (EventType.RUN_STARTED, {"run_id": run_id, "cause": cause})
    events = await work.record(thread.id, *before, started)
    worker = work.reserve()
    run = Run(
        run_id,
        thread.id,
        cause,
        RunStatus.RUNNING if worker else RunStatus.QUEUED,
        work.now,
        input=given,
        attempt=1 if worker else 0,
        started_seq=events[0].seq,
        detached=detached,
    )
    await work.tx.runs.add(run)
    if worker:
        seconds = work.core.policy.lease_seconds
        lease = await work.tx.leases.take(thread.id, run.id, worker, work.now, seconds)
        work.start(Claim(lease, replace(thread, seq=events[-1].seq), run))
    else:
        await work.tx.threads.update(thread.id, work.now, status=ThreadStatus.RUNNING)
        work.wake(run.id)
    return run


async def void_pauses(work: Unit, thread: Thread, by: Principal, reason: str) -> None:
    """End every pause of the thread that still waits, or still has answers to give, so that none reaches the graph."""
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


async def cancel_dropped(work: Unit, thread_id: str, by: Principal, reason: str, *, most: int) -> bool:
    """As `cancel_open`, of a deleted thread: its log has ended, and the requests are dropped with their end."""
    requests = await work.tx.requests.open_of(thread_id, most)
    how = Settlement(RequestStatus.CANCELLED, by, "server", reason=reason)
    ends = [_settled_data(request, how, None) | {"at": spelled(work.now)} for request in requests]
    await work.tx.audit.append_all(thread_id, by, [(f"request.{how.status}", data) for data in ends], work.now)
    for request, data in zip(requests, ends, strict=True):
        await tell(work, WebhookEvent.SETTLED, request, data)
        work.observe(lambda observer, request=request: observer.settled(request, how.status, how.origin, work.now))
    await work.tx.requests.drop([request.id for request in requests])
    return len(requests) == most


def shown(request: Request, value: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as readers may see it: without the values of sensitive variables."""
    if request.kind is not RequestKind.ENV_VAR:
        return dict(value)
    return {"values": value["values"] | dict.fromkeys(value["handles"], HIDDEN), "save": value["save"]}


def readable(request: Request, answer: Answer | None) -> Answer | None:
    """The same, as the whole answer."""
    return answer and replace(answer, value=shown(request, answer.value))


async def _kept(work: Unit, request: Request, how: Settlement) -> dict[str, Any] | None:
    """The answer as it is stored: secret values are sealed apart, and only their handles stay."""
    if how.value is None or request.kind is not RequestKind.ENV_VAR:
        return dict(how.value) if how.value is not None else None
    sensitive = {field["name"] for field in request.body["fields"] if field["sensitive"]}
    values: dict[str, str] = {}
    handles: dict[str, str] = {}
    for name, text in how.value["values"].items():
        if name not in sensitive:
            values[name] = text
            continue
        handles[name] = new_id("sec")
        await work.tx.secrets.put(handles[name], request.thread_id, request.id, name, text, work.now)
    if how.value["save"]:
        await save_values(work, request, how.by, how.value["values"])
    return {"values": values, "handles": handles, "save": how.value["save"]}


async def _remembered(work: Unit, request: Request, how: Settlement, value: Mapping[str, Any]) -> dict[str, Any]:
    assert how.remember is not None
    grant = await remember(work, request, how.by, value, how.remember)
    if grant is None:
        return {}
    return {"remembered": {"grant_id": grant.id, "scope": grant.scope, "duration": grant.duration}}


def _settled_data(request: Request, how: Settlement, value: Mapping[str, Any] | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "request_id": request.id,
        "pause_id": request.pause_id,
        "kind": request.kind,
        "status": how.status,
        "value": shown(request, value) if value is not None else None,
        "by": how.by.name,
        "source": how.source,
        "origin": how.origin,
    }
    if how.reason:
        data["reason"] = how.reason
    if how.origin in (AnswerOrigin.GRANT, AnswerOrigin.SAVED):
        data["provenance"] = dict(how.metadata)
    if request.kind is RequestKind.APPROVAL:
        data |= _approval_data(request, value)
    return data


def _approval_data(request: Request, value: Mapping[str, Any] | None) -> dict[str, Any]:
    tool = request.body["tool_name"]
    data: dict[str, Any] = {"tool": tool, "call_id": request.call_id, "shown": request.digest}
    if value is not None and value["decision"] == "edit":
        data["edited"] = action_digest(tool, value["args"])
    return data


def expiry(request: Request, default: Mapping[str, Any] | None) -> Settlement:
    return Settlement(
        RequestStatus.EXPIRED, SYSTEM, "deadline", value=default, origin=AnswerOrigin.DEFAULT, reason="nobody answered"
    )
