"""Channels: set up, tried and removed by admins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.channel import Channel, Message, Notice, NoticeStatus, Preferences, Shows, wrong
from interlock.domain.errors import Conflict, Forbidden, NotFound
from interlock.domain.ids import new_id
from interlock.domain.json_value import JsonObject
from interlock.domain.notice_rules import CEILINGS
from interlock.domain.principal import Principal, Role
from interlock.ports.channels import AddressGone, Refused, Unreachable
from interlock.ports.store import Transaction
from interlock.services.channels import wording
from interlock.services.channels.places import kind_named, kind_of, locale_of, settings_url
from interlock.services.core import Core, unit

LONGEST_NAME = 80
MOST_FAILED = 50


@dataclass(frozen=True, slots=True)
class ListedChannel:
    channel: Channel
    waiting: int
    failed: int


async def create(
    core: Core,
    principal: Principal,
    kind: str,
    settings: JsonObject,
    credentials: Mapping[str, str],
    *,
    name: str = "",
    shows: Shows = Shows.HEADLINE,
    ceiling: str = CEILINGS[0],
) -> Channel:
    """Set one up. Its credentials are sealed, and given to nobody again."""
    _require_admin(principal)
    if ceiling not in CEILINGS:
        raise wrong("ceiling", "unknown", f"ceiling is one of {', '.join(CEILINGS)}: nothing riskier leaves the page")
    read = kind_named(core, kind).read_settings(settings, credentials)
    async with unit(core) as work:
        called = name.strip()[:LONGEST_NAME] or kind
        channel = Channel(new_id("chan"), kind, called, shows, ceiling, read, principal.name, work.now)
        await work.tx.channels.add(channel, credentials)
        made = {"channel_id": channel.id, "kind": kind, "settings": read, "shows": shows, "ceiling": ceiling}
        await work.tx.audit.append(SERVER_CHAIN, principal, "channel.created", made, work.now)
    return channel


async def list_all(core: Core, principal: Principal) -> list[ListedChannel]:
    _require_admin(principal)
    async with core.store.snapshot() as tx:
        found = await tx.channels.live()
        waiting, failed = [await tx.notices.counts(one) for one in (NoticeStatus.WAITING, NoticeStatus.FAILED)]
    return [ListedChannel(one, waiting.get(one.id, 0), failed.get(one.id, 0)) for one in found]


async def list_failed(core: Core, principal: Principal, channel_id: str) -> Sequence[Notice]:
    """The last notices that were given up."""
    _require_admin(principal)
    async with core.store.snapshot() as tx:
        await live(tx, channel_id)
        return await tx.notices.page(channel_id, NoticeStatus.FAILED, MOST_FAILED)


async def remove(core: Core, principal: Principal, channel_id: str) -> None:
    """From now on nothing goes out over it; its credentials and the addresses on it are forgotten."""
    _require_admin(principal)
    async with unit(core) as work:
        await live(work.tx, channel_id)
        await work.tx.channels.remove(channel_id, work.now)
        await work.tx.notices.end_channel(channel_id)
        removed = {"channel_id": channel_id}
        await work.tx.audit.append(SERVER_CHAIN, principal, "channel.removed", removed, work.now)


async def send_test(core: Core, principal: Principal, channel_id: str, address: str) -> None:
    """Send a message to an address, whoever's it is; `Conflict` with what the vendor said to it."""
    _require_admin(principal)
    async with core.store.snapshot() as tx:
        channel = await live(tx, channel_id)
    to = kind_named(core, channel.kind).read_address(channel, address)
    locale = locale_of(core, Preferences())
    await send_now(core, channel, to, wording.trial(new_id("test"), channel, settings_url(core), locale))


async def send_now(core: Core, channel: Channel, address: str, message: Message) -> None:
    """Outside of the outbox, for who waits for it."""
    async with core.store.snapshot() as tx:
        credentials = await tx.channels.credentials(channel.id)
    try:
        link = kind_of(core, channel).open(channel, credentials)
        try:
            await link.send(address, message)
        finally:
            await link.close()
    except (Unreachable, Refused, AddressGone) as error:
        raise Conflict(f"the message was not taken: {error}") from error


async def live(tx: Transaction, channel_id: str) -> Channel:
    channel = await tx.channels.get(channel_id)
    if channel is None or channel.removed_at is not None:
        raise NotFound("there is no such channel")
    return channel


def _require_admin(principal: Principal) -> None:
    if principal.role is not Role.ADMIN:
        raise Forbidden("channels are for admins")
