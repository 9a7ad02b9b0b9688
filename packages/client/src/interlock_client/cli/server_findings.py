"""Of the server, and of the keys for it: is it there, which version, how late is its clock, and whom does it see."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import Any

import httpx

from interlock_client import __version__
from interlock_client.cli._server import load_config
from interlock_client.cli.findings import Finding, fail, ok, warn
from interlock_client.errors import InvalidInput
from interlock_client.hook import settings as hook_settings
from interlock_client.hook.asking import address_of
from interlock_client.hook.call import object_of, optional_text
from interlock_client.hook.settings import Misconfigured

SECONDS = 10.0
APART = 30.0
"""Seconds between two clocks from which on deadlines are misread."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
NEW_AGENT_KEY = "`interlock keys create NAME --user YOU --role agent`, or Settings, Connect an agent"


class Unreachable(Exception):
    """It is no server of ours, or not there; the message says which."""


class Probe:
    """One server, looked at once."""

    def __init__(self, url: str) -> None:
        address_of(url)
        self.url = url.rstrip("/") if "//" in url else f"http://{url}".rstrip("/")
        began = datetime.now(UTC)
        welcome = self._get("/api/v1/welcome")
        self._at = began + (datetime.now(UTC) - began) / 2
        if welcome.status_code != 200 or not _object(welcome).get("server_time"):
            raise Unreachable(f"{self.url} is no server of Interlock (it answered {welcome.status_code})")
        self._welcome = _object(welcome)
        self.has_accounts = self._welcome.get("auth") != "none"

    def _get(self, path: str, key: str = "") -> httpx.Response:
        try:
            headers = {"authorization": f"Bearer {key}"} if key else {}
            return httpx.get(self.url + path, headers=headers, timeout=SECONDS, trust_env=False)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise Unreachable(f"{self.url} cannot be reached ({type(error).__name__}: {error})") from error

    def health(self) -> Iterator[Finding]:
        yield ok("server", f"{self.url} answers")
        if self._get("/readyz").status_code != 200:
            yield fail("server", f"{self.url} is not ready: look at its log")
        yield self._version()
        yield self._clock()
        address = address_of(self.url)
        if address.scheme == "http" and address.hostname not in LOOPBACK:
            yield warn("server", f"keys go to {self.url} without encryption: use https")

    def _version(self) -> Finding:
        told = optional_text(object_of(_object(self._get("/openapi.json")).get("info")) or {}, "version")
        if told.split(".")[:2] == __version__.split(".")[:2]:
            return ok("version", f"{told} there, {__version__} here")
        return warn("version", f"{told or 'unknown'} there, {__version__} here: bring both to the same one")

    def _clock(self) -> Finding:
        try:
            there = datetime.fromisoformat(str(self._welcome["server_time"]))
            apart = (there - self._at).total_seconds()
        except (ValueError, TypeError):
            return warn("clock", f"{self.url} does not tell its time")
        if abs(apart) < APART:
            return ok("clock", "as the server's")
        behind = "behind" if apart > 0 else "ahead of"
        return warn("clock", f"{abs(apart):.0f} s {behind} the server's: set it, or deadlines are misread")

    def who(self, key: str) -> dict[str, Any] | None:
        """Whom it sees in the key; None: nobody."""
        response = self._get("/api/v1/session", key)
        return _object(response) if response.status_code == 200 else None


def _object(response: httpx.Response) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        return object_of(response.json()) or {}
    return {}


@cache
def probe(url: str) -> Probe:
    return Probe(url)


def of_commands(url: str | None, key: str | None) -> Iterator[Finding]:
    """What `inbox`, `answer` and the others have."""
    try:
        config = load_config(url, key, None)
        found = probe(config.url)
    except InvalidInput as error:
        yield fail("settings", error.message)
    except Misconfigured as error:
        yield fail("settings", str(error))
    except Unreachable as error:
        yield fail("server", f"{error}: start it with `interlock serve`, or set INTERLOCK_URL")
    else:
        yield from found.health()
        if config.key and found.has_accounts and config.key != _agents_key():
            yield _of_person(found, config.key)


def _agents_key() -> str:
    try:
        return hook_settings.load().key
    except Misconfigured:
        return ""


def _of_person(found: Probe, key: str) -> Finding:
    try:
        who = found.who(key)
    except Unreachable as error:
        return fail("your key", str(error))
    if who is None:
        return fail("your key", f"{found.url} does not take it: run `interlock login`")
    if who.get("role") == "agent":
        return warn(
            "your key", "it is an agent's, with which nothing can be answered: run `interlock login` to answer here"
        )
    return ok("your key", f"{who.get('username')}, {who.get('role')}")


def of_hooks(url: str | None, key: str | None) -> Iterator[Finding]:
    """What hooks, `watch`, `acp` and `mcp` have."""
    try:
        known = hook_settings.load()
    except Misconfigured as error:
        yield fail("agents' key", str(error))
        return
    yield from of_key("agents' key", url or known.url, key or known.key)


def of_key(about: str, url: str, key: str) -> Iterator[Finding]:
    """A key that an agent has."""
    try:
        found = probe(url)
        who = found.who(key) if key else None
    except (Unreachable, Misconfigured) as error:
        yield fail(about, str(error))
        return
    if not found.has_accounts:
        yield ok(about, f"{found.url} asks for none")
    elif not key:
        yield fail(about, f"there is none for {found.url}: {NEW_AGENT_KEY}, and set INTERLOCK_KEY")
    elif who is None:
        yield fail(about, f"{found.url} does not take it: {NEW_AGENT_KEY}")
    elif who.get("role") != "agent":
        name = who.get("username")
        yield warn(about, f"{name}'s own, with which an agent can answer in their name: {NEW_AGENT_KEY}")
    else:
        yield ok(about, f"of the agent {who.get('username')}")
