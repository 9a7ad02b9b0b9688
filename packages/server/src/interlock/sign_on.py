"""Single sign-on by OpenID Connect: the code flow with PKCE, and what a provider's ID token has to be.

Only the hosts that the operator named are called, over TLS (but for loopback), within limits of time and size, and
without following redirects. Nothing of an ID token is used before all of it has been verified. Why a sign-in failed is
written to the log; tokens, codes and the secret never are.
"""

import asyncio
import base64
import hmac
import json
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit

import httpx
import jwt

from interlock.domain.errors import SignOnFailed
from interlock.domain.sign_on import LONGEST_SUBJECT, MOST_GROUPS, SignOnClaims, groups_of
from interlock.ports.clock import Clock

T = TypeVar("T")

SECONDS = 10.0
MOST_BYTES = 512 * 1024
KEPT = timedelta(hours=1)
"""For so long what the provider says of itself, and its keys, are used without asking again."""
APART = timedelta(seconds=30)
"""Keys are not asked for again sooner, whatever keys tokens name."""
CLOCK_SKEW = timedelta(minutes=1)
OLDEST = timedelta(minutes=15)
"""Since when a token may be made: it was made for an attempt that takes ten minutes at the most."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Of public keys only: with HS256 a public key would pass for a secret."""
_NAMES = ("preferred_username", "email", "name", "nickname")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OidcSettings:
    issuer: str
    client_id: str
    redirect_uri: str
    after_sign_out: str
    """Where the browser comes back to."""
    client_secret: str | None = field(default=None, repr=False)
    name: str = ""
    groups_claim: str = "groups"
    hosts: tuple[str, ...] = ()
    """Beside the issuer's own, where the provider's endpoints are."""


@dataclass(frozen=True, slots=True)
class _Provider:
    """What it says of itself."""

    authorization: str
    token: str
    keys: str
    end_session: str | None
    posts_secret: bool
    sends_issuer: bool
    read_at: datetime


@dataclass(frozen=True, slots=True)
class _Keys:
    keys: Sequence[Mapping[str, Any]]
    read_at: datetime


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class _SharedCall(Generic[T]):
    """One call for all who wait for it: a provider that hangs is not waited for by one after the other."""

    def __init__(self) -> None:
        self._task: asyncio.Task[T] | None = None

    async def get(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._task is None:
            self._task = asyncio.create_task(call())
            self._task.add_done_callback(self._end)
        # Who goes does not take it away from the others.
        return await asyncio.shield(self._task)

    def _end(self, task: asyncio.Task[T]) -> None:
        self._task = None
        if not task.cancelled():
            # Taken note of, also where nobody waits any more.
            task.exception()


class OidcSignOn:
    def __init__(self, settings: OidcSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._hosts = {(urlsplit(settings.issuer).hostname or "").lower(), *settings.hosts}
        self._provider: _Provider | None = None
        self._keys: _Keys | None = None
        self._description_call = _SharedCall[_Provider]()
        self._reading_keys = _SharedCall[_Keys]()
        self._client = httpx.AsyncClient(
            timeout=SECONDS,
            limits=httpx.Limits(max_connections=20),
            follow_redirects=False,
            trust_env=False,
            verify=_trust_store(),
            headers={"user-agent": "interlock", "accept": "application/json", "accept-encoding": "identity"},
        )

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def issuer(self) -> str:
        return self._settings.issuer

    async def close(self) -> None:
        await self._client.aclose()

    async def address(self, state: str, nonce: str, challenge: str) -> str:
        provider = await self._present_provider()
        query = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._settings.redirect_uri,
            "scope": "openid profile email",
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return _with_query(provider.authorization, query)

    async def claims(self, code: str, verifier: str, nonce: str, issuer: str | None) -> SignOnClaims:
        provider = await self._present_provider()
        # A code of another provider, sent here, would be handed to this one.
        if issuer != self.issuer and (issuer is not None or provider.sends_issuer):
            raise _refusal("the code came back from another issuer, or from none")
        reply = await self._redeem(provider, code, verifier)
        token = reply.get("id_token")
        if not isinstance(token, str):
            raise _refusal("the provider sent no ID token")
        return self._read(await self._verify(provider, token), nonce)

    async def end_address(self) -> str | None:
        provider = await self._present_provider()
        if provider.end_session is None:
            return None
        query = {"client_id": self._settings.client_id, "post_logout_redirect_uri": self._settings.after_sign_out}
        return _with_query(provider.end_session, query)

    async def _redeem(self, provider: _Provider, code: str, verifier: str) -> Mapping[str, Any]:
        client_id, secret = self._settings.client_id, self._settings.client_secret
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._settings.redirect_uri,
            "code_verifier": verifier,
        }
        headers: dict[str, str] = {}
        if secret is None:
            form["client_id"] = client_id
        elif provider.posts_secret:
            form |= {"client_id": client_id, "client_secret": secret}
        else:
            pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
            headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return await self._call("POST", provider.token, form, headers)

    async def _verify(self, provider: _Provider, token: str) -> Mapping[str, Any]:
        try:
            header: Mapping[str, Any] = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            if algorithm not in ALGORITHMS:
                raise _refusal("the ID token is signed in a way that is not taken")
            key = await self._key(provider, algorithm, header.get("kid"))
            return jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._settings.client_id,
                issuer=self._settings.issuer,
                # The server's own clock is injected, so the times are compared here.
                options={
                    "require": ["iss", "sub", "aud", "exp", "iat", "nonce"],
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                    "enforce_minimum_key_length": True,
                },
            )
        except (jwt.PyJWTError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise _refusal(f"the ID token does not hold: {type(error).__name__}") from None

    def _read(self, claims: Mapping[str, Any], nonce: str) -> SignOnClaims:
        self._check_times(claims)
        if not hmac.compare_digest(str(claims["nonce"]).encode("utf-8", "replace"), nonce.encode()):
            raise _refusal("the ID token was made for another attempt: its nonce differs")
        audience: Any = claims["aud"]
        is_shared = isinstance(audience, list) and len(cast("list[Any]", audience)) > 1
        if claims.get("azp", None if is_shared else self._settings.client_id) != self._settings.client_id:
            raise _refusal("the ID token was made for another client: azp is not this one's")
        subject = claims["sub"]
        is_text = isinstance(subject, str) and subject.isascii() and subject.isprintable()
        if not is_text or not 0 < len(subject) <= LONGEST_SUBJECT:
            raise _refusal("the subject of the ID token cannot be taken")
        names = tuple(name for one in _NAMES if isinstance(name := claims.get(one), str) and name.strip())
        groups = self._groups(claims)
        if groups is None:
            logger.warning(
                "single sign-on: the provider left out the groups of %s, who has too many; no group and no role "
                "follows from them. Have it send fewer: in Microsoft Entra, Token configuration, Groups claim, "
                "'Groups assigned to the application', or app roles with INTERLOCK_OIDC_GROUPS_CLAIM=roles",
                subject,
            )
        return SignOnClaims(self.issuer, subject, names, groups or (), groups is None)

    def _groups(self, claims: Mapping[str, Any]) -> tuple[str, ...] | None:
        """None where there are more than the provider sends, or than are taken."""
        name = self._settings.groups_claim
        elsewhere: Any = claims.get("_claim_names")
        is_elsewhere = isinstance(elsewhere, dict) and name in elsewhere
        if is_elsewhere or (claims.get("hasgroups") not in (None, False, "false") and name == "groups"):
            return None
        groups = groups_of(claims.get(name))
        if groups is None:
            logger.warning("single sign-on: more than %d groups came in the claim %r", MOST_GROUPS, name)
        return groups

    def _check_times(self, claims: Mapping[str, Any]) -> None:
        now, skew = self._clock.now().timestamp(), CLOCK_SKEW.total_seconds()
        expires, issued, begins = (claims.get(name, 0) for name in ("exp", "iat", "nbf"))
        for one in (expires, issued, begins):
            # A truth value is a number too, and what is no number compares with nothing.
            if isinstance(one, bool) or not isinstance(one, int | float) or one != one:
                raise _refusal("a time in the ID token is no number")
        if now - skew >= expires:
            raise _refusal("the ID token has expired; is this server's clock right?")
        if issued > now + skew or begins > now + skew or issued < now - OLDEST.total_seconds():
            raise _refusal("the ID token is of another time; is this server's clock right?")

    async def _present_provider(self) -> _Provider:
        if self._provider is None or self._clock.now() - self._provider.read_at > KEPT:
            self._provider = await self._description_call.get(self._describe)
        return self._provider

    async def _describe(self) -> _Provider:
        path = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        return self._read_provider(await self._call("GET", path))

    def _read_provider(self, given: Mapping[str, Any]) -> _Provider:
        if given.get("issuer") != self.issuer:
            raise _refusal("the provider calls itself another issuer than INTERLOCK_OIDC_ISSUER: write it exactly so")
        places = {name: given.get(name) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
        ends: Any = given.get("end_session_endpoint")
        for name, place in (*places.items(), *([("end_session_endpoint", ends)] if ends else [])):
            self._check_place(name, place)
        methods_given: Any = given.get("token_endpoint_auth_methods_supported")
        methods = cast("list[Any]", methods_given) if isinstance(methods_given, list) else ["client_secret_basic"]
        return _Provider(
            cast("str", places["authorization_endpoint"]),
            cast("str", places["token_endpoint"]),
            cast("str", places["jwks_uri"]),
            ends or None,
            posts_secret="client_secret_basic" not in methods and "client_secret_post" in methods,
            sends_issuer=given.get("authorization_response_iss_parameter_supported") is True,
            read_at=self._clock.now(),
        )

    def _check_place(self, name: str, place: object) -> None:
        try:
            parts = urlsplit(place) if isinstance(place, str) else urlsplit("")
            host, _ = (parts.hostname or "").lower(), parts.port
        except ValueError:
            raise _refusal(f"the provider's {name} cannot be read") from None
        is_open = parts.scheme == "http" and is_loopback(host)
        if host not in self._hosts:
            raise _refusal(f"the provider's {name} is on the host {host!r}: name it in INTERLOCK_OIDC_HOSTS")
        if (parts.scheme != "https" and not is_open) or parts.username is not None or parts.fragment:
            raise _refusal(f"the provider's {name} is no address with https")

    async def _key(self, provider: _Provider, algorithm: str, kid: object) -> jwt.PyJWK:
        now = self._clock.now()
        if self._keys is None or now - self._keys.read_at > KEPT:
            self._keys = await self._reading_keys.get(lambda: self._read_keys(provider))
        found = _select_keys(self._keys.keys, algorithm, kid)
        if not found and now - self._keys.read_at > APART:
            self._keys = await self._reading_keys.get(lambda: self._read_keys(provider))
            found = _select_keys(self._keys.keys, algorithm, kid)
        if len(found) != 1:
            raise _refusal("the ID token names no key of the provider")
        return jwt.PyJWK(dict(found[0]), algorithm=algorithm)

    async def _read_keys(self, provider: _Provider) -> _Keys:
        given: Any = (await self._call("GET", provider.keys)).get("keys")
        if not isinstance(given, list):
            raise _refusal("the provider sent no keys")
        keys = [cast("Mapping[str, Any]", one) for one in cast("list[Any]", given) if isinstance(one, dict)]
        return _Keys(keys, self._clock.now())

    async def _call(
        self, method: str, url: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        try:
            async with (
                asyncio.timeout(SECONDS),
                self._client.stream(method, url, data=form, headers=dict(headers or {})) as response,
            ):
                body = await _read_body(response)
        except TimeoutError:
            raise _unreachable(url, f"no response within {SECONDS:g} seconds") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # Of some errors the text holds what the provider sent; the kind of it tells enough.
            raise _unreachable(url, type(error).__name__) from None
        try:
            read: Any = json.loads(body)
        except (ValueError, RecursionError):
            read = None
        given: Mapping[str, Any] = cast("Mapping[str, Any]", read) if isinstance(read, dict) else {}
        if 400 <= response.status_code < 500 and form is not None:
            raise _refusal(f"the provider did not take the code: {_plain(given.get('error'))}")
        if response.status_code != 200 or not given:
            raise _unreachable(url, f"status {response.status_code}, and no JSON object with 200")
        return given


async def _read_body(response: httpx.Response) -> bytes:
    body = b""
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MOST_BYTES:
            raise httpx.DecodingError("too long")
    return body


def _select_keys(keys: Sequence[Mapping[str, Any]], algorithm: str, kid: object) -> list[Mapping[str, Any]]:
    kind = {"R": "RSA", "P": "RSA", "E": "EC"}[algorithm[0]] if algorithm != "EdDSA" else "OKP"
    return [
        key
        for key in keys
        if key.get("kty") == kind
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (kid is None or key.get("kid") == kid)
    ]


def _with_query(address: str, query: Mapping[str, str]) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"


def _plain(text: object) -> str:
    """A word of a provider's, for the log."""
    is_word = isinstance(text, str) and text.isascii() and text.replace("_", "").isalnum()
    return cast("str", text)[:64] if is_word else "no word of why"


def _refusal(why: str) -> SignOnFailed:
    logger.warning("single sign-on failed: %s", why)
    return SignOnFailed("what the provider of single sign-on sent cannot be taken; the server's log says why")


def _unreachable(url: str, why: str) -> SignOnFailed:
    logger.warning("single sign-on failed: %s: %s", url.partition("?")[0], why)
    return SignOnFailed("the provider of single sign-on does not respond; the server's log says more", "unreachable")


def _trust_store() -> Any:
    """The public authorities, and those that the operator added to the machine's own."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context
