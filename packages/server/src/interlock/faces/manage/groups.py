"""Groups of people, finding people by name, and who is away."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import state_of
from interlock.services.teams import groups
from interlock.services.teams.groups import AwayView, ListedGroup
from interlock_client import teams as wire

router = APIRouter(prefix="/api/v1", tags=["groups"])

GroupName = Annotated[str, Path(min_length=1, max_length=64)]


@router.get("/groups", responses=problems(401))
async def list_all(request: Request, caller: Caller) -> wire.Groups:
    """All groups with their members, by name."""
    found = await groups.list_groups(state_of(request).core, caller)
    return wire.Groups(groups=[_group(one) for one in found])


@router.post("/groups", responses=problems(401, 409))
async def create(request: Request, caller: Caller, body: wire.NewGroup) -> wire.Group:
    """Make a group; for admins."""
    return _group(await groups.create(state_of(request).core, caller, body.name, body.members))


@router.put("/groups/{name}", responses=problems(401, 404, 409))
async def set_members(request: Request, caller: Caller, name: GroupName, body: wire.GroupMembers) -> wire.Group:
    """Have a group consist of these; for admins. Who is taken out does not count for what is open either."""
    return _group(await groups.set_members(state_of(request).core, caller, name, body.members))


@router.delete("/groups/{name}", responses=problems(401, 404, 409))
async def remove(request: Request, caller: Caller, name: GroupName) -> wire.GroupRemoved:
    """Remove a group; for admins. What is put to it is then put to nobody."""
    await groups.remove(state_of(request).core, caller, name)
    return wire.GroupRemoved(name=name)


@router.get("/people/names", responses=problems(401))
async def people(request: Request, caller: Caller, q: Annotated[str, Query(max_length=64)] = "") -> wire.FoundPeople:
    """Names of people who may sign in."""
    return wire.FoundPeople(people=await groups.find_people(state_of(request).core, caller, q))


@router.get("/away", responses=problems(401))
async def get_away(
    request: Request, caller: Caller, person: Annotated[str | None, Query(max_length=64)] = None
) -> wire.Away:
    """Whether the caller is away, and when; for an admin somebody else."""
    return _away(await groups.get_away(state_of(request).core, caller, person))


@router.put("/away", responses=problems(401))
async def set_away(request: Request, caller: Caller, body: wire.SetAway) -> wire.Away:
    """Be away from then until then. Asks to the person by name go to `to` as well; no right is taken away."""
    core = state_of(request).core
    return _away(await groups.set_away(core, caller, body.from_, body.until, body.to, body.person))


@router.delete("/away", responses=problems(401))
async def end_away(
    request: Request, caller: Caller, person: Annotated[str | None, Query(max_length=64)] = None
) -> wire.Away:
    """Be back."""
    await groups.end_away(state_of(request).core, caller, person)
    return wire.Away(away=None)


def _group(one: ListedGroup) -> wire.Group:
    return wire.Group.model_validate({"name": one.group.name, "source": one.group.source, "members": list(one.members)})


def _away(found: AwayView | None) -> wire.Away:
    if found is None:
        return wire.Away(away=None)
    away = found.away
    return wire.Away(away=wire.AwayTime.model_validate({"from": away.since, "until": away.until, "to": found.to}))
