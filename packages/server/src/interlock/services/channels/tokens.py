"""Tokens of buttons: minted before a notice is sent, the same ones each time that it is."""

from collections.abc import Sequence
from datetime import timedelta

from interlock.domain.channel import Notice, NoticeToken, hashed
from interlock.domain.notice_rules import Act, Offer
from interlock.domain.request import Request
from interlock.domain.showing import shown_digest
from interlock.domain.tap import LINKS_LIVE, OPENS, TOKENS_LIVE, ButtonAction, Stage, action_of, token_for
from interlock.services.core import Core, Unit, unit

Minted = Sequence[tuple[Offer, str]]
"""What may be done from a notice, with the token of its button."""


async def mint(core: Core, notice: Notice, request: Request, offers: Sequence[Offer]) -> Minted:
    """Committed when this returns: a button never comes back before its row is there."""
    acting = [one for one in offers if one.act is not Act.OPEN]
    if not acting:
        return ()
    async with unit(core) as work:
        live = (request.deadline or work.now + TOKENS_LIVE) - work.now
        tokens = [await add(work, notice.id, request, action_of(one), live) for one in acting]
    return list(zip(acting, tokens, strict=True))


async def link(core: Core, notice: Notice, request: Request) -> str:
    """The token of the page that takes an answer to it."""
    async with unit(core) as work:
        live = min(request.deadline - work.now, LINKS_LIVE) if request.deadline else LINKS_LIVE
        return await add(work, notice.id, request, action_of(OPENS), live)


async def add(work: Unit, notice_id: str, request: Request, action: ButtonAction, live: timedelta) -> str:
    """The token of one button. One of a second act is another each time that it is asked for."""
    about = notice_id if action.stage is Stage.FIRST else f"{notice_id} {work.now.timestamp()}"
    token = token_for(work.core.token_key, about, action)
    ends_at = work.now + live
    row = NoticeToken(hashed(token), notice_id, request.id, shown_digest(request), action.write(), ends_at)
    await work.tx.notices.add_tokens([row])
    return token
