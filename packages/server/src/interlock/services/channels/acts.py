"""The second act of a tap, where a channel does not ask again by itself: the message is drawn anew, with new tokens."""

from interlock.domain.channel import SECOND_ACT_WITHIN, Button, Channel, Message, Notice, NoticeToken
from interlock.domain.notice_rules import Offer, offers
from interlock.domain.request import Request
from interlock.domain.tap import Stage, TapOutcome, TapResult, action_of
from interlock.services.channels import tokens, wording
from interlock.services.channels.places import kind_of, request_url
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


async def back(core: Core, channel: Channel, token: NoticeToken, request: Request, locale: Locale) -> TapResult:
    async with core.store.snapshot() as tx:
        notice = await tx.notices.get(token.notice_id)
    assert notice is not None
    message = await message_of(core, channel, notice, request, locale)
    return TapResult(TapOutcome.ASKED_AGAIN, message.title, message)


async def message_of(core: Core, channel: Channel, notice: Notice, request: Request, locale: Locale) -> Message:
    """What a notice says of a request that waits, with buttons whose tokens are committed."""
    abilities = kind_of(core, channel).abilities
    minted = await tokens.mint(core, notice, request, offers(request, channel, abilities))
    return wording.asked(notice, request, channel, abilities, request_url(core, request.id), locale, minted)
