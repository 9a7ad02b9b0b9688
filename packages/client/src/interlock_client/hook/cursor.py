"""Cursor: `beforeShellExecution`, `beforeMCPExecution` and `preToolUse`.

Written from its documents, and not run with it. What fails goes ahead, but for `failClosed`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlock_client.hook.call import Call, Malformed, Outcome, Reply, list_of, object_of, optional_text, text_of
from interlock_client.hook.installation import Entry, Installation, shell_entry

AGENT: str = "cursor"
NAME: str = "Cursor"
TIMEOUT: int = 600
BASE: dict[str, Any] = {"version": 1}
TO_TERMINAL: bool = False
SHELL, MCP, EVERY_CALL = "beforeShellExecution", "beforeMCPExecution", "preToolUse"


def read(event: Mapping[str, Any]) -> Call:
    name = text_of(event, "hook_event_name")
    if name == SHELL:
        tool, args = "Shell", {"command": text_of(event, "command")}
    elif name in (MCP, EVERY_CALL):
        tool, args = text_of(event, "tool_name"), _input(event.get("tool_input"))
    else:
        raise Malformed(f"nothing is asked by {name}")
    folder = optional_text(event, "cwd") or next(map(str, list_of(event.get("workspace_roots"))), "")
    is_edited = name == EVERY_CALL
    allowed = ("accept", "edit", "reject") if is_edited else ("accept", "reject")
    return Call(name, text_of(event, "conversation_id"), tool, args, folder, allowed=allowed)


def _input(given: Any) -> dict[str, Any]:
    """For a tool of MCP it is JSON in a text."""
    try:
        read = object_of(json.loads(given) if isinstance(given, str) else given)
    except ValueError:
        read = None
    if read is None:
        raise Malformed("tool_input is not an object")
    return read


def reply(call: Call, outcome: Outcome) -> Reply:
    if outcome.verdict != "allow":
        messages = {"user_message": outcome.message, "agent_message": outcome.message}
        return Reply(json.dumps({"permission": "deny", **messages}))
    updated = {} if outcome.args is None else {"updated_input": outcome.args}
    return Reply(json.dumps({"permission": "allow", **updated}))


def settings_files(*, project: bool) -> list[Path]:
    return [(Path() if project else Path.home()) / ".cursor" / "hooks.json"]


def entries(installation: Installation) -> dict[str, Entry]:
    asks = shell_entry(installation, AGENT) | {"timeout": installation.timeout, "failClosed": True}
    if installation.tools:
        asks["matcher"] = installation.tools
    return {EVERY_CALL: asks} if installation.every_call else {SHELL: asks, MCP: asks}


def obstacles(settings: dict[str, Any], *, every_call: bool) -> list[str]:
    return []


def warnings(settings: dict[str, Any], *, every_call: bool) -> list[str]:
    return ["this was written from Cursor's documents, and not tried with it: try it before you rely on it"]
