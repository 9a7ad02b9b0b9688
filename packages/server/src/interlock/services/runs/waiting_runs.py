"""Runs that wait their turn: the next one starts in the transaction that ends the one before.

A run waits behind those that run, and behind a pause until that is settled and its run has ended.
"""

from dataclasses import replace

from interlock import failpoints
from interlock.domain.event import UserMessage
from interlock.domain.ids import new_id
from interlock.domain.principal import Principal, Role, principal_of
from interlock.domain.run import Run, RunCause, WaitingRun
from interlock.domain.run_input import GraphInput, MessageInput
from interlock.domain.thread import Thread, ThreadStatus, title_of
from interlock.services.core import Core, Unit, unit
from interlock.services.requests.settling import void_pauses
from interlock.services.runs.queue import queue_run

AT_ONCE = 20


async def begin_run(
    work: Unit,
    by: Principal,
    thread: Thread,
    given: MessageInput | GraphInput,
    *,
    detached: bool,
    run_id: str | None = None,
) -> Run:
    """Start a run with something new on a locked thread that is idle."""
    # Answers of a run that failed are not for the turn that begins now.
    await void_pauses(work, thread, by, "the conversation went on")
    text = given.as_text()
    if not thread.title:
        await work.tx.threads.update(thread.id, work.now, title=title_of(text))
    message = UserMessage(text, by.name)
    return await queue_run(
        work, thread, RunCause.MESSAGE, given, detached=detached, before=(message,), run_id=run_id or new_id("run")
    )


async def start_next(work: Unit, thread_id: str) -> Run | None:
    """Start what waits first, if the thread is idle; None when nothing does, or nothing may."""
    thread = await work.tx.threads.lock(thread_id)
    while thread is not None and thread.status is ThreadStatus.IDLE:
        waiting = await work.tx.waiting_runs.first_of(thread_id)
        if waiting is None:
            return None
        await work.tx.waiting_runs.remove(waiting.id)
        by = await _sender(work, thread, waiting)
        if by is not None:
            run = await begin_run(work, by, thread, waiting.input, detached=waiting.detached, run_id=waiting.id)
            failpoints.hit("run.promoting")
            return run
    return None


async def start_stranded(core: Core) -> None:
    """Start what waits on threads that are idle: the run before it was ended by a server that knows of none waiting."""
    async with core.store.snapshot() as tx:
        found = await tx.waiting_runs.list_stranded(AT_ONCE)
    for thread_id in found:
        async with unit(core) as work:
            await start_next(work, thread_id)


async def _sender(work: Unit, thread: Thread, waiting: WaitingRun) -> Principal | None:
    """Who sent it; None when they may not any more."""
    user = await work.tx.users.get(waiting.by_id)
    if user is None:
        # A server without accounts keeps nobody.
        return Principal(waiting.by_id, waiting.by_name, Role.OWNER)
    by = replace(principal_of(user), name=waiting.by_name)
    return by if user.is_allowed and by.may_drive(thread) else None
