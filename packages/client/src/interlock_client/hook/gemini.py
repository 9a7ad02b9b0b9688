"""Gemini CLI: `BeforeTool`, on every call. What fails goes ahead, so nothing here may.

Its own policy still asks after our yes: this is for runs with `--approval-mode yolo`, or tools that the policy allows.
"""

import json
import os
from collections.abc import Mapping
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
from interlock_client.hook.installation import Entry, Installation, shell_entry

AGENT: str = "gemini"
NAME: str = "Gemini CLI"
TIMEOUT: int = 3600
BASE: dict[str, Any] = {}
TO_TERMINAL: bool = False
EVENT = "BeforeTool"


def read(event: Mapping[str, Any]) -> Call:
    name = text_of(event, "hook_event_name")
    if name != EVENT:
        raise Malformed(f"nothing is asked by {name}")
    return Call(
        name,
        text_of(event, "session_id"),
        text_of(event, "tool_name"),
        arguments_of(event),
        optional_text(event, "cwd"),
        allowed=("accept", "edit", "reject"),
    )


def reply(call: Call, outcome: Outcome) -> Reply:
    if outcome.verdict != "allow":
        return Reply(json.dumps({"decision": "deny", "reason": outcome.message}))
    if outcome.args is None:
        return Reply(json.dumps({"decision": "allow"}))
    # What is given is laid over what was asked: an argument that was taken away would still be there.
    if removed_args := sorted(call.args.keys() - outcome.args.keys()):
        message = f"Not run: a person took away {', '.join(removed_args)}, which {NAME} cannot do."
        return Reply(json.dumps({"decision": "deny", "reason": message}))
    return Reply(json.dumps({"decision": "allow", "hookSpecificOutput": {"tool_input": outcome.args}}))


def settings_files(*, project: bool) -> list[Path]:
    folder = "" if project else os.environ.get("GEMINI_CLI_HOME", "").strip()
    home = Path(folder) if folder else (Path() if project else Path.home())
    return [home / ".gemini" / "settings.json"]


def entries(installation: Installation) -> dict[str, Entry]:
    # In milliseconds.
    asks = shell_entry(installation, AGENT) | {"name": "interlock", "timeout": installation.timeout * 1000}
    return {EVENT: {"matcher": installation.tools or ".*", "hooks": [asks]}}


def obstacles(settings: dict[str, Any], *, every_call: bool) -> list[str]:
    config = object_of(settings.get("hooksConfig")) or {}
    found = ["hooksConfig.enabled is off: no hook runs"] if config.get("enabled") is False else []
    if "interlock" in list_of(config.get("disabled")):
        found.append("hooksConfig.disabled names interlock: its hook does not run")
    return found


def warnings(settings: dict[str, Any], *, every_call: bool) -> list[str]:
    return [
        "Gemini CLI still asks at its terminal after a yes here: start it with `--approval-mode yolo`, in which this "
        "hook is the only gate, or allow the hooked tools by its policy"
    ]
