"""Channels: set up by admins; and where each person is reached, and when."""

import json
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Request

from interlock.domain.channel import Address, Channel, Preferences, QuietHours, Shows
from interlock.domain.json_value import JsonObject
from interlock.domain.setting_field import SettingField
from interlock.domain.subscription import Subscription
from interlock.faces.http.credentials import Caller
from interlock.faces.http.documented import problems
from interlock.faces.http.server_state import state_of
from interlock.services.channels import addresses, channels
from interlock.services.channels.places import LinkedBy
from interlock_client import channels as wire

router = APIRouter(prefix="/api/v1", tags=["channels"])

ChannelId = Annotated[str, Path(max_length=64)]


@router.post("/channels", responses=problems(401, 409))
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


@router.get("/channels/kinds", responses=problems(401))
async def list_kinds(request: Request, caller: Caller) -> wire.ChannelKinds:
    """The kinds of channel that can be set up here, with what each wants to know; for admins."""
    kinds = [
        wire.ChannelKind(
            kind=one.name,
            fields=[wire.SettingField.model_validate(_field(field)) for field in one.fields or ()],
            has_form=one.fields is not None,
            linked_by=one.linked_by,
            answers=one.answers,
        )
        for one in channels.list_kinds(state_of(request).core, caller)
    ]
    return wire.ChannelKinds(kinds=kinds)


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
    """Send a message to an address, or to the browsers of a person; 409 where it was not taken."""
    await channels.send_test(state_of(request).core, caller, channel_id, body.address)
    return wire.TestSent(id=channel_id)


@router.get("/me/addresses", responses=problems(401))
async def list_own(request: Request, caller: Caller) -> wire.OwnAddresses:
    """The channels on which the caller can be reached, with their addresses on each."""
    found = await addresses.list_reached(state_of(request).core, caller)
    rows = [
        wire.OwnChannel(
            channel_id=one.channel.id,
            kind=one.channel.kind,
            name=one.channel.name,
            address=_address(one.address, one.linked_by) if one.address else None,
            addresses=[_address(each, one.linked_by) for each in one.addresses],
            linked_by=one.linked_by,
            key=one.channel.settings.get("key") if one.linked_by == "browser" else None,
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
    linked = await addresses.finish_link(state_of(request).core, caller, body.channel_id, body.code)
    return _address(linked, "code")


@router.post("/me/addresses/browser", responses=problems(401, 404, 409))
async def link_browser(request: Request, caller: Caller, body: wire.LinkBrowser) -> wire.LinkedAddress:
    """Link the browser that the caller sits at, beside others of theirs; it belongs to who did that last."""
    subscription = json.dumps({"endpoint": body.endpoint, "keys": body.keys.model_dump()})
    core = state_of(request).core
    return _address(await addresses.link_browser(core, caller, body.channel_id, subscription), "browser")


@router.post("/me/addresses/{address_id}/test", responses=problems(401, 404, 409))
async def send_own_test(
    request: Request, caller: Caller, address_id: Annotated[str, Path(max_length=64)]
) -> wire.TestSent:
    """Send a message to an address of the caller's; 409 with what came of it where it was not taken."""
    await addresses.send_own_test(state_of(request).core, caller, address_id)
    return wire.TestSent(id=address_id)


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
    wanted = await addresses.set_preferences(
        core, caller, body.off, quiet, body.language, answer_links=body.answer_links, digest=body.digest
    )
    return _notifications(wanted)


def _common(channel: Channel) -> JsonObject:
    names = ("id", "kind", "name", "shows", "ceiling", "settings", "created_at")
    return {name: getattr(channel, name) for name in names}


def _field(field: SettingField) -> JsonObject:
    return {**asdict(field), "options": list(field.options)}


def _address(address: Address, linked_by: LinkedBy) -> wire.LinkedAddress:
    """Of a browser without what lets others write to it."""
    text = Subscription.read(address.external_id).host if linked_by == "browser" else address.external_id
    works = address.off_at is None
    return wire.LinkedAddress(id=address.id, address=text, linked_at=address.linked_at, works=works)


def _notifications(wanted: Preferences) -> wire.Notifications:
    return wire.Notifications.model_validate(wanted.to_json())
