"""What vendors send to this server's address, where a channel has no connection of its own."""

from collections.abc import Mapping

from interlock.domain.errors import NotAuthenticated, NotFound
from interlock.ports.channels import Callback, CallbackReply, NotAuthentic, Unreachable
from interlock.services.channels.channels import live
from interlock.services.channels.receiver import Inlet, open_answering
from interlock.services.core import Core

NOT_SIGNED = "this is not signed by the vendor of a channel that is called back here"


async def take_callback(core: Core, channel_id: str, headers: Mapping[str, str], body: bytes) -> CallbackReply:
    """The reply to its vendor. `NotAuthenticated` for whatever is not signed by them, whyever, and for what no vendor
    calls: which channels there are is told to nobody."""
    try:
        async with core.store.snapshot() as tx:
            channel = await live(tx, channel_id)
        link = await open_answering(core, channel)
    except (NotFound, Unreachable) as error:
        raise NotAuthenticated(NOT_SIGNED) from error
    if link is None or link.is_listening:
        raise NotAuthenticated(NOT_SIGNED)
    try:
        return await link.read_callback(Callback(headers, body, core.clock.now()), Inlet(core, channel_id))
    except NotAuthentic as error:
        raise NotAuthenticated(NOT_SIGNED) from error
    finally:
        await link.close()
