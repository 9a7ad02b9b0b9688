"""Identities at a provider of single sign-on."""

from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, delete, select, update

from interlock.domain.sign_on import Identity
from interlock.storage._repository import Repository, insert_for
from interlock.storage.schema import identities, sign_on_states

_ALL = select(identities).order_by(identities.c.linked_at, identities.c.id)
_BY_ID = select(identities).where(identities.c.id == bindparam("identity_id"))
_OF_SUBJECT = select(identities).where(
    identities.c.issuer == bindparam("issuer"), identities.c.subject == bindparam("subject")
)


class SqlIdentities(Repository):
    async def add(self, identity: Identity) -> bool:
        added = insert_for(identities, is_postgres=self._is_postgres).on_conflict_do_nothing()
        fixed = {
            "id": identity.id,
            "user_id": identity.user_id,
            "issuer": identity.issuer,
            "subject": identity.subject,
            "linked_at": identity.linked_at,
        }
        return await self._changed(added, {**fixed, **_renewal_values(identity)})

    async def get(self, identity_id: str) -> Identity | None:
        found = await self._connection.execute(_BY_ID, {"identity_id": identity_id})
        return _identity(found.one_or_none())

    async def of_subject(self, issuer: str, subject: str) -> Identity | None:
        found = await self._connection.execute(_OF_SUBJECT, {"issuer": issuer, "subject": subject})
        return _identity(found.one_or_none())

    async def of_user(self, user_id: str) -> list[Identity]:
        found = await self._connection.execute(_ALL.where(identities.c.user_id == user_id))
        return [identity for row in found if (identity := _identity(row))]

    async def all(self) -> list[Identity]:
        return [identity for row in await self._connection.execute(_ALL) if (identity := _identity(row))]

    async def renew(self, identity: Identity) -> None:
        renewed = update(identities).where(identities.c.id == identity.id)
        await self._connection.execute(renewed.values(**_renewal_values(identity)))

    async def remove(self, identity_id: str) -> None:
        await self._connection.execute(delete(identities).where(identities.c.id == identity_id))

    async def forget_of(self, user_id: str) -> None:
        forgotten = update(identities).where(identities.c.user_id == user_id)
        await self._connection.execute(forgotten.values(label="", groups=[], groups_left_out=False))

    async def use_state(self, state: str, expires_at: datetime) -> bool:
        used = insert_for(sign_on_states, is_postgres=self._is_postgres).on_conflict_do_nothing()
        return await self._changed(used, {"state": state, "expires_at": expires_at})

    async def purge_states(self, before: datetime) -> None:
        await self._connection.execute(delete(sign_on_states).where(sign_on_states.c.expires_at < before))


def _renewal_values(identity: Identity) -> dict[str, Any]:
    return {
        "label": identity.label,
        "groups": list(identity.groups),
        "groups_left_out": identity.groups_left_out,
        "used_at": identity.used_at,
    }


def _identity(row: Row[Any] | None) -> Identity | None:
    if row is None:
        return None
    return Identity(
        id=row.id,
        user_id=row.user_id,
        issuer=row.issuer,
        subject=row.subject,
        label=row.label,
        groups=tuple(row.groups),
        groups_left_out=row.groups_left_out,
        linked_at=row.linked_at,
        used_at=row.used_at,
    )
