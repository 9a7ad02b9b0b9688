"""Threads: made, listed, looked at, deleted."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace

from interlock.domain.errors import Forbidden, InvalidInput, NothingPending, ThreadBusy
from interlock.domain.event import AssistantMessage, ThreadCreated, UserMessage
from interlock.domain.ids import is_own_new_thread_id, new_thread_id
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.principal import Principal, Role
from interlock.domain.request import Pause, PauseStatus, Request, RequestEnd, RequestStatus
from interlock.domain.thread import Thread, ThreadStatus
from interlock.domain.thread_metadata import check_metadata, merge
from interlock.ports.agents import Message
from interlock.ports.filters import LAST_TOUCHED_FIRST, ThreadFilter, ThreadOrder
from interlock.ports.store import Transaction
from interlock.services.core import Core, Unit, unit
from interlock.services.threads.removal import remove_thread

PAGE = 500
MOST_FOUND = 1_001
"""A page of a thousand, and one more that says whether there are more."""
MOST_SKIPPED = 1_000_000
ANY_THREAD = ThreadFilter()
NOT_YOURS = "no such thread, or it is not yours"


@dataclass(frozen=True, slots=True)
class ThreadView:
    """A thread and, while it waits for people, what it waits for."""

    thread: Thread
    pause: Pause | None = None
    open_requests: tuple[Request, ...] = ()


def check_agent(core: Core, agent: str | None) -> str:
    names = core.agents.names
    if agent is None:
        return names[0]
    if agent not in names:
        raise InvalidInput(f"there is no agent {agent!r}; known: {', '.join(names)}")
    return agent


async def create_thread(
    core: Core,
    principal: Principal,
    *,
    agent: str | None = None,
    thread_id: str | None = None,
    face: str = "",
    metadata: Mapping[str, JsonValue] | None = None,
) -> Thread:
    chosen, noted = check_agent(core, agent), check_metadata(metadata or {})
    new_id = thread_id or new_thread_id(principal.name)
    async with unit(core) as work:
        return await add_thread(work, principal, chosen, new_id, face=face, metadata=noted)


async def merge_metadata(core: Core, principal: Principal, thread_id: str, metadata: Mapping[str, JsonValue]) -> Thread:
    """Note more on a thread, key by key; it is touched by that."""
    async with unit(core) as work:
        thread = driven(principal, await work.tx.threads.lock(thread_id))
        merged_metadata = merge(thread.metadata, metadata)
        await work.tx.threads.update(thread_id, work.now, metadata=merged_metadata)
    return replace(thread, metadata=merged_metadata, updated_at=work.now)


async def search_threads(
    core: Core,
    principal: Principal,
    query: ThreadFilter = ANY_THREAD,
    *,
    offset: int = 0,
    limit: int = 10,
    order: ThreadOrder = LAST_TOUCHED_FIRST,
) -> list[Thread]:
    """Of the threads that the caller may see, those that the filter means."""
    if not 1 <= limit <= MOST_FOUND or not 0 <= offset <= MOST_SKIPPED:
        raise InvalidInput(f"limit must be from 1 to {MOST_FOUND}, and offset from 0 to {MOST_SKIPPED}")
    seen = _restrict_to(principal, query)
    async with core.store.snapshot() as tx:
        return await tx.threads.search(seen, offset, limit, order)


async def count_threads(core: Core, principal: Principal, query: ThreadFilter = ANY_THREAD) -> int:
    """How many `search_threads` finds, on all pages."""
    seen = _restrict_to(principal, query)
    async with core.store.snapshot() as tx:
        return await tx.threads.count(seen)


def _restrict_to(principal: Principal, query: ThreadFilter) -> ThreadFilter:
    query = replace(query, metadata=check_metadata(query.metadata))
    if principal.is_agent:
        return replace(query, asker_id=principal.id)
    if principal.role is Role.ADMIN:
        return query
    reviews = principal.reviews if principal.role is Role.REVIEWER else ()
    return replace(query, owner_id=principal.id, reviews=reviews)


async def add_thread(
    work: Unit,
    principal: Principal,
    agent: str,
    thread_id: str,
    title: str = "",
    *,
    face: str = "",
    metadata: JsonObject | None = None,
) -> Thread:
    if principal.is_agent:
        raise Forbidden("an agent's key may not start threads")
    now, noted = work.now, metadata or {}
    thread = Thread(
        thread_id, principal.id, agent, title, ThreadStatus.IDLE, 0, 0, 0, now, now, face=face, metadata=noted
    )
    await work.tx.threads.add(thread)
    events = await work.record(thread_id, ThreadCreated(agent, principal.name))
    return replace(thread, seq=events[-1].seq)


async def list_threads(core: Core, principal: Principal, offset: int, limit: int) -> tuple[list[Thread], int]:
    async with core.store.snapshot() as tx:
        return await tx.threads.page(principal.id, offset, limit)


async def view_thread(core: Core, principal: Principal, thread_id: str) -> ThreadView:
    async with core.store.snapshot() as tx:
        thread = visible(principal, await tx.threads.get(thread_id))
        pause, requests = await open_pause_of(tx, thread_id)
    return ThreadView(thread, pause, requests)


async def is_visible(core: Core, principal: Principal, thread_id: str) -> bool:
    async with core.store.snapshot() as tx:
        thread = await tx.threads.get(thread_id)
    return thread is not None and principal.may_see(thread)


async def history(core: Core, principal: Principal, thread_id: str) -> list[Message]:
    async with core.store.snapshot() as tx:
        thread = visible(principal, await tx.threads.get(thread_id))
    return await conversation(core, thread)


async def conversation(core: Core, thread: Thread) -> list[Message]:
    """The thread's messages. Where the agent's graph keeps none, what its runs were given and what came of them."""
    if core.agents.has_messages(thread.agent):
        return await core.agents.history(thread)
    messages: list[Message] = []
    seq = 0
    while True:
        async with core.store.snapshot() as tx:
            page = await tx.events.after(thread.id, seq, PAGE)
        for event in page:
            seq = event.seq
            match event.data:
                case UserMessage(text=text):
                    messages.append(Message("user", text))
                case AssistantMessage(text=text):
                    messages.append(Message("assistant", text))
                case _:
                    pass
        if len(page) < PAGE:
            return messages


async def delete_thread(core: Core, principal: Principal, thread_id: str) -> None:
    async with unit(core) as work:
        await remove_thread(work, principal, driven(principal, await work.tx.threads.lock(thread_id)))


async def open_pause_of(tx: Transaction, thread_id: str) -> tuple[Pause | None, tuple[Request, ...]]:
    pauses = await tx.pauses.of_thread(thread_id, PauseStatus.OPEN, limit=1)
    if not pauses:
        return None, ()
    requests = await tx.requests.of_pauses([pauses[0].id])
    return pauses[0], tuple(request for request in requests if request.status is RequestStatus.PENDING)


async def require_open_pause(tx: Transaction, thread: Thread) -> tuple[Pause, tuple[Request, ...]]:
    pause, requests = await open_pause_of(tx, thread.id)
    if pause is None:
        raise await nothing_pending(tx, thread)
    return pause, requests


async def nothing_pending(tx: Transaction, thread: Thread) -> NothingPending:
    """For a reply to a thread that waits for nobody, with how the last request on it ended: it came after that."""
    pauses = await tx.pauses.newest(thread.id, 1)
    requests = await tx.requests.of_pauses([pauses[0].id]) if pauses else []
    last = max(requests, key=lambda one: one.settled_at or one.created_at, default=None)
    answer = (await tx.answers.of_requests([last.id])).get(last.id) if last else None
    end = RequestEnd.of(last, answer) if last else None
    return NothingPending("nothing is pending on this thread", thread.status, end)


def visible(principal: Principal, thread: Thread | None, refusal: str = NOT_YOURS) -> Thread:
    """The thread, if it is there and theirs to see; whether it exists is told to nobody else."""
    if thread is None or not principal.may_see(thread):
        raise Forbidden(refusal)
    return thread


def driven(principal: Principal, thread: Thread | None) -> Thread:
    if thread is None or not principal.may_drive(thread):
        raise Forbidden(NOT_YOURS)
    return thread


def answerable(principal: Principal, thread: Thread | None) -> Thread:
    if thread is None or not principal.may_answer(thread):
        raise Forbidden(NOT_YOURS)
    return thread


def may_create(principal: Principal, thread_id: str) -> bool:
    """Whether a message to this unused id makes the thread: only one's own name and a UUID do."""
    return not principal.is_agent and is_own_new_thread_id(thread_id, principal.name)


async def copy_thread(core: Core, principal: Principal, thread_id: str) -> Thread:
    """A new thread of the caller's, with the state of this one and its past. `ThreadBusy` unless that is at rest.

    What it waits for is not copied: a person would be asked twice, or an answer would go to one of the two.
    """
    source = await _at_rest(core, principal, thread_id)
    copy = await create_thread(
        core, principal, agent=source.agent, thread_id=str(uuid.uuid4()), metadata=source.metadata
    )
    await core.agents.copy_state(source, copy)
    try:
        now = await _at_rest(core, principal, thread_id)
        if now.epoch != source.epoch:
            raise ThreadBusy("a run began meanwhile", thread_id, now.status)
    except (ThreadBusy, Forbidden):
        await delete_thread(core, principal, copy.id)
        raise
    async with unit(core) as work:
        await work.tx.audit.append(copy.id, principal, "thread.copied", {"from": thread_id}, work.now)
    return copy


async def _at_rest(core: Core, principal: Principal, thread_id: str) -> Thread:
    async with core.store.snapshot() as tx:
        thread = driven(principal, await tx.threads.get(thread_id))
    if thread.status is not ThreadStatus.IDLE:
        raise ThreadBusy("the thread runs, or waits for an answer", thread_id, thread.status)
    return thread
