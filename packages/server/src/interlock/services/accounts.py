"""Accounts of people: registering, signing in, and what an operator does with them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.errors import FieldError, Forbidden, InvalidInput, NotAuthenticated, NotFound
from interlock.domain.ids import new_id
from interlock.domain.names import FORM, OF_ADMINS, RESERVED, is_like_any, is_mixed, is_reserved
from interlock.domain.principal import OF_OWNER, SYSTEM, Principal, Role, User, principal_of
from interlock.services.core import Core, Unit, unit
from interlock.services.refused import Attempt

PASSWORD_LENGTH = range(8, 257)
_UNKNOWN = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$KAQdLrOGwLxSvhZ8WyU3C6zp9tJmYI4lHcVNyLWLP7k"
"""Verified for names that do not exist, so that the time taken tells nobody whether one does."""


async def register(core: Core, username: str, password: str) -> User:
    """Make an account; the first one is the admin's. `Forbidden` when registration is closed."""
    if not core.policy.registration_open:
        raise Forbidden("registration is closed; ask the operator for an account")
    return await create_user(core, username, password, role=None, how="registered")


async def create_user(
    core: Core,
    username: str,
    password: str,
    *,
    role: Role | None,
    reviews: Sequence[str] = (),
    how: str = "command",
) -> User:
    """`how` is for the audit trail: who registers, or comes with the server's link, makes their own account."""
    check_new(username, password)
    password_hash = await core.passwords.hash(password)
    async with unit(core) as work:
        await work.tx.users.alone()
        names = await work.tx.users.names()
        if role is None:
            role = Role.OWNER if names else Role.ADMIN
        _check_free(username, names, role)
        named = await _reviewed_by_id(work, reviews)
        user = User(new_id("user"), username, password_hash, role, work.now, work.now, named)
        await work.tx.users.add(user)
        await _record_made(work, user, how)
    return user


def _check_free(username: str, names: Sequence[str], role: Role) -> None:
    message = ""
    if username in names:
        message = "the username is taken"
    elif is_like_any(username, names):
        message = "the username is too like that of another account"
    elif is_reserved(username, RESERVED - OF_ADMINS if role is Role.ADMIN else RESERVED):
        message = "the username is reserved: choose one that nobody takes for the server or its operator"
    if message:
        raise InvalidInput(message, [FieldError("username", "taken", message)])


async def _record_made(work: Unit, user: User, how: str) -> None:
    by = SYSTEM if how == "command" else principal_of(user)
    await _record(work, by, "user.created", user, role=user.role, reviews=list(user.reviews), how=how)


async def _record(work: Unit, by: Principal, action: str, user: User, **more: Any) -> None:
    about = {"user_id": user.id, "username": user.username, **more}
    await work.tx.audit.append(SERVER_CHAIN, by, action, about, work.now)


async def sign_in(core: Core, username: str, password: str, address: str) -> User:
    """Whose name and password these are; `NotAuthenticated` when they are nobody's. Both are recorded."""
    async with core.store.snapshot() as tx:
        user = await tx.users.by_name(username)
    right = await core.passwords.verify(user.password_hash if user else _UNKNOWN, password)
    if user is None or not right:
        await record_refused(core, Attempt("password", user and user.username, address))
        raise NotAuthenticated("wrong username or password")
    await record_sign_in(core, user, "password", address)
    return user


async def record_refused(core: Core, attempt: Attempt) -> None:
    first = core.refused.add(attempt, core.clock.now())
    if first is not None:
        async with unit(core) as work:
            await _append_refused(work, first, {"count": 1})


async def record_counted(core: Core) -> None:
    counted = core.refused.take()
    if not counted:
        return
    async with unit(core) as work:
        for attempt, count in counted:
            await _append_refused(work, attempt, {"count": count.more, "since": count.since.isoformat()})


async def _append_refused(work: Unit, attempt: Attempt, how_many: dict[str, Any]) -> None:
    told = {"how": attempt.how, "account": attempt.account, "address": attempt.address, **how_many}
    await work.tx.audit.append(SERVER_CHAIN, SYSTEM, "session.refused", told, work.now)


async def record_sign_in(core: Core, user: User, how: str, address: str) -> None:
    async with unit(core) as work:
        await _record(work, principal_of(user), "session.opened", user, how=how, address=address)


async def record_link(core: Core, ends_at: datetime) -> None:
    """That a link was made with which its reader signs in as the admin."""
    async with unit(core) as work:
        made = {"ends_at": ends_at.isoformat()}
        await work.tx.audit.append(SERVER_CHAIN, SYSTEM, "link.made", made, work.now)


async def first_admin(core: Core) -> User | None:
    admins = [user for user in await list_users(core) if user.role is Role.ADMIN]
    return min(admins, key=lambda user: user.created_at, default=None)


async def principal_by_token(core: Core, user_id: str, issued_at: datetime, key: int) -> Principal:
    """Who a token stands for now: their present role, and nobody once the token was ended."""
    async with core.store.snapshot() as tx:
        user = await tx.users.by_token(user_id, issued_at, key)
    if user is None:
        raise NotAuthenticated("the token no longer holds")
    return principal_of(user)


async def sign_out(core: Core, user_id: str, issued_at: datetime, expires_at: datetime, key: int) -> None:
    """End one token, with its tickets and every stream that it opened; the person's others go on."""
    async with unit(core) as work:
        user = await work.tx.users.by_token(user_id, issued_at, key)
        # What has ended already is recorded already.
        if user is not None:
            await work.tx.users.end_token(user_id, issued_at, expires_at, work.now)
            await _record(work, principal_of(user), "session.ended", user)


async def local_principal(core: Core, username: str) -> Principal:
    """Without accounts: whoever the caller says, made on first sight. Only ever used on a loopback address."""
    if not FORM.match(username):
        raise InvalidInput("a user id is 1 to 64 letters, digits, and . _ @ -")
    if is_reserved(username, RESERVED - OF_ADMINS):
        raise InvalidInput(f"{username!r} is a name of the server's own")
    async with core.store.snapshot() as tx:
        user = await tx.users.by_name(username)
    if user is None:
        async with unit(core) as work:
            await work.tx.users.alone()
            user = await work.tx.users.by_name(username)
            if user is None:
                user = User(new_id("user"), username, "", Role.OWNER, work.now, work.now)
                await work.tx.users.add(user)
                await _record_made(work, user, "named")
    return principal_of(user)


async def reset_password(core: Core, username: str, password: str) -> None:
    """Set a new password; every token issued until now ends."""
    check_new(username, password)
    password_hash = await core.passwords.hash(password)
    async with unit(core) as work:
        user = _found(await work.tx.users.by_name(username), username)
        await work.tx.users.set_password(user.id, password_hash, work.now)
        await _record(work, SYSTEM, "user.password_reset", user)


async def set_role(core: Core, username: str, role: Role, reviews: Sequence[str] = ()) -> User:
    if reviews and role is not Role.REVIEWER:
        raise InvalidInput("only a reviewer reviews agents")
    async with unit(core) as work:
        user = _found(await work.tx.users.by_name(username), username)
        named = await _reviewed_by_id(work, reviews)
        await work.tx.users.set_role(user.id, role, named)
        before = {"role": user.role, "reviews": list(user.reviews)}
        await _record(work, SYSTEM, "user.role_changed", user, role=role, reviews=list(reviews), before=before)
    return replace(user, role=role, reviews=named)


async def _reviewed_by_id(work: Unit, reviews: Sequence[str]) -> tuple[str, ...]:
    """What an operator named as AGENT, or OWNER/AGENT for one that runs elsewhere, as it is kept."""
    found: list[str] = []
    for review in reviews:
        owner, of_owner, agent = review.rpartition(OF_OWNER)
        user_id = _found(await work.tx.users.by_name(owner), owner).id if of_owner else ""
        found.append(f"{user_id}{of_owner}{agent}")
    return tuple(found)


async def spelled_reviews(core: Core, reviews: Sequence[str]) -> list[str]:
    """What somebody reviews, with the names of the owners."""
    ids = [review.partition(OF_OWNER)[0] for review in reviews if OF_OWNER in review]
    async with core.store.snapshot() as tx:
        names = await tx.users.names_of(ids) if ids else {}
    return [_spelled(review, names) for review in reviews]


def _spelled(review: str, names: Mapping[str, str]) -> str:
    owner_id, of_owner, agent = review.rpartition(OF_OWNER)
    return f"{names.get(owner_id, owner_id)}{of_owner}{agent}"


async def list_users(core: Core) -> list[User]:
    async with core.store.snapshot() as tx:
        return await tx.users.all()


def _found(user: User | None, username: str) -> User:
    if user is None:
        raise NotFound(f"there is no user {username!r}")
    return user


def check_new(username: str, password: str) -> None:
    errors: list[FieldError] = []
    if is_mixed(username):
        errors.append(FieldError("username", "form", "a username has letters of one script: Latin, Cyrillic or Greek"))
    if not FORM.match(username):
        errors.append(FieldError("username", "form", "a username is 1 to 64 letters, digits, and . _ @ -"))
    if len(password) not in PASSWORD_LENGTH:
        errors.append(FieldError("password", "length", "a password has 8 to 256 characters"))
    if errors:
        raise InvalidInput("; ".join(error.message for error in errors), errors)
