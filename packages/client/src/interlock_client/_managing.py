"""What people manage of their own: keys, remembered permissions, saved values; and the audit trail."""

from collections.abc import AsyncGenerator
from datetime import datetime

from interlock_client import audit, manage
from interlock_client._transport import Call, Part, segment


class Managing(Part):
    async def create_key(
        self,
        name: str,
        role: manage.KeyRole = "person",
        *,
        agent: str | None = None,
        expires_at: datetime | None = None,
    ) -> manage.KeyMade:
        """A key of the caller's own; `.key` is shown here and never again. An agent's key asks, and never answers."""
        expires = None if expires_at is None else expires_at.isoformat()
        body = self._body(name=name, role=role, agent=agent, expires_at=expires)
        return await self._transport.fetch(manage.KeyMade, Call("POST", "/api/v1/keys", body))

    async def keys(self, *, everybody: bool = False) -> list[manage.KeyEntry]:
        return (await self._got(manage.KeyList, "/api/v1/keys", {"all": everybody})).keys

    async def revoke_key(self, key_id: str) -> None:
        await self._end(f"/api/v1/keys/{segment(key_id)}")

    async def grants(self, *, everybody: bool = False) -> list[manage.GrantEntry]:
        """What is remembered, and answers later asks without a person."""
        return (await self._got(manage.GrantList, "/api/v1/grants", {"all": everybody})).grants

    async def revoke_grant(self, grant_id: str) -> None:
        await self._end(f"/api/v1/grants/{segment(grant_id)}")

    async def secrets(self, *, everybody: bool = False) -> list[manage.SavedEntry]:
        """The names of saved values, never the values."""
        return (await self._got(manage.SavedList, "/api/v1/secrets", {"all": everybody})).secrets

    async def delete_secret(self, secret_id: str) -> None:
        await self._end(f"/api/v1/secrets/{segment(secret_id)}")

    async def audit(
        self, conversation_id: str | None = None, *, action: str | None = None, page_size: int = 50
    ) -> AsyncGenerator[audit.AuditEntry]:
        """The audit trail, the newest entry first."""
        params = {"conversation_id": conversation_id, "action": action, "limit": page_size}
        while True:
            page = await self._got(audit.AuditPage, "/api/v1/audit", params)
            for entry in page.entries:
                yield entry
            if page.next_cursor is None:
                return
            params = {**params, "cursor": page.next_cursor}

    async def _end(self, path: str) -> None:
        await self._transport.fetch(manage.Ended, Call("DELETE", path))
