"""Channels: set up by admins; and where each person is reached, and when."""

from typing import Annotated

from fastapi import APIRouter, Path, Request

from interlock.domain.channel import Address, Channel, Preferences, QuietHours, Shows
from interlock.domain.json_value import JsonObject
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import state_of
from interlock.services.channels import addresses, channels
from interlock_client import channels as wire

router = APIRouter(prefix="/api/v1", tags=["channels"])

ChannelId = Annotated[str, Path(max_length=64)]


@router.post("/channels", responses=problems(401))
async def create(request: Request, caller: Caller, body: wire.NewChannel) -> wire.Channel:
    """Set up a channel; for admins. Its credentials are told to nobody again."""
    channel = await channels.create(
        state_of(request).core,
        caller,
        body.kind,
        body.settings,
        body.credentials,
        name=body.name,
        shows=Shows(body.shows),
        ceiling=body.ceiling,
    )
    return wire.Channel.model_validate(_common(channel))


@router.get("/channels", responses=problems(401))
async def list_all(request: Request, caller: Caller) -> wire.ChannelList:
    """Every channel that was not removed, the oldest first; for admins."""
    found = await channels.list_all(state_of(request).core, caller)
    entries = [
        {**_common(one.channel), "created_by": one.channel.created_by, "waiting": one.waiting, "failed": one.failed}
        for one in found
    ]
    return wire.ChannelList(channels=[wire.ChannelEntry.model_validate(one) for one in entries])


@router.delete("/channels/{channel_id}", responses=problems(401, 404))
async def remove(request: Request, caller: Caller, channel_id: ChannelId) -> wire.RemovedChannel:
    """Remove a channel, with the addresses on it; what waits is not sent any more."""
    await channels.remove(state_of(request).core, caller, channel_id)
    return wire.RemovedChannel(id=channel_id)


@router.get("/channels/{channel_id}/failed", responses=problems(401, 404))
async def failed(request: Request, caller: Caller, channel_id: ChannelId) -> wire.FailedNotices:
    """The last notices on it that were given up, the newest first."""
    found = await channels.list_failed(state_of(request).core, caller, channel_id)
    rows = [
        {name: getattr(one, name) for name in ("id", "request_id", "attempts", "last_error", "created_at")}
        for one in found
    ]
    return wire.FailedNotices(notices=[wire.FailedNotice.model_validate(one) for one in rows])


@router.post("/channels/{channel_id}/test", responses=problems(401, 404, 409))
async def send_test(request: Request, caller: Caller, channel_id: ChannelId, body: wire.TestChannel) -> wire.TestSent:
    """Send a message to an address; 409 with what came of it where it was not taken."""
    await channels.send_test(state_of(request).core, caller, channel_id, body.address)
    return wire.TestSent(id=channel_id)


@router.get("/me/addresses", responses=problems(401))
async def list_own(request: Request, caller: Caller) -> wire.OwnAddresses:
    """The channels on which the caller can be reached, with their address on each."""
    found = await addresses.list_reached(state_of(request).core, caller)
    rows = [
        wire.OwnChannel(
            channel_id=one.channel.id,
            kind=one.channel.kind,
            name=one.channel.name,
            address=_address(one.address) if one.address else None,
        )
        for one in found
    ]
    return wire.OwnAddresses(channels=rows)


@router.post("/me/addresses", responses=problems(401, 404, 409, 429))
async def link(request: Request, caller: Caller, body: wire.LinkAddress) -> wire.LinkBegun:
    """Send a code to an address, which links it when it is typed in within ten minutes; of a chat, get the code that
    links the account from which it is sent."""
    begun = await addresses.begin_link(state_of(request).core, caller, body.channel_id, body.address)
    link = begun.code
    return wire.LinkBegun(
        channel_id=link.channel_id, address=link.external_id or "", expires_at=link.expires_at, code=begun.to_send
    )


@router.post("/me/addresses/confirm", responses=problems(401, 404, 409))
async def confirm(request: Request, caller: Caller, body: wire.ConfirmAddress) -> wire.LinkedAddress:
    """Link the address that the code came to, in the place of the one before."""
    return _address(await addresses.finish_link(state_of(request).core, caller, body.channel_id, body.code))


@router.delete("/me/addresses/{address_id}", responses=problems(401, 404))
async def unlink(
    request: Request, caller: Caller, address_id: Annotated[str, Path(max_length=64)]
) -> wire.UnlinkedAddress:
    """Forget an address: nothing is sent to it any more."""
    await addresses.unlink(state_of(request).core, caller, address_id)
    return wire.UnlinkedAddress(id=address_id)


@router.get("/me/notifications", responses=problems(401))
async def notifications(request: Request, caller: Caller) -> wire.Notifications:
    """What the caller wants to be told, and when."""
    return _notifications(await addresses.preferences_of(state_of(request).core, caller))


@router.put("/me/notifications", responses=problems(401))
async def set_notifications(request: Request, caller: Caller, body: wire.SetNotifications) -> wire.Notifications:
    """Say what to be told, and when; what is left out is as at the beginning."""
    given = body.quiet
    quiet = given and QuietHours.read(given.start, given.end, given.zone, high_passes=given.high_passes)
    core = state_of(request).core
    return _notifications(await addresses.set_preferences(core, caller, body.off, quiet, body.language))


def _common(channel: Channel) -> JsonObject:
    names = ("id", "kind", "name", "shows", "ceiling", "settings", "created_at")
    return {name: getattr(channel, name) for name in names}


def _address(address: Address) -> wire.LinkedAddress:
    return wire.LinkedAddress(
        id=address.id, address=address.external_id, linked_at=address.linked_at, works=address.off_at is None
    )


def _notifications(wanted: Preferences) -> wire.Notifications:
    return wire.Notifications.model_validate(wanted.to_json())
