"""The manage face: channels, on which people are told of requests, and where each of them is reached."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from interlock_client.base import ClientModel, JsonObject, ServerModel

Shows = Literal["headline", "full"]
Ceiling = Literal["low", "medium"]
ChannelId = Annotated[str, StringConstraints(min_length=1, max_length=64)]
ChannelAddress = Annotated[str, StringConstraints(min_length=1, max_length=254)]
Credential = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
WITHOUT_ACCOUNTS = "Only heeded by a server that runs without accounts."


class NewChannel(ClientModel):
    kind: Annotated[str, StringConstraints(min_length=1, max_length=40)] = Field(description="Such as `mail`.")
    name: Annotated[str, StringConstraints(max_length=80)] = ""
    shows: Shows = Field(default="headline", description="`headline`: no argument of a call leaves the server.")
    ceiling: Ceiling = Field(default="low", description="The highest risk that may be approved on it.")
    settings: JsonObject
    credentials: dict[str, Credential] = Field(default_factory=dict[str, str], description="They are sealed.")
    user_id: str | None = Field(default=None, description=WITHOUT_ACCOUNTS)


class Channel(ServerModel):
    id: str
    kind: str
    name: str
    shows: Shows
    ceiling: Ceiling
    settings: JsonObject
    created_at: datetime


class ChannelEntry(Channel):
    created_by: str
    waiting: int = Field(description="Notices that are still to be sent.")
    failed: int = Field(description="Notices that were given up.")


class ChannelList(ServerModel):
    channels: list[ChannelEntry]


class RemovedChannel(ServerModel):
    id: str
    removed: bool = True


class TestChannel(ClientModel):
    # It is no test of ours.
    __test__ = False

    address: ChannelAddress
    user_id: str | None = Field(default=None, description=WITHOUT_ACCOUNTS)


class TestSent(ServerModel):
    __test__ = False

    id: str
    sent: bool = True


class FailedNotice(ServerModel):
    id: str
    request_id: str
    attempts: int
    last_error: str | None
    created_at: datetime


class FailedNotices(ServerModel):
    notices: list[FailedNotice]


FieldType = Literal["text", "number", "choice", "list", "secret"]
LinkedBy = Literal["code", "message", "browser"]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class SettingField(ServerModel):
    name: str
    type: FieldType = Field(description="`secret`: it goes into `credentials`, and anything else into `settings`.")
    required: bool
    options: list[str] = Field(description="Of a choice.")
    default: str


class ChannelKind(ServerModel):
    kind: str
    fields: list[SettingField]
    has_form: bool = Field(description="False: its fields are not described, and it is set up by command.")
    linked_by: LinkedBy
    answers: bool = Field(description="Whether requests can be answered on it.")


class ChannelKinds(ServerModel):
    kinds: list[ChannelKind]


class LinkedAddress(ServerModel):
    id: str
    address: str = Field(description="Of a browser: the host of its push service.")
    linked_at: datetime
    works: bool = Field(description="False once the channel's vendor says that there is no such address.")


class OwnChannel(ServerModel):
    channel_id: str
    kind: str
    name: str
    address: LinkedAddress | None = Field(description="Null: the caller is not reached on it.")
    addresses: list[LinkedAddress] = Field(description="Of browsers there may be several.")
    linked_by: LinkedBy = Field(description="A code that comes to the address, a message from it, or the browser.")
    key: str | None = Field(description="With which a browser subscribes.")


class OwnAddresses(ServerModel):
    channels: list[OwnChannel]


class LinkAddress(ClientModel):
    channel_id: ChannelId
    address: Annotated[str, StringConstraints(max_length=254)] = Field(
        default="", description="Where the code is sent; empty for a chat, from which one sends it."
    )
    user_id: str | None = Field(default=None, description=WITHOUT_ACCOUNTS)


class BrowserKeys(ClientModel):
    p256dh: Key
    auth: Key


class LinkBrowser(ClientModel):
    channel_id: ChannelId
    endpoint: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    keys: BrowserKeys
    user_id: str | None = Field(default=None, description=WITHOUT_ACCOUNTS)


class LinkBegun(ServerModel):
    channel_id: str
    address: str
    expires_at: datetime = Field(description="Until then the code links it.")
    code: str | None = Field(
        default=None, description="For a chat: its person sends it to the bot, which links the account it comes from."
    )


class ConfirmAddress(ClientModel):
    channel_id: ChannelId
    code: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    user_id: str | None = Field(default=None, description=WITHOUT_ACCOUNTS)


class UnlinkedAddress(ServerModel):
    id: str


class QuietTimes(ClientModel):
    start: TimeOfDay
    end: TimeOfDay
    zone: Annotated[str, StringConstraints(max_length=64)] = "UTC"
    high_passes: bool = Field(default=True, description="What is risky is told at once all the same.")


class Quiet(ServerModel):
    start: str
    end: str
    zone: str
    high_passes: bool


class SetNotifications(ClientModel):
    off: Annotated[list[ChannelId], Field(max_length=50)] = Field(
        default_factory=list[str], description="Ids of channels on which nothing is wanted."
    )
    quiet: QuietTimes | None = Field(default=None, description="What is asked then is told when they end.")
    language: Literal["en", "zh"] | None = Field(default=None, description="Null: the server's.")
    answer_links: bool = Field(
        default=False,
        description="Mails lead to a page that takes an answer without a sign-in, where the channel allows it.",
    )
    digest: Annotated[int, Field(ge=5, le=120)] | None = Field(
        default=None,
        description="Every so many minutes one message tells of all that has low risk; null: each at once.",
    )
    user_id: str | None = Field(default=None, description=WITHOUT_ACCOUNTS)


class Notifications(ServerModel):
    off: list[str]
    quiet: Quiet | None
    language: Literal["en", "zh"] | None
    answer_links: bool
    digest: int | None


LinkToken = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
AnswerOutcome = Literal[
    "settled", "counted", "asked_again", "late", "unlinked", "not_yours", "not_eligible", "claimed", "changed", "ended"
]


class OpenLink(ClientModel):
    link: LinkToken


class TapOnPage(ClientModel):
    link: LinkToken
    button: LinkToken


class PageRow(ServerModel):
    label: str
    value: str


class PageButton(ServerModel):
    label: str
    token: str
    is_yes: bool
    is_no: bool


class PageMessage(ServerModel):
    title: str
    rows: list[PageRow]
    text: str | None = Field(description="What would run, whole.")
    notes: list[str]
    buttons: list[PageButton]
    request_id: str


class AnswerPage(ServerModel):
    outcome: AnswerOutcome = Field(description="`asked_again`: nothing has happened yet.")
    text: str
    message: PageMessage | None = Field(description="What is to be shown now; null: what was shown before.")
