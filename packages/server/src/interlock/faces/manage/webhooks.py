"""Webhooks: who is told of requests outside, and what came of telling them. For admins."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request

from interlock.domain.errors import InvalidInput
from interlock.domain.moment import to_iso
from interlock.domain.webhook import Delivery, DeliveryStatus, Webhook, WebhookEvent
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import state_of
from interlock.services.webhooks import webhooks
from interlock_client import webhooks as wire

router = APIRouter(prefix="/api/v1/webhooks", tags=["webhooks"])


@router.post("", responses=problems(401))
async def create(request: Request, caller: Caller, body: wire.NewWebhook) -> wire.CreatedWebhook:
    """Make a webhook. Its signing secret is told here and never again."""
    webhook, secret = await webhooks.create(
        state_of(request).core,
        caller,
        body.url,
        events=[WebhookEvent(event) for event in body.events or ()],
        agents=body.agents or (),
    )
    return wire.CreatedWebhook(**_common(webhook).model_dump(), secret=secret)


@router.get("", responses=problems(401))
async def list_all(request: Request, caller: Caller) -> wire.WebhookList:
    """Every webhook that was not removed, the oldest first."""
    found = await webhooks.list_all(state_of(request).core, caller)
    entries = [wire.WebhookEntry(**_common(webhook).model_dump(), created_by=webhook.created_by) for webhook in found]
    return wire.WebhookList(webhooks=entries)


@router.delete("/{webhook_id}", responses=problems(401, 404))
async def remove(request: Request, caller: Caller, webhook_id: str) -> wire.RemovedWebhook:
    """Remove a webhook: what waits for it is not sent any more."""
    await webhooks.remove(state_of(request).core, caller, webhook_id)
    return wire.RemovedWebhook(id=webhook_id)


@router.get("/{webhook_id}/deliveries", responses=problems(401, 404))
async def deliveries(
    request: Request,
    caller: Caller,
    webhook_id: str,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    status: wire.Status | None = None,
) -> wire.DeliveryList:
    """What was written for a webhook, the newest first; `next_cursor` leads to the next page."""
    page = await webhooks.list_deliveries(
        state_of(request).core,
        caller,
        webhook_id,
        status=None if status is None else DeliveryStatus(status),
        after=None if cursor is None else _read_cursor(cursor),
        limit=limit,
    )
    return wire.DeliveryList(
        deliveries=[_delivery(delivery) for delivery in page.deliveries],
        next_cursor=None if page.next_after is None else _cursor(*page.next_after),
    )


@router.post("/{webhook_id}/deliveries/{delivery_id}/replay", responses=problems(401, 404))
async def replay(request: Request, caller: Caller, webhook_id: str, delivery_id: str) -> wire.Delivery:
    """Send a delivery again: the same id, the same body, and all attempts before it."""
    delivery = await webhooks.replay(state_of(request).core, caller, delivery_id, webhook_id=webhook_id)
    return _delivery(delivery)


def _common(webhook: Webhook) -> wire.Webhook:
    return wire.Webhook(
        id=webhook.id,
        url=webhook.url,
        events=[event.value for event in webhook.events],
        agents=list(webhook.agents),
        created_at=webhook.created_at,
    )


def _delivery(delivery: Delivery) -> wire.Delivery:
    return wire.Delivery(
        id=delivery.id,
        webhook_id=delivery.webhook_id,
        event=delivery.event.value,
        request_id=delivery.request_id,
        conversation_id=delivery.thread_id,
        status=delivery.status.value,
        attempts=delivery.attempts,
        last_status=delivery.last_status,
        last_error=delivery.last_error,
        next_attempt_at=delivery.due_at,
        created_at=delivery.created_at,
        delivered_at=delivery.delivered_at,
    )


def _cursor(at: datetime, delivery_id: str) -> str:
    return f"{to_iso(at)}~{delivery_id}"


def _read_cursor(text: str) -> tuple[datetime, str]:
    moment, _, delivery_id = text.partition("~")
    try:
        return datetime.fromisoformat(moment).astimezone(UTC), delivery_id
    except (ValueError, OverflowError) as error:
        raise InvalidInput("the cursor is none that a page before gave") from error
