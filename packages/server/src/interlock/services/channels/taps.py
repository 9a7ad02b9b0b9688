"""Taps of buttons in messages: whose they are, whether they count, and what they come to.

None of it decides anything. A tap that counts is an answer to what the message showed, given to the function that
answers from pages; whatever is missing for that leads to the page.
"""

import logging
from dataclasses import dataclass, replace

from interlock.domain.channel import Abilities, Address, Channel, NoticeEnd, NoticeToken, Preferences, Tap, hashed
from interlock.domain.errors import (
    AlreadySettled,
    Claimed,
    Conflict,
    Forbidden,
    InterlockError,
    InvalidInput,
    NotFound,
    NotShown,
)
from interlock.domain.notice_rules import Act, Offer, offers
from interlock.domain.principal import User, principal_of
from interlock.domain.request import Request, RequestEnd
from interlock.domain.showing import shown_digest
from interlock.domain.tap import ButtonAction, Stage, TapOutcome, TapResult
from interlock.ports.store import Transaction
from interlock.services.channels import acts, wording
from interlock.services.channels.places import abilities_of, locale_of, request_url
from interlock.services.core import Core, Unit
from interlock.services.requests.answering import Reply, Sender, SettleResult
from interlock.services.requests.idempotency import IdempotentCall
from interlock.services.requests.inbox import PageView, answer_from_page, with_page_view
from interlock.texts import Locale

LONGEST_EVENT_ID = 150
OPERATION = "channels.tap"

logger = logging.getLogger(__name__)


class _Seen(Conflict):
    """The event came before."""


class _Unlinked(Forbidden):
    """The address was unlinked, or its person kept out, a moment ago."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a tap meets."""

    channel: Channel
    address: Address | None
    user: User | None
    """Whose address it is, if they may sign in."""
    token: NoticeToken | None
    is_own: bool
    """Whether the message went to this address."""
    request: Request | None
    end: NoticeEnd | None
    """How the request ended, unless it waits."""
    is_again: bool
    """Whether this event has answered before: its vendor did not hear that it had arrived."""
    locale: Locale
    abilities: Abilities
    """What the channel can do for them."""


async def take_tap(core: Core, channel_id: str, tap: Tap) -> TapResult:
    """What it came to; it is committed when this returns. `NotFound` for a channel that was removed."""
    scene = await look_at(core, channel_id, tap)
    if (refused := find_obstacle(core, scene)) is not None:
        return refused
    assert scene.token is not None
    assert scene.request is not None
    assert scene.user is not None
    action = ButtonAction.read(scene.token.action)
    offer = _offer(scene, scene.request, action)
    if offer is None or scene.token.ends_at <= core.clock.now():
        return await _ended(core, scene, scene.token, scene.request, action)
    return await _act(core, scene, scene.user, tap, offer, action)


def find_obstacle(core: Core, scene: Scene) -> TapResult | None:
    """Why nothing that was sent with this token counts, whatever it does."""
    channel_id = scene.channel.id
    if scene.address is None or scene.user is None:
        logger.warning("a tap on channel %s came from an account that is linked to nobody here", channel_id)
        return _result(scene, TapOutcome.UNLINKED)
    if scene.token is None:
        return _result(scene, TapOutcome.ENDED)
    if not scene.is_own:
        logger.warning("a tap on channel %s by address %s was of another's message", channel_id, scene.address.id)
        return _result(scene, TapOutcome.NOT_YOURS)
    if scene.end is not None:
        return _ending(core, scene, scene.token, scene.end, TapOutcome.SETTLED if scene.is_again else TapOutcome.LATE)
    assert scene.request is not None
    if scene.token.digest != shown_digest(scene.request):
        return _result(scene, TapOutcome.CHANGED)
    return None


async def look_at(core: Core, channel_id: str, tap: Tap) -> Scene:
    async with core.store.snapshot() as tx:
        channel = await tx.channels.get(channel_id)
        if channel is None or channel.removed_at is not None:
            raise NotFound("there is no such channel")
        address, user = await _person(tx, channel_id, tap.external_id)
        token = await tx.notices.token(hashed(tap.token))
        notice = await tx.notices.get(token.notice_id) if token else None
        if notice is None or notice.channel_id != channel_id:
            token = None
        request = await tx.requests.get(token.request_id) if token else None
        end = await _end(core, tx, request) if token else None
        is_again = await tx.notices.has_tap(channel_id, _event_id(tap))
        wanted = await tx.addresses.preferences(user.id) if user else Preferences()
    locale, abilities = locale_of(core, wanted), abilities_of(core, channel, wanted)
    is_own = notice is not None and address is not None and notice.address_id == address.id
    return Scene(channel, address, user, token, is_own, request, end, is_again, locale, abilities)


async def _person(tx: Transaction, channel_id: str, external_id: str) -> tuple[Address | None, User | None]:
    address = await tx.addresses.by_external(channel_id, external_id)
    if address is None or address.off_at is not None:
        return None, None
    user = await tx.users.get(address.user_id)
    return address, user if user is not None and user.is_allowed else None


async def _end(core: Core, tx: Transaction, request: Request | None) -> NoticeEnd | None:
    answer = (await tx.answers.of_requests([request.id])).get(request.id) if request else None
    ended = RequestEnd.of(request, answer) if request else None
    return wording.end_of(request, ended, core.clock.now())


def _offer(scene: Scene, request: Request, action: ButtonAction) -> Offer | None:
    """What the button stands for, if a notice would still have it now: what is told of the channel, the request's risk
    or its terms may be others by now."""
    present = offers(request, scene.channel, scene.abilities)
    return next((one for one in present if action.is_of(one) and one.act is not Act.OPEN), None)


async def _act(core: Core, scene: Scene, user: User, tap: Tap, offer: Offer, action: ButtonAction) -> TapResult:
    assert scene.token is not None
    assert scene.request is not None
    if action.stage is Stage.BACK:
        return await acts.back(core, scene.channel, scene.abilities, scene.token, scene.request, scene.locale)
    if action.stage is Stage.FIRST and offer.act is not Act.REFUSE and not scene.abilities.confirms:
        return await acts.ask_again(core, scene.channel, scene.token, scene.request, offer, scene.locale)
    try:
        await _answer(core, scene, user, tap, offer)
    except InterlockError as error:
        return _refusal(core, scene, error)
    return await _present(core, scene)


async def _answer(core: Core, scene: Scene, user: User, tap: Tap, offer: Offer) -> None:
    """Through the inbox, once for each event of the vendor."""
    assert scene.token is not None
    assert scene.address is not None
    token, address, principal = scene.token, scene.address, principal_of(user)
    event_id = _event_id(tap)
    page = PageView(token.digest)
    sender = with_page_view(Sender(principal, scene.channel.kind, {"address_id": address.id}), page, None)
    once = IdempotentCall(f"{scene.channel.id}:{event_id}", OPERATION, token.hash.encode())

    async def admit(work: Unit) -> None:
        present, person = await _person(work.tx, scene.channel.id, tap.external_id)
        if present is None or person is None or (present.id, principal_of(person)) != (address.id, principal):
            raise _Unlinked("the address is not linked any more")
        if not await work.tx.notices.take_tap(scene.channel.id, event_id, work.now):
            raise _Seen("this event came before")

    await answer_from_page(core, sender, Reply(token.request_id, offer.value), page, once, _rendered, first=admit)


def _event_id(tap: Tap) -> str:
    return tap.event_id if 0 < len(tap.event_id) <= LONGEST_EVENT_ID else hashed(tap.event_id)


def _rendered(result: SettleResult) -> bytes:
    return b"counted" if result.votes else b"settled"


def _refusal(core: Core, scene: Scene, error: InterlockError) -> TapResult:
    """What the answer was refused for. What is nobody's fault, such as a database that is away, is raised on: the
    vendor sends the tap again."""
    match error:
        case AlreadySettled():
            assert scene.token is not None
            end = NoticeEnd.of_request(error.end, core.clock.now())
            return _ending(core, scene, scene.token, end, TapOutcome.LATE)
        case Claimed():
            return _result(scene, TapOutcome.CLAIMED, by=error.by)
        case NotShown():
            return _result(scene, TapOutcome.CHANGED)
        case _Unlinked():
            return _result(scene, TapOutcome.UNLINKED)
        case Forbidden() | NotFound():
            return _result(scene, TapOutcome.NOT_ELIGIBLE)
        case Conflict() | InvalidInput():
            return _result(scene, TapOutcome.ENDED)
        case _:
            raise error


async def _present(core: Core, scene: Scene) -> TapResult:
    """Where the request stands, now that the answer is in."""
    assert scene.token is not None
    async with core.store.snapshot() as tx:
        end = await _end(core, tx, await tx.requests.get(scene.token.request_id))
    if end is None:
        return _result(scene, TapOutcome.COUNTED)
    return _ending(core, scene, scene.token, end, TapOutcome.SETTLED)


def _ending(core: Core, scene: Scene, token: NoticeToken, end: NoticeEnd, outcome: TapOutcome) -> TapResult:
    url = request_url(core, token.request_id)
    message = wording.ended(token.notice_id, token.request_id, end, url, scene.locale)
    text = wording.late(end, scene.locale) if outcome is TapOutcome.LATE else wording.settled(end, scene.locale)
    return TapResult(outcome, text, message)


async def _ended(core: Core, scene: Scene, token: NoticeToken, request: Request, action: ButtonAction) -> TapResult:
    """Of a second act that came too late the first one is shown again."""
    if action.stage is Stage.FIRST:
        return _result(scene, TapOutcome.ENDED)
    shown = await acts.back(core, scene.channel, scene.abilities, token, request, scene.locale)
    return replace(_result(scene, TapOutcome.ENDED), message=shown.message)


def _result(scene: Scene, outcome: TapOutcome, **values: str) -> TapResult:
    return TapResult(outcome, wording.tap(outcome, scene.locale, **values))
