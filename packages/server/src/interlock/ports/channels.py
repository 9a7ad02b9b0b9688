"""What channels need: who is told, what waits to be told, and something that tells it.

A vendor is one implementation of `ChannelKind` and `OpenChannel`; what it can do it says by its abilities.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from interlock.domain.channel import (
    Abilities,
    Address,
    Channel,
    LinkCode,
    Message,
    Notice,
    NoticeEnd,
    NoticeStatus,
    NoticeToken,
    Preferences,
    Tap,
)
from interlock.domain.json_value import JsonObject
from interlock.domain.principal import Principal
from interlock.domain.setting_field import SettingField
from interlock.domain.tap import Said, TapResult


class Unreachable(Exception):
    """The vendor cannot be spoken to now: whatever is for it waits until that is over, and counts no attempt."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait
        """Seconds that the vendor asked for."""


class OutOfReach(Unreachable):
    """This address cannot be reached now, and others of the channel may be: it alone waits, and counts no attempt."""


class Refused(Exception):
    """The vendor did not take this message; another attempt may help."""


class CutOff(Refused):
    """What came of it is not known: it may have arrived."""


class AddressGone(Exception):
    """The vendor knows no such address, or its person wants nothing from this server."""


class Unchangeable(Exception):
    """What was sent cannot be changed any more: what is to be told is told by another message."""


class NotAuthentic(Exception):
    """What was called back with is not of the vendor."""


class OpenChannel(Protocol):
    """A channel with its credentials. Errors name ids and codes, never what was sent."""

    async def send(self, address: str, message: Message) -> str:
        """Send, and give what the vendor knows the message by. It may be sent twice under one id."""
        ...

    async def update(self, address: str, ref: str, message: Message) -> None:
        """Put this in the place of what was sent under `ref`, or raise `Unchangeable`; only where messages can be
        changed."""
        ...

    async def close(self) -> None: ...


class Taker(Protocol):
    """What is done with what comes back. It is done, and committed, when these return; where they raise, it is not,
    and the vendor is not told that it arrived, so that it sends it again."""

    async def take_tap(self, tap: Tap) -> TapResult: ...

    async def take_words(self, said: Said) -> str | None:
        """What is replied to it; None: nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Callback:
    """What came to the channel's address over HTTP."""

    headers: Mapping[str, str]
    """Their names in small letters."""
    body: bytes
    """As it came: it is what was signed."""
    at: datetime


@dataclass(frozen=True, slots=True)
class CallbackReply:
    body: bytes = b""
    content_type: str = "application/json"
    afterwards: Callable[[], Awaitable[None]] | None = None
    """What is done once the reply was sent."""


@runtime_checkable
class AnsweringChannel(OpenChannel, Protocol):
    """One over which answers come back."""

    @property
    def is_listening(self) -> bool:
        """Whether it holds a connection of its own; else its vendor calls back."""
        ...

    async def receive(self, taker: Taker) -> None:
        """Hold the connection, and give the taker what comes, until the vendor ends it; `Unreachable` where there is
        none to be had."""
        ...

    async def read_callback(self, callback: Callback, taker: Taker) -> CallbackReply:
        """`NotAuthentic` where it is not of the vendor: then nothing of it was looked at."""
        ...


class ChannelKind(Protocol):
    @property
    def abilities(self) -> Abilities: ...

    @property
    def sends_codes(self) -> bool:
        """Whether an address is proven by a code that is sent to it; else by one that is sent from it."""
        ...

    def read_settings(self, given: JsonObject, credentials: Mapping[str, str]) -> JsonObject:
        """The settings in their one form; `InvalidInput` with what is wrong with them or with the credentials."""
        ...

    def read_address(self, channel: Channel, text: str) -> str:
        """An address in its one spelling; `InvalidInput` where it is none, or one that the channel does not serve."""
        ...

    def open(self, channel: Channel, credentials: Mapping[str, str]) -> OpenChannel:
        """Nothing is sent by that; `Unreachable` where the operator does not allow its host any more."""
        ...


@runtime_checkable
class KeyMaker(Protocol):
    """A kind of channel that makes its own credentials."""

    def make_credentials(self) -> dict[str, str]: ...


@runtime_checkable
class Fillable(Protocol):
    """A kind of channel that says what it has to be told, so that a page can ask for it."""

    @property
    def fields(self) -> Sequence[SettingField]: ...


@dataclass(frozen=True, slots=True)
class Recipient:
    """A linked address that works, with whose it is."""

    address_id: str
    channel_id: str
    person: Principal
    is_named: bool
    """Whether it is one of those who were named, by themselves or by a group."""
    preferences: Preferences


class Channels(Protocol):
    """Credentials are sealed before they reach the database; only `credentials` gives them in clear."""

    async def add(self, channel: Channel, credentials: Mapping[str, str]) -> None: ...

    async def get(self, channel_id: str) -> Channel | None:
        """The channel, also one that is removed."""
        ...

    async def live(self) -> list[Channel]:
        """Those not removed, the oldest first."""
        ...

    async def credentials(self, channel_id: str) -> dict[str, str]: ...

    async def remove(self, channel_id: str, at: datetime) -> bool:
        """False when it was removed before. Its credentials are dropped, and so are its addresses."""
        ...

    async def hold(self, channel_id: str, holder: str, at: datetime, until: datetime) -> bool:
        """Take or keep the channel's connection; False while somebody else has it."""
        ...

    async def let_go(self, channel_id: str, holder: str) -> bool:
        """False where somebody else has its connection by now."""
        ...


class Addresses(Protocol):
    async def link(self, address: Address, *, beside: bool = False) -> bool:
        """In the place of the one that the person had on this channel, or beside it; False where it is taken."""
        ...

    async def get(self, address_id: str) -> Address | None: ...

    async def of_user(self, user_id: str) -> list[Address]:
        """The oldest first."""
        ...

    async def by_external(self, channel_id: str, external_id: str) -> Address | None: ...

    async def unlink(self, address_id: str) -> bool: ...

    async def forget_of(self, user_id: str) -> None:
        """Drop all that is known of somebody: addresses, codes and preferences."""
        ...

    async def switch_off(self, address_id: str, at: datetime) -> bool: ...

    async def put_code(self, code: LinkCode) -> None:
        """In the place of the one before, of this person on this channel."""
        ...

    async def code_of(self, user_id: str, channel_id: str) -> LinkCode | None: ...

    async def code_by_hash(self, channel_id: str, code_hash: str) -> LinkCode | None:
        """Of those that are sent from an address."""
        ...

    async def count_try(self, user_id: str, channel_id: str) -> None: ...

    async def drop_code(self, user_id: str, channel_id: str) -> bool: ...

    async def purge_codes(self, before: datetime) -> None: ...

    async def preferences(self, user_id: str) -> Preferences: ...

    async def set_preferences(self, user_id: str, preferences: Preferences) -> None: ...

    async def recipients(
        self, people: Collection[str], groups: Collection[str], owner_id: str | None, at: datetime
    ) -> list[Recipient]:
        """Of these people and groups, and with an owner of that one, all reviewers and all admins: who has an address
        that works on a channel that was not removed, may sign in, and is not away at that moment."""
        ...


class Notices(Protocol):
    """The outbox. What is claimed is due again when the claim ends; whoever claims it next sends it again."""

    async def add(self, notices: Sequence[Notice]) -> None:
        """A request has one notice for an address: further ones are left out."""
        ...

    async def get(self, notice_id: str) -> Notice | None: ...

    async def of_request(self, request_id: str) -> list[Notice]: ...

    async def page(self, channel_id: str, status: NoticeStatus | None, limit: int) -> list[Notice]:
        """The newest first."""
        ...

    async def counts(self, status: NoticeStatus) -> dict[str, int]:
        """By channel, how many are in that status."""
        ...

    async def end(self, request_id: str, end: NoticeEnd, at: datetime) -> bool:
        """The request has ended: what was sent is due to be told so. Whether there was any notice of it."""
        ...

    async def left_behind(self, limit: int) -> list[str]:
        """Requests that have ended, or are gone, without notices of them being told."""
        ...

    async def due_channels(self, now: datetime) -> list[str]:
        """The channels for which something is due, the one that waits longest first."""
        ...

    async def next_due(self, but: Collection[str]) -> datetime | None:
        """When the next one is due, not counting those of the channels in `but`."""
        ...

    async def claim(self, channel_id: str, now: datetime, until: datetime, limit: int) -> list[Notice]:
        """Take what is told by itself and is due, so that nobody else sends it before `until`; each counts an attempt.

        The oldest first.

        What another transaction is claiming is skipped.
        """
        ...

    async def claim_digests(self, channel_id: str, now: datetime, until: datetime, limit: int) -> list[list[Notice]]:
        """The same of what is told together, one list for each message. A single one that waited to be gathered is
        told by itself, and has no digest any more."""
        ...

    async def of_digest(self, digest: str) -> list[Notice]:
        """All that one message tells of, the oldest first."""
        ...

    async def resume_digest(self, digest: str, at: datetime) -> None:
        """What ended while the message was being changed is due now."""
        ...

    async def settle(
        self,
        claimed: Notice,
        status: NoticeStatus,
        at: datetime,
        *,
        due_at: datetime | None = None,
        ref: str | None = None,
        last_error: str | None = None,
    ) -> bool:
        """Write what came of an attempt; False, and nothing is written, when the claim is no longer the present one.

        One that was sent counts its attempts anew, and is due at once if its request has ended meanwhile.
        """
        ...

    async def release(self, claimed: Notice, due_at: datetime) -> bool:
        """Give a claim back as if it had not been tried."""
        ...

    async def drop(self, claimed: Notice) -> bool:
        """It is not sent any more, and was not."""
        ...

    async def end_channel(self, channel_id: str) -> None:
        """Nothing more goes out over it: what waits is dropped."""
        ...

    async def purge(self, before: datetime) -> None:
        """Drop those that were written before then and wait for nothing, with their tokens and old taps."""
        ...

    async def add_tokens(self, tokens: Sequence[NoticeToken]) -> None:
        """Those that are there already stay as they are."""
        ...

    async def token(self, token_hash: str) -> NoticeToken | None: ...

    async def take_tap(self, channel_id: str, event_id: str, at: datetime) -> bool:
        """True for the first to take this event of a vendor, False for whoever comes with it again."""
        ...

    async def has_tap(self, channel_id: str, event_id: str) -> bool: ...
