"""What people give agents to do, retries of what failed, and stopping what runs."""

from dataclasses import dataclass, replace
from datetime import timedelta

from interlock import failpoints
from interlock.domain.errors import Conflict, Forbidden, InvalidInput, NotShown, ThreadBusy
from interlock.domain.event import RunEnded
from interlock.domain.ids import new_id
from interlock.domain.principal import SYSTEM, Principal
from interlock.domain.request import Pause, PauseStatus
from interlock.domain.run import Run, RunCause, RunStatus, WaitingRun
from interlock.domain.run_input import GraphInput, MessageInput, NoInput
from interlock.domain.thread import Thread, ThreadStatus, title_of
from interlock.services.core import Core, Unit, unit
from interlock.services.requests.settling import cancel_open, void_pauses
from interlock.services.runs.queue import queue_run
from interlock.services.runs.waiting_runs import begin_run, start_next
from interlock.services.threads.threads import (
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
WENT_ON = "the conversation went on"
MOST_WAITING = 100
"""How many runs may wait their turn on one thread."""


@dataclass(frozen=True, slots=True)
class StartedRun:
    thread: Thread
    run: Run
    seq: int
    """The thread's last event before the run."""


@dataclass(frozen=True, slots=True)
class EnqueuedRun:
    thread: Thread
    run: WaitingRun
    seq: int
    """The thread's last event when it was taken."""
    behind: str | None = None
    """The run that was under way then."""


async def send_message(
    core: Core,
    principal: Principal,
    thread_id: str,
    text: str,
    *,
    detached: bool = False,
    agent: str | None = None,
    run_id: str | None = None,
) -> StartedRun:
    """As `send_input`, with a message."""
    return await send_input(
        core, principal, thread_id, MessageInput(text), detached=detached, agent=agent, run_id=run_id
    )


async def send_input(
    core: Core,
    principal: Principal,
    thread_id: str,
    given: MessageInput | GraphInput,
    *,
    detached: bool = False,
    agent: str | None = None,
    run_id: str | None = None,
) -> StartedRun:
    """Start a run with a message or an input. An unused id that is the caller's own makes the thread in the same
    transaction.

    On a thread that runs or waits for people: `ThreadBusy`, with what is pending. `InvalidInput`, with the fields, for
    what the agent's graph does not take. With a `run_id` of `named_run_id` it is taken once: when it comes again, the
    run of the first time is given.
    """
    check_text(given)
    async with unit(core) as work:
        thread = await _lock_or_make(work, principal, thread_id, agent, given)
        if run_id is not None and (taken := await work.tx.runs.get(run_id)) is not None:
            return StartedRun(thread, taken, taken.started_seq - 1)
        run = await take_input(work, principal, thread, given, detached=detached, run_id=run_id)
    failpoints.hit("message.committed")
    return StartedRun(thread, run, thread.seq)


async def _lock_or_make(
    work: Unit, principal: Principal, thread_id: str, agent: str | None, given: MessageInput | GraphInput
) -> Thread:
    """The locked thread that the caller may drive; an unused id that is their own makes it."""
    thread = await work.tx.threads.lock(thread_id)
    if thread is None and may_create(principal, thread_id):
        thread = await _add_thread(work, principal, check_agent(work.core, agent), thread_id, title_of(given.as_text()))
    return driven(principal, thread)


def check_text(given: MessageInput | GraphInput) -> None:
    if isinstance(given, MessageInput) and not given.text.strip():
        raise InvalidInput("the message must not be empty")


def _check_takes(core: Core, thread: Thread, given: MessageInput | GraphInput) -> None:
    if isinstance(given, GraphInput):
        core.agents.check_input(thread.agent, given)


def _check_hosted(thread: Thread) -> None:
    if thread.is_outside:
        raise InvalidInput("the agent of this conversation runs elsewhere: it asks here, and takes no messages")


async def take_input(
    work: Unit,
    principal: Principal,
    thread: Thread,
    given: MessageInput | GraphInput,
    *,
    detached: bool,
    run_id: str | None = None,
) -> Run:
    """Start a run on a locked thread that is free."""
    await _check_free(work, thread)
    _check_takes(work.core, thread, given)
    run = await begin_run(work, principal, thread, given, detached=detached, run_id=run_id)
    failpoints.hit("message.committing")
    return run


async def enqueue_input(
    core: Core,
    principal: Principal,
    thread_id: str,
    given: MessageInput | GraphInput,
    *,
    detached: bool = False,
    agent: str | None = None,
    run_id: str | None = None,
) -> StartedRun | EnqueuedRun:
    """As `send_input`; on a thread that runs or waits for people, the run waits its turn.

    `ThreadBusy` where as many wait as may.
    """
    check_text(given)
    async with unit(core) as work:
        thread = await _lock_or_make(work, principal, thread_id, agent, given)
        if run_id is not None and (taken := await _result_of_repeat(work, thread, run_id)) is not None:
            return taken
        waiting = await work.tx.waiting_runs.count_of(thread_id)
        if thread.status is ThreadStatus.IDLE and not waiting:
            run = await take_input(work, principal, thread, given, detached=detached, run_id=run_id)
            return StartedRun(thread, run, thread.seq)
        _check_hosted(thread)
        _check_takes(core, thread, given)
        if waiting >= MOST_WAITING:
            raise ThreadBusy(f"{MOST_WAITING} runs wait on the thread already", thread_id, thread.status)
        queued = WaitingRun(run_id or new_id("run"), thread_id, given, principal.id, principal.name, work.now, detached)
        await work.tx.waiting_runs.add(queued)
        enqueued = await _enqueued_run(work, thread, queued)
    failpoints.hit("message.committed")
    return enqueued


async def _result_of_repeat(work: Unit, thread: Thread, run_id: str) -> StartedRun | EnqueuedRun | None:
    """What came of an input that comes again."""
    if (run := await work.tx.runs.get(run_id)) is not None:
        return StartedRun(thread, run, run.started_seq - 1)
    waiting = await work.tx.waiting_runs.get(run_id)
    return await _enqueued_run(work, thread, waiting) if waiting else None


async def _enqueued_run(work: Unit, thread: Thread, waiting: WaitingRun) -> EnqueuedRun:
    active = await work.tx.runs.active_of(thread.id)
    return EnqueuedRun(thread, waiting, thread.seq, active.id if active else None)


async def cancel_waiting(core: Core, principal: Principal, thread_id: str, run_id: str) -> bool:
    """Take back a run that waits its turn; False when it does not wait there: it began, or never was."""
    async with unit(core) as work:
        driven(principal, await work.tx.threads.lock(thread_id))
        waiting = await work.tx.waiting_runs.get(run_id)
        return waiting is not None and waiting.thread_id == thread_id and await work.tx.waiting_runs.remove(run_id)


async def retry(
    core: Core,
    principal: Principal,
    thread_id: str,
    *,
    detached: bool = False,
    in_view_for: timedelta = timedelta(),
) -> StartedRun:
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
            raise NotShown("this reply was sent before the failure was shown")
        await work.tx.audit.append(thread_id, principal, "run.retried", {"run_id": last.id}, work.now)
        run = await queue_run(work, thread, RunCause.RETRY, NoInput(), detached=detached)
    return StartedRun(thread, run, thread.seq)


async def stop(core: Core, principal: Principal, thread_id: str, reason: str, *, run_id: str | None = None) -> bool:
    """Ask the thread's run to stop at the next safe point; False when none is running, or not the one that is named."""
    async with unit(core) as work:
        thread = await work.tx.threads.lock(thread_id)
        if thread is None or not (principal is SYSTEM or principal.may_drive(thread)):
            raise Forbidden("no such thread, or it is not yours")
        run = await work.tx.runs.active_of(thread_id)
        if run is None or run_id not in (None, run.id):
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


async def replace_pause(
    core: Core,
    principal: Principal,
    thread_id: str,
    given: MessageInput | GraphInput,
    source: str,
    *,
    detached: bool = False,
    run_id: str | None = None,
) -> StartedRun | EnqueuedRun:
    """As `send_input`; what the thread waits for is cancelled first, in the same transaction.

    `ThreadBusy` where it runs, or where an effect is in doubt: that is answered before anything else is run. One that
    comes again and waits its turn since it came first, goes on waiting.
    """
    check_text(given)
    async with unit(core) as work:
        thread = driven(principal, await work.tx.threads.lock(thread_id))
        if run_id is not None and (taken := await _result_of_repeat(work, thread, run_id)) is not None:
            return taken
        _check_takes(core, thread, given)
        if thread.status is ThreadStatus.PAUSED:
            pause = await _replaceable_pause(work, thread)
            await _cancel_pause(work, thread, pause, principal, WENT_ON, source)
            thread = replace(thread, status=ThreadStatus.IDLE)
        run = await take_input(work, principal, thread, given, detached=detached, run_id=run_id)
    failpoints.hit("message.committed")
    return StartedRun(thread, run, thread.seq)


async def cancel_pause(core: Core, principal: Principal, thread_id: str, source: str) -> Pause | None:
    """Cancel what the thread waits for: nothing of it reaches the agent. None where it waits for nobody.

    `ThreadBusy` where it runs, or where an effect is in doubt.
    """
    async with unit(core) as work:
        thread = driven(principal, await work.tx.threads.lock(thread_id))
        if thread.status is ThreadStatus.IDLE:
            return None
        pause = await _replaceable_pause(work, thread)
        await _end_pause(work, thread, pause, principal, WENT_ON, source)
    return pause


async def _replaceable_pause(work: Unit, thread: Thread) -> Pause:
    _check_hosted(thread)
    pause, requests = await open_pause_of(work.tx, thread.id)
    if pause is None or any(request.is_in_doubt for request in requests):
        message = "an effect is in doubt: answer that first" if pause else "the thread is running"
        raise ThreadBusy(message, thread.id, thread.status, pause, requests)
    return pause


async def _end_pause(work: Unit, thread: Thread, pause: Pause, by: Principal, reason: str, source: str) -> None:
    await _cancel_pause(work, thread, pause, by, reason, source)
    await start_next(work, thread.id)


async def _cancel_pause(work: Unit, thread: Thread, pause: Pause, by: Principal, reason: str, source: str) -> None:
    await cancel_open(work, thread.id, by, reason, source)
    await void_pauses(work, thread, by, reason)
    await work.tx.threads.update(thread.id, work.now, status=ThreadStatus.IDLE)
    await work.tx.secrets.destroy_of_thread(thread.id)
    await work.record(thread.id, RunEnded(pause.run_id, RunStatus.STOPPED))


async def _cancel_some(core: Core, principal: Principal, thread_id: str, reason: str, source: str) -> bool:
    """Of an agent that runs elsewhere any number may be open: others are not kept waiting until all are cancelled."""
    async with unit(core) as work:
        thread = driven(principal, await work.tx.threads.lock(thread_id))
        if await cancel_open(work, thread_id, principal, reason, source, most=CANCELLED_AT_ONCE):
            return True
        await void_pauses(work, thread, principal, reason)
        await work.tx.threads.update(thread_id, work.now, status=ThreadStatus.IDLE)
    return False


async def _add_thread(work: Unit, principal: Principal, agent: str, thread_id: str, title: str) -> Thread | None:
    """The new thread, or the one that another message made of this id meanwhile; None for a deleted one's id."""
    try:
        return await add_thread(work, principal, agent, thread_id, title)
    except Conflict:
        return await work.tx.threads.lock(thread_id)


async def _check_free(work: Unit, thread: Thread) -> None:
    _check_hosted(thread)
    if thread.status is ThreadStatus.IDLE:
        return
    pause, requests = await open_pause_of(work.tx, thread.id)
    raise ThreadBusy(
        "the thread waits for an answer" if pause else "the thread is running",
        thread.id,
        thread.status,
        pause,
        requests,
    )
