"""`interlock-hook install`, `uninstall` and `status`: our entries in an agent's own settings, and nothing else."""

import argparse
import difflib
import os
import shutil
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from interlock_client.hook import json_text
from interlock_client.hook import settings as own
from interlock_client.hook.asking import HITL, Away, Refused, Server
from interlock_client.hook.call import AGENTS, list_of
from interlock_client.hook.installation import PROGRAM, Entry, Installation, Misshapen, merged, ours_in, without_ours
from interlock_client.visible import one_line

SHORTEST_TIMEOUT = 20
AWAY = 12 * 3600


class InstallableHost(Protocol):
    NAME: str
    TIMEOUT: int
    TO_TERMINAL: bool
    """What is done where nothing else is said."""
    BASE: dict[str, Any]
    """What the settings need beside the hooks, where they do not have it."""

    def settings_file(self, *, project: bool) -> Path: ...

    def entries(self, wanted: Installation) -> dict[str, Entry]: ...

    def warnings(self, settings: dict[str, Any], *, every_call: bool) -> list[str]:
        """What in the agent's settings keeps the hook from being asked."""
        ...


class Unusable(Exception):
    """The agent's settings cannot be changed; the message says why."""


def manage(arguments: Sequence[str]) -> int:
    given = _parser().parse_args(arguments)
    try:
        return _ACTS[given.act](given, _host(given.agent))
    except (Unusable, own.Misconfigured) as error:
        print(f"interlock-hook: {one_line(str(error))}", file=sys.stderr)
    except OSError as error:
        print(f"interlock-hook: {one_line(str(error.filename))} cannot be used: {error.strerror}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(PROGRAM, allow_abbrev=False)
    acts = parser.add_subparsers(dest="act", required=True)
    for name, about in _ABOUT.items():
        act = acts.add_parser(name, help=about, description=about, allow_abbrev=False)
        act.add_argument("agent", choices=AGENTS)
        act.add_argument("--project", action="store_true", help="the settings of this folder, not of this person")
        if name != "status":
            act.add_argument("--yes", action="store_true", help="write without asking")
        if name == "install":
            act.add_argument("--mode", choices=("permission", "every-call"), default="permission")
            act.add_argument("--tools", default="", metavar="REGEX", help="which tools are asked about")
            act.add_argument("--timeout", type=int, metavar="SECONDS", help="how long a call may wait for a person")
            act.add_argument("--on-timeout", choices=("deny", "terminal"), help="when nobody has answered")
            act.add_argument("--away", action="store_true", help="nobody is at the terminal: wait for hours, then deny")
            act.add_argument("--defer", action="store_true", help="end the run, and take the answer when it is resumed")
            act.add_argument("--url", default="", help="of the server; kept with the key [default: INTERLOCK_URL]")
            act.add_argument("--key", default="", help="of an agent; arguments can be seen [default: INTERLOCK_KEY]")
    return parser


@dataclass(frozen=True)
class SettingsFile:
    """An agent's settings as they are: the text, and what it says."""

    file: Path
    text: str
    settings: dict[str, Any]
    line_end: str = "\n"

    @classmethod
    def read(cls, file: Path) -> "SettingsFile":
        # What a link leads to is changed, not the link.
        file = file.resolve()
        try:
            written = file.read_bytes().decode()
        except FileNotFoundError:
            return cls(file, "", {})
        except UnicodeDecodeError as error:
            raise Unusable(f"{file} is not UTF-8") from error
        # Of an editor on Windows: lines end as they did.
        has_returns = "\r\n" in written and written.count("\n") == written.count("\r\n")
        text = written.replace("\r\n", "\n") if has_returns else written
        try:
            settings = json_text.read(text)
        except json_text.NotJson as error:
            raise Unusable(f"{file} is not JSON, and was not changed ({error})") from error
        return cls(file, text, settings, "\r\n" if has_returns else "\n")

    def changed(self, settings: dict[str, Any]) -> str:
        """The text of settings that differ in their hooks."""
        if settings == self.settings:
            return self.text
        if json_text.has_comments(self.text, "hooks"):
            raise Unusable(
                f"{self.file} has comments among its hooks, which would be lost: take them out, or edit it by hand"
            )
        text = self.text
        for name in ("version", "hooks"):
            if settings.get(name) != self.settings.get(name):
                text = json_text.changed(text, name, settings.get(name))
        if json_text.read(text) != settings:
            raise Unusable(f"{self.file} cannot be changed without touching more than the hooks: edit it by hand")
        return text

    def difference(self, text: str) -> str:
        before, after = self.text.splitlines(keepends=True), text.splitlines(keepends=True)
        return "".join(difflib.unified_diff(before, after, str(self.file), str(self.file)))

    def write(self, text: str) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(self.file.stat().st_mode) if self.file.exists() else 0o600
        own.write(self.file, text.replace("\n", self.line_end), mode=mode)


def _install(given: argparse.Namespace, host: InstallableHost) -> int:
    timeout = given.timeout or (AWAY if given.away else host.TIMEOUT)
    on_timeout = given.on_timeout or ("terminal" if host.TO_TERMINAL and not given.away else "deny")
    if timeout < SHORTEST_TIMEOUT:
        raise Unusable(f"--timeout must be {SHORTEST_TIMEOUT} seconds or more: the answer comes 10 seconds before it")
    wanted = Installation(
        _program(project=given.project),
        timeout,
        every_call=given.mode == "every-call",
        tools=given.tools,
        to_terminal=on_timeout == "terminal" and given.mode == "permission",
        defers=given.defer,
    )
    if wanted.defers and not (wanted.every_call and given.agent == "claude-code"):
        raise Unusable("--defer is for claude-code, with --mode every-call")
    before = SettingsFile.read(host.settings_file(project=given.project))
    try:
        after = host.BASE | merged(before.settings, host.entries(wanted))
    except Misshapen as error:
        raise Unusable(f"{before.file} was not changed, as {error}: put it right, or take it out") from error
    if not _written(before, after, given):
        return 2
    _keep(given)
    for warning in host.warnings(after, every_call=wanted.every_call):
        print(f"note: {warning}")
    return 0


def _uninstall(given: argparse.Namespace, host: InstallableHost) -> int:
    before = SettingsFile.read(host.settings_file(project=given.project))
    return 0 if _written(before, without_ours(before.settings), given) else 2


def _written(before: SettingsFile, after: dict[str, Any], given: argparse.Namespace) -> bool:
    """Show what would change, and write it when that is wanted."""
    text = before.changed(after)
    if text == before.text:
        print(f"{before.file} stays as it is.")
        return True
    print(before.difference(text), end="")
    if not given.yes and not _agreed():
        print("Nothing was written.", file=sys.stderr)
        return False
    before.write(text)
    print(f"{before.file} is written.")
    return True


def _agreed() -> bool:
    if not sys.stdin.isatty():
        print("To write this without being asked, add --yes.", file=sys.stderr)
        return False
    return input("Write this? [y/N] ").strip().lower() in ("y", "yes")


def _keep(given: argparse.Namespace) -> None:
    """The address and the key, where they were given now: the agent may be started without them."""
    known = own.load()
    url, key = given.url or known.url, given.key or known.key
    if not (given.url or given.key or os.environ.get("INTERLOCK_URL") or os.environ.get("INTERLOCK_KEY")):
        return
    file = own.keep(own.Settings(url, key))
    print(f"The server's address{' and the key are' if key else ' is'} kept in {file}.")


def _status(given: argparse.Namespace, host: InstallableHost) -> int:
    found = SettingsFile.read(host.settings_file(project=given.project))
    ours = {event: handlers for event, handlers in ours_in(found.settings).items() if handlers}
    print(f"{host.NAME}: {found.file}")
    for event, handlers in ours.items():
        for handler in handlers:
            words = [handler.get("command") or handler.get("url"), *list_of(handler.get("args"))]
            print(f"  {event}: {' '.join(map(str, words))}")
    if not ours:
        print(f"  not installed: run `{PROGRAM} install {given.agent}`")
    for warning in host.warnings(found.settings, every_call="PreToolUse" in ours):
        print(f"  note: {warning}")
    reached = _reached()
    print(f"  server: {reached[1]}")
    return 0 if ours and reached[0] else 2


def _reached() -> tuple[bool, str]:
    """Whether a request could be asked now, and why not."""
    known = own.load()
    try:
        Server(known).call("GET", f"{HITL}/pending?limit=1")
    except Refused as error:
        about = "; set INTERLOCK_KEY, or install with --key" if error.status == 401 else ""
        return False, f"{known.url} refuses the key ({error}){about}"
    except Away as error:
        return False, str(error)
    return True, f"{known.url} takes requests"


def _program(*, project: bool) -> str:
    """Of a folder's settings, which others use too, the name; else the file itself, which needs no PATH."""
    found = Path(sys.argv[0]).with_name(PROGRAM)
    if project:
        return PROGRAM
    return str(found.absolute()) if found.exists() else (shutil.which(PROGRAM) or PROGRAM)


def _host(agent: str) -> InstallableHost:
    match agent:
        case "codex":
            from interlock_client.hook import codex as host
        case "gemini":
            from interlock_client.hook import gemini as host
        case "cursor":
            from interlock_client.hook import cursor as host
        case _:
            from interlock_client.hook import claude_code as host
    return host


_ABOUT = {
    "install": "Put the hook into the agent's settings, in place of an earlier one.",
    "uninstall": "Take it out again.",
    "status": "Tell whether it is there, and whether a person could be asked now.",
}
_ACTS = {"install": _install, "uninstall": _uninstall, "status": _status}
