"""Single sign-on: attempts to sign in at the provider, and the identities there that accounts are linked to.

An identity is known by issuer and subject. No e-mail address and no name links one to an account: only the person who
is signed in does, or an admin.
"""

import base64
import hashlib
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from interlock.domain.errors import Conflict, FieldError, InvalidInput, NotFound, SignInForbidden, SignOnFailed
from interlock.domain.ids import new_id
from interlock.domain.names import names_from
from interlock.domain.principal import SYSTEM, Principal, Role, User
from interlock.domain.sign_in import TOKEN_LIFETIME
from interlock.domain.sign_on import LONGEST_SUBJECT, Identity, SignOnClaims, role_of
from interlock.ports.sign_on import SignOn
from interlock.services.access.accounts import name_error, parse_reviews, record, record_creation, record_refused
from interlock.services.access.people import check_admin
from interlock.services.access.sign_ins import check_signed_in
from interlock.services.core import Core, Unit, unit
from interlock.services.memory import SignInAttempt
from interlock.services.teams.groups import follow_sign_on

LASTS = timedelta(minutes=10)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the browser that begins it keeps, and has to bring back."""

    state: str
    nonce: str
    verifier: str
    next: str
    """The page to go to afterwards."""
    user_id: str | None
    """Who links an identity to their account; None for a sign-in."""


@dataclass(frozen=True, slots=True)
class SignedOn:
    user: User
    identity: Identity


def provider(core: Core) -> SignOn:
    if core.sign_on is None:
        raise SignOnFailed("single sign-on is not set up on this server", "off")
    return core.sign_on


async def begin(core: Core, next_page: str, principal: Principal | None = None) -> tuple[str, Attempt]:
    """Where the browser goes, and what it keeps. With a principal, who is signed in links an identity."""
    if principal is not None:
        check_signed_in(principal)
    random = [secrets.token_urlsafe(32) for _ in range(3)]
    attempt = Attempt(random[0], random[1], random[2], next_page, principal and principal.id)
    digest = hashlib.sha256(attempt.verifier.encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return await provider(core).address(attempt.state, attempt.nonce, challenge), attempt


async def claims(core: Core, attempt: Attempt, code: str, issuer: str | None) -> SignOnClaims:
    """Who came back with that code. An attempt is used up, whatever comes of it."""
    asked = provider(core)
    async with unit(core) as work:
        used = hashlib.sha256(attempt.state.encode()).hexdigest()
        is_first = await work.tx.identities.use_state(used, work.now + 2 * LASTS)
    if not is_first:
        raise SignOnFailed("this attempt to sign in was used before; begin again", "expired")
    return await asked.claims(code, attempt.verifier, attempt.nonce, issuer)


async def sign_on(core: Core, claims: SignOnClaims, address: str) -> SignedOn:
    """The account of the identity, made at its first sign-in; what the provider says of it replaces what it said.

    `SignInForbidden` for who is kept out, or gone.
    """
    signed_on, refused = await _sign_on(core, claims)
    if signed_on is None:
        await record_refused(core, SignInAttempt("oidc", refused, address))
        raise SignInForbidden("this account is not allowed to sign in; ask an admin")
    return signed_on


async def _sign_on(core: Core, claims: SignOnClaims) -> tuple[SignedOn | None, str]:
    """With the name of who is kept out."""
    async with unit(core) as work:
        # Also so that of two first sign-ins at once only one makes the account.
        await work.tx.users.alone()
        identity = await work.tx.identities.of_subject(claims.issuer, claims.subject)
        if identity is None:
            user = await _new_user(work, claims)
            identity = new_identity(work, user, claims.issuer, claims.subject)
            if not await work.tx.identities.add(identity):
                raise SignOnFailed("this identity was linked to an account meanwhile; begin again", "expired")
        else:
            user = await work.tx.users.lock(identity.user_id)
        if user is None or not user.is_allowed:
            return None, user.username if user else ""
        identity = await _replace_groups(work, identity, claims)
        return SignedOn(await _follow_roles(work, user, identity.groups), identity), ""


async def _new_user(work: Unit, claims: SignOnClaims) -> User:
    if not work.core.settings.registration_open:
        raise SignOnFailed("no account is made here at a first sign-in; ask an admin to link yours", "closed")
    names = await work.tx.users.names()
    tail = hashlib.sha256(f"{claims.issuer}\n{claims.subject}".encode()).hexdigest()[:8]
    free = (name for name in names_from(claims.names, tail) if not name_error(name, names, Role.OWNER))
    username = next(free, None)
    if username is None:
        raise SignOnFailed("no name is free for a new account; ask an admin to link one")
    user = User(new_id("user"), username, "", Role.OWNER, work.now, work.now)
    await work.tx.users.add(user)
    await record_creation(work, user, "oidc")
    return user


def new_identity(work: Unit, user: User, issuer: str, subject: str) -> Identity:
    return Identity(new_id("identity"), user.id, issuer, subject, "", (), groups_left_out=False, linked_at=work.now)


async def _replace_groups(work: Unit, identity: Identity, claims: SignOnClaims) -> Identity:
    """Keep the groups of this sign-in, and none of an earlier one; where the provider left them out, none."""
    renewed = replace(
        identity,
        label=claims.label,
        groups=claims.groups,
        groups_left_out=claims.groups_left_out,
        used_at=work.now,
    )
    await work.tx.identities.renew(renewed)
    await follow_sign_on(work, identity.user_id, renewed.groups)
    return renewed


async def _follow_roles(work: Unit, user: User, groups: tuple[str, ...]) -> User:
    """Give them the role that their groups say, where the operator lets groups say one."""
    rules = work.core.settings.role_rules
    if not rules:
        return user
    role, agents = role_of(rules, groups)
    reviews: list[str] = []
    for agent in agents:
        try:
            reviews += await parse_reviews(work, [agent])
        except InvalidInput as error:
            logger.warning("INTERLOCK_OIDC_ROLES: %s", error.message)
    now = replace(user, role=role, reviews=tuple(reviews))
    if now == user:
        return user
    await work.tx.users.set_role(user.id, now.role, now.reviews)
    if user.role is Role.ADMIN and not await work.tx.users.count_admins():
        logger.warning("single sign-on: %s is in no group of admins, and stays one as the only admin", user.username)
        await work.tx.users.set_role(user.id, user.role, user.reviews)
        return user
    before = {"role": user.role, "reviews": list(user.reviews)}
    await record(work, SYSTEM, "user.role_changed", user, role=role, reviews=reviews, before=before, how="oidc")
    return now


async def list_identities(core: Core, principal: Principal) -> list[Identity]:
    check_signed_in(principal)
    async with core.store.snapshot() as tx:
        return await tx.identities.of_user(principal.id)


async def identities_of(core: Core, by: Principal, user_id: str) -> list[Identity]:
    """Somebody's, for admins."""
    check_admin(by)
    async with core.store.snapshot() as tx:
        return await tx.identities.of_user(user_id)


async def identities_by_user(core: Core, principal: Principal) -> Mapping[str, list[Identity]]:
    """Everybody's, for admins."""
    check_admin(principal)
    async with core.store.snapshot() as tx:
        found = await tx.identities.all()
    by_user: dict[str, list[Identity]] = {}
    for identity in found:
        by_user.setdefault(identity.user_id, []).append(identity)
    return by_user


async def link_own(core: Core, principal: Principal, claims: SignOnClaims) -> Identity:
    """Link who came back from the provider to the account of who is signed in."""
    check_signed_in(principal)
    async with unit(core) as work:
        identity = await _link(work, principal, principal.id, claims.issuer, claims.subject)
        return await _replace_groups(work, identity, claims)


async def link(core: Core, by: Principal, user_id: str, subject: str) -> Identity:
    """Link an account to a subject of the provider, by an admin: from then on that one signs in as this person."""
    check_admin(by)
    check_signed_in(by)
    issuer = provider(core).issuer
    if not subject.isascii() or not subject.isprintable() or not 0 < len(subject.strip()) <= LONGEST_SUBJECT:
        message = f"a subject has 1 to {LONGEST_SUBJECT} characters of ASCII, as the provider shows it"
        raise InvalidInput(message, [FieldError("subject", "form", message)])
    async with unit(core) as work:
        return await _link(work, by, user_id, issuer, subject.strip())


async def _link(work: Unit, by: Principal, user_id: str, issuer: str, subject: str) -> Identity:
    user = await work.tx.users.lock(user_id)
    if user is None or not user.is_allowed:
        raise NotFound("there is no such person, or they may not sign in")
    identity = new_identity(work, user, issuer, subject)
    if not await work.tx.identities.add(identity):
        owner = await work.tx.identities.of_subject(issuer, subject)
        if owner is not None and owner.user_id == user_id:
            return owner
        raise Conflict("this identity belongs to another account: it has to be unlinked there first")
    about = {"identity_id": identity.id, "issuer": issuer, "subject": subject}
    await record(work, by, "identity.linked", user, **about)
    return identity


async def unlink(core: Core, by: Principal, user_id: str, identity_id: str, current: str | None = None) -> Identity:
    """End the link, with every session that was opened through it. Who it was signs in no more as this person.

    Their own last way to sign in nobody takes away; an admin may.
    """
    check_signed_in(by)
    if by.id != user_id:
        check_admin(by)
    async with unit(core) as work:
        user = await work.tx.users.lock(user_id)
        identity = await work.tx.identities.get(identity_id)
        if user is None or identity is None or identity.user_id != user_id:
            raise NotFound("there is no such identity, or it is not linked")
        await work.tx.identities.remove(identity_id)
        # What it brought goes with it; another identity brings its own at the next sign-in.
        await follow_sign_on(work, user_id, ())
        has_password = bool(user.password_hash) and work.core.settings.passwords
        if by.id == user_id and not has_password and not await work.tx.identities.of_user(user_id):
            raise Conflict("this is the only way in which you can sign in: link another identity first")
        for one in await work.tx.sign_ins.of_identity(user_id, identity_id):
            if one.id != current:
                await work.tx.users.end_token(user_id, one.issued_at, one.issued_at + TOKEN_LIFETIME, work.now)
        about = {"identity_id": identity.id, "issuer": identity.issuer, "subject": identity.subject}
        await record(work, by, "identity.unlinked", user, **about)
    return identity
