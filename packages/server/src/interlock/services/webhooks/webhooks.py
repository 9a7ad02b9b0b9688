"""Webhooks: made and removed by admins, told of requests inside the transactions that change them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.canonical import plain
from interlock.domain.errors import Forbidden, NotFound
from interlock.domain.event import RequestSettled
from interlock.domain.ids import new_id
from interlock.domain.json_value import JsonObject
from interlock.domain.moment import to_iso
from interlock.domain.principal import Principal, Role
from interlock.domain.request import Request
from interlock.domain.webhook import Delivery, DeliveryStatus, Webhook, WebhookEvent, data_of, new_signing_secret
from interlock.ports.store import Transaction
from interlock.services.core import Core, Unit, unit

WARNING_BATCH = 100
USUAL = (WebhookEvent.ASKED, WebhookEvent.EXPIRING, WebhookEvent.SETTLED)
"""What a webhook is told of that names no events: those who made it before there were others know no more."""


@dataclass(frozen=True, slots=True)
class Page:
    deliveries: Sequence[Delivery]
    next_after: tuple[datetime, str] | None
    """Where the next page begins, None on the last one."""


async def create(
    core: Core,
    principal: Principal,
    url: str,
    *,
    events: Sequence[WebhookEvent] = (),
    agents: Sequence[str] = (),
) -> tuple[Webhook, str]:
    """Make a webhook; its signing secret is given here and never again. No events named: the usual ones."""
    _require_admin(principal)
    await core.poster.check(url)
    chosen = tuple(event for event in WebhookEvent if event in (events or USUAL))
    secret = new_signing_secret()
    async with unit(core) as work:
        webhook = Webhook(new_id("hook"), url, chosen, tuple(dict.fromkeys(agents)), principal.name, work.now)
        await work.tx.webhooks.add(webhook, secret)
        data = {"webhook_id": webhook.id, "url": url, "events": list(chosen)}
        await work.tx.audit.append(SERVER_CHAIN, principal, "webhook.created", data, work.now)
    return webhook, secret


async def list_all(core: Core, principal: Principal) -> list[Webhook]:
    _require_admin(principal)
    async with core.store.snapshot() as tx:
        return await tx.webhooks.live()


async def remove(core: Core, principal: Principal, webhook_id: str) -> None:
    """From now on it is told nothing, what waits for it included."""
    _require_admin(principal)
    async with unit(core) as work:
        await _live(work.tx, webhook_id)
        await work.tx.webhooks.remove(webhook_id, work.now)
        await work.tx.deliveries.fail_all(webhook_id, "the webhook was removed")
        await work.tx.audit.append(SERVER_CHAIN, principal, "webhook.removed", {"webhook_id": webhook_id}, work.now)


async def list_deliveries(
    core: Core,
    principal: Principal,
    webhook_id: str,
    *,
    status: DeliveryStatus | None = None,
    after: tuple[datetime, str] | None = None,
    limit: int = 50,
) -> Page:
    """What was written for a webhook, the newest first."""
    _require_admin(principal)
    async with core.store.snapshot() as tx:
        await _live(tx, webhook_id)
        found = await tx.deliveries.page(webhook_id, status, after, limit + 1)
    page = found[:limit]
    return Page(page, (page[-1].created_at, page[-1].id) if len(found) > limit else None)


async def replay(core: Core, principal: Principal, delivery_id: str, *, webhook_id: str | None = None) -> Delivery:
    """Send a delivery again, under the same id and with the same body, with all attempts before it."""
    _require_admin(principal)
    async with unit(core) as work:
        delivery = await work.tx.deliveries.get(delivery_id)
        if delivery is None or webhook_id not in (None, delivery.webhook_id):
            raise NotFound("there is no such delivery")
        await _live(work.tx, delivery.webhook_id)
        await work.tx.deliveries.replay(delivery_id, work.now)
        anew = await work.tx.deliveries.get(delivery_id)
        work.deliver()
    return anew or delivery


async def enqueue_deliveries(
    work: Unit,
    event: WebhookEvent,
    request: Request,
    settled: RequestSettled | None = None,
    more: JsonObject | None = None,
) -> None:
    """Write to the outbox, inside the caller's transaction, one delivery for each webhook that wants to know.

    The value of `settled` is without secrets.
    """
    if not work.core.settings.webhook_hosts:
        return
    wanting = [webhook for webhook in await work.tx.webhooks.live() if webhook.accepts(event, request.agent)]
    if not wanting:
        return
    owners = await work.tx.users.names_of([request.owner_id])
    data = plain(data_of(request, settled, owners.get(request.owner_id, "")) | (more or {}))
    await work.tx.deliveries.add([_delivery(work, webhook, event, request, data) for webhook in wanting])
    work.deliver()


async def warn_due(core: Core) -> int:
    """Tell of every pending request whose deadline has come near, each once."""
    async with core.store.snapshot() as tx:
        due = await tx.requests.due_warnings(core.clock.now(), WARNING_BATCH)
    for request in due:
        async with unit(core) as work:
            await work.tx.threads.lock(request.thread_id)
            if await work.tx.requests.take_warning(request.id):
                await enqueue_deliveries(work, WebhookEvent.EXPIRING, request)
    return len(due)


def _delivery(work: Unit, webhook: Webhook, event: WebhookEvent, request: Request, data: JsonObject) -> Delivery:
    delivery_id = new_id("dlv")
    body = {"id": delivery_id, "event": event, "created_at": to_iso(work.now), "data": data}
    waiting = DeliveryStatus.WAITING
    return Delivery(
        delivery_id, webhook.id, event, request.thread_id, request.id, body, waiting, work.now, due_at=work.now
    )


def _require_admin(principal: Principal) -> None:
    if principal.role is not Role.ADMIN:
        raise Forbidden("webhooks are for admins")


async def _live(tx: Transaction, webhook_id: str) -> Webhook:
    webhook = await tx.webhooks.get(webhook_id)
    if webhook is None or webhook.removed_at is not None:
        raise NotFound("there is no such webhook")
    return webhook
