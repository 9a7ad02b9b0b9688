"""What `interlock doctor` finds.

Of the server, and of the keys for it: is it there, which version, how late is its clock, and whom does it see. Of the
coding agents on this machine: are their hooks there, can they work, and with which keys do they use MCP.
"""

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Literal

import httpx

from interlock_client import __version__
from interlock_client.cli._server import load_config
from interlock_client.cli.config import variables
from interlock_client.errors import InvalidInput
from interlock_client.hook import codex, gemini
from interlock_client.hook import settings as hook_settings
from interlock_client.hook.asking import address_of
from interlock_client.hook.call import AGENTS, list_of, object_of, optional_text
from interlock_client.hook.installation import PROGRAM, Entry
from interlock_client.hook.installing import InstallableHost, all_settings, host_of, ours_of
from interlock_client.hook.settings import Misconfigured
from interlock_client.hook.settings_file import SettingsFile, UnusableSettings

SECONDS = 10.0
APART = 30.0
"""Seconds between two clocks from which on deadlines are misread."""
PROGRAMS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini", "cursor": "cursor"}
LOOPBACK = ("127.0.0.1", "::1", "localhost")
NEW_AGENT_KEY = "`interlock keys create NAME --user YOU --role agent`, or Settings, Connect an agent"


@dataclass(frozen=True, slots=True)
class Finding:
    level: Literal["ok", "warn", "fail"]
    about: str
    text: str
    """With what to do, where something is to be done."""


def ok(about: str, text: str) -> Finding:
    return Finding("ok", about, text)


def warn(about: str, text: str) -> Finding:
    return Finding("warn", about, text)


def fail(about: str, text: str) -> Finding:
    return Finding("fail", about, text)


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
        version = optional_text(object_of(_object(self._get("/openapi.json")).get("info")) or {}, "version")
        if version.split(".")[:2] == __version__.split(".")[:2]:
            return ok("version", f"{version} there, {__version__} here")
        return warn("version", f"{version or 'unknown'} there, {__version__} here: bring both to the same one")

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


def of_agents(*, project: bool) -> Iterator[Finding]:
    """Of each that is found here."""
    for agent in AGENTS:
        host = host_of(agent)
        paths = host.settings_files(project=project)
        if not shutil.which(PROGRAMS[agent]) and not any(path.parent.is_dir() for path in paths):
            continue
        try:
            files = [SettingsFile.read(path) for path in paths]
        except (UnusableSettings, OSError) as error:
            yield fail(host.NAME, str(error))
            continue
        yield from _of_agent(agent, host, files, project=project)


def _of_agent(agent: str, host: InstallableHost, files: list[SettingsFile], *, project: bool) -> Iterator[Finding]:
    installed = [(one.file, event, entry) for one in files for event, found in ours_of(one).items() for entry in found]
    install = f"`{PROGRAM} install {agent}{' --project' if project else ''}`"
    if not installed:
        yield warn(host.NAME, f"its hook is not installed: {install}")
        return
    every_call = any(event == "PreToolUse" for _, event, _ in installed)
    places = dict.fromkeys(str(file) for file, _, _ in installed)
    wrong = [text for _, _, entry in installed for text in _wrong_with(agent, entry)]
    wrong = [f"{text}: {install}" for text in dict.fromkeys(wrong)]
    if len(places) > 1:
        wrong.append(f"its hook is in {len(places)} files, and asks as often: {install}")
    wrong += host.obstacles(all_settings(files), every_call=every_call)
    for text in wrong:
        yield fail(host.NAME, text)
    if not wrong:
        yield ok(host.NAME, f"its hook is in {', '.join(places)}")
    for text in host.warnings(all_settings(files), every_call=every_call):
        yield warn(host.NAME, text)


def _wrong_with(agent: str, entry: Entry) -> Iterator[str]:
    if "url" in entry:
        return
    try:
        words = [*shlex.split(str(entry.get("command"))), *map(str, list_of(entry.get("args")))]
    except ValueError:
        words = []
    if not words or not shutil.which(words[0]):
        yield f"{words[0] if words else 'its command'} cannot be started"
    given = entry.get("timeout")
    waits = words[words.index("--timeout") + 1 :][:1] if "--timeout" in words else []
    seconds = given / (1000 if agent == "gemini" else 1) if isinstance(given, int | float) else None
    if seconds is not None and any(one.isdecimal() and seconds < int(one) for one in waits):
        yield f"it is given {seconds:g} s, and waits for {waits[0]}, after which the call may have gone ahead"


def of_mcp_entries(*, project: bool) -> Iterator[Finding]:
    """Of what hosts have for our MCP endpoint: whoever reads their settings has the key."""
    for path, names in _mcp_files(project=project):
        try:
            settings = SettingsFile.read(path).settings
        except (UnusableSettings, OSError) as error:
            yield warn("MCP", str(error))
            continue
        for name, entry in _entries(settings, names):
            if known := _key_of(name, entry):
                yield from _of_entry(f"MCP entry {name} in {path}", *known, project=project)


def _of_entry(about: str, url: str, key: str, *, project: bool) -> Iterator[Finding]:
    """A folder's settings may be anybody's, who would be told whatever variable they name."""
    try:
        own = hook_settings.load(variables()).url
    except hook_settings.Misconfigured:
        own = ""
    if project and url.rstrip("/") != own.rstrip("/"):
        yield warn(about, f"it leads to {url}, which is not your server ({own or 'none'}): nothing was sent there")
    else:
        yield from of_key(about, url, key)


def _mcp_files(*, project: bool) -> list[tuple[Path, str]]:
    home = Path() if project else Path.home()
    files = [
        (home / (".mcp.json" if project else ".claude.json"), "mcpServers"),
        *((path, "mcpServers") for path in gemini.settings_files(project=project)),
        (home / ".cursor" / "mcp.json", "mcpServers"),
        *((path, "mcp_servers") for path in codex.settings_files(project=project) if path.suffix == ".toml"),
    ]
    return [(path, names) for path, names in files if path.exists()]


def _entries(settings: Mapping[str, Any], names: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    projects = (object_of(settings.get("projects")) or {}).values() if names == "mcpServers" else ()
    for table in (settings, *(one for one in map(object_of, projects) if one is not None)):
        for name, entry in (object_of(table.get(names)) or {}).items():
            if (read := object_of(entry)) is not None:
                yield name, read


def _key_of(name: str, entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """The address and the key that it has, where it is one of ours: nobody else's server is called."""
    given = {name: str(value) for name, value in (object_of(entry.get("env")) or {}).items()}
    try:
        known = hook_settings.load({**variables(), **given})
    except hook_settings.Misconfigured:
        return None
    if not (url := optional_text(entry, "url") or optional_text(entry, "httpUrl")):
        return (known.url, known.key) if PurePath(optional_text(entry, "command")).stem == "interlock" else None
    before, is_mcp, _ = url.partition("/mcp")
    if not is_mcp or ("interlock" not in name.lower() and before != known.url.rstrip("/")):
        return None
    headers = {**(object_of(entry.get("headers")) or {}), **(object_of(entry.get("http_headers")) or {})}
    value = next((str(text) for name, text in headers.items() if name.lower() == "authorization"), "")
    variable = optional_text(entry, "bearer_token_env_var")
    key = variables().get(variable, "") if variable else os.path.expandvars(value.removeprefix("Bearer ").strip())
    return before, key
