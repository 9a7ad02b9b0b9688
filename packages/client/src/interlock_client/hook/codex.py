"""Codex: `PermissionRequest` where it would ask at its terminal, `PreToolUse` on every call.

Its answers look like Claude Code's and are not: a field that it does not know makes an answer invalid. A
`PermissionRequest` without one is asked at the terminal; a `PreToolUse` without one goes ahead.
"""

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from interlock_client.hook.call import (
    Call,
    Malformed,
    Outcome,
    Reply,
    arguments_of,
    list_of,
    object_of,
    optional_text,
    text_of,
)
from interlock_client.hook.installation import Entry, Installation, is_ours, shell_entry

AGENT: str = "codex"
NAME: str = "Codex"
TIMEOUT: int = 120
BASE: dict[str, Any] = {}
TO_TERMINAL: bool = True
"""The hook stands before the terminal's own prompt: nobody at the desk is to be locked out for long."""
SECONDS = 45.0
"""At the most, for Codex to say whether it trusts the hook."""
PERMISSION, EVERY_CALL = "PermissionRequest", "PreToolUse"
_TRUST_IT = "Codex runs a new or changed hook only after you trust it"


def read(event: Mapping[str, Any]) -> Call:
    name = text_of(event, "hook_event_name")
    if name not in (PERMISSION, EVERY_CALL):
        raise Malformed(f"nothing is asked by {name}")
    is_permission = name == PERMISSION
    return Call(
        name,
        text_of(event, "session_id"),
        text_of(event, "tool_name"),
        arguments_of(event),
        optional_text(event, "cwd"),
        call_id=optional_text(event, "tool_use_id") or None,
        # A permission is given or not: changed arguments would be dropped.
        allowed=("accept", "reject") if is_permission else ("accept", "edit", "reject"),
        terminal_asks=is_permission,
    )


def reply(call: Call, outcome: Outcome) -> Reply:
    if outcome.verdict == "silence" and call.terminal_asks:
        return Reply()
    if call.terminal_asks:
        decision = {"behavior": "allow"} if outcome.verdict == "allow" else _denial("behavior", "message", outcome)
        return _output(call, {"decision": decision})
    if outcome.verdict != "allow":
        return _output(call, _denial("permissionDecision", "permissionDecisionReason", outcome))
    if outcome.args is None:
        # A bare yes is not valid here: nothing lets it run.
        return Reply()
    return _output(call, {"permissionDecision": "allow", "updatedInput": outcome.args})


def _denial(verdict: str, reason: str, outcome: Outcome) -> dict[str, Any]:
    return {verdict: "deny", reason: outcome.message}


def _output(call: Call, decision: Mapping[str, Any]) -> Reply:
    return Reply(json.dumps({"hookSpecificOutput": {"hookEventName": call.event, **decision}}))


def settings_files(*, project: bool) -> list[Path]:
    folder = "" if project else os.environ.get("CODEX_HOME", "").strip()
    home = Path(folder) if folder else (Path() if project else Path.home()) / ".codex"
    return [home / "hooks.json", home / "config.toml"]


def entries(installation: Installation) -> dict[str, Entry]:
    asks = shell_entry(installation, AGENT) | {"timeout": installation.timeout, "statusMessage": "Waiting for a person"}
    return {
        EVERY_CALL if installation.every_call else PERMISSION: {"matcher": installation.tools or ".*", "hooks": [asks]}
    }


def obstacles(settings: dict[str, Any], *, every_call: bool) -> list[str]:
    found: list[str] = []
    if (object_of(settings.get("features")) or {}).get("hooks") is False:
        found.append("features.hooks is off in its config.toml: no hook runs")
    if not every_call and settings.get("approval_policy") == "never":
        found.append('approval_policy is "never", so nothing is asked: change it, or install with --mode every-call')
    if (trust := _trust()) not in ("trusted", ""):
        found.append(f"{_TRUST_IT} (it is {trust}): start `codex`, and enter /hooks")
    return found


def warnings(settings: dict[str, Any], *, every_call: bool) -> list[str]:
    found = [] if _trust() else [f"{_TRUST_IT}: start `codex`, and enter /hooks"]
    if not every_call:
        found.append("`codex exec` asks nobody, so nothing is asked there: for that, install with --mode every-call")
    return found


@cache
def _trust() -> str:
    """What Codex says of our hook: trusted, untrusted or modified; nothing where it cannot be asked."""
    # Not for the hook itself, which has to be quick.
    import signal
    import subprocess
    import threading
    from contextlib import suppress

    client = {"clientInfo": {"name": "interlock-hook", "title": "Interlock", "version": "0"}}
    entries_listed = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(Path.cwd())]}},
    ]
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            ["codex", "app-server"],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
    except OSError:
        return ""

    def end() -> None:
        """With what it has started: the command may be a script that starts the program."""
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()

    bound = threading.Timer(SECONDS, end)
    bound.start()
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            for message in entries_listed:
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()
            replies = (object_of(json.loads(line)) or {} for line in process.stdout)
            result = next((one.get("result") for one in replies if one.get("id") == 2), None)
        except (OSError, ValueError):
            result = None
        bound.cancel()
        end()
    return _trust_in(object_of(result) or {})


def _trust_in(result: Mapping[str, Any]) -> str:
    folders = (object_of(one) or {} for one in list_of(result.get("data")))
    hooks = [object_of(one) or {} for folder in folders for one in list_of(folder.get("hooks"))]
    ours = [str(hook.get("trustStatus")) for hook in hooks if is_ours(hook)]
    return next((one for one in ours if one != "trusted"), ours[0] if ours else "")
