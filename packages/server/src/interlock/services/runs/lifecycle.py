"""The runner's use cases: claim a run, report what happens in it, pause it, end it. Each is fenced by the lease."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from interlock import failpoints
from interlock.domain.effect import EffectState
from interlock.domain.event import Event, EventData, RunEnded, Token
from interlock.domain.form import Form
from interlock.domain.ids import new_id
from interlock.domain.request import (
    Answer,
    Pause,
    PauseOrigin,
    PauseStatus,
    Request,
)
from interlock.domain.run import Claim, Run, RunCause, RunStatus
from interlock.domain.thread import Lease, ThreadStatus
from interlock.services.core import Core, Unit, unit
from interlock.services.requests.opening import NewRequest, new_request, place
from interlock.services.runs.waiting_runs import start_next


class RunLog:
    """What one run has to tell: entries, kept in order until a transaction takes them along, so that a message costs no
    commit alone, and tokens, which wait for nothing.

    A run that ends by a crash loses what no transaction took; recovery puts finished messages back from the state.
    """

    def __init__(self, core: Core, thread_id: str, seq: int) -> None:
        self._core = core
        self._thread_id = thread_id
        self._seq = seq
        self._part = 0
        self._waiting: list[EventData] = []

    def add(self, entry: EventData) -> None:
        self._waiting.append(entry)

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def take(self) -> list[EventData]:
        taken, self._waiting = self._waiting, []
        return taken

    def restore(self, entries: Sequence[EventData]) -> None:
        """The transaction that took them failed."""
        self._waiting = [*entries, *self._waiting]

    def mark_recorded(self, events: Sequence[Event]) -> None:
        if events:
            self._seq, self._part = events[-1].seq, 0

    def token(self, message_id: str, text: str) -> None:
        self._part += 1
        self._core.bus.publish(self._thread_id, [Token(self._thread_id, self._seq, self._part, message_id, text)])


@dataclass(frozen=True, slots=True)
class PauseResult:
    pause: Pause
    is_open: bool
    """False when grants and saved values settled all of it: the run goes on under the same lease."""
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class SettledPause:
    """A pause whose answers wait to be taken by the graph."""

    pause: Pause
    requests: tuple[Request, ...]
    answers: Mapping[str, Answer]


@dataclass(frozen=True, slots=True)
class ResumeState:
    settled: Sequence[SettledPause] = ()
    has_open_effects: bool = False
    """Whether an effect began and did not end."""
    secrets: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Values that people gave, by handle: the name that was asked for, and the value."""
    forms: Mapping[str, Form | None] = field(default_factory=dict[str, Form | None])
    """By interrupt, the form of what was asked last under its id in this turn, also of what was consumed since."""
    turn: Run | None = None
    """The run that began the turn."""
    calls: Sequence[tuple[Request, Answer | None]] = ()
    """The approvals of tool calls that were settled in this turn, in the order of the asks, with their answers."""


async def claim(core: Core, worker: str, run_id: str | None = None) -> Claim | None:
    """Take the lease of the named queued run, or of the oldest one; None when there is nothing to take.

    A worker that was dismissed takes none: it is about to end, and the run would have to wait for its lease.
    """
    async with unit(core) as work:
        run = await work.tx.runs.next_queued(run_id)
        if run is None or await work.tx.workers.is_dismissed(worker):
            return None
        thread = await work.tx.threads.lock(run.thread_id)
        if thread is None:
            await work.tx.runs.change(run.id, RunStatus.STOPPED, work.now, error="the thread was deleted")
            return None
        lease = await work.tx.leases.take(thread.id, run.id, worker, work.now, core.settings.lease_seconds)
        await work.tx.runs.change(run.id, RunStatus.RUNNING, work.now)
    return Claim(lease, thread, replace(run, status=RunStatus.RUNNING, attempt=run.attempt + 1))


async def renew(core: Core, worker: str, thread_ids: Collection[str]) -> set[str]:
    async with unit(core) as work:
        return await work.tx.leases.renew(worker, thread_ids, work.now, core.settings.lease_seconds)


async def stop_requests(core: Core, run_ids: Collection[str]) -> dict[str, str]:
    async with core.store.snapshot() as tx:
        return await tx.runs.stop_requested(run_ids)


async def take_over(core: Core, *, everything: bool) -> list[str]:
    """Queue again the runs whose worker is gone: at the start of the only server all of them, else those expired."""
    async with unit(core) as work:
        return await work.tx.leases.requeue_lost(None if everything else work.now)


async def load_resume_state(core: Core, run: Run) -> ResumeState:
    """Where the thread stands, before anything of it is run."""
    thread_id = run.thread_id
    async with core.store.snapshot() as tx:
        effects = await tx.effects.of_thread(thread_id, EffectState.INTENDED, EffectState.IN_DOUBT)
        secrets = await tx.secrets.of_thread(thread_id)
        pauses = await tx.pauses.of_thread(thread_id, PauseStatus.SETTLED)
        requests = await tx.requests.of_pauses([pause.id for pause in pauses])
        answers = await tx.answers.of_requests([request.id for request in requests])
        forms = await tx.requests.forms_since_message(thread_id)
        calls = await tx.requests.calls_since_message(thread_id)
        earlier = [request.id for request in calls if request.id not in answers]
        call_answers = {**answers, **(await tx.answers.of_requests(earlier) if earlier else {})}
        turn = run if run.cause is RunCause.MESSAGE else await tx.runs.last_message_of(thread_id)
    by_pause: defaultdict[str, list[Request]] = defaultdict(list)
    for request in requests:
        by_pause[request.pause_id].append(request)
    settled = [SettledPause(pause, tuple(by_pause[pause.id]), answers) for pause in pauses]
    words = [(request, call_answers.get(request.id)) for request in calls]
    return ResumeState(settled, bool(effects), secrets, forms, turn, words)


async def report(core: Core, lease: Lease, log: RunLog) -> None:
    """Write what waits to be told of the run to the thread's log."""
    entries = log.take()
    if not entries:
        return
    try:
        async with unit(core) as work:
            await work.tx.leases.check(lease)
            events = await work.record(lease.thread_id, *entries)
    except BaseException:
        log.restore(entries)
        raise
    log.mark_recorded(events)


async def open_pause(
    core: Core,
    claim: Claim,
    origin: PauseOrigin,
    node: str,
    new_requests: Sequence[NewRequest],
    *,
    before: Sequence[EventData] = (),
    message_count: int | None = None,
    consumed: Collection[str] = (),
    by_people: bool = False,
) -> PauseResult:
    """The run waits: its pause, the requests, the thread's state and the events, all at once.

    What grants and saved values settle is settled here too; where that is all of it, nobody is waited for.
    """
    lease = claim.lease
    async with unit(core) as work:
        pause = Pause(new_id("pause"), lease.thread_id, lease.run_id, PauseStatus.OPEN, origin, node, work.now)
        requests = [
            new_request(core.settings, work.now, claim.thread, pause, position, one)
            for position, one in enumerate(new_requests)
        ]
        await work.tx.leases.check(lease)
        if await work.tx.runs.stop_requested([lease.run_id]):
            # Somebody wanted it stopped while it came to this: nobody is asked.
            return PauseResult(pause, True, await _stop(work, lease, before, consumed, message_count))
        opened = await place(work, claim.thread, pause, requests, before, by_people=by_people)
        await _consume(work, consumed)
        events = opened.events
        if opened.is_open:
            events += await _wait(work, lease, message_count)
        else:
            await work.tx.pauses.change(pause.id, PauseStatus.SETTLED, work.now)
        failpoints.hit("ask.committing")
    failpoints.hit("ask.committed")
    if any(request.deadline for request in requests):
        core.deadline_set.set()
    return PauseResult(pause, opened.is_open, events)


async def finish(
    core: Core,
    lease: Lease,
    status: RunStatus,
    *,
    error: str | None = None,
    before: Sequence[EventData] = (),
    message_count: int | None = None,
    consumed: Collection[str] = (),
    void: Collection[str] = (),
    has_secrets: bool = True,
) -> None:
    """The run has ended, and the thread is free for what waits, or for the next message."""
    async with unit(core) as work:
        is_waited = await work.tx.leases.end(lease, ThreadStatus.IDLE, work.now, message_count)
        for pause_id in void:
            await work.tx.pauses.change(pause_id, PauseStatus.VOID, work.now)
        if has_secrets and status is not RunStatus.FAILED:
            # No task is left that could read them again; a failed run may be retried, and would.
            await work.tx.secrets.destroy_of_thread(lease.thread_id)
        await _end(work, lease, status, [*before, RunEnded(lease.run_id, status, error or None)], consumed, error)
        if is_waited:
            await start_next(work, lease.thread_id)
        failpoints.hit("run.finishing")


async def requeue(core: Core, lease: Lease) -> None:
    """The worker shuts down: whoever starts next goes on with the run."""
    async with unit(core) as work:
        await work.tx.leases.check(lease)
        await work.tx.runs.change(lease.run_id, RunStatus.QUEUED, work.now)
        await work.tx.leases.release(lease)


async def _wait(work: Unit, lease: Lease, message_count: int | None) -> list[Event]:
    await work.tx.leases.end(lease, ThreadStatus.PAUSED, work.now, message_count)
    await work.tx.runs.change(lease.run_id, RunStatus.PAUSED, work.now)
    work.observe(lambda observer: observer.on_run_end(lease.run_id, RunStatus.PAUSED, work.now))
    return await work.record(lease.thread_id, RunEnded(lease.run_id, RunStatus.PAUSED))


async def _stop(
    work: Unit, lease: Lease, before: Sequence[EventData], consumed: Collection[str], message_count: int | None
) -> list[Event]:
    is_waited = await work.tx.leases.end(lease, ThreadStatus.IDLE, work.now, message_count)
    await work.tx.secrets.destroy_of_thread(lease.thread_id)
    entries = [*before, RunEnded(lease.run_id, RunStatus.STOPPED)]
    events = await _end(work, lease, RunStatus.STOPPED, entries, consumed)
    if is_waited:
        await start_next(work, lease.thread_id)
    return events


async def _end(
    work: Unit,
    lease: Lease,
    run_status: RunStatus,
    entries: Sequence[EventData],
    consumed: Collection[str],
    error: str | None = None,
) -> list[Event]:
    work.observe(lambda observer: observer.on_run_end(lease.run_id, run_status, work.now))
    await work.tx.runs.change(lease.run_id, run_status, work.now, error=error)
    await _consume(work, consumed)
    return await work.record(lease.thread_id, *entries)


async def _consume(work: Unit, pause_ids: Collection[str]) -> None:
    for pause_id in pause_ids:
        await work.tx.pauses.change(pause_id, PauseStatus.CONSUMED, work.now)
