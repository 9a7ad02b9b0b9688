"""Messages of people to agents, retries of what failed, and stopping what runs."""

from dataclasses import dataclass
from datetime import timedelta

from interlock import failpoints
from interlock.domain.errors import Conflict, Forbidden, InvalidInput, NotShown, ThreadBusy
from interlock.domain.event import EventType
from interlock.domain.principal import SYSTEM, Principal
from interlock.domain.request import Pause, PauseStatus
from interlock.domain.run import Run, RunCause, RunStatus
from interlock.domain.thread import Thread, ThreadStatus, title_of
from interlock.services.core import Core, Unit, unit
from interlock.services.settling import cancel_open, queue_run, void_pauses
from interlock.services.threads import (
    add_thread,
    answerable,
    check_agent,
    driven,
    may_create,
    nothing_pending,
    open_pause_of,
)

FAILURE_VIEW = timedelta(seconds=1)
"""How long a failure has to stand before a reply that names nothing may mean it."""
CANCELLED_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Started:
    thread: Thread
    run: Run
    seq: int
    """The thread's last event before the run."""


async def send_message(
    core: Core,
    principal: Principal,
    thread_id: str,
    text: str,
    *,
    detached: bool = False,
    agent: str | None = None,
) -> Started:
    """Start a run with a message. An unused id that is the caller's own makes the thread in the same transaction.

    On a thread that runs or waits for people: `ThreadBusy`, with what is pending.
    """
    check_text(text)
    async with unit(core) as work:
        thread = await work.tx.threads.lock(thread_id)
        if thread is None and may_create(principal, thread_id):
            thread = await _added(work, principal, check_agent(core, agent), thread_id, title_of(text))
        thread = driven(principal, thread)
        run = await take_message(work, principal, thread, text, detached=detached)
    failpoints.hit("message.committed")
    return Started(thread, run, thread.seq)


def check_text(text: str) -> None:
    if not text.strip():
        raise InvalidInput("the message must not be empty")


async def take_message(
    work: Unit, principal: Principal, thread: Thread, text: str, *, detached: bool, system: str | None = None
) -> Run:
    """Start a run with a message on a locked thread that is free. `system` is heeded by the first one only."""
    await _check_free(work, thread)
    # Answers of a run that failed are not for the turn that begins now.
    await void_pauses(work, thread, principal, "the conversation went on")
    if not thread.title:
        await work.tx.threads.update(thread.id, work.now, title=title_of(text))
    said = (EventType.USER_MESSAGE, {"text": text, "by": principal.name})
    given = {"text": text, **({"system": system} if system else {})}
    run = await queue_run(work, thread, RunCause.MESSAGE, given, detached=detached, before=(said,))
    failpoints.hit("message.committing")
    return run


async def retry(
    core: Core,
    principal: Principal,
    thread_id: str,
    *,
    detached: bool = False,
    in_view_for: timedelta = timedelta(),
) -> Started:
    """Go on from where the last run failed, with the answers on record; nobody is asked again.

    `NothingPending` unless the last run failed after an answer; `NotShown` when it failed less than `in_view_for` ago:
    then a reply that names nothing is the second half of a double click.
    """
    async with unit(core) as work:
        thread = answerable(principal, await work.tx.threads.lock(thread_id))
        await _check_free(work, thread)
        last = await work.tx.runs.last_of(thread_id)
        settled = await work.tx.pauses.of_thread(thread_id, PauseStatus.SETTLED)
        if last is None or last.status is not RunStatus.FAILED or not settled:
            raise await nothing_pending(work.tx, thread)
        if work.now - thread.updated_at < in_view_for:
            raise NotShown("this reply was sent before the failure was shown", status=thread.status)
        await work.tx.audit.append(thread_id, principal, "run.retried", {"run_id": last.id}, work.now)
        run = await queue_run(work, thread, RunCause.RETRY, {}, detached=detached)
    return Started(thread, run, thread.seq)


async def stop(core: Core, principal: Principal, thread_id: str, reason: str) -> bool:
    """Ask the thread's run to stop at the next safe point; False when none is running."""
    async with unit(core) as work:
        thread = await work.tx.threads.lock(thread_id)
        if thread is None or not (principal is SYSTEM or principal.may_drive(thread)):
            raise Forbidden("no such thread, or it is not yours")
        run = await work.tx.runs.active_of(thread_id)
        if run is None:
            return False
        await work.tx.runs.request_stop(run.id, reason)
        work.stop(run.id)
    return True


async def interrupt(core: Core, principal: Principal, thread_id: str, reason: str, source: str) -> bool:
    """Stop what runs on the thread, or cancel what it waits for: the agent does not go on, and the next message does.

    True when the log tells of it, at once or when the tool under way has ended; False when there was nothing to stop.
    """
    async with unit(core) as work:
        thread = driven(principal, await work.tx.threads.lock(thread_id))
        run = await work.tx.runs.active_of(thread_id)
        if run is not None:
            await work.tx.runs.request_stop(run.id, reason)
            work.stop(run.id)
            return True
        pauses = await work.tx.pauses.of_thread(thread_id, PauseStatus.OPEN, limit=1)
        if not pauses:
            return False
        if not thread.is_outside:
            await _end_pause(work, thread, pauses[0], principal, reason, source)
            return True
    while await _cancel_some(core, principal, thread_id, reason, source):
        pass
    return False


async def _end_pause(work: Unit, thread: Thread, pause: Pause, by: Principal, reason: str, source: str) -> None:
    await cancel_open(work, thread.id, by, reason, source)
    await void_pauses(work, thread, by, reason)
    await work.tx.threads.update(thread.id, work.now, status=ThreadStatus.IDLE)
    await work.tx.secrets.destroy_of_thread(thread.id)
    await work.record(thread.id, (EventType.RUN_ENDED, {"run_id": pause.run_id, "status": RunStatus.STOPPED}))


async def _cancel_some(core: Core, principal: Principal, thread_id: str, reason: str, source: str) -> bool:
    """Of an agent that runs elsewhere any number may be open: others are not kept waiting until all are cancelled."""
    async with unit(core) as work:
        thread = driven(principal, await work.tx.threads.lock(thread_id))
        if await cancel_open(work, thread_id, principal, reason, source, most=CANCELLED_AT_ONCE):
            return True
        await void_pauses(work, thread, principal, reason)
        await work.tx.threads.update(thread_id, work.now, status=ThreadStatus.IDLE)
    return False


async def _added(work: Unit, principal: Principal, agent: str, thread_id: str, title: str) -> Thread | None:
    """The new thread, or the one that another message made of this id meanwhile; None for a deleted one's id."""
    try:
        return await add_thread(work, principal, agent, thread_id, title)
    except Conflict:
        return await work.tx.threads.lock(thread_id)


async def _check_free(work: Unit, thread: Thread) -> None:
    if thread.is_outside:
        raise InvalidInput("the agent of this conversation runs elsewhere: it asks here, and takes no messages")
    if thread.status is ThreadStatus.IDLE:
        return
    pause, requests = await open_pause_of(work.tx, thread.id)
    raise ThreadBusy(
        "the thread waits for an answer" if pause else "the thread is running",
        thread_id=thread.id,
        status=thread.status,
        pause=pause,
        requests=requests,
    )
