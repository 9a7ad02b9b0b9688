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
from interlock.services.threads.followers import count_follower
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
    space: str = ""
    """The namespace of the graph inside that took it."""

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
    """The steps of one run that were not told yet, of its graph or of one inside."""

    def __init__(self, scene: Scene, thread: Thread, run_id: str, after: int = NOTHING_YET, space: str = "") -> None:
        self._scene = scene
        self._thread = thread
        self._run_id = run_id
        self._space = space
        self.number = after
        self.head: Snapshot | None = None
        self.told: Snapshot | None = None
        """The last one."""

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
                space=self._space,
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
        self.number, self.told = fresh[-1].step, fresh[-1]
        tasks = {one.checkpoint_id: one.tasks for one in found}
        before = fresh[0].parent_id
        if before is not None and before not in tasks:
            # Where an answer went on, the step before it is of the run that asked.
            tasks[before] = (await self._scene.core.agents.snapshot(self._thread, before, space=self._space)).tasks
        return [Step(one, tasks.get(one.parent_id, ()), self._space) for one in fresh]


class InnerSteps:
    """The steps of graphs inside, each of them before the step of the graph around it that ends it."""

    def __init__(self, scene: Scene, thread: Thread, run_id: str) -> None:
        self._scene = scene
        self._thread = thread
        self._run_id = run_id
        self._steps: dict[str, Steps] = {}

    async def among(self, steps: Sequence[Step], source: Steps, space: str = "") -> list[Step]:
        """These new steps, with those inside: of what each of them ended, and of what is under way after the last."""
        found: list[Step] = []
        for step in steps:
            found += await self._of(step.done)
            found.append(step)
        stand = source.told or await self._stand(space)
        if stand is None or (stand.run_id == self._run_id and stand.step > source.number):
            # It has taken steps that are to be told first: of a run that others followed they come with its end.
            return found
        return found + await self._of(stand.tasks)

    async def _of(self, tasks: Sequence[TaskState]) -> list[Step]:
        found: list[Step] = []
        for space in [one.space for one in tasks if one.space]:
            steps = self._steps.setdefault(space, Steps(self._scene, self._thread, self._run_id, space=space))
            found += await self.among(await steps.new(is_newest=False), steps, space)
        return found

    async def _stand(self, space: str) -> Snapshot | None:
        """Where the run found its graph, which has not taken a step since: an answer may be for a graph inside."""
        later, before = await self._later(), None
        while True:
            page = await self._scene.core.agents.snapshots(self._thread, PAGE, before, space=space)
            for one in page:
                if one.run_id not in later:
                    return one
            if len(page) < PAGE:
                return None
            before = page[-1].checkpoint_id

    async def _later(self) -> set[str]:
        async with self._scene.core.store.snapshot() as tx:
            runs = await tx.runs.newest(self._thread.id, MOST)
        ids = [one.id for one in runs]
        return set(ids[: ids.index(self._run_id)] if self._run_id in ids else ())


class RunFeed:
    def __init__(
        self,
        scene: Scene,
        thread: Thread,
        run_id: str,
        after: int,
        step: int = NOTHING_YET,
        *,
        steps: bool = True,
        inner: bool = False,
    ) -> None:
        self._scene = scene
        self._thread = thread
        self._run_id = run_id
        self.seq = after
        self.steps = Steps(scene, thread, run_id, step)
        self._inner = InnerSteps(scene, thread, run_id) if inner else None
        self._with_steps = steps
        self._watch = Watch(scene.request)
        self._spoke = time.monotonic()
        self._is_begun = False

    async def items(self) -> AsyncGenerator[Item]:
        """All of it in order; `Over` is the last."""
        core = self._scene.core
        run = await self._run()
        self._is_begun = run is not None and _is_begun(run, self.seq)
        with count_follower(core, self._thread.id):
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
            return [*await self._read(is_newest=False), idle]
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
        return await self._read(is_newest=not is_end)

    async def _read(self, *, is_newest: bool) -> list[Step]:
        steps = await self.steps.new(is_newest=is_newest)
        return steps if self._inner is None else await self._inner.among(steps, self.steps)

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
