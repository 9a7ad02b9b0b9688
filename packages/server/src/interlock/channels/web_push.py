"""Web Push (RFC 8030), out only: a browser is told through the service of its maker, which cannot read what passes.

The address comes from the browser, so what is posted to is never more than the hosts that the operator named.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import (
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from interlock.channels.push_encryption import CURVE, LONGEST_TEXT, encrypt, point
from interlock.domain.channel import Abilities, Channel, Message, text_setting, wrong
from interlock.domain.errors import Undeliverable
from interlock.domain.json_value import JsonObject
from interlock.domain.setting_field import SettingField
from interlock.domain.subscription import PushHosts, Subscription, encoded
from interlock.ports.channels import AddressGone, CutOff, OutOfReach, Refused, Unreachable
from interlock.ports.clock import Clock
from interlock.ports.webhooks import Poster, Unanswered

WEB_PUSH = "web-push"
ABILITIES = Abilities(edits=False, taps=False, confirms=False, longest_text=600, subscribes=True)
WITHOUT_DEADLINE = timedelta(days=7)
LONGEST_WAIT = timedelta(days=28)
"""Longer no service keeps what a browser does not fetch."""
SIGNED_FOR = timedelta(hours=12)
DOWN_FOR = timedelta(seconds=30)
_GONE = (404, 410)
_BUSY = (429, 503)


class WebPushKind:
    abilities = ABILITIES
    sends_codes = False
    fields = (SettingField("contact"),)

    def __init__(self, hosts: PushHosts, poster: Poster, public_url: str, clock: Clock) -> None:
        self._hosts, self._poster, self._public_url, self._clock = hosts, poster, public_url, clock

    def make_credentials(self) -> dict[str, str]:
        """The key pair that browsers know this server by, for as long as there is the channel."""
        pem = generate_private_key(CURVE).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return {"private_key": pem.decode()}

    def read_settings(self, given: JsonObject, credentials: Mapping[str, str]) -> JsonObject:
        unknown = sorted(given.keys() - {"contact"})
        if unknown:
            raise wrong(f"settings.{unknown[0]}", "unknown", f"there is no setting {unknown[0]!r} of web push")
        settings: JsonObject = {"key": encoded(point(_private_key(credentials).public_key()))}
        if given.get("contact"):
            contact = text_setting(given, "contact")
            if not contact.startswith(("mailto:", "https://")):
                raise wrong("settings.contact", "form", "contact is like mailto:ops@example.com or https://example.com")
            settings["contact"] = contact
        return settings

    def read_address(self, channel: Channel, text: str) -> str:
        subscription = _subscription(text)
        self._check(subscription)
        return subscription.text

    def open(self, channel: Channel, credentials: Mapping[str, str]) -> "OpenWebPush":
        contact = cast("str", channel.settings.get("contact") or self._public_url)
        return OpenWebPush(self._hosts, self._poster, self._clock, contact, _private_key(credentials))

    def _check(self, subscription: Subscription) -> None:
        if not self._hosts.take(subscription):
            raise wrong(
                "endpoint",
                "host",
                f"the push service {subscription.host} is not one of the hosts in INTERLOCK_PUSH_HOSTS: "
                "the operator can add it there",
            )


@dataclass(frozen=True, slots=True)
class OpenWebPush:
    hosts: PushHosts
    poster: Poster
    clock: Clock
    contact: str
    key: EllipticCurvePrivateKey
    down_until: dict[str, datetime] = field(default_factory=dict[str, datetime])
    """Services that were not reached, by their origin: others are not kept waiting by trying them."""

    async def send(self, address: str, message: Message) -> str:
        to, now = _subscription(address), self.clock.now()
        if not self.hosts.take(to):
            raise Refused(f"{to.host} is not one of the hosts in INTERLOCK_PUSH_HOSTS")
        if self.down_until.get(to.origin, now) > now:
            raise OutOfReach(f"{to.host} was not reached a moment ago")
        body = encrypt(compose(message), to.key, to.auth)
        try:
            status = await self.poster.post(to.endpoint, body, self._headers(to, message, now))
        except Unanswered as error:
            self._is_down(to)
            raise CutOff(f"{to.host}: {error.message}") from error
        except Undeliverable as error:
            self._is_down(to)
            raise OutOfReach(f"{to.host}: {error.message}") from error
        self._judge(to, status)
        return message.id

    async def update(self, address: str, ref: str, message: Message) -> None:
        raise NotImplementedError("what was pushed is replaced by another push")

    async def close(self) -> None:
        """Nothing is kept open."""

    def _headers(self, to: Subscription, message: Message, now: datetime) -> dict[str, str]:
        claims = {"aud": to.origin, "exp": int((now + SIGNED_FOR).timestamp()), "sub": self.contact}
        token = jwt.encode(claims, self.key, algorithm="ES256")
        return {
            "authorization": f"vapid t={token}, k={encoded(point(self.key.public_key()))}",
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": str(_seconds_kept(message, now)),
            "topic": _topic(message),
            "urgency": "normal" if message.is_end else "high",
        }

    def _judge(self, to: Subscription, status: int) -> None:
        if 200 <= status < 300:
            self.down_until.pop(to.origin, None)
            return
        reason = f"{to.host} answered {status}"
        if status in _GONE:
            raise AddressGone(reason)
        if status in _BUSY:
            self._is_down(to)
            raise OutOfReach(reason)
        # Of what went wrong behind a service nobody knows whether it was before or after it took the message.
        raise (CutOff if status >= 500 else Refused)(reason)

    def _is_down(self, to: Subscription) -> None:
        now = self.clock.now()
        for other in [name for name, until in self.down_until.items() if until <= now]:
            del self.down_until[other]
        self.down_until[to.origin] = now + DOWN_FOR


def compose(message: Message) -> bytes:
    """What the service worker shows. What is too long for one push loses the call first, and then its last rows."""
    lines = [f"{row.label}: {row.value}" for row in message.rows]
    whole = [*lines, *([message.text] if message.text is not None else []), *message.notes]
    for body in (whole, [*lines, *message.notes], *(lines[:count] for count in range(len(lines), -1, -1))):
        if len(text := _payload(message, "\n".join(body))) <= LONGEST_TEXT:
            return text
    return _payload(message, "")


def _payload(message: Message, body: str) -> bytes:
    content: dict[str, Any] = {"title": message.title, "body": body, "tag": message.about, "end": message.is_end}
    if message.url is not None:
        content["url"] = message.url
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _topic(message: Message) -> str:
    """The same for all that is said of one request, and telling nothing of it: what was not fetched is replaced."""
    return encoded(hashlib.sha256(message.about.encode()).digest())[:32]


def _seconds_kept(message: Message, now: datetime) -> int:
    left = message.until - now if message.until is not None else WITHOUT_DEADLINE
    return int(min(max(left, timedelta()), LONGEST_WAIT).total_seconds())


def _subscription(text: str) -> Subscription:
    try:
        found = Subscription.read(text)
        EllipticCurvePublicKey.from_encoded_point(CURVE, found.key)
    except ValueError as error:
        raise wrong("endpoint", "form", f"this is no subscription of a browser: {error}") from error
    return found


def _private_key(credentials: Mapping[str, str]) -> EllipticCurvePrivateKey:
    if not credentials.get("private_key"):
        raise Unreachable("the channel's key is gone: remove the channel and add it again")
    return cast("EllipticCurvePrivateKey", load_pem_private_key(credentials["private_key"].encode(), None))
