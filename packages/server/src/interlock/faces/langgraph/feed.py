"""What one run does: its log, its tokens, and the steps of its graph, which are read from the checkpoints it wrote.

Nothing is stored for the steps: every checkpoint names its run and its number. A follower looks for new ones whenever
the log has grown, or the runner of the same process says that a step was taken.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from interlock.domain.errors import StorageUnavailable
from interlock.domain.event import Event, Partial, RunEnded, RunStarted, ThreadDeleted, Token
from interlock.domain.run import ACTIVE, Run, RunCause, RunStatus
from interlock.domain.thread import Thread
from interlock.faces.http.watching import Watch
from interlock.faces.langgraph.scene import Scene
from interlock.ports.agents import Snapshot, TaskState
from interlock.services.threads.followers import following
from interlock.services.threads.following import follow

PAGE = 8
MOST = 1_000
"""Steps of one run that are told to who comes later."""
QUIET_SECONDS = 3.0
NOTHING_YET = -2
"""Before the first step, which is -1."""


@dataclass(frozen=True, slots=True)
class Step:
    """One checkpoint, and the tasks that led to it."""

    snapshot: Snapshot
    done: Sequence[TaskState] = ()

    @property
    def number(self) -> int:
        return self.snapshot.step

    @property
    def is_input(self) -> bool:
        return self.snapshot.metadata.get("source") == "input"


@dataclass(frozen=True, slots=True)
class Quiet:
    """Nothing was said for a while."""


@dataclass(frozen=True, slots=True)
class Over:
    """Nothing more comes: how the run ended, or why the stream has to."""

    status: RunStatus | None = None
    error: str | None = None
    reason: str | None = None


Item = Event | Token | Partial | Step | Quiet | Over


class Steps:
    """The steps of one run that were not told yet."""

    def __init__(self, scene: Scene, thread: Thread, run_id: str, after: int = NOTHING_YET) -> None:
        self._scene = scene
        self._thread = thread
        self._run_id = run_id
        self.number = after
        self.head: Snapshot | None = None

    async def new(self, *, is_newest: bool) -> list[Step]:
        """In their order. While the run is the newest its steps are the last of the thread."""
        found: list[Snapshot] = []
        size = 2
        while len(found) < MOST:
            page = await self._scene.core.agents.snapshots(
                self._thread,
                size,
                found[-1].checkpoint_id if found else None,
                run_id=None if is_newest else self._run_id,
            )
            found += page
            if len(page) < size or found[-1].run_id != self._run_id or found[-1].step <= self.number:
                break
            size = PAGE
        if is_newest and found:
            self.head = found[0]
        fresh = [one for one in reversed(found) if one.run_id == self._run_id and one.step > self.number]
        return await self._with_tasks(fresh, found) if fresh else []

    async def _with_tasks(self, fresh: Sequence[Snapshot], found: Sequence[Snapshot]) -> list[Step]:
        self.number = fresh[-1].step
        tasks = {one.checkpoint_id: one.tasks for one in found}
        before = fresh[0].parent_id
        if before is not None and before not in tasks:
            # Where an answer went on, the step before it is of the run that asked.
            tasks[before] = (await self._scene.core.agents.snapshot(self._thread, before)).tasks
        return [Step(one, tasks.get(one.parent_id, ())) for one in fresh]


class RunFeed:
    def __init__(
        self, scene: Scene, thread: Thread, run_id: str, after: int, step: int = NOTHING_YET, *, steps: bool = True
    ) -> None:
        self._scene = scene
        self._thread = thread
        self._run_id = run_id
        self.seq = after
        self.steps = Steps(scene, thread, run_id, step)
        self._with_steps = steps
        self._watch = Watch(scene.request)
        self._spoke = time.monotonic()
        self._is_begun = False

    async def items(self) -> AsyncGenerator[Item]:
        """All of it in order; `Over` is the last."""
        core = self._scene.core
        run = await self._run()
        self._is_begun = run is not None and _is_begun(run, self.seq)
        with following(core, self._thread.id):
            try:
                async with aclosing(follow(core, self._thread.id, self.seq)) as items:
                    async for item in items:
                        async for one in self._items_of(item):
                            yield one
                            if isinstance(one, Over):
                                return
            except StorageUnavailable:
                yield Over(reason="unavailable")

    async def _items_of(self, item: Event | Token | Partial | None) -> AsyncGenerator[Item]:
        if isinstance(item, Event):
            self.seq = item.seq
            if isinstance(item.data, RunStarted) and item.data.run_id == self._run_id:
                self._is_begun = True
        is_end = isinstance(item, Event) and self._is_begun and item.ends(self._run_id)
        if self._is_begun:
            for one in await self._new_steps(item, is_end=is_end):
                yield self._heard(one)
            if item is not None and not is_end:
                yield self._heard(item)
        if is_end and isinstance(item, Event):
            yield _over(item)
            return
        if item is None:
            for one in await self._silence():
                yield one
            return
        if reason := await self._watch.reason_to_end(self._thread.id, is_idle=False):
            yield Over(reason=reason)

    async def _silence(self) -> list[Item]:
        idle = await self._idle()
        if isinstance(idle, Over) and idle.status is not None and self._with_steps:
            return [*await self.steps.new(is_newest=False), idle]
        return [idle]

    async def _idle(self) -> Item:
        if reason := await self._watch.reason_to_end(self._thread.id, is_idle=True):
            return Over(reason=reason)
        if time.monotonic() - self._spoke < QUIET_SECONDS:
            return Quiet()
        self._spoke = time.monotonic()
        run = await self._run()
        if run is None and not await self._waits():
            # Its sender may not drive the thread any more: it was dropped when its turn came.
            return Over(RunStatus.STOPPED)
        if run is not None and run.status not in ACTIVE:
            # Whoever joined named a place behind its end.
            return Over(run.status, run.error)
        return Quiet()

    def _heard(self, item: Item) -> Item:
        self._spoke = time.monotonic()
        return item

    async def _new_steps(self, item: Event | Token | Partial | None, *, is_end: bool) -> list[Step]:
        if not self._with_steps or isinstance(item, Partial):
            return []
        if isinstance(item, Token):
            # The first one tells that a node is at work: its name is in the state.
            return await self.steps.new(is_newest=True) if self.steps.head is None else []
        return await self.steps.new(is_newest=not is_end)

    async def _run(self) -> Run | None:
        async with self._scene.core.store.snapshot() as tx:
            return await tx.runs.get(self._run_id)

    async def _waits(self) -> bool:
        async with self._scene.core.store.snapshot() as tx:
            return await tx.waiting_runs.get(self._run_id) is not None


def _is_begun(run: Run, after: int) -> bool:
    """Whether the event that tells of its beginning was passed; before a message's run stands the message."""
    return after > run.started_seq if run.cause is RunCause.MESSAGE else after >= run.started_seq


def _over(event: Event) -> Over:
    match event.data:
        case RunEnded(status=status, error=error):
            return Over(status, error)
        case ThreadDeleted():
            return Over(reason="deleted")
        case _:
            return Over(RunStatus.DONE)
