"""What webhooks need: who is to be told, what waits to be sent, and something that sends it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from interlock.domain.errors import Undeliverable
from interlock.domain.webhook import Delivery, DeliveryStatus, Webhook


class Webhooks(Protocol):
    """Signing secrets are sealed before they reach the database; only `secret` gives one in clear."""

    async def add(self, webhook: Webhook, secret: str) -> None: ...

    async def get(self, webhook_id: str) -> Webhook | None:
        """The webhook, also one that is removed."""
        ...

    async def live(self) -> list[Webhook]:
        """Those not removed, the oldest first."""
        ...

    async def secret(self, webhook_id: str) -> str: ...

    async def remove(self, webhook_id: str, at: datetime) -> bool:
        """False when it was removed before."""
        ...


class Deliveries(Protocol):
    """The outbox. What is claimed is due again when the claim ends; whoever claims it next sends it again."""

    async def add(self, deliveries: Sequence[Delivery]) -> None: ...

    async def get(self, delivery_id: str) -> Delivery | None: ...

    async def page(
        self, webhook_id: str, status: DeliveryStatus | None, before: tuple[datetime, str] | None, limit: int
    ) -> list[Delivery]:
        """The webhook's, the newest first, from after the moment and id of the last one of the page before."""
        ...

    async def due_webhooks(self, now: datetime) -> list[str]:
        """The webhooks for which something is due, the one that waits longest first."""
        ...

    async def next_due(self, but: Collection[str]) -> datetime | None:
        """When the next one is due, not counting those of the webhooks in `but`."""
        ...

    async def claim(self, webhook_id: str, now: datetime, until: datetime, limit: int) -> list[Delivery]:
        """Take what is due, the oldest first, so that nobody else sends it before `until`; each counts an attempt.

        What another transaction is claiming is skipped.
        """
        ...

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
        """Write what came of an attempt; False, and nothing is written, when the claim is no longer the present one."""
        ...

    async def replay(self, delivery_id: str, at: datetime) -> bool:
        """Let it wait anew, due at once, with all attempts before it."""
        ...

    async def purge(self, before: datetime) -> None:
        """Drop those that were written before then and wait for nothing."""
        ...

    async def fail_all(self, webhook_id: str, reason: str) -> None:
        """Let all that wait for this webhook fail."""
        ...


class Unanswered(Undeliverable):
    """It may have arrived: the connection stood, and no response came."""


class Poster(Protocol):
    async def check(self, url: str) -> None:
        """`InvalidInput` for a URL that `post` would refuse, with what to do about it."""
        ...

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        """Send, and give the status of the response, whatever it is; a redirect is a response like any other.

        `Undeliverable` when the URL may not be posted to, or no response came in time; `Unanswered` where what came of
        it is not known.
        """
        ...
