"""People, as an admin or the operator sees them: their roles, who may sign in, and who is gone.

There is an admin at all times: what would leave none is refused, whoever else does the same at that moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from interlock.domain.errors import Forbidden, InvalidInput, LastAdmin
from interlock.domain.principal import Principal, Role, User
from interlock.services.access.accounts import parse_reviews, record, require_user
from interlock.services.access.sign_ins import check_signed_in
from interlock.services.core import Core, Unit, unit


@dataclass(frozen=True, slots=True)
class EndedAccess:
    """What ended with somebody."""

    sessions: int
    keys: int
    grants: int
    saved_values: int


async def list_people(core: Core, principal: Principal) -> list[User]:
    """Everybody with an account, and who had one, by name; for admins."""
    check_admin(principal)
    async with core.store.snapshot() as tx:
        return await tx.users.all()


async def person_of_id(core: Core, principal: Principal, user_id: str) -> User:
    """For admins: who is to be changed."""
    check_admin(principal)
    check_signed_in(principal)
    async with core.store.snapshot() as tx:
        return require_user(await tx.users.get(user_id), user_id)


async def set_role(core: Core, by: Principal, username: str, role: Role, reviews: Sequence[str] = ()) -> User:
    if reviews and role is not Role.REVIEWER:
        raise InvalidInput("only a reviewer reviews agents")
    async with unit(core) as work:
        user = await _lock_user(work, username)
        review_ids = await parse_reviews(work, reviews)
        await work.tx.users.set_role(user.id, role, review_ids)
        await _check_admin_left(work, user)
        before = {"role": user.role, "reviews": list(user.reviews)}
        await record(work, by, "user.role_changed", user, role=role, reviews=list(reviews), before=before)
    return replace(user, role=role, reviews=review_ids)


async def set_allowed(core: Core, by: Principal, username: str, *, allowed: bool) -> User:
    """Keep somebody out, or let them in again. Keys hold again then; sessions have ended."""
    async with unit(core) as work:
        user = await _lock_user(work, username)
        if allowed == user.is_allowed:
            return user
        disabled_at = None if allowed else work.now
        await work.tx.users.set_disabled(user.id, disabled_at)
        await _check_admin_left(work, user)
        if not allowed:
            await work.tx.users.end_tokens(user.id, work.now)
        await record(work, by, "user.allowed" if allowed else "user.disallowed", user)
    return replace(user, disabled_at=disabled_at)


async def delete_person(core: Core, by: Principal, username: str) -> EndedAccess:
    """Somebody is gone: no credential of theirs holds, nothing is answered in their name, and nobody takes the name.

    Their conversations stay, for those who may see them; what runs or waits in them is ended by `leaving`.
    """
    async with unit(core) as work:
        user = await _lock_user(work, username)
        keys = await work.tx.api_keys.revoke_of(user.id, work.now)
        grants = await work.tx.grants.revoke_of(user.id, by.name, work.now)
        saved = await work.tx.saved_secrets.delete_of(user.id)
        await work.tx.identities.forget_of(user.id)
        await work.tx.drills.drop_of(user.id)
        await work.tx.addresses.forget_of(user.id)
        left = EndedAccess(await work.tx.users.end_tokens(user.id, work.now), len(keys), len(grants), saved)
        await work.tx.users.delete(user.id, work.now)
        await _check_admin_left(work, user)
        ended = {"keys": keys, "grants": grants, "saved_values": saved, "sessions": left.sessions}
        await record(work, by, "user.deleted", user, role=user.role, **ended)
        work.remove()
    return left


async def _lock_user(work: Unit, username: str) -> User:
    """Who is to be changed; until the transaction ends nobody else changes who is an admin."""
    await work.tx.users.alone()
    user = require_user(await work.tx.users.by_name(username), username)
    # Before anything else of theirs, in the order in which everybody takes it.
    return require_user(await work.tx.users.lock(user.id), username)


async def _check_admin_left(work: Unit, user: User) -> None:
    """After the change: it is undone with its transaction."""
    if user.role is Role.ADMIN and user.is_allowed and not await work.tx.users.count_admins():
        raise LastAdmin(f"{user.username} is the only admin: make somebody else one first")


def check_admin(principal: Principal) -> None:
    if principal.role is not Role.ADMIN:
        raise Forbidden("people are for admins to see and to change")
