"""The composition root: the only file that names concrete backends."""

import asyncio
import json
import logging
import os
import socket
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from interlock import failpoints
from interlock.bus.local import LocalBus
from interlock.config import DEMO, Config, load
from interlock.domain.errors import InvalidInput
from interlock.domain.ids import new_id
from interlock.domain.request import Request
from interlock.domain.risk import KNOWN_RISKS
from interlock.domain.showing import FileBehind
from interlock.domain.thread import Thread
from interlock.domain.worker import Worker
from interlock.master_key import master_key
from interlock.observers import observing
from interlock.passwords import Argon2Passwords
from interlock.ports.agents import Message, ToolInfo
from interlock.ports.bus import Bus
from interlock.ports.clock import SystemClock
from interlock.services.auditing import make_heads
from interlock.services.core import Core, Policy
from interlock.services.housekeeping import keep_dropping, keep_tidy
from interlock.services.observing import Several
from interlock.services.quota import Quota
from interlock.services.working import leave, tell_life
from interlock.storage.database import Database, open_database, sqlite_file
from interlock.storage.folder_lock import FolderLock
from interlock.storage.key_ring import KeyRing, open_ring
from interlock.storage.migrate import migrate
from interlock.storage.store import SqlStore
from interlock.storage.token_keys import RingTokenKeys
from interlock.worker_settings import addresses, given_to_ray, with_own_passwords

if TYPE_CHECKING:
    from fastapi import FastAPI

    from interlock.faces.http.server_state import ServerState
    from interlock.runners.hosting import HostedAgents
    from interlock.runners.loading import HostedAgent
    from interlock.runners.local import LocalRunner
    from interlock.runners.ray import RayWorkers
    from interlock.runners.remote import RemoteRunner
    from interlock.services.deadlines import DeadlineTimer
    from interlock.services.webhook_sender import WebhookSender

RUNS = 64
"""How many a server runs at once."""
TOOL_THREADS = 2 * RUNS  # sync tools and nodes hold one for as long as they work: as many as runs, and some

logger = logging.getLogger(__name__)


class NoAgents:
    """For commands that administrate and run nothing."""

    names = ()

    async def history(self, thread: Thread) -> list[Message]:
        return []

    def check(self, request: Request, value: Mapping[str, Any]) -> None: ...

    def takes(self, request: Request) -> frozenset[str] | None:
        return None

    def tools_of(self, name: str) -> Sequence[ToolInfo]:
        return ()

    def schema(self, request: Request) -> Mapping[str, Any] | None:
        return None

    async def file_behind(self, request: Request) -> FileBehind | None:
        return None


@asynccontextmanager
async def opened(config: Config) -> AsyncGenerator[tuple[Database, Core]]:
    """The core over the configured database, migrated, without agents and without a runner."""
    async with _opened(config) as (database, core, _):
        yield database, core


@asynccontextmanager
async def _opened(config: Config) -> AsyncGenerator[tuple[Database, Core, KeyRing]]:
    master = master_key(config)
    database = open_database(config.database_url)
    try:
        await migrate(database)
        ring = await open_ring(database, master, SystemClock().now())
        store = SqlStore(database, sealer=ring, audit_key=ring.audit, replies_key=ring.replies)
        core = Core(store, LocalBus(), SystemClock(), NoAgents(), Argon2Passwords(), _policy(config))
        await make_heads(core)
        async with _outbound(config, core):
            yield database, core, ring
    finally:
        await database.close()


@asynccontextmanager
async def _outbound(config: Config, core: Core) -> AsyncGenerator[None]:
    """What posts to webhooks, where the operator named hosts for them."""
    if not config.webhook_hosts:
        yield
        return
    from interlock.outbound import HttpPoster

    poster = HttpPoster(config.webhook_hosts, allow_private=config.webhook_private)
    core.poster = poster
    try:
        yield
    finally:
        await poster.close()


def _policy(config: Config) -> Policy:
    return Policy(
        registration_open=config.registration,
        approval_timeout=config.approval_timeout,
        follow_grace=config.follow_grace,
        lease_seconds=config.lease_seconds,
        risks={**KNOWN_RISKS, **dict(config.risks)},
        locale=config.locale,
        webhook_hosts=config.webhook_hosts,
        confirmation_timeout=config.confirmation_timeout,
        confirmation_retry_limit=config.confirmation_retry_limit,
        confirmation_batch_size=config.confirmation_batch_size,
        retention_days=config.retention_days,
        quota=Quota(config.open_per_conversation, config.open_per_owner, config.open_in_all),
        remote_workers=config.runner == "ray",
        several_servers=config.database_url.startswith("postgresql"),
    )


@dataclass(slots=True)
class Application:
    app: "FastAPI"
    state: "ServerState"


@asynccontextmanager
async def application(config: Config) -> AsyncGenerator[Application]:
    """The whole server, ready to be served. What cannot be built stops the start, with the reason."""
    # Unknown types are not built from what a checkpoint holds; LangGraph reads this when it is imported.
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    arm(config)
    lock = _lock(config)
    try:
        async with _opened(config) as (database, core, ring), _bus(config) as bus:
            core.bus = bus
            agents = await _agents(config, database)
            core.agents = agents
            with observing(config, core):
                yield _application(config, database, core, agents, ring)
    finally:
        if lock is not None:
            lock.release()


@asynccontextmanager
async def _bus(config: Config) -> AsyncGenerator[Bus]:
    if config.bus is None:
        yield LocalBus()
        return
    try:
        from interlock.bus.redis import RedisBus
    except ImportError as error:
        raise InvalidInput("--bus needs the extra redis: install interlock-server[redis]") from error
    async with RedisBus(config.bus).running() as bus:
        yield bus


def arm(config: Config) -> None:
    """Set the failpoints that the configuration names."""
    try:
        failpoints.arm(config.failpoints)
    except ValueError as error:
        raise InvalidInput(f"INTERLOCK_FAILPOINTS: {error}") from error


def _lock(config: Config) -> FolderLock | None:
    """One server per SQLite file; servers on PostgreSQL share it."""
    file = sqlite_file(config.database_url)
    if file is None:
        return None
    lock = FolderLock(file)
    lock.acquire()
    return lock


async def _agents(config: Config, database: Database) -> "HostedAgents":
    from interlock.runners.hosting import HostedAgents
    from interlock.runners.loading import load_agents
    from interlock.storage.checkpoints import CheckpointSaver

    agents = await load_agents(config.agents) if config.agents else [_demo(config)]
    return HostedAgents(agents, CheckpointSaver(database, loop=asyncio.get_running_loop()))


def _demo(config: Config) -> "HostedAgent":
    from interlock.agents.demo.agent import build
    from interlock.agents.demo.preview import WorkspacePreview
    from interlock.agents.demo.workspace import open_workspace
    from interlock.runners.loading import hosted

    open_workspace(config.workspace, config.locale)
    try:
        graph = build(config.workspace, config.model, config.locale)
        return hosted(DEMO, graph, WorkspacePreview(config.workspace))
    except (ImportError, ValueError) as error:
        raise InvalidInput(f"INTERLOCK_MODEL={config.model!r} cannot be used: {error}") from error


@asynccontextmanager
async def working(config: Config) -> AsyncGenerator[Core]:
    """A worker: runs what is queued, and answers nobody."""
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    arm(config)
    async with _opened(config) as (database, core, _), _bus(config) as bus:
        core.bus = bus
        agents = await _agents(config, database)
        core.agents = agents
        runner = _local_runner(core, agents, database, config.worker_runs)
        core.runner = runner
        with observing(config, core):
            await runner.start()
            try:
                async with _among_workers(core, runner, config.runner):
                    yield core
            finally:
                core.presence.close()
                await runner.close()


async def work_until_stopped(given: Mapping[str, Any]) -> None:
    """What a worker process does; `given` are settings that win over those of its own environment."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(TOOL_THREADS, "interlock-tools"))
    async with working(load(with_own_passwords(given))):
        await asyncio.Event().wait()


def _local_runner(core: Core, agents: "HostedAgents", database: Database, capacity: int) -> "LocalRunner":
    from interlock.runners.local import LocalRunner

    worker = new_id(f"{socket.gethostname()}-{os.getpid()}")
    return LocalRunner(core, agents, worker, shared=database.is_shared, capacity=capacity)


@asynccontextmanager
async def _among_workers(core: Core, runner: "LocalRunner", kind: str) -> AsyncGenerator[None]:
    """While it works, the others know of it, and it hears what they call for."""
    started_at = core.clock.now()

    def describe() -> Worker:
        return Worker(
            runner.worker, socket.gethostname(), kind, started_at, core.clock.now(), runner.capacity, runner.running,
            core.tally.as_json(),
        )  # fmt: skip

    telling = asyncio.create_task(tell_life(core, describe))
    heeding = asyncio.create_task(runner.heed())
    try:
        yield
    finally:
        await _cancelled(telling)
        await _cancelled(heeding)
        await leave(core, runner.worker)


def _ray_workers(config: Config) -> "RayWorkers":
    from interlock.runners.ray import OF_ITS_OWN, RaySettings, RayWorkers

    if config.ray_address is None:
        os.environ.update({**OF_ITS_OWN, **os.environ, **addresses(config)})
    if find_spec("ray") is None:
        raise InvalidInput("--runner ray needs the extra ray: install interlock-server[ray]")
    shipped = _runtime_env(config.ray_runtime_env) if config.ray_runtime_env else {}
    settings = RaySettings(config.ray_address, config.workers, config.worker_memory, shipped)
    return RayWorkers(settings, given_to_ray(config))


def _runtime_env(file: Path) -> dict[str, Any]:
    try:
        shipped: Any = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise InvalidInput(f"INTERLOCK_RAY_RUNTIME_ENV={file}: {error}") from error
    if not isinstance(shipped, dict):
        raise InvalidInput(f"INTERLOCK_RAY_RUNTIME_ENV={file}: it must hold a JSON object")
    return cast("dict[str, Any]", shipped)


def _application(config: Config, database: Database, core: Core, agents: "HostedAgents", ring: KeyRing) -> Application:
    from interlock.faces.app import create_app
    from interlock.faces.http.guard import Allowed
    from interlock.faces.http.limits import Limits
    from interlock.faces.http.server_state import ServerState
    from interlock.faces.http.tokens import Tokens
    from interlock.faces.web.pages import BUILT, pages
    from interlock.metrics import Metrics
    from interlock.runners.remote import RemoteRunner
    from interlock.services.deadlines import DeadlineTimer
    from interlock.services.webhook_sender import WebhookSender

    ray = _ray_workers(config) if config.runner == "ray" else None
    runner = RemoteRunner(core) if ray else _local_runner(core, agents, database, RUNS)
    timer = DeadlineTimer()
    core.runner = runner
    core.deadline_set = timer.nudge
    sender = WebhookSender()
    core.delivery_written = sender.nudge
    limits = Limits(config.rate_limit, config.rate_burst, config.streams_per_caller, config.slow_seconds)
    metrics = Metrics(limits.open_streams)
    core.observer = Several(core.observer, metrics)
    state = ServerState(
        core,
        Tokens(RingTokenKeys(database, ring)),
        locale=config.locale,
        with_accounts=config.auth == "accounts",
        limits=limits,
        metrics=lambda: metrics.text(core),
        metrics_token=config.metrics_token,
    )
    allowed = Allowed(
        frozenset({config.host.lower(), *(host.lower() for host in config.allowed_hosts)}),
        frozenset(config.allowed_origins),
        any_address=not config.is_loopback,
    )
    web = pages(config.web_dir or BUILT)
    running = _Running(state, runner, timer, sender, ray, is_shared=database.is_shared)
    return Application(create_app(state, allowed, lambda _app: running.lifespan(), web), state)


@dataclass(slots=True)
class _Running:
    """What goes on while the server serves: the runner, deadlines, webhooks, and the drain when it is told to stop."""

    state: "ServerState"
    runner: "LocalRunner | RemoteRunner"
    timer: "DeadlineTimer"
    sender: "WebhookSender"
    ray: "RayWorkers | None"
    is_shared: bool

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        core = self.state.core
        await self.runner.start()
        async with AsyncExitStack() as stack:
            if self.ray is not None:
                stack.push_async_callback(self.ray.close)
            elif self.is_shared:
                await stack.enter_async_context(_among_workers(core, cast("LocalRunner", self.runner), "server"))
            working = [asyncio.create_task(work) for work in self._work(core)]
            draining = asyncio.create_task(_drain_when_closing(self.state, self.runner))
            self.state.ready.set()
            try:
                yield
            finally:
                self.state.closing.set()
                await draining
                for task in working:
                    await _cancelled(task)

    def _work(self, core: Core) -> Iterator[Coroutine[Any, Any, None]]:
        yield self.timer.run(core)
        yield core.pulse.run(core)
        yield keep_tidy(core)
        yield keep_dropping(core)
        if core.policy.webhook_hosts:
            yield self.sender.run(core)
        if self.ray is not None:
            yield self.ray.keep()


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _drain_when_closing(state: "ServerState", runner: "LocalRunner | RemoteRunner") -> None:
    await state.closing.wait()
    logger.info("shutting down, once what is under way has ended")
    state.core.presence.close()
    state.core.pulse.wake_all()
    await runner.close()
