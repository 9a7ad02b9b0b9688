"""Threads: made, listed, looked at, deleted."""

from dataclasses import dataclass, replace
from typing import Any

from interlock.domain.errors import Forbidden, InvalidInput, NothingPending
from interlock.domain.event import EventType
from interlock.domain.ids import is_own_new_thread_id, new_thread_id
from interlock.domain.principal import Principal
from interlock.domain.request import Pause, PauseStatus, Request, RequestStatus, end_of
from interlock.domain.thread import Thread, ThreadStatus
from interlock.ports.agents import Message
from interlock.ports.store import Transaction
from interlock.services.core import Core, Unit, unit
from interlock.services.removing import remove_thread
from interlock.services.settling import readable


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
        raise InvalidInput(f"there is no agent {agent!r}; known: {', '.join(names)}", agent=agent, known=names)
    return agent


async def create_thread(
    core: Core, principal: Principal, *, agent: str | None = None, thread_id: str | None = None, face: str = ""
) -> Thread:
    chosen = check_agent(core, agent)
    async with unit(core) as work:
        return await add_thread(work, principal, chosen, thread_id or new_thread_id(principal.name), face=face)


async def add_thread(
    work: Unit, principal: Principal, agent: str, thread_id: str, title: str = "", *, face: str = ""
) -> Thread:
    if principal.is_agent:
        raise Forbidden("an agent's key may not start threads")
    thread = Thread(thread_id, principal.id, agent, title, ThreadStatus.IDLE, 0, 0, 0, work.now, work.now, face=face)
    await work.tx.threads.add(thread)
    events = await work.record(thread_id, (EventType.THREAD_CREATED, {"agent": agent, "owner": principal.name}))
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
    return await core.agents.history(thread)


async def delete_thread(core: Core, principal: Principal, thread_id: str) -> None:
    async with unit(core) as work:
        await remove_thread(work, principal, driven(principal, await work.tx.threads.lock(thread_id)))


async def open_pause_of(tx: Transaction, thread_id: str) -> tuple[Pause | None, tuple[Request, ...]]:
    pauses = await tx.pauses.of_thread(thread_id, PauseStatus.OPEN, limit=1)
    if not pauses:
        return None, ()
    requests = await tx.requests.of_pauses([pauses[0].id])
    return pauses[0], tuple(request for request in requests if request.status is RequestStatus.PENDING)


async def required_open_pause(tx: Transaction, thread: Thread) -> tuple[Pause, tuple[Request, ...]]:
    pause, requests = await open_pause_of(tx, thread.id)
    if pause is None:
        raise await nothing_pending(tx, thread)
    return pause, requests


async def nothing_pending(tx: Transaction, thread: Thread) -> NothingPending:
    """For a reply to a thread that waits for nobody, with how the last request on it ended: it came after that."""
    pause = await tx.pauses.latest(thread.id)
    requests = await tx.requests.of_pauses([pause.id]) if pause else []
    last = max(requests, key=lambda one: one.settled_at or one.created_at, default=None)
    told: dict[str, Any] = {}
    if last is not None:
        answer = (await tx.answers.of_requests([last.id])).get(last.id)
        told = end_of(last, readable(last, answer))
    return NothingPending("nothing is pending on this thread", status=thread.status, **told)


def visible(principal: Principal, thread: Thread | None) -> Thread:
    """The thread, if it is there and theirs to see; whether it exists is told to nobody else."""
    if thread is None or not principal.may_see(thread):
        raise Forbidden("no such thread, or it is not yours")
    return thread


def driven(principal: Principal, thread: Thread | None) -> Thread:
    if thread is None or not principal.may_drive(thread):
        raise Forbidden("no such thread, or it is not yours")
    return thread


def answerable(principal: Principal, thread: Thread | None) -> Thread:
    if thread is None or not principal.may_answer(thread):
        raise Forbidden("no such thread, or it is not yours")
    return thread


def may_create(principal: Principal, thread_id: str) -> bool:
    """Whether a message to this unused id makes the thread: only one's own name and a UUID do."""
    return not principal.is_agent and is_own_new_thread_id(thread_id, principal.name)
