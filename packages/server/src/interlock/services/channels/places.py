"""Where a message leads, in which language it is, and which kind of channel it goes over."""

from dataclasses import replace
from typing import Literal

from interlock.domain.channel import ANSWERS, BY_LINK, Abilities, Channel, Preferences
from interlock.domain.errors import InvalidInput
from interlock.ports.channels import ChannelKind, Unreachable
from interlock.services.core import Core
from interlock.texts import LOCALES, Locale

LinkedBy = Literal["code", "message", "browser"]
"""By a code that comes there, by a message from there, or by the browser itself."""


def request_url(core: Core, request_id: str) -> str:
    """Its page, where one signs in: following the link decides nothing."""
    return f"{core.settings.public_url}/requests/{request_id}"


def settings_url(core: Core) -> str:
    return f"{core.settings.public_url}/"


def inbox_url(core: Core) -> str:
    """Where all that waits is listed, for whoever is signed in."""
    return f"{core.settings.public_url}/"


def answer_url(core: Core, token: str) -> str:
    """The token is not part of what a browser, or whoever follows links, asks the server for."""
    return f"{core.settings.public_url}/answer#{token}"


def abilities_of(core: Core, channel: Channel, preferences: Preferences) -> Abilities:
    """What the channel can do for this person: where an admin and they both want that, a page takes their taps."""
    abilities = kind_of(core, channel).abilities
    if not (abilities.links and channel.settings.get(ANSWERS) == BY_LINK and preferences.answer_links):
        return replace(abilities, links=False)
    return replace(abilities, taps=True, confirms=False)


def locale_of(core: Core, preferences: Preferences) -> Locale:
    wanted = preferences.language
    return wanted if wanted in LOCALES else core.settings.locale


def kind_of(core: Core, channel: Channel) -> ChannelKind:
    kind = core.channel_kinds.get(channel.kind)
    if kind is None:
        raise Unreachable(f"channels of the kind {channel.kind} are off here")
    return kind


def linked_by(kind: ChannelKind) -> LinkedBy:
    """How somebody proves that an address is theirs."""
    if kind.abilities.subscribes:
        return "browser"
    return "code" if kind.sends_codes else "message"


def kind_named(core: Core, name: str) -> ChannelKind:
    if not core.channel_kinds:
        raise InvalidInput(
            "channels are off: set INTERLOCK_PUBLIC_URL, and INTERLOCK_CHANNEL_HOSTS, INTERLOCK_PUSH_HOSTS or "
            "INTERLOCK_APPRISE_SERVICES"
        )
    kind = core.channel_kinds.get(name)
    if kind is None:
        extra = f"; {name} needs the extra: install interlock-server[{name}]" if name in ("mail", "apprise") else ""
        raise InvalidInput(f"there is no kind of channel {name!r} here; known: {', '.join(core.channel_kinds)}{extra}")
    return kind
