"""Grants and saved values: listed, and taken back at once."""

from dataclasses import dataclass

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.errors import Forbidden, NotFound
from interlock.domain.grant import Grant
from interlock.domain.principal import Principal, Role
from interlock.domain.saved_secret import SavedSecret
from interlock.services.core import Core, unit


@dataclass(frozen=True, slots=True)
class ListedGrant:
    grant: Grant
    owner: str
    """The name of whom it stands for."""


async def list_grants(core: Core, principal: Principal, *, everybody: bool = False) -> list[ListedGrant]:
    """What stands for the caller's threads and what they gave for others', the newest first; for an admin all of it."""
    async with core.store.snapshot() as tx:
        found = await tx.grants.of_person(_owner_filter(principal, everybody=everybody))
        owners = await tx.users.names_of({grant.owner_id for grant in found})
    return [ListedGrant(grant, owners.get(grant.owner_id, "")) for grant in found]


async def revoke_grant(core: Core, principal: Principal, grant_id: str) -> Grant:
    """End a grant: what is asked from then on is put to a person. Its owner, its giver and admins may."""
    async with unit(core) as work:
        grant = await work.tx.grants.get(grant_id)
        if grant is None or not _may_manage(principal, grant.owner_id, grant.by_id):
            raise NotFound("there is no such grant")
        if await work.tx.grants.revoke(grant_id, principal.name, work.now):
            revoked = {"grant_id": grant_id, "request_id": grant.request_id, "owner_id": grant.owner_id}
            revoked |= {"granted_by": grant.by_name}
            await work.tx.audit.append(SERVER_CHAIN, principal, "grant.revoked", revoked, work.now)
    return grant


async def list_saved_values(core: Core, principal: Principal, *, everybody: bool = False) -> list[SavedSecret]:
    """What is saved for the caller: names, never values."""
    async with core.store.snapshot() as tx:
        return await tx.saved_secrets.of_owner(_owner_filter(principal, everybody=everybody))


async def delete_saved_value(core: Core, principal: Principal, secret_id: str) -> SavedSecret:
    async with unit(core) as work:
        saved = await work.tx.saved_secrets.get(secret_id)
        if saved is None or not _may_manage(principal, saved.owner_id):
            raise NotFound("there is no such saved value")
        await work.tx.saved_secrets.delete(secret_id)
        deleted = {"secret_id": secret_id, "agent": saved.agent, "name": saved.name}
        await work.tx.audit.append(SERVER_CHAIN, principal, "secret.deleted", deleted, work.now)
    return saved


def _owner_filter(principal: Principal, *, everybody: bool) -> str | None:
    if principal.is_agent:
        raise Forbidden("an agent's key may not look at grants and saved values")
    if everybody and principal.role is not Role.ADMIN:
        raise Forbidden("only an admin sees what is others'")
    return None if everybody else principal.id


def _may_manage(principal: Principal, *owner_ids: str) -> bool:
    return not principal.is_agent and (principal.role is Role.ADMIN or principal.id in owner_ids)
