"""Webhooks, whose signing secrets are sealed here, and the outbox of what is to be delivered to them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Executable, Row, and_, bindparam, delete, func, insert, literal_column, or_, select, update

from interlock.domain.errors import NotFound
from interlock.domain.webhook import DELIVERY, Delivery, DeliveryStatus, Webhook, WebhookEvent
from interlock.storage._repository import Repository, SealedRepository, one_of
from interlock.storage.schema import deliveries, webhooks

_PUBLIC = tuple(column for column in webhooks.c if column.name != "sealed")
_BY_ID = select(*_PUBLIC).where(webhooks.c.id == bindparam("webhook_id"))
_LIVE = select(*_PUBLIC).where(webhooks.c.removed_at.is_(None)).order_by(webhooks.c.created_at, webhooks.c.id)
_SEALED = select(webhooks.c.sealed).where(webhooks.c.id == bindparam("webhook_id"))
_REMOVE = (
    update(webhooks)
    .where(webhooks.c.id == bindparam("webhook_id"), webhooks.c.removed_at.is_(None))
    .values(removed_at=bindparam("at"))
)

# Written out, not bound: only then can the partial index serve the query.
_IS_WAITING = deliveries.c.status == literal_column(f"'{DeliveryStatus.WAITING}'")
_ADD = insert(deliveries)
_DELIVERY_BY_ID = select(deliveries).where(deliveries.c.id == bindparam("delivery_id"))
_DUE_WEBHOOKS = (
    select(deliveries.c.webhook_id)
    .where(_IS_WAITING, deliveries.c.due_at <= bindparam("now"))
    .group_by(deliveries.c.webhook_id)
    .order_by(func.min(deliveries.c.due_at), deliveries.c.webhook_id)
)
_NEWEST_FIRST = (
    select(deliveries)
    .where(deliveries.c.webhook_id == bindparam("webhook_id"))
    .order_by(deliveries.c.created_at.desc(), deliveries.c.id.desc())
)


@cache
def _settle(status: DeliveryStatus) -> Executable:
    settled = update(deliveries).where(
        deliveries.c.id == bindparam("delivery_id"),
        deliveries.c.due_at == bindparam("claimed_until"),
        one_of(deliveries.c.status, DELIVERY.sources(status)),
    )
    return settled.values(
        status=literal_column(f"'{status}'"),
        due_at=bindparam("new_due_at"),
        last_status=bindparam("new_status"),
        last_error=bindparam("new_error"),
        delivered_at=bindparam("new_delivered_at"),
    )


class SqlWebhooks(SealedRepository):
    async def add(self, webhook: Webhook, secret: str) -> None:
        await self._connection.execute(
            insert(webhooks),
            {
                "id": webhook.id,
                "url": webhook.url,
                "events": list(webhook.events),
                "agents": list(webhook.agents),
                "sealed": await self._seal(secret, context=_context(webhook.id)),
                "created_by": webhook.created_by,
                "created_at": webhook.created_at,
            },
        )

    async def get(self, webhook_id: str) -> Webhook | None:
        row = (await self._connection.execute(_BY_ID, {"webhook_id": webhook_id})).one_or_none()
        return None if row is None else _webhook(row)

    async def live(self) -> list[Webhook]:
        return [_webhook(row) for row in await self._connection.execute(_LIVE)]

    async def secret(self, webhook_id: str) -> str:
        sealed = await self._connection.scalar(_SEALED, {"webhook_id": webhook_id})
        if sealed is None:
            raise NotFound("there is no such webhook")
        return await self._open(sealed, context=_context(webhook_id))

    async def remove(self, webhook_id: str, at: datetime) -> bool:
        return await self._changed(_REMOVE, {"webhook_id": webhook_id, "at": at})


class SqlDeliveries(Repository):
    async def add(self, deliveries: Sequence[Delivery]) -> None:
        if deliveries:
            await self._connection.execute(_ADD, [_values(delivery) for delivery in deliveries])

    async def get(self, delivery_id: str) -> Delivery | None:
        row = (await self._connection.execute(_DELIVERY_BY_ID, {"delivery_id": delivery_id})).one_or_none()
        return None if row is None else _delivery(row)

    async def page(
        self, webhook_id: str, status: DeliveryStatus | None, before: tuple[datetime, str] | None, limit: int
    ) -> list[Delivery]:
        query = _NEWEST_FIRST.limit(limit)
        if status is not None:
            query = query.where(deliveries.c.status == status)
        if before is not None:
            at, delivery_id = before
            earlier = and_(deliveries.c.created_at == at, deliveries.c.id < delivery_id)
            query = query.where(or_(deliveries.c.created_at < at, earlier))
        found = await self._connection.execute(query, {"webhook_id": webhook_id})
        return [_delivery(row) for row in found]

    async def due_webhooks(self, now: datetime) -> list[str]:
        return [row.webhook_id for row in await self._connection.execute(_DUE_WEBHOOKS, {"now": now})]

    async def next_due(self, but: Collection[str]) -> datetime | None:
        earliest = select(func.min(deliveries.c.due_at)).where(_IS_WAITING)
        if but:
            earliest = earliest.where(deliveries.c.webhook_id.not_in(but))
        return await self._connection.scalar(earliest)

    async def claim(self, webhook_id: str, now: datetime, until: datetime, limit: int) -> list[Delivery]:
        due = (
            select(deliveries)
            .where(_IS_WAITING, deliveries.c.due_at <= now, deliveries.c.webhook_id == webhook_id)
            .order_by(deliveries.c.due_at, deliveries.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        found = (await self._connection.execute(due)).all()
        if not found:
            return []
        taken = update(deliveries).where(deliveries.c.id.in_([row.id for row in found]))
        await self._connection.execute(taken.values(due_at=until, attempts=deliveries.c.attempts + 1))
        return [_delivery(row, due_at=until, attempts=row.attempts + 1) for row in found]

    async def settle(
        self,
        claimed: Delivery,
        status: DeliveryStatus,
        at: datetime,
        *,
        due_at: datetime | None = None,
        last_status: int | None = None,
        last_error: str | None = None,
    ) -> bool:
        values = {
            "delivery_id": claimed.id,
            "claimed_until": claimed.due_at,
            "new_due_at": due_at,
            "new_status": last_status,
            "new_error": last_error,
            "new_delivered_at": at if status is DeliveryStatus.DELIVERED else None,
        }
        return await self._changed(_settle(status), values)

    async def replay(self, delivery_id: str, at: datetime) -> bool:
        allowed = one_of(deliveries.c.status, DELIVERY.sources(DeliveryStatus.WAITING))
        anew = update(deliveries).where(deliveries.c.id == delivery_id, allowed)
        return await self._changed(
            anew.values(
                status=DeliveryStatus.WAITING,
                attempts=0,
                due_at=at,
                last_status=None,
                last_error=None,
                delivered_at=None,
            )
        )

    async def purge(self, before: datetime) -> None:
        over = deliveries.c.status != DeliveryStatus.WAITING
        await self._connection.execute(delete(deliveries).where(deliveries.c.created_at < before, over))

    async def fail_all(self, webhook_id: str, reason: str) -> None:
        waiting = update(deliveries).where(deliveries.c.webhook_id == webhook_id, _IS_WAITING)
        await self._connection.execute(waiting.values(status=DeliveryStatus.FAILED, due_at=None, last_error=reason))


def _context(webhook_id: str) -> str:
    return f"webhook:{webhook_id}"


def _webhook(row: Row[Any]) -> Webhook:
    return Webhook(
        id=row.id,
        url=row.url,
        events=tuple(WebhookEvent(event) for event in row.events),
        agents=tuple(row.agents),
        created_by=row.created_by,
        created_at=row.created_at,
        removed_at=row.removed_at,
    )


def _values(delivery: Delivery) -> dict[str, Any]:
    return {
        "id": delivery.id,
        "webhook_id": delivery.webhook_id,
        "event": delivery.event,
        "thread_id": delivery.thread_id,
        "request_id": delivery.request_id,
        "body": delivery.body,
        "status": delivery.status,
        "attempts": delivery.attempts,
        "due_at": delivery.due_at,
        "created_at": delivery.created_at,
    }


def _delivery(row: Row[Any], **changes: Any) -> Delivery:
    values: dict[str, Any] = {
        "id": row.id,
        "webhook_id": row.webhook_id,
        "event": WebhookEvent(row.event),
        "thread_id": row.thread_id,
        "request_id": row.request_id,
        "body": row.body,
        "status": DeliveryStatus(row.status),
        "attempts": row.attempts,
        "due_at": row.due_at,
        "last_status": row.last_status,
        "last_error": row.last_error,
        "created_at": row.created_at,
        "delivered_at": row.delivered_at,
    }
    return Delivery(**(values | changes))
