"""The second act of a tap, where a channel does not ask again by itself: the message is drawn anew, with new tokens."""

from dataclasses import replace

from interlock.domain.channel import SECOND_ACT_WITHIN, Abilities, Button, Channel, Message, Notice, NoticeToken
from interlock.domain.notice_rules import Act, Offer, offers
from interlock.domain.request import Request
from interlock.domain.tap import Stage, TapOutcome, TapResult, action_of
from interlock.services.channels import tokens, wording
from interlock.services.channels.places import answer_url, request_url
from interlock.services.core import Core, unit
from interlock.texts import Locale, channels_text


async def ask_again(
    core: Core, channel: Channel, token: NoticeToken, request: Request, offer: Offer, locale: Locale
) -> TapResult:
    """ "Approve it? Yes, Back": until the yes, which counts for some seconds, nothing has happened."""
    async with unit(core) as work:
        sure, back = [
            await tokens.add(work, token.notice_id, request, action_of(offer, stage), SECOND_ACT_WITHIN)
            for stage in (Stage.SURE, Stage.BACK)
        ]
    question = wording.question(request, offer, locale)
    buttons = (
        Button(channels_text("confirm.yes", locale), sure, is_yes=True),
        Button(channels_text("confirm.back", locale), back),
    )
    url, label = request_url(core, request.id), channels_text("open", locale)
    message = Message(token.notice_id, request.id, question, url=url, url_label=label, buttons=buttons)
    return TapResult(TapOutcome.ASKED_AGAIN, question, message)


async def back(
    core: Core, channel: Channel, abilities: Abilities, token: NoticeToken, request: Request, locale: Locale
) -> TapResult:
    async with core.store.snapshot() as tx:
        notice = await tx.notices.get(token.notice_id)
    assert notice is not None
    message = await message_of(core, channel, abilities, notice, request, locale)
    return TapResult(TapOutcome.ASKED_AGAIN, message.title, message)


async def message_of(
    core: Core, channel: Channel, abilities: Abilities, notice: Notice, request: Request, locale: Locale
) -> Message:
    """What a notice says of a request that waits, with buttons whose tokens are committed."""
    minted = await tokens.mint(core, notice, request, offers(request, channel, abilities))
    return wording.asked(notice, request, channel, abilities, request_url(core, request.id), locale, minted)


async def linking_message_of(
    core: Core, channel: Channel, abilities: Abilities, notice: Notice, request: Request, locale: Locale
) -> Message:
    """The same where the buttons are on a page to which it leads, if there would be any."""
    shown = wording.asked(notice, request, channel, abilities, request_url(core, request.id), locale)
    if all(one.act is Act.OPEN for one in offers(request, channel, abilities)):
        return shown
    url = answer_url(core, await tokens.link(core, notice, request))
    return replace(shown, answer_url=url, answer_label=channels_text("answer_link", locale))
