"""Feishu: its encryption and signature, its frames, what it refuses, and how a card looks."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from interlock.channels.feishu import ABILITIES, API, FeishuKind, decrypt
from interlock.channels.feishu_card import card
from interlock.channels.feishu_frames import BadFrame, Frame
from interlock.domain.channel import Button, Channel, Confirmation, Message, Row, Shows, Tap
from interlock.domain.errors import InvalidInput
from interlock.domain.tap import Said, TapOutcome, TapResult
from interlock.outbound import HttpPoster
from interlock.ports.channels import AddressGone, Callback, NotAuthentic, Refused, Unchangeable, Unreachable
from tests.support.feishu_server import (
    APP,
    ENCRYPT_KEY,
    FRAME,
    SECRET,
    TENANT,
    VERIFICATION,
    FeishuServer,
    Refusal,
    frame_of,
    sealed,
)

AT = datetime(2026, 11, 19, 12, tzinfo=UTC)
SOCKET = {"app_secret": SECRET}
HTTP = {**SOCKET, "encrypt_key": ENCRYPT_KEY, "verification_token": VERIFICATION}
ANN = f"{TENANT}:ou_ann"
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


class Notes:
    """A taker that takes all of it."""

    def __init__(self) -> None:
        self.taken: list[Tap | Said] = []

    async def take_tap(self, tap: Tap) -> TapResult:
        self.taken.append(tap)
        return TapResult(TapOutcome.SETTLED, "Refused", Message("note_1.end", "perm_1", "Refused"))

    async def take_words(self, said: Said) -> str | None:
        self.taken.append(said)
        return None


@pytest.fixture
async def feishu() -> AsyncGenerator[FeishuServer]:
    with FeishuServer() as server:
        yield server


@pytest.fixture
async def kind() -> AsyncGenerator[FeishuKind]:
    caller = HttpPoster(["127.0.0.1"], allow_private=True, named_in="INTERLOCK_CHANNEL_HOSTS")
    yield FeishuKind(["127.0.0.1"], caller)
    await caller.close()


def a_channel(api: str, mode: str = "http") -> Channel:
    settings = {"app": APP, "mode": mode, "api": api}
    return Channel("chan_1", "feishu", "Feishu", Shows.FULL, "low", settings, "root", AT)


def test_the_published_text_is_decrypted_and_whatever_else_is_not() -> None:
    # Published at open.feishu.cn/document, event-subscription-guide.
    assert decrypt("test key", "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=") == b"hello world"
    for text in ("", "P37w", "é", None, 5, "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghl=", "A" * 64, "A" * 22 + "=="):
        with pytest.raises(NotAuthentic) as raised:
            decrypt("another key", text)
        assert "encrypted" in str(raised.value)


def test_frames_are_those_of_protocol_buffers_in_both_directions() -> None:
    headers = {"type": "event", "message_id": "m-1", "é": "日本"}
    read = Frame.read(frame_of(1, headers, b"\x00payload", seq=300))
    assert (read.method, read.service, read.headers, read.payload) == (1, 77, headers, b"\x00payload")
    assert (read.seq, read.log) == (300, (1 << 64) - 300)
    written = FRAME.FromString(read.with_reply(b"answer").write())
    assert (written.SeqID, written.LogID, written.service, written.method) == (300, (1 << 64) - 300, 77, 1)
    assert ({one.key: one.value for one in written.headers}, written.payload) == (headers, b"answer")
    whole = frame_of(1, headers, b"payload")
    for end in range(len(whole)):
        try:
            Frame.read(whole[:end])
        except BadFrame:
            continue
    for data in (b"\x0b", b"\x08" + b"\xff" * 11, b"\x42\xff\xff\xff\xff\x0f"):
        with pytest.raises(BadFrame):
            Frame.read(data)


@pytest.mark.promise("P30")
async def test_only_what_feishu_sealed_and_signed_a_moment_ago_is_looked_at(
    kind: FeishuKind, feishu: FeishuServer
) -> None:
    link, notes = kind.open(a_channel(feishu.api), HTTP), Notes()
    header = {"app_id": APP, "event_id": "ev-1", "event_type": "card.action.trigger", "tenant_key": TENANT}
    operator, action = {"open_id": "ou_ann", "tenant_key": TENANT}, {"tag": "button", "value": {"t": "t" * 22}}
    tap: dict[str, Any] = {
        "header": {**header, "token": VERIFICATION},
        "event": {"operator": operator, "action": action},
    }

    async def call(headers: dict[str, str], body: bytes, at: float = 0.0) -> Any:
        moment = datetime.fromtimestamp(AT.timestamp() + at, UTC)
        return json.loads((await link.read_callback(Callback(headers, body, moment), notes)).body)

    headers, body = sealed(tap, AT.timestamp())
    forged: list[tuple[dict[str, str], bytes, float]] = [
        ({**headers, "x-lark-signature": "0" * 64}, body, 0),
        ({**headers, "x-lark-signature": ""}, body, 0),
        ({**headers, "x-lark-request-nonce": "nonce-2"}, body, 0),
        ({**headers, "x-lark-request-timestamp": str(int(AT.timestamp()) + 1)}, body, 0),
        (headers, body + b" ", 0),
        (headers, json.dumps(tap).encode(), 0),
        (headers, b"[]", 0),
        (headers, b"[" * 100_000, 0),
        (headers, body, 301),
        (*sealed(tap, AT.timestamp(), "another key"), 0),
        (*sealed({**tap, "header": {**tap["header"], "token": "another"}}, AT.timestamp()), 0),
        (*sealed({"type": "url_verification", "challenge": "x", "token": "another"}, AT.timestamp()), 0),
    ]
    for given in forged:
        with pytest.raises(NotAuthentic):
            await call(*given)
    assert notes.taken == []
    reply = await call(headers, body)
    assert notes.taken == [Tap("ev-1", ANN, "t" * 22)]
    assert (reply["toast"]["content"], reply["card"]["data"]["header"]["title"]["content"]) == ("Refused", "Refused")

    for changes in ({"app_id": "cli_other"}, {"event_type": "im.chat.updated_v1"}):
        assert await call(*sealed({**tap, "header": {**tap["header"], **changes}}, AT.timestamp())) == {}
    others: list[dict[str, Any]] = [{}, {"value": "t" * 22}, {"value": {"other": 1}}]
    for other in others:
        assert await call(*sealed({**tap, "event": {**tap["event"], "action": other}}, AT.timestamp())) == {}
    assert len(notes.taken) == 1
    _, asked = sealed({"type": "url_verification", "challenge": "é", "token": VERIFICATION}, AT.timestamp())
    assert await call({}, asked) == {"challenge": "é"}


async def test_only_what_a_person_writes_to_the_bot_alone_is_read(kind: FeishuKind, feishu: FeishuServer) -> None:
    link, notes = kind.open(a_channel(feishu.api), HTTP), Notes()
    said = feishu.direct_message("ou_ann", "K7MQ2XWD")
    message, sender = said["event"]["message"], said["event"]["sender"]
    others: list[dict[str, Any]] = [
        {"message": {**message, "chat_type": "group"}},
        {"message": {**message, "message_type": "image"}},
        {"sender": {**sender, "sender_type": "app"}},
        {"sender": {"sender_type": "user"}},
    ]
    for changes in others:
        headers, body = sealed({**said, "event": {**said["event"], **changes}}, AT.timestamp())
        await link.read_callback(Callback(headers, body, AT), notes)
    assert notes.taken == []
    headers, body = sealed(said, AT.timestamp())
    await link.read_callback(Callback(headers, body, AT), notes)
    assert notes.taken == [Said(said["header"]["event_id"], ANN, "K7MQ2XWD")]


async def test_a_card_is_sent_once_changed_and_refused_as_feishu_does(kind: FeishuKind, feishu: FeishuServer) -> None:
    link = kind.open(a_channel(feishu.api), HTTP)
    ref = await link.send(ANN, MESSAGE)
    # Feishu knows it by its uuid.
    assert await link.send(ANN, MESSAGE) == ref
    (shown,) = feishu.shown
    assert (shown.user, ref, feishu.calls.count("internal")) == ("ou_ann", shown.message_id, 1)
    assert [shown.buttons[label]["type"] for label in ("Approve", "Refuse", "Open")] == ["primary", "danger", "default"]
    assert shown.buttons["Approve"]["confirm"]["title"]["content"] == "Approve read_file?"
    assert "confirm" not in shown.buttons["Refuse"]
    feishu.end_tokens()
    await link.update(ANN, ref, Message("note_1.end", "perm_1", "Refused"))
    assert (shown.words, shown.buttons, feishu.wrong, feishu.calls.count("internal")) == ("Refused", {}, [], 2)

    refusals: list[tuple[Refusal, type[Exception]]] = [
        (Refusal("messages", 429, 99991400, {"x-ogw-ratelimit-reset": "7"}), Unreachable),
        (Refusal("messages", 502), Unreachable),
        (Refusal("messages", code=99991672), Unreachable),
        (Refusal("messages", code=230013), AddressGone),
        (Refusal("messages", code=230028), Refused),
        (Refusal("patch", code=230031), Unchangeable),
    ]
    for refusal, error in refusals:
        feishu.refusals = [refusal]
        with pytest.raises(error) as raised:
            await (link.update(ANN, ref, MESSAGE) if refusal.path == "patch" else link.send(ANN, MESSAGE))
        assert type(raised.value) is error
        assert "ou_ann" not in str(raised.value)
        if isinstance(raised.value, Unreachable) and refusal.status == 429:
            assert raised.value.wait == 7
    wrong = kind.open(a_channel(feishu.api), {"app_secret": "wrong"})
    for attempt in (wrong.send(ANN, MESSAGE), wrong.receive(Notes())):
        with pytest.raises(Unreachable):
            await attempt
    with pytest.raises(Unreachable) as elsewhere:
        await replace(kind.open(a_channel(feishu.api, "socket"), SOCKET), hosts=["open.feishu.cn"]).receive(Notes())
    assert "INTERLOCK_CHANNEL_HOSTS" in str(elsewhere.value)


def test_nothing_an_agent_wrote_is_a_mark_and_a_card_is_never_too_long() -> None:
    evil = "<at id=all></at> **b** [x](https://evil.example)" * 20
    text = "\x01" * ABILITIES.longest_text
    button = Button(evil[:40], "t" * 22, confirmation=Confirmation(evil[:80], "Yes", "Back"))
    message = Message(
        "n", "p", evil[:200], (Row("Tool", evil[:80]),) * 6, text, "https://i", "Open", buttons=(button,) * 5
    )
    drawn = json.dumps(card(message), ensure_ascii=False)
    assert len(drawn.encode()) < 30 * 1024
    assert "lark_md" not in drawn
    assert "markdown" not in drawn


@pytest.mark.parametrize(
    ("changes", "credentials", "field"),
    [
        ({"app": "a"}, SOCKET, "settings.app"),
        ({"mode": "poll"}, SOCKET, "settings.mode"),
        ({"api": "https://evil.example"}, SOCKET, "settings.api"),
        ({"colour": "red"}, SOCKET, "settings.colour"),
        ({}, {}, "credentials.app_secret"),
        ({"mode": "http"}, SOCKET, "credentials.encrypt_key"),
        ({}, HTTP, "credentials.encrypt_key"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any], credentials: dict[str, str], field: str) -> None:
    kind = FeishuKind(["open.feishu.cn"], cast("Any", None))
    assert kind.read_settings({"app": APP}, SOCKET) == {"app": APP, "mode": "socket", "api": API}
    with pytest.raises(InvalidInput) as raised:
        kind.read_settings({"app": APP, **changes}, credentials)
    assert [one.field for one in raised.value.errors] == [field]


async def test_an_address_is_an_open_id(kind: FeishuKind) -> None:
    channel = a_channel(API)
    assert (kind.read_address(channel, " ou_1a "), kind.read_address(channel, ANN)) == ("ou_1a", ANN)
    for text in ("", "ann", "oc_1", "x:y:ou_1", "ou_"):
        with pytest.raises(InvalidInput):
            kind.read_address(channel, text)
