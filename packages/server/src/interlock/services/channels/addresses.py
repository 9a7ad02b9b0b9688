"""Where people are reached: their addresses, which they prove themselves, and what they want to be told."""

from collections.abc import Sequence
from dataclasses import dataclass

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.channel import (
    ANOTHER_CODE_AFTER,
    CODE_TRIES,
    LINKED_WITHIN,
    Address,
    Channel,
    LinkCode,
    Preferences,
    QuietHours,
    hashed,
    new_code,
    wrong,
)
from interlock.domain.errors import Conflict, Forbidden, NotFound, RateLimited
from interlock.domain.ids import new_id
from interlock.domain.principal import Principal
from interlock.ports.store import Transaction
from interlock.services.channels import wording
from interlock.services.channels.channels import live, send_now
from interlock.services.channels.places import LinkedBy, kind_named, linked_by, locale_of, settings_url
from interlock.services.core import Core, Unit, unit
from interlock.texts import LOCALES, in_all, limits_text

MOST_BROWSERS = 20


@dataclass(frozen=True, slots=True)
class Reached:
    """A channel, as one of the people sees it who may be reached on it."""

    channel: Channel
    addresses: Sequence[Address]
    linked_by: LinkedBy

    @property
    def address(self) -> Address | None:
        """The only one, where there are no several."""
        return self.addresses[0] if self.addresses else None


async def list_reached(core: Core, principal: Principal) -> Sequence[Reached]:
    """All channels that can be used here, with the caller's addresses on each."""
    _require_person(principal)
    async with core.store.snapshot() as tx:
        channels = [one for one in await tx.channels.live() if one.kind in core.channel_kinds]
        own = await tx.addresses.of_user(principal.id)
    return [
        Reached(one, [of for of in own if of.channel_id == one.id], linked_by(core.channel_kinds[one.kind]))
        for one in channels
    ]


async def link_browser(core: Core, principal: Principal, channel_id: str, subscription: str) -> Address:
    """Tell somebody at the browser that they sit at. It belongs to whoever does that last: the keys in its subscription
    are known to that browser only, so nobody else can take it."""
    _require_person(principal)
    async with unit(core) as work:
        channel = await live(work.tx, channel_id)
        kind = kind_named(core, channel.kind)
        if not kind.abilities.subscribes:
            raise wrong("channel_id", "kind", "browsers are linked on a channel of the kind web-push")
        to = kind.read_address(channel, subscription)
        known = await work.tx.addresses.by_external(channel_id, to)
        if known is not None and known.user_id == principal.id and known.off_at is None:
            return known
        if known is not None:
            await _forget(work, principal, known)
        own = [one for one in await work.tx.addresses.of_user(principal.id) if one.channel_id == channel_id]
        for one in own:
            if one.off_at is not None:
                await _forget(work, principal, one)
        if sum(one.off_at is None for one in own) >= MOST_BROWSERS:
            raise Conflict(f"{MOST_BROWSERS} browsers are linked already: unlink one that is not used any more")
        address = Address(new_id("addr"), principal.id, channel_id, to, work.now)
        if not await work.tx.addresses.link(address, beside=True):
            raise Conflict("this browser was linked at the same moment: try again")
        linked = {"address_id": address.id, "channel_id": channel_id}
        await work.tx.audit.append(SERVER_CHAIN, principal, "address.linked", linked, work.now)
    return address


@dataclass(frozen=True, slots=True)
class BegunLink:
    code: LinkCode
    to_send: str | None
    """What its person is to send from their account; None where the code was sent to the address."""


async def begin_link(core: Core, principal: Principal, channel_id: str, address: str = "") -> BegunLink:
    """Send a code to the address: who types it in has shown that they read what comes there. Where a channel takes it
    the other way round, whoever sends it has shown that the account is theirs."""
    _require_person(principal)
    async with unit(core) as work:
        channel = await live(work.tx, channel_id)
        kind = kind_named(core, channel.kind)
        if kind.abilities.subscribes:
            raise wrong("channel_id", "kind", "a browser is linked in that browser: Settings, Notifications")
        before = await work.tx.addresses.code_of(principal.id, channel_id)
        if before is not None and work.now < before.made_at + ANOTHER_CODE_AFTER:
            left = (before.made_at + ANOTHER_CODE_AFTER - work.now).total_seconds()
            raise RateLimited(in_all(limits_text, "another_code"), left)
        code, to = new_code(), kind.read_address(channel, address) if kind.sends_codes else None
        ends = work.now + LINKED_WITHIN
        link = LinkCode(principal.id, channel_id, to, hashed(code), work.now, ends)
        await work.tx.addresses.put_code(link)
        locale = locale_of(core, await work.tx.addresses.preferences(principal.id))
    if to is None:
        return BegunLink(link, code)
    minutes = int(LINKED_WITHIN.total_seconds() // 60)
    await send_now(core, channel, to, wording.link_code(new_id("code"), code, principal.name, minutes, locale))
    return BegunLink(link, None)


async def finish_link(core: Core, principal: Principal, channel_id: str, code: str) -> Address:
    """The right code links the address; in the place of the one before, on the same channel."""
    _require_person(principal)
    async with unit(core) as work:
        await live(work.tx, channel_id)
        found = await work.tx.addresses.code_of(principal.id, channel_id)
        is_right = found is not None and found.takes(code, work.now)
        if found is not None and not is_right:
            await work.tx.addresses.count_try(principal.id, channel_id)
        if found is not None and found.external_id is not None and is_right:
            address = Address(new_id("addr"), principal.id, channel_id, found.external_id, work.now)
            if not await work.tx.addresses.link(address):
                raise Conflict("this address is linked to another account: unlink it there first")
            await work.tx.addresses.drop_code(principal.id, channel_id)
            linked = {"address_id": address.id, "channel_id": channel_id}
            await work.tx.audit.append(SERVER_CHAIN, principal, "address.linked", linked, work.now)
            return address
    # Only now: the try that was counted is to stay.
    raise wrong("code", "wrong", f"the code is wrong or too old; after {CODE_TRIES} tries send a new one")


async def unlink(core: Core, principal: Principal, address_id: str) -> None:
    _require_person(principal)
    async with unit(core) as work:
        await _forget(work, principal, await _own(work.tx, principal, address_id))


async def send_own_test(core: Core, principal: Principal, address_id: str) -> None:
    """Send a message to an address of theirs; `Conflict` with what the vendor said to it."""
    _require_person(principal)
    async with core.store.snapshot() as tx:
        address = await _own(tx, principal, address_id)
        channel = await live(tx, address.channel_id)
        locale = locale_of(core, await tx.addresses.preferences(principal.id))
    message = wording.trial(new_id("test"), channel, settings_url(core), locale)
    await send_now(core, channel, address.external_id, message)


async def _own(tx: Transaction, principal: Principal, address_id: str) -> Address:
    address = await tx.addresses.get(address_id)
    if address is None or address.user_id != principal.id:
        raise NotFound("there is no such address of yours")
    return address


async def _forget(work: Unit, principal: Principal, address: Address) -> None:
    await work.tx.addresses.unlink(address.id)
    unlinked = {"address_id": address.id, "channel_id": address.channel_id}
    await work.tx.audit.append(SERVER_CHAIN, principal, "address.unlinked", unlinked, work.now)


async def preferences_of(core: Core, principal: Principal) -> Preferences:
    _require_person(principal)
    async with core.store.snapshot() as tx:
        return await tx.addresses.preferences(principal.id)


async def set_preferences(
    core: Core,
    principal: Principal,
    off: Sequence[str],
    quiet: QuietHours | None,
    language: str | None,
    *,
    answer_links: bool = False,
    digest: int | None = None,
) -> Preferences:
    _require_person(principal)
    if language is not None and language not in LOCALES:
        raise wrong("language", "unknown", f"language is one of {', '.join(LOCALES)}")
    async with unit(core) as work:
        known = {channel.id for channel in await work.tx.channels.live()}
        wanted_off = tuple(one for one in dict.fromkeys(off) if one in known)
        wanted = Preferences(wanted_off, quiet, language, answer_links, digest)
        await work.tx.addresses.set_preferences(principal.id, wanted)
    return wanted


def _require_person(principal: Principal) -> None:
    if principal.is_agent:
        raise Forbidden("an agent is told of nothing on channels")
