"""Slack: messages with buttons to people, and their taps over a socket of ours (Socket Mode) or called back by HTTP.

An app of one workspace, which its admin makes. What an agent wrote is in elements that Slack takes for plain text only.
"""

import asyncio
import hashlib
import hmac
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from interlock.channels._sockets import check_api, open_socket, read_api
from interlock.channels.slack_blocks import blocks, fallback
from interlock.domain.channel import Abilities, Channel, Message, Tap, text_setting, wrong
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.setting_field import SettingField
from interlock.domain.tap import Said, TapOutcome
from interlock.ports.calls import Caller, HttpReply, NoReply, NotReached
from interlock.ports.channels import (
    AddressGone,
    Callback,
    CallbackReply,
    CutOff,
    NotAuthentic,
    Refused,
    Taker,
    Unchangeable,
    Unreachable,
)

SLACK = "slack"
API = "https://slack.com/api"
# Twice as many of UTF-16's units are as many as a section takes.
ABILITIES = Abilities(edits=True, taps=True, confirms=True, longest_text=1_500)
SIGNED_WITHIN = 300
"""Seconds."""
AT_ONCE = 8
"""So many envelopes of a socket are worked on."""
SOCKET, HTTP = MODES = ("socket", "http")
_SETTINGS = ("team", "app", "mode", "api")
_ID = {"team": re.compile(r"[TE][A-Z0-9]{1,30}\Z"), "app": re.compile(r"A[A-Z0-9]{1,30}\Z")}
_ADDRESS = re.compile(r"(?:([TE][A-Z0-9]{1,30}):)?([UW][A-Z0-9]{1,30})\Z")
_CODE = re.compile(r"[a-z0-9_]{1,60}\Z")
_GONE = frozenset({"channel_not_found", "user_not_found", "user_disabled", "user_not_visible", "is_archived"})
_FIXED = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "is_inactive"})
_SETTLED = (TapOutcome.SETTLED, TapOutcome.ASKED_AGAIN)
_OF_THE_APP = frozenset(
    {
        "account_inactive", "access_denied", "app_missing_action_url", "ekm_access_denied", "fatal_error",
        "internal_error", "invalid_auth", "messages_tab_disabled", "missing_scope", "no_permission", "not_authed",
        "not_allowed_token_type", "org_login_required", "ratelimited", "request_timeout", "service_unavailable",
        "team_access_not_granted", "team_added_to_org", "token_expired", "token_revoked", "two_factor_setup_required",
    }
)  # fmt: skip
"""What no other message would do better with."""

logger = logging.getLogger(__name__)


class SlackKind:
    abilities = ABILITIES
    sends_codes = False

    def __init__(self, hosts: Sequence[str], caller: Caller) -> None:
        self._hosts = tuple(host.lower() for host in hosts)
        self._caller = caller

    @property
    def fields(self) -> Sequence[SettingField]:
        return (
            SettingField("team", required=True),
            SettingField("app", required=True),
            SettingField("mode", "choice", required=True, options=MODES, default=SOCKET),
            SettingField("bot_token", "secret", required=True),
            SettingField("app_token", "secret"),
            SettingField("signing_secret", "secret"),
            SettingField("api"),
        )

    def read_settings(self, given: JsonObject, credentials: Mapping[str, str]) -> JsonObject:
        unknown = sorted(given.keys() - set(_SETTINGS))
        if unknown:
            raise wrong(f"settings.{unknown[0]}", "unknown", f"there is no setting {unknown[0]!r} of slack")
        mode = text_setting(given, "mode", SOCKET)
        if mode not in MODES:
            raise wrong("settings.mode", "unknown", f"mode is one of {', '.join(MODES)}")
        settings: JsonObject = {name: text_setting(given, name) for name in ("team", "app")}
        for name, form in _ID.items():
            if not form.match(str(settings[name])):
                raise wrong(f"settings.{name}", "form", f"{name} is an id such as {name[0].upper()}0123ABCD")
        _check_credentials(mode, credentials)
        return settings | {"mode": mode, "api": read_api(text_setting(given, "api", API), self._hosts)}

    def read_address(self, channel: Channel, text: str) -> str:
        found = _ADDRESS.match(text.strip())
        team = str(channel.settings["team"])
        if found is None or found[1] not in (None, team):
            raise wrong("address", "form", "an address is the member id of somebody of the team, such as U0123ABCD")
        return f"{team}:{found[2]}"

    def open(self, channel: Channel, credentials: Mapping[str, str]) -> "OpenSlack":
        api = str(channel.settings["api"])
        check_api(api, self._hosts)
        team, app = str(channel.settings["team"]), str(channel.settings["app"])
        return OpenSlack(self._caller, self._hosts, api, team, app, str(channel.settings["mode"]), credentials)


def _check_credentials(mode: str, credentials: Mapping[str, str]) -> None:
    second = "app_token" if mode == SOCKET else "signing_secret"
    for name, begins in (("bot_token", "xoxb-"), (second, "xapp-" if mode == SOCKET else "")):
        if not credentials.get(name, "").startswith(begins) or not credentials.get(name):
            said = f", which begins with {begins}" if begins else ""
            raise wrong(f"credentials.{name}", "missing", f"{name} is missing{said}")
    unknown = sorted(credentials.keys() - {"bot_token", second})
    if unknown:
        raise wrong(f"credentials.{unknown[0]}", "unknown", f"mode {mode} has no use for {unknown[0]}")


@dataclass(frozen=True, slots=True)
class OpenSlack:
    caller: Caller
    hosts: Sequence[str]
    api: str
    team: str
    app: str
    mode: str
    credentials: Mapping[str, str]

    @property
    def is_listening(self) -> bool:
        return self.mode == SOCKET

    async def send(self, address: str, message: Message) -> str:
        posted = await self._post({"channel": address.rpartition(":")[2]}, message)
        return f"{posted.get('channel')}:{posted.get('ts')}"

    async def update(self, address: str, ref: str, message: Message) -> None:
        channel, _, ts = ref.partition(":")
        laid_out = {"channel": channel, "ts": ts, "text": fallback(message), "blocks": blocks(message)}
        await self._call("chat.update", laid_out, "bot_token")

    async def close(self) -> None:
        """It has no connection of its own but that of `receive`."""

    async def _post(self, to: JsonObject, message: Message) -> JsonObject:
        quiet = {"unfurl_links": False, "unfurl_media": False, "mrkdwn": False}
        laid_out = {**to, "text": fallback(message), "blocks": blocks(message), **quiet}
        return await self._call("chat.postMessage", laid_out, "bot_token")

    async def _call(self, method: str, given: JsonObject, credential: str) -> JsonObject:
        headers = {
            "authorization": f"Bearer {self.credentials[credential]}",
            "content-type": "application/json; charset=utf-8",
        }
        body = json.dumps(given, ensure_ascii=False).encode()
        try:
            reply = await self.caller.call("POST", f"{self.api}/{method}", body, headers)
        except NotReached as error:
            raise Unreachable(str(error)) from error
        except NoReply as error:
            raise CutOff(str(error)) from error
        return _read(reply, method)

    async def receive(self, taker: Taker) -> None:
        try:
            opened = await self._call("apps.connections.open", {}, "app_token")
        except Refused as error:
            raise Unreachable(str(error)) from error
        async with open_socket(str(opened.get("url", "")), self.hosts) as socket, asyncio.TaskGroup() as group:
            places = asyncio.Semaphore(AT_ONCE)
            try:
                async for text in socket:
                    envelope = _object(text)
                    if envelope.get("type") == "disconnect":
                        return
                    if "envelope_id" in envelope:
                        await places.acquire()
                        working = group.create_task(self._take_envelope(socket, envelope, taker))
                        working.add_done_callback(lambda _: places.release())
            except ConnectionClosed:
                return

    async def _take_envelope(self, socket: ClientConnection, envelope: JsonObject, taker: Taker) -> None:
        """It is acknowledged once it is committed: what is not, Slack sends again."""
        try:
            afterwards = await self._take(_inner(envelope.get("payload")), taker)
            await socket.send(json.dumps({"envelope_id": envelope["envelope_id"]}))
            await _finish(afterwards)
        except ConnectionClosed:
            return
        except Exception:
            logger.exception("what came over a socket of Slack was not taken")

    async def read_callback(self, callback: Callback, taker: Taker) -> CallbackReply:
        self._check(callback)
        payload = _payload(callback)
        if payload.get("type") == "url_verification":
            return CallbackReply(str(payload.get("challenge", "")).encode(), "text/plain")
        afterwards = await self._take(payload, taker)
        return CallbackReply(afterwards=lambda: _finish(afterwards))

    def _check(self, callback: Callback) -> None:
        stamp, given = (callback.headers.get(f"x-slack-{name}", "") for name in ("request-timestamp", "signature"))
        right = signature(self.credentials["signing_secret"], stamp, callback.body)
        if not hmac.compare_digest(right.encode(), given.encode("utf-8", "replace")) or not _is_recent(
            stamp, callback.at
        ):
            raise NotAuthentic("the signature is not that of Slack, or too old")

    async def _take(self, payload: JsonObject, taker: Taker) -> "_Afterword | None":
        """What is still to be said to whoever tapped or wrote, once Slack knows that it arrived."""
        if payload.get("api_app_id") != self.app:
            return None
        if payload.get("type") == "block_actions":
            return await self._take_tap(payload, taker)
        if payload.get("type") == "event_callback":
            return await self._take_words(payload, taker)
        return None

    async def _take_tap(self, payload: JsonObject, taker: Taker) -> "_Afterword | None":
        user, where, given = _inner(payload.get("user")), _inner(payload.get("container")), payload.get("actions")
        action = _inner(cast("list[JsonValue]", given)[0] if isinstance(given, list) and given else None)
        if not action.get("value"):
            # "Open", which is a link.
            return None
        account = f"{user.get('team_id') or _inner(payload.get('team')).get('id')}:{user.get('id')}"
        event_id = f"{account}:{where.get('message_ts')}:{action.get('action_ts')}"
        result = await taker.take_tap(Tap(event_id, account, str(action["value"])))
        # The message itself is changed by whoever ends the request; that takes a moment only.
        if result.outcome in _SETTLED:
            return None
        return _Afterword(self, str(payload.get("response_url", "")), None, result.text)

    async def _take_words(self, payload: JsonObject, taker: Taker) -> "_Afterword | None":
        event = _inner(payload.get("event"))
        is_own = event.get("type") == "message" and event.get("channel_type") == "im"
        if not is_own or event.get("subtype") or event.get("bot_id") or payload.get("team_id") != self.team:
            return None
        team, user = event.get("user_team") or event.get("team") or self.team, str(event.get("user"))
        said = Said(str(payload.get("event_id")), f"{team}:{user}", str(event.get("text") or ""))
        reply = await taker.take_words(said)
        return _Afterword(self, None, str(event.get("channel")), reply) if reply else None

    async def _say(self, afterword: "_Afterword") -> None:
        if afterword.conversation is not None:
            message = Message("", "", afterword.text)
            await self._post({"channel": afterword.conversation}, message)
            return
        host = (urlsplit(afterword.response_url or "").hostname or "").lower()
        if host not in self.hosts:
            logger.warning("%s is not one of the hosts in INTERLOCK_CHANNEL_HOSTS: who tapped is told nothing", host)
            return
        said = {"response_type": "ephemeral", "replace_original": False, "text": afterword.text, "mrkdwn": False}
        headers = {"content-type": "application/json; charset=utf-8"}
        await self.caller.call("POST", str(afterword.response_url), json.dumps(said).encode(), headers)


@dataclass(frozen=True, slots=True)
class _Afterword:
    link: OpenSlack
    response_url: str | None
    conversation: str | None
    text: str


async def _finish(afterword: _Afterword | None) -> None:
    """What is said is a courtesy: nothing hangs on it, and it is not tried again."""
    if afterword is None:
        return
    try:
        await afterword.link._say(afterword)  # pyright: ignore[reportPrivateUsage]
    except (Unreachable, Refused, AddressGone, NotReached, NoReply) as error:
        logger.info("who tapped or wrote in Slack was told nothing: %s", error)


def signature(secret: str, stamp: str, body: bytes) -> str:
    return "v0=" + hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()


def _is_recent(stamp: str, at: datetime) -> bool:
    return stamp.isascii() and stamp.isdigit() and len(stamp) < 12 and abs(at.timestamp() - int(stamp)) <= SIGNED_WITHIN


def _payload(callback: Callback) -> JsonObject:
    if callback.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        fields = parse_qs(callback.body.decode("utf-8", "replace"))
        return _object(fields.get("payload", ["{}"])[0])
    return _object(callback.body)


def _object(text: str | bytes) -> JsonObject:
    try:
        return _inner(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _inner(value: Any) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _read(reply: HttpReply, method: str) -> JsonObject:
    """What Slack answered; its errors by their codes, for what stands beside them may repeat what was sent."""
    if reply.status == 429:
        after = reply.headers.get("retry-after", "")
        raise Unreachable(f"{method}: ratelimited", float(after) if after.isdigit() else None)
    if reply.status >= 500:
        raise Unreachable(f"{method}: Slack answered {reply.status}")
    answer = _object(reply.body)
    if answer.get("ok") is True:
        return answer
    given = str(answer.get("error", ""))
    code = given if _CODE.match(given) else f"status {reply.status}"
    if code in _GONE:
        raise AddressGone(f"{method}: {code}")
    if code in _FIXED:
        raise Unchangeable(f"{method}: {code}")
    raise (Unreachable if code in _OF_THE_APP else Refused)(f"{method}: {code}")
