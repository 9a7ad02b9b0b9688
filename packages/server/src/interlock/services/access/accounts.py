"""Accounts of people: registering, signing in, and what an operator does with them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.errors import (
    FieldError,
    Forbidden,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    PasswordsOff,
    SignInForbidden,
)
from interlock.domain.ids import new_id
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.names import FORM, OF_ADMINS, RESERVED, is_like_any, is_mixed, is_reserved
from interlock.domain.principal import OF_OWNER, SYSTEM, Principal, Role, User, principal_of
from interlock.services.core import Core, Unit, unit
from interlock.services.memory import SignInAttempt

PASSWORD_LENGTH = range(8, 257)
_UNKNOWN = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$KAQdLrOGwLxSvhZ8WyU3C6zp9tJmYI4lHcVNyLWLP7k"
"""Verified for names that do not exist, so that the time taken tells nobody whether one does."""


async def register(core: Core, username: str, password: str) -> User:
    """Make an account; the first one is the admin's. `Forbidden` when registration is closed."""
    check_passwords(core)
    if not core.settings.registration_open:
        raise Forbidden("registration is closed; ask the operator for an account")
    return await create_user(core, username, password, role=None, how="registered")


async def create_user(
    core: Core,
    username: str,
    password: str | None,
    *,
    role: Role | None,
    reviews: Sequence[str] = (),
    how: str = "command",
) -> User:
    """`how` is for the audit trail: who registers, or comes with the server's link, makes their own account. Without a
    password it is for single sign-on, or the link, to sign in with.

    `NotAuthenticated` for the link where there is an admin by now.
    """
    check_new(username, password)
    password_hash = "" if password is None else await core.passwords.hash(password)
    async with unit(core) as work:
        await work.tx.users.alone()
        if how == "link" and await work.tx.users.count_admins():
            raise NotAuthenticated("the link ended when the first admin was made: sign in with your account")
        names = await work.tx.users.names()
        if role is None:
            role = Role.OWNER if names else Role.ADMIN
        if message := name_error(username, names, role):
            raise InvalidInput(message, [FieldError("username", "taken", message)])
        review_ids = await parse_reviews(work, reviews)
        user = User(new_id("user"), username, password_hash, role, work.now, work.now, review_ids)
        await work.tx.users.add(user)
        await record_creation(work, user, how)
    return user


def name_error(username: str, names: Sequence[str], role: Role) -> str:
    """Why nobody new may be called so; empty where they may."""
    if username in names:
        return "the username is taken"
    if is_like_any(username, names):
        return "the username is too like that of another account"
    if is_reserved(username, RESERVED - OF_ADMINS if role is Role.ADMIN else RESERVED):
        return "the username is reserved: choose one that nobody takes for the server or its operator"
    return ""


async def record_creation(work: Unit, user: User, how: str) -> None:
    by = SYSTEM if how == "command" else principal_of(user)
    await record(work, by, "user.created", user, role=user.role, reviews=list(user.reviews), how=how)


async def record(work: Unit, by: Principal, action: str, user: User, **more: JsonValue) -> None:
    about = {"user_id": user.id, "username": user.username, **more}
    await work.tx.audit.append(SERVER_CHAIN, by, action, about, work.now)


async def sign_in(core: Core, username: str, password: str, address: str) -> User:
    """Whose name and password these are; `NotAuthenticated` when they are nobody's, which is recorded.

    `Forbidden` for who is kept out, told only to who knows the password. Signed in they are by `sign_ins.open_session`.
    """
    check_passwords(core)
    async with core.store.snapshot() as tx:
        user = existing_user(await tx.users.by_name(username))
    # Who has no password is refused after as long a time as who does not exist.
    known = user.password_hash if user and user.password_hash else None
    right = await core.passwords.verify(known or _UNKNOWN, password)
    if user is None or known is None or not right:
        await record_refused(core, SignInAttempt("password", user and user.username, address))
        raise NotAuthenticated("wrong username or password")
    if not user.is_allowed:
        await record_refused(core, SignInAttempt("password", user.username, address))
        raise SignInForbidden("this account is not allowed to sign in; ask an admin")
    return user


async def record_refused(core: Core, attempt: SignInAttempt) -> None:
    first = core.failed_sign_ins.add(attempt, core.clock.now())
    if first is not None:
        async with unit(core) as work:
            await _append_refused(work, first, {"count": 1})


async def record_counted(core: Core) -> None:
    counted = core.failed_sign_ins.take()
    if not counted:
        return
    async with unit(core) as work:
        for attempt, count in counted:
            await _append_refused(work, attempt, {"count": count.more, "since": count.since.isoformat()})


async def _append_refused(work: Unit, attempt: SignInAttempt, how_many: JsonObject) -> None:
    data = {"how": attempt.how, "account": attempt.account, "address": attempt.address, **how_many}
    await work.tx.audit.append(SERVER_CHAIN, SYSTEM, "session.refused", data, work.now)


async def record_link(core: Core, ends_at: datetime) -> None:
    """That a link was made with which its reader signs in as the admin."""
    async with unit(core) as work:
        data = {"ends_at": ends_at.isoformat()}
        await work.tx.audit.append(SERVER_CHAIN, SYSTEM, "link.made", data, work.now)


async def first_admin(core: Core) -> User | None:
    admins = [user for user in await list_users(core) if user.role is Role.ADMIN and user.is_allowed]
    return min(admins, key=lambda user: user.created_at, default=None)


async def local_principal(core: Core, username: str) -> Principal:
    """Without accounts: whoever the caller says, made on first sight. Only ever used on a loopback address."""
    if not FORM.match(username):
        raise InvalidInput("a user id is 1 to 64 letters, digits, and . _ @ -")
    async with core.store.snapshot() as tx:
        user = await tx.users.by_name(username)
    if user is None:
        if is_reserved(username, RESERVED - OF_ADMINS):
            raise InvalidInput(f"{username!r} is a name of the server's own")
        async with unit(core) as work:
            await work.tx.users.alone()
            user = await work.tx.users.by_name(username)
            if user is None:
                user = User(new_id("user"), username, "", Role.OWNER, work.now, work.now)
                await work.tx.users.add(user)
                await record_creation(work, user, "named")
    if not user.is_allowed:
        raise InvalidInput(f"{username!r} was deleted, or may not sign in: use another name")
    return principal_of(user)


async def parse_reviews(work: Unit, reviews: Sequence[str]) -> tuple[str, ...]:
    """What an operator named as AGENT, or OWNER/AGENT for one that runs elsewhere, as it is kept."""
    kept: list[str] = []
    for review in reviews:
        owner, of_owner, agent = review.rpartition(OF_OWNER)
        user = await work.tx.users.by_name(owner) if of_owner else None
        if not FORM.match(agent) or bool(of_owner) != bool(user and user.deleted_at is None):
            message = f"{review!r} names no agent: use AGENT, or OWNER/AGENT for one that runs elsewhere"
            if of_owner and FORM.match(agent):
                message = f"there is no user {owner!r}, whose agent {agent!r} would be"
            raise InvalidInput(message, [FieldError("reviews", "unknown", message)])
        kept.append(f"{user.id if user else ''}{of_owner}{agent}")
    return tuple(kept)


async def format_reviews(core: Core, reviews: Sequence[str]) -> list[str]:
    """What somebody reviews, with the names of the owners."""
    ids = [review.partition(OF_OWNER)[0] for review in reviews if OF_OWNER in review]
    async with core.store.snapshot() as tx:
        names = await tx.users.names_of(ids) if ids else {}
    return [_format_review(review, names) for review in reviews]


def _format_review(review: str, names: Mapping[str, str]) -> str:
    owner_id, of_owner, agent = review.rpartition(OF_OWNER)
    return f"{names.get(owner_id, owner_id)}{of_owner}{agent}"


async def list_users(core: Core) -> list[User]:
    async with core.store.snapshot() as tx:
        return await tx.users.all()


async def open_requests(core: Core) -> Mapping[str, int]:
    """By owner, how many requests wait for people."""
    async with core.store.snapshot() as tx:
        return await tx.requests.pending_by_owner()


def existing_user(user: User | None) -> User | None:
    """None for one who is gone as well."""
    return None if user is None or user.deleted_at is not None else user


def require_user(user: User | None, username: str) -> User:
    if user is None or user.deleted_at is not None:
        raise NotFound(f"there is no user {username!r}" if user is None else f"{username!r} was deleted")
    return user


async def refuse_passwords(core: Core) -> None:
    check_passwords(core)


def check_passwords(core: Core) -> None:
    """`PasswordsOff` where nobody signs in with one."""
    if core.settings.passwords:
        return
    name = core.sign_on.name if core.sign_on else "single sign-on"
    raise PasswordsOff(
        f"passwords are turned off on this server: sign in on its page with {name}. For a terminal or a program make "
        "an API key there, under Settings, API keys; `interlock login --with-key` keeps it"
    )


def check_new(username: str, password: str | None) -> None:
    errors: list[FieldError] = []
    if is_mixed(username):
        errors.append(FieldError("username", "form", "a username has letters of one script: Latin, Cyrillic or Greek"))
    if not FORM.match(username):
        errors.append(FieldError("username", "form", "a username is 1 to 64 letters, digits, and . _ @ -"))
    if password is not None:
        errors += password_errors("password", password)
    if errors:
        raise InvalidInput("; ".join(error.message for error in errors), errors)


def password_errors(field: str, password: str) -> list[FieldError]:
    if len(password) in PASSWORD_LENGTH:
        return []
    return [FieldError(field, "length", "a password has 8 to 256 characters")]
