"""Groups of people, and who is away."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.errors import Conflict, FieldError, Forbidden, InvalidInput, NotFound
from interlock.domain.moment import to_iso
from interlock.domain.principal import SYSTEM, Principal, Role
from interlock.domain.team import MOST_MEMBERS, Away, Group, check_group_name
from interlock.ports.store import Transaction
from interlock.services.core import Core, Unit, unit

LOCAL = "local"
OIDC = "oidc"
MOST_FOUND = 20
MOST_PASSED_ON = 3

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ListedGroup:
    group: Group
    members: Sequence[str]
    """Their names."""


@dataclass(frozen=True, slots=True)
class AwayView:
    away: Away
    to: str | None
    """By name."""


async def list_groups(core: Core, principal: Principal) -> list[ListedGroup]:
    """For people: they are named in rules, and on requests."""
    _check_person(principal)
    async with core.store.snapshot() as tx:
        found = await tx.groups.all()
        names = await tx.users.names_of({one for group in found for one in group.members})
    return [ListedGroup(one, sorted(names[member] for member in one.members if member in names)) for one in found]


async def create(core: Core, principal: Principal, name: str, members: Sequence[str]) -> ListedGroup:
    admin_only(principal)
    async with unit(core) as work:
        group = Group(check_group_name(name), LOCAL, work.now, await _ids_of(work.tx, members))
        if not await work.tx.groups.add(group):
            raise Conflict(f"there is a group {name} already")
        made = {"group": name, "members": sorted(members)}
        await work.tx.audit.append(SERVER_CHAIN, principal, "group.created", made, work.now)
    return ListedGroup(group, sorted(dict.fromkeys(members)))


async def set_members(core: Core, principal: Principal, name: str, members: Sequence[str]) -> ListedGroup:
    """From now on these. Who is taken out does not count any more for what is still open."""
    admin_only(principal)
    async with unit(core) as work:
        group = await _local(work, name)
        before = await work.tx.users.names_of(group.members)
        ids = await _ids_of(work.tx, members)
        await work.tx.groups.set_members(name, ids)
        changed = {"group": name, "members": sorted(members), "before": sorted(before.values())}
        await work.tx.audit.append(SERVER_CHAIN, principal, "group.changed", changed, work.now)
    return ListedGroup(replace(group, members=ids), sorted(dict.fromkeys(members)))


async def remove(core: Core, principal: Principal, name: str) -> None:
    """What is put to it waits for nobody of it any more; whoever asked, and admins, can end that."""
    admin_only(principal)
    async with unit(core) as work:
        await _local(work, name)
        await work.tx.groups.remove(name)
        await work.tx.audit.append(SERVER_CHAIN, principal, "group.removed", {"group": name}, work.now)


async def follow_sign_on(work: Unit, person_id: str, names: Sequence[str]) -> None:
    """From now on somebody is in these of the groups that single sign-on brings, and in no other of them.

    A group that was not known is made. Nobody gets into a group of this server's own by the name of one elsewhere.
    """
    known = {one.name: one for one in await work.tx.groups.all()}
    before = {name for name, one in known.items() if one.source == OIDC and person_id in one.members}
    found = [name for name in names if await _is_brought(work, name, known.get(name))]
    if set(found) == before:
        return
    await work.tx.groups.set_of_person(person_id, OIDC, found)
    changed = {"person_id": person_id, "groups": sorted(found), "before": sorted(before)}
    await work.tx.audit.append(SERVER_CHAIN, SYSTEM, "groups.followed", changed, work.now)


async def _is_brought(work: Unit, name: str, known: Group | None) -> bool:
    """Whether it is a group of single sign-on; it is made where it is not known and can be one here."""
    if known is None:
        try:
            made = Group(check_group_name(name), OIDC, work.now)
        except InvalidInput:
            logger.info("single sign-on: %r is no name of a group here, and is left out", name)
            return False
        if await work.tx.groups.add(made):
            about = {"group": name, "source": OIDC, "members": list[str]()}
            await work.tx.audit.append(SERVER_CHAIN, SYSTEM, "group.created", about, work.now)
            return True
        # Somebody made it meanwhile.
        known = await work.tx.groups.get(name)
    if known is None or known.source != OIDC:
        logger.warning("single sign-on: %s is a group of this server's own, and nobody is brought into it", name)
        return False
    return True


async def find_people(core: Core, principal: Principal, query: str) -> list[str]:
    """Names of people who may sign in, for who passes a request on."""
    _check_person(principal)
    async with core.store.snapshot() as tx:
        users = await tx.users.all()
    wanted = query.casefold()
    return [user.username for user in users if user.is_allowed and wanted in user.username.casefold()][:MOST_FOUND]


async def get_away(core: Core, principal: Principal, person: str | None = None) -> AwayView | None:
    """When somebody is away: oneself, or for an admin anybody."""
    async with core.store.snapshot() as tx:
        person_id = await _person(tx, principal, person)
        away = (await tx.routes.aways([person_id])).get(person_id)
        names = await tx.users.names_of([away.to_id]) if away and away.to_id else {}
    return None if away is None else AwayView(away, names.get(away.to_id or ""))


async def set_away(
    core: Core, principal: Principal, since: datetime, until: datetime, to: str | None, person: str | None = None
) -> AwayView:
    """Say that somebody is away: oneself, or for an admin anybody. It takes no right away."""
    if since >= until:
        raise _wrong("until", "range", "until comes after from")
    async with unit(core) as work:
        person_id = await _person(work.tx, principal, person)
        to_id = (await _ids_of(work.tx, [to], "to"))[0] if to else None
        if to_id is not None:
            await _check_chain(work, person_id, to_id)
        away = Away(person_id, since, until, to_id)
        await work.tx.routes.set_away(away)
        said = {"person_id": person_id, "from": to_iso(since), "until": to_iso(until), "to": to}
        await work.tx.audit.append(SERVER_CHAIN, principal, "away.set", said, work.now)
    return AwayView(away, to)


async def end_away(core: Core, principal: Principal, person: str | None = None) -> None:
    async with unit(core) as work:
        person_id = await _person(work.tx, principal, person)
        if await work.tx.routes.end_away(person_id):
            await work.tx.audit.append(SERVER_CHAIN, principal, "away.ended", {"person_id": person_id}, work.now)


async def _check_chain(work: Unit, person_id: str, to_id: str) -> None:
    """Who stands in may be away too, so often at most, and nobody for themselves."""
    at = to_id
    for _ in range(MOST_PASSED_ON):
        if at == person_id:
            raise _wrong("to", "cycle", "nobody stands in for themselves, over others neither")
        away = (await work.tx.routes.aways([at])).get(at)
        if away is None or away.to_id is None:
            return
        at = away.to_id
    raise _wrong("to", "too_long", f"who stands in is away too, more than {MOST_PASSED_ON} in a row")


async def _person(tx: Transaction, principal: Principal, named: str | None) -> str:
    _check_person(principal)
    if named is None or named == principal.name:
        return principal.id
    if principal.role is not Role.ADMIN:
        raise Forbidden("only an admin sees and says that others are away")
    return (await _ids_of(tx, [named], "person"))[0]


async def _ids_of(tx: Transaction, names: Sequence[str], field: str = "members") -> tuple[str, ...]:
    if len(names) > MOST_MEMBERS:
        raise _wrong(field, "too_many", f"a group has {MOST_MEMBERS} members at most")
    ids: list[str] = []
    for name in dict.fromkeys(names):
        user = await tx.users.by_name(name)
        if user is None or user.deleted_at is not None:
            raise _wrong(field, "unknown", f"there is nobody called {name}")
        ids.append(user.id)
    return tuple(ids)


async def _local(work: Unit, name: str) -> Group:
    group = await work.tx.groups.get(name)
    if group is None:
        raise NotFound(f"there is no group {name}")
    if group.source != LOCAL:
        raise Conflict("its members come with single sign-on: change them there")
    return group


def admin_only(principal: Principal) -> None:
    if principal.role is not Role.ADMIN:
        raise Forbidden("groups are for admins to change")


def _check_person(principal: Principal) -> None:
    if principal.is_agent:
        raise Forbidden("an agent's key may not look at people")


def _wrong(field: str, code: str, message: str) -> InvalidInput:
    return InvalidInput(message, [FieldError(field, code, message)])
