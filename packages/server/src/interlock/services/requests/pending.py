"""Requests as people and agents look at them: one, those of a conversation, and everything that waits."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from interlock.domain.errors import FieldError, Forbidden, InvalidInput, NotFound
from interlock.domain.event import Event
from interlock.domain.kinds import RequestKind
from interlock.domain.principal import Principal, Role
from interlock.domain.request import Answer, Pause, PauseStatus, Request, RequestStatus
from interlock.domain.terms import GROUP
from interlock.domain.thread import Thread
from interlock.ports.bus import Subscription
from interlock.ports.filters import PendingFilter
from interlock.ports.store import Transaction
from interlock.services.core import Core
from interlock.services.teams.eligibility import candidacies_of
from interlock.services.teams.people import RequestPeople, people_of
from interlock.services.threads.following import IDLE_SECONDS
from interlock.services.threads.threads import visible

COUNTED = 10_000
NOT_YOURS = "the request is not yours"


@dataclass(frozen=True, slots=True)
class RequestView:
    request: Request
    answer: Answer | None = None
    """As readers may see it: without the values of sensitive variables."""
    owner: str = ""
    """The name of whose conversation it is, and whose agent asks."""
    people: RequestPeople | None = None
    """Where it stands with its people, where it was read for somebody."""


@dataclass(frozen=True, slots=True)
class RequestQuery:
    """What a caller wants listed; None: anything."""

    kinds: tuple[RequestKind, ...] | None = None
    agent: str | None = None
    risk: str | None = None
    text: str | None = None
    min_age: float | None = None
    max_age: float | None = None
    closing_within: float | None = None
    """Seconds in which its deadline comes."""
    of_whom: str = "all"
    """`all` that the caller may see; `me`: what waits for them; `group:NAME`: what is put to it; `claimed` by them."""


async def view_request(core: Core, principal: Principal, request_id: str, *, wait: float = 0.0) -> RequestView:
    """The request, once it is settled or `wait` seconds have passed."""
    view, thread = await _read_view(core, principal, request_id)
    if wait <= 0 or view.request.status is not RequestStatus.PENDING:
        return view
    try:
        async with asyncio.timeout(wait):
            return await _wait_until_settled(core, principal, view, thread)
    except TimeoutError:
        return (await _read_view(core, principal, request_id))[0]


async def _wait_until_settled(core: Core, principal: Principal, view: RequestView, thread: Thread) -> RequestView:
    async with core.bus.subscribe(thread.id) as news:
        with core.pulse.following(thread.id, news.wake):
            while True:
                # Looked at once more after subscribing: it may have been settled just before.
                view, thread = await _read_view(core, principal, view.request.id)
                if view.request.status is not RequestStatus.PENDING:
                    return view
                await _wait_for_events(core, news, thread)


async def _wait_for_events(core: Core, news: Subscription, thread: Thread) -> None:
    """Wait until the thread's log has come further. However many wait, the store is not asked before."""
    while True:
        item = await news.next(IDLE_SECONDS)
        if isinstance(item, Event) or news.take_lagged() or core.pulse.is_behind(thread.id, thread.seq):
            return


async def _read_view(core: Core, principal: Principal, request_id: str) -> tuple[RequestView, Thread]:
    async with core.store.snapshot() as tx:
        request = await tx.requests.get(request_id)
        if request is None:
            raise NotFound("there is no such request", request_id=request_id)
        thread, people = await _seen_by(core, tx, principal, request)
        answer = (await tx.answers.of_requests([request_id])).get(request_id)
        owners = await tx.users.names_of([thread.owner_id])
    view = readable_view(request, answer, owners.get(thread.owner_id, ""))
    return replace(view, people=people), thread


async def _seen_by(core: Core, tx: Transaction, principal: Principal, request: Request) -> tuple[Thread, RequestPeople]:
    """Its thread, and where it stands with its people: a candidate sees it without seeing the conversation."""
    thread = await tx.threads.get(request.thread_id)
    if thread is None:
        raise Forbidden(NOT_YOURS)
    people = await people_of(tx, principal, thread, request, core.clock.now())
    if not people.access.may_see:
        raise Forbidden(NOT_YOURS)
    return thread, people


def readable_view(request: Request, answer: Answer | None, owner: str = "") -> RequestView:
    """The request with its answer as readers may see it."""
    return RequestView(request, answer and answer.readable(), owner)


async def owners_of(core: Core, requests: Sequence[Request]) -> dict[str, str]:
    """Their names, by id."""
    async with core.store.snapshot() as tx:
        return await tx.users.names_of({request.owner_id for request in requests})


@dataclass(frozen=True, slots=True)
class OpenRequests:
    """Where a conversation stands: how far its log has come, and what is open then."""

    thread_id: str
    seq: int
    open: tuple[tuple[Pause, tuple[Request, ...]], ...]


async def open_requests_of(core: Core, principal: Principal, thread_id: str) -> OpenRequests | None:
    """None where there is no such conversation; `Forbidden` for another's."""
    async with core.store.snapshot() as tx:
        thread = await tx.threads.get(thread_id)
        if thread is None:
            return None
        visible(principal, thread, "the conversation is not yours")
        pauses = await tx.pauses.of_thread(thread_id, PauseStatus.OPEN)
        waiting: defaultdict[str, list[Request]] = defaultdict(list)
        for request in await tx.requests.open_of(thread_id):
            waiting[request.pause_id].append(request)
    return OpenRequests(thread_id, thread.seq, tuple((pause, tuple(waiting[pause.id])) for pause in pauses))


async def requests_opened_at(core: Core, principal: Principal, thread_id: str, seq: int) -> list[RequestView]:
    """What the pause asks, or asked, that the event of this number told of first; nothing where none did."""
    async with core.store.snapshot() as tx:
        visible(principal, await tx.threads.get(thread_id))
        pause = await tx.pauses.opened_by(thread_id, seq)
        requests = await tx.requests.of_pauses([pause.id]) if pause else []
        answers = await tx.answers.of_requests([request.id for request in requests])
    return [readable_view(request, answers.get(request.id)) for request in requests]


async def requests_of_pause(core: Core, pause_id: str) -> tuple[int | None, list[Request]]:
    """The number of the event that told of a pause first, and what it asks; for who was shown its log already."""
    async with core.store.snapshot() as tx:
        pause = await tx.pauses.get(pause_id)
        requests = await tx.requests.of_pauses([pause_id])
    return (pause.opened_seq if pause else None), requests


async def pending_of(core: Core, principal: Principal, thread_id: str) -> list[Request]:
    """What one conversation waits for; nothing where there is no such conversation."""
    found = await open_requests_of(core, principal, thread_id)
    return [request for _, requests in found.open for request in requests] if found else []


async def list_pending(
    core: Core, principal: Principal, query: RequestQuery, after: tuple[datetime, str] | None, limit: int
) -> tuple[list[Request], int]:
    """Everything that waits and that the caller may see, the oldest first, and how much there is (up to a bound)."""
    now = core.clock.now()
    filtered = PendingFilter(
        kinds=query.kinds,
        agent=query.agent,
        risk=query.risk,
        text=query.text,
        created_after=None if query.max_age is None else now - timedelta(seconds=query.max_age),
        created_before=None if query.min_age is None else now - timedelta(seconds=query.min_age),
        closing_before=None if query.closing_within is None else now + timedelta(seconds=query.closing_within),
        after=after,
    )
    async with core.store.snapshot() as tx:
        mine = await _narrow(tx, principal, query.of_whom, _restrict(principal, filtered), now)
        total = await tx.requests.count_pending(mine, COUNTED)
        found = await tx.requests.page_pending(mine, limit)
    # Those of one pause in their own order; the page ends where its last one by time and id stands.
    found.sort(key=lambda request: (request.created_at, request.pause_id, request.position))
    return found, total


def last_of(found: Sequence[Request]) -> tuple[datetime, str]:
    """Where the next page begins."""
    return max((request.created_at, request.id) for request in found)


async def _narrow(
    tx: Transaction, principal: Principal, of_whom: str, query: PendingFilter, now: datetime
) -> PendingFilter:
    """With what is put to the principal, and as far as they want it."""
    if principal.is_agent:
        return query
    groups = (await tx.groups.of_people([principal.id])).get(principal.id, frozenset())
    candidacies = candidacies_of(principal.id, groups)
    # An admin sees all of it in the first branch.
    seen = query if query.owner_id is None else replace(query, candidacies=candidacies)
    if of_whom == "claimed":
        return replace(seen, claimed_by=principal.id, claimed_at=now)
    if of_whom == "me":
        mine = replace(query, candidacies=candidacies, is_for_anybody=False)
        return mine if query.owner_id is not None else replace(mine, owner_id=principal.id)
    if of_whom.startswith(GROUP):
        if of_whom not in candidacies and principal.role is not Role.ADMIN:
            raise Forbidden("what is put to a group is for its members to see, and for admins")
        return replace(query, candidacies=(of_whom,), only_candidacies=True)
    if of_whom != "all":
        message = "for is me, claimed, all or group:NAME"
        raise InvalidInput(message, [FieldError("for", "unknown", message)])
    return seen


def _restrict(principal: Principal, query: PendingFilter) -> PendingFilter:
    """The filter, narrowed to what the principal may see."""
    if principal.is_agent:
        assert principal.on_behalf_of is not None
        return replace(query, owner_id=principal.on_behalf_of.id, asker_id=principal.id)
    if principal.role is Role.ADMIN:
        return query
    reviews = principal.reviews if principal.role is Role.REVIEWER else ()
    return replace(query, owner_id=principal.id, reviews=reviews)
