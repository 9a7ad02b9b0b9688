"""`interlock-hook install`, `uninstall` and `status`: our entries in an agent's own settings, and nothing else."""

import argparse
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from interlock_client.hook import settings as own
from interlock_client.hook.asking import HITL, Refused, Server, ServerAway
from interlock_client.hook.call import AGENTS, list_of, object_of
from interlock_client.hook.installation import (
    PROGRAM,
    Entry,
    Installation,
    MalformedHooks,
    merge,
    ours_in,
    without_ours,
)
from interlock_client.hook.settings_file import SettingsFile, UnusableSettings
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

    def settings_files(self, *, project: bool) -> list[Path]:
        """Those in which hooks may be; the first is for those of whom nobody has one yet."""
        ...

    def entries(self, installation: Installation) -> dict[str, Entry]: ...

    def obstacles(self, settings: dict[str, Any], *, every_call: bool) -> list[str]:
        """What keeps the hook from being asked at all."""
        ...

    def warnings(self, settings: dict[str, Any], *, every_call: bool) -> list[str]:
        """What may keep it from being asked, or makes it ask less than a person would think."""
        ...


def manage(arguments: Sequence[str]) -> int:
    given = _parser().parse_args(arguments)
    try:
        return _ACTS[given.act](given, host_of(given.agent))
    except (UnusableSettings, own.Misconfigured) as error:
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


def _install(given: argparse.Namespace, host: InstallableHost) -> int:
    timeout = given.timeout or (AWAY if given.away else host.TIMEOUT)
    on_timeout = given.on_timeout or ("terminal" if host.TO_TERMINAL and not given.away else "deny")
    if timeout < SHORTEST_TIMEOUT:
        raise UnusableSettings(
            f"--timeout must be {SHORTEST_TIMEOUT} seconds or more: the answer comes 10 seconds before it"
        )
    installation = Installation(
        _program(project=given.project),
        timeout,
        every_call=given.mode == "every-call",
        tools=given.tools,
        to_terminal=on_timeout == "terminal" and given.mode == "permission",
        defers=given.defer,
    )
    if installation.defers and not (installation.every_call and given.agent == "claude-code"):
        raise UnusableSettings("--defer is for claude-code, with --mode every-call")
    files = _files(given, host)
    place = _place(files)
    entries = host.entries(installation)
    try:
        after = host.BASE | merge(place.settings, entries)
    except MalformedHooks as error:
        raise UnusableSettings(f"{place.file} was not changed, as {error}: put it right, or take it out") from error
    # In one of them only: a hook in two files asks twice.
    changes = {place: place.text_with(after, entries)} | {
        one: _text_without_ours(one) for one in files if one is not place
    }
    if not _write_changes(changes, given):
        return 2
    _keep(given)
    for note in _notes(host, all_settings(files) | after, every_call=installation.every_call):
        print(f"note: {note}")
    return 0


def _uninstall(given: argparse.Namespace, host: InstallableHost) -> int:
    return 0 if _write_changes({one: _text_without_ours(one) for one in _files(given, host)}, given) else 2


def _files(given: argparse.Namespace, host: InstallableHost) -> list[SettingsFile]:
    return [SettingsFile.read(file) for file in host.settings_files(project=given.project)]


def _place(files: Sequence[SettingsFile]) -> SettingsFile:
    """Where our hooks are, else where others' are, else the first."""
    with_ours = (one for one in files if ours_of(one))
    with_others = (one for one in files if any(map(list_of, (object_of(one.settings.get("hooks")) or {}).values())))
    return next(with_ours, None) or next(with_others, files[0])


def ours_of(file: SettingsFile) -> dict[str, list[Entry]]:
    return {event: handlers for event, handlers in ours_in(file.settings).items() if handlers}


def _text_without_ours(file: SettingsFile) -> str:
    return file.text_with(without_ours(file.settings), {})


def all_settings(files: Sequence[SettingsFile]) -> dict[str, Any]:
    return {name: value for one in files for name, value in one.settings.items()}


def _notes(host: InstallableHost, settings: dict[str, Any], *, every_call: bool) -> list[str]:
    return [
        *host.obstacles(settings, every_call=every_call),
        *host.warnings(settings, every_call=every_call),
    ]


def _write_changes(texts: Mapping[SettingsFile, str], given: argparse.Namespace) -> bool:
    """Show what would change, and write it when that is wanted."""
    changes = {before: text for before, text in texts.items() if text != before.text}
    if not changes:
        print(f"{next(iter(texts)).file} stays as it is.")
        return True
    print("".join(before.difference(text) for before, text in changes.items()), end="")
    if not given.yes and not _ask_to_write():
        print("Nothing was written.", file=sys.stderr)
        return False
    for before, text in changes.items():
        before.write(text)
        print(f"{before.file} is written.")
    return True


def _ask_to_write() -> bool:
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
    files = _files(given, host)
    installed = {one: ours for one in files if (ours := ours_of(one))}
    for one, ours in (installed or {files[0]: dict[str, list[Entry]]()}).items():
        print(f"{host.NAME}: {one.file}")
        for event, handlers in ours.items():
            for handler in handlers:
                words = [handler.get("command") or handler.get("url"), *list_of(handler.get("args"))]
                print(f"  {event}: {' '.join(map(str, words))}")
    if not installed:
        print(f"  not installed: run `{PROGRAM} install {given.agent}`")
    if len(installed) > 1:
        print(
            f"  note: it is in {len(installed)} files, and asks as often: run `{PROGRAM} install {given.agent}` again"
        )
    every_call = any("PreToolUse" in ours for ours in installed.values())
    for note in _notes(host, all_settings(files), every_call=every_call):
        print(f"  note: {note}")
    check = _check_server()
    print(f"  server: {check[1]}")
    return 0 if installed and check[0] else 2


def _check_server() -> tuple[bool, str]:
    """Whether a request could be asked now, and why not."""
    known = own.load()
    try:
        Server(known).call("GET", f"{HITL}/pending?limit=1")
    except Refused as error:
        about = "; set INTERLOCK_KEY, or install with --key" if error.status == 401 else ""
        return False, f"{known.url} refuses the key ({error}){about}"
    except ServerAway as error:
        return False, str(error)
    return True, f"{known.url} takes requests"


def _program(*, project: bool) -> str:
    """Of a folder's settings, which others use too, the name; else the file itself, which needs no PATH."""
    found = Path(sys.argv[0]).with_name(PROGRAM)
    if project:
        return PROGRAM
    return str(found.absolute()) if found.exists() else (shutil.which(PROGRAM) or PROGRAM)


def host_of(agent: str) -> InstallableHost:
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
