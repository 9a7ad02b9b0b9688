"""Feishu and Lark: cards with buttons to people, and their taps over a long connection of ours or called back by HTTP.

An app of one company, which its admin makes. What an agent wrote is in elements that Feishu takes for plain text only.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
import logging
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from urllib.parse import parse_qs, quote, urlsplit

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from interlock.channels._sockets import check_api, open_socket, read_api
from interlock.channels.feishu_api import FeishuApi, object_of
from interlock.channels.feishu_card import card
from interlock.channels.feishu_frames import CONTROL, DATA, BadFrame, Frame
from interlock.domain.channel import Abilities, Channel, Message, Tap, text_setting, wrong
from interlock.domain.json_value import JsonObject
from interlock.domain.setting_field import SettingField
from interlock.domain.tap import Said
from interlock.ports.calls import Caller
from interlock.ports.channels import (
    AddressGone,
    Callback,
    CallbackReply,
    NotAuthentic,
    Refused,
    Taker,
    Unreachable,
)

FEISHU = "feishu"
API = "https://open.feishu.cn"
# A card has 30 KB, and a character has 4 bytes at the most, twice that where JSON escapes it.
ABILITIES = Abilities(edits=True, taps=True, confirms=True, longest_text=2_500)
SOCKET, HTTP = MODES = ("socket", "http")
SIGNED_WITHIN = 300
"""Seconds. Feishu names none; a call that is kept back for longer is not taken."""
PING_SECONDS = 120.0
AT_ONCE = 8
LONGEST_PARTS = 16
_SETTINGS = ("app", "mode", "api")
_APP = re.compile(r"cli_[A-Za-z0-9]{4,40}\Z")
_ADDRESS = re.compile(r"(?:([A-Za-z0-9]{1,40}):)?(ou_[A-Za-z0-9]{1,60})\Z")
_NAMES = {SOCKET: {"app_secret"}, HTTP: {"app_secret", "encrypt_key", "verification_token"}}
_NEEDED = {SOCKET: ("app_secret",), HTTP: ("app_secret", "encrypt_key")}

logger = logging.getLogger(__name__)


class FeishuKind:
    abilities = ABILITIES
    sends_codes = False

    def __init__(self, hosts: Sequence[str], caller: Caller) -> None:
        self._hosts = tuple(host.lower() for host in hosts)
        self._caller = caller

    @property
    def fields(self) -> Sequence[SettingField]:
        return (
            SettingField("app", required=True),
            SettingField("mode", "choice", required=True, options=MODES, default=SOCKET),
            SettingField("app_secret", "secret", required=True),
            SettingField("encrypt_key", "secret"),
            SettingField("verification_token", "secret"),
            SettingField("api"),
        )

    def read_settings(self, given: JsonObject, credentials: Mapping[str, str]) -> JsonObject:
        unknown = sorted(given.keys() - set(_SETTINGS))
        if unknown:
            raise wrong(f"settings.{unknown[0]}", "unknown", f"there is no setting {unknown[0]!r} of feishu")
        app, mode = text_setting(given, "app"), text_setting(given, "mode", SOCKET)
        if not _APP.match(app):
            raise wrong("settings.app", "form", "app is the id of an app, such as cli_a1b2c3d4e5f6")
        if mode not in MODES:
            raise wrong("settings.mode", "unknown", f"mode is one of {', '.join(MODES)}")
        for name in _NEEDED[mode]:
            if not credentials.get(name):
                why = ": without it nothing is signed" if name == "encrypt_key" else ""
                raise wrong(f"credentials.{name}", "missing", f"{name} is missing{why}")
        unknown = sorted(credentials.keys() - _NAMES[mode])
        if unknown:
            raise wrong(f"credentials.{unknown[0]}", "unknown", f"mode {mode} has no use for {unknown[0]}")
        return {"app": app, "mode": mode, "api": read_api(text_setting(given, "api", API), self._hosts)}

    def read_address(self, channel: Channel, text: str) -> str:
        if not _ADDRESS.match(text.strip()):
            raise wrong("address", "form", "an address is the open_id of somebody, such as ou_1a2b3c")
        return text.strip()

    def open(self, channel: Channel, credentials: Mapping[str, str]) -> "OpenFeishu":
        api, app = str(channel.settings["api"]), str(channel.settings["app"])
        check_api(api, self._hosts)
        calls = FeishuApi(self._caller, api, app, credentials["app_secret"])
        return OpenFeishu(calls, self._hosts, app, str(channel.settings["mode"]), credentials)


@dataclass(frozen=True, slots=True)
class OpenFeishu:
    calls: FeishuApi
    hosts: Sequence[str]
    app: str
    mode: str
    credentials: Mapping[str, str]

    @property
    def is_listening(self) -> bool:
        return self.mode == SOCKET

    async def send(self, address: str, message: Message) -> str:
        given: JsonObject = {
            "receive_id": address.rpartition(":")[2],
            "msg_type": "interactive",
            "content": json.dumps(card(message), ensure_ascii=False),
            # Within an hour Feishu sends the same only once.
            "uuid": message.id[:50],
        }
        sent = await self.calls.call("POST", "/open-apis/im/v1/messages?receive_id_type=open_id", given)
        return str(sent.get("message_id"))

    async def update(self, address: str, ref: str, message: Message) -> None:
        given: JsonObject = {"content": json.dumps(card(message), ensure_ascii=False)}
        await self.calls.call("PATCH", f"/open-apis/im/v1/messages/{quote(ref, safe='')}", given)

    async def close(self) -> None:
        """It has no connection of its own but that of `receive`."""

    async def receive(self, taker: Taker) -> None:
        given: JsonObject = {"AppID": self.app, "AppSecret": self.credentials["app_secret"]}
        data = object_of((await self.calls.call_openly("/callback/ws/endpoint", given)).get("data"))
        url = str(data.get("URL", ""))
        service = parse_qs(urlsplit(url).query).get("service_id", ["0"])[0]
        seconds = object_of(data.get("ClientConfig")).get("PingInterval")
        pause = float(seconds) if isinstance(seconds, int) and seconds > 0 else PING_SECONDS
        async with open_socket(url, self.hosts) as socket:
            pinging = asyncio.create_task(_ping(socket, int(service) if service.isdigit() else 0, pause))
            try:
                await self._read(socket, taker)
            finally:
                pinging.cancel()
                await asyncio.gather(pinging, return_exceptions=True)

    async def _read(self, socket: ClientConnection, taker: Taker) -> None:
        parts, places = _Parts(), asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            try:
                async for data in socket:
                    frame = _frame(data)
                    whole = parts.join(frame) if frame is not None and frame.method == DATA else None
                    if frame is None or whole is None:
                        continue
                    await places.acquire()
                    working = group.create_task(self._take_frame(socket, frame, whole, taker))
                    working.add_done_callback(lambda _: places.release())
            except ConnectionClosed:
                return

    async def _take_frame(self, socket: ClientConnection, frame: Frame, payload: bytes, taker: Taker) -> None:
        """It is answered once it is committed: what is not, Feishu sends again."""
        try:
            reply, afterwards = await self._take(object_of(payload), taker)
            data = base64.b64encode(json.dumps(reply, ensure_ascii=False).encode()).decode()
            answer: JsonObject = {"code": 200, "data": data} if reply else {"code": 200}
            await socket.send(frame.with_reply(json.dumps(answer).encode()).write())
            await self._say(afterwards)
        except ConnectionClosed:
            return
        except Exception:
            logger.exception("what came over a connection of Feishu was not taken")

    async def read_callback(self, callback: Callback, taker: Taker) -> CallbackReply:
        key = self.credentials["encrypt_key"]
        is_signed = _is_signed(callback, key)
        payload = object_of(decrypt(key, object_of(callback.body).get("encrypt")))
        if payload.get("type") == "url_verification":
            # It is not signed, and proves by its encryption where it comes from; nothing follows from it.
            self._check_token(payload.get("token"))
            return _reply({"challenge": payload.get("challenge", "")})
        if not is_signed:
            raise NotAuthentic("the signature is not that of Feishu, or too old")
        self._check_token(object_of(payload.get("header")).get("token"))
        reply, afterwards = await self._take(payload, taker)
        return _reply(reply, afterwards and _Later(self, afterwards))

    def _check_token(self, given: object) -> None:
        wanted = self.credentials.get("verification_token")
        if wanted and not hmac.compare_digest(wanted.encode(), str(given).encode("utf-8", "replace")):
            raise NotAuthentic("the verification token is another")

    async def _take(self, payload: JsonObject, taker: Taker) -> "tuple[JsonObject, tuple[str, str] | None]":
        """What is replied, and what is said then, and to whom."""
        header, event = object_of(payload.get("header")), object_of(payload.get("event"))
        if header.get("app_id") != self.app:
            return {}, None
        event_id, tenant = str(header.get("event_id")), header.get("tenant_key")
        if header.get("event_type") == "card.action.trigger":
            return await self._take_tap(event_id, tenant, event, taker), None
        if header.get("event_type") != "im.message.receive_v1":
            return {}, None
        sender, message = object_of(event.get("sender")), object_of(event.get("message"))
        account = object_of(sender.get("sender_id")).get("open_id")
        is_own = message.get("chat_type") == "p2p" and message.get("message_type") == "text"
        if not is_own or sender.get("sender_type") != "user" or not account:
            return {}, None
        text = str(object_of(message.get("content")).get("text", ""))
        external_id = f"{sender.get('tenant_key') or tenant}:{account}"
        said = await taker.take_words(Said(event_id, external_id, text))
        return {}, (external_id, said) if said else None

    async def _take_tap(self, event_id: str, tenant: object, event: JsonObject, taker: Taker) -> JsonObject:
        operator, action = object_of(event.get("operator")), object_of(event.get("action"))
        token = object_of(action.get("value")).get("t")
        if not token:
            return {}
        external_id = f"{operator.get('tenant_key') or tenant}:{operator.get('open_id')}"
        result = await taker.take_tap(Tap(event_id, external_id, str(token)))
        reply: JsonObject = {"toast": {"type": "info", "content": result.text}}
        if result.message is not None:
            reply["card"] = {"type": "raw", "data": card(result.message)}
        return reply

    async def _say(self, said: tuple[str, str] | None) -> None:
        """A courtesy: nothing hangs on it, and it is not tried again."""
        if said is None:
            return
        given: JsonObject = {
            "receive_id": said[0].rpartition(":")[2],
            "msg_type": "text",
            "content": json.dumps({"text": said[1]}, ensure_ascii=False),
        }
        try:
            await self.calls.call("POST", "/open-apis/im/v1/messages?receive_id_type=open_id", given)
        except (Unreachable, Refused, AddressGone) as error:
            logger.info("who wrote in Feishu was told nothing: %s", error)


@dataclass(frozen=True, slots=True)
class _Later:
    link: OpenFeishu
    said: tuple[str, str]

    async def __call__(self) -> None:
        await self.link._say(self.said)  # pyright: ignore[reportPrivateUsage]


class _Parts:
    """What comes in several frames, until all of it is there."""

    def __init__(self) -> None:
        self._found: dict[str, dict[int, bytes]] = {}

    def join(self, frame: Frame) -> bytes | None:
        total, place = (_number(frame.headers.get(name)) for name in ("sum", "seq"))
        if total <= 1:
            return frame.payload
        if total > LONGEST_PARTS or place >= total:
            return None
        name = frame.headers.get("message_id", "")
        parts = self._found.setdefault(name, {})
        parts[place] = frame.payload
        if len(parts) < total:
            # Of those that never become whole only the last few are kept.
            while len(self._found) > LONGEST_PARTS:
                del self._found[next(iter(self._found))]
            return None
        del self._found[name]
        return b"".join(parts[one] for one in range(total))


async def _ping(socket: ClientConnection, service: int, pause: float) -> None:
    with suppress(ConnectionClosed):
        while True:
            await socket.send(Frame(CONTROL, service, {"type": "ping"}).write())
            await asyncio.sleep(pause)


def _frame(data: str | bytes) -> Frame | None:
    try:
        return Frame.read(data) if isinstance(data, bytes) else None
    except BadFrame as error:
        logger.warning("a frame of Feishu was not read: %s", error)
        return None


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 6 else 0


def _reply(body: JsonObject, later: "_Later | None" = None) -> CallbackReply:
    return CallbackReply(json.dumps(body, ensure_ascii=False).encode(), afterwards=later)


def _is_signed(callback: Callback, key: str) -> bool:
    stamp, nonce, given = (
        callback.headers.get(f"x-lark-{name}", "") for name in ("request-timestamp", "request-nonce", "signature")
    )
    right = hashlib.sha256(f"{stamp}{nonce}{key}".encode("utf-8", "replace") + callback.body).hexdigest()
    is_right = hmac.compare_digest(right.encode(), given.encode("utf-8", "replace"))
    return is_right and _is_recent(stamp, callback.at)


def _is_recent(stamp: str, at: datetime) -> bool:
    return stamp.isascii() and stamp.isdigit() and len(stamp) < 12 and abs(at.timestamp() - int(stamp)) <= SIGNED_WITHIN


def decrypt(key: str, text: object) -> bytes:
    """`NotAuthentic` whyever it cannot be: who tries learns nothing from how."""
    try:
        sealed = base64.b64decode(cast("str", text), validate=True)
        decryptor = Cipher(algorithms.AES256(hashlib.sha256(key.encode()).digest()), modes.CBC(sealed[:16])).decryptor()
        padded = decryptor.update(sealed[16:]) + decryptor.finalize()
        unpadder = padding.PKCS7(128).unpadder()
        return unpadder.update(padded) + unpadder.finalize()
    except (TypeError, ValueError, binascii.Error) as error:
        raise NotAuthentic("it is not encrypted with the channel's key") from error
