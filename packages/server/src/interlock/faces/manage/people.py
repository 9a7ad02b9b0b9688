"""The people of this server, for its admins."""

from collections.abc import Sequence

from fastapi import APIRouter, Request

from interlock.domain.principal import Role, User
from interlock.domain.sign_on import Identity
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import state_of
from interlock.faces.manage.sign_on import entry
from interlock.services.access import accounts, people, sign_on
from interlock.services.core import Core
from interlock_client import account as wire

router = APIRouter(prefix="/api/v1/people", tags=["people"])


@router.get("", responses=problems(401))
async def list_all(request: Request, caller: Caller) -> wire.PeopleList:
    """Everybody with an account, and who had one, by name."""
    core = state_of(request).core
    everybody = await people.list_people(core, caller)
    identities = await sign_on.identities_by_user(core, caller)
    return wire.PeopleList(people=[await _entry(core, user, identities.get(user.id, ())) for user in everybody])


@router.post("/{user_id}/role", responses=problems(401, 404, 409))
async def set_role(request: Request, caller: Caller, user_id: str, body: wire.NewRole) -> wire.PersonEntry:
    """Change what somebody may do; it holds at once. 409 for the only admin."""
    core = state_of(request).core
    user = await people.person_of_id(core, caller, user_id)
    changed = await people.set_role(core, caller, user.username, Role(body.role), body.reviews)
    return await _entry(core, changed, await sign_on.identities_of(core, caller, user_id))


@router.post("/{user_id}/access", responses=problems(401, 404, 409))
async def set_access(request: Request, caller: Caller, user_id: str, body: wire.NewAccess) -> wire.PersonEntry:
    """Keep somebody out, which ends their sessions and suspends their keys; or let them in again."""
    core = state_of(request).core
    user = await people.person_of_id(core, caller, user_id)
    changed = await people.set_allowed(core, caller, user.username, allowed=body.allowed)
    return await _entry(core, changed, await sign_on.identities_of(core, caller, user_id))


@router.delete("/{user_id}", responses=problems(401, 404, 409))
async def delete(request: Request, caller: Caller, user_id: str) -> wire.PersonDeleted:
    """Delete somebody: sessions, keys, grants and saved values of theirs end, and what they left open is cancelled."""
    core = state_of(request).core
    user = await people.person_of_id(core, caller, user_id)
    left = await people.delete_person(core, caller, user.username)
    return wire.PersonDeleted(
        user_id=user.id, sessions=left.sessions, keys=left.keys, grants=left.grants, saved_values=left.saved_values
    )


async def _entry(core: Core, user: User, linked: Sequence[Identity]) -> wire.PersonEntry:
    return wire.PersonEntry.model_validate(
        {
            "user_id": user.id,
            "username": user.username,
            "role": user.role.value,
            "reviews": await accounts.format_reviews(core, user.reviews),
            "created_at": user.created_at,
            "allowed": user.is_allowed,
            "deleted_at": user.deleted_at,
            "identities": [entry(identity) for identity in linked],
        }
    )
