"""What people write to the server on a channel: a code that links the account that it came from, and nothing else."""

from interlock.domain.audit import SERVER_CHAIN
from interlock.domain.channel import CODE_LENGTH, Address, LinkCode, Preferences, hashed, read_code
from interlock.domain.errors import Conflict, NotFound
from interlock.domain.ids import new_id
from interlock.domain.principal import User, principal_of
from interlock.domain.tap import Said
from interlock.services.channels.channels import live
from interlock.services.channels.places import locale_of
from interlock.services.core import Core, Unit, unit
from interlock.texts import channels_text

LONGEST_TEXT = 200
"""A code is somewhere in it; nobody needs more to send one."""


async def take_words(core: Core, channel_id: str, said: Said) -> str | None:
    """What is replied; nothing where the event came before. It is committed when this returns."""
    try:
        return await _take(core, channel_id, said)
    except NotFound:
        return None
    except Conflict:
        return channels_text("linked.elsewhere", locale_of(core, Preferences()))


async def _take(core: Core, channel_id: str, said: Said) -> str | None:
    async with unit(core) as work:
        await live(work.tx, channel_id)
        if not await work.tx.notices.take_tap(channel_id, said.event_id, work.now):
            return None
        found = await _find(work, channel_id, said.text)
        if found is None:
            return channels_text("linked.no_code", locale_of(core, Preferences()))
        code, user = found
        address = Address(new_id("addr"), user.id, channel_id, said.external_id, work.now)
        if not await work.tx.addresses.link(address):
            raise Conflict("this address is linked to another account")
        await work.tx.addresses.drop_code(code.user_id, channel_id)
        linked = {"address_id": address.id, "channel_id": channel_id}
        await work.tx.audit.append(SERVER_CHAIN, principal_of(user), "address.linked", linked, work.now)
        locale = locale_of(core, await work.tx.addresses.preferences(user.id))
    return channels_text("linked", locale, person=user.username)


async def _find(work: Unit, channel_id: str, text: str) -> tuple[LinkCode, User] | None:
    """Whoever guesses has one of 31 to the power of 8 for ten minutes, so that wrong ones need not be counted."""
    for word in text[:LONGEST_TEXT].split():
        typed = read_code(word)
        if len(typed) != CODE_LENGTH:
            continue
        code = await work.tx.addresses.code_by_hash(channel_id, hashed(typed))
        if code is None or not code.takes(typed, work.now):
            continue
        user = await work.tx.users.get(code.user_id)
        if user is not None and user.is_allowed:
            return code, user
    return None
