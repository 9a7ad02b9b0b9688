"""`interlock webhooks`: who is told of requests outside."""

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.cli._database import Data, Database, run

if TYPE_CHECKING:
    from interlock.domain.webhook import Delivery, DeliveryStatus, Webhook, WebhookEvent
    from interlock.services.core import Core
    from interlock.services.webhooks.webhooks import Page

app = typer.Typer(help="Manage webhooks and their deliveries.", no_args_is_help=True, rich_markup_mode=None)

Events = Annotated[
    list[str] | None,
    typer.Option(
        "--event", help="request.asked, .expiring, .settled, .voted or .routed; repeatable. [default: the first three]"
    ),
]
Agents = Annotated[
    list[str] | None,
    typer.Option("--agent", help="Only requests of this agent; repeatable. [default: all agents]"),
]
Status = Annotated[str | None, typer.Option(help="waiting, delivered or failed. [default: all]")]
Limit = Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number to list.")]


@app.command()
def create(url: str, event: Events = None, agent: Agents = None, data: Data = None, database: Database = None) -> None:
    """Create a webhook, and print its id and signing secret, which is not shown again."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.webhooks import webhooks

    events = [_event(text) for text in event or ()]

    async def work(core: "Core") -> "tuple[Webhook, str]":
        return await webhooks.create(core, SYSTEM, url, events=events, agents=agent or ())

    webhook, secret = run(data, database, work, makes=True)
    typer.echo(f"{webhook.id}\t{secret}")


@app.command(name="list")
def list_all(data: Data = None, database: Database = None) -> None:
    """List all webhooks."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.webhooks import webhooks

    async def work(core: "Core") -> "list[Webhook]":
        return await webhooks.list_all(core, SYSTEM)

    for webhook in run(data, database, work):
        columns = (webhook.id, webhook.url, ",".join(webhook.events), ",".join(webhook.agents))
        typer.echo("\t".join((*columns, f"{webhook.created_at:%Y-%m-%d %H:%M}")))


@app.command()
def remove(webhook_id: str, data: Data = None, database: Database = None) -> None:
    """Remove a webhook; its waiting deliveries are not sent."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.webhooks import webhooks

    async def work(core: "Core") -> None:
        await webhooks.remove(core, SYSTEM, webhook_id)

    run(data, database, work)
    typer.echo(f"{webhook_id} is removed")


@app.command()
def deliveries(
    webhook_id: str, status: Status = None, limit: Limit = 50, data: Data = None, database: Database = None
) -> None:
    """List the deliveries of a webhook, newest first."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.webhooks import webhooks

    only = _status(status) if status else None

    async def work(core: "Core") -> "Page":
        return await webhooks.list_deliveries(core, SYSTEM, webhook_id, status=only, limit=limit)

    for delivery in run(data, database, work).deliveries:
        columns = (delivery.id, delivery.event, delivery.request_id, delivery.status, str(delivery.attempts))
        typer.echo("\t".join((*columns, _outcome(delivery), f"{delivery.created_at:%Y-%m-%d %H:%M}")))


@app.command()
def replay(delivery_id: str, data: Data = None, database: Database = None) -> None:
    """Send a delivery again; a running server does this within 30 seconds."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.webhooks import webhooks

    async def work(core: "Core") -> "Delivery":
        return await webhooks.replay(core, SYSTEM, delivery_id)

    typer.echo(f"{run(data, database, work).id} is sent again")


def _outcome(delivery: "Delivery") -> str:
    return delivery.last_error or str(delivery.last_status or "")


def _event(text: str) -> "WebhookEvent":
    from interlock.domain.errors import InvalidInput
    from interlock.domain.webhook import WebhookEvent

    if text not in list(WebhookEvent):
        raise InvalidInput(f"{text!r} is no event: use {', '.join(WebhookEvent)}")
    return WebhookEvent(text)


def _status(text: str) -> "DeliveryStatus":
    from interlock.domain.errors import InvalidInput
    from interlock.domain.webhook import DeliveryStatus

    if text not in list(DeliveryStatus):
        raise InvalidInput(f"{text!r} is no status: use {', '.join(DeliveryStatus)}")
    return DeliveryStatus(text)
