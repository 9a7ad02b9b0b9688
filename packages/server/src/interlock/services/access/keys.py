"""API keys and tickets: made, listed, revoked, and whom they stand for."""

from dataclasses import replace
from datetime import datetime, timedelta

from interlock.domain.api_key import (
    TICKET_LIFETIME,
    ApiKey,
    KeyRole,
    Ticket,
    credential_hash,
    is_key,
    new_key,
    new_ticket,
)
from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.errors import FieldError, Forbidden, InvalidInput, NotAuthenticated, NotFound
from interlock.domain.ids import new_id
from interlock.domain.names import FORM, is_like_any, is_mixed, is_reserved
from interlock.domain.principal import Principal, Role, principal_of
from interlock.services.core import Core, unit

LONGEST_NAME = 64
USE_NOTED_EVERY = timedelta(minutes=1)
LONGEST_LIFE = timedelta(days=36_525)


async def create_key(
    core: Core,
    principal: Principal,
    name: str,
    role: KeyRole,
    *,
    agent: str | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A key of the caller's own, and its text, which nobody can be told again.

    An agent's key is seen under one agent's name, its own unless another is given; those of hosted agents are taken.
    """
    _check_person(principal)
    agent = (agent or name) if role is KeyRole.AGENT else None
    _check_new(core, name, agent, expires_at)
    text = new_key()
    async with unit(core) as work:
        key = ApiKey(
            new_id("key"), name, role, principal.id, credential_hash(text), work.now, agent=agent, expires_at=expires_at
        )
        await work.tx.api_keys.add(key)
        data = {"key_id": key.id, "name": name, "role": role, "agent": agent}
        await work.tx.audit.append(SERVER_CHAIN, principal, "key.created", data, work.now)
    return key, text


async def list_keys(core: Core, principal: Principal, *, everybody: bool = False) -> list[ApiKey]:
    """The caller's keys; an admin may see everybody's."""
    if principal.is_agent:
        raise Forbidden("an agent's key may not look at keys")
    if everybody and principal.role is not Role.ADMIN:
        raise Forbidden("only an admin sees the keys of others")
    async with core.store.snapshot() as tx:
        return await tx.api_keys.of_owner(None if everybody else principal.id)


async def revoke_key(core: Core, principal: Principal, key_id: str) -> ApiKey:
    """End a key for good, with every stream that it opened."""
    _check_person(principal)
    async with unit(core) as work:
        key = await work.tx.api_keys.get(key_id)
        if key is None or not (principal.role is Role.ADMIN or key.owner_id == principal.id):
            raise NotFound("there is no such key")
        if await work.tx.api_keys.revoke(key_id, work.now):
            await work.tx.audit.append(SERVER_CHAIN, principal, "key.revoked", {"key_id": key_id}, work.now)
            key = replace(key, revoked_at=work.now)
    return key


async def principal_by_key(core: Core, text: str) -> Principal:
    """Whom a key stands for now; `NotAuthenticated` for one that does not hold."""
    # A key with wrong check digits was never given out: the database need not be asked.
    if not is_key(text):
        raise NotAuthenticated("the key is not one of ours")
    async with core.store.snapshot() as tx:
        key = await tx.api_keys.by_hash(credential_hash(text))
    principal = await _principal_of_key(core, key)
    assert key is not None
    if key.last_used_at is None or core.clock.now() - key.last_used_at >= USE_NOTED_EVERY:
        async with unit(core) as work:
            await work.tx.api_keys.record_use(key.id, work.now)
    return principal


async def principal_by_key_id(core: Core, key_id: str) -> Principal:
    async with core.store.snapshot() as tx:
        key = await tx.api_keys.get(key_id)
    return await _principal_of_key(core, key)


async def _principal_of_key(core: Core, key: ApiKey | None) -> Principal:
    if key is None or not key.holds(core.clock.now()):
        raise NotAuthenticated("the key does not hold, or no longer")
    async with core.store.snapshot() as tx:
        owner = await tx.users.get(key.owner_id)
    if owner is None or not owner.is_allowed:
        raise NotAuthenticated("the key's owner is gone, or may not sign in")
    person = replace(principal_of(owner), key_id=key.id, key_ends_at=key.expires_at)
    if key.role is KeyRole.PERSON:
        return person
    return Principal(
        key.id,
        key.name,
        Role.AGENT,
        key_id=key.id,
        key_ends_at=key.expires_at,
        on_behalf_of=person,
        agent=key.agent,
    )


async def issue_ticket(
    core: Core, principal: Principal, issued_at: datetime, token_key: int | None = None
) -> tuple[str, Ticket]:
    """A ticket for the caller's credential, which was issued at that time, and signed with that key."""
    text = new_ticket()
    async with unit(core) as work:
        # Whoever makes new ones sweeps away the old ones: there is no other use of them.
        await work.tx.tickets.purge(work.now)
        ticket = Ticket(
            credential_hash(text),
            None if principal.key_id else principal.id,
            principal.key_id,
            issued_at,
            work.now + TICKET_LIFETIME,
            token_key,
        )
        await work.tx.tickets.add(ticket)
    return text, ticket


async def take_ticket(core: Core, text: str) -> Ticket:
    """Use a ticket up; `NotAuthenticated` when it was used before, or came too late."""
    async with unit(core) as work:
        ticket = await work.tx.tickets.take(credential_hash(text))
    if ticket is None or core.clock.now() >= ticket.expires_at:
        raise NotAuthenticated("the ticket was used before, or is too old")
    return ticket


def _check_person(principal: Principal) -> None:
    """Keys make no keys: one that leaked could otherwise not be ended by revoking it."""
    if principal.key_id is not None:
        raise Forbidden("keys are made and revoked by people who signed in, not with a key")


def agent_errors(core: Core, agent: str) -> list[FieldError]:
    """What is wrong with a name for an agent that runs elsewhere."""
    errors: list[FieldError] = []
    if not FORM.match(agent) or is_mixed(agent):
        message = "an agent's name is 1 to 64 letters of one script, digits, and . _ @ -"
        errors.append(FieldError("agent", "form", message))
    if is_like_any(agent, core.agents.names):
        errors.append(FieldError("agent", "taken", f"{agent} is hosted here, or too like one that is"))
    elif is_reserved(agent):
        errors.append(FieldError("agent", "taken", f"{agent} is reserved: it could be taken for the server itself"))
    return errors


def _check_new(core: Core, name: str, agent: str | None, expires_at: datetime | None) -> None:
    errors: list[FieldError] = []
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        errors.append(FieldError("name", "form", f"a key's name has 1 to {LONGEST_NAME} characters"))
    if agent is not None:
        errors += agent_errors(core, agent)
    if expires_at is not None and expires_at <= core.clock.now():
        errors.append(FieldError("expires_at", "past", "expires_at must be in the future"))
    elif expires_at is not None and expires_at - core.clock.now() > LONGEST_LIFE:
        errors.append(FieldError("expires_at", "far", "expires_at is a hundred years from now at the most"))
    if errors:
        raise InvalidInput("; ".join(error.message for error in errors), errors)
