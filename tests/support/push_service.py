"""A push service on loopback, as the makers of browsers run them, and the browsers behind it.

What arrives is checked and opened here by code of its own: RFC 8291 with HMAC alone, and the signature of RFC 8292.
"""

import base64
import hashlib
import hmac
import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self, cast

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.support.certificate import context_for
from tests.support.waiting import wait_for

CURVE = ec.SECP256R1()
HOST = "localhost"


def spelled(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unspelled(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def public(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


@dataclass
class Browser:
    """One subscription: its address, and the keys that only the browser has."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(CURVE))
    auth: bytes = b"sixteen bytes..."

    @property
    def subscription(self) -> dict[str, Any]:
        return {"endpoint": self.endpoint, "keys": {"p256dh": spelled(public(self.key)), "auth": spelled(self.auth)}}

    def opens(self, body: bytes) -> bytes:
        """What the browser shows its worker; an error where it is not for this one."""
        assert len(body) <= 4096
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        assert (length, len(sealed) <= size) == (65, True)
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender))
        first = _mac(_mac(self.auth, shared), b"WebPush: info\x00" + public(self.key) + sender + b"\x01")
        second = _mac(salt, first)
        content = _mac(second, b"Content-Encoding: aes128gcm\x00\x01")[:16]
        nonce = _mac(second, b"Content-Encoding: nonce\x00\x01")[:12]
        text, last = AESGCM(content).decrypt(nonce, sealed, None).rstrip(b"\x00"), b"\x02"
        assert text.endswith(last)
        return text[:-1]


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()


@dataclass
class Push:
    """One that was posted, as the service sees it."""

    path: str
    headers: dict[str, str]
    body: bytes
    status: int = 0
    """What was answered."""

    def signed(self, origin: str) -> tuple[str, dict[str, Any]]:
        """By which key, and the claims; an error where the signature is another one's or for another service."""
        given = self.headers["authorization"].removeprefix("vapid ")
        parts = dict(cast("tuple[str, str]", one.strip().split("=", 1)) for one in given.split(","))
        header, claims, signature = parts["t"].split(".")
        raw = unspelled(signature)
        pair = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, unspelled(parts["k"]))
        key.verify(pair, f"{header}.{claims}".encode(), ec.ECDSA(SHA256()))
        assert json.loads(unspelled(header))["alg"] == "ES256"
        told: dict[str, Any] = json.loads(unspelled(claims))
        assert told["aud"] == origin
        return parts["k"], told


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    service: "PushService"

    def handle_error(self, request: Any, client_address: Any) -> None: ...


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        service = cast("_Server", self.server).service
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        status = service.take(Push(self.path, headers, body))
        if status:
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

    def log_message(self, format: str, *args: Any) -> None: ...


@dataclass
class PushService:
    """Answers 201, or what `answers` say for an address; 0 is none at all. Certificate in `folder`."""

    folder: Path
    pushes: list[Push] = field(default_factory=list[Push])
    answers: dict[str, int] = field(default_factory=dict[str, int])
    failures: list[int] = field(default_factory=list[int])
    """In turn, whatever is posted to."""
    browsers: dict[str, Browser] = field(default_factory=dict[str, Browser])
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _server: _Server | None = None

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.service = self
        context: ssl.SSLContext = context_for(HOST, self.folder)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server
        self._server.shutdown()
        self._server.server_close()

    @property
    def origin(self) -> str:
        assert self._server
        return f"https://{HOST}:{self._server.server_address[1]}"

    @property
    def environment(self) -> dict[str, str]:
        """Of a server that may push there."""
        return {"INTERLOCK_PUSH_HOSTS": HOST, "SSL_CERT_FILE": str(self.folder / "certificate.pem")}

    def browser(self) -> Browser:
        path = f"/push/{len(self.browsers)}"
        self.browsers[path] = Browser(f"{self.origin}{path}")
        return self.browsers[path]

    def take(self, push: Push) -> int:
        """What a push service would refuse is refused."""
        push.status = self._judge(push)
        with self._lock:
            self.pushes.append(push)
        return push.status

    def _judge(self, push: Push) -> int:
        if self.failures:
            return self.failures.pop(0)
        status = self.answers.get(push.path, 201)
        if status == 201 and push.path not in self.browsers:
            return 404
        needed = ("ttl", "topic", "authorization")
        is_right = all(push.headers.get(name) for name in needed) and push.headers["content-encoding"] == "aes128gcm"
        return status if is_right else 400

    def to(self, browser: Browser) -> list[Push]:
        path = browser.endpoint.removeprefix(self.origin)
        with self._lock:
            return [push for push in self.pushes if push.path == path]

    def waits(self, browser: Browser, is_right: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """What the browser was shown, once that is right."""
        return wait_for(lambda: [json.loads(browser.opens(one.body)) for one in self.to(browser)], is_right)
