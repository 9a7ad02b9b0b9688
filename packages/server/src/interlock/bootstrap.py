"""The composition root: the only file that names concrete backends."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlock import failpoints
from interlock.bus.local import LocalBus
from interlock.config import DEMO, Config
from interlock.domain.errors import InvalidInput
from interlock.domain.ids import new_id
from interlock.domain.request import Request
from interlock.domain.risk import KNOWN_RISKS
from interlock.domain.showing import FileBehind
from interlock.domain.thread import Thread
from interlock.master_key import master_key
from interlock.passwords import Argon2Passwords
from interlock.ports.agents import Message, ToolInfo
from interlock.ports.bus import Bus
from interlock.ports.clock import SystemClock
from interlock.services.auditing import make_heads
from interlock.services.core import Core, Policy
from interlock.services.housekeeping import keep_tidy
from interlock.storage.database import Database, open_database, sqlite_file
from interlock.storage.folder_lock import FolderLock
from interlock.storage.key_ring import KeyRing, open_ring
from interlock.storage.migrate import migrate
from interlock.storage.store import SqlStore

if TYPE_CHECKING:
    from fastapi import FastAPI

    from interlock.faces.http.server_state import ServerState
    from interlock.runners.hosting import HostedAgents
    from interlock.runners.loading import HostedAgent
    from interlock.runners.local import LocalRunner
    from interlock.services.deadlines import DeadlineTimer
    from interlock.services.webhook_sender import WebhookSender


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
    from interlock.runners.loading import hosted

    config.workspace.mkdir(parents=True, exist_ok=True)
    try:
        graph = build(config.workspace, config.model, config.locale)
        return hosted(DEMO, graph, WorkspacePreview(config.workspace))
    except (ImportError, ValueError) as error:
        raise InvalidInput(f"INTERLOCK_MODEL={config.model!r} cannot be used: {error}") from error


def _application(config: Config, database: Database, core: Core, agents: "HostedAgents", ring: KeyRing) -> Application:
    from interlock.faces.app import create_app
    from interlock.faces.http.guard import Allowed
    from interlock.faces.http.limits import Limits
    from interlock.faces.http.server_state import ServerState
    from interlock.faces.http.tokens import Tokens
    from interlock.faces.web.pages import BUILT, pages
    from interlock.runners.local import LocalRunner
    from interlock.services.deadlines import DeadlineTimer
    from interlock.services.webhook_sender import WebhookSender

    worker = new_id(f"{socket.gethostname()}-{os.getpid()}")
    runner = LocalRunner(core, agents, worker, shared=database.is_shared)
    timer = DeadlineTimer()
    core.runner = runner
    core.deadline_set = timer.nudge
    sender = WebhookSender()
    core.delivery_written = sender.nudge
    state = ServerState(
        core,
        Tokens(ring.tokens),
        locale=config.locale,
        with_accounts=config.auth == "accounts",
        limits=Limits(config.rate_limit, config.rate_burst, config.streams_per_caller, config.slow_seconds),
    )

    allowed = Allowed(
        frozenset({config.host.lower(), *(host.lower() for host in config.allowed_hosts)}),
        frozenset(config.allowed_origins),
        any_address=not config.is_loopback,
    )
    web = pages(config.web_dir or BUILT)
    return Application(create_app(state, allowed, lambda _app: _running(state, runner, timer, sender), web), state)


@asynccontextmanager
async def _running(
    state: "ServerState", runner: "LocalRunner", timer: "DeadlineTimer", sender: "WebhookSender"
) -> AsyncGenerator[None]:
    """What goes on while the server serves: the runner, deadlines, webhooks, and the drain when it is told to stop."""
    await runner.start()
    core = state.core
    ticking = asyncio.create_task(timer.run(core))
    beating = asyncio.create_task(core.pulse.run(core))
    tidying = asyncio.create_task(keep_tidy(core))
    sending = asyncio.create_task(sender.run(core)) if core.policy.webhook_hosts else None
    draining = asyncio.create_task(_drain_when_closing(state, runner))
    state.ready.set()
    try:
        yield
    finally:
        state.closing.set()
        await _cancelled(ticking)
        await _cancelled(beating)
        await _cancelled(tidying)
        await draining
        if sending is not None:
            await _cancelled(sending)


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _drain_when_closing(state: "ServerState", runner: "LocalRunner") -> None:
    await state.closing.wait()
    logger.info("shutting down, once what is under way has ended")
    state.core.presence.close()
    await runner.close()
