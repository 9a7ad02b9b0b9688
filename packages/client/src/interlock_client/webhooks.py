"""The manage face: webhooks, and what was delivered to them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from interlock_client.base import ClientModel, ServerModel

Event = Literal["request.asked", "request.expiring", "request.settled", "request.voted", "request.routed"]
Status = Literal["waiting", "delivered", "failed"]
Address = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Agent = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class NewWebhook(ClientModel):
    url: Address = Field(description="Its host must be one that the operator named.")
    events: list[Event] | None = Field(
        default=None, max_length=5, description="Asked, expiring and settled when left out."
    )
    agents: list[Agent] | None = Field(
        default=None, max_length=100, description="Whose requests it is told of; everybody's when left out."
    )
    user_id: str | None = Field(default=None, description="Only heeded by a server that runs without accounts.")


class Webhook(ServerModel):
    id: str
    url: str
    events: list[Event]
    agents: list[str]
    created_at: datetime


class CreatedWebhook(Webhook):
    secret: str = Field(description="What deliveries are signed with; it is shown only here.")


class WebhookEntry(Webhook):
    created_by: str


class WebhookList(ServerModel):
    webhooks: list[WebhookEntry]


class RemovedWebhook(ServerModel):
    id: str
    removed: bool = True


class Delivery(ServerModel):
    id: str
    webhook_id: str
    event: Event
    request_id: str
    conversation_id: str
    status: Status
    attempts: int
    last_status: int | None = Field(description="The status of the receiver's last response, if there was one.")
    last_error: str | None
    next_attempt_at: datetime | None
    created_at: datetime
    delivered_at: datetime | None


class DeliveryList(ServerModel):
    deliveries: list[Delivery]
    next_cursor: str | None
