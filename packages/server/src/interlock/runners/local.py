"""The runner in the server's own process: claims what is queued, keeps the leases, drains what is to stop."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Generator
from typing import Any, cast

from interlock import failpoints
from interlock.agents.context import current
from interlock.agents.effects import install
from interlock.domain.errors import LeaseLost, StorageUnavailable
from interlock.domain.run import Claim, RunStatus
from interlock.runners.gates import watch_gates
from interlock.runners.graph_run import GraphRun
from interlock.runners.hosting import HostedAgents
from interlock.runners.quiet_logs import silence_logs
from interlock.runners.secret_values import ThreadSecrets
from interlock.services.core import Core
from interlock.services.runs import lifecycle
from interlock.services.runs.waiting_runs import start_stranded

SWEEP_SECONDS = 1.0
"""How soon work is found of which nobody was told: a wake-up lost, a worker gone."""

MOST_ATTEMPTS = 20
"""A run that brings the server down each time it is tried must not do so for ever."""

logger = logging.getLogger(__name__)


class LocalRunner:
    def __init__(self, core: Core, agents: HostedAgents, worker: str, *, shared: bool, capacity: int = 64) -> None:
        self._core = core
        self._agents = agents
        self.worker = worker
        self._shared = shared
        self.capacity = capacity
        self._free = capacity
        self._has_backlog = False
        self._runs: dict[str, GraphRun] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._executing: dict[str, asyncio.Task[None]] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._closing = False
        self._memory = ThreadSecrets()

    async def start(self) -> None:
        install()
        watch_gates()
        silence_logs()
        contain(asyncio.get_running_loop())
        await lifecycle.take_over(self._core, everything=not self._shared)
        self._loops = [asyncio.create_task(self._repeat(loop, seconds)) for loop, seconds in self._duties()]

    async def close(self) -> None:
        """Drain: the tools under way end and are recorded, and the runs wait for whoever starts next."""
        self._closing = True
        await _cancel_all(*self._loops[:1])
        for run in list(self._runs.values()):
            run.drain("the server shuts down", requeue=True)
        # A tool may take longer than its lease: another worker that took it over would find it cut short.
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await _cancel_all(*self._loops)

    def reserve(self) -> str | None:
        if self._closing or failpoints.is_on("wake.off"):
            return None
        if not self._free:
            self._has_backlog = True
            return None
        self._free -= 1
        return self.worker

    def give_back(self) -> None:
        self._free += 1
        if self._has_backlog and not self._closing:
            self._has_backlog = False
            self._spawn(self._claim_queued())

    def take(self, claim: Claim) -> None:
        failpoints.hit("run.claimed")
        if before := self._executing.get(claim.run.id):
            # Its lease ran out, and the run came back to this worker: the earlier attempt can commit nothing any more.
            before.cancel()
        self._executing[claim.run.id] = self._spawn(self._run(claim))

    def wake(self, run_id: str) -> None:
        self._spawn(self._claim_queued(run_id))

    def stop(self, run_id: str) -> None:
        if run := self._runs.get(run_id):
            run.drain("it was asked to stop")

    @property
    def run_count(self) -> int:
        return len(self._executing)

    async def listen(self) -> None:
        """Begin and stop what servers elsewhere call for; who misses a call finds the work in the store."""
        async with self._core.bus.calls() as calls:
            while True:
                call = await calls.next(SWEEP_SECONDS)
                if call is None:
                    continue
                if call.is_stop:
                    self.stop(call.run_id)
                else:
                    self.wake(call.run_id)

    def _duties(self) -> list[tuple[Callable[[], Coroutine[Any, Any, None]], float]]:
        renewal = self._core.settings.lease_seconds / 3
        return [(self._sweep, SWEEP_SECONDS), (self._renew, renewal)]

    async def _repeat(self, duty: Callable[[], Coroutine[Any, Any, None]], seconds: float) -> None:
        while True:
            try:
                await duty()
            except StorageUnavailable as error:
                logger.warning("the database cannot be used; trying again: %s", error.message)
            except Exception:
                logger.exception("%s failed; trying again", duty.__name__)
            await asyncio.sleep(seconds)

    async def _sweep(self) -> None:
        if self._shared:
            await lifecycle.take_over(self._core, everything=False)
        await start_stranded(self._core)
        while await self._claim():
            pass
        for run_id in await lifecycle.stop_requests(self._core, list(self._runs)):
            self.stop(run_id)

    async def _renew(self) -> None:
        threads = {run.lease.thread_id: run_id for run_id, run in self._runs.items()}
        if not threads:
            return
        renewed_ids = await lifecycle.renew(self._core, self.worker, threads.keys())
        for thread_id in threads.keys() - renewed_ids:
            if task := self._executing.get(threads[thread_id]):
                logger.warning("the lease of thread %s was lost", thread_id)
                task.cancel()

    async def _claim_queued(self, run_id: str | None = None) -> None:
        try:
            await self._claim(run_id)
        except StorageUnavailable:
            logger.warning("nothing could be claimed; the sweeper will find it")

    async def _claim(self, run_id: str | None = None) -> bool:
        """Claim the named run, or the oldest, and take it; False when there is none, or no place for it."""
        if self._closing or not self._free:
            self._has_backlog = True
            return False
        self._free -= 1
        try:
            claim = await lifecycle.claim(self._core, self.worker, run_id)
        except BaseException:
            self.give_back()
            raise
        if claim is None:
            self._free += 1
            return False
        self.take(claim)
        return True

    async def _run(self, claim: Claim) -> None:
        run_id = claim.run.id
        self._core.observer.on_run_start(claim, self._core.clock.now())
        try:
            await self._execute(claim)
        except LeaseLost:
            logger.info("run %s is no longer this worker's", run_id)
        except StorageUnavailable as error:
            logger.warning("run %s stopped, the database cannot be used: %s", run_id, error.message)
            self._spawn(self._queue_again(claim))
        except asyncio.CancelledError:
            logger.info("run %s was cancelled", run_id)
        except Exception:
            logger.exception("run %s could not be ended; it is queued again", run_id)
            self._spawn(self._queue_again(claim))
        finally:
            if self._executing.get(run_id) is asyncio.current_task():
                self._runs.pop(run_id, None)
                self._executing.pop(run_id, None)
            self._core.observer.on_release(run_id)
            self.give_back()

    async def _execute(self, claim: Claim) -> None:
        agent = self._agents.find(claim.thread.agent)
        if agent is None:
            error = f"the agent {claim.thread.agent!r} is no longer hosted here"
            await lifecycle.finish(self._core, claim.lease, RunStatus.FAILED, error=error)
            return
        if claim.run.attempt > MOST_ATTEMPTS:
            error = f"it was begun {MOST_ATTEMPTS} times and never came to an end; it is not tried again"
            await lifecycle.finish(self._core, claim.lease, RunStatus.FAILED, error=error)
            return
        run = GraphRun(self._core, claim, agent, self._agents.saver.with_lease(claim.lease), self._memory)
        self._runs[claim.run.id] = run
        if self._closing:
            run.drain("the server shuts down", requeue=True)
        if claim.run.stop_reason is not None:
            run.drain(claim.run.stop_reason)
        await run.execute()

    async def _queue_again(self, claim: Claim) -> None:
        """The store failed under the run: as soon as it can be written again, the run is queued once more."""
        while not self._closing:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                await lifecycle.requeue(self._core, claim.lease)
            except StorageUnavailable:
                continue
            except LeaseLost:
                return
            self.wake(claim.run.id)
            return

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _cancel_all(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class EndedItself(Exception):
    """A node or tool tried to end the process."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"it tried to end the process: {type(error).__name__}({error})")


def contain(loop: asyncio.AbstractEventLoop) -> None:
    """From now on what would end the process ends the run that raised it, and no more.

    asyncio lets `SystemExit` and `KeyboardInterrupt` out of a task and through the event loop: a node that calls
    `sys.exit()` would take the server, and everybody else's runs, with it.
    """
    if getattr(loop.get_task_factory(), "interlock", False):
        return

    def make(
        loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any] | Generator[Any, None, Any], **more: Any
    ) -> asyncio.Task[Any]:
        if current.get() is not None and asyncio.iscoroutine(coro):
            coro = _contain(coro)
        return asyncio.Task(cast("Coroutine[Any, Any, Any]", coro), loop=loop, **more)

    cast("Any", make).interlock = True
    loop.set_task_factory(make)


async def _contain(work: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        raise EndedItself(error) from error
