"""Claims, and requests that are passed on: who has it, and who is asked too."""

from datetime import datetime, timedelta

from interlock.domain import event_json
from interlock.domain.errors import Claimed, Conflict, FieldError, Forbidden, InvalidInput, NotFound
from interlock.domain.event import RequestClaimed, RequestRouted
from interlock.domain.principal import Principal, Role, User, principal_of
from interlock.domain.request import Request, RequestStatus
from interlock.domain.team import LONGEST_COMMENT
from interlock.domain.terms import PERSON, VoteCount
from interlock.domain.thread import Thread
from interlock.domain.webhook import WebhookEvent
from interlock.services.channels.notices import notify
from interlock.services.core import Core, Unit, unit
from interlock.services.requests.settling import settlement_error
from interlock.services.teams.eligibility import RequestAccess, access_to, candidacies_of, claimer_of, names_of
from interlock.services.teams.routing import add_candidates, check_candidates, resolve
from interlock.services.teams.voting import count, record_count
from interlock.services.threads.threads import NOT_YOURS
from interlock.services.webhooks.webhooks import enqueue_deliveries

CLAIMED_FOR = timedelta(minutes=15)
CLAIMED_IN_ALL = timedelta(hours=1)
"""So long claims hold off the next level at most, however often they are renewed, and by whom."""
MOST_NOTE = LONGEST_COMMENT


async def lock_request(work: Unit, principal: Principal, request_id: str) -> tuple[Request, Thread, RequestAccess]:
    """A request with its thread, locked, as far as the caller may see it."""
    request = await work.tx.requests.get(request_id)
    if request is None:
        raise NotFound("there is no such request", request_id=request_id)
    thread = await work.tx.threads.lock(request.thread_id)
    # As it is now that nobody else can change it.
    request = await work.tx.requests.get(request_id) or request
    access = await access_to(work.tx, principal, thread, request) if thread is not None else None
    if thread is None or access is None or not access.may_see:
        raise Forbidden(NOT_YOURS)
    return request, thread, access


async def claim(core: Core, principal: Principal, request_id: str) -> datetime:
    """Say that one has it, for a quarter of an hour; said again it is as long from then on, for an hour in all.

    It is no lock: whoever else may answer still may, once they say that they know of it.
    """
    async with unit(core) as work:
        request, thread, access = await lock_request(work, principal, request_id)
        await _check_pending(work, request)
        if request.routing is None:
            raise Conflict("this request is put to nobody by name: whoever may answer it does")
        if not access.may_answer:
            raise Forbidden("only who may answer it claims a request")
        if request.routing.claimed_by and await claimer_of(work.tx, thread, request, work.now) is None:
            await work.tx.routes.release(request_id, request.routing.claimed_by)
        since = request.routing.claimed_at or work.now
        until = min(work.now + CLAIMED_FOR, since + CLAIMED_IN_ALL)
        if until <= work.now:
            raise Conflict("it was claimed for an hour already: answer it, or pass it on")
        if not await work.tx.routes.claim(request_id, principal.id, work.now, until):
            raise await claimed(work, request)
        await _record(work, principal, request, RequestClaimed(request_id, request.pause_id, principal.name, until))
    return until


async def release(core: Core, principal: Principal, request_id: str) -> None:
    async with unit(core) as work:
        request, _, _ = await lock_request(work, principal, request_id)
        await _check_pending(work, request)
        if not await work.tx.routes.release(request_id, principal.id):
            raise Conflict("you have not claimed it")
        await _record(work, principal, request, RequestClaimed(request_id, request.pause_id, None, None))


async def check_claim(work: Unit, principal: Principal, thread: Thread, request: Request) -> None:
    """`Claimed` where somebody else has it."""
    if request.status is not RequestStatus.PENDING:
        return
    if await claimer_of(work.tx, thread, request, work.now) not in (None, principal.id):
        raise await claimed(work, request)


async def claimed(work: Unit, request: Request) -> Claimed:
    assert request.routing is not None
    by, until = request.routing.claimed_by or "", request.routing.claimed_until or work.now
    name = (await work.tx.users.names_of([by])).get(by, by)
    return Claimed(f"{name} has it: answer all the same with over_claim", name, until)


async def delegate(core: Core, principal: Principal, request_id: str, to: str, note: str = "") -> None:
    """Pass one's place on, to somebody who may decide such things anyway. Who passed it on has none any more."""
    _check_note(note)
    async with unit(core) as work:
        request, thread, access = await lock_request(work, principal, request_id)
        await _check_pending(work, request)
        if request.routing is None:
            raise Conflict("this request is put to nobody by name: there is no place to pass on")
        if not access.may_answer:
            raise Forbidden("only who may answer it passes a request on")
        user = await work.tx.users.by_name(to)
        if user is None or not user.is_allowed or user.id == principal.id:
            raise _wrong("to", "unknown", "there is nobody else of this name")
        votes = await work.tx.routes.votes(request_id)
        if any(vote.person_id == principal.id for vote in votes):
            raise Conflict("you have voted: take your yes back before you pass it on")
        theirs = (await access_to(work.tx, principal_of(user), thread, request)).open_steps
        if not theirs and not await _may_be_asked(work, request, thread, user):
            raise Forbidden("it is passed on to people only who may be asked for it, or review its agent")
        place: list[str] = []
        # They may be asked for another place already; the one that is passed on would be nobody's.
        if more := access.open_steps - theirs:
            place = await add_candidates(work, request, [f"{PERSON}{user.id}"], request.routing.level, is_wide=False)
        terms = request.routing.terms.passed_on(principal.id, place, more)
        await work.tx.routes.set_terms(request_id, terms)
        # Whoever passed it on does not have it any more, and could not let go of it later.
        if await work.tx.routes.release(request_id, principal.id):
            await _record(work, principal, request, RequestClaimed(request_id, request.pause_id, None, None))
        await _routed(work, principal, thread, request, (f"{PERSON}{user.id}",), note)


async def _may_be_asked(work: Unit, request: Request, thread: Thread, user: User) -> bool:
    """At a level that is still to come, or as a reviewer of the agent: passing on makes nobody eligible who is not."""
    assert request.routing is not None
    person = principal_of(user)
    if person.id in request.routing.terms.excluded:
        return False
    groups = (await work.tx.groups.of_people([person.id])).get(person.id, frozenset())
    later = {one for level in request.routing.terms.levels for one in level.candidates}
    is_reviewer = person.role is Role.REVIEWER and person.may_answer(thread)
    return is_reviewer or not later.isdisjoint(candidacies_of(person.id, groups))


async def route(core: Core, principal: Principal, request_id: str, candidates: tuple[str, ...], note: str = "") -> None:
    """Put it to more people: for admins, who do not decide it themselves by that."""
    _check_note(note)
    if principal.role is not Role.ADMIN:
        raise Forbidden("only an admin puts requests to others")
    async with unit(core) as work:
        request, thread, access = await lock_request(work, principal, request_id)
        await _check_pending(work, request)
        if request.routing is None:
            raise Conflict("this request is put to nobody by name: whoever may answer it does")
        await check_candidates(work.tx, candidates, "from")
        found = await resolve(work.tx, candidates)
        if not access.may_answer:
            # Nobody makes a candidate of themselves, by a group that they are in neither.
            await work.tx.routes.set_terms(request_id, request.routing.terms.without(principal.id))
        await add_candidates(work, request, found, request.routing.level)
        await _routed(work, principal, thread, request, found, note)


async def withdraw_vote(core: Core, principal: Principal, request_id: str) -> VoteCount:
    """Take a yes back, or a no that was not the last one, which is possible until the end."""
    async with unit(core) as work:
        request, thread, _ = await lock_request(work, principal, request_id)
        await _check_pending(work, request)
        if request.routing is None or not await work.tx.routes.withdraw_vote(request_id, principal.id):
            raise Conflict("there is no vote of yours to take back")
        left, _ = await count(work.tx, thread, request)
        said = {"request_id": request_id, "counted": left.yes, "needed": left.needed}
        await work.tx.audit.append(request.thread_id, principal, "request.vote_withdrawn", said, work.now)
        await record_count(work, request, left)
    return left


async def _routed(
    work: Unit, by: Principal, thread: Thread, request: Request, found: tuple[str, ...], note: str
) -> None:
    assert request.routing is not None
    names = await names_of(work.tx, found)
    event = RequestRouted(request.id, request.pause_id, names, request.routing.level, by.name, note or None)
    await _record(work, by, request, event)
    await enqueue_deliveries(
        work, WebhookEvent.ROUTED, request, more={"candidates": list(names), "level": request.routing.level}
    )
    await notify(work, thread, request, found)


async def _record(work: Unit, by: Principal, request: Request, event: RequestClaimed | RequestRouted) -> None:
    await work.tx.audit.append(request.thread_id, by, str(event.type), event_json.to_json(event), work.now)
    await work.record(request.thread_id, event)


async def _check_pending(work: Unit, request: Request) -> None:
    if request.status is not RequestStatus.PENDING:
        raise await settlement_error(work, request.id)


def _check_note(note: str) -> None:
    if len(note) > MOST_NOTE:
        raise _wrong("note", "too_long", f"a note has {MOST_NOTE} characters at most")


def _wrong(field: str, code: str, message: str) -> InvalidInput:
    return InvalidInput(message, [FieldError(field, code, message)])
