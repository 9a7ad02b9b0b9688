"""Of the coding agents on this machine: are their hooks there, can they work, and with which keys do they use MCP."""

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from interlock_client.cli.config import variables
from interlock_client.cli.findings import Finding, fail, ok, warn
from interlock_client.cli.server_findings import of_key
from interlock_client.hook import codex
from interlock_client.hook import settings as hook_settings
from interlock_client.hook.call import AGENTS, list_of, object_of, optional_text
from interlock_client.hook.installation import PROGRAM, Entry
from interlock_client.hook.installing import InstallableHost, all_settings, host_of, ours_of
from interlock_client.hook.settings_file import SettingsFile, UnusableSettings

PROGRAMS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini", "cursor": "cursor"}


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
        (home / ".gemini" / "settings.json", "mcpServers"),
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
