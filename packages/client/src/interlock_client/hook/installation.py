"""What an installation writes into an agent's settings, and how ours is told from what others put there."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from interlock_client.hook.call import list_of, object_of

Entry = dict[str, Any]
PROGRAM = "interlock-hook"


class Installation(NamedTuple):
    """What a person wants installed."""

    program: str
    timeout: int
    every_call: bool = False
    tools: str = ""
    """A pattern of the tools that are asked about; the agent's own way of matching."""
    to_terminal: bool = False
    defers: bool = False


def shell_entry(installation: Installation, agent: str) -> Entry:
    """A command line. Where not even the hook can be started, it ends as a refusal does, and not with 1 or 127."""
    from shlex import quote

    return {
        "type": "command",
        "command": f"{quote(installation.program)} {agent} {' '.join(wait_options(installation))} || exit 2",
    }


def wait_options(installation: Installation) -> list[str]:
    options = ["--timeout", f"{installation.timeout}"]
    options += ["--on-timeout", "terminal"] if installation.to_terminal else []
    return options + (["--defer"] if installation.defers else [])


def hook_entry(program: str, agent: str, options: Sequence[str]) -> Entry:
    """A command without a shell."""
    return {"type": "command", "command": program, "args": [agent, *options]}


class MalformedHooks(Exception):
    """Something stands where hooks should: it would be lost."""


def merge(settings: Mapping[str, Any], entries: Mapping[str, Entry]) -> dict[str, Any]:
    """The settings with our entries in place of those that were there before, and everything else as it is."""
    cleaned = without_ours(settings)
    if cleaned.get("hooks") is not None and object_of(cleaned["hooks"]) is None:
        raise MalformedHooks("hooks is not an object")
    hooks = dict(object_of(cleaned.get("hooks")) or {})
    before = object_of(settings.get("hooks")) or {}
    for event, entry in entries.items():
        if not isinstance(hooks.get(event, []), list):
            raise MalformedHooks(f"{event} among its hooks is not a list")
        # Where it was: agents may know the others by their places.
        groups = list_of(before.get(event))
        place = next((at for at, one in enumerate(groups) if is_all_ours(one)), len(groups))
        others = list_of(hooks.get(event))
        hooks[event] = [*others[:place], entry, *others[place:]]
    return {**cleaned, "hooks": hooks}


def without_ours(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without our entries, and without what is empty then."""
    hooks = object_of(settings.get("hooks"))
    if hooks is None or not any(ours_in(settings).values()):
        return dict(settings)
    events: dict[str, Any] = {}
    for event, groups in hooks.items():
        others = [_without_ours(one) for one in list_of(groups) if not is_all_ours(one)]
        if others or not list_of(groups):
            events[event] = others if isinstance(groups, list) else groups
    if events:
        return {**settings, "hooks": events}
    return {name: value for name, value in settings.items() if name != "hooks"}


def ours_in(settings: Mapping[str, Any]) -> dict[str, list[Entry]]:
    """Our handlers, by event."""
    hooks = object_of(settings.get("hooks")) or {}
    return {
        event: [one for group in list_of(groups) for one in _handlers(group) if is_ours(one)]
        for event, groups in hooks.items()
    }


def is_ours(handler: Entry) -> bool:
    command, url = handler.get("command"), handler.get("url")
    if isinstance(url, str):
        return "/api/v1/hooks/" in url
    words = _words(command) + list_of(handler.get("args"))
    name = PurePath(str(words[0])).stem if words else ""
    return name == PROGRAM or (name == "interlock" and words[1:2] == ["hook"])


def _words(command: Any) -> list[Any]:
    if not isinstance(command, str):
        return []
    from shlex import split

    try:
        return [*split(command)]
    except ValueError:
        return []


def _handlers(group: Any) -> list[Entry]:
    """Of a group, or the one that stands by itself."""
    entry = object_of(group)
    if entry is None:
        return []
    handlers = list_of(entry.get("hooks")) if "hooks" in entry else [entry]
    return [one for one in map(object_of, handlers) if one is not None]


def is_all_ours(group: Any) -> bool:
    handlers = _handlers(group)
    return bool(handlers) and all(map(is_ours, handlers))


def _without_ours(group: Any) -> Any:
    entry = object_of(group)
    if entry is None or not any(map(is_ours, _handlers(entry))):
        return group
    return {**entry, "hooks": [one for one in list_of(entry.get("hooks")) if not is_ours(object_of(one) or {})]}
