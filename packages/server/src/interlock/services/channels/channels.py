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
from interlock.domain.setting_field import SettingField
from interlock.ports.channels import AddressGone, Fillable, KeyMaker, Refused, Unreachable
from interlock.ports.store import Transaction
from interlock.services.channels import wording
from interlock.services.channels.places import LinkedBy, kind_named, kind_of, linked_by, locale_of, settings_url
from interlock.services.core import Core, unit

LONGEST_NAME = 80
MOST_FAILED = 50


@dataclass(frozen=True, slots=True)
class ListedChannel:
    channel: Channel
    waiting: int
    failed: int


@dataclass(frozen=True, slots=True)
class UsableKind:
    name: str
    fields: tuple[SettingField, ...] | None
    """None: it is set up by its command, with what its documentation says."""
    linked_by: LinkedBy
    answers: bool


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
    made = kind_named(core, kind)
    if isinstance(made, KeyMaker):
        if credentials:
            raise wrong("credentials", "unknown", f"a channel of the kind {kind} makes its own key: give none")
        credentials = made.make_credentials()
    read = made.read_settings(settings, credentials)
    async with unit(core) as work:
        if made.abilities.subscribes and any(one.kind == kind for one in await work.tx.channels.live()):
            raise Conflict(f"there is a channel of the kind {kind} already, and a browser has one address only")
        called = name.strip()[:LONGEST_NAME] or kind
        channel = Channel(new_id("chan"), kind, called, shows, ceiling, read, principal.name, work.now)
        await work.tx.channels.add(channel, credentials)
        entry = {"channel_id": channel.id, "kind": kind, "settings": read, "shows": shows, "ceiling": ceiling}
        await work.tx.audit.append(SERVER_CHAIN, principal, "channel.created", entry, work.now)
    return channel


def list_kinds(core: Core, principal: Principal) -> list[UsableKind]:
    """The kinds that may be set up on this server."""
    _require_admin(principal)
    return [
        UsableKind(
            name, tuple(kind.fields) if isinstance(kind, Fillable) else None, linked_by(kind), kind.abilities.taps
        )
        for name, kind in core.channel_kinds.items()
    ]


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
    """Send a message to an address, or to the browsers of a person; `Conflict` with what the vendor said to it."""
    _require_admin(principal)
    async with core.store.snapshot() as tx:
        channel = await live(tx, channel_id)
        kind = kind_named(core, channel.kind)
        places = await _browsers(tx, channel_id, address) if kind.abilities.subscribes else None
    to = [kind.read_address(channel, address)] if places is None else places
    message = wording.trial(new_id("test"), channel, settings_url(core), locale_of(core, Preferences()))
    for one in to:
        await send_now(core, channel, one, message)


async def _browsers(tx: Transaction, channel_id: str, username: str) -> list[str]:
    person = await tx.users.by_name(username.strip())
    own = await tx.addresses.of_user(person.id) if person else []
    found = [one.external_id for one in own if one.channel_id == channel_id and one.off_at is None]
    if not found:
        raise wrong("address", "unknown", f"nobody named {username.strip()!r} has a browser on this channel")
    return found


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
