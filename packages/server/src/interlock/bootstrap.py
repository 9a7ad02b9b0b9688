"""The composition root: the only file that names concrete backends."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from interlock import failpoints
from interlock.bus.local import LocalBus
from interlock.config import DEMO, Config, load, upstreams
from interlock.domain.errors import InvalidInput
from interlock.domain.kinds import Value
from interlock.domain.preview import FilePreview
from interlock.domain.request import Request
from interlock.domain.risk import KNOWN_RISKS
from interlock.domain.run_input import GraphInput
from interlock.domain.subscription import PushHosts
from interlock.domain.thread import Thread
from interlock.domain.worker import Worker, new_worker_id
from interlock.master_key import master_key
from interlock.passwords import Argon2Passwords
from interlock.ports.agents import Agents, GraphSchemas, Message, Runner, Snapshot, ToolInfo
from interlock.ports.bus import Bus
from interlock.ports.channels import ChannelKind
from interlock.ports.clock import SystemClock
from interlock.ports.observer import Observer
from interlock.ports.opinions import Adviser
from interlock.ports.policies import ConditionEngine
from interlock.ports.sign_on import SignOn
from interlock.ports.store import Store
from interlock.ports.webhooks import Poster
from interlock.services.audit.trail import make_heads
from interlock.services.channels.receiver import Receiver
from interlock.services.channels.sender import NoticeSender
from interlock.services.core import Core, NoPoster, NoRunner, OperatorSettings
from interlock.services.gateway.doubts import take_over
from interlock.services.operations.housekeeping import keep_dropping, keep_tidy
from interlock.services.operations.observers import CompositeObserver, Tally
from interlock.services.requests.deadlines import keep_deadlines
from interlock.services.requests.holding import release_all
from interlock.services.requests.quota import Quota
from interlock.services.runs.workers import dismiss, dismiss_once, leave, send_heartbeats
from interlock.services.webhooks.sender import WebhookSender
from interlock.storage.database import Database, open_database, sqlite_file
from interlock.storage.deployment import deployment
from interlock.storage.folder_lock import FolderLock
from interlock.storage.key_ring import KeyRing, RingTokenKeys, open_ring
from interlock.storage.migrate import migrate
from interlock.storage.sealing import derive
from interlock.storage.store import SqlStore
from interlock.worker_settings import addresses, fingerprint, runtime_env, settings_for_ray, with_own_passwords

if TYPE_CHECKING:
    from fastapi import FastAPI

    from interlock.faces.http.server_state import ServerState
    from interlock.ports.gateway import Upstream
    from interlock.runners.hosting import HostedAgents
    from interlock.runners.loading import HostedAgent
    from interlock.runners.local import LocalRunner
    from interlock.runners.ray import RayWorkers

RUNS = 64
"""How many a server runs at once."""
RETURN_PATH = "/login/return"
"""The page to which the provider of single sign-on sends browsers back."""
TOOL_THREADS = 2 * RUNS  # sync tools and nodes hold one for as long as they work: as many as runs, and some

logger = logging.getLogger(__name__)


class NoAgents:
    """For commands that administrate and run nothing."""

    names = ()

    async def history(self, thread: Thread) -> list[Message]:
        return []

    async def snapshot(self, thread: Thread, checkpoint_id: str | None = None, **where: Any) -> Snapshot:
        return Snapshot({}, (), (), {}, None, None, None)

    async def heads(self, threads: Sequence[Thread]) -> list[Snapshot]:
        return [await self.snapshot(thread) for thread in threads]

    async def snapshots(
        self,
        thread: Thread,
        limit: int,
        before: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **where: Any,
    ) -> list[Snapshot]:
        return []

    async def check_update(self, thread: Thread, values: Any, as_node: str | None, past: str | None = None) -> None:
        raise InvalidInput("no agent is hosted here")

    async def update_state(self, thread: Thread, values: Any, as_node: str | None, past: str | None = None) -> str:
        raise InvalidInput("no agent is hosted here")

    async def return_to(self, thread: Thread, checkpoint_id: str) -> str:
        raise InvalidInput("no agent is hosted here")

    async def copy_state(self, source: Thread, target: Thread) -> None:
        raise InvalidInput("no agent is hosted here")

    def schemas(self, name: str) -> GraphSchemas:
        return GraphSchemas({}, {}, {}, {}, {})

    def has_inner(self, name: str) -> bool:
        return False

    def inner_schemas(self, name: str, space: str | None, *, recurse: bool) -> Mapping[str, GraphSchemas]:
        return {}

    def drawing(self, name: str, depth: int | bool) -> Mapping[str, Any]:
        return {}

    def has_messages(self, name: str) -> bool:
        return True

    def check_input(self, name: str, given: GraphInput) -> None: ...

    def check(self, request: Request, value: Value) -> None: ...

    def takes(self, request: Request) -> frozenset[str] | None:
        return None

    def tools_of(self, name: str) -> Sequence[ToolInfo]:
        return ()

    def schema(self, request: Request) -> Mapping[str, Any] | None:
        return None

    async def file_preview(self, request: Request) -> FilePreview | None:
        return None


@dataclass(frozen=True, slots=True)
class _Foundation:
    """What every core stands on."""

    database: Database
    ring: KeyRing
    store: Store
    poster: Poster
    settings: OperatorSettings
    sign_on: SignOn | None = None
    channel_kinds: Mapping[str, ChannelKind] = field(default_factory=dict[str, ChannelKind])

    def core(
        self,
        bus: Bus,
        agents: Agents,
        make_runner: Callable[[Core], Runner] = lambda _: NoRunner(),
        observers: Sequence[Observer] = (),
        adviser: Adviser | None = None,
    ) -> Core:
        tally = Tally()
        return Core(
            self.store,
            bus,
            SystemClock(),
            agents,
            Argon2Passwords(),
            self.settings,
            make_runner,
            observer=CompositeObserver(tally, *observers),
            poster=self.poster,
            sign_on=self.sign_on,
            channel_kinds=self.channel_kinds,
            token_key=derive(self.ring.replies, "notices"),
            conditions=_conditions(),
            adviser=adviser,
            tally=tally,
        )


@asynccontextmanager
async def open_core(config: Config) -> AsyncGenerator[tuple[Database, Core]]:
    """The core over the configured database, migrated, without agents and without a runner."""
    async with _open_foundation(config) as base:
        yield base.database, base.core(LocalBus(), NoAgents())


@asynccontextmanager
async def _open_foundation(config: Config) -> AsyncGenerator[_Foundation]:
    master = master_key(config)
    database = open_database(config.database_url)
    try:
        await migrate(database)
        ring = await open_ring(database, master, SystemClock().now())
        store = SqlStore(database, sealer=ring, audit_key=ring.audit, replies_key=ring.replies)
        await make_heads(store, SystemClock().now())
        async with _poster(config) as poster, _sign_on(config) as sign_on, _channel_kinds(config) as kinds:
            yield _Foundation(database, ring, store, poster, _operator_settings(config), sign_on, kinds)
    finally:
        await database.close()


@asynccontextmanager
async def _poster(config: Config) -> AsyncGenerator[Poster]:
    """What posts to webhooks, where the operator named hosts for them."""
    if not config.webhook_hosts:
        yield NoPoster()
        return
    from interlock.outbound import HttpPoster

    poster = HttpPoster(config.webhook_hosts, allow_private=config.webhook_private)
    try:
        yield poster
    finally:
        await poster.close()


@asynccontextmanager
async def _sign_on(config: Config) -> AsyncGenerator[SignOn | None]:
    """The provider that the operator named. It is not asked anything before somebody signs in."""
    if config.oidc_issuer is None or config.oidc_client_id is None or config.public_url is None:
        yield None
        return
    from interlock.sign_on import OidcSettings, OidcSignOn

    settings = OidcSettings(
        config.oidc_issuer,
        config.oidc_client_id,
        redirect_uri=f"{config.public_url}{RETURN_PATH}",
        after_sign_out=f"{config.public_url}/login",
        client_secret=config.oidc_client_secret,
        name=config.oidc_name or urlsplit(config.oidc_issuer).hostname or "",
        groups_claim=config.oidc_groups_claim,
        hosts=config.oidc_hosts,
    )
    provider = OidcSignOn(settings, SystemClock())
    try:
        yield provider
    finally:
        await provider.close()


@asynccontextmanager
async def _channel_kinds(config: Config) -> AsyncGenerator[dict[str, ChannelKind]]:
    """By name, the kinds of channel that can be used: without a public address no message could lead anywhere."""
    if config.public_url is None or not (config.channel_hosts or config.push_hosts or config.apprise_services):
        yield {}
        return
    from interlock.channels.kinds import apprise_kinds, channel_kinds, push_kinds
    from interlock.outbound import HttpPoster

    known: dict[str, ChannelKind] = {}
    async with AsyncExitStack() as posters:
        if hosts := config.channel_hosts:
            caller = HttpPoster(hosts, allow_private=True, named_in="INTERLOCK_CHANNEL_HOSTS")
            posters.push_async_callback(caller.close)
            known |= channel_kinds(hosts, urlsplit(config.public_url).hostname or "localhost", caller)
        if hosts := config.push_hosts:
            own = PushHosts(hosts).own
            poster = HttpPoster(hosts, named_in="INTERLOCK_PUSH_HOSTS", private_hosts=own)
            posters.push_async_callback(poster.close)
            known |= push_kinds(hosts, poster, config.public_url, SystemClock())
        if allowed := config.apprise_services:
            known |= apprise_kinds(allowed)
        yield known


def _conditions() -> ConditionEngine | None:
    """What evaluates rules, where the extra is installed; without it every rule that has a condition asks a person."""
    try:
        from interlock.conditions import CelConditions
    except ImportError:
        return None
    return CelConditions()


def _adviser(config: Config) -> Adviser | None:
    if config.second_opinion is None:
        return None
    from interlock.opinions import load_adviser
    from interlock.runners.loading import load_module

    return load_adviser(config.second_opinion, load_module)


def _operator_settings(config: Config) -> OperatorSettings:
    return OperatorSettings(
        registration_open=config.registration,
        passwords=config.passwords,
        role_rules=config.oidc_roles,
        approval_timeout=config.approval_timeout,
        follow_grace=config.follow_grace,
        lease_seconds=config.lease_seconds,
        risks={**KNOWN_RISKS, **dict(config.risks)},
        locale=config.locale,
        webhook_hosts=config.webhook_hosts,
        public_url=config.public_url,
        confirmation_timeout=config.confirmation_timeout,
        confirmation_retry_limit=config.confirmation_retry_limit,
        confirmation_batch_size=config.confirmation_batch_size,
        retention_days=config.retention_days,
        quota=Quota(config.open_per_conversation, config.open_per_owner, config.open_in_all),
        remote_workers=config.runner == "ray",
        drills=config.drills,
        break_glass=config.break_glass,
        opinion_seconds=config.second_opinion_seconds,
        with_accounts=config.auth == "accounts",
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
        async with _open_foundation(config) as base, _bus(config) as bus:
            agents = await _agents(config, base.database)
            with _traces(config) as traces:
                ray = await _ray_workers(config, base.database, base.ring) if config.runner == "ray" else None
                yield _application(config, base, bus, agents, traces, ray)
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
    async with RedisBus(config.bus).run() as bus:
        yield bus


@contextmanager
def _traces(config: Config) -> Generator[tuple[Observer, ...]]:
    """What exports spans, where a collector is named."""
    if not config.otlp_endpoint:
        yield ()
        return
    try:
        from interlock.tracing import make_traces
    except ImportError as error:
        raise InvalidInput("INTERLOCK_OTLP_ENDPOINT needs the extra otel: install interlock-server[otel]") from error
    traces = make_traces(config.otlp_endpoint, f"{socket.gethostname()}-{os.getpid()}")
    try:
        yield (traces,)
    finally:
        traces.close()


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
    from interlock.agents.demo.workspace import open_workspace
    from interlock.runners.loading import host_agent

    open_workspace(config.workspace)
    try:
        graph = build(config.workspace, config.model, config.locale)
        return host_agent(DEMO, graph)
    except (ImportError, ValueError) as error:
        raise InvalidInput(f"INTERLOCK_MODEL={config.model!r} cannot be used: {error}") from error


@asynccontextmanager
async def run_worker(config: Config, name: str) -> AsyncGenerator[asyncio.Task[None]]:
    """A worker: runs what is queued, and answers nobody. What is yielded ends when it was dismissed."""
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    arm(config)
    async with _open_foundation(config) as base, _bus(config) as bus:
        agents = await _agents(config, base.database)
        with _traces(config) as traces:
            core = base.core(bus, agents, _local_runner(agents, base.database, config.worker_runs, name), traces)
            await core.runner.start()
            try:
                async with _registered_worker(core, config.runner) as heartbeat:
                    yield heartbeat
            finally:
                core.presence.close()
                await core.runner.close()


async def work_until_stopped(given: Mapping[str, Any], name: str) -> None:
    """What a worker process does; `given` are settings that win over those of its own environment."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(TOOL_THREADS, "interlock-tools"))
    async with run_worker(load(with_own_passwords(given)), name) as heartbeat:
        await heartbeat


def _local_runner(
    agents: "HostedAgents", database: Database, capacity: int, name: str | None = None
) -> "Callable[[Core], LocalRunner]":
    from interlock.runners.local import LocalRunner

    worker = name or new_worker_id()
    return lambda core: LocalRunner(core, agents, worker, shared=database.is_shared, capacity=capacity)


@asynccontextmanager
async def _registered_worker(core: Core, kind: str) -> AsyncGenerator[asyncio.Task[None]]:
    """While it works, the others know of it, and it hears what they call for."""
    started_at = core.clock.now()
    runner = cast("LocalRunner", core.runner)

    def describe() -> Worker:
        return Worker(
            runner.worker, socket.gethostname(), kind, started_at, core.clock.now(), runner.capacity, runner.run_count,
            core.tally.as_json(),
        )  # fmt: skip

    heartbeat = asyncio.create_task(send_heartbeats(core, describe))
    listener = asyncio.create_task(runner.listen())
    try:
        yield heartbeat
    finally:
        await _cancel(heartbeat)
        await _cancel(listener)
        await leave(core, runner.worker)


async def _ray_workers(config: Config, database: Database, ring: KeyRing) -> "RayWorkers":
    from interlock.runners.ray import OF_ITS_OWN, RaySettings, RayWorkers

    if config.ray_address is None:
        os.environ.update({**OF_ITS_OWN, **os.environ, **addresses(config)})
    if find_spec("ray") is None:
        raise InvalidInput("--runner ray needs the extra ray: install interlock-server[ray]")
    shipped = runtime_env(config.ray_runtime_env) if config.ray_runtime_env else {}
    own = await deployment(database, fingerprint(config, shipped, derive(ring.replies, "workers")))
    settings = RaySettings(
        config.ray_address, config.workers, config.worker_memory, shipped, own.id, own.generation, own.settings
    )
    return RayWorkers(settings, settings_for_ray(config))


def _application(
    config: Config,
    base: _Foundation,
    bus: Bus,
    agents: "HostedAgents",
    traces: Sequence[Observer],
    ray: "RayWorkers | None",
) -> Application:
    from interlock.faces.app import create_app
    from interlock.faces.http.guard import AllowedHosts
    from interlock.faces.http.limits import Limits
    from interlock.faces.http.server_state import ServerState
    from interlock.faces.http.tokens import Tokens
    from interlock.faces.web.pages import BUILT, Pages
    from interlock.metrics import Metrics
    from interlock.runners.remote import RemoteRunner

    limits = Limits(config.rate_limit, config.rate_burst, config.streams_per_caller, config.slow_seconds)
    metrics = Metrics(limits.open_streams)
    make_runner: Callable[[Core], Runner] = (
        (lambda _: RemoteRunner(bus)) if ray else _local_runner(agents, base.database, RUNS)
    )
    core = base.core(bus, agents, make_runner, (*traces, metrics), _adviser(config))
    state = ServerState(
        core,
        Tokens(RingTokenKeys(base.database, base.ring)),
        locale=config.locale,
        with_accounts=config.auth == "accounts",
        limits=limits,
        metrics=lambda: metrics.text(core),
        metrics_token=config.metrics_token,
        round_key=derive(base.ring.replies, "mcp"),
        attempt_key=derive(base.ring.replies, "sign-on"),
        public_url=config.public_url,
    )
    allowed = AllowedHosts(
        frozenset({config.host.lower(), *(host.lower() for host in config.allowed_hosts), *_public_host(config)}),
        frozenset(config.allowed_origins),
        any_address=not config.is_loopback,
    )
    web = Pages(config.web_dir or BUILT)
    is_worker = ray is None and base.database.is_shared
    app = create_app(state, allowed, lambda _app: _serve(state, ray, is_worker=is_worker), web, _upstreams(config))
    return Application(app, state)


def _public_host(config: Config) -> Iterator[str]:
    if host := urlsplit(config.public_url or "").hostname:
        yield host


def _upstreams(config: Config) -> "list[Upstream]":
    """The MCP servers behind the gateway, none of which is connected yet."""
    all_settings = upstreams(config)
    if not all_settings:
        return []
    from mcp.client.stdio import get_default_environment

    from interlock.upstreams.http import HttpUpstream
    from interlock.upstreams.stdio import StdioUpstream

    # Not the server's own environment, which holds its secrets.
    environment = get_default_environment()
    return [StdioUpstream(one, environment) if one.command else HttpUpstream(one) for one in all_settings]


@asynccontextmanager
async def _serve(state: "ServerState", ray: "RayWorkers | None", *, is_worker: bool) -> AsyncGenerator[None]:
    """What goes on while the server serves: the runner, deadlines, webhooks, and the drain when it is told to stop."""
    core = state.core
    await take_over(core)
    await core.runner.start()
    if not core.settings.several_servers:
        await release_all(core)
    async with AsyncExitStack() as stack:
        if ray is not None:
            stack.push_async_callback(ray.close, partial(dismiss_once, core))
        if is_worker:
            await stack.enter_async_context(_registered_worker(core, "server"))
        duties = [asyncio.create_task(work) for work in _duties(core, ray)]
        draining = asyncio.create_task(_drain_when_closing(state))
        state.ready.set()
        try:
            yield
        finally:
            state.closing.set()
            await draining
            for task in duties:
                await _cancel(task)


def _duties(core: Core, ray: "RayWorkers | None") -> Iterator[Coroutine[Any, Any, None]]:
    yield keep_deadlines(core)
    yield core.pulse.run(core)
    yield keep_tidy(core)
    yield keep_dropping(core)
    if core.settings.webhook_hosts:
        yield WebhookSender().run(core)
    if core.channel_kinds:
        yield NoticeSender().run(core)
        yield Receiver().run(core)
    if ray is not None:
        yield ray.keep(partial(dismiss, core))


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _drain_when_closing(state: "ServerState") -> None:
    await state.closing.wait()
    logger.info("shutting down, once what is under way has ended")
    state.core.presence.close()
    state.core.pulse.wake_all()
    await state.core.runner.close()
