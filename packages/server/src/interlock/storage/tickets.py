"""Tickets: rows that are deleted by whoever uses them."""

from datetime import datetime

from sqlalchemy import delete, insert

from interlock.domain.api_key import Ticket
from interlock.storage._repository import Repository
from interlock.storage.schema import tickets


class SqlTickets(Repository):
    async def add(self, ticket: Ticket) -> None:
        await self._connection.execute(
            insert(tickets),
            {
                "hash": ticket.hash,
                "user_id": ticket.user_id,
                "key_id": ticket.key_id,
                "issued_at": ticket.issued_at,
                "expires_at": ticket.expires_at,
                "token_key": ticket.token_key,
            },
        )

    async def take(self, ticket_hash: str) -> Ticket | None:
        taken = delete(tickets).where(tickets.c.hash == ticket_hash).returning(tickets)
        row = (await self._connection.execute(taken)).one_or_none()
        if row is None:
            return None
        return Ticket(row.hash, row.user_id, row.key_id, row.issued_at, row.expires_at, row.token_key)

    async def purge(self, before: datetime) -> None:
        await self._connection.execute(delete(tickets).where(tickets.c.expires_at < before))
