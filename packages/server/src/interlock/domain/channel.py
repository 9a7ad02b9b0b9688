"""Channels: ways out to people, and the notices that go over them.

A channel tells, and some bring an answer back; none is a way to decide of its own. A notice is about one request and
goes to one address. It is written with what it tells of, sent when the channel can be reached, and told the end of its
request. It may arrive twice.
"""

import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import Self, cast
from zoneinfo import ZoneInfo

from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.event import RequestSettled
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds import ApprovalAnswer, Value
from interlock.domain.moment import to_iso
from interlock.domain.request import OVERRIDE, RequestEnd, RequestStatus
from interlock.domain.risk import LOWEST, NEEDS_CODE
from interlock.domain.transitions import Transitions

LINKED_WITHIN = timedelta(minutes=10)
"""For so long a code links an address."""
CODE_TRIES = 5
ANOTHER_CODE_AFTER = timedelta(minutes=1)
SECOND_ACT_WITHIN = timedelta(seconds=10)
"""For so long "Yes" may be tapped, where a channel does not ask again by itself."""
MOST_ATTEMPTS = 10
TO_GATHER = ""
"""In the place of a digest's id, until there is one."""
LARGEST_DIGEST = 100
"""So many requests in one message; further ones are in the next."""
ANSWERS, BY_LINK = "answers", "link"
"""The setting of a channel that lets its messages lead to a page which takes an answer."""
_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""None of which is taken for another one."""
CODE_LENGTH = 8
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Shows(StrEnum):
    """What a channel's notices say of a request."""

    HEADLINE = "headline"
    """Its kind, agent, tool, risk and deadline: no argument leaves the server."""
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Channel:
    id: str
    kind: str
    name: str
    shows: Shows
    ceiling: str
    """The highest risk of what may be approved on it: `low` or `medium`."""
    settings: JsonObject
    """What is no secret; its credentials are kept apart, sealed."""
    created_by: str
    created_at: datetime
    removed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Address:
    """A person's account on a channel, proven by them."""

    id: str
    user_id: str
    channel_id: str
    external_id: str
    linked_at: datetime
    off_at: datetime | None = None
    """Since when nothing is sent to it: it is gone, or its person has blocked the server."""


@dataclass(frozen=True, slots=True)
class LinkCode:
    """What proves an address: who knows it has received it there, or sent it from there."""

    user_id: str
    channel_id: str
    external_id: str | None
    """Where the code was sent to; None where it comes from the address."""
    hash: str
    made_at: datetime
    expires_at: datetime
    tries: int = 0

    def takes(self, code: str, at: datetime) -> bool:
        right = secrets.compare_digest(self.hash, hashed(read_code(code)))
        return right and at < self.expires_at and self.tries < CODE_TRIES


class NoticeStatus(StrEnum):
    WAITING = "waiting"
    SENT = "sent"
    EDITED = "edited"
    """Its end was told: in its place, or by a second message where it cannot be changed."""
    FAILED = "failed"
    GONE = "gone"
    """There is no such address any more."""


NOTICE = Transitions(
    "notice",
    {
        # One whose sending was cut off may have arrived: its end is told as that of one that was sent.
        NoticeStatus.WAITING: frozenset(NoticeStatus),
        NoticeStatus.SENT: frozenset({NoticeStatus.SENT, NoticeStatus.EDITED, NoticeStatus.FAILED, NoticeStatus.GONE}),
        NoticeStatus.EDITED: frozenset(),
        NoticeStatus.FAILED: frozenset(),
        NoticeStatus.GONE: frozenset(),
    },
)


class Outcome(StrEnum):
    APPROVED = "approved"
    REFUSED = "refused"
    ANSWERED = "answered"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class NoticeEnd:
    """How its request ended, without what was answered."""

    outcome: Outcome
    by: str | None
    at: datetime
    source: str | None
    reason: str | None = None
    """Why an admin answered it alone; of no other end."""

    @classmethod
    def of_event(cls, settled: RequestSettled) -> Self:
        # A deadline is nobody.
        by = None if settled.status is RequestStatus.EXPIRED else settled.by
        reason = settled.reason if settled.is_override else None
        return cls(_outcome(settled.status, settled.value), by, settled.at, settled.source, reason)

    @classmethod
    def of_request(cls, end: RequestEnd, at: datetime) -> Self:
        reason = end.reason if end.source == OVERRIDE else None
        return cls(_outcome(end.status, end.answer), end.by, end.at or at, end.source, reason)

    def to_json(self) -> JsonObject:
        return {"outcome": self.outcome, "by": self.by, "at": to_iso(self.at), "source": self.source} | (
            {"reason": self.reason} if self.reason else {}
        )

    @classmethod
    def from_json(cls, data: JsonObject) -> Self:
        return cls(
            Outcome(data["outcome"]), data["by"], datetime.fromisoformat(data["at"]), data["source"], data.get("reason")
        )


def _outcome(status: RequestStatus, value: Value | None) -> Outcome:
    if status is RequestStatus.ANSWERED:
        if isinstance(value, ApprovalAnswer):
            return Outcome.APPROVED if value.runs else Outcome.REFUSED
        return Outcome.ANSWERED
    return Outcome.EXPIRED if status is RequestStatus.EXPIRED else Outcome.CANCELLED


@dataclass(frozen=True, slots=True)
class Notice:
    id: str
    channel_id: str
    address_id: str
    request_id: str
    status: NoticeStatus
    created_at: datetime
    due_at: datetime | None
    """When it is tried next; while it is being sent, when it counts as lost with its sender."""
    attempts: int = 0
    ref: str | None = None
    """By what the channel knows it."""
    end: NoticeEnd | None = None
    last_error: str | None = None
    sent_at: datetime | None = None
    digest: str | None = None
    """The message that tells of it together with others; empty while it waits to be gathered into one."""
    digest_ref: str | None = None
    """By what the channel knows that message."""

    @property
    def may_have_arrived(self) -> bool:
        """Of a claimed one, which counts the attempt that begins: whether an earlier one may have come through."""
        return self.status is NoticeStatus.SENT or (self.attempts > 1 and self.last_error is None)


@dataclass(frozen=True, slots=True)
class NoticeToken:
    """What a button carries is 22 random characters; this is the row behind their hash."""

    hash: str
    notice_id: str
    request_id: str
    digest: str
    """Of what the notice showed."""
    action: str
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class Tap:
    """What comes back: a button, a menu, a form."""

    event_id: str
    """The same each time a vendor sends it."""
    external_id: str
    """The account that tapped, which decides, wherever it was."""
    token: str


def new_token() -> str:
    return secrets.token_urlsafe(16)


def new_code() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(CODE_LENGTH))


def read_code(text: str) -> str:
    """As people type it."""
    return "".join(filter(str.isalnum, text.upper()))


def hashed(text: str) -> str:
    """Tokens and codes are kept as this; they are random, and need no salt."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class QuietHours:
    start: time
    end: time
    zone: str = "UTC"
    high_passes: bool = True
    """Whether what is risky is told all the same."""

    def until(self, at: datetime) -> datetime | None:
        """When they end, None where it is none of them."""
        local = at.astimezone(ZoneInfo(self.zone))
        now = local.time()
        over_midnight = self.start > self.end
        inside = (now >= self.start or now < self.end) if over_midnight else self.start <= now < self.end
        if not inside:
            return None
        day = local.date() + timedelta(days=1 if over_midnight and now >= self.start else 0)
        return datetime.combine(day, self.end, local.tzinfo).astimezone(at.tzinfo)

    def to_json(self) -> JsonObject:
        return {
            "start": f"{self.start:%H:%M}",
            "end": f"{self.end:%H:%M}",
            "zone": self.zone,
            "high_passes": self.high_passes,
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> Self:
        start, end = (time.fromisoformat(data[name]) for name in ("start", "end"))
        return cls(start, end, data["zone"], data["high_passes"])

    @classmethod
    def read(cls, start: str, end: str, zone: str, *, high_passes: bool) -> Self:
        try:
            ZoneInfo(zone)
        except (ValueError, KeyError, OSError) as error:
            raise wrong("quiet.zone", "unknown", "there is no such time zone: Europe/Berlin, Asia/Shanghai") from error
        try:
            found = cls(time.fromisoformat(start), time.fromisoformat(end), zone, high_passes)
        except ValueError as error:
            raise wrong("quiet", "form", "quiet hours are from one time to another, such as 22:00 and 07:00") from error
        if found.start == found.end:
            raise wrong("quiet", "empty", "quiet hours begin and end at different times")
        return found


@dataclass(frozen=True, slots=True)
class Preferences:
    """Which notices somebody wants; without any, all of them at once."""

    off: tuple[str, ...] = ()
    """Ids of channels on which they want none."""
    quiet: QuietHours | None = None
    language: str | None = None
    """None: the server's."""
    answer_links: bool = False
    """Whether messages may lead to a page that takes an answer without a sign-in, where an admin allows it too."""
    digest: int | None = None
    """Every so many minutes they are told of what has low risk, in one message; None: of each request at once."""

    def due_at(self, risk: str, at: datetime, deadline: datetime | None = None) -> datetime:
        """When they are told of something that was asked at this moment."""
        due_at = self._next_digest(at, deadline) if risk == LOWEST else at
        if self.quiet is None or (self.quiet.high_passes and risk in NEEDS_CODE):
            return due_at
        return self.quiet.until(due_at) or due_at

    def gathers(self, due_at: datetime, at: datetime) -> bool:
        """Whether what was asked at this moment is told together with others: if it is held back at all."""
        return self.digest is not None and due_at > at

    def _next_digest(self, at: datetime, deadline: datetime | None) -> datetime:
        """The same moment for all that is asked in between. What would leave less time than that to answer is not
        held back."""
        if self.digest is None:
            return at
        every = timedelta(minutes=self.digest)
        due_at = at + every - (at - _EPOCH) % every
        return at if deadline is not None and deadline < due_at + every else due_at

    def to_json(self) -> JsonObject:
        return {
            "off": list(self.off),
            "quiet": self.quiet.to_json() if self.quiet else None,
            "language": self.language,
            "answer_links": self.answer_links,
            "digest": self.digest,
        }

    @classmethod
    def from_json(cls, data: JsonObject | None) -> Self:
        if data is None:
            return cls()
        quiet = cast("JsonObject | None", data.get("quiet"))
        off = cast("list[str]", data.get("off") or [])
        hours = QuietHours.from_json(quiet) if quiet else None
        return cls(tuple(off), hours, data.get("language"), bool(data.get("answer_links")), data.get("digest"))


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a kind of channel can do."""

    edits: bool
    """Whether a message can be changed after it was sent."""
    taps: bool
    """Whether it has buttons that come back."""
    confirms: bool
    """Whether it asks again by itself before a button counts."""
    longest_text: int
    """So many characters of a request it shows at most."""
    subscribes: bool = False
    """Whether its addresses are browsers, which prove themselves, and of which a person may have several."""
    links: bool = False
    """Whether its messages may have a link that answers."""


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What is asked before a button counts."""

    question: str
    yes: str
    no: str


@dataclass(frozen=True, slots=True)
class Button:
    label: str
    token: str
    is_yes: bool = False
    is_no: bool = False
    confirmation: Confirmation | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """What a channel lays out. The words are ours; of `rows`, `text` and labels of options the agent wrote some, and
    they are shown as plain text, never as markup."""

    id: str
    """Of the notice, with what it says of it: the same each time it is sent."""
    about: str
    """The same for all messages of one request."""
    title: str
    rows: tuple[Row, ...] = ()
    text: str | None = None
    """What would run, whole."""
    url: str | None = None
    url_label: str = ""
    answer_url: str | None = None
    """Of the page that takes an answer without a sign-in. Opening it changes nothing."""
    answer_label: str = ""
    notes: tuple[str, ...] = ()
    buttons: tuple[Button, ...] = field(default=())
    until: datetime | None = None
    """From then on it is of no use to anybody."""
    is_end: bool = False
    """Whether it tells the end of its request, in the place of what was told before."""


def wrong(name: str, code: str, message: str) -> InvalidInput:
    return InvalidInput(message, [FieldError(name, code, message)])


def text_setting(given: JsonObject, name: str, default: str | None = None) -> str:
    """A setting of a channel that has to be a text."""
    value: JsonValue = given.get(name, default)
    if not isinstance(value, str) or not value.strip():
        raise wrong(f"settings.{name}", "missing", f"{name} is missing")
    return value.strip()
