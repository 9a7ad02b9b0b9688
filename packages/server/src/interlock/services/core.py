"""What every use case works with, and the unit of work around its one transaction."""

import asyncio
import random
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

import anyio

from interlock import failpoints
from interlock.domain.errors import InterlockError, InvalidInput, Undeliverable
from interlock.domain.event import Event, EventData, EventType
from interlock.domain.risk import KNOWN_RISKS
from interlock.domain.run import Claim
from interlock.domain.sign_on import RoleRule
from interlock.ports.agents import Agents, Runner
from interlock.ports.bus import Bus
from interlock.ports.channels import ChannelKind
from interlock.ports.clock import Clock
from interlock.ports.observer import Observer
from interlock.ports.opinions import Adviser
from interlock.ports.passwords import Passwords
from interlock.ports.policies import ConditionEngine
from interlock.ports.sign_on import SignOn
from interlock.ports.store import Store, Transaction
from interlock.ports.webhooks import Poster
from interlock.services.memory import FailedSignIns, InvalidReplies, Presence, SeenPauses, TokenUses, Viewers
from interlock.services.operations.observers import NullObserver, Tally
from interlock.services.operations.pulse import Pulse
from interlock.services.policies.deciding import PolicyCache
from interlock.services.requests.quota import OpenAsks, Quota
from interlock.services.shared_clock import SharedClock

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """What the operator decided."""

    registration_open: bool = True
    passwords: bool = True
    """Whether people sign in with passwords."""
    role_rules: tuple[RoleRule, ...] = ()
    """Which role follows from which group of the provider; none: roles are given here."""
    approval_timeout: float | None = None
    """Seconds that an approval waits; None: for as long as it takes."""
    follow_grace: float = 5.0
    """Seconds that a run goes on after its last follower has gone."""
    lease_seconds: float = 30.0
    risks: Mapping[str, str] = field(default_factory=lambda: dict(KNOWN_RISKS))
    """By tool, how risky it is at least."""
    locale: Literal["zh", "en"] = "zh"
    """The language of what the server itself asks people."""
    webhook_hosts: tuple[str, ...] = ()
    """The hosts that may be told of requests; none: webhooks are off."""
    public_url: str | None = None
    """Where browsers reach this server: what messages lead to."""
    several_servers: bool = False
    """Whether other servers may work on the same database."""
    remote_workers: bool = False
    """Whether agents run in other processes than those that answer requests."""
    confirmation_timeout: float = 300.0
    """Seconds that an approval waits on a thread of the confirm face."""
    confirmation_retry_limit: int = 3
    """After how many replies of its owner that cannot be taken a confirmation is refused."""
    confirmation_batch_size: int = 1
    """How many confirmations one client is asked for at once, unless it says otherwise."""
    retention_days: int | None = None
    """After how many days without a touch conversations are deleted; None: never."""
    quota: Quota = field(default_factory=Quota)
    """How many requests may be open at once."""
    drills: int | None = None
    """For how many approvals that a person answers there is one drill; None: there are none."""
    break_glass: bool = False
    """Whether an admin may end a request alone whose terms name others."""
    opinion_seconds: float = 20.0
    """How long a second opinion may take."""
    with_accounts: bool = True
    """Whether people sign in. Where they do not, anybody is anybody, and two people cannot be told from one."""


_NOTICED = frozenset(
    {
        EventType.PAUSE_OPENED,
        EventType.REQUEST_SETTLED,
        EventType.REQUEST_EXTENDED,
        EventType.REQUEST_VOTED,
        EventType.REQUEST_ROUTED,
        EventType.REQUEST_CLAIMED,
        EventType.REQUEST_COMMENTED,
        EventType.THREAD_DELETED,
    }
)
"""What inboxes are told of."""


class NoRunner:
    """Stands in where nothing is run, as in commands that only administrate; the sweeper of a server finds the work."""

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def reserve(self) -> str | None:
        return None

    def give_back(self) -> None: ...

    def take(self, claim: Claim) -> None: ...

    def wake(self, run_id: str) -> None: ...

    def stop(self, run_id: str) -> None: ...


class NoPoster:
    """Stands in where webhooks are off."""

    async def check(self, url: str) -> None:
        raise InvalidInput("webhooks are off: name the receiver's host in INTERLOCK_WEBHOOK_HOSTS")

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        raise Undeliverable("webhooks are off")


@dataclass(frozen=True, slots=True)
class Core:
    """Whole once it is made. The runner works with the core as the core does with it, so it is made from it."""

    store: Store
    bus: Bus
    clock: Clock
    agents: Agents
    passwords: Passwords
    settings: OperatorSettings = field(default_factory=OperatorSettings)
    make_runner: Callable[["Core"], Runner] = lambda _: NoRunner()
    runner: Runner = field(init=False)
    observer: Observer = field(default_factory=NullObserver)
    poster: Poster = field(default_factory=NoPoster)
    channel_kinds: Mapping[str, ChannelKind] = field(default_factory=dict[str, ChannelKind])
    """By name, the kinds of channel that may be used here; none: channels are off."""
    token_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    """Makes the tokens of buttons in messages; the same on every server of a database."""
    sign_on: SignOn | None = None
    """The provider of single sign-on, where there is one."""
    conditions: ConditionEngine | None = None
    """What evaluates rules of policies, where it is installed."""
    adviser: Adviser | None = None
    """Who gives second opinions, where the operator named somebody."""
    draw: Callable[[], float] = random.SystemRandom().random
    """A number from 0 to 1, which nobody can foresee."""
    policy_cache: PolicyCache = field(default_factory=PolicyCache)
    tally: Tally = field(default_factory=Tally)
    presence: Presence = field(default_factory=Presence)
    seen_pauses: SeenPauses = field(default_factory=SeenPauses)
    pulse: Pulse = field(default_factory=Pulse)
    viewers: Viewers = field(default_factory=Viewers)
    invalid_replies: InvalidReplies = field(default_factory=InvalidReplies)
    failed_sign_ins: FailedSignIns = field(default_factory=FailedSignIns)
    uses: TokenUses = field(default_factory=TokenUses)
    open_asks: OpenAsks = field(default_factory=OpenAsks)
    deadline_set: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a request with a deadline was written."""
    delivery_written: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when something to be delivered to a webhook was committed."""
    notice_written: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when something that people are to be told of was committed."""
    removal_written: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a thread was deleted of which rows are left."""

    def __post_init__(self) -> None:
        if self.settings.several_servers:
            object.__setattr__(self, "clock", SharedClock(self.clock))
        object.__setattr__(self, "runner", self.make_runner(self))


async def shared_time(core: Core, tx: Transaction) -> datetime:
    """By which servers on one database keep what they hold: its own clock, for theirs may differ."""
    now = core.clock.now()
    if not core.settings.several_servers:
        return now
    return datetime.fromtimestamp(await tx.servers.moment(now) / 1000, UTC)


async def undo_on_cancel(work: Coroutine[Any, Any, T], undo: Callable[[T], Awaitable[None]]) -> T:
    """What it gives. A caller that goes meanwhile does not cut it short: it may be written already, so it is undone."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True), suppress(InterlockError):
            await undo(await task)
        raise


async def sleep_until_set(event: asyncio.Event, seconds: float) -> None:
    """Until it is set, `seconds` at most. It is cleared: whoever calls looks at the store next."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    event.clear()


class Unit:
    """One transaction, and what is to be told to others once it is committed."""

    def __init__(self, core: Core, transaction: Transaction) -> None:
        self.core = core
        self.tx = transaction
        self.now = core.clock.now()
        self._events: list[Event] = []
        self._woken: list[str] = []
        self._reserved = 0
        self._claims: list[Claim] = []
        self._stopped: list[str] = []
        self._afterwards: set[Callable[[], None]] = set()
        self._observed: list[Callable[[Observer], None]] = []

    async def record(self, thread_id: str, *entries: EventData) -> list[Event]:
        """Append to the thread's log; followers hear of it after the commit."""
        events = await self.tx.events.append(thread_id, entries, self.now)
        self._events.extend(events)
        return events

    async def shared_time(self) -> datetime:
        return await shared_time(self.core, self.tx)

    def reserve(self) -> str | None:
        """A place with the runner, for a claim made in this transaction; it is given back if that does not commit."""
        worker = self.core.runner.reserve()
        self._reserved += worker is not None
        return worker

    def start(self, claim: Claim) -> None:
        self._claims.append(claim)

    def wake(self, run_id: str) -> None:
        self._woken.append(run_id)

    def stop(self, run_id: str) -> None:
        self._stopped.append(run_id)

    def deliver(self) -> None:
        """Something was written to the outbox: its sender is to look there after the commit."""
        self._afterwards.add(self.core.delivery_written.set)

    def notify_people(self) -> None:
        """Notices were written, or are due: their sender is to look after the commit."""
        self._afterwards.add(self.core.notice_written.set)

    def remove(self) -> None:
        """A deleted thread has rows left: they are to be dropped after the commit."""
        self._afterwards.add(self.core.removal_written.set)

    def set_timer(self) -> None:
        """Something was written that is due at a moment: the timer is to look for it after the commit."""
        self._afterwards.add(self.core.deadline_set.set)

    def observe(self, what: Callable[[Observer], None]) -> None:
        self._observed.append(what)

    def publish(self) -> None:
        by_thread: dict[str, list[Event]] = {}
        for event in self._events:
            by_thread.setdefault(event.thread_id, []).append(event)
        for thread_id, events in by_thread.items():
            self.core.bus.publish(thread_id, events)
        if notices := [event for event in self._events if event.type in _NOTICED]:
            self.core.bus.notify(notices)
        for what in self._observed:
            what(self.core.observer)
        for run_id in self._stopped:
            self.core.runner.stop(run_id)
        for claim in self._claims:
            self.core.runner.take(claim)
        for call in self._afterwards:
            call()
        if failpoints.is_on("wake.off"):
            return
        for run_id in self._woken:
            self.core.runner.wake(run_id)

    def undo(self) -> None:
        for _ in range(self._reserved):
            self.core.runner.give_back()


@asynccontextmanager
async def unit(core: Core) -> AsyncGenerator[Unit]:
    work: Unit | None = None
    try:
        async with core.store.transaction() as transaction:
            if isinstance(core.clock, SharedClock):
                await core.clock.compare(transaction)
            work = Unit(core, transaction)
            yield work
    except BaseException:
        if work is not None:
            work.undo()
        raise
    work.publish()
