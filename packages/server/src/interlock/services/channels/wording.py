"""The words of a message: ours around the agent's, which are quoted."""

from collections.abc import Sequence
from datetime import UTC, datetime

from interlock.domain.channel import (
    Abilities,
    Button,
    Channel,
    Confirmation,
    Message,
    Notice,
    NoticeEnd,
    Outcome,
    Row,
)
from interlock.domain.kinds import ApprovalBody
from interlock.domain.notice_rules import Act, Offer, shown_text
from interlock.domain.request import Request, RequestEnd, RequestStatus
from interlock.domain.tap import TapOutcome
from interlock.domain.visible import quoted
from interlock.texts import Locale, channels_text

LONGEST_VALUE = 80
MOST_HEADLINES = 10
"""Of a digest; the rest of it is counted."""


def asked(
    notice: Notice,
    request: Request,
    channel: Channel,
    abilities: Abilities,
    url: str,
    locale: Locale,
    minted: Sequence[tuple[Offer, str]] = (),
) -> Message:
    """What somebody is told of a request that waits for them; `minted` are the tokens of what may be done from it."""
    kind = channels_text(f"kind.{request.kind}", locale)
    text = shown_text(request, channel, abilities)
    is_whole = text is not None and (not minted or any(one.act is not Act.REFUSE for one, _ in minted))
    notes = () if is_whole else (channels_text("open_to_decide", locale),)
    return Message(
        id=notice.id,
        about=request.id,
        title=channels_text("asked", locale, kind=kind, agent=quoted(request.agent, LONGEST_VALUE)),
        rows=_rows(request, locale),
        text=text,
        url=url,
        url_label=channels_text("open", locale),
        notes=notes,
        buttons=tuple(_button(request, offer, token, locale) for offer, token in minted),
        until=request.deadline,
    )


def _button(request: Request, offer: Offer, token: str, locale: Locale) -> Button:
    """To refuse takes one act, whatever else takes two."""
    if offer.act is Act.REFUSE:
        return Button(channels_text("act.refuse", locale), token, is_no=True)
    confirmation = Confirmation(
        question(request, offer, locale), channels_text("confirm.yes", locale), channels_text("confirm.back", locale)
    )
    is_yes = offer.act is Act.APPROVE
    label = channels_text("act.approve", locale) if is_yes else offer.label or offer.option
    return Button(label, token, is_yes=is_yes, confirmation=confirmation)


def question(request: Request, offer: Offer, locale: Locale) -> str:
    if offer.act is Act.APPROVE:
        return channels_text("confirm.approve", locale, tool=quoted(request.tool, LONGEST_VALUE))
    return channels_text("confirm.choose", locale, option=quoted(offer.label or offer.option, LONGEST_VALUE))


def ended(notice_id: str, request_id: str, end: NoticeEnd, url: str, locale: Locale) -> Message:
    """What they are told when it is over, wherever and by whomever it was ended."""
    title = channels_text(f"ended.{end.outcome}", locale)
    rows = [Row(channels_text("row.at", locale), _moment(end.at))]
    if end.by:
        rows.insert(0, Row(channels_text("row.by", locale), quoted(end.by, LONGEST_VALUE)))
    if end.source:
        rows.append(Row(channels_text("row.source", locale), quoted(end.source, LONGEST_VALUE)))
    if end.reason:
        rows.append(Row(channels_text("row.override", locale), quoted(end.reason, LONGEST_VALUE)))
    label = channels_text("open", locale)
    return Message(f"{notice_id}.end", request_id, title, tuple(rows), url=url, url_label=label, is_end=True)


def digest(about: str, told: Sequence[tuple[Request | None, NoticeEnd | None]], url: str, locale: Locale) -> Message:
    """What somebody is told of several requests in one message: a headline of each that waits, and how others ended."""
    ended_count = sum(end is not None for _, end in told)
    waiting = len(told) - ended_count
    title = channels_text("digest.waiting" if waiting else "digest.over", locale, count=waiting)
    rows = tuple(_headline(request, end, locale) for request, end in told[:MOST_HEADLINES])
    further = len(told) - len(rows)
    return Message(
        # What ends is told once: so many of them are always the same.
        id=f"{about}.{ended_count}" if ended_count else about,
        about=about,
        title=title,
        rows=rows,
        url=url,
        url_label=channels_text("open", locale),
        notes=(channels_text("digest.further", locale, count=further),) if further else (),
        is_end=ended_count > 0,
    )


def _headline(request: Request | None, end: NoticeEnd | None, locale: Locale) -> Row:
    asked_for = [] if request is None else [quoted(request.agent, LONGEST_VALUE)]
    if end is None:
        assert request is not None
        parts = [*asked_for, *(f"{row.label}: {row.value}" for row in _rows(request, locale))]
        return Row(channels_text(f"kind.{request.kind}", locale), ", ".join(parts))
    if request is not None and isinstance(request.body, ApprovalBody):
        asked_for.append(quoted(request.tool, LONGEST_VALUE))
    return Row(channels_text(f"ended.{end.outcome}", locale), ", ".join([*asked_for, *_circumstances(end)]))


def _circumstances(end: NoticeEnd) -> list[str]:
    return [*(quoted(one, LONGEST_VALUE) for one in (end.by, end.source) if one), _moment(end.at)]


def settled(end: NoticeEnd, locale: Locale) -> str:
    """For whoever ended it with a tap."""
    return channels_text(f"ended.{end.outcome}", locale)


def late(end: NoticeEnd, locale: Locale) -> str:
    """For whoever taps after that: what happened, by whom, when and from where."""
    parts = [channels_text(f"ended.{end.outcome}", locale), *_circumstances(end)]
    return channels_text("tap.late", locale, what=", ".join(parts))


def tap(outcome: TapOutcome, locale: Locale, **values: str) -> str:
    return channels_text(f"tap.{outcome}", locale, **{name: quoted(one, LONGEST_VALUE) for name, one in values.items()})


def end_of(request: Request | None, ended: RequestEnd | None, at: datetime) -> NoticeEnd | None:
    """How it ended; a request that is not there any more was cancelled with its conversation."""
    if request is None or ended is None:
        return NoticeEnd(Outcome.CANCELLED, None, at, None)
    return None if request.status is RequestStatus.PENDING else NoticeEnd.of_request(ended, at)


def link_code(message_id: str, code: str, person: str, minutes: int, locale: Locale) -> Message:
    notes = (
        channels_text("code.why", locale, person=quoted(person, LONGEST_VALUE), minutes=minutes),
        channels_text("code.not_you", locale),
    )
    return Message(message_id, message_id, channels_text("code", locale, code=code), notes=notes)


def trial(message_id: str, channel: Channel, url: str, locale: Locale) -> Message:
    title = channels_text("test", locale, channel=quoted(channel.name, LONGEST_VALUE))
    return Message(message_id, message_id, title, url=url, url_label=channels_text("open", locale))


def _rows(request: Request, locale: Locale) -> tuple[Row, ...]:
    rows: list[Row] = []
    if isinstance(request.body, ApprovalBody):
        rows.append(Row(channels_text("row.tool", locale), quoted(request.tool, LONGEST_VALUE)))
        rows.append(Row(channels_text("row.risk", locale), channels_text(f"risk.{request.risk or 'medium'}", locale)))
    if request.deadline is not None:
        rows.append(Row(channels_text("row.deadline", locale), _moment(request.deadline)))
    return tuple(rows)


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
