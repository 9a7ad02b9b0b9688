"""Who a request is put to: by the rule that decided, by its asker, and by the levels of its escalation."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.event import EventType, UserMessage
from interlock.domain.request import Request, warning_before
from interlock.domain.team import Candidate
from interlock.domain.terms import EVERYBODY, GROUP, PERSON, Level, Routing, Step, Terms, places_filled
from interlock.domain.thread import Thread
from interlock.ports.store import Transaction
from interlock.services.core import Unit

MOST_PASSED_ON = 3
"""Somebody who is away may name somebody who is away too."""
MOST_LOOKED_AT = 50
"""People of a rule who are looked at one by one."""
CLIENT_TIMEOUT = 300.0
"""Seconds that `interlock.ask` and other clients send where their caller names none."""
MCP_TIMEOUT = 3_600.0
"""The deadline of what is asked over MCP, and of what a gateway asks, where the call names none."""


async def route(
    work: Unit, thread: Thread, request: Request, terms: Terms, version: int | None, rule: str | None
) -> Request:
    """The request with its terms, frozen as they are now: names become ids, and who asked is left out."""
    terms = await _resolve(work, terms.of_kind(request.kind))
    if terms.separate:
        terms = replace(terms, excluded=await askers(work.tx, thread))
    escalate_at = work.now + timedelta(seconds=terms.levels[0].after) if terms.levels else None
    if escalate_at and not await is_anybody_there(work, terms.candidates, terms.excluded):
        escalate_at = work.now
    routed = replace(request, routing=Routing(terms, version, rule, escalate_at=escalate_at))
    return _with_deadline(work, routed, terms)


def _with_deadline(work: Unit, request: Request, terms: Terms) -> Request:
    """An ask's own time stands; one that its server or client filled in is none of its own."""
    settings = work.core.settings
    usual = (None, CLIENT_TIMEOUT, MCP_TIMEOUT, settings.approval_timeout, settings.confirmation_timeout)
    if terms.deadline is None or request.timeout_seconds not in usual:
        return request
    seconds = float(terms.deadline)
    deadline = work.now + timedelta(seconds=seconds)
    return replace(request, timeout_seconds=seconds, deadline=deadline, warn_at=deadline - warning_before(seconds))


async def put_to_candidates(work: Unit, requests: Sequence[Request]) -> None:
    """Write who the requests are put to, once they are written themselves."""
    for request in requests:
        if request.routing is not None:
            work.set_timer()
            candidates = request.routing.terms.candidates
            await work.tx.routes.add([Candidate(request.id, one, 0, request.created_at) for one in candidates])


async def add_candidates(
    work: Unit, request: Request, candidates: Collection[str], level: int, *, is_wide: bool = True
) -> list[str]:
    """Put it to more people, and to those who stand in for them, which are given too; nobody loses what they
    have.

    Unless they may fill any place (`is_wide`), the terms say which.
    """
    everyone = [*candidates, *await in_place_of_absent(work, candidates)]
    added = [Candidate(request.id, one, level, request.created_at, is_added=is_wide) for one in everyone]
    await work.tx.routes.add(added)
    return everyone


async def in_place_of_absent(work: Unit, candidates: Collection[str]) -> list[str]:
    """Who stands in for those who are named and away; over three of them at most."""
    found: list[str] = []
    absent = {one.removeprefix(PERSON) for one in candidates if one.startswith(PERSON)}
    for _ in range(MOST_PASSED_ON):
        aways = await work.tx.routes.aways(absent) if absent else {}
        absent = {away.to_id for away in aways.values() if away.to_id and away.covers(work.now)}
        absent -= {one.removeprefix(PERSON) for one in found}
        found += [f"{PERSON}{one}" for one in sorted(absent)]
    return found


async def is_anybody_there(work: Unit, candidates: Collection[str], excluded: Collection[str]) -> bool:
    """Whether any of them is not away, or has somebody who stands in."""
    if EVERYBODY in candidates:
        return True
    people = {one.removeprefix(PERSON) for one in candidates if one.startswith(PERSON)}
    for one in candidates:
        group = await work.tx.groups.get(one.removeprefix(GROUP)) if one.startswith(GROUP) else None
        people |= set(group.members) if group else set()
    people |= {one.removeprefix(PERSON) for one in await in_place_of_absent(work, candidates)}
    aways = await work.tx.routes.aways(people)
    for one in people - set(excluded):
        user = await work.tx.users.get(one)
        is_here = one not in aways or not aways[one].covers(work.now)
        if user is not None and user.is_allowed and is_here:
            return True
    return False


async def askers(tx: Transaction, thread: Thread) -> tuple[str, ...]:
    """Everybody behind the ask: whose conversation it is, and who sent the message that began the run.

    The person behind an agent's key owns its conversations.
    """
    asked = [thread.owner_id]
    last = None if thread.is_outside else await tx.events.last(thread.id, EventType.USER_MESSAGE, 2**62)
    if last is not None and isinstance(last.data, UserMessage):
        sender = await tx.users.by_name(last.data.by)
        asked += [sender.id] if sender else []
    return tuple(dict.fromkeys(asked))


async def _resolve(work: Unit, terms: Terms) -> Terms:
    """With the ids of people in the place of their names, and with those who stand in for who is away."""
    steps: list[Step] = []
    for step in terms.steps:
        named = await resolve(work.tx, step.candidates)
        steps.append(Step((*named, *await in_place_of_absent(work, named)), step.people))
    levels = [Level(await resolve(work.tx, level.candidates), level.after) for level in terms.levels]
    only = await resolve(work.tx, terms.only)
    only = (*only, *await in_place_of_absent(work, only)) if only else ()
    return replace(terms, steps=tuple(steps), levels=tuple(levels), only=only)


async def resolve(tx: Transaction, candidates: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    for one in candidates:
        if not one.startswith(PERSON):
            found.append(one)
            continue
        user = await tx.users.by_name(one.removeprefix(PERSON))
        # A name that is nobody's stays one, so that nobody takes its place: no id begins like that.
        found.append(f"{PERSON}{user.id}" if user else f"{PERSON}?{one.removeprefix(PERSON)}")
    return tuple(found)


async def unknown_candidates(tx: Transaction, candidates: Collection[str]) -> list[str]:
    """What is wrong with them: names of nobody, and groups without members, which would wait without end."""
    problems: list[str] = []
    for one in dict.fromkeys(candidates):
        if one.startswith(PERSON):
            user = await tx.users.by_name(one.removeprefix(PERSON))
            if user is None or not user.is_allowed:
                problems.append(f"there is nobody called {one.removeprefix(PERSON)}")
        elif one.startswith(GROUP):
            group = await tx.groups.get(one.removeprefix(GROUP))
            if group is None:
                problems.append(f"there is no group {one.removeprefix(GROUP)}")
            elif not await _allowed(tx, group.members):
                problems.append(f"nobody is in the group {group.name}")
    return problems


async def lack_of_people(tx: Transaction, terms: Terms, excluded: Collection[str] = ()) -> str | None:
    """What is wrong where all who are named cannot fill the places, whatever they say: it would wait without end."""
    if EVERYBODY in terms.candidates:
        return None
    filled = _filled(terms, await _places_of(tx, terms), excluded)
    named = "those who are named and did not ask" if excluded else "those who are named"
    return None if filled >= terms.people else f"{terms.people} people are needed, and {named} can be {filled}"


async def lack_where_one_asks(tx: Transaction, terms: Terms) -> bool:
    """Whether enough people are named, and not enough are left where a certain one of them asks."""
    if not terms.separate or EVERYBODY in terms.candidates:
        return False
    places = await _places_of(tx, terms)
    if len(places) > MOST_LOOKED_AT:
        return False
    return _filled(terms, places, ()) >= terms.people > min(_filled(terms, places, [one]) for one in places)


async def _places_of(tx: Transaction, terms: Terms) -> dict[str, frozenset[int]]:
    """By the ids of all who are named, the places that are open to them."""
    open_to: dict[str, set[int]] = {}
    for number, step in enumerate(terms.steps):
        for one in await _people_of(tx, step.candidates):
            open_to.setdefault(one, set()).add(number)
    added = [one for level in terms.levels for one in level.candidates]
    for one in await _people_of(tx, added):
        open_to[one] = set(range(len(terms.steps)))
    return {one: frozenset(steps) for one, steps in open_to.items()}


def _filled(terms: Terms, places: Mapping[str, frozenset[int]], excluded: Collection[str]) -> int:
    return places_filled(terms.steps, [steps for one, steps in places.items() if one not in excluded])


async def _people_of(tx: Transaction, candidates: Sequence[str]) -> set[str]:
    """The ids of all who are meant, groups with their members, as far as they may sign in."""
    named = [one for one in await resolve(tx, candidates) if one.startswith(PERSON)]
    people = {one.removeprefix(PERSON) for one in named}
    for one in candidates:
        group = await tx.groups.get(one.removeprefix(GROUP)) if one.startswith(GROUP) else None
        people |= set(group.members) if group else set()
    return await _allowed(tx, people)


async def _allowed(tx: Transaction, person_ids: Collection[str]) -> set[str]:
    wanted = set(person_ids)
    # Many at one look, in place of one at each.
    are_many = len(wanted) > MOST_LOOKED_AT
    found = await tx.users.all() if are_many else [await tx.users.get(one) for one in wanted]
    return {user.id for user in found if user is not None and user.is_allowed and user.id in wanted}


async def check_candidates(tx: Transaction, candidates: Collection[str], field: str) -> None:
    if problems := await unknown_candidates(tx, candidates):
        raise InvalidInput("; ".join(problems), [FieldError(field, "unknown", one) for one in problems])
