"""What vendors send to this server's address, where a channel has no connection of its own."""

from collections.abc import Mapping

from interlock.domain.errors import NotAuthenticated, NotFound
from interlock.ports.channels import Callback, CallbackReply, NotAuthentic, Unreachable
from interlock.services.channels.channels import live
from interlock.services.channels.receiver import Inlet, open_answering
from interlock.services.core import Core


async def take_callback(core: Core, channel_id: str, headers: Mapping[str, str], body: bytes) -> CallbackReply:
    """The reply to its vendor. `NotAuthenticated` for whatever is not signed by them, whyever."""
    try:
        async with core.store.snapshot() as tx:
            channel = await live(tx, channel_id)
        link = await open_answering(core, channel)
    except (NotFound, Unreachable) as error:
        # A stranger is not told which channels there are.
        raise _stranger() from error
    if link is None or link.is_listening:
        raise _stranger()
    try:
        return await link.read_callback(Callback(headers, body, core.clock.now()), Inlet(core, channel_id))
    except NotAuthentic as error:
        raise _stranger() from error
    finally:
        await link.close()


def _stranger() -> NotAuthenticated:
    return NotAuthenticated("this is not signed by the channel's vendor")
