"""What empties the outbox: it sends what is due, and sleeps until the next is, or until it is told of more.

Each webhook has a few places of its own, so that a receiver that is slow keeps nobody waiting but itself.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from interlock.domain.errors import StorageUnavailable, Undeliverable, Unreadable
from interlock.domain.webhook import Delivery, DeliveryStatus, back_off, signed_headers
from interlock.services.core import Core, sleep_until_set, unit

AT_ONCE = 4
"""How many posts to one webhook may be under way."""
CLAIM = timedelta(seconds=20)
"""Longer than a post may take: a delivery that nobody recorded by then is sent again."""
LONGEST_SLEEP = 30.0
"""Other processes write to the outbox too, and a system clock may be stepped: look again after this."""
RETRY_SECONDS = 1.0
LAST_SECONDS = 2.0
"""How long posts that are under way may go on when the server stops; what is cut off is sent again later."""

logger = logging.getLogger(__name__)


class WebhookSender:
    def __init__(self, jitter: Callable[[], float] = random.random) -> None:
        self._jitter = jitter
        self._under_way: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, core: Core) -> None:
        """Send what is due, now and whenever more is, until cancelled."""
        try:
            while True:
                try:
                    pause = await self._send_due(core)
                except Exception:
                    # Whatever it is, the outbox must not stand still until the next start.
                    logger.exception("the outbox could not be looked at; trying again")
                    pause = RETRY_SECONDS
                await sleep_until_set(core.delivery_written, pause)
        finally:
            await self._end()

    async def _send_due(self, core: Core) -> float:
        """Begin to send what is due, as far as there is room; seconds until there is more to do."""
        now = core.clock.now()
        async with core.store.snapshot() as tx:
            due = [webhook_id for webhook_id in await tx.deliveries.due_webhooks(now) if self._room(webhook_id)]
        for webhook_id in due:
            await self._claim(core, webhook_id)
        full = [webhook_id for webhook_id in self._under_way if not self._room(webhook_id)]
        async with core.store.snapshot() as tx:
            next_due = await tx.deliveries.next_due(full)
        if next_due is None:
            return LONGEST_SLEEP
        return min(max((next_due - core.clock.now()).total_seconds(), 0.0), LONGEST_SLEEP)

    def _room(self, webhook_id: str) -> int:
        return AT_ONCE - self._under_way[webhook_id]

    async def _claim(self, core: Core, webhook_id: str) -> None:
        async with unit(core) as work:
            claimed = await work.tx.deliveries.claim(webhook_id, work.now, work.now + CLAIM, self._room(webhook_id))
        for delivery in claimed:
            self._under_way[webhook_id] += 1
            task = asyncio.create_task(self._send(core, delivery))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, core: Core, delivery: Delivery) -> None:
        try:
            await self._try(core, delivery)
        except StorageUnavailable as unavailable:
            logger.warning("delivery %s was not recorded and is sent again: %s", delivery.id, unavailable.message)
        finally:
            self._under_way[delivery.webhook_id] -= 1
            core.delivery_written.set()

    async def _try(self, core: Core, delivery: Delivery) -> None:
        wait = back_off(delivery.attempts, self._jitter())
        try:
            receiver = await _receiver(core, delivery)
        except Unreadable as error:
            await self._fail(core, delivery, error.message, None, wait)
            return
        if receiver is None:
            await self._fail(core, delivery, "the webhook was removed", None, None)
            return
        status, error = await _attempt(core, delivery, *receiver)
        if status is None or not 200 <= status < 300:
            await self._fail(core, delivery, error, status, wait)
            return
        async with unit(core) as work:
            await work.tx.deliveries.settle(delivery, DeliveryStatus.DELIVERED, work.now, last_status=status)

    async def _fail(
        self, core: Core, delivery: Delivery, error: str | None, status: int | None, wait: timedelta | None
    ) -> None:
        """An attempt failed: it is tried again after `wait`, or never."""
        outcome = DeliveryStatus.FAILED if wait is None else DeliveryStatus.WAITING
        async with unit(core) as work:
            due_at = None if wait is None else work.now + wait
            await work.tx.deliveries.settle(
                delivery, outcome, work.now, due_at=due_at, last_status=status, last_error=error
            )
        level = logging.WARNING if wait is None else logging.INFO
        logger.log(level, "delivery %s is %s: %s", delivery.id, outcome, error or f"status {status}")

    async def _end(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _receiver(core: Core, delivery: Delivery) -> tuple[str, str] | None:
    """The address and the signing secret; None once the webhook is removed."""
    async with core.store.snapshot() as tx:
        webhook = await tx.webhooks.get(delivery.webhook_id)
        if webhook is None or webhook.removed_at is not None:
            return None
        return webhook.url, await tx.webhooks.secret(webhook.id)


async def _attempt(core: Core, delivery: Delivery, url: str, secret: str) -> tuple[int | None, str | None]:
    """The status of the receiver's response, or why there was none."""
    try:
        headers = signed_headers(delivery, secret, core.clock.now())
        return await core.poster.post(url, delivery.payload, headers), None
    except Undeliverable as error:
        return None, error.message
    except Exception:
        logger.exception("delivery %s could not be sent", delivery.id)
        return None, "it could not be sent; the server's log says why"
