"""The words of a message: ours around the agent's, which are quoted."""

from datetime import UTC

from interlock.domain.channel import Abilities, Channel, Message, Notice, NoticeEnd, Row
from interlock.domain.kinds import ApprovalBody
from interlock.domain.notice_rules import shown_text
from interlock.domain.request import Request
from interlock.domain.visible import quoted
from interlock.texts import Locale, channels_text

LONGEST_VALUE = 80


def asked(
    notice: Notice, request: Request, channel: Channel, abilities: Abilities, url: str, locale: Locale
) -> Message:
    """What somebody is told of a request that waits for them."""
    kind = channels_text(f"kind.{request.kind}", locale)
    text = shown_text(request, channel, abilities)
    notes = () if text is not None else (channels_text("open_to_decide", locale),)
    return Message(
        id=notice.id,
        about=request.id,
        title=channels_text("asked", locale, kind=kind, agent=quoted(request.agent, LONGEST_VALUE)),
        rows=_rows(request, locale),
        text=text,
        url=url,
        url_label=channels_text("open", locale),
        notes=notes,
        until=request.deadline,
    )


def ended(notice: Notice, end: NoticeEnd, url: str, locale: Locale) -> Message:
    """What they are told when it is over, wherever and by whomever it was ended."""
    title = channels_text(f"ended.{end.outcome}", locale)
    rows = [Row(channels_text("row.at", locale), f"{end.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC")]
    if end.by:
        rows.insert(0, Row(channels_text("row.by", locale), quoted(end.by, LONGEST_VALUE)))
    if end.source:
        rows.append(Row(channels_text("row.source", locale), quoted(end.source, LONGEST_VALUE)))
    if end.reason:
        rows.append(Row(channels_text("row.override", locale), quoted(end.reason, LONGEST_VALUE)))
    label = channels_text("open", locale)
    return Message(f"{notice.id}.end", notice.request_id, title, tuple(rows), url=url, url_label=label, is_end=True)


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
        deadline = f"{request.deadline.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        rows.append(Row(channels_text("row.deadline", locale), deadline))
    return tuple(rows)
