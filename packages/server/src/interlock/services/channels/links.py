"""Pages that take an answer without a sign-in, to which mails lead: for who asked for that, where an admin allows it.

Such a page is to its mail what a chat is to a message: it shows what the mail showed, and its buttons are taps of the
person whom the mail was sent to. Opening it changes nothing.
"""

from interlock.domain.channel import Preferences, Tap, hashed
from interlock.domain.errors import NotFound
from interlock.domain.notice_rules import Act
from interlock.domain.tap import ButtonAction, Stage, TapOutcome, TapResult
from interlock.ports.channels import Unreachable
from interlock.services.channels import acts
from interlock.services.channels.places import locale_of
from interlock.services.channels.taps import Scene, find_obstacle, look_at, take_tap
from interlock.services.core import Core
from interlock.texts import channels_text


async def open_link(core: Core, link: str) -> TapResult:
    """What the mail said, with buttons; or why there are none any more."""
    scene = await _scene(core, link)
    if scene is None:
        return _over(core)
    if (refused := find_obstacle(core, scene)) is not None:
        return refused
    assert scene.token is not None
    assert scene.request is not None
    return await acts.back(core, scene.channel, scene.abilities, scene.token, scene.request, scene.locale)


async def tap_on_page(core: Core, link: str, button: str) -> TapResult:
    """One button of the page. The same one counts once, however often it comes."""
    scene = await _scene(core, link)
    if scene is None or scene.address is None or scene.token is None:
        return _over(core)
    async with core.store.snapshot() as tx:
        row = await tx.notices.token(hashed(button))
    if row is None or row.notice_id != scene.token.notice_id:
        return _over(core)
    tap = Tap(f"page:{row.hash}", scene.address.external_id, button)
    return await take_tap(core, scene.channel.id, tap)


async def _scene(core: Core, link: str) -> Scene | None:
    """None where the link is none, is over, or is not wanted any more by its person or an admin. What has ended is
    still told as long as the link lives."""
    async with core.store.snapshot() as tx:
        row = await tx.notices.token(hashed(link))
        notice = await tx.notices.get(row.notice_id) if row else None
        address = await tx.addresses.get(notice.address_id) if notice else None
    if row is None or notice is None or address is None or row.ends_at <= core.clock.now():
        return None
    action = ButtonAction.read(row.action)
    if (action.act, action.stage) != (Act.OPEN, Stage.FIRST):
        return None
    try:
        scene = await look_at(core, notice.channel_id, Tap("page", address.external_id, link))
    except (NotFound, Unreachable):
        return None
    return scene if scene.abilities.links else None


def _over(core: Core) -> TapResult:
    return TapResult(TapOutcome.ENDED, channels_text("link_over", locale_of(core, Preferences())))
