"""Everything that is on record of one conversation, as one JSON document, without any secret.

Of a deleted one the audit trail is left. The document's trail has the form of an audit export and is checked as one.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from interlock.domain import event_json
from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.canonical import canonical_json
from interlock.domain.effect import Effect, EffectState
from interlock.domain.errors import NotFound
from interlock.domain.event import Event
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.moment import to_iso
from interlock.domain.request import Answer, Pause, PauseStatus, PublicRequest, Request
from interlock.domain.run import Run, WaitingRun
from interlock.domain.thread import Thread
from interlock.ports.store import Transaction
from interlock.services.audit import export as audit_export
from interlock.services.core import Core

FORMAT = "interlock.thread"
PAGE = 1_000


@dataclass(frozen=True, slots=True)
class ListedThread:
    thread: Thread
    owner: str


async def list_newest(core: Core, limit: int) -> list[ListedThread]:
    """Everybody's threads, the one last touched first."""
    async with core.store.snapshot() as tx:
        found = await tx.threads.newest(limit)
        names = await tx.users.names_of({thread.owner_id for thread in found})
    return [ListedThread(thread, names.get(thread.owner_id, thread.owner_id)) for thread in found]


async def export_thread(core: Core, thread_id: str) -> str:
    """The document, on one line; `NotFound` when there is nothing of such a thread."""
    at = core.clock.now()
    async with core.store.snapshot() as tx:
        thread = await tx.threads.get(thread_id)
        if thread is None and (thread_id == SERVER_CHAIN or not await audit_export.has_trail(tx, thread_id)):
            raise NotFound(f"there is no thread {thread_id!r}; `interlock threads list` shows those that there are")
        return canonical_json(
            {
                "format": FORMAT,
                "exported_at": to_iso(at),
                "id": thread_id,
                "thread": await _thread(tx, thread) if thread else None,
                "runs": [_run(run) for run in await tx.runs.of_thread(thread_id)],
                "waiting_runs": [_waiting_run(run) for run in await tx.waiting_runs.of_thread(thread_id)],
                "pauses": await _pauses(tx, thread_id),
                "effects": [_effect(effect) for effect in await tx.effects.of_thread(thread_id, *EffectState)],
                "events": await _events(tx, thread_id),
                "audit": [json.loads(line) async for line in audit_export.lines(tx, at, thread_id)],
            }
        )


def trail_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines of an audit export, also where they come inside of a thread's document."""
    for line in lines:
        document = _document(line)
        if document is None:
            yield line
        else:
            yield from map(canonical_json, document["audit"])


def _document(line: str) -> JsonObject | None:
    try:
        read: JsonValue = json.loads(line)
        return read if read["format"] == FORMAT and isinstance(read["audit"], list) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


async def _thread(tx: Transaction, thread: Thread) -> JsonObject:
    names = await tx.users.names_of({thread.owner_id})
    return {
        "id": thread.id,
        "owner_id": thread.owner_id,
        "owner": names.get(thread.owner_id),
        "agent": thread.agent,
        "asker_id": thread.asker_id,
        "face": thread.face,
        "title": thread.title,
        "metadata": thread.metadata,
        "status": thread.status,
        "last_event": thread.seq,
        "message_count": thread.message_count,
        "created_at": to_iso(thread.created_at),
        "updated_at": to_iso(thread.updated_at),
    }


def _run(run: Run) -> JsonObject:
    return {
        "id": run.id,
        "cause": run.cause,
        "status": run.status,
        "attempt": run.attempt,
        "first_event": run.started_seq,
        "stop_reason": run.stop_reason,
        "error": run.error,
        "created_at": to_iso(run.created_at),
    }


def _waiting_run(run: WaitingRun) -> JsonObject:
    return {"id": run.id, "by_id": run.by_id, "by": run.by_name, "created_at": to_iso(run.created_at)}


async def _pauses(tx: Transaction, thread_id: str) -> list[JsonObject]:
    found = [pause for status in PauseStatus for pause in await tx.pauses.of_thread(thread_id, status)]
    found.sort(key=lambda pause: (pause.opened_seq or 0, pause.id))
    requests = await tx.requests.of_pauses([pause.id for pause in found])
    answers = await tx.answers.of_requests([request.id for request in requests])
    by_pause: defaultdict[str, list[Request]] = defaultdict(list)
    for request in requests:
        by_pause[request.pause_id].append(request)
    return [_pause(pause, by_pause[pause.id], answers) for pause in found]


def _pause(pause: Pause, requests: list[Request], answers: dict[str, Answer]) -> JsonObject:
    return {
        "id": pause.id,
        "run_id": pause.run_id,
        "status": pause.status,
        "origin": pause.origin,
        "node": pause.node,
        "event": pause.opened_seq,
        "created_at": to_iso(pause.created_at),
        "requests": [_request(request, answers.get(request.id)) for request in requests],
    }


def _request(request: Request, answer: Answer | None) -> JsonObject:
    ending = request.ending
    return {
        **PublicRequest.of(request).to_json(),
        "status": request.status,
        "shown": request.digest,
        "settled_at": to_iso(request.settled_at) if request.settled_at else None,
        "ended_by": ending and {"by": ending.by, "source": ending.source, "reason": ending.reason},
        "answer": answer and _answer(answer),
    }


def _answer(answer: Answer) -> JsonObject:
    return {
        "value": answer.readable().value.to_json(),
        "by_id": answer.by_id,
        "by": answer.by_name,
        "source": answer.source,
        "origin": answer.origin,
        "at": to_iso(answer.at),
        "metadata": answer.metadata,
    }


def _effect(effect: Effect) -> JsonObject:
    """Without its arguments and its result: those may hold what a person gave in confidence."""
    return {
        "task_id": effect.key.task_id,
        "call_id": effect.key.call_id,
        "run_id": effect.run_id,
        "tool": effect.tool,
        "digest": effect.digest,
        "state": effect.state,
        "idempotent": effect.idempotent,
        "created_at": to_iso(effect.created_at),
        "updated_at": to_iso(effect.updated_at),
    }


async def _events(tx: Transaction, thread_id: str) -> list[JsonObject]:
    found: list[Event] = []
    while page := await tx.events.after(thread_id, found[-1].seq if found else 0, PAGE):
        found += page
    return [
        {"seq": one.seq, "type": one.type, "data": event_json.to_json(one.data), "at": to_iso(one.at)} for one in found
    ]
