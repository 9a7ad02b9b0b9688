"""Where people are signed in: sessions that are opened, listed and ended, and the password that opens them.

A session is one token. Whether it holds is asked of the database by every server with every call, so that one that
was ended is ended everywhere; open streams look again when somebody's access has changed.
"""

from contextlib import suppress
from datetime import datetime

from interlock.domain.errors import (
    Conflict,
    FieldError,
    Forbidden,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    StorageUnavailable,
)
from interlock.domain.principal import SYSTEM, Principal, User, principal_of
from interlock.domain.sign_in import TOKEN_LIFETIME, SignIn, new_sign_in
from interlock.services.access.accounts import (
    check_new,
    check_passwords,
    password_errors,
    record,
    record_refused,
    require_user,
)
from interlock.services.core import Core, Unit, unit
from interlock.services.memory import SignInAttempt

MOST_LISTED = 200


async def open_session(core: Core, user: User, sign_in: SignIn) -> None:
    """Sign in somebody whose password or link was right; `NotAuthenticated` if that was changed meanwhile."""
    async with unit(core) as work:
        now = await work.tx.users.lock(user.id)
        is_same = now is not None and now.is_allowed and now.password_hash == user.password_hash
        if now is None or not is_same or now.tokens_after > sign_in.issued_at:
            raise NotAuthenticated("the account was changed meanwhile")
        await work.tx.sign_ins.add(sign_in)
        await record(work, principal_of(now), "session.opened", now, how=sign_in.means, address=sign_in.address)
    core.uses.note((user.id, sign_in.issued_at), core.clock.now())


async def principal_by_token(core: Core, user_id: str, issued_at: datetime, key: int) -> Principal:
    """Who a token stands for now: their present role, and nobody once the token was ended."""
    async with core.store.snapshot() as tx:
        user = await tx.users.by_token(user_id, issued_at, key)
    if user is None:
        raise NotAuthenticated("the token no longer holds")
    if core.uses.note((user_id, issued_at), core.clock.now()):
        # Who only looks is not refused because that cannot be written down.
        with suppress(StorageUnavailable):
            async with unit(core) as work:
                await work.tx.sign_ins.add(new_sign_in(user_id, issued_at, key, None, work.now))
    return principal_of(user)


async def list_sessions(core: Core, principal: Principal) -> tuple[list[SignIn], int]:
    """The caller's, the last used first, and how many there are."""
    check_signed_in(principal)
    async with core.store.snapshot() as tx:
        return await tx.sign_ins.page(principal.id, core.clock.now(), MOST_LISTED)


async def sign_out(core: Core, user_id: str, issued_at: datetime, key: int) -> None:
    """End one token, with its tickets and every stream that it opened; the person's others go on."""
    async with unit(core) as work:
        user = await work.tx.users.by_token(user_id, issued_at, key)
        # What has ended already is recorded already.
        if user is not None:
            await work.tx.users.end_token(user_id, issued_at, issued_at + TOKEN_LIFETIME, work.now)
            await record(work, principal_of(user), "session.ended", user)


async def end_session(core: Core, principal: Principal, sign_in_id: str) -> None:
    """End one of the caller's by what the list calls it."""
    check_signed_in(principal)
    async with unit(core) as work:
        user = await _person(work, principal.id)
        sign_in = await work.tx.sign_ins.get(sign_in_id)
        if sign_in is None or sign_in.user_id != principal.id:
            raise NotFound("there is no such session, or it has ended")
        await work.tx.users.end_token(principal.id, sign_in.issued_at, sign_in.expires_at, work.now)
        await record(work, principal, "session.ended", user, session_id=sign_in_id)


async def end_sessions(core: Core, principal: Principal, next_one: SignIn | None) -> int:
    """Sign the caller out everywhere; with `next_one` the caller goes on with that. How many have ended."""
    check_signed_in(principal)
    async with unit(core) as work:
        user = await _person(work, principal.id)
        return await _end_all(work, principal, user, next_one)


async def end_other_sessions(core: Core, principal: Principal, issued_at: datetime) -> int:
    """Sign the caller out everywhere but where the token of that moment is, which goes on for as long as before."""
    check_signed_in(principal)
    async with unit(core) as work:
        user = await _person(work, principal.id)
        ended = await work.tx.users.end_tokens(user.id, issued_at, but=issued_at)
        await record(work, principal, "session.all_ended", user, count=ended)
        return ended


async def session_of_token(core: Core, user_id: str, issued_at: datetime) -> SignIn | None:
    """None for one that has ended, or is not listed."""
    async with core.store.snapshot() as tx:
        return await tx.sign_ins.of_token(user_id, issued_at)


async def end_sessions_of(core: Core, username: str) -> int:
    """The same, by the operator."""
    async with unit(core) as work:
        user = require_user(await work.tx.users.by_name(username), username)
        return await _end_all(work, SYSTEM, user, None)


async def _end_all(work: Unit, by: Principal, user: User, next_one: SignIn | None) -> int:
    ended = await work.tx.users.end_tokens(user.id, next_one.issued_at if next_one else work.now)
    if next_one is not None:
        await work.tx.sign_ins.add(next_one)
    await record(work, by, "session.all_ended", user, count=ended)
    return ended


async def person(core: Core, principal: Principal) -> User:
    async with core.store.snapshot() as tx:
        user = await tx.users.get(principal.id)
    if user is None:
        raise NotAuthenticated("there is no such account")
    return user


async def check_password(core: Core, principal: Principal, password: str, address: str) -> User:
    """The caller, if that is their password; else `NotAuthenticated`, which is recorded as a failed sign-in is."""
    check_signed_in(principal)
    check_passwords(core)
    user = await person(core, principal)
    if not await core.passwords.verify(user.password_hash, password):
        await record_refused(core, SignInAttempt("password", principal.name, address))
        raise NotAuthenticated("the present password is wrong")
    return user


async def change_password(core: Core, user: User, password: str, next_one: SignIn) -> int:
    """Set a new password. Every session ends, also copies of the caller's own, who goes on with `next_one`."""
    password_hash = await core.passwords.hash(password)
    async with unit(core) as work:
        now = await _person(work, user.id)
        if now.password_hash != user.password_hash or not now.is_allowed:
            raise Conflict("the password was changed meanwhile; sign in with the new one")
        ended = await work.tx.users.set_password(user.id, password_hash, next_one.issued_at)
        await work.tx.sign_ins.add(next_one)
        await record(work, principal_of(now), "user.password_changed", now, ended=ended)
    return ended


def check_new_password(old: str, new: str) -> None:
    errors = password_errors("new_password", new)
    if not errors and old == new:
        errors = [FieldError("new_password", "same", "the new password is the present one")]
    if errors:
        raise InvalidInput("; ".join(error.message for error in errors), errors)


async def reset_password(core: Core, username: str, password: str) -> None:
    """Set a new password for somebody; every token issued until now ends."""
    check_passwords(core)
    check_new(username, password)
    password_hash = await core.passwords.hash(password)
    async with unit(core) as work:
        user = require_user(await work.tx.users.by_name(username), username)
        await work.tx.users.set_password(user.id, password_hash, work.now)
        await record(work, SYSTEM, "user.password_reset", user)


def check_signed_in(principal: Principal) -> None:
    """A key that leaked must not be able to make itself last longer than it is not revoked."""
    if principal.key_id is not None:
        raise Forbidden("accounts are managed by people who signed in, not with a key")


async def _person(work: Unit, user_id: str) -> User:
    user = await work.tx.users.lock(user_id)
    if user is None:
        raise NotAuthenticated("there is no such account")
    return user
