"""Claude Code: `PermissionRequest` where a person would be asked, `PreToolUse` on every call.

Where a `PermissionRequest` is told nothing, the dialog at the terminal stays, or a run without one denies. A
`PreToolUse` that fails goes ahead, but for `onFailure: "block"`.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlock_client.hook.call import (
    Arguments,
    Call,
    End,
    Malformed,
    Outcome,
    Reply,
    arguments_of,
    digest,
    list_of,
    object_of,
    optional_text,
    text_of,
)
from interlock_client.hook.installation import Entry, Installation, hook_entry, wait_options
from interlock_client.hook.requests import question_of

AGENT: str = "claude-code"
NAME: str = "Claude Code"
TIMEOUT: int = 3600
BASE: dict[str, Any] = {}
TO_TERMINAL: bool = False
PERMISSION, EVERY_CALL = "PermissionRequest", "PreToolUse"
ENDS_OF_CALLS = ("PostToolUse", "PostToolUseFailure")
ENDS_OF_TURNS = ("UserPromptSubmit", "Stop", "SessionEnd")
MATCHERS = {PERMISSION: "*", EVERY_CALL: "Bash|PowerShell|Monitor|Write|Edit|MultiEdit|NotebookEdit|WebFetch|mcp__.*"}
QUESTIONS, PLAN = "AskUserQuestion", "ExitPlanMode"


def read(event: Mapping[str, Any]) -> Call:
    name = text_of(event, "hook_event_name")
    if name not in (PERMISSION, EVERY_CALL):
        raise Malformed(f"nothing is asked by {name}")
    tool, args = text_of(event, "tool_name"), arguments_of(event)
    return Call(
        name,
        text_of(event, "session_id"),
        tool,
        args,
        optional_text(event, "cwd"),
        call_id=optional_text(event, "tool_use_id") or None,
        subagent=optional_text(event, "agent_type") or optional_text(event, "agent_id"),
        prompt=optional_text(event, "prompt_id"),
        # Of a plan the text is shown, and nothing of it is run.
        allowed=("accept", "reject", "response") if tool == PLAN else ("accept", "edit", "reject", "response"),
        questions=_questions(args) if tool == QUESTIONS else (),
        risk="high" if args.get("dangerouslyDisableSandbox") is True else "medium",
        terminal_asks=name == PERMISSION,
        args_at_end=_args_at_end(tool, args),
    )


def reply(call: Call, outcome: Outcome) -> Reply:
    if outcome.verdict == "silence" and call.terminal_asks:
        return Reply()
    decision = _decision(call, outcome) if call.event == PERMISSION else _gate(call, outcome)
    return Reply(json.dumps({"hookSpecificOutput": {"hookEventName": call.event, **decision}}))


def _decision(call: Call, outcome: Outcome) -> Mapping[str, Any]:
    if outcome.verdict != "allow":
        return {"decision": {"behavior": "deny", "message": outcome.message}}
    return {"decision": {"behavior": "allow", **_updated_input(call, outcome)}}


def _gate(call: Call, outcome: Outcome) -> Mapping[str, Any]:
    verdict = outcome.verdict if outcome.verdict in ("allow", "defer") else "deny"
    decision = {"permissionDecision": verdict, "permissionDecisionReason": outcome.message}
    return {**decision, **_updated_input(call, outcome)} if verdict == "allow" else decision


def _updated_input(call: Call, outcome: Outcome) -> Mapping[str, Any]:
    if call.questions:
        answers = dict(
            zip((str(one.get("question")) for one in _questions_in(call.args)), outcome.answers, strict=True)
        )
        return {"updatedInput": {**call.args, "answers": answers}}
    # A yes to a plan counts only with its input: without it the dialog at the terminal stays.
    args = call.args if outcome.args is None and call.tool == PLAN else outcome.args
    return {} if args is None else {"updatedInput": args}


def read_end(event: Mapping[str, Any]) -> End:
    name, session = text_of(event, "hook_event_name"), text_of(event, "session_id")
    if name in ENDS_OF_CALLS:
        tool, args = text_of(event, "tool_name"), arguments_of(event)
        told = _args_at_end(tool, args)
        return End(session, digest(tool, args if told is None else told))
    if name not in ENDS_OF_TURNS:
        raise Malformed(f"nothing ends with {name}")
    prompt = optional_text(event, "prompt_id")
    return End(session, prompt=prompt, is_beginning=name == "UserPromptSubmit", is_last=name == "SessionEnd")


def _args_at_end(tool: str, args: Arguments) -> Arguments | None:
    """Of a plan the end tells nothing, and of questions more than was asked: the answers, and notes on them."""
    if tool == QUESTIONS:
        return {"questions": args.get("questions")}
    return {} if tool == PLAN else None


def _questions_in(args: Mapping[str, Any]) -> list[Arguments]:
    questions = [one for one in map(object_of, list_of(args.get("questions"))) if one is not None]
    if not questions:
        raise Malformed("questions is not a list of questions")
    return questions


def _questions(args: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return tuple(question_of(one, takes_several=bool(one.get("multiSelect"))) for one in _questions_in(args))


def settings_files(*, project: bool) -> list[Path]:
    if project:
        return [Path(".claude") / "settings.json"]
    folder = os.environ.get("CLAUDE_CONFIG_DIR", "").strip()
    return [(Path(folder) if folder else Path.home() / ".claude") / "settings.json"]


def entries(installation: Installation) -> dict[str, Entry]:
    """What the settings file gets, by event."""
    event = EVERY_CALL if installation.every_call else PERMISSION
    asks = hook_entry(installation.program, AGENT, wait_options(installation))
    asks |= {"timeout": installation.timeout, "statusMessage": "Waiting for a person"}
    if installation.every_call:
        asks["onFailure"] = "block"
    found: dict[str, Entry] = {event: {"matcher": installation.tools or MATCHERS[event], "hooks": [asks]}}
    settles = hook_entry(installation.program, AGENT, ["--settled"]) | {"timeout": 30}
    for end in (*ENDS_OF_CALLS, *ENDS_OF_TURNS):
        matcher = {"matcher": "*"} if end in ENDS_OF_CALLS else {}
        # The last one is waited for: nothing outlives the session.
        aside = {} if end == "SessionEnd" else {"async": True}
        found[end] = {**matcher, "hooks": [{**settles, **aside}]}
    return found


def obstacles(settings: dict[str, Any], *, every_call: bool) -> list[str]:
    return ["disableAllHooks is set: no hook runs"] if settings.get("disableAllHooks") is True else []


def warnings(settings: dict[str, Any], *, every_call: bool) -> list[str]:
    found: list[str] = []
    for name in ("allowManagedHooksOnly", "allowedHttpHookUrls"):
        if any(name in managed for managed in _managed_settings()):
            found.append(f"managed settings have {name}, which may keep this hook from running")
    mode = (object_of(settings.get("permissions")) or {}).get("defaultMode")
    if not every_call and mode not in ("default", "plan", "acceptEdits"):
        found.append(
            "in auto mode, the start mode of some plans, Claude Code settles calls by itself, and nobody is asked: set "
            '"permissions": {"defaultMode": "default"}, or install with --mode every-call'
        )
    return found


def _managed_settings() -> list[Arguments]:
    """The settings that an administrator wrote, where they can be read."""
    files = ("/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json")
    found: list[Arguments] = []
    for file in files:
        try:
            found.append(object_of(json.loads(Path(file).read_text(encoding="utf-8"))) or {})
        except (OSError, ValueError):
            continue
    return found
