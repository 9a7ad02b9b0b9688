"""The durable truth: one repository per aggregate, all inside one transaction.

Rules for every backend:

- `Store.transaction` opens a transaction that commits when its block ends and rolls back when the block raises.
  When the block has been left without an error, everything written in it survives `kill -9`.
- Writers are serialized per thread at least: between `Threads.lock` and the end of the transaction nobody else
  changes that thread, its runs, pauses, requests, events or effects.
- A conditional update that finds another state changes nothing and says so by its return value; it never raises.
- No repository publishes, wakes or calls anybody: that is the services' part, after the commit.
- A database that cannot be reached or written raises `StorageUnavailable`.
"""

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from interlock.domain.effect import Effect, EffectKey, EffectState
from interlock.domain.event import Event, EventData, EventType
from interlock.domain.figures import SettledAsk
from interlock.domain.form import Form
from interlock.domain.kinds import RequestKind
from interlock.domain.request import Answer, Ending, Pause, PauseStatus, Request, RequestStatus
from interlock.domain.run import Run, RunStatus, WaitingRun
from interlock.ports.access import Access, ApiKeys, Grants, Holds, Replies, SavedSecrets, Tickets
from interlock.ports.audit import Audit
from interlock.ports.channels import Addresses, Channels, Notices
from interlock.ports.drills import Drills
from interlock.ports.filters import AlikeFilter, PendingFilter, SettledFilter
from interlock.ports.gateway import UpstreamCalls
from interlock.ports.people import SignIns, Users
from interlock.ports.policies import Policies
from interlock.ports.sign_on import Identities
from interlock.ports.teams import Groups, Routes
from interlock.ports.threads import Leases, Removals, Threads
from interlock.ports.webhooks import Deliveries, Webhooks
from interlock.ports.workers import FollowerQuestions, Servers, Workers


class Runs(Protocol):
    async def add(self, run: Run) -> None:
        """Add a run; `ThreadBusy` when the thread has one that is queued or running."""
        ...

    async def get(self, run_id: str) -> Run | None: ...

    async def active_of(self, thread_id: str) -> Run | None:
        """The thread's queued or running run; there is one at most."""
        ...

    async def last_of(self, thread_id: str) -> Run | None: ...

    async def last_of_each(self, thread_ids: Collection[str]) -> dict[str, Run]:
        """By thread; none for a thread that never ran."""
        ...

    async def of_thread(self, thread_id: str) -> list[Run]:
        """All of them, the first one first."""
        ...

    async def newest(
        self, thread_id: str, limit: int, offset: int = 0, statuses: Collection[RunStatus] = tuple(RunStatus)
    ) -> list[Run]:
        """Of those in one of these statuses, the last ones, the newest first."""
        ...

    async def last_message_of(self, thread_id: str) -> Run | None:
        """The run that the thread's last message started."""
        ...

    async def next_queued(self, run_id: str | None = None) -> Run | None:
        """The oldest queued run, or the named one if queued, locked; one that another worker is taking is skipped."""
        ...

    async def change(self, run_id: str, status: RunStatus, at: datetime, *, error: str | None = None) -> bool:
        """Go to `status` if the transition table allows it from the present one; becoming running counts an attempt."""
        ...

    async def counts(self) -> dict[RunStatus, int]:
        """How many runs are queued, and how many running."""
        ...

    async def request_stop(self, run_id: str, reason: str) -> None: ...

    async def stop_requested(self, run_ids: Collection[str]) -> dict[str, str]:
        """Of these runs, those that somebody asked to stop, with the reason."""
        ...


class WaitingRuns(Protocol):
    """Runs that wait their turn. Whoever adds or removes one holds the thread."""

    async def add(self, run: WaitingRun) -> None: ...

    async def get(self, run_id: str) -> WaitingRun | None: ...

    async def first_of(self, thread_id: str) -> WaitingRun | None:
        """The one that waits longest."""
        ...

    async def of_thread(self, thread_id: str) -> list[WaitingRun]:
        """All of them, in their order."""
        ...

    async def count_of(self, thread_id: str) -> int: ...

    async def remove(self, run_id: str) -> bool:
        """Whether it was there."""
        ...

    async def list_stranded(self, limit: int) -> list[str]:
        """Idle threads on which a run waits."""
        ...


class Pauses(Protocol):
    async def add(self, pause: Pause, requests: Sequence[Request]) -> None: ...

    async def get(self, pause_id: str) -> Pause | None: ...

    async def of_thread(self, thread_id: str, status: PauseStatus, limit: int | None = None) -> list[Pause]:
        """The thread's pauses in that status, oldest first. Of a hosted agent at most one is open."""
        ...

    async def open_of_each(self, thread_ids: Collection[str]) -> dict[str, Pause]:
        """By thread, its oldest open pause; none for a thread without one."""
        ...

    async def newest(self, thread_id: str, limit: int) -> list[Pause]:
        """The thread's last pauses, whatever their status, the newest first."""
        ...

    async def opened_by(self, thread_id: str, seq: int) -> Pause | None:
        """The pause that the event of this number told of first."""
        ...

    async def change(self, pause_id: str, status: PauseStatus, at: datetime) -> bool: ...


class Requests(Protocol):
    """Those of a thread that is being deleted are in no list, and are not found by their id."""

    async def get(self, request_id: str) -> Request | None: ...

    async def of_pauses(self, pause_ids: Collection[str]) -> list[Request]:
        """In the order of their pauses and positions."""
        ...

    async def forms_since_message(self, thread_id: str) -> dict[str, Form | None]:
        """By interrupt, the form of what was asked last under its id, since the thread's last message."""
        ...

    async def calls_since_message(self, thread_id: str) -> list[Request]:
        """The approvals of tool calls that were settled since the thread's last message, in the order of the asks."""
        ...

    async def open_of(self, thread_id: str, limit: int | None = None) -> list[Request]:
        """What is pending on the thread, being deleted or not, in the order of the pauses and positions.

        With a limit any of them, which takes as long however many there are.
        """
        ...

    async def drop(self, request_ids: Collection[str]) -> None:
        """Drop these of a deleted thread, with their answers."""
        ...

    async def page_pending(self, query: PendingFilter, limit: int) -> list[Request]:
        """Pending requests, the oldest first, after the filter's cursor."""
        ...

    async def count_pending(self, query: PendingFilter, most: int) -> int:
        """How many the filter finds, cursor aside; no further than `most`, so that counting never takes long."""
        ...

    async def count_open(
        self, thread_id: str, owner_id: str, most_of_thread: int, most_of_owner: int
    ) -> tuple[int, int]:
        """How many are pending on the thread and for the owner; of each no further than its `most`."""
        ...

    async def pending_by_kind(self, most: int) -> dict[RequestKind, int]:
        """How many of each kind are pending; no further than `most` in all."""
        ...

    async def pending_by_owner(self, most: int | None = None) -> dict[str, int]:
        """How many are pending for each owner; the `most` owners who have the most, in that order, or all of them."""
        ...

    async def settle(self, request_id: str, status: RequestStatus, at: datetime, ending: Ending | None = None) -> bool:
        """The one update that decides a winner: True for the caller that took it from pending, False for all others."""
        ...

    async def extend(self, request_id: str, deadline: datetime, warn_at: datetime) -> bool:
        """Move the deadline of a pending request that has one; False for any other."""
        ...

    async def page_settled(self, query: SettledFilter, limit: int) -> list[tuple[Request, Answer | None]]:
        """Settled requests with their answers, the newest first, after the filter's cursor."""
        ...

    async def settled_alike(self, query: AlikeFilter, limit: int) -> list[str]:
        """The ids of settled approvals that are alike, the last one to be settled first."""
        ...

    async def settled_asks(self, since: datetime, person_id: str | None, limit: int) -> list[SettledAsk]:
        """What ended since then, the last one first. With a person: what was asked of them, or what they answered."""
        ...

    async def overdue(self, now: datetime, limit: int) -> list[Request]:
        """Pending requests whose deadline has come, the oldest deadline first."""
        ...

    async def next_deadline(self) -> datetime | None: ...

    async def due_warnings(self, now: datetime, limit: int) -> list[Request]:
        """Pending requests of whose deadline somebody is to be warned by now, the oldest warning first."""
        ...

    async def take_warning(self, request_id: str) -> bool:
        """Take the warning off a pending request: True for the caller that did, False for all others."""
        ...

    async def next_warning(self) -> datetime | None: ...


class Answers(Protocol):
    async def add(self, answer: Answer) -> None: ...

    async def of_requests(self, request_ids: Collection[str]) -> dict[str, Answer]: ...


class Events(Protocol):
    async def append(self, thread_id: str, entries: Sequence[EventData], at: datetime) -> list[Event]:
        """Append to the thread's log under the next numbers: consecutive, from 1, without a gap, whoever writes."""
        ...

    async def after(self, thread_id: str, seq: int, limit: int) -> list[Event]: ...

    async def heads(self, thread_ids: Sequence[str]) -> dict[str, int]:
        """The number of each thread's last event."""
        ...

    async def last(self, thread_id: str, kind: EventType, until: int) -> Event | None:
        """The last event of this type whose number is `until` or less."""
        ...


class Effects(Protocol):
    async def get(self, key: EffectKey) -> Effect | None: ...

    async def add(self, effect: Effect) -> None: ...

    async def remove(self, key: EffectKey) -> None:
        """Forget a call that did nothing yet: it comes with other arguments now."""
        ...

    async def change(
        self,
        key: EffectKey,
        state: EffectState,
        at: datetime,
        *,
        run_id: str | None = None,
        epoch: int | None = None,
        asks: int | None = None,
        result: bytes | None = None,
        error: str | None = None,
    ) -> bool:
        """Go to `state` if the transition table allows it from the present one; fields that are None stay."""
        ...

    async def of_thread(self, thread_id: str, *states: EffectState) -> list[Effect]:
        """The thread's effects in one of these states, in the order in which they began."""
        ...

    async def inside(self, thread_id: str, keys: Collection[EffectKey]) -> list[Effect]:
        """The effects whose parent is one of these, in the order in which they began, without their results."""
        ...


class Secrets(Protocol):
    """Values that people gave, sealed before they reach the database."""

    async def put(self, handle: str, thread_id: str, request_id: str, name: str, value: str, at: datetime) -> None: ...

    async def of_thread(self, thread_id: str) -> dict[str, tuple[str, str]]:
        """The thread's values in clear: by handle, the name that was asked for and the value; oldest first."""
        ...

    async def of_request(self, request_id: str) -> dict[str, str]:
        """The values that were given to one request, in clear, by name."""
        ...

    async def destroy_of_thread(self, thread_id: str) -> None: ...

    async def destroy_of_request(self, request_id: str) -> None: ...

    async def destroy_uncollected(self, before: datetime) -> None:
        """Destroy what was given before then to agents that run elsewhere, and was never collected by them."""
        ...


class Transaction(Protocol):
    @property
    def users(self) -> Users: ...
    @property
    def sign_ins(self) -> SignIns: ...
    @property
    def identities(self) -> Identities: ...
    @property
    def threads(self) -> Threads: ...
    @property
    def removals(self) -> Removals: ...
    @property
    def leases(self) -> Leases: ...
    @property
    def runs(self) -> Runs: ...
    @property
    def waiting_runs(self) -> WaitingRuns: ...
    @property
    def pauses(self) -> Pauses: ...
    @property
    def requests(self) -> Requests: ...
    @property
    def answers(self) -> Answers: ...
    @property
    def events(self) -> Events: ...
    @property
    def effects(self) -> Effects: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def secrets(self) -> Secrets: ...
    @property
    def api_keys(self) -> ApiKeys: ...
    @property
    def access(self) -> Access: ...
    @property
    def tickets(self) -> Tickets: ...
    @property
    def grants(self) -> Grants: ...
    @property
    def saved_secrets(self) -> SavedSecrets: ...
    @property
    def replies(self) -> Replies: ...
    @property
    def holds(self) -> Holds: ...
    @property
    def upstream_calls(self) -> UpstreamCalls: ...

    @property
    def policies(self) -> Policies: ...
    @property
    def drills(self) -> Drills: ...
    @property
    def groups(self) -> Groups: ...
    @property
    def routes(self) -> Routes: ...
    @property
    def webhooks(self) -> Webhooks: ...
    @property
    def deliveries(self) -> Deliveries: ...
    @property
    def channels(self) -> Channels: ...
    @property
    def addresses(self) -> Addresses: ...
    @property
    def notices(self) -> Notices: ...
    @property
    def workers(self) -> Workers: ...
    @property
    def follower_questions(self) -> FollowerQuestions: ...
    @property
    def servers(self) -> Servers: ...


class Store(Protocol):
    def transaction(self) -> AbstractAsyncContextManager[Transaction]: ...

    def snapshot(self) -> AbstractAsyncContextManager[Transaction]:
        """A transaction for reading: it sees one state of the database, waits for no writer and keeps none waiting."""
        ...
