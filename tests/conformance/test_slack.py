"""Slack: its signature, what it refuses, and how a message looks there."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from interlock.channels.slack import ABILITIES, API, SlackKind, signature
from interlock.channels.slack_blocks import blocks, fallback
from interlock.domain.channel import Button, Channel, Confirmation, Message, Row, Shows, Tap
from interlock.domain.errors import InvalidInput
from interlock.domain.tap import Said, TapOutcome, TapResult
from interlock.outbound import HttpPoster
from interlock.ports.channels import (
    AddressGone,
    Callback,
    NotAuthentic,
    Refused,
    Unchangeable,
    Unreachable,
)
from tests.support.slack_server import (
    APP,
    APP_TOKEN,
    BOT_TOKEN,
    SIGNING_SECRET,
    TEAM,
    Refusal,
    SlackServer,
    signed,
)

AT = datetime(2026, 11, 19, 12, tzinfo=UTC)
HTTP = {"bot_token": BOT_TOKEN, "signing_secret": SIGNING_SECRET}
SOCKET = {"bot_token": BOT_TOKEN, "app_token": APP_TOKEN}
MESSAGE = Message(
    "note_1",
    "perm_1",
    "Approval needed: demo",
    (Row("Tool", "read_file"),),
    "read_file\n{}",
    "https://i.example/requests/perm_1",
    "Open",
    buttons=(
        Button("Approve", "t" * 22, is_yes=True, confirmation=Confirmation("Approve read_file?", "Yes", "Back")),
        Button("Refuse", "u" * 22, is_no=True),
    ),
)
# Published at docs.slack.dev/authentication/verifying-requests-from-slack.
PUBLISHED = (
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&"
    "channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&"
    "response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&"
    "trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)


class Notes:
    """A taker that takes all of it."""

    def __init__(self) -> None:
        self.taken: list[Tap | Said] = []

    async def take_tap(self, tap: Tap) -> TapResult:
        self.taken.append(tap)
        return TapResult(TapOutcome.SETTLED, "Refused")

    async def take_words(self, said: Said) -> str | None:
        self.taken.append(said)
        return None


@pytest.fixture
async def slack() -> AsyncGenerator[SlackServer]:
    with SlackServer() as server:
        yield server


@pytest.fixture
async def kind() -> AsyncGenerator[SlackKind]:
    caller = HttpPoster(["127.0.0.1"], allow_private=True, named_in="INTERLOCK_CHANNEL_HOSTS")
    yield SlackKind(["127.0.0.1"], caller)
    await caller.close()


def a_channel(api: str, mode: str = "http", **changes: Any) -> Channel:
    settings = {"team": TEAM, "app": APP, "mode": mode, "api": api}
    return replace(Channel("chan_1", "slack", "Slack", Shows.FULL, "low", settings, "root", AT), **changes)


def test_the_published_signature_is_made() -> None:
    made = signature("8f742231b10e8888abcd99yyyzzz85a5", "1531420618", PUBLISHED.encode())
    assert made == "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"


@pytest.mark.promise("P30")
async def test_only_what_slack_signed_a_moment_ago_is_looked_at(kind: SlackKind, slack: SlackServer) -> None:
    link, notes = kind.open(a_channel(slack.api), HTTP), Notes()
    tap = {
        "type": "block_actions",
        "api_app_id": APP,
        "user": {"id": "UANN", "team_id": TEAM},
        "container": {"message_ts": "1.2"},
        "actions": [{"value": "t" * 22, "action_ts": "3.4"}],
    }
    headers, body = signed(tap, AT.timestamp())

    async def call(changes: dict[str, str], sent: bytes = body, at: float = 0.0) -> None:
        moment = datetime.fromtimestamp(AT.timestamp() + at, UTC)
        await link.read_callback(Callback({**headers, **changes}, sent, moment), notes)

    stamp, given = "x-slack-request-timestamp", "x-slack-signature"
    forged: list[Callable[[], Any]] = [
        lambda: call({given: "v0=" + "0" * 64}),
        lambda: call({given: ""}),
        lambda: call({given: "v0=\ud800é"}),
        lambda: call({stamp: str(int(AT.timestamp()) + 1)}),
        lambda: call({stamp: "١٢٣"}),
        lambda: call({}, body + b" "),
        lambda: call({}, at=301),
        lambda: call({}, at=-301),
    ]
    for attempt in forged:
        with pytest.raises(NotAuthentic):
            await attempt()
    other, _ = signed(tap, AT.timestamp(), "another secret")
    with pytest.raises(NotAuthentic):
        await call(other)
    assert notes.taken == []
    await call({}, at=299)
    assert notes.taken == [Tap(f"{TEAM}:UANN:1.2:3.4", f"{TEAM}:UANN", "t" * 22)]

    others: list[dict[str, Any]] = [
        {"api_app_id": "A0OTHER"},
        {"actions": []},
        {"type": "view_submission"},
        {"actions": [{}]},
    ]
    for changes in others:
        headers, body = signed({**tap, **changes}, AT.timestamp())
        await call({}, body)
    assert len(notes.taken) == 1
    headers, body = signed({"type": "url_verification", "challenge": "hello <b>"}, AT.timestamp())
    reply = await link.read_callback(Callback(headers, body, AT), notes)
    assert (reply.body, reply.content_type) == (b"hello <b>", "text/plain")


async def test_only_what_a_person_writes_to_the_bot_alone_is_read(kind: SlackKind, slack: SlackServer) -> None:
    link, notes = kind.open(a_channel(slack.api), HTTP), Notes()
    said = slack.direct_message("UANN", "K7MQ2XWD")
    for event in ({"channel_type": "channel"}, {"subtype": "message_changed"}, {"bot_id": "B1"}, {"type": "reaction"}):
        headers, body = signed({**said, "event": {**said["event"], **event}}, AT.timestamp())
        await link.read_callback(Callback(headers, body, AT), notes)
    headers, body = signed({**said, "team_id": "T0OTHER"}, AT.timestamp())
    await link.read_callback(Callback(headers, body, AT), notes)
    assert notes.taken == []
    headers, body = signed(said, AT.timestamp())
    await link.read_callback(Callback(headers, body, AT), notes)
    assert notes.taken == [Said(said["event_id"], f"{TEAM}:UANN", "K7MQ2XWD")]


async def test_a_message_is_sent_changed_and_refused_as_slack_does(kind: SlackKind, slack: SlackServer) -> None:
    link = kind.open(a_channel(slack.api), HTTP)
    ref = await link.send(f"{TEAM}:UANN", MESSAGE)
    (shown,) = slack.shown
    assert (shown.user, ref) == ("UANN", f"{shown.channel}:{shown.ts}")
    assert [shown.buttons[label].get("style") for label in ("Approve", "Refuse", "Open")] == ["primary", "danger", None]
    assert shown.buttons["Approve"]["confirm"]["title"]["text"] == "Approve read_file?"
    assert ["confirm" in shown.buttons["Refuse"], "value" in shown.buttons["Open"]] == [False, False]
    await link.update(f"{TEAM}:UANN", ref, Message("note_1.end", "perm_1", "Refused"))
    assert (shown.words, shown.buttons, slack.wrong) == ("Refused", {}, [])

    refusals: list[tuple[Refusal, type[Exception]]] = [
        (Refusal("chat.postMessage", 429, "ratelimited", {"Retry-After": "30"}), Unreachable),
        (Refusal("chat.postMessage", 502), Unreachable),
        (Refusal("chat.postMessage", error="token_revoked"), Unreachable),
        (Refusal("chat.postMessage", error="account_inactive"), Unreachable),
        (Refusal("chat.postMessage", error="channel_not_found"), AddressGone),
        (Refusal("chat.postMessage", error="msg_too_long"), Refused),
        (Refusal("chat.postMessage", 400, "<https://evil.example|secret>"), Refused),
    ]
    for refusal, error in refusals:
        slack.refusals = [refusal]
        with pytest.raises(error) as raised:
            await link.send(f"{TEAM}:UANN", MESSAGE)
        assert type(raised.value) is error
        assert "evil" not in str(raised.value)
        if isinstance(raised.value, Unreachable) and refusal.status == 429:
            assert raised.value.wait == 30
    slack.refusals = [Refusal("chat.update", error="edit_window_closed")]
    with pytest.raises(Unchangeable):
        await link.update(f"{TEAM}:UANN", ref, MESSAGE)
    slack.__exit__()
    with pytest.raises(Unreachable):
        await link.send(f"{TEAM}:UANN", MESSAGE)


async def test_an_app_that_was_revoked_or_a_socket_elsewhere_is_no_connection(
    kind: SlackKind, slack: SlackServer
) -> None:
    link = kind.open(a_channel(slack.api, "socket"), SOCKET)
    for refusal in (Refusal("apps.connections.open", error="token_revoked"), Refusal("apps.connections.open", 503)):
        slack.refusals = [refusal]
        with pytest.raises(Unreachable):
            await link.receive(Notes())
    with pytest.raises(Unreachable) as raised:
        await replace(link, hosts=["slack.com"]).receive(Notes())
    assert "INTERLOCK_CHANNEL_HOSTS" in str(raised.value)
    assert slack.sockets == []


def test_nothing_an_agent_wrote_is_a_mark_and_nothing_is_longer_than_slack_takes() -> None:
    evil = "<!channel> *b* <https://evil.example|x> & :smile: " + "😀" * 40
    button = Button(evil * 9, "t" * 22, confirmation=Confirmation(evil * 9, "Yes" * 20, "Back"))
    row, text = Row("Tool", evil), "😀" * ABILITIES.longest_text
    message = Message("n", "p", evil * 9, (row,), text, "https://i", evil, buttons=(button,))
    sent = {"channel": "U1", "text": fallback(message), "blocks": blocks(message), "mrkdwn": False}
    with SlackServer() as slack:
        _, answer, _ = slack.take("chat.postMessage", BOT_TOKEN, {**sent, "unfurl_links": False, "unfurl_media": False})
        assert answer["ok"], slack.wrong
    assert "😀" * ABILITIES.longest_text in slack.shown[0].words
    assert "mrkdwn" not in str(blocks(message))
    assert not set("<>") & set(fallback(message))


@pytest.mark.parametrize(
    ("changes", "credentials", "field"),
    [
        ({"team": "nobody"}, SOCKET, "settings.team"),
        ({"app": ""}, SOCKET, "settings.app"),
        ({"mode": "poll"}, SOCKET, "settings.mode"),
        ({"api": "https://evil.example/api"}, SOCKET, "settings.api"),
        ({"api": "http://slack.com/api"}, SOCKET, "settings.api"),
        ({"api": "https://u:p@slack.com/api"}, SOCKET, "settings.api"),
        ({"colour": "red"}, SOCKET, "settings.colour"),
        ({}, HTTP, "credentials.app_token"),
        ({"mode": "http"}, SOCKET, "credentials.signing_secret"),
        ({}, {**SOCKET, "bot_token": "xoxp-user"}, "credentials.bot_token"),
        ({}, {**SOCKET, "signing_secret": "x"}, "credentials.signing_secret"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any], credentials: dict[str, str], field: str) -> None:
    kind = SlackKind(["slack.com"], cast("Any", None))
    given = {"team": TEAM, "app": APP}
    assert kind.read_settings(given, SOCKET) == {**given, "mode": "socket", "api": API}
    with pytest.raises(InvalidInput) as raised:
        kind.read_settings({**given, **changes}, credentials)
    assert [one.field for one in raised.value.errors] == [field]


async def test_an_address_is_a_member_of_the_team(kind: SlackKind) -> None:
    channel = a_channel(API)
    assert kind.read_address(channel, " U0123 ") == kind.read_address(channel, f"{TEAM}:U0123") == f"{TEAM}:U0123"
    for text in ("", "ann", "T9:U0123", "C0123", "U0123:U0123"):
        with pytest.raises(InvalidInput):
            kind.read_address(channel, text)
