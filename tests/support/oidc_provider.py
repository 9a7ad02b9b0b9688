"""A provider of single sign-on on loopback. It checks every field as a strict one does, and misbehaves when told to."""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CLIENT_ID = "interlock-tests"
CLIENT_SECRET = "s3cret: of/the client"
_KEYS = [rsa.generate_private_key(65537, 2048) for _ in range(2)]
"""Made once: it takes a while."""

Claims = dict[str, Any]


@dataclass
class Misbehaviour:
    """What it does wrong from now on; nothing, unless it is said."""

    claims: Claims = field(default_factory=dict[str, Any])
    """Instead of the right ones in the ID token; None leaves one out."""
    algorithm: str = "RS256"
    issuer: str | None = None
    """In its description."""
    places: dict[str, Any] = field(default_factory=dict[str, Any])
    """Instead of the right ones in its description."""
    kid: str | None = None
    redirects_to: str | None = None
    """For its description."""
    is_huge: bool = False
    is_slow: bool = False
    """Answers nothing until it behaves again."""
    is_lax: bool = False
    """Takes each code any number of times."""
    error: str | None = None
    """Comes back instead of a code."""
    sends_issuer: bool = False


@dataclass(frozen=True)
class _Code:
    redirect_uri: str
    challenge: str
    nonce: str
    person: Claims


class OidcProvider:
    """Who signs in next is `person`; each is a subject with claims."""

    def __init__(self) -> None:
        self.person: Claims = {"sub": "ann-1", "preferred_username": "ann"}
        self.wrong = Misbehaviour()
        self.redirect_uris: set[str] = set()
        self.calls: list[str] = []
        self.key = 0
        self._answering = threading.Event()
        self._answering.set()
        self._codes: dict[str, _Code] = {}
        self._used: set[str] = set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}/realm"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._answering.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def environment(self, public_url: str, **more: str) -> dict[str, str]:
        self.redirect_uris.add(f"{public_url}/login/return")
        return {
            "INTERLOCK_OIDC_ISSUER": self.issuer,
            "INTERLOCK_OIDC_CLIENT_ID": CLIENT_ID,
            "INTERLOCK_OIDC_CLIENT_SECRET": CLIENT_SECRET,
            "INTERLOCK_OIDC_NAME": "Test House",
            "INTERLOCK_PUBLIC_URL": public_url,
            **more,
        }

    def behave(self) -> None:
        self.wrong = Misbehaviour()
        self._answering.set()

    def misbehave(self, wrong: Misbehaviour) -> None:
        self.wrong = wrong
        if wrong.is_slow:
            self._answering.clear()

    def wait(self) -> None:
        self._answering.wait(60)

    def rotate(self) -> None:
        self.key = 1 - self.key

    def authorize(self, address: str) -> dict[str, str]:
        """What comes back to the client for who is sent to this address: the browser's part of it."""
        query = {name: one for name, (one,) in parse_qs(urlsplit(address).query, strict_parsing=True).items()}
        assert address.startswith(f"{self.issuer}/authorize?")
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT_ID
        assert query["redirect_uri"] in self.redirect_uris
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        assert min(len(query[one]) for one in ("state", "nonce", "code_challenge")) >= 43
        back = {"state": query["state"]}
        if self.wrong.sends_issuer:
            back["iss"] = self.issuer
        if self.wrong.error:
            return back | {"error": self.wrong.error}
        code = secrets.token_urlsafe(16)
        self._codes[code] = _Code(query["redirect_uri"], query["code_challenge"], query["nonce"], dict(self.person))
        return back | {"code": code}

    def description(self) -> Claims:
        return {
            "issuer": self.wrong.issuer or self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "end_session_endpoint": f"{self.issuer}/end",
            "authorization_response_iss_parameter_supported": self.wrong.sends_issuer,
            **self.wrong.places,
        }

    def keys(self) -> Claims:
        algorithm = jwt.get_algorithm_by_name("RS256")
        public: Claims = algorithm.to_jwk(_KEYS[self.key].public_key(), as_dict=True)
        return {"keys": [{**public, "kid": f"key-{self.key}", "use": "sig", "alg": "RS256", "key_ops": ["verify"]}]}

    def redeem(self, form: dict[str, str], authorization: str) -> Claims | str:
        pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        if [unquote(one) for one in pair.split(":")] != [CLIENT_ID, CLIENT_SECRET]:
            return "invalid_client"
        code = form.get("code", "")
        known = self._codes.get(code)
        if known is None or (code in self._used and not self.wrong.is_lax):
            return "invalid_grant"
        self._used.add(code)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        is_right = base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == known.challenge
        if not is_right or form.get("redirect_uri") != known.redirect_uri:
            return "invalid_grant"
        if form.get("grant_type") != "authorization_code":
            return "unsupported_grant_type"
        return {"access_token": "unused", "token_type": "Bearer", "id_token": self._id_token(known)}

    def _id_token(self, code: _Code) -> str:
        now = int(time.time())
        right = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": code.nonce, **code.person}
        claims = {name: value for name, value in {**right, **self.wrong.claims}.items() if value is not None}
        key: Any = _KEYS[self.key]
        headers = {"kid": self.wrong.kid or f"key-{self.key}"}
        if self.wrong.algorithm == "none":
            return jwt.encode(claims, "", algorithm="none", headers=headers)
        if self.wrong.algorithm == "HS256":
            return _signed_with(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), claims)
        return jwt.encode(claims, key, algorithm=self.wrong.algorithm, headers=headers)


class _Handler(BaseHTTPRequestHandler):
    provider: OidcProvider

    def do_GET(self) -> None:
        self.provider.calls.append(urlsplit(self.path).path)
        if self.path.endswith("/openid-configuration"):
            self.provider.wait()
            if self.provider.wrong.redirects_to:
                return self._redirect(self.provider.wrong.redirects_to)
            padding = {"padding": "x" * 1024 * 1024} if self.provider.wrong.is_huge else {}
            return self._json(200, self.provider.description() | padding)
        if self.path.startswith("/realm/keys"):
            return self._json(200, self.provider.keys())
        if self.path.startswith("/realm/authorize"):
            back = self.provider.authorize(f"{self.provider.issuer.removesuffix('/realm')}{self.path}")
            (target,) = parse_qs(urlsplit(self.path).query)["redirect_uri"]
            return self._redirect(f"{target}?{urlencode(back)}")
        if self.path.startswith("/realm/end"):
            (target,) = parse_qs(urlsplit(self.path).query)["post_logout_redirect_uri"]
            return self._redirect(target)
        return self._json(404, {"error": "not_found"})

    def do_POST(self) -> None:
        self.provider.calls.append(urlsplit(self.path).path)
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        form = {name: one for name, (one,) in parse_qs(body).items()}
        reply = self.provider.redeem(form, self.headers.get("authorization", ""))
        self._json(400, {"error": reply}) if isinstance(reply, str) else self._json(200, reply)

    def _json(self, status: int, value: Claims) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        # Who asked may have gone.
        with suppress(OSError):
            self.end_headers()
            self.wfile.write(body)

    def _redirect(self, target: str) -> None:
        self.send_response(302)
        self.send_header("location", target)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None: ...


def _signed_with(public_key: bytes, claims: Claims) -> str:
    """With the public key as if it were a secret, which no library does any more."""

    def part(value: Claims) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    signed = part({"alg": "HS256", "typ": "JWT", "kid": "key-0"}) + b"." + part(claims)
    signature = base64.urlsafe_b64encode(hmac.digest(public_key, signed, "sha256")).rstrip(b"=")
    return (signed + b"." + signature).decode()
