"""Webhooks: addresses outside that are told of requests, and the deliveries that wait for them.

A delivery is tried until its receiver takes it, ever more seldom, and given up after the last of `BACK_OFF`. It may
arrive twice, and later than one that was written after it; its id is the same each time.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from interlock.domain.canonical import canonical_json
from interlock.domain.event import RequestSettled
from interlock.domain.json_value import JsonObject
from interlock.domain.moment import to_iso
from interlock.domain.request import Request
from interlock.domain.transitions import Transitions


class WebhookEvent(StrEnum):
    ASKED = "request.asked"
    EXPIRING = "request.expiring"
    SETTLED = "request.settled"
    VOTED = "request.voted"
    """A yes or a no that was not the last one."""
    ROUTED = "request.routed"
    """It was put to more people."""


@dataclass(frozen=True, slots=True)
class Webhook:
    id: str
    url: str
    events: tuple[WebhookEvent, ...]
    agents: tuple[str, ...]
    """The agents whose requests it is told of; none named: all of them."""
    created_by: str
    created_at: datetime
    removed_at: datetime | None = None

    def accepts(self, event: WebhookEvent, agent: str) -> bool:
        return event in self.events and (not self.agents or agent in self.agents)


class DeliveryStatus(StrEnum):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


DELIVERY = Transitions(
    "delivery",
    {
        DeliveryStatus.WAITING: frozenset({DeliveryStatus.WAITING, DeliveryStatus.DELIVERED, DeliveryStatus.FAILED}),
        DeliveryStatus.DELIVERED: frozenset({DeliveryStatus.WAITING}),
        DeliveryStatus.FAILED: frozenset({DeliveryStatus.WAITING}),
    },
)


@dataclass(frozen=True, slots=True)
class Delivery:
    id: str
    webhook_id: str
    event: WebhookEvent
    thread_id: str
    request_id: str
    body: JsonObject
    status: DeliveryStatus
    created_at: datetime
    attempts: int = 0
    due_at: datetime | None = None
    """When it is tried next; while it is being sent, when it counts as lost with its sender."""
    last_status: int | None = None
    last_error: str | None = None
    delivered_at: datetime | None = None

    @property
    def payload(self) -> bytes:
        """What is sent, the same at each attempt."""
        return canonical_json(self.body).encode()


BACK_OFF = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 3600, 10800, 21600, 43200, 86400))
"""How long to wait after the first failed attempt, the second, and so on; after one more it has failed."""
JITTER = 0.1
"""By how much a wait may be longer, so that what failed together does not come back together."""


def back_off(attempts: int, jitter: float) -> timedelta | None:
    """How long to wait after so many failed attempts, None for no longer; `jitter` is between 0 and 1."""
    if attempts > len(BACK_OFF):
        return None
    return BACK_OFF[attempts - 1] * (1 + JITTER * jitter)


def new_signing_secret() -> str:
    return f"whsec_{secrets.token_hex(32)}"


def signature(secret: str, at: int, body: bytes) -> str:
    """HMAC-SHA256 in hex over `{at}.{body}`, where `at` is in seconds since 1970."""
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()


def signed_headers(delivery: Delivery, secret: str, now: datetime) -> dict[str, str]:
    at = int(now.timestamp())
    return {
        "Content-Type": "application/json",
        "Interlock-Event": delivery.event,
        "Interlock-Delivery": delivery.id,
        "Interlock-Signature": f"t={at},v1={signature(secret, at, delivery.payload)}",
    }


def data_of(request: Request, settled: RequestSettled | None, owner: str) -> JsonObject:
    """What a receiver is told of a request, and of its end; the value of `settled` is without secrets."""
    data: JsonObject = {
        "request_id": request.id,
        "conversation_id": request.thread_id,
        "agent": request.agent,
        "type": request.kind.public_type,
        "status": request.status if settled is None else settled.status,
        "request_data": request.body.in_language(None).to_json(),
        "created_at": to_iso(request.created_at),
        "expires_at": to_iso(request.deadline) if request.deadline else None,
        "owner": owner,
    }
    if settled is None:
        return data
    override = {"override": {"reason": settled.reason}} if settled.is_override else {}
    return (
        data
        | override
        | settled.settled_by()
        | {"response": settled.value.to_json() if settled.value is not None else None}
    )
